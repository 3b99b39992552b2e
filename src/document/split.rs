//! Splits a YAML text into its documents without parsing it.

use std::iter::Peekable;
use std::ops::Range;

use memchr::memmem::{self, FindIter};
use memchr::{memchr, memchr2};

/// The documents of a YAML text, one after another and without gaps.
///
/// `---` at the start of a line always begins a document, even inside what looks like a quoted or literal text, and neither anchors
/// nor tag handles are valid beyond it. So the pieces can be read, compared or skipped one by one. Directives and comments
/// between `...` and the next `---` belong to the document that follows, all others to the document before.
pub fn split(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut has_begun = false;
    let mut line = 0;
    let mut markers = Markers::new(bytes);
    while line < bytes.len() {
        let next = next_line(bytes, line);
        match marker(&bytes[line..]) {
            Some(Marker::Start) => {
                if has_begun {
                    pieces.push(start..line);
                    start = line;
                }
                has_begun = true;
            }
            Some(Marker::End) => {
                pieces.push(start..next);
                start = next;
                has_begun = false;
            }
            None => has_begun = has_begun || !is_prefix(&bytes[line..next]),
        }
        line = if has_begun { markers.next(next) } else { next };
    }
    if start < bytes.len() {
        pieces.push(start..bytes.len());
    }
    pieces
}

/// Whether a piece certainly has no value: nothing but blank lines, plain comments and markers. A cheap check; anything unusual is
/// left to the parser.
pub(super) fn is_blank(piece: &str) -> bool {
    piece.split(['\n', '\r']).all(|line| {
        let rest = match marker(line.as_bytes()) {
            Some(_) => &line[3..],
            None => line,
        };
        let rest = rest.trim_start_matches(' ');
        rest.is_empty() || (rest.starts_with('#') && rest.bytes().all(|byte| matches!(byte, b' '..=b'~')))
    })
}

/// Finds the lines that look like markers, without looking at those between them.
struct Markers<'t> {
    length: usize,
    /// The line breaks before what looks like a marker. Nothing for texts with carriage returns, which end lines, too.
    found: Option<[Peekable<FindIter<'t, 'static>>; 2]>,
}

impl<'t> Markers<'t> {
    fn new(bytes: &'t [u8]) -> Self {
        let find = |marker: &'static [u8]| memmem::find_iter(bytes, marker).peekable();
        let found = memchr(b'\r', bytes).is_none().then(|| [find(b"\n---"), find(b"\n...")]);
        Self { length: bytes.len(), found }
    }

    /// The next line that may be a marker, at or after this line. Asked for later and later lines.
    fn next(&mut self, line: usize) -> usize {
        let Some(found) = &mut self.found else { return line };
        let after = found.iter_mut().filter_map(|found| {
            while found.next_if(|end| end + 1 < line).is_some() {}
            Some(found.peek()? + 1)
        });
        after.min().unwrap_or(self.length)
    }
}

enum Marker {
    Start,
    End,
}

fn marker(line: &[u8]) -> Option<Marker> {
    let marker = match line.first_chunk()? {
        b"---" => Marker::Start,
        b"..." => Marker::End,
        _ => return None,
    };
    matches!(line.get(3), None | Some(b' ' | b'\t' | b'\n' | b'\r')).then_some(marker)
}

/// Whether a line may precede the `---` of its document: blank, a comment or a directive.
fn is_prefix(line: &[u8]) -> bool {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    match line.first() {
        Some(b'%') => true,
        _ => matches!(line.trim_ascii_start().first(), None | Some(b'#')),
    }
}

/// Lines end with a line feed, a carriage return, or both.
fn next_line(bytes: &[u8], from: usize) -> usize {
    let Some(length) = memchr2(b'\n', b'\r', &bytes[from..]) else { return bytes.len() };
    let end = from + length;
    if bytes[end..].starts_with(b"\r\n") { end + 2 } else { end + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pieces(text: &str) -> Vec<&str> {
        split(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_marker_begins_a_document_and_takes_its_directives_along() {
        assert_eq!(pieces("a: 1\n---\nb: 2\n--- c\n"), ["a: 1\n", "---\nb: 2\n", "--- c\n"]);
        assert_eq!(pieces("# head\n---\na\n"), ["# head\n---\na\n"]);
        assert_eq!(
            pieces("%TAG ! x\n---\na\n...\n# c\n%YAML 1.2\n---\nb\n"),
            ["%TAG ! x\n---\na\n...\n", "# c\n%YAML 1.2\n---\nb\n"]
        );
        assert_eq!(pieces("a\r---\rb\r\n---\r\nc"), ["a\r", "---\rb\r\n", "---\r\nc"]);
        assert_eq!(pieces("a\n ---\n----\n---x\n"), ["a\n ---\n----\n---x\n"]);
        assert_eq!(pieces("a\n%TAG\n---\nb"), ["a\n%TAG\n", "---\nb"], "`%` inside a document is text");
        assert_eq!(pieces("\u{feff}%YAML 1.2\n---\na"), ["\u{feff}%YAML 1.2\n---\na"]);
        assert!(pieces("").is_empty());
    }

    #[test]
    fn blank_pieces_are_recognised() {
        for blank in ["", "\n", "---\n", "--- # c\n\n  # d\n...\n", "...", "# only\r\n"] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for not in ["a", "--- a", "---#", "\t", "# \u{7}", "%YAML 1.2\n", "--- ~"] {
            assert!(!is_blank(not), "{not:?}");
        }
    }

    proptest! {
        #[test]
        fn pieces_cover_the_text_and_do_not_split_further(text in "(---|\\.\\.\\.|#|%|a: 1| |\t|\n|\r|\u{feff}){0,40}") {
            let ranges = split(&text);
            let joined: String = ranges.iter().map(|range| &text[range.clone()]).collect();
            prop_assert_eq!(joined, text.as_str());
            for range in ranges {
                let again = split(&text[range.clone()]);
                prop_assert_eq!(again.first(), Some(&(0..range.len())));
            }
        }
    }
}
