//! The way of a value noted on the value itself: layers are taken apart into what they say, and what stood around it is lost.

use std::sync::Arc;

use crate::value::{Extra, Node, Step};

/// Larger documents are left as they are: nothing is shared between the parts of what comes out.
const LARGEST: u64 = 50_000;

/// The same document, in which each part knows the whole way it came.
pub fn by_each(root: Node) -> Node {
    if root.size() > LARGEST || !root.any(|node| node.step().is_some()) { root } else { told(&root, None) }
}

fn told(node: &Node, around: Option<&Arc<Step>>) -> Node {
    let way = match (node.step(), around) {
        (None, around) => around.cloned(),
        (Some(own), None) => Some(Arc::new(own.clone())),
        (Some(own), Some(around)) => Some(Arc::new(one_after_other(own, around))),
    };
    let below = way.as_ref();
    let copy = node.map_children(|child| Some(told(child.node, below))).unwrap_or_else(|| node.clone());
    let Some(way) = way else { return copy };
    let extra = Extra { step: Some((*way).clone()), ..node.extra.as_deref().cloned().unwrap_or_default() };
    Node { extra: Some(Arc::new(extra)), ..copy }
}

fn one_after_other(own: &Step, around: &Step) -> Step {
    let onward = around.chain().into_iter();
    onward.fold(own.clone(), |before, step| Step::new(step.kind, step.at).after(Arc::new(before)))
}
