//! Reads the OpenAPI document that the configuration of a snapshot names.

use std::sync::Arc;

use crate::finding::{self, Finding, Location, Outcome};
use crate::resource::{Content, parse};
use crate::settings::Given;
use crate::snapshot::EntryKind;
use crate::value::Node;

/// The document that `openapi` in `outcrop.yaml` names. It is read as it is written: merge directives in it are data.
pub(super) fn read(given: Given<'_>) -> Outcome<Option<Arc<Node>>> {
    let Some(path) = &given.settings.openapi else { return Outcome::clean(None) };
    let broken = |findings| Outcome { value: None, findings };
    let refused = |rule, message: String| {
        let location = Location::File { path: path.clone(), revision: given.snapshot.label().into() };
        Finding::new(rule, location, message).help("`openapi` in outcrop.yaml names the file")
    };
    let entry = match given.snapshot.entry(path) {
        Ok(entry) => entry.filter(|entry| entry.kind == EntryKind::File),
        Err(error) => return broken(vec![error.into_finding()]),
    };
    let Some(entry) = entry else {
        return broken(vec![refused(&finding::OPENAPI_MISSING, format!("there is no file {path}"))]);
    };
    let bytes = match given.snapshot.read(&entry) {
        Ok(bytes) => bytes,
        Err(error) => return broken(vec![error.into_finding()]),
    };
    let content = Content { bytes: &bytes, path, revision: given.snapshot.label() };
    let mut parsed = parse(content, given.sources, given.limits);
    match (parsed.documents.len(), parsed.is_broken) {
        (_, true) => broken(parsed.findings),
        (1, false) => {
            Outcome { value: parsed.documents.pop().map(|only| Arc::new(only.root)), findings: parsed.findings }
        }
        (count, false) => {
            let message = format!("{path} holds {count} documents, and an OpenAPI document is one");
            parsed.findings.push(refused(&finding::OPENAPI_INVALID, message));
            broken(parsed.findings)
        }
    }
}
