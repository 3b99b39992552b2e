//! Block-style YAML: two spaces of indentation, dashes in the column of their key, literal blocks for texts of several lines.

use crate::value::{Entry, Map, Node, Value};

use super::scalar::{KeyForm, must_be_escaped, push_key, push_scalar, push_tag};

/// The value as a YAML document, with a line break at its end.
///
/// Reading it back gives an identical value. Aliases are written out. A secret is written as `•••`.
pub fn to_yaml(node: &Node) -> String {
    let mut writer = BlockWriter { out: String::new() };
    if is_block(node) {
        if push_tag(&mut writer.out, node) {
            writer.out.push('\n');
        }
        writer.collection(node, 0);
    } else {
        writer.scalar(node, 0, Position::Root);
    }
    writer.out
}

struct BlockWriter {
    out: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Root,
    Inside,
}

impl BlockWriter {
    /// Writes a list or map with children, starting at the current column.
    fn collection(&mut self, node: &Node, column: usize) {
        match &node.value {
            Value::Map(map) => self.map(map, column),
            _ => self.list(node.as_list().unwrap_or_default(), column),
        }
    }

    fn map(&mut self, map: &Map, column: usize) {
        for (at, entry) in map.entries().iter().enumerate() {
            if at > 0 {
                self.indent(column);
            }
            self.entry(entry, column);
        }
    }

    fn entry(&mut self, entry: &Entry, column: usize) {
        let value = &entry.value;
        if push_key(&mut self.out, &entry.key, false) == KeyForm::Explicit {
            self.out.push('\n');
            self.indent(column);
            self.out.push_str(": ");
            return self.after_indicator(value, column);
        }
        self.out.push(':');
        if is_block(value) {
            self.tag(value, " ");
            let inner = if matches!(value.value, Value::List(_)) { column } else { column + 2 };
            self.out.push('\n');
            self.indent(inner);
            self.collection(value, inner);
        } else {
            self.out.push(' ');
            self.scalar(value, column, Position::Inside);
        }
    }

    fn list(&mut self, items: &[Node], column: usize) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.indent(column);
            }
            self.out.push_str("- ");
            self.after_indicator(item, column);
        }
    }

    /// Writes what follows a `- ` or `: ` in this column; a collection starts on the same line.
    fn after_indicator(&mut self, node: &Node, column: usize) {
        if !is_block(node) {
            return self.scalar(node, column, Position::Inside);
        }
        let inner = column + 2;
        if self.tag(node, "") {
            self.out.push('\n');
            self.indent(inner);
        }
        self.collection(node, inner);
    }

    fn scalar(&mut self, node: &Node, column: usize, position: Position) {
        if push_tag(&mut self.out, node) {
            self.out.push(' ');
        }
        match &node.value {
            Value::String(text) if is_literal(text, position) => self.literal(text, column + 2),
            _ => {
                push_scalar(&mut self.out, node, false);
                self.out.push('\n');
            }
        }
    }

    fn literal(&mut self, text: &str, column: usize) {
        self.out.push('|');
        if text.starts_with([' ', '\n']) {
            self.out.push('2');
        }
        let content = text.trim_end_matches('\n');
        match text.len() - content.len() {
            0 => self.out.push('-'),
            1 => {}
            _ => self.out.push('+'),
        }
        self.out.push('\n');
        for line in content.split('\n') {
            if !line.is_empty() {
                self.indent(column);
                self.out.push_str(line);
            }
            self.out.push('\n');
        }
        self.out.extend(std::iter::repeat_n('\n', (text.len() - content.len()).saturating_sub(1)));
    }

    fn tag(&mut self, node: &Node, before: &str) -> bool {
        if node.tag().is_some() {
            self.out.push_str(before);
        }
        push_tag(&mut self.out, node)
    }

    fn indent(&mut self, column: usize) {
        self.out.extend(std::iter::repeat_n(' ', column));
    }
}

/// Whether a value is written on lines of its own.
fn is_block(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => !map.is_empty(),
        Value::List(_) => node.as_list().is_some_and(|items| !items.is_empty()),
        _ => false,
    }
}

/// Whether a literal block represents exactly this text, visibly.
///
/// Parsers disagree on lines of nothing but blanks at the edges, and on an indentation digit at the root.
fn is_literal(text: &str, position: Position) -> bool {
    let content = text.trim_end_matches('\n');
    let is_blank = |line: &str| line.bytes().all(|byte| matches!(byte, b' ' | b'\t'));
    let mut lines = content.split('\n');
    let first = lines.next().unwrap_or_default();
    let last = lines.next_back().unwrap_or(first);
    text.contains('\n')
        && !is_blank(last)
        && !text.starts_with('\t')
        && (first.is_empty() || !is_blank(first))
        && (position == Position::Inside || !text.starts_with([' ', '\n']))
        && !text.chars().any(must_be_escaped)
}
