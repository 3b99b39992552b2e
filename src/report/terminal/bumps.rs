//! The table of version bumps.

use super::Draft;
use super::bump_rows::{BumpRow, row, versions};
use super::summary::wrapped;
use crate::diff::{Bump, ChangeKind};
use crate::report::Report;
use crate::report::outline::Entry;
use crate::report::paint::{Line, Role, columns};
use crate::report::summary_counts::grouped;

const INDENT: usize = 2;
const BELOW: usize = 6;
/// The most rows.
const MOST_ROWS: usize = 40;
/// The widest name that others are aligned with.
const WIDEST_NAME: usize = 56;

/// A heading and one row for each thing whose version changed; nothing if there is none. On a terminal, digests and commits are
/// shortened: the changes below have them in full. If one block is all that follows, it says where a single bump is used.
pub(super) fn lines(report: &Report, draft: &Draft<'_>, is_one_block: bool) -> Vec<Line> {
    let bumps = &report.bumps.rows;
    if bumps.is_empty() {
        return Vec::new();
    }
    let listed = draft.most(MOST_ROWS).unwrap_or(bumps.len());
    let mut rows: Vec<BumpRow> =
        bumps.iter().take(listed).map(|bump| row(report, bump, draft.style.is_limited())).collect();
    if let ([row], true) = (rows.as_mut_slice(), is_one_block && draft.style.is_limited()) {
        row.uses.clear();
    }
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

    /// One line where it fits, otherwise the name above the rest, and the versions above the use.
    fn lines(&self, row: &BumpRow, draft: &Draft<'_>) -> Vec<Line> {
        let room = draft.style.columns();
        let role = if row.is_alarming { Role::Changed } else { Role::Dim };
        let level = Line::default().with(role, &row.level);
        let uses = Line::default().with(Role::Plain, &row.uses);
        let name = Line::indented(INDENT).with(Role::Heading, &row.name);
        let whole = apart(name.clone(), arrow(row, draft), INDENT + self.name);
        let whole = apart(whole, level.clone(), INDENT + self.name + 2 + self.versions);
        let whole = apart(whole, uses.clone(), INDENT + self.name + 2 + self.versions + 2 + self.level);
        if whole.width() <= room {
            return vec![whole];
        }
        let mut lines = name.hanging(room, 2 * INDENT);
        let versions = Line::indented(BELOW).then(arrow(row, draft));
        let rest = apart(apart(versions.clone(), level.clone(), BELOW + self.versions), uses, 0);
        if rest.width() <= room {
            lines.push(rest);
            return lines;
        }
        let beside = apart(versions.clone(), level.clone(), 0);
        match beside.width() <= room {
            true => lines.push(beside),
            false => {
                let side = |role: Role, text: &str| Line::indented(BELOW).with(role, text).broken(room);
                lines.extend(side(Role::Removed, &row.before));
                lines.extend(side(Role::Added, &format!("{} {}", draft.symbols.arrow, row.after)));
                lines.push(Line::indented(BELOW).then(level));
            }
        }
        if row.uses.is_empty() {
            return lines;
        }
        let words = wrapped(&row.uses, Role::Plain, room.saturating_sub(BELOW).max(8));
        lines.extend(words.into_iter().map(|line| Line::indented(BELOW).then(line)));
        lines
    }
}

/// A cell behind others, at a column, or two columns behind what is longer.
fn apart(line: Line, cell: Line, column: usize) -> Line {
    if cell.width() == 0 {
        return line;
    }
    let column = column.max(line.width()) + 2;
    line.padded(column).then(cell)
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

/// The bump that all changes of an entry are, or one of several with the same versions.
fn bump_of<'r>(report: &'r Report, entry: &Entry) -> Option<&'r Bump> {
    let members = || entry.at.iter().flat_map(|at| &at.members);
    let first = report.bumps.row_of(members().next()?)?;
    let is_value = entry.example(report).is_some_and(|(_, change)| change.kind == ChangeKind::Value);
    let is_same = |row: &Bump| row.versions == first.versions && row.comments == first.comments;
    let is_one = members().all(|member| report.bumps.row_of(member).is_some_and(is_same));
    (is_one && is_value).then_some(first)
}
