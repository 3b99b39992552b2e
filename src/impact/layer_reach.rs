//! Layers that apply to more or fewer paths than before, because their form or their selector changed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::metadata::{Layer, MetadataPath, is_metadata_file};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::side::Side;

/// A layer that reaches everything below its collection on one side, and direct items only on the other.
#[derive(Debug, Clone)]
pub struct ReachChange {
    /// Its file on the newer side.
    pub file: RepoPath,
    /// The layer on both sides.
    pub layers: [Arc<Layer>; 2],
    /// The paths that lose or gain it.
    pub paths: BTreeSet<String>,
}

impl ReachChange {
    /// Whether it reaches everything below now.
    pub fn is_gained(&self) -> bool {
        self.layers[1].statements.reaches_below()
    }

    /// Whether the form of the file changed, which decides how far it reaches.
    pub fn has_other_form(&self) -> bool {
        self.layers[0].statements.form != self.layers[1].statements.form
    }
}

/// Whether one of these layers reaches everything below its collection on one side, and direct items only on the other.
pub fn changes_reach(sides: [&Side<'_>; 2], layers: &[RepoPath]) -> bool {
    !reach_edits(sides, layers).is_empty()
}

/// The changed layers that some path loses or gains: one of these resources, or of the selectors of a repository of layers alone.
pub fn reach_changes(
    sides: [&Side<'_>; 2],
    layers: &[RepoPath],
    resources: &[Resource],
    selectors: &[MetadataPath],
) -> Vec<ReachChange> {
    let change = |(file, layers, selector): (&RepoPath, [Arc<Layer>; 2], MetadataPath)| {
        let depth = selector.segments().len();
        let items = resources.iter().filter(|resource| resource.is_managed()).filter_map(|it| sides[1].path_of(it));
        let items = items.filter(|path| selector.applies_to(path) && path.segments().count() > depth + 1);
        let below = selectors.iter().filter(|it| {
            it.segments().len() > depth.saturating_add(usize::from(!it.is_collection()))
                && it.segments().starts_with(selector.segments())
        });
        let paths: BTreeSet<String> =
            items.map(|path| path.to_string()).chain(below.map(ToString::to_string)).collect();
        (!paths.is_empty()).then(|| ReachChange { file: file.clone(), layers, paths })
    };
    reach_edits(sides, layers).into_iter().filter_map(change).collect()
}

/// The layer files whose reach is different, both versions, and the selector of the newer one.
fn reach_edits<'l>(
    [before, after]: [&Side<'_>; 2],
    layers: &'l [RepoPath],
) -> Vec<(&'l RepoPath, [Arc<Layer>; 2], MetadataPath)> {
    let edit = |file: &'l RepoPath| {
        let (old, new) = (before.layers().layer_of(file)?, after.layers().layer_of(file)?);
        let selector = new.selector().filter(|it| it.is_collection() && !it.segments().is_empty())?.clone();
        let is_same = old.statements.reaches_below() == new.statements.reaches_below();
        (!is_same && new.is_from(file)).then_some((file, [old, new], selector))
    };
    layers.iter().filter(|file| is_metadata_file(file.file_name())).filter_map(edit).collect()
}
