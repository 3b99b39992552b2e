//! The resources of a world by their logical paths: what stands at a path, and what stands below it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::World;
use crate::document::Format;
use crate::layer::WILDCARD;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Resource, Role};
use crate::source::EntryKind;

/// What a directory holds, as far as resources are concerned.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Files that may hold resources, in byte order.
    files: Vec<RepoPath>,
    /// Directories in which resources may stand, in byte order.
    folders: Vec<RepoPath>,
}

impl World<'_> {
    /// The resource at a logical path, directives followed; of several the first by root and file.
    pub fn find(&self, path: &LogicalPath) -> Option<Resource> {
        self.roots().iter().find_map(|root| {
            let directory = path.directory_below(root).ok().filter(|_| !path.is_root())?;
            // Most resources have a directory; only for the others are all files beside it looked through.
            let beside = std::iter::once_with(|| self.beside(&directory)).flatten();
            self.standing_in(&directory)
                .into_iter()
                .chain(beside)
                .find(|resource| self.path_of(resource).as_ref() == Some(path))
        })
    }

    /// Resources in `<directory>/resource.*`.
    fn standing_in(&self, directory: &RepoPath) -> Vec<Resource> {
        let folder = self.folder(directory);
        let named = folder.files.iter().filter(|file| is_named_by_directory(file));
        named.flat_map(|file| self.file(file).resources.clone()).collect()
    }

    /// Resources in files beside a directory: legacy ones of its name, and documents that name themselves.
    fn beside(&self, directory: &RepoPath) -> Vec<Resource> {
        let Some(parent) = directory.parent() else { return Vec::new() };
        let files = self.folder(&parent);
        let others = files.files.iter().filter(|file| !is_named_by_directory(file));
        others.flat_map(|file| self.file(file).resources.clone()).collect()
    }

    /// The paths one level below a path at which a resource stands, or below which one may, in byte order.
    pub fn children(&self, path: &LogicalPath) -> Vec<LogicalPath> {
        let mut found: BTreeSet<LogicalPath> = BTreeSet::new();
        for root in self.roots() {
            let Ok(directory) = path.directory_below(&root) else { continue };
            let folder = self.folder(&directory);
            let below = |path: &RepoPath| LogicalPath::of_directory(&path.below(&root)?);
            found.extend(folder.folders.iter().filter(|folder| self.leads_to_resources(folder)).filter_map(below));
            for resource in folder.files.iter().flat_map(|file| self.file(file).resources.clone()) {
                found.extend(self.path_of(&resource).filter(|own| own.parent().as_ref() == Some(path)));
            }
        }
        found.into_iter().collect()
    }

    /// The managed resources one level below a path, directives followed, by path; of several at one path the one that
    /// [`find`](Self::find) finds.
    pub(super) fn resources_in(&self, collection: &LogicalPath) -> BTreeMap<LogicalPath, Resource> {
        let mut found: BTreeMap<LogicalPath, Resource> = BTreeMap::new();
        for root in self.roots() {
            let Ok(directory) = collection.directory_below(&root) else { continue };
            let folder = self.folder(&directory);
            let standing = folder.folders.iter().flat_map(|folder| self.standing_in(folder));
            let beside = folder.files.iter().filter(|file| !is_named_by_directory(file));
            let beside = beside.flat_map(|file| self.file(file).resources.clone());
            for resource in standing.chain(beside).filter(Resource::is_managed) {
                let Some(path) = self.path_of(&resource) else { continue };
                if path.parent().as_ref() == Some(collection) {
                    found.entry(path).or_insert(resource);
                }
            }
        }
        found
    }

    /// Whether something stands at a path that could not be understood, so that nobody knows what is there.
    pub fn is_broken_at(&self, path: &LogicalPath) -> bool {
        self.roots().iter().any(|root| {
            let Ok(directory) = path.directory_below(root) else { return false };
            let around = directory.parent().map(|parent| self.folder(&parent));
            let named = |file: &&RepoPath| {
                let stem = file.stem_and_extension().map(|(stem, _)| stem);
                stem.is_some() && stem == path.last() || stem == Some("resource")
            };
            let own = self.folder(&directory);
            let beside = around.iter().flat_map(|folder| folder.files.iter());
            let is_namesake = |file: &&RepoPath| file.stem_and_extension().map(|(stem, _)| stem) == path.last();
            own.files.iter().filter(named).chain(beside.filter(is_namesake)).any(|file| self.file(file).is_broken)
        })
    }

    /// Whether some file below a directory may hold a resource; nothing is opened.
    fn leads_to_resources(&self, directory: &RepoPath) -> bool {
        let folder = self.folder(directory);
        !folder.files.is_empty() || folder.folders.iter().any(|below| self.leads_to_resources(below))
    }

    fn folder(&self, directory: &RepoPath) -> Arc<Folder> {
        self.folders.get(directory, || {
            let mut folder = Folder::default();
            // What cannot be listed is told by whoever walks over all files.
            self.snapshot.visit(directory, &mut |entry| {
                let name = entry.path.file_name();
                match entry.kind {
                    EntryKind::Directory if name == WILDCARD.as_bytes() || name.starts_with(b".") => {}
                    EntryKind::Directory if directory.components().count() < self.limits.directory_depth as usize => {
                        folder.folders.push(entry.path.clone());
                    }
                    EntryKind::File if Format::of_file_name(name).is_some() => folder.files.push(entry.path.clone()),
                    _ => {}
                }
            });
            folder.files.retain(|file| !matches!(self.roles.of(file), Role::Layer | Role::Configuration | Role::Other));
            folder.files.sort_unstable();
            folder.folders.sort_unstable();
            Arc::new(folder)
        })
    }
}

fn is_named_by_directory(file: &RepoPath) -> bool {
    matches!(file.stem_and_extension(), Some(("resource", _)))
}
