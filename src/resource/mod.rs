//! Resources: documents with an identity that survives moves between files.

mod load;
mod query;
mod unit;

use std::borrow::Cow;
use std::fmt;

use smol_str::SmolStr;

pub use load::{Content, Parsed, kubernetes_name, parse, parse_both, parse_some};
pub use query::KubernetesQuery;
pub use unit::Unit;

use crate::glob::{Pattern, is_glob};
use crate::names;
use crate::path::{LogicalPath, RepoPath};
use crate::sanitize;
use crate::value::Node;

/// A document with an identity.
#[derive(Debug, Clone)]
pub struct Resource {
    /// What makes it the same resource on both sides, whichever file it is in.
    pub identity: Identity,
    /// The file that contains it.
    pub file: RepoPath,
    /// Which document of that file it is, from 0.
    pub position: usize,
    /// Its value.
    pub payload: Node,
    /// The unit that rendered it; `None` if it is written in its file as it is. Layers do not apply to what units render.
    pub unit: Option<Unit>,
}

impl Resource {
    /// Whether a unit of a layout renders it.
    pub fn is_rendered_by(&self, layout: &str) -> bool {
        self.unit.as_ref().is_some_and(|unit| unit.layout == layout)
    }

    /// The path by which layers and expressions refer to it, below its root. A Kubernetes document is found by the directory of its
    /// file, its kind and its name; a plain file by its own path, unless that has a hidden directory in it.
    pub fn logical_path(&self, root: &RepoPath) -> Option<LogicalPath> {
        let below = |path: &RepoPath| LogicalPath::of_directory(&path.below(root)?);
        match &self.identity {
            _ if self.unit.is_some() || self.is_selector() => None,
            Identity::Logical(path) => Some(path.clone()),
            Identity::Kubernetes(name) => {
                let segment = format!("{}.{}", name.kind, name.name);
                Some(below(&self.file.parent()?)?.child(&without_globs(&segment)))
            }
            Identity::File { path, .. } if path.is_hidden() => None,
            Identity::File { path, position: None } => below(path),
            Identity::File { path, position: Some(position) } => {
                let name = format!("{}#{}", std::str::from_utf8(path.file_name()).ok()?, position + 1);
                Some(below(&path.parent()?)?.child(&name))
            }
        }
    }

    /// Where people look for it: in the unit that renders it, or in its file.
    pub fn home(&self) -> Home<'_> {
        self.unit.as_ref().map_or(Home::File(&self.file), Home::Unit)
    }

    /// Whether it is something that requests are made for: a plain file is only itself.
    pub fn is_managed(&self) -> bool {
        !matches!(self.identity, Identity::File { .. }) && !self.is_selector()
    }

    /// Whether it is the effective metadata of a selector, and no resource: what a repository of layers alone consists of.
    pub fn is_selector(&self) -> bool {
        matches!(self.identity, Identity::Logical(_)) && names::is_metadata_file(self.file.file_name())
    }

    /// Whether a pattern of files or logical paths covers the resource; a directory covers everything in it.
    pub fn is_within(&self, pattern: &Pattern) -> bool {
        let covers = |path: &str| {
            let components: Vec<&str> = path.split('/').filter(|component| !component.is_empty()).collect();
            pattern.covers(&components)
        };
        self.file.to_str().is_some_and(covers)
            || matches!(&self.identity, Identity::Logical(path) if covers(path.as_str()))
    }
}

/// Where people look for a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Home<'a> {
    /// A file that it is written in.
    File(&'a RepoPath),
    /// A unit that renders it.
    Unit(&'a Unit),
}

impl fmt::Display for Home<'_> {
    /// One line, safe to print: the path of the file, or the key of the unit.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.fmt(f),
            Self::Unit(unit) if unit.key.is_empty() => f.write_str("."),
            Self::Unit(unit) => f.write_str(&sanitize::inline(&unit.key)),
        }
    }
}

