//! Unites the same change of a field in different resources, whatever brings it about in each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::same::{Hashes, is_same, values};
use super::{Entry, Occurrence};
use crate::diff::{ChangeKind, PathStep, path_text, without_position};
use crate::report::Report;

/// The path without positions, the kind of the change, and hashes of both values.
type Key = (String, ChangeKind, Hashes);

/// Entries of which no two are the same change at the same path in different resources.
pub(super) fn united(report: &Report, atoms: Vec<Entry>) -> Vec<Entry> {
    let mut classes: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    let mut kept: Vec<(Entry, BTreeSet<usize>)> = Vec::with_capacity(atoms.len());
    for atom in atoms {
        let resources: BTreeSet<usize> = atom.resources().into_iter().collect();
        let Some(key) = key(report, &atom) else {
            kept.push((atom, resources));
            continue;
        };
        let class = classes.entry(key).or_default();
        let is_twin = |&at: &usize| {
            let (other, others) = &kept[at];
            others.is_disjoint(&resources) && is_same(report, other, &atom)
        };
        match class.iter().copied().find(is_twin) {
            Some(at) => {
                unite(&mut kept[at].0, atom);
                kept[at].1.extend(resources);
            }
            None => {
                class.push(kept.len());
                kept.push((atom, resources));
            }
        }
    }
    kept.into_iter().map(|(entry, _)| entry).collect()
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
