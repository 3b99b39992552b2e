//! What is known about the value of an expression before it runs: its type, and names and fields that cannot exist.

use std::collections::BTreeMap;
use std::panic::catch_unwind;

use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators};
use smol_str::SmolStr;

use super::environment::environment;
use super::failure::{Failure, FailureKind};
use super::free_variables::is_type_name;
use super::guard;
use super::known_functions::{function_type, is_namespace};
use super::receiver_macros::{HELPERS, call_of};
use super::static_type::{StaticType, joined};
use crate::limits::Limits;
use crate::sanitize;
use crate::suggest;

/// What cannot be right about an expression, whatever its inputs are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TypeProblem {
    /// What kind of problem it is.
    pub kind: TypeProblemKind,
    /// A lower-case phrase.
    pub message: String,
}

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TypeProblemKind {
    /// A variable or function that does not exist.
    UnknownName,
    /// A field that its map cannot have.
    UnknownField,
    /// Types that do not fit.
    Mismatch,
}

/// The type of an expression and its problems.
#[derive(Debug)]
pub struct Inferred {
    /// The type.
    pub found: StaticType,
    /// What cannot be right.
    pub problems: Vec<TypeProblem>,
}

/// Variables by name.
pub type TypeScope = BTreeMap<SmolStr, StaticType>;

/// The parser recurses.
const STACK: usize = 64 << 20;

/// Infers the type of an expression; fails if it cannot be parsed.
pub fn infer(text: &str, variables: &TypeScope, limits: &Limits) -> Result<Inferred, Failure> {
    if text.len() > limits.cel_bytes as usize {
        return Err(Failure::new(FailureKind::Limit, format!("it is longer than {} bytes", limits.cel_bytes)));
    }
    stacker::maybe_grow(STACK, STACK, || {
        let parsed = catch_unwind(|| environment().parser().parse(text));
        let parsed = parsed.map_err(|_| Failure::new(FailureKind::Syntax, "it cannot be read"))?;
        let expression = parsed.map_err(|errors| Failure::syntax(&errors))?;
        guard::check_depth(&expression)?;
        let mut typing = Typing { variables, bound: Vec::new(), problems: Vec::new() };
        let found = typing.of(&expression);
        typing.problems.sort();
        typing.problems.dedup();
        Ok(Inferred { found, problems: typing.problems })
    })
}

struct Typing<'s> {
    variables: &'s TypeScope,
    bound: Vec<(String, StaticType)>,
    problems: Vec<TypeProblem>,
}

