//! Version bumps in words: the rows of the table.

use super::block::subject;
use crate::diff::{Bump, BumpKind, Level};
use crate::report::Report;
use crate::report::fragment::short_digests;
use crate::report::summary_counts::plural;

/// One row of the table.
pub(in crate::report) struct BumpRow {
    /// What has another version.
    pub name: String,
    /// The version before.
    pub before: String,
    /// The version after.
    pub after: String,
    /// `minor`, or `minor, downgrade`.
    pub level: String,
    /// Where it is used: `Deployment shop/web in 9 roots`.
    pub uses: String,
    /// Whether the reader should look twice.
    pub is_alarming: bool,
}

/// The row of a bump; with `is_short`, digests and commits are shortened as far as they still differ.
pub(in crate::report) fn row(report: &Report, bump: &Bump, is_short: bool) -> BumpRow {
    let [before, after] = versions(bump, is_short);
    let level = match bump.is_downgrade {
        true => format!("{}, downgrade", bump.level.name()),
        false => bump.level.name().to_owned(),
    };
    let is_alarming = bump.is_downgrade || bump.level == Level::Major;
    BumpRow { name: bump.name.to_string(), before, after, level, uses: uses(report, bump), is_alarming }
}

/// The versions of a bump: those of the comments first, then what is written.
pub(in crate::report) fn versions(bump: &Bump, is_short: bool) -> [String; 2] {
    let whole = [bump.versions[0].to_string(), bump.versions[1].to_string()];
    let written = if is_short { shortened(&whole) } else { whole };
    match &bump.comments {
        [None, None] => written,
        comments => [0, 1].map(|side| match &comments[side] {
            Some(comment) => format!("{comment} ({})", written[side]),
            None => written[side].clone(),
        }),
    }
}

/// Both versions in fewer characters: without digests where the tags differ, and with commits as git shortens them.
fn shortened(whole: &[String; 2]) -> [String; 2] {
    // A digest alone has no tag before it.
    let tag = |text: &str| text.split('@').next().filter(|tag| !tag.contains(':')).unwrap_or_default().to_owned();
    let tags = || [0, 1].map(|side| tag(&whole[side]));
    let digests = || [0, 1].map(|side| short_digests(&whole[side]));
    let commits =
        |of: [String; 2]| of.map(|text| if is_commit(&text) { text[..SHORT_COMMIT].to_owned() } else { text });
    let differ = |of: &[String; 2]| of.iter().all(|text| !text.is_empty()) && of[0] != of[1];
    [commits(tags()), tags(), digests()].into_iter().find(differ).unwrap_or_else(|| whole.clone())
}

const SHORT_COMMIT: usize = 7;

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The resources that use it, and how often if that is more.
fn uses(report: &Report, bump: &Bump) -> String {
    let resources = bump.resources();
    let subject = subject(report, &resources);
    let words = match (resources.len(), subject.extent.as_str()) {
        (1, _) | (_, "") => subject.title,
        // A remote base is called by its address, which is the name of the bump.
        (_, extent) if subject.title.ends_with(&*bump.name) => extent.to_owned(),
        (_, extent) => format!("{} {extent}", subject.title),
    };
    if bump.members.len() > resources.len() && bump.kind == BumpKind::Action {
        return format!("{} in {words}", plural(bump.members.len(), "step"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_short_as_long_as_they_differ() {
        let short = |before: &str, after: &str| shortened(&[before.to_owned(), after.to_owned()]);
        let (one, two) = ("a".repeat(64), "b".repeat(64));
        let digest = |tag: &str, hash: &str| format!("{tag}sha256:{hash}");
        assert_eq!(short(&digest("1.0@", &one), &digest("1.1@", &two)), ["1.0", "1.1"]);
        assert_eq!(
            short(&digest("1.0@", &one), &digest("1.0@", &two)),
            ["1.0@sha256:aaaaaaaa…aaaaaaaa", "1.0@sha256:bbbbbbbb…bbbbbbbb"]
        );
        assert_eq!(
            short(&digest("", &one), &digest("", &two)),
            ["sha256:aaaaaaaa…aaaaaaaa", "sha256:bbbbbbbb…bbbbbbbb"]
        );
        assert_eq!(short(&"1".repeat(40), &"2".repeat(40)), ["1111111", "2222222"]);
        let same_start = [format!("{}a", "1".repeat(39)), format!("{}b", "1".repeat(39))];
        assert_eq!(shortened(&same_start), same_start);
    }
}
