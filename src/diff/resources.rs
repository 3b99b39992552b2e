//! Pairs the resources of the two sides, renamed and moved ones included, and compares each pair.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

use super::options::Options;
use super::similarity::{Features, LEAF, Similarity, pair_alike};
use super::{Difference, ResourceChange, diff, kubernetes};
use crate::parallel::{FEW, few_or_many};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, KubernetesName, Resource, Unit};
use crate::value::Node;
use crate::value::align;

/// A resource before and after; one side may be missing.
pub type ResourcePair = (Option<Resource>, Option<Resource>);

/// Pairs the resources of both sides, in order of identity.
///
/// Equal identities pair first. If several resources share one, they pair within a file, then by equal content,
/// then in order. Documents of one plain file pair by content: equal ones, then similar ones,
/// then what they share in order. What is then gone on one side and new on the other, but much alike, was renamed or moved;
/// Kubernetes resources only within their kind.
///
/// What a unit renders on both sides pairs within the unit. What a unit renders that only one side has pairs like everything else:
/// a root may have become part of another one.
pub fn pair(before: Vec<Resource>, after: Vec<Resource>) -> Vec<ResourcePair> {
    let units = |resources: &[Resource]| resources.iter().filter_map(|it| it.unit.clone()).collect::<BTreeSet<Unit>>();
    let (old, new) = (units(&before), units(&after));
    let shared: BTreeSet<&Unit> = old.intersection(&new).collect();
    if shared.is_empty() {
        return in_order(pair_once(before, after));
    }
    let mut parts: BTreeMap<Option<Unit>, [Vec<Resource>; 2]> = BTreeMap::new();
    for (side, resources) in [before, after].into_iter().enumerate() {
        for resource in resources {
            let unit = resource.unit.clone().filter(|unit| shared.contains(unit));
            parts.entry(unit).or_default()[side].push(resource);
        }
    }
    let parts: Vec<[Vec<Resource>; 2]> = parts.into_values().collect();
    in_order(few_or_many(parts, FEW, |[before, after]| pair_once(before, after)).into_iter().flatten().collect())
}

/// Pairs in the order in which reports have them.
fn in_order(mut pairs: Vec<ResourcePair>) -> Vec<ResourcePair> {
    let is_gone = |pair: &ResourcePair| pair.1.is_none();
    pairs.sort_by(|a, b| {
        let (this, that) = (a.1.as_ref().or(a.0.as_ref()), b.1.as_ref().or(b.0.as_ref()));
        this.map(place).cmp(&that.map(place)).then(is_gone(b).cmp(&is_gone(a)))
    });
    pairs
}

/// Pairs resources that may all pair with each other.
fn pair_once(mut before: Vec<Resource>, mut after: Vec<Resource>) -> Vec<ResourcePair> {
    let in_order = |a: &Resource, b: &Resource| place(a).cmp(&place(b));
    before.sort_by(in_order);
    after.sort_by(in_order);
    let mut pairing = Pairing::new(&before, &after);
    pairing.pair_sole_namesakes();
    pairing.compare_contents();
    pairing.pair_namesakes();
    pairing.pair_renamed();
    let pairs = pairing.pairs;

    let (mut before, mut after) = (before.into_iter().map(Some).collect(), after.into_iter().map(Some).collect());
    let take = |from: &mut Vec<Option<Resource>>, at: usize| from[at].take();
    let mut paired: Vec<ResourcePair> =
        pairs.into_iter().map(|(this, that)| (take(&mut before, this), take(&mut after, that))).collect();
    paired.extend(before.into_iter().flatten().map(|resource| (Some(resource), None)));
    paired.extend(after.into_iter().flatten().map(|resource| (None, Some(resource))));
    paired
}

/// The resources of one file, by position, whose names occur once on each side of it. [`pair`] pairs them whatever other files
/// hold: namesakes pair within their file first.
pub fn sole_namesakes(before: &[Resource], after: &[Resource]) -> Vec<(usize, usize)> {
    // Most files hold one resource.
    if let ([old], [new]) = (before, after) {
        return if Name::of(old) == Name::of(new) { vec![(0, 0)] } else { Vec::new() };
    }
    let mut pairing = Pairing::new(before, after);
    pairing.pair_sole_namesakes();
    pairing.pairs
}

