//! Two parts of a revision as one place: what files, roots and resources are called below it.

use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource, Unit};

/// A part of a revision.
#[derive(Debug, Clone)]
pub enum Part {
    /// What the kustomization in a directory renders.
    Root(RepoPath),
    /// The files in a directory, and what the kustomize roots in it render.
    Directory(RepoPath),
    /// The documents of a file.
    File(RepoPath),
    /// One resource.
    Resource(Box<Resource>),
}

/// The places of two parts.
pub(super) struct Places<'p> {
    parts: &'p [Part; 2],
}

impl<'p> Places<'p> {
    pub(super) fn new(parts: &'p [Part; 2]) -> Self {
        Self { parts }
    }

    /// A resource as it would be called if both parts were in one place.
    pub(super) fn placed(&self, side: usize, resource: Resource) -> Resource {
        // Two single resources are compared whatever they are called.
        if let (Part::Resource(_), Part::Resource(newer)) = (&self.parts[0], &self.parts[1]) {
            let Resource { identity, file, unit, .. } = (**newer).clone();
            return Resource { identity, file, unit, ..resource };
        }
        let identity = match resource.identity {
            // Two files are compared whatever they are called.
            Identity::Logical(_) if self.is_file_of(side, &resource.file) => {
                Identity::File { path: self.path(side, &resource.file), position: None }
            }
            Identity::Logical(path) => Identity::Logical(self.logical(side, path)),
            Identity::File { path, position } => Identity::File { path: self.path(side, &path), position },
            kubernetes @ Identity::Kubernetes(_) => kubernetes,
        };
        let unit = resource.unit.map(|unit| self.unit(side, &unit));
        Resource { identity, file: self.path(side, &resource.file), unit, ..resource }
    }

    /// A file below its part. What is elsewhere keeps its name.
    pub(super) fn path(&self, side: usize, path: &RepoPath) -> RepoPath {
        match &self.parts[side] {
            Part::Root(directory) | Part::Directory(directory) => match path.is_within(directory) {
                true => path.below(directory).unwrap_or_else(|| path.clone()),
                false => path.clone(),
            },
            Part::File(file) if file == path => self.common_file().unwrap_or(path).clone(),
            Part::File(_) | Part::Resource(_) => path.clone(),
        }
    }

    /// Whether the parts are files, and this is the one of a side.
    fn is_file_of(&self, side: usize, file: &RepoPath) -> bool {
        self.common_file().is_some() && matches!(&self.parts[side], Part::File(own) if own == file)
    }

    /// The name of both files, if the parts are files.
    fn common_file(&self) -> Option<&RepoPath> {
        match &self.parts[1] {
            Part::File(file) => Some(file),
            _ => None,
        }
    }

    /// A root below its part.
    pub(super) fn unit(&self, side: usize, unit: &Unit) -> Unit {
        let key = RepoPath::new(unit.key.as_str()).map(|path| self.path(side, &path));
        match key.ok().and_then(|key| key.to_str().map(Into::into)) {
            Some(key) => Unit { key, ..unit.clone() },
            None => unit.clone(),
        }
    }

    /// A logical path below its part.
    fn logical(&self, side: usize, path: LogicalPath) -> LogicalPath {
        let base = match &self.parts[side] {
            Part::Root(directory) | Part::Directory(directory) => LogicalPath::of_directory(directory),
            Part::File(_) | Part::Resource(_) => None,
        };
        let Some(base) = base else { return path };
        let segments: Vec<&str> = path.segments().collect();
        match segments.iter().copied().zip(base.segments()).all(|(a, b)| a == b) {
            true => segments.iter().skip(base.segments().count()).fold(LogicalPath::root(), |it, name| it.child(name)),
            false => path,
        }
    }
}
