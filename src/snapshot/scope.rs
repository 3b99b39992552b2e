//! The paths that a command is restricted to: git's pathspecs, and logical paths of resources.

use crate::glob::{Glob, Slashes};
use crate::names::EXTENSIONS;
use crate::path::RepoPath;
use crate::sanitize;

/// The paths that a command is restricted to. Without any, it includes everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    wanted: Vec<ScopePattern>,
    unwanted: Vec<ScopePattern>,
}

/// A path argument that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word} {reason}")]
pub struct ScopeError {
    word: String,
    reason: String,
}

impl Scope {
    /// No restriction.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Reads path arguments: files, directories and globs relative to `prefix`, the current directory; magic
    /// such as `:/top`, `:!without` and `:(glob,icase)x`; and logical paths such as `/customers/acme`, which are
    /// resolved below each of `roots` (or the root of the repository if there are none).
    pub fn new(words: &[impl AsRef<[u8]>], prefix: &RepoPath, roots: &[RepoPath]) -> Result<Self, ScopeError> {
        let mut scope = Self::default();
        for word in words {
            let word = Word::parse(word.as_ref())?;
            let patterns = word.patterns(prefix, roots)?;
            if word.is_unwanted { &mut scope.unwanted } else { &mut scope.wanted }.extend(patterns);
        }
        Ok(scope)
    }

    /// Whether there is no restriction.
    pub fn is_everything(&self) -> bool {
        self.wanted.is_empty() && self.unwanted.is_empty()
    }

    /// Whether files below a directory can be in scope.
    pub fn can_hold(&self, directory: &RepoPath) -> bool {
        let is_wanted = self.wanted.is_empty() || self.wanted.iter().any(|pattern| pattern.can_hold(directory));
        is_wanted && !self.unwanted.iter().any(|pattern| pattern.covers(directory))
    }

    /// Whether a file is in scope.
    pub fn wants(&self, file: &RepoPath) -> bool {
        let is_wanted = self.wanted.is_empty() || self.wanted.iter().any(|pattern| pattern.wants(file));
        is_wanted && !self.unwanted.iter().any(|pattern| pattern.wants(file))
    }
}

/// One pattern of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ScopePattern {
    /// A file, or everything in a directory.
    Path(RepoPath),
    /// Everything in a directory, but not a file of that name.
    Directory(RepoPath),
    /// All files that match a glob.
    Glob {
        glob: Glob,
        /// The prefix that all matches have.
        start: Vec<u8>,
        folds_case: bool,
    },
}

impl ScopePattern {
    fn wants(&self, file: &RepoPath) -> bool {
        match self {
            Self::Path(path) => file.is_within(path),
            Self::Directory(path) => file != path && file.is_within(path),
            Self::Glob { glob, .. } => glob.matches(file.as_bytes()),
        }
    }

    fn can_hold(&self, directory: &RepoPath) -> bool {
        match self {
            Self::Path(path) | Self::Directory(path) => directory.is_within(path) || path.is_within(directory),
            Self::Glob { start, folds_case, .. } => {
                let slash: &[u8] = if directory.is_root() { b"" } else { b"/" };
                let inside = directory.as_bytes().iter().chain(slash);
                inside.zip(start).all(|(a, b)| a == b || *folds_case && a.eq_ignore_ascii_case(b))
            }
        }
    }

    /// Whether everything below a directory certainly matches.
    fn covers(&self, directory: &RepoPath) -> bool {
        match self {
            Self::Path(path) | Self::Directory(path) => directory.is_within(path),
            Self::Glob { .. } => false,
        }
    }
}

/// A parsed path argument.
struct Word<'a> {
    shown: &'a [u8],
    text: &'a [u8],
    is_unwanted: bool,
    is_top: bool,
    is_literal: bool,
    slashes: Slashes,
    folds_case: bool,
}

