//! Folds the same change at several paths into one entry.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Entry, Occurrence, blocks, path_tree};
use crate::diff::{Change, ChangeKind, Origin, causes, path_text};
use crate::report::{Report, secret_numbers};
use crate::value::Node;

/// So many paths in the same resources are folded.
const MANY_IN_ONE: usize = 3;
/// So many changes in different resources are folded.
const MANY_IN_ALL: usize = 4;

/// Entries in which the same change of a field at many paths is one.
pub(super) fn folded(report: &Report, atoms: Vec<Entry>) -> Vec<Entry> {
    let kept = repeated_together(report, &atoms);
    let (mut order, mut classes): (Vec<Key>, BTreeMap<Key, Vec<usize>>) = Default::default();
    for (at, atom) in atoms.iter().enumerate().filter(|(at, _)| !kept.contains(at)) {
        let Some(key) = key(report, atom) else { continue };
        let class = classes.entry(key.clone()).or_default();
        if class.is_empty() {
            order.push(key);
        }
        if class.first().is_none_or(|first| is_same(report, &atoms[*first], atom)) {
            class.push(at);
        }
    }
    classes.retain(|_, class| is_worth_folding(&atoms, class));
    let folded: BTreeSet<usize> = classes.values().flatten().copied().collect();
    let mut entries: Vec<Entry> =
        atoms.iter().enumerate().filter(|(at, _)| !folded.contains(at)).map(|(_, atom)| atom.clone()).collect();
    for class in order.iter().filter_map(|key| classes.get(key)) {
        let at: Vec<Occurrence> = class.iter().flat_map(|&atom| atoms[atom].at.clone()).collect();
        entries.push(Entry { group: None, at });
    }
    entries
}

/// Atoms that are part of equal parts with several changes each; these are folded where their paths are shown.
fn repeated_together(report: &Report, atoms: &[Entry]) -> BTreeSet<usize> {
    let mut kept = BTreeSet::new();
    let numbered: BTreeMap<_, usize> = atoms
        .iter()
        .enumerate()
        .filter_map(|(at, atom)| Some((atom.at.first()?.members.first().copied()?, at)))
        .collect();
    for block in blocks(atoms.to_vec()) {
        for entry in path_tree(report, &block.entries, path_text::EMBEDDED).iter().flat_map(|node| node.repeated()) {
            let first = block.entries[entry].at.first().and_then(|at| at.members.first());
            kept.extend(first.and_then(|member| numbered.get(member)));
        }
    }
    kept
}

fn is_worth_folding(atoms: &[Entry], class: &[usize]) -> bool {
    let count: usize = class.iter().map(|&at| atoms[at].count()).sum();
    let resources = class.first().map(|&at| atoms[at].resources());
    let is_one_set = class.iter().all(|&at| Some(atoms[at].resources()) == resources);
    class.len() >= MANY_IN_ONE && (is_one_set || count >= MANY_IN_ALL)
}

/// The name of the field, the kind of the change, and hashes of both values.
type Key = (String, ChangeKind, [Option<u64>; 2]);

/// Nothing if an entry has several values, or values that are not shown or are defined elsewhere.
fn key(report: &Report, atom: &Entry) -> Option<Key> {
    let (of, change) = atom.example(report)?;
    let is_plain = match atom.group.and_then(|at| report.groups.get(at)) {
        Some(group) => {
            let is_own = group.causes().all(|cause| matches!(cause.origin, Origin::Own) && cause.via.is_empty());
            is_own && group.variants.len() == 1
        }
        None => !causes(change, of, &report.sources).is_external(),
    };
    let is_order = matches!(change.kind, ChangeKind::Reorder | ChangeKind::Move);
    if !is_plain || is_order || secret_numbers::concerns_secret(change) {
        return None;
    }
    let hash = |node: &Option<Node>| {
        let mut hasher = DefaultHasher::new();
        node.as_ref()?.hash().hash(&mut hasher);
        Some(hasher.finish())
    };
    Some((field(&atom.at.first()?.path), change.kind, [hash(&change.before), hash(&change.after)]))
}

/// The last step that has a name, and what follows it.
pub(super) fn field(path: &[crate::diff::PathStep]) -> String {
    let steps = path_text::steps(path, path_text::EMBEDDED);
    let from = steps.iter().rposition(|step| !step.starts_with('[')).unwrap_or(0);
    let kept = steps[from..].iter().map(|step| if step.starts_with('[') && is_number(step) { "[*]" } else { step });
    kept.collect::<String>().trim_start().trim_start_matches(path_text::EMBEDDED).trim_start().to_owned()
}

fn is_number(step: &str) -> bool {
    step.trim_matches(['[', ']']).chars().all(|c| c.is_ascii_digit() || c == '*')
}

fn is_same(report: &Report, this: &Entry, that: &Entry) -> bool {
    let is_equal = |a: &Option<Node>, b: &Option<Node>| Node::same_option(a.as_ref(), b.as_ref());
    let same = |a: &Change, b: &Change| is_equal(&a.before, &b.before) && is_equal(&a.after, &b.after);
    match (this.example(report), that.example(report)) {
        (Some((_, a)), Some((_, b))) => a.kind == b.kind && same(a, b),
        _ => false,
    }
}

/// Whether two entries are the same change, wherever they are.
pub(super) fn is_same_change(report: &Report, this: &Entry, that: &Entry) -> bool {
    let is_plain = |entry: &Entry| key(report, entry).is_some();
    is_plain(this) && is_plain(that) && is_same(report, this, that)
}
