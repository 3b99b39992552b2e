//! Caches that threads share, and keys that compare objects by their address.

use std::borrow::Borrow;
use std::collections;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock, RwLock};

use foldhash::fast::RandomState;

/// A hash map for keys that are looked up often. Its hash is seeded anew in each run, so that no file can be made to fit it.
pub type HashMap<K, V> = collections::HashMap<K, V, RandomState>;

/// A cache. Each value is computed on first demand; concurrent lookups of one key compute it once and the others wait. There is no
/// iteration, so that the order of hashes never shows.
pub struct Memo<K, V> {
    known: RwLock<HashMap<K, Arc<OnceLock<V>>>>,
    most: usize,
}

const LOCKED: &str = "no thread panics while it holds this lock";

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self::capped(usize::MAX)
    }
}

impl<K, V> Memo<K, V> {
    /// A cache that is emptied when it is about to hold more entries than this.
    pub fn capped(most: usize) -> Self {
        Self { known: RwLock::default(), most }
    }
}

impl<K: Hash + Eq, V: Clone> Memo<K, V> {
    /// The value of a key, if it has been computed.
    pub fn known<Q: Hash + Eq + ?Sized>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.known.read().expect(LOCKED).get(key)?.get().cloned()
    }

    /// The value of a key. Computing it may look up other keys, but not its own.
    pub fn get(&self, key: &K, compute: impl FnOnce() -> V) -> V
    where
        K: Clone,
    {
        self.get_with(key, K::clone, compute)
    }

    /// The value of a key that is looked up by a borrowed form and only turned into a key when it is new.
    pub fn get_with<Q: Hash + Eq + ?Sized>(&self, key: &Q, own: impl FnOnce(&Q) -> K, compute: impl FnOnce() -> V) -> V
    where
        K: Borrow<Q>,
    {
        let slot = {
            let known = self.known.read().expect(LOCKED);
            let slot = known.get(key);
            if let Some(value) = slot.and_then(|slot| slot.get()) {
                return value.clone();
            }
            slot.cloned()
        };
        let slot = slot.unwrap_or_else(|| {
            let mut known = self.known.write().expect(LOCKED);
            if known.len() >= self.most && !known.contains_key(key) {
                known.clear();
            }
            Arc::clone(known.entry(own(key)).or_default())
        });
        slot.get_or_init(compute).clone()
    }
}

impl<K, V> fmt::Debug for Memo<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Memo")
    }
}

/// A key that is equal to itself alone: it compares by the address of what its owner points to. It keeps the owner, so that the
/// address cannot be given to something else. Maps of such keys can be searched by the bare address.
#[derive(Clone, Debug)]
pub struct Identity<O> {
    address: usize,
    _owner: O,
}

impl<O> Identity<O> {
    /// The identity of what is at an address that the owner keeps alive.
    pub(crate) fn new(address: usize, owner: O) -> Self {
        Self { address, _owner: owner }
    }
}

impl<T> Identity<Arc<T>> {
    /// The identity of a shared value.
    pub fn of_shared(shared: &Arc<T>) -> Self {
        Self::new(Arc::as_ptr(shared).addr(), Arc::clone(shared))
    }
}

impl<O> PartialEq for Identity<O> {
    fn eq(&self, other: &Self) -> bool {
        self.address == other.address
    }
}

impl<O> Eq for Identity<O> {}

impl<O> Hash for Identity<O> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.address.hash(state);
    }
}

impl<O> Borrow<usize> for Identity<O> {
    fn borrow(&self) -> &usize {
        &self.address
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_computed_once_until_the_cache_is_full() {
        let memo: Memo<String, usize> = Memo::capped(2);
        let get = |key: &str, value| memo.get_with(key, str::to_owned, || value);
        assert_eq!([get("a", 1), get("a", 2), get("b", 3)], [1, 1, 3]);
        assert_eq!(memo.known("a"), Some(1));
        assert_eq!(get("c", 4), 4);
        assert_eq!([memo.known("a"), memo.known("b"), memo.known("c")], [None, None, Some(4)]);
    }

    #[test]
    fn equal_values_at_two_addresses_are_two_keys() {
        let (one, other) = (Arc::new(7), Arc::new(7));
        let known = HashMap::from_iter([(Identity::of_shared(&one), "one")]);
        assert_eq!(known.get(&Identity::of_shared(&one)), Some(&"one"));
        assert_eq!(known.get(&Identity::of_shared(&other)), None);
        assert_eq!(known.get(&Arc::as_ptr(&one).addr()), Some(&"one"));
    }
}
