//! Groups changes that several resources share, with one cause, so that they can be shown once.
//!
//! Changes of values that are defined outside of their resources are grouped by the location of the definition; different values
//! are variants of the group. Changes of values that each resource defines in its own file, or in a separate file each, are grouped
//! if the change is equal.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::cause::{Cause, Causes, FileSpan, causes};
use super::fingerprint::{Digest, Fingerprint};
use super::{Change, ChangeKind, PathStep, ResourceChange, resources};
use crate::memo::HashMap;
use crate::parallel::few_or_many;
use crate::text::Sources;
use crate::value::{Node, StepKind};

/// A change that at least two resources share.
#[derive(Debug, Clone)]
pub struct Group {
    /// Stable id of the group.
    pub fingerprint: Fingerprint,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// The path, with list items by their labels and without indexes.
    pub path: Vec<PathStep>,
    /// Where the values before come from; absent for additions.
    pub before: Option<SharedCause>,
    /// Where the values after come from; absent for removals.
    pub after: Option<SharedCause>,
    /// The changes by their values, variants of most resources first.
    pub variants: Vec<Variant>,
}

/// The changes of a group that have the same values, in order of their resources.
#[derive(Debug, Clone)]
pub struct Variant {
    /// Which changes; never empty.
    pub members: Vec<Member>,
}

/// One change of one resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    /// The position of the resource among those that were compared.
    pub resource: usize,
    /// The position of the change among those of the resource, in all its views.
    pub change: usize,
}

/// Where the values of a group come from on one side.
#[derive(Debug, Clone)]
pub struct SharedCause {
    /// Where they are written.
    pub origin: Origin,
    /// The steps from there to the resources that all members share.
    pub via: Vec<SharedVia>,
}

/// Where the values of a group are written.
#[derive(Debug, Clone)]
pub enum Origin {
    /// Each in the file of its resource.
    Own,
    /// Each in another file that is not the resource's.
    Apart,
    /// All of them here.
    At(FileSpan),
}

/// A step that all values of a group took.
#[derive(Debug, Clone)]
pub struct SharedVia {
    /// The kind of step.
    pub kind: StepKind,
    /// Where the step is defined, if that is the same for all.
    pub at: Option<FileSpan>,
}

/// Fewer changes than this are looked at on one thread.
const MANY: usize = 1000;

/// Finds what is one change; groups of many resources first, then in order of their first resource.
pub fn groups(resources: &[ResourceChange], sources: &Sources) -> Vec<Group> {
    let items = items(resources, sources);
    let order = Order::of(resources);
    let all: Vec<usize> = (0..items.len()).collect();
    let (mut classes, alone) = Sorter { items: &items, is_apart: false }.classes(&all);
    // Values that are defined in many files may still be changed equally in each of them.
    let external: Vec<usize> = alone.into_iter().filter(|&at| items[at].causes.is_external()).collect();
    let in_place = classes.len();
    classes.extend(Sorter { items: &items, is_apart: true }.classes(&external).0);
    let found = classes.iter().enumerate().map(|(at, class)| group(class, &items, resources, &order, at >= in_place));
    let mut groups: Vec<(usize, (usize, usize), Group)> = found
        .filter_map(|group| {
            let first = group.members().min_by_key(|member| order.place(member))?;
            Some((group.resource_count(), order.place(&first), group))
        })
        .collect();
    groups.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let mut groups: Vec<Group> = groups.into_iter().map(|(_, _, group)| group).collect();
    tell_apart(&mut groups, resources, &order);
    groups
}

impl Group {
    /// The resources, each once, in their order.
    pub fn resources(&self) -> Vec<usize> {
        distinct(self.variants.iter().flat_map(|variant| &variant.members))
    }

    /// How many resources there are.
    pub fn resource_count(&self) -> usize {
        self.resources().len()
    }

    /// Every change in it.
    pub fn members(&self) -> impl Iterator<Item = Member> {
        self.variants.iter().flat_map(|variant| variant.members.iter().copied())
    }

