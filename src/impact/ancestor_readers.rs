//! Finds resources whose request templates use `../`, so that a change of an ancestor makes their requests differ.

use std::collections::BTreeSet;

use crate::document::Format;
use crate::layout::Role;
use crate::metadata::{EffectiveMetadata, WILDCARD, resolve};
use crate::path::{LogicalPath, RepoPath};
use crate::side::Side;
use crate::snapshot::{EntryKind, Scope};
use crate::value::Node;

/// Files below the directories of changed paths whose requests may differ for this reason.
pub type AncestorReaders = BTreeSet<RepoPath>;

/// The files of interest below changed paths whose metadata, on either side, has a template that looks upwards.
pub fn ancestor_readers(
    [before, after]: [&Side<'_>; 2],
    changed: &BTreeSet<&LogicalPath>,
    scope: &Scope,
) -> AncestorReaders {
    let mut files = BTreeSet::new();
    for path in changed {
        for root in after.settings.roots.paths() {
            if let Ok(directory) = path.directory_below(root) {
                gather(after, &directory, 0, &mut files);
            }
        }
    }
    files.retain(|file| scope.wants(file) && reads_upwards([before, after], file));
    files
}

/// Adds every file below a directory that may hold resources.
pub(super) fn gather(side: &Side<'_>, directory: &RepoPath, depth: u32, files: &mut BTreeSet<RepoPath>) {
    if depth > side.limits.directory_depth {
        return;
    }
    for entry in side.snapshot.list(directory).entries {
        let name = entry.path.file_name();
        match entry.kind {
            EntryKind::Directory if name != WILDCARD.as_bytes() && !name.starts_with(b".") => {
                gather(side, &entry.path, depth + 1, files);
            }
            EntryKind::File if Format::of_file_name(name).is_some() => drop(files.insert(entry.path)),
            _ => {}
        }
    }
}

/// Whether the metadata for the resources of a file, on either side, has a template with `../`.
fn reads_upwards([before, after]: [&Side<'_>; 2], file: &RepoPath) -> bool {
    let upwards = |side: &Side<'_>| {
        let known = path_of(side, file).zip(side.layers().layers_for(file));
        known.is_some_and(|(path, layers)| reads_ancestors(&resolve(&path, layers).value))
    };
    upwards(before) || upwards(after)
}

/// A path that layers for the resources of a file apply to.
pub(super) fn path_of(side: &Side<'_>, file: &RepoPath) -> Option<LogicalPath> {
    match side.roles().role(file) {
        Role::Resource(path) | Role::LegacyResource(path) => Some(path),
        // Its documents name themselves; layers apply to all of its directory.
        Role::Documents => {
            let below = file.parent()?.below(side.root_of(file)?)?;
            Some(LogicalPath::of_directory(&below)?.child("any"))
        }
        _ => None,
    }
}

fn reads_ancestors(metadata: &EffectiveMetadata) -> bool {
    let may_read = |node: &Node| node.as_str().is_some_and(|text| text.contains("{{") && text.contains("../"));
    !metadata.layers().is_empty() && metadata.to_node().any(may_read)
}
