//! Unites the same change of a field in different resources, whatever brings it about in each of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::same::{Hashes, is_same, values};
use super::{Entry, Occurrence};
use crate::diff::{ChangeKind, PathStep, path_text, without_position};
use crate::report::Report;

/// The path without positions, the kind of the change, and hashes of both values.
type Key = (String, ChangeKind, Hashes);

/// Entries of which no two are the same change at the same path in different resources.
pub(super) fn united(report: &Report, atoms: Vec<Entry>) -> Vec<Entry> {
    let mut classes: BTreeMap<Key, Class> = BTreeMap::new();
    let mut kept: Vec<(Entry, BTreeSet<usize>)> = Vec::with_capacity(atoms.len());
    for atom in atoms {
        let resources: BTreeSet<usize> = atom.resources().into_iter().collect();
        let Some(key) = key(report, &atom) else {
            kept.push((atom, resources));
            continue;
        };
        let class = classes.entry(key).or_default();
        let first = class.first_without(&resources, |at, resource| kept[at].1.contains(&resource));
        let is_twin = |&at: &usize| {
            let (other, others) = &kept[at];
            others.is_disjoint(&resources) && is_same(report, other, &atom)
        };
        match class.entries[first..].iter().copied().find(is_twin) {
            Some(at) => {
                unite(&mut kept[at].0, atom);
                kept[at].1.extend(resources);
            }
            None => {
                class.entries.push(kept.len());
                kept.push((atom, resources));
            }
        }
    }
    kept.into_iter().map(|(entry, _)| entry).collect()
}

/// Entries with one key, by their positions.
#[derive(Default)]
struct Class {
    entries: Vec<usize>,
    /// For each resource, how many of the first entries are known to have it: they only gain resources.
    had: HashMap<usize, usize>,
}

impl Class {
    /// The number of first entries that have one of these resources each.
    fn first_without(&mut self, resources: &BTreeSet<usize>, has: impl Fn(usize, usize) -> bool) -> usize {
        let mut first = 0;
        for &resource in resources {
            let had = self.had.entry(resource).or_default();
            *had += self.entries[*had..].iter().take_while(|&&at| has(at, resource)).count();
            first = first.max(*had);
        }
        first
    }
}

/// Nothing if a change has several values, or if it is one of metadata, requests or expressions: what overrides these is shown with them.
fn key(report: &Report, atom: &Entry) -> Option<Key> {
    let [only] = atom.at.as_slice() else { return None };
    let is_payload = |step: &PathStep| matches!(step, PathStep::Key(_) | PathStep::Item { .. } | PathStep::Embedded(_));
    let (kind, hashes) = values(report, atom)?;
    let path: Vec<PathStep> = only.path.iter().map(without_position).collect();
    only.path.iter().all(is_payload).then(|| (path_text::display(&path, path_text::EMBEDDED), kind, hashes))
}

fn unite(into: &mut Entry, atom: Entry) {
    let members = atom.at.into_iter().flat_map(|at| at.members);
    into.group = None;
    if let [Occurrence { path, members: all }] = into.at.as_mut_slice() {
        *path = path.iter().map(without_position).collect();
        all.extend(members);
        all.sort_unstable();
    }
}
