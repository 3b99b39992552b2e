//! Revisions: names of commits and trees, resolved to what they stand for.

use gix::objs::{CommitRefIter, Kind, TagRefIter};
use smol_str::{SmolStr, format_smolstr};

use super::Repository;
use super::error::{GitError, cause};
use super::objects::{from_gix, to_gix};
use super::simple_revision::SimpleRevision;
use crate::sanitize;
use crate::snapshot::ObjectId;
use crate::suggest;

/// What is compared with what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevisionPair {
    /// The old side.
    pub before: Revision,
    /// The new side.
    pub after: Revision,
}

/// One side of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revision {
    /// A commit, a tag or a tree.
    Tree(Tree),
    /// What is staged.
    Index,
    /// What is on disk.
    Worktree,
}

/// A tree of the object database, and how it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// As people call it: `HEAD`, `main`, `3f9c2d1`, `merge base 3f9c2d1`. Safe to print.
    pub label: SmolStr,
    /// The commit, if it is one.
    pub commit: Option<ObjectId>,
    /// The tree itself.
    pub id: ObjectId,
}

impl Revision {
    /// As people call it.
    pub fn label(&self) -> &str {
        match self {
            Self::Tree(tree) => &tree.label,
            Self::Index => "index",
            Self::Worktree => "working tree",
        }
    }

    /// The commit, if it is one.
    pub fn commit(&self) -> Option<ObjectId> {
        match self {
            Self::Tree(tree) => tree.commit,
            Self::Index | Self::Worktree => None,
        }
    }
}

impl Repository {
    /// The object of a revision, in any of git's notations for one object.
    pub fn resolve(&self, word: &str) -> Result<Tree, GitError> {
        if word.starts_with('-') {
            return Err(GitError::LooksLikeAnOption { word: shown(word) });
        }
        if let Some(id) = SimpleRevision::read(word).and_then(|revision| revision.resolve(&self.objects)) {
            return self.peel(word, id);
        }
        let id = self.objects.with(|repository, _| {
            let id = parse(repository, word).or_else(|error| {
                local_upstream(repository, word).ok_or(error).and_then(|word| parse(repository, &word))
            });
            id.map_err(|error| self.explain(repository, word, &error))
        });
        self.peel(word, id?)
    }

    /// The current commit, or an empty tree if there is none yet.
    pub fn head(&self) -> Result<Tree, GitError> {
        let is_unborn = self.objects.with(|repository, _| is_unborn(repository));
        if is_unborn? { Ok(self.nothing()) } else { self.resolve("HEAD") }
    }

    /// A tree without files.
    pub fn nothing(&self) -> Tree {
        let hash = self.objects.with(|repository, _| repository.object_hash());
        let id = from_gix(&gix::ObjectId::empty_tree(hash)).expect("git's ids have 20 or 32 bytes");
        Tree { label: "empty tree".into(), commit: None, id }
    }

    /// The best common ancestor of two commits.
    pub fn merge_base(&self, ours: &Tree, theirs: &Tree) -> Result<Tree, GitError> {
        let commit = |tree: &Tree| {
            let word = || tree.label.to_string();
            tree.commit.map(to_gix).ok_or_else(|| GitError::NotACommit { word: word() })
        };
        let (one, two) = (commit(ours)?, commit(theirs)?);
        let base =
            self.objects.with(|repository, _| repository.merge_base(one, two).ok().flatten().map(gix::Id::detach));
        let base =
            base.ok_or_else(|| GitError::NoMergeBase {
                ours: ours.label.to_string(),
                theirs: theirs.label.to_string(),
                help: self.objects.gaps().help_for_history().unwrap_or_else(|| {
                    format!("`{}..{}` compares the two without a merge base", ours.label, theirs.label)
                }),
            })?;
        let tree = self.peel(&base.to_string(), base)?;
        Ok(Tree { label: format_smolstr!("merge base {}", self.objects.abbreviated(base)), ..tree })
    }

    /// The only parent of a commit; an empty tree if it is the first.
    pub(super) fn only_parent(&self, tree: &Tree) -> Result<Tree, GitError> {
        let word = &tree.label;
        let mut parents = self.parent_trees(tree)?.into_iter();
        match (parents.next(), parents.next()) {
            (None, _) => Ok(self.nothing()),
            (Some(parent), None) => Ok(parent),
            _ => Err(GitError::Combination {
                problem: format!(
                    "{word} is a merge, so `{word}^!` has several sides; `{word}^-` is the first parent's"
                ),
            }),
        }
    }

    /// The trees of a commit's parents, in order.
    pub(super) fn parent_trees(&self, tree: &Tree) -> Result<Vec<Tree>, GitError> {
        if tree.commit.is_none() {
            return Err(GitError::NotACommit { word: tree.label.to_string() });
        }
        let parent = |number: usize, id: ObjectId| {
            let suffix = if number == 1 { String::new() } else { number.to_string() };
            Ok(Tree { label: format_smolstr!("{}^{suffix}", tree.label), ..self.resolve(&id.to_string())? })
        };
        (1..).zip(self.parents(tree)?).map(|(number, id)| parent(number, id)).collect()
    }

