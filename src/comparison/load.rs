//! The first step: from changed files to resources on both sides, in parallel.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::at_once::{AtOnce, ComparedAtOnce};
use super::expressions::WrittenPayloads;
use super::hidden::HiddenSecrets;
use super::parse_once::{ParseOnce, VersionContent};
use super::rollout::Rollout;
use super::unit_change::{DefinitionUse, UnitChange};
use super::{Comparison, Gap, SideFindings};
use crate::expression::eval::may_have_expressions;
use crate::finding::{Finding, has_errors};
use crate::layout::PathSet;
use crate::parallel::add_up;
use crate::path::RepoPath;
use crate::resource::{Content, Identity, ReadAs, Resource, Skipped};
use crate::settings::Configuration;
use crate::side::{FileContent, Opened, Side};
use crate::snapshot::{ChangedFile, Entry, ObjectId, Unreadable};

/// Which documents of a changed file are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Documents {
    /// All of them.
    All,
    /// Not those that are the same to the letter on both sides.
    Differing,
}

/// The resources of all files that differ, and everything that was found out about the files.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) before: Vec<Resource>,
    pub(super) after: Vec<Resource>,
    pub(super) findings: SideFindings,
    pub(super) gap: Gap,
    pub(super) files: LoadedFiles,
    /// What was hidden in the resources.
    pub(super) hidden: HiddenSecrets,
    /// Payloads with expressions of both sides, as they are written.
    pub(super) written: [WrittenPayloads; 2],
    /// Units whose inputs changed.
    pub(super) units: Vec<UnitChange>,
    /// Resources that are rolled out because of another one.
    pub(super) rollouts: Vec<Rollout>,
    /// What is known about resources that were compared when their file was read.
    pub(super) at_once: ComparedAtOnce,
    /// Resources that were compared at once, and then read again.
    pub(super) read_again: BTreeSet<(RepoPath, Identity)>,
    /// Types and traits that differ, and who uses them.
    pub(super) definitions: Vec<DefinitionUse>,
    /// Files whose changes are explained by what units render from them.
    pub(super) explained: BTreeSet<RepoPath>,
}

/// What is known about the files that were read.
#[derive(Default)]
pub(super) struct LoadedFiles {
    /// How many there are, by what they are.
    pub(super) counted: FileCounts,
    /// Those that only one side has: a pair of them may be one file that was renamed.
    pub(super) one_sided: Vec<ChangedFile>,
    /// Those that could not be read or parsed.
    pub(super) unread: BTreeSet<RepoPath>,
    pub(super) skipped: Vec<Skipped>,
}

impl Comparison<'_> {
    /// Reads and parses both sides of every file that differs or may be affected.
    pub(super) fn load(
        &self,
        mut files: Vec<ChangedFile>,
        affected: &BTreeSet<RepoPath>,
        in_units: &[PathSet; 2],
        documents: Documents,
        at_once: Option<&AtOnce<'_>>,
    ) -> Loaded {
        let one_sided = files.iter().filter(|file| file.before.is_none() || file.after.is_none()).cloned().collect();
        let parses = ParseOnce::new(&self.after, documents);
        let at_once = at_once.map(|how| (self, how));
        let reader = Reader { before: &self.before, after: &self.after, affected, in_units, parses: &parses, at_once };
        let is_much = files.len() >= MANY;
        if is_much {
            sort_for_reading(&mut files, &self.after);
        }
        let budget = &self.options.budget;
        budget.progress.expect(files.len());
        let load = |file| {
            let loaded = reader.load(file);
            budget.progress.step();
            loaded
        };
        let is_little = || budget.spent.bytes() < LITTLE;
        let mut loaded = LoadedList::default();
        if files.len() < FEW {
            let mut waiting = files.into_iter();
            while waiting.len() > 0 && is_little() {
                loaded = loaded.with(waiting.next().and_then(load));
            }
            files = waiting.collect();
        }
        if !files.is_empty() {
            let with = |list: LoadedList, file| list.with(load(file));
            loaded = loaded.and(add_up(files, with, LoadedList::and));
        }
        if is_much {
            self.after.snapshot.forget_read();
        }
        let LoadedList { files: mut loaded, at_once, counted } = loaded;
        loaded.sort_by(|a, b| a.path.cmp(&b.path));
        let files = LoadedFiles { one_sided, counted, ..LoadedFiles::default() };
        let compared = Loaded { files, at_once, ..Loaded::default() };
        loaded.into_iter().fold(compared, Loaded::with)
    }
}

