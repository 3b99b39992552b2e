//! Checks the body of a request against the schema that metadata names: that of the request, or one at a pointer.

use super::api::{Api, Seen};
use super::document::ApiDocument;
use super::schema;
use crate::finding::{self, Finding, Location};
use crate::sanitize;
use crate::schema::{SchemaError, Violation, Violations, violations};
use crate::text::Span;
use crate::value::{Entry, Node};

/// A body that would be sent.
#[derive(Debug, Clone, Copy)]
pub struct Body<'a> {
    /// The schema that it must match: `openapi:request-body` or `openapi:#/…`.
    pub reference: &'a str,
    /// The span of that reference.
    pub at: Span,
    /// The method of the request.
    pub method: &'a str,
    /// The path of the request.
    pub path: &'a str,
    /// The body.
    pub value: &'a Node,
    /// Attributes that follow from the logical path; they are added where the body lacks them and the schema names them.
    pub known: &'a [Entry],
}

/// Violations that are reported one by one.
const MOST_REPORTED: usize = 20;
/// Steps after which the check of one body is given up.
const MOST_STEPS: u64 = 1_000_000;

/// Reports everything that is wrong with a body, or with the schema that it is checked against.
pub fn check_body(body: &Body<'_>, document: &ApiDocument) -> Vec<Finding> {
    let api = Api::new(document.root());
    let found = match schema_for(body, document, &api) {
        Ok(schema) => {
            let value = completed(body, schema, &api);
            reported(&violations(&value, schema, document.root(), document.patterns(), MOST_STEPS), body)
        }
        Err(reason) => vec![refused(body, &reason)],
    };
    let mut findings = api.into_findings();
    findings.extend(found);
    findings
}

fn reported(violations: &Violations, body: &Body<'_>) -> Vec<Finding> {
    let found = &violations.found;
    let mut findings: Vec<Finding> =
        found.iter().take(MOST_REPORTED).map(|violation| violated(violation, body)).collect();
    if let Some(more) = (found.len() + violations.more).checked_sub(MOST_REPORTED).filter(|more| *more > 0) {
        findings.push(refused(body, &format!("the body violates it in {more} more places")));
    }
    findings.extend(violations.stopped.as_ref().map(|error| stopped(error, body)));
    findings
}

fn violated(violation: &Violation, body: &Body<'_>) -> Finding {
    let (method, path) = (body.method, sanitize::inline(body.path));
    let message =
        format!("the body of {method} {path} does not match its schema at {}: {}", violation.place, violation.reason);
    Finding::new(&finding::REQUEST_SCHEMA, Location::Span(violation.value), message)
        .labelled("does not match")
        .related(violation.schema, "required by this schema")
        .related(body.at, "schema selected here")
}

fn stopped(error: &SchemaError, body: &Body<'_>) -> Finding {
    let rule = if error.is_limit { &finding::LIMIT_SCHEMA } else { &finding::REQUEST_SCHEMA };
    let (method, path) = (body.method, sanitize::inline(body.path));
    let message = format!("the body of {method} {path} could not be checked completely: {}", error.message);
    Finding::new(rule, Location::Span(error.at), message).related(body.at, "schema selected here")
}

fn refused(body: &Body<'_>, reason: &str) -> Finding {
    let message = format!("`{}`: {reason}", sanitize::inline(body.reference));
    Finding::new(&finding::REQUEST_SCHEMA, Location::Span(body.at), message)
}

fn schema_for<'a>(body: &Body<'_>, document: &'a ApiDocument, api: &Api<'a>) -> Result<&'a Node, String> {
    let path = sanitize::inline(body.path);
    if let Some(fragment) = body.reference.strip_prefix("openapi:#") {
        return api.at_fragment(fragment).ok_or_else(|| "the OpenAPI document has no such schema".to_owned());
    }
    let method = body.method.to_ascii_lowercase();
    let item = document.item_for(&method, body.path, api);
    let item = item.ok_or_else(|| format!("the OpenAPI document has no path {path}"))?;
    if item.operation(&method).is_none() {
        return Err(format!("the OpenAPI document has no {} for {path}", sanitize::inline(body.method)));
    }
    schema::of_request(api, &item, &method).ok_or_else(|| {
        format!("the OpenAPI document has no schema for the body of {} {path}", sanitize::inline(body.method))
    })
}

/// The body with the attributes that follow from the logical path, where the schema names them.
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
    if added.is_empty() {
        return body.value.clone();
    }
    Node { extra: body.value.extra.clone(), ..Node::map([map.entries(), &added].concat(), body.value.span) }
}
