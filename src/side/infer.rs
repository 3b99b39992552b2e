//! Metadata proposed for a path of a snapshot, from the OpenAPI document that its configuration names or another one.

use std::sync::Arc;

use super::{Side, openapi as document};
use crate::finding::Outcome;
use crate::metadata::MetadataPath;
use crate::metadata::openapi::{self, ApiDocument, Inference, Inferred};
use crate::settings::Root;
use crate::text::{SourceText, Span};
use crate::value::Node;

impl Side<'_> {
    /// The OpenAPI document that the configuration names. Directives in it are data, and not expanded.
    pub fn openapi(&self) -> Outcome<Option<Arc<ApiDocument>>> {
        self.caches.openapi.get_or_init(|| document::read(self.given, &self.caches.documents)).clone()
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
