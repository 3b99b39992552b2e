//! Units rendered once each, by layouts that see the snapshot only through [`Ask`]: every answer is noted as an input.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, OnceLock};

use super::facts::{Lookups, index_entries};
use super::{FileContent, FileTable, Files, Input, InputSet, Inputs, PathList, Rendered, UnitFacts};
use smol_str::SmolStr;

use crate::finding::{self, Finding, Location};
use crate::path::RepoPath;
use crate::resource::Unit;
use crate::settings::{Given, Settings};
use crate::snapshot::{Entry, EntryKind};
use crate::text::Sources;

/// The units of one snapshot.
pub struct Units<'a> {
    files: Files<'a>,
    rendered: Mutex<HashMap<Unit, Arc<Rendered>>>,
    /// What is known about single files of the tree, for lookups.
    table: OnceLock<FileTable>,
    /// The files that indexes name for a key.
    lookups: OnceLock<Lookups>,
    /// What the renderings of a layout share, by its type.
    shared: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

const LOCKED: &str = "no thread panics while it holds this lock";

impl<'a> Units<'a> {
    /// The units of the snapshot that these files are from.
    pub fn new(files: Files<'a>) -> Self {
        Self {
            files,
            rendered: Mutex::default(),
            table: OnceLock::new(),
            lookups: OnceLock::new(),
            shared: Mutex::default(),
        }
    }

    /// Works with units whose output and texts are not kept afterwards.
    pub fn apart<T>(&self, work: impl FnOnce(&Units<'_>) -> T) -> T {
        let sources = Arc::new(Sources::default());
        work(&Units::new(self.files.with_sources(&sources)))
    }

    /// The files of the snapshot.
    pub fn files(&self) -> &Files<'a> {
        &self.files
    }

    /// Takes what is known about single files, for lookups.
    pub fn know(&self, table: &FileTable) {
        let _ = self.table.set(Arc::clone(table));
    }

    /// What is known about single files, if it was found out.
    pub fn known_files(&self) -> Option<&FileTable> {
        self.table.get()
    }

    /// The files that an index lists under a key, if it was found out.
    pub fn listed(&self, index: &str, key: &str) -> Option<Vec<RepoPath>> {
        let table = self.table.get()?;
        Some(self.lookups.get_or_init(|| Lookups::new(table)).nearest(index, key, &RepoPath::root()))
    }

    /// What a unit renders.
    pub fn rendered(&self, unit: &Unit) -> Arc<Rendered> {
        self.render(unit, Vec::new()).0
    }

    /// What a unit renders while the units of a chain wait for it, and the outermost of them that it asks for in turn.
    fn render(&self, unit: &Unit, mut chain: Vec<Unit>) -> (Arc<Rendered>, Option<usize>) {
        if let Some(rendered) = self.rendered.lock().expect(LOCKED).get(unit) {
            return (Arc::clone(rendered), None);
        }
        let depth = chain.len();
        chain.push(unit.clone());
        let ask = Ask::new(self, chain);
        let layout = self.files.layouts().iter().find(|layout| layout.name() == unit.layout);
        let mut rendered = layout.map(|layout| layout.render(&ask, unit)).unwrap_or_default();
        let (inputs, cycle) = ask.finish();
        if cycle.is_some() {
            rendered = Rendered { findings: vec![self.cyclic(unit)], is_broken: true, ..Rendered::default() };
        }
        rendered.inputs = inputs;
        let all = rendered.resources.iter_mut().chain(&mut rendered.opaque);
        all.for_each(|resource| resource.unit = Some(unit.clone()));
        let rendered = Arc::new(rendered);
        self.rendered.lock().expect(LOCKED).insert(unit.clone(), Arc::clone(&rendered));
        (rendered, cycle.filter(|&outermost| outermost < depth))
    }

    fn cyclic(&self, unit: &Unit) -> Finding {
        let location = Location::File { path: RepoPath::root(), revision: self.files.given().snapshot.label().into() };
        Finding::new(&finding::SOURCE_UNREADABLE, location, format!("{unit} needs its own output"))
            .help("units that are made of each other cannot be rendered; break the cycle")
    }

    /// What a unit depends on, and which units are found in its output.
    pub(super) fn unit_facts(&self, unit: &Unit) -> UnitFacts {
        let rendered = self.rendered(unit);
        let mut found: Vec<Unit> =
            self.files.unit_layouts().flat_map(|layout| layout.units_in(unit, &rendered)).collect();
        found.sort_unstable();
        found.dedup();
        UnitFacts {
            inputs: InputSet::new(&rendered.inputs),
            found,
            shows: PathList::new(&rendered.shows),
            is_shown: true,
            is_broken: rendered.is_broken,
        }
    }
}

/// A snapshot that notes what it is asked.
pub struct Ask<'f, 'a> {
    units: &'f Units<'a>,
    inputs: RefCell<BTreeSet<Input>>,
    /// The units that are being rendered, the outermost first.
    chain: Vec<Unit>,
    /// The outermost unit of the chain that was asked for by one that it asks for itself.
    cycle: RefCell<Option<usize>>,
}

