//! Lines, columns and comments of a text.

use std::ops::Range;

/// The first byte of the line that holds an offset.
pub(super) fn start_of_line(text: &str, at: usize) -> usize {
    text[..at].rfind(['\n', '\r']).map_or(0, |end| end + 1)
}

/// The end of the line that holds an offset, its break left out.
pub(super) fn end_of_line(text: &str, at: usize) -> usize {
    text[at..].find(['\n', '\r']).map_or(text.len(), |length| at + length)
}

/// The first byte of the next line.
pub(super) fn next_line(text: &str, at: usize) -> usize {
    let end = end_of_line(text, at);
    let rest = &text[end..];
    end + if rest.starts_with("\r\n") { 2 } else { usize::from(!rest.is_empty()) }
}

/// The column of an offset if nothing but blanks and block indicators precede it in its line.
pub(super) fn block_column(text: &str, at: usize) -> Option<usize> {
    let before = &text[start_of_line(text, at)..at];
    before.bytes().all(|byte| matches!(byte, b' ' | b'-' | b'?' | b':')).then_some(before.len())
}

/// Whether nothing precedes an offset in its line.
pub(super) fn is_first_in_line(text: &str, at: usize) -> bool {
    text[start_of_line(text, at)..at].bytes().all(|byte| byte == b' ' || byte == b'\t')
}

/// The comment that follows in the same line with only blanks before it, from the blanks on.
pub(super) fn comment_after(text: &str, at: usize) -> Option<Range<usize>> {
    let end = end_of_line(text, at);
    let rest = &text[at..end];
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    (blanks > 0 && rest[blanks..].starts_with('#')).then_some(at..end)
}

/// The start of the comment lines directly above a line that start in the given column.
pub(super) fn with_comments_above(text: &str, line: usize, column: usize, not_before: usize) -> usize {
    let mut start = line;
    while start > not_before {
        let above = start_of_line(text, start - 1 - usize::from(text[..start].ends_with("\r\n")));
        let content = text[above..start].trim_end();
        let is_comment = content.len() > column
            && content.as_bytes()[..column].iter().all(|&byte| byte == b' ')
            && content.as_bytes()[column] == b'#';
        if !is_comment || above < not_before {
            break;
        }
        start = above;
    }
    start
}

/// The line break of a text.
pub(super) fn line_break(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Lines after the first moved to the right, and line breaks as the text has them.
pub(super) fn indented(lines: &str, column: usize, line_break: &str) -> String {
    let mut out = String::with_capacity(lines.len());
    for (number, line) in lines.split('\n').enumerate() {
        if number > 0 {
            out.push_str(line_break);
            if !line.is_empty() {
                out.extend(std::iter::repeat_n(' ', column));
            }
        }
        out.push_str(line);
    }
    out
}

/// The first byte that is neither blank nor comment.
pub(super) fn next_token(text: &str, mut at: usize) -> usize {
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        if !text[at..].starts_with('#') {
            return at;
        }
        at = end_of_line(text, at);
    }
}
