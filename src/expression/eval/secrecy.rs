//! Secrets in expressions: they are worked on behind their wall, and whatever is made of them stays there.

use std::sync::Arc;

use super::datum::Datum;
use super::detect::is_expression;
use super::session::EvalSession;
use super::tree::ResourceId;
use super::trouble::{Fault, Result};
use crate::finding;
use crate::text::Span;
use crate::value::{Extra, Map, Node, Secret, Value};

/// A payload as expressions may see it: what is hidden in it, and each expression of which a part is hidden as one secret that
/// can still be computed.
pub fn sealed(written: &Node, hidden: &Node) -> Node {
    seal(written, hidden).unwrap_or_else(|| hidden.clone())
}

fn seal(written: &Node, hidden: &Node) -> Option<Node> {
    match &written.value {
        Value::Map(map) if is_expression(map) => {
            opened(hidden).map(|_| Node { extra: hidden.extra.clone(), ..secret(written) })
        }
        value => hidden.map_children(|child| seal(value.child(child.at)?.node, child.node)),
    }
}

/// The expression of a value that is secret.
pub(super) fn secret_expression(secret: &Secret) -> Option<(&Node, &Arc<Map>)> {
    let node = secret.beneath();
    match &node.value {
        Value::Map(map) if is_expression(map) => Some((node, map)),
        _ => None,
    }
}

/// The value itself, or the one that is hidden there.
pub(super) fn beneath(value: &Value) -> &Value {
    match value {
        Value::Secret(secret) => &secret.beneath().value,
        value => value,
    }
}

/// A value with everything in it laid open; nothing if nothing in it is hidden. What is made of it must be hidden again.
pub(super) fn opened(node: &Node) -> Option<Node> {
    match &node.value {
        Value::Secret(secret) => Some(secret.beneath().clone()),
        _ => node.map_children(|child| opened(child.node)),
    }
}

/// A value with every scalar in it hidden; null says nothing.
pub(super) fn hidden(node: &Node) -> Node {
    let hidden_node = match &node.value {
        Value::Map(_) | Value::List(_) => node.map_children(|child| Some(hidden(child.node))),
        Value::Null | Value::Secret(_) => None,
        _ => Some(secret(node)),
    };
    hidden_node.unwrap_or_else(|| node.clone()).forgetting()
}

/// The way stays; what the value is called and what it overrides belong to the value.
fn secret(node: &Node) -> Node {
    let extra = node.step().map(|step| Arc::new(Extra { step: Some(step.clone()), ..Extra::default() }));
    Node { value: Value::Secret(Secret::hide(node.clone())), span: node.span, extra }
}

impl Datum {
    /// Whether it is hidden.
    pub(super) fn is_secret(&self) -> bool {
        matches!(self.as_value(), Some(Value::Secret(_)))
    }

    /// The value with its secrets revealed.
    pub(super) fn laid_open(self) -> Self {
        match &self {
            Self::Node { node: Node { value: Value::Secret(secret), .. }, .. } => Self::plain(secret.beneath().clone()),
            _ => self,
        }
    }
}

impl EvalSession<'_> {
    /// Computes with revealed secrets. If one of the values was secret, so is the result, and no message quotes it.
    pub(super) fn beneath<const COUNT: usize>(
        &mut self,
        what: &str,
        data: [Datum; COUNT],
        work: impl FnOnce(&mut Self, [Datum; COUNT]) -> Result<Datum>,
    ) -> Result<Datum> {
        if !data.iter().any(Datum::is_secret) {
            return work(self, data);
        }
        let made = work(self, data.map(Datum::laid_open)).map_err(|fault| discreet(fault, what))?;
        Ok(made.hidden())
    }

    /// The value of an expression whose place is secret, or that reads a secret. Nothing is traced.
    pub(super) fn secretly(&mut self, node: &Node, map: &Arc<Map>, owner: ResourceId) -> Result<Node> {
        let was_on = self.trace.pause();
        let made = self.result(node, map, owner);
        self.trace.resume(was_on);
        made.map(|made| hidden(&made)).map_err(|fault| discreet(fault, "an expression at a secret place"))
    }
}

impl Datum {
    /// What was made of something hidden.
    pub(super) fn hidden(self) -> Self {
        match self {
            Self::Node { node, owner } => Self::Node { node: hidden(&node), owner },
            other => other,
        }
    }
}

/// The fault, without a word about the values. What is too much says nothing about them.
pub(super) fn discreet(fault: Fault, what: &str) -> Fault {
    if fault.rule.id.starts_with("limit/") {
        return fault;
    }
    let message = format!("{what} fails, and works on secrets, so the reason is not shown");
    let help = "look at it with --reveal on a terminal".to_owned();
    Box::new(finding::Finding { message, help: Some(help), ..*fault })
}

/// A secret where its text would be shown.
pub(super) fn shows_a_secret<T>(at: Span, what: &str) -> Result<T> {
    super::trouble::bad_arguments(
        at,
        format!("{what} is a secret, and would be shown"),
        "take a value that may be shown",
    )
}