impl Typing<'_> {
    fn problem(&mut self, kind: TypeProblemKind, message: impl Into<String>) -> StaticType {
        self.problems.push(TypeProblem { kind, message: message.into() });
        StaticType::Unknown
    }

    fn of(&mut self, expression: &IdedExpr) -> StaticType {
        match &expression.expr {
            Expr::Ident(name) => self.variable(name.trim_start_matches('.')),
            Expr::Literal(literal) => literal_type(literal),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(loops) => self.comprehension(loops),
            Expr::List(list) => {
                let items: Vec<StaticType> = list.elements.iter().map(|item| self.of(item)).collect();
                match items.as_slice() {
                    [first, second] => StaticType::Pair(Box::new(first.clone()), Box::new(second.clone())),
                    _ => StaticType::list(items.iter().fold(StaticType::Never, |all, item| joined(&all, item))),
                }
            }
            Expr::Map(map) => self.map(map.entries.iter().map(|entry| &entry.expr)),
            Expr::Struct(made) => self.map(made.entries.iter().map(|entry| &entry.expr)),
            Expr::Unspecified => StaticType::Unknown,
        }
    }

    fn map<'e>(&mut self, entries: impl Iterator<Item = &'e EntryExpr>) -> StaticType {
        let mut values = StaticType::Never;
        for entry in entries {
            let (value, is_optional) = match entry {
                EntryExpr::MapEntry(entry) => {
                    self.of(&entry.key);
                    (self.of(&entry.value), entry.optional)
                }
                EntryExpr::StructField(field) => (self.of(&field.value), field.optional),
            };
            let value = match value {
                StaticType::Optional(inner) if is_optional => *inner,
                other => other,
            };
            values = joined(&values, &value);
        }
        StaticType::map(if values == StaticType::Never { StaticType::Unknown } else { values })
    }

    fn variable(&mut self, name: &str) -> StaticType {
        if let Some((_, found)) = self.bound.iter().rev().find(|(known, _)| known == name) {
            return found.clone();
        }
        if let Some(found) = self.variables.get(name) {
            return found.clone();
        }
        if is_type_name(name) || name.starts_with('@') {
            return StaticType::Unknown;
        }
        let near = suggest::nearest(name, self.variables.keys().map(SmolStr::as_str).filter(|it| *it != HELPERS));
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        self.problem(TypeProblemKind::UnknownName, format!("there is no variable `{}`{near}", sanitize::inline(name)))
    }

    fn select(&mut self, select: &SelectExpr) -> StaticType {
        let is_helper = matches!(&select.operand.expr, Expr::Ident(name) if name == HELPERS);
        let operand = self.of(&select.operand);
        let found = match is_helper {
            true => self.helper(&operand, &select.field),
            false => self.field(&operand, &select.field),
        };
        if select.test { StaticType::Bool } else { found }
    }

    fn helper(&mut self, helpers: &StaticType, member: &str) -> StaticType {
        match helpers {
            StaticType::Object(fields) => match fields.get(member) {
                Some(found) => found.clone(),
                None => {
                    let call = call_of(member).unwrap_or_default();
                    self.problem(TypeProblemKind::UnknownName, format!("`{call}` does not exist here"))
                }
            },
            _ => StaticType::Unknown,
        }
    }

    fn field(&mut self, of: &StaticType, name: &str) -> StaticType {
        match of {
            StaticType::Unknown | StaticType::Never => StaticType::Unknown,
            StaticType::Map(values) => (**values).clone(),
            StaticType::Object(fields) => match fields.get(name) {
                Some(found) => found.clone(),
                None => {
                    let near = suggest::nearest(name, fields.keys().map(SmolStr::as_str));
                    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                    let message = format!("there is no field `{}`{near}", sanitize::inline(name));
                    self.problem(TypeProblemKind::UnknownField, message)
                }
            },
            StaticType::Optional(inner) => {
                let found = self.field(inner, name);
                optional(found)
            }
            other => {
                let message = format!("a {} has no field `{}`", other.name(), sanitize::inline(name));
                self.problem(TypeProblemKind::Mismatch, message)
            }
        }
    }

    fn comprehension(&mut self, loops: &ComprehensionExpr) -> StaticType {
        let range = self.of(&loops.iter_range);
        let element = match &range {
            StaticType::Map(_) => StaticType::Text,
            other if other.is_unknown() => StaticType::Unknown,
            StaticType::Optional(_) | StaticType::Null => StaticType::Unknown,
            other => match other.items() {
                Some(items) => items,
                None => self.problem(TypeProblemKind::Mismatch, format!("a {} cannot be looped over", other.name())),
            },
        };
        let initial = self.of(&loops.accu_init);
        let outside = self.bound.len();
        self.bound.push((loops.iter_var.clone(), element));
        self.bound.extend(loops.iter_var2.iter().map(|name| (name.clone(), StaticType::Unknown)));
        self.bound.push((loops.accu_var.clone(), initial.clone()));
        // What the loop adds to its result is known after one round.
        let known = self.problems.len();
        let first = self.of(&loops.loop_step);
        self.problems.truncate(known);
        if let Some(accumulator) = self.bound.last_mut() {
            accumulator.1 = joined(&initial, &first);
        }
        self.of(&loops.loop_cond);
        self.of(&loops.loop_step);
        let result = self.of(&loops.result);
        self.bound.truncate(outside);
        result
    }

    fn call(&mut self, call: &CallExpr) -> StaticType {
        let CallExpr { func_name, target, args } = call;
        let namespace = target.as_ref().and_then(|target| match &target.expr {
            Expr::Ident(name) if is_namespace(name) => Some(name.as_str()),
            _ => None,
        });
        let receiver = target.as_ref().filter(|_| namespace.is_none()).map(|target| self.of(target));
        if let (operators::OPT_SELECT, [operand, key]) = (func_name.as_str(), args.as_slice()) {
            let of = self.of(operand);
            let name = text_literal(key).unwrap_or_default().to_owned();
            let inner = if let StaticType::Optional(inner) = of { *inner } else { of };
            let found = self.field(&inner, &name);
            return optional(found);
        }
        let types: Vec<StaticType> = args.iter().map(|argument| self.of(argument)).collect();
        if target.is_none() && (func_name.starts_with(['_', '!', '-', '@'])) {
            return self.operator(func_name, &types, args);
        }
        match function_type(namespace, receiver.as_ref(), func_name, &types) {
            Some(found) => found,
            None => {
                let message = format!("there is no function `{}` that takes this", sanitize::inline(func_name));
                self.problem(TypeProblemKind::UnknownName, message)
            }
        }
    }

    fn operator(&mut self, name: &str, types: &[StaticType], args: &[IdedExpr]) -> StaticType {
        match (name, types) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.needs_bool(condition);
                joined(yes, no)
            }
            (operators::LOGICAL_AND | operators::LOGICAL_OR | operators::LOGICAL_NOT, all) => {
                all.iter().for_each(|it| self.needs_bool(it));
                StaticType::Bool
            }
            (operators::EQUALS | operators::NOT_EQUALS, [a, b]) => {
                self.needs_comparable(a, b);
                StaticType::Bool
            }
            (
                operators::LESS
                | operators::LESS_EQUALS
                | operators::GREATER
                | operators::GREATER_EQUALS
                | operators::IN
                | operators::NOT_STRICTLY_FALSE,
                _,
            ) => StaticType::Bool,
            (operators::NEGATE, [of]) => of.clone(),
            (operators::ADD, [a, b]) => self.sum(a, b),
            (operators::SUBSTRACT | operators::MULTIPLY | operators::DIVIDE | operators::MODULO, [a, b]) => {
                self.arithmetic(name, a, b)
            }
            (operators::INDEX, [of, _]) => self.indexed(of, &args[1]),
            (operators::OPT_INDEX, [of, _]) => {
                let of = if let StaticType::Optional(inner) = of { inner } else { of };
                let found = self.indexed(of, &args[1]);
                optional(found)
            }
            ("@entries", [of]) => {
                let (key, value) = match of {
                    StaticType::Map(values) => (StaticType::Text, (**values).clone()),
                    other => (StaticType::Int, other.items().unwrap_or(StaticType::Unknown)),
                };
                let key = if of.is_unknown() { StaticType::Unknown } else { key };
                StaticType::list(StaticType::Pair(Box::new(key), Box::new(value)))
            }
            ("@map_of", [of]) => match of.items() {
                Some(StaticType::Pair(_, value)) => StaticType::Map(value),
                _ => StaticType::map(StaticType::Unknown),
            },
            ("@union", [of]) => match of.items() {
                Some(StaticType::Map(values)) => StaticType::Map(values),
                _ => StaticType::map(StaticType::Unknown),
            },
            _ => StaticType::Unknown,
        }
    }

    fn needs_bool(&mut self, found: &StaticType) {
        if !found.is_unknown() && *found != StaticType::Bool {
            self.problem(TypeProblemKind::Mismatch, format!("a boolean is needed, and this is a {}", found.name()));
        }
    }

    fn needs_comparable(&mut self, a: &StaticType, b: &StaticType) {
        let is_plain = |it: &StaticType| {
            matches!(it, StaticType::Bool | StaticType::Int | StaticType::Double | StaticType::Text)
                || it.items().is_some()
                || matches!(it, StaticType::Map(_))
        };
        if is_plain(a) && is_plain(b) && a.name() != b.name() {
            self.problem(TypeProblemKind::Mismatch, format!("a {} is never equal to a {}", a.name(), b.name()));
        }
    }

    fn sum(&mut self, a: &StaticType, b: &StaticType) -> StaticType {
        match (a, b) {
            (StaticType::Text, StaticType::Text) => StaticType::Text,
            _ if a.items().is_some() && b.items().is_some() => {
                let items = joined(&a.items().unwrap_or(StaticType::Never), &b.items().unwrap_or(StaticType::Never));
                StaticType::list(items)
            }
            _ => self.arithmetic(operators::ADD, a, b),
        }
    }

    fn arithmetic(&mut self, name: &str, a: &StaticType, b: &StaticType) -> StaticType {
        let is_number = |it: &StaticType| matches!(it, StaticType::Int | StaticType::Double);
        match (a, b) {
            _ if a.is_unknown() && b.is_unknown() => StaticType::Unknown,
            _ if a.is_unknown() => b.clone(),
            _ if b.is_unknown() => a.clone(),
            _ if is_number(a) && is_number(b) => joined(a, b),
            (StaticType::Bytes, StaticType::Bytes) => StaticType::Bytes,
            _ => {
                let operator = name.trim_matches('_');
                let message = format!("`{operator}` does not take a {} and a {}", a.name(), b.name());
                self.problem(TypeProblemKind::Mismatch, message)
            }
        }
    }

    fn indexed(&mut self, of: &StaticType, key: &IdedExpr) -> StaticType {
        match (of, &key.expr) {
            (StaticType::Pair(first, _), Expr::Literal(LiteralValue::Int(at))) if *at.inner() == 0 => (**first).clone(),
            (StaticType::Pair(_, second), Expr::Literal(LiteralValue::Int(at))) if *at.inner() == 1 => {
                (**second).clone()
            }
            (StaticType::Map(values), _) => (**values).clone(),
            (StaticType::Object(fields), _) => {
                text_literal(key).and_then(|name| fields.get(name)).cloned().unwrap_or(StaticType::Unknown)
            }
            (of, _) => of.items().unwrap_or(StaticType::Unknown),
        }
    }
}

fn optional(inner: StaticType) -> StaticType {
    match inner {
        already @ StaticType::Optional(_) => already,
        inner => StaticType::Optional(Box::new(inner)),
    }
}

fn text_literal(expression: &IdedExpr) -> Option<&str> {
    match &expression.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}

fn literal_type(literal: &LiteralValue) -> StaticType {
    match literal {
        LiteralValue::Boolean(_) => StaticType::Bool,
        LiteralValue::Int(_) | LiteralValue::UInt(_) => StaticType::Int,
        LiteralValue::Double(_) => StaticType::Double,
        LiteralValue::String(_) => StaticType::Text,
        LiteralValue::Bytes(_) => StaticType::Bytes,
        LiteralValue::Null => StaticType::Null,
    }
}
