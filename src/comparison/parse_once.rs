//! Parses each content once: a file that moved is not parsed twice, documents that are the same on both sides not at all.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::load::Documents;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::{Content, Parsed, parse, parse_both};
use crate::side::Side;
use crate::snapshot::{ChangedFile, Entry, ObjectId};
use crate::text::Sources;

/// Parsed contents by object id.
pub(super) struct ParseOnce<'a> {
    documents: Documents,
    shared: BTreeMap<ObjectId, Shared>,
    sources: &'a Sources,
    limits: &'a Limits,
}

/// A content that several files have; its text is registered under the first of them, whichever thread comes first.
struct Shared {
    path: RepoPath,
    revision: SmolStr,
    parsed: OnceLock<Arc<Parsed>>,
}

/// The content of a file on one side.
#[derive(Clone, Copy)]
pub(super) struct VersionContent<'a> {
    pub(super) content: Content<'a>,
    pub(super) id: Option<ObjectId>,
}

impl<'a> ParseOnce<'a> {
    pub(super) fn new(files: &[ChangedFile], before: &'a Side<'_>, after: &'a Side<'_>, documents: Documents) -> Self {
        let mut places: BTreeMap<ObjectId, Vec<(RepoPath, &str)>> = BTreeMap::new();
        for file in files {
            for (entry, side) in [(&file.after, after), (&file.before, before)] {
                if let Some(Entry { id: Some(id), path, .. }) = entry {
                    places.entry(*id).or_default().push((path.clone(), side.snapshot.label()));
                }
            }
        }
        let shared = places.into_iter().filter(|(_, places)| places.len() > 1).map(|(id, mut places)| {
            let (path, revision) = places.swap_remove(0);
            (id, Shared { path, revision: revision.into(), parsed: OnceLock::new() })
        });
        let (sources, limits) = (&**after.sources, after.limits);
        Self { documents, shared: shared.collect(), sources, limits }
    }

    /// Both sides of a file.
    pub(super) fn both(&self, before: VersionContent<'_>, after: VersionContent<'_>) -> [Arc<Parsed>; 2] {
        let is_shared = |side: VersionContent<'_>| self.shared_with(side).is_some();
        if self.documents == Documents::All || is_shared(before) || is_shared(after) {
            return [self.one(before), self.one(after)];
        }
        parse_both(before.content, after.content, self.sources, self.limits).map(Arc::new)
    }

    /// One side of a file, where there is no other.
    pub(super) fn one(&self, side: VersionContent<'_>) -> Arc<Parsed> {
        let Some(shared) = self.shared_with(side) else {
            return Arc::new(parse(side.content, self.sources, self.limits));
        };
        let first = Content { path: &shared.path, revision: &shared.revision, ..side.content };
        Arc::clone(shared.parsed.get_or_init(|| Arc::new(parse(first, self.sources, self.limits))))
    }

    /// The extension decides how a content is read, so only places that agree on it share.
    fn shared_with(&self, side: VersionContent<'_>) -> Option<&Shared> {
        let shared = self.shared.get(&side.id?)?;
        (extension(&shared.path) == extension(side.content.path)).then_some(shared)
    }
}

fn extension(path: &RepoPath) -> Option<&str> {
    path.stem_and_extension().map(|(_, extension)| extension)
}
