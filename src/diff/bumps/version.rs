//! Versions as people write them: `v1.2.3`, `2024.10.1`, `1.27-alpine`, a commit, a digest; and how far two of them are apart.

use std::cmp::Ordering;

/// How much a version changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The first number differs.
    Major,
    /// The second number differs.
    Minor,
    /// A later number differs.
    Patch,
    /// The digest differs, and the version, if there is one, is the same.
    Digest,
    /// Versions without an order: commits, builds, pre-releases.
    Other,
}

impl Level {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Major => "major",
            Self::Minor => "minor",
            Self::Patch => "patch",
            Self::Digest => "digest",
            Self::Other => "other",
        }
    }
}

/// A version and the digest that is written behind it: `1.2.3@sha256:…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Version<'t> {
    tag: Option<&'t str>,
    digest: Option<&'t str>,
}

impl<'t> Version<'t> {
    /// Reads a version; `None` for anything that could also be a branch, a channel, a range or another word.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let (tag, digest) = match text.split_once('@') {
            Some((tag, digest)) => (tag, Some(digest)),
            None if is_digest(text) => ("", Some(text)),
            None => (text, None),
        };
        let tag = Some(tag).filter(|tag| !tag.is_empty());
        let is_version = tag.is_none_or(is_tag) && digest.is_none_or(is_digest) && (tag.is_some() || digest.is_some());
        is_version.then_some(Self { tag, digest })
    }

    /// Whether a newer version is one of the same thing. Another flavour (`alpine`, `debug`) is another thing, and a tag or a digest
    /// that is dropped is more than another version. A digest may be added.
    pub(super) fn may_become(self, newer: Self) -> bool {
        let is_kept = self.tag.is_some() == newer.tag.is_some() && (self.digest.is_none() || newer.digest.is_some());
        is_kept && flavour(self.tag) == flavour(newer.tag)
    }

    /// Whether a digest is part of it.
    pub(super) fn is_pinned(self) -> bool {
        self.digest.is_some()
    }

    /// How far apart two versions are, and whether the newer one is known to be the older version.
    pub(super) fn distance(self, newer: Self) -> (Level, bool) {
        let (Some(before), Some(after)) = (self.tag, newer.tag) else { return (Level::Digest, false) };
        if before == after {
            return (Level::Digest, false);
        }
        let (before, after) = (Parts::read(before), Parts::read(after));
        if before.numbers.is_empty() || after.numbers.is_empty() {
            return (Level::Other, false);
        }
        let number = |of: &Parts, at: usize| of.numbers.get(at).copied().unwrap_or_default();
        let length = before.numbers.len().max(after.numbers.len());
        let differing = (0..length).find(|at| number(&before, *at) != number(&after, *at));
        let level = match differing {
            Some(0) => Level::Major,
            Some(1) => Level::Minor,
            Some(_) => Level::Patch,
            None => Level::Other,
        };
        let is_older = match differing {
            Some(at) => number(&after, at).cmp(&number(&before, at)) == Ordering::Less,
            // A pre-release comes before its release.
            None => after.is_early && !before.is_early,
        };
        (level, is_older)
    }
}

/// `sha256:` and what follows, or another algorithm.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, hash)) = text.split_once(':') else { return false };
    matches!(algorithm, "sha256" | "sha384" | "sha512") && hash.len() >= 32 && is_hexadecimal(hash)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A tag that names one version: it has a number or a commit in it. `latest`, `main` and `stable` are no versions, and neither is a
/// range.
fn is_tag(tag: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let is_written_so = tag.len() <= 128 && tag.bytes().all(is_allowed);
    is_written_so && {
        let parts = Parts::read(tag);
        parts.has_commit || parts.has_number
    }
}

/// The words of a tag that say which kind of build it is: `alpine` of `1.27-alpine3.18`.
fn flavour(tag: Option<&str>) -> Vec<String> {
    tag.map(|tag| Parts::read(tag).words).unwrap_or_default()
}

/// What a tag is made of.
#[derive(Debug, Default)]
struct Parts {
    /// The numbers of the version, from the first one as far as they are separated by dots.
    numbers: Vec<u64>,
    /// Words that are no part of a version.
    words: Vec<String>,
    has_number: bool,
    has_commit: bool,
    /// Whether it is called a release candidate or the like.
    is_early: bool,
}

/// Words of versions that come before a release.
const EARLY: &[&str] =
    &["a", "alpha", "b", "beta", "dev", "m", "milestone", "nightly", "pre", "preview", "rc", "snapshot"];
/// Words that count builds of a version.
const BUILDS: &[&str] =
    &["build", "cr", "final", "fix", "ga", "hotfix", "ls", "p", "patch", "post", "r", "rel", "release", "rev", "v"];

