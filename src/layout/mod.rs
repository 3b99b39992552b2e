//! How files become resources: one file for each kind of repository, behind one trait.

mod declarest;
mod kubernetes;
mod plain;
mod role;

pub use declarest::Declarest;
pub use kubernetes::Kubernetes;
pub use plain::Plain;
pub use role::{Role, Roles};

use crate::document::Document;
use crate::path::RepoPath;
use crate::resource::{Identity, Parsed, ReadAs, Resource};
use crate::value::Node;

/// Every layout, the most specific first: a document is shown by the first one that recognises it.
pub const LAYOUTS: &[&dyn Layout] = &[&Declarest, &Kubernetes, &Plain];

/// A kind of repository.
pub trait Layout: Sync {
    /// The name of the layout in messages and in what is remembered about trees.
    fn name(&self) -> &'static str;

    /// The resources that a document is where it is written; `None` if the layout does not recognise it.
    fn recognise<'d>(&self, document: &FileDocument<'d>) -> Option<Vec<Named<'d>>>;
}

/// A resource's identity and its payload.
pub type Named<'d> = (Identity, &'d Node);

/// A document and the file it is written in.
#[derive(Clone, Copy)]
pub struct FileDocument<'d> {
    /// The file.
    pub file: &'d RepoPath,
    /// What the file is, by its place.
    pub role: &'d Role,
    /// The document.
    pub document: &'d Document,
    /// Whether the file holds no other document.
    pub is_only: bool,
}

/// The resources in the documents of a file, in the order of the file.
pub fn resources_in(parsed: &Parsed, file: &RepoPath, role: &Role, layouts: &[&dyn Layout]) -> Vec<Resource> {
    let mut resources = Vec::with_capacity(parsed.documents.len());
    for document in &parsed.documents {
        let position = document.position;
        let document = FileDocument { file, role, document, is_only: parsed.count == 1 };
        let recognised = layouts.iter().find_map(|layout| layout.recognise(&document)).unwrap_or_default();
        resources.extend(recognised.into_iter().map(|(identity, payload)| Resource {
            identity,
            file: file.clone(),
            position,
            payload: payload.clone(),
        }));
    }
    resources
}

/// What a file with this role and these resources was taken for.
pub fn read_as(role: &Role, resources: &[Resource]) -> ReadAs {
    match (role, resources.first().map(|resource| &resource.identity)) {
        (Role::Layer, _) => ReadAs::Layer,
        (Role::Configuration, _) => ReadAs::Configuration,
        (_, Some(Identity::Logical(_))) => ReadAs::Resource,
        (_, Some(Identity::Kubernetes(_))) => ReadAs::Kubernetes,
        _ => ReadAs::Plain,
    }
}
