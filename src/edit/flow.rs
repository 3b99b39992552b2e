//! Edits between brackets, in YAML and JSON: commas are added and removed with what they separate.

use std::ops::Range;

use super::items::{Fate, match_items};
use super::plan::{Boldness, EditPlan, NotInPlace, ValuePosition, is_scalar, is_written, same_key, written};
use super::{Edit, lines};
use crate::document::write::{self, KeyOrder, Layout};
use crate::document::{Format, layout};
use crate::value::{Entry, Key, Map, Node, Value};

impl EditPlan<'_> {
    pub(super) fn flow_map(&mut self, old: &Node, before: &Map, after: &Map) -> Result<(), NotInPlace> {
        if !before.entries().iter().all(is_written) || (self.boldness > Boldness::Careful && self.holds_merge_key(old))
        {
            return Err(NotInPlace);
        }
        let children: Vec<Range<usize>> = before.entries().iter().map(|entry| self.flow_entry(entry)).collect();
        let mut gone = Vec::with_capacity(children.len());
        for entry in before.entries() {
            match same_key(after, &entry.key) {
                Some(new) => {
                    self.change(&entry.value, &new.value, ValuePosition::FlowEntry { key: &entry.key })?;
                    gone.push(false);
                }
                None => gone.push(true),
            }
        }
        let mut previous = None;
        let mut added = Vec::new();
        for entry in after.entries() {
            match before.position(&entry.key.name).filter(|&at| before.entries()[at].key.is_same(&entry.key)) {
                Some(at) => previous = Some(at),
                None => added.push((previous, self.flow_text(entry, old))),
            }
        }
        self.edit_flow_children(old, &children, &gone, added)
    }

    pub(super) fn flow_list(&mut self, old: &Node, before: &[Node], after: &[Node]) -> Result<(), NotInPlace> {
        let children: Vec<Range<usize>> = before.iter().map(written).collect();
        let mut gone = vec![false; before.len()];
        let mut previous = None;
        let mut added = Vec::new();
        for fate in match_items(before, after) {
            match fate {
                Fate::Stays { old: at, new } => {
                    let starts_clean = self.starts_clean(old, &children, at);
                    self.change(&before[at], &after[new], ValuePosition::FlowItem { starts_clean })?;
                    previous = Some(at);
                }
                Fate::Goes { old: at } => gone[at] = true,
                Fate::Comes { new } => added.push((previous, self.value_text(&after[new], old))),
            }
        }
        self.edit_flow_children(old, &children, &gone, added)
    }

    fn flow_entry(&self, entry: &Entry) -> Range<usize> {
        let key = entry.key.span.range();
        let colon = layout::after_indicator(self.text, key.end, b":").unwrap_or(key.end);
        key.start..written(&entry.value).end.max(colon)
    }

    /// Whether a map may have a merge key that brings in nothing.
    fn holds_merge_key(&self, node: &Node) -> bool {
        self.text[node.span.range()].contains("<<")
    }

    fn edit_flow_children(
        &mut self,
        collection: &Node,
        children: &[Range<usize>],
        gone: &[bool],
        added: Vec<(Option<usize>, String)>,
    ) -> Result<(), NotInPlace> {
        let is_changed = !added.is_empty() || gone.contains(&true);
        if !is_changed {
            return Ok(());
        }
        let has_brackets = self.text[collection.span.range()].starts_with(['{', '[']);
        let last = gone.iter().rposition(|is_gone| !is_gone).ok_or(NotInPlace)?;
        // Properties and question marks belong to children, but are not in their spans.
        if !has_brackets || !(0..children.len()).all(|at| self.starts_clean(collection, children, at)) {
            return Err(NotInPlace);
        }
        let mut at = 0;
        while at < children.len() {
            let run = gone[at..].iter().take_while(|is_gone| **is_gone).count();
            if run > 0 {
                let range = match (children.get(at + run), at.checked_sub(1)) {
                    (Some(next), _) => children[at].start..next.start,
                    (None, Some(before)) => children[before].end..children[at + run - 1].end,
                    (None, None) => return Err(NotInPlace),
                };
                self.edits.push(Edit { range, text: String::new() });
            }
            at += run.max(1);
        }
        for (after, text) in added {
            match after {
                None if collection.as_list().is_some() => {
                    let first = gone.iter().position(|is_gone| !is_gone).unwrap_or(last);
                    let place = children[first].start;
                    self.edits.push(Edit { range: place..place, text: format!("{text}, ") });
                }
                after => self.add_flow(&children[after.unwrap_or(last)], &text),
            }
        }
        Ok(())
    }

    /// Adds a child after another one: on a line of its own if that one starts a line.
    fn add_flow(&mut self, after: &Range<usize>, text: &str) {
        let line = lines::start_of_line(self.text, after.start);
        if !lines::is_first_in_line(self.text, after.start) {
            let text = format!(", {text}");
            return self.edits.push(Edit { range: after.end..after.end, text });
        }
        let indent = &self.text[line..after.start];
        let text = text.replace('\n', &[self.line_break, indent].concat());
        match lines::comment_after(self.text, after.end) {
            Some(comment) => {
                self.edits.push(Edit { range: after.end..after.end, text: ",".to_owned() });
                let text = [self.line_break, indent, &text].concat();
                self.edits.push(Edit { range: comment.end..comment.end, text });
            }
            None => {
                let text = [",", self.line_break, indent, &text].concat();
                self.edits.push(Edit { range: after.end..after.end, text });
            }
        }
    }

    /// Whether a child follows its bracket or comma with nothing but blanks and comments between.
    fn starts_clean(&self, collection: &Node, children: &[Range<usize>], at: usize) -> bool {
        let behind = match at.checked_sub(1) {
            None => Some(collection.span.range().start + 1),
            Some(before) => layout::after_indicator(self.text, children[before].end, b","),
        };
        behind.is_some_and(|behind| lines::next_token(self.text, behind) == children[at].start)
    }

    pub(super) fn replace_flow_value(
        &mut self,
        key: &Key,
        written: Range<usize>,
        old: &Node,
        new: &Node,
    ) -> Result<(), NotInPlace> {
        let Some(behind) = layout::after_indicator(self.text, key.span.range().end, b":") else {
            let end = key.span.range().end;
            let text = format!(": {}", self.value_text(new, old));
            self.edits.push(Edit { range: end..end, text });
            return Ok(());
        };
        if behind > written.start {
            return Err(NotInPlace);
        }
        let between = &self.text[behind..written.start];
        let text = self.replacement(&written, old, new);
        if between.trim().is_empty() && !between.is_empty() {
            self.edits.push(Edit { range: written, text });
        } else {
            let anchor = old.extra.as_ref().filter(|_| old.step().is_none()).and_then(|extra| extra.anchor.as_ref());
            let anchor = anchor.map(|anchor| format!(" &{anchor}")).unwrap_or_default();
            let space = if self.format == Format::Json { "" } else { " " };
            self.edits.push(Edit { range: behind..written.end, text: format!("{anchor}{space}{text}") });
        }
        Ok(())
    }

    pub(super) fn replace_flow_item(
        &mut self,
        written: Range<usize>,
        old: &Node,
        new: &Node,
    ) -> Result<(), NotInPlace> {
        if written.is_empty() {
            return Err(NotInPlace);
        }
        let text = self.replacement(&written, old, new);
        self.edits.push(Edit { range: written, text });
        Ok(())
    }

    fn replacement(&self, written: &Range<usize>, old: &Node, new: &Node) -> String {
        if is_scalar(new) && new.tag().is_none() {
            return self.scalar_like(&self.text[written.clone()], new);
        }
        self.value_text(new, old)
    }

    fn flow_text(&self, entry: &Entry, beside: &Node) -> String {
        let value = self.value_text(&entry.value, beside);
        match self.format {
            Format::Json => {
                let key = Node::new(Value::String(entry.key.name.clone()), entry.key.span);
                format!("{}: {value}", write::json(&key, Layout::Line, KeyOrder::Written))
            }
            Format::Yaml => {
                let null = Node::new(Value::Null, entry.value.span);
                let pair =
                    write::to_inline(&Node::map(vec![Entry { key: entry.key.clone(), value: null }], entry.key.span));
                let key = pair.strip_prefix('{').and_then(|pair| pair.strip_suffix("null}")).unwrap_or(&pair);
                format!("{key}{value}")
            }
        }
    }

    /// A value between brackets. JSON is written on several lines if its neighbours are.
    fn value_text(&self, value: &Node, beside: &Node) -> String {
        match self.format {
            Format::Yaml => write::to_inline(value),
            Format::Json => {
                let is_one_line = !self.text[beside.span.range()].contains('\n');
                write::json(value, if is_one_line { Layout::Line } else { Layout::Pretty }, KeyOrder::Written)
            }
        }
    }
}
