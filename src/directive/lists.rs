//! Merges a list over a list as Unfurl does: the base's items, then those of the top that are not there yet.

use std::collections::HashMap;

use super::combine::{Combiner, MergeSide, Strategy, without_strategy};
use super::key::STRATEGY;
use crate::value::Node;

impl Combiner<'_> {
    /// Joins two lists, item by item of the top:
    ///
    /// 1. a map marked `+%: merge` is merged into the map at the same index;
    /// 2. a map with one key is merged into the first map that has just that key;
    /// 3. anything else is added unless an equal value is there.
    pub(super) fn join_lists(&mut self, base: MergeSide<'_>, top: MergeSide<'_>) -> Node {
        let (Some(below), Some(above)) = (base.node.as_list(), top.node.as_list()) else {
            return top.into_node();
        };
        let mut joined = Joined::default();
        for node in below {
            joined.push(MergeSide { node, ..base }.into_node());
        }
        for (index, item) in above.iter().enumerate() {
            let unmarked = without_strategy(item);
            let is_positional =
                item.as_map().is_some_and(|map| Strategy::from_map(map) == Strategy::Merge { is_explicit: true });
            let over = MergeSide { node: if is_positional { &unmarked } else { item }, ..top };
            let partner = if is_positional { Some(index) } else { joined.namesake(item) };
            match partner.filter(|&at| at < joined.items.len()) {
                Some(at) if joined.items[at].as_map().is_some() => {
                    let merged = self.maps(MergeSide { node: &joined.items[at], provenance: None }, over);
                    joined.replace(at, merged);
                }
                Some(at) => joined.replace(at, over.into_node()),
                None if is_positional || !joined.holds(item) => joined.push(over.into_node()),
                None => {}
            }
        }
        self.count(joined.items.len());
        let mut node = Node::list(joined.items, top.node.span);
        node.extra.clone_from(&top.node.extra);
        MergeSide { node: &node, provenance: top.provenance }.into_node()
    }
}

/// Items with an index by value and by only key, so that long lists take linear time.
#[derive(Default)]
struct Joined {
    items: Vec<Node>,
    by_hash: HashMap<u64, Vec<usize>>,
    by_only_key: HashMap<String, usize>,
}

impl Joined {
    fn push(&mut self, item: Node) {
        let at = self.items.len();
        self.add_to_indexes(at, &item);
        self.items.push(item);
    }

    fn replace(&mut self, at: usize, item: Node) {
        self.add_to_indexes(at, &item);
        self.items[at] = item;
    }

    /// Adds an item to the indexes. Outdated entries stay, because every use checks the item itself.
    fn add_to_indexes(&mut self, at: usize, item: &Node) {
        self.by_hash.entry(item.hash()).or_default().push(at);
        if let Some(key) = only_key(item) {
            let known = self.by_only_key.get(key).copied().filter(|&at| self.has_only_key(at, key));
            if known.is_none_or(|known| at < known) {
                self.by_only_key.insert(key.to_owned(), at);
            }
        }
    }

    fn has_only_key(&self, at: usize, key: &str) -> bool {
        self.items.get(at).and_then(only_key) == Some(key)
    }

    fn namesake(&self, item: &Node) -> Option<usize> {
        let key = only_key(item)?;
        self.by_only_key.get(key).copied().filter(|&at| self.has_only_key(at, key))
    }

    fn holds(&self, item: &Node) -> bool {
        let places = self.by_hash.get(&item.hash());
        places.is_some_and(|places| places.iter().any(|&at| self.items[at].is_equal(item)))
    }
}

fn only_key(item: &Node) -> Option<&str> {
    match item.as_map()?.entries() {
        [entry] if entry.key.name != STRATEGY => Some(&entry.key.name),
        _ => None,
    }
}
