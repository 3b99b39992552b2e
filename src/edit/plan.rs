//! Plans edits: walks the old and the new value together, and replaces what differs where it is written.

use std::collections::HashMap;
use std::ops::Range;

use super::{Edit, lines};
use crate::document::write::{self, KeyOrder, Layout};
use crate::document::{Document, Format, layout};
use crate::text::Span;
use crate::value::{Entry, Key, KeyKind, Map, Node, StepKind, Value};

/// How much a plan may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Boldness {
    /// Aliases and merge keys stay where they still have the right value.
    Careful,
    /// Aliases and merge keys are replaced by their values.
    Bold,
    /// In addition, new values are written on one line, because what follows a block scalar may be read as part of it.
    Inline,
}

/// A value cannot be edited in place; its parent must be rewritten.
pub(super) struct NotInPlace;

/// The position of a value in its parent.
#[derive(Debug, Clone, Copy)]
pub(super) enum ValuePosition<'a> {
    /// The whole document.
    Root,
    /// After `key:` in a block map whose keys start in this column.
    Entry { key: &'a Key, column: usize },
    /// After a dash in this column; the offset is just after it.
    Item { behind_dash: usize, column: usize },
    /// After `key:` between braces.
    FlowEntry { key: &'a Key },
    /// Between brackets; whether its text starts with the value, and not with a tag or an anchor.
    FlowItem { starts_clean: bool },
}

pub(super) struct EditPlan<'a> {
    pub(super) text: &'a str,
    document: &'a Document,
    new: &'a Node,
    pub(super) format: Format,
    pub(super) boldness: Boldness,
    pub(super) line_break: &'static str,
    /// By the span of an anchored value: its new value, or `None` if it is removed.
    anchored: HashMap<Span, Option<Node>>,
    pub(super) edits: Vec<Edit>,
}

impl<'a> EditPlan<'a> {
    pub(super) fn new(
        text: &'a str,
        document: &'a Document,
        new: &'a Node,
        format: Format,
        boldness: Boldness,
    ) -> Self {
        let line_break = lines::line_break(text);
        let anchored = HashMap::new();
        let mut plan = Self { text, document, new, format, boldness, line_break, anchored, edits: Vec::new() };
        if !document.anchors.is_empty() {
            plan.record_anchored(&document.root, Some(new));
        }
        plan
    }

    /// The edits in order; `None` if the document must be rewritten.
    pub(super) fn edits(mut self) -> Option<Vec<Edit>> {
        let root = &self.document.root;
        self.change(root, self.new, ValuePosition::Root).ok()?;
        self.lift_insertions();
        self.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let is_apart = self.edits.windows(2).all(|pair| pair[0].range.end <= pair[1].range.start);
        is_apart.then_some(self.edits)
    }

    /// Moves insertions that are inside removed lines to before those lines.
    fn lift_insertions(&mut self) {
        let mut gone: Vec<Range<usize>> =
            self.edits.iter().filter(|edit| edit.text.is_empty()).map(|edit| edit.range.clone()).collect();
        gone.sort_by_key(|range| std::cmp::Reverse(range.start));
        for edit in self.edits.iter_mut().filter(|edit| edit.range.is_empty()) {
            for lines in &gone {
                if lines.start < edit.range.start && edit.range.start < lines.end {
                    let above = self.text[..lines.start].trim_end_matches('\n').trim_end_matches('\r').len();
                    let above = above.max(lines.start.saturating_sub(self.line_break.len()));
                    edit.range = above..above;
                }
            }
        }
    }

    pub(super) fn root_span(&self) -> Span {
        self.document.root.span
    }

    /// Records the new values of anchored values, which aliases refer to.
    fn record_anchored(&mut self, old: &Node, new: Option<&Node>) {
        if old.step().is_some() {
            return;
        }
        if old.extra.as_ref().is_some_and(|extra| extra.anchor.is_some()) {
            self.anchored.insert(old.span, new.cloned());
        }
        match &old.value {
            Value::Map(map) => {
                for entry in map.entries() {
                    let new = new.and_then(Node::as_map).and_then(|map| same_key(map, &entry.key));
                    self.record_anchored(&entry.value, new.map(|entry| &entry.value));
                }
            }
            Value::List(list) => {
                for (index, item) in list.items().iter().enumerate() {
                    let new = new.and_then(Node::as_list).and_then(|items| items.get(index));
                    self.record_anchored(item, new);
                }
            }
            _ => {}
        }
    }

