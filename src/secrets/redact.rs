//! Redacts the values of a text that may contain secrets and could not be parsed: layout and keys stay, everything else becomes `*`.

/// A copy with the same byte offsets in which no value can be read.
///
/// The text did not parse, so this cannot rely on a parser; it looks for keys and hides whatever it is not sure about.
pub fn redact_values(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut quote: Option<char> = None;
    // The column beyond which lines continue a scalar, while one is open.
    let mut scalar: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(column) = scalar
            && (line.trim().is_empty() || indent > column)
        {
            hide(line, &mut shown);
            continue;
        }
        let mut reader = LineRedactor { line, at: 0, quote, expects_key: true, last_mark: indent, scalar: None };
        reader.reveal_keys(&mut shown);
        (quote, scalar) = (reader.quote, reader.scalar);
    }
    shown
}

/// The keys of metadata below which literal values are sent: headers, bodies, query values and defaults.
const LITERALS: [&str; 5] = ["httpHeaders", "headers", "body", "query", "defaults"];

/// Whether a text names a key of metadata below which literal values are sent.
pub(super) fn names_literals(text: &str) -> bool {
    LITERALS.iter().any(|key| text.contains(key))
}

/// Whether literal values are sent below a key of metadata.
pub(super) fn is_literal_key(key: &str) -> bool {
    LITERALS.contains(&key)
}

/// A copy of a metadata file with the same byte offsets that shows everything but literal headers, bodies, query values and
/// `defaults`.
pub fn redact_request_values(text: &str) -> String {
    let redacted = redact_values(text);
    // Without indentation that means something, a line does not say what it is part of.
    if text.trim_start().starts_with(['{', '[']) {
        return redacted;
    }
    let mut inside: Option<usize> = None;
    let mut shown = String::with_capacity(text.len());
    for (line, hidden) in text.split_inclusive('\n').zip(redacted.split_inclusive('\n')) {
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        let is_inside = inside.is_some_and(|column| {
            content.trim().is_empty() || indent > column || indent == column && content.starts_with('-')
        });
        if !is_inside {
            inside = names_literals(line).then_some(indent);
        }
        shown.push_str(if inside.is_some() { hidden } else { line });
    }
    shown
}

/// Reads one line.
struct LineRedactor<'a> {
    line: &'a str,
    at: usize,
    /// The quote that is still open, perhaps since an earlier line.
    quote: Option<char>,
    /// Whether a key is allowed here: at the start of a line, and inside flow collections.
    expects_key: bool,
    /// The column of the last key or list mark, which a following scalar belongs to.
    last_mark: usize,
    /// Set when a scalar begins that deeper lines may continue.
    scalar: Option<usize>,
}

impl LineRedactor<'_> {
    fn reveal_keys(&mut self, shown: &mut String) {
        while self.at < self.line.len() {
            let rest = &self.line[self.at..];
            let length = match self.quote {
                Some(mark) => {
                    let end = closing(rest, mark);
                    self.quote = self.quote.filter(|_| end.is_none());
                    hide(&rest[..end.unwrap_or(rest.len())], shown);
                    end.unwrap_or(rest.len())
                }
                None => self.token(shown),
            };
            self.at += length;
        }
    }

    /// One token: a blank, a mark of structure, a key, or something to hide. Gives its length.
    fn token(&mut self, shown: &mut String) -> usize {
        let rest = &self.line[self.at..];
        let first = rest.chars().next().unwrap_or(' ');
        let is_apart = |rest: &str| rest.is_empty() || rest.starts_with([' ', '\n', '\r']);
        match first {
            ' ' | '\n' | '\r' | '\t' => shown.push(first),
            '{' | '}' | '[' | ']' | ',' => {
                shown.push(first);
                self.expects_key = !matches!(first, '}' | ']');
            }
            '-' | '?' if self.expects_key && is_apart(&rest[1..]) => {
                shown.push(first);
                self.last_mark = self.at;
            }
            _ if self.expects_key && key_length(rest).is_some() => {
                let length = key_length(rest).unwrap_or(0);
                shown.push_str(&rest[..length]);
                self.expects_key = false;
                self.last_mark = self.at;
                return length;
            }
            '"' | '\'' => return self.quoted(rest, first, shown),
            // A value may hold anything, so it goes on to the end of the line.
            _ => {
                hide(rest, shown);
                if !matches!(first, '&' | '!' | '#') {
                    self.scalar = Some(self.last_mark);
                }
                return rest.len();
            }
        }
        first.len_utf8()
    }

    fn quoted(&mut self, rest: &str, mark: char, shown: &mut String) -> usize {
        self.expects_key = false;
        let length = closing(&rest[1..], mark).map(|end| end + 1);
        if length.is_none() {
            self.quote = Some(mark);
        }
        hide(&rest[..length.unwrap_or(rest.len())], shown);
        length.unwrap_or(rest.len())
    }
}

