//! Finds out what is known about a tree, by reading all of it once or by carrying over what is known about another.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::kustomize;
use super::{
    Affected, Ask, Edits, FileContent, FileFacts, FileTable, Files, Found, IndexEntry, Input, Inputs, TreeFacts,
    UnitFacts, Units,
};
use crate::directive::{self, Read, may_include};
use crate::document::Format;
use crate::expression::eval::{has_expressions, may_say_eval};
use crate::finding::{self, Finding, Location};
use crate::limits::Budget;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::{Content, Resource, Unit, parse_some};
use crate::scan::has_byte;
use crate::snapshot::{Entry, EntryKind, Scope, files_below};
use crate::text::Sources;

/// Units that are found in what other units render may go this deep.
const ROUNDS: usize = 32;

impl TreeFacts {
    /// Reads a whole tree.
    pub fn read(units: &Units<'_>, budget: &Budget) -> (Self, Vec<Finding>) {
        let mut known = Self::read_table(units, budget);
        let findings = known.find_units(units, None, None);
        (known, findings)
    }

    /// Reads the files of a tree, and those of its units that may read one of some files.
    pub fn read_units_of(units: &Units<'_>, budget: &Budget, files: &BTreeSet<RepoPath>) -> Self {
        let mut known = Self::read_table(units, budget);
        known.find_units(units, None, Some(files));
        known
    }

    fn read_table(units: &Units<'_>, budget: &Budget) -> Self {
        let table = units.known_files().cloned().unwrap_or_else(|| Arc::new(read_files(units.files(), budget)));
        units.know(&table);
        Self { files: table, ..Self::default() }
    }

    /// The facts of a tree that differs from this one by edits, and what these affect among the units of this one.
    #[must_use]
    pub fn carried_over(&self, edits: &Edits<'_>, units: &Units<'_>) -> ((Self, Vec<Finding>), Affected) {
        let table = carry_files(&self.files, edits, units.files());
        units.know(&table);
        let mut known = Self { files: table, ..Self::default() };
        let affected = self.affected(edits, &known.files);
        let findings = known.find_units(units, Some((self, &affected)), None);
        ((known, findings), affected)
    }

    /// What is known about the files of a tree that differs from this one by edits.
    pub fn files_of_other(&self, edits: &Edits<'_>, files: &Files<'_>) -> FileTable {
        carry_files(&self.files, edits, files)
    }

    /// Finds all units and what they depend on; those that are known from another tree and not affected are taken over. Where only the
    /// readers of some files are wanted, other units may be left out.
    fn find_units(
        &mut self,
        units: &Units<'_>,
        known: Option<(&Self, &Affected)>,
        wanted: Option<&BTreeSet<RepoPath>>,
    ) -> Vec<Finding> {
        for layout in units.files().unit_layouts() {
            let unaffected = known.filter(|(_, affected)| !affected.layouts.contains(layout.name()));
            if let Some(found) = unaffected.and_then(|(known, _)| known.finding.get(layout.name())) {
                self.finding.insert(layout.name().into(), found.clone());
                continue;
            }
            let ask = Ask::new(units, Vec::new());
            let found = layout.units(&ask);
            let found = match wanted {
                Some(files) => layout.units_that_may_read(&ask, found, files),
                None => found,
            };
            self.finding.insert(layout.name().into(), Found { inputs: ask.finish().0, units: found });
        }
        let mut round: Vec<(Unit, bool)> =
            self.finding.values().flat_map(|found| found.units.iter().map(|unit| (unit.clone(), true))).collect();
        for _ in 0..ROUNDS {
            let mut next = Vec::new();
            let mut found = self.facts_of_units(&round, units, known);
            for (unit, is_shown) in round {
                let facts = self.units.entry(unit).or_insert_with_key(|unit| {
                    let facts = found.remove(unit).unwrap_or_default();
                    next.extend(facts.inputs.outputs().map(|unit| (unit, false)));
                    UnitFacts { is_shown: false, ..facts }
                });
                if is_shown && !facts.is_shown {
                    facts.is_shown = true;
                    next.extend(facts.found.iter().map(|unit| (unit.clone(), true)));
                }
            }
            round = next;
            if round.is_empty() {
                return Vec::new();
            }
        }
        let given = units.files().given();
        let location = Location::File { path: RepoPath::root(), revision: given.snapshot.label().into() };
        let message = format!("units are found in the output of other units more than {ROUNDS} levels deep");
        vec![
            Finding::new(&finding::LIMIT_ENTRIES, location, message)
                .help("look for units that generate new ones without end"),
        ]
    }
}

