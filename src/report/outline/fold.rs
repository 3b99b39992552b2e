//! Folds the same change at several paths into one entry.

use std::collections::{BTreeMap, BTreeSet};

use super::same::{Key, is_same, key};
use super::{Entry, Occurrence, blocks, path_tree};
use crate::diff::path_text;
use crate::report::Report;

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