/// Fewer files than this, with fewer bytes in all, are read by one thread. Each thread would unpack the bases of its files for itself,
/// so that more of them take up to half as much work again, to save a tenth of a second.
const FEW: usize = 64;
const LITTLE: u64 = 16 << 20;
/// So many files are read in the order of the packs, and what was unpacked for them is dropped.
const MANY: usize = 256;

/// Packs are read fastest from front to back; for a few files the order does not matter.
fn sort_for_reading(files: &mut [ChangedFile], after: &Side<'_>) {
    let mut entries: Vec<Entry> = files.iter().filter_map(|file| file.after.clone()).collect();
    after.snapshot.sort_for_reading(&mut entries);
    let order: BTreeMap<&RepoPath, usize> = entries.iter().enumerate().map(|(at, entry)| (&entry.path, at)).collect();
    files.sort_by_key(|file| order.get(&file.path).copied());
}

/// Files that were read, without those that nothing is left of but what was compared at once.
#[derive(Default)]
struct LoadedList {
    files: Vec<LoadedFile>,
    at_once: ComparedAtOnce,
    counted: FileCounts,
}

/// What is counted of files.
#[derive(Default)]
pub(super) struct FileCounts {
    /// How many differ.
    pub(super) edited: usize,
    /// Documents of both sides that were not read because they are the same to the letter.
    pub(super) same_documents: usize,
    /// How many files of the newer side (or of the older, where they are gone) were read as what.
    pub(super) read_as: BTreeMap<ReadAs, usize>,
}

impl FileCounts {
    fn count(&mut self, is_edited: bool, sides: &[FileContent; 2]) {
        let [before, after] = sides;
        self.edited += usize::from(is_edited);
        if sides.iter().all(|side| !side.is_broken && side.skipped.is_none()) {
            self.same_documents += after.same;
        }
        if let Some(read_as) = after.read_as.or(before.read_as).filter(|_| is_edited) {
            *self.read_as.entry(read_as).or_default() += 1;
        }
    }

    fn add(&mut self, other: Self) {
        self.edited += other.edited;
        self.same_documents += other.same_documents;
        other.read_as.into_iter().for_each(|(read_as, count)| *self.read_as.entry(read_as).or_default() += count);
    }
}

impl LoadedList {
    fn with(mut self, file: Option<LoadedFile>) -> Self {
        match file {
            Some(file) if file.is_done() => {
                self.counted.count(file.is_edited, &file.sides);
                self.at_once.extend(file.at_once);
            }
            file => self.files.extend(file),
        }
        self
    }

    fn and(mut self, mut other: Self) -> Self {
        self.files.append(&mut other.files);
        self.at_once.extend(other.at_once);
        self.counted.add(other.counted);
        self
    }
}

impl Loaded {
    /// Adds what is wrong with the configuration and what impact could not look at.
    pub(super) fn noting(
        mut self,
        configuration: &Configuration,
        unreadable: Vec<Unreadable>,
        findings: Vec<Finding>,
    ) -> Self {
        if !configuration.findings().is_empty() || !unreadable.is_empty() || has_errors(&findings) {
            self.gap = Gap::Unreadable;
        }
        if !configuration.older_findings().is_empty() {
            self.gap = self.gap.max(Gap::Unparsed);
            self.findings.before.extend(configuration.older_findings().iter().cloned());
        }
        let unreadable = unreadable.into_iter().map(Unreadable::into_finding);
        let first = configuration.findings().iter().cloned().chain(unreadable).chain(findings);
        self.findings.after.splice(0..0, first);
        self
    }

    /// Adds findings about the newer side.
    pub(super) fn with_findings(mut self, findings: Vec<Finding>) -> Self {
        self.findings.after.extend(findings);
        self
    }

