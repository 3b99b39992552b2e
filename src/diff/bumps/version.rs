//! Versions as people write them: `v1.2.3`, `2024.10.1`, a commit, a digest; and how far two of them are apart.

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
    /// Versions without an order: commits, dates with a name, suffixes.
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
    pub(super) tag: Option<&'t str>,
    pub(super) digest: Option<&'t str>,
}

impl<'t> Version<'t> {
    /// Reads a version; `None` for anything that could also be a branch, a channel or another word.
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

    /// How far apart two versions are, and whether the newer one has the smaller number.
    pub(super) fn distance(self, newer: Self) -> (Level, bool) {
        let (Some(before), Some(after)) = (self.tag, newer.tag) else { return (Level::Digest, false) };
        if before == after {
            return (Level::Digest, false);
        }
        let (Some(before), Some(after)) = (Numbers::read(before), Numbers::read(after)) else {
            return (Level::Other, false);
        };
        if before.prefix != after.prefix {
            return (Level::Other, false);
        }
        let length = before.numbers.len().max(after.numbers.len());
        let number = |of: &Numbers<'_>, at: usize| of.numbers.get(at).copied().unwrap_or_default();
        let differing = (0..length).find(|at| number(&before, *at) != number(&after, *at));
        let level = match differing {
            Some(0) => Level::Major,
            Some(1) => Level::Minor,
            Some(_) => Level::Patch,
            None => Level::Other,
        };
        let is_older = differing.is_some_and(|at| number(&after, at).cmp(&number(&before, at)) == Ordering::Less);
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

/// A tag that names one version: a commit, or text with a number in it. `latest`, `main` and `stable` are no versions, and neither
/// is a range.
fn is_tag(tag: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'+');
    let is_short = tag.len() <= 128;
    is_short && tag.bytes().all(is_allowed) && (is_commit(tag) || Numbers::read(tag).is_some())
}

/// A whole or shortened commit id. Seven digits alone could be any number.
fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len())
        && is_hexadecimal(text)
        && (text.len() >= 40 || text.bytes().any(|byte| byte.is_ascii_alphabetic()))
}

/// The numbers of a version, and the words before them: `release-1.2` has the prefix `release-`.
struct Numbers<'t> {
    prefix: &'t str,
    numbers: Vec<u64>,
}

impl<'t> Numbers<'t> {
    /// Reads `1.2`, `v1.2.3-rc.1`, `release-4`; the first number must follow the start, a `v`, or a separator.
    fn read(text: &'t str) -> Option<Self> {
        let start = text.bytes().position(|byte| byte.is_ascii_digit())?;
        let (prefix, rest) = text.split_at(start);
        let words = prefix.strip_suffix(['v', 'V']).unwrap_or(prefix);
        if !(words.is_empty() || words.ends_with(['-', '_', '.'])) {
            return None;
        }
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit() && byte != b'.').unwrap_or(rest.len());
        let numbers = rest[..end].split('.').filter(|part| !part.is_empty()).map(|part| part.parse().ok());
        let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        let rest = &rest[end..];
        let is_suffix =
            rest.is_empty() || rest.starts_with(['-', '+', '_']) || rest.starts_with(|c: char| c.is_ascii_alphabetic());
        is_suffix.then_some(Self { prefix: words, numbers })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(before: &str, after: &str) -> (&'static str, bool) {
        let read = |text| Version::read(text).expect("it is a version");
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
        assert_eq!(distance("1.2.3-rc1", "1.2.3"), ("other", false));
    }

    #[test]
    fn digests_and_commits_have_no_order() {
        let (one, two) = ("a".repeat(64), "b".repeat(64));
        let digest = |tag: &str, hash: &str| format!("{tag}@sha256:{hash}");
        assert_eq!(distance(&digest("1.0", &one), &digest("1.0", &two)), ("digest", false));
        assert_eq!(distance(&digest("1.0", &one), &digest("1.1", &two)), ("minor", false));
        assert_eq!(distance(&format!("sha256:{one}"), &format!("sha256:{two}")), ("digest", false));
        assert_eq!(distance("f70a925", "0968b43d"), ("other", false));
    }

    #[test]
    fn words_are_no_versions() {
        for text in
            ["latest", "main", "stable", "", "HEAD", "release", "1.x || 2", "~1.2", "^3", "@", "sha256:12", "deadline"]
        {
            assert_eq!(Version::read(text), None, "{text}");
        }
    }
}
