//! What is known about a whole tree of files: which of them depend on others, what they hold for indexes, and its units.

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::packed::ReachedFiles;
use super::{Edits, Input, InputSet, Inputs, PathList};
use crate::path::RepoPath;
use crate::resource::Unit;

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
    pub entries: Arc<[IndexEntry]>,
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
    pub inputs: InputSet,
    /// Units that are found in its output.
    pub found: Vec<Unit>,
    /// Files that it shows, so that they are not shown on their own.
    pub shows: PathList,
    /// Whether it is shown itself, and not only part of others.
    pub is_shown: bool,
    /// Whether it could not be rendered.
    pub is_broken: bool,
}

impl UnitFacts {
    /// Whether both show the same files.
    pub fn shows_same(&self, other: &Self) -> bool {
        (self.is_shown, self.is_broken) == (other.is_shown, other.is_broken) && self.shows == other.shows
    }
}

/// An entry of an index: a name under which layouts look for the file of a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IndexEntry {
    /// The index.
    pub index: SmolStr,
    /// The key.
    pub key: SmolStr,
}

impl TreeFacts {
    /// What differs between the inputs of this tree and those of another, given the edits between them and what is known about the
    /// files of the other.
    pub fn against<'a>(&'a self, edits: &'a Edits<'a>, other: &'a FileTable) -> InputDifferences<'a> {
        InputDifferences { known: self, edits, other, entries: OnceCell::new(), lookups: OnceCell::new() }
    }

    /// The units of which some input differs from what another tree has. A unit that asks for the output of an affected one is
    /// affected too.
    pub fn affected(&self, edits: &Edits<'_>, other: &FileTable) -> Affected {
        let differences = self.against(edits, other);
        let is_edited = |path: &[u8]| edits.reaches_path(path);
        let mut reached = ReachedFiles::new(&is_edited);
        // What cannot be an input was not written by this program.
        let mut is_reached = |facts: &UnitFacts| {
            facts.inputs.any(&mut reached, |input| input.to_input().is_none_or(|input| differences.has(&input)))
        };
        let mut units: BTreeSet<Unit> = BTreeSet::new();
        let mut waiting: Vec<&Unit> = self.units.iter().filter(|(_, facts)| is_reached(facts)).map(|it| it.0).collect();
        let readers = if waiting.is_empty() { BTreeMap::new() } else { self.readers() };
        while let Some(unit) = waiting.pop() {
            if units.insert(unit.clone()) {
                waiting.extend(readers.get(unit).into_iter().flatten());
            }
        }
        let is_affected = |found: &Found| {
            found.inputs.iter().any(|input| differences.has(input))
                || found.inputs.iter().filter_map(Input::output).any(|unit| units.contains(unit))
        };
        let layouts = self.finding.iter().filter(|(_, found)| is_affected(found)).map(|(name, _)| name.clone());
        Affected { layouts: layouts.collect(), units }
    }

    /// The units that ask for the output of others.
    fn readers(&self) -> BTreeMap<Unit, Vec<&Unit>> {
        let mut readers: BTreeMap<Unit, Vec<&Unit>> = BTreeMap::new();
        for (unit, facts) in &self.units {
            for asked in facts.inputs.outputs() {
                readers.entry(asked).or_default().push(unit);
            }
        }
        readers
    }
}

/// The inputs of a tree that differ from those of another.
pub struct InputDifferences<'a> {
    known: &'a TreeFacts,
    edits: &'a Edits<'a>,
    other: &'a FileTable,
    /// The entries of indexes that only one of them has.
    entries: OnceCell<BTreeSet<&'a IndexEntry>>,
    lookups: OnceCell<[Lookups; 2]>,
}

impl<'a> InputDifferences<'a> {
    /// Whether an input differs.
    pub fn has(&self, input: &Input) -> bool {
        match input {
            Input::File(path) | Input::Absent(path) => self.edits.reaches(path),
            Input::Listing(directory) => self.edits.changes_listing(directory),
            Input::Subtree(directory) => self.edits.reaches_below(directory),
            Input::Lookup { index, key, from } => {
                self.entries().iter().any(|entry| entry.index == *index && entry.key == *key)
                    && self.is_found_elsewhere(index, key, from)
            }
            Input::Index(index) => self.entries().iter().any(|entry| entry.index == *index),
            // What is not known here was never rendered, so that it cannot be the same.
            Input::Output(unit) => !self.known.units.contains_key(unit),
        }
    }

