//! The files of a commit, read from the object database as they are asked for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use smol_str::SmolStr;

use super::objects::Objects;
use super::revision::Tree;
use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::source::{Entry, EntryKind, Listing, ObjectId, Reason, Snapshot, Unreadable};

/// A tree of the object database.
pub struct CommitSnapshot {
    objects: Arc<Objects>,
    label: SmolStr,
    tree: ObjectId,
    budget: Budget,
    listings: Mutex<Listings>,
}

/// Directories that were listed before. Whoever resolves layers asks for the same few directories over and over; and a
/// tree of billions of paths is made of a few objects that stand in many places. Looked up, never walked over.
#[derive(Default)]
struct Listings {
    by_path: HashMap<RepoPath, Arc<Listing>>,
    by_id: HashMap<ObjectId, Arc<Listing>>,
    entries: usize,
}

/// When the remembered listings hold more than this, all are forgotten: simple, and a walk over a huge tree stays small.
const REMEMBERED_ENTRIES: usize = 100_000;

impl CommitSnapshot {
    pub(super) fn new(objects: Arc<Objects>, tree: &Tree, budget: Budget) -> Self {
        Self { objects, label: tree.label.clone(), tree: tree.id, budget, listings: Mutex::default() }
    }

    /// Moves the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.budget.limits = limits;
    }

    /// What a directory holds, or nothing if there is no such directory.
    fn listing(&self, directory: &RepoPath) -> Result<Option<Arc<Listing>>, Unreadable> {
        if let Some(listing) = self.remembered(directory) {
            return Ok(Some(listing));
        }
        let entry = self.entry(directory)?.filter(|entry| entry.kind == EntryKind::Directory);
        let Some(id) = entry.and_then(|entry| entry.id) else { return Ok(None) };
        Ok(Some(self.list_tree(directory, id)))
    }

    fn list_tree(&self, directory: &RepoPath, id: ObjectId) -> Arc<Listing> {
        let listings = || self.listings.lock().expect("no thread panics while it holds this lock");
        let twin = listings().by_id.get(&id).cloned();
        let listing = twin.and_then(|twin| moved(&twin, directory));
        let listing = listing.unwrap_or_else(|| self.objects.tree(id, directory, &self.label, &self.budget.limits));
        let listing = Arc::new(listing);
        listings().remember(directory, id, &listing);
        listing
    }

    fn remembered(&self, directory: &RepoPath) -> Option<Arc<Listing>> {
        let listings = self.listings.lock().expect("no thread panics while it holds this lock");
        listings.by_path.get(directory).cloned()
    }

    /// Walks from the root down. Paths come from documents, so neither their length nor their depth is bounded.
    fn descend(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let mut current = self.root();
        for (depth, name) in path.components().enumerate() {
            let Some(id) = current.id.filter(|_| current.kind == EntryKind::Directory) else { return Ok(None) };
            if depth as u64 > u64::from(self.budget.limits.directory_depth) {
                let limit = self.budget.limits.directory_depth.into();
                return Err(self.unreadable(path, Reason::TooManyEntries { limit, what: "directory levels" }));
            }
            let listing = self.remembered(&current.path).unwrap_or_else(|| self.list_tree(&current.path, id));
            let Ok(next) = current.path.join(name) else { return Ok(None) };
            match find(&listing, &current.path, &next)? {
                Some(entry) => current = entry,
                None => return Ok(None),
            }
        }
        Ok(Some(current))
    }

    fn root(&self) -> Entry {
        Entry { path: RepoPath::root(), kind: EntryKind::Directory, id: Some(self.tree) }
    }

    fn unreadable(&self, path: &RepoPath, reason: Reason) -> Unreadable {
        Unreadable { path: path.clone(), revision: self.label.clone(), reason }
    }
}

impl Snapshot for CommitSnapshot {
    fn label(&self) -> &str {
        &self.label
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        match self.listing(directory) {
            Ok(Some(listing)) => Listing::clone(&listing),
            Ok(None) => Listing::default(),
            Err(unreadable) => unreadable.into(),
        }
    }

    fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Entry)) -> Vec<Unreadable> {
        match self.listing(directory) {
            Ok(Some(listing)) => {
                listing.entries.iter().for_each(visit);
                listing.unreadable.clone()
            }
            Ok(None) => Vec::new(),
            Err(unreadable) => vec![unreadable],
        }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let Some(parent) = path.parent() else { return Ok(Some(self.root())) };
        match self.remembered(&parent) {
            Some(listing) => find(&listing, &parent, path),
            None => self.descend(path),
        }
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        let id = file.id.ok_or_else(|| self.unreadable(&file.path, Reason::Other("it has no object id".to_owned())))?;
        self.objects.blob(id, &self.budget).map_err(|reason| self.unreadable(&file.path, reason))
    }

    fn sort_for_reading(&self, entries: &mut [Entry]) {
        self.objects.sort_for_reading(entries);
    }
}

impl Listings {
    fn remember(&mut self, directory: &RepoPath, id: ObjectId, listing: &Arc<Listing>) {
        if self.entries + listing.entries.len() > REMEMBERED_ENTRIES {
            *self = Self::default();
        }
        self.entries += listing.entries.len() + 1;
        self.by_path.insert(directory.clone(), Arc::clone(listing));
        self.by_id.insert(id, Arc::clone(listing));
    }
}

/// The same tree in another place, unless something was wrong with it: that is better said anew.
fn moved(listing: &Listing, directory: &RepoPath) -> Option<Listing> {
    let entry = |entry: &Entry| Some(Entry { path: directory.join(entry.path.file_name()).ok()?, ..*entry });
    let entries = listing.entries.iter().map(entry).collect::<Option<_>>()?;
    listing.unreadable.is_empty().then_some(Listing { entries, unreadable: Vec::new() })
}

/// Looks a member up. A directory that could not be read to its end cannot say that there is no such member.
pub(super) fn find(listing: &Listing, directory: &RepoPath, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
    let at = listing.entries.partition_point(|entry| entry.path < *path);
    if let Some(entry) = listing.entries.get(at).filter(|entry| entry.path == *path) {
        return Ok(Some(entry.clone()));
    }
    if listing.rules_out(directory, path) {
        return Ok(None);
    }
    let is_reason = |unreadable: &&Unreadable| unreadable.path == *path || unreadable.path == *directory;
    listing.unreadable.iter().find(is_reason).cloned().map_or(Ok(None), Err)
}
