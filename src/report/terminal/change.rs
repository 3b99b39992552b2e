//! One change: on one line where it fits, with its values stacked below its path where it does not.

use super::Draft;
use super::summary::wrapped;
use crate::diff::path_text;
use crate::diff::{Cause, Change, ChangeKind, PathStep, causes_at, comment_beside};
use crate::report::cause;
use crate::report::fragment;
use crate::report::fragment::short_digests;
use crate::report::paint::{Line, Role, columns};
use crate::report::secret_numbers;
use crate::report::summary_counts::plural;
use crate::report::text_diff::{Row, Sign, broken, pair, passages};
use crate::value::Node;

/// Where changes and their values start.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Layout {
    /// Columns before the symbol.
    pub indent: usize,
    /// Columns before the lines below.
    pub details: usize,
    /// Columns between the sign of such a line and its text.
    pub inset: usize,
}

/// The most lines of an added and of a removed value.
const VALUE_LINES: usize = 30;
const REMOVED_LINES: usize = 16;
/// The most lines of a changed text.
const TEXT_LINES: usize = 60;
/// Values that do not fit beside their path may still be shown on a separate line, up to this width: longer ones are
/// easier to compare above each other.
const WIDEST_LINE_BELOW: usize = 48;
/// The widest two versions of a value that are shown beside their path.
const WIDEST_LINE_BESIDE: usize = 72;

/// The details of a change: a remark beside the path, and lines below it.
#[derive(Default)]
struct Below {
    note: Option<Line>,
    lines: Vec<Line>,
}