/// Puts changes in the order of their resources.
pub fn sort(changes: &mut [ResourceChange]) {
    changes.sort_by(by_place);
}

/// The order of resources in every report.
pub(super) fn by_place(a: &ResourceChange, b: &ResourceChange) -> std::cmp::Ordering {
    let is_gone = |change: &ResourceChange| change.after.is_none();
    let (this, that) = (a.after.as_ref().or(a.before.as_ref()), b.after.as_ref().or(b.before.as_ref()));
    this.map(place).cmp(&that.map(place)).then(is_gone(b).cmp(&is_gone(a)))
}

/// Compares the payloads of each pair; pairs without change that are where they were are left out.
pub fn compare_resources(pairs: Vec<ResourcePair>, options: &Options) -> Vec<ResourceChange> {
    let compare = |pair: ResourcePair| {
        let payload = match &pair {
            (Some(before), Some(after)) => compare_payloads(before, after, options),
            _ => Difference::default(),
        };
        change_of(pair, payload, Difference::default(), Difference::default(), Difference::default())
    };
    let few = few_pairs(&pairs);
    few_or_many(pairs, few, compare).into_iter().flatten().collect()
}

/// The number of pairs below which these are compared on one thread.
pub fn few_pairs(pairs: &[ResourcePair]) -> usize {
    let size = |resource: &Option<Resource>| resource.as_ref().map_or(0, |resource| resource.payload.size());
    let all: u64 = pairs.iter().map(|(before, after)| size(before) + size(after)).sum();
    if all < LITTLE { FEW } else { 0 }
}

/// Fewer nodes than this, in few resources, are compared faster than threads are started.
const LITTLE: u64 = 20_000;

/// What differs between the payloads of a resource before and after.
pub fn compare_payloads(before: &Resource, after: &Resource, options: &Options) -> Difference {
    let is_kubernetes = [before, after].iter().all(|resource| kubernetes::is_kubernetes(&resource.payload));
    let options = Options { is_kubernetes: options.is_kubernetes || is_kubernetes, ..options.clone() };
    diff(&before.payload, &after.payload, &options)
}

/// The change of a pair: of its payload, its effective metadata and its requests. Nothing if it did not change and is where it was.
pub fn change_of(
    (before, after): ResourcePair,
    difference: Difference,
    metadata: Difference,
    requests: Difference,
    expressions: Difference,
) -> Option<ResourceChange> {
    let is_moved = match (&before, &after) {
        (Some(before), Some(after)) => before.home() != after.home() || Name::of(before) != Name::of(after),
        _ => true,
    };
    let is_changed =
        [&difference, &metadata, &requests, &expressions].into_iter().any(|difference| !difference.is_empty());
    (is_moved || is_changed).then_some(ResourceChange { before, after, difference, metadata, requests, expressions })
}

/// What a resource is called; the documents of one plain file share its name, because their positions name nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Name<'a> {
    Logical(&'a LogicalPath),
    Kubernetes(&'a KubernetesName),
    File(&'a RepoPath),
}

/// The set of resources in which a renamed resource is searched.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Kin<'a> {
    Logical,
    Kubernetes { group: &'a str, kind: &'a str },
    File,
}

impl<'a> Name<'a> {
    fn of(resource: &'a Resource) -> Self {
        match &resource.identity {
            Identity::Logical(path) => Self::Logical(path),
            Identity::Kubernetes(name) => Self::Kubernetes(name),
            Identity::File { path, .. } => Self::File(path),
        }
    }

    fn kin(self) -> Kin<'a> {
        match self {
            Self::Logical(_) => Kin::Logical,
            Self::Kubernetes(name) => Kin::Kubernetes { group: &name.group, kind: &name.kind },
            Self::File(_) => Kin::File,
        }
    }

    fn is_proper(self) -> bool {
        !matches!(self, Self::File(_))
    }
}

fn place(resource: &Resource) -> (Name<'_>, Option<&Unit>, &RepoPath, usize) {
    (Name::of(resource), resource.unit.as_ref(), &resource.file, resource.position)
}

