//! Added and removed resources: equal ones together, and many of them by directory and kind.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::diff::{PathStep, ResourceChange};
use crate::path::RepoPath;
use crate::report::Report;
use crate::resource::{Identity, Resource};
use crate::value::Node;

/// Resources with equal content.
#[derive(Debug, Default)]
pub(in crate::report) struct Alike {
    /// Their positions, in order; never empty.
    pub resources: Vec<usize>,
    /// Resources of the same kind with nearly the same content.
    pub variants: Vec<AlikeVariant>,
}

/// Resources with the same content as another one, except for some values.
#[derive(Debug)]
pub(in crate::report) struct AlikeVariant {
    /// Their positions, in order; never empty.
    pub resources: Vec<usize>,
    /// Their own values, each with the paths that have it.
    pub values: Vec<(Node, Vec<Vec<PathStep>>)>,
}

impl Alike {
    /// All of them, in order.
    pub(in crate::report) fn all(&self) -> Vec<usize> {
        let variants = self.variants.iter().flat_map(|variant| &variant.resources);
        let mut all: Vec<usize> = self.resources.iter().chain(variants).copied().collect();
        all.sort_unstable();
        all
    }
}

/// More added or removed resources than this are summarised.
pub(in crate::report) const LISTED: usize = 20;
/// The most directories of a summary.
const MOST_DIRECTORIES: usize = 16;
/// Fewer directories than this say too little if there are deeper ones.
const FEWEST_DIRECTORIES: usize = 3;

/// Some of many resources that are below one directory.
#[derive(Debug)]
pub(in crate::report) struct Directory {
    /// The directory, with a slash at its end; empty for the files at the top.
    pub name: String,
    /// The number of files.
    pub files: usize,
    /// The number of resources.
    pub resources: usize,
    /// The number of resources by kind, the most frequent first.
    pub kinds: Vec<(String, usize)>,
}

/// The side of a resource that was added or removed.
pub(super) fn side(of: &ResourceChange) -> Option<&Resource> {
    of.after.as_ref().or(of.before.as_ref())
}

/// Resources by their content, in the order of the first.
pub(super) fn alike(report: &Report, resources: &[usize], merges: bool) -> Vec<Alike> {
    let mut found: Vec<Alike> = Vec::new();
    let mut by_hash: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for &at in resources {
        let Some(of) = side(&report.resources[at]) else { continue };
        let bucket = by_hash.entry(of.payload.hash()).or_default();
        let is_twin = |class: &&usize| {
            let first = found[**class].resources.first().and_then(|&first| side(&report.resources[first]));
            first.is_some_and(|first| first.payload.is_identical(&of.payload))
        };
        match bucket.iter().find(is_twin).copied().filter(|_| merges) {
            Some(class) => found[class].resources.push(at),
            None => {
                bucket.push(found.len());
                found.push(Alike { resources: vec![at], variants: Vec::new() });
            }
        }
    }
    found
}

/// Many resources by directory, at a depth that separates them without listing too much.
pub(in crate::report) fn by_directory(report: &Report, resources: &[usize]) -> Vec<Directory> {
    let sides: Vec<&Resource> = resources.iter().filter_map(|&at| side(&report.resources[at])).collect();
    let deepest = sides.iter().map(|side| depth(&side.file)).max().unwrap_or(0);
    let paths: Vec<String> = sides.iter().map(|side| side.file.to_string()).collect();
    let mut chosen = 0;
    for depth in 0..=deepest {
        let names = paths.iter().map(|path| above(path, depth)).collect::<BTreeSet<_>>().len();
        if names > MOST_DIRECTORIES {
            break;
        }
        chosen = depth;
        if names >= FEWEST_DIRECTORIES {
            break;
        }
    }
    let mut found: BTreeMap<&str, Vec<&Resource>> = BTreeMap::new();
    for (side, path) in sides.into_iter().zip(&paths) {
        found.entry(above(path, chosen)).or_default().push(side);
    }
    found.into_iter().map(|(name, sides)| directory(name.to_owned(), &sides)).collect()
}

fn directory(name: String, sides: &[&Resource]) -> Directory {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for side in sides {
        let kind = match &side.identity {
            Identity::Kubernetes(name) => name.kind.to_string(),
            Identity::Logical(_) => "resources".to_owned(),
            Identity::File { .. } => "other files".to_owned(),
        };
        *kinds.entry(kind).or_default() += 1;
    }
    let mut kinds: Vec<(String, usize)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, count)| Reverse(*count));
    let files = sides.iter().map(|side| &side.file).collect::<BTreeSet<_>>().len();
    Directory { name, files, resources: sides.len(), kinds }
}

fn depth(file: &RepoPath) -> usize {
    file.components().count().saturating_sub(1)
}

/// The first directories of a path, each with its slash.
fn above(path: &str, depth: usize) -> &str {
    let ends = path.match_indices('/').take(depth).map(|(at, _)| at + 1);
    &path[..ends.last().unwrap_or_default()]
}
