//! Selections of resources on the command line: by path, file, directory, glob, document of a file, or Kubernetes name.

use std::collections::BTreeSet;

use super::Side;
use crate::directive;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, KubernetesQuery, Resource};
use crate::snapshot::Scope;

/// The resources that some names mean. Without any name it is everything.
#[derive(Debug, Default)]
pub struct ResourceSelection {
    names: Vec<ResourceName>,
    /// Where resources that are meant can be.
    places: Scope,
    /// Everything but what is left out on purpose.
    kept: Scope,
}

/// One way to name resources.
#[derive(Debug, Clone)]
pub enum ResourceName {
    /// Files, directories and globs.
    Place(Scope),
    /// A logical path: the resource at it and those below it.
    Logical(Scope, LogicalPath),
    /// A document of a file, counted from 0.
    Document(RepoPath, usize),
    /// Kubernetes documents.
    Kubernetes(KubernetesQuery),
}

impl ResourceSelection {
    /// These names; `places` must hold whatever they can mean, `kept` is all that is not left out.
    pub fn new(names: Vec<ResourceName>, places: Scope, kept: Scope) -> Self {
        Self { names, places, kept }
    }

    pub(super) fn places(&self) -> &Scope {
        &self.places
    }

    /// Whether a file can hold something that is meant, by its place.
    pub(super) fn may_be_in(&self, file: &RepoPath, side: &Side<'_>) -> bool {
        let may_be = |name: &ResourceName| match name {
            ResourceName::Place(scope) => scope.wants(file),
            ResourceName::Logical(scope, path) => scope.wants(file) || is_beside(file, path, side),
            ResourceName::Document(of, _) => of == file,
            ResourceName::Kubernetes(_) => true,
        };
        self.kept.wants(file) && (self.names.is_empty() || self.names.iter().any(may_be))
    }

    /// Whether a file can hold something that is meant, by its text: cheap, and yes when in doubt.
    pub(super) fn may_be_in_text(&self, file: &RepoPath, text: &[u8]) -> bool {
        let is_sure = |name: &ResourceName| match name {
            ResourceName::Kubernetes(query) => query.may_be_in(text) || directive::may_include(text),
            ResourceName::Document(of, _) => of == file,
            ResourceName::Place(_) | ResourceName::Logical(..) => true,
        };
        self.names.is_empty() || self.names.iter().any(is_sure)
    }

    /// Whether a file is named itself, so that all that is wrong with it matters.
    pub(super) fn means_all_of(&self, file: &RepoPath) -> bool {
        let is_named = |name: &ResourceName| match name {
            ResourceName::Place(scope) | ResourceName::Logical(scope, _) => scope.wants(file),
            ResourceName::Document(of, _) => of == file,
            ResourceName::Kubernetes(_) => false,
        };
        self.names.is_empty() || self.names.iter().any(is_named)
    }

    /// The names that mean a resource, by their numbers. Without names, any number says yes.
    pub(super) fn hits(&self, resource: &Resource, side: &Side<'_>) -> BTreeSet<usize> {
        let means = |name: &ResourceName| match name {
            ResourceName::Place(scope) => scope.wants(&resource.file),
            ResourceName::Logical(scope, path) => {
                scope.wants(&resource.file) || side.path_of(resource).as_ref() == Some(path)
            }
            ResourceName::Document(file, position) => *file == resource.file && *position == resource.position,
            ResourceName::Kubernetes(query) => match &resource.identity {
                Identity::Kubernetes(name) => query.fits(name),
                _ => false,
            },
        };
        let everything = self.names.is_empty().then_some(0);
        let named = self.names.iter().enumerate().filter(|(_, name)| means(name)).map(|(at, _)| at);
        named.chain(everything).collect()
    }

    /// The names that are not among these.
    pub(super) fn without(&self, hits: &BTreeSet<usize>) -> Vec<usize> {
        (0..self.names.len()).filter(|number| !hits.contains(number)).collect()
    }
}

/// Whether a document in a file can have a path by its own name: then the file is in the directory above the path.
fn is_beside(file: &RepoPath, path: &LogicalPath, side: &Side<'_>) -> bool {
    let (Some(directory), Some(parent)) = (file.parent(), path.parent()) else { return false };
    side.settings.roots.paths().any(|root| parent.directory_below(root).is_ok_and(|place| place == directory))
}
