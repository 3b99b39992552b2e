//! What expressions may ask about other resources; an implementation can record what was asked.

use smol_str::SmolStr;

use crate::text::Span;
use crate::value::Node;

/// A resource of a tree; its meaning is known to the tree that gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(pub usize);

/// A tree of resources, read on demand.
///
/// Every question is a dependency of the answer: an implementation can record it. Answers must stay the same as long as an
/// expression is evaluated.
pub trait Tree {
    /// The resource above all others.
    fn root(&self) -> ResourceId;

    /// The resource of the nearest shorter path; the root has none.
    fn parent(&self, of: ResourceId) -> Option<ResourceId>;

    /// The resources directly below, in the order of their paths.
    fn children(&self, of: ResourceId) -> Vec<ResourceId>;

    /// The last segment of its path; `root` for the root.
    fn name(&self, of: ResourceId) -> SmolStr;

    /// Its whole path, `/customers/acme`; unique in the tree.
    fn path(&self, of: ResourceId) -> SmolStr;

    /// The file it is written in, if it is written at all.
    fn file(&self, of: ResourceId) -> Option<SmolStr>;

    /// What it is, if it says so: the `kind` of a Kubernetes document.
    fn kind(&self, of: ResourceId) -> Option<SmolStr>;

    /// The resource with this path, with or without its leading `/`.
    fn by_path(&self, path: &str) -> Option<ResourceId>;

    /// Every resource with this name, in the order of their paths.
    fn by_name(&self, name: &str) -> Vec<ResourceId>;

    /// What it says: after its merge directives, before its expressions. What must not be shown of it is hidden, and expressions
    /// there are [`sealed`](super::sealed).
    fn payload(&self, of: ResourceId) -> Payload;

    /// Whether what resources say may hold expressions; otherwise maps that look like them are data.
    fn is_computed(&self) -> bool {
        true
    }

    /// What keeps the tree from being known as a whole, if anything: a phrase.
    fn gap(&self) -> Option<String> {
        None
    }

    /// The value that represents the resource itself in data: by default its path.
    fn reference(&self, to: ResourceId, at: Span) -> Node {
        Node::text(self.path(to), at)
    }
}

/// What a resource says.
#[derive(Debug, Clone)]
pub enum Payload {
    /// This.
    Node(Node),
    /// Nothing: a directory without a document.
    Nothing,
    /// Unknown, and why: a phrase such as `its file has errors`.
    Unreadable(String),
}
