//! What a file is, by its place: a resource named by its path, a layer, the configuration, or documents that name themselves.

use crate::memo::Memo;
use crate::names::{self, Format};
use crate::path::{LogicalPath, RepoPath};
use crate::settings::{RootLayout, Roots, Settings};
use crate::snapshot::{EntryKind, Snapshot};

/// What a file is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// `<logical-path>/resource.*`, or a legacy `<logical-path>.*` below a declared root.
    Resource(LogicalPath),
    /// A legacy `<logical-path>.*` beside resource directories; a Kubernetes document in it has its own name.
    LegacyResource(LogicalPath),
    /// `metadata.*` or `patches.*` that applies to resources.
    Layer,
    /// `outcrop.yaml` at the root.
    Configuration,
    /// Any other YAML or JSON file.
    Documents,
    /// Not YAML or JSON by its name.
    Other,
}

impl Role {
    /// Whether the file is written for outcrop: then it must be readable, and "a template of another tool" is no excuse.
    pub fn is_ours(&self) -> bool {
        matches!(self, Self::Resource(_) | Self::Layer | Self::Configuration)
    }
}

/// The roles of the files of one snapshot, with a cache of what had to be looked up.
pub struct Roles<'a> {
    snapshot: &'a dyn Snapshot,
    roots: &'a Roots,
    metadata_root: Option<&'a RepoPath>,
    overlay: Option<&'a RepoPath>,
    openapi: Option<&'a RepoPath>,
    declarative: Memo<RepoPath, bool>,
}

impl<'a> Roles<'a> {
    /// Roles under these settings.
    pub fn new(snapshot: &'a dyn Snapshot, settings: &'a Settings) -> Self {
        let (roots, metadata_root) = (&settings.roots, settings.metadata_root.as_ref());
        let (overlay, openapi) = (settings.metadata_overlay.as_ref(), settings.openapi.as_ref());
        Self { snapshot, roots, metadata_root, overlay, openapi, declarative: Memo::default() }
    }

    /// What the file at this path is.
    pub fn role(&self, path: &RepoPath) -> Role {
        self.role_of_content(path, false)
    }

    /// What the file at this path is; a file that holds only Kubernetes documents is never a legacy resource, which saves the
    /// look at its directory.
    pub fn role_of_content(&self, path: &RepoPath, is_kubernetes: bool) -> Role {
        if Format::of_file_name(path.file_name()).is_none() {
            return self.raw_resource(path).map_or(Role::Other, Role::Resource);
        }
        if path.as_bytes() == names::CONFIGURATION.as_bytes() {
            return Role::Configuration;
        }
        if self.openapi == Some(path) {
            return Role::Documents;
        }
        let Some((stem, _)) = path.stem_and_extension() else { return Role::Documents };
        let directory = path.parent().unwrap_or_default();
        let is_below_wildcard = directory.components().any(|component| component == names::WILDCARD.as_bytes());
        match stem {
            names::RESOURCE if !is_below_wildcard => {
                self.logical_path(&directory).map_or(Role::Documents, |(logical, _)| Role::Resource(logical))
            }
            names::METADATA | names::PATCHES
                if self.metadata_root.is_some_and(|root| !directory.is_within(root))
                    && self.overlay.is_none_or(|overlay| !directory.is_within(overlay)) =>
            {
                Role::Documents
            }
            names::METADATA | names::PATCHES if self.metadata_root.is_some() => Role::Layer,
            names::METADATA | names::PATCHES if is_below_wildcard || self.applies_to_a_resource(&directory) => {
                Role::Layer
            }
            stem if names::is_defaults_stem(stem) && self.applies_to_a_resource(&directory) => Role::Documents,
            _ if is_below_wildcard || directory.is_hidden() || path.as_bytes() == names::BUNDLE.as_bytes() => {
                Role::Documents
            }
            _ => self.legacy(path, stem, &directory, is_kubernetes),
        }
    }

