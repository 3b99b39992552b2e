//! Texts with CEL expressions `${…}` in them: compiled once, evaluated as often as needed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::document::write::{self, KeyOrder, Layout};
use crate::expression::cel::{Computed, Failure, FailureKind, Inputs, Program, Programs};
use crate::expression::part_span;
use crate::limits::Limits;
use crate::text::{Sources, Span};
use crate::value::{Entry, Key, KeyKind, Node, StepKind, Value};

/// What compiling texts needs.
#[derive(Clone, Copy)]
pub struct CelReader<'a> {
    /// The texts of the run, so that expressions are reported where they are written.
    pub sources: &'a Sources,
    /// The limits on expressions.
    pub limits: &'a Limits,
    /// Expressions that were compiled before.
    pub programs: Option<&'a Programs>,
    /// Whether a text that cannot be compiled fails only where it is used.
    pub is_deferred: bool,
}

/// Whose rules templates and patches follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Patch files of a repository: forgiving where nothing can be meant but one thing.
    #[default]
    Layered,
    /// Types and traits, exactly as OpenChoreo runs them.
    Platform,
}

/// A text with at least one expression in it.
#[derive(Debug)]
pub struct CelText {
    parts: Vec<CelTextPart>,
    text: SmolStr,
    at: Span,
}

#[derive(Debug)]
enum CelTextPart {
    Text(SmolStr),
    Expression(Box<Expression>),
    /// Something that cannot be compiled.
    Broken(Box<TemplateFailure>),
}

/// One `${…}`.
#[derive(Debug)]
pub struct Expression {
    program: Arc<Program>,
    text: SmolStr,
    /// Where it is written.
    at: Span,
}

/// A failed expression: why it failed, its text and where it is written.
#[derive(Debug, Clone)]
pub struct TemplateFailure {
    /// Why it failed.
    pub failure: Failure,
    /// The expression.
    pub text: SmolStr,
    /// Where it is written.
    pub at: Span,
}

/// What expressions are evaluated with: variables, limits, and the work counted for the resource.
pub struct CelScope<'a, 'w> {
    /// The variables.
    pub inputs: Inputs<'a>,
    /// The limits on expressions.
    pub limits: &'a Limits,
    /// What was spent so far.
    pub work: &'w mut u64,
    /// Whose rules apply.
    pub dialect: Dialect,
}

type Filled<T> = Result<T, TemplateFailure>;

impl CelText {
    /// Compiles the text that is written at `span`; none if no expression is in it.
    pub fn compile(span: Span, text: &str, reader: &CelReader<'_>) -> Filled<Option<Self>> {
        let broken = |message: &str| failed_as(FailureKind::Syntax, message, text, span);
        let found = match scan(text) {
            Ok(found) => found,
            Err(message) if reader.is_deferred => return Ok(Some(Self::broken(broken(message)))),
            Err(message) => return Err(broken(message)),
        };
        if found.is_empty() {
            return Ok(None);
        }
        let mut parts = Vec::new();
        let mut end = 0;
        for range in found {
            if range.start > end {
                parts.push(CelTextPart::Text(text[end..range.start].into()));
            }
            let at = part_span(span, text, range.clone(), reader.sources);
            parts.push(match Expression::compile(&text[range.clone()], at, reader) {
                Ok(expression) => CelTextPart::Expression(Box::new(expression)),
                Err(failure) if reader.is_deferred => CelTextPart::Broken(Box::new(failure)),
                Err(failure) => return Err(failure),
            });
            end = range.end;
        }
        if end < text.len() {
            parts.push(CelTextPart::Text(text[end..].into()));
        }
        Ok(Some(Self { parts, text: text.into(), at: span }))
    }

    fn broken(failure: TemplateFailure) -> Self {
        let (text, at) = (failure.text.clone(), failure.at);
        Self { parts: vec![CelTextPart::Broken(Box::new(failure))], text, at }
    }

