//! Any other YAML or JSON document: named by its file, and by its position if the file holds several.

use super::{FileDocument, Layout, Named};
use crate::resource::Identity;

/// Documents that no other layout recognises.
pub struct Plain;

impl Layout for Plain {
    fn name(&self) -> &'static str {
        "plain"
    }

    fn recognise<'d>(&self, document: &FileDocument<'d>) -> Option<Vec<Named<'d>>> {
        let position = (!document.is_only).then_some(document.document.position);
        Some(vec![(Identity::File { path: document.file.clone(), position }, &document.document.root)])
    }
}
