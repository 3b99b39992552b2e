//! Which items of two sequences belong together in order, near-linear however long the sequences are.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::value::Node;

/// Pairs of equal items, rising on both sides: a longest such run for short sequences, a good one for long ones.
pub fn align(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    align_between(before, after, 0..before.len(), 0..after.len(), DEEPEST, &mut pairs);
    pairs
}

/// Items of both sides together up to which the longest common run is computed exactly; the cost is at most the square.
const EXACT: usize = 1024;
/// Items up to which git's heuristic search is used at once; its cost grows with n·√n at worst.
const SEARCHED: usize = 8 * 1024;
/// Items up to which it is used if no item is unique and nothing else helps.
const SEARCHED_WITHOUT_ANCHORS: usize = 64 * 1024;
/// How often a gap between unique items is divided again.
const DEEPEST: usize = 8;

fn align_between(
    all_before: &[u32],
    all_after: &[u32],
    mut before: Range<usize>,
    mut after: Range<usize>,
    depth: usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    while !before.is_empty() && !after.is_empty() && all_before[before.start] == all_after[after.start] {
        pairs.push((before.start, after.start));
        (before.start, after.start) = (before.start + 1, after.start + 1);
    }
    let mut tail = 0;
    while !before.is_empty() && !after.is_empty() && all_before[before.end - 1] == all_after[after.end - 1] {
        (before.end, after.end, tail) = (before.end - 1, after.end - 1, tail + 1);
    }
    let ends = (before.end, after.end);
    if !before.is_empty() && !after.is_empty() {
        align_middle(all_before, all_after, before, after, depth, pairs);
    }
    pairs.extend((0..tail).map(|offset| (ends.0 + offset, ends.1 + offset)));
}

fn align_middle(
    all_before: &[u32],
    all_after: &[u32],
    before: Range<usize>,
    after: Range<usize>,
    depth: usize,
    pairs: &mut Vec<(usize, usize)>,
) {
    let (these, those) = (&all_before[before.clone()], &all_after[after.clone()]);
    let size = these.len() + those.len();
    let mut found = |found: Vec<(usize, usize)>| {
        pairs.extend(found.into_iter().map(|(b, a)| (before.start + b, after.start + a)));
    };
    if size <= EXACT {
        return found(search(Algorithm::RawMyers, these, those));
    }
    if size <= SEARCHED {
        return found(search(Algorithm::Myers, these, those));
    }
    let anchors = if depth > 0 { unique_anchors(these, those) } else { Vec::new() };
    if anchors.is_empty() {
        let is_searched = size <= SEARCHED_WITHOUT_ANCHORS;
        return found(if is_searched { search(Algorithm::Myers, these, those) } else { by_occurrence(these, those) });
    }
    let (mut from_before, mut from_after) = (before.start, after.start);
    for (b, a) in anchors.into_iter().map(|(b, a)| (before.start + b, after.start + a)) {
        align_between(all_before, all_after, from_before..b, from_after..a, depth - 1, pairs);
        pairs.push((b, a));
        (from_before, from_after) = (b + 1, a + 1);
    }
    align_between(all_before, all_after, from_before..before.end, from_after..after.end, depth - 1, pairs);
}

fn search(algorithm: Algorithm, before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let equal = |op: DiffOp| match op {
        DiffOp::Equal { old_index, new_index, len } => Some((old_index, new_index, len)),
        _ => None,
    };
    let runs = capture_diff_slices(algorithm, before, after).into_iter().filter_map(equal);
    runs.flat_map(|(b, a, len)| (0..len).map(move |offset| (b + offset, a + offset))).collect()
}

/// The longest rising run of items that occur once on each side.
fn unique_anchors(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    let (before_at, after_at) = (once(before), once(after));
    let shared = before.iter().enumerate().filter_map(|(at, item)| {
        before_at.get(item)?.as_ref()?;
        Some((at, (*after_at.get(item)?)?))
    });
    rising(shared.collect())
}

/// The position of each item that occurs exactly once.
fn once(items: &[u32]) -> HashMap<u32, Option<usize>> {
    let mut places = HashMap::with_capacity(items.len());
    for (at, &item) in items.iter().enumerate() {
        places.entry(item).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places
}

/// The longest rising run of pairs that match the first occurrence with the first, the second with the second, and so on.
fn by_occurrence(before: &[u32], after: &[u32]) -> Vec<(usize, usize)> {
    rising(same_occurrences(before.iter(), after.iter()))
}

/// Pairs the first occurrence of an item with the first, the second with the second, wherever they stand; in order of `before`.
pub fn same_occurrences<T: Hash + Eq>(
    before: impl IntoIterator<Item = T>,
    after: impl IntoIterator<Item = T, IntoIter: DoubleEndedIterator + ExactSizeIterator>,
) -> Vec<(usize, usize)> {
    let after = after.into_iter();
    // Per item its first occurrence that is still free, and per occurrence the next one.
    let mut first: HashMap<T, usize> = HashMap::with_capacity(after.len());
    let mut next: Vec<Option<usize>> = vec![None; after.len()];
    for (at, item) in after.enumerate().rev() {
        next[at] = first.insert(item, at);
    }
    let pair = |(at, item): (usize, T)| {
        let free = first.get_mut(&item)?;
        let found = *free;
        match next[found] {
            Some(later) => *free = later,
            None => drop(first.remove(&item)),
        }
        Some((at, found))
    };
    before.into_iter().enumerate().filter_map(pair).collect()
}

fn rising(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    let places: Vec<usize> = pairs.iter().map(|&(_, after)| after).collect();
    longest_rise(&places).into_iter().map(|at| pairs[at]).collect()
}

/// Gives each item a number under which exactly the items that are the same agree.
pub fn classes<'a>(before: &[&'a Node], after: &[&'a Node], is_same: fn(&Node, &Node) -> bool) -> (Vec<u32>, Vec<u32>) {
    // Per hash its latest class, and per class an item of it and the class before of the same hash.
    let mut latest: HashMap<u64, u32> = HashMap::with_capacity(before.len());
    let mut known: Vec<(&'a Node, Option<u32>)> = Vec::with_capacity(before.len());
    let mut number = |&node: &&'a Node| {
        let class = u32::try_from(known.len()).unwrap_or(u32::MAX);
        let previous = latest.entry(node.hash());
        let mut candidate = match &previous {
            Entry::Occupied(previous) => Some(*previous.get()),
            Entry::Vacant(_) => None,
        };
        for _ in 0..MOST_COLLISIONS {
            let Some((other, before)) = candidate.and_then(|class| known.get(class as usize)) else { break };
            if is_same(node, other) {
                return candidate.unwrap_or(class);
            }
            candidate = *before;
        }
        let before = match previous {
            Entry::Occupied(mut previous) => Some(previous.insert(class)),
            Entry::Vacant(previous) => {
                previous.insert(class);
                None
            }
        };
        known.push((node, before));
        class
    };
    let before = before.iter().map(&mut number).collect();
    (before, after.iter().map(number).collect())
}

