//! The files of a commit, read from the object database as they are asked for.

use std::borrow::Borrow;
use std::sync::{Arc, Mutex};

use smol_str::SmolStr;

use super::objects::Objects;
use super::plain_tree::{PlainTree, TreeMember, entries};
use super::revision::Tree;
use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::shell::recent::Recent;
use crate::snapshot::{Differing, Entry, EntryKind, Listing, Member, ObjectId, Reason, Snapshot, Unreadable};

/// A tree of the object database.
pub struct CommitSnapshot {
    objects: Arc<Objects>,
    label: SmolStr,
    tree: ObjectId,
    budget: Budget,
    /// The trees of directories, as far as there is nothing odd on the way to them; nothing where there is no directory.
    directories: Mutex<Recent<Place, Option<ObjectId>>>,
    /// Directories that were listed whole.
    listings: Mutex<Recent<Place, Arc<Listing>>>,
}

/// A path that is looked up by its bytes; both hash and compare alike.
#[derive(PartialEq, Eq, Hash)]
struct Place(RepoPath);

impl Borrow<[u8]> for Place {
    fn borrow(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl CommitSnapshot {
    pub(super) fn new(objects: Arc<Objects>, tree: &Tree, budget: Budget) -> Self {
        Self::at(objects, tree.label.clone(), tree.id, budget)
    }

    pub(super) fn at(objects: Arc<Objects>, label: SmolStr, tree: ObjectId, budget: Budget) -> Self {
        let (directories, listings) = (Mutex::default(), Mutex::default());
        Self { objects, label, tree, budget, directories, listings }
    }

    /// Moves the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.budget.limits = limits;
    }

    /// The tree of a directory, and nothing if there is no such directory. Where a tree on the way is odd or the way is long, an
    /// error says that only listing can tell.
    fn tree_of(&self, directory: &RepoPath) -> Result<Option<Arc<PlainTree>>, OnlyListingTells> {
        self.tree_id(directory)?.map(|id| self.plain_tree(id)).transpose()
    }

    fn plain_tree(&self, id: ObjectId) -> Result<Arc<PlainTree>, OnlyListingTells> {
        self.objects.plain_tree(id, &self.budget.limits).ok_or(OnlyListingTells)
    }

    fn tree_id(&self, directory: &RepoPath) -> Result<Option<ObjectId>, OnlyListingTells> {
        let known = || self.directories.lock().expect("no thread panics while it holds this lock");
        let Some(parent) = directory.parent_bytes() else { return Ok(Some(self.tree)) };
        let found = known().get(directory.as_bytes());
        if let Some(id) = found {
            return Ok(id);
        }
        if directory.components().count() as u64 > u64::from(self.budget.limits.directory_depth) {
            return Err(OnlyListingTells);
        }
        let above = known().get(parent);
        let above = match above {
            Some(id) => id,
            None => self.tree_id(&directory.parent().unwrap_or_default())?,
        };
        let above = above.map(|id| self.plain_tree(id)).transpose()?;
        let member = above.as_ref().and_then(|above| above.find(directory.file_name()));
        let id = member.filter(|member| member.kind == EntryKind::Directory).and_then(|member| member.id());
        known().keep(Place(directory.clone()), id, 1);
        Ok(id)
    }

    /// What a directory holds, or nothing if there is no such directory.
    fn known_listing(&self, directory: &RepoPath) -> Result<Option<Arc<Listing>>, Unreadable> {
        if let Some(listing) = self.remembered(directory.as_bytes()) {
            return Ok(Some(listing));
        }
        let entry = self.entry(directory)?.filter(|entry| entry.kind == EntryKind::Directory);
        let Some(id) = entry.and_then(|entry| entry.id) else { return Ok(None) };
        Ok(Some(self.list_tree(directory, id)))
    }

    fn list_tree(&self, directory: &RepoPath, id: ObjectId) -> Arc<Listing> {
        let listing = Arc::new(self.objects.tree(id, directory, &self.label, &self.budget.limits));
        let mut listings = self.listings.lock().expect("no thread panics while it holds this lock");
        listings.keep(Place(directory.clone()), Arc::clone(&listing), listing.entries.len() + 1);
        listing
    }

    fn remembered(&self, directory: &[u8]) -> Option<Arc<Listing>> {
        self.listings.lock().expect("no thread panics while it holds this lock").get(directory)
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
            let listing = self.remembered(current.path.as_bytes()).unwrap_or_else(|| self.list_tree(&current.path, id));
            let Ok(next) = current.path.join(name) else { return Ok(None) };
            match find(&listing, current.path.as_bytes(), &next)? {
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
        Listing::clone(&self.listing(directory))
    }

    fn listing(&self, directory: &RepoPath) -> Arc<Listing> {
        match self.known_listing(directory) {
            Ok(listing) => listing.unwrap_or_default(),
            Err(unreadable) => Arc::new(unreadable.into()),
        }
    }

    fn listing_of(&self, directory: &Entry) -> Arc<Listing> {
        match (self.remembered(directory.path.as_bytes()), directory.id) {
            (Some(listing), _) => listing,
            (None, Some(id)) if directory.kind == EntryKind::Directory => self.list_tree(&directory.path, id),
            (None, _) => self.listing(&directory.path),
        }
    }

    fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Member<'_>)) -> Vec<Unreadable> {
        match self.tree_of(directory) {
            Ok(tree) => {
                let members = tree.iter().flat_map(|tree| tree.members());
                members.for_each(|member| {
                    visit(&Member { directory, name: member.name, kind: member.kind, id: member.id() })
                });
                Vec::new()
            }
            Err(OnlyListingTells) => self.listing(directory).visit(directory, visit),
        }
    }

    fn differing(&self, directory: &RepoPath, before: ObjectId, after: ObjectId) -> Option<Differing> {
        let plain = |id| self.objects.plain_tree(id, &self.budget.limits);
        let (before, after) = (plain(before)?, plain(after)?);
        let (these, those) = before.differing(&after);
        let members = before.count().max(after.count()) as u64;
        Some(Differing { before: entries(these, directory)?, after: entries(those, directory)?, members })
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let Some(parent) = path.parent_bytes() else { return Ok(Some(self.root())) };
        if let Some(listing) = self.remembered(parent) {
            return find(&listing, parent, path);
        }
        let known = self.directories.lock().expect("no thread panics while it holds this lock").get(parent);
        let tree = match known {
            Some(id) => id.map(|id| self.plain_tree(id)).transpose(),
            None => self.tree_of(&path.parent().unwrap_or_default()),
        };
        match tree {
            Ok(None) => Ok(None),
            Ok(Some(tree)) => {
                let entry = |member: TreeMember<'_>| Entry { path: path.clone(), kind: member.kind, id: member.id() };
                Ok(tree.find(path.file_name()).map(entry))
            }
            Err(OnlyListingTells) => self.descend(path),
        }
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        let id = file.id.ok_or_else(|| self.unreadable(&file.path, Reason::Other("it has no object id".to_owned())))?;
        self.objects.blob(id, &self.budget).map_err(|reason| self.unreadable(&file.path, reason))
    }

    fn look(&self, file: &Entry, look: &mut dyn FnMut(&[u8])) -> Result<(), Unreadable> {
        let id = file.id.ok_or_else(|| self.unreadable(&file.path, Reason::Other("it has no object id".to_owned())))?;
        self.objects.look(id, &self.budget.limits, look).map_err(|reason| self.unreadable(&file.path, reason))
    }

    fn other_tree(&self, id: ObjectId) -> Option<Box<dyn Snapshot + '_>> {
        Some(Box::new(Self::at(Arc::clone(&self.objects), self.label.clone(), id, self.budget.clone())))
    }

    fn sort_for_reading(&self, entries: &mut [Entry]) {
        self.objects.sort_for_reading(entries);
    }

    fn forget_read(&self) {
        self.objects.forget_read();
    }
}

/// A question that the bytes of trees do not answer.
struct OnlyListingTells;

/// Looks a member up. A directory that could not be read to its end cannot say that there is no such member.
pub(super) fn find(listing: &Listing, directory: &[u8], path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
    let at = listing.entries.partition_point(|entry| entry.path < *path);
    if let Some(entry) = listing.entries.get(at).filter(|entry| entry.path == *path) {
        return Ok(Some(entry.clone()));
    }
    if listing.rules_out(directory, path) {
        return Ok(None);
    }
    let is_reason = |unreadable: &&Unreadable| unreadable.path == *path || unreadable.path.as_bytes() == directory;
    listing.unreadable.iter().find(is_reason).cloned().map_or(Ok(None), Err)
}
