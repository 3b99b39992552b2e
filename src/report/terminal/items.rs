//! Plain values that were added to a list or removed from it, on one line: `+ [8…10]  a, b, c`.

use super::Draft;
use super::change::Layout;
use super::summary::wrapped;
use crate::diff::{Change, ChangeKind, PathStep};
use crate::report::outline::{Block, PathNode};
use crate::report::paint::{Line, Role, columns};
use crate::report::text_diff::Sign;
use crate::report::{Report, fragment, secret_numbers};
use crate::value::{Node, Value};

/// The most values on one line, and the longest one.
const MOST_ITEMS: usize = 20;
const LONGEST_ITEM: usize = 60;

/// One of several values of a list.
struct Item<'r> {
    change: &'r Change,
    value: &'r Node,
    index: usize,
}

impl Draft<'_> {
    /// The first of these parts that are plain values of one list, all added or all removed, as lines; and how many they are.
    pub(super) fn items(
        &mut self,
        report: &Report,
        block: &Block,
        nodes: &[PathNode],
        reasons: &[Option<String>],
        indent: usize,
    ) -> Option<(usize, Vec<Line>)> {
        if !self.style.is_limited() || self.style.is_verbose() {
            return None;
        }
        let found = nodes.iter().map_while(|node| self.item(report, block, node, reasons)).take(MOST_ITEMS);
        let mut run: Vec<Item<'_>> = Vec::new();
        for item in found {
            if run.last().is_some_and(|last| last.change.kind != item.change.kind || last.index + 1 != item.index) {
                break;
            }
            run.push(item);
        }
        let (first, last) = (run.first()?, run.last().filter(|_| run.len() > 1)?);
        let sign = if first.change.kind == ChangeKind::Remove { Sign::Removed } else { Sign::Added };
        let between = if run.len() == 2 { ", " } else { self.symbols.ellipsis };
        let label = format!("[{}{between}{}]", first.index, last.index);
        let all = Node::list(run.iter().map(|item| item.value.clone()).collect(), first.value.span);
        let words = fragment::inline(&all, &mut self.secret_numbers)?;
        let words = words.strip_prefix('[')?.strip_suffix(']')?;
        let start = Line::indented(indent).with(sign.role(), sign.gutter()).with(Role::Path, &label);
        if start.width() + 2 + columns(words) <= self.style.columns() {
            return Some((run.len(), vec![start.with(Role::Plain, "  ").with(sign.role(), words)]));
        }
        let details = Layout { indent, details: indent + 4, inset: 0 };
        let room = self.style.columns().saturating_sub(details.details + 2);
        let below = wrapped(words, sign.role(), room).into_iter().map(|line| self.signed(sign, details).then(line));
        Some((run.len(), std::iter::once(start).chain(below).collect()))
    }

    /// A part that is nothing but a plain value without a name, which came or went.
    fn item<'r>(
        &self,
        report: &'r Report,
        block: &Block,
        node: &PathNode,
        reasons: &[Option<String>],
    ) -> Option<Item<'r>> {
        let ([at], []) = (node.entries.as_slice(), node.children.as_slice()) else { return None };
        let entry = block.entries.get(*at)?;
        let is_one = entry.group.and_then(|at| report.groups.get(at)).is_none_or(|group| group.variants.len() == 1);
        let (_, change) = entry.example(report).filter(|_| is_one && entry.at.len() == 1 && reasons[*at].is_none())?;
        let Some(PathStep::Item { before, after, label: None }) = entry.at.first()?.path.last() else { return None };
        let (value, index) = match change.kind {
            ChangeKind::Add => (change.after.as_ref()?, (*after)?),
            ChangeKind::Remove => (change.before.as_ref()?, (*before)?),
            _ => return None,
        };
        let is_plain = match &value.value {
            Value::String(text) => !text.contains('\n') && columns(text) <= LONGEST_ITEM,
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
            Value::List(_) | Value::Map(_) | Value::Secret(_) => false,
        };
        let is_bare = !secret_numbers::concerns_secret(change) && self.comment(change, value).is_none();
        (is_plain && is_bare && node.steps.len() == 1).then_some(Item { change, value, index })
    }
}
