//! The text of scalars, keys and tags, shared by the block and the one-line form.

use std::fmt::Write as _;

use crate::sanitize;
use crate::value::{Key, KeyKind, Node, Value};

use super::super::scalar as core_schema;
use super::LONGEST_IMPLICIT_KEY;
use super::plain::is_plain;

/// A scalar on one line.
pub(super) fn push_scalar(out: &mut String, node: &Node, is_in_flow: bool) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(number.as_str()),
        Value::String(text) => push_text(out, text, is_in_flow),
        Value::Secret(secret) => out.push_str(secret.mask()),
        Value::List(_) => out.push_str("[]"),
        Value::Map(_) => out.push_str("{}"),
    }
}

/// A key without its colon, with `? ` before it if it is too long for an implicit key.
pub(super) fn push_key(out: &mut String, key: &Key, is_in_flow: bool) -> KeyForm {
    let start = out.len();
    match key.kind {
        KeyKind::Collection => out.push_str(&key.name),
        KeyKind::Scalar if !matches!(core_schema::resolve(&key.name), Value::String(_)) => out.push_str(&key.name),
        KeyKind::Scalar | KeyKind::Text => push_text(out, &key.name, is_in_flow),
    }
    if out.len() - start <= LONGEST_IMPLICIT_KEY {
        return KeyForm::Implicit;
    }
    out.insert_str(start, "? ");
    KeyForm::Explicit
}

/// The form of a key, which decides what may follow it.
#[derive(PartialEq, Eq)]
pub(super) enum KeyForm {
    /// `key:`
    Implicit,
    /// `? key` and `:` on the next line.
    Explicit,
}

/// The tag, if the value has one, and a space if something follows.
pub(super) fn push_tag(out: &mut String, node: &Node) -> bool {
    let Some(tag) = node.tag() else { return false };
    let (open, name, close) = match tag.strip_prefix("!<").and_then(|uri| uri.strip_suffix('>')) {
        Some(uri) => ("!<", uri, ">"),
        None => match tag.strip_prefix("!!") {
            Some(name) => ("!!", name, ""),
            None => ("!", tag.trim_start_matches('!'), ""),
        },
    };
    out.push_str(open);
    for byte in name.bytes() {
        let is_allowed = byte.is_ascii_alphanumeric() || b"-#;/?:@&=+$_.~*'()".contains(&byte);
        if is_allowed || (byte == b'!' && !close.is_empty()) || (byte == b',' && !close.is_empty()) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out.push_str(close);
    true
}

/// Text on one line: plain if that is safe, single-quoted if it has double quotes, double-quoted otherwise.
fn push_text(out: &mut String, text: &str, is_in_flow: bool) {
    if is_plain(text, is_in_flow) {
        out.push_str(text);
    } else if text.contains(['"', '\\']) && !text.chars().any(|c| matches!(c, '\n' | '\t') || must_be_escaped(c)) {
        out.push('\'');
        out.push_str(&text.replace('\'', "''"));
        out.push('\'');
    } else {
        push_double_quoted(out, text);
    }
}

fn push_double_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{1b}' => out.push_str("\\e"),
            c if must_be_escaped(c) => {
                let code = u32::from(c);
                // Writing to a String cannot fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Hidden characters, and those that YAML does not allow in a file.
pub(super) fn must_be_escaped(c: char) -> bool {
    sanitize::is_hidden(c) || matches!(c, '\u{fffe}' | '\u{ffff}')
}
