//! What is known about a whole tree of files: which of them depend on others, what they hold for indexes, and its units.
//!
//! Facts are found by reading the tree once. From then on they are carried over: after an edit they are those of before, but for
//! what the edit reaches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::{Ask, Edits, FileContent, Files, IndexEntry, Input, Inputs, Unit};
use crate::directive::{self, Read, may_include};
use crate::document::Format;
use crate::expression::eval::{has_expressions, may_have_expressions};
use crate::finding::{self, Finding, Location};
use crate::limits::Budget;
use crate::parallel::few_or_many;
use crate::path::RepoPath;
use crate::resource::{Content, parse};
use crate::snapshot::{Entry, EntryKind, Scope, files_below};
use crate::text::Sources;

/// What is known about a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TreeFacts {
    /// What is known about single files; a file that is not listed depends on nothing but its own content.
    pub files: FileTable,
    /// What finding units depended on, for each layout that has units of its own.
    pub finding: BTreeMap<SmolStr, Found>,
    /// Every unit, and every unit whose output another one asks for.
    pub units: BTreeMap<Unit, UnitFacts>,
}

/// What is known about the files of a tree.
pub type FileTable = Arc<BTreeMap<RepoPath, FileFacts>>;

/// What is known about one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// What its resources depend on beside its own content.
    pub inputs: Inputs,
    /// Where indexes list it.
    pub entries: Vec<IndexEntry>,
}

/// The units that a layout finds in files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// What finding them depended on.
    pub inputs: Inputs,
    /// The units.
    pub units: Vec<Unit>,
}

/// What is known about one unit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnitFacts {
    /// What its output depends on.
    pub inputs: Inputs,
    /// Units that are found in its output.
    pub found: Vec<Unit>,
    /// Files that it shows, so that they are not shown on their own.
    pub shows: Vec<RepoPath>,
    /// Whether it is shown itself, and not only part of others.
    pub is_shown: bool,
}

/// Units that are found in what other units render may go this deep.
const ROUNDS: usize = 32;

impl TreeFacts {
    /// Reads a whole tree.
    pub fn read(files: &Files<'_>, budget: &Budget) -> (Self, Vec<Finding>) {
        let table = Arc::new(read_files(files, budget));
        files.know(&table);
        let mut known = Self { files: table, ..Self::default() };
        let findings = known.find_units(files, None);
        (known, findings)
    }

    /// All units of a tree, whatever is known about its files.
    pub fn units(files: &Files<'_>) -> (BTreeMap<Unit, UnitFacts>, Vec<Finding>) {
        let mut known = Self::default();
        let findings = known.find_units(files, None);
        (known.units, findings)
    }

    /// The facts of a tree that differs from this one by edits.
    #[must_use]
    pub fn carried_over(&self, edits: &Edits<'_>, files: &Files<'_>) -> (Self, Vec<Finding>) {
        let table = Arc::new(carry_files(&self.files, edits, files));
        files.know(&table);
        let mut known = Self { files: table, ..Self::default() };
        let affected = self.affected(edits, &known.files);
        let findings = known.find_units(files, Some((self, &affected)));
        (known, findings)
    }

    /// The units that some input of differs, given edits and what is known about the files of the other tree. A unit that asks for
    /// the output of an affected one is affected too.
    pub fn affected(&self, edits: &Edits<'_>, other: &FileTable) -> Affected {
        let mut by_set: BTreeMap<&Inputs, bool> = BTreeMap::new();
        let mut is_reached = |inputs| {
            *by_set.entry(inputs).or_insert_with(|| inputs.iter().any(|input| self.differs(input, edits, other)))
        };
        let mut units: BTreeSet<Unit> = BTreeSet::new();
        let mut waiting: Vec<&Unit> = Vec::new();
        for (unit, facts) in &self.units {
            if is_reached(&facts.inputs) {
                waiting.push(unit);
            }
        }
        let mut readers: BTreeMap<&Unit, Vec<&Unit>> = BTreeMap::new();
        for (unit, facts) in &self.units {
            for asked in facts.inputs.iter().filter_map(Input::output) {
                readers.entry(asked).or_default().push(unit);
            }
        }
        while let Some(unit) = waiting.pop() {
            if units.insert(unit.clone()) {
                waiting.extend(readers.get(unit).into_iter().flatten());
            }
        }
        let asks_affected =
            |found: &Found| found.inputs.iter().filter_map(Input::output).any(|unit| units.contains(unit));
        let is_affected = |found: &Found| is_reached_once(self, found, edits, other) || asks_affected(found);
        let layouts = self.finding.iter().filter(|(_, found)| is_affected(found)).map(|(name, _)| name.clone());
        Affected { layouts: layouts.collect(), units }
    }

