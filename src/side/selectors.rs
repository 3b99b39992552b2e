//! The selectors of a side: the paths that hold a layer, and whether they apply to any resource.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Side;
use crate::document::Format;
use crate::layout::Role;
use crate::metadata::{EffectiveMetadata, LayerOrigin, MetadataPath, WILDCARD, resolve_text};
use crate::names;
use crate::path::RepoPath;
use crate::snapshot::EntryKind;

impl Side<'_> {
    /// Every path that holds a layer of metadata, and the file that holds it.
    pub fn selectors(&self) -> BTreeMap<MetadataPath, RepoPath> {
        let layers = self.layers.all().flat_map(|layers| layers.stored());
        let files = layers.filter_map(|layer| match &layer.origin {
            LayerOrigin::File { path, selector } => Some((selector.clone(), path.clone())),
            _ => None,
        });
        files.filter(|(_, file)| self.roles().role(file) == Role::Layer).collect()
    }

    /// The effective metadata of a selector, by its own text.
    pub fn selector_metadata(&self, selector: &MetadataPath) -> Arc<EffectiveMetadata> {
        let mut found = self
            .settings
            .layer_roots()
            .paths()
            .filter_map(|root| self.layers.layers_at(root))
            .map(|layers| {
                let metadata = resolve_text(selector, layers).value;
                layers.settled(&metadata)
            })
            .collect::<Vec<_>>();
        let with_layers = found.iter().position(|metadata| !metadata.layers().is_empty());
        match found.len() {
            0 => Arc::new(EffectiveMetadata::empty(self.nowhere())),
            _ => found.swap_remove(with_layers.unwrap_or(0)),
        }
    }

    /// Whether there is a file that may hold a resource to which one of these selectors applies.
    pub fn has_resources_below<'s>(&self, selectors: impl Iterator<Item = &'s MetadataPath>) -> bool {
        let selectors: Vec<&MetadataPath> = selectors.collect();
        self.settings.roots.paths().any(|root| self.holds_selected(root, &selectors, 0))
    }

    fn holds_selected(&self, directory: &RepoPath, selectors: &[&MetadataPath], depth: usize) -> bool {
        let in_metadata = |path: &RepoPath| {
            let roots = [self.settings.metadata_root.as_ref(), self.settings.metadata_overlay.as_ref()];
            roots.into_iter().flatten().any(|root| !root.is_root() && path.is_within(root))
        };
        if selectors.is_empty() || depth > self.limits.directory_depth as usize || in_metadata(directory) {
            return false;
        }
        let mut below: Vec<(RepoPath, Vec<&MetadataPath>)> = Vec::new();
        let mut files: Vec<RepoPath> = Vec::new();
        self.snapshot.visit(directory, &mut |member| match member.kind {
            EntryKind::Directory if member.name != WILDCARD.as_bytes() && !member.name.starts_with(b".") => {
                let name = std::str::from_utf8(member.name).unwrap_or_default();
                let fitting: Vec<&MetadataPath> =
                    selectors.iter().copied().filter(|selector| selector.fits_at(depth, name)).collect();
                if !fitting.is_empty() {
                    below.push((member.path(), fitting));
                }
            }
            EntryKind::File
                if (Format::of_file_name(member.name).is_some() || names::is_resource_file(member.name))
                    && selectors.iter().any(|selector| depth + 1 >= selector.segments().len()) =>
            {
                files.push(member.path());
            }
            _ => {}
        });
        let is_resource = |file: &RepoPath| match self.roles().role(file) {
            Role::Resource(path) | Role::LegacyResource(path) => {
                selectors.iter().any(|selector| selector.applies_to(&path))
            }
            Role::Documents => self.file(file).resources.iter().any(|resource| {
                let path = self.path_of(resource).filter(|_| resource.is_managed());
                path.is_some_and(|path| selectors.iter().any(|selector| selector.applies_to(&path)))
            }),
            _ => false,
        };
        files.iter().any(is_resource)
            || below.iter().any(|(path, selectors)| self.holds_selected(path, selectors, depth + 1))
    }
}