impl Draft<'_> {
    /// The lines of a change, and why it came about.
    pub(in crate::report) fn change(&mut self, change: &Change, layout: Layout) -> Vec<Line> {
        let steps = path_text::steps(&change.path, self.symbols.embedded);
        let mut lines = self.change_at(change, &steps, layout);
        lines.extend(self.whereabouts(change, layout.details));
        lines
    }

    /// The lines of a change below a path that is written as these steps.
    pub(in crate::report) fn change_at(&mut self, change: &Change, steps: &[String], layout: Layout) -> Vec<Line> {
        let (symbol, role) = self.change_symbol(change);
        let path = self.path(steps, layout, (&symbol, role));
        let above = path.len();
        let mut lines = match self.short(change) {
            Some(short) => self.on_one_line(change, layout, path, short),
            None => self.stacked(change, layout, path),
        };
        if let Some(comment) = self.comments(change) {
            let is_one_line = lines.len() == above || lines.len() == above + 1 && change.kind != ChangeKind::Text;
            match lines.last_mut() {
                Some(line) if is_one_line && line.width() + 2 + columns(&comment) <= self.style.columns() => {
                    line.push(Role::Dim, &format!("  {comment}"));
                }
                _ => lines.extend(self.phrase(&comment, layout.details)),
            }
        }
        lines
    }

    /// The comments beside both values: `# v1 → # v2`, or the one that both have.
    fn comments(&self, change: &Change) -> Option<String> {
        let beside = |node: &Option<Node>| node.as_ref().and_then(|node| self.comment(change, node));
        match (beside(&change.before), beside(&change.after)) {
            (Some(before), Some(after)) if before != after => Some(format!("{before}{}{after}", self.arrow())),
            (Some(before), None) if change.after.is_some() => Some(format!("comment removed: {before}")),
            (before, after) => after.or(before),
        }
    }

    /// A number that is spelled differently but equal.
    pub(super) fn spelling(&mut self, change: &Change, layout: Layout) -> Vec<Line> {
        let note = Line::default().with(Role::Dim, "  (spelling only)");
        let short = self.old_and_new(change).map(|line| line.then(note)).unwrap_or_default();
        let steps = path_text::steps(&change.path, self.symbols.embedded);
        let path = self.path(&steps, layout, ("=", Role::Dim));
        self.on_one_line(change, layout, path, short)
    }

    /// The symbol of a change.
    pub(in crate::report) fn change_symbol(&self, change: &Change) -> (String, Role) {
        let (symbol, role) = match change.kind {
            _ if secret_numbers::is_secret(change) => (self.symbols.secret, Role::Moved),
            ChangeKind::Add => ("+", Role::Added),
            ChangeKind::Remove => ("-", Role::Removed),
            ChangeKind::Value | ChangeKind::Text => ("~", Role::Changed),
            ChangeKind::Type => ("T", Role::Changed),
            ChangeKind::Reorder => (self.symbols.order, Role::Moved),
            ChangeKind::Move => (self.symbols.moved, Role::Moved),
        };
        (symbol.to_owned(), role)
    }

    /// Symbol and path without the values.
    pub(in crate::report) fn path_of(&mut self, change: &Change, layout: Layout) -> Vec<Line> {
        let (symbol, role) = self.change_symbol(change);
        self.path(&path_text::steps(&change.path, self.symbols.embedded), layout, (&symbol, role))
    }

    /// Adds the values beside the path if they fit there, otherwise below it.
    pub(super) fn on_one_line(
        &mut self,
        change: &Change,
        layout: Layout,
        mut lines: Vec<Line>,
        short: Line,
    ) -> Vec<Line> {
        let beside = lines.last().map_or(0, Line::width) + 2 + short.width();
        let room = self.style.columns();
        let is_long = change.kind == ChangeKind::Value && short.width() > WIDEST_LINE_BESIDE;
        let fits_beside = lines.len() == 1 && beside <= room && !is_long;
        // One value can be read on a line of any width, two are compared more easily above each other.
        let is_one = matches!(change.kind, ChangeKind::Add | ChangeKind::Remove);
        let widest = if is_one { WIDEST_LINE_BESIDE } else { WIDEST_LINE_BELOW };
        let fits_below = layout.details + short.width() <= room && short.width() <= widest;
        if let (true, Some(line)) = (fits_beside, lines.last_mut()) {
            line.push(Role::Plain, "  ");
            line.append(short);
        } else if fits_below {
            lines.push(Line::indented(layout.details).then(short));
        } else if secret_numbers::is_secret(change) || change.kind == ChangeKind::Move {
            let words = wrapped(&short.plain(), Role::Plain, room.saturating_sub(layout.details));
            lines.extend(words.into_iter().map(|line| Line::indented(layout.details).then(line)));
        } else {
            return self.stacked(change, layout, lines);
        }
        lines
    }

    /// The values below the path.
    fn stacked(&mut self, change: &Change, layout: Layout, mut lines: Vec<Line>) -> Vec<Line> {
        let below = self.below(change, layout);
        if let Some(note) = below.note {
            match lines.last_mut() {
                Some(line) if line.width() + 2 + note.width() <= self.style.columns() => {
                    line.push(Role::Plain, "  ");
                    line.append(note);
                }
                _ => lines.push(Line::indented(layout.details).then(note)),
            }
        }
        lines.extend(below.lines);
        lines
    }

    /// Symbol and path; a long path goes on below, broken between its steps.
    pub(super) fn path(&self, steps: &[String], layout: Layout, (symbol, role): (&str, Role)) -> Vec<Line> {
        let mut line = Line::indented(layout.indent).with(role, symbol).with(Role::Plain, " ");
        let start = line.width();
        let room = self.style.columns();
        let mut lines = Vec::new();
        for step in steps {
            // A document inside of a string may start a line.
            let step = if line.width() == start { step.trim_start() } else { step };
            if line.width() + columns(step) > room && line.width() > start {
                lines.push(std::mem::replace(&mut line, Line::indented(start + 2)));
            }
            line.push(Role::Path, step);
        }
        lines.push(line);
        lines.into_iter().flat_map(|line| line.hanging(room, start + 2)).collect()
    }

    /// The change on one line without its path, if it fits.
    pub(in crate::report) fn short(&mut self, change: &Change) -> Option<Line> {
        if secret_numbers::is_secret(change) {
            return Some(self.secret(change));
        }
        match change.kind {
            ChangeKind::Add => Some(Line::default().with(Role::Added, &self.one_line(change.after.as_ref()?)?)),
            ChangeKind::Remove => Some(Line::default().with(Role::Removed, &self.one_line(change.before.as_ref()?)?)),
            ChangeKind::Value => self.old_and_new(change),
            ChangeKind::Type => Some(self.old_and_new(change)?.with(Role::Plain, "  ").then(self.types(change))),
            ChangeKind::Move => Some(self.positions(change)),
            ChangeKind::Reorder => self.order(change),
            ChangeKind::Text => {
                let (before, after) = self.data_versions(change.before.as_ref()?, change.after.as_ref()?)?;
                Some(self.old_and_new_words(&before, &after))
            }
        }
    }

    /// Both versions of a certificate, a key or an encrypted value, by their kinds and last characters.
    fn data_versions(&self, before: &Node, after: &Node) -> Option<(String, String)> {
        let (before, after) = (fragment::data(before)?, fragment::data(after)?);
        (self.style.is_limited() && before != after).then_some((before, after))
    }

    fn one_line(&mut self, node: &Node) -> Option<String> {
        if let Some(data) = fragment::data(node).filter(|_| self.style.is_limited()) {
            return Some(data);
        }
        let text = fragment::inline(node, &mut self.secret_numbers)?;
        Some(if self.style.is_limited() { short_digests(&text) } else { text })
    }

    /// Both versions of a value; digests are short if they still differ then.
    fn one_line_each(&mut self, before: &Node, after: &Node) -> Option<(String, String)> {
        if let Some(data) = self.data_versions(before, after) {
            return Some(data);
        }
        let whole =
            (fragment::inline(before, &mut self.secret_numbers)?, fragment::inline(after, &mut self.secret_numbers)?);
        let short = (short_digests(&whole.0), short_digests(&whole.1));
        Some(if self.style.is_limited() && short.0 != short.1 { short } else { whole })
    }

    fn arrow(&self) -> String {
        format!(" {} ", self.symbols.arrow)
    }

    fn old_and_new(&mut self, change: &Change) -> Option<Line> {
        let (old, new) = (change.before.as_ref()?, change.after.as_ref()?);
        let (before, after) = self.one_line_each(old, new)?;
        Some(self.old_and_new_words(&before, &after))
    }

    /// The comment beside a value in its file, such as the version of a pinned digest. Near secrets none is shown.
    pub(in crate::report) fn comment(&self, change: &Change, node: &Node) -> Option<String> {
        let is_inside = change.path.iter().any(|step| !matches!(step, PathStep::Key(_) | PathStep::Item { .. }));
        if is_inside || self.hides_comments || secret_numbers::concerns_secret(change) {
            return None;
        }
        comment_beside(node, self.sources)
    }

    /// `(string → boolean)`.
    fn types(&self, change: &Change) -> Line {
        let name = |node: &Option<Node>| node.as_ref().map(|node| node.type_of().to_string()).unwrap_or_default();
        let types = format!("({}{}{})", name(&change.before), self.arrow(), name(&change.after));
        Line::default().with(Role::Dim, &types)
    }

    /// `(sensitive, changed) #1 → #2`.
    fn secret(&mut self, change: &Change) -> Line {
        let what = match change.kind {
            ChangeKind::Add => "added",
            ChangeKind::Remove => "removed",
            ChangeKind::Move | ChangeKind::Reorder => "moved",
            _ => "changed",
        };
        let line = Line::default().with(Role::Dim, &format!("({}, {what}) ", secret_numbers::word(change)));
        let mut token = |node: &Option<Node>| {
            let node = node.as_ref()?;
            Some(
                self.secret_numbers
                    .of_node(node)
                    .map_or_else(|| format!("not sensitive ({})", node.type_of()), |n| format!("#{n}")),
            )
        };
        match (token(&change.before), token(&change.after)) {
            (Some(before), Some(after)) => {
                line.with(Role::Removed, &before).with(Role::Dim, &self.arrow()).with(Role::Added, &after)
            }
            (before, after) => line.with(Role::Plain, &before.or(after).unwrap_or_default()),
        }
    }

    /// `[2] → [5]`: the indexes of an item before and after.
    fn positions(&self, change: &Change) -> Line {
        let (before, after) = match change.path.last() {
            Some(PathStep::Item { before, after, .. }) => (*before, *after),
            _ => (None, None),
        };
        let place = |index: Option<usize>| index.map_or_else(|| "[?]".to_owned(), |index| format!("[{index}]"));
        let line = Line::default().with(Role::Removed, &place(before)).with(Role::Dim, &self.arrow());
        line.with(Role::Added, &place(after)).with(Role::Dim, "  (position)")
    }

    fn below(&mut self, change: &Change, layout: Layout) -> Below {
        match (change.kind, &change.before, &change.after) {
            (ChangeKind::Text, Some(before), Some(after)) if self.data_versions(before, after).is_none() => {
                self.text(before, after, layout)
            }
            (ChangeKind::Text, Some(before), Some(after)) => self.versions(before, after, layout),
            (ChangeKind::Value, Some(before), Some(after)) => self.versions(before, after, layout),
            (ChangeKind::Reorder, Some(before), Some(after)) => {
                let count = before.as_list().map_or(0, <[Node]>::len);
                let note = Line::default().with(Role::Dim, &format!("(order of {})", plural(count, "item")));
                Below { note: Some(note), lines: self.orders(before, after, layout) }
            }
            (kind, before, after) => {
                let note = if kind == ChangeKind::Type { Some(self.types(change)) } else { line_count(before, after) };
                let mut lines = Vec::new();
                lines.extend(before.iter().flat_map(|node| self.side(node, Sign::Removed, layout)).collect::<Vec<_>>());
                lines.extend(after.iter().flat_map(|node| self.side(node, Sign::Added, layout)).collect::<Vec<_>>());
                Below { note, lines }
            }
        }
    }

    /// One side of a change as a block.
    fn side(&mut self, node: &Node, sign: Sign, layout: Layout) -> Vec<Line> {
        let most = self.most(if sign == Sign::Removed { REMOVED_LINES } else { VALUE_LINES });
        let block = fragment::block(node, &mut self.secret_numbers, most, self.style.is_limited());
        let mut lines = self.gutter(&block.lines, sign, layout);
        lines.extend(block.left_out.into_iter().flat_map(|what| self.left_out(&what, layout.details)));
        lines
    }

    /// Two versions of a value of one line.
    fn versions(&mut self, before: &Node, after: &Node, layout: Layout) -> Below {
        let Some((old, new)) = self.one_line_each(before, after) else {
            return self.text(before, after, layout);
        };
        let rows = pair(&old, &new, self.text_layout(layout.details + layout.inset + 2));
        let (mut lines, left_out) = fragment::cut(self.rows(rows, layout), self.most(TEXT_LINES));
        lines.extend(left_out.into_iter().flat_map(|what| self.left_out(&what, layout.details)));
        Below { note: None, lines }
    }

    /// A changed text in hunks.
    fn text(&mut self, before: &Node, after: &Node, layout: Layout) -> Below {
        let lines_of = |node: &Node| node.as_str().map(str::to_owned);
        let (Some(before), Some(after)) = (lines_of(before), lines_of(after)) else { return Below::default() };
        let short = fragment::short_digests_in(&before, &after).filter(|_| self.style.is_limited());
        let (before, after) = short.unwrap_or((before, after));
        let hunks = passages(&before, &after, self.text_layout(layout.details + layout.inset + 2));
        let signs = |sign| hunks.iter().flat_map(|(_, rows)| rows).filter(|row| row.sign == sign).count();
        let (added, removed) = (signs(Sign::Added), signs(Sign::Removed));
        let note = format!("(+{added} -{removed}, {} now)", plural(after.lines().count(), "line"));
        let mut lines = Vec::new();
        // A single hunk from the start needs no heading.
        let is_plain = matches!(hunks.as_slice(), [(1, _)]);
        for (start, rows) in hunks {
            if !is_plain {
                lines.push(Line::indented(layout.details).with(Role::Dim, &format!("@@ line {start} @@")));
            }
            lines.extend(self.rows(rows, layout));
        }
        let (mut lines, left_out) = fragment::cut(lines, self.most(TEXT_LINES));
        lines.extend(left_out.into_iter().flat_map(|what| self.left_out(&what, layout.details)));
        Below { note: Some(Line::default().with(Role::Dim, &note)), lines }
    }

    fn rows(&mut self, rows: impl IntoIterator<Item = Row>, layout: Layout) -> Vec<Line> {
        let mut lines = Vec::new();
        for row in broken(rows, self.text_layout(layout.details + layout.inset + 2)) {
            lines.push(self.signed(row.sign, layout).then(row.text));
            lines.extend(row.mark.map(|mark| Line::indented(layout.details + layout.inset + 2).with(Role::Dim, &mark)));
        }
        lines
    }

    /// Whether the changes being written are those of one resource, whose file the title names.
    pub(super) fn is_at_home(&self) -> bool {
        self.homes.iter().any(Option::is_some)
    }

    /// The cause of a change, if its values are defined elsewhere. With `-v` also the lines in the resource's own file.
    pub(in crate::report) fn whereabouts(&mut self, change: &Change, indent: usize) -> Vec<Line> {
        let causes = causes_at(change, &self.homes, self.sources);
        if self.is_at_home() && causes.is_external() {
            let reason = cause::of_change(causes, true, self.sources, &mut self.locator, self.symbols);
            return self.because(&reason.text, indent);
        }
        if self.style.is_verbose() { self.origins(change, indent) } else { Vec::new() }
    }

    /// `at line 7 → line 9`.
    pub(super) fn origins(&mut self, change: &Change, indent: usize) -> Vec<Line> {
        let causes = causes_at(change, &self.homes, self.sources);
        let before = causes.before.as_ref().map(|cause| self.origin(cause));
        let after = causes.after.as_ref().map(|cause| self.origin(cause));
        let places = match (before, after) {
            (Some(before), Some(after)) if before != after => format!("{before}{}{after}", self.arrow()),
            (before, after) => before.or(after).unwrap_or_default(),
        };
        match self.shared_reason.as_ref() == Some(&places) {
            true => Vec::new(),
            false => self.phrase(&format!("at {places}"), indent),
        }
    }

    /// `line 7` in the resource's own file, `base.yaml:7` elsewhere.
    fn origin(&mut self, cause: &Cause) -> String {
        let mut origin = if cause.is_own {
            format!("line {}", self.locator.start(cause.at.span).line)
        } else {
            cause::place_words(&cause.at, &mut self.locator)
        };
        for via in &cause.via {
            let by = match via.is_own {
                true => format!("in line {}", self.locator.start(via.at.span).line),
                false => format!("at {}", cause::place_words(&via.at, &mut self.locator)),
            };
            origin.push_str(&format!(", via the {} {by}", via.kind.name()));
        }
        origin
    }
}

/// `(12 lines)` for an added or removed text.
fn line_count(before: &Option<Node>, after: &Option<Node>) -> Option<Line> {
    let text = before.as_ref().or(after.as_ref())?.as_str()?;
    let count = text.lines().count();
    (count > 1).then(|| Line::default().with(Role::Dim, &format!("({})", plural(count, "line"))))
}
