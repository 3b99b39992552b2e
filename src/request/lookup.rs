//! Other resources and documents of the same snapshot, as far as requests depend on them.

use std::sync::Arc;

use crate::finding::{Finding, Outcome};
use crate::metadata::openapi::ApiDocument;
use crate::metadata::{EffectiveMetadata, Sibling, look_up};
use crate::path::LogicalPath;
use crate::value::Node;

/// The other resources and the OpenAPI document of a snapshot.
pub trait ResourceLookup {
    /// The effective payload of the resource that has exactly this path.
    fn payload(&self, path: &LogicalPath) -> Option<Node>;

    /// The direct child resources of a collection with their effective payloads, by path.
    fn children(&self, collection: &LogicalPath) -> Vec<(LogicalPath, Node)>;

    /// The effective metadata of a path, whether or not a resource is there.
    fn metadata(&self, path: &LogicalPath) -> Option<Arc<EffectiveMetadata>>;

    /// The OpenAPI document that the configuration names, and what is wrong with it.
    fn openapi(&self) -> Outcome<Option<Arc<ApiDocument>>>;
}

/// A snapshot without other resources.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoResources;

impl ResourceLookup for NoResources {
    fn payload(&self, _: &LogicalPath) -> Option<Node> {
        None
    }

    fn children(&self, _: &LogicalPath) -> Vec<(LogicalPath, Node)> {
        Vec::new()
    }

    fn metadata(&self, _: &LogicalPath) -> Option<Arc<EffectiveMetadata>> {
        None
    }

    fn openapi(&self) -> Outcome<Option<Arc<ApiDocument>>> {
        Outcome::clean(None)
    }
}

/// The resources above a path, the nearest first; directories without a resource do not count.
pub fn ancestors(path: &LogicalPath, lookup: &dyn ResourceLookup) -> Vec<(LogicalPath, Node)> {
    let parents = std::iter::successors(path.parent(), LogicalPath::parent);
    parents.filter_map(|parent| lookup.payload(&parent).map(|payload| (parent, payload))).collect()
}

/// The resources of a collection, to look for one by a name of its own.
pub struct Siblings(Vec<(LogicalPath, Node, Arc<EffectiveMetadata>)>);

impl Siblings {
    /// All of them.
    pub fn of(collection: &LogicalPath, lookup: &dyn ResourceLookup) -> Self {
        let children = lookup.children(collection).into_iter();
        let known =
            |(path, payload): (LogicalPath, Node)| lookup.metadata(&path).map(|metadata| (path, payload, metadata));
        Self(children.filter_map(known).collect())
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The payload of the one whose alias or id is the last segment of a path.
    pub fn answering(&self, path: &LogicalPath, lookup: &dyn ResourceLookup) -> Result<Option<Node>, Box<Finding>> {
        let Some(metadata) = lookup.metadata(path) else { return Ok(None) };
        let siblings: Vec<Sibling<'_>> =
            self.0.iter().map(|(path, payload, metadata)| Sibling { path, payload, metadata }).collect();
        Ok(look_up(path, &metadata, &siblings)?.map(|sibling| sibling.payload.clone()))
    }
}

/// The payload of the resource at a path, or of a sibling whose alias or id is its last segment.
pub fn find(path: &LogicalPath, lookup: &dyn ResourceLookup) -> Result<Option<Node>, Box<Finding>> {
    if let Some(payload) = lookup.payload(path) {
        return Ok(Some(payload));
    }
    let Some(collection) = path.parent() else { return Ok(None) };
    Siblings::of(&collection, lookup).answering(path, lookup)
}
