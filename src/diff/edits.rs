//! Which edited files the changes of resources come from, and how far each of them reaches.

use std::collections::{BTreeMap, BTreeSet};

use super::cause::{Cause, Causes, FileSpan, causes};
use super::groups::Member;
use super::{Change, ResourceChange};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::text::Sources;
use crate::value::Node;

/// Where changes come from.
#[derive(Debug, Default, Clone)]
pub struct Edits {
    /// Edited files that other resources read, those of most resources first.
    pub files: Vec<EditedFile>,
    /// Edits of values that resources define in their own files.
    pub own: OwnEdits,
    /// Changes of such files themselves that are the very changes which their readers show.
    pub echoes: BTreeSet<Member>,
}

/// An edited file and what it does to resources.
#[derive(Debug, Clone)]
pub struct EditedFile {
    /// Which.
    pub file: RepoPath,
    /// At how many places an edit of it shows.
    pub edits: usize,
    /// In how many resources.
    pub resources: usize,
}

/// Edits of values that resources define in their own files.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct OwnEdits {
    /// How many files.
    pub files: usize,
    /// How many changes.
    pub edits: usize,
    /// How many resources.
    pub resources: usize,
}

/// A place that gives each reader something else is no plain value that its own file could show.
const MOST_READINGS: usize = 16;

/// Looks for the edits behind changes. A file may be read and not be edited; `is_edited` knows.
pub fn edits(resources: &[ResourceChange], sources: &Sources, is_edited: &dyn Fn(&RepoPath) -> bool) -> Edits {
    let mut found = Found { is_edited, known: BTreeMap::new(), files: BTreeMap::new(), own: BTreeMap::new() };
    let mut read: BTreeMap<PlacePair, Vec<&Change>> = BTreeMap::new();
    for (at, of) in resources.iter().enumerate().filter(|(_, of)| of.before.is_some() && of.after.is_some()) {
        for change in of.changes() {
            let causes = causes(change, of, sources);
            found.count(at, causes, causes.is_same_text(sources));
            if causes.is_external() {
                let known = read.entry(places(causes)).or_default();
                if known.len() < MOST_READINGS && !known.iter().any(|known| is_same_edit(known, change)) {
                    known.push(change);
                }
            }
        }
    }
    let echoes = echoes(resources, sources, &read);
    found.finish(resources, echoes)
}

/// Where both sides of a value are written.
type PlacePair = [Option<(RepoPath, u32)>; 2];

fn places(causes: &Causes) -> PlacePair {
    let place = |cause: &Option<Cause>| cause.as_ref().map(|cause| (cause.at.file.clone(), cause.at.span.start));
    [place(&causes.before), place(&causes.after)]
}

/// The changes of plain files that the resources which include them show as well, with equal values.
fn echoes(
    resources: &[ResourceChange],
    sources: &Sources,
    read: &BTreeMap<PlacePair, Vec<&Change>>,
) -> BTreeSet<Member> {
    let mut echoes = BTreeSet::new();
    for (resource, of) in resources.iter().enumerate() {
        let is_file = |side: &Resource| matches!(side.identity, Identity::File { .. });
        if read.is_empty() || ![&of.before, &of.after].iter().all(|side| side.as_ref().is_some_and(is_file)) {
            continue;
        }
        for (at, change) in of.changes().enumerate() {
            let causes = causes(change, of, sources);
            let twins = read.get(&places(causes)).filter(|_| causes.sides().all(|side| side.is_own));
            if twins.is_some_and(|twins| twins.iter().any(|twin| is_same_edit(twin, change))) {
                echoes.insert(Member { resource, change: at });
            }
        }
    }
    echoes
}

fn is_same_edit(this: &Change, that: &Change) -> bool {
    let is_same = |this: &Option<Node>, that: &Option<Node>| Node::same_option(this.as_ref(), that.as_ref());
    this.kind == that.kind && is_same(&this.before, &that.before) && is_same(&this.after, &that.after)
}

/// Identifies an edit in a file: the locations of the values before and after, or of the steps that inserted them.
type EditId = [Option<u32>; 2];

struct Found<'a> {
    is_edited: &'a dyn Fn(&RepoPath) -> bool,
    known: BTreeMap<RepoPath, bool>,
    files: BTreeMap<RepoPath, (BTreeSet<EditId>, BTreeSet<usize>)>,
    own: BTreeMap<usize, usize>,
}

impl Found<'_> {
    fn count(&mut self, resource: usize, causes: &Causes, is_same_text: bool) {
        let mut edited: BTreeMap<RepoPath, EditId> = BTreeMap::new();
        // A value that is defined as before did not make the difference; one of its steps may have.
        if !is_same_text {
            for (side, cause) in [&causes.before, &causes.after].into_iter().enumerate() {
                if let Some(cause) = cause.as_ref().filter(|cause| !cause.is_own) {
                    self.note(&mut edited, side, &cause.at);
                }
            }
        }
        if edited.is_empty() {
            for (side, cause) in [&causes.before, &causes.after].into_iter().enumerate() {
                for via in cause.iter().flat_map(|cause| &cause.via).filter(|via| !via.is_own) {
                    self.note(&mut edited, side, &via.at);
                }
            }
        }
        if edited.is_empty() {
            *self.own.entry(resource).or_default() += 1;
        }
        for (file, edit) in edited {
            let (edits, resources) = self.files.entry(file).or_default();
            edits.insert(edit);
            resources.insert(resource);
        }
    }

    fn note(&mut self, edited: &mut BTreeMap<RepoPath, EditId>, side: usize, at: &FileSpan) {
        let is_edited = *self.known.entry(at.file.clone()).or_insert_with(|| (self.is_edited)(&at.file));
        if is_edited {
            edited.entry(at.file.clone()).or_default()[side].get_or_insert(at.span.start);
        }
    }

    fn finish(self, resources: &[ResourceChange], echoes: BTreeSet<Member>) -> Edits {
        let file_of = |at: &usize| Some(resources[*at].after.as_ref().or(resources[*at].before.as_ref())?.file.clone());
        let own = self.own.iter().filter(|(at, _)| file_of(at).is_some_and(|file| !self.files.contains_key(&file)));
        let own: Vec<(&usize, &usize)> = own.collect();
        let own_files: BTreeSet<RepoPath> = own.iter().filter_map(|(at, _)| file_of(at)).collect();
        let own = OwnEdits {
            files: own_files.len(),
            edits: own.iter().map(|(_, edits)| **edits).sum(),
            resources: own.len(),
        };
        let files = self.files.into_iter().map(|(file, (edits, resources))| EditedFile {
            file,
            edits: edits.len(),
            resources: resources.len(),
        });
        let mut files: Vec<EditedFile> = files.collect();
        files.sort_by(|a, b| b.resources.cmp(&a.resources).then_with(|| a.file.cmp(&b.file)));
        Edits { files, own, echoes }
    }
}