    /// Changes an old value to the new one.
    pub(super) fn change(&mut self, old: &Node, new: &Node, position: ValuePosition<'_>) -> Result<(), NotInPlace> {
        if is_alias(old) {
            let stays = self.boldness < Boldness::Bold
                && self.anchored.get(&old.span).is_none_or(|it| it.as_ref().is_some_and(|it| it.is_identical(new)))
                && (self.anchored.contains_key(&old.span) || old.is_identical(new));
            return if stays { Ok(()) } else { self.replace(old, new, position) };
        }
        if self.anchored.is_empty() && old.is_identical(new) {
            return Ok(());
        }
        if old.tag() != new.tag() {
            return self.replace(old, new, position);
        }
        let mark = self.edits.len();
        let changed = match (&old.value, &new.value) {
            (Value::Map(before), Value::Map(after)) if self.is_flow(old, position) => self.flow_map(old, before, after),
            (Value::Map(before), Value::Map(after)) => self.block_map(old, before, after),
            (Value::List(before), Value::List(after)) if self.is_flow(old, position) => {
                self.flow_list(old, before.items(), after.items())
            }
            (Value::List(before), Value::List(after)) => self.block_list(old, before.items(), after.items()),
            _ if old.is_identical(new) => Ok(()),
            _ => Err(NotInPlace),
        };
        changed.or_else(|NotInPlace| {
            self.edits.truncate(mark);
            self.replace(old, new, position)
        })
    }

    /// Whether a collection is written with brackets.
    fn is_flow(&self, node: &Node, position: ValuePosition<'_>) -> bool {
        let slice = &self.text[node.span.range()];
        let first_child = match &node.value {
            Value::Map(map) => map.entries().first().map(|entry| entry.key.span.start),
            Value::List(list) => list.items().first().map(|item| item.span.start),
            _ => None,
        };
        matches!(position, ValuePosition::FlowEntry { .. } | ValuePosition::FlowItem { .. })
            || (slice.starts_with(['{', '[']) && slice.ends_with(['}', ']']) && first_child != Some(node.span.start))
    }

    /// Replaces a value by another.
    pub(super) fn replace(&mut self, old: &Node, new: &Node, position: ValuePosition<'_>) -> Result<(), NotInPlace> {
        let written = written(old);
        let behind = match position {
            ValuePosition::Root => return Err(NotInPlace),
            ValuePosition::Entry { key, .. } => {
                layout::after_indicator(self.text, key.span.range().end, b":").ok_or(NotInPlace)?
            }
            ValuePosition::Item { behind_dash, .. } => behind_dash,
            ValuePosition::FlowEntry { key } => return self.replace_flow_value(key, written, old, new),
            ValuePosition::FlowItem { starts_clean } => {
                return if starts_clean { self.replace_flow_item(written, old, new) } else { Err(NotInPlace) };
            }
        };
        if behind > written.start {
            return Err(NotInPlace);
        }
        let between = &self.text[behind..written.start];
        let is_one_line = !self.text[written.clone()].contains(['\n', '\r']);
        let is_simple = is_scalar(new) && new.tag().is_none() && is_one_line && !written.is_empty();
        let (column, mut body) = match position {
            ValuePosition::Entry { column, .. } => (column, self.after_key(new)),
            ValuePosition::Item { column, .. } => (column, self.after_dash(new)),
            _ => return Err(NotInPlace),
        };
        if is_simple && !body.contains('\n') && between.trim_matches(' ').is_empty() && !between.is_empty() {
            let text = self.scalar_like(&self.text[written.clone()], new);
            self.edits.push(Edit { range: written, text });
            return Ok(());
        }
        if let Some(anchor) = old.extra.as_ref().filter(|_| !is_alias(old)).and_then(|extra| extra.anchor.as_ref()) {
            body.insert_str(0, &format!(" &{anchor}"));
        }
        let mut range = behind..written.end;
        let comment = comment_in(between).or_else(|| {
            // A comment after a value of several lines would end up after the last of them.
            let after = lines::comment_after(self.text, written.end).filter(|_| body.contains('\n'))?;
            range.end = after.end;
            Some(self.text[after].trim())
        });
        if let Some(comment) = comment {
            let first_line = body.find('\n').unwrap_or(body.len());
            body.insert_str(first_line, &format!(" {comment}"));
        }
        let text = lines::indented(&body, column, self.line_break);
        self.edits.push(Edit { range, text });
        Ok(())
    }

