//! From changed files to resources on both sides, in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::metadata::Reach;
use super::parsing::{self, Parses, Wanted};
use super::{Request, Worlds};
use crate::expression::eval::may_have_expressions;
use crate::finding::{Finding, has_errors};
use crate::impact::Impact;
use crate::path::RepoPath;
use crate::report::LayerEdit;
use crate::resource::{Content, ReadAs, Resource, Skipped};
use crate::side::{FileContent, Opened, Side};
use crate::snapshot::{ChangedFile, Entry, ObjectId, Unreadable};

/// The resources of all files that differ, and everything there is to say about the files.
#[derive(Default)]
pub(super) struct LoadedSides {
    pub(super) before: Vec<Resource>,
    pub(super) after: Vec<Resource>,
    /// What is wrong with the newer side.
    pub(super) findings: Vec<Finding>,
    /// What is wrong with the older side.
    pub(super) findings_before: Vec<Finding>,
    pub(super) skipped: Vec<Skipped>,
    /// Documents of both sides that were not read because they are the same to the letter.
    pub(super) same: usize,
    /// How many files of the newer side (or of the older, where they are gone) were read as what.
    pub(super) read_as: BTreeMap<ReadAs, usize>,
    /// How many files differ.
    pub(super) files: usize,
    /// Whether something could not be read at all.
    pub(super) is_incomplete: bool,
    /// Whether some file could not be parsed on some side, so that it was not compared.
    pub(super) has_broken: bool,
    /// Whether some file that did not change could not be parsed on both sides: who reads what is then not known for all.
    pub(super) has_gaps: bool,
    /// Whom layers speak for that say something else now.
    pub(super) reach: Reach,
    /// Edits of layers that do not reach everybody.
    pub(super) layer_edits: Vec<LayerEdit>,
}

/// Reads and parses both sides of every file that differs or may be affected.
pub(super) fn load_changes(request: &Request<'_>, worlds: &Worlds<'_>, impact: Impact, wanted: Wanted) -> LoadedSides {
    let settings = request.configuration;
    let mut files = impact.files;
    let parses = Parses::new(&files, request, wanted);
    let reader = Reader { before: &worlds.before, after: &worlds.after, affected: &impact.affected, parses: &parses };
    sort_for_reading(&mut files, request);
    let progress = &request.budget.progress;
    progress.expect(files.len());
    let load = |file| {
        let loaded = reader.load(file);
        progress.step();
        loaded
    };
    let is_little = || request.budget.spent.bytes() < LITTLE;
    let mut loaded: Vec<LoadedFile> = Vec::new();
    if files.len() < FEW {
        let mut waiting = files.into_iter();
        while waiting.len() > 0 && is_little() {
            loaded.extend(waiting.next().and_then(load));
        }
        files = waiting.collect();
    }
    if !files.is_empty() {
        loaded.par_extend(files.into_par_iter().filter_map(load));
    }
    loaded.sort_by(|a, b| a.path.cmp(&b.path));

    let mut sides = LoadedSides {
        findings: settings.findings().to_vec(),
        files: loaded.iter().filter(|file| file.is_edited).count(),
        ..LoadedSides::default()
    };
    sides.is_incomplete = !settings.findings().is_empty() || !impact.unreadable.is_empty();
    sides.findings.extend(impact.unreadable.into_iter().map(Unreadable::into_finding));
    sides.is_incomplete |= has_errors(&impact.findings);
    sides.findings.extend(impact.findings);
    for file in loaded {
        sides.add(file);
    }
    sides
}

/// Fewer files than this, with fewer bytes in all, are read faster than threads are started.
const FEW: usize = 64;
const LITTLE: u64 = 1 << 20;

/// Packs are read fastest from front to back; for a few files the order does not matter.
fn sort_for_reading(files: &mut [ChangedFile], request: &Request<'_>) {
    if files.len() < 256 {
        return;
    }
    let mut entries: Vec<Entry> = files.iter().filter_map(|file| file.after.clone()).collect();
    request.after.sort_for_reading(&mut entries);
    let order: BTreeMap<&RepoPath, usize> = entries.iter().enumerate().map(|(at, entry)| (&entry.path, at)).collect();
    files.sort_by_key(|file| order.get(&file.path).copied());
}

