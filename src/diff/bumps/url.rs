//! Versions in addresses: `https://example.com/repo//deploy?ref=v1`, files of a release, files of a tag.

use super::version::Version;

/// An address up to its version, and the version before and after.
pub(super) struct VersionedUrl<'t> {
    pub(super) name: &'t str,
    pub(super) before: &'t str,
    pub(super) after: &'t str,
}

/// Two addresses that differ in nothing but a version. Where `anywhere` is not set, only addresses of git repositories are looked at:
/// the `ref` of any other server may mean anything.
pub(super) fn versioned_url<'t>(before: &'t str, after: &'t str, anywhere: bool) -> Option<VersionedUrl<'t>> {
    reference(before, after, anywhere).or_else(|| tagged_file(before, after))
}

/// The value of `ref`.
fn reference<'t>(before: &'t str, after: &'t str, anywhere: bool) -> Option<VersionedUrl<'t>> {
    let ((name, before, rest), (other, after, other_rest)) = (query_parts(before)?, query_parts(after)?);
    let is_git = anywhere || HOSTS.iter().any(|host| name.contains(host)) || name.contains(".git");
    (is_git && (name, rest) == (other, other_rest)).then_some(VersionedUrl { name, before, after })
}

const HOSTS: [&str; 4] = ["github.com", "gitlab.", "bitbucket.", "codeberg."];

/// A URL before its `ref`, the value of it, and what follows.
fn query_parts(text: &str) -> Option<(&str, &str, &str)> {
    let mark = ["?ref=", "&ref="].iter().find_map(|mark| text.find(mark).map(|at| (at, mark.len())))?;
    let value = &text[mark.0 + mark.1..];
    let end = value.find('&').unwrap_or(value.len());
    let is_url = text.contains('/') && !text.contains(char::is_whitespace);
    is_url.then(|| (&text[..mark.0], &value[..end], &value[end..]))
}

/// A file of a release or of a tag on GitHub. The version may be repeated in the name of the file.
fn tagged_file<'t>(before: &'t str, after: &'t str) -> Option<VersionedUrl<'t>> {
    let (start, old) = tag_of_file(before)?;
    let (other_start, new) = tag_of_file(after)?;
    let bare = |tag: &'t str| tag.strip_prefix('v').unwrap_or(tag);
    let name = &before[..start];
    let rest = before[start..].replace(bare(old), bare(new));
    let is_same = name == &after[..other_start] && rest == after[other_start..];
    (is_same && Version::read(old).is_some()).then_some(VersionedUrl { name, before: old, after: new })
}

/// Where the tag begins in the address of a file, and the tag.
fn tag_of_file(url: &str) -> Option<(usize, &str)> {
    let path = url.strip_prefix("https://")?;
    let segments: Vec<&str> = path.split('/').collect();
    let at = match segments.as_slice() {
        ["raw.githubusercontent.com", _, _, "refs", "tags", _, ..] => 5,
        ["raw.githubusercontent.com", _, _, _, ..] => 3,
        ["github.com", _, _, "releases", "download", _, ..] => 5,
        ["github.com", _, _, "raw", _, ..] => 4,
        _ => return None,
    };
    let start = url.len() - path.len() + segments[..at].iter().map(|segment| segment.len() + 1).sum::<usize>();
    Some((start, segments[at]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'t>(before: &'t str, after: &'t str) -> Option<(&'t str, &'t str, &'t str)> {
        versioned_url(before, after, false).map(|it| (it.name, it.before, it.after))
    }

    #[test]
    fn nothing_but_the_version_may_differ() {
        let url = |tag: &str| format!("https://github.com/o/r//deploy?ref={tag}&timeout=1");
        assert_eq!(read(&url("v1"), &url("v2")), Some(("https://github.com/o/r//deploy", "v1", "v2")));
        assert_eq!(read(&url("v1"), &url("v2").replace("deploy", "other")), None);
        assert_eq!(read("https://a.example/x?ref=1", "https://a.example/x?ref=2"), None);
        let file = |tag: &str, name: &str| format!("https://github.com/o/r/releases/download/{tag}/{name}.yaml");
        let (one, two) = (file("v1.2.0", "app-1.2.0"), file("v1.3.0", "app-1.3.0"));
        assert_eq!(read(&one, &two), Some(("https://github.com/o/r/releases/download/", "v1.2.0", "v1.3.0")));
        assert_eq!(read(&one, &file("v1.3.0", "other-1.3.0")), None);
        let raw = |tag: &str| format!("https://raw.githubusercontent.com/o/r/{tag}/a/b.yaml");
        assert_eq!(read(&raw("v1.0"), &raw("v1.1")).map(|it| it.1), Some("v1.0"));
    }
}
