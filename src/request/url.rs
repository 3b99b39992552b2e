//! Paths of requests: cut, cleaned, joined, and written for a command line.

use crate::percent;

/// The segments of a path or of a template of one: blanks and dots are cleaned away, and a `/` inside of `{{…}}` cuts nothing.
pub(super) fn segments(path: &str) -> Vec<&str> {
    let mut segments = Vec::new();
    let mut start = 0;
    let mut braces = 0_usize;
    let bytes = path.as_bytes();
    for at in 0..=bytes.len() {
        let is_end = at == bytes.len() || (bytes[at] == b'/' && braces == 0);
        if is_end {
            push(&mut segments, &path[start..at]);
            start = at + 1;
        } else if bytes[at..].starts_with(b"{{") {
            braces += 1;
        } else if bytes[at..].starts_with(b"}}") {
            braces = braces.saturating_sub(1);
        }
    }
    segments
}

fn push<'p>(segments: &mut Vec<&'p str>, segment: &'p str) {
    match segment {
        "" | "." => {}
        ".." => drop(segments.pop()),
        _ => segments.push(segment),
    }
}

/// A rendered path as it is sent: absolute, cleaned, never beyond the root, without a `/` at its end.
pub(super) fn cleaned(path: &str) -> String {
    let mut segments = Vec::new();
    path.split('/').for_each(|segment| push(&mut segments, segment));
    format!("/{}", segments.join("/"))
}

/// A template of a path, cleaned like a path; a `/` inside of `{{…}}` separates nothing.
pub(super) fn cleaned_template(path: &str) -> String {
    format!("/{}", segments(path).join("/"))
}

/// A rendered path of an operation: absolute, relative to the collection if it starts with `.`, or an old one without its `/`.
pub(super) fn resolved(
    path: &str,
    collection: Option<&str>,
    clean: fn(&str) -> String,
) -> Result<String, &'static str> {
    let path = path.trim();
    match (path.chars().next(), collection) {
        (None, _) => Err("it is blank"),
        (Some('.'), Some(collection)) => Ok(clean(&format!("{collection}/{path}"))),
        (Some('.'), None) => Err("it is relative, and there is no collection path"),
        _ => Ok(clean(path)),
    }
}

/// Text for the path of a URL; `/` and what paths allow stay.
pub(super) fn path_escaped(path: &str) -> String {
    percent::escape_path(path)
}

/// Text for a name or a value of a query.
pub(super) fn query_escaped(text: &str) -> String {
    percent::escape_component(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_against_the_collection() {
        for (path, expected) in [
            ("/a//b/./c/../d", "/a/b/d"),
            (".", "/x/y"),
            ("./", "/x/y"),
            ("./z", "/x/y/z"),
            ("../groups/z", "/x/groups/z"),
            ("../../../../up", "/up"),
            (".hidden", "/x/y/.hidden"),
            ("customers/", "/customers"),
            ("/", "/"),
            (" /a ", "/a"),
        ] {
            assert_eq!(resolved(path, Some("/x/y"), cleaned).as_deref(), Ok(expected), "{path}");
        }
        assert!(resolved("./a", None, cleaned).is_err() && resolved(" ", Some("/x"), cleaned).is_err());
        assert_eq!(resolved("/a", None, cleaned).as_deref(), Ok("/a"));
    }

    #[test]
    fn templates_are_cut_outside_of_their_braces() {
        assert_eq!(segments("/a/{{../id}}/{{/b/c}}/d"), ["a", "{{../id}}", "{{/b/c}}", "d"]);
        assert_eq!(segments("/a/{{.x"), ["a", "{{.x"]);
        let written = resolved("./{{../id}}/./x", Some("/c/_"), cleaned_template);
        assert_eq!(written.as_deref(), Ok("/c/_/{{../id}}/x"));
    }

    #[test]
    fn urls_are_escaped() {
        assert_eq!(path_escaped("/x/AD PRD?#é"), "/x/AD%20PRD%3F%23%C3%A9");
        assert_eq!(query_escaped("a b&c"), "a%20b%26c");
    }
}