impl<'f, 'a> Ask<'f, 'a> {
    pub(super) fn new(units: &'f Units<'a>, chain: Vec<Unit>) -> Self {
        Self { units, inputs: RefCell::default(), chain, cycle: RefCell::default() }
    }

    /// The snapshot and how it is read, for what notes its inputs itself.
    pub fn given(&self) -> Given<'a> {
        self.units.files.given()
    }

    /// What renderings of a layout share for this snapshot: one value of each type.
    pub fn shared<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        let mut shared = self.units.shared.lock().expect(LOCKED);
        let known = shared.entry(TypeId::of::<T>()).or_insert_with(|| Arc::<T>::default());
        Arc::clone(known).downcast().expect("each value is stored under its own type")
    }

    /// Notes that everything below a directory was looked at.
    pub fn depend_on_subtree(&self, directory: &RepoPath) {
        self.note(Input::Subtree(directory.clone()));
    }

    /// What `outcrop.yaml` says. It is no input: where it differs, everything is compared.
    pub fn settings(&self) -> &'a Settings {
        self.units.files.given().settings
    }

    /// The resources of a file, directives expanded; `None` if there is no such file.
    pub fn file(&self, path: &RepoPath) -> Option<Arc<FileContent>> {
        self.is_file(path).then(|| self.units.files.file(path))
    }

    /// The bytes of a file of any format; `None` if there is no such file, or it cannot be read.
    pub fn bytes(&self, path: &RepoPath) -> Option<Arc<[u8]>> {
        let snapshot = self.units.files.given().snapshot;
        self.is_file(path)
            .then(|| snapshot.entry(path).ok().flatten())
            .flatten()
            .and_then(|file| snapshot.read(&file).ok())
    }

    /// Whether there is a file at a path.
    pub fn is_file(&self, path: &RepoPath) -> bool {
        let found = self.units.files.given().snapshot.entry(path);
        let is_file = !matches!(&found, Ok(entry) if entry.as_ref().is_none_or(|entry| entry.kind != EntryKind::File));
        self.note(if is_file { Input::File(path.clone()) } else { Input::Absent(path.clone()) });
        is_file
    }

    /// The members of a directory.
    pub fn list(&self, directory: &RepoPath) -> Vec<Entry> {
        self.note(Input::Listing(directory.clone()));
        self.units.files.given().snapshot.list(directory).entries
    }

    /// Every file below a directory.
    pub fn subtree(&self, directory: &RepoPath) -> Vec<Entry> {
        self.note(Input::Subtree(directory.clone()));
        let given = self.units.files.given();
        let mut files = Vec::new();
        let mut waiting = vec![directory.clone()];
        while let Some(directory) = waiting.pop().filter(|_| files.len() as u64 <= given.limits.entries) {
            let (directories, others): (Vec<Entry>, Vec<Entry>) = given
                .snapshot
                .list(&directory)
                .entries
                .into_iter()
                .partition(|entry| entry.kind == EntryKind::Directory);
            let is_near = directory.components().count() < given.limits.directory_depth as usize;
            waiting.extend(directories.into_iter().filter(|_| is_near).map(|entry| entry.path));
            files.extend(others);
        }
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        files
    }

    /// The files that an index names for a key: those in the nearest directory around `from` that has any. Asked from the root,
    /// all of them.
    pub fn look_up(&self, index: &str, key: &str, from: &RepoPath) -> Vec<RepoPath> {
        self.note(Input::Lookup { index: index.into(), key: key.into(), from: from.clone() });
        let Some(table) = self.units.table.get() else { return Vec::new() };
        self.units.lookups.get_or_init(|| Lookups::new(table)).nearest(index, key, from)
    }

    /// Everything that an index lists: each file and the key under which it is listed.
    pub fn index(&self, index: &str) -> Vec<(RepoPath, SmolStr)> {
        self.note(Input::Index(index.into()));
        let entries = self.units.table.get().map(|table| index_entries(table, index)).unwrap_or_default();
        entries.into_iter().map(|(file, key)| (file.clone(), key.clone())).collect()
    }

    /// What another unit renders. Units that ask for each other render nothing.
    pub fn output(&self, unit: &Unit) -> Arc<Rendered> {
        self.note(Input::Output(unit.clone()));
        if let Some(outermost) = self.chain.iter().position(|outer| outer == unit) {
            self.close_cycle(outermost);
            return Arc::default();
        }
        let (rendered, cycle) = self.units.render(unit, self.chain.clone());
        cycle.filter(|&outermost| outermost < self.chain.len()).into_iter().for_each(|at| self.close_cycle(at));
        rendered
    }

    fn close_cycle(&self, outermost: usize) {
        let mut cycle = self.cycle.borrow_mut();
        *cycle = Some(cycle.map_or(outermost, |known| known.min(outermost)));
    }

    fn note(&self, input: Input) {
        self.inputs.borrow_mut().insert(input);
    }

    /// Everything that was asked, and the outermost unit of the chain that the last one forms a cycle with.
    pub(super) fn finish(self) -> (Inputs, Option<usize>) {
        (self.inputs.into_inner().into_iter().collect(), self.cycle.into_inner())
    }
}