    fn peel(&self, word: &str, id: gix::ObjectId) -> Result<Tree, GitError> {
        let hash = id.kind();
        let mut commit = None;
        let mut at = id;
        loop {
            let (kind, bytes) = self.objects.any(at).map_err(|error| self.missing(word, at, &error))?;
            let damaged = |error: gix::Error| self.missing(word, at, &error);
            at = match kind {
                Kind::Tree => break,
                Kind::Commit => {
                    commit = from_gix(&at);
                    // Whether the tree is there turns out when it is listed.
                    at = CommitRefIter::from_bytes(&bytes, hash).tree_id().map_err(damaged)?;
                    break;
                }
                Kind::Tag => TagRefIter::from_bytes(&bytes, hash).target_id().map_err(damaged)?,
                Kind::Blob => {
                    return Err(GitError::NotATree { word: shown(word), kind: "file".to_owned() });
                }
            };
        }
        let is_id = word.len() >= 7 && id.to_string().starts_with(&word.to_ascii_lowercase());
        let label = if is_id { self.objects.abbreviated(id) } else { shown(word).into() };
        let id = from_gix(&at).expect("git's ids have 20 or 32 bytes");
        Ok(Tree { label, commit, id })
    }

    pub(super) fn missing(&self, word: &str, id: gix::ObjectId, error: &gix::Error) -> GitError {
        let cause = if error.is_not_found() { "it is not in this repository".to_owned() } else { cause(error) };
        let help = self.objects.gaps().help_for(&id.to_string());
        GitError::Object { word: shown(word), id: id.to_string(), cause, help }
    }

    /// Why a word is not a revision, and what may be meant.
    fn explain(&self, repository: &gix::Repository, word: &str, error: &gix::Error) -> GitError {
        use gix::revision::spec::parse::Error;
        let shown = shown(word);
        let ambiguous = error.iter_errors().find_map(|error| match error.downcast_ref() {
            Some(Error::AmbiguousPrefix { candidates, .. }) => Some(candidates),
            _ => None,
        });
        if let Some(candidates) = ambiguous {
            let describe = |(id, info): &(gix::hash::Prefix, _)| sanitize::inline(&format!("{id} {info}")).into_owned();
            return GitError::AmbiguousId { word: shown, candidates: candidates.iter().map(describe).collect() };
        }
        if is_reftable(repository) {
            return GitError::Reftable { word: shown };
        }
        if matches!(word, "HEAD" | "@") && is_unborn(repository).unwrap_or(false) {
            return GitError::Unborn { word: shown };
        }
        let gaps = self.objects.gaps();
        let length = repository.object_hash().len_in_hex();
        if word.len() == length && word.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            let cause = "it is not in this repository".to_owned();
            return GitError::Object { word: shown, id: word.to_owned(), cause, help: gaps.help_for(word) };
        }
        let names = names(repository);
        let help = match suggest::nearest(word, names.iter().map(String::as_str)) {
            Some(name) => format!("did you mean `{}`?", sanitize::inline(name)),
            None => {
                gaps.help_for_history().unwrap_or_else(|| "`git branch --all` and `git tag` list all names".to_owned())
            }
        };
        GitError::UnknownRevision { word: shown, cause: cause(error), help }
    }
}

fn parse(repository: &gix::Repository, word: &str) -> Result<gix::ObjectId, gix::Error> {
    use gix::revision::spec::parse::{ObjectKindHint, Options};
    let options = Options { object_kind_hint: Some(ObjectKindHint::Treeish), ..Options::default() };
    let spec = gix::revision::Spec::from_bstr(word, repository, options)?;
    let several = || gix::error::message!("it is ambiguous").not_found_error();
    spec.single().map(gix::Id::detach).ok_or_else(several)
}

/// `@{u}` of a branch that follows another branch of the same repository, which gix does not know.
fn local_upstream(repository: &gix::Repository, word: &str) -> Option<String> {
    let (branch, suffix) = word.split_once("@{")?;
    let (kind, rest) = suffix.split_once('}')?;
    if !["u", "upstream"].iter().any(|name| kind.eq_ignore_ascii_case(name)) {
        return None;
    }
    let current = || repository.head_name().ok().flatten().map(|name| name.shorten().to_string());
    let branch = if matches!(branch, "" | "HEAD" | "@") { current()? } else { branch.to_owned() };
    let config = repository.config_snapshot();
    let value = |name: &str| config.string(format!("branch.{branch}.{name}").as_str());
    value("remote").filter(|remote| *remote == ".")?;
    Some(format!("{}{rest}", value("merge")?))
}

/// Whether the current branch has no commit. Where references cannot be read, HEAD only seems to be unborn.
fn is_unborn(repository: &gix::Repository) -> Result<bool, GitError> {
    if is_reftable(repository) {
        return Err(GitError::Reftable { word: "HEAD".to_owned() });
    }
    Ok(repository.head().is_ok_and(|head| head.is_unborn()))
}

pub(super) fn is_reftable(repository: &gix::Repository) -> bool {
    let storage = repository.config_snapshot().plumbing().string("extensions.refStorage");
    storage.is_some_and(|storage| storage.to_ascii_lowercase().starts_with(b"reftable"))
}

/// The short names of all references.
fn names(repository: &gix::Repository) -> Vec<String> {
    let Ok(references) = repository.references() else { return Vec::new() };
    let Ok(references) = references.all() else { return Vec::new() };
    references.filter_map(Result::ok).map(|reference| reference.name().shorten().to_string()).collect()
}

pub(super) fn shown(word: &str) -> String {
    sanitize::inline(word).into_owned()
}
