//! What is known about whole trees: which files and units depend on others. It is remembered under the id of a tree, and carried
//! over from one tree to the next.

use std::collections::BTreeSet;

use super::Question;
use crate::finding::Finding;
use crate::layout::{Edits, Files, TreeFacts};
use crate::limits::Spent;
use crate::path::RepoPath;
use crate::resource::Unit;
use crate::side::Side;
use crate::snapshot::{ObjectId, Scope, Snapshot, changes};

/// Keeps what is known about trees from run to run. What it does not return is found out again.
pub trait Memory: Sync {
    /// The facts of a tree that were remembered under this id, for this way of reading it.
    fn recall(&self, tree: ObjectId, reading: &str) -> Option<TreeFacts>;

    /// Remembers the facts of a tree.
    fn remember(&self, tree: ObjectId, reading: &str, facts: &TreeFacts);

    /// The trees that something is remembered about, the latest first.
    fn trees(&self) -> Vec<ObjectId> {
        Vec::new()
    }

    /// Looks at every file of a tree of which nothing is remembered. A memory that can measure time may note how long it takes.
    fn watch_look(&self, look: &mut dyn FnMut()) {
        look();
    }
}

/// Remembers nothing.
pub struct NoMemory;

impl Memory for NoMemory {
    fn recall(&self, _tree: ObjectId, _reading: &str) -> Option<TreeFacts> {
        None
    }

    fn remember(&self, _tree: ObjectId, _reading: &str, _facts: &TreeFacts) {}
}

/// What is known about both sides.
#[derive(Default)]
pub(super) struct Known {
    /// The older side; only where some layout has units.
    pub(super) before: Option<TreeFacts>,
    /// The newer side.
    pub(super) after: TreeFacts,
    /// The units of the older side that edits affect, if it is known.
    pub(super) affected: Option<BTreeSet<Unit>>,
    /// What kept units from being found.
    pub(super) findings: Vec<Finding>,
}

/// Finds out what is known about both sides, from memory as far as possible.
pub(super) fn known(question: &Question<'_>, edits: &Edits<'_>) -> Known {
    let has_units = question.after.files().has_units();
    let is_read = |side: &Side<'_>| side.settings.directives || side.settings.expressions;
    if !has_units && !is_read(question.before) && !is_read(question.after) {
        return Known::default();
    }
    let mut findings = Vec::new();
    let mut remember = |side: &Side<'_>, (facts, found): (TreeFacts, Vec<Finding>)| {
        if let Some(tree) = tree_id(side.snapshot).filter(|_| found.is_empty()) {
            question.memory.remember(tree, &reading(side.files()), &facts);
        }
        findings.extend(found);
        facts
    };
    let (before, after) = (question.before, question.after);
    let recalled = recall(question, after);
    // Without units, the files of one side that depend on others say what edits reach.
    let is_needed = has_units || recalled.is_none();
    let older = is_needed.then(|| {
        recall(question, before).unwrap_or_else(|| {
            let found = match &recalled {
                Some(facts) => facts.carried_over(edits, before.units()).0,
                // Most units are read only to know what they depend on.
                None => {
                    let found = near(question, before).unwrap_or_else(|| looked_at(question, before));
                    before.units().know(&found.0.files);
                    found
                }
            };
            remember(before, found)
        })
    });
    if let (None, Some(facts)) = (&older, &recalled) {
        before.units().know(&facts.files_of_other(edits, before.files()));
    }
    let (after, affected) = match (recalled, &older) {
        (Some(facts), _) => (facts, None),
        (None, Some(older)) => {
            let (found, affected) = older.carried_over(edits, after.units());
            (remember(after, found), Some(affected.units))
        }
        (None, None) => Default::default(),
    };
    Known { before: older, after, affected, findings }
}

/// What every file of a side says.
fn looked_at(question: &Question<'_>, side: &Side<'_>) -> (TreeFacts, Vec<Finding>) {
    let mut found = None;
    question.memory.watch_look(&mut || {
        found = Some(side.units().apart(|units| TreeFacts::read(units, question.budget)));
    });
    found.unwrap_or_default()
}

/// So many of the remembered trees are tried.
const NEAR_TREES: usize = 4;

/// The facts of a side, carried over from another tree that is remembered and still there: of the commit before, or of a branch.
fn near(question: &Question<'_>, side: &Side<'_>) -> Option<(TreeFacts, Vec<Finding>)> {
    let limits = &question.budget.limits;
    question.memory.trees().into_iter().take(NEAR_TREES).find_map(|tree| {
        let other = side.snapshot.other_tree(tree)?;
        let facts = question.memory.recall(tree, &reading(side.files()))?;
        let found = changes(&*other, side.snapshot, &Scope::everything(), limits, &Spent::default());
        // A shallow clone may lack the tree.
        if !found.unreadable.is_empty() {
            return None;
        }
        let edits = Edits::new(&found.files, [&*other, side.snapshot]);
        Some(side.units().apart(|units| facts.carried_over(&edits, units).0))
    })
}

fn recall(question: &Question<'_>, side: &Side<'_>) -> Option<TreeFacts> {
    let facts = question.memory.recall(tree_id(side.snapshot)?, &reading(side.files()))?;
    side.units().know(&facts.files);
    Some(facts)
}

fn tree_id(snapshot: &dyn Snapshot) -> Option<ObjectId> {
    snapshot.entry(&RepoPath::root()).ok().flatten().and_then(|entry| entry.id)
}

/// Counts how often the way in which layouts find units and files has changed: what an older build found is not used.
const FINDING: u32 = 3;

/// What beside the tree itself decides what its facts are.
fn reading(files: &Files<'_>) -> String {
    let given = files.given();
    let (settings, limits) = (given.settings, given.limits);
    let layouts: Vec<&str> = files.layouts().iter().map(|layout| layout.name()).collect();
    let dialects = (settings.unfurl, &settings.remotes, &settings.metadata_root, &settings.metadata_overlay);
    let choices = (settings.directives, settings.merge, settings.expressions, &settings.layouts_off, &settings.catalog);
    let options = (choices, &settings.roots, dialects, limits);
    format!("{} {FINDING} {layouts:?} {options:?}", env!("CARGO_PKG_VERSION"))
}