impl Parts {
    fn read(tag: &str) -> Self {
        let mut parts = Self::default();
        let mut is_in_version = true;
        let mut rest = tag;
        while !rest.is_empty() {
            let end = rest.find(['.', '-', '_', '+']).unwrap_or(rest.len());
            parts.add(&rest[..end], is_in_version);
            // The version ends where something else than a dot follows its first number.
            is_in_version &= parts.numbers.is_empty() || rest[end..].starts_with('.');
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        parts
    }

    /// Adds what is between two separators: a commit, or numbers and words in turn.
    fn add(&mut self, token: &str, is_in_version: bool) {
        if is_commit(token) || token.strip_prefix('g').is_some_and(is_commit) {
            self.has_commit = true;
            return;
        }
        let mut rest = token;
        let mut is_first_number = true;
        while let Some(first) = rest.bytes().next() {
            let is_number = first.is_ascii_digit();
            let end = rest.bytes().position(|byte| byte.is_ascii_digit() != is_number).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            rest = after;
            if !is_number {
                self.word(piece.to_ascii_lowercase());
                continue;
            }
            self.has_number = true;
            if is_in_version && is_first_number {
                self.numbers.extend(piece.parse::<u64>());
            }
            is_first_number = false;
        }
    }

    fn word(&mut self, word: String) {
        if EARLY.contains(&word.as_str()) {
            self.is_early = true;
        } else if !BUILDS.contains(&word.as_str()) {
            self.words.push(word);
        }
    }
}

/// A whole or shortened commit id. A short one needs a digit and a letter: it could otherwise be a number or a word.
fn is_commit(text: &str) -> bool {
    let is_mixed =
        || text.bytes().any(|byte| byte.is_ascii_alphabetic()) && text.bytes().any(|byte| byte.is_ascii_digit());
    (7..=64).contains(&text.len()) && is_hexadecimal(text) && (text.len() >= 40 || is_mixed())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Version<'_> {
        Version::read(text).unwrap_or_else(|| panic!("{text} is a version"))
    }

    fn distance(before: &str, after: &str) -> (&'static str, bool) {
        let (level, is_older) = read(before).distance(read(after));
        (level.name(), is_older)
    }

    #[test]
    fn the_first_number_that_differs_decides() {
        assert_eq!(distance("1.2.3", "2.0.0"), ("major", false));
        assert_eq!(distance("v1.2.3", "v1.3.0"), ("minor", false));
        assert_eq!(distance("1.2.3", "1.2.4"), ("patch", false));
        assert_eq!(distance("1.2", "1.2.1"), ("patch", false));
        assert_eq!(distance("release-1.9", "release-1.10"), ("minor", false));
        assert_eq!(distance("v2.1.0", "v2.0.9"), ("minor", true));
        assert_eq!(distance("3", "4"), ("major", false));
        assert_eq!(distance("1.27.0-alpine3.18", "1.27.1-alpine3.19"), ("patch", false));
        assert_eq!(distance("10.0.1-ls12", "10.0.1-ls13"), ("other", false));
        assert_eq!(distance("1.2.3-rc1", "1.2.3"), ("other", false));
        assert_eq!(distance("1.2.3", "1.2.3-rc1"), ("other", true));
        assert_eq!(distance("1.2.3+build.7", "1.2.3+build.8"), ("other", false));
    }

    #[test]
    fn digests_and_commits_have_no_order() {
        let (one, two) = ("a".repeat(64), "b".repeat(64));
        let digest = |tag: &str, hash: &str| format!("{tag}@sha256:{hash}");
        assert_eq!(distance(&digest("1.0", &one), &digest("1.0", &two)), ("digest", false));
        assert_eq!(distance(&digest("1.0", &one), &digest("1.1", &two)), ("minor", false));
        assert_eq!(distance(&format!("sha256:{one}"), &format!("sha256:{two}")), ("digest", false));
        assert_eq!(distance("f70a925", "0968b43d"), ("other", false));
        assert_eq!(distance("main-f70a925", "main-0968b43"), ("other", false));
        assert_eq!(distance("1.0-5-gf70a925", "1.1-2-g0968b43"), ("minor", false));
    }

    #[test]
    fn words_and_ranges_are_no_versions() {
        for text in [
            "latest",
            "main",
            "stable",
            "",
            "HEAD",
            "release",
            "1.x || 2",
            "~1.2",
            "^3",
            "@",
            "sha256:12",
            "deadline",
            "effaced",
            ">=1",
        ] {
            assert_eq!(Version::read(text), None, "{text}");
        }
    }

    #[test]
    fn another_flavour_or_form_is_another_thing() {
        let hash = "a".repeat(64);
        let pinned = format!("1.0@sha256:{hash}");
        for (before, after) in [
            ("1.2-alpine", "1.2-bookworm"),
            ("1.2-alpine", "1.3"),
            ("debug-1.2", "nonroot-1.2"),
            (pinned.as_str(), "1.1"),
        ] {
            assert!(!read(before).may_become(read(after)), "{before} {after}");
        }
        for (before, after) in [
            ("1.0", pinned.as_str()),
            ("1.2.3", "v1.2.4"),
            ("1.2.3-rc.1", "1.2.3"),
            ("f70a925", "1.0.0"),
            ("main-f70a925", "main-0968b43"),
            ("8u392", "8u402"),
        ] {
            assert!(read(before).may_become(read(after)), "{before} {after}");
        }
    }
}
