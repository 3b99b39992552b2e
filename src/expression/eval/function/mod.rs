//! The functions of the language. All work on values alone: none reads the environment, files or the network, none runs code.

mod logic;
mod operator;
mod text;
mod url;

use std::sync::Arc;

use super::datum::Datum;
use super::scope::Scope;
use super::secrecy::{discreet, opened};
use super::session::EvalSession;
use super::trouble::{Result, bad_arguments};
use crate::schema;
use crate::text::Span;
use crate::value::{Map, Node, Operation};
use operator::Order;

/// A function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    /// `if`, with `then` and `else`.
    If,
    And,
    Or,
    Not,
    /// `q`: the argument as it is written.
    Quote,
    /// `eq`, and negated `ne`.
    Equal {
        is_negated: bool,
    },
    /// `lt`, `le`, `gt`, `ge`.
    Order(Order),
    /// `add`, `sub`, `mul`, `div`, `floordiv`, `mod`, `pow`.
    Calculate(Operation),
    Concat,
    Token,
    IsFunctionDefined,
    UrlJoin,
    Validate,
}

const FUNCTIONS: &[(&str, Function)] = &[
    ("if", Function::If),
    ("and", Function::And),
    ("or", Function::Or),
    ("not", Function::Not),
    ("q", Function::Quote),
    ("eq", Function::Equal { is_negated: false }),
    ("ne", Function::Equal { is_negated: true }),
    ("lt", Function::Order(Order::Less)),
    ("le", Function::Order(Order::LessOrEqual)),
    ("gt", Function::Order(Order::Greater)),
    ("ge", Function::Order(Order::GreaterOrEqual)),
    ("add", Function::Calculate(Operation::Add)),
    ("sub", Function::Calculate(Operation::Sub)),
    ("mul", Function::Calculate(Operation::Mul)),
    ("div", Function::Calculate(Operation::Div)),
    ("floordiv", Function::Calculate(Operation::FloorDiv)),
    ("mod", Function::Calculate(Operation::Mod)),
    ("pow", Function::Calculate(Operation::Pow)),
    ("concat", Function::Concat),
    ("token", Function::Token),
    ("is_function_defined", Function::IsFunctionDefined),
    ("urljoin", Function::UrlJoin),
    ("validate", Function::Validate),
    ("validate_json", Function::Validate),
];

impl Function {
    /// The function with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().find(|(own, _)| *own == name).map(|(_, function)| *function)
    }

    /// Every name.
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        FUNCTIONS.iter().map(|(name, _)| *name)
    }
}

impl EvalSession<'_> {
    /// Calls a function: its argument, and the whole map with its other keys. What it makes of one value from another text is
    /// defined where that value is.
    pub(super) fn function(
        &mut self,
        function: Function,
        argument: &Node,
        map: &Arc<Map>,
        scope: &Scope,
    ) -> Result<Datum> {
        let outer = std::mem::take(&mut self.inputs);
        let made = self.applied(function, argument, map, scope);
        let inputs = std::mem::replace(&mut self.inputs, outer);
        Ok(defined_at(made?, argument.span, &inputs))
    }

    fn applied(&mut self, function: Function, argument: &Node, map: &Arc<Map>, scope: &Scope) -> Result<Datum> {
        match function {
            Function::If => self.branch(argument, map, scope),
            Function::And => self.all_of(argument, scope),
            Function::Or => self.any_of(argument, scope),
            Function::Not => Ok(Datum::bool(!self.condition(argument, scope)?, argument.span)),
            Function::Quote => Ok(Datum::plain(argument.clone())),
            Function::Equal { is_negated } => {
                let [a, b] = self.arguments("eq and ne", argument, scope)?;
                Ok(Datum::bool(self.is_same(&a, &b, argument.span)? != is_negated, argument.span))
            }
            Function::Order(order) => self.ordered(order, argument, scope),
            Function::Calculate(operation) => self.calculated(operation, argument, scope),
            Function::Concat => self.concat(argument, map.get("sep"), scope),
            Function::Token => self.token(argument, scope),
            Function::IsFunctionDefined => self.is_function_defined(argument, scope),
            Function::UrlJoin => self.urljoin(argument, scope),
            Function::Validate => self.validate(argument, scope),
        }
    }

    /// Exactly so many values.
    fn arguments<const COUNT: usize>(&mut self, what: &str, argument: &Node, scope: &Scope) -> Result<[Datum; COUNT]> {
        let at = argument.span;
        let given = self.argument_list(argument, scope)?;
        let found = given.as_ref().map_or(1, Vec::len);
        match given.and_then(|given| <[Datum; COUNT]>::try_from(given).ok()) {
            Some(arguments) => Ok(arguments),
            None => {
                let message = format!("{what} takes a list of {COUNT} values, not {found}");
                bad_arguments(at, message, "write each value as an item of a list")
            }
        }
    }

    /// The items of an argument, if it is a list.
    fn argument_list(&mut self, argument: &Node, scope: &Scope) -> Result<Option<Vec<Datum>>> {
        let datum = self.mapped(argument, scope)?;
        self.items_of(&datum, argument.span)
    }

    fn items_of(&mut self, datum: &Datum, at: Span) -> Result<Option<Vec<Datum>>> {
        let Some(items) = datum.items() else { return Ok(None) };
        self.spend(items.len() as u64, at)?;
        let items = (0..items.len()).map(|position| self.settled(items.at(position)));
        let items = items.collect::<Result<Vec<Datum>>>()?;
        let spans = items.iter().filter_map(|item| match item {
            Datum::Node { node, .. } if !at.covers(node.span) => Some(node.span),
            _ => None,
        });
        self.inputs.extend(spans);
        Ok(Some(items))
    }

    fn validate(&mut self, argument: &Node, scope: &Scope) -> Result<Datum> {
        let at = argument.span;
        let [value, schema] = self.arguments("validate", argument, scope)?;
        let (value, schema) = (self.exported(&value, at)?, self.exported(&schema, at)?);
        let (open_value, open_schema) = (opened(&value), opened(&schema));
        let is_hidden = open_value.is_some() || open_schema.is_some();
        let (value, schema) = (open_value.unwrap_or(value), open_schema.unwrap_or(schema));
        let left = self.limits.expression_steps;
        match schema::is_valid(&value, &schema, left) {
            Ok(answer) => {
                self.spend(answer.steps, at)?;
                Ok(Datum::bool(answer.is_valid, at))
            }
            Err(error) => {
                let failed = bad_arguments(error.at, format!("validate: {}", error.message), "correct the schema");
                failed.map_err(|fault| if is_hidden { discreet(fault, "`validate`") } else { fault })
            }
        }
    }
}

/// What a function made, as a value of the place where its only input is written, if that is in another text.
fn defined_at(made: Datum, at: Span, inputs: &[Span]) -> Datum {
    let only = inputs.first().filter(|first| first.source != at.source && inputs.iter().all(|input| input == *first));
    match (made, only) {
        (Datum::Node { node, owner: None }, Some(&input)) if node.span == at => {
            Datum::plain(Node { span: input, ..node })
        }
        (made, _) => made,
    }
}
