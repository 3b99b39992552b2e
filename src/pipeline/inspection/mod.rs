//! One snapshot looked into: the resources and the metadata of a path, who says it, and what would change it.

mod eval;
mod explain;
mod find;
mod infer;
mod metadata_ladders;
mod payload_ladders;
mod requests;

pub use eval::{Evaluated, Nowhere, Typed};
pub use explain::Question;
pub use find::Sought;
pub use requests::{RenderedRequests, Wish};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::directive::Includes;
use crate::finding::{Finding, Outcome};
use crate::layout::{Role, Roles};
use crate::metadata::{
    self, EffectiveMetadata, LayerOrigin, Layers, MetadataPath, SecretAttributes, layers_below, plan::Planned,
};
use crate::names::{self, Format};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource, kubernetes_name};
use crate::secrets::Secrets;
use crate::secrets::{Masks, hide_copies, hide_places};
use crate::settings::{Given, Settings};
use crate::side::Side;
use crate::snapshot::Snapshot;
use crate::text::Sources;
use crate::value::{Entry, Node};

/// A snapshot and how it is configured.
pub struct Inspection<'a> {
    /// The files.
    pub snapshot: &'a dyn Snapshot,
    /// What its `outcrop.yaml` says.
    pub settings: &'a Settings,
    /// The texts that are read.
    pub sources: &'a Arc<Sources>,
    /// Files that directives bring in.
    pub includes: &'a Includes,
}

/// A tree of metadata: where it stands, and the format of new files in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataTree {
    /// Its directory.
    pub base: RepoPath,
    /// The repository's format there.
    pub format: Format,
}

impl<'a> Inspection<'a> {
    /// Does something with the snapshot as a world, in which resources see each other without their secrets.
    pub(super) fn with_world<T>(&self, reveal: bool, act: impl FnOnce(&Side<'_>, &Secrets<'_>) -> T) -> T {
        let side = Side::new(self.given(), reveal);
        act(&side, side.secrets())
    }

