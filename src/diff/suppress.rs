//! Changes that the user does not want to see: taken out of the diff, and counted by the rule that took them.

use smol_str::SmolStr;

use super::{Change, PathStep, ResourceChange};
use crate::glob::Pattern;
use crate::resource::{Identity, Resource};
use crate::settings::{CompareRule, IgnoreRule, IgnoredPlaces, PRESETS, Preset};
use crate::value::Node;

/// Everything that is not to be seen.
#[derive(Debug, Default)]
pub struct Suppressions {
    rules: Vec<SuppressRule>,
}

#[derive(Debug)]
struct SuppressRule {
    name: SmolStr,
    within: Option<Pattern>,
    /// Whether it applies to Kubernetes documents only.
    only_kubernetes: bool,
    hides: Hides,
}

#[derive(Debug)]
enum Hides {
    /// What is at or below one of these places.
    At(Vec<Pattern>),
    /// What is at or below none of these places.
    AllBut(Vec<Pattern>),
}

/// A change that was taken out.
#[derive(Debug, Clone)]
pub struct Suppressed {
    /// The rule that hides it, as the user wrote it.
    pub rule: SmolStr,
    /// The resource it belongs to.
    pub identity: Identity,
    /// The change.
    pub change: Change,
}

impl Suppressions {
    /// The rules of the configuration, and pointers from the command line; with `is_neat`, also every preset. Patterns were checked
    /// when they were read.
    pub fn new(ignore: &[IgnoreRule], compare: &[CompareRule], pointers: &[SmolStr], is_neat: bool) -> Self {
        let mut rules = Vec::new();
        let at = |texts: &[SmolStr]| texts.iter().filter_map(|text| Pattern::of_pointer(text).ok()).collect::<Vec<_>>();
        for pointer in pointers {
            let name = SmolStr::from_iter(["--ignore ", pointer]);
            rules.push(SuppressRule::new(name, &None, Hides::At(at(std::slice::from_ref(pointer)))));
        }
        for rule in ignore {
            match &rule.places {
                IgnoredPlaces::Pointer(pointer) => {
                    let name = named("ignore", pointer, &rule.within);
                    rules.push(SuppressRule::new(name, &rule.within, Hides::At(at(std::slice::from_ref(pointer)))));
                }
                IgnoredPlaces::Preset(preset) => rules.extend(SuppressRule::of_preset(preset, &rule.within)),
            }
        }
        if is_neat {
            rules.extend(PRESETS.iter().flat_map(|preset| SuppressRule::of_preset(preset, &None)));
        }
        for rule in compare {
            if !rule.suppress.is_empty() {
                let name = named("suppressAttributes", &rule.suppress.join(" "), &rule.within);
                rules.push(SuppressRule::new(name, &rule.within, Hides::At(at(&rule.suppress))));
            }
            if !rule.filter.is_empty() {
                let name = named("filterAttributes", &rule.filter.join(" "), &rule.within);
                rules.push(SuppressRule::new(name, &rule.within, Hides::AllBut(at(&rule.filter))));
            }
        }
        Self { rules }
    }

    /// Takes the suppressed changes out of each resource, and resources without any other difference out of the list.
    pub fn apply(&self, resources: &mut Vec<ResourceChange>) -> Vec<Suppressed> {
        let mut suppressed = Vec::new();
        if self.rules.is_empty() {
            return suppressed;
        }
        resources.retain_mut(|resource| {
            let before = suppressed.len();
            self.take_from(resource, &mut suppressed);
            let is_untouched = suppressed.len() == before;
            is_untouched || resource.is_difference() || !resource.difference.spelling_only.is_empty()
        });
        suppressed
    }

    fn take_from(&self, resource: &mut ResourceChange, suppressed: &mut Vec<Suppressed>) {
        let Some(of) = resource.after.as_ref().or(resource.before.as_ref()) else { return };
        let rules: Vec<&SuppressRule> = self.rules.iter().filter(|rule| rule.applies_to(of)).collect();
        let rule_for = |change: &Change| rules.iter().find(|rule| rule.hides(change)).map(|rule| rule.name.clone());
        let identity = of.identity.clone();
        let mut keep = |change: &Change| match rule_for(change) {
            None => true,
            Some(rule) => {
                suppressed.push(Suppressed { rule, identity: identity.clone(), change: change.clone() });
                false
            }
        };
        resource.difference.changes.retain(&mut keep);
        resource.expressions.changes.retain(&mut keep);
        resource.difference.spelling_only.retain(|change| rule_for(change).is_none());
    }
}

