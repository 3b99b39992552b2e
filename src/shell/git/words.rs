//! The words of a command line as `git diff` reads them: revisions first, then paths.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use smol_str::format_smolstr;

use super::Repository;
use super::error::GitError;
use super::revision::{Revision, RevisionPair, Tree};
use crate::sanitize;

/// What the user wrote.
#[derive(Debug, Clone, Copy, Default)]
pub struct Words<'a> {
    /// Whether `--staged` or `--cached` is given.
    pub is_staged: bool,
    /// Whether `--merge-base` is given: the older side is the common ancestor of both.
    pub is_from_merge_base: bool,
    /// The words before `--`: revisions, then paths.
    pub arguments: &'a [OsString],
    /// The words after `--`, if there is one: paths.
    pub paths: Option<&'a [OsString]>,
}

/// What the user meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// Which sides to compare.
    pub comparison: RevisionPair,
    /// Path arguments for [`Scope::new`](crate::snapshot::Scope::new), relative to [`Repository::prefix`].
    pub paths: Vec<Vec<u8>>,
}

/// What one word before the paths can mean.
enum RevisionWord {
    /// `main`
    One(Tree),
    /// `^main`: the older side of the other revision.
    Excluded(Tree),
    /// `a..b`, `a...b`, `a^!`, `a^-`
    Two(Tree, Tree),
    /// `a^@`: all parents.
    Parents(Vec<Tree>),
}

impl Repository {
    /// Finds out what the words of a command line mean.
    pub fn select(&self, words: Words<'_>) -> Result<Selection, GitError> {
        let (sides, rest) = self.leading_revisions(words)?;
        let comparison = self.combine(words.is_staged, sides)?;
        let comparison = if words.is_from_merge_base { self.since_merge_base(comparison)? } else { comparison };
        self.check_bare(&comparison)?;
        let paths = rest.iter().chain(words.paths.unwrap_or_default()).map(|word| self.path_word(word)).collect();
        Ok(Selection { comparison, paths })
    }

