//! Stage 11, impact: which files a set of edits can affect, through layers, includes, expressions and names.
//!
//! What is named here is compared; whether it really changed turns out then. So it may name too much, at a price, but never too
//! little: a resource that is left out here is taken for unchanged.

mod ancestor_readers;
mod layer_edits;
mod notable;
mod roles;
mod selected;

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Format;
use crate::finding::Finding;
use crate::layout::Role;
use crate::limits::Budget;
use crate::metadata::{MetadataPath, is_layer_file};
use crate::path::RepoPath;
use crate::settings::Settings;
use crate::side::Side;
use crate::snapshot::{ChangedFile, Changes, Entry, Scope, Snapshot, Unreadable, changes, files_below};

pub use ancestor_readers::{AncestorReaders, ancestor_readers};
pub use layer_edits::{LayerEdit, LayerEdits, OverridingResource, layer_edits};
pub use notable::{Memory, NoMemory, Notable};

/// Two worlds and what is asked about them.
pub struct Question<'a> {
    /// The older side.
    pub before: &'a Side<'a>,
    /// The newer side.
    pub after: &'a Side<'a>,
    /// The files of interest.
    pub scope: &'a Scope,
    /// What the run may use up.
    pub budget: &'a Budget,
    /// What is known about whole trees from earlier runs.
    pub memory: &'a dyn Memory,
}

/// The files that edits can affect, and through what.
#[derive(Debug, Default)]
pub struct Impact {
    /// Files of interest that were edited or may be affected, in byte order.
    pub files: Vec<ChangedFile>,
    /// Those of them that may differ even if they are the same to the letter.
    pub affected: BTreeSet<RepoPath>,
    /// Layers that say something else now: edited, or including something that was. Anywhere in the repository.
    pub layers: Vec<RepoPath>,
    /// Whom those layers speak for, on either side.
    pub selectors: BTreeSet<MetadataPath>,
    /// Whether the sides read their files in different ways, so that everything may be affected.
    pub is_everything: bool,
    /// What could not be looked at.
    pub unreadable: Vec<Unreadable>,
    /// What else is to be said.
    pub findings: Vec<Finding>,
}

/// Finds out what the difference between two snapshots can affect.
pub fn impact(question: &Question<'_>) -> Impact {
    let found = edits(question, question.scope);
    let everywhere = match question.scope.is_everything() {
        true => None,
        // A resource of interest may be affected from elsewhere.
        false => Some(edits(question, &Scope::everything()).files),
    };
    let edited = everywhere.as_deref().unwrap_or(&found.files);
    let mut impact = Impact { unreadable: found.unreadable, ..Impact::default() };
    let mut known = BTreeMap::new();
    if edited.iter().any(|file| Format::of_file_name(file.path.file_name()).is_some()) {
        if reads_otherwise(question.before.settings, question.after.settings) {
            impact.is_everything = true;
            impact.affect(question, everything_else(question));
        } else {
            let edited: BTreeSet<&RepoPath> = edited.iter().map(|file| &file.path).collect();
            known = impact.follow(question, &edited);
        }
    }
    impact.take(question, found.files, everywhere.as_deref().unwrap_or_default(), known);
    impact
}

/// Every file of both sides, as if all of them could be affected.
pub fn everything(question: &Question<'_>) -> Impact {
    let found = edits(question, question.scope);
    let mut impact = Impact { unreadable: found.unreadable, is_everything: true, ..Impact::default() };
    impact.affect(question, everything_else(question));
    impact.affected.extend(found.files.iter().map(|file| file.path.clone()));
    impact.take(question, found.files, &[], BTreeMap::new());
    impact
}

impl Impact {
    /// Takes the edited files, and the affected ones with them. Of some it is known what stands there on the newer side.
    fn take(
        &mut self,
        question: &Question<'_>,
        edited: Vec<ChangedFile>,
        elsewhere: &[ChangedFile],
        mut known: BTreeMap<RepoPath, Entry>,
    ) {
        let entry = |snapshot: &dyn Snapshot, path| snapshot.entry(path).ok().flatten();
        let is_among =
            |path: &RepoPath, files: &[ChangedFile]| files.binary_search_by(|file| file.path.cmp(path)).is_ok();
        let unedited = self.affected.iter().filter(|path| !is_among(path, &edited)).map(|path| {
            let after = known.remove(path).or_else(|| entry(question.after.snapshot, path));
            // What was edited nowhere is the same on both sides.
            let before = match is_among(path, elsewhere) {
                true => entry(question.before.snapshot, path),
                false => after.clone(),
            };
            ChangedFile { path: path.clone(), before, after }
        });
        let unedited: Vec<ChangedFile> = unedited.collect();
        self.files = edited;
        self.files.extend(unedited);
        self.files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    }

    /// Finds what is affected, and gives back what it came to know about files of the newer side.
    fn follow(&mut self, question: &Question<'_>, edited: &BTreeSet<&RepoPath>) -> BTreeMap<RepoPath, Entry> {
        self.layers =
            edited.iter().filter(|path| is_layer_file(path.file_name())).map(|path| (*path).clone()).collect();
        let mut affected: Vec<RepoPath> = roles::shifted(question, edited);
        for notable in notable::unedited(question, edited) {
            let is_reached = notable.reads.iter().any(|read| edited.contains(read));
            if is_reached && question.after.roles().of(&notable.path) == Role::Layer {
                self.layers.push(notable.path.clone());
            }
            // What an expression reads is known only when it is evaluated, so each of them is.
            if is_reached || notable.has_expressions {
                affected.push(notable.path);
            }
        }
        self.layers.sort_unstable();
        self.layers.dedup();
        let sides = [question.before, question.after];
        let speaks_for = |file: &RepoPath| sides.map(|side| side.layers().selector_of(file));
        self.selectors = self.layers.iter().flat_map(speaks_for).flatten().collect();
        self.affect(question, affected);
        let is_asked_for = self.layers.iter().any(|layer| question.scope.wants(layer));
        let (selected, findings) = selected::selected(question, &self.selectors);
        self.findings.extend(findings);
        let wanted = |path: &&RepoPath| is_asked_for || question.scope.wants(path);
        self.affected.extend(selected.keys().filter(wanted).cloned());
        selected
    }

    fn affect(&mut self, question: &Question<'_>, files: Vec<RepoPath>) {
        self.affected.extend(files.into_iter().filter(|path| question.scope.wants(path)));
    }
}

fn edits(question: &Question<'_>, scope: &Scope) -> Changes {
    let Budget { limits, spent, .. } = question.budget;
    changes(question.before.snapshot, question.after.snapshot, scope, limits, spent)
}

/// Whether the sides read the same files differently.
fn reads_otherwise(before: &Settings, after: &Settings) -> bool {
    let reading = |settings: &Settings| {
        let Settings { roots, metadata_root, directives, merge, expressions, .. } = settings;
        (roots.clone(), metadata_root.clone(), *directives, *merge, *expressions)
    };
    reading(before) != reading(after)
}

/// Every file of the newer side; what only the older has was edited.
fn everything_else(question: &Question<'_>) -> Vec<RepoPath> {
    let Budget { limits, spent, .. } = question.budget;
    let (entries, _) = files_below(question.after.snapshot, question.scope, limits, spent);
    entries.into_iter().map(|Entry { path, .. }| path).collect()
}
