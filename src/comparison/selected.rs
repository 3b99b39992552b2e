//! Which resources a comparison shows.

use smol_str::SmolStr;

use crate::diff::ResourceChange;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};

/// Resources to show; everything if nothing is chosen.
#[derive(Debug, Default, Clone)]
pub struct SelectedResources {
    /// Kinds of Kubernetes resources, without regard to case.
    pub kinds: Vec<SmolStr>,
    /// Directories of files, and roots that are rendered as a whole.
    pub roots: Vec<RepoPath>,
}

impl SelectedResources {
    /// Whether a resource is chosen, on either side.
    pub(super) fn has(&self, of: &ResourceChange) -> bool {
        let sides = || of.before.iter().chain(&of.after);
        let has_kind = self.kinds.is_empty() || sides().any(|side| self.has_kind(side));
        has_kind && (self.roots.is_empty() || sides().any(|side| self.has_root(side)))
    }

    fn has_kind(&self, side: &Resource) -> bool {
        match &side.identity {
            Identity::Kubernetes(name) => {
                let whole = format!("{}.{}", name.kind, name.group);
                let is_meant =
                    |kind: &SmolStr| kind.eq_ignore_ascii_case(&name.kind) || kind.eq_ignore_ascii_case(&whole);
                self.kinds.iter().any(is_meant)
            }
            Identity::Logical(_) | Identity::File { .. } => false,
        }
    }

    fn has_root(&self, side: &Resource) -> bool {
        let place = match &side.unit {
            Some(unit) => RepoPath::new(unit.key.as_str()).unwrap_or_else(|_| side.file.clone()),
            None => side.file.clone(),
        };
        self.roots.iter().any(|root| place == *root || place.is_within(root))
    }

    /// What was chosen, in the words of the command line.
    pub(super) fn words(&self) -> Vec<SmolStr> {
        let kinds = self.kinds.iter().map(|kind| SmolStr::from(format!("--kind {kind}")));
        kinds.chain(self.roots.iter().map(|root| SmolStr::from(format!("--root {root}")))).collect()
    }
}
