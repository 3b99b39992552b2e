//! Changes that the user does not want to see: taken out of the diff, and counted by the rule that took them.

use smol_str::SmolStr;

use super::{Change, PathStep, ResourceChange};
use crate::glob::Pattern;
use crate::resource::{Identity, Resource};
use crate::settings::{CompareRule, PlaceRule};

/// Everything that is not to be seen.
#[derive(Debug, Default)]
pub struct Suppressions {
    rules: Vec<SuppressRule>,
}

#[derive(Debug)]
struct SuppressRule {
    name: SmolStr,
    within: Option<Pattern>,
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
    /// The rules of the configuration, and pointers from the command line. Patterns were checked when they were read.
    pub fn new(ignore: &[PlaceRule], compare: &[CompareRule], pointers: &[SmolStr]) -> Self {
        let mut rules = Vec::new();
        let at = |texts: &[SmolStr]| texts.iter().filter_map(|text| Pattern::of_pointer(text).ok()).collect::<Vec<_>>();
        for pointer in pointers {
            let name = SmolStr::from_iter(["--ignore ", pointer]);
            rules.push(SuppressRule { name, within: None, hides: Hides::At(at(std::slice::from_ref(pointer))) });
        }
        for rule in ignore {
            let (name, within) =
                (named("ignore", &rule.pointer, &rule.within), rule.within.as_deref().map(Pattern::of_path));
            rules.push(SuppressRule { name, within, hides: Hides::At(at(std::slice::from_ref(&rule.pointer))) });
        }
        for rule in compare {
            let within = || rule.within.as_deref().map(Pattern::of_path);
            if !rule.suppress.is_empty() {
                let name = named("suppressAttributes", &rule.suppress.join(" "), &rule.within);
                rules.push(SuppressRule { name, within: within(), hides: Hides::At(at(&rule.suppress)) });
            }
            if !rule.filter.is_empty() {
                let name = named("filterAttributes", &rule.filter.join(" "), &rule.within);
                rules.push(SuppressRule { name, within: within(), hides: Hides::AllBut(at(&rule.filter)) });
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
        let rules: Vec<&SuppressRule> = self.rules.iter().filter(|rule| rule.speaks_of(of)).collect();
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
    fn speaks_of(&self, resource: &Resource) -> bool {
        self.within.as_ref().is_none_or(|within| resource.is_within(within))
    }

    fn hides(&self, change: &Change) -> bool {
        let covers = |pattern: &Pattern| spellings(&change.path).iter().any(|tokens| pattern.covers(tokens));
        match &self.hides {
            Hides::At(places) => places.iter().any(covers),
            Hides::AllBut(places) => !places.iter().any(covers),
        }
    }
}

/// All spellings of the path to a change that a rule may use: an item by its index on either side, or by its label.
fn spellings(path: &[PathStep]) -> Vec<Vec<SmolStr>> {
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
