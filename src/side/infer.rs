//! Metadata proposed for a path of a snapshot, from the OpenAPI document that its configuration names or another one.

use super::Side;
use crate::finding::{self, Finding, Location, Outcome};
use crate::metadata::MetadataPath;
use crate::metadata::openapi::{self, Inference, Inferred};
use crate::resource::{Content, parse};
use crate::settings::Root;
use crate::snapshot::EntryKind;
use crate::text::{SourceText, Span};
use crate::value::Node;

impl Side<'_> {
    /// The OpenAPI document that the configuration names. Directives in it are data, and not expanded.
    pub fn openapi(&self) -> Outcome<Option<Node>> {
        let Some(path) = &self.settings.openapi else { return Outcome::clean(None) };
        let broken = |findings| Outcome { value: None, findings };
        let refused = |rule, message: String| {
            let location = Location::File { path: path.clone(), revision: self.snapshot.label().into() };
            Finding::new(rule, location, message).help("`openapi` in outcrop.yaml names the file")
        };
        let entry = match self.snapshot.entry(path) {
            Ok(entry) => entry.filter(|entry| entry.kind == EntryKind::File),
            Err(error) => return broken(vec![error.into_finding()]),
        };
        let Some(entry) = entry else {
            return broken(vec![refused(&finding::OPENAPI_MISSING, format!("there is no file {path}"))]);
        };
        let bytes = match self.snapshot.read(&entry) {
            Ok(bytes) => bytes,
            Err(error) => return broken(vec![error.into_finding()]),
        };
        let content = Content { bytes: &bytes, path, revision: self.snapshot.label() };
        let mut parsed = parse(content, self.sources, self.limits);
        match (parsed.documents.len(), parsed.is_broken) {
            (_, true) => broken(parsed.findings),
            (1, false) => Outcome { value: parsed.documents.pop().map(|only| only.root), findings: parsed.findings },
            (count, false) => {
                let message = format!("an OpenAPI document is one document, and in {path} are {count}");
                parsed.findings.push(refused(&finding::OPENAPI_INVALID, message));
                broken(parsed.findings)
            }
        }
    }

    /// What can be proposed for a path, with what is stored for it on top.
    pub fn infer(&self, path: &MetadataPath, root: &Root, openapi: Option<&Node>) -> Outcome<Inferred> {
        let target = openapi::target(path, openapi);
        let directory = target.directory(&root.path).ok();
        let existing = directory.and_then(|directory| self.layers.layers_at(&root.path)?.layer_at(&directory));
        let source = self.sources.add(SourceText::new(root.path.clone(), self.snapshot.label(), ""));
        let nowhere = Span::new(source, 0, 0);
        openapi::infer(&Inference { path: &target, openapi, existing: existing.as_ref(), nowhere })
    }
}