impl TreeFacts {
    /// The facts of those units of a round that are not known yet. Those that are affected, or known from nowhere, are rendered.
    fn facts_of_units(
        &self,
        round: &[(Unit, bool)],
        units: &Units<'_>,
        known: Option<(&Self, &Affected)>,
    ) -> BTreeMap<Unit, UnitFacts> {
        let wanted: BTreeSet<&Unit> =
            round.iter().map(|(unit, _)| unit).filter(|unit| !self.units.contains_key(*unit)).collect();
        let mut facts = BTreeMap::new();
        let mut unknown = Vec::new();
        for unit in wanted {
            let unaffected = known.filter(|(_, affected)| !affected.units.contains(unit));
            match unaffected.and_then(|(known, _)| known.units.get(unit)) {
                Some(carried) => drop(facts.insert(unit.clone(), carried.clone())),
                None => unknown.push(unit),
            }
        }
        facts.extend(few_or_many(unknown, FEW, |unit: &Unit| (unit.clone(), units.unit_facts(unit))));
        facts
    }
}

/// The facts of every file of a snapshot.
fn read_files(files: &Files<'_>, budget: &Budget) -> BTreeMap<RepoPath, FileFacts> {
    let given = files.given();
    let (entries, _) = files_below(given.snapshot, &Scope::everything(), &budget.limits, &budget.spent);
    facts_of(files, entries)
}

/// The facts of the files of a tree that differs by edits from one whose facts are known.
fn carry_files(known: &FileTable, edits: &Edits<'_>, files: &Files<'_>) -> FileTable {
    // Which files exist elsewhere does not change what a file holds.
    let is_stale = |facts: &FileFacts| {
        facts.inputs.iter().any(|input| matches!(input, Input::File(path) | Input::Absent(path) if edits.reaches(path)))
    };
    let mut again: BTreeSet<&RepoPath> = edits.files().iter().map(|file| &file.path).collect();
    again.extend(known.iter().filter(|(_, facts)| is_stale(facts)).map(|(path, _)| path));
    let entries = again.iter().filter_map(|path| files.given().snapshot.entry(path).ok().flatten());
    let found = facts_of(files, entries.collect());
    if found.is_empty() && !again.iter().any(|path| known.contains_key(*path)) {
        return Arc::clone(known);
    }
    let mut carried = BTreeMap::clone(known);
    again.into_iter().for_each(|path| drop(carried.remove(path)));
    carried.extend(found);
    Arc::new(carried)
}

/// Fewer files than this are read faster than they are sorted by their place in a pack.
const FEW_TO_SORT: usize = 256;

/// The facts of some files, where there are any. A file that cannot be read cannot depend on anything either.
fn facts_of(files: &Files<'_>, mut entries: Vec<Entry>) -> BTreeMap<RepoPath, FileFacts> {
    entries.retain(|entry| entry.kind == EntryKind::File && Format::of_file_name(entry.path.file_name()).is_some());
    if entries.len() >= FEW_TO_SORT {
        files.given().snapshot.sort_for_reading(&mut entries);
    }
    let facts = few_or_many(entries, 32, |entry: Entry| Some((entry.path.clone(), files.file_facts(&entry)?)));
    let mut known: BTreeSet<Inputs> = BTreeSet::new();
    let mut shared = |inputs: Inputs| {
        let inputs = known.get(&inputs).cloned().unwrap_or(inputs);
        known.insert(Arc::clone(&inputs));
        inputs
    };
    let facts = facts.into_iter().flatten();
    facts.map(|(path, facts)| (path, FileFacts { inputs: shared(facts.inputs), ..facts })).collect()
}

