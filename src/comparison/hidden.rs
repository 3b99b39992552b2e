//! The secrets that a run hides in resources. Findings and texts must not quote them either.

use std::collections::BTreeSet;

use crate::path::RepoPath;
use crate::value::Secret;

/// The secrets that were hidden, and the files they came from.
#[derive(Default)]
pub(super) struct HiddenSecrets {
    /// The secrets themselves.
    pub(super) secrets: Vec<Secret>,
    /// Files that resources with secrets include.
    sources: BTreeSet<RepoPath>,
}

impl HiddenSecrets {
    /// Adds the secrets of a resource, and the files that it includes.
    pub(super) fn add(&mut self, secrets: Vec<Secret>, sources: impl IntoIterator<Item = RepoPath>) {
        self.secrets.extend(secrets);
        self.sources.extend(sources);
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.add(other.secrets, other.sources);
    }

    /// Whether a resource with secrets includes this file.
    pub(super) fn is_source(&self, file: &RepoPath) -> bool {
        self.sources.contains(file)
    }

    /// Whether a text contains one of the secrets.
    pub(super) fn are_in(&self, text: &str) -> bool {
        self.secrets.iter().flat_map(Secret::forms).any(|form| form.len() >= LONG_ENOUGH && text.contains(&form))
    }
}

/// Shorter secrets are in many texts by chance.
const LONG_ENOUGH: usize = 8;
