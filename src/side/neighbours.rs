//! A side as requests see it: effective payloads with their secrets hidden, and everything that is worked out once for all of them.

use std::sync::Arc;

use super::Side;
use crate::finding::Outcome;
use crate::metadata::openapi::ApiDocument;
use crate::metadata::{EffectiveMetadata, PayloadType, resolve};
use crate::names::{self, Format};
use crate::path::{LogicalPath, RepoPath};
use crate::request::{RequestTarget, ResourceLookup};
use crate::resource::Resource;
use crate::value::Node;

impl Side<'_> {
    /// A resource, or a path without one, as requests are made for it; the file is where it is written, or would be.
    pub fn target<'t>(
        &'t self,
        path: &'t LogicalPath,
        payload: &'t Node,
        metadata: &'t EffectiveMetadata,
        file: &RepoPath,
    ) -> RequestTarget<'t> {
        RequestTarget {
            path,
            payload,
            metadata,
            format: self.format_of(file),
            file_type: self.type_of(file),
            lookup: self,
            sources: self.sources,
            memo: &self.caches.requests,
        }
    }

    /// The type of the payload in a file of a resource.
    fn type_of(&self, file: &RepoPath) -> Option<PayloadType> {
        let (stem, extension) = file.stem_and_extension()?;
        (stem == names::RESOURCE).then(|| PayloadType::of_extension(extension))
    }

    /// The format of the repository at the place of a file, for `resource_format`.
    pub fn format_of(&self, file: &RepoPath) -> Format {
        self.settings.roots.around(file).map(|root| root.format).unwrap_or_default()
    }

    /// The effective payload of a resource as it may be shown; nothing if a patch drops it.
    pub fn shown_payload(&self, resource: Resource) -> Option<Node> {
        let payload = self.effective(&resource).payload.clone()?;
        Some(self.hidden(Resource { payload, ..resource }).payload)
    }

    /// The root that contains the longest part of a path.
    fn root_around(&self, path: &LogicalPath) -> Option<&RepoPath> {
        if self.settings.roots.all().len() > 1 {
            for path in std::iter::successors(Some(path.clone()), LogicalPath::parent) {
                let is_there = |root: &&RepoPath| {
                    let directory = path.directory_below(root).ok();
                    directory.is_some_and(|directory| matches!(self.snapshot.entry(&directory), Ok(Some(_))))
                };
                if let Some(root) = self.settings.roots.paths().find(is_there) {
                    return Some(root);
                }
            }
        }
        self.settings.roots.paths().next()
    }
}

impl ResourceLookup for Side<'_> {
    fn payload(&self, path: &LogicalPath) -> Option<Node> {
        // A few resources are ancestors of many others.
        self.caches.shown.get(path, || self.shown_payload(self.find(path)?))
    }

    fn children(&self, collection: &LogicalPath) -> Vec<(LogicalPath, Node)> {
        let resources = self.resources_in(collection).into_iter();
        resources.filter_map(|(path, resource)| Some((path, self.shown_payload(resource)?))).collect()
    }

    fn metadata(&self, path: &LogicalPath) -> Option<Arc<EffectiveMetadata>> {
        Some(resolve(path, self.layers.layers_for(self.root_around(path)?)?).value)
    }

    fn openapi(&self) -> Outcome<Option<Arc<ApiDocument>>> {
        Side::openapi(self)
    }
}