/// A name as a segment of a path that no selector is: `*`, `?` and `[` are escaped as in URLs.
fn without_globs(name: &str) -> Cow<'_, str> {
    if !is_glob(name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.replace('*', "%2A").replace('?', "%3F").replace('[', "%5B"))
}

/// What makes two documents on two sides the same resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Identity {
    /// `<logical-path>/resource.*`: named by the directory.
    Logical(LogicalPath),
    /// A Kubernetes document: named by what the API server would call it.
    Kubernetes(KubernetesName),
    /// Any other document: named by its file, and by its place there if the file holds several.
    File {
        /// The file.
        path: RepoPath,
        /// The place among the file's documents, unless it is the only one.
        position: Option<usize>,
    },
}

impl Identity {
    /// Whether both mean the same resource. The place among the documents of a file is a number, not a name.
    pub fn is_namesake(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { path: this, .. }, Self::File { path: that, .. }) => this == that,
            _ => self == other,
        }
    }
}

/// Group, kind, namespace and name. The version is left out: a new API version is a change of a resource, not a new resource.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KubernetesName {
    /// The API group; empty for the core group.
    pub group: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// The namespace; empty if none is written.
    pub namespace: SmolStr,
    /// The name.
    pub name: SmolStr,
}

/// What a file was taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadAs {
    /// `<logical-path>/resource.*` or its legacy form.
    Resource,
    /// Documents of Kubernetes.
    Kubernetes,
    /// Metadata or patches that apply to resources.
    Layer,
    /// `outcrop.yaml`.
    Configuration,
    /// Documents of Unfurl.
    Unfurl,
    /// Other YAML or JSON, named by its file.
    Plain,
}

impl ReadAs {
    /// As people read it, for one file or many.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Resource => "resources by directory",
            Self::Kubernetes => "Kubernetes documents",
            Self::Layer => "layers",
            Self::Configuration => "outcrop.yaml",
            Self::Unfurl => "documents of Unfurl",
            Self::Plain => "plain YAML or JSON",
        }
    }
}

/// A file that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Skipped {
    /// Which.
    pub path: RepoPath,
    /// Why.
    pub reason: SkipReason,
}

/// Why a file was not read. None of these is trouble: the file is simply not configuration we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// Neither YAML nor JSON, by its name.
    OtherFormat,
    /// A template of another tool: it becomes YAML only after that tool has run.
    ForeignTemplate,
    /// JSON with comments, which JSON does not have.
    JsonWithComments,
    /// Holds NUL bytes.
    Binary,
    /// A pointer to a file kept by Git LFS.
    LfsPointer,
    /// A symbolic link.
    Symlink,
    /// A submodule.
    Submodule,
}

impl SkipReason {
    /// As people read it, for one file or many.
    pub fn describe(self) -> &'static str {
        match self {
            Self::OtherFormat => "other formats",
            Self::ForeignTemplate => "templates of another tool",
            Self::JsonWithComments => "JSON with comments",
            Self::Binary => "binary",
            Self::LfsPointer => "Git LFS pointers",
            Self::Symlink => "symbolic links",
            Self::Submodule => "submodules",
        }
    }
}

impl fmt::Display for Identity {
    /// One line, safe to print: `/customers/acme`, `Deployment shop/web`, `config/app.yaml#2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Logical(path) => path.fmt(f),
            Self::Kubernetes(name) => name.fmt(f),
            Self::File { path, position: None } => path.fmt(f),
            Self::File { path, position: Some(position) } => write!(f, "{path}#{}", position + 1),
        }
    }
}

impl fmt::Display for KubernetesName {
    /// `Deployment shop/web`, with the group where the kind is not a well-known one: `Widget.example.com web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&sanitize::inline(&self.kind))?;
        if self.group.contains('.') && !self.group.ends_with(".k8s.io") {
            write!(f, ".{}", sanitize::inline(&self.group))?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", sanitize::inline(&self.namespace))?;
        }
        f.write_str(&sanitize::inline(&self.name))
    }
}