impl<'a> Word<'a> {
    fn parse(shown: &'a [u8]) -> Result<Self, ScopeError> {
        let mut word = Self {
            shown,
            text: shown,
            is_unwanted: false,
            is_top: false,
            is_literal: false,
            slashes: Slashes::Ordinary,
            folds_case: false,
        };
        if let Some(rest) = shown.strip_prefix(b":(") {
            let end = rest.iter().position(|&byte| byte == b')').ok_or_else(|| word.refuse("lacks a `)`"))?;
            for magic in rest[..end].split(|&byte| byte == b',').filter(|magic| !magic.is_empty()) {
                word.apply(magic)?;
            }
            word.text = &rest[end + 1..];
        } else if let Some(mut rest) = shown.strip_prefix(b":") {
            while let Some((&mark, after)) = rest.split_first() {
                match mark {
                    b'/' => word.is_top = true,
                    b'!' | b'^' => word.is_unwanted = true,
                    // git reserves these for future magic.
                    b'"' | b'#' | b'%' | b'&' | b'\'' | b',' | b'-' | b';'..=b'>' | b'@' | b'_' | b'`' | b'~' => {
                        return Err(word.refuse(format!("uses the unknown magic `{}`", char::from(mark))));
                    }
                    _ => break,
                }
                rest = after;
            }
            word.text = rest.strip_prefix(b":").unwrap_or(rest);
        }
        Ok(word)
    }

    fn apply(&mut self, magic: &[u8]) -> Result<(), ScopeError> {
        match magic {
            b"top" => self.is_top = true,
            b"exclude" => self.is_unwanted = true,
            b"literal" => self.is_literal = true,
            b"glob" => self.slashes = Slashes::Separators,
            b"icase" => self.folds_case = true,
            other => {
                let known = "known are top, exclude, literal, glob and icase";
                return Err(self.refuse(format!("uses the magic {}; {known}", sanitize::quoted_path(other))));
            }
        }
        Ok(())
    }

    fn patterns(&self, prefix: &RepoPath, roots: &[RepoPath]) -> Result<Vec<ScopePattern>, ScopeError> {
        let Some(logical) = self.text.strip_prefix(b"/") else {
            let prefix = if self.is_top { RepoPath::root() } else { prefix.clone() };
            return self.relative_to(&prefix);
        };
        let whole = [RepoPath::root()];
        let mut patterns = Vec::new();
        for root in if roots.is_empty() { &whole } else { roots } {
            patterns.extend(self.logical_below(root, logical)?);
        }
        Ok(patterns)
    }

    fn logical_below(&self, root: &RepoPath, logical: &[u8]) -> Result<Vec<ScopePattern>, ScopeError> {
        let logical = logical.strip_suffix(b"/").unwrap_or(logical);
        if self.is_glob(logical) || self.folds_case {
            // In a logical path `*` matches one segment, because it names resources, not files.
            let tails = ["", "/**", ".json", ".yaml", ".yml"];
            let pattern = |tail: &&str| self.glob(root, &[logical, tail.as_bytes()].concat(), Slashes::Separators);
            return Ok(tails.iter().map(pattern).collect());
        }
        let directory = self.join(root, logical)?;
        let mut patterns = vec![ScopePattern::Path(directory.clone())];
        if let (Some(parent), name) = (directory.parent(), directory.file_name()) {
            let files = EXTENSIONS.map(|extension| [name, b".", extension.as_bytes()].concat());
            patterns.extend(files.iter().filter_map(|name| parent.join(name).ok()).map(ScopePattern::Path));
        }
        Ok(patterns)
    }

