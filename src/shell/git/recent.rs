//! Directories that were listed lately. Whoever resolves layers asks for the same ones over and over; and a tree of billions of
//! paths is made of a few objects that stand in many places.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use crate::source::Listing;

/// Listings by what they are asked for with. Looked up, never walked over.
pub(super) struct Recent<K> {
    /// What was kept or asked for lately.
    young: HashMap<K, Arc<Listing>>,
    /// What was not, since the young ones were last too many.
    old: HashMap<K, Arc<Listing>>,
    /// How much the young ones hold.
    held: usize,
}

/// When the young hold more entries than this they become the old, and those are forgotten: a walk over a huge tree stays small.
const MOST_ENTRIES: usize = 150_000;

impl<K> Default for Recent<K> {
    fn default() -> Self {
        Self { young: HashMap::new(), old: HashMap::new(), held: 0 }
    }
}

impl<K: Hash + Eq> Recent<K> {
    /// What is known.
    pub(super) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<Arc<Listing>>
    where
        K: Borrow<Q>,
    {
        if let Some(listing) = self.young.get(key) {
            return Some(Arc::clone(listing));
        }
        let (key, listing) = self.old.remove_entry(key)?;
        self.keep(key, &listing);
        Some(listing)
    }

    /// Keeps a listing for a while.
    pub(super) fn keep(&mut self, key: K, listing: &Arc<Listing>) {
        let weight = listing.entries.len() + 1;
        if self.held + weight > MOST_ENTRIES {
            self.old = std::mem::take(&mut self.young);
            self.held = 0;
        }
        self.held += weight;
        self.young.insert(key, Arc::clone(listing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_is_forgotten() {
        let mut recent = Recent::default();
        let empty = Arc::new(Listing::default());
        recent.keep(usize::MAX, &empty);
        for key in 0..3 * MOST_ENTRIES {
            recent.keep(key, &empty);
            if key % 1_000 == 0 {
                assert!(recent.get(&usize::MAX).is_some(), "asked for all the time, at {key}");
            }
        }
        assert!(recent.get(&0).is_none());
        assert!(recent.young.len() + recent.old.len() <= 2 * MOST_ENTRIES);
    }
}
