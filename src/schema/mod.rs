//! Checks values against JSON Schemas: the keywords that OpenAPI and authors of configuration use, with exact numbers.
//!
//! [`is_valid`] answers yes or no; [`violations`] lists everything that is wrong, with its place in the value and in the schema.
//! Nothing is fetched: `$ref` is resolved within one document. `format` and annotations do not affect validity; a keyword that
//! would, but is not implemented, is an error of the schema rather than ignored.

mod checker;
mod keywords;
mod patterns;
mod place;

#[cfg(test)]
mod tests;

use crate::text::Span;
use crate::value::Node;
use checker::Checker;
use place::Place;

pub use patterns::Patterns;

/// Whether a value matches a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether the value is valid.
    pub is_valid: bool,
    /// Number of steps that the check took.
    pub steps: u64,
}

/// A part of a value that its schema does not allow.
#[derive(Debug, Clone)]
pub struct Violation {
    /// Where the part is, from the root of the checked value: `$`, `$.tags[1]`, `$ allOf[0]`.
    pub place: String,
    /// Why it is not allowed: `expected string, found number`.
    pub reason: String,
    /// The keyword of the schema that does not allow it.
    pub schema: Span,
    /// The value; for a missing property the map that lacks it.
    pub value: Span,
}

/// Everything that is wrong with a value.
#[derive(Debug, Default)]
pub struct Violations {
    /// The violations, in the order of the schema.
    pub found: Vec<Violation>,
    /// The number of further violations.
    pub more: usize,
    /// Why the check ended early, if it did.
    pub stopped: Option<SchemaError>,
}

/// A schema that cannot be used, or not to its end.
#[derive(Debug, Clone)]
pub struct SchemaError {
    /// The part of the schema.
    pub at: Span,
    /// The reason, as a phrase.
    pub message: String,
    /// Whether the check took too many steps or went too deep; otherwise the schema is malformed or not supported.
    pub is_limit: bool,
}

/// Checks a value up to its first violation; fails if that takes more than `most_steps` steps.
pub fn is_valid(value: &Node, schema: &Node, most_steps: u64) -> Result<Answer, SchemaError> {
    let patterns = Patterns::default();
    let mut checker = Checker::new(schema, &patterns, most_steps, None);
    let is_valid = checker.check(value, schema, &Place::ROOT)?;
    Ok(Answer { is_valid, steps: checker.steps() })
}

/// Checks what is sent against a schema inside of a document, in which `$ref` is resolved, and collects all violations. Patterns are
/// compiled once for all values that are checked with them.
///
/// Values that are redacted secrets are not judged, and what is `readOnly` may be missing: only a server gives it.
pub fn violations(value: &Node, schema: &Node, document: &Node, patterns: &Patterns, most_steps: u64) -> Violations {
    let mut violations = Violations::default();
    let mut checker = Checker::new(document, patterns, most_steps, Some(&mut violations));
    let checked = checker.check(value, schema, &Place::ROOT);
    Violations { stopped: checked.err(), ..violations }
}
