//! How files become resources: one file for each kind of repository, behind one trait.

mod ask;
mod declarest;
mod discover;
mod facts;
mod file;
mod form;
mod input;
mod kubernetes;
pub mod kustomize;
pub mod openchoreo;
mod packed;
mod plain;
mod rendered;
mod role;
mod roots;

pub use ask::{Ask, Units};
pub use declarest::Declarest;
pub use facts::{Affected, FileFacts, FileTable, Found, IndexEntry, InputDifferences, TreeFacts, UnitFacts};
pub use file::{FileContent, Files, Opened};
pub use input::{Edits, Input, Inputs};
pub use kubernetes::Kubernetes;
pub use openchoreo::OpenChoreo;
pub use packed::{InputSet, PathList, PathSet};
pub use plain::Plain;
pub use rendered::Rendered;
pub use role::{Role, Roles};
pub use roots::{Flux, Kustomize, flux_unit};

use std::collections::BTreeSet;

use crate::document::Document;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::{Identity, Parsed, ReadAs, Resource, Unit};
use crate::value::Node;

/// Every layout, the most specific first: a document is shown by the first one that recognises it.
pub const LAYOUTS: &[&dyn Layout] = &[&Flux, &Kustomize, &OpenChoreo, &Declarest, &Kubernetes, &Plain];

/// The layouts that show files as they are written.
pub const FILE_LAYOUTS: &[&dyn Layout] = &[&Declarest, &Kubernetes, &Plain];

/// A kind of repository. A layout recognises documents where they are written, each file being a unit of its own, or finds units
/// that are rendered as a whole, or both.
pub trait Layout: Sync {
    /// The name of the layout in messages and in what is remembered about trees.
    fn name(&self) -> &'static str;

    /// The resources that a document is where it is written; `None` if the layout does not recognise it.
    fn recognise<'d>(&self, _document: &FileDocument<'d>) -> Option<Vec<Named<'d>>> {
        None
    }

    /// Whether the layout has units beside the files whose documents it recognises.
    fn has_units(&self) -> bool {
        false
    }

    /// The units that are found in files. Everything that is asked becomes an input of finding them.
    fn units(&self, _ask: &Ask<'_, '_>) -> Vec<Unit> {
        Vec::new()
    }

    /// Those of some units that may read one of some files, as far as that is known without rendering them.
    fn units_that_may_read(&self, _ask: &Ask<'_, '_>, units: Vec<Unit>, _files: &BTreeSet<RepoPath>) -> Vec<Unit> {
        units
    }

    /// The units that are found in what another unit renders, of this layout or another.
    fn units_in(&self, _unit: &Unit, _rendered: &Rendered) -> Vec<Unit> {
        Vec::new()
    }

    /// What a unit of this layout renders. Everything that is asked becomes one of its inputs.
    fn render(&self, _ask: &Ask<'_, '_>, _unit: &Unit) -> Rendered {
        Rendered::default()
    }

    /// Whether a file may hold something for an index; asked of every file that is a document by its name, so it must be cheap.
    fn may_index(&self, _file: &RepoPath, _bytes: &[u8]) -> bool {
        false
    }

    /// Where indexes list such a file because of its name and its text, whether or not the text can be parsed.
    fn index_file(&self, _file: &RepoPath, _bytes: &[u8], _limits: &Limits) -> Vec<IndexEntry> {
        Vec::new()
    }

    /// Where indexes list the file of a resource.
    fn index(&self, _resource: &Resource) -> Vec<IndexEntry> {
        Vec::new()
    }
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
            unit: None,
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
