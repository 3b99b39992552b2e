//! Checks the body of a request against the schema that metadata names: that of the request, or one at a pointer.

use super::api::{Api, PathItem, Seen};
use super::check::{Endless, Violation, check};
use super::schema;
use crate::finding::{self, Finding, Location};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node};

/// A body that would be sent.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a> {
    /// Which schema it has to fit: `openapi:request-body` or `openapi:#/…`.
    pub reference: &'a str,
    /// Where that is written.
    pub at: Span,
    /// The method of the request.
    pub method: &'a str,
    /// The path of the request.
    pub path: &'a str,
    /// The body.
    pub value: &'a Node,
    /// Attributes that are known without the body; they count where the body lacks them and the schema knows their names.
    pub known: &'a [Entry],
}

/// Violations that are told one by one.
const MOST_TOLD: usize = 20;

/// What is wrong with a body, or with what it is to be checked against.
pub fn check_body(body: &Body<'_>, openapi: &Node) -> Vec<Finding> {
    let api = Api::new(openapi);
    let found = match schema_for(body, &api) {
        Ok(schema) => misfits(&completed(body, schema, &api), schema, &api, body),
        Err(reason) => vec![refused(body, &reason)],
    };
    let mut findings = api.into_findings();
    findings.extend(found);
    findings
}

fn misfits<'a>(value: &'a Node, schema: &'a Node, api: &Api<'a>, body: &Body<'_>) -> Vec<Finding> {
    match check(value, schema, api) {
        Ok(violations) => {
            let mut findings: Vec<Finding> =
                violations.iter().take(MOST_TOLD).map(|violation| told(violation, body)).collect();
            if let Some(more) = violations.len().checked_sub(MOST_TOLD).filter(|more| *more > 0) {
                findings.extend([refused(body, &format!("the body violates it in {more} more places"))]);
            }
            findings
        }
        Err(Endless(at)) => {
            let message =
                format!("the body of {} {} cannot be checked to the end", body.method, sanitize::inline(body.path));
            let finding = Finding::new(&finding::LIMIT_SCHEMA, Location::Span(at), message);
            vec![finding.labelled("this schema has no end in sight").related(body.at, "wanted here")]
        }
    }
}

fn told(violation: &Violation, body: &Body<'_>) -> Finding {
    let (method, path) = (body.method, sanitize::inline(body.path));
    let message =
        format!("the body of {method} {path} does not fit its schema at {}: {}", violation.place, violation.reason);
    Finding::new(&finding::REQUEST_SCHEMA, Location::Span(violation.value), message)
        .related(violation.schema, "the schema says so here")
        .related(body.at, "wanted here")
}

fn refused(body: &Body<'_>, reason: &str) -> Finding {
    let message = format!("`{}`: {reason}", sanitize::inline(body.reference));
    Finding::new(&finding::REQUEST_SCHEMA, Location::Span(body.at), message)
}

fn schema_for<'a>(body: &Body<'_>, api: &Api<'a>) -> Result<&'a Node, String> {
    let path = sanitize::inline(body.path);
    if let Some(fragment) = body.reference.strip_prefix("openapi:#") {
        return api.at_fragment(fragment).ok_or_else(|| "the OpenAPI document has nothing there".to_owned());
    }
    let item = item_for(body.path, api).ok_or_else(|| format!("the OpenAPI document does not know the path {path}"))?;
    let method = body.method.to_ascii_lowercase();
    if item.operation(&method).is_none() {
        return Err(format!("the OpenAPI document does not know {} for {path}", sanitize::inline(body.method)));
    }
    schema::of_request(api, &item, &method).ok_or_else(|| {
        format!("the OpenAPI document has no schema for the body of {} {path}", sanitize::inline(body.method))
    })
}

/// The path of the document that a path of a request stands for: the one with the fewest variables, then the first in byte order.
fn item_for<'a>(path: &str, api: &Api<'a>) -> Option<PathItem<'a>> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let fitting = api.paths().filter(|item| item.template.stands_for(&segments));
    fitting.min_by(|a, b| (a.template.variables(), a.text).cmp(&(b.template.variables(), b.text)))
}

/// The body with what is known without it, where the schema knows the name.
fn completed(body: &Body<'_>, schema: &Node, api: &Api<'_>) -> Node {
    let Some(map) = body.value.as_map() else { return body.value.clone() };
    let top = api.reach(schema, &["allOf"], &mut Seen::new());
    let knows = |name: &str| {
        top.iter().any(|schema| {
            let required = schema.get("required").and_then(Node::as_list).unwrap_or_default();
            let is_property = schema.get("properties").is_some_and(|properties| properties.get(name).is_some());
            is_property || required.iter().any(|required| required.as_str() == Some(name))
        })
    };
    let is_added = |entry: &&Entry| map.get(&entry.key.name).is_none() && knows(&entry.key.name);
    let added: Vec<Entry> = body.known.iter().filter(is_added).cloned().collect();
    match added.is_empty() {
        true => body.value.clone(),
        false => {
            Node { extra: body.value.extra.clone(), ..Node::map([map.entries(), &added].concat(), body.value.span) }
        }
    }
}
