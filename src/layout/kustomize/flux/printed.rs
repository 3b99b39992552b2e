//! Texts as the library of Kubernetes prints them in YAML: plain where that is possible, in quotes or as a block where it is not.

use std::fmt::Write as _;

/// How a text is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
}

/// A map with one key as it is printed, its value being this text.
pub(super) fn as_value(text: &str) -> String {
    match style(text, false) {
        Style::Literal => literal(text),
        style => format!("v: {}\n", scalar(text, style)),
    }
}

/// A map with this text as its key.
pub(super) fn as_key(text: &str) -> String {
    format!("{}: 0\n", scalar(text, style(text, true)))
}

fn scalar(text: &str, style: Style) -> String {
    match style {
        Style::Plain | Style::Literal => text.to_owned(),
        Style::SingleQuoted => format!("'{}'", text.replace('\'', "''")),
        Style::DoubleQuoted => double_quoted(text),
    }
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            other if !is_printable(other) => {
                let _ = write!(quoted, "\\U{:08X}", u32::from(other));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

fn literal(text: &str) -> String {
    let indentation = if text.starts_with([' ', '\n']) { "2" } else { "" };
    let chomping = match text.strip_suffix('\n') {
        None => "-",
        Some(rest) if rest.is_empty() || rest.ends_with('\n') => "+",
        Some(_) => "",
    };
    let mut block = format!("v: |{indentation}{chomping}\n");
    for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
        if !line.is_empty() {
            block.push_str("  ");
            block.push_str(line);
        }
        block.push('\n');
    }
    block
}

/// The style that the library chooses for a text that is not read as another type.
fn style(text: &str, is_key: bool) -> Style {
    let is_special = text.chars().any(|character| !is_printable(character));
    if text.is_empty() || is_special || text.contains(" \n") {
        return Style::DoubleQuoted;
    }
    if text.contains('\n') {
        return if is_key || text.ends_with(' ') { Style::DoubleQuoted } else { Style::Literal };
    }
    if text.starts_with(' ') || text.ends_with(' ') || has_indicator(text) { Style::SingleQuoted } else { Style::Plain }
}

/// Whether a text on one line means something else without quotes.
fn has_indicator(text: &str) -> bool {
    if text.starts_with("---") || text.starts_with("...") {
        return true;
    }
    let mut before = ' ';
    let mut characters = text.chars().peekable();
    let mut is_first = true;
    while let Some(character) = characters.next() {
        let is_last_of_word = characters.peek().is_none_or(|next| *next == ' ');
        let is_indicator = match character {
            '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`'
                if is_first =>
            {
                true
            }
            '?' | '-' if is_first => is_last_of_word,
            ':' => is_last_of_word,
            '#' => before == ' ',
            _ => false,
        };
        if is_indicator {
            return true;
        }
        (before, is_first) = (character, false);
    }
    false
}

fn is_printable(character: char) -> bool {
    matches!(character, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_printed_as_kubernetes_prints_them() {
        for (text, expected) in [
            ("${A}", "v: ${A}\n"),
            ("a ${A} b", "v: a ${A} b\n"),
            ("${A}: x", "v: '${A}: x'\n"),
            ("a:${A}", "v: a:${A}\n"),
            ("it's ${A}", "v: it's ${A}\n"),
            ("'${A}'", "v: '''${A}'''\n"),
            ("\"${A}\"", "v: '\"${A}\"'\n"),
            (" ${A}", "v: ' ${A}'\n"),
            ("${A} # x", "v: '${A} # x'\n"),
            ("*.${A}", "v: '*.${A}'\n"),
            ("a\t${A}", "v: \"a\\t${A}\"\n"),
            ("a\n${A}\n", "v: |\n  a\n  ${A}\n"),
            ("a\n\n${A}", "v: |-\n  a\n\n  ${A}\n"),
            ("${A}\n\n", "v: |+\n  ${A}\n\n"),
            (" a\n${A}\n", "v: |2\n   a\n  ${A}\n"),
            ("a \n${A}\n", "v: \"a \\n${A}\\n\"\n"),
        ] {
            assert_eq!(as_value(text), expected);
        }
        assert_eq!(as_key("${A}"), "${A}: 0\n");
    }
}
