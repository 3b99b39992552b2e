//! Expressions of types and traits, checked before anything is rendered.

use smol_str::SmolStr;

use super::report::{Findings, below};
use super::types::loop_variable;
use crate::expression::cel::{StaticType, TypeProblemKind, TypeScope, infer};
use crate::finding::{self, Rule, Severity};
use crate::layout::openchoreo::object::text;
use crate::limits::Limits;
use crate::patch::find_expressions;
use crate::value::{Node, Value};

/// Expressions with the variables that they can read.
pub(super) struct Expressions<'e, 'o> {
    pub(super) scope: TypeScope,
    pub(super) limits: &'e Limits,
    pub(super) found: &'e mut Findings<'o>,
    /// Whether what is wrong is only a warning.
    pub(super) is_lenient: bool,
}

impl Expressions<'_, '_> {
    /// Checks all expressions of a value.
    pub(super) fn value(&mut self, node: &Node, place: &[SmolStr]) {
        match &node.value {
            Value::String(text) => self.text(text, place),
            Value::List(list) => {
                for (at, item) in list.items().iter().enumerate() {
                    self.value(item, &below(place, &[&at.to_string()]));
                }
            }
            Value::Map(map) => {
                for entry in map.entries() {
                    let place = below(place, &[&entry.key.name]);
                    self.text(&entry.key.name, &place);
                    self.value(&entry.value, &place);
                }
            }
            _ => {}
        }
    }

    /// Checks the expressions in a text.
    pub(super) fn text(&mut self, text: &str, place: &[SmolStr]) {
        match find_expressions(text) {
            Ok(expressions) => expressions.into_iter().for_each(|it| drop(self.expression(it, place))),
            Err(message) => self.report(&finding::OPENCHOREO_EXPR_SYNTAX, place, message.to_owned()),
        }
    }

    /// The type of an expression, if it can be parsed.
    fn expression(&mut self, text: &str, place: &[SmolStr]) -> Option<StaticType> {
        let inferred = match infer(text.trim(), &self.scope, self.limits) {
            Ok(inferred) => inferred,
            Err(failure) => {
                let message = format!("`{}` cannot be parsed: {}", shortened(text), failure.message);
                self.report(&finding::OPENCHOREO_EXPR_SYNTAX, place, message);
                return None;
            }
        };
        for problem in &inferred.problems {
            let rule = match problem.kind {
                TypeProblemKind::UnknownName => &finding::OPENCHOREO_EXPR_UNKNOWN_NAME,
                TypeProblemKind::UnknownField => &finding::OPENCHOREO_EXPR_UNKNOWN_FIELD,
                TypeProblemKind::Mismatch => &finding::OPENCHOREO_EXPR_TYPE,
            };
            self.report(rule, place, format!("`{}`: {}", shortened(text), problem.message));
        }
        let is_sound = inferred.problems.is_empty();
        Some(if is_sound { inferred.found } else { StaticType::Unknown })
    }

    /// Checks a condition. Only `where` may be written without `${…}`.
    pub(super) fn condition(&mut self, node: Option<&Node>, what: &str, place: &[SmolStr]) {
        let Some(found) = self.whole(node, what, place) else { return };
        if !matches!(found, StaticType::Bool | StaticType::Unknown | StaticType::Never) {
            let message = format!("`{what}` gives a {}, not a boolean", found.name());
            self.report(&finding::OPENCHOREO_EXPR_BOOL, place, message);
        }
    }

    /// Checks a loop, and adds its variable to what expressions can read from then on.
    pub(super) fn for_each(&mut self, of: &Node, place: &[SmolStr]) {
        let place = below(place, &["forEach"]);
        let Some(node) = set(of.get("forEach")) else { return };
        let found = self.whole(Some(node), "forEach", &place).unwrap_or(StaticType::Unknown);
        let is_iterable =
            matches!(found, StaticType::Map(_) | StaticType::Unknown | StaticType::Never) || found.items().is_some();
        if !is_iterable {
            let message = format!("`forEach` gives a {}, neither a list nor a map", found.name());
            self.report(&finding::OPENCHOREO_EXPR_ITERABLE, &place, message);
        }
        let variable = text(of, "var").unwrap_or("item");
        self.scope.insert(variable.into(), loop_variable(&found));
    }

    /// The type of a text that is one expression.
    fn whole(&mut self, node: Option<&Node>, what: &str, place: &[SmolStr]) -> Option<StaticType> {
        let node = set(node)?;
        let words = node.as_str().unwrap_or_default().trim();
        let inner = words.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
        match inner {
            Some(inner) => self.expression(inner, place),
            None if what == "where" => self.expression(words, place),
            None => {
                let message = format!("`{what}` is one expression `${{…}}`, and this is text");
                self.report(&finding::OPENCHOREO_EXPR_WRAP, place, message);
                None
            }
        }
    }

    fn report(&mut self, rule: &'static Rule, place: &[SmolStr], message: String) {
        match self.is_lenient {
            true => self.found.add_as(rule, Severity::Warning, place, message),
            false => self.found.add(rule, place, message),
        }
    }
}

/// A value that is not empty.
fn set(node: Option<&Node>) -> Option<&Node> {
    node.filter(|node| !matches!(node.value, Value::Null) && node.as_str() != Some(""))
}

fn shortened(text: &str) -> String {
    let short: String = text.trim().chars().take(60).collect();
    crate::sanitize::inline(&short).into_owned()
}