    /// The only expression, if there is nothing but blanks beside it: its value keeps its type.
    pub fn standalone(&self) -> Option<&Expression> {
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

    /// Every expression in it that could be compiled.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.parts.iter().filter_map(|part| match part {
            CelTextPart::Expression(expression) => Some(&**expression),
            CelTextPart::Text(_) | CelTextPart::Broken(_) => None,
        })
    }

    /// The value of the only expression, or else a text.
    pub fn fill(&self, scope: &mut CelScope<'_, '_>) -> Filled<Computed> {
        if let Some(expression) = self.standalone() {
            return expression.evaluate(scope);
        }
        let mut text = String::new();
        let mut inputs = BTreeSet::new();
        for part in &self.parts {
            match part {
                CelTextPart::Text(plain) => text.push_str(plain),
                CelTextPart::Broken(failure) => return Err((**failure).clone()),
                CelTextPart::Expression(expression) => {
                    let computed = expression.evaluate(scope)?;
                    push_text(&mut text, &computed, scope.dialect);
                    inputs.extend(inputs_of(&computed, expression.at));
                    *scope.work += text.len() as u64 / 16;
                    if text.len() as u64 > scope.limits.file_bytes {
                        return Err(expression.failed("the text becomes too long"));
                    }
                }
            }
        }
        let made = Node::text(text, self.at);
        Ok(Computed::Value(inputs.into_iter().take(MOST_INPUTS).fold(made, |it, at| it.through(StepKind::Input, at))))
    }
}

/// More inputs of a text are not noted.
const MOST_INPUTS: usize = 12;

/// Where the inputs of a value are written that an expression gives, if they are known.
fn inputs_of(computed: &Computed, at: Span) -> BTreeSet<Span> {
    let Computed::Value(node) = computed else { return BTreeSet::new() };
    let steps = node.step().into_iter().flat_map(|step| step.chain());
    let inputs = steps.filter(|step| step.kind == StepKind::Input).map(|step| step.at);
    // A value that is given as it is keeps its own place.
    let own = Some(node.span).filter(|span| *span != at && !span.range().is_empty());
    inputs.chain(own).collect()
}

impl Expression {
    fn compile(braced: &str, at: Span, reader: &CelReader<'_>) -> Filled<Self> {
        let text = SmolStr::new(&braced[2..braced.len() - 1]);
        let program = match reader.programs {
            Some(known) => known.compile(&text, reader.limits),
            None => Program::compile(&text, reader.limits).map(Arc::new),
        };
        match program {
            Ok(program) => Ok(Self { program, text, at }),
            Err(failure) => Err(TemplateFailure { failure, text, at }),
        }
    }

    /// Its value.
    pub fn evaluate(&self, scope: &mut CelScope<'_, '_>) -> Filled<Computed> {
        let computed = self.program.evaluate(&scope.inputs, self.at, scope.limits, scope.work);
        computed.map_err(|failure| self.blamed(failure))
    }

    /// Refuses variables that will not exist.
    pub(super) fn check(&self, known: &[&str]) -> Filled<()> {
        self.program.check_variables(known).map_err(|failure| self.blamed(failure))
    }

    /// The failure to give what is needed.
    pub fn failed(&self, message: &str) -> TemplateFailure {
        failed(message, &self.text, self.at)
    }

    fn blamed(&self, failure: Failure) -> TemplateFailure {
        TemplateFailure { failure, text: self.text.clone(), at: self.at }
    }
}

/// The expressions in a text, without `${` and `}`.
pub fn find_expressions(text: &str) -> Result<Vec<&str>, &'static str> {
    let found = scan(text)?;
    Ok(found.into_iter().map(|range| &text[range.start + 2..range.end - 1]).collect())
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
fn push_text(text: &mut String, computed: &Computed, dialect: Dialect) {
    let Computed::Value(node) = computed else { return text.push_str("{}") };
    match &node.value {
        Value::String(inner) => text.push_str(inner),
        _ => {
            let json = write::json(node, Layout::Compact, KeyOrder::Sorted);
            match dialect {
                Dialect::Layered => text.push_str(&json),
                // The platform writes JSON that is safe in HTML.
                Dialect::Platform => {
                    let safe = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
                    text.push_str(&safe);
                }
            }
        }
    }
}

