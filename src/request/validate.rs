//! Checks a body before it would be sent: required attributes, assertions, and its schema.

use smol_str::SmolStr;

use super::RequestTarget;
use super::attribute::AttributePaths;
use super::scope::{Scoped, with_derived};
use crate::expression::jq;
use crate::finding::{self, Finding, Location, Outcome};
use crate::metadata::openapi::{Body, check_body};
use crate::metadata::{Field, FieldPath, Operation, Section, required_attributes};
use crate::path::Pointer;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// Reports everything that is wrong with a body; only operations that create or update have one.
pub fn validate(body: &Node, target: &RequestTarget<'_>, operation: Operation, scoped: &Scoped<'_>) -> Vec<Finding> {
    if !matches!(operation, Operation::Create | Operation::Update) {
        return Vec::new();
    }
    let view = view(body, target, scoped);
    let mut findings = required(&view, body, target, operation);
    findings.extend(assertions(&view, target, operation));
    findings
}

/// What the payload lacks of the attributes that metadata requires before any transform, all at once.
pub(super) fn lacking(target: &RequestTarget<'_>, operation: Operation) -> Option<Finding> {
    let required = required_attributes(target.metadata, operation);
    let missing = required.iter().filter(|pointer| target.payload.at(pointer).is_none_or(is_null));
    let missing: Vec<String> = missing.map(Pointer::to_string).collect();
    if missing.is_empty() {
        return None;
    }
    let shown = sanitize::inline(&missing.join(", ")).into_owned();
    let message =
        format!("the payload of {} for {} is missing required attributes [{shown}]", operation.name(), target.path);
    let finding = Finding::new(&finding::REQUEST_REQUIRED, Location::Span(target.payload.span.start_only()), message);
    let fields = [Field::ResourceRequired, Field::AliasFromAttribute, Field::IdFromAttribute];
    let at = fields.iter().find_map(|field| target.metadata.provenance(&FieldPath::new(Section::Resource, *field)));
    Some(match at {
        Some(provenance) => finding.related(provenance.winner.at, "required here"),
        None => finding,
    })
}

/// The check of a body against the schema that `validate.schemaRef` names.
pub(super) struct SchemaCheck<'m> {
    /// `openapi:request-body` or `openapi:#/…`, without surrounding blanks.
    reference: &'m str,
    at: Span,
}

impl<'m> SchemaCheck<'m> {
    /// The check that the metadata of an operation asks for.
    pub(super) fn find(target: &RequestTarget<'m>, operation: Operation) -> Option<Self> {
        let node = target.metadata.get(&FieldPath::new(Section::Operation(operation), Field::SchemaRef))?;
        Some(Self { reference: node.as_str()?.trim(), at: node.span })
    }

    /// Reports everything about a body that its schema does not allow.
    pub(super) fn run(
        &self,
        body: &Node,
        method: &str,
        path: &str,
        target: &RequestTarget<'_>,
        scoped: &Scoped<'_>,
    ) -> Vec<Finding> {
        let Outcome { value: document, mut findings } = target.lookup.openapi();
        let Some(document) = document else {
            findings.push(self.without_document(target));
            return findings;
        };
        let known = scoped.derived().iter().map(|attribute| {
            let place = attribute.template.unwrap_or(body.span.start_only());
            Entry::named(attribute.name.clone(), place, Node::text(attribute.value.clone(), place))
        });
        let known: Vec<Entry> = known.collect();
        let body = Body { reference: self.reference, at: self.at, method, path, value: body, known: &known };
        findings.extend(check_body(&body, &document));
        findings
    }

    fn without_document(&self, target: &RequestTarget<'_>) -> Finding {
        let message = format!(
            "`{}` cannot be checked for {}: there is no OpenAPI document",
            sanitize::inline(self.reference),
            target.path
        );
        Finding::new(&finding::REQUEST_SCHEMA, Location::Span(self.at), message)
            .help("name the document with `openapi` in outcrop.yaml")
    }
}

/// What the rules check: the body with the attributes derived from the path and the names of the resource, where it lacks them.
fn view(body: &Node, target: &RequestTarget<'_>, scoped: &Scoped<'_>) -> Node {
    let base = match (&body.value, scoped.derived().is_empty()) {
        (Value::Map(_), _) | (_, true) => body.clone(),
        _ => Node::map(vec![Entry::named("payload", body.span, body.clone())], body.span),
    };
    let view = with_derived(&base, scoped.derived());
    let identity = scoped.identity();
    let names = [(Field::AliasFromAttribute, &identity.alias), (Field::IdFromAttribute, &identity.remote_id)];
    names.into_iter().fold(view, |view, (field, value)| {
        match target.metadata.text(Section::Resource, field).and_then(keys) {
            Some(keys) => with_value(&view, &keys, value),
            None => view,
        }
    })
}

fn keys(attribute: &str) -> Option<Vec<SmolStr>> {
    let attribute = attribute.trim();
    if attribute.contains("{{") {
        return None;
    }
    let keys: Vec<SmolStr> = if attribute.starts_with('/') {
        Pointer::parse(attribute).ok()?.tokens().to_vec()
    } else {
        attribute.split('.').map(SmolStr::new).collect()
    };
    (keys.len() <= 32 && keys.iter().all(|key| !key.is_empty())).then_some(keys)
}