    fn relative_to(&self, prefix: &RepoPath) -> Result<Vec<ScopePattern>, ScopeError> {
        let (directory, rest) = self.climb(prefix)?;
        let last = self.text.rsplit(|&byte| byte == b'/').next();
        let is_directory = matches!(last, Some(b"" | b"." | b".."));
        if rest.is_empty() {
            return Ok(vec![ScopePattern::Path(directory)]);
        }
        let mut patterns = Vec::new();
        if self.is_glob(&rest) {
            let tail: &[u8] = if is_directory { b"/" } else { b"" };
            patterns.push(self.glob(&directory, &[&rest, tail].concat(), self.slashes));
        }
        // Like git, a pattern also matches as a name, so that a file called `a[1].yaml` needs no escapes.
        if self.folds_case {
            let name = escape(&rest);
            patterns.push(self.glob(&directory, &[&name, &b"/*"[..]].concat(), Slashes::Ordinary));
            patterns.extend((!is_directory).then(|| self.glob(&directory, &name, Slashes::Ordinary)));
        } else {
            let path = self.join(&directory, &rest)?;
            patterns.push(if is_directory { ScopePattern::Directory(path) } else { ScopePattern::Path(path) });
        }
        Ok(patterns)
    }

    /// Resolves `.` and `..`: the directory that the path starts in, and the rest of the path below it.
    fn climb(&self, prefix: &RepoPath) -> Result<(RepoPath, Vec<u8>), ScopeError> {
        let mut directory = prefix.clone();
        let mut rest: Vec<&[u8]> = Vec::new();
        for component in self.text.split(|&byte| byte == b'/') {
            match component {
                b"" | b"." => {}
                b".." if rest.pop().is_some() => {}
                b".." => directory = directory.parent().ok_or_else(|| self.refuse("is outside the repository"))?,
                component => rest.push(component),
            }
        }
        Ok((directory, rest.join(&b'/')))
    }

    fn join(&self, directory: &RepoPath, rest: &[u8]) -> Result<RepoPath, ScopeError> {
        let between: &[u8] = if directory.is_root() || rest.is_empty() { b"" } else { b"/" };
        RepoPath::new([directory.as_bytes(), between, rest].concat()).map_err(|error| self.refuse(error.to_string()))
    }

    fn glob(&self, directory: &RepoPath, pattern: &[u8], slashes: Slashes) -> ScopePattern {
        let mut start = directory.as_bytes().to_vec();
        if !directory.is_root() {
            start.push(b'/');
        }
        let glob = Glob::below(&start, pattern, slashes, self.folds_case);
        start.extend(pattern.iter().take_while(|byte| !is_special(byte)));
        ScopePattern::Glob { glob, start, folds_case: self.folds_case }
    }

    fn is_glob(&self, text: &[u8]) -> bool {
        !self.is_literal && text.iter().any(is_special)
    }

    fn refuse(&self, reason: impl Into<String>) -> ScopeError {
        ScopeError { word: sanitize::quoted_path(self.shown), reason: reason.into() }
    }
}

fn is_special(byte: &u8) -> bool {
    b"*?[\\".contains(byte)
}

