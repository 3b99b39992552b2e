//! The layers of a world: one tree for each root of resources, or one for all.

use std::sync::Arc;

use super::World;
use crate::directive::{self, Context, Includes};
use crate::finding::{Finding, Location, Outcome};
use crate::limits::Limits;
use crate::metadata::{
    EffectiveMetadata, Layer, Layers, MetadataPath, SecretAttributes, is_patch_file, resolve, resolve_selector,
};
use crate::patch::CompiledFile;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::text::Sources;
use crate::value::provenance;

/// The layers below a directory of a snapshot, with directives followed as configured.
pub fn layers_below<'a>(
    base: &RepoPath,
    snapshot: &'a dyn Snapshot,
    settings: &'a Settings,
    sources: &'a Sources,
    limits: &'a Limits,
    includes: &'a Includes,
) -> Layers<'a> {
    let layers = Layers::new(snapshot, base.clone(), sources, limits);
    if !settings.directives {
        return layers;
    }
    let context = Context { snapshot, includes, sources, limits, profile: settings.merge };
    layers.expanding(Box::new(move |document, file| {
        let expanded = directive::expand(document, file, &context);
        Outcome { value: provenance::by_each(expanded.value.root), findings: expanded.findings }
    }))
}

/// Where trees of layers start.
pub(super) fn bases(settings: &Settings) -> Vec<RepoPath> {
    match &settings.metadata_root {
        Some(base) => vec![base.clone()],
        None => roots(settings),
    }
}

/// All roots of resources.
fn roots(settings: &Settings) -> Vec<RepoPath> {
    match settings.roots.is_empty() {
        true => vec![RepoPath::root()],
        false => settings.roots.iter().map(|root| root.path.clone()).collect(),
    }
}

impl<'a> World<'a> {
    /// The root that a file of a resource belongs to.
    pub fn root_of(&self, file: &RepoPath) -> Option<RepoPath> {
        if self.settings.roots.is_empty() {
            return Some(RepoPath::root());
        }
        let around = self.settings.roots.iter().map(|root| &root.path).filter(|root| file.is_within(root));
        around.max_by_key(|root| root.as_bytes().len()).cloned()
    }

    /// All roots of resources.
    pub fn roots(&self) -> Vec<RepoPath> {
        roots(self.settings)
    }

    /// The layers that speak for what stands in a file.
    pub fn layers_for(&self, file: &RepoPath) -> Option<&Layers<'a>> {
        let base = match &self.settings.metadata_root {
            Some(base) => base.clone(),
            None => self.root_of(file)?,
        };
        self.trees.get(&base)
    }

    /// The path under which layers speak for a resource.
    pub fn path_of(&self, resource: &Resource) -> Option<LogicalPath> {
        resource.logical_path(&self.root_of(&resource.file)?)
    }

    /// The effective metadata of a resource, if it can have any.
    pub fn metadata_of(&self, resource: &Resource) -> Option<Arc<EffectiveMetadata>> {
        let path = self.path_of(resource)?;
        Some(resolve(&path, self.layers_for(&resource.file)?).value)
    }

    /// What is wrong with the metadata of a resource.
    pub fn layer_findings(&self, resource: &Resource) -> Vec<Finding> {
        let resolved = self.path_of(resource).zip(self.layers_for(&resource.file));
        resolved.map(|(path, layers)| resolve(&path, layers).findings).unwrap_or_default()
    }

    /// What may be secret in a file that could not be read as a resource: whatever it would be called, it stands in its directory.
    pub fn secrets_near(&self, file: &RepoPath) -> SecretAttributes {
        let (Some(directory), Some(root), Some(layers)) = (file.parent(), self.root_of(file), self.layers_for(file))
        else {
            return SecretAttributes::default();
        };
        let below = |path: &RepoPath| LogicalPath::of_directory(&path.below(&root)?);
        let stem = file.stem_and_extension().map_or("", |(stem, _)| stem);
        let paths = below(&directory).into_iter().flat_map(|path| [path.child(stem), path]);
        // A layer speaks for many, each of whom may have what it has.
        let spoken_for = self.speaks_for(file).map(|selector| resolve_selector(&selector, layers).value);
        let stored = paths.map(|path| resolve(&path, layers).value).chain(spoken_for);
        let secrets = stored.map(|metadata| SecretAttributes::of(&metadata));
        secrets.fold(SecretAttributes::default(), |all, secrets| all.and(&secrets))
    }

    /// The tree of layers that a directory stands in.
    fn tree_around(&self, directory: &RepoPath) -> Option<&Layers<'a>> {
        let around = self.trees.iter().filter(|(base, _)| directory.is_within(base));
        around.max_by_key(|(base, _)| base.as_bytes().len()).map(|(_, layers)| layers)
    }

    /// Whom a layer file speaks for, if it stands in a tree of layers.
    pub fn speaks_for(&self, file: &RepoPath) -> Option<MetadataPath> {
        let directory = file.parent()?;
        self.tree_around(&directory)?.speaks_for(&directory)
    }

    /// The layer in the directory of a metadata file.
    pub fn layer_of(&self, file: &RepoPath) -> Option<Arc<Layer>> {
        let directory = file.parent()?;
        self.tree_around(&directory)?.layer_at(&directory)
    }

    /// A patch file, ready to run, if it is one that is read.
    pub fn patch_file(&self, file: &RepoPath) -> Option<Arc<CompiledFile>> {
        let directory = file.parent()?;
        let layers = self.tree_around(&directory)?;
        let document = layers.patches_at(&directory).filter(|document| document.path == *file)?;
        Some(self.patch_files.get(layers.base())?.compiled(&document, self.sources, self.limits))
    }

    /// What is wrong with a layer file, if it is one that is read.
    pub fn findings_about(&self, file: &RepoPath) -> Vec<Finding> {
        if is_patch_file(file.file_name()) {
            return self.patch_file(file).map(|file| file.findings.clone()).unwrap_or_default();
        }
        let layer = file.parent().and_then(|directory| self.tree_around(&directory)?.layer_at(&directory));
        let Some(layer) = layer else { return Vec::new() };
        let is_about = |finding: &&Finding| match &finding.location {
            Location::File { path, .. } => path == file,
            Location::Span(_) => layer.is_from(file),
        };
        layer.statements.findings.iter().filter(is_about).cloned().collect()
    }
}
