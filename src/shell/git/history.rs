//! What hooks, CI and diff programs ask about history: a commit's parents, the last commits, and what a remote already has.

use gix::objs::CommitRefIter;
use smol_str::format_smolstr;

use super::Repository;
use super::error::GitError;
use super::objects::{from_gix, to_gix};
use super::revision::Tree;
use crate::snapshot::ObjectId;

impl Repository {
    /// The parents a commit names, whether or not they are in this clone; none if it is not a commit.
    pub fn parents(&self, tree: &Tree) -> Result<Vec<ObjectId>, GitError> {
        let Some(commit) = tree.commit else { return Ok(Vec::new()) };
        let (_, bytes) =
            self.objects.any(to_gix(commit)).map_err(|error| self.missing(&tree.label, to_gix(commit), &error))?;
        let parents = CommitRefIter::from_bytes(&bytes, to_gix(commit).kind()).parent_ids();
        Ok(parents.filter_map(|id| from_gix(&id)).collect())
    }

    /// The tree of a commit's first parent; an empty tree if it is the first commit.
    pub fn first_parent(&self, tree: &Tree) -> Result<Tree, GitError> {
        match self.parents(tree)?.first() {
            None => Ok(self.nothing()),
            Some(id) => Ok(Tree { label: format_smolstr!("{}^", tree.label), ..self.resolve(&id.to_string())? }),
        }
    }

    /// The commits that HEAD was made from, itself included, the nearest first, at most so many.
    pub fn recent_commits(&self, most: usize) -> Vec<Tree> {
        let Ok(Tree { commit: Some(head), .. }) = self.head() else { return Vec::new() };
        let ids: Vec<String> = self.objects.with(|repository, _| {
            let walk = repository.rev_walk([to_gix(head)]).all();
            let commits = walk.into_iter().flatten().filter_map(Result::ok);
            commits.take(most).map(|commit| commit.id.to_string()).collect()
        });
        ids.iter().filter_map(|id| self.resolve(id).ok()).collect()
    }

    /// When a commit was made, in seconds since 1970, as its committer says.
    pub fn committed_on(&self, commit: ObjectId) -> Option<i64> {
        let (_, bytes) = self.objects.any(to_gix(commit)).ok()?;
        let committer = CommitRefIter::from_bytes(&bytes, to_gix(commit).kind()).committer().ok()?;
        Some(committer.time().ok()?.seconds)
    }

    /// The best common ancestor of a commit and of everything that was last seen on a remote, if there is one.
    pub fn base_on_remote(&self, tip: &Tree, remote: &str) -> Option<Tree> {
        let tip = to_gix(tip.commit?);
        let base = self.objects.with(|repository, _| {
            let prefix = format!("refs/remotes/{remote}/");
            let references = repository.references().ok()?;
            // A push to a bare URL has no such references, and no name that could be looked for.
            let seen = references.prefixed(prefix.as_str()).ok()?.filter_map(Result::ok);
            let mut seen: Vec<gix::ObjectId> =
                seen.filter_map(|mut reference| Some(reference.peel_to_id().ok()?.detach())).collect();
            seen.sort_unstable();
            seen.dedup();
            // Without others, a commit would be its own base, and everything would seem to be there already.
            if seen.is_empty() {
                return None;
            }
            let bases = repository.merge_bases_many(tip, &seen).ok()?;
            bases.first().map(|base| base.detach())
        });
        let base = base?;
        let label = format_smolstr!("merge base {}", self.objects.abbreviated(base));
        Some(Tree { label, ..self.resolve(&base.to_string()).ok()? })
    }
}
