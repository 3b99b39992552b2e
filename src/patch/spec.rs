//! Patch specifications: which resources, for which elements, which operations.

use smol_str::SmolStr;

use super::operation::Action;
use super::path::PatchPath;
use super::template::{CelText, ValueTemplate};
use crate::path::Pointer;
use crate::text::Span;
use crate::value::Node;

/// One patch: a choice of resources and the operations on each.
#[derive(Debug)]
pub struct PatchSpec {
    pub(super) selection: Selection,
    pub(super) operations: Vec<SpecOperation>,
}

/// A removal of whole resources.
#[derive(Debug)]
pub struct Removal {
    pub(super) selection: Selection,
}

/// Which resources are selected, and for which elements.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) target: PatchTarget,
    pub(super) for_each: Option<ValueTemplate>,
    /// The loop variable.
    pub(super) variable: SmolStr,
    /// Where all of it is written.
    pub(super) at: Span,
}

/// Which resources are selected; an empty field selects any.
#[derive(Debug, Default)]
pub(super) struct PatchTarget {
    pub(super) group: SmolStr,
    pub(super) version: SmolStr,
    pub(super) kind: SmolStr,
    pub(super) name: SmolStr,
    pub(super) condition: Option<ValueTemplate>,
    /// The plane that resources must be for.
    pub(super) plane: SmolStr,
}

/// One operation, with expressions that are not evaluated yet.
#[derive(Debug)]
pub(super) struct SpecOperation {
    pub(super) action: Action,
    pub(super) path: PathTemplate,
    pub(super) value: Option<ValueTemplate>,
    pub(super) at: Span,
    pub(super) path_at: Span,
}

#[derive(Debug)]
pub(super) enum PathTemplate {
    Fixed(PatchPath),
    Computed(CelText),
}

impl PatchTarget {
    /// Whether a resource matches everything but the condition. `alias` is another name of the resource.
    pub(super) fn fits(&self, resource: &Node, alias: Option<&str>) -> bool {
        let text = |node: Option<&Node>| node.and_then(Node::as_str).map(SmolStr::new);
        let api = text(resource.get("apiVersion"));
        let (group, version) = match &api {
            Some(api) => match api.split_once('/') {
                Some((group, version)) => (Some(group), Some(version)),
                None => (Some(""), Some(api.as_str())),
            },
            None => (None, None),
        };
        let kind = text(resource.get("kind"));
        let name = text(resource.get("metadata").and_then(|metadata| metadata.get("name")));
        let is = |wanted: &SmolStr, found: Option<&str>| wanted.is_empty() || found == Some(wanted.as_str());
        is(&self.group, group)
            && is(&self.version, version)
            && is(&self.kind, kind.as_deref())
            && (is(&self.name, name.as_deref()) || is(&self.name, alias))
    }
}

/// A path of an operation that selects items by their positions and nothing else by a condition.
#[derive(Debug, Clone)]
pub struct IndexedPath {
    /// The path.
    pub pointer: Pointer,
    /// Where it is written.
    pub at: Span,
}

impl PatchSpec {
    /// The paths of its operations that hold the position of an item.
    pub fn indexed_paths(&self) -> impl Iterator<Item = IndexedPath> {
        self.operations.iter().filter_map(|operation| match &operation.path {
            PathTemplate::Fixed(path) => Some(IndexedPath { pointer: path.by_index()?, at: operation.path_at }),
            PathTemplate::Computed(_) => None,
        })
    }

    /// Where it is written.
    pub fn at(&self) -> Span {
        self.selection.at
    }
}

impl Removal {
    /// Where it is written.
    pub fn at(&self) -> Span {
        self.selection.at
    }
}
