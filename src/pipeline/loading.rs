//! From changed files to resources on both sides, in parallel.

use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::Request;
use super::parsing::{self, Parses, Wanted};
use crate::compare::Masks;
use crate::document::Format;
use crate::finding::{self, Finding, Location, Severity};
use crate::limits::Limits;
use crate::merge::{self, Includes};
use crate::path::RepoPath;
use crate::resource::{
    Content, Parsed, ReadAs, Resource, Role, Roles, SkipReason, Skipped, kubernetes_name, resources_of,
};
use crate::settings::Settings;
use crate::source::{ChangedFile, Changes, Entry, EntryKind, ObjectId, Snapshot, Unreadable};
use crate::text::Sources;

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
}

/// Reads and parses both sides of every changed file, and hides secrets.
pub(super) fn load_changes(request: &Request<'_>, masks: &Masks, found: Changes, wanted: Wanted) -> LoadedSides {
    let settings = request.configuration;
    let parses = Parses::new(&found.files, request, wanted);
    let reader = Reader {
        before: Side::new(request.before, &settings.before),
        after: Side::new(request.after, &settings.after),
        parses: &parses,
        masks,
        sources: request.sources,
        limits: settings.limits(),
    };
    let mut files = found.files;
    sort_for_reading(&mut files, request);
    let progress = &request.budget.progress;
    progress.expect(files.len());
    let mut loaded: Vec<LoadedFile> = files
        .into_par_iter()
        .filter_map(|file| {
            let loaded = reader.load(file);
            progress.step();
            loaded
        })
        .collect();
    loaded.sort_by(|a, b| a.path.cmp(&b.path));

    let mut sides = LoadedSides {
        findings: settings.findings.clone(),
        files: loaded.iter().filter(|file| file.is_edited).count(),
        ..LoadedSides::default()
    };
    sides.is_incomplete = !settings.findings.is_empty() || !found.unreadable.is_empty();
    sides.findings.extend(found.unreadable.into_iter().map(Unreadable::into_finding));
    for file in loaded {
        sides.add(file);
    }
    sides
}

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
        let LoadedFile { path, sides: [before, after], .. } = file;
        let is_broken = before.is_broken || after.is_broken;
        self.has_broken |= is_broken;
        self.is_incomplete |= before.is_unreadable || after.is_unreadable;
        self.findings_before.extend(before.findings);
        self.findings.extend(after.findings);
        if let Some(read_as) = after.read_as.or(before.read_as) {
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
    sides: [SideFile; 2],
}

/// One file on one side.
#[derive(Default)]
struct SideFile {
    resources: Vec<Resource>,
    findings: Vec<Finding>,
    skipped: Option<SkipReason>,
    read_as: Option<ReadAs>,
    same: usize,
    is_broken: bool,
    is_unreadable: bool,
}

impl SideFile {
    fn skipped(reason: SkipReason) -> Self {
        Self { skipped: Some(reason), ..Self::default() }
    }

    fn unreadable(finding: Finding) -> Self {
        Self { findings: vec![finding], is_broken: true, is_unreadable: true, ..Self::default() }
    }
}

/// Everything needed to read changed files.
struct Reader<'a> {
    before: Side<'a>,
    after: Side<'a>,
    parses: &'a Parses<'a>,
    masks: &'a Masks,
    sources: &'a Sources,
    limits: &'a Limits,
}

/// One side of the comparison.
struct Side<'a> {
    snapshot: &'a dyn Snapshot,
    settings: &'a Settings,
    roles: Roles<'a>,
    includes: Includes,
}

/// What reading a file gave: bytes to parse, or everything there is to say.
enum Read {
    Bytes(Arc<[u8]>, Option<ObjectId>),
    Done(SideFile),
}

