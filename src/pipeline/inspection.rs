//! One snapshot looked into: the metadata of a path, who says it, and what would change it.

use smol_str::SmolStr;

use crate::compare::Masks;
use crate::effective::layers_below;
use crate::finding::Outcome;
use crate::layer::{
    self, Directive, Effect, EffectiveMetadata, Field, Layers, MetadataPath, Origin, Said, plan::Planned,
};
use crate::merge::Includes;
use crate::path::{LogicalPath, Pointer, RepoPath};
use crate::report::explain::{Explanation, Ladder, LayerName, Rung, Spoken};
use crate::resource::{Identity, Resource};
use crate::settings::{Format, Settings};
use crate::source::Snapshot;
use crate::text::Sources;
use crate::value::{Entry, Node};

/// A snapshot and how it is configured.
pub struct Inspection<'a> {
    /// The files.
    pub snapshot: &'a dyn Snapshot,
    /// What its `outcrop.yaml` says.
    pub settings: &'a Settings,
    /// The texts that are read.
    pub sources: &'a Sources,
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
    /// Every tree of metadata there is: the one that is configured, or one beside each root of resources.
    pub fn trees(&self) -> Vec<MetadataTree> {
        let of_root = |root: &crate::settings::Root| MetadataTree { base: root.path.clone(), format: root.format };
        let mut trees: Vec<MetadataTree> = self.settings.roots.iter().map(of_root).collect();
        if trees.is_empty() {
            trees.push(MetadataTree { base: RepoPath::root(), format: Format::default() });
        }
        if let Some(base) = &self.settings.metadata_root {
            trees.truncate(1);
            trees[0].base = base.clone();
        }
        trees
    }

    /// The tree that a path belongs to: of several, those in which something stands at that path.
    pub fn trees_with(&self, path: &MetadataPath) -> Vec<MetadataTree> {
        let trees = self.trees();
        let is_there = |tree: &MetadataTree| {
            let directory =
                path.segments().iter().try_fold(tree.base.clone(), |directory, name| directory.join(name.as_bytes()));
            let Ok(directory) = directory else { return false };
            let legacy = ["json", "yaml", "yml"].iter().filter_map(|extension| {
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
        layers_below(base, self.snapshot, self.settings, self.sources, &self.settings.limits, self.includes)
    }

    /// What is stored for a path.
    pub fn resolve(&self, path: &MetadataPath, tree: &MetadataTree) -> Outcome<EffectiveMetadata> {
        let outcome = layer::resolve_selector(path, &self.layers(&tree.base));
        Outcome { value: (*outcome.value).clone(), findings: outcome.findings }
    }

    /// Works out a change to what is stored.
    pub fn plan(&self, tree: &MetadataTree, plan: impl FnOnce(&Layers<'_>) -> Planned) -> Planned {
        plan(&self.layers(&tree.base))
    }

    /// Metadata as it may be shown, in canonical form.
    pub fn shown(&self, metadata: &EffectiveMetadata, path: &MetadataPath) -> Node {
        hidden(metadata.to_node(), path, &Masks::new(&self.settings.secrets))
    }

    /// Each layer with what it says on its own, weakest first.
    pub fn shown_layers(&self, metadata: &EffectiveMetadata, path: &MetadataPath) -> Node {
        let masks = Masks::new(&self.settings.secrets);
        let mut span = metadata.to_node().span;
        let mut items = Vec::new();
        for layer in metadata.layers() {
            let Origin::File { path: file, speaks_for } = &layer.origin else { continue };
            let text = |text: String| Node::text(text, layer.span);
            span = layer.span;
            items.push(Node::map(
                vec![
                    Entry::named("selector", span, text(speaks_for.to_string())),
                    Entry::named("file", span, text(file.to_string())),
                    Entry::named("metadata", span, hidden(layer.to_node(), path, &masks)),
                ],
                span,
            ));
        }
        Node::list(items, span)
    }

    /// Where the metadata of a path comes from: of everything at or below a pointer, or, without one, of what some file says.
    pub fn explain(&self, path: &MetadataPath, tree: &MetadataTree, within: &Pointer) -> Outcome<Explanation> {
        let Outcome { value: stored, findings } = self.resolve(path, tree);
        let metadata = layer::over_defaults(&stored, self.sources);
        let masks = Masks::new(&self.settings.secrets);
        let mut ladders = Vec::new();
        let mut only_defaults = 0;
        for (directive, said) in metadata.said() {
            let is_inside = directive.pointer().tokens().starts_with(within.tokens());
            if !is_inside || !speaks_for_itself(directive, said) {
                continue;
            }
            if within.tokens().is_empty() && said.by.origin == Origin::Defaults {
                only_defaults += 1;
                continue;
            }
            ladders.push(ladder(directive, said, path, &masks));
        }
        let layers = stored.layers().iter().filter_map(|layer| match &layer.origin {
            Origin::File { path: file, speaks_for } => Some(LayerName {
                selector: speaks_for.to_string(),
                file: file.to_string(),
                is_collection: speaks_for.is_collection(),
            }),
            _ => None,
        });
        let value = Explanation {
            path: path.to_string(),
            revision: self.snapshot.label().into(),
            layers: layers.collect(),
            ladders,
            only_defaults,
            nowhere: stored.to_node().span,
        };
        Outcome { value, findings }
    }
}

/// Whether a directive is worth a ladder: the mere presence of a section or a map is not, unless it was left empty on purpose.
fn speaks_for_itself(directive: &Directive, said: &Said) -> bool {
    let is_map = directive.field.is_per_key() && directive.key.is_none();
    let is_presence = |said: &Said| {
        said.by.statements.about(directive).is_none_or(|statement| matches!(statement.says, layer::Says::Present(_)))
    };
    directive.field != Field::Itself && !(is_map && is_presence(said))
}

fn ladder(directive: &Directive, last: &Said, path: &MetadataPath, masks: &Masks) -> Ladder {
    let pointer = directive.pointer();
    let mut name = SmolStr::from(directive.to_string());
    let mut rungs: Vec<Rung> = Vec::new();
    for said in std::iter::successors(Some(last), |said| said.over.as_deref()) {
        let spoken = match &said.effect {
            Effect::Cleared => Spoken::Cleared,
            Effect::Emptied => Spoken::Emptied,
            Effect::Set(node) => {
                if let (Some(written), Some(key), true) =
                    (node.get("name").and_then(Node::as_str), &directive.key, rungs.is_empty())
                {
                    name = name
                        .strip_suffix(key.as_str())
                        .map_or(name.clone(), |start| format!("{start}{written}").into());
                }
                let value = if directive.field == Field::Headers { node.get("value").unwrap_or(node) } else { node };
                Spoken::Value(hidden_at(&pointer, value, path, masks))
            }
        };
        let (origin, at) = match &said.by.origin {
            Origin::Defaults => (None, None),
            Origin::File { speaks_for, .. } => (Some(speaks_for.to_string()), Some(said.at)),
            Origin::Directory(_) | Origin::Document => (None, Some(said.at)),
        };
        rungs.push(Rung { origin, at, spoken });
    }
    rungs.reverse();
    Ladder { name, pointer, rungs }
}

/// A document of metadata with what is configured as secret hidden.
fn hidden(node: Node, path: &MetadataPath, masks: &Masks) -> Node {
    let logical = path.to_logical().unwrap_or_else(LogicalPath::root);
    let file = logical.directory_below(&RepoPath::root()).unwrap_or_default();
    masks.hide(Resource { identity: Identity::Logical(logical), file, position: 0, payload: node }).payload
}

/// The same for one value of a document.
fn hidden_at(pointer: &Pointer, node: &Node, path: &MetadataPath, masks: &Masks) -> Node {
    let nested = pointer.tokens().iter().rev().fold(node.clone(), |inner, token| {
        Node::map(vec![Entry::named(token.clone(), inner.span, inner.clone())], inner.span)
    });
    let hidden = hidden(nested, path, masks);
    hidden.at(pointer).cloned().unwrap_or(hidden)
}
