//! Reordered lists, with their items by name.

use std::collections::BTreeMap;

use super::Draft;
use super::block::LONGEST_LINE;
use super::change::Layout;
use crate::diff::Change;
use crate::report::fragment;
use crate::report::paint::{Line, Role, columns, cut_middle};
use crate::report::text_diff::Sign;
use crate::value::{Node, Value};

/// The members that name an item, as people choose them.
const NAMES: [&str; 4] = ["name", "id", "key", "path"];
/// Longer names are cut; they only have to be recognised.
const LONGEST_NAME: usize = 32;
/// The most lines of names for each side.
const MOST_LINES: usize = 20;

impl Draft<'_> {
    /// `a, b, c → c, a, b`.
    pub(super) fn order(&mut self, change: &Change) -> Option<Line> {
        let (before, after) = self.item_names(change.before.as_ref()?, change.after.as_ref()?);
        let (before, after) = self.without_ends(before, after);
        let line = Line::default().with(Role::Removed, &before.join(", "));
        let line = line.with(Role::Dim, &format!(" {} ", self.symbols.arrow)).with(Role::Added, &after.join(", "));
        (line.width() <= self.style.columns().min(LONGEST_LINE)).then_some(line)
    }

    /// Both orders on lines of their own.
    pub(super) fn orders(&mut self, before: &Node, after: &Node, layout: Layout) -> Vec<Line> {
        let (before, after) = self.item_names(before, after);
        let (before, after) = if self.style.is_verbose() { (before, after) } else { self.without_ends(before, after) };
        let mut lines = Vec::new();
        for (names, sign) in [(before, Sign::Removed), (after, Sign::Added)] {
            let (named, left_out) = fragment::cut(self.name_lines(names, sign, layout), self.most(MOST_LINES));
            lines.extend(named);
            lines.extend(left_out.into_iter().flat_map(|what| self.left_out(&what, layout.details)));
        }
        lines
    }

    fn name_lines(&mut self, names: Vec<String>, sign: Sign, layout: Layout) -> Vec<Line> {
        let room = self.style.columns().min(LONGEST_LINE).saturating_sub(layout.details + layout.inset + 2).max(8);
        let mut rows: Vec<String> = vec![String::new()];
        let last = names.len().saturating_sub(1);
        for (at, name) in names.into_iter().enumerate() {
            let piece = if at < last { format!("{name}, ") } else { name };
            match rows.last_mut() {
                Some(row) if row.is_empty() || columns(row) + columns(piece.trim_end()) <= room => row.push_str(&piece),
                _ => rows.push(piece),
            }
        }
        rows.iter().map(|row| self.signed(sign, layout).with(sign.role(), row.trim_end())).collect()
    }

    /// Unmoved items at either end are replaced by an ellipsis.
    fn without_ends(&self, mut before: Vec<String>, mut after: Vec<String>) -> (Vec<String>, Vec<String>) {
        let start = before.iter().zip(&after).take_while(|(a, b)| a == b).count();
        let same_end =
            before[start..].iter().rev().zip(after[start..].iter().rev()).take_while(|(a, b)| a == b).count();
        for names in [&mut before, &mut after] {
            if same_end > 1 {
                names.truncate(names.len() - same_end);
                names.push(self.symbols.ellipsis.to_owned());
            }
            if start > 1 {
                names.splice(..start, [self.symbols.ellipsis.to_owned()]);
            }
        }
        (before, after)
    }

    /// The items of both lists by name, or by their index before if they have none.
    fn item_names(&mut self, before: &Node, after: &Node) -> (Vec<String>, Vec<String>) {
        let (before, after) = (before.as_list().unwrap_or_default(), after.as_list().unwrap_or_default());
        let mut places: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, item) in before.iter().enumerate().rev() {
            places.entry(item.hash()).or_default().push(at);
        }
        let names = before.iter().enumerate().map(|(at, item)| self.item_name(item, Some(at))).collect();
        let moved = after.iter().map(|item| {
            let place = places.get_mut(&item.hash()).and_then(Vec::pop);
            self.item_name(item, place)
        });
        let moved = moved.collect();
        (names, moved)
    }

    fn item_name(&mut self, item: &Node, place: Option<usize>) -> String {
        let named = match &item.value {
            Value::Map(map) => NAMES.iter().find_map(|name| map.get(name)).filter(|node| node.size() == 1),
            Value::List(_) => None,
            _ => Some(item),
        };
        match (named.and_then(|node| fragment::inline(node, &mut self.secret_numbers)), place) {
            (Some(name), _) => cut_middle(&name, LONGEST_NAME, self.symbols.ellipsis)
                .filter(|_| self.style.is_limited())
                .unwrap_or(name),
            (None, Some(place)) => format!("[{place}]"),
            (None, None) => "[new]".to_owned(),
        }
    }
}