    /// A value as it follows `key:`.
    fn after_key(&self, value: &Node) -> String {
        let key = Key { name: "k".into(), kind: KeyKind::Text, span: value.span };
        let text = self.block_text(value, |value| Node::map(vec![Entry { key, value }], self.new.span));
        text.strip_prefix("k:").unwrap_or(&text).to_owned()
    }

    /// A value as it follows a dash.
    fn after_dash(&self, value: &Node) -> String {
        let text = self.block_text(value, |value| Node::list(vec![value], self.new.span));
        text.strip_prefix('-').unwrap_or(&text).to_owned()
    }

    /// A value in a collection made by `wrap`, as block YAML without the last line break.
    pub(super) fn block_text(&self, value: &Node, wrap: impl FnOnce(Node) -> Node) -> String {
        let is_inline = self.boldness == Boldness::Inline || ends_in_blank_lines(value);
        let held = if is_inline { Node::new(Value::Null, value.span) } else { value.clone() };
        let mut text = write::to_yaml(&wrap(held));
        text.truncate(text.len() - usize::from(text.ends_with('\n')));
        if is_inline {
            text.truncate(text.len() - "null".len());
            text.push_str(&write::to_inline(value));
        }
        text
    }

    /// A scalar with the quotes that the old one had.
    pub(super) fn scalar_like(&self, old: &str, new: &Node) -> String {
        let json = || write::json(new, Layout::Line, KeyOrder::Written);
        let plain = || match self.format {
            Format::Yaml => write::to_inline(new),
            Format::Json => json(),
        };
        let Value::String(text) = &new.value else { return plain() };
        let is_visible = !text.chars().any(|c| c.is_control() || crate::sanitize::is_hidden(c));
        match old.as_bytes().first() {
            Some(b'"') if is_visible => json(),
            Some(b'\'') if is_visible => format!("'{}'", text.replace('\'', "''")),
            _ => plain(),
        }
    }
}

/// The range in which a value is written; of an alias the alias itself, not its value.
pub(super) fn written(node: &Node) -> Range<usize> {
    match node.step() {
        Some(step) if step.kind == StepKind::Alias => step.at.range(),
        _ => node.span.range(),
    }
}

fn is_alias(node: &Node) -> bool {
    node.step().is_some_and(|step| step.kind == StepKind::Alias)
}

/// Whether an entry is written in its map, and not brought in by a merge key.
pub(super) fn is_written(entry: &Entry) -> bool {
    entry.value.step().is_none_or(|step| step.kind != StepKind::MergeKey)
}

pub(super) fn is_scalar(node: &Node) -> bool {
    !matches!(node.value, Value::List(_) | Value::Map(_))
}

/// The entry with an equal key of equal kind.
pub(super) fn same_key<'m>(map: &'m Map, key: &Key) -> Option<&'m Entry> {
    map.entry(&key.name).filter(|entry| entry.key.is_same(key))
}

/// The first comment between an indicator and its value.
fn comment_in(between: &str) -> Option<&str> {
    let at = between.find(" #").or_else(|| between.find("\t#"))?;
    between[at..].lines().next().map(str::trim)
}

/// Whether a value ends in blank lines, so that blank lines after it would become part of it.
fn ends_in_blank_lines(node: &Node) -> bool {
    match &node.value {
        Value::String(text) => text.ends_with("\n\n"),
        Value::Map(map) => map.entries().last().is_some_and(|entry| ends_in_blank_lines(&entry.value)),
        Value::List(list) => list.items().last().is_some_and(ends_in_blank_lines),
        _ => false,
    }
}
