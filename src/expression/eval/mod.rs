//! The eval language: paths over the resource tree, and the function form.
//!
//! `services::[labels::env=prod]::name` is looked up in the current resource, then in its parents. [`evaluate`] answers one
//! expression; [`compute`] replaces the expressions of a payload. Both see other resources only through a [`Tree`].

mod closed;
mod compute;
mod datum;
mod detect;
mod each;
mod export;
mod form;
mod function;
mod grammar;
mod scope;
mod secrecy;
mod session;
mod special;
mod trace;
mod tree;
mod trouble;
mod walk;

use smol_str::SmolStr;

pub use closed::{Closed, closed, compute_closed};
pub use compute::compute;
pub use detect::{has_expressions, is_whole_expression, may_have_expressions, may_say_eval};
pub use secrecy::sealed;
pub use trace::{Trace, TraceKind, TraceStep, TraceValue, Verdict};
pub use tree::{Payload, ResourceId, Tree};

use crate::finding::Finding;
use crate::limits::Limits;
use crate::value::Node;
use scope::{Scope, Variable};
use session::EvalSession;
use trouble::Result;

/// Where an expression is asked, and how.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The resource that paths start from.
    pub current: ResourceId,
    /// The other resources.
    pub tree: &'a dyn Tree,
    /// Variables from outside.
    pub vars: &'a [(SmolStr, Node)],
    /// Whether the answer is one value or all matches.
    pub form: Form,
    /// Whether to note every step.
    pub tracing: bool,
    /// What is too much.
    pub limits: &'a Limits,
}

/// How many values are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All matches; `strict` demands nothing of them.
    All,
    /// One: null without a match, a list if there are several.
    One,
}

/// What came of an expression.
#[derive(Debug)]
pub struct Answer {
    /// The value, as [`Form`] says; nothing if the expression fails, and the findings say why. Values keep the places they are
    /// written at. A resource is represented by its path, or by what the tree gives for it.
    pub value: Option<Node>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The steps, if they were asked for; also of an expression that fails.
    pub trace: Option<Trace>,
}

/// Evaluates an expression: text is a path, a map is a function form.
pub fn evaluate(expression: &Node, question: &Question<'_>) -> Answer {
    let mut session = EvalSession::new(question.tree, question.limits, question.tracing);
    let (value, fault) = match answer(expression, question, &mut session) {
        Ok(value) => (Some(value), None),
        Err(fault) => (None, Some(*fault)),
    };
    let mut findings = std::mem::take(&mut session.findings);
    findings.extend(fault);
    Answer { value, findings, trace: session.take_trace() }
}

fn answer(expression: &Node, question: &Question<'_>, session: &mut EvalSession<'_>) -> Result<Node> {
    let at = expression.span;
    let vars = question.vars.iter().map(|(name, node)| (name.clone(), Variable::Written(node.clone())));
    let scope = Scope::of(question.current).with(vars);
    let start = question.vars.iter().find(|(name, _)| name == "start").map(|(_, node)| node.span);
    let scope = session.starting(scope, start)?;
    let matches = session.expression(expression, &scope)?;
    match question.form {
        Form::One => {
            let datum = session.single(matches)?;
            let node = session.exported(&datum, at)?;
            session.fitting(node, at)
        }
        Form::All => {
            let nodes = matches.values.iter().map(|datum| session.exported(datum, at));
            let list = Node::list(nodes.collect::<Result<_>>()?, at);
            session.fitting(list, at)
        }
    }
}

#[cfg(test)]
pub(crate) use tests::MemoryTree;

#[cfg(test)]
mod tests;
