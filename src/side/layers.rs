//! The layers of a side: which apply to a resource, and what is wrong with them.

use std::sync::Arc;

use super::Side;
use crate::finding::{Finding, Location, Outcome};
use crate::metadata::{EffectiveMetadata, LayerTrees, MetadataPath, is_patch_file, resolve_selector, resolve_text};
use crate::names;
use crate::patch::CompiledFile;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::settings::Root;

impl<'a> Side<'a> {
    /// The root that a file of a resource belongs to.
    pub fn root_of(&self, file: &RepoPath) -> Option<&'a RepoPath> {
        self.settings.roots.around(file).map(|root| &root.path)
    }

    /// The layers of this side.
    pub fn layers(&self) -> &LayerTrees<'a> {
        &self.layers
    }

    /// The path by which layers apply to a resource.
    pub fn path_of(&self, resource: &Resource) -> Option<LogicalPath> {
        resource.logical_path(self.root_of(&resource.file)?)
    }

    /// The effective metadata of a resource, if it can have any.
    pub fn metadata_of(&self, resource: &Resource) -> Option<Arc<EffectiveMetadata>> {
        self.layers.effective(&self.path_of(resource)?, &resource.file)
    }

    /// Metadata with the default identity of the tree of layers that applies to a file.
    pub fn settled(&self, metadata: &Arc<EffectiveMetadata>, file: &RepoPath) -> Arc<EffectiveMetadata> {
        match self.layers.layers_for(file) {
            Some(layers) => layers.settled(metadata),
            None => Arc::clone(metadata),
        }
    }

    /// What layers say about a path or selector, in the tree of layers that starts at a root.
    pub fn stored_metadata(&self, path: &MetadataPath, root: &Root) -> Outcome<Arc<EffectiveMetadata>> {
        match self.layers.layers_at(&root.path) {
            Some(layers) => {
                // A selector that holds a layer is compared by its own text, and shown so too.
                let is_selector = path.to_logical().is_none() && self.selectors().contains_key(path);
                let resolve = if is_selector { resolve_text } else { resolve_selector };
                let Outcome { value, findings } = resolve(path, layers);
                Outcome { value: layers.settled(&value), findings }
            }
            None => Outcome::clean(Arc::new(EffectiveMetadata::empty(self.nowhere()))),
        }
    }

    /// The roots of layers that a path can belong to: of several, those in which there is something at that path.
    pub fn layer_roots_with(&self, path: &MetadataPath) -> Vec<Root> {
        let roots = self.settings.layer_roots();
        let [only] = roots.all() else {
            return roots.all().iter().filter(|root| self.has_place(path, &root.path)).cloned().collect();
        };
        vec![only.clone()]
    }

    /// Whether there is a file or directory at a path below a root.
    pub fn has_place(&self, path: &MetadataPath, base: &RepoPath) -> bool {
        let directory = path.segments().iter().try_fold(base.clone(), |place, name| place.join(name.as_bytes()));
        let Ok(directory) = directory else { return false };
        let legacy = names::EXTENSIONS.iter().filter_map(|extension| {
            let name = [directory.file_name(), b".", extension.as_bytes()].concat();
            directory.parent()?.join(&name).ok()
        });
        let mut places = std::iter::once(directory.clone()).chain(legacy);
        places.any(|place| matches!(self.snapshot.entry(&place), Ok(Some(_))))
    }

    /// What is wrong with the metadata of a resource.
    pub fn layer_findings(&self, resource: &Resource) -> Vec<Finding> {
        let metadata = self.path_of(resource).and_then(|path| self.layers.metadata(&path, &resource.file));
        metadata.map(|metadata| metadata.findings).unwrap_or_default()
    }

    /// A patch file, ready to run, if it is one that is read.
    pub fn patch_file(&self, file: &RepoPath) -> Option<Arc<CompiledFile>> {
        let directory = file.parent()?;
        let layers = self.layers.layers_around(&directory)?;
        let document = layers.patches_at(&directory).filter(|document| document.path == *file)?;
        Some(self.caches.patch_files.get(layers.base())?.compiled(&document, self.sources, self.limits))
    }

    /// What is wrong with a layer file, if it is one that is read.
    pub fn findings_about(&self, file: &RepoPath) -> Vec<Finding> {
        if is_patch_file(file.file_name()) {
            return self.patch_file(file).map(|file| file.findings.clone()).unwrap_or_default();
        }
        let Some(layer) = self.layers.layer_of(file) else { return Vec::new() };
        let is_about = |finding: &&Finding| match &finding.location {
            Location::File { path, .. } => path == file,
            Location::Span(_) => layer.is_from(file),
        };
        layer.statements.findings.iter().filter(is_about).cloned().collect()
    }
}
