//! Metadata proposed for a path of a snapshot, from the OpenAPI document that its configuration names or another one.

use std::sync::Arc;

use super::{Inspection, MetadataTree};
use crate::finding::Outcome;
use crate::metadata::MetadataPath;
use crate::metadata::openapi::{self, Inference, Inferred};
use crate::side;
use crate::text::{SourceText, Span};
use crate::value::Node;

impl Inspection<'_> {
    /// The OpenAPI document that the configuration names. It is read as it stands: directives in it are data.
    pub fn openapi(&self) -> Outcome<Option<Arc<Node>>> {
        side::openapi::read(self.given())
    }

    /// What can be proposed for a path, with what is stored for it on top.
    pub fn infer(&self, path: &MetadataPath, tree: &MetadataTree, openapi: Option<&Node>) -> Outcome<Inferred> {
        let target = openapi::target(path, openapi);
        let directory = target.directory(&tree.base).ok();
        let existing = directory.and_then(|directory| self.layers(&tree.base).layer_at(&directory));
        let source = self.sources.add(SourceText::new(tree.base.clone(), self.snapshot.label(), ""));
        let nowhere = Span::new(source, 0, 0);
        openapi::infer(&Inference { path: &target, openapi, existing: existing.as_ref(), nowhere })
    }
}
