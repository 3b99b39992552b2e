//! Finds a place of a string's value in the file it is written in.

use std::ops::Range;

use crate::text::{Sources, Span};
use crate::value::Node;

/// Where a part of a text stands in its file. Quotes and escapes are seen through; where that is not possible (folded and block
/// scalars), the part is looked for, and if it does not stand there exactly once, the place is the whole scalar.
pub fn place(node: &Node, part: Range<usize>, sources: &Sources) -> Span {
    let Some(text) = node.as_str() else { return node.span };
    let source = sources.get(node.span.source);
    let Some(raw) = source.text.get(node.span.range()) else { return node.span };
    let found = seen_through(raw, text, &part).or_else(|| only_occurrence(raw, text.get(part.clone())?));
    let Some(found) = found else { return node.span };
    let start = node.span.start as usize;
    Span::new(node.span.source, start + found.start, start + found.end)
}

/// The part's range in the raw text, if reading the raw text letter by letter gives the value.
fn seen_through(raw: &str, text: &str, part: &Range<usize>) -> Option<Range<usize>> {
    if raw == text {
        return Some(part.clone());
    }
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = raw.strip_prefix(quote)?.strip_suffix(quote)?;
    // Where each byte of the value begins in the raw text; one more for the end.
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut value = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = inner[at..].chars().next() {
        let (decoded, length) = match (quote, c) {
            ('\'', '\'') => ('\'', 2),
            ('"', '\\') => escaped(&inner[at..])?,
            _ => (c, c.len_utf8()),
        };
        value.push(decoded);
        places.resize(value.len(), at + 1);
        at += length;
    }
    places.push(at + 1);
    (value == text).then(|| places[part.start]..places[part.end])
}

/// A simple escape at the start of a text: the character and how long the escape is.
fn escaped(text: &str) -> Option<(char, usize)> {
    let kind = text[1..].chars().next()?;
    let code = |count: usize| {
        let digits = text.get(2..2 + count)?;
        let c = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        Some((c, 2 + count))
    };
    match kind {
        '"' | '\\' | '/' => Some((kind, 2)),
        'n' => Some(('\n', 2)),
        't' => Some(('\t', 2)),
        'r' => Some(('\r', 2)),
        'b' => Some(('\u{8}', 2)),
        'f' => Some(('\u{c}', 2)),
        'x' => code(2),
        'u' => code(4),
        _ => None,
    }
}

fn only_occurrence(raw: &str, part: &str) -> Option<Range<usize>> {
    let start = raw.find(part).filter(|_| !part.is_empty())?;
    let is_only = raw[start..].match_indices(part).nth(1).is_none();
    is_only.then(|| start..start + part.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, Format};
    use crate::limits::Limits;
    use crate::path::RepoPath;
    use crate::text::SourceText;

    /// What stands in the file where `part` of the value of `v` is placed.
    fn found(file: &str, format: Format, part: &str) -> String {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "test", file));
        let root = document::parse(file, source, format, &Limits::default()).value.remove(0).root;
        let node = root.get("v").unwrap();
        let start = node.as_str().unwrap().find(part).unwrap();
        file[place(node, start..start + part.len(), &sources).range()].to_owned()
    }

    #[test]
    fn places_are_exact_where_they_can_be() {
        let yaml = |file: &str| found(file, Format::Yaml, "{{.id}}");
        for file in ["v: /a/{{.id}}/b", "v: '/a/''{{.id}}'", "v: \"/a\\t\\\"{{.id}}\\u00e9\"", "{v: \"ä{{.id}}\"}"] {
            assert_eq!(yaml(file), "{{.id}}", "{file}");
        }
        assert_eq!(found("{\"v\": \"a\\/\\\"{{.id}}\"}", Format::Json, "{{.id}}"), "{{.id}}");
        assert_eq!(yaml("v: |\n  a\n  {{.id}}\n"), "{{.id}}");
        assert_eq!(yaml("v: >-\n  a\n  {{.id}}\n  b\n"), "{{.id}}");
    }

    #[test]
    fn otherwise_the_place_is_the_whole_scalar() {
        let file = "v: |\n  {{.id}} {{.id}}\n";
        assert!(found(file, Format::Yaml, "{{.id}}").contains("{{.id}} {{.id}}"));
    }
}
