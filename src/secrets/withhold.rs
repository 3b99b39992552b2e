//! What is hidden where nothing says what is secret, because a layer or the configuration could not be read: every value. Keys stay,
//! and so do the names by which a document is known.

use super::mask::Hiding;
use super::redact::is_literal_key;
use crate::value::{Node, Value};

/// A document with its values withheld; `apiVersion`, `kind`, and the name and namespace of its metadata stay.
pub(super) fn withhold(payload: &Node) -> Node {
    Hiding::withholding().document(payload)
}

/// A value with everything in it withheld.
#[must_use]
pub fn withhold_value(value: &Node) -> Node {
    Hiding::withholding().scalars(value)
}

/// A document of metadata with literal headers, bodies, query values and `defaults` withheld.
pub(super) fn withhold_literals(metadata: &Node) -> Node {
    Hiding::withholding().literals(metadata).unwrap_or_else(|| metadata.clone())
}

impl Hiding<'_> {
    fn document(&mut self, node: &Node) -> Node {
        if !matches!(node.value, Value::Map(_)) {
            return self.scalars(node);
        }
        let hidden = node.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("apiVersion" | "kind") if child.node.as_str().is_some() => None,
            Some("metadata") if child.node.as_map().is_some() => Some(self.names(child.node)),
            _ => Some(self.scalars(child.node)),
        });
        let hidden = self.overridden(node, hidden, |hiding, loser| Some(hiding.document(loser)));
        hidden.unwrap_or_else(|| node.clone())
    }

    fn names(&mut self, metadata: &Node) -> Node {
        let hidden = metadata.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("name" | "namespace") if child.node.as_str().is_some() => None,
            _ => Some(self.scalars(child.node)),
        });
        let hidden = self.overridden(metadata, hidden, |hiding, loser| Some(hiding.scalars(loser)));
        hidden.unwrap_or_else(|| metadata.clone())
    }

    fn literals(&mut self, node: &Node) -> Option<Node> {
        let hidden = node.map_children(|child| match child.key {
            Some(key) if is_literal_key(&key.name) => Some(self.scalars(child.node)),
            _ => self.literals(child.node),
        });
        self.overridden(node, hidden, Self::literals)
    }
}
