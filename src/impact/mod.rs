//! Which files and units a set of edits can affect, through layers, includes, expressions and names.
//!
//! What is named here is compared; whether it really changed turns out then. Naming too much costs time. Naming too little would
//! give a wrong answer: a resource that is left out counts as unchanged.

mod ancestor_readers;
mod beside;
mod dependents;
mod layer_edits;
mod layer_reach;
mod openapi_readers;
mod role_changes;
mod selected;

use std::collections::{BTreeMap, BTreeSet};

use crate::document::Format;
use crate::finding::Finding;
use crate::layout::{Edits, Input, PathSet, Role, TreeFacts, UnitFacts};
use crate::limits::Budget;
use crate::metadata::{MetadataPath, is_layer_file};
use crate::path::RepoPath;
use crate::resource::Unit;
use crate::settings::Settings;
use crate::side::Side;
use crate::snapshot::{ChangedFile, Changes, Entry, Scope, Snapshot, Unreadable, changes, files_below};

pub use ancestor_readers::{AncestorReaders, ancestor_readers};
pub use dependents::{Memory, NoMemory};
pub use layer_edits::{EditReaders, LayerEdit, LayerEdits, OverridingResource};
pub use layer_reach::{ReachChange, changes_reach, reach_changes};

/// Two sides and what is asked about them.
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
    /// Layers whose content differs, by an edit of their own or of a file they include. Anywhere in the repository.
    pub layers: Vec<RepoPath>,
    /// The selectors of those layers, on either side.
    pub selectors: BTreeSet<MetadataPath>,
    /// Whether the sides read their files in different ways, so that everything may be affected.
    pub is_everything: bool,
    /// Units that may render something else now, that came or that went, and whether each side has them.
    pub units: BTreeMap<Unit, [bool; 2]>,
    /// The files of each side that are shown by units, and not on their own.
    pub in_units: [PathSet; 2],
    /// The files of each side that units read which could not be rendered on it.
    pub in_broken: [PathSet; 2],
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
    // A unit may read a file of any format.
    let has_units = [question.before, question.after].iter().any(|side| side.files().has_units());
    let may_matter = |file: &ChangedFile| has_units || Format::of_file_name(file.path.file_name()).is_some();
    let beside = beside::beside(question, edited);
    if beside.is_some() || edited.iter().any(may_matter) {
        if reads_otherwise(question.before.settings, question.after.settings) {
            impact.is_everything = true;
            impact.affect(question, everything_else(question));
            impact = impact.with_units_of([Some(question.before), Some(question.after)], question.budget);
        } else {
            known = impact.follow(question, edited, beside.unwrap_or_default());
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
    impact = impact.with_units_of([Some(question.before), Some(question.after)], question.budget);
    impact.affected.extend(found.files.iter().map(|file| file.path.clone()));
    impact.take(question, found.files, &[], BTreeMap::new());
    impact
}

impl Impact {
    /// Takes the edited files, and the affected ones with them. `known` has entries of the newer side that need not be looked up.
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

    /// Finds what is affected, and returns entries of the newer side that it looked up on the way.
    fn follow(
        &mut self,
        question: &Question<'_>,
        files: &[ChangedFile],
        beside: beside::Beside,
    ) -> BTreeMap<RepoPath, Entry> {
        let edits = Edits::new(files, [question.before.snapshot, question.after.snapshot]);
        let edited: BTreeSet<&RepoPath> = files.iter().map(|file| &file.path).collect();
        self.layers =
            edited.iter().filter(|path| is_layer_file(path.file_name())).map(|path| (*path).clone()).collect();
        self.layers.extend(beside.layers);
        let mut affected: Vec<RepoPath> = role_changes::role_changes(question, &edited);
        affected.extend(beside.resources);
        let known = dependents::known(question, &edits);
        let differences = known.after.against(&edits, &known.after.files);
        for (path, facts) in known.after.files.iter().filter(|(path, _)| !edited.contains(path)) {
            let reached: Vec<&Input> = facts.inputs.iter().filter(|input| differences.has(input)).collect();
            let includes = |input: &&Input| matches!(input, Input::File(_) | Input::Absent(_));
            if reached.iter().any(includes) && question.after.roles().role(path) == Role::Layer {
                self.layers.push(path.clone());
            }
            if !reached.is_empty() {
                affected.push(path.clone());
            }
        }
        affected.extend(self.take_units(&known, &edits));
        affected.extend(openapi_readers::openapi_readers(question, &edited));
        self.findings.extend(known.findings);
        self.layers.sort_unstable();
        self.layers.dedup();
        let sides = [question.before, question.after];
        let selectors = |file: &RepoPath| sides.map(|side| side.layers().selector_of(file));
        self.selectors = self.layers.iter().flat_map(selectors).flatten().collect();
        self.affect(question, affected);
        let is_asked_for = self.layers.iter().any(|layer| question.scope.wants(layer));
        let (selected, findings) = selected::selected(question, &self.selectors);
        self.findings.extend(findings);
        let wanted = |path: &&RepoPath| is_asked_for || question.scope.wants(path);
        self.affected.extend(selected.keys().filter(wanted).cloned());
        selected
    }

    /// Takes the units that edits affect, and returns the files that are shown on their own on one side only.
    fn take_units(&mut self, known: &dependents::Known, edits: &Edits<'_>) -> Vec<RepoPath> {
        let Some(before) = &known.before else { return Vec::new() };
        let affected = match &known.affected {
            Some(affected) => affected,
            None => &before.affected(edits, &known.after.files).units,
        };
        let sides = [&before.units, &known.after.units];
        self.units = on_sides(sides, |unit, on| on != [true, true] || affected.contains(unit));
        self.in_units = in_units(sides);
        self.in_broken = sides.map(in_broken);
        self.in_one_side_only(sides)
    }

    /// The files that units of one side show, and none of the other. Only where a unit differs can there be any.
    fn in_one_side_only(&self, sides: [&BTreeMap<Unit, UnitFacts>; 2]) -> Vec<RepoPath> {
        let mut found = BTreeSet::new();
        for (units, others) in [(sides[0], sides[1]), (sides[1], sides[0])] {
            let is_other =
                |(unit, facts): &(&Unit, &UnitFacts)| !others.get(unit).is_some_and(|it| it.shows_same(facts));
            for (_, facts) in units.iter().filter(is_other) {
                let is_in = |path: &[u8]| self.in_units.each_ref().map(|shown| shown.contains_bytes(path));
                let one_sided = facts.shows.iter().filter(|path| matches!(is_in(path), [true, false] | [false, true]));
                found.extend(one_sided.filter_map(|path| RepoPath::new(path).ok()));
            }
        }
        found.into_iter().collect()
    }

    /// Adds every unit of some sides.
    #[must_use]
    pub fn with_units_of(mut self, sides: [Option<&Side<'_>>; 2], budget: &Budget) -> Self {
        let found = sides.map(|side| {
            let facts = side.filter(|side| side.files().has_units()).map(|side| TreeFacts::read(side.units(), budget));
            facts.map(|(facts, findings)| (facts.units, findings))
        });
        let [before, after] = found.map(Option::unwrap_or_default);
        self.units = on_sides([&before.0, &after.0], |_, _| true);
        self.in_units = in_units([&before.0, &after.0]);
        self.in_broken = [&before.0, &after.0].map(in_broken);
        self.findings.extend(before.1.into_iter().chain(after.1));
        self
    }

    fn affect(&mut self, question: &Question<'_>, files: Vec<RepoPath>) {
        self.affected.extend(files.into_iter().filter(|path| question.scope.wants(path)));
    }
}

/// The shown units that are wanted, and which sides have them.
fn on_sides(
    sides: [&BTreeMap<Unit, UnitFacts>; 2],
    is_wanted: impl Fn(&Unit, [bool; 2]) -> bool,
) -> BTreeMap<Unit, [bool; 2]> {
    let on = |unit: &Unit| sides.map(|units| units.get(unit).is_some_and(|facts| facts.is_shown));
    let all = sides.into_iter().flat_map(BTreeMap::keys).map(|unit| (unit, on(unit)));
    let shown = all.filter(|(unit, on)| *on != [false, false] && is_wanted(unit, *on));
    shown.map(|(unit, on)| (unit.clone(), on)).collect()
}

/// The files that shown units show, on each side. What a unit shows that cannot be rendered on some side is compared as written.
fn in_units(sides: [&BTreeMap<Unit, UnitFacts>; 2]) -> [PathSet; 2] {
    let is_broken = |unit: &Unit| sides.iter().any(|units| units.get(unit).is_some_and(|facts| facts.is_broken));
    sides.map(|units| {
        let shown = units.iter().filter(|(unit, facts)| facts.is_shown && !is_broken(unit));
        PathSet::of(shown.map(|(_, facts)| &facts.shows))
    })
}

/// The files that units read which could not be rendered.
fn in_broken(units: &BTreeMap<Unit, UnitFacts>) -> PathSet {
    PathSet::of(units.values().filter(|facts| facts.is_broken).map(|facts| &facts.shows))
}

fn edits(question: &Question<'_>, scope: &Scope) -> Changes {
    let Budget { limits, spent, .. } = question.budget;
    changes(question.before.snapshot, question.after.snapshot, scope, limits, spent)
}

/// Whether the sides read the same files differently.
fn reads_otherwise(before: &Settings, after: &Settings) -> bool {
    let reading = |settings: &Settings| {
        let Settings { roots, metadata_root, metadata_overlay, directives, merge, expressions, .. } = settings;
        let metadata = (metadata_root.clone(), metadata_overlay.clone());
        let dialects = (settings.unfurl, settings.layouts_off.clone(), settings.catalog.clone());
        (roots.clone(), metadata, *directives, *merge, *expressions, dialects)
    };
    reading(before) != reading(after)
}

/// Every file of the newer side; what only the older has was edited.
fn everything_else(question: &Question<'_>) -> Vec<RepoPath> {
    let Budget { limits, spent, .. } = question.budget;
    let (entries, _) = files_below(question.after.snapshot, question.scope, limits, spent);
    entries.into_iter().map(|Entry { path, .. }| path).collect()
}

#[cfg(test)]
mod tests;