    /// The first member, as an example of all.
    pub fn example<'r>(&self, resources: &'r [ResourceChange]) -> Option<(&'r ResourceChange, &'r Change)> {
        self.variants.first()?.example(resources)
    }

    /// Both sides as far as they are there, the older one first.
    pub fn causes(&self) -> impl Iterator<Item = &SharedCause> {
        self.before.iter().chain(&self.after)
    }
}

impl Variant {
    /// The first member, as an example of all.
    pub fn example<'r>(&self, resources: &'r [ResourceChange]) -> Option<(&'r ResourceChange, &'r Change)> {
        let member = self.members.first()?;
        let resource = resources.get(member.resource)?;
        Some((resource, resource.change(member.change)?))
    }

    /// The resources, each once, in their order.
    pub fn resources(&self) -> Vec<usize> {
        distinct(&self.members)
    }

    /// How many resources there are.
    pub fn resource_count(&self) -> usize {
        if self.members.len() == 1 { 1 } else { self.resources().len() }
    }
}

/// Resources in order of their positions, which is the order of their names.
fn distinct<'m>(members: impl IntoIterator<Item = &'m Member>) -> Vec<usize> {
    let mut resources: Vec<usize> = members.into_iter().map(|member| member.resource).collect();
    resources.sort_unstable();
    resources.dedup();
    resources
}

/// A change with what decides where it belongs.
struct Item<'a> {
    member: Member,
    change: &'a Change,
    causes: &'a Causes,
}

/// Every change of resources that exist on both sides. Added and removed resources have no changes inside.
fn items<'a>(resources: &'a [ResourceChange], sources: &Sources) -> Vec<Item<'a>> {
    let of_one = |(resource, of): (usize, &'a ResourceChange)| -> Vec<Item<'a>> {
        if of.before.is_none() || of.after.is_none() {
            return Vec::new();
        }
        let item = |(at, change)| {
            let member = Member { resource, change: at };
            Item { member, change, causes: causes(change, of, sources) }
        };
        of.changes().enumerate().map(item).collect()
    };
    let numbered: Vec<(usize, &ResourceChange)> = resources.iter().enumerate().collect();
    few_or_many(numbered, MANY, of_one).into_iter().flatten().collect()
}

/// Sorts changes into classes of equal ones. Matches found by hash are verified.
struct Sorter<'a> {
    items: &'a [Item<'a>],
    /// Whether the places of external values do not count, but their values do.
    is_apart: bool,
}

impl Sorter<'_> {
    /// Classes of at least two resources, and everything else.
    fn classes(&self, among: &[usize]) -> (Vec<Vec<usize>>, Vec<usize>) {
        let classes = classes_by(among, |at| self.hash(at), |a, b| self.is_same(a, b));
        let resources = |class: &[usize]| distinct(class.iter().map(|&at| &self.items[at].member)).len();
        let (shared, alone): (Vec<_>, Vec<_>) = classes.into_iter().partition(|class| resources(class) > 1);
        (shared, alone.into_iter().flatten().collect())
    }

    fn hash(&self, at: usize) -> u64 {
        let Item { change, causes, .. } = &self.items[at];
        let mut hasher = DefaultHasher::new();
        change.kind.hash(&mut hasher);
        let mut shape = Digest::new();
        shape.shape(&change.path);
        u64::from(shape.finish()).hash(&mut hasher);
        positions(change).hash(&mut hasher);
        for (node, cause) in sides(change, causes) {
            match cause.filter(|cause| !cause.is_own && !self.is_apart) {
                Some(cause) => (cause.at.span.start, cause.at.file.as_bytes()).hash(&mut hasher),
                None => node.map(Node::hash).hash(&mut hasher),
            }
        }
        hasher.finish()
    }

    fn is_same(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.items[a], &self.items[b]);
        let is_same_side = |((this, why), (that, whence)): (ChangeSide<'_>, ChangeSide<'_>)| match (why, whence) {
            (Some(why), Some(whence)) if why.is_own != whence.is_own => false,
            (Some(why), Some(whence)) if !why.is_own && !self.is_apart => why.at.is_same(&whence.at),
            _ => Node::same_option(this, that),
        };
        a.change.kind == b.change.kind
            && positions(a.change) == positions(b.change)
            && is_same_shape(&a.change.path, &b.change.path)
            && sides(a.change, a.causes).into_iter().zip(sides(b.change, b.causes)).all(is_same_side)
    }
}

