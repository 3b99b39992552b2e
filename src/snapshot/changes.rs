//! The files that differ between two snapshots. Both are walked at once, and entries with the same id on both sides are not opened.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::iter::Peekable;
use std::sync::Arc;

use super::{Entry, EntryKind, Listing, ObjectId, Reason, Scope, Snapshot, Unreadable};
use crate::limits::{Limits, Spent};
use crate::path::RepoPath;

/// A path whose content may differ between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// The path on both sides.
    pub path: RepoPath,
    /// The entry on the older side, if there is one.
    pub before: Option<Entry>,
    /// The entry on the newer side, if there is one.
    pub after: Option<Entry>,
}

/// The result of comparing two trees of files.
#[derive(Debug, Default)]
pub struct Changes {
    /// The files that differ, in byte order of the paths. Directories are not listed, only the files in them.
    pub files: Vec<ChangedFile>,
    /// What could not be read.
    pub unreadable: Vec<Unreadable>,
}

/// Compares two snapshots within a scope.
///
/// Files whose id is not known on both sides count as changed, because they must be read to find out.
pub fn changes(before: &dyn Snapshot, after: &dyn Snapshot, scope: &Scope, limits: &Limits, spent: &Spent) -> Changes {
    let mut walk = TreeWalk::new(Some(before), after, scope, limits, spent);
    let root = RepoPath::root();
    let before = walk.root(before);
    let after = walk.root(after);
    if !is_same(before.as_ref(), after.as_ref()) {
        walk.directory(&root, before.as_ref(), after.as_ref(), 0);
    }
    walk.found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    walk.found
}

/// Every file of one snapshot within a scope, in byte order of the paths.
pub fn files_below(
    snapshot: &dyn Snapshot,
    scope: &Scope,
    limits: &Limits,
    spent: &Spent,
) -> (Vec<Entry>, Vec<Unreadable>) {
    let mut walk = TreeWalk::new(None, snapshot, scope, limits, spent);
    let root = Entry { path: RepoPath::root(), kind: EntryKind::Directory, id: None };
    walk.directory(&root.path, None, Some(&root), 0);
    let Changes { files, unreadable } = walk.found;
    let mut entries: Vec<Entry> = files.into_iter().filter_map(|file| file.after).collect();
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    (entries, unreadable)
}

/// How much a member of a copied directory counts.
const COPY: u64 = 10;

/// The state of walking two snapshots.
struct TreeWalk<'a> {
    before: Option<&'a dyn Snapshot>,
    after: &'a dyn Snapshot,
    scope: &'a Scope,
    limits: &'a Limits,
    spent: &'a Spent,
    found: Changes,
    /// The trees that were opened: real repositories have few copies of a tree, and hostile ones nothing else.
    opened: HashSet<ObjectId>,
    /// Set once the run has reached its limit of entries. Nothing more is listed then, because a hostile tree can have billions of
    /// paths.
    is_exhausted: bool,
}

impl<'a> TreeWalk<'a> {
    fn new(
        before: Option<&'a dyn Snapshot>,
        after: &'a dyn Snapshot,
        scope: &'a Scope,
        limits: &'a Limits,
        spent: &'a Spent,
    ) -> Self {
        Self {
            before,
            after,
            scope,
            limits,
            spent,
            found: Changes::default(),
            opened: HashSet::new(),
            is_exhausted: false,
        }
    }

    fn root(&mut self, snapshot: &dyn Snapshot) -> Option<Entry> {
        snapshot.entry(&RepoPath::root()).unwrap_or_else(|unreadable| {
            self.found.unreadable.push(unreadable);
            None
        })
    }

