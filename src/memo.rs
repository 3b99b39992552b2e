//! Answers that are found once and shared between threads.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, OnceLock, RwLock};

/// A map whose values are made on first demand; whoever asks meanwhile waits for the one answer. Nobody ever walks over it.
pub struct Memo<K, V> {
    known: RwLock<HashMap<K, Arc<OnceLock<V>>>>,
}

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self { known: RwLock::default() }
    }
}

impl<K: Hash + Eq + Clone, V: Clone> Memo<K, V> {
    /// The value of a key, if somebody asked for it before.
    pub fn known(&self, key: &K) -> Option<V> {
        self.known.read().expect("no thread panics while it holds this lock").get(key)?.get().cloned()
    }

    /// The value of a key. Making it may ask for other keys, but not for its own.
    pub fn get(&self, key: &K, make: impl FnOnce() -> V) -> V {
        let found = self.known.read().expect("no thread panics while it holds this lock").get(key).cloned();
        let slot = found.unwrap_or_else(|| {
            let mut known = self.known.write().expect("no thread panics while it holds this lock");
            Arc::clone(known.entry(key.clone()).or_default())
        });
        slot.get_or_init(make).clone()
    }
}
