//! The only way in which a layout sees a snapshot: every answer is noted as an input.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use super::{FileContent, Files, Input, Inputs, Rendered, Unit};
use crate::path::RepoPath;
use crate::settings::Settings;
use crate::snapshot::{Entry, EntryKind};

/// A snapshot that notes what it is asked.
pub struct Ask<'f, 'a> {
    files: &'f Files<'a>,
    inputs: RefCell<BTreeSet<Input>>,
    /// The units that are being rendered, the outermost first.
    chain: Vec<Unit>,
    /// The outermost unit of the chain that was asked for by one that it asks for itself.
    cycle: RefCell<Option<usize>>,
}

impl<'f, 'a> Ask<'f, 'a> {
    pub(super) fn new(files: &'f Files<'a>, chain: Vec<Unit>) -> Self {
        Self { files, inputs: RefCell::default(), chain, cycle: RefCell::default() }
    }

    /// What `outcrop.yaml` says. It is no input: where it differs, everything is compared.
    pub fn settings(&self) -> &'a Settings {
        self.files.given().settings
    }

    /// The resources of a file, directives expanded; `None` if there is no such file.
    pub fn file(&self, path: &RepoPath) -> Option<Arc<FileContent>> {
        self.is_file(path).then(|| self.files.file(path))
    }

    /// The bytes of a file of any format; `None` if there is no such file, or it cannot be read.
    pub fn bytes(&self, path: &RepoPath) -> Option<Arc<[u8]>> {
        let snapshot = self.files.given().snapshot;
        self.is_file(path)
            .then(|| snapshot.entry(path).ok().flatten())
            .flatten()
            .and_then(|file| snapshot.read(&file).ok())
    }

    /// Whether there is a file at a path.
    pub fn is_file(&self, path: &RepoPath) -> bool {
        let found = self.files.given().snapshot.entry(path);
        let is_file = !matches!(&found, Ok(entry) if entry.as_ref().is_none_or(|entry| entry.kind != EntryKind::File));
        self.note(if is_file { Input::File(path.clone()) } else { Input::Absent(path.clone()) });
        is_file
    }

    /// The members of a directory.
    pub fn list(&self, directory: &RepoPath) -> Vec<Entry> {
        self.note(Input::Listing(directory.clone()));
        self.files.given().snapshot.list(directory).entries
    }

    /// Every file below a directory.
    pub fn subtree(&self, directory: &RepoPath) -> Vec<Entry> {
        self.note(Input::Subtree(directory.clone()));
        let given = self.files.given();
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
        super::facts::look_up(&self.files.facts(), index, key, from)
    }

    /// What another unit renders. Units that ask for each other render nothing.
    pub fn output(&self, unit: &Unit) -> Arc<Rendered> {
        self.note(Input::Output(unit.clone()));
        if let Some(outermost) = self.chain.iter().position(|outer| outer == unit) {
            self.close_cycle(outermost);
            return Arc::default();
        }
        let (rendered, cycle) = self.files.render(unit, self.chain.clone());
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

/// An entry of an index: a name under which layouts look for the file of a resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexEntry {
    /// The index.
    pub index: SmolStr,
    /// The key.
    pub key: SmolStr,
}