/// The value with a text at those keys, unless a value is there or at one of the keys above.
fn with_value(value: &Node, keys: &[SmolStr], text: &SmolStr) -> Node {
    let (Value::Map(map), Some((key, rest))) = (&value.value, keys.split_first()) else { return value.clone() };
    let place = value.span.start_only();
    let fresh = |rest: &[SmolStr]| {
        rest.iter().rev().fold(Node::text(text.clone(), place), |inner, key| {
            Node::map(vec![Entry::named(key.clone(), place, inner)], place)
        })
    };
    let mut entries = map.entries().to_vec();
    match map.position(key) {
        Some(at) => entries[at].value = with_value(&entries[at].value, rest, text),
        None => entries.push(Entry::named(key.clone(), place, fresh(rest))),
    }
    Node { extra: value.extra.clone(), ..Node::map(entries, value.span) }
}

fn required(view: &Node, body: &Node, target: &RequestTarget<'_>, operation: Operation) -> Vec<Finding> {
    let field_path = FieldPath::new(Section::Operation(operation), Field::RequiredAttributes);
    let Some(names) = target.metadata.get(&field_path) else { return Vec::new() };
    let items = names.as_list().unwrap_or_default();
    let finding = |reason: String| {
        let message = format!("the body of {} for {} {reason}", operation.name(), target.path);
        Finding::new(&finding::REQUEST_REQUIRED, Location::Span(body.span.start_only()), message)
            .labelled("missing here")
            .related(names.span, "required here")
    };
    if items.is_empty() {
        return Vec::new();
    }
    if view.as_map().is_none() {
        return vec![finding(format!("is a {}, and only a map has attributes", body.type_of()))];
    }
    let is_missing = |name: &&str| match name.trim() {
        pointer if pointer.starts_with('/') => AttributePaths::parse([pointer])
            .is_ok_and(|_| Pointer::parse(pointer).ok().and_then(|pointer| view.at(&pointer)).is_none_or(is_null)),
        name => view.get(name).is_none_or(is_null),
    };
    let missing: Vec<&str> = items.iter().filter_map(Node::as_str).filter(is_missing).map(str::trim).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let shown = sanitize::inline(&missing.join(", ")).into_owned();
    vec![finding(format!("is missing required attributes [{shown}]"))]
}

fn is_null(node: &Node) -> bool {
    matches!(node.value, Value::Null)
}

fn assertions(view: &Node, target: &RequestTarget<'_>, operation: Operation) -> Vec<Finding> {
    let field_path = FieldPath::new(Section::Operation(operation), Field::Assertions);
    let items = target.metadata.get(&field_path).and_then(Node::as_list).unwrap_or_default();
    if items.is_empty() {
        return Vec::new();
    }
    let check = |(at, item)| assertion(at, item, view, target, operation);
    jq::on_one_stack(|| items.iter().enumerate().filter_map(check).collect())
}

/// One condition: it holds if one of its results is neither null nor false.
fn assertion(at: usize, item: &Node, view: &Node, target: &RequestTarget<'_>, operation: Operation) -> Option<Finding> {
    let jq = item.get("jq")?;
    let result = target.memo.run(jq.as_str()?, view, jq.span, None);
    let results = match result {
        Ok(results) => results,
        Err(refusal) => {
            let what = format!("assertion[{at}] of {} for {}", operation.name(), target.path);
            return Some(refusal.about(&what).into_finding(jq.span));
        }
    };
    if results.iter().any(|result| !matches!(result.value, Value::Null | Value::Bool(false))) {
        return None;
    }
    let template = item.get("message").and_then(Node::as_str).map(str::trim).filter(|message| !message.is_empty());
    let template = template.map_or_else(
        || format!("payload validation assertion[{at}] failed"),
        |message| sanitize::inline(message).into_owned(),
    );
    let message = format!("{} of {} is refused by its metadata: {template}", operation.name(), target.path);
    let read = jq.as_str().and_then(|jq| first_read(jq, view)).filter(|node| node.span.source == view.span.source);
    let place = read.map_or(view.span.start_only(), |node| node.span);
    let finding = Finding::new(&finding::REQUEST_ASSERTION, Location::Span(place), message);
    Some(finding.labelled("refused").related(jq.span, "does not hold"))
}

/// The first value that a condition reads, if it names one plainly: that of `.spec.size` in `.spec.size > 0`.
fn first_read<'n>(jq: &str, view: &'n Node) -> Option<&'n Node> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut before = ' ';
    for (at, c) in jq.char_indices() {
        let starts = c == '.' && !is_name(before) && !matches!(before, ')' | ']' | '.' | '"');
        before = c;
        if !starts {
            continue;
        }
        let end = jq[at + 1..].find(|c| !is_name(c) && c != '.').map_or(jq.len(), |end| at + 1 + end);
        let names = jq[at + 1..end].split('.').filter(|name| !name.is_empty());
        let mut found = None;
        for name in names {
            let Some(node) = found.unwrap_or(view).get(name) else { break };
            found = Some(node);
        }
        if found.is_some() {
            return found;
        }
    }
    None
}
