//! Texts with CEL expressions `${…}` in them: compiled once, evaluated as often as needed.

use std::collections::BTreeSet;
use std::ops::Range;

use smol_str::SmolStr;

use crate::document::write::{self, KeyOrder, Layout};
use crate::expression::cel::{Computed, Failure, FailureKind, Inputs, Program};
use crate::expression::part_span;
use crate::limits::Limits;
use crate::text::{Sources, Span};
use crate::value::{Entry, Key, KeyKind, Node, Value};

/// A text with at least one expression in it.
#[derive(Debug)]
pub(super) struct CelText {
    parts: Vec<CelTextPart>,
    at: Span,
}

#[derive(Debug)]
enum CelTextPart {
    Text(SmolStr),
    Expression(Box<Expression>),
}

/// One `${…}`.
#[derive(Debug)]
pub(super) struct Expression {
    program: Program,
    text: SmolStr,
    /// Where it is written.
    at: Span,
}

/// A failed expression: why it failed, its text and where it is written.
#[derive(Debug, Clone)]
pub(super) struct TemplateFailure {
    pub(super) failure: Failure,
    pub(super) text: SmolStr,
    pub(super) at: Span,
}

/// What expressions are evaluated with: variables, limits, and the work counted for the resource.
pub(super) struct CelScope<'a, 'w> {
    pub(super) inputs: Inputs<'a>,
    pub(super) limits: &'a Limits,
    pub(super) work: &'w mut u64,
}

type Filled<T> = Result<T, TemplateFailure>;

impl CelText {
    /// Compiles the text that is written at `span`; none if no expression is in it.
    pub(super) fn compile(span: Span, text: &str, sources: &Sources, limits: &Limits) -> Filled<Option<Self>> {
        let broken = |message: String| TemplateFailure {
            failure: Failure { kind: FailureKind::Syntax, message },
            text: text.into(),
            at: span,
        };
        let found = scan(text).map_err(|message| broken(message.to_owned()))?;
        if found.is_empty() {
            return Ok(None);
        }
        let mut parts = Vec::new();
        let mut end = 0;
        for range in found {
            if range.start > end {
                parts.push(CelTextPart::Text(text[end..range.start].into()));
            }
            let at = part_span(span, text, range.clone(), sources);
            parts.push(CelTextPart::Expression(Box::new(Expression::compile(&text[range.clone()], at, limits)?)));
            end = range.end;
        }
        if end < text.len() {
            parts.push(CelTextPart::Text(text[end..].into()));
        }
        Ok(Some(Self { parts, at: span }))
    }

    /// The only expression, if there is nothing but blanks beside it: its value keeps its type.
    pub(super) fn standalone(&self) -> Option<&Expression> {
        let mut alone = None;
        for part in &self.parts {
            match part {
                CelTextPart::Text(text) if text.trim().is_empty() => {}
                CelTextPart::Expression(expression) if alone.is_none() => alone = Some(&**expression),
                _ => return None,
            }
        }
        alone
    }

    /// Like `standalone`, but consumes the text.
    pub(super) fn into_standalone(self) -> Option<Expression> {
        self.standalone()?;
        self.parts.into_iter().find_map(|part| match part {
            CelTextPart::Expression(expression) => Some(*expression),
            CelTextPart::Text(_) => None,
        })
    }

    pub(super) fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            CelTextPart::Expression(expression) => Some(&**expression),
            CelTextPart::Text(_) => None,
        })
    }

    /// The value of the only expression, or else a text.
    pub(super) fn fill(&self, scope: &mut CelScope<'_, '_>) -> Filled<Computed> {
        if let Some(expression) = self.standalone() {
            return expression.evaluate(scope);
        }
        let mut text = String::new();
        for part in &self.parts {
            match part {
                CelTextPart::Text(plain) => text.push_str(plain),
                CelTextPart::Expression(expression) => {
                    let computed = expression.evaluate(scope)?;
                    push_text(&mut text, &computed);
                    *scope.work += text.len() as u64 / 16;
                    if text.len() as u64 > scope.limits.file_bytes {
                        return Err(expression.failed("the text becomes too long"));
                    }
                }
            }
        }
        Ok(Computed::Value(Node::text(text, self.at)))
    }
}