    fn given(&self) -> Given<'a> {
        let Self { snapshot, settings, sources, .. } = *self;
        Given { snapshot, settings, sources, limits: &settings.limits }
    }

    /// Every tree of metadata there is: the one that is configured, or one beside each root of resources.
    pub fn trees(&self) -> Vec<MetadataTree> {
        let of_root = |root: &crate::settings::Root| MetadataTree { base: root.path.clone(), format: root.format };
        self.settings.layer_roots().all().iter().map(of_root).collect()
    }

    /// The tree that a path belongs to: of several, those in which something stands at that path.
    pub fn trees_with(&self, path: &MetadataPath) -> Vec<MetadataTree> {
        let trees = self.trees();
        let is_there = |tree: &MetadataTree| {
            let directory =
                path.segments().iter().try_fold(tree.base.clone(), |directory, name| directory.join(name.as_bytes()));
            let Ok(directory) = directory else { return false };
            let legacy = names::EXTENSIONS.iter().filter_map(|extension| {
                let name = [directory.file_name(), b".", extension.as_bytes()].concat();
                directory.parent()?.join(&name).ok()
            });
            [directory.clone()].into_iter().chain(legacy).any(|path| matches!(self.snapshot.entry(&path), Ok(Some(_))))
        };
        match trees.len() {
            1 => trees,
            _ => trees.into_iter().filter(is_there).collect(),
        }
    }

    /// The layers of one tree.
    pub fn layers(&self, base: &RepoPath) -> Layers<'a> {
        layers_below(base, self.given(), &Arc::default())
    }

    /// What is stored for a path.
    pub fn resolve(&self, path: &MetadataPath, tree: &MetadataTree) -> Outcome<EffectiveMetadata> {
        let outcome = metadata::resolve_selector(path, &self.layers(&tree.base));
        Outcome { value: (*outcome.value).clone(), findings: outcome.findings }
    }

    /// Works out a change to what is stored.
    pub fn plan(&self, tree: &MetadataTree, plan: impl FnOnce(&Layers<'_>) -> Planned) -> Planned {
        plan(&self.layers(&tree.base))
    }

    /// The metadata of a resource, with the path under which layers speak for it; a plain file has none.
    pub fn metadata_of(&self, resource: &Resource) -> Option<(MetadataPath, Outcome<EffectiveMetadata>)> {
        let root = self.root_of(&resource.file)?;
        let path = MetadataPath::of_resource(&resource.logical_path(&root)?);
        let trees = self.trees();
        let tree = trees.iter().find(|tree| tree.base == root || self.settings.metadata_root.is_some())?;
        let resolved = self.resolve(&path, tree);
        Some((path, resolved))
    }

    /// The root that a file belongs to.
    fn root_of(&self, file: &RepoPath) -> Option<RepoPath> {
        self.settings.roots.around(file).map(|root| root.path.clone())
    }

    /// A resource as it may be shown: what is configured as secret is hidden, and what its metadata declares.
    pub fn shown_resource(&self, resource: Resource, metadata: Option<&EffectiveMetadata>) -> Resource {
        let hidden = Masks::new(&self.settings.secrets).hide(resource);
        let hidden = match metadata.map(SecretAttributes::of).filter(|secrets| !secrets.is_empty()) {
            Some(secrets) => hide_places(hidden, |payload| secrets.places(payload)),
            None => hidden,
        };
        Resource { payload: hide_copies(hidden.payload), ..hidden }
    }

    /// Hides the values of texts that findings point into, where any of them may be secret: snippets show whole lines.
    pub fn veil(&self, findings: &[Finding]) {
        let shown: BTreeSet<_> = findings.iter().flat_map(Finding::spans).map(|span| span.source).collect();
        let masks = Masks::new(&self.settings.secrets);
        self.with_world(false, |world, _| {
            for source in shown {
                let text = self.sources.get(source);
                // What somebody typed belongs to no revision, and is nobody's secret.
                let is_typed = text.revision.is_empty();
                if !is_typed
                    && (masks.may_be_in(&text.text) || world.layers().secrets_near(&text.path).may_be_in(&text.text))
                {
                    self.sources.mark_sensitive(source);
                }
            }
        });
    }

    /// The only document of a file as it may be shown.
    pub fn shown_document(&self, root: Node, file: &RepoPath) -> Node {
        let role = Roles::new(self.snapshot, self.settings).of_content(file, kubernetes_name(&root).is_some());
        let identity = match (role, kubernetes_name(&root)) {
            (Role::Resource(path), _) | (Role::LegacyResource(path), None) => Identity::Logical(path),
            (Role::LegacyResource(_) | Role::Documents, Some(name)) => Identity::Kubernetes(name),
            _ => Identity::File { path: file.clone(), position: None },
        };
        let resource = Resource { identity, file: file.clone(), position: 0, payload: root };
        let metadata = self.metadata_of(&resource);
        self.shown_resource(resource, metadata.as_ref().map(|(_, outcome)| &outcome.value)).payload
    }

    /// Metadata as it may be shown, in canonical form.
    pub fn shown(&self, metadata: &EffectiveMetadata, path: &MetadataPath) -> Node {
        hidden(metadata.to_node(), path, &Masks::new(&self.settings.secrets))
    }

    /// A document of metadata as it may be shown.
    pub fn shown_metadata(&self, node: Node, path: &MetadataPath) -> Node {
        hidden(node, path, &Masks::new(&self.settings.secrets))
    }

    /// Each layer with what it says on its own, weakest first.
    pub fn shown_layers(&self, metadata: &EffectiveMetadata, path: &MetadataPath) -> Node {
        let masks = Masks::new(&self.settings.secrets);
        let mut span = metadata.to_node().span;
        let mut items = Vec::new();
        for layer in metadata.layers() {
            let LayerOrigin::File { path: file, selector } = &layer.origin else { continue };
            let text = |text: String| Node::text(text, layer.span);
            span = layer.span;
            items.push(Node::map(
                vec![
                    Entry::named("selector", span, text(selector.to_string())),
                    Entry::named("file", span, text(file.to_string())),
                    Entry::named("metadata", span, hidden(layer.to_node(), path, &masks)),
                ],
                span,
            ));
        }
        Node::list(items, span)
    }
}

/// A document of metadata with what is configured as secret hidden.
fn hidden(node: Node, path: &MetadataPath, masks: &Masks) -> Node {
    let logical = path.to_logical().unwrap_or_else(LogicalPath::root);
    let file = logical.directory_below(&RepoPath::root()).unwrap_or_default();
    masks.hide(Resource { identity: Identity::Logical(logical), file, position: 0, payload: node }).payload
}