/// A value with expressions somewhere in it.
#[derive(Debug)]
pub enum ValueTemplate {
    /// A value without expressions, which is shared.
    Plain(Node),
    /// A text with expressions.
    Text(CelText),
    /// A list as it is written, and its items.
    List(Node, Vec<ValueTemplate>),
    /// A map as it is written, and its entries.
    Map(Node, Vec<(KeyTemplate, ValueTemplate)>),
}

/// A key that may have expressions in it.
#[derive(Debug)]
pub enum KeyTemplate {
    /// None.
    Plain(Key),
    /// Some.
    Computed(CelText),
}

impl ValueTemplate {
    /// Compiles every text of a value; failures are collected, and such texts are left as they are.
    pub fn compile(node: &Node, reader: &CelReader<'_>, failures: &mut Vec<TemplateFailure>) -> Self {
        let compiled = |span: Span, text: &str, failures: &mut Vec<TemplateFailure>| {
            let compiled = CelText::compile(span, text, reader);
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
                let items = list.items().iter().map(|item| Self::compile(item, reader, failures));
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
                    let value = Self::compile(&entry.value, reader, failures);
                    is_plain &= matches!((&key, &value), (KeyTemplate::Plain(_), Self::Plain(_)));
                    entries.push((key, value));
                }
                if is_plain { Self::Plain(node.clone()) } else { Self::Map(node.clone(), entries) }
            }
            _ => Self::Plain(node.clone()),
        }
    }

    /// The value with every expression evaluated; omitted values are left out.
    pub fn fill(&self, scope: &mut CelScope<'_, '_>) -> Filled<Computed> {
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
            Self::Map(shape, entries) => (shape, Node::map(filled_entries(entries, scope)?, shape.span)),
        };
        Ok(Computed::Value(Node { extra: shape.extra.clone(), ..filled }))
    }

    /// The failure to give what is needed.
    pub fn failed(&self, message: &str) -> TemplateFailure {
        match self {
            Self::Text(template) => match template.standalone() {
                Some(expression) => expression.failed(message),
                None => failed(message, "", template.at),
            },
            Self::Plain(node) | Self::List(node, _) | Self::Map(node, _) => {
                failed(message, node.as_str().unwrap_or_default(), node.span)
            }
        }
    }

    /// The only expression of a text that has nothing else in it.
    pub fn standalone(&self) -> Option<&Expression> {
        match self {
            Self::Text(template) => template.standalone(),
            _ => None,
        }
    }

    /// Visits every expression that could be compiled.
    pub fn for_each_expression(&self, visit: &mut dyn FnMut(&Expression)) {
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

/// The entries of a map with every expression evaluated; omitted values are left out.
fn filled_entries(
    entries: &[(KeyTemplate, ValueTemplate)],
    scope: &mut CelScope<'_, '_>,
) -> Result<Vec<Entry>, TemplateFailure> {
    let mut filled: Vec<Entry> = Vec::with_capacity(entries.len());
    // Where two keys become the same one, the last in the order of the written keys counts on the platform.
    let mut written: BTreeMap<(SmolStr, KeyKind), (usize, &str)> = BTreeMap::new();
    for (template, value) in entries {
        let key = template.fill(scope)?;
        let name = (key.name.clone(), key.kind);
        let known = written.get(&name).copied();
        if known.is_some() && scope.dialect == Dialect::Layered {
            return Err(failed("two keys of one map are the same", &key.name, key.span));
        }
        let Computed::Value(value) = value.fill(scope)? else { continue };
        match known {
            Some((_, before)) if before > template.written() => {}
            Some((at, _)) => {
                filled[at] = Entry { key, value };
                written.insert(name, (at, template.written()));
            }
            None => {
                written.insert(name, (filled.len(), template.written()));
                filled.push(Entry { key, value });
            }
        }
    }
    Ok(filled)
}

impl KeyTemplate {
    /// The key as it is written.
    fn written(&self) -> &str {
        match self {
            Self::Plain(key) => &key.name,
            Self::Computed(template) => &template.text,
        }
    }

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
    failed_as(FailureKind::Evaluation, message, text, at)
}

fn failed_as(kind: FailureKind, message: &str, text: &str, at: Span) -> TemplateFailure {
    TemplateFailure { failure: Failure { kind, message: message.to_owned() }, text: text.into(), at }
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
