//! Similarity of values, and pairing of similar values without comparing all pairs.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::value::{Node, Value};

/// The features of a value: its members, and the values and words at its leaves.
#[derive(Debug, Default)]
pub(super) struct Features {
    /// Sorted by hash, each hash once.
    features: Vec<Feature>,
    total: u64,
}

#[derive(Debug, Clone, Copy)]
struct Feature {
    hash: u64,
    weight: u64,
    /// Order of first occurrence. Hashes of secrets change from run to run, so nothing may depend on the order of hashes.
    met: u32,
}

/// How much two values have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Similarity {
    /// 0 for nothing, 1000 for everything.
    pub(super) per_mille: u64,
    /// The weight of what is shared; a leaf that agrees in name and value weighs [`LEAF`].
    pub(super) shared: u64,
}

/// What a member's being there weighs; its value weighs three times as much.
const NAME: u64 = 4;
const VALUE: u64 = 12;
/// What a leaf weighs, name and value together.
pub(super) const LEAF: u64 = NAME + VALUE;
/// The most words, or lines of a longer text, of a string that are used.
const MOST_WORDS: usize = 128;

impl Features {
    /// The features of a value down to the words in its strings, at most about `limit` of them.
    pub(super) fn new(node: &Node, limit: usize) -> Self {
        let mut collected = Collector { features: Vec::new(), limit, is_document: false };
        collected.value(node, 0);
        collected.finish()
    }

    /// The values of a whole document and the lines of its texts: in documents of one shape the names of members agree anyway,
    /// and words too easily. Members of the root that are no evidence can be left out.
    pub(super) fn of_document(node: &Node, limit: usize, counts: impl Fn(&str) -> bool) -> Self {
        let mut collected = Collector { features: Vec::new(), limit, is_document: true };
        match node.as_map() {
            Some(map) if !map.is_empty() => {
                for entry in map.entries().iter().filter(|entry| counts(&entry.key.name)) {
                    collected.member(&entry.key.name, &entry.value, 0);
                }
            }
            _ => collected.value(node, 0),
        }
        collected.finish()
    }

    /// How much this has in common with another.
    pub(super) fn similarity(&self, other: &Self) -> Similarity {
        let (mut these, mut those) = (self.features.iter().peekable(), other.features.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (these.peek(), those.peek()) {
            if a.hash == b.hash {
                shared += a.weight.min(b.weight);
            }
            let (step_these, step_those) = (a.hash <= b.hash, b.hash <= a.hash);
            if step_these {
                these.next();
            }
            if step_those {
                those.next();
            }
        }
        Similarity { per_mille: (2000 * shared).checked_div(self.total + other.total).unwrap_or(0), shared }
    }
}

struct Collector {
    features: Vec<Feature>,
    limit: usize,
    is_document: bool,
}

impl Collector {
    fn member(&mut self, name: &str, value: &Node, above: u64) {
        if self.features.len() >= self.limit {
            return;
        }
        let place = hash_of(&(above, name));
        if !self.is_document {
            self.add(place, NAME);
        }
        self.value(value, place);
    }

    fn value(&mut self, node: &Node, place: u64) {
        if self.features.len() >= self.limit {
            return;
        }
        match &node.value {
            Value::Map(map) if !map.is_empty() => {
                for entry in map.entries() {
                    self.member(&entry.key.name, &entry.value, place);
                }
            }
            Value::List(_) if node.as_list().is_some_and(|items| !items.is_empty()) => {
                // All items count as having the same path, so that a shift changes nothing.
                let place = hash_of(&(place, "[]"));
                node.as_list().into_iter().flatten().for_each(|item| self.value(item, place));
            }
            Value::Map(_) => self.word(place, "{}", VALUE),
            Value::List(_) => self.word(place, "[]", VALUE),
            // As words, so that `1` resembles `"1"`: then it is a change of type, not one thing gone and another new.
            Value::Null => self.word(place, "null", VALUE),
            Value::Bool(value) => self.word(place, if *value { "true" } else { "false" }, VALUE),
            Value::Number(number) => self.word(place, number.as_str(), VALUE),
            Value::String(text) => self.text(place, text),
            Value::Secret(_) => self.add(hash_of(&(place, node.hash())), VALUE),
        }
    }

