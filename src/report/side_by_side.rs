//! The report in two columns: what was on the left, what is on the right.

use std::io;

use super::paint::{Line, Role, Screen};
use super::style::Style;
use super::terminal::{self, CHANGES, Draft, bump_table, each_resource, findings, frame, text_files};
use super::text_diff::{Row, Sign, TextLayout, broken, pair, passages, whole};
use super::{Report, fragment, secret_numbers};
use crate::diff::{Change, ChangeKind, ResourceChange};
use crate::value::Node;

/// Below this width the stacked layout is used instead of two columns.
const NARROWEST: usize = 60;
const INDENT: usize = 4;
/// The most rows of one change.
const ROWS: usize = 60;

/// Writes the report in two columns, or stacked if the terminal is too narrow for two.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    if style.finite_columns() < NARROWEST {
        return terminal::write_each(report, style, out);
    }
    let mut draft = Draft::new(report, style);
    let mut screen = Screen::new(out, style);
    frame(report, &mut draft, &mut screen, |draft, screen| {
        findings(report, draft, screen)?;
        bump_table(report, draft, screen)?;
        each_resource(report, screen, |resource| draft.resource_in_columns(resource))?;
        text_files(report, draft, screen)
    })
}

impl Draft<'_> {
    fn resource_in_columns(&mut self, resource: &ResourceChange) -> Vec<Line> {
        if resource.before.is_none() || resource.after.is_none() {
            return self.resource(resource);
        }
        self.enter(resource);
        let mut lines = self.header(resource);
        for change in resource.changes() {
            lines.extend(self.change_in_columns(change));
        }
        lines.extend(self.spellings(resource));
        lines
    }

    fn change_in_columns(&mut self, change: &Change) -> Vec<Line> {
        let has_columns = matches!(change.kind, ChangeKind::Value | ChangeKind::Text | ChangeKind::Type);
        let (Some(before), Some(after)) = (&change.before, &change.after) else { return self.change(change, CHANGES) };
        if !has_columns || secret_numbers::is_secret(change) || self.is_small(change) {
            return self.change(change, CHANGES);
        }
        let rows = self.pairs(change, before, after);
        let mut lines = self.path_of(change, CHANGES);
        let (rows, left_out) = fragment::cut(rows, self.most(ROWS));
        for row in rows {
            let left = Line::indented(INDENT).then(row.left.unwrap_or_default()).padded(INDENT + self.column());
            let bar = format!(" {} ", self.symbols.bar);
            lines.push(left.with(Role::Dim, &bar).then(row.right.unwrap_or_default()));
        }
        lines.extend(left_out.into_iter().flat_map(|what| self.left_out(&what, INDENT)));
        lines.extend(self.whereabouts(change, INDENT));
        lines
    }

    /// Small values are easier to compare on one line than in two columns.
    fn is_small(&mut self, change: &Change) -> bool {
        let room = self.style.finite_columns() / 3;
        self.short(change).is_some_and(|line| line.width() <= room)
    }

    fn column(&self) -> usize {
        (self.style.finite_columns() - INDENT - 3) / 2
    }

    /// Both sides, row by row.
    fn pairs(&mut self, change: &Change, before: &Node, after: &Node) -> Vec<Pair> {
        // Marks below the words would misalign the other column; bold and reverse take no room.
        let text_layout = TextLayout {
            width: Some(self.column().saturating_sub(2)),
            color: true,
            shortens: false,
            symbols: self.symbols,
        };
        match (change.kind, before.as_str(), after.as_str()) {
            (ChangeKind::Text | ChangeKind::Value, Some(old), Some(new))
                if old.contains('\n') || new.contains('\n') =>
            {
                let mut pairs = Vec::new();
                let hunks = passages(old, new, text_layout);
                let is_plain = matches!(hunks.as_slice(), [(1, _)]);
                for (start, rows) in hunks {
                    let heading = Line::default().with(Role::Dim, &format!("@@ line {start} @@"));
                    pairs.extend((!is_plain).then(|| Pair { left: Some(heading), ..Pair::default() }));
                    pairs.extend(zipped(broken(rows, text_layout)));
                }
                pairs
            }
            (ChangeKind::Value, ..) => {
                let mut one_line = |node: &Node| fragment::inline(node, &mut self.secret_numbers).unwrap_or_default();
                zipped(broken(pair(&one_line(before), &one_line(after), text_layout), text_layout))
            }
            _ => {
                let most = self.most(ROWS);
                let mut side = |node: &Node, sign: Sign| {
                    let block = fragment::block(node, &mut self.secret_numbers, most, self.style.is_limited());
                    let rest = block.left_out.map(|what| format!("{} {what}", self.symbols.ellipsis));
                    block.lines.into_iter().chain(rest).map(|line| whole(&line, sign)).collect::<Vec<Row>>()
                };
                zipped(broken(side(before, Sign::Removed).into_iter().chain(side(after, Sign::Added)), text_layout))
            }
        }
    }
}

/// The lines shown next to each other.
#[derive(Default)]
struct Pair {
    left: Option<Line>,
    right: Option<Line>,
}

/// Puts removed rows beside the added rows that follow them, and unchanged rows on both sides.
fn zipped(rows: Vec<Row>) -> Vec<Pair> {
    let mut pairs: Vec<Pair> = Vec::new();
    // Where the current passage starts, and how many of its rows have a right side.
    let (mut open, mut filled) = (0, 0);
    for row in rows {
        let line = Line::default().with(row.sign.role(), row.sign.gutter()).then(row.text);
        match row.sign {
            Sign::Same => {
                pairs.push(Pair { left: Some(line.clone()), right: Some(line) });
                (open, filled) = (pairs.len(), 0);
            }
            Sign::Removed => {
                if filled > 0 {
                    (open, filled) = (pairs.len(), 0);
                }
                pairs.push(Pair { left: Some(line), right: None });
            }
            Sign::Added => {
                match pairs.get_mut(open + filled) {
                    Some(pair) => pair.right = Some(line),
                    None => pairs.push(Pair { left: None, right: Some(line) }),
                }
                filled += 1;
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::rich;

    fn written(width: usize) -> String {
        let mut out = Vec::new();
        write(&rich(), &Style { width, ..Style::default() }, &mut out).expect("writing to memory works");
        String::from_utf8(out).expect("reports are text")
    }

    #[test]
    fn both_sides_stand_beside_each_other() {
        let shown = written(72);
        let expected = "
  ~ .data[\"nginx.conf\"]
      server {                       │   server {
        listen 8080;                 │     listen 8080;
    -   workers 4 of 16;             │ +   workers 8 of 16;
        cache on;                    │     cache on;
                                     │ +   gzip on;
      }                              │   }
      # end                          │   # end
";
        assert!(shown.contains(expected), "{shown}");
    }

    #[test]
    fn narrow_terminals_get_the_stacked_layout() {
        assert!(!written(59).lines().take_while(|line| !line.contains('╭')).any(|line| line.contains('│')));
    }
}
