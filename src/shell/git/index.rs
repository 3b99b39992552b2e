//! The files that are staged: the index, seen as a tree of directories.

use std::ops::Range;
use std::sync::Arc;

use gix::index::entry::{Flags, Mode, Stage};

use super::commit::{CommitSnapshot, find};
use super::error::GitError;
use super::objects::{Objects, from_gix, member};
use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, Listing, ObjectId, Reason, Snapshot, Unreadable};

/// What would be committed.
pub struct IndexSnapshot(pub(super) View);

/// The index with what is known to differ from it: one way to look at its entries as files in directories.
///
/// Positions are places in the sorted list of entries; everything is found by binary search in it.
pub(super) struct View {
    pub(super) objects: Arc<Objects>,
    pub(super) index: Arc<gix::index::File>,
    pub(super) label: &'static str,
    pub(super) budget: Budget,
    /// Entries that are not there in this view, in ascending order.
    pub(super) absent: Vec<usize>,
    /// Entries whose content is not that of the index, in ascending order, and what they are instead.
    pub(super) changed: Vec<(usize, EntryKind)>,
}

impl IndexSnapshot {
    pub(super) fn open(objects: Arc<Objects>, budget: Budget) -> Result<Self, GitError> {
        let index = objects.index()?;
        // `git add -N` announces a file; until it is added there is nothing to commit.
        let is_announced = |entry: &gix::index::Entry| entry.flags.contains(Flags::INTENT_TO_ADD);
        let positions = index.entries().iter().enumerate();
        let absent = positions.filter(|(_, entry)| is_announced(entry)).map(|(position, _)| position).collect();
        Ok(Self(View { objects, index, label: "index", budget, absent, changed: Vec::new() }))
    }

    /// Moves the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.0.budget.limits = limits;
    }
}

impl Snapshot for IndexSnapshot {
    fn label(&self) -> &str {
        self.0.label
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        self.0.list(directory)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.0.entry(path)
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        self.0.read_object(file)
    }

    fn look(&self, file: &Entry, look: &mut dyn FnMut(&[u8])) -> Result<(), Unreadable> {
        self.0.look_at_object(file, look)
    }

    fn other_tree(&self, id: ObjectId) -> Option<Box<dyn Snapshot + '_>> {
        Some(Box::new(self.0.commit(id)))
    }

    fn sort_for_reading(&self, entries: &mut [Entry]) {
        self.0.objects.sort_for_reading(entries);
    }

    fn forget_read(&self) {
        self.0.objects.forget_read();
    }
}

impl View {
    pub(super) fn list(&self, directory: &RepoPath) -> Listing {
        if let Some(listing) = self.list_unexpanded(directory) {
            return listing;
        }
        let cached = self.cached_tree(directory);
        let prefix = with_slash(directory);
        let mut listing = Listing::default();
        let Range { mut start, end } = self.below(&prefix);
        while start < end {
            let at = start;
            // Everything in the range starts with the prefix, unless the index is out of order, which only git can mend.
            let Some(rest) = self.path(at).strip_prefix(&*prefix) else { break };
            let slash = rest.iter().position(|&byte| byte == b'/');
            let name = &rest[..slash.unwrap_or(rest.len())];
            start = match slash {
                None => self.after_file(at, end),
                Some(length) => self.after_prefix(at..end, &self.path(at)[..=prefix.len() + length]).max(at + 1),
            };
            match (member(directory, name), slash) {
                (Ok(path), None) => listing.entries.extend(self.file(at, path)),
                (Ok(path), Some(_)) => listing.entries.extend(self.directory(at..start, path, child(cached, name))),
                (Err(reason), _) => listing.unreadable.push(self.unreadable(directory, reason)),
            }
        }
        // The index is in order of whole paths, where `a-b` comes before `a/c`.
        listing.entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        listing
    }

