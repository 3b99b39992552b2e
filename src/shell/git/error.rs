//! What can go wrong between the command line and two snapshots: what, where, and what to do.

use std::path::PathBuf;

use crate::sanitize;

/// Why a repository, a revision or an index cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// There is no repository here or above.
    #[error("{} is not in a git repository", directory.display())]
    NotARepository {
        /// Where the search began, or what `GIT_DIR` says.
        directory: PathBuf,
    },
    /// There is one, but it cannot be opened.
    #[error("the git repository of {} cannot be opened: {cause}", directory.display())]
    Open {
        /// Where the search began.
        directory: PathBuf,
        /// Why not.
        cause: String,
    },
    /// The working tree or the index is asked for where there is none.
    #[error("a bare repository has no {what} to compare")]
    Bare {
        /// What is asked for.
        what: &'static str,
    },
    /// An unknown revision.
    #[error("{word} is not a revision")]
    UnknownRevision {
        /// As it was written.
        word: String,
        /// The reason.
        cause: String,
        /// What to do.
        help: String,
    },
    /// A word that is neither a revision nor a path.
    #[error("{word} is neither a revision nor a path in the working tree")]
    NeitherRevisionNorPath {
        /// As it was written.
        word: String,
        /// What to do.
        help: String,
    },
    /// A word that is both a revision and a path.
    #[error("{word} is both a revision and a path")]
    BothRevisionAndPath {
        /// As it was written.
        word: String,
    },
    /// A short id that fits several objects.
    #[error("the short id {word} is ambiguous: {}", candidates.join(", "))]
    AmbiguousId {
        /// As it was written.
        word: String,
        /// What it fits.
        candidates: Vec<String>,
    },
    /// A revision that begins with a dash.
    #[error("{word} looks like an option, not like a revision")]
    LooksLikeAnOption {
        /// As it was written.
        word: String,
    },
    /// A revision that is a file, not a tree of files.
    #[error("{word} is a {kind}, which contains no files to compare")]
    NotATree {
        /// As it was written.
        word: String,
        /// What it is.
        kind: String,
    },
    /// A merge base needs commits.
    #[error("{word} is not a commit, so it has no merge base with anything")]
    NotACommit {
        /// As it was written.
        word: String,
    },
    /// Revisions that cannot be compared in this combination.
    #[error("{problem}")]
    Combination {
        /// What is wrong with them.
        problem: String,
    },
    /// Two commits without a common ancestor.
    #[error("{ours} and {theirs} have no common ancestor")]
    NoMergeBase {
        /// The one.
        ours: String,
        /// The other.
        theirs: String,
        /// What to do.
        help: String,
    },
    /// The branch has no commit yet.
    #[error("{word} has no commit yet")]
    Unborn {
        /// As it was written.
        word: String,
    },
    /// Names are stored in a way that cannot be read.
    #[error("{word} cannot be resolved: this repository stores its references in the reftable format")]
    Reftable {
        /// As it was written.
        word: String,
    },
    /// An object that a revision needs is missing or damaged.
    #[error("object {id} cannot be read: {cause}")]
    Object {
        /// As it was written.
        word: String,
        /// Which object.
        id: String,
        /// What is wrong with it.
        cause: String,
        /// What to do.
        help: String,
    },
    /// The index cannot be read.
    #[error("the index {} cannot be read: {cause}", path.display())]
    Index {
        /// Where it is.
        path: PathBuf,
        /// Why not.
        cause: String,
    },
}

impl GitError {
    /// The way out.
    pub fn help(&self) -> String {
        let help = match self {
            Self::NotARepository { .. } => {
                "run it inside a git repository, or compare two files or directories with `outcrop diff --no-index OLD NEW`"
            }
            Self::Open { .. } => "run `git status` in the same directory to see git's own error",
            Self::Bare { .. } => "name two revisions, for instance `HEAD~1 HEAD`",
            Self::AmbiguousId { .. } => "write more digits of the id",
            Self::NotATree { .. } => "name a commit, a tag or a tree, and the file after `--`",
            Self::NotACommit { .. } => "`A..B` compares two trees without a merge base",
            Self::Combination { .. } => {
                "revisions are given as to `git diff`: none, `REV`, `A B`, `A..B`, `A...B`; with `--staged` at most one"
            }
            Self::Unborn { .. } => "before the first commit, `--staged` compares the index with nothing",
            Self::Index { .. } => {
                "if git can still read it, `git update-index --force-write-index` writes it anew; \
                 if not, `git reset` rebuilds it from HEAD"
            }
            Self::BothRevisionAndPath { word } => {
                return format!("write `{word} --` for the revision, or `-- {word}` for the path");
            }
            Self::LooksLikeAnOption { word } => {
                return format!("write `refs/heads/{word}` for a branch of that name, or `-- {word}` for a path");
            }
            Self::Reftable { word } => {
                return format!("name commits by their full id; `git rev-parse {word}` prints it");
            }
            Self::UnknownRevision { help, .. }
            | Self::NeitherRevisionNorPath { help, .. }
            | Self::NoMergeBase { help, .. }
            | Self::Object { help, .. } => help,
        };
        help.to_owned()
    }
}

/// The innermost of an error's causes: the outer ones speak of how gix is built.
pub(super) fn cause(error: &gix::Error) -> String {
    let last = error.iter_errors().last().map_or_else(|| error.to_string(), ToString::to_string);
    sanitize::inline(&last).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_has_a_way_out() {
        let word = || "x".to_owned();
        for error in [
            GitError::NotARepository { directory: PathBuf::from("/tmp") },
            GitError::Bare { what: "index" },
            GitError::LooksLikeAnOption { word: word() },
            GitError::Unborn { word: word() },
            GitError::Reftable { word: word() },
        ] {
            assert!(!error.help().is_empty() && !error.to_string().ends_with('.'), "{error}");
        }
    }
}