    /// Adds one file.
    fn with(mut self, file: LoadedFile) -> Self {
        let LoadedFile { path, is_edited, sides, at_once } = file;
        self.at_once.extend(at_once);
        let [before, after] = &sides;
        let is_broken = before.is_broken || after.is_broken;
        // A file that did not change and could not be read before either is not part of this comparison.
        if !is_edited && (before.is_broken && after.is_broken || before.skipped.is_some() && after.skipped.is_some()) {
            if after.is_broken {
                self.gap = self.gap.max(Gap::Unchanged);
            }
            return self;
        }
        // What fails in an unedited file belongs to a check of everything.
        let is_incomplete = before.is_incomplete || after.is_incomplete;
        if !is_edited && before.is_incomplete && after.is_incomplete {
            let [before, after] = sides;
            self.before.extend(before.resources);
            self.after.extend(after.resources);
            return self;
        }
        if is_incomplete {
            self.gap = self.gap.max(Gap::Unparsed);
        }
        if before.is_unreadable || after.is_unreadable {
            self.gap = Gap::Unreadable;
        } else if is_broken {
            self.gap = self.gap.max(Gap::Unparsed);
        }
        let files = &mut self.files;
        files.counted.count(is_edited, &sides);
        let [before, after] = sides;
        self.findings.before.extend(before.findings);
        self.findings.after.extend(after.findings);
        if is_broken {
            files.unread.insert(path.clone());
        }
        let skipped = after.skipped.or(before.skipped);
        files.skipped.extend(skipped.map(|reason| Skipped { path, reason }));
        // What one side does not show must not look added or removed on the other.
        if !is_broken && skipped.is_none() {
            self.before.extend(before.resources);
            self.after.extend(after.resources);
        }
        self
    }
}

/// One file on both sides.
struct LoadedFile {
    path: RepoPath,
    /// Whether it differs itself, not only through what it includes.
    is_edited: bool,
    sides: [FileContent; 2],
    at_once: ComparedAtOnce,
}

impl LoadedFile {
    /// Whether nothing more is to be said about the file than what was compared at once.
    fn is_done(&self) -> bool {
        let is_done = |side: &FileContent| {
            let is_read = !side.is_broken && !side.is_incomplete && !side.is_unreadable && side.skipped.is_none();
            is_read && side.resources.is_empty() && side.findings.is_empty()
        };
        self.sides.iter().all(is_done)
    }

    /// A file that is not read, because the run has used up what it may use.
    fn left_out(path: RepoPath) -> Self {
        let unread = || FileContent { is_broken: true, ..FileContent::default() };
        Self { path, is_edited: true, sides: [unread(), unread()], at_once: ComparedAtOnce::default() }
    }
}

/// Everything needed to read files on both sides.
struct Reader<'a> {
    before: &'a Side<'a>,
    after: &'a Side<'a>,
    affected: &'a BTreeSet<RepoPath>,
    /// The files of each side that units show.
    in_units: &'a [PathSet; 2],
    parses: &'a ParseOnce<'a>,
    /// What compares resources right away, and how.
    at_once: Option<(&'a Comparison<'a>, &'a AtOnce<'a>)>,
}

impl Reader<'_> {
    /// Both sides of a file; nothing if they turn out to be the same and nothing else can make a difference.
    fn load(&self, file: ChangedFile) -> Option<LoadedFile> {
        let path = file.path;
        if !self.after.limits.may_go_on() {
            return Some(LoadedFile::left_out(path));
        }
        let mut is_edited = true;
        let is_affected = self.affected.contains(&path);
        let mut texts = [None, None];
        let mut sides = match self.open(file.before, file.after) {
            // Without ids, a file that only looks touched shows its true face here. What it includes or reads may have changed.
            (Opened::Bytes(before, _), Opened::Bytes(after, _))
                if before == after && !is_affected && !may_have_expressions(&after) =>
            {
                return None;
            }
            (Opened::Bytes(before, before_id), Opened::Bytes(after, after_id)) => {
                is_edited = before != after;
                let [before, after] = self.parses.both(
                    version(self.before, &path, &before, before_id),
                    version(self.after, &path, &after, after_id),
                );
                // A text that both sides share is not theirs to drop.
                texts = if Arc::ptr_eq(&before, &after) { texts } else { [before.source, after.source] };
                [self.before.content(&path, &before), self.after.content(&path, &after)]
            }
            (before, after) => [self.one(self.before, &path, before), self.one(self.after, &path, after)],
        };
        for (content, in_units) in sides.iter_mut().zip(self.in_units) {
            if in_units.contains(&path) {
                content.leave_to_units();
            }
        }
        let compare = |(comparison, how): (&Comparison<'_>, _)| comparison.compare_at_once(&mut sides, texts, how);
        let at_once = self.at_once.map(compare).unwrap_or_default();
        Some(LoadedFile { path, is_edited, sides, at_once })
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
            Opened::Bytes(bytes, id) => side.content(path, &self.parses.one(version(side, path, &bytes, id))),
        }
    }
}

fn version<'c>(side: &'c Side<'_>, path: &'c RepoPath, bytes: &'c [u8], id: Option<ObjectId>) -> VersionContent<'c> {
    VersionContent { content: Content { bytes, path, revision: side.snapshot.label() }, id }
}
