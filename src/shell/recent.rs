//! Directories and trees that were looked at lately. Resolving layers reads the same ones over and over; and a tree of
//! billions of paths is made of a few objects that stand in many places.

use std::borrow::Borrow;
use std::hash::Hash;

use crate::memo::HashMap;

/// Things by what they are asked for with. Looked up, never walked over.
pub(super) struct Recent<K, V> {
    /// What was kept or asked for lately, with its weight.
    young: HashMap<K, (V, usize)>,
    /// What was not, since the young ones were last too many.
    old: HashMap<K, (V, usize)>,
    /// How much the young ones hold, and the most that they may.
    held: usize,
    most: usize,
}

/// When the young weigh more entries than this, if nothing else is set, they become the old, and those are forgotten: a walk over a
/// huge tree stays small.
const MOST_ENTRIES: usize = 150_000;

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self::new(MOST_ENTRIES)
    }
}

impl<K, V> Recent<K, V> {
    /// Nothing yet. The young ones may weigh this much.
    pub(super) fn new(most: usize) -> Self {
        Self { young: HashMap::default(), old: HashMap::default(), held: 0, most }
    }
}

impl<K: Hash + Eq, V: Clone> Recent<K, V> {
    /// What is known.
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, weight)) = self.old.remove_entry(key)?;
        self.keep(key, value.clone(), weight);
        Some(value)
    }

    /// Keeps something that weighs as much as so many entries for a while.
    pub(super) fn keep(&mut self, key: K, value: V, weight: usize) {
        if self.held + weight > self.most {
            self.old = std::mem::take(&mut self.young);
            self.held = 0;
        }
        self.held += weight;
        self.young.insert(key, (value, weight));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut recent = Recent::default();
        recent.keep(usize::MAX, (), 1);
        for key in 0..3 * MOST_ENTRIES {
            recent.keep(key, (), 1);
            if key % 1_000 == 0 {
                assert!(recent.get(&usize::MAX).is_some(), "asked for all the time, at {key}");
            }
        }
        assert!(recent.get(&0).is_none());
        assert!(recent.young.len() + recent.old.len() <= 2 * MOST_ENTRIES);
    }
}
