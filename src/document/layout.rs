//! Finds in YAML source what parser events do not contain: the offset of a colon, of a first dash or of a block scalar's header.

use std::ops::Range;

/// The longest distance that is searched for an indicator, because a hostile file can make many searches over long comments.
pub(crate) const SIGHT: usize = 4096;

/// The offset just after one of these indicators, if it is the next token.
pub(crate) fn after_indicator(text: &str, from: usize, indicators: &[u8]) -> Option<usize> {
    let bytes = &text.as_bytes()[..text.len().min(from + SIGHT)];
    let at = skip(bytes, from, b"");
    bytes.get(at).filter(|byte| indicators.contains(byte)).map(|_| at + 1)
}

/// The opening quote of a quoted scalar that is the next token, after any indicators, tags and anchors.
pub(crate) fn opening_quote(text: &str, from: usize) -> Option<usize> {
    let bytes = &text.as_bytes()[..text.len().min(from + SIGHT)];
    let at = skip(bytes, from, b":?-&!,[{");
    bytes.get(at).filter(|byte| matches!(byte, b'"' | b'\'')).map(|_| at)
}

/// The first dash of a list that is the key or value of a block map; `content` is the offset of its first item.
pub(crate) fn first_dash(text: &str, from: usize, content: usize) -> usize {
    let at = skip(text.as_bytes(), from, b":?&!");
    if at < content && text.as_bytes()[at] == b'-' { at } else { content }
}

/// A block scalar from its `|` or `>` to the end of its last line, the line break left out.
pub(crate) fn block_scalar(text: &str, from: usize, content: Range<usize>, is_empty: bool) -> Range<usize> {
    let bytes = text.as_bytes();
    let start = skip(bytes, from, b":?-&!");
    if start > content.start || !matches!(bytes.get(start), Some(b'|' | b'>')) {
        return content;
    }
    if is_empty {
        let indicators = bytes[start + 1..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-'));
        return start..start + 1 + indicators.count();
    }
    let last_line = start + text[start..content.end].trim_end_matches([' ', '\t', '\r', '\n']).len();
    let rest = bytes[last_line..content.end].iter().position(|&byte| byte == b'\n' || byte == b'\r');
    start..rest.map_or(content.end, |length| last_line + length)
}

/// Skips blanks, line breaks, comments, byte order marks and the given indicators; `&` and `!` are skipped with the name after
/// them.
fn skip(bytes: &[u8], mut at: usize, indicators: &[u8]) -> usize {
    let until = |from: usize, ends: &[u8]| {
        let length = bytes[from..].iter().position(|byte| ends.contains(byte));
        length.map_or(bytes.len(), |length| from + length)
    };
    while let Some(&byte) = bytes.get(at) {
        at = match byte {
            b' ' | b'\t' | b'\r' | b'\n' => at + 1,
            b'#' => until(at, b"\r\n"),
            0xef if bytes[at..].starts_with("\u{feff}".as_bytes()) => at + 3,
            byte if !indicators.contains(&byte) => return at,
            b'&' | b'!' => until(at, b" \t\r\n"),
            _ => at + 1,
        };
    }
    at
}
