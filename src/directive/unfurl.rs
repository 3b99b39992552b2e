//! Documents of Unfurl: how they are recognised, and why the content of an include may not be in the repository.

use crate::path::RepoPath;
use crate::value::Node;

/// What a document of Unfurl is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnfurlRole {
    /// A deployment and what it consists of.
    Ensemble,
    /// What several ensembles share.
    Project,
    /// TOSCA: types and templates.
    ServiceTemplate,
}

impl UnfurlRole {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ensemble => "ensemble",
            Self::Project => "project",
            Self::ServiceTemplate => "service-template",
        }
    }
}

/// The name of the file that describes a project.
pub(super) const PROJECT: &str = "unfurl.yaml";

/// What a document is to Unfurl; nothing if it is something else.
pub fn unfurl_role(root: &Node, file: &RepoPath) -> Option<UnfurlRole> {
    let starts_with =
        |key: &str, start: &str| root.get(key).and_then(Node::as_str).is_some_and(|text| text.starts_with(start));
    root.as_map()?;
    if starts_with("apiVersion", "unfurl/") {
        let is_project = root.get("kind").and_then(Node::as_str) == Some("Project");
        return Some(if is_project { UnfurlRole::Project } else { UnfurlRole::Ensemble });
    }
    if starts_with("tosca_definitions_version", "tosca_") {
        return Some(UnfurlRole::ServiceTemplate);
    }
    (file.file_name() == PROJECT.as_bytes()).then_some(UnfurlRole::Project)
}

/// Why the content of an include is not in the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Elsewhere {
    /// It is in another repository, or at another revision.
    Repository,
    /// A program makes it.
    Python,
    /// It depends on the environment of a run, or on the network.
    Environment,
}
