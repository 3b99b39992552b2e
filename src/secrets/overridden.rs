//! Overridden values: they are kept for `outcrop explain`, and they can be secret too.

use smol_str::SmolStr;

use crate::value::{Entry, Node};

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
    /// Counts an overridden value; if that is refused, it must not be shown.
    pub(super) fn admits(&mut self, loser: &Node) -> bool {
        self.left = match self.left.checked_sub(loser.size()) {
            Some(left) => left,
            None => return false,
        };
        true
    }
}

/// Hides parts of overridden values. Their places are known only from the top, so each is hidden as part of a document that
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
        let changed = node.map_children(|child| {
            self.path.push(child.token());
            let changed = self.node(child.node);
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
