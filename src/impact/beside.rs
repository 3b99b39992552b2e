//! Files that are part of others because of their place: defaults of a layer, and texts beside a resource.

use std::collections::BTreeSet;

use super::Question;
use crate::names;
use crate::path::RepoPath;
use crate::side::Side;
use crate::snapshot::{ChangedFile, EntryKind};

/// The files that edits beside them may affect.
#[derive(Debug, Default)]
pub(super) struct Beside {
    /// Layers whose defaults were edited.
    pub(super) layers: Vec<RepoPath>,
    /// Resources that may name an edited file, or are in one directory with a new one.
    pub(super) resources: Vec<RepoPath>,
}

/// What edits of files that are neither resources nor layers can affect; nothing if they can affect nothing.
pub(super) fn beside(question: &Question<'_>, edited: &[ChangedFile]) -> Option<Beside> {
    let sides = [question.before, question.after];
    let mut beside = Beside::default();
    let mut directories: BTreeSet<RepoPath> = BTreeSet::new();
    let mut twins: BTreeSet<RepoPath> = BTreeSet::new();
    for file in edited {
        let Some(directory) = file.path.parent() else { continue };
        let stem = file.path.stem_and_extension().map_or("", |(stem, _)| stem);
        if names::is_defaults_stem(stem) {
            beside.layers.extend(present(sides, &directory, names::METADATA));
        }
        if stem == names::RESOURCE && (file.before.is_none() || file.after.is_none()) {
            twins.extend(resource_files(sides, &directory));
        }
        if !matches!(stem, names::RESOURCE | names::METADATA | names::PATCHES) {
            directories.extend(std::iter::successors(Some(directory), RepoPath::parent));
        }
    }
    beside.resources = directories.iter().flat_map(|directory| present(sides, directory, names::RESOURCE)).collect();
    twins.retain(|path| !beside.resources.contains(path));
    beside.resources.extend(twins);
    let is_edited = |path: &RepoPath| edited.iter().any(|file| file.path == *path);
    beside.resources.retain(|path| !is_edited(path));
    (!beside.layers.is_empty() || !beside.resources.is_empty()).then_some(beside)
}

/// Every file in a directory that is called like one of a resource, on either side: two of them are a mistake.
fn resource_files(sides: [&Side<'_>; 2], directory: &RepoPath) -> BTreeSet<RepoPath> {
    let mut files = BTreeSet::new();
    for side in sides {
        side.snapshot.visit(directory, &mut |member| {
            if member.kind == EntryKind::File && names::is_resource_file(member.name) {
                files.insert(member.path());
            }
        });
    }
    files
}

/// The files of a stem in a directory, on either side.
fn present(sides: [&Side<'_>; 2], directory: &RepoPath, stem: &'static str) -> BTreeSet<RepoPath> {
    let paths = names::each_with_stem(stem).filter_map(|name| directory.join(name.as_bytes()).ok());
    let is_file = |side: &Side<'_>, path: &RepoPath| matches!(side.snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::File);
    paths.filter(|path| sides.iter().any(|side| is_file(side, path))).collect()
}
