//! Builds maps and lists of a rendering context.

use smol_str::SmolStr;

use crate::text::Span;
use crate::value::{Entry, Node, Number, Value};

/// A map that is being built.
pub(super) struct MapBuilder {
    entries: Vec<Entry>,
    at: Span,
}

impl MapBuilder {
    /// An empty map at a place.
    pub(super) fn new(at: Span) -> Self {
        Self { entries: Vec::new(), at }
    }

    /// The map with one more entry.
    pub(super) fn with(mut self, key: impl Into<SmolStr>, value: Node) -> Self {
        self.entries.push(Entry::named(key, self.at, value));
        self
    }

    /// The map with one more entry, if there is a value.
    pub(super) fn with_some(self, key: &str, value: Option<Node>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The map with one more text that is written nowhere.
    pub(super) fn with_text(self, key: &str, text: impl Into<SmolStr>) -> Self {
        let at = self.at.start_only();
        self.with(key, Node::text(text, at))
    }

    /// The map.
    pub(super) fn done(self) -> Node {
        Node::map(self.entries, self.at)
    }
}

/// A whole number.
pub(super) fn number(value: u64, at: Span) -> Node {
    Node::new(Number::from_json(&value.to_string()).map_or(Value::Null, Value::Number), at)
}

/// The whole number that a node is.
pub(super) fn as_number(node: &Node) -> Option<u64> {
    match &node.value {
        Value::Number(number) => number.to_json()?.parse().ok(),
        _ => None,
    }
}

/// A value unless it is empty: zero, no text, an empty list.
pub(super) fn unless_empty(node: Option<&Node>) -> Option<Node> {
    let is_empty = |node: &Node| match &node.value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Number(number) => number.is_zero(),
        Value::List(list) => list.items().is_empty(),
        Value::Map(map) => map.is_empty(),
        _ => false,
    };
    node.filter(|node| !is_empty(node)).cloned()
}

/// A text, which may be missing.
pub(super) fn text_or_empty(node: Option<&Node>, at: Span) -> Node {
    let found = node.filter(|node| node.as_str().is_some()).cloned();
    found.unwrap_or_else(|| Node::text("", at.start_only()))
}
