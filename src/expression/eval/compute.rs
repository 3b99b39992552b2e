//! The expressions of a payload, replaced by what they give.

use super::detect::{has_expressions, is_expression};
use super::session::EvalSession;
use super::tree::{ResourceId, Tree};
use super::trouble;
use crate::finding::{Finding, Outcome};
use crate::limits::Limits;
use crate::value::{Node, Value};

/// A payload in which every expression is replaced by its value, with the owner as the current resource.
///
/// The payload counts as what the owner says, whatever the tree has; `seen` is the same payload as expressions may see it, of the
/// same shape: hidden where it is secret. What is not computed stays as it is in the payload. An expression that fails stays as it is written, and the
/// findings say why; one that depends on itself is null. Each value that an expression brought keeps the place it is written
/// at, with the expression as a step on its way.
pub fn compute(payload: &Node, seen: &Node, owner: ResourceId, tree: &dyn Tree, limits: &Limits) -> Outcome<Node> {
    if !has_expressions(payload) {
        return Outcome::clean(payload.clone());
    }
    let mut session = EvalSession::new(tree, limits, false);
    session.assume(owner, seen.clone());
    let mut findings = Vec::new();
    let computed = Computing { owner, session: &mut session, findings: &mut findings }.replaced(payload, seen);
    let computed = computed.unwrap_or_else(|| payload.clone());
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

struct Computing<'c, 't> {
    owner: ResourceId,
    session: &'c mut EvalSession<'t>,
    findings: &'c mut Vec<Finding>,
}

impl Computing<'_, '_> {
    /// A value with its expressions replaced; nothing if it has none, or none that work.
    fn replaced(&mut self, node: &Node, seen: &Node) -> Option<Node> {
        match (&node.value, &seen.value) {
            (Value::Map(map), _) if is_expression(map) => self.computed(seen),
            (Value::Map(_), Value::Map(_)) | (Value::List(_), Value::List(_)) => {
                node.map_children(|child| self.replaced(child.node, seen.value.child(child.at)?.node))
            }
            _ => None,
        }
    }

    fn computed(&mut self, expression: &Node) -> Option<Node> {
        // One finding covers everything that is left undone.
        if self.session.is_exhausted() {
            return None;
        }
        match self.session.whole(expression, self.owner) {
            Ok(value) => value,
            Err(fault) => {
                self.session.recover();
                self.findings.push(*fault);
                None
            }
        }
    }
}

/// In the order of the texts, each once: two expressions can fail for one reason.
fn in_order(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by(|a, b| (a.span(), a.rule.id, &a.message).cmp(&(b.span(), b.rule.id, &b.message)));
    findings.dedup_by(|a, b| (a.span(), a.rule.id, &a.message) == (b.span(), b.rule.id, &b.message));
    findings
}