    pub(super) fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let Some(parent) = path.parent() else {
            let all = 0..self.index.entries().len();
            let root = Entry { path: RepoPath::root(), kind: EntryKind::Directory, id: None };
            return Ok(Some(self.directory(all, path.clone(), self.index.tree()).unwrap_or(root)));
        };
        if let Some(listing) = self.list_unexpanded(&parent) {
            return find(&listing, parent.as_bytes(), path);
        }
        if let Some(position) = self.position(path) {
            return Ok(self.file(position, path.clone()));
        }
        let below = self.below(&with_slash(path));
        Ok(if below.is_empty() { None } else { self.directory(below, path.clone(), self.cached_tree(path)) })
    }

    pub(super) fn read_object(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        let blob = self.object_of(file).and_then(|id| self.objects.blob(id, &self.budget));
        blob.map_err(|reason| self.unreadable(&file.path, reason))
    }

    pub(super) fn look_at_object(&self, file: &Entry, look: &mut dyn FnMut(&[u8])) -> Result<(), Unreadable> {
        let looked = self.object_of(file).and_then(|id| self.objects.look(id, &self.budget.limits, look));
        looked.map_err(|reason| self.unreadable(&file.path, reason))
    }

    /// The files of a tree of the same repository.
    pub(super) fn commit(&self, tree: ObjectId) -> CommitSnapshot {
        CommitSnapshot::at(Arc::clone(&self.objects), self.label.into(), tree, self.budget.clone())
    }

    fn object_of(&self, file: &Entry) -> Result<ObjectId, Reason> {
        file.id.ok_or_else(|| match file.kind {
            EntryKind::Conflict => Reason::Other("the path has an unresolved merge conflict".to_owned()),
            _ => Reason::Other("it has no object id".to_owned()),
        })
    }

    pub(super) fn unreadable(&self, path: &RepoPath, reason: Reason) -> Unreadable {
        Unreadable { path: path.clone(), revision: self.label.into(), reason }
    }

    /// The place of a path's first entry, if the path has one.
    fn position(&self, path: &RepoPath) -> Option<usize> {
        let start = self.lower_bound(path.as_bytes());
        (start < self.index.entries().len() && self.path(start) == path.as_bytes()).then_some(start)
    }

    /// What a sparse index keeps as one entry for a whole directory is read from the tree.
    fn list_unexpanded(&self, directory: &RepoPath) -> Option<Listing> {
        if !self.index.is_sparse() {
            return None;
        }
        let mut above = RepoPath::root();
        let mut names = directory.components();
        let sparse = loop {
            above = above.join(names.next()?).ok()?;
            let at = self.lower_bound(&with_slash(&above));
            if at < self.index.entries().len() && *self.path(at) == *with_slash(&above) {
                break at;
            }
        };
        let limits = &self.budget.limits;
        let mut id = from_gix(&self.index.entries()[sparse].id)?;
        for name in names {
            let listing = self.objects.tree(id, &above, self.label, limits);
            let next = above.join(name).ok()?;
            id = match find(&listing, above.as_bytes(), &next) {
                Ok(Some(Entry { kind: EntryKind::Directory, id: Some(id), .. })) => id,
                Ok(_) => return Some(Listing::default()),
                Err(unreadable) => return Some(unreadable.into()),
            };
            above = next;
        }
        Some(Listing::clone(&self.objects.tree(id, directory, self.label, limits)))
    }

    fn file(&self, position: usize, path: RepoPath) -> Option<Entry> {
        if self.absent.binary_search(&position).is_ok() {
            return None;
        }
        if let Ok(at) = self.changed.binary_search_by_key(&position, |&(position, _)| position) {
            return Some(Entry { path, kind: self.changed[at].1, id: None });
        }
        let entry = &self.index.entries()[position];
        if entry.stage() != Stage::Unconflicted {
            return Some(Entry { path, kind: EntryKind::Conflict, id: None });
        }
        Some(Entry { path, kind: kind_of(entry.mode), id: from_gix(&entry.id) })
    }

    /// A directory, if anything in it is there; its id if it is known and nothing in it differs from the index.
    fn directory(
        &self,
        range: Range<usize>,
        path: RepoPath,
        cached: Option<&gix::index::extension::Tree>,
    ) -> Option<Entry> {
        let count = range.len();
        let absent =
            self.absent.partition_point(|&at| at < range.end) - self.absent.partition_point(|&at| at < range.start);
        let below = |bound: usize| self.changed.partition_point(|&(at, _)| at < bound);
        let changed = below(range.end) - below(range.start);
        if count == absent {
            return None;
        }
        let is_unexpanded = count == 1 && self.index.entries()[range.start].mode == Mode::DIR;
        let id = match cached {
            _ if absent > 0 || changed > 0 => None,
            None if is_unexpanded => from_gix(&self.index.entries()[range.start].id),
            // What git has not brought up to date has no count.
            Some(tree) if tree.num_entries.is_some_and(|entries| entries as usize == count) => from_gix(&tree.id),
            _ => None,
        };
        Some(Entry { path, kind: EntryKind::Directory, id })
    }

    /// The entries below a directory whose path and slash are given.
    fn below(&self, prefix: &[u8]) -> Range<usize> {
        let start = self.lower_bound(prefix);
        start..self.after_prefix(start..self.index.entries().len(), prefix)
    }

    /// Past all entries at the start of the range that begin with the prefix.
    fn after_prefix(&self, range: Range<usize>, prefix: &[u8]) -> usize {
        let entries = &self.index.entries()[range.clone()];
        range.start + entries.partition_point(|entry| entry.path(&self.index).starts_with(prefix))
    }

    /// Past all stages of a file.
    fn after_file(&self, start: usize, end: usize) -> usize {
        let same = (start + 1..end).take_while(|&at| self.path(at) == self.path(start)).count();
        start + 1 + same
    }

    fn lower_bound(&self, path: &[u8]) -> usize {
        self.index.entries().partition_point(|entry| **entry.path(&self.index) < *path)
    }

    fn path(&self, position: usize) -> &[u8] {
        self.index.entries()[position].path(&self.index)
    }

    /// What git remembers of a directory's tree object.
    fn cached_tree(&self, directory: &RepoPath) -> Option<&gix::index::extension::Tree> {
        directory.components().try_fold(self.index.tree()?, |tree, name| child(Some(tree), name))
    }
}

fn child<'a>(tree: Option<&'a gix::index::extension::Tree>, name: &[u8]) -> Option<&'a gix::index::extension::Tree> {
    let children = &tree?.children;
    children.binary_search_by(|child| child.name.as_slice().cmp(name)).ok().map(|at| &children[at])
}

fn with_slash(directory: &RepoPath) -> Vec<u8> {
    let mut prefix = directory.as_bytes().to_vec();
    if !directory.is_root() {
        prefix.push(b'/');
    }
    prefix
}

pub(super) fn kind_of(mode: Mode) -> EntryKind {
    match mode {
        Mode::SYMLINK => EntryKind::Symlink,
        Mode::COMMIT => EntryKind::Submodule,
        Mode::DIR => EntryKind::Directory,
        _ => EntryKind::File,
    }
}
