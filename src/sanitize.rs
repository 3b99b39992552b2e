//! Makes text from repositories safe to show: nothing that steers a terminal, hides text or commands a CI runner passes through.
//!
//! Every byte that reaches a person goes through one of these functions. Machine formats keep exact values and rely on their
//! own escaping instead.

use std::borrow::Cow;
use std::fmt::Write as _;

/// One line of text: control characters, escapes, bidi marks and line breaks become visible escapes such as `\n` and `\u{202e}`.
pub fn inline(text: &str) -> Cow<'_, str> {
    escape_where(text, |c| c == '\n' || c == '\t' || is_hidden(c))
}

/// Text of several lines: like [`inline`], but line feeds and tabs stay.
pub fn block(text: &str) -> Cow<'_, str> {
    escape_where(text, is_hidden)
}

/// A copy of source text with the same byte offsets: each hidden character is replaced by visible ones of the same length.
///
/// Snippets need this: a span of the original must still mean the same characters.
pub fn same_length(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|c| c != '\n' && c != '\t' && is_hidden(c)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match (c != '\n' && c != '\t' && is_hidden(c), c.len_utf8()) {
            (false, _) => shown.push(c),
            (true, 1) => shown.push('?'),
            (true, 2) => shown.push('¿'),
            (true, 3) => shown.push('\u{fffd}'),
            (true, _) => shown.push_str("¿¿"),
        }
    }
    Cow::Owned(shown)
}

/// A path as git quotes it: as it is when printable, between double quotes with C escapes otherwise.
pub fn quoted_path(bytes: &[u8]) -> String {
    let plain = |text: &str| !text.chars().any(|c| c == '"' || c == '\\' || c == '\n' || c == '\t' || is_hidden(c));
    if let Ok(text) = std::str::from_utf8(bytes)
        && plain(text)
    {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => quoted.extend(['\\', c]),
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                c if is_hidden(c) => push_octal(&mut quoted, c.encode_utf8(&mut [0; 4]).as_bytes()),
                c => quoted.push(c),
            }
        }
        push_octal(&mut quoted, chunk.invalid());
    }
    quoted.push('"');
    quoted
}

/// Takes the force out of GitHub workflow commands in one finished line of human output.
///
/// The runner obeys `##[command]` anywhere in a line and `::command` after leading blanks, on both output streams. A backslash
/// or a zero-width space would be invisible or fragile; the marks themselves are broken visibly.
pub fn without_workflow_commands(line: &str) -> Cow<'_, str> {
    let starts_a_command = line.trim_start().starts_with("::");
    if !starts_a_command && !line.contains("##[") {
        return Cow::Borrowed(line);
    }
    let mut shown = line.replace("##[", "##\\[");
    if starts_a_command {
        let at = shown.len() - shown.trim_start().len();
        shown.insert(at, '\\');
    }
    Cow::Owned(shown)
}

/// Whether a character would steer the terminal, reorder or hide text, or break a line where none is meant.
pub fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        c if c.is_control() => true,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => true,
        '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

/// Whether a text is made of printable ASCII alone: safe as it is, one column for each byte.
pub fn is_printable_ascii(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn escape_where(text: &str, hidden: impl Fn(char) -> bool) -> Cow<'_, str> {
    // Nearly all text is plain ASCII, and that is decided much faster byte by byte.
    if is_printable_ascii(text) || !text.chars().any(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if !hidden(c) => shown.push(c),
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            '\u{1b}' => shown.push_str("\\e"),
            c => shown.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
        }
    }
    Cow::Owned(shown)
}

fn push_octal(quoted: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(quoted, "\\{byte:03o}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hidden_characters_become_visible() {
        assert_eq!(inline("a\x1b[31mb\r\n\u{202e}c"), "a\\e[31mb\\r\\n\\u{202e}c");
        assert_eq!(block("a\nb\u{7}"), "a\nb\\u{7}");
        assert_eq!(inline("naïve — 日本"), "naïve — 日本");
    }

    #[test]
    fn paths_are_quoted_as_git_quotes_them() {
        assert_eq!(quoted_path(b"a b/c.yaml"), "a b/c.yaml");
        assert_eq!(quoted_path(b"a\nb\xff\x1b\""), r#""a\nb\377\033\"""#);
    }

    #[test]
    fn workflow_commands_lose_their_force() {
        assert_eq!(without_workflow_commands("  ::error::x"), "  \\::error::x");
        assert_eq!(without_workflow_commands("x ##[add-mask]y"), "x ##\\[add-mask]y");
        assert_eq!(without_workflow_commands("a::b"), "a::b");
    }

    proptest! {
        #[test]
        fn nothing_hidden_survives(text in any::<String>()) {
            prop_assert!(!inline(&text).chars().any(|c| c == '\n' || is_hidden(c)));
            prop_assert!(!block(&text).chars().any(is_hidden));
            let same = same_length(&text);
            prop_assert_eq!(same.len(), text.len());
            prop_assert!(!same.chars().any(is_hidden));
        }

        #[test]
        fn any_bytes_make_a_printable_path(bytes in any::<Vec<u8>>()) {
            prop_assert!(!quoted_path(&bytes).chars().any(|c| c == '\n' || is_hidden(c)));
        }
    }
}
