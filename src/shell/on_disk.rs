//! What a person sees in the working tree: the tracked files, and those that are not tracked yet.

use std::path::Path;
use std::sync::{Arc, Mutex};

use super::directory::{DirectorySnapshot, Links};
use super::git::GitSnapshot;
use super::recent::Recent;
use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, Listing, Snapshot, Unreadable};

/// The working tree with its untracked files. A layer that was just written counts before it is added.
pub(super) struct OnDisk {
    tracked: GitSnapshot,
    disk: DirectorySnapshot,
    /// Directories that were listed lately: resolving layers asks for the same ones over and over.
    listings: Mutex<Recent<RepoPath, Arc<Listing>>>,
}

impl OnDisk {
    pub(super) fn new(tracked: GitSnapshot, root: &Path, budget: &Budget) -> Self {
        let disk = DirectorySnapshot::new(root, Links::Keep, budget.clone()).labelled("working tree");
        Self { tracked, disk, listings: Mutex::default() }
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
        let tracked = std::mem::take(&mut listing.entries);
        let is_untracked = |entry: &Entry| tracked.binary_search_by(|tracked| tracked.path.cmp(&entry.path)).is_err();
        listing.entries.extend(untracked.entries.into_iter().filter(is_untracked));
        listing.entries.extend(tracked);
        listing.unreadable.extend(untracked.unreadable);
        // An id of a directory speaks only for what is tracked in it.
        listing.entries.iter_mut().for_each(forget_directory_id);
        listing.entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        listing
    }

    fn listing(&self, directory: &RepoPath) -> Arc<Listing> {
        let listings = || self.listings.lock().expect("no thread panics while it holds this lock");
        let known = listings().get(directory);
        known.unwrap_or_else(|| {
            let listing = Arc::new(self.list(directory));
            listings().keep(directory.clone(), Arc::clone(&listing), listing.entries.len() + 1);
            listing
        })
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