/// The pairs found so far and the resources without a partner, by position in two sorted slices.
struct Pairing<'a> {
    before: &'a [Resource],
    after: &'a [Resource],
    /// Those who wait, in order.
    waiting: (Vec<usize>, Vec<usize>),
    /// A number per resource that resources of equal content share; only of those who wait.
    contents: (HashMap<usize, u32>, HashMap<usize, u32>),
    pairs: Vec<(usize, usize)>,
}

/// Documents of one file that share less have nothing to do with each other.
const RELATED: u64 = 100;
/// Similarity from which two documents of one file pair, wherever they are in it.
const ALIKE: u64 = 500;
/// Of two resources with different names this much of the values must agree.
const RENAMED: u64 = 600;
/// Bonus for an equal file name, and for an equal directory.
const SAME_FILE_NAME: u64 = 60;
const SAME_DIRECTORY: u64 = 30;
/// So many components at the end of their paths make equal resources of one name the same one, and others of that name.
const CONTENT_END: usize = 2;
const NAME_END: usize = 3;
/// Deeper paths are compared no further.
const DEEPEST: usize = 12;

impl<'a> Pairing<'a> {
    fn new(before: &'a [Resource], after: &'a [Resource]) -> Self {
        Self {
            before,
            after,
            waiting: ((0..before.len()).collect(), (0..after.len()).collect()),
            contents: Default::default(),
            pairs: Vec::new(),
        }
    }

    /// Names that occur once on each side, as nearly all do: there is nothing to choose.
    fn pair_sole_namesakes(&mut self) {
        let mut counts: HashMap<Name<'_>, (usize, usize)> = HashMap::new();
        self.before.iter().for_each(|resource| counts.entry(Name::of(resource)).or_default().0 += 1);
        self.after.iter().for_each(|resource| counts.entry(Name::of(resource)).or_default().1 += 1);
        self.pair_by(|resource, _| {
            let name = Name::of(resource);
            (counts.get(&name) == Some(&(1, 1))).then_some(name)
        });
    }

    fn compare_contents(&mut self) {
        let (before, after) = (self.before, self.after);
        let these: Vec<&Node> = self.waiting.0.iter().map(|&at| &before[at].payload).collect();
        let those: Vec<&Node> = self.waiting.1.iter().map(|&at| &after[at].payload).collect();
        let (before_classes, after_classes) = align::classes(&these, &those, Node::is_equal);
        let index = |waiting: &[usize], classes| waiting.iter().copied().zip::<Vec<u32>>(classes).collect();
        self.contents = (index(&self.waiting.0, before_classes), index(&self.waiting.1, after_classes));
    }

    fn pair_namesakes(&mut self) {
        let proper = |resource: &'a Resource| Some(Name::of(resource)).filter(|name| name.is_proper());
        // A renamed directory of roots mostly keeps the names of the roots.
        let root = |resource: &'a Resource| resource.unit.as_ref().and_then(|unit| unit.key.rsplit('/').next());
        self.pair_by(|resource, _| Some((Name::of(resource), root(resource)?)));
        self.pair_by(|resource, content| Some((Name::of(resource), &resource.file, content)));
        self.pair_by(|resource, _| Some((proper(resource)?, &resource.file)));
        self.pair_by_end(CONTENT_END, |resource, content| Some((proper(resource)?, content)));
        self.pair_by_end(NAME_END, |resource, _| proper(resource));
        self.pair_by(|resource, content| Some((proper(resource)?, content)));
        self.pair_by(|resource, _| proper(resource));
        let document = |resource: &'a Resource| Some(Name::of(resource)).filter(|name| !name.is_proper());
        for (these, those) in self.groups(document) {
            self.pair_alike(&these, &those, |_, _, similarity| {
                (similarity.per_mille >= ALIKE).then_some(similarity.per_mille)
            });
        }
        for (these, those) in self.groups(document) {
            self.pair_facing(&these, &those);
        }
    }

    fn pair_renamed(&mut self) {
        let speaking = |resource: &'a Resource| (resource.payload.size() > 1).then(|| Name::of(resource).kin());
        self.pair_by_end(1, |resource, content| Some((speaking(resource)?, content)));
        self.pair_by(|resource, content| Some((speaking(resource)?, content, resource.file.parent())));
        self.pair_by(|resource, content| Some((speaking(resource)?, content)));
        for (these, those) in self.groups(speaking) {
            self.pair_alike(&these, &those, |before, after, similarity| {
                let file_name = if before.file.file_name() == after.file.file_name() { SAME_FILE_NAME } else { 0 };
                let directory = if before.file.parent() == after.file.parent() { SAME_DIRECTORY } else { 0 };
                let is_renamed = similarity.per_mille >= RENAMED && similarity.shared >= LEAF;
                is_renamed.then_some(similarity.per_mille + file_name + directory)
            });
        }
    }

