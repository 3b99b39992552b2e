//! Parses contents that are the same on both sides once, and documents that are the same on both sides not at all.

use std::sync::Arc;

use super::load::Documents;
use crate::limits::Limits;
use crate::resource::{Content, Parsed, parse, parse_both};
use crate::side::Side;
use crate::snapshot::ObjectId;
use crate::text::Sources;

/// How contents become documents. The same content in two files is parsed twice: what is wrong with it is wrong in two places.
pub(super) struct ParseOnce<'a> {
    documents: Documents,
    sources: &'a Sources,
    limits: &'a Limits,
}

/// The content of a file on one side.
#[derive(Clone, Copy)]
pub(super) struct VersionContent<'a> {
    pub(super) content: Content<'a>,
    pub(super) id: Option<ObjectId>,
}

impl<'a> ParseOnce<'a> {
    pub(super) fn new(after: &'a Side<'_>, documents: Documents) -> Self {
        Self { documents, sources: after.sources, limits: after.limits }
    }

    /// Both sides of a file.
    pub(super) fn both(&self, before: VersionContent<'_>, after: VersionContent<'_>) -> [Arc<Parsed>; 2] {
        if after.id.is_some() && before.id == after.id {
            let parsed = self.one(after);
            return [Arc::clone(&parsed), parsed];
        }
        if self.documents == Documents::All {
            return [self.one(before), self.one(after)];
        }
        parse_both(before.content, after.content, self.sources, self.limits).map(Arc::new)
    }

    /// One side of a file, where there is no other.
    pub(super) fn one(&self, side: VersionContent<'_>) -> Arc<Parsed> {
        Arc::new(parse(side.content, self.sources, self.limits))
    }
}
