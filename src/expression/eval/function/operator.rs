//! Order and arithmetic. Arguments are values: text is text.

use std::cmp::Ordering;

use super::super::datum::Datum;
use super::super::scope::Scope;
use super::super::session::EvalSession;
use super::super::trouble::{Result, bad_arguments};
use crate::text::Span;
use crate::value::{CalculationError, Node, Operation, Type, Value, calculate, compare};

/// How two values compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl EvalSession<'_> {
    pub(super) fn ordered(&mut self, order: Order, argument: &Node, scope: &Scope) -> Result<Datum> {
        let at = argument.span;
        // The order of two values may be known even of secrets.
        let [a, b] = self.arguments("an order", argument, scope)?.map(Datum::laid_open);
        let found = match (a.as_value(), b.as_value()) {
            (Some(Value::Number(a)), Some(Value::Number(b))) => compare(a, b),
            (Some(Value::String(a)), Some(Value::String(b))) => Some(a.cmp(b)),
            _ => None,
        };
        let Some(found) = found else {
            let message = format!("{} and {} have no order", kind(&a), kind(&b));
            return bad_arguments(at, message, "compare two numbers, or two texts");
        };
        Ok(Datum::bool(order.holds(found), at))
    }

    pub(super) fn calculated(&mut self, operation: Operation, argument: &Node, scope: &Scope) -> Result<Datum> {
        let given = self.arguments("arithmetic", argument, scope)?;
        let what = format!("`{}`", name(operation));
        self.beneath(&what, given, |session, [a, b]| session.calculate(operation, &a, &b, argument.span))
    }

    fn calculate(&mut self, operation: Operation, a: &Datum, b: &Datum, at: Span) -> Result<Datum> {
        match (a.as_value(), b.as_value()) {
            (Some(Value::Number(a)), Some(Value::Number(b))) => {
                // Long numbers cost the square of their length.
                let (long, short) = (a.as_str().len() as u64 / 64, b.as_str().len() as u64 / 64);
                self.spend(1 + long + short, at)?;
                match calculate(operation, a, b) {
                    Ok(number) => Ok(Datum::number(number, at)),
                    Err(error) => failed(operation, error, at),
                }
            }
            (Some(Value::String(a)), Some(Value::String(b))) if operation == Operation::Add => {
                self.spend_text(a.len() + b.len(), at)?;
                Ok(Datum::text([a.as_str(), b.as_str()].concat(), at))
            }
            _ => self.joined(operation, a, b, at),
        }
    }

    /// Lists can be added.
    fn joined(&mut self, operation: Operation, a: &Datum, b: &Datum, at: Span) -> Result<Datum> {
        if operation == Operation::Add
            && let (Some(mut items), Some(more)) = (self.items_of(a, at)?, self.items_of(b, at)?)
        {
            items.extend(more);
            return self.list(items, at);
        }
        let message = format!("`{}` cannot work with {} and {}", name(operation), kind(a), kind(b));
        let help = match operation {
            Operation::Add => "add two numbers, two texts or two lists",
            _ => "give it two numbers",
        };
        bad_arguments(at, message, help)
    }

    /// Text is paid for by its length: it can double with every step.
    pub(super) fn spend_text(&mut self, bytes: usize, at: Span) -> Result<()> {
        self.spend(bytes as u64 / 32, at)
    }
}

impl Order {
    fn holds(self, found: Ordering) -> bool {
        match self {
            Self::Less => found.is_lt(),
            Self::LessOrEqual => found.is_le(),
            Self::Greater => found.is_gt(),
            Self::GreaterOrEqual => found.is_ge(),
        }
    }
}

fn failed(operation: Operation, error: CalculationError, at: Span) -> Result<Datum> {
    let help = match error {
        CalculationError::DivisionByZero => "check the divisor with `if` first",
        CalculationError::NotFinite | CalculationError::NotReal => "calculate with finite real numbers",
        CalculationError::TooLong => "numbers may have 10,000 digits",
    };
    bad_arguments(at, format!("`{}` has no result: {error}", name(operation)), help)
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Add => "add",
        Operation::Sub => "sub",
        Operation::Mul => "mul",
        Operation::Div => "div",
        Operation::FloorDiv => "floordiv",
        Operation::Mod => "mod",
        Operation::Pow => "pow",
    }
}

/// What something is, as messages name it.
pub(super) fn kind(datum: &Datum) -> String {
    match datum {
        Datum::Node { node, .. } if node.type_of() == Type::Null => "nothing".to_owned(),
        Datum::Node { node, .. } => format!("a {}", node.type_of()),
        Datum::Resource(_) => "a resource".to_owned(),
        Datum::List { .. } => "a list".to_owned(),
        Datum::Everything | Datum::Map { .. } => "a map".to_owned(),
        Datum::Signal(_) => "a word for loops".to_owned(),
    }
}