    fn leading_revisions<'a>(&self, words: Words<'a>) -> Result<(Vec<RevisionWord>, &'a [OsString]), GitError> {
        let mut sides = Vec::new();
        for (at, word) in words.arguments.iter().enumerate() {
            match self.revision_word(word) {
                Ok(_) if words.paths.is_none() && self.exists(word) => {
                    return Err(GitError::BothRevisionAndPath { word: visible_word(word) });
                }
                Ok(RevisionWord::Parents(parents)) => sides.extend(parents.into_iter().map(RevisionWord::One)),
                Ok(side) => sides.push(side),
                Err(error) if words.paths.is_some() => return Err(error),
                Err(error) => {
                    let rest = &words.arguments[at..];
                    return match rest.iter().find(|word| !self.looks_like_path(word)) {
                        None => Ok((sides, rest)),
                        Some(wrong) => Err(neither(wrong, if wrong == word { Some(error) } else { None })),
                    };
                }
            }
        }
        Ok((sides, &[]))
    }

    fn revision_word(&self, word: &OsStr) -> Result<RevisionWord, GitError> {
        let Some(word) = word.to_str() else {
            let word = visible_word(word);
            return Err(GitError::UnknownRevision { word, cause: "it is not text".to_owned(), help: String::new() });
        };
        if let Some(word) = word.strip_prefix('^') {
            return self.resolve(word).map(RevisionWord::Excluded);
        }
        if let Some(word) = word.strip_suffix("^!") {
            let commit = self.resolve(word)?;
            return Ok(RevisionWord::Two(self.only_parent(&commit)?, commit));
        }
        if let Some(word) = word.strip_suffix("^@") {
            return self.parent_trees(&self.resolve(word)?).map(RevisionWord::Parents);
        }
        if let Some((word, parent)) = without_one_parent(word) {
            let commit = self.resolve(word)?;
            let label = format_smolstr!("{}^{}", commit.label, if parent == "1" { "" } else { parent });
            let parent = self.resolve(&format!("{word}^{parent}"))?;
            return Ok(RevisionWord::Two(Tree { label, ..parent }, commit));
        }
        // Dots may also belong to a name, as in `:/fix a..b`.
        match self.range(word) {
            Some(Err(error)) => self.resolve(word).map(RevisionWord::One).map_err(|_| error),
            Some(range) => range,
            None => self.resolve(word).map(RevisionWord::One),
        }
    }

    fn range(&self, word: &str) -> Option<Result<RevisionWord, GitError>> {
        let (left, right) = word.split_once("..")?;
        let (is_symmetric, right) = right.strip_prefix('.').map_or((false, right), |right| (true, right));
        if left.is_empty() && right.is_empty() && !is_symmetric {
            return None;
        }
        let or_head = |name: &str| self.resolve(if name.is_empty() { "HEAD" } else { name });
        let sides = || {
            let (left, right) = (or_head(left)?, or_head(right)?);
            let left = if is_symmetric { self.merge_base(&left, &right)? } else { left };
            Ok(RevisionWord::Two(left, right))
        };
        Some(sides())
    }

    fn combine(&self, is_staged: bool, sides: Vec<RevisionWord>) -> Result<RevisionPair, GitError> {
        use RevisionWord::{Excluded, One, Two};
        let wrong = |problem: &str| Err(GitError::Combination { problem: problem.to_owned() });
        let mut sides = sides.into_iter();
        let (before, after) = match (sides.next(), sides.next(), sides.next()) {
            (None, ..) if is_staged => (Revision::Tree(self.head()?), Revision::Index),
            (Some(One(tree)), None, _) if is_staged => (Revision::Tree(tree), Revision::Index),
            _ if is_staged => return wrong("`--staged` compares the index with one revision, not with several"),
            (None, ..) => (Revision::Index, Revision::Worktree),
            (Some(One(tree)), None, _) => (Revision::Tree(tree), Revision::Worktree),
            (Some(Excluded(_)), None, _) => {
                return wrong("`^REVISION` names the older side and needs a second revision");
            }
            (Some(Two(before, after)), None, _)
            | (Some(One(before) | Excluded(before)), Some(One(after)), None)
            | (Some(One(after)), Some(Excluded(before)), None) => (Revision::Tree(before), Revision::Tree(after)),
            (Some(One(_) | Excluded(_)), Some(One(_) | Excluded(_)), Some(_)) => {
                return wrong("only two revisions can be compared at a time");
            }
            _ => return wrong("a range cannot be combined with other revisions"),
        };
        Ok(RevisionPair { before, after })
    }

    /// Replaces the older side by the point where the newer one left it; the index and the working tree belong to `HEAD`.
    fn since_merge_base(&self, comparison: RevisionPair) -> Result<RevisionPair, GitError> {
        let RevisionPair { before: Revision::Tree(before), after } = comparison else {
            let problem = "`--merge-base` needs a revision to start from".to_owned();
            return Err(GitError::Combination { problem });
        };
        let before = match &after {
            Revision::Tree(after) => self.merge_base(&before, after)?,
            _ => self.merge_base(&before, &self.head()?)?,
        };
        Ok(RevisionPair { before: Revision::Tree(before), after })
    }

    fn check_bare(&self, comparison: &RevisionPair) -> Result<(), GitError> {
        match &comparison.after {
            Revision::Index if self.root().is_none() => Err(GitError::Bare { what: "index" }),
            Revision::Worktree if self.root().is_none() => Err(GitError::Bare { what: "working tree" }),
            _ => Ok(()),
        }
    }

    /// Whether a word, read as a path, names something on disk.
    fn exists(&self, word: &OsStr) -> bool {
        let bytes = word.as_encoded_bytes();
        let Some(root) = self.root() else { return false };
        let here = || self.prefix().to_str().map_or_else(|| root.to_owned(), |prefix| root.join(prefix));
        let (base, name) = match word.to_str().and_then(|text| text.strip_prefix(":/")) {
            Some(top) => (root.to_owned(), OsStr::new(top)),
            None => (here(), word),
        };
        !bytes.is_empty() && base.join(name).symlink_metadata().is_ok()
    }

    /// Whether a word can only be meant as a path, or is one.
    fn looks_like_path(&self, word: &OsStr) -> bool {
        let bytes = word.as_encoded_bytes();
        let is_magic = [&b":("[..], b":!", b":^"].iter().any(|magic| bytes.starts_with(magic));
        let is_glob = bytes.iter().any(|byte| b"*?[".contains(byte));
        let is_logical = bytes.starts_with(b"/");
        is_magic || is_glob || is_logical || self.exists(word)
    }

    /// An absolute path below the working tree becomes relative to it; any other that starts with `/` is a logical path.
    fn path_word(&self, word: &OsStr) -> Vec<u8> {
        let path = Path::new(word);
        let below = || {
            let root = self.root()?.canonicalize().ok()?;
            let rest = path.is_absolute().then(|| path.strip_prefix(&root).ok())??;
            super::to_repo_path(rest)
        };
        match below() {
            Some(path) => [b":(top,literal)", path.as_bytes()].concat(),
            None => word.as_encoded_bytes().to_vec(),
        }
    }
}

/// Splits `REV^-` and `REV^-N`, which compare a commit with its N-th parent.
fn without_one_parent(word: &str) -> Option<(&str, &str)> {
    let (word, parent) = word.rsplit_once("^-")?;
    let is_number = parent.bytes().all(|byte| byte.is_ascii_digit()) && !parent.starts_with('0');
    is_number.then_some((word, if parent.is_empty() { "1" } else { parent }))
}

/// Says that a word is nothing we know, unless more is known about why.
fn neither(word: &OsStr, error: Option<GitError>) -> GitError {
    let path = "if it is a deleted path, put `--` before it";
    match error {
        Some(GitError::UnknownRevision { word, help, .. }) => {
            let help = if help.is_empty() { path.to_owned() } else { format!("{help}\n{path}") };
            GitError::NeitherRevisionNorPath { word, help }
        }
        Some(error) => error,
        None => GitError::NeitherRevisionNorPath { word: visible_word(word), help: path.to_owned() },
    }
}

fn visible_word(word: &OsStr) -> String {
    sanitize::quoted_path(word.as_encoded_bytes())
}
