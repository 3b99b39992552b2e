//! A world as requests see it: the effective payloads of other resources, their secrets hidden.

use std::sync::Arc;

use super::World;
use crate::layer::{EffectiveMetadata, resolve};
use crate::path::{LogicalPath, RepoPath};
use crate::request::Neighbours;
use crate::resource::Resource;
use crate::settings::Format;
use crate::value::Node;

impl World<'_> {
    /// The format of the repository at the place of a file, for `resource_format`.
    pub fn format_of(&self, file: &RepoPath) -> Format {
        let roots = self.settings.roots.iter().filter(|root| file.is_within(&root.path));
        roots.max_by_key(|root| root.path.as_bytes().len()).map(|root| root.format).unwrap_or_default()
    }

    /// The effective payload of a resource as others may see it.
    fn shown_payload(&self, resource: Resource) -> Option<Node> {
        let payload = self.effective(&resource).payload.clone()?;
        Some(self.hidden(Resource { payload, ..resource }).payload)
    }
}

impl Neighbours for World<'_> {
    fn payload(&self, path: &LogicalPath) -> Option<Node> {
        self.shown_payload(self.find(path)?)
    }

    fn children(&self, collection: &LogicalPath) -> Vec<(LogicalPath, Node)> {
        let paths = World::children(self, collection).into_iter();
        paths.filter_map(|path| self.payload(&path).map(|payload| (path, payload))).collect()
    }

    fn metadata(&self, path: &LogicalPath) -> Option<Arc<EffectiveMetadata>> {
        let file = self.roots().iter().find_map(|root| path.directory_below(root).ok())?;
        Some(resolve(path, self.layers_for(&file)?).value)
    }
}