impl Expression {
    fn compile(braced: &str, at: Span, limits: &Limits) -> Filled<Self> {
        let text = SmolStr::new(&braced[2..braced.len() - 1]);
        match Program::compile(&text, limits) {
            Ok(program) => Ok(Self { program, text, at }),
            Err(failure) => Err(TemplateFailure { failure, text, at }),
        }
    }

    pub(super) fn evaluate(&self, scope: &mut CelScope<'_, '_>) -> Filled<Computed> {
        let computed = self.program.evaluate(&scope.inputs, self.at, scope.limits, scope.work);
        computed.map_err(|failure| self.blamed(failure))
    }

    /// Refuses variables that will not exist.
    pub(super) fn check(&self, known: &[&str]) -> Filled<()> {
        self.program.check_variables(known).map_err(|failure| self.blamed(failure))
    }

    pub(super) fn failed(&self, message: &str) -> TemplateFailure {
        failed(message, &self.text, self.at)
    }

    fn blamed(&self, failure: Failure) -> TemplateFailure {
        TemplateFailure { failure, text: self.text.clone(), at: self.at }
    }
}

/// The ranges of all `${…}`, braces included. One that is not closed is text.
fn scan(text: &str) -> Result<Vec<Range<usize>>, &'static str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("${").map(|start| at + start) {
        let (mut depth, mut quote, mut end) = (0_usize, None, None);
        let mut here = start + 1;
        while here < bytes.len() && end.is_none() {
            match (quote, bytes[here]) {
                (Some(_), b'\\') => here += 1,
                (Some(open), byte) if byte == open => quote = None,
                (Some(_), _) => {}
                (None, byte @ (b'\'' | b'"')) => quote = Some(byte),
                (None, b'$') if bytes.get(here + 1) == Some(&b'{') => {
                    return Err("`${` is inside another `${`, which is not closed before it");
                }
                (None, b'{') => depth += 1,
                (None, b'}') => {
                    depth -= 1;
                    end = (depth == 0).then_some(here + 1);
                }
                _ => {}
            }
            here += 1;
        }
        let Some(end) = end else { break };
        found.push(start..end);
        at = end;
    }
    Ok(found)
}

/// A value in the middle of a text.
fn push_text(text: &mut String, computed: &Computed) {
    match computed {
        Computed::Omitted => text.push_str("{}"),
        Computed::Value(node) => match &node.value {
            Value::String(inner) => text.push_str(inner),
            _ => text.push_str(&write::json(node, Layout::Compact, KeyOrder::Sorted)),
        },
    }
}

/// A value with expressions somewhere in it.
#[derive(Debug)]
pub(super) enum ValueTemplate {
    /// A value without expressions, which is shared.
    Plain(Node),
    Text(CelText),
    List(Node, Vec<ValueTemplate>),
    Map(Node, Vec<(KeyTemplate, ValueTemplate)>),
}

#[derive(Debug)]
pub(super) enum KeyTemplate {
    Plain(Key),
    Computed(CelText),
}

impl ValueTemplate {
    /// Compiles every text of a value; failures are collected, and such texts are left as they are.
    pub(super) fn compile(
        node: &Node,
        sources: &Sources,
        limits: &Limits,
        failures: &mut Vec<TemplateFailure>,
    ) -> Self {
        let compiled = |span: Span, text: &str, failures: &mut Vec<TemplateFailure>| {
            let compiled = CelText::compile(span, text, sources, limits);
            compiled.unwrap_or_else(|failure| {
                failures.push(failure);
                None
            })
        };
        match &node.value {
            Value::String(text) => {
                compiled(node.span, text, failures).map_or_else(|| Self::Plain(node.clone()), Self::Text)
            }
            Value::List(list) => {
                let items = list.items().iter().map(|item| Self::compile(item, sources, limits, failures));
                let items: Vec<Self> = items.collect();
                let is_plain = items.iter().all(|item| matches!(item, Self::Plain(_)));
                if is_plain { Self::Plain(node.clone()) } else { Self::List(node.clone(), items) }
            }
            Value::Map(map) => {
                let mut is_plain = true;
                let mut entries = Vec::with_capacity(map.len());
                for entry in map.entries() {
                    let key = compiled(entry.key.span, &entry.key.name, failures);
                    let key = key.map_or_else(|| KeyTemplate::Plain(entry.key.clone()), KeyTemplate::Computed);
                    let value = Self::compile(&entry.value, sources, limits, failures);
                    is_plain &= matches!((&key, &value), (KeyTemplate::Plain(_), Self::Plain(_)));
                    entries.push((key, value));
                }
                if is_plain { Self::Plain(node.clone()) } else { Self::Map(node.clone(), entries) }
            }
            _ => Self::Plain(node.clone()),
        }
    }

