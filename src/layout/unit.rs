//! Units: what is rendered as a whole, and what that gives.

use std::fmt;

use smol_str::SmolStr;

use super::Inputs;
use crate::finding::Finding;
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::sanitize;

/// Something that a layout renders as a whole. Units of two snapshots are the same if their keys are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unit {
    /// The name of the layout.
    pub layout: SmolStr,
    /// What the unit is called within its layout.
    pub key: SmolStr,
}

impl fmt::Display for Unit {
    /// One line, safe to print: `kustomize apps/web`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", sanitize::inline(&self.layout), sanitize::inline(&self.key))
    }
}

/// What rendering a unit gives.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// Its resources; their values know where they come from.
    pub resources: Vec<Resource>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Whether it could not be rendered, so that its resources are not known.
    pub is_broken: bool,
    /// Files that it shows, so that they are not shown on their own.
    pub shows: Vec<RepoPath>,
    /// What it depends on; noted while it is rendered.
    pub inputs: Inputs,
}
