//! What a file is, by its place: a resource of the declarative layout, a layer, or a file that speaks for itself.

use std::collections::BTreeMap;
use std::sync::Mutex;

use crate::document::Format;
use crate::path::{LogicalPath, RepoPath};
use crate::settings;
use crate::settings::{Layout, Roots, Settings};
use crate::snapshot::{EntryKind, Snapshot};

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// `<logical-path>/resource.*`, or a legacy `<logical-path>.*` below a declared root.
    Resource(LogicalPath),
    /// A legacy `<logical-path>.*` beside resource directories; a Kubernetes document in it speaks for itself.
    LegacyResource(LogicalPath),
    /// `metadata.*` or `patches.*` that speaks for resources.
    Layer,
    /// `outcrop.yaml` at the root.
    Configuration,
    /// Any other YAML or JSON file.
    Documents,
    /// Not YAML or JSON by its name.
    Other,
}

impl Role {
    /// Whether the file is written for us: then it must be readable, and "a template of another tool" is no excuse.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Resource(_) | Self::Layer | Self::Configuration)
    }
}

/// Decides roles in one snapshot, and remembers what it had to look up.
pub struct Roles<'a> {
    snapshot: &'a dyn Snapshot,
    roots: &'a Roots,
    metadata_root: Option<&'a RepoPath>,
    openapi: Option<&'a RepoPath>,
    declarative: Mutex<BTreeMap<RepoPath, bool>>,
}

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

impl<'a> Roles<'a> {
    /// Roles under these settings.
    pub fn new(snapshot: &'a dyn Snapshot, settings: &'a Settings) -> Self {
        let (roots, metadata_root) = (&settings.roots, settings.metadata_root.as_ref());
        Self { snapshot, roots, metadata_root, openapi: settings.openapi.as_ref(), declarative: Mutex::default() }
    }

    /// What the file at this path is.
    pub fn of(&self, path: &RepoPath) -> Role {
        self.of_content(path, false)
    }

    /// The same for a file whose documents all speak for themselves or not: if they do, nobody needs to look around.
    pub fn of_content(&self, path: &RepoPath, speaks_for_itself: bool) -> Role {
        if Format::of_file_name(path.file_name()).is_none() {
            return Role::Other;
        }
        if path.as_bytes() == settings::FILE_NAME.as_bytes() {
            return Role::Configuration;
        }
        if self.openapi == Some(path) {
            return Role::Documents;
        }
        let Some((stem, _)) = path.stem_and_extension() else { return Role::Documents };
        let directory = path.parent().unwrap_or_default();
        let is_below_wildcard = directory.components().any(|component| component == b"_");
        match stem {
            "resource" if !is_below_wildcard => {
                self.logical_path(&directory).map_or(Role::Documents, |(logical, _)| Role::Resource(logical))
            }
            "metadata" | "patches" if self.metadata_root.is_some_and(|root| !directory.is_within(root)) => {
                Role::Documents
            }
            "metadata" | "patches" if self.metadata_root.is_some() => Role::Layer,
            "metadata" | "patches" if is_below_wildcard || self.speaks_for_a_resource(&directory) => Role::Layer,
            _ if is_below_wildcard || is_hidden(&directory) || path.as_bytes() == b"bundle.yaml" => Role::Documents,
            _ => self.legacy(path, stem, &directory, speaks_for_itself),
        }
    }

    fn legacy(&self, path: &RepoPath, stem: &str, directory: &RepoPath, speaks_for_itself: bool) -> Role {
        if path.to_str().is_none() {
            return Role::Documents;
        }
        let Ok(resource_directory) = directory.join(stem.as_bytes()) else { return Role::Documents };
        match self.logical_path(&resource_directory) {
            Some((logical, Layout::Declarest)) => Role::Resource(logical),
            Some((logical, Layout::Detect)) if !speaks_for_itself && self.is_declarative(directory) => {
                Role::LegacyResource(logical)
            }
            _ => Role::Documents,
        }
    }

    /// The logical path of a resource directory, and the layout of the root it stands in. A root itself is no resource.
    fn logical_path(&self, directory: &RepoPath) -> Option<(LogicalPath, Layout)> {
        let root = self.roots.around(directory)?;
        let below = directory.below(&root.path).filter(|below| !below.is_root())?;
        Some((LogicalPath::of_directory(&below)?, root.layout))
    }

    /// Whether a directory's `metadata.*` is a layer: it holds a resource, or stands beside a legacy file of the same name.
    fn speaks_for_a_resource(&self, directory: &RepoPath) -> bool {
        let Some(parent) = directory.parent() else { return false };
        self.holds_a_resource(directory)
            || EXTENSIONS.iter().any(|extension| {
                let name = [directory.file_name(), b".", extension.as_bytes()].concat();
                parent.join(&name).is_ok_and(|legacy| self.is_file(&legacy) && self.is_declarative(&parent))
            })
            || self.logical_path(directory).is_some_and(|(_, layout)| layout == Layout::Declarest)
    }