    /// Pairs unpaired resources with equal keys, in order.
    fn pair_by<K: Hash + Eq>(&mut self, key: impl Fn(&'a Resource, u32) -> Option<K>) {
        let keys = |waiting: &[usize], resources: &'a [Resource], contents: &HashMap<usize, u32>| {
            let key = |&at: &usize| key(&resources[at], contents.get(&at).copied().unwrap_or_default());
            let keyed = waiting.iter().filter_map(|at| Some((*at, key(at)?)));
            keyed.unzip::<usize, K, Vec<usize>, Vec<K>>()
        };
        let (these, these_keys) = keys(&self.waiting.0, self.before, &self.contents.0);
        let (those, those_keys) = keys(&self.waiting.1, self.after, &self.contents.1);
        let pairs = align::same_occurrences(these_keys, those_keys);
        self.settle(pairs.into_iter().map(|(this, that)| (these[this], those[that])));
    }

    /// Pairs unpaired resources with equal keys whose paths end alike: the longest common ends first, so that copies in several
    /// directories pair with those in the same places.
    fn pair_by_end<K: Hash + Eq>(&mut self, shortest: usize, key: impl Fn(&'a Resource, u32) -> Option<K>) {
        if self.waiting.0.is_empty() || self.waiting.1.is_empty() {
            return;
        }
        let depth = |resource: &Resource| resource.file.components().count();
        let deepest = self.waiting.0.iter().map(|&at| depth(&self.before[at])).max().unwrap_or(0);
        for length in (shortest..deepest.min(DEEPEST)).rev() {
            self.pair_by(|resource, content| Some((key(resource, content)?, end_of(&resource.file, length)?)));
        }
    }

    /// Those who wait, by something they share; only where some wait on both sides.
    fn groups<K: Ord>(&self, key: impl Fn(&'a Resource) -> Option<K>) -> Vec<(Vec<usize>, Vec<usize>)> {
        let mut groups: BTreeMap<K, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for &at in &self.waiting.0 {
            key(&self.before[at]).into_iter().for_each(|key| groups.entry(key).or_default().0.push(at));
        }
        for &at in &self.waiting.1 {
            key(&self.after[at]).into_iter().for_each(|key| groups.entry(key).or_default().1.push(at));
        }
        groups.into_values().filter(|(these, those)| !these.is_empty() && !those.is_empty()).collect()
    }

    fn pair_alike(
        &mut self,
        these: &[usize],
        those: &[usize],
        rate: impl Fn(&Resource, &Resource, Similarity) -> Option<u64>,
    ) {
        let limit = trait_limit(these.len() + those.len());
        let features = |resources: &[Resource], positions: &[usize]| -> Vec<Features> {
            few_or_many(positions, FEW, |&at| features(&resources[at], limit))
        };
        let pairs =
            pair_alike(&features(self.before, these), &features(self.after, those), |this, that, similarity| {
                rate(&self.before[these[this]], &self.after[those[that]], similarity)
            });
        self.settle(pairs.into_iter().map(|(this, that)| (these[this], those[that])));
    }

    /// Documents left in one file face each other in order, if they have anything in common.
    fn pair_facing(&mut self, these: &[usize], those: &[usize]) {
        let limit = trait_limit(these.len() + those.len());
        let is_related = |&(this, that): &(usize, usize)| {
            let features = |resource: &Resource| Features::new(&resource.payload, limit);
            features(&self.before[this]).similarity(&features(&self.after[that])).per_mille >= RELATED
        };
        let pairs: Vec<_> = these.iter().copied().zip(those.iter().copied()).filter(is_related).collect();
        self.settle(pairs);
    }

    fn settle(&mut self, pairs: impl IntoIterator<Item = (usize, usize)>) {
        let from = self.pairs.len();
        self.pairs.extend(pairs);
        if self.pairs.len() == from {
            return;
        }
        let (mut is_settled, mut is_settled_after) = (vec![false; self.before.len()], vec![false; self.after.len()]);
        for &(this, that) in &self.pairs[from..] {
            (is_settled[this], is_settled_after[that]) = (true, true);
        }
        self.waiting.0.retain(|&at| !is_settled[at]);
        self.waiting.1.retain(|&at| !is_settled_after[at]);
    }
}

/// The last components of a path; nothing if there are fewer.
fn end_of(file: &RepoPath, length: usize) -> Option<&[u8]> {
    let bytes = file.as_bytes();
    let mut slashes = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    match slashes.nth(length - 1) {
        Some(slash) => Some(&bytes[slash + 1..]),
        None => (file.components().count() == length).then_some(bytes),
    }
}

/// The features of a resource, without those that all resources of its kind share.
fn features(resource: &Resource, limit: usize) -> Features {
    let is_kubernetes = matches!(resource.identity, Identity::Kubernetes(_));
    Features::of_document(&resource.payload, limit, |member| {
        !is_kubernetes || !["apiVersion", "kind"].contains(&member)
    })
}

/// Features looked at of each of so many resources; bounded for each and for all.
fn trait_limit(resources: usize) -> usize {
    (4_000_000 / resources.max(1)).clamp(64, 4096)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{lines, read};
    use proptest::prelude::*;

    fn file(path: &str, position: Option<usize>, payload: &str) -> Resource {
        let path = RepoPath::new(path).unwrap();
        Resource {
            identity: Identity::File { path: path.clone(), position },
            file: path,
            position: position.unwrap_or(0),
            payload: read(payload),
            unit: None,
        }
    }

    fn kubernetes(path: &str, kind: &str, name: &str, rest: &str) -> Resource {
        let payload = format!(r#"{{"apiVersion": "v1", "kind": "{kind}", "metadata": {{"name": "{name}"}}{rest}}}"#);
        let identity = KubernetesName { group: "".into(), kind: kind.into(), namespace: "".into(), name: name.into() };
        Resource { identity: Identity::Kubernetes(identity), ..file(path, None, &payload) }
    }

    /// Each pair as `file#position=file#position`, `-` for none.
    fn pairs_text(before: Vec<Resource>, after: Vec<Resource>) -> Vec<String> {
        let tell = |resource: &Option<Resource>| match resource {
            Some(resource) => format!("{}#{}", resource.file, resource.position),
            None => "-".to_owned(),
        };
        pair(before, after).iter().map(|(before, after)| format!("{}={}", tell(before), tell(after))).collect()
    }

    fn changes(before: Vec<Resource>, after: Vec<Resource>) -> Vec<ResourceChange> {
        compare_resources(pair(before, after), &Options::default())
    }

    #[test]
    fn the_same_name_is_the_same_resource_wherever_it_stands() {
        let before =
            vec![kubernetes("a.yaml", "Service", "web", r#", "x": 1"#), kubernetes("a.yaml", "Pod", "web", "")];
        let after = vec![kubernetes("b.yaml", "Service", "web", r#", "x": 1"#), kubernetes("a.yaml", "Pod", "web", "")];
        let changes = changes(before, after);
        assert_eq!(changes.len(), 1, "only the one that moved");
        assert!(changes[0].difference.changes.is_empty());
    }

    #[test]
    fn documents_of_a_file_may_change_places() {
        let before = vec![
            file("f.yaml", Some(0), r#"{"a": 1, "b": 1, "c": 1}"#),
            file("f.yaml", Some(1), r#"{"k": 2, "l": 2, "m": 2}"#),
            file("f.yaml", Some(2), r#"{"x": 3}"#),
        ];
        let after = vec![
            file("f.yaml", Some(0), r#"{"x": 3}"#),
            file("f.yaml", Some(1), r#"{"a": 1, "b": 1, "c": 1}"#),
            file("f.yaml", Some(2), r#"{"k": 2, "l": 2, "m": 9}"#),
        ];
        let found = changes(before.clone(), after.clone());
        assert_eq!(found.len(), 1);
        assert_eq!(lines(&found[0].difference.changes), ["value /m"]);
        assert!(changes(before.clone(), before.iter().rev().cloned().collect()).is_empty());
        assert_eq!(pairs_text(before, after[..1].to_vec()), ["f.yaml#0=-", "f.yaml#2=f.yaml#0", "f.yaml#1=-"]);
    }

    #[test]
    fn documents_that_share_nothing_are_not_compared() {
        let before = vec![file("f", Some(0), r#"{"a": 1}"#), file("f", Some(1), r#"{"b": 1}"#)];
        let after = vec![file("f", Some(0), r#"{"a": 1}"#), file("f", Some(1), r#"{"z": 5}"#)];
        assert_eq!(pairs_text(before.clone(), after), ["f#0=f#0", "f#1=-", "-=f#1"]);
        let alone = (vec![file("f", None, r#"{"a": 1}"#)], vec![file("f", None, r#"{"z": 5}"#)]);
        assert_eq!(pairs_text(alone.0, alone.1), ["f#0=f#0"], "a file of one document is that document");
    }

    #[test]
    fn of_several_with_one_name_those_in_one_file_belong_together() {
        let before =
            vec![kubernetes("base/a", "Pod", "p", r#", "x": 1"#), kubernetes("prod/a", "Pod", "p", r#", "x": 2"#)];
        let after =
            vec![kubernetes("base/a", "Pod", "p", r#", "x": 2"#), kubernetes("prod/a", "Pod", "p", r#", "x": 3"#)];
        assert_eq!(pairs_text(before, after), ["base/a#0=base/a#0", "prod/a#0=prod/a#0"]);
        let before = vec![kubernetes("a", "Pod", "p", r#", "x": 1"#), kubernetes("b", "Pod", "p", r#", "x": 2"#)];
        let after = vec![kubernetes("c", "Pod", "p", r#", "x": 2"#), kubernetes("d", "Pod", "p", r#", "x": 1"#)];
        assert_eq!(pairs_text(before, after), ["b#0=c#0", "a#0=d#0"]);
    }

    #[test]
    fn a_renamed_resource_is_found_within_its_kind() {
        let spec = r#", "spec": {"a": 1, "b": 2, "c": 3, "d": 4}"#;
        let before = vec![kubernetes("f", "Service", "web", spec)];
        let renamed = kubernetes("f", "Service", "web-svc", spec);
        let found = changes(before.clone(), vec![renamed]);
        assert_eq!(found.len(), 1);
        assert_eq!(lines(&found[0].difference.changes), ["value /metadata/name"]);
        assert_eq!(changes(before.clone(), vec![kubernetes("f", "Ingress", "web", spec)]).len(), 2);
        let namespaces =
            changes(vec![kubernetes("f", "Namespace", "a", "")], vec![kubernetes("f", "Namespace", "b", "")]);
        assert_eq!(namespaces.len(), 2, "to be of one kind is not enough");
    }

    #[test]
    fn among_equal_files_the_same_file_name_and_then_the_same_directory_win() {
        let same = r#"{"a": 1, "b": 2}"#;
        let before = vec![file("x/one.yaml", None, same), file("x/two.yaml", None, same)];
        let after = vec![file("x/three.yaml", None, same), file("y/one.yaml", None, same)];
        assert_eq!(pairs_text(before, after), ["x/two.yaml#0=x/three.yaml#0", "x/one.yaml#0=y/one.yaml#0"]);
        assert_eq!(pairs_text(vec![file("a", None, "{}")], vec![file("b", None, "{}")]), ["a#0=-", "-=b#0"]);
    }

    #[test]
    fn an_edited_and_moved_file_is_one_change() {
        let before = vec![file("old/app.yaml", None, r#"{"a": 1, "b": 2, "c": 3, "d": 4}"#)];
        let after = vec![file("new/app.yaml", None, r#"{"a": 1, "b": 2, "c": 3, "d": 5}"#)];
        let found = changes(before, after);
        assert_eq!(lines(&found[0].difference.changes), ["value /d"]);
    }

    #[test]
    fn thousands_of_renamed_resources_find_each_other() {
        let many = |prefix: &str, edit: u32| -> Vec<Resource> {
            (0..3000)
                .map(|at| {
                    let rest = format!(
                        r#", "spec": {{"replicas": 1, "edit": {edit}, "x": {}, "y": "z", "w": [1, 2]}}"#,
                        at % 7
                    );
                    kubernetes("f", "Deployment", &format!("{prefix}{at:05}"), &rest)
                })
                .collect()
        };
        let found = changes(many("old-", 0), many("new-", 1));
        assert_eq!(found.len(), 3000);
        assert!(found.iter().all(|change| change.difference.changes.len() <= 3));
    }

    #[test]
    fn the_order_in_which_resources_come_does_not_matter() {
        let resources = || -> Vec<Resource> {
            (0..30)
                .map(|at| {
                    file(&format!("f{}", at % 5), Some(at / 5), &format!(r#"{{"a": {}, "b": {}}}"#, at % 3, at % 4))
                })
                .collect()
        };
        let after: Vec<Resource> = resources().into_iter().skip(7).collect();
        let reversed = (resources().into_iter().rev().collect(), after.iter().rev().cloned().collect());
        assert_eq!(pairs_text(resources(), after), pairs_text(reversed.0, reversed.1));
    }

    #[test]
    fn what_is_only_spelled_differently_is_kept() {
        let found = changes(vec![file("f", None, r#"{"v": 1.0}"#)], vec![file("f", None, r#"{"v": 1}"#)]);
        assert_eq!((found.len(), found[0].difference.spelling_only.len()), (1, 1));
    }

    fn any_resources() -> impl Strategy<Value = Vec<Resource>> {
        let one = (0..3_u8, 0..4_usize, 0..3_u8, 0..3_u8).prop_map(|(directory, position, a, b)| {
            let path = format!("d{directory}/f{a}");
            if position == 3 {
                let rest = format!(r#", "spec": {{"a": {a}, "b": {b}, "c": 1, "d": 2}}"#);
                kubernetes(&path, ["Pod", "Service"][usize::from(b % 2)], &format!("n{directory}"), &rest)
            } else {
                file(&path, Some(position), &format!(r#"{{"a": {a}, "b": {b}, "c": {{"d": {position}}}}}"#))
            }
        });
        prop::collection::vec(one, 0..20)
    }

    proptest! {
        #[test]
        fn everybody_is_in_exactly_one_pair(before in any_resources(), after in any_resources()) {
            let tell = |resource: &Resource| format!("{} {} {:?}", resource.identity, resource.file, resource.payload);
            let sorted = |mut all: Vec<String>| {
                all.sort();
                all
            };
            let pairs = pair(before.clone(), after.clone());
            prop_assert!(pairs.iter().all(|(before, after)| before.is_some() || after.is_some()));
            let side = |resources: Vec<&Resource>| sorted(resources.into_iter().map(tell).collect());
            prop_assert_eq!(side(pairs.iter().filter_map(|pair| pair.0.as_ref()).collect()), side(before.iter().collect()));
            prop_assert_eq!(side(pairs.iter().filter_map(|pair| pair.1.as_ref()).collect()), side(after.iter().collect()));
        }

        /// What is sole in its file on both sides pairs there, whatever else there is.
        #[test]
        fn sole_namesakes_of_a_file_are_pairs(before in any_resources(), after in any_resources()) {
            let tell = |resource: &Resource| format!("{} {} {:?}", resource.identity, resource.file, resource.payload);
            let told = |pair: (&Resource, &Resource)| (tell(pair.0), tell(pair.1));
            let pairs = pair(before.clone(), after.clone());
            let pairs: Vec<_> = pairs.iter().filter_map(|(old, new)| Some(told((old.as_ref()?, new.as_ref()?)))).collect();
            let files: BTreeSet<&RepoPath> = before.iter().chain(&after).map(|resource| &resource.file).collect();
            for file in files {
                let within = |all: &[Resource]| all.iter().filter(|it| it.file == *file).cloned().collect::<Vec<_>>();
                let (old, new) = (within(&before), within(&after));
                for (this, that) in sole_namesakes(&old, &new) {
                    prop_assert!(pairs.contains(&told((&old[this], &new[that]))), "{} {}", file, old[this].identity);
                }
            }
        }

        #[test]
        fn nothing_changed_where_nothing_changed(mut resources in any_resources()) {
            let before = resources.clone();
            resources.reverse();
            prop_assert!(changes(before, resources).is_empty());
        }
    }
}
