//! The function form: `{eval: …}` with its keywords and arguments.

use std::sync::Arc;

use smol_str::SmolStr;

use super::datum::Datum;
use super::detect::{KEYWORDS, is_expression};
use super::function::Function;
use super::scope::{Scope, Variable};
use super::session::EvalSession;
use super::trace::{TraceKind, Verdict};
use super::trouble::{Result, bad_arguments, fault, quoted};
use crate::finding;
use crate::suggest;
use crate::text::Span;
use crate::value::{Key, Map, Node, Value};

/// What an expression found.
#[derive(Debug, Clone)]
pub(super) struct Matches {
    pub(super) values: Vec<Datum>,
    /// Whether they are a list however many there are: the result of a loop.
    pub(super) is_list: bool,
    /// What the single value must be, and the expression that says so.
    strict: Option<(Strict, SmolStr)>,
    /// Where the expression is written.
    pub(super) at: Span,
}

/// What `strict` demands of a single value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strict {
    /// There is a match.
    Required,
    /// It is not null either.
    NotNull,
}

impl Matches {
    pub(super) fn new(values: Vec<Datum>, at: Span) -> Self {
        Self { values, is_list: false, strict: None, at }
    }

    /// What a loop made.
    pub(super) fn list(values: Vec<Datum>, at: Span) -> Self {
        Self { is_list: true, ..Self::new(values, at) }
    }
}

impl EvalSession<'_> {
    /// A map with `eval` (or its old name `ref`).
    pub(super) fn form(&mut self, map: &Arc<Map>, at: Span, scope: &Scope) -> Result<Matches> {
        let Some(entry) = map.entry("eval").or_else(|| map.entry("ref")) else {
            return self.call(map, at, scope);
        };
        let expression = &entry.value;
        check_keywords(map, &entry.key)?;
        let scope = self.with_variables(map.get("vars"), scope)?;
        let mut matches = self.expression(expression, &scope)?;
        matches.at = at;
        if let Some(each) = map.get("foreach") {
            matches = self.foreach(matches, each, &scope)?;
        } else if let Some(each) = map.get("select") {
            matches = Matches { is_list: false, ..self.foreach(matches, each, &scope)? };
        }
        if let Some(strict) = map.get("strict").map(read_strict).transpose()?.flatten() {
            let text = expression.as_str().map_or_else(|| SmolStr::new_static("the expression"), SmolStr::new);
            matches.strict = Some((strict, text));
        }
        Ok(matches)
    }

    /// Evaluates an expression: text is a path, a map calls a function.
    pub(super) fn expression(&mut self, node: &Node, scope: &Scope) -> Result<Matches> {
        let at = node.span;
        self.spend(1, at)?;
        let values = match &node.value {
            Value::String(text) => self.matches(node, text, scope)?,
            Value::Map(map) => return self.deeper(at, |session| session.form(map, at, scope)),
            Value::List(list) => {
                let items = list.items().iter().map(|item| self.deeper(at, |session| session.mapped(item, scope)));
                items.collect::<Result<_>>()?
            }
            Value::Null => Vec::new(),
            Value::Bool(_) | Value::Number(_) | Value::Secret(_) => vec![Datum::plain(node.clone())],
        };
        Ok(Matches::new(values, at))
    }

    /// The first key of a map that is a function is called; a list it gives counts as that many matches.
    fn call(&mut self, map: &Arc<Map>, at: Span, scope: &Scope) -> Result<Matches> {
        let called = map.entries().iter().find_map(|entry| Some((Function::named(&entry.key.name)?, entry)));
        let Some((function, entry)) = called else { return Err(unknown_function(map, at)) };
        for keyword in ["foreach", "select", "vars", "var", "strict"] {
            if let Some(misplaced) = map.entry(keyword) {
                let message = format!("`{keyword}` is beside `{}` instead of beside `eval`", entry.key.name);
                let finding = fault(&finding::EXPRESSION_MISPLACED_KEYWORD, misplaced.key.span, message);
                let help = format!("write `{{eval: {{{}: …}}, {keyword}: …}}`", entry.key.name);
                return Err(finding.labelled("would be ignored").help(help).into());
            }
        }
        self.trace.open(TraceKind::Function, &entry.key.name, None);
        let result = self.function(function, &entry.value, map, scope)?;
        self.trace.close(Verdict::Gives(self.shown(&result)));
        if function == Function::Quote {
            return Ok(Matches::new(vec![result], at));
        }
        let values = match result.items() {
            Some(items) => {
                self.spend(items.len() as u64, at)?;
                (0..items.len()).map(|position| self.settled(items.at(position))).collect::<Result<_>>()?
            }
            None if result.is_null() => Vec::new(),
            None => vec![result],
        };
        Ok(Matches::new(values, at))
    }

    /// The one value of an expression: null without a match, a list if there are several.
    pub(super) fn single(&mut self, matches: Matches) -> Result<Datum> {
        let at = matches.at;
        let is_null = matches.values.iter().all(Datum::is_null);
        if let Some((strict, text)) = matches.strict {
            let text = quoted(&text);
            let missing = |rule, message| Err(fault(rule, at, message).labelled("marked strict").into());
            if matches.values.is_empty() {
                return missing(
                    &finding::EXPRESSION_REQUIRED,
                    format!("{text} finds nothing, and something is required"),
                );
            }
            if strict == Strict::NotNull && is_null && matches.values.len() == 1 {
                return missing(&finding::EXPRESSION_NOT_NULL, format!("{text} is null, and must not be"));
            }
        }
        let mut values = matches.values;
        if !matches.is_list && values.len() <= 1 {
            return Ok(values.pop().unwrap_or_else(|| Datum::null(at)));
        }
        self.list(values, at)
    }

    /// The single value of an expression.
    pub(super) fn expression_value(&mut self, node: &Node, scope: &Scope) -> Result<Datum> {
        let matches = self.expression(node, scope)?;
        self.single(matches)
    }

    /// A value in which text is text: only maps with `eval`, and `q`, `concat` and `token` alone in a map, are expressions.
    pub(super) fn mapped(&mut self, node: &Node, scope: &Scope) -> Result<Datum> {
        let at = node.span;
        self.spend(1, at)?;
        if !has_mapping(node) {
            return Ok(Datum::plain(node.clone()));
        }
        self.deeper(at, |session| match &node.value {
            Value::Map(map) if is_form(map) => {
                let matches = session.form(map, at, scope)?;
                session.single(matches)
            }
            Value::Map(map) => {
                let member =
                    |entry: &crate::value::Entry| Ok((entry.key.clone(), session.mapped(&entry.value, scope)?));
                let members: Vec<(Key, Datum)> = map.entries().iter().map(member).collect::<Result<_>>()?;
                session.map(members, at)
            }
            Value::List(list) => {
                let items = list.items().iter().map(|item| session.mapped(item, scope));
                let items = items.collect::<Result<_>>()?;
                session.list(items, at)
            }
            _ => Ok(Datum::plain(node.clone())),
        })
    }

    /// The scope with the variables of a form; `start` replaces the current resource.
    fn with_variables(&mut self, vars: Option<&Node>, scope: &Scope) -> Result<Scope> {
        let Some(vars) = vars else { return Ok(scope.clone()) };
        let Value::Map(map) = &vars.value else {
            let message = format!("`vars` is a {} instead of a map", vars.type_of());
            return bad_arguments(vars.span, message, "write `vars: {name: value}`");
        };
        let written = map.entries().iter();
        let scope = scope.with(written.map(|entry| (entry.key.name.clone(), Variable::Written(entry.value.clone()))));
        self.starting(scope, map.get("start").map(|start| start.span))
    }

    /// The scope, starting from the variable `start` if that is set.
    pub(super) fn starting(&mut self, scope: Scope, start: Option<Span>) -> Result<Scope> {
        let Some(at) = start else { return Ok(scope) };
        match self.variable("start", &scope, at)? {
            Some(datum) => Ok(scope.starting(datum, true)),
            None => Ok(scope),
        }
    }
}

