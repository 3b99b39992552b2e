//! A snapshot in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{Entry, EntryKind, Listing, ObjectId, Snapshot, Unreadable};
use crate::path::RepoPath;

/// Files by path. Directories exist because there are files in them.
#[derive(Debug, Clone, Default)]
pub struct MemorySnapshot {
    label: SmolStr,
    files: BTreeMap<RepoPath, Arc<[u8]>>,
    has_ids: bool,
}

impl MemorySnapshot {
    /// An empty tree with a label.
    pub fn new(label: impl Into<SmolStr>) -> Self {
        Self { label: label.into(), files: BTreeMap::new(), has_ids: false }
    }

    /// A copy of the tree with an id for every file and directory, as git has them: equal ids are equal contents.
    #[must_use]
    pub fn with_ids(mut self) -> Self {
        self.has_ids = true;
        self
    }

    /// Adds a file.
    #[must_use]
    pub fn with(mut self, path: RepoPath, content: impl Into<Arc<[u8]>>) -> Self {
        self.files.insert(path, content.into());
        self
    }

    fn file(&self, path: &RepoPath) -> Option<Entry> {
        self.files.contains_key(path).then(|| self.named(path.clone(), EntryKind::File))
    }

    fn named(&self, path: RepoPath, kind: EntryKind) -> Entry {
        let id = self.has_ids.then(|| self.id(&path)).flatten();
        Entry { path, kind, id }
    }

    /// A hash over the path and content of every file below.
    fn id(&self, path: &RepoPath) -> Option<ObjectId> {
        let mut halves = [0xcbf2_9ce4_8422_2325_u64, 0x6c62_272e_07bb_0142];
        for (file, content) in self.files.iter().filter(|(file, _)| file.is_within(path)) {
            let name = file.below(path)?;
            for &byte in name.as_bytes().iter().chain(b"\0").chain(content.iter()).chain(b"\0") {
                halves = halves.map(|half| (half ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(5));
            }
        }
        ObjectId::new(&[&halves[0].to_be_bytes()[..], &halves[1].to_be_bytes(), &[0; 4]].concat())
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
            members.insert(member.clone(), self.named(member, kind));
        }
        Listing { entries: members.into_values().collect(), unreadable: Vec::new() }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        if let Some(file) = self.file(path) {
            return Ok(Some(file));
        }
        let is_directory = path.is_root() || self.files.keys().any(|file| file.is_within(path));
        Ok(is_directory.then(|| self.named(path.clone(), EntryKind::Directory)))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        Ok(self.files.get(&file.path).cloned().unwrap_or_default())
    }
}
