//! The way of a value noted on the value itself: layers are taken apart into what they say, and what stood around it is lost.

use std::sync::Arc;

use crate::value::{Entry, Extra, Node, Step, Value};

/// Larger documents are left as they are: nothing is shared between the parts of what comes out.
const LARGEST: u64 = 50_000;

/// The same document, in which each part knows the whole way it came.
pub fn by_each(root: Node) -> Node {
    if root.size() > LARGEST || !has_steps(&root) { root } else { told(&root, None) }
}

fn has_steps(node: &Node) -> bool {
    node.step().is_some()
        || match &node.value {
            Value::Map(map) => map.entries().iter().any(|entry| has_steps(&entry.value)),
            Value::List(list) => list.items().iter().any(has_steps),
            _ => false,
        }
}

fn told(node: &Node, around: Option<&Arc<Step>>) -> Node {
    let way = match (node.step(), around) {
        (None, around) => around.cloned(),
        (Some(own), None) => Some(Arc::new(own.clone())),
        (Some(own), Some(around)) => Some(Arc::new(one_after_other(own, around))),
    };
    let below = way.as_ref();
    let copy = match &node.value {
        Value::Map(map) => {
            let entry = |entry: &Entry| Entry { key: entry.key.clone(), value: told(&entry.value, below) };
            Node::map(map.entries().iter().map(entry).collect(), node.span)
        }
        Value::List(list) => Node::list(list.items().iter().map(|item| told(item, below)).collect(), node.span),
        value => Node::new(value.clone(), node.span),
    };
    let Some(way) = way else { return Node { extra: node.extra.clone(), ..copy } };
    let extra = Extra { step: Some((*way).clone()), ..node.extra.as_deref().cloned().unwrap_or_default() };
    Node { extra: Some(Arc::new(extra)), ..copy }
}

fn one_after_other(own: &Step, around: &Step) -> Step {
    let onward = around.chain().into_iter();
    onward.fold(own.clone(), |before, step| Step::new(step.kind, step.at).after(Arc::new(before)))
}