/// The length of a key and its colon at the start of a text, if it surely is one.
fn key_length(text: &str) -> Option<usize> {
    if let Some(mark) = text.chars().next().filter(|c| matches!(c, '"' | '\'')) {
        let end = closing(&text[1..], mark)? + 1;
        let colon = text[end..].starts_with(':');
        return (colon && is_name(&text[1..end - 1])).then_some(end + 1);
    }
    let colon = text.find(':')?;
    let is_apart = text[colon + 1..].is_empty() || text[colon + 1..].starts_with([' ', '\n', '\r']);
    (is_apart && is_name(&text[..colon])).then_some(colon + 1)
}

/// The byte after the closing quote.
fn closing(text: &str, mark: char) -> Option<usize> {
    let mut is_escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if mark == '"' => is_escaped = true,
            c if c == mark => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// Whether text looks like a key; anything else before a colon might be a value.
fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '.')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
}

/// Every character as asterisks of the same length; blanks and line breaks stay.
fn hide(text: &str, shown: &mut String) {
    for c in text.chars() {
        match c {
            ' ' | '\n' => shown.push(c),
            c => shown.extend(std::iter::repeat_n('*', c.len_utf8())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn metadata_shows_everything_but_what_it_sends_literally() {
        let text = "resourceInfo:\n  secretInAttributes: [secret\noperationInfo:\n  getResource:\n    httpHeaders:\n    - name: X\n      value: hunter2\n    path: /a\n";
        let shown = redact_request_values(text);
        assert!(shown.contains("secretInAttributes: [secret") && shown.contains("path: /a"), "{shown}");
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(!redact_request_values("{\n\"headers\":\n{\"a\": \"hunter2\"").contains("hunter2"));
        assert!(!redact_request_values("a: {body: {x: hunter2\n").contains("hunter2"));
    }

    #[test]
    fn keys_and_layout_stay() {
        let text = "data:\n  user: admin\n  \"password\": \"hunter2\"\n- a: [x, hunter2]\n";
        assert_eq!(redact_values(text), "data:\n  user: *****\n  \"password\": *********\n- a: [** ********\n");
        assert_eq!(redact_values(r#"{"a": "hunter2", "b":1}"#), r#"{"a": *********, "b":**"#);
        assert_eq!(redact_values("- a: 1\n  b:\n    c: 2\n"), "- a: *\n  b:\n    c: *\n");
    }

    #[test]
    fn texts_over_several_lines_are_hidden_whole() {
        let block = "key: |\n  hunter2: x\n\n  more: y\nnext: z\n";
        assert_eq!(redact_values(block), "key: *\n  ******** *\n\n  ***** *\nnext: *\n");
        assert_eq!(redact_values("- |\n  hunter2: x\nb: c\n"), "- *\n  ******** *\nb: *\n");
        let quoted = "key: \"first\n  hunter2: x\"\nnext: z\n";
        assert_eq!(redact_values(quoted), "key: ******\n  ******** **\nnext: *\n");
    }

    #[test]
    fn what_only_looks_like_a_key_is_hidden() {
        for text in [
            "password:hunter2",
            "hunter2!x: y",
            "- hunter2",
            "# hunter2: old",
            "*hunter2",
            "a: hunter2: x",
            "a: b\n  hunter2: x",
            "a: 'hunter2': x",
        ] {
            assert!(!redact_values(text).contains("hunter2"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn offsets_stay(text in any::<String>()) {
            let shown = redact_values(&text);
            prop_assert_eq!(shown.len(), text.len());
            let breaks = |text: &str| text.match_indices('\n').map(|(at, _)| at).collect::<Vec<_>>();
            prop_assert_eq!(breaks(&shown), breaks(&text));
        }

        #[test]
        fn values_are_hidden(indent in 0usize..6, key in "[a-z]{1,8}", mark in "[\"']?", tail in "[ ,:#\\]}\"'\na-z]{0,8}") {
            let text = format!("{}{key}: {mark}S3cr3tV4lu3{tail}", " ".repeat(indent));
            prop_assert!(!redact_values(&text).contains("S3cr3tV4lu3"), "{}", redact_values(&text));
        }
    }
}
