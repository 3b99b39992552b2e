//! Finds the place of a part of a text in the file that the text is written in.

use std::ops::Range;

use crate::text::{Sources, Span};

/// The span of a part of a text that is written at `whole`. Quotes and escapes are decoded; in folded and block scalars the
/// part is searched for. If it is not written there as it is, the span is the whole scalar.
pub fn part_span(whole: Span, text: &str, part: Range<usize>, sources: &Sources) -> Span {
    let source = sources.get(whole.source);
    let raw = source.text.get(whole.range()).unwrap_or_default();
    let Some(found) = decoded(raw, text, &part).or_else(|| same_occurrence(raw, text, &part)) else { return whole };
    let start = whole.start as usize;
    Span::new(whole.source, start + found.start, start + found.end)
}

/// The part's range in the raw text, if decoding the raw text character by character gives the value.
fn decoded(raw: &str, text: &str, part: &Range<usize>) -> Option<Range<usize>> {
    if raw == text {
        return Some(part.clone());
    }
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let inner = raw.strip_prefix(quote)?.strip_suffix(quote)?;
    // The start in the raw text of each byte of the value, and of its end.
    let mut starts = Vec::with_capacity(text.len() + 1);
    let mut value = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(c) = inner[at..].chars().next() {
        let (decoded, length) = match (quote, c) {
            ('\'', '\'') => ('\'', 2),
            ('"', '\\') => escaped(&inner[at..])?,
            _ => (c, c.len_utf8()),
        };
        value.push(decoded);
        starts.resize(value.len(), at + 1);
        at += length;
    }
    starts.push(at + 1);
    (value == text).then(|| starts[part.start]..starts[part.end])
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

/// The occurrence in the raw text that corresponds to the part, if the raw text has as many of them as the value.
fn same_occurrence(raw: &str, text: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let wanted = text.get(part.clone()).filter(|wanted| !wanted.is_empty())?;
    let number = text.match_indices(wanted).position(|(start, _)| start == part.start)?;
    if text.matches(wanted).count() != raw.matches(wanted).count() {
        return None;
    }
    let (start, _) = raw.match_indices(wanted).nth(number)?;
    Some(start..start + wanted.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, Format};
    use crate::limits::Limits;
    use crate::path::RepoPath;
    use crate::text::SourceText;

    /// The text of the file at the span of `part`, which is a part of the value of `v`.
    fn found(file: &str, format: Format, part: &str) -> String {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "test", file));
        let root = document::parse(file, source, format, &Limits::default()).value.remove(0).root;
        let node = root.get("v").unwrap();
        let text = node.as_str().unwrap();
        let start = text.rfind(part).unwrap();
        file[part_span(node.span, text, start..start + part.len(), &sources).range()].to_owned()
    }

    #[test]
    fn spans_are_exact_where_the_part_is_written_as_it_is() {
        let yaml = |file: &str| found(file, Format::Yaml, "{{.id}}");
        for file in ["v: /a/{{.id}}/b", "v: '/a/''{{.id}}'", "v: \"/a\\t\\\"{{.id}}\\u00e9\"", "{v: \"ä{{.id}}\"}"] {
            assert_eq!(yaml(file), "{{.id}}", "{file}");
        }
        assert_eq!(found("{\"v\": \"a\\/\\\"{{.id}}\"}", Format::Json, "{{.id}}"), "{{.id}}");
        assert_eq!(yaml("v: |\n  a\n  {{.id}}\n"), "{{.id}}");
        assert_eq!(yaml("v: >-\n  a\n  {{.id}}\n  b\n"), "{{.id}}");
    }

    #[test]
    fn the_same_part_twice_has_two_spans() {
        let (sources, file) = (Sources::default(), "v: |\n  {{.id}} {{.id}}\n");
        let source = sources.add(SourceText::new(RepoPath::root(), "test", file));
        let root = document::parse(file, source, Format::Yaml, &Limits::default()).value.remove(0).root;
        let node = root.get("v").unwrap();
        let start = |part| part_span(node.span, node.as_str().unwrap(), part, &sources).range().start;
        assert_eq!((start(0..7), start(8..15)), (7, 15));
    }

    #[test]
    fn otherwise_the_span_is_the_whole_scalar() {
        let whole = found("v: >-\n  a {{.id\n  }} b\n", Format::Yaml, "{{.id }}");
        assert!(whole.contains("a {{.id\n  }} b"), "{whole}");
    }
}