    /// The value with every expression evaluated; omitted values are left out.
    pub(super) fn fill(&self, scope: &mut CelScope<'_, '_>) -> Filled<Computed> {
        let (shape, filled) = match self {
            Self::Plain(node) => return Ok(Computed::Value(node.clone())),
            Self::Text(template) => return template.fill(scope),
            Self::List(shape, items) => {
                let mut filled = Vec::with_capacity(items.len());
                for item in items {
                    if let Computed::Value(item) = item.fill(scope)? {
                        filled.push(item);
                    }
                }
                (shape, Node::list(filled, shape.span))
            }
            Self::Map(shape, entries) => {
                let mut filled: Vec<Entry> = Vec::with_capacity(entries.len());
                let mut names = BTreeSet::new();
                for (key, value) in entries {
                    let key = key.fill(scope)?;
                    if !names.insert((key.name.clone(), key.kind)) {
                        return Err(failed("two keys of one map are the same", &key.name, key.span));
                    }
                    if let Computed::Value(value) = value.fill(scope)? {
                        filled.push(Entry { key, value });
                    }
                }
                (shape, Node::map(filled, shape.span))
            }
        };
        Ok(Computed::Value(Node { extra: shape.extra.clone(), ..filled }))
    }

    pub(super) fn for_each_expression(&self, visit: &mut dyn FnMut(&Expression)) {
        match self {
            Self::Plain(_) => {}
            Self::Text(template) => template.expressions().for_each(visit),
            Self::List(_, items) => items.iter().for_each(|item| item.for_each_expression(visit)),
            Self::Map(_, entries) => {
                for (key, value) in entries {
                    if let KeyTemplate::Computed(template) = key {
                        template.expressions().for_each(&mut *visit);
                    }
                    value.for_each_expression(visit);
                }
            }
        }
    }
}

impl KeyTemplate {
    fn fill(&self, scope: &mut CelScope<'_, '_>) -> Filled<Key> {
        let template = match self {
            Self::Plain(key) => return Ok(key.clone()),
            Self::Computed(template) => template,
        };
        match template.fill(scope)? {
            Computed::Value(Node { value: Value::String(name), .. }) => {
                Ok(Key { name, kind: KeyKind::Text, span: template.at })
            }
            _ => {
                let text = template.expressions().next().map(|expression| expression.text.clone());
                Err(failed("a key must be a text", &text.unwrap_or_default(), template.at))
            }
        }
    }
}

fn failed(message: &str, text: &str, at: Span) -> TemplateFailure {
    let failure = Failure { kind: FailureKind::Evaluation, message: message.to_owned() };
    TemplateFailure { failure, text: text.into(), at }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        scan(text).unwrap().into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn expressions_are_found_by_their_braces() {
        assert_eq!(found("a ${b} c ${d}"), ["${b}", "${d}"]);
        assert_eq!(found("${ {'a': {'b': 1}} }"), ["${ {'a': {'b': 1}} }"]);
        assert_eq!(found(r#"${'}' + "\"}" + '${x'}!"#), [r#"${'}' + "\"}" + '${x'}"#]);
        assert_eq!(found("$${x}"), ["${x}"]);
        assert_eq!(found("plain $x {y} ${open"), [""; 0]);
        assert_eq!(found("${a} ${open"), ["${a}"]);
        assert!(scan("${a ${b}}").is_err());
        assert!(scan("${a").unwrap().is_empty());
    }
}
