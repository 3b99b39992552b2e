//! The expressions of a payload, replaced by what they give.

use super::detect::{has_expressions, is_expression};
use super::session::Session;
use super::tree::{ResourceId, Tree};
use super::trouble;
use crate::finding::{Finding, Location, Outcome};
use crate::limits::Limits;
use crate::value::{Entry, Node, Value};

/// A payload in which every expression is replaced by its value, with the owner as the current resource.
///
/// The payload counts as what the owner says, whatever the tree has. An expression that fails stays as it is written, and the
/// findings say why; one that depends on itself is null. Each value that an expression brought keeps the place it is written
/// at, with the expression as a step on its way.
pub fn compute(payload: &Node, owner: ResourceId, tree: &dyn Tree, limits: &Limits) -> Outcome<Node> {
    if !has_expressions(payload) {
        return Outcome::clean(payload.clone());
    }
    let mut session = Session::new(tree, limits, false);
    session.assume(owner, payload.clone());
    let mut findings = Vec::new();
    let computed = replaced(payload, owner, &mut session, &mut findings).unwrap_or_else(|| payload.clone());
    findings.append(&mut session.findings);
    let value = match trouble::result_limit(computed.size(), computed.height(), payload.span, limits) {
        None => computed,
        Some(fault) => {
            findings.push(*fault);
            payload.clone()
        }
    };
    Outcome { value, findings: in_order(findings) }
}

/// A value with its expressions replaced; nothing if it has none, or none that work.
fn replaced(node: &Node, owner: ResourceId, session: &mut Session<'_>, findings: &mut Vec<Finding>) -> Option<Node> {
    match &node.value {
        Value::Map(map) if is_expression(map) => {
            // One finding tells of all that is left undone.
            if session.is_exhausted() {
                return None;
            }
            match session.whole(node, owner) {
                Ok(value) => value,
                Err(fault) => {
                    session.recover();
                    findings.push(*fault);
                    None
                }
            }
        }
        Value::Map(map) => {
            let mut changed: Option<Vec<Entry>> = None;
            for (at, entry) in map.entries().iter().enumerate() {
                if let Some(value) = replaced(&entry.value, owner, session, findings) {
                    changed.get_or_insert_with(|| map.entries().to_vec())[at].value = value;
                }
            }
            changed.map(|entries| Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
        }
        Value::List(list) => {
            let mut changed: Option<Vec<Node>> = None;
            for (at, item) in list.items().iter().enumerate() {
                if let Some(value) = replaced(item, owner, session, findings) {
                    changed.get_or_insert_with(|| list.items().to_vec())[at] = value;
                }
            }
            changed.map(|items| Node { extra: node.extra.clone(), ..Node::list(items, node.span) })
        }
        _ => None,
    }
}

/// In the order of the texts, each once: two expressions can fail for one reason.
fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    let place = |finding: &Finding| match &finding.location {
        Location::Span(span) => Some(*span),
        Location::File { .. } => None,
    };
    findings.sort_by(|a, b| (place(a), a.rule.id, &a.message).cmp(&(place(b), b.rule.id, &b.message)));
    findings.dedup_by(|a, b| (place(a), a.rule.id, &a.message) == (place(b), b.rule.id, &b.message));
    findings
}
