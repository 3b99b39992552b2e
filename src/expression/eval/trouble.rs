//! What can be wrong with an expression, in words.

use std::ops::Range;

use crate::finding::{self, Finding, Location, Rule};
use crate::limits::{Counted, Limits};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Node, Value};

use super::grammar::Malformed;

/// Why there is no value.
pub(super) type Fault = Box<Finding>;

/// A value, or why there is none.
pub(super) type Result<T> = std::result::Result<T, Fault>;

/// A fault at a place.
pub(super) fn fault(rule: &'static Rule, at: Span, message: impl Into<String>) -> Finding {
    Finding::new(rule, Location::Span(at), message)
}

/// Arguments that a function cannot work with.
pub(super) fn bad_arguments<T>(at: Span, message: impl Into<String>, help: impl Into<String>) -> Result<T> {
    Err(fault(&finding::EXPRESSION_BAD_ARGUMENTS, at, message).labelled("cannot be used").help(help).into())
}

/// A text that is no path.
pub(super) fn malformed(node: &Node, text: &str, error: &Malformed) -> Fault {
    let message = format!("{} in {}", error.message, quoted(text));
    let at = place(node, &error.range);
    fault(&finding::EXPRESSION_PARSE, at, message).labelled("not a path").help(error.help).into()
}

/// Too much of something.
pub(super) fn limit(at: Span, what: &str, amount: u64, key: &str) -> Fault {
    let message = format!("{what} exceeds the limit of {amount}");
    fault(&finding::LIMIT_EXPRESSION, at, message)
        .help(format!("raise `limits.{key}` in outcrop.yaml if this is meant"))
        .into()
}

/// Too much work of all expressions of a run.
pub(super) fn run_limit(at: Span, limits: &Limits) -> Fault {
    let (message, help) = limits.excess(Counted::Steps);
    fault(&finding::LIMIT_RUN_WORK, at, message).help(help).into()
}

/// A result that is too large or too deep to be a document.
pub(super) fn result_limit(size: u64, height: u32, at: Span, limits: &Limits) -> Option<Fault> {
    if size > limits.nodes {
        let message = format!("the expressions make a document of more than {} values", limits.nodes);
        let finding = fault(&finding::LIMIT_NODES, at, message);
        return Some(finding.help("raise `limits.nodes` in outcrop.yaml if this is meant").into());
    }
    if height > limits.depth {
        let message = format!("the expressions make a document of more than {} levels", limits.depth);
        let finding = fault(&finding::LIMIT_DEPTH, at, message);
        return Some(finding.help("raise `limits.depth` in outcrop.yaml if this is meant").into());
    }
    None
}

/// A piece of an expression between backquotes, safe to show and not too long.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let short: String = text.chars().take(SHOWN).collect();
    let ellipsis = if short.len() < text.len() { "…" } else { "" };
    format!("`{}{ellipsis}`", sanitize::inline(&short))
}

/// Where a piece of a text is written. In a text with escapes or folded lines it is the whole text.
pub(super) fn place(node: &Node, range: &Range<usize>) -> Span {
    let Value::String(text) = &node.value else { return node.span };
    let written = node.span.range();
    let before = match written.len().checked_sub(text.len()) {
        Some(0) => 0,
        // Quotes on both sides.
        Some(2) => 1,
        _ => return node.span,
    };
    let start = written.start + before;
    Span::new(node.span.source, start + range.start, start + range.end)
}
