//! A snapshot in memory: for tests, vectors and callers of the library.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{Entry, EntryKind, Listing, Snapshot, Unreadable};
use crate::path::RepoPath;

/// Files by path; directories exist because something stands in them.
#[derive(Debug, Clone, Default)]
pub struct MemorySnapshot {
    label: SmolStr,
    files: BTreeMap<RepoPath, Arc<[u8]>>,
}

impl MemorySnapshot {
    /// An empty tree with a name.
    pub fn new(label: impl Into<SmolStr>) -> Self {
        Self { label: label.into(), files: BTreeMap::new() }
    }

    /// The same tree with one more file.
    #[must_use]
    pub fn with(mut self, path: RepoPath, content: impl Into<Arc<[u8]>>) -> Self {
        self.files.insert(path, content.into());
        self
    }

    fn file(&self, path: &RepoPath) -> Option<Entry> {
        self.files.contains_key(path).then(|| Entry { path: path.clone(), kind: EntryKind::File, id: None })
    }
}

impl Snapshot for MemorySnapshot {
    fn label(&self) -> &str {
        &self.label
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        let mut members = BTreeMap::new();
        for path in self.files.keys().filter(|path| path.is_within(directory) && *path != directory) {
            let depth = directory.components().count();
            let Some(name) = path.components().nth(depth) else { continue };
            let Ok(member) = directory.join(name) else { continue };
            let kind = if member == *path { EntryKind::File } else { EntryKind::Directory };
            members.insert(member.clone(), Entry { path: member, kind, id: None });
        }
        Listing { entries: members.into_values().collect(), unreadable: Vec::new() }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        if let Some(file) = self.file(path) {
            return Ok(Some(file));
        }
        let is_directory = path.is_root() || self.files.keys().any(|file| file.is_within(path));
        Ok(is_directory.then(|| Entry { path: path.clone(), kind: EntryKind::Directory, id: None }))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        Ok(self.files.get(&file.path).cloned().unwrap_or_default())
    }
}