impl Reader<'_> {
    /// Both sides of a file; nothing if they turn out to be the same.
    fn load(&self, file: ChangedFile) -> Option<LoadedFile> {
        let path = file.path;
        let mut is_edited = true;
        let sides = match (self.before.read(file.before), self.after.read(file.after)) {
            // Without ids, a file that only looks touched shows its true face here. What it includes may have changed.
            (Read::Bytes(before, _), Read::Bytes(after, _)) if before == after && !merge::may_include(&after) => {
                return None;
            }
            (Read::Bytes(before, before_id), Read::Bytes(after, after_id)) => {
                is_edited = before != after;
                let [before, after] = self
                    .parses
                    .both(self.before.content(&path, &before, before_id), self.after.content(&path, &after, after_id));
                [self.resources(&self.before, &path, &before), self.resources(&self.after, &path, &after)]
            }
            (before, after) => [self.one(&self.before, &path, before), self.one(&self.after, &path, after)],
        };
        Some(LoadedFile { path, is_edited, sides })
    }

    fn one(&self, side: &Side<'_>, path: &RepoPath, read: Read) -> SideFile {
        match read {
            Read::Done(file) => file,
            Read::Bytes(bytes, id) => {
                let parsed = self.parses.one(side.content(path, &bytes, id));
                self.resources(side, path, &parsed)
            }
        }
    }

    /// The documents of a file after their merge directives; nothing if there are none.
    fn expand(&self, side: &Side<'_>, path: &RepoPath, role: &Role, parsed: &Parsed) -> Option<Parsed> {
        let is_exempt = *role == Role::Configuration || path.as_bytes() == b"bundle.yaml";
        if !side.settings.directives || is_exempt || !parsed.documents.iter().any(merge::has_directives) {
            return None;
        }
        let context = merge::Context {
            snapshot: side.snapshot,
            includes: &side.includes,
            sources: self.sources,
            limits: self.limits,
            profile: side.settings.merge,
        };
        let mut expanded = parsed.clone();
        for document in &mut expanded.documents {
            let mut outcome = merge::expand(document, path, &context);
            expanded.is_broken |= outcome.findings.iter().any(|finding| finding.severity == Severity::Error);
            expanded.findings.append(&mut outcome.findings);
            document.root = outcome.value.root;
        }
        Some(expanded)
    }

    fn resources(&self, side: &Side<'_>, path: &RepoPath, parsed: &Parsed) -> SideFile {
        let speaks_for_itself = !parsed.documents.is_empty()
            && parsed.documents.iter().all(|document| kubernetes_name(&document.root).is_some());
        let role = side.roles.of_content(path, speaks_for_itself);
        if let Some(reason) = parsed.excuse_as(&role) {
            return SideFile::skipped(reason);
        }
        let expanded = self.expand(side, path, &role, parsed);
        let parsed = expanded.as_ref().unwrap_or(parsed);
        let resources = if parsed.is_broken { Vec::new() } else { resources_of(parsed, path, &role) };
        SideFile {
            read_as: Some(ReadAs::of(&role, &resources)),
            same: parsed.count.saturating_sub(parsed.documents.len()),
            resources: resources.into_iter().map(|resource| self.masks.hide(resource)).collect(),
            // The configuration was read, and judged, before everything else.
            findings: if role == Role::Configuration { Vec::new() } else { parsed.findings.clone() },
            is_broken: parsed.is_broken,
            ..SideFile::default()
        }
    }
}

impl<'a> Side<'a> {
    fn new(snapshot: &'a dyn Snapshot, settings: &'a Settings) -> Self {
        Self { snapshot, settings, roles: Roles::new(snapshot, settings), includes: Includes::default() }
    }

    fn content<'c>(&'c self, path: &'c RepoPath, bytes: &'c [u8], id: Option<ObjectId>) -> parsing::Side<'c> {
        parsing::Side { content: Content { bytes, path, revision: self.snapshot.label() }, id }
    }

    fn read(&self, entry: Option<Entry>) -> Read {
        let Some(entry) = entry else { return Read::Done(SideFile::default()) };
        match entry.kind {
            EntryKind::File if Format::of_file_name(entry.path.file_name()).is_none() => {
                Read::Done(SideFile::skipped(SkipReason::OtherFormat))
            }
            EntryKind::File => match self.snapshot.read(&entry) {
                Ok(bytes) => Read::Bytes(bytes, entry.id),
                Err(error) => Read::Done(SideFile::unreadable(error.into_finding())),
            },
            EntryKind::Symlink => Read::Done(SideFile::skipped(SkipReason::Symlink)),
            EntryKind::Submodule => Read::Done(SideFile::skipped(SkipReason::Submodule)),
            EntryKind::Conflict | EntryKind::Directory => Read::Done(SideFile::unreadable(self.conflict(&entry))),
        }
    }

    fn conflict(&self, entry: &Entry) -> Finding {
        let location = Location::File { path: entry.path.clone(), revision: self.snapshot.label().into() };
        Finding::new(&finding::SOURCE_CONFLICT, location, "unresolved merge conflict in the index")
            .help(format!("resolve it, then run `git add -- {}`", entry.path))
    }
}
