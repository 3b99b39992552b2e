//! Files that mean something else because of what came or went beside them.

use std::collections::BTreeSet;

use super::Question;
use crate::document::Format;
use crate::metadata::WILDCARD;
use crate::names;
use crate::path::RepoPath;
use crate::snapshot::EntryKind;

/// Files that were not edited but are named, or read, in another way now: a directory became part of a tree of resources, or
/// ceased to be, and `metadata.*` and `patches.*` got a resource to speak for, or lost it.
pub(super) fn role_changes(question: &Question<'_>, edited: &BTreeSet<&RepoPath>) -> Vec<RepoPath> {
    let mut directories: BTreeSet<RepoPath> = BTreeSet::new();
    let mut layers: BTreeSet<RepoPath> = BTreeSet::new();
    for path in edited.iter().filter(|path| is_new_or_gone(question, path)) {
        let mut above = path.parent();
        while let Some(directory) = above {
            let parent = directory.parent();
            // A directory counts as declarative by the directories in it, so it is the one above that may have shifted.
            directories.extend(parent.clone());
            above = parent.filter(|_| directory.components().any(|name| name == WILDCARD.as_bytes()));
        }
        let Some((stem, _)) = path.stem_and_extension() else { continue };
        layers.extend(path.parent());
        layers.extend(path.parent().and_then(|parent| parent.join(stem.as_bytes()).ok()));
    }
    let roles = (question.before.roles(), question.after.roles());
    let mut files: Vec<RepoPath> = Vec::new();
    for directory in &directories {
        if roles.0.is_declarative(directory) != roles.1.is_declarative(directory) {
            // What stands in it may be a legacy resource now, and what stands one level down may have got a layer.
            let entries = question.after.snapshot.list(directory).entries;
            layers.extend(
                entries.iter().filter(|entry| entry.kind == EntryKind::Directory).map(|entry| entry.path.clone()),
            );
            files.extend(entries.into_iter().filter(|entry| entry.kind == EntryKind::File).map(|entry| entry.path));
        }
    }
    for directory in &layers {
        let names = [names::METADATA, names::PATCHES].into_iter().flat_map(names::each_with_stem);
        files.extend(names.filter_map(|name| directory.join(name.as_bytes()).ok()));
    }
    files.sort_unstable();
    files.dedup();
    files.retain(|file| {
        let is_text = Format::of_file_name(file.file_name()).is_some();
        is_text && !edited.contains(file) && stands_on_both(question, file) && roles.0.of(file) != roles.1.of(file)
    });
    files
}

fn is_new_or_gone(question: &Question<'_>, path: &RepoPath) -> bool {
    !stands_on_both(question, path)
}

fn stands_on_both(question: &Question<'_>, path: &RepoPath) -> bool {
    let stands = |world: &crate::side::Side<'_>| matches!(world.snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::File);
    stands(question.before) && stands(question.after)
}