    fn text(&mut self, place: u64, text: &str) {
        let is_letter = |character: char| character.is_alphanumeric();
        let parts: Vec<&str> = if text.contains('\n') {
            text.lines().filter(|line| !line.trim().is_empty()).take(MOST_WORDS).collect()
        } else if self.is_document {
            vec![text]
        } else {
            text.split(|character| !is_letter(character)).filter(|word| !word.is_empty()).take(MOST_WORDS).collect()
        };
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length == 0 {
            return self.word(place, text, VALUE);
        }
        for part in parts {
            let weight = (VALUE * part.len() as u64 / length as u64).max(1);
            self.word(place, part, weight);
        }
    }

    fn word(&mut self, place: u64, word: &str, weight: u64) {
        self.add(hash_of(&(place, "=", word)), weight);
    }

    fn add(&mut self, hash: u64, weight: u64) {
        let met = u32::try_from(self.features.len()).unwrap_or(u32::MAX);
        self.features.push(Feature { hash, weight, met });
    }

    fn finish(self) -> Features {
        let mut features = self.features;
        features.sort_unstable_by_key(|one| (one.hash, one.met));
        features.dedup_by(|next, kept| {
            let is_same = next.hash == kept.hash;
            if is_same {
                kept.weight += next.weight;
            }
            is_same
        });
        let total = features.iter().map(|one| one.weight).sum();
        Features { features, total }
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Pairs each value with the one it resembles most, the best pairs first, each value at most once.
///
/// `rate` returns the worth of a pair, or `None` for no pair. Small sets are compared completely;
/// otherwise only values that share a rare feature, or that have nearby positions.
pub(super) fn pair_alike(
    before: &[Features],
    after: &[Features],
    rate: impl Fn(usize, usize, Similarity) -> Option<u64>,
) -> Vec<(usize, usize)> {
    let rated = |(b, a): (usize, usize)| Some((rate(b, a, before[b].similarity(&after[a]))?, b, a));
    let mut pairs: Vec<(u64, usize, usize)> = if before.len().saturating_mul(after.len()) <= ALL_PAIRS {
        let all = (0..before.len()).flat_map(|b| (0..after.len()).map(move |a| (b, a)));
        all.filter_map(rated).collect()
    } else {
        candidates(before, after).into_iter().filter_map(rated).collect()
    };
    pairs.sort_unstable_by_key(|&(worth, b, a)| (Reverse(worth), b.abs_diff(a), b, a));
    let (mut is_taken_before, mut is_taken_after) = (vec![false; before.len()], vec![false; after.len()]);
    pairs.retain(|&(_, b, a)| {
        let is_free = !is_taken_before[b] && !is_taken_after[a];
        if is_free {
            (is_taken_before[b], is_taken_after[a]) = (true, true);
        }
        is_free
    });
    pairs.into_iter().map(|(_, b, a)| (b, a)).collect()
}

/// Number of pairs up to which all pairs are compared.
const ALL_PAIRS: usize = 4096;
/// A feature shared by more values than this is not used to find candidates.
const RARE: usize = 16;
/// How many rare features of a value are used, and with how many of their owners it is compared.
const FOLLOWED: usize = 32;
const COMPARED: usize = 4;
/// How far around its own position a value is compared.
const NEIGHBOURS: usize = 2;

fn candidates(before: &[Features], after: &[Features]) -> Vec<(usize, usize)> {
    let owners = Owners::new(before);
    let mut found = Vec::new();
    let mut with: Vec<usize> = Vec::new();
    for (a, features) in after.iter().enumerate() {
        let here = a * before.len() / after.len();
        with.extend(here.saturating_sub(NEIGHBOURS)..before.len().min(here + NEIGHBOURS + 1));
        with.extend(owners.who_share_most(features, a));
        with.sort_unstable();
        with.dedup();
        found.extend(with.drain(..).map(|b| (b, a)));
    }
    found
}

/// Index of the values that have each feature.
struct Owners {
    /// Per feature, the number of its owners and the index of its first entry in `owners`.
    features: HashMap<u64, (usize, usize)>,
    /// An owner, and the index of the next entry of this feature.
    owners: Vec<(usize, usize)>,
}

impl Owners {
    fn new(all: &[Features]) -> Self {
        let mut owners = Vec::with_capacity(all.iter().map(|one| one.features.len()).sum());
        let mut features: HashMap<u64, (usize, usize)> = HashMap::with_capacity(all.len());
        for (at, one) in all.iter().enumerate() {
            for one in &one.features {
                let (count, first) = features.entry(one.hash).or_insert((0, usize::MAX));
                owners.push((at, *first));
                (*count, *first) = (*count + 1, owners.len() - 1);
            }
        }
        Self { features, owners }
    }

    /// The few owners that share most of the rare features of a value; among equals the nearest.
    fn who_share_most(&self, features: &Features, near: usize) -> impl Iterator<Item = usize> {
        let mut rare: Vec<(usize, usize, &Feature)> = Vec::new();
        for one in &features.features {
            if let Some(&(count, first)) = self.features.get(&one.hash).filter(|(count, _)| *count <= RARE) {
                rare.push((count, first, one));
            }
        }
        rare.sort_unstable_by_key(|(count, _, one)| (*count, Reverse(one.weight), one.met));
        let mut shared: Vec<(usize, u64)> = Vec::new();
        for (_, first, one) in rare.into_iter().take(FOLLOWED) {
            let entries = std::iter::successors(self.owners.get(first), |(_, next)| self.owners.get(*next));
            shared.extend(entries.map(|&(owner, _)| (owner, one.weight)));
        }
        shared.sort_unstable();
        shared.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        shared.sort_unstable_by_key(|&(owner, weight)| (Reverse(weight), owner.abs_diff(near), owner));
        shared.into_iter().take(COMPARED).map(|(owner, _)| owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::{read, secret};

    fn similarity(a: &str, b: &str) -> u64 {
        Features::new(&read(a), 256).similarity(&Features::new(&read(b), 256)).per_mille
    }

    #[test]
    fn likeness_is_what_people_would_call_it() {
        assert_eq!(similarity("{}", "{}"), 1000);
        assert_eq!(similarity(r#"{"a": 1}"#, r#"{"a": 1}"#), 1000);
        assert_eq!(similarity(r#"{"a": 1}"#, r#"{"a": 2}"#), 250);
        assert_eq!(similarity(r#"{"a": 1}"#, r#"{"b": 1}"#), 0);
        assert_eq!(similarity("1", r#""1""#), 1000);
        assert_eq!(similarity("80", "443"), 0);
        assert!(similarity(r#"{"a": 1, "b": 2}"#, r#"{"a": 1, "b": 3}"#) > 500);
        assert!(similarity(r#""--replicas=3""#, r#""--replicas=4""#) > 500);
        assert!(similarity(r#""--level=info""#, r#""--level=debug""#) > 500);
        assert!(similarity(r#""one\ntwo\nthree""#, r#""one\ntwo\nfour""#) > 500);
        assert!(similarity(r#""foo""#, r#""bar""#) == 0);
        assert_eq!(similarity("[1, 2, 3]", "[3, 1, 2]"), 1000);
    }

    #[test]
    fn words_do_not_make_documents_alike() {
        let features = |text: &str| Features::of_document(&read(text), 99, |member| member != "kind");
        let of = |a: &str, b: &str| features(a).similarity(&features(b)).per_mille;
        assert_eq!(of(r#"{"a": "value-1", "kind": "x"}"#, r#"{"a": "value-2", "kind": "x"}"#), 0);
        assert!(of(r#"{"a": "one\ntwo\nthree"}"#, r#"{"a": "one\ntwo\nfour"}"#) > 500);
    }

    #[test]
    fn equal_secrets_are_alike() {
        let features = |text: &str| Features::new(&secret(read(text)), 9);
        assert_eq!(features("1").similarity(&features("1")).per_mille, 1000);
        assert_eq!(features("1").similarity(&features("2")).per_mille, 0);
    }

    #[test]
    fn among_many_the_most_alike_find_each_other_with_little_work() {
        let of =
            |at: u32, edit: u32| Features::new(&read(&format!(r#"{{"n": "x{at}", "m": "y{at}", "k": {edit}}}"#)), 99);
        let before: Vec<Features> = (0..5000).map(|at| of(at, 1)).collect();
        let after: Vec<Features> = (0..5000).rev().map(|at| of(at, 2)).collect();
        let rated = std::cell::Cell::new(0);
        let pairs = pair_alike(&before, &after, |_, _, similarity| {
            rated.set(rated.get() + 1);
            (similarity.per_mille > 500).then_some(similarity.per_mille)
        });
        assert_eq!(pairs.len(), 5000);
        assert!(pairs.iter().all(|&(b, a)| b + a == 4999));
        assert!(rated.get() <= 5000 * (COMPARED + 2 * NEIGHBOURS + 1));
    }
}