/// The pattern that matches only this text.
fn escape(text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(text.len());
    for &byte in text {
        if is_special(&byte) {
            escaped.push(b'\\');
        }
        escaped.push(byte);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("a plain path")
    }

    fn scope(words: &[&str]) -> Scope {
        Scope::new(words, &RepoPath::root(), &[]).expect("a scope")
    }

    #[test]
    fn nothing_given_means_everything() {
        let scope = scope(&[]);
        assert!(scope.is_everything() && scope.wants(&path("a/b")) && scope.can_hold(&path("a")));
    }

    #[test]
    fn a_path_means_a_file_or_all_below_a_directory() {
        let scope = scope(&["a/b", "c/"]);
        for wanted in ["a/b", "a/b/c", "c/x"] {
            assert!(scope.wants(&path(wanted)), "{wanted}");
        }
        for unwanted in ["a/bc", "a", "c", "d"] {
            assert!(!scope.wants(&path(unwanted)), "{unwanted}");
        }
        assert!(scope.can_hold(&RepoPath::root()) && scope.can_hold(&path("a")) && scope.can_hold(&path("a/b/c")));
        assert!(!scope.can_hold(&path("a/x")) && !scope.can_hold(&path("d")));
    }

    #[test]
    fn globs_prune_by_what_they_start_with() {
        let scope = scope(&["a/b*/x.yaml"]);
        assert!(scope.wants(&path("a/bc/x.yaml")) && scope.wants(&path("a/b/c/x.yaml")));
        assert!(scope.can_hold(&path("a")) && scope.can_hold(&path("a/bc")));
        assert!(!scope.can_hold(&path("a/c")) && !scope.can_hold(&path("x")));
        assert!(Scope::new(&["a[1].yaml"], &RepoPath::root(), &[]).expect("a scope").wants(&path("a[1].yaml")));
    }

    #[test]
    fn words_are_relative_to_where_the_user_stands() {
        let from = |word: &str| Scope::new(&[word], &path("a/b"), &[]).expect("a scope");
        assert!(from("c").wants(&path("a/b/c")) && !from("c").wants(&path("c")));
        assert!(from("../c").wants(&path("a/c")));
        assert!(from(".").wants(&path("a/b/x")) && !from(".").wants(&path("a/x")));
        assert!(from(":/c").wants(&path("c")));
        assert!(from("*.yaml").wants(&path("a/b/c/x.yaml")) && !from("*.yaml").wants(&path("x.yaml")));
        let error = Scope::new(&["../../../x"], &path("a/b"), &[]).expect_err("it leads out");
        assert_eq!(error.to_string(), "../../../x is outside the repository");
    }

    #[test]
    fn magic_words_change_the_meaning() {
        let without = scope(&[":!a/b"]);
        assert!(without.wants(&path("a/c")) && !without.wants(&path("a/b/x")) && !without.can_hold(&path("a/b")));
        assert!(!scope(&[":(glob)*.yaml"]).wants(&path("a/x.yaml")));
        assert!(scope(&[":(literal)*.yaml"]).wants(&path("*.yaml")));
        assert!(!scope(&[":(literal)*.yaml"]).wants(&path("x.yaml")));
        let folded = scope(&[":(icase)A/B"]);
        assert!(folded.wants(&path("a/b")) && folded.wants(&path("a/b/c")) && !folded.wants(&path("a/bc")));
        assert!(folded.can_hold(&path("a")) && !folded.can_hold(&path("c")));
        assert!(Scope::new(&[":(attr:x)a"], &RepoPath::root(), &[]).is_err());
        assert!(Scope::new(&[":(top"], &RepoPath::root(), &[]).is_err());
    }

    #[test]
    fn a_logical_path_means_a_directory_or_a_legacy_file_below_any_root() {
        let scope = Scope::new(&["/customers/acme"], &path("elsewhere"), &[path("config"), path("more")]);
        let scope = scope.expect("a scope");
        for wanted in ["config/customers/acme/resource.yaml", "more/customers/acme.yml", "config/customers/acme.json"] {
            assert!(scope.wants(&path(wanted)), "{wanted}");
        }
        for unwanted in ["customers/acme/resource.yaml", "config/customers/acme.txt", "config/customers/acme2.json"] {
            assert!(!scope.wants(&path(unwanted)), "{unwanted}");
        }
        assert!(scope.can_hold(&path("more/customers")) && !scope.can_hold(&path("more/orders")));
    }

    #[test]
    fn a_star_in_a_logical_path_is_one_segment() {
        let scope = scope(&["/customers/*/orders"]);
        assert!(scope.wants(&path("customers/acme/orders/resource.yaml")));
        assert!(scope.wants(&path("customers/acme/orders.json")));
        assert!(!scope.wants(&path("customers/a/b/orders.json")));
    }

    proptest! {
        #[test]
        fn what_is_wanted_can_be_reached(
            words in prop::collection::vec("(:!|:\\(icase\\)|:\\(glob\\)|/)?[abA*?/]{1,6}", 0..3),
            file in "[ab]{1,2}(/[ab]{1,2}){0,3}",
        ) {
            let Ok(scope) = Scope::new(&words, &RepoPath::root(), &[]) else { return Ok(()) };
            let file = path(&file);
            if scope.wants(&file) {
                let mut directory = file.parent();
                while let Some(parent) = directory {
                    prop_assert!(scope.can_hold(&parent), "{words:?} wants {file} but not {parent}");
                    directory = parent.parent();
                }
            }
        }
    }
}
