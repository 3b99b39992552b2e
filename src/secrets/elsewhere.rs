//! What other snapshots say about files that are seen without anything around them.

use std::collections::BTreeSet;

use super::TemplateInputs;
use crate::metadata::SecretAttributes;
use crate::path::RepoPath;
use crate::value::Secret;

/// What is known about files from the repository they belong to.
#[derive(Debug, Clone, Default)]
pub struct DeclaredElsewhere {
    /// Attributes that are secret in all of these files.
    pub attributes: SecretAttributes,
    /// Files that become part of a Secret there.
    pub secret_files: BTreeSet<RepoPath>,
    /// Values that were secret there before and are no more, and values that tools put into Secrets there.
    pub moved: Vec<Secret>,
    /// What templates there put into Secrets.
    pub inputs: TemplateInputs,
    /// Whether it is not known where the files belong, so that rules for some places may apply too.
    pub is_anywhere: bool,
}
