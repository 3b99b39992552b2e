//! `secret/plaintext`: a secret written out where a placeholder was, or in an attribute that metadata declares as secret.

use std::collections::BTreeSet;

use crate::finding::{self, Finding, Location};
use crate::metadata::{Field, FieldPath, Section, is_placeholder};
use crate::path::Pointer;
use crate::resource::Resource;
use crate::side::Side;
use crate::value::{Node, Value};

/// One finding for every value of a resource that should be a placeholder. The older version, if there is one, says where
/// placeholders were. Files that a tool encrypts as a whole are left alone.
pub fn plaintext_secrets(side: &Side<'_>, older: Option<&Resource>, resource: &Resource) -> Vec<Finding> {
    if resource.payload.get("sops").is_some() {
        return Vec::new();
    }
    let mut places: BTreeSet<Pointer> = BTreeSet::new();
    let mut findings = Vec::new();
    for (place, was) in older.map(|older| placeholders(&older.payload)).unwrap_or_default() {
        let Some(now) = resource.payload.at(&place).filter(|now| is_plaintext(now)) else { continue };
        let finding = finding(resource, &place, now, "which was a placeholder before");
        findings.push(finding.related(was.span, "the placeholder"));
        places.insert(place);
    }
    let Some(metadata) = side.metadata_of(resource).filter(|_| resource.is_managed()) else { return findings };
    let declared = metadata.get(&FieldPath::new(Section::Resource, Field::SecretInAttributes));
    for place in metadata.secret_attributes().places(&resource.payload) {
        let Some(now) = resource.payload.at(&place).filter(|now| is_plaintext(now)) else { continue };
        if places.insert(place.clone()) {
            let finding = finding(resource, &place, now, "which metadata declares as secret");
            findings.push(match declared {
                Some(declared) => finding.related(declared.span, "declared as secret here"),
                None => finding,
            });
        }
    }
    findings
}

fn finding(resource: &Resource, place: &Pointer, now: &Node, why: &str) -> Finding {
    let message = format!("{} has `{place}` in plain text, {why}", resource.identity);
    let mut finding = Finding::new(&finding::SECRET_PLAINTEXT, Location::Span(now.span), message)
        .labelled("in plain text")
        .help("keep the value in a secret store and write `{{secret .}}`; what was committed has to be replaced at its source")
        .about(resource.identity.to_string());
    finding.pointer = Some(place.clone());
    finding
}

fn placeholders(payload: &Node) -> Vec<(Pointer, &Node)> {
    let mut found = Vec::new();
    payload.for_each(&mut Pointer::default(), |place, node| {
        if node.as_str().is_some_and(is_placeholder) {
            found.push((place.clone(), node));
        }
    });
    found
}

/// Whether a value says something: what is blank or null does not, and a map or list is judged by its parts.
fn is_plaintext(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Map(_) | Value::List(_) => false,
        Value::String(text) => !text.trim().is_empty() && !is_placeholder(text) && !text.starts_with("ENC["),
        _ => true,
    }
}
