//! Pretty-printed JSON.

use std::fmt::Write as _;

use crate::value::{Node, Value};

use super::MASK;
use super::scalar::must_be_escaped;

/// The value as JSON, indented by two spaces, with a line break at its end.
///
/// Numbers keep every digit. What JSON cannot say is written as near as it can be: `.inf` and `.nan` as strings, tags not at all,
/// a secret as `"•••"`.
pub fn to_json(node: &Node) -> String {
    let mut out = String::new();
    push_node(&mut out, node, 0);
    out.push('\n');
    out
}

fn push_node(out: &mut String, node: &Node, column: usize) {
    match &node.value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.to_json() {
            Some(text) => out.push_str(&text),
            None => push_text(out, number.as_str()),
        },
        Value::String(text) => push_text(out, text),
        Value::Secret(_) => push_text(out, MASK),
        Value::List(_) => {
            let items = node.as_list().unwrap_or_default();
            push_children(out, ('[', ']'), items, column, |out, item| push_node(out, item, column + 2));
        }
        Value::Map(map) => push_children(out, ('{', '}'), map.entries(), column, |out, entry| {
            push_text(out, &entry.key.name);
            out.push_str(": ");
            push_node(out, &entry.value, column + 2);
        }),
    }
}

fn push_children<T>(
    out: &mut String,
    (open, close): (char, char),
    children: &[T],
    column: usize,
    push: impl Fn(&mut String, &T),
) {
    out.push(open);
    for (at, child) in children.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.extend(std::iter::repeat_n(' ', column + 2));
        push(out, child);
    }
    if !children.is_empty() {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', column));
    }
    out.push(close);
}

fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if must_be_escaped(c) => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