    /// Whether a directory belongs to a tree of the declarative layout: it holds `_` or a resource directory.
    pub fn is_declarative(&self, directory: &RepoPath) -> bool {
        let mut known = self.declarative.lock().expect("no thread panics while it holds this lock");
        if let Some(&answer) = known.get(directory) {
            return answer;
        }
        let members = self.snapshot.listing(directory);
        let mut directories = members.entries.iter().filter(|member| member.kind == EntryKind::Directory);
        let answer = directories.any(|member| member.path.file_name() == b"_" || self.holds_a_resource(&member.path));
        known.insert(directory.clone(), answer);
        answer
    }

    fn holds_a_resource(&self, directory: &RepoPath) -> bool {
        EXTENSIONS.iter().any(|extension| {
            directory.join(format!("resource.{extension}").as_bytes()).is_ok_and(|file| self.is_file(&file))
        })
    }

    fn is_file(&self, path: &RepoPath) -> bool {
        matches!(self.snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::File)
    }
}

pub(super) fn is_hidden(directory: &RepoPath) -> bool {
    directory.components().any(|component| component.starts_with(b"."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::MemorySnapshot;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn role_in(files: &[&str], settings: &Settings, file: &str) -> Role {
        let snapshot = files.iter().fold(MemorySnapshot::new("test"), |snapshot, file| snapshot.with(path(file), *b""));
        Roles::new(&snapshot, settings).of(&path(file))
    }

    fn logical(text: &str) -> LogicalPath {
        LogicalPath::of_directory(&path(text)).unwrap()
    }

    #[test]
    fn without_configuration_the_root_is_the_repository() {
        let role = |files: &[&str], file| role_in(files, &Settings::default(), file);
        assert_eq!(role(&["config/a/resource.yaml"], "config/a/resource.yaml"), Role::Resource(logical("config/a")));
        assert_eq!(role(&[], "resource.yaml"), Role::Documents, "the root is no resource");
        assert_eq!(role(&["a/b.yaml", "a/c/resource.json"], "a/b.yaml"), Role::LegacyResource(logical("a/b")));
        assert_eq!(role(&["a/b.yaml", "a/_/metadata.yaml"], "a/b.yaml"), Role::LegacyResource(logical("a/b")));
        assert_eq!(role(&["a/b.yaml", "a/c/d.yaml"], "a/b.yaml"), Role::Documents);
        assert_eq!(role(&[".x/b.yaml", ".x/_/metadata.yaml"], ".x/b.yaml"), Role::Documents);
        assert_eq!(role(&[], "a/b.txt"), Role::Other);
        assert_eq!(role(&[], "outcrop.yaml"), Role::Configuration);
        assert_eq!(role(&[], "sub/outcrop.yaml"), Role::Documents);
    }

    #[test]
    fn layers_are_layers_only_where_they_speak_for_something() {
        let role = |files: &[&str], file| role_in(files, &Settings::default(), file);
        assert_eq!(role(&[], "a/_/metadata.yaml"), Role::Layer);
        assert_eq!(role(&[], "a/_/b/_/patches.json"), Role::Layer);
        assert_eq!(role(&["a/resource.json"], "a/metadata.yaml"), Role::Layer);
        assert_eq!(role(&["x/a.json", "x/_/metadata.json"], "x/a/metadata.yaml"), Role::Layer);
        assert_eq!(role(&["chart/x.yaml"], "chart/metadata.yaml"), Role::Documents);
    }

    #[test]
    fn metadata_with_a_root_of_its_own_stands_nowhere_else() {
        let settings = Settings { metadata_root: Some(path("meta")), ..Settings::default() };
        let role = |file| role_in(&["a/resource.yaml"], &settings, file);
        assert_eq!(role("meta/a/metadata.yaml"), Role::Layer);
        assert_eq!(role("meta/_/patches.yaml"), Role::Layer);
        assert_eq!(role("a/metadata.yaml"), Role::Documents);
        assert_eq!(role("a/_/metadata.yaml"), Role::Documents);
        assert_eq!(role("a/resource.yaml"), Role::Resource(logical("a")));
    }

    #[test]
    fn declared_roots_cut_the_logical_path_and_settle_the_layout() {
        let root = |text: &str, layout| crate::settings::Root { path: path(text), layout, format: Default::default() };
        let settings = Settings { roots: Roots::new(vec![root("config", Layout::Declarest)]), ..Settings::default() };
        let role = |file| role_in(&[], &settings, file);
        assert_eq!(role("config/a/resource.yaml"), Role::Resource(logical("a")));
        assert_eq!(role("config/a.yaml"), Role::Resource(logical("a")));
        assert_eq!(role("other/a.yaml"), Role::Documents);
        assert_eq!(role("other/a/resource.yaml"), Role::Documents);
    }
}