    /// The path of a resource in a file that is neither YAML nor JSON: `<logical-path>/resource.<ext>` where resources are declared, or
    /// where a layer may apply.
    fn raw_resource(&self, path: &RepoPath) -> Option<LogicalPath> {
        if !names::is_resource_file(path.file_name()) {
            return None;
        }
        let directory = path.parent()?;
        if directory.is_hidden() || directory.components().any(|name| name == names::WILDCARD.as_bytes()) {
            return None;
        }
        let (logical, layout) = self.logical_path(&directory)?;
        let has_wildcard = |directory: &RepoPath| {
            let marker = directory.join(names::WILDCARD.as_bytes());
            marker.is_ok_and(
                |marker| matches!(self.snapshot.entry(&marker), Ok(Some(entry)) if entry.kind == EntryKind::Directory),
            )
        };
        let mut above = std::iter::successors(directory.parent(), RepoPath::parent);
        (layout == RootLayout::Declarest || above.any(|directory| has_wildcard(&directory))).then_some(logical)
    }

    fn legacy(&self, path: &RepoPath, stem: &str, directory: &RepoPath, is_kubernetes: bool) -> Role {
        if path.to_str().is_none() {
            return Role::Documents;
        }
        let Ok(resource_directory) = directory.join(stem.as_bytes()) else { return Role::Documents };
        match self.logical_path(&resource_directory) {
            Some((logical, RootLayout::Declarest)) => Role::Resource(logical),
            Some((logical, RootLayout::Detect)) if !is_kubernetes && self.is_declarative(directory) => {
                Role::LegacyResource(logical)
            }
            _ => Role::Documents,
        }
    }

    /// The logical path of a resource directory, and the layout of its root. A root itself is no resource.
    fn logical_path(&self, directory: &RepoPath) -> Option<(LogicalPath, RootLayout)> {
        let root = self.roots.around(directory)?;
        let below = directory.below(&root.path).filter(|below| !below.is_root())?;
        Some((LogicalPath::of_directory(&below)?, root.layout))
    }

    /// Whether a directory's `metadata.*` is a layer: the directory holds a resource, or is beside a legacy file of its name.
    fn applies_to_a_resource(&self, directory: &RepoPath) -> bool {
        let Some(parent) = directory.parent() else { return false };
        self.holds_a_resource(directory)
            || names::EXTENSIONS.iter().any(|extension| {
                let name = [directory.file_name(), b".", extension.as_bytes()].concat();
                parent.join(&name).is_ok_and(|legacy| self.is_file(&legacy) && self.is_declarative(&parent))
            })
            || self.logical_path(directory).is_some_and(|(_, layout)| layout == RootLayout::Declarest)
    }

    /// Whether a directory belongs to a tree of the declarative layout: it holds `_` or a resource directory.
    pub fn is_declarative(&self, directory: &RepoPath) -> bool {
        self.declarative.get(directory, || {
            let members = self.snapshot.listing(directory);
            let mut directories = members.entries.iter().filter(|member| member.kind == EntryKind::Directory);
            directories.any(|member| {
                member.path.file_name() == names::WILDCARD.as_bytes() || self.holds_a_resource(&member.path)
            })
        })
    }

    fn holds_a_resource(&self, directory: &RepoPath) -> bool {
        names::each_with_stem(names::RESOURCE)
            .any(|name| directory.join(name.as_bytes()).is_ok_and(|file| self.is_file(&file)))
    }

    fn is_file(&self, path: &RepoPath) -> bool {
        matches!(self.snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::File)
    }
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
        Roles::new(&snapshot, settings).role(&path(file))
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
    fn layers_are_layers_only_where_they_apply_to_something() {
        let role = |files: &[&str], file| role_in(files, &Settings::default(), file);
        assert_eq!(role(&[], "a/_/metadata.yaml"), Role::Layer);
        assert_eq!(role(&[], "a/_/b/_/patches.json"), Role::Layer);
        assert_eq!(role(&["a/resource.json"], "a/metadata.yaml"), Role::Layer);
        assert_eq!(role(&["x/a.json", "x/_/metadata.json"], "x/a/metadata.yaml"), Role::Layer);
        assert_eq!(role(&["chart/x.yaml"], "chart/metadata.yaml"), Role::Documents);
    }

    #[test]
    fn metadata_with_a_root_of_its_own_is_nowhere_else() {
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
        let settings =
            Settings { roots: Roots::new(vec![root("config", RootLayout::Declarest)]), ..Settings::default() };
        let role = |file| role_in(&[], &settings, file);
        assert_eq!(role("config/a/resource.yaml"), Role::Resource(logical("a")));
        assert_eq!(role("config/a.yaml"), Role::Resource(logical("a")));
        assert_eq!(role("other/a.yaml"), Role::Documents);
        assert_eq!(role("other/a/resource.yaml"), Role::Documents);
    }
}
