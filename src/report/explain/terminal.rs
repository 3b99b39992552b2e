//! Explanations as text: the effective value is marked, overridden ones are struck through.

use std::io;

use crate::document::write::inline_within;
use crate::explain::{
    ExplainedFile, ExplainedPart, ExplainedSubject, Explanation, FileRole, HistoryEffect, HistoryEntry, Route,
    ValueHistory,
};
use crate::report::locate::Locator;
use crate::report::paint::{Line, Role, Screen, columns, cut_middle};
use crate::report::secret_numbers::SecretNumbers;
use crate::report::style::Style;
use crate::report::summary_counts::{grouped, plural};
use crate::text::{Sources, Span};
use crate::value::{Node, StepKind};

/// Columns before a value.
const INDENT: usize = 4;
/// Columns before what belongs to the line above.
const DEEPER: usize = 8;
/// Longer values are counted instead of shown.
const LONGEST: usize = 10_000;

/// Writes explanations as text.
pub fn write(all: &[Explanation], sources: &Sources, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut page = Page {
        screen: Screen::new(out, style),
        locator: Locator::new(sources),
        secret_numbers: SecretNumbers::default(),
        style,
    };
    for (at, explanation) in all.iter().enumerate() {
        if at > 0 {
            page.screen.blank()?;
        }
        page.explanation(explanation)?;
    }
    Ok(())
}

pub(super) struct Page<'a> {
    pub(super) screen: Screen<'a>,
    locator: Locator<'a>,
    secret_numbers: SecretNumbers,
    pub(super) style: &'a Style,
}

