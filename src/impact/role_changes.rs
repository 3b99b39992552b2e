//! Files whose role changed because other files were added or removed beside them.

use std::collections::BTreeSet;

use super::Question;
use crate::document::Format;
use crate::metadata::WILDCARD;
use crate::names;
use crate::path::RepoPath;
use crate::side::Side;
use crate::snapshot::EntryKind;

/// Files that were not edited but have another role now: their directory became part of a tree of resources or ceased to be one,
/// or the resource that a `metadata.*` or `patches.*` applies to was added or removed.
pub(super) fn role_changes(question: &Question<'_>, edited: &BTreeSet<&RepoPath>) -> Vec<RepoPath> {
    let mut directories: BTreeSet<RepoPath> = BTreeSet::new();
    let mut layers: BTreeSet<RepoPath> = BTreeSet::new();
    for path in edited.iter().filter(|path| !is_on_both_sides(question, path)) {
        let stem = path.stem_and_extension().map(|(stem, _)| stem);
        // Only resource files and what is below `_` make a directory declarative.
        let may_decide = stem == Some(names::RESOURCE) || path.components().any(|name| name == WILDCARD.as_bytes());
        let mut above = path.parent().filter(|_| may_decide);
        while let Some(directory) = above {
            let parent = directory.parent();
            // A directory counts as declarative by the directories in it, so that the one above may have changed.
            directories.extend(parent.clone());
            above = parent.filter(|_| directory.components().any(|name| name == WILDCARD.as_bytes()));
        }
        let Some(stem) = stem else { continue };
        layers.extend(path.parent());
        layers.extend(path.parent().and_then(|parent| parent.join(stem.as_bytes()).ok()));
    }
    let roles = (question.before.roles(), question.after.roles());
    let mut files: Vec<RepoPath> = Vec::new();
    for directory in &directories {
        if roles.0.is_declarative(directory) != roles.1.is_declarative(directory) {
            // A file in it may be a legacy resource now, and a directory in it may have got a layer.
            let entries = question.after.snapshot.list(directory).entries;
            layers.extend(
                entries.iter().filter(|entry| entry.kind == EntryKind::Directory).map(|entry| entry.path.clone()),
            );
            files.extend(entries.into_iter().filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.path));
        }
    }
    let is_directory = |side: &Side<'_>, path: &RepoPath| matches!(side.snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::Directory);
    layers.retain(|path| is_directory(question.before, path) && is_directory(question.after, path));
    for directory in &layers {
        let names = [names::METADATA, names::PATCHES].into_iter().flat_map(names::each_with_stem);
        files.extend(names.filter_map(|name| directory.join(name.as_bytes()).ok()));
    }
    files.sort_unstable();
    files.dedup();
    files.retain(|file| {
        let is_text = Format::of_file_name(file.file_name()).is_some();
        is_text
            && !edited.contains(file)
            && is_on_both_sides(question, file)
            && roles.0.role(file) != roles.1.role(file)
    });
    files
}

fn is_on_both_sides(question: &Question<'_>, path: &RepoPath) -> bool {
    let is_file =
        |side: &Side<'_>| matches!(side.snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::File);
    is_file(question.before) && is_file(question.after)
}
