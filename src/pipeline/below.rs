//! Resources whose requests read what stands above them: when that changes, their requests may.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::metadata::{self, Reach};
use super::parsing::Wanted;
use super::requests::derive_otherwise;
use super::views::Known;
use super::worlds::in_effect;
use super::{Request, Worlds, loading};
use crate::diff::{self, ResourcePair};
use crate::document::Format;
use crate::impact::Impact;
use crate::layout::Role;
use crate::metadata::{EffectiveMetadata, WILDCARD, resolve};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Identity;
use crate::side::Side;
use crate::snapshot::{ChangedFile, EntryKind};
use crate::value::Node;

/// Resources that stand below a changed one, did not change themselves, and look upwards in some template.
#[derive(Default)]
pub(super) struct Below {
    pub(super) pairs: Vec<ResourcePair>,
    /// Every file whose requests may differ for this reason.
    pub(super) files: BTreeSet<RepoPath>,
}

/// Finds what stands below the changed ones of some pairs.
pub(super) fn below(request: &Request<'_>, worlds: &Worlds<'_>, reach: &Reach, pairs: &[ResourcePair]) -> Below {
    let is_seen_below = |pair: &&ResourcePair| is_changed(pair) || names_otherwise(pair, worlds, reach);
    let changed: Vec<&ResourcePair> = match pairs.len() {
        // A few are looked at faster than threads are started.
        0..64 => pairs.iter().filter(is_seen_below).collect(),
        _ => pairs.par_iter().filter(is_seen_below).collect(),
    };
    let changed: BTreeSet<&LogicalPath> = changed.into_iter().flat_map(paths).collect();
    let known: BTreeSet<&RepoPath> =
        pairs.iter().flat_map(|(before, after)| [before, after]).flatten().map(|resource| &resource.file).collect();
    let mut files: BTreeSet<RepoPath> = BTreeSet::new();
    for path in changed {
        for root in worlds.after.settings.roots.paths() {
            if let Ok(directory) = path.directory_below(root) {
                gather(&worlds.after, &directory, 0, &mut files);
            }
        }
    }
    files.retain(|file| request.scope.wants(file) && looks_up(worlds, file));
    let unknown: Vec<ChangedFile> = files
        .iter()
        .filter(|file| !known.contains(file))
        .map(|file| ChangedFile {
            path: file.clone(),
            before: request.before.entry(file).ok().flatten(),
            after: request.after.entry(file).ok().flatten(),
        })
        .collect();
    let affected = unknown.iter().map(|file| file.path.clone()).collect();
    let impact = Impact { files: unknown, affected, ..Impact::default() };
    let loaded = loading::load_changes(request, worlds, impact, Wanted::All);
    // What is wrong with files that nobody edited was wrong before.
    let effective = |resources, world| in_effect(resources, world, &mut Vec::new()).resources;
    let (before, after) = worlds.hide(effective(loaded.before, &worlds.before), effective(loaded.after, &worlds.after));
    let pairs = diff::pair(before, after);
    Below { pairs, files }
}

fn is_changed((before, after): &ResourcePair) -> bool {
    match (before, after) {
        (Some(before), Some(after)) => before.identity != after.identity || !before.payload.is_equal(&after.payload),
        _ => true,
    }
}

/// Whether a resource that says what it said is seen differently from below, because layers name the segments of its path anew.
fn names_otherwise((before, after): &ResourcePair, worlds: &Worlds<'_>, reach: &Reach) -> bool {
    let (Some(before), Some(after)) = (before, after) else { return false };
    if reach.is_nobody() {
        return false;
    }
    let known = (Known::of(&worlds.before, before), Known::of(&worlds.after, after));
    let (Some(old), Some(new)) = known else { return false };
    metadata::may_derive_otherwise(&metadata::compare(&old, &new, worlds, reach)) && derive_otherwise(&old, &new)
}

/// Only what has a directory of its own can have something below it.
fn paths((before, after): &ResourcePair) -> impl Iterator<Item = &LogicalPath> {
    let sides = [before, after].into_iter().flatten();
    sides.filter_map(|resource| match &resource.identity {
        Identity::Logical(path) => Some(path),
        _ => None,
    })
}

fn gather(world: &Side<'_>, directory: &RepoPath, depth: u32, files: &mut BTreeSet<RepoPath>) {
    if depth > world.limits.directory_depth {
        return;
    }
    for entry in world.snapshot.list(directory).entries {
        let name = entry.path.file_name();
        match entry.kind {
            EntryKind::Directory if name != WILDCARD.as_bytes() && !name.starts_with(b".") => {
                gather(world, &entry.path, depth + 1, files);
            }
            EntryKind::File if Format::of_file_name(name).is_some() => drop(files.insert(entry.path)),
            _ => {}
        }
    }
}

/// Whether the metadata for what stands in a file, on either side, has a template that looks upwards.
fn looks_up(worlds: &Worlds<'_>, file: &RepoPath) -> bool {
    let upwards = |world: &Side<'_>| {
        let path = match world.roles().of(file) {
            Role::Resource(path) | Role::LegacyResource(path) => path,
            // Its documents name themselves; layers speak for all that stands in its directory.
            Role::Documents => {
                let below = file.parent().zip(world.root_of(file)).and_then(|(parent, root)| parent.below(root));
                match below.and_then(|below| LogicalPath::of_directory(&below)) {
                    Some(path) => path.child("any"),
                    None => return false,
                }
            }
            _ => return false,
        };
        world.layers().layers_for(file).is_some_and(|layers| reads_ancestors(&resolve(&path, layers).value))
    };
    upwards(&worlds.before) || upwards(&worlds.after)
}

fn reads_ancestors(metadata: &EffectiveMetadata) -> bool {
    let may_read = |node: &Node| node.as_str().is_some_and(|text| text.contains("{{") && text.contains("../"));
    !metadata.layers().is_empty() && metadata.to_node().any(may_read)
}