impl LoadedSides {
    fn add(&mut self, file: LoadedFile) {
        let LoadedFile { path, is_edited, sides: [before, after] } = file;
        let is_broken = before.is_broken || after.is_broken;
        // What is no different from before and could not be read then either is not this comparison's to judge.
        if !is_edited && (before.is_broken && after.is_broken || before.skipped.is_some() && after.skipped.is_some()) {
            self.has_gaps |= after.is_broken;
            return;
        }
        self.has_broken |= is_broken;
        self.is_incomplete |= before.is_unreadable || after.is_unreadable;
        self.findings_before.extend(before.findings);
        self.findings.extend(after.findings);
        if let Some(read_as) = after.read_as.or(before.read_as).filter(|_| is_edited) {
            *self.read_as.entry(read_as).or_default() += 1;
        }
        let skipped = after.skipped.or(before.skipped);
        if let Some(reason) = skipped {
            self.skipped.push(Skipped { path, reason });
        }
        // What one side does not show must not look added or removed on the other.
        if !is_broken && skipped.is_none() {
            self.same += after.same;
            self.before.extend(before.resources);
            self.after.extend(after.resources);
        }
    }
}

/// One file on both sides.
struct LoadedFile {
    path: RepoPath,
    /// Whether it differs itself, not only through what it includes.
    is_edited: bool,
    sides: [FileContent; 2],
}

/// Everything needed to read files on both sides.
struct Reader<'a> {
    before: &'a Side<'a>,
    after: &'a Side<'a>,
    affected: &'a BTreeSet<RepoPath>,
    parses: &'a Parses<'a>,
}

impl Reader<'_> {
    /// Both sides of a file; nothing if they turn out to be the same and nothing else can make a difference.
    fn load(&self, file: ChangedFile) -> Option<LoadedFile> {
        let path = file.path;
        let mut is_edited = true;
        let is_affected = self.affected.contains(&path);
        let sides = match self.open(file.before, file.after) {
            // Without ids, a file that only looks touched shows its true face here. What it includes or reads may have changed.
            (Opened::Bytes(before, _), Opened::Bytes(after, _))
                if before == after && !is_affected && !may_have_expressions(&after) =>
            {
                return None;
            }
            (Opened::Bytes(before, before_id), Opened::Bytes(after, after_id)) => {
                is_edited = before != after;
                let [before, after] = self.parses.both(
                    content(self.before, &path, &before, before_id),
                    content(self.after, &path, &after, after_id),
                );
                [self.before.content(&path, &before), self.after.content(&path, &after)]
            }
            (before, after) => [self.one(self.before, &path, before), self.one(self.after, &path, after)],
        };
        Some(LoadedFile { path, is_edited, sides })
    }

    /// Both sides of a file; one reading is enough where they are the same.
    fn open(&self, before: Option<Entry>, after: Option<Entry>) -> (Opened, Opened) {
        let is_same = before.as_ref().is_some_and(|entry| entry.id.is_some()) && before == after;
        match (self.after.open(after), is_same) {
            (Opened::Bytes(bytes, id), true) => (Opened::Bytes(Arc::clone(&bytes), id), Opened::Bytes(bytes, id)),
            (after, _) => (self.before.open(before), after),
        }
    }

    fn one(&self, side: &Side<'_>, path: &RepoPath, opened: Opened) -> FileContent {
        match opened {
            Opened::Done(file) => file,
            Opened::Bytes(bytes, id) => side.content(path, &self.parses.one(content(side, path, &bytes, id))),
        }
    }
}

fn content<'c>(side: &'c Side<'_>, path: &'c RepoPath, bytes: &'c [u8], id: Option<ObjectId>) -> parsing::Side<'c> {
    parsing::Side { content: Content { bytes, path, revision: side.snapshot.label() }, id }
}
