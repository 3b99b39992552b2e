//! JSON, pretty-printed, on one line or compact, from nodes or from any other tree that drives [`JsonWriter`].

use std::fmt::Write as _;

use crate::value::{Entry, Node, Value};

use super::scalar::must_be_escaped;

/// The value as JSON, indented by two spaces, with a line break at its end.
///
/// Numbers keep every digit. What JSON cannot express is written as closely as possible: `.inf` and `.nan` as strings, tags not at
/// all, a secret as `"•••"`.
pub fn to_json(node: &Node) -> String {
    let mut text = json(node, Layout::Pretty, KeyOrder::Written);
    text.push('\n');
    text
}

/// How the parts of lists and maps are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Each item and entry on a line of its own, indented by two spaces.
    Pretty,
    /// All on one line, with a space after each comma and colon.
    Line,
    /// All on one line, without spaces.
    Compact,
}

/// The order in which the entries of maps are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyOrder {
    /// The order of the map.
    Written,
    /// By name.
    Sorted,
}

/// The value as JSON without a line break at its end; see [`to_json`] for what JSON cannot express.
pub fn json(node: &Node, layout: Layout, order: KeyOrder) -> String {
    let mut writer = JsonWriter::new(layout);
    write_node(&mut writer, node, order);
    writer.into_text()
}

fn write_node(writer: &mut JsonWriter, node: &Node, order: KeyOrder) {
    match &node.value {
        Value::Null => writer.literal("null"),
        Value::Bool(value) => writer.literal(if *value { "true" } else { "false" }),
        Value::Number(number) => match number.to_json() {
            Some(text) => writer.literal(&text),
            None => writer.text(number.as_str()),
        },
        Value::String(text) => writer.text(text),
        Value::Secret(secret) => writer.text(secret.mask()),
        Value::List(list) => writer.list(list.items(), |writer, item| write_node(writer, item, order)),
        Value::Map(map) => {
            let mut entries: Vec<&Entry> = map.entries().iter().collect();
            if order == KeyOrder::Sorted {
                entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
            }
            let members = entries.into_iter().map(|entry| (&entry.key.name, &entry.value));
            writer.map(members, |writer, value| write_node(writer, value, order));
        }
    }
}

/// Writes JSON piece by piece. The caller walks its own tree; the writer knows punctuation, indentation and escapes.
pub struct JsonWriter {
    out: String,
    layout: Layout,
    /// Which characters are written as `\uXXXX`.
    is_escaped: fn(char) -> bool,
    most_bytes: usize,
    depth: usize,
}

impl JsonWriter {
    /// A writer that escapes every character that is invisible or controls a terminal.
    pub fn new(layout: Layout) -> Self {
        Self { out: String::new(), layout, is_escaped: must_be_escaped, most_bytes: usize::MAX, depth: 0 }
    }

    /// The writer with another choice of the characters that are escaped beside quotes, backslashes and line breaks.
    #[must_use]
    pub fn escaping(self, is_escaped: fn(char) -> bool) -> Self {
        Self { is_escaped, ..self }
    }

    /// The writer with a size limit: soon after this many bytes nothing more is written.
    #[must_use]
    pub fn within(self, most_bytes: usize) -> Self {
        Self { most_bytes, ..self }
    }

    /// Whether the size limit is exceeded.
    pub fn is_full(&self) -> bool {
        self.out.len() > self.most_bytes
    }

    /// What was written.
    pub fn into_text(self) -> String {
        self.out
    }

    /// Writes `null`, `true`, `false` or a number as it is.
    pub fn literal(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Writes a string.
    pub fn text(&mut self, text: &str) {
        self.out.push('"');
        for c in text.chars() {
            if self.is_full() {
                break;
            }
            match c {
                '"' | '\\' => self.out.extend(['\\', c]),
                '\n' => self.out.push_str("\\n"),
                '\t' => self.out.push_str("\\t"),
                '\r' => self.out.push_str("\\r"),
                c if (self.is_escaped)(c) => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        // Writing to a String cannot fail.
                        let _ = write!(self.out, "\\u{unit:04x}");
                    }
                }
                c => self.out.push(c),
            }
        }
        self.out.push('"');
    }

    /// Writes a list whose items `write` writes.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, write: impl FnMut(&mut Self, T)) {
        self.parts('[', items, write, ']');
    }

    /// Writes a map whose values `write` writes.
    pub fn map<N: AsRef<str>, T>(
        &mut self,
        members: impl IntoIterator<Item = (N, T)>,
        mut write: impl FnMut(&mut Self, T),
    ) {
        let colon = if self.layout == Layout::Compact { ":" } else { ": " };
        let member = |writer: &mut Self, (name, value): (N, T)| {
            writer.text(name.as_ref());
            writer.out.push_str(colon);
            write(writer, value);
        };
        self.parts('{', members, member, '}');
    }

    fn parts<T>(
        &mut self,
        open: char,
        parts: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Self, T),
        close: char,
    ) {
        self.out.push(open);
        self.depth += 1;
        let mut is_first = true;
        for part in parts {
            if self.is_full() {
                break;
            }
            if !is_first {
                self.out.push_str(if self.layout == Layout::Line { ", " } else { "," });
            }
            is_first = false;
            self.line_break();
            write(self, part);
        }
        self.depth -= 1;
        if !is_first {
            self.line_break();
        }
        self.out.push(close);
    }

    fn line_break(&mut self) {
        if self.layout == Layout::Pretty {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', 2 * self.depth));
        }
    }
}