/// Hashes collide by accident never, by design or by spelling (`0e1`, `0e2`, …) often: then an item is left unmatched rather than
/// being compared with thousands.
const MOST_COLLISIONS: usize = 64;

/// Positions of a longest rising run in a sequence of different numbers: whatever is not in it has moved.
pub fn longest_rise(sequence: &[usize]) -> Vec<usize> {
    // `ends[length - 1]` is the position that ends the lowest run of that length; `previous` links each position to the one before.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = Vec::with_capacity(sequence.len());
    for (at, &value) in sequence.iter().enumerate() {
        let length = ends.partition_point(|&end| sequence[end] < value);
        previous.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        if length == ends.len() {
            ends.push(at);
        } else {
            ends[length] = at;
        }
    }
    let mut run: Vec<usize> = std::iter::successors(ends.last().copied(), |&at| previous[at]).collect();
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn is_alignment(before: &[u32], after: &[u32], pairs: &[(usize, usize)]) -> bool {
        pairs.iter().all(|&(b, a)| before[b] == after[a])
            && pairs.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
    }

    fn longest_common(before: &[u32], after: &[u32]) -> usize {
        let mut row = vec![0; after.len() + 1];
        for b in before {
            let mut diagonal = 0;
            for (at, a) in after.iter().enumerate() {
                let above = row[at + 1];
                row[at + 1] = if a == b { diagonal + 1 } else { above.max(row[at]) };
                diagonal = above;
            }
        }
        row[after.len()]
    }

    #[test]
    fn long_sequences_of_every_shape_are_aligned() {
        let count = 100_000_u32;
        let rising: Vec<u32> = (0..count).collect();
        let reversed: Vec<u32> = (0..count).rev().collect();
        let shifted: Vec<u32> = (7..count + 7).collect();
        let two_kinds: Vec<u32> = (0..count).map(|at| at % 2).collect();
        let noise: Vec<u32> = (0..count).map(|at| at.wrapping_mul(2_654_435_761) >> 22).collect();
        let other_noise: Vec<u32> = (0..count).map(|at| at.wrapping_mul(40_503) >> 9 & 1023).collect();
        for (before, after, least) in [
            (&rising, &reversed, 1),
            (&rising, &shifted, 99_993),
            (&two_kinds, &two_kinds[1..].to_vec(), 99_999),
            (&two_kinds, &noise, 1),
            (&noise, &other_noise, 1),
            (&rising, &noise, 1),
        ] {
            let pairs = align(before, after);
            assert!(is_alignment(before, after, &pairs));
            assert!(pairs.len() >= least, "{} pairs", pairs.len());
        }
    }

    #[test]
    fn one_item_that_moves_past_many_of_a_kind_moves_alone() {
        let before = [9, 1, 1, 1, 1];
        assert_eq!(align(&before, &[1, 1, 1, 1, 9]).len(), 4);
    }

    #[test]
    fn the_longest_rise_is_longest_and_rises() {
        assert_eq!(longest_rise(&[]), [0; 0]);
        assert_eq!(longest_rise(&[3, 2, 1]).len(), 1);
        assert_eq!(longest_rise(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(longest_rise(&[9, 0, 1, 5, 2, 3]), [1, 2, 4, 5]);
    }

    #[test]
    fn a_hundred_thousand_reversed_need_one_pass() {
        let reversed: Vec<usize> = (0..100_000).rev().collect();
        assert_eq!(longest_rise(&reversed).len(), 1);
    }

    proptest! {
        #[test]
        fn short_sequences_are_aligned_exactly(
            before in prop::collection::vec(0..6_u32, 0..24),
            after in prop::collection::vec(0..6_u32, 0..24),
        ) {
            let pairs = align(&before, &after);
            prop_assert!(is_alignment(&before, &after, &pairs));
            prop_assert_eq!(pairs.len(), longest_common(&before, &after));
        }

        #[test]
        fn occurrences_pair_equal_items_once(
            before in prop::collection::vec(0..6_u32, 0..24),
            after in prop::collection::vec(0..6_u32, 0..24),
        ) {
            let pairs = same_occurrences(before.iter(), after.iter());
            let mut seen: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
            seen.sort_unstable();
            seen.dedup();
            prop_assert_eq!(seen.len(), pairs.len());
            prop_assert!(pairs.iter().all(|&(b, a)| before[b] == after[a]));
        }
    }
}