/// Whether a map inside an expression is an expression itself.
pub(super) fn is_form(map: &Map) -> bool {
    if let [only] = map.entries() {
        return matches!(&*only.key.name, "eval" | "ref" | "q" | "concat" | "token");
    }
    is_expression(map)
        || map.get("ref").is_some()
            && map.entries().iter().all(|entry| entry.key.name == "ref" || KEYWORDS.contains(&&*entry.key.name))
}

/// Whether anything in a value is an expression. What is quoted is one, too: the quotes must go.
fn has_mapping(node: &Node) -> bool {
    node.any(|node| node.as_map().is_some_and(is_form))
}

/// A key that `eval` does not know would be ignored.
fn check_keywords(map: &Map, eval: &Key) -> Result<()> {
    let is_known = |name: &str| name == eval.name || KEYWORDS.contains(&name);
    let Some(unknown) = map.entries().iter().find(|entry| !is_known(&entry.key.name)) else { return Ok(()) };
    let name = &unknown.key.name;
    let message = format!("{} is not known beside `{}`", quoted(name), eval.name);
    let help = match suggest::nearest(name, KEYWORDS) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("arguments of a function stand beside its name: `{{eval: {{name: …, {name}: …}}}}`"),
    };
    bad_arguments(unknown.key.span, message, help)
}

/// Functions that other programs have, and that would make a value depend on more than the commit.
const OUTSIDE: [&str; 14] = [
    "get_env", "has_env", "to_env", "file", "tempfile", "lookup", "template", "python", "external", "local", "secret",
    "kubectl", "get_dir", "abspath",
];

fn unknown_function(map: &Map, at: Span) -> super::trouble::Fault {
    let names: Vec<&str> = map.entries().iter().map(|entry| entry.key.name.as_str()).take(3).collect();
    let (message, span) = match (&names[..], map.entries().first()) {
        ([name], Some(entry)) => (format!("{} is no function", quoted(name)), entry.key.span),
        ([], _) | (_, None) => ("an empty map calls no function".to_owned(), at),
        (_, Some(_)) => {
            let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
            (format!("none of {} is a function", names.join(", ")), at)
        }
    };
    let finding = fault(&finding::EXPRESSION_UNKNOWN_FUNCTION, span, message).labelled("not known");
    if names.iter().any(|name| OUTSIDE.contains(name)) {
        let help = "expressions see the tree alone: no environment, no files, no network, no code";
        return finding.help(help).into();
    }
    let near = names.iter().find_map(|name| suggest::nearest(name, Function::names()));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write `{q: …}` for a map that is meant as it is".to_owned(),
    };
    finding.help(help).into()
}

fn read_strict(node: &Node) -> Result<Option<Strict>> {
    match &node.value {
        Value::String(text) if text == "required" => Ok(Some(Strict::Required)),
        Value::String(text) if text == "notnull" => Ok(Some(Strict::NotNull)),
        // Whether errors in templates count; there are no templates here.
        Value::Bool(_) => Ok(None),
        _ => bad_arguments(node.span, "`strict` says something unknown", "write `required` or `notnull`"),
    }
}
