//! The layers of a side: which apply to a resource, and what is wrong with them.

use std::sync::Arc;

use super::Side;
use crate::finding::{Finding, Location};
use crate::metadata::{EffectiveMetadata, LayerTrees, is_patch_file};
use crate::patch::CompiledFile;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;

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
        Some(self.layers.metadata(&self.path_of(resource)?, &resource.file)?.value)
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
