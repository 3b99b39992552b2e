//! The resources of a side by their logical paths: the one at a path, and those below it.
//!
//! Most answers come from the names of files and directories alone. Files are opened only where their content decides what they
//! are called, and those of a directory then once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

use super::Side;
use crate::document::Format;
use crate::layout::Role;
use crate::metadata::WILDCARD;
use crate::names;
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::snapshot::{EntryKind, Reason, Unreadable};

/// What a directory holds, as far as resources are concerned.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Files that may hold resources, in byte order.
    files: Vec<RepoPath>,
    /// Directories in which resources may stand, in byte order.
    pub(super) folders: Vec<RepoPath>,
    /// Whether there may be more, which could not be listed.
    is_unlisted: bool,
    /// Whether some file in it or below it may hold a resource.
    leads: OnceLock<bool>,
}

/// The resources that the files of a directory hold beside the one the directory is named after: where each is written.
pub(super) type Written = BTreeMap<LogicalPath, (RepoPath, usize)>;

impl Side<'_> {
    /// The resource at a logical path, directives expanded. Of several it is the first by root; then the one that its directory
    /// names comes before those that their files name, and these before documents that name themselves.
    pub fn find(&self, path: &LogicalPath) -> Option<Resource> {
        let first = |files: Vec<RepoPath>| files.iter().find_map(|file| self.first_in(file, path));
        self.settings.roots.paths().find_map(|root| {
            let directory = path.directory_below(root).ok()?;
            first(self.files_inside(&directory, path))
                .or_else(|| first(self.files_beside(&directory, path)))
                .or_else(|| self.naming_itself(&directory.parent()?, path))
        })
    }

    /// Every file below a root that can hold the resource of a path, in the order of precedence.
    pub(super) fn candidates(&self, path: &LogicalPath, root: &RepoPath) -> Vec<RepoPath> {
        let Ok(directory) = path.directory_below(root) else { return Vec::new() };
        let mut files = self.files_inside(&directory, path);
        files.extend(self.files_beside(&directory, path));
        if let Some(parent) = directory.parent().filter(|_| may_name_itself(path)) {
            let beside = self.folder(&parent);
            let is_other = |file: &&RepoPath| !is_named_by_directory(file) && !files.contains(file);
            let others: Vec<RepoPath> = beside.files.iter().filter(is_other).cloned().collect();
            files.extend(others);
        }
        files
    }

    /// The files in the directory of a path that are named by it.
    fn files_inside(&self, directory: &RepoPath, path: &LogicalPath) -> Vec<RepoPath> {
        let is_own = |file: &&RepoPath| matches!(self.roles().role(file), Role::Resource(named) if named == *path);
        self.folder(directory).files.iter().filter(is_own).cloned().collect()
    }

    /// The files beside the directory of a path that are called like it.
    fn files_beside(&self, directory: &RepoPath, path: &LogicalPath) -> Vec<RepoPath> {
        let (Some(parent), Some(name)) = (directory.parent(), path.last()) else { return Vec::new() };
        self.folder(&parent).files.iter().filter(|file| is_named(file, name)).cloned().collect()
    }

    fn first_in(&self, file: &RepoPath, path: &LogicalPath) -> Option<Resource> {
        let content = self.file(file);
        content.resources.iter().find(|resource| self.path_of(resource).as_ref() == Some(path)).cloned()
    }

    /// A document that is called by its kind and name; both are needed, so the name has a dot.
    fn naming_itself(&self, directory: &RepoPath, path: &LogicalPath) -> Option<Resource> {
        if !may_name_itself(path) {
            return None;
        }
        let written = self.written_in(directory);
        let (file, position) = written.get(path)?;
        self.file(file).resources.iter().find(|resource| resource.position == *position).cloned()
    }

    /// Whether there is anything at a path: a resource, a directory that leads to some, or something that could not be understood.
    pub fn exists_at(&self, path: &LogicalPath) -> bool {
        let is_folder =
            |root: &RepoPath| path.directory_below(root).is_ok_and(|directory| self.leads_to_resources(&directory));
        path.is_root()
            || self.settings.roots.paths().any(is_folder)
            || self.find(path).is_some()
            || self.is_broken_at(path)
    }

    /// Resources in `<directory>/resource.*`.
    fn standing_in(&self, directory: &RepoPath) -> Vec<Resource> {
        let folder = self.folder(directory);
        let named = folder.files.iter().filter(|file| is_named_by_directory(file));
        named.flat_map(|file| self.file(file).resources.clone()).collect()
    }

    /// The paths one level below a path at which there is a resource, or below which there may be one, in byte order.
    pub fn children(&self, path: &LogicalPath) -> Arc<[LogicalPath]> {
        self.caches.children.get(path, || {
            let mut found: BTreeSet<LogicalPath> = BTreeSet::new();
            for root in self.settings.roots.paths() {
                let Ok(directory) = path.directory_below(root) else { continue };
                let folder = self.folder(&directory);
                let below = |path: &RepoPath| LogicalPath::of_directory(&path.below(root)?);
                found.extend(folder.folders.iter().filter(|folder| self.leads_to_resources(folder)).filter_map(below));
                let written = self.written_in(&directory);
                found.extend(written.keys().filter(|own| own.parent().as_ref() == Some(path)).cloned());
            }
            found.into_iter().collect()
        })
    }

    /// The managed resources one level below a path, directives followed, by path; of several at one path the one that
    /// [`find`](Self::find) finds.
    pub(super) fn resources_in(&self, collection: &LogicalPath) -> BTreeMap<LogicalPath, Resource> {
        let mut found: BTreeMap<LogicalPath, Resource> = BTreeMap::new();
        for root in self.settings.roots.paths() {
            let Ok(directory) = collection.directory_below(root) else { continue };
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

    /// Whether there is something at a path that could not be parsed, so that it is not known what it is.
    pub fn is_broken_at(&self, path: &LogicalPath) -> bool {
        let Some(name) = path.last() else { return false };
        // A kind starts with a capital letter; whatever file is broken, the document may stand in it.
        let may_name_itself = name.contains('.') && name.starts_with(|c: char| c.is_ascii_uppercase());
        self.settings.roots.paths().any(|root| {
            let Ok(directory) = path.directory_below(root) else { return false };
            let own = self.folder(&directory);
            let is_own = |file: &&RepoPath| matches!(self.roles().role(file), Role::Resource(named) if named == *path);
            let beside = directory.parent().map(|parent| self.folder(&parent));
            if own.is_unlisted || beside.as_ref().is_some_and(|beside| beside.is_unlisted) {
                return true;
            }
            let beside = beside.iter().flat_map(|folder| folder.files.iter());
            let beside = beside.filter(|file| is_named(file, name) || may_name_itself && own.is_empty());
            own.files.iter().filter(is_own).chain(beside).any(|file| self.file(file).is_broken)
        })
    }

    /// The resources in the files of a directory; each file is opened once.
    fn written_in(&self, directory: &RepoPath) -> Arc<Written> {
        self.caches.written.get(directory, || {
            let mut written = Written::new();
            for file in &self.folder(directory).files {
                let is_directorys = matches!(file.stem_and_extension(), Some((names::RESOURCE, _)))
                    && matches!(self.roles().role(file), Role::Resource(_));
                if is_directorys {
                    continue;
                }
                for resource in &self.file(file).resources {
                    if let Some(path) = self.path_of(resource) {
                        written.entry(path).or_insert_with(|| (file.clone(), resource.position));
                    }
                }
            }
            Arc::new(written)
        })
    }

    /// What the files of a directory may be called by their names alone: legacy resources. Nothing is opened.
    pub(super) fn named_by_files(&self, directory: &RepoPath) -> Vec<LogicalPath> {
        let named = |file: &RepoPath| match self.roles().role(file) {
            Role::Resource(path) | Role::LegacyResource(path) => Some(path),
            _ => None,
        };
        self.folder(directory).files.iter().filter_map(named).collect()
    }

    /// Whether some file below a directory may hold a resource; nothing is opened.
    pub(super) fn leads_to_resources(&self, directory: &RepoPath) -> bool {
        let folder = self.folder(directory);
        *folder.leads.get_or_init(|| {
            !folder.files.is_empty() || folder.folders.iter().any(|below| self.leads_to_resources(below))
        })
    }

    /// What keeps anybody from knowing all resources, if anything.
    pub(super) fn gap(&self) -> Option<String> {
        if self.is_cut() {
            return Some(format!("it has more than {} directory entries", self.limits.entries));
        }
        self.caches.is_unlisted.load(Ordering::Relaxed).then(|| "a directory cannot be listed".to_owned())
    }

    /// Whether there was more to look at than may be looked at.
    pub(super) fn is_cut(&self) -> bool {
        self.caches.entries.load(Ordering::Relaxed) > self.limits.entries
    }

    pub(super) fn folder(&self, directory: &RepoPath) -> Arc<Folder> {
        self.caches.folders.get(directory, || {
            let mut folder = Folder::default();
            // A few objects can describe billions of directories.
            if self.is_cut() {
                return Arc::new(folder);
            }
            let mut seen = 1;
            let unreadable = self.snapshot.visit(directory, &mut |member| {
                seen += 1;
                let name = member.name;
                match member.kind {
                    EntryKind::Directory if name == WILDCARD.as_bytes() || name.starts_with(b".") => {}
                    EntryKind::Directory if directory.components().count() < self.limits.directory_depth as usize => {
                        folder.folders.push(member.path());
                    }
                    EntryKind::File if Format::of_file_name(name).is_some() || names::is_resource_file(name) => {
                        folder.files.push(member.path());
                    }
                    _ => {}
                }
            });
            self.caches.entries.fetch_add(seen, Ordering::Relaxed);
            let is_all = |unreadable: &Unreadable| {
                unreadable.path == *directory && !matches!(unreadable.reason, Reason::UnsafeName { .. })
            };
            folder.is_unlisted = unreadable.iter().any(is_all);
            self.caches.is_unlisted.fetch_or(folder.is_unlisted, Ordering::Relaxed);
            folder
                .files
                .retain(|file| !matches!(self.roles().role(file), Role::Layer | Role::Configuration | Role::Other));
            folder.files.sort_unstable();
            folder.folders.sort_unstable();
            Arc::new(folder)
        })
    }
}

/// Whether a path can be that of a document called by its kind and name: both are needed, so that there is a dot.
fn may_name_itself(path: &LogicalPath) -> bool {
    path.last().is_some_and(|name| name.contains('.'))
}

fn is_named_by_directory(file: &RepoPath) -> bool {
    matches!(file.stem_and_extension(), Some((names::RESOURCE, _)))
}

impl Folder {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.folders.is_empty()
    }
}

/// Whether a file beside a directory is what the directory's name means: a legacy resource `acme.yaml`, a plain file, or one of
/// its documents, `app.yaml#2`.
fn is_named(file: &RepoPath, name: &str) -> bool {
    let document = name.rsplit_once('#').filter(|(_, number)| number.bytes().all(|digit| digit.is_ascii_digit()));
    let is_file = |name: &str| file.file_name() == name.as_bytes();
    is_file(name)
        || document.is_some_and(|(file, _)| is_file(file))
        || file.stem_and_extension().is_some_and(|(stem, _)| stem == name)
}
