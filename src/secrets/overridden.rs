//! What values override: it is kept for whoever asks where a value comes from, and it can hold secrets too.

use smol_str::SmolStr;

use crate::value::{Entry, Key, Node, Value};

/// How much of what is overridden is looked through. Histories are shared, so that a few lines can make one that is longer than
/// any document may be; what lies beyond is forgotten, never shown.
pub(super) struct History {
    left: u64,
}

impl Default for History {
    fn default() -> Self {
        Self { left: 1_000_000 }
    }
}

impl History {
    /// Books a value that is overridden; if that is refused, nobody may see it.
    pub(super) fn admits(&mut self, loser: &Node) -> bool {
        self.left = match self.left.checked_sub(loser.size()) {
            Some(left) => left,
            None => return false,
        };
        true
    }
}

/// Hides parts of what is overridden. What stands where is known only from the top, so each is hidden as part of a document that
/// holds nothing else.
pub(super) fn hide(root: &Node, hide: &dyn Fn(Node) -> Node) -> Option<Node> {
    Walk { hide, path: Vec::new(), history: History::default() }.node(root)
}

struct Walk<'a> {
    hide: &'a dyn Fn(Node) -> Node,
    path: Vec<SmolStr>,
    history: History,
}

impl Walk<'_> {
    /// The node with hidden histories, or nothing if there are none.
    fn node(&mut self, node: &Node) -> Option<Node> {
        let changed = rebuilt(node, &mut |at, key, child| {
            self.path.push(key.map_or_else(|| SmolStr::new(at.to_string()), |key| key.name.clone()));
            let changed = self.node(child);
            self.path.pop();
            changed
        });
        let Some(loser) = node.overridden() else { return changed };
        let shown = changed.unwrap_or_else(|| node.clone());
        if !self.history.admits(loser) {
            return Some(shown.forgetting());
        }
        let loser = self.node(loser).unwrap_or_else(|| loser.clone());
        let alone = self.path.iter().rev().fold(loser, |inner, name| {
            let span = inner.span;
            Node::map(vec![Entry::named(name.clone(), span, inner)], span)
        });
        let hidden = (self.hide)(alone);
        match hidden.at(&self.path.iter().cloned().collect()) {
            Some(loser) => Some(shown.overriding(loser.clone())),
            None => Some(shown.forgetting()),
        }
    }
}

/// What takes the place of a child, told its number and, in a map, its key.
type Replace<'a> = dyn FnMut(usize, Option<&Key>, &Node) -> Option<Node> + 'a;

/// The node with some of its children replaced, or nothing if none is. Lists and maps are copied only when they must be.
pub(super) fn rebuilt(node: &Node, replace: &mut Replace<'_>) -> Option<Node> {
    let rebuilt = match &node.value {
        Value::Map(map) => {
            let mut changed: Option<Vec<Entry>> = None;
            for (at, entry) in map.entries().iter().enumerate() {
                if let Some(value) = replace(at, Some(&entry.key), &entry.value) {
                    changed.get_or_insert_with(|| map.entries().to_vec())[at].value = value;
                }
            }
            Node::map(changed?, node.span)
        }
        Value::List(list) => {
            let mut changed: Option<Vec<Node>> = None;
            for (at, item) in list.items().iter().enumerate() {
                if let Some(item) = replace(at, None, item) {
                    changed.get_or_insert_with(|| list.items().to_vec())[at] = item;
                }
            }
            Node::list(changed?, node.span)
        }
        _ => return None,
    };
    Some(Node { extra: node.extra.clone(), ..rebuilt })
}
