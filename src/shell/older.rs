//! What a revision replaces: secrets that are declared there stay hidden.

use super::cli::Global;
use super::configuration;
use super::error::Failure;
use super::git::{Repository, Revision, Tree};
use crate::limits::Budget;
use crate::settings::Settings;
use crate::snapshot::Snapshot;
use crate::text::Sources;

/// Snapshots with their settings.
pub(super) type Older = Vec<(Box<dyn Snapshot>, Settings)>;

/// What a revision replaces.
pub(super) fn replaced_by(
    global: &Global,
    repository: &Repository,
    revision: &Revision,
    sources: &Sources,
) -> Result<Older, Failure> {
    match revision {
        Revision::Tree(tree) => than(global, repository, tree, sources),
        Revision::Index | Revision::Worktree => than_disk(global, repository, sources),
    }
}

/// The commit before a revision and the last commit, as far as they are there: what was declared before counts, and what is now.
pub(super) fn than(global: &Global, repository: &Repository, tree: &Tree, sources: &Sources) -> Result<Older, Failure> {
    let others = [repository.first_parent(tree).ok(), repository.head().ok()];
    let others = others.into_iter().flatten().filter(|other| other.commit.is_some() && other.id != tree.id);
    others.map(|other| with_settings(global, repository, other, sources)).collect()
}

/// The last commit and the one before it, as far as they are there: what is on disk may be the last one.
pub(super) fn than_disk(global: &Global, repository: &Repository, sources: &Sources) -> Result<Older, Failure> {
    let Ok(head) = repository.head() else { return Ok(Vec::new()) };
    let others = [repository.first_parent(&head).ok(), Some(head)];
    let others = others.into_iter().flatten().filter(|other| other.commit.is_some());
    others.map(|other| with_settings(global, repository, other, sources)).collect()
}

fn with_settings(
    global: &Global,
    repository: &Repository,
    tree: Tree,
    sources: &Sources,
) -> Result<(Box<dyn Snapshot>, Settings), Failure> {
    let snapshot = repository.snapshot(&Revision::Tree(tree), &Budget::default())?;
    let settings = configuration::beside(global, &snapshot, sources)?.after;
    Ok((Box::new(snapshot), settings))
}
