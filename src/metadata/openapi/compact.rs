//! Removes from inferred metadata what already follows from the path alone.

use crate::metadata::{Field, FieldPath, Operation, Section};
use crate::value::{Entry, Node};

/// The document without the operations and the collection's path that follow from the path alone. An operation that differs in one
/// field stays as a whole; names and secrets always stay.
pub(super) fn compact(document: &Node, baseline: &Node) -> Node {
    let is_usual = |part: &str, name: &str, value: &Node| {
        baseline.get(part).and_then(|usual| usual.get(name)).is_some_and(|usual| usual.is_equal(value))
    };
    let collection_path = FieldPath::new(Section::Resource, Field::CollectionPath);
    without(document, |part, name, value| {
        let is_droppable = FieldPath::containing(&[part, name]) == Some(collection_path.clone())
            || Operation::ALL.iter().any(|operation| Section::Operation(*operation).wire() == [part, name]);
        is_droppable && is_usual(part, name, value)
    })
}

/// The document without some entries of its two parts; a part that is left empty goes too.
fn without(document: &Node, is_dropped: impl Fn(&str, &str, &Node) -> bool) -> Node {
    let parts = document.as_map().map(|map| map.entries()).unwrap_or_default();
    let kept = parts.iter().filter_map(|part| {
        let entries = part.value.as_map().map(|map| map.entries()).unwrap_or_default();
        let is_kept = |entry: &&Entry| !is_dropped(&part.key.name, &entry.key.name, &entry.value);
        let left: Vec<Entry> = entries.iter().filter(is_kept).cloned().collect();
        (!left.is_empty()).then(|| Entry { key: part.key.clone(), value: Node::map(left, part.value.span) })
    });
    Node::map(kept.collect(), document.span)
}
