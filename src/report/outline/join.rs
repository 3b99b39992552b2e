//! Joins blocks with the same changes of a resource that several roots render, whatever brings the changes about in each of them.

use std::collections::BTreeMap;

use super::same::{Hashes, is_same, values};
use super::{Block, Entry, Occurrence};
use crate::diff::{ChangeKind, Member, path_text};
use crate::report::Report;

/// What a block is about: the name of its resources, and each of its changes by path, kind and values.
type Key = (String, Vec<(String, ChangeKind, Hashes)>);

/// Blocks in which a resource with the same changes in different roots occurs once.
pub(super) fn joined(report: &Report, blocks: Vec<Block>) -> Vec<Block> {
    let mut positions: BTreeMap<Key, usize> = BTreeMap::new();
    let mut kept: Vec<Block> = Vec::with_capacity(blocks.len());
    for block in blocks {
        let Some(key) = key(report, &block) else {
            kept.push(block);
            continue;
        };
        match positions.get(&key).copied().filter(|&at| is_equal(report, &kept[at], &block)) {
            Some(at) => join(&mut kept[at], block),
            None => {
                positions.insert(key, kept.len());
                kept.push(block);
            }
        }
    }
    kept
}

/// Nothing if the resources are not rendered or have several names, or if a change has several values.
fn key(report: &Report, block: &Block) -> Option<Key> {
    let mut name = None;
    for resource in &block.resources {
        let of = report.resources.get(*resource)?;
        let side = of.after.as_ref().or(of.before.as_ref())?;
        side.unit.as_ref()?;
        let identity = side.identity.to_string();
        if name.get_or_insert_with(|| identity.clone()) != &identity {
            return None;
        }
    }
    let change = |entry: &Entry| match entry.at.as_slice() {
        [only] => {
            let (kind, hashes) = values(report, entry)?;
            Some((path_text::steps(&only.path, path_text::EMBEDDED).concat(), kind, hashes))
        }
        _ => None,
    };
    Some((name?, block.entries.iter().map(change).collect::<Option<_>>()?))
}

fn is_equal(report: &Report, this: &Block, that: &Block) -> bool {
    this.entries.iter().zip(&that.entries).all(|(a, b)| is_same(report, a, b))
}

fn join(into: &mut Block, block: Block) {
    into.resources.extend(block.resources);
    into.resources.sort_unstable();
    into.resources.dedup();
    for (entry, other) in into.entries.iter_mut().zip(block.entries) {
        let members: Vec<Member> = other.at.into_iter().flat_map(|at| at.members).collect();
        entry.group = None;
        entry.at.iter_mut().for_each(|Occurrence { members: all, .. }| {
            all.extend(&members);
            all.sort_unstable();
        });
    }
}