fn named(what: &str, pointer: &str, within: &Option<SmolStr>) -> SmolStr {
    match within {
        Some(within) => format!("{what} {pointer} within {within}").into(),
        None => format!("{what} {pointer}").into(),
    }
}

impl SuppressRule {
    fn new(name: SmolStr, within: &Option<SmolStr>, hides: Hides) -> Self {
        Self { name, within: within.as_deref().map(Pattern::of_path), only_kubernetes: false, hides }
    }

    /// The fields of a preset: those of Kubernetes documents, and those of all documents.
    fn of_preset(preset: &Preset, within: &Option<SmolStr>) -> Vec<Self> {
        let name = match within {
            Some(within) => SmolStr::from(format!("preset {} within {within}", preset.name)),
            None => SmolStr::from(format!("preset {}", preset.name)),
        };
        let rule = |anywhere: bool| {
            let fields = preset.fields.iter().filter(|field| field.anywhere == anywhere);
            let places = fields.filter_map(|field| Pattern::of_pointer(field.pointer).ok()).collect();
            Self { only_kubernetes: !anywhere, ..Self::new(name.clone(), within, Hides::At(places)) }
        };
        vec![rule(false), rule(true)]
    }

    fn applies_to(&self, resource: &Resource) -> bool {
        let is_meant = !self.only_kubernetes || matches!(resource.identity, Identity::Kubernetes(_));
        is_meant && self.within.as_ref().is_none_or(|within| resource.is_within(within))
    }

    fn hides(&self, change: &Change) -> bool {
        let spelled = || spellings(&change.path).into_iter();
        let covers = |pattern: &Pattern| spelled().any(|tokens| pattern.covers(&tokens));
        match &self.hides {
            Hides::At(places) => {
                let whole = change.before.as_ref().xor(change.after.as_ref());
                let holds_only_these = |node: &Node| spelled().any(|tokens| has_only(node, &tokens, places));
                places.iter().any(covers) || whole.is_some_and(holds_only_these)
            }
            Hides::AllBut(places) => !places.iter().any(covers),
        }
    }
}

/// Whether a map that was added or removed as a whole has nothing in it but what is at these places.
fn has_only(node: &Node, tokens: &[SmolStr], places: &[Pattern]) -> bool {
    let Some(map) = node.as_map().filter(|map| !map.entries().is_empty()) else { return false };
    map.entries().iter().all(|entry| {
        let tokens: Vec<SmolStr> = tokens.iter().cloned().chain([entry.key.name.clone()]).collect();
        places.iter().any(|place| place.covers(&tokens)) || has_only(&entry.value, &tokens, places)
    })
}

