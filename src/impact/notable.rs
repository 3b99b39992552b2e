//! Files whose meaning depends on other files: those that include something, and those that hold expressions.
//!
//! Which files of a tree are such is found by reading all of it once, and remembered under the id of the tree. From then on it is
//! carried over: after a change they are those of before, but for the files that changed.

use std::collections::BTreeSet;

use super::Question;
use crate::directive::may_include;
use crate::document::Format;
use crate::expression::eval::may_have_expressions;
use crate::limits::Budget;
use crate::parallel::few_or_many;
use crate::path::RepoPath;
use crate::side::Side;
use crate::snapshot::{Entry, EntryKind, ObjectId, Scope, Snapshot, files_below};

/// A file whose meaning depends on other files.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Notable {
    /// Which.
    pub path: RepoPath,
    /// Every file that its directives ask for, there or not.
    pub reads: Vec<RepoPath>,
    /// Whether it may hold expressions, which may read any resource.
    pub has_expressions: bool,
}

/// Remembers, under the id of a whole tree, which of its files depend on others. What is forgotten is found out again.
pub trait Memory: Sync {
    /// What was remembered.
    fn recall(&self, tree: ObjectId) -> Option<Vec<Notable>>;

    /// Remembers.
    fn remember(&self, tree: ObjectId, notable: &[Notable]);
}

/// Remembers nothing.
pub struct NoMemory;

impl Memory for NoMemory {
    fn recall(&self, _tree: ObjectId) -> Option<Vec<Notable>> {
        None
    }

    fn remember(&self, _tree: ObjectId, _notable: &[Notable]) {}
}

/// The notable files that were not edited, as they are on the newer side.
pub(super) fn unedited(question: &Question<'_>, edited: &BTreeSet<&RepoPath>) -> Vec<Notable> {
    let settings = [question.before.settings, question.after.settings];
    if !settings.iter().any(|settings| settings.directives || settings.expressions) {
        return Vec::new();
    }
    let (before, after) = (tree_id(question.before.snapshot), tree_id(question.after.snapshot));
    let recall = |tree: Option<ObjectId>| tree.and_then(|tree| question.memory.recall(tree));
    let mut known = recall(after).unwrap_or_else(|| {
        let known = recall(before).unwrap_or_else(|| {
            let known = all(question.before, question.budget);
            before.into_iter().for_each(|tree| question.memory.remember(tree, &known));
            known
        });
        let known = carried_over(question.after, known, edited);
        after.into_iter().for_each(|tree| question.memory.remember(tree, &known));
        known
    });
    known.retain(|notable| !edited.contains(&notable.path));
    known
}

fn tree_id(snapshot: &dyn Snapshot) -> Option<ObjectId> {
    snapshot.entry(&RepoPath::root()).ok().flatten().and_then(|entry| entry.id)
}

/// Every notable file of a world.
fn all(world: &Side<'_>, budget: &Budget) -> Vec<Notable> {
    let (entries, _) = files_below(world.snapshot, &Scope::everything(), &budget.limits, &budget.spent);
    among(world, entries)
}

/// What is notable in a world, given what was in another from which it differs by edits.
fn carried_over(world: &Side<'_>, known: Vec<Notable>, edited: &BTreeSet<&RepoPath>) -> Vec<Notable> {
    let is_stale = |notable: &Notable| notable.reads.iter().any(|read| edited.contains(read));
    let unedited = known.into_iter().filter(|notable| !edited.contains(&notable.path));
    let (stale, mut carried): (Vec<_>, Vec<_>) = unedited.partition(is_stale);
    let again = stale.iter().map(|notable| &notable.path).chain(edited.iter().copied());
    let entries = again.filter_map(|path| world.snapshot.entry(path).ok().flatten());
    carried.extend(among(world, entries.collect()));
    carried.sort_unstable();
    carried
}

/// The notable ones of some files; what cannot be read cannot depend on anything either.
fn among(world: &Side<'_>, mut entries: Vec<Entry>) -> Vec<Notable> {
    entries.retain(|entry| entry.kind == EntryKind::File && Format::of_file_name(entry.path.file_name()).is_some());
    if entries.len() >= 256 {
        world.snapshot.sort_for_reading(&mut entries);
    }
    let look = |entry: Entry| {
        let bytes = world.snapshot.read(&entry).ok()?;
        let (includes, has_expressions) = (may_include(&bytes), may_have_expressions(&bytes));
        drop(bytes);
        let reads = if includes { world.file(&entry.path).reads.keys().cloned().collect() } else { Vec::new() };
        (includes || has_expressions).then_some(Notable { path: entry.path, reads, has_expressions })
    };
    let mut notable: Vec<Notable> = few_or_many(entries, 32, look).into_iter().flatten().collect();
    notable.sort_unstable();
    notable
}