    /// Whether an input differs, given edits and what is known about the files of the other tree.
    pub fn differs(&self, input: &Input, edits: &Edits<'_>, other: &FileTable) -> bool {
        match input {
            Input::File(path) | Input::Absent(path) => edits.reaches(path),
            Input::Listing(directory) => edits.changes_listing(directory),
            Input::Subtree(directory) => edits.reaches_below(directory),
            Input::Lookup { index, key, from } => {
                look_up(&self.files, index, key, from) != look_up(other, index, key, from)
            }
            // What is not known here was never rendered, so that it cannot be the same.
            Input::Output(unit) => !self.units.contains_key(unit),
        }
    }

    /// Finds all units and what they depend on; those that are known from another tree and not affected are taken over.
    fn find_units(&mut self, files: &Files<'_>, known: Option<(&Self, &Affected)>) -> Vec<Finding> {
        for layout in files.layouts().iter().filter(|layout| layout.has_units()) {
            let unaffected = known.filter(|(_, affected)| !affected.layouts.contains(layout.name()));
            if let Some(found) = unaffected.and_then(|(known, _)| known.finding.get(layout.name())) {
                self.finding.insert(layout.name().into(), found.clone());
                continue;
            }
            let ask = Ask::new(files, Vec::new());
            let units = layout.units(&ask);
            self.finding.insert(layout.name().into(), Found { inputs: ask.finish().0, units });
        }
        let mut round: Vec<(Unit, bool)> =
            self.finding.values().flat_map(|found| found.units.iter().map(|unit| (unit.clone(), true))).collect();
        for _ in 0..ROUNDS {
            let mut next = Vec::new();
            for (unit, is_shown) in round {
                let facts = self.units.entry(unit).or_insert_with_key(|unit| {
                    let unaffected = known.filter(|(_, affected)| !affected.units.contains(unit));
                    let carried = unaffected.and_then(|(known, _)| known.units.get(unit)).cloned();
                    let facts = carried.unwrap_or_else(|| files.unit_facts(unit));
                    next.extend(facts.inputs.iter().filter_map(Input::output).map(|unit| (unit.clone(), false)));
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
        let given = files.given();
        let location = Location::File { path: RepoPath::root(), revision: given.snapshot.label().into() };
        let message = format!("units are found in the output of other units more than {ROUNDS} levels deep");
        vec![
            Finding::new(&finding::LIMIT_ENTRIES, location, message)
                .help("look for units that generate new ones without end"),
        ]
    }
}

fn is_reached_once(facts: &TreeFacts, found: &Found, edits: &Edits<'_>, other: &FileTable) -> bool {
    found.inputs.iter().any(|input| facts.differs(input, edits, other))
}

/// What edits affect among the units of a tree.
#[derive(Debug, Default)]
pub struct Affected {
    /// Layouts that may find other units.
    pub layouts: BTreeSet<SmolStr>,
    /// Units whose output may differ.
    pub units: BTreeSet<Unit>,
}

impl Input {
    fn output(&self) -> Option<&Unit> {
        match self {
            Self::Output(unit) => Some(unit),
            _ => None,
        }
    }
}

/// The files that an index names for a key: those in the nearest directory around `from` that has any.
pub(super) fn look_up(files: &FileTable, index: &str, key: &str, from: &RepoPath) -> Vec<RepoPath> {
    let is_listed = |facts: &FileFacts| facts.entries.iter().any(|entry| entry.index == index && entry.key == key);
    let listed: Vec<&RepoPath> = files.iter().filter(|(_, facts)| is_listed(facts)).map(|(path, _)| path).collect();
    for around in std::iter::successors(Some(from.clone()), RepoPath::parent) {
        let near: Vec<RepoPath> =
            listed.iter().filter(|path| path.is_within(&around)).map(|&path| path.clone()).collect();
        if !near.is_empty() {
            return near;
        }
    }
    Vec::new()
}

/// The facts of every file of a snapshot.
pub(super) fn read_files(files: &Files<'_>, budget: &Budget) -> BTreeMap<RepoPath, FileFacts> {
    let given = files.given();
    let (entries, _) = files_below(given.snapshot, &Scope::everything(), &budget.limits, &budget.spent);
    facts_of(files, entries)
}

/// The facts of the files of a tree that differs by edits from one whose facts are known.
fn carry_files(known: &FileTable, edits: &Edits<'_>, files: &Files<'_>) -> BTreeMap<RepoPath, FileFacts> {
    // Which files exist elsewhere does not change what a file holds.
    let is_stale = |facts: &FileFacts| {
        facts.inputs.iter().any(|input| matches!(input, Input::File(path) | Input::Absent(path) if edits.reaches(path)))
    };
    let mut again: BTreeSet<&RepoPath> = edits.files().iter().map(|file| &file.path).collect();
    let mut carried = BTreeMap::new();
    for (path, facts) in known.iter() {
        if is_stale(facts) {
            again.insert(path);
        } else if !edits.contains(path) {
            carried.insert(path.clone(), facts.clone());
        }
    }
    let entries = again.into_iter().filter_map(|path| files.given().snapshot.entry(path).ok().flatten());
    carried.extend(facts_of(files, entries.collect()));
    carried
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
        let given = self.given();
        let bytes = given.snapshot.read(entry).ok()?;
        let settings = given.settings;
        let may_matter = settings.directives && may_include(&bytes)
            || settings.expressions && may_have_expressions(&bytes)
            || self.layouts().iter().any(|layout| layout.may_index(&entry.path, &bytes));
        if !may_matter {
            return None;
        }
        // Most files that look like it have neither directives nor expressions. Their texts need not be kept.
        let content = Content { bytes: &bytes, path: &entry.path, revision: given.snapshot.label() };
        let sources = Arc::new(Sources::default());
        let parsed = parse(content, &sources, given.limits);
        let facts = if settings.directives && parsed.documents.iter().any(directive::has_directives) {
            self.facts_in(&self.file(&entry.path))
        } else {
            self.facts_in(&self.content(&entry.path, &parsed))
        };
        (!facts.inputs.is_empty() || !facts.entries.is_empty()).then_some(facts)
    }

    fn facts_in(&self, content: &FileContent) -> FileFacts {
        let mut inputs: Vec<Input> = content.reads.iter().map(|(path, read)| input(path, *read)).collect();
        let computes = |resource: &crate::resource::Resource| has_expressions(&resource.payload);
        if self.given().settings.expressions && content.resources.iter().any(computes) {
            // What an expression reads is known only when it is evaluated; it can be any resource.
            inputs.push(Input::Subtree(RepoPath::root()));
        }
        inputs.sort_unstable();
        let entries = content
            .resources
            .iter()
            .flat_map(|resource| self.layouts().iter().flat_map(|layout| layout.index(resource)));
        let mut entries: Vec<IndexEntry> = entries.collect();
        entries.sort_unstable();
        entries.dedup();
        FileFacts { inputs: inputs.into(), entries }
    }
}

fn input(path: &RepoPath, read: Read) -> Input {
    match read {
        Read::Present(_) => Input::File(path.clone()),
        Read::Absent => Input::Absent(path.clone()),
    }
}
