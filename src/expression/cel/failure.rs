//! Why an expression was refused or failed, in our own words.

use cel::{ExecutionError, ParseErrors};

use crate::sanitize;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of trouble it is.
    pub kind: FailureKind,
    /// A lower-case phrase without a full stop.
    pub message: String,
}

/// The kinds of trouble that callers tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The text is no expression.
    Syntax,
    /// It is too long, too deep, or takes too many steps.
    Limit,
    /// It reads a variable that does not exist.
    UnknownVariable,
    /// It reads a key that is not there.
    MissingKey,
    /// Anything else that happens while it runs.
    Evaluation,
}

impl Failure {
    pub(super) fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn syntax(errors: &ParseErrors) -> Self {
        let first = errors.errors.first().map_or("it cannot be read", |error| error.msg.as_str());
        let first = first.strip_prefix("Syntax error: ").unwrap_or(first);
        Self::new(FailureKind::Syntax, shortened(first))
    }

    pub(super) fn evaluation(error: &ExecutionError) -> Self {
        let kind = match error {
            ExecutionError::NoSuchKey(_) => FailureKind::MissingKey,
            _ => FailureKind::Evaluation,
        };
        Self::new(kind, shortened(&describe(error)))
    }
}

/// The crate's own messages print whole values; ours name types.
fn describe(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("there is no key `{key}`"),
        ExecutionError::UndeclaredReference(name) => format!("`{name}` is not known"),
        ExecutionError::NoSuchOverload(overload) => {
            let types = overload.argument_types().join(", ");
            format!("`{}` does not take ({types})", operator(overload.function()))
        }
        ExecutionError::UnexpectedType { got, want } => format!("a {want} is needed, and this is a {got}"),
        ExecutionError::FunctionError { function, message } => format!("`{}`: {message}", operator(function)),
        ExecutionError::InvalidArgumentCount { expected, actual } => {
            format!("{expected} arguments are needed, and {actual} are given")
        }
        ExecutionError::ValuesNotComparable(a, b) => {
            format!("a {} and a {} cannot be compared", a.type_of(), b.type_of())
        }
        ExecutionError::UnsupportedBinaryOperator(name, a, b) => {
            format!("`{name}` does not take ({}, {})", a.type_of(), b.type_of())
        }
        ExecutionError::UnsupportedKeyType(key) => format!("a {} cannot be a key", key.type_of()),
        ExecutionError::UnsupportedIndex(index, of) => {
            format!("a {} has no items by {}", of.type_of(), index.type_of())
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => "division by zero".to_owned(),
        ExecutionError::Overflow(name, ..) => format!("`{name}` gives a number that is too large"),
        ExecutionError::IndexOutOfBounds(_) => "an index is outside its list".to_owned(),
        ExecutionError::DuplicateKey(_) => "a map is given the same key twice".to_owned(),
        ExecutionError::NotSupportedAsMethod { method, target } => {
            format!("`{method}` is no method of a {}", target.type_of())
        }
        ExecutionError::UnsupportedTargetType { target } => format!("a {} is not taken here", target.type_of()),
        ExecutionError::MissingArgumentOrTarget => "an argument is missing".to_owned(),
        _ => "it cannot be evaluated".to_owned(),
    }
}

/// `_+_` is how the crate calls `+`; our own functions are named after the operator that the user wrote.
fn operator(name: &str) -> &str {
    name.trim_matches(['_', '@'])
}

const LONGEST_MESSAGE: usize = 300;

fn shortened(message: &str) -> String {
    let short: String = message.chars().take(LONGEST_MESSAGE).collect();
    sanitize::inline(&short).into_owned()
}
