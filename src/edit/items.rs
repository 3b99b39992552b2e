//! Which items of a list became which: what stays, what changes, what is new.

use crate::value::Node;

/// The fate of items, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The old item at this index becomes the new one at that.
    Stays { old: usize, new: usize },
    /// The old item is gone.
    Goes { old: usize },
    /// The new item was not there.
    Comes { new: usize },
}

/// Beyond this many pairs to compare, items are matched by their index alone.
const MOST_PAIRS: usize = 250_000;

/// Matches the items of two lists.
pub(super) fn match_items(old: &[Node], new: &[Node]) -> Vec<Fate> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a.is_identical(b)).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a.is_identical(b)).count();
    let old_middle = &old_rest[..old_rest.len() - suffix];
    let new_middle = &new_rest[..new_rest.len() - suffix];
    let mut fates: Vec<Fate> = (0..prefix).map(|at| Fate::Stays { old: at, new: at }).collect();
    let is_same_length = old_middle.len() == new_middle.len();
    let common = match is_same_length || old_middle.len().saturating_mul(new_middle.len()) > MOST_PAIRS {
        true => Vec::new(),
        false => common_items(old_middle, new_middle),
    };
    let mut at = (0, 0);
    for end in common.into_iter().chain([(old_middle.len(), new_middle.len())]) {
        fill(prefix, at, end, &mut fates);
        if end.0 < old_middle.len() {
            fates.push(Fate::Stays { old: prefix + end.0, new: prefix + end.1 });
        }
        at = (end.0 + 1, end.1 + 1);
    }
    let (old_end, new_end) = (old.len() - suffix, new.len() - suffix);
    fates.extend((0..suffix).map(|at| Fate::Stays { old: old_end + at, new: new_end + at }));
    fates
}

/// Between two matches, items change as long as both sides have some.
fn fill(offset: usize, from: (usize, usize), to: (usize, usize), fates: &mut Vec<Fate>) {
    let (old, new) = (to.0.saturating_sub(from.0), to.1.saturating_sub(from.1));
    let both = old.min(new);
    fates.extend((0..both).map(|at| Fate::Stays { old: offset + from.0 + at, new: offset + from.1 + at }));
    fates.extend((both..old).map(|at| Fate::Goes { old: offset + from.0 + at }));
    fates.extend((both..new).map(|at| Fate::Comes { new: offset + from.1 + at }));
}

/// A longest common subsequence of identical items.
fn common_items(old: &[Node], new: &[Node]) -> Vec<(usize, usize)> {
    let width = new.len() + 1;
    let mut lengths = vec![0u32; (old.len() + 1) * width];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i * width + j] = match old[i].is_identical(&new[j]) {
                true => lengths[(i + 1) * width + j + 1] + 1,
                false => lengths[(i + 1) * width + j].max(lengths[i * width + j + 1]),
            };
        }
    }
    let mut common = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i].is_identical(&new[j]) {
            common.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    common
}
