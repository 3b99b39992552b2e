//! The resources that somebody names: by path, file, directory, glob, document of a file, or as Kubernetes calls them.

use std::collections::BTreeSet;

use crate::directive;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, KubernetesQuery, Resource};
use crate::side::Side;
use crate::snapshot::Scope;

/// What is meant. Without any name it is everything.
#[derive(Debug, Default)]
pub struct Named {
    names: Vec<Name>,
    /// Everywhere something that is meant can stand.
    places: Scope,
    /// Everything but what is left out on purpose.
    kept: Scope,
}

/// One way to name resources.
#[derive(Debug, Clone)]
pub enum Name {
    /// Files, directories and globs.
    Place(Scope),
    /// A logical path: what stands at it or below it.
    Logical(Scope, LogicalPath),
    /// A document of a file, counted from 0.
    Document(RepoPath, usize),
    /// Kubernetes documents.
    Kubernetes(KubernetesQuery),
}

impl Named {
    /// These names; `places` must hold whatever they can mean, `kept` is all that is not left out.
    pub fn new(names: Vec<Name>, places: Scope, kept: Scope) -> Self {
        Self { names, places, kept }
    }

    pub(super) fn places(&self) -> &Scope {
        &self.places
    }

    /// Whether a file can hold something that is meant, by its place.
    pub(super) fn may_be_in(&self, file: &RepoPath, world: &Side<'_>) -> bool {
        let may_be = |name: &Name| match name {
            Name::Place(scope) => scope.wants(file),
            Name::Logical(scope, path) => scope.wants(file) || is_beside(file, path, world),
            Name::Document(of, _) => of == file,
            Name::Kubernetes(_) => true,
        };
        self.kept.wants(file) && (self.names.is_empty() || self.names.iter().any(may_be))
    }

    /// The same by its text: cheap, and yes when in doubt.
    pub(super) fn may_be_in_text(&self, file: &RepoPath, text: &[u8]) -> bool {
        let is_sure = |name: &Name| match name {
            Name::Kubernetes(query) => query.may_be_in(text) || directive::may_include(text),
            Name::Document(of, _) => of == file,
            Name::Place(_) | Name::Logical(..) => true,
        };
        self.names.is_empty() || self.names.iter().any(is_sure)
    }

    /// Whether a file is named itself, so that all that is wrong with it matters.
    pub(super) fn means_all_of(&self, file: &RepoPath) -> bool {
        let is_named = |name: &Name| match name {
            Name::Place(scope) | Name::Logical(scope, _) => scope.wants(file),
            Name::Document(of, _) => of == file,
            Name::Kubernetes(_) => false,
        };
        self.names.is_empty() || self.names.iter().any(is_named)
    }

    /// The names that mean a resource, by their numbers. Without names, any number says yes.
    pub(super) fn hits(&self, resource: &Resource, world: &Side<'_>) -> BTreeSet<usize> {
        let means = |name: &Name| match name {
            Name::Place(scope) => scope.wants(&resource.file),
            Name::Logical(scope, path) => scope.wants(&resource.file) || world.path_of(resource).as_ref() == Some(path),
            Name::Document(file, position) => *file == resource.file && *position == resource.position,
            Name::Kubernetes(query) => match &resource.identity {
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

/// Whether a document in a file can have a path by its name: it stands in the directory above.
fn is_beside(file: &RepoPath, path: &LogicalPath, world: &Side<'_>) -> bool {
    let (Some(directory), Some(parent)) = (file.parent(), path.parent()) else { return false };
    world.settings.roots.paths().any(|root| parent.directory_below(root).is_ok_and(|place| place == directory))
}
