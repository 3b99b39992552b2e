//! What a person sees in the working tree: the tracked files, and those that are not tracked yet.

use std::path::Path;
use std::sync::Arc;

use super::directory::{DirectorySnapshot, Links};
use super::git::GitSnapshot;
use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, Listing, Snapshot, Unreadable};

/// The working tree with its untracked files. A layer that was just written counts before it is added.
pub(super) struct OnDisk {
    tracked: GitSnapshot,
    disk: DirectorySnapshot,
}

impl OnDisk {
    pub(super) fn new(tracked: GitSnapshot, root: &Path, budget: &Budget) -> Self {
        let disk = DirectorySnapshot::new(root, Links::Keep, budget.clone()).labelled("working tree");
        Self { tracked, disk }
    }

    pub(super) fn set_limits(&mut self, limits: &Limits) {
        self.tracked.set_limits(limits.clone());
        self.disk.set_limits(limits.clone());
    }
}

impl Snapshot for OnDisk {
    fn label(&self) -> &str {
        self.tracked.label()
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        let mut listing = self.tracked.list(directory);
        let untracked = self.disk.list(directory);
        for entry in untracked.entries {
            if !listing.entries.iter().any(|tracked| tracked.path == entry.path) {
                listing.entries.push(entry);
            }
        }
        listing.unreadable.extend(untracked.unreadable);
        // An id of a directory speaks only for what is tracked in it.
        listing.entries.iter_mut().for_each(forget_directory_id);
        listing.entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        listing
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let mut entry = match self.tracked.entry(path)? {
            Some(entry) => entry,
            None => return self.disk.entry(path),
        };
        forget_directory_id(&mut entry);
        Ok(Some(entry))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        match self.tracked.entry(&file.path)? {
            Some(_) => self.tracked.read(file),
            None => self.disk.read(file),
        }
    }
}

fn forget_directory_id(entry: &mut Entry) {
    if entry.kind == EntryKind::Directory {
        entry.id = None;
    }
}