impl Page<'_> {
    fn explanation(&mut self, explanation: &Explanation) -> io::Result<()> {
        let heading = Line::default().with(Role::Heading, &explanation.name);
        self.screen.line(heading.with(Role::Dim, &format!("  {}", explanation.revision)))?;
        explanation.parts.iter().try_for_each(|part| self.part(part))?;
        self.requests(explanation)
    }

    fn part(&mut self, part: &ExplainedPart) -> io::Result<()> {
        self.screen.blank()?;
        self.screen.line(Line::default().with(Role::Heading, part.subject.name()))?;
        self.origins(part)?;
        self.histories(&part.values)?;
        if part.omitted == 0 {
            return Ok(());
        }
        let more = if part.values.is_empty() { "value" } else { "more value" };
        let hint = match (part.subject, part.omitted) {
            (ExplainedSubject::Payload, 1) => "comes from the file itself; a POINTER or -v shows it",
            (ExplainedSubject::Payload, _) => "come from the file itself; a POINTER or -v shows them",
            (ExplainedSubject::Metadata, 1) => "is a default; a POINTER shows it",
            (ExplainedSubject::Metadata, _) => "are defaults; a POINTER shows them",
        };
        self.screen.blank()?;
        self.screen.line(Line::default().with(Role::Dim, &format!("{} {hint}", plural(part.omitted, more))))
    }

    fn origins(&mut self, part: &ExplainedPart) -> io::Result<()> {
        if part.files.is_empty() {
            let phrase = match part.subject {
                ExplainedSubject::Payload => "no such resource",
                ExplainedSubject::Metadata => "no metadata applies",
            };
            return self.screen.line(Line::indented(2).with(Role::Dim, phrase));
        }
        let widest = part.files.iter().map(|origin| columns(role_of(origin))).max().unwrap_or(0);
        let widest = widest.min(self.style.columns() / 2);
        for origin in &part.files {
            let line = Line::indented(2).with(Role::Plain, role_of(origin)).padded(2 + widest);
            let line = line.with(Role::Dim, &format!("  {}", origin.file));
            let reach = reach_of(origin).map(|reach| format!("  ({reach})")).unwrap_or_default();
            if line.width() + columns(&reach) <= self.style.columns() {
                self.screen.line(line.with(Role::Dim, &reach))?;
            } else {
                self.screen.line(line)?;
                self.screen.line(Line::indented(INDENT).with(Role::Dim, reach.trim_start()))?;
            }
        }
        for origin in &part.skipped {
            let phrase = format!("skipped: {}  {}", role_of(origin), origin.file);
            self.screen.line(Line::indented(2).with(Role::Dim, &phrase))?;
            self.screen.line(Line::indented(INDENT).with(Role::Dim, "(direct items only)"))?;
        }
        Ok(())
    }

    /// Values with a single definition are shown as table rows, others with their history.
    fn histories(&mut self, histories: &[ValueHistory]) -> io::Result<()> {
        for run in histories.chunk_by(|a, b| is_plain(a) && is_plain(b)) {
            if is_plain(&run[0]) {
                self.screen.blank()?;
                self.rows(run)?;
                continue;
            }
            for history in run {
                self.screen.blank()?;
                self.screen.line(Line::default().with(Role::Path, &full_name(history)))?;
                for line in self.entries(history) {
                    self.screen.line(line)?;
                }
            }
        }
        Ok(())
    }

    fn rows(&mut self, histories: &[ValueHistory]) -> io::Result<()> {
        let room = self.style.columns();
        let mut rows: Vec<[String; 3]> = Vec::with_capacity(histories.len());
        for history in histories {
            let Some(entry) = history.entries.last() else { continue };
            let value = self.value(entry, true);
            let cut = cut_middle(&value, room / 2, self.style.symbols().ellipsis).filter(|_| !self.style.is_verbose());
            rows.push([full_name(history), cut.unwrap_or(value), self.remarks(entry).concat()]);
        }
        self.table(&rows)
    }

    /// Names, values and places in columns if all of them fit, each line as it comes otherwise.
    pub(super) fn table(&mut self, rows: &[[String; 3]]) -> io::Result<()> {
        let room = self.style.columns();
        let widest = |at: usize| rows.iter().map(|row| columns(&row[at])).max().unwrap_or(0);
        let (names, values, places) = (widest(0), widest(1), widest(2));
        let (names, values) = if names + values + places + 4 <= room { (names, values) } else { (0, 0) };
        for [name, value, place] in rows {
            let line = Line::default().with(Role::Path, name).padded(names).with(Role::Plain, "  ");
            let line = line.with(Role::Heading, value).padded(names + 2 + values);
            if line.width() + 2 + columns(place) <= room {
                self.screen.line(line.with(Role::Dim, &format!("  {place}")))?;
            } else {
                self.screen.line(line)?;
                let deeper = INDENT + name.len() - name.trim_start().len();
                self.screen.line(Line::indented(deeper).with(Role::Dim, place))?;
            }
        }
        Ok(())
    }

    fn entries(&mut self, history: &ValueHistory) -> Vec<Line> {
        let last = history.entries.len().saturating_sub(1);
        let entries = history.entries.iter().enumerate();
        let values: Vec<String> = entries.map(|(at, entry)| self.value(entry, at == last)).collect();
        let room = self.style.columns();
        let widest = values.iter().map(|value| columns(value)).max().unwrap_or(0).min(room * 3 / 5);
        let mut lines = Vec::new();
        for (at, (entry, value)) in history.entries.iter().zip(values).enumerate() {
            let shown = cut_middle(&value, widest, self.style.symbols().ellipsis).filter(|_| !self.style.is_verbose());
            let indent = Line::indented(INDENT - 2);
            let (line, role) = if at == last {
                (indent.with(Role::Added, self.style.symbols().winner), Role::Heading)
            } else {
                (indent, Role::Struck)
            };
            let mut line = line.padded(INDENT).with(role, &shown.unwrap_or(value)).padded(INDENT + widest);
            for remark in self.remarks(entry) {
                if line.width() + 2 + columns(&remark) > room {
                    lines.push(std::mem::replace(&mut line, Line::indented(DEEPER - 2)));
                }
                line = line.with(Role::Dim, &format!("  {remark}"));
            }
            lines.push(line);
        }
        lines
    }

    /// The value on one line; one that does not count is struck through, with characters where there is no colour.
    fn value(&mut self, entry: &HistoryEntry, counts: bool) -> String {
        let value = match &entry.effect {
            HistoryEffect::Value(node) => self.inline(node),
            HistoryEffect::Cleared => "null".to_owned(),
            HistoryEffect::Emptied => "(empty)".to_owned(),
        };
        if counts || self.style.color { value } else { format!("~~{value}~~") }
    }

    pub(super) fn inline(&mut self, node: &Node) -> String {
        let is_small = node.size() <= LONGEST as u64;
        let inline = is_small.then(|| inline_within(&self.secret_numbers.masked(node), LONGEST)).flatten();
        inline.unwrap_or_else(|| {
            let size = grouped(usize::try_from(node.size()).unwrap_or(usize::MAX));
            format!("({}, {size} values)", node.type_of())
        })
    }

    /// Where a value is defined, and the steps from there.
    fn remarks(&mut self, entry: &HistoryEntry) -> Vec<String> {
        let note = match entry.effect {
            HistoryEffect::Value(_) => "",
            HistoryEffect::Cleared | HistoryEffect::Emptied => "  (clears the value)",
        };
        let place = entry.at.map_or("default".to_owned(), |at| self.place(at));
        let mut remarks = vec![format!("{place}{note}")];
        let Route { steps, left_out } = &entry.route;
        for (kind, at) in steps {
            let (name, by) = (self.step(*kind, *at), self.place(*at));
            // A value that is defined where it is computed needs no second location.
            remarks.push(match kind {
                StepKind::Patch if by == place => "by a patch".to_owned(),
                StepKind::Expression if by == place => "by an expression".to_owned(),
                _ => format!("via {name} at {by}"),
            });
        }
        if *left_out > 0 {
            remarks.push(format!("and {} more", grouped(*left_out)));
        }
        remarks
    }

    pub(super) fn place(&mut self, span: Span) -> String {
        let place = self.locator.start(span);
        format!("{}:{}", place.text.path, place.line)
    }

    /// The text of a step if it is a short key, otherwise its kind.
    fn step(&mut self, kind: StepKind, at: Span) -> String {
        let is_key = matches!(kind, StepKind::Alias | StepKind::MergeKey | StepKind::Directive | StepKind::Include);
        let text = self.locator.start(at).text;
        let written = text.text.get(at.range()).filter(|text| is_key && !text.is_empty() && text.len() <= 40);
        written.filter(|text| !text.contains('\n')).unwrap_or(kind.name()).to_owned()
    }
}

/// Whether a value has a single definition and no steps.
fn is_plain(history: &ValueHistory) -> bool {
    matches!(&history.entries[..], [only] if only.route.steps.is_empty() && matches!(only.effect, HistoryEffect::Value(_)))
}

fn role_of(origin: &ExplainedFile) -> &str {
    match &origin.role {
        FileRole::Document => "defined in",
        FileRole::Included => "included",
        FileRole::Patches => "patched by",
        FileRole::Drops => "dropped by",
        FileRole::Collection { selector, .. } | FileRole::Own { selector } => selector,
    }
}

/// How far a layer reaches.
pub(super) fn reach_of(origin: &ExplainedFile) -> Option<&'static str> {
    match &origin.role {
        FileRole::Collection { reaches_below: true, .. } => Some("everything below"),
        FileRole::Collection { .. } => Some("direct items"),
        FileRole::Own { .. } => Some("itself"),
        _ => None,
    }
}

/// `resourceInfo.idFromAttribute (resource.id)`: the name of a value, and the keys it is written under if they are others.
fn full_name(history: &ValueHistory) -> String {
    match &history.written {
        Some(written) => format!("{} ({written})", history.name),
        None => history.name.to_string(),
    }
}
