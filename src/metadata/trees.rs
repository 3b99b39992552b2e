//! All layers of a snapshot: one tree for each root of resources, or one for all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::effective::{EffectiveMetadata, Layer};
use super::layers::{Layers, resolve, resolve_selector, resolved};
use super::secrets::SecretAttributes;
use super::selector::MetadataPath;
use crate::directive::{self, Context, Includes};
use crate::finding::Outcome;
use crate::names;
use crate::path::{LogicalPath, RepoPath};
use crate::settings::{Given, Roots};
use crate::value::provenance;

/// The trees of layers of one snapshot, and the roots of resources that they apply to.
pub struct LayerTrees<'a> {
    resources: &'a Roots,
    /// The configured directory of metadata, if there is one; an overlay over it, if there is one.
    base: Option<&'a RepoPath>,
    /// The directory of weaker layers below an overlay.
    weaker: Option<&'a RepoPath>,
    trees: BTreeMap<RepoPath, Layers<'a>>,
}

impl<'a> LayerTrees<'a> {
    /// The layers of a snapshot, with directives expanded as configured.
    pub fn new(given: Given<'a>, includes: &Arc<Includes>) -> Self {
        let settings = given.settings;
        let overlay = settings.metadata_overlay.as_ref();
        let weaker = overlay.and(settings.metadata_root.as_ref());
        let tree = |base: &RepoPath| {
            let layers = layers_below(base, given, includes);
            let layers = match weaker {
                Some(weaker) => layers.over(layers_below(weaker, given, includes)),
                None => layers,
            };
            (base.clone(), layers)
        };
        let trees = settings.layer_roots().paths().map(tree).collect();
        Self { resources: &settings.roots, base: overlay.or(settings.metadata_root.as_ref()), weaker, trees }
    }

    /// The roots of resources.
    pub fn roots(&self) -> &'a Roots {
        self.resources
    }

    /// The secrets that metadata declares for a path, in any tree of layers.
    pub fn secrets_at(&self, path: &MetadataPath) -> SecretAttributes {
        self.trees.values().fold(SecretAttributes::default(), |all, layers| {
            all.and(resolve_selector(path, layers).value.secret_attributes())
        })
    }

    /// The secrets that metadata declares for a resource at a path, in any tree of layers.
    pub fn secrets_of(&self, path: &LogicalPath) -> SecretAttributes {
        self.trees
            .values()
            .fold(SecretAttributes::default(), |all, layers| all.and(resolved(path, layers).secret_attributes()))
    }

    /// The layers that apply to the resources of a file.
    pub fn layers_for(&self, file: &RepoPath) -> Option<&Layers<'a>> {
        let base = match self.base {
            Some(base) => base,
            None => &self.resources.around(file)?.path,
        };
        self.trees.get(base)
    }

    /// The tree of layers that starts at a directory.
    pub fn layers_at(&self, base: &RepoPath) -> Option<&Layers<'a>> {
        self.trees.get(base)
    }

    /// The metadata of a logical path whose resource is written in a file.
    pub fn metadata(&self, path: &LogicalPath, file: &RepoPath) -> Option<Outcome<Arc<EffectiveMetadata>>> {
        Some(resolve(path, self.layers_for(file)?))
    }

    /// The metadata of a logical path whose resource is written in a file, without what is wrong with it.
    pub fn effective(&self, path: &LogicalPath, file: &RepoPath) -> Option<Arc<EffectiveMetadata>> {
        Some(resolved(path, self.layers_for(file)?))
    }

    /// Every tree of layers.
    pub fn all(&self) -> impl Iterator<Item = &Layers<'a>> {
        self.trees.values().flat_map(|layers| std::iter::once(layers).chain(layers.weaker()))
    }

    /// The tree of layers that contains a directory.
    pub fn layers_around(&self, directory: &RepoPath) -> Option<&Layers<'a>> {
        if self.weaker.is_some_and(|weaker| directory.is_within(weaker))
            && !self.base.is_some_and(|base| directory.is_within(base))
        {
            return self.trees.get(self.base?)?.weaker();
        }
        match self.base {
            Some(base) => directory.is_within(base).then(|| self.trees.get(base))?,
            None => self.trees.get(&self.resources.around(directory)?.path),
        }
    }

    /// The selector of a layer file, if the file is in a tree of layers.
    pub fn selector_of(&self, file: &RepoPath) -> Option<MetadataPath> {
        let directory = file.parent()?;
        self.layers_around(&directory)?.selector_of(&directory)
    }

    /// The layer in the directory of a metadata file.
    pub fn layer_of(&self, file: &RepoPath) -> Option<Arc<Layer>> {
        let directory = file.parent()?;
        self.layers_around(&directory)?.layer_at(&directory)
    }

    /// The secrets that metadata declares for whatever resource a file may describe, judged by its directory and name alone.
    pub fn secrets_near(&self, file: &RepoPath) -> SecretAttributes {
        let parts = (file.parent(), self.resources.around(file), self.layers_for(file));
        let (Some(directory), Some(root), Some(layers)) = parts else { return SecretAttributes::default() };
        let below = |path: &RepoPath| LogicalPath::of_directory(&path.below(&root.path)?);
        let stem = file.stem_and_extension().map_or("", |(stem, _)| stem);
        // The directory of a selector is no path of a resource.
        let is_path = |path: &LogicalPath| path.segments().all(|segment| segment != names::WILDCARD);
        let paths = below(&directory).filter(is_path).into_iter().flat_map(|path| [path.child(stem), path]);
        // A layer applies to many resources, each of which may have the secrets it declares.
        let selected = self.selector_of(file).map(|selector| resolve_selector(&selector, layers).value);
        let stored = paths.map(|path| resolve(&path, layers).value).chain(selected);
        let secrets = stored.map(|metadata| SecretAttributes::of(&metadata));
        secrets.fold(SecretAttributes::default(), |all, secrets| all.and(&secrets))
    }
}

/// The layers below a directory, with directives expanded as configured.
fn layers_below<'a>(base: &RepoPath, given: Given<'a>, includes: &Arc<Includes>) -> Layers<'a> {
    let layers = Layers::new(given.snapshot, base.clone(), given.sources, given.limits);
    if !given.settings.directives {
        return layers;
    }
    let includes = Arc::clone(includes);
    layers.expanding(Box::new(move |document, file| {
        let expanded = directive::expand(document, file, &Context::new(given, &includes));
        Outcome { value: provenance::spread(expanded.value.root), findings: expanded.findings }
    }))
}
