//! Files that include others: an edit of what they include is a change of them, though they are not edited themselves.
//!
//! Which files of a tree include something is found by reading all of it once, and remembered under the id of the tree. From
//! then on it is carried over: what includes something after a change is what did before, but for the files that changed.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::Request;
use crate::document::Format;
use crate::limits::Budget;
use crate::merge::may_include;
use crate::path::RepoPath;
use crate::source::{ChangedFile, Changes, Entry, EntryKind, ObjectId, Scope, Snapshot, changes, files_below};

/// Remembers, under the id of a whole tree, which of its files include others. What is forgotten is found out again.
pub trait Memory: Sync {
    /// What was remembered.
    fn recall(&self, tree: ObjectId) -> Option<Vec<RepoPath>>;

    /// Remembers.
    fn remember(&self, tree: ObjectId, includers: &[RepoPath]);
}

/// Remembers nothing.
pub struct NoMemory;

impl Memory for NoMemory {
    fn recall(&self, _tree: ObjectId) -> Option<Vec<RepoPath>> {
        None
    }

    fn remember(&self, _tree: ObjectId, _includers: &[RepoPath]) {}
}

/// Adds to the changed files those that did not change but include something: whether they are affected turns out when both
/// sides are expanded.
pub(super) fn add_includers(request: &Request<'_>, found: &mut Changes) {
    let settings = request.configuration;
    if !settings.before.directives && !settings.after.directives {
        return;
    }
    let paths = |found: &Changes| found.files.iter().map(|file| file.path.clone()).collect::<BTreeSet<_>>();
    // A file of interest may include one that is not.
    let changed = match request.scope.is_everything() {
        true => paths(found),
        false => {
            let Budget { limits, spent, .. } = request.budget;
            paths(&changes(request.before, request.after, &Scope::everything(), limits, spent))
        }
    };
    if !changed.iter().any(|path| Format::of_file_name(path.file_name()).is_some()) {
        return;
    }
    for path in unchanged_includers(request, &changed) {
        let entry = |snapshot: &dyn Snapshot| snapshot.entry(&path).ok().flatten();
        let (before, after) = (entry(request.before), entry(request.after));
        if request.scope.wants(&path) && before.is_some() && after.is_some() {
            found.files.push(ChangedFile { path, before, after });
        }
    }
    found.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
}

/// Files that are the same on both sides and include others.
fn unchanged_includers(request: &Request<'_>, changed: &BTreeSet<RepoPath>) -> Vec<RepoPath> {
    let id = |snapshot: &dyn Snapshot| snapshot.entry(&RepoPath::root()).ok().flatten().and_then(|entry| entry.id);
    let (before, after) = (id(request.before), id(request.after));
    let recall = |tree: Option<ObjectId>| tree.and_then(|tree| request.memory.recall(tree));
    if let Some(known) = recall(after) {
        return known.into_iter().filter(|path| !changed.contains(path)).collect();
    }
    // What includes something after a change is what did before, but for the files that changed.
    let (unchanged, edited) = match recall(before) {
        Some(known) => {
            let unchanged = known.into_iter().filter(|path| !changed.contains(path)).collect();
            let entries = changed.iter().filter_map(|path| request.after.entry(path).ok().flatten());
            (unchanged, includers_among(request.after, entries.collect()))
        }
        None => {
            let limits = &request.budget.limits;
            let (entries, _) = files_below(request.after, &Scope::everything(), limits, &request.budget.spent);
            includers_among(request.after, entries).into_iter().partition(|path| !changed.contains(path))
        }
    };
    if let Some(tree) = after {
        let all: Vec<RepoPath> = unchanged.iter().chain(&edited).cloned().collect();
        request.memory.remember(tree, &all);
    }
    unchanged
}

/// Those of some files whose text can hold an include directive; what cannot be read cannot be expanded either.
fn includers_among(snapshot: &dyn Snapshot, mut entries: Vec<Entry>) -> Vec<RepoPath> {
    entries.retain(|entry| entry.kind == EntryKind::File && Format::of_file_name(entry.path.file_name()).is_some());
    snapshot.sort_for_reading(&mut entries);
    let includes = |entry: &Entry| snapshot.read(entry).is_ok_and(|bytes| may_include(&bytes));
    let mut includers: Vec<RepoPath> =
        entries.into_par_iter().filter(|entry| includes(entry)).map(|entry| entry.path).collect();
    includers.sort_unstable();
    includers
}