type ChangeSide<'a> = (Option<&'a Node>, Option<&'a Cause>);

fn sides<'a>(change: &'a Change, causes: &'a Causes) -> [ChangeSide<'a>; 2] {
    [(change.before.as_ref(), causes.before.as_ref()), (change.after.as_ref(), causes.after.as_ref())]
}

/// The indexes of an item before and after, if that is all that changed.
fn positions(change: &Change) -> Option<(Option<usize>, Option<usize>)> {
    match change.path.last() {
        Some(PathStep::Item { before, after, .. }) if change.kind == ChangeKind::Move => Some((*before, *after)),
        _ => None,
    }
}

fn is_same_shape(a: &[PathStep], b: &[PathStep]) -> bool {
    a.len() == b.len()
        && a.iter().zip(b).all(|pair| match pair {
            (PathStep::Key(a), PathStep::Key(b)) => a.is_same(b),
            (PathStep::Item { label: a, .. }, PathStep::Item { label: b, .. }) => a == b,
            (PathStep::Embedded(a), PathStep::Embedded(b)) => a == b,
            (PathStep::Metadata, PathStep::Metadata) => true,
            (PathStep::Request(a), PathStep::Request(b)) => a == b,
            (PathStep::Expression(a), PathStep::Expression(b)) => a == b,
            _ => false,
        })
}

/// Partitions into classes in the order of their first members.
fn classes_by(
    among: &[usize],
    hash: impl Fn(usize) -> u64 + Send + Sync,
    is_same: impl Fn(usize, usize) -> bool,
) -> Vec<Vec<usize>> {
    let mut classes: Vec<Vec<usize>> = Vec::new();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::with_capacity_and_hasher(among.len(), Default::default());
    let hashes = few_or_many(among, MANY, |at| hash(*at));
    for (&at, hash) in among.iter().zip(hashes) {
        let bucket = by_hash.entry(hash).or_default();
        match bucket.iter().find(|&&class| is_same(classes[class][0], at)) {
            Some(&class) => classes[class].push(at),
            None => {
                bucket.push(classes.len());
                classes.push(vec![at]);
            }
        }
    }
    classes
}

