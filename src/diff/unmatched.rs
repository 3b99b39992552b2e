//! Pairs list items that have no name and no equal partner, by similarity.

use super::similarity::{Features, LEAF, Similarity, pair_alike};
use crate::value::{Node, Value};

type Pairs = Vec<(usize, usize)>;

/// The items of two lists that have no partner yet.
pub(super) struct Unmatched<'a> {
    first: Vec<UnmatchedItem<'a>>,
    second: Vec<UnmatchedItem<'a>>,
    first_features: Vec<Features>,
    second_features: Vec<Features>,
}

#[derive(Clone, Copy)]
pub(super) struct UnmatchedItem<'a> {
    at: usize,
    gap: usize,
    node: &'a Node,
}

/// Similarity from which two items of one gap pair.
pub(super) const ALIKE: u64 = 500;
/// Similarity from which two distant items pair, or two with different detected names.
const MUCH_ALIKE: u64 = 650;
/// Similarity from which maps or lists at the same index of equally large gaps pair.
const FACING: u64 = 250;
/// Features used for one pair of lists, and the least and the most for one item.
const ALL_FEATURES: usize = 2_000_000;
const FEWEST_FEATURES: usize = 16;
const MOST_FEATURES: usize = 256;
/// More items are not compared with each other: it takes much memory, and a run cannot list so many changes.
const MOST_ITEMS: usize = 500_000;

impl<'a> Unmatched<'a> {
    pub(super) fn new(
        first: &'a [Node],
        second: &'a [Node],
        pairs: &[(usize, usize)],
        first_gap: impl Fn(usize) -> usize,
        second_gap: impl Fn(usize) -> usize,
    ) -> Self {
        let (mut is_paired_first, mut is_paired_second) = (vec![false; first.len()], vec![false; second.len()]);
        for &(at, to) in pairs {
            (is_paired_first[at], is_paired_second[to]) = (true, true);
        }
        let left = |(at, node, gap)| UnmatchedItem { at, node, gap };
        let first = first.iter().enumerate().filter(|(at, _)| !is_paired_first[*at]);
        let first: Vec<_> = first.map(|(at, node)| left((at, node, first_gap(at)))).collect();
        let second = second.iter().enumerate().filter(|(at, _)| !is_paired_second[*at]);
        let second: Vec<_> = second.map(|(at, node)| left((at, node, second_gap(at)))).collect();
        if first.is_empty() || second.is_empty() || first.len() + second.len() > MOST_ITEMS {
            return Self {
                first: Vec::new(),
                second: Vec::new(),
                first_features: Vec::new(),
                second_features: Vec::new(),
            };
        }
        let limit = (ALL_FEATURES / (first.len() + second.len())).clamp(FEWEST_FEATURES, MOST_FEATURES);
        let features = |items: &[UnmatchedItem<'_>]| items.iter().map(|item| Features::new(item.node, limit)).collect();
        Self { first_features: features(&first), second_features: features(&second), first, second }
    }

    pub(super) fn alike(
        &self,
        rate: impl Fn(UnmatchedItem<'_>, UnmatchedItem<'_>, Similarity) -> Option<u64>,
    ) -> Pairs {
        self.alike_positions(rate).into_iter().map(|(a, b)| (self.first[a].at, self.second[b].at)).collect()
    }

    fn alike_positions(&self, rate: impl Fn(UnmatchedItem<'_>, UnmatchedItem<'_>, Similarity) -> Option<u64>) -> Pairs {
        pair_alike(&self.first_features, &self.second_features, |a, b, similarity| {
            rate(self.first[a], self.second[b], similarity)
        })
    }

    pub(super) fn alike_in_gaps(&self) -> Pairs {
        let mut pairs = self.alike_positions(|first, second, similarity| {
            if first.gap == second.gap {
                return (similarity.per_mille >= ALIKE).then_some((similarity.per_mille + NEARNESS) / NUANCE);
            }
            let is_same_elsewhere = is_same_container(first, second) && is_much_alike(similarity);
            is_same_elsewhere.then_some(similarity.per_mille / NUANCE)
        });
        pairs.extend(self.facing(&pairs));
        pairs.into_iter().map(|(a, b)| (self.first[a].at, self.second[b].at)).collect()
    }

    /// Pairs maps and lists in order where a gap has equally many left on both sides.
    fn facing(&self, pairs: &[(usize, usize)]) -> Pairs {
        let (mut is_paired_first, mut is_paired_second) =
            (vec![false; self.first.len()], vec![false; self.second.len()]);
        for &(a, b) in pairs {
            (is_paired_first[a], is_paired_second[b]) = (true, true);
        }
        let rest = |items: &[UnmatchedItem<'_>], is_paired: &[bool]| -> Vec<usize> {
            (0..items.len()).filter(|&at| !is_paired[at]).collect()
        };
        let (first, second) = (rest(&self.first, &is_paired_first), rest(&self.second, &is_paired_second));
        let mut facing = Vec::new();
        let mut others = second.chunk_by(|&a, &b| self.second[a].gap == self.second[b].gap).peekable();
        for these in first.chunk_by(|&a, &b| self.first[a].gap == self.first[b].gap) {
            let gap = self.first[these[0]].gap;
            while others.next_if(|those| self.second[those[0]].gap < gap).is_some() {}
            let those = others.next_if(|those| self.second[those[0]].gap == gap && those.len() == these.len());
            facing.extend(these.iter().copied().zip(those.into_iter().flatten().copied()));
        }
        facing.retain(|&(a, b)| {
            is_same_container(self.first[a], self.second[b])
                && self.first_features[a].similarity(&self.second_features[b]).per_mille >= FACING
        });
        facing
    }
}

/// Bonus for two items in the same gap.
const NEARNESS: u64 = 200;

/// Differences in similarity below this do not outweigh the position.
const NUANCE: u64 = 50;

pub(super) fn is_much_alike(similarity: Similarity) -> bool {
    similarity.per_mille >= MUCH_ALIKE && similarity.shared >= 3 * LEAF
}

pub(super) fn is_same_container(first: UnmatchedItem<'_>, second: UnmatchedItem<'_>) -> bool {
    matches!((&first.node.value, &second.node.value), (Value::Map(_), Value::Map(_)) | (Value::List(_), Value::List(_)))
}
