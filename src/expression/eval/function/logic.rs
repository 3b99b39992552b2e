//! `if`, `and`, `or` and `not`. Their arguments are expressions: text is a path.

use std::sync::Arc;

use super::super::datum::Datum;
use super::super::scope::Scope;
use super::super::session::EvalSession;
use super::super::trouble::{Result, bad_arguments};
use crate::value::{Map, Node};

impl EvalSession<'_> {
    /// `{if: condition, then: expression, else: expression}`; without the branch the answer itself.
    pub(super) fn branch(&mut self, condition: &Node, map: &Arc<Map>, scope: &Scope) -> Result<Datum> {
        let holds = self.condition(condition, scope)?;
        match map.get(if holds { "then" } else { "else" }) {
            Some(branch) => self.expression_value(branch, scope),
            None => Ok(Datum::bool(holds, condition.span)),
        }
    }

    /// Whether the first match is true; no match is false.
    pub(super) fn condition(&mut self, condition: &Node, scope: &Scope) -> Result<bool> {
        let matches = self.expression(condition, scope)?;
        Ok(matches.values.first().is_some_and(Datum::is_truthy))
    }

    /// The first value that is false, or else the last.
    pub(super) fn all_of(&mut self, argument: &Node, scope: &Scope) -> Result<Datum> {
        let mut last = None;
        for item in expressions("and", argument)? {
            let value = self.expression_value(item, scope)?;
            if !value.is_truthy() {
                return Ok(value);
            }
            last = Some(value);
        }
        Ok(last.unwrap_or_else(|| Datum::null(argument.span)))
    }

    /// The first value that is true, or else false.
    pub(super) fn any_of(&mut self, argument: &Node, scope: &Scope) -> Result<Datum> {
        for item in expressions("or", argument)? {
            let value = self.expression_value(item, scope)?;
            if value.is_truthy() {
                return Ok(value);
            }
        }
        Ok(Datum::bool(false, argument.span))
    }
}

fn expressions<'a>(name: &str, argument: &'a Node) -> Result<&'a [Node]> {
    match argument.as_list() {
        Some(items) if !items.is_empty() => Ok(items),
        Some(_) => {
            bad_arguments(argument.span, format!("`{name}` has nothing to look at"), "write expressions into its list")
        }
        None => {
            let message = format!("`{name}` takes a list of expressions, not a {}", argument.type_of());
            bad_arguments(argument.span, message, format!("write `{name}: [a, b]`"))
        }
    }
}