    fn is_found_elsewhere(&self, index: &str, key: &str, from: &RepoPath) -> bool {
        let [known, other] = self.lookups.get_or_init(|| [Lookups::new(&self.known.files), Lookups::new(self.other)]);
        known.nearest(index, key, from) != other.nearest(index, key, from)
    }

    /// The entries under which a file is listed in one tree only. Most edits change none.
    fn entries(&self) -> &BTreeSet<&'a IndexEntry> {
        self.entries.get_or_init(|| {
            let mut found = BTreeSet::new();
            let mut add = |here: &'a [IndexEntry], there: &'a [IndexEntry]| {
                let (here, there) = (HashSet::<_>::from_iter(here), HashSet::from_iter(there));
                found.extend(here.symmetric_difference(&there));
            };
            for_each_pair(&self.known.files, self.other, |known, other| match (known, other) {
                (Some(known), Some(other)) if known.entries == other.entries => {}
                (known, other) => add(entries_of(known), entries_of(other)),
            });
            found
        })
    }
}

fn entries_of(facts: Option<&FileFacts>) -> &[IndexEntry] {
    facts.map_or(&[], |facts| &facts.entries)
}

/// Calls a function for each file of either table.
fn for_each_pair<'a>(
    one: &'a FileTable,
    other: &'a FileTable,
    mut call: impl FnMut(Option<&'a FileFacts>, Option<&'a FileFacts>),
) {
    if Arc::ptr_eq(one, other) {
        return;
    }
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    loop {
        let order = match (one.peek(), other.peek()) {
            (None, None) => return,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some((this, _)), Some((that, _))) => this.cmp(that),
        };
        let this = if order.is_le() { one.next() } else { None };
        let that = if order.is_ge() { other.next() } else { None };
        call(this.map(|it| it.1), that.map(|it| it.1));
    }
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
    pub(super) fn output(&self) -> Option<&Unit> {
        match self {
            Self::Output(unit) => Some(unit),
            _ => None,
        }
    }
}

/// Everything that an index lists: each file and the key under which it is listed, in the order of the files.
pub(super) fn index_entries<'t>(files: &'t FileTable, index: &str) -> Vec<(&'t RepoPath, &'t SmolStr)> {
    let of_file = |(path, facts): (&'t RepoPath, &'t FileFacts)| {
        facts.entries.iter().filter(|entry| entry.index == index).map(move |entry| (path, &entry.key))
    };
    files.iter().flat_map(of_file).collect()
}

/// The files that indexes name for a key, arranged so that a lookup does not look at every file.
pub(super) struct Lookups(HashMap<IndexEntry, Vec<RepoPath>>);

impl Lookups {
    /// The lookups of a tree.
    pub(super) fn new(files: &FileTable) -> Self {
        let mut listed: HashMap<IndexEntry, Vec<RepoPath>> = HashMap::new();
        for (path, facts) in files.iter() {
            for entry in facts.entries.iter() {
                listed.entry(entry.clone()).or_default().push(path.clone());
            }
        }
        Self(listed)
    }

    /// The files that an index names for a key: those in the nearest directory around `from` that has any.
    pub(super) fn nearest(&self, index: &str, key: &str, from: &RepoPath) -> Vec<RepoPath> {
        let Some(listed) = self.0.get(&IndexEntry { index: index.into(), key: key.into() }) else { return Vec::new() };
        let near = |around: RepoPath| -> Vec<RepoPath> {
            listed.iter().filter(|path| path.is_within(&around)).cloned().collect()
        };
        let around = std::iter::successors(Some(from.clone()), RepoPath::parent);
        around.map(near).find(|near| !near.is_empty()).unwrap_or_default()
    }
}
