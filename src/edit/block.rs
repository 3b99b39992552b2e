//! Edits in block collections: whole lines are added and removed, with the comments that belong to them.

use std::collections::HashMap;
use std::ops::Range;

use super::items::{Fate, match_items};
use super::plan::{Boldness, EditPlan, NotInPlace, ValuePosition, is_written, same_key, written};
use super::{Edit, lines};
use crate::document::layout;
use crate::value::{Entry, Map, Node, Value};

/// A child of a block collection as it is written.
struct BlockChild {
    /// Its first byte: the key or the dash.
    start: usize,
    /// The end of its value.
    end: usize,
}

/// Additions and removals in a block collection.
#[derive(Default)]
struct BlockEdit {
    /// The indexes of removed children.
    gone: Vec<bool>,
    /// Added texts, and the child after which each is added.
    added: Vec<(Option<usize>, String)>,
}

impl EditPlan<'_> {
    pub(super) fn block_map(&mut self, old: &Node, before: &Map, after: &Map) -> Result<(), NotInPlace> {
        let column = lines::block_column(self.text, old.span.range().start).ok_or(NotInPlace)?;
        let own: Vec<&Entry> = before.entries().iter().filter(|entry| is_written(entry)).collect();
        let merged = before.entries().iter().filter(|entry| !is_written(entry));
        let mut has_merges = false;
        for entry in merged {
            has_merges = true;
            // What a merge key brings in cannot be removed without removing the merge key.
            same_key(after, &entry.key).ok_or(NotInPlace)?;
        }
        if has_merges && self.boldness > Boldness::Careful {
            return Err(NotInPlace);
        }
        let children: Vec<BlockChild> = own.iter().map(|entry| self.entry_child(entry)).collect();
        let mut turnover = BlockEdit::default();
        for entry in &own {
            match same_key(after, &entry.key) {
                Some(new) => {
                    self.change(&entry.value, &new.value, ValuePosition::Entry { key: &entry.key, column })?;
                    turnover.gone.push(false);
                }
                None => turnover.gone.push(true),
            }
        }
        let positions: HashMap<&str, usize> = own.iter().map(|entry| entry.key.name.as_str()).zip(0..).collect();
        let mut previous = None;
        for entry in after.entries() {
            let twin = same_key(before, &entry.key);
            if let (Some(_), Some(&at)) = (twin, positions.get(entry.key.name.as_str())) {
                previous = Some(at);
            } else if !twin.is_some_and(|twin| twin.value.is_identical(&entry.value)) {
                let span = entry.value.span;
                let wrap = |value| Node::map(vec![Entry { key: entry.key.clone(), value }], span);
                turnover.added.push((previous, self.block_text(&entry.value, wrap)));
            }
        }
        self.turn_over(old, &children, turnover, column, has_merges)
    }

    pub(super) fn block_list(&mut self, old: &Node, before: &[Node], after: &[Node]) -> Result<(), NotInPlace> {
        let column = lines::block_column(self.text, old.span.range().start).ok_or(NotInPlace)?;
        let children = self.item_children(old, before)?;
        let mut turnover = BlockEdit { gone: vec![false; before.len()], added: Vec::new() };
        let mut previous = None;
        for fate in match_items(before, after) {
            match fate {
                Fate::Stays { old, new } => {
                    let position = ValuePosition::Item { behind_dash: children[old].start + 1, column };
                    self.change(&before[old], &after[new], position)?;
                    previous = Some(old);
                }
                Fate::Goes { old } => turnover.gone[old] = true,
                Fate::Comes { new } => {
                    let span = after[new].span;
                    let text = self.block_text(&after[new], |value| Node::list(vec![value], span));
                    turnover.added.push((previous, text));
                }
            }
        }
        self.turn_over(old, &children, turnover, column, false)
    }

    fn entry_child(&self, entry: &Entry) -> BlockChild {
        let key = entry.key.span.range();
        let colon = layout::after_indicator(self.text, key.end, b":").unwrap_or(key.end);
        BlockChild { start: key.start, end: self.end_of(&entry.value).max(colon) }
    }

    /// The dashes of a list: the first starts it, each further one follows the item before it.
    fn item_children(&self, list: &Node, items: &[Node]) -> Result<Vec<BlockChild>, NotInPlace> {
        let mut children: Vec<BlockChild> = Vec::with_capacity(items.len());
        for item in items {
            let start = match children.last() {
                None => list.span.range().start,
                Some(child) => layout::after_indicator(self.text, child.end, b"-").ok_or(NotInPlace)? - 1,
            };
            if self.text.as_bytes().get(start) != Some(&b'-') {
                return Err(NotInPlace);
            }
            children.push(BlockChild { start, end: self.end_of(item).max(start + 1) });
        }
        Ok(children)
    }

    /// The end of a value; a text that keeps its blank lines ends after them.
    fn end_of(&self, node: &Node) -> usize {
        let range = written(node);
        let header = self.text[written(last_leaf(node))].lines().next().unwrap_or_default();
        let keeps_blank_lines =
            header.starts_with(['|', '>']) && header.split('#').next().is_some_and(|it| it.contains('+'));
        if !keeps_blank_lines {
            return range.end;
        }
        let mut end = range.end;
        loop {
            let next = lines::next_line(self.text, end);
            let line_end = lines::end_of_line(self.text, next);
            if next >= self.text.len() || !self.text[next..line_end].trim().is_empty() {
                return end;
            }
            end = line_end;
        }
    }

    /// Removes and adds lines.
    fn turn_over(
        &mut self,
        collection: &Node,
        children: &[BlockChild],
        turnover: BlockEdit,
        column: usize,
        has_merges: bool,
    ) -> Result<(), NotInPlace> {
        let is_list = collection.as_list().is_some();
        let stays = turnover.gone.iter().filter(|is_gone| !**is_gone).count();
        let is_nothing_left = stays == 0 && !has_merges;
        if is_nothing_left && !children.is_empty() {
            return Err(NotInPlace);
        }
        let mut at = 0;
        while at < children.len() {
            let run = turnover.gone[at..].iter().take_while(|is_gone| **is_gone).count();
            if run > 0 {
                let range = self.run_of_lines(collection, children, at..at + run, column)?;
                self.edits.push(Edit { range, text: String::new() });
            }
            at += run.max(1);
        }
        let last = turnover.gone.iter().rposition(|is_gone| !is_gone);
        for (after, text) in turnover.added {
            let end = match after {
                None if is_list => {
                    self.add_first(children, &turnover.gone, &text, column);
                    continue;
                }
                Some(at) => children[at].end,
                // Entries have no order; the end is the safest place.
                None if has_merges => collection.span.range().end,
                None => last.map_or(collection.span.range().end, |at| children[at].end),
            };
            let place = lines::end_of_line(self.text, end);
            // An empty first line, so that all lines of the text are moved to their column.
            let text = lines::indented(&format!("\n{text}"), column, self.line_break);
            self.edits.push(Edit { range: place..place, text });
        }
        Ok(())
    }

    /// Adds an item before all others.
    fn add_first(&mut self, children: &[BlockChild], gone: &[bool], text: &str, column: usize) {
        let first = children.iter().zip(gone).find(|(_, is_gone)| !**is_gone);
        let place = first.map_or(0, |(child, _)| child.start);
        let text = lines::indented(&format!("{text}\n"), column, self.line_break) + &" ".repeat(column);
        self.edits.push(Edit { range: place..place, text });
    }

    /// The lines of removed children.
    fn run_of_lines(
        &self,
        collection: &Node,
        children: &[BlockChild],
        run: Range<usize>,
        column: usize,
    ) -> Result<Range<usize>, NotInPlace> {
        let (first, last) = (&children[run.start], &children[run.end - 1]);
        if !lines::is_first_in_line(self.text, first.start) {
            // What follows moves up to the indicator of the collection.
            let next = children.get(run.end).ok_or(NotInPlace)?;
            return Ok(first.start..next.start);
        }
        let line = lines::start_of_line(self.text, first.start);
        // Comments at the top of a file are about the file.
        let is_head = collection.span == self.root_span() && run.start == 0;
        let not_before = match run.start {
            0 => lines::start_of_line(self.text, collection.span.range().start).min(line),
            _ => lines::next_line(self.text, children[run.start - 1].end),
        };
        let start =
            if is_head { line } else { lines::with_comments_above(self.text, line, column, not_before.min(line)) };
        Ok(start..lines::next_line(self.text, last.end))
    }
}

/// The last value of a collection.
fn last_leaf(node: &Node) -> &Node {
    let child = match &node.value {
        _ if node.step().is_some() => None,
        Value::Map(map) => map.entries().iter().rfind(|entry| is_written(entry)).map(|entry| &entry.value),
        Value::List(list) => list.items().last(),
        _ => None,
    };
    child.map_or(node, last_leaf)
}
