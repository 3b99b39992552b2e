//! The table of version bumps.

use super::Draft;
use crate::diff::{Bump, ChangeKind};
use crate::report::Report;
use crate::report::bumps::{BumpRow, row, versions};
use crate::report::outline::Entry;
use crate::report::paint::{Line, Role, columns};
use crate::report::summary_counts::grouped;

const INDENT: usize = 2;
/// The most rows.
const MOST_ROWS: usize = 40;
/// The widest name that others are aligned with.
const WIDEST_NAME: usize = 56;

/// A heading and one row for each thing whose version changed; nothing if there is none.
pub(super) fn lines(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let bumps = &report.bumps.rows;
    if bumps.is_empty() {
        return Vec::new();
    }
    let listed = draft.most(MOST_ROWS).unwrap_or(bumps.len());
    let rows: Vec<BumpRow> =
        bumps.iter().take(listed).map(|bump| row(report, bump, draft.style.is_limited())).collect();
    let widths = Widths::of(&rows, draft);
    let mut lines = vec![Line::default().with(Role::Heading, "BUMPS")];
    lines.extend(rows.iter().flat_map(|row| widths.lines(row, draft)));
    let more = bumps.len().saturating_sub(listed);
    if more > 0 {
        let phrase = format!("{} {} more bumps (-v lists all)", draft.symbols.ellipsis, grouped(more));
        lines.push(Line::indented(INDENT).with(Role::Dim, &phrase));
    }
    lines
}

/// The widths of the columns.
struct Widths {
    name: usize,
    versions: usize,
    level: usize,
}

impl Widths {
    fn of(rows: &[BumpRow], draft: &Draft<'_>) -> Self {
        let widest = |cell: &dyn Fn(&BumpRow) -> usize| rows.iter().map(cell).max().unwrap_or(0);
        Self {
            name: widest(&|row| columns(&row.name)).min(WIDEST_NAME),
            versions: widest(&|row| arrow(row, draft).width()).min(WIDEST_NAME),
            level: widest(&|row| columns(&row.level)),
        }
    }

    /// One line where it fits, otherwise the name above the rest.
    fn lines(&self, row: &BumpRow, draft: &Draft<'_>) -> Vec<Line> {
        let role = if row.is_alarming { Role::Changed } else { Role::Dim };
        let rest = |start: Line, from: usize| {
            let line = start.then(arrow(row, draft)).padded(from + self.versions + 2);
            let line = line.with(role, &row.level).padded(from + self.versions + self.level + 4);
            line.with(Role::Plain, &row.uses)
        };
        let from = INDENT + self.name + 2;
        let name = Line::indented(INDENT).with(Role::Heading, &row.name);
        let whole = rest(name.clone().padded(from), from);
        if columns(&row.name) <= self.name && whole.width() <= draft.style.columns() {
            return vec![whole];
        }
        let below = INDENT + 4;
        let mut lines = name.broken(draft.style.columns());
        lines.push(rest(Line::indented(below), below));
        lines
    }
}

fn arrow(row: &BumpRow, draft: &Draft<'_>) -> Line {
    let arrow = format!(" {} ", draft.symbols.arrow);
    Line::default().with(Role::Removed, &row.before).with(Role::Dim, &arrow).with(Role::Added, &row.after)
}

impl Draft<'_> {
    /// A change that the table shows, as its path and its versions. Only on a terminal: in a file every value is whole.
    pub(super) fn bumped(&self, report: &Report, entry: &Entry) -> Option<Line> {
        let bump = bump_of(report, entry).filter(|_| self.style.is_limited())?;
        let [before, after] = versions(bump, true);
        let arrow = format!(" {} ", self.symbols.arrow);
        Some(Line::default().with(Role::Removed, &before).with(Role::Dim, &arrow).with(Role::Added, &after))
    }
}

/// The one bump that all changes of an entry are.
fn bump_of<'r>(report: &'r Report, entry: &Entry) -> Option<&'r Bump> {
    let members = || entry.at.iter().flat_map(|at| &at.members);
    let first = report.bumps.row_of(members().next()?)?;
    let is_value = entry.example(report).is_some_and(|(_, change)| change.kind == ChangeKind::Value);
    let is_one = members().all(|member| report.bumps.row_of(member).is_some_and(|row| std::ptr::eq(row, first)));
    (is_one && is_value).then_some(first)
}
