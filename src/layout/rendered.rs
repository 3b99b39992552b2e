//! What rendering a unit gives.

use super::Inputs;
use crate::finding::Finding;
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::text::Span;

/// What rendering a unit gives.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// Its resources; their values know where they come from.
    pub resources: Vec<Resource>,
    /// What is known about contents that are not in the repository. It is compared, and it is no part of the output.
    pub opaque: Vec<Resource>,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
    /// Whether it could not be rendered, so that its resources are not known.
    pub is_broken: bool,
    /// Where it says that what it no longer holds is kept in the cluster, if it does.
    pub keeps_removed: Option<Span>,
    /// Whether that is because something is not in the repository, and not because something is wrong.
    pub is_missing: bool,
    /// Files whose changes are explained by those of the output, so that they are not shown beside it.
    pub explains: Vec<RepoPath>,
    /// Files that it shows, so that they are not shown on their own.
    pub shows: Vec<RepoPath>,
    /// What it depends on; noted while it is rendered.
    pub inputs: Inputs,
}