fn group(class: &[usize], items: &[Item<'_>], resources: &[ResourceChange], order: &Order, is_apart: bool) -> Group {
    let hash = |at: usize| {
        let Change { before, after, .. } = items[at].change;
        let mut hasher = DefaultHasher::new();
        [before, after].map(|node| node.as_ref().map(Node::hash)).hash(&mut hasher);
        hasher.finish()
    };
    let is_same = |a: usize, b: usize| {
        let (a, b) = (items[a].change, items[b].change);
        Node::same_option(a.before.as_ref(), b.before.as_ref()) && Node::same_option(a.after.as_ref(), b.after.as_ref())
    };
    let mut variants: Vec<Variant> = Vec::new();
    for class in classes_by(class, hash, is_same) {
        let mut members: Vec<Member> = class.iter().map(|&at| items[at].member).collect();
        members.sort_by_key(|member| order.place(member));
        variants.push(Variant { members });
    }
    variants.sort_by_cached_key(|variant| (Reverse(variant.resource_count()), order.place(&variant.members[0])));
    let of_class = |side: fn(&Causes) -> Option<&Cause>| {
        let causes: Vec<&Cause> = class.iter().filter_map(|&at| side(items[at].causes)).collect();
        shared_cause(&causes, is_apart)
    };
    let first = items[class[0]].change;
    let mut group = Group {
        fingerprint: Digest::new().finish(),
        kind: first.kind,
        path: first.path.iter().map(without_position).collect(),
        before: of_class(|causes| causes.before.as_ref()),
        after: of_class(|causes| causes.after.as_ref()),
        variants,
    };
    group.fingerprint = digest(&group, resources).finish();
    group
}

/// A step by its label only.
pub fn without_position(step: &PathStep) -> PathStep {
    match step {
        PathStep::Item { label, .. } => PathStep::Item { before: None, after: None, label: label.clone() },
        step => step.clone(),
    }
}

fn shared_cause(causes: &[&Cause], is_apart: bool) -> Option<SharedCause> {
    let first = causes.first()?;
    let origin = match (first.is_own, is_apart) {
        (true, _) => Origin::Own,
        (false, true) => Origin::Apart,
        (false, false) => Origin::At(first.at.clone()),
    };
    let mut via = Vec::new();
    for (at, step) in first.via.iter().enumerate() {
        let twins = causes.iter().map(|cause| cause.via.get(at).filter(|twin| twin.kind == step.kind));
        let Some(twins) = twins.collect::<Option<Vec<_>>>() else { break };
        let is_one_place = twins.iter().all(|twin| twin.at.is_same(&step.at));
        via.push(SharedVia { kind: step.kind, at: is_one_place.then(|| step.at.clone()) });
    }
    Some(SharedCause { origin, via })
}

/// What the name of a group is made of. Lines, resources and secrets are no part of it.
fn digest(group: &Group, resources: &[ResourceChange]) -> Digest {
    let mut digest = Digest::new();
    digest.kind(group.kind);
    digest.shape(&group.path);
    let examples = group.variants.iter().filter_map(|variant| variant.example(resources));
    digest.values(&examples.map(|(_, change)| change).collect::<Vec<_>>());
    for side in [&group.before, &group.after] {
        match side.as_ref().map(|side| &side.origin) {
            None => digest.bytes(b""),
            Some(Origin::Own) => digest.bytes(b"."),
            Some(Origin::Apart) => digest.bytes(b".."),
            Some(Origin::At(place)) => digest.bytes(place.file.as_bytes()),
        }
    }
    digest
}

/// Makes fingerprints unique: groups with equal fingerprints are distinguished by their first resource, then by their order.
fn tell_apart(groups: &mut [Group], resources: &[ResourceChange], order: &Order) {
    for group in namesakes(groups) {
        let mut digest = digest(group, resources);
        let first = group.members().min_by_key(|member| order.place(member));
        if let Some(of) = first.and_then(|member| resources.get(member.resource)) {
            let side = of.after.as_ref().or(of.before.as_ref());
            digest.bytes(side.map(|side| side.identity.to_string()).unwrap_or_default().as_bytes());
        }
        group.fingerprint = digest.finish();
    }
    for (number, group) in namesakes(groups).into_iter().enumerate() {
        let mut digest = digest(group, resources);
        digest.bytes(&(number as u64).to_le_bytes());
        group.fingerprint = digest.finish();
    }
}

/// The groups that share their name with another.
fn namesakes(groups: &mut [Group]) -> Vec<&mut Group> {
    let mut counts: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    groups.iter().for_each(|group| *counts.entry(group.fingerprint).or_default() += 1);
    groups.iter_mut().filter(|group| counts.get(&group.fingerprint) != Some(&1)).collect()
}

/// The rank of each resource by its place in reports; nothing if they are in that order already.
struct Order(Option<Vec<usize>>);

impl Order {
    fn of(all: &[ResourceChange]) -> Self {
        if all.is_sorted_by(|a, b| resources::by_place(a, b).is_le()) {
            return Self(None);
        }
        let mut sorted: Vec<usize> = (0..all.len()).collect();
        sorted.sort_by(|&a, &b| resources::by_place(&all[a], &all[b]));
        let mut ranks = vec![0; all.len()];
        sorted.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank);
        Self(Some(ranks))
    }

    fn place(&self, member: &Member) -> (usize, usize) {
        let rank = self.0.as_ref().and_then(|ranks| ranks.get(member.resource).copied());
        (rank.unwrap_or(member.resource), member.change)
    }
}

#[cfg(test)]
mod laws;