/// All spellings of the path to a change that a rule may use: an item by its index on either side, or by its label.
pub(super) fn spellings(path: &[PathStep]) -> Vec<Vec<SmolStr>> {
    let has_items = path.iter().any(|step| matches!(step, PathStep::Item { .. }));
    let spell = |item: fn(Option<usize>, Option<usize>, Option<&SmolStr>) -> SmolStr| {
        let tokens = path.iter().filter_map(|step| match step {
            PathStep::Key(key) => Some(key.name.clone()),
            PathStep::Item { before, after, label } => Some(item(*before, *after, label.as_ref())),
            PathStep::Embedded(_) | PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_) => None,
        });
        tokens.collect::<Vec<_>>()
    };
    let mut spellings = vec![spell(|before, after, _| SmolStr::new(after.or(before).unwrap_or_default().to_string()))];
    if has_items {
        spellings.push(spell(|before, after, _| SmolStr::new(before.or(after).unwrap_or_default().to_string())));
        // Items without a name keep their index beside those that have one.
        spellings.push(spell(|before, after, label| match label {
            Some(label) => SmolStr::new(label.split_once('=').map_or(label.as_str(), |(_, value)| value)),
            None => SmolStr::new(after.or(before).unwrap_or_default().to_string()),
        }));
    }
    spellings
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    use super::*;
    use crate::diff::testing::{number, string};
    use crate::diff::{Options, compare_payloads, path_text};
    use crate::path::{Pointer, RepoPath};
    use crate::resource::KubernetesName;
    use crate::value::Entry;

    /// A document with values at some places.
    fn document(places: &[(Pointer, u8)]) -> Node {
        places
            .iter()
            .fold(Node::map(Vec::new(), string("").span), |root, (place, value)| put(&root, place.tokens(), *value))
    }

    fn put(node: &Node, tokens: &[SmolStr], value: u8) -> Node {
        let Some((first, rest)) = tokens.split_first() else { return number(&value.to_string()) };
        let mut entries = node.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        let old = entries.iter().position(|entry| entry.key.name == *first);
        let child = old.map(|at| entries.remove(at).value).unwrap_or_else(|| Node::map(Vec::new(), node.span));
        entries.push(Entry::named(first.clone(), node.span, put(&child, rest, value)));
        Node::map(entries, node.span)
    }

    /// The fields of all presets, with names in place of their stars, and fields of none.
    fn places() -> Vec<Pointer> {
        let fields = PRESETS.iter().flat_map(|preset| preset.fields).flat_map(|field| {
            ["/spec/template", ""].map(|above| field.pointer.replace("/**", above).replace('*', "config"))
        });
        let others = ["/spec/replicas", "/metadata/labels/app", "/metadata/annotations/note", "/spec/selector/chart"];
        fields.chain(others.map(str::to_owned)).map(|text| Pointer::parse(&text).unwrap()).collect()
    }

    fn documents() -> impl Strategy<Value = (Node, Node)> {
        let side = || {
            let all = places();
            let count = all.len();
            subsequence(all, 0..count).prop_flat_map(|chosen| {
                let values = prop::collection::vec(0_u8..3, chosen.len());
                values.prop_map(move |values| document(&chosen.iter().cloned().zip(values).collect::<Vec<_>>()))
            })
        };
        (side(), side())
    }

    fn change_of(before: Node, after: Node, is_kubernetes: bool) -> ResourceChange {
        let file = RepoPath::new("a.yaml").unwrap();
        let identity = match is_kubernetes {
            true => Identity::Kubernetes(KubernetesName {
                group: "".into(),
                kind: "Pod".into(),
                namespace: "".into(),
                name: "a".into(),
            }),
            false => Identity::File { path: file.clone(), position: None },
        };
        let side =
            |payload| Resource { identity: identity.clone(), file: file.clone(), position: 0, payload, unit: None };
        let (before, after) = (side(before), side(after));
        let difference = compare_payloads(&before, &after, &Options::default());
        ResourceChange { before: Some(before), after: Some(after), difference, ..ResourceChange::default() }
    }

    fn names(changes: &[Change]) -> Vec<String> {
        let mut names: Vec<String> = changes
            .iter()
            .map(|change| format!("{:?} {}", change.kind, path_text::display(&change.path, ">")))
            .collect();
        names.sort();
        names
    }

    proptest! {
        #[test]
        fn what_is_shown_and_what_is_hidden_is_everything(
            (before, after) in documents(),
            is_kubernetes in any::<bool>(),
            presets in subsequence(PRESETS.iter().collect::<Vec<_>>(), 0..=PRESETS.len()),
            is_neat in any::<bool>(),
            within in select(vec![None, Some(SmolStr::from("a.yaml")), Some(SmolStr::from("b/**"))]),
        ) {
            let all = change_of(before, after, is_kubernetes);
            let rule = |preset: &&'static Preset| IgnoreRule { within: within.clone(), places: IgnoredPlaces::Preset(preset) };
            let ignore: Vec<IgnoreRule> = presets.iter().map(rule).collect();
            let mut shown = vec![all.clone()];
            let suppressed = Suppressions::new(&ignore, &[], &[], is_neat).apply(&mut shown);
            let mut together: Vec<Change> = suppressed.iter().map(|it| it.change.clone()).collect();
            together.extend(shown.iter().flat_map(ResourceChange::changes).cloned());
            prop_assert_eq!(names(&together), names(&all.difference.changes));
            prop_assert!(suppressed.iter().all(|it| it.rule.starts_with("preset ")));
            let may_hide = is_neat || !presets.is_empty() && within.as_deref() != Some("b/**");
            prop_assert!(may_hide || suppressed.is_empty());
        }
    }

    #[test]
    fn presets_hide_their_fields_in_kubernetes_documents() {
        let at = |text: &str, value| (Pointer::parse(text).unwrap(), value);
        let version = |value| document(&[at("/metadata/labels/helm.sh~1chart", value), at("/spec/replicas", 1)]);
        let hidden = |is_kubernetes| {
            let mut shown = vec![change_of(version(1), version(2), is_kubernetes)];
            let hidden = Suppressions::new(&[], &[], &[], true).apply(&mut shown);
            (hidden.iter().map(|it| it.rule.to_string()).collect::<Vec<_>>(), shown.len())
        };
        assert_eq!(hidden(true), (vec!["preset helm".to_owned()], 0));
        assert_eq!(hidden(false), (Vec::new(), 1));
        let without = document(&[at("/spec/replicas", 1)]);
        let mut whole = vec![change_of(without, version(1), true)];
        assert_eq!(Suppressions::new(&[], &[], &[], true).apply(&mut whole).len(), 1, "a map of nothing else");
        assert!(whole.is_empty());
    }
}
