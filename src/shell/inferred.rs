//! Which revisions the files come from that git passes to a diff program: git names objects, not revisions.

use super::environment;
use super::git::{GitSnapshot, Repository, Revision, RevisionPair, Tree};
use crate::limits::Budget;
use crate::path::RepoPath;
use crate::snapshot::{EntryKind, ObjectId, Snapshot};

/// What is known of a file on one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// The side does not have the file.
    Absent,
    /// The object with the content.
    Object(ObjectId),
    /// The file of the working tree, whose object is not known.
    OnDisk,
}

/// A file as it is known on both sides.
#[derive(Debug, Clone)]
pub(super) struct KnownFile {
    pub(super) before: (RepoPath, Known),
    pub(super) after: (RepoPath, Known),
}

/// How many commits of the history are searched.
const MOST_COMMITS: usize = 300;

/// The first pair of revisions in which every file is what it is known to be. A file often is the same in many revisions, so this is
/// an assumption, and is reported as one.
pub(super) fn revisions(repository: &Repository, files: &[KnownFile]) -> Option<RevisionPair> {
    let fits = |pair: &RevisionPair| {
        let is_in = |revision: &Revision, side: fn(&KnownFile) -> &(RepoPath, Known)| {
            let snapshot = repository.snapshot(revision, &Budget::default());
            snapshot.is_ok_and(|snapshot| files.iter().all(|file| has(&snapshot, side(file))))
        };
        is_in(&pair.before, |file| &file.before) && is_in(&pair.after, |file| &file.after)
    };
    if files.is_empty() {
        return None;
    }
    let likely = given(repository).into_iter().chain(near_head(repository));
    likely.into_iter().find(fits).or_else(|| in_history(repository).find(fits))
}

fn has(snapshot: &GitSnapshot, (path, known): &(RepoPath, Known)) -> bool {
    let is_on_disk = matches!(snapshot, GitSnapshot::Worktree(_));
    let entry = snapshot.entry(path).ok().flatten().filter(|entry| entry.kind != EntryKind::Directory);
    match (known, entry) {
        (Known::Absent, entry) => entry.is_none(),
        (_, None) => false,
        (Known::OnDisk, Some(_)) => is_on_disk,
        (Known::Object(id), Some(entry)) => entry.id == Some(*id),
    }
}

/// What the user says in `OUTCROP_OLD_REV` and `OUTCROP_NEW_REV`.
fn given(repository: &Repository) -> Option<RevisionPair> {
    let revision = |name| repository.resolve(&environment::text(name).ok().flatten()?).ok().map(Revision::Tree);
    let before = revision("OUTCROP_OLD_REV")?;
    Some(RevisionPair { before, after: revision("OUTCROP_NEW_REV").unwrap_or(Revision::Worktree) })
}

/// What people compare most: what is not staged, what is staged, both, and what differs from where a branch came from.
fn near_head(repository: &Repository) -> Vec<RevisionPair> {
    let Ok(head) = repository.head() else { return Vec::new() };
    let tree = |tree: &Tree| Revision::Tree(tree.clone());
    let mut pairs = Vec::new();
    if repository.root().is_some() {
        pairs.push((Revision::Index, Revision::Worktree));
        pairs.push((tree(&head), Revision::Index));
        pairs.push((tree(&head), Revision::Worktree));
    }
    let others = ["@{upstream}", "ORIG_HEAD", "MERGE_HEAD"];
    for other in others.iter().filter_map(|name| repository.resolve(name).ok()) {
        let base = repository.merge_base(&other, &head).ok();
        for other in std::iter::once(other).chain(base) {
            pairs.push((tree(&other), tree(&head)));
            if repository.root().is_some() {
                pairs.push((tree(&other), Revision::Worktree));
                pairs.push((tree(&other), Revision::Index));
            }
        }
    }
    pairs.into_iter().map(|(before, after)| RevisionPair { before, after }).collect()
}

/// Each of the last commits with its first parent, as `git log -p` and `git show` compare them.
fn in_history(repository: &Repository) -> impl Iterator<Item = RevisionPair> {
    repository.recent_commits(MOST_COMMITS).into_iter().filter_map(|commit| {
        let before = repository.first_parent(&commit).ok()?;
        Some(RevisionPair { before: Revision::Tree(before), after: Revision::Tree(commit) })
    })
}