    fn directory(&mut self, path: &RepoPath, in_before: Option<&Entry>, in_after: Option<&Entry>, depth: u32) {
        if self.is_exhausted || !self.scope.can_hold(path) {
            return;
        }
        if depth > self.limits.directory_depth {
            return self.refuse(path, self.limits.directory_depth.into(), "directory levels");
        }
        let ids = in_before.and_then(|entry| entry.id).zip(in_after.and_then(|entry| entry.id));
        if let Some(differing) = ids.and_then(|(before, after)| self.after.differing(path, before, after)) {
            let weight = self.weight(in_before, in_after);
            if !self.take(path, differing.members.saturating_mul(weight)) {
                return;
            }
            let (mut before, mut after) = (differing.before.iter().peekable(), differing.after.iter().peekable());
            while let Some(pair) = next_pair(&mut before, &mut after) {
                self.pair(pair.0, pair.1, depth);
            }
            return;
        }
        let before = list(self.before, in_before);
        let after = list(Some(self.after), in_after);
        let unreadable = || before.unreadable.iter().chain(&after.unreadable).cloned();
        let members = |listing: &Listing| (listing.entries.len() + listing.unreadable.len()) as u64;
        let weight = self.weight(in_before, in_after);
        if !self.take(path, members(&before).max(members(&after)).saturating_mul(weight)) {
            return self.found.unreadable.extend(unreadable());
        }
        let mut before_entries = before.entries.iter().peekable();
        let mut after_entries = after.entries.iter().peekable();
        while let Some(pair) = next_pair(&mut before_entries, &mut after_entries) {
            // An entry that one side could not read may exist on both: it is neither added nor removed.
            let is_certain = match pair {
                (Some(entry), None) => after.rules_out(path.as_bytes(), &entry.path),
                (None, Some(entry)) => before.rules_out(path.as_bytes(), &entry.path),
                _ => true,
            };
            if is_certain {
                self.pair(pair.0, pair.1, depth);
            }
        }
        self.found.unreadable.extend(unreadable());
    }

    /// How much each member of a directory counts: more if it is a copy of one that was opened before.
    fn weight(&mut self, before: Option<&Entry>, after: Option<&Entry>) -> u64 {
        let is_known = |entry: &Entry| entry.id.is_some_and(|id| !self.opened.insert(id));
        // Both are noted, so that the question is asked about both.
        let is_copy = [after, before].into_iter().flatten().map(is_known).filter(|is_known| !is_known).count() == 0;
        if is_copy && (before.is_some() || after.is_some()) { COPY } else { 1 }
    }

    /// Counts the members of a directory against the limit; returns whether they are within it.
    fn take(&mut self, directory: &RepoPath, members: u64) -> bool {
        let has_room = self.spent.take_entries(members, self.limits);
        if !has_room {
            self.is_exhausted = true;
            self.refuse(directory, self.limits.entries, "directory entries");
        }
        has_room
    }

    fn pair(&mut self, before: Option<&Entry>, after: Option<&Entry>, depth: u32) {
        if is_same(before, after) {
            return;
        }
        let Some(Entry { path, kind, .. }) = before.or(after) else { return };
        if *kind == EntryKind::Directory {
            self.directory(path, before, after, depth + 1);
        } else if self.scope.wants(path) {
            // Both sides share one copy of the path, because there can be many.
            let after = after.map(|after| Entry { path: path.clone(), ..*after });
            self.found.files.push(ChangedFile { path: path.clone(), before: before.cloned(), after });
        }
    }

    fn refuse(&mut self, path: &RepoPath, limit: u64, what: &'static str) {
        // Each limit is reported once, not for every further directory.
        let is_same =
            |reason: &Reason| matches!(reason, Reason::TooManyEntries { what: reported, .. } if *reported == what);
        let is_reported = |unreadable: &Unreadable| is_same(&unreadable.reason);
        if !self.found.unreadable.iter().any(is_reported) {
            let revision = self.after.label().into();
            let reason = Reason::TooManyEntries { limit, what };
            self.found.unreadable.push(Unreadable { path: path.clone(), revision, reason });
        }
    }
}

fn list(snapshot: Option<&dyn Snapshot>, directory: Option<&Entry>) -> Arc<Listing> {
    snapshot.zip(directory).map_or_else(Arc::default, |(snapshot, directory)| snapshot.listing_of(directory))
}

/// Whether two entries certainly have the same content.
fn is_same(before: Option<&Entry>, after: Option<&Entry>) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => before.kind == after.kind && before.id.is_some() && before.id == after.id,
        (None, None) => true,
        _ => false,
    }
}

/// Takes the next path off two listings, from both if both have it.
///
/// A directory pairs only with a directory: where a file was replaced by one, the file is removed and the directory is added.
fn next_pair<'e>(
    before: &mut Peekable<impl Iterator<Item = &'e Entry>>,
    after: &mut Peekable<impl Iterator<Item = &'e Entry>>,
) -> Option<(Option<&'e Entry>, Option<&'e Entry>)> {
    let order = match (before.peek(), after.peek()) {
        (None, None) => return None,
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(before), Some(after)) => before.sort_key().cmp(&after.sort_key()),
    };
    Some(match order {
        Ordering::Less => (before.next(), None),
        Ordering::Greater => (None, after.next()),
        Ordering::Equal => (before.next(), after.next()),
    })
}

#[cfg(test)]
mod tests;