impl Files<'_> {
    /// What a file depends on and holds, if it is anything beside its own content.
    fn file_facts(&self, entry: &Entry) -> Option<FileFacts> {
        let mut facts = None;
        // A file that cannot be read cannot depend on anything either.
        let _ = self.given().snapshot.look(entry, &mut |bytes| {
            facts = self.may_matter(&entry.path, bytes).then(|| self.facts_of_bytes(&entry.path, bytes));
        });
        facts.filter(|facts| !facts.inputs.is_empty() || !facts.entries.is_empty())
    }

    /// Whether a file may depend on others or hold something for an index, judged by its bytes. A no is certain.
    fn may_matter(&self, path: &RepoPath, bytes: &[u8]) -> bool {
        let settings = self.given().settings;
        let may_read = (settings.directives || settings.expressions) && may_include(bytes);
        may_read
            || settings.expressions && may_say_eval(bytes)
            || kustomize::may_use_files(path, bytes)
            || self.unit_layouts().any(|layout| layout.may_index(path, bytes))
    }

    fn facts_of_bytes(&self, path: &RepoPath, bytes: &[u8]) -> FileFacts {
        let given = self.given();
        // Most files that look like it have neither directives nor expressions. Their texts need not be kept.
        let content = Content { bytes, path, revision: given.snapshot.label() };
        let sources = Arc::new(Sources::default());
        // A directive may take from another document of its file what makes it matter.
        let has_directives = given.settings.directives && [b'+', b'\\'].iter().any(|byte| has_byte(bytes, *byte));
        let mut wanted = |piece: &str| has_directives || self.may_matter(path, piece.as_bytes());
        let parsed = parse_some(content, &sources, given.limits, &mut wanted);
        let facts = if given.settings.directives && parsed.documents.iter().any(directive::has_directives) {
            self.facts_in(&self.file(path))
        } else {
            self.facts_in(&self.content(path, &parsed))
        };
        let of_file = self.unit_layouts().flat_map(|layout| layout.index_file(path, bytes, given.limits));
        let mut entries: Vec<IndexEntry> = facts.entries.iter().cloned().chain(of_file).collect();
        entries.sort_unstable();
        entries.dedup();
        FileFacts { entries: entries.into(), ..facts }
    }

    fn facts_in(&self, content: &FileContent) -> FileFacts {
        let mut inputs: Vec<Input> = content.reads.iter().map(|(path, read)| input(path, *read)).collect();
        // Paths in documents of Unfurl are not looked up.
        let is_unfurl = |resource: &Resource| {
            self.given().settings.unfurl && directive::unfurl_role(&resource.payload, &resource.file).is_some()
        };
        let computes = |resource: &Resource| has_expressions(&resource.payload) && !is_unfurl(resource);
        if self.given().settings.expressions && content.resources.iter().any(computes) {
            // What an expression reads is known only when it is evaluated; it can be any resource.
            inputs.push(Input::Subtree(RepoPath::root()));
        }
        inputs.sort_unstable();
        let entries = content.resources.iter().flat_map(|resource| {
            let is_kustomization = kustomize::is_kustomization(resource.file.file_name());
            let uses = is_kustomization.then(|| kustomize::index_of_uses(&resource.payload));
            self.unit_layouts().flat_map(|layout| layout.index(resource)).chain(uses.into_iter().flatten())
        });
        FileFacts { inputs: inputs.into(), entries: entries.collect() }
    }
}

fn input(path: &RepoPath, read: Read) -> Input {
    match read {
        Read::Present(_) => Input::File(path.clone()),
        Read::Absent => Input::Absent(path.clone()),
    }
}
