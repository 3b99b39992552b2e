//! Copies each node's provenance onto all of its descendants, because layers are later split into single fields.

use std::sync::Arc;

use crate::value::{Extra, Node, Step};

/// Larger documents are left as they are, because nothing in the result is shared.
const LARGEST: u64 = 50_000;

/// Returns the document with the complete provenance on every node.
pub fn spread(root: Node) -> Node {
    if root.size() > LARGEST || !root.any(|node| node.step().is_some()) { root } else { with_steps(&root, None) }
}

fn with_steps(node: &Node, around: Option<&Arc<Step>>) -> Node {
    let way = match (node.step(), around) {
        (None, around) => around.cloned(),
        (Some(own), None) => Some(Arc::new(own.clone())),
        (Some(own), Some(around)) => Some(Arc::new(one_after_other(own, around))),
    };
    let below = way.as_ref();
    let copy = node.map_children(|child| Some(with_steps(child.node, below))).unwrap_or_else(|| node.clone());
    let Some(way) = way else { return copy };
    let extra = Extra { step: Some((*way).clone()), ..node.extra.as_deref().cloned().unwrap_or_default() };
    Node { extra: Some(Arc::new(extra)), ..copy }
}

fn one_after_other(own: &Step, around: &Step) -> Step {
    let onward = around.chain().into_iter();
    onward.fold(own.clone(), |before, step| Step::new(step.kind, step.at).after(Arc::new(before)))
}
