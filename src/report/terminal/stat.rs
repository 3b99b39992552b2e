//! The report as a table: one line per resource with how much changed in it.

use std::collections::BTreeSet;
use std::io;

use super::{Draft, frame};
use crate::diff::{ChangeKind, ResourceChange, Status};
use crate::report::paint::{Line, Role, Screen, columns};
use crate::report::style::Style;
use crate::report::summary_counts::plural;
use crate::report::{Report, lines};

/// The widest bar.
const WIDEST_BAR: usize = 24;

/// Additions, changes and removals inside one resource.
#[derive(Clone, Copy, Default)]
struct Extent {
    added: usize,
    changed: usize,
    removed: usize,
}

/// Writes one line per resource, and everything around them as in the full report.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut draft = Draft::new(report, style);
    let mut screen = Screen::new(out, style);
    let shown: Vec<&ResourceChange> =
        report.resources.iter().filter(|resource| draft.status_symbol(resource).is_some()).collect();
    let twins = twins(&shown);
    let names = shown.iter().map(|resource| columns(&full_name(&draft, resource, &twins)));
    let table = Table {
        name: names.max().unwrap_or(0).clamp(8, style.finite_columns().saturating_sub(20).max(8)),
        count: shown.iter().map(|resource| columns(&extent_words(resource))).max().unwrap_or(0),
        most: shown.iter().map(|resource| extent(resource).total()).max().unwrap_or(0),
    };
    frame(report, &mut draft, &mut screen, |draft, screen| {
        if !shown.is_empty() {
            screen.blank()?;
        }
        shown.iter().flat_map(|resource| table.row(draft, resource, &twins)).try_for_each(|line| screen.line(line))?;
        text_rows(report, screen)
    })
}

/// One line per file that was compared as text.
fn text_rows(report: &Report, screen: &mut Screen<'_>) -> io::Result<()> {
    if !report.text_files.is_empty() {
        screen.blank()?;
    }
    for file in &report.text_files {
        let (symbol, role) = lines::symbol(file);
        let (added, removed) = lines::extent(file);
        let count = match added + removed {
            0 => lines::note(file),
            _ => format!("{}, +{added} -{removed} lines", file.kind),
        };
        let name = file.path.to_string();
        let line = Line::default().with(role, symbol).with(Role::Plain, " ").with(Role::Heading, &name);
        screen.line(line.with(Role::Plain, &format!("  {count}")))?;
    }
    Ok(())
}

/// Names that several resources have; their files are shown too.
fn twins(shown: &[&ResourceChange]) -> BTreeSet<String> {
    let name = |of: &&ResourceChange| Some(of.after.as_ref().or(of.before.as_ref())?.identity.to_string());
    let (mut once, mut twins) = (BTreeSet::new(), BTreeSet::new());
    for name in shown.iter().filter_map(name) {
        if !once.insert(name.clone()) {
            twins.insert(name);
        }
    }
    twins
}

fn full_name(draft: &Draft<'_>, of: &ResourceChange, twins: &BTreeSet<String>) -> String {
    let name = draft.name(of);
    match of.after.as_ref().or(of.before.as_ref()) {
        Some(side) if twins.contains(&side.identity.to_string()) => match &side.unit {
            Some(_) => format!("{name}  {}", side.home()),
            None => format!("{name}  {}", side.file),
        },
        _ => name,
    }
}

struct Table {
    name: usize,
    count: usize,
    most: usize,
}

impl Table {
    fn row(&self, draft: &Draft<'_>, resource: &ResourceChange, twins: &BTreeSet<String>) -> Vec<Line> {
        let Some((symbol, role)) = draft.status_symbol(resource) else { return Vec::new() };
        let name = full_name(draft, resource, twins);
        let line = Line::default().with(role, &symbol).with(Role::Plain, " ").with(Role::Heading, &name);
        if columns(&name) > self.name {
            let extent = Line::indented(self.name + 4).with(Role::Plain, &extent_words(resource));
            return line.broken(draft.style.columns()).into_iter().chain([extent]).collect();
        }
        let line = line.padded(self.name + 4).with(Role::Plain, &extent_words(resource));
        let room = draft.style.finite_columns().saturating_sub(self.name + self.count + 6).min(WIDEST_BAR);
        vec![line.padded(self.name + self.count + 6).then(bar(extent(resource), self.most, room))]
    }
}

impl Extent {
    fn total(self) -> usize {
        self.added + self.changed + self.removed
    }
}

fn extent(resource: &ResourceChange) -> Extent {
    let mut extent = Extent::default();
    for change in resource.changes() {
        *match change.kind {
            ChangeKind::Add => &mut extent.added,
            ChangeKind::Remove => &mut extent.removed,
            _ => &mut extent.changed,
        } += 1;
    }
    extent
}

/// `+1 ~2 -1`, or a word for a resource that was added, removed or moved.
fn extent_words(resource: &ResourceChange) -> String {
    let Extent { added, changed, removed } = extent(resource);
    match resource.status() {
        Status::Changed => {
            let signs = [("+", added), ("~", changed), ("-", removed)];
            let said: Vec<String> =
                signs.iter().filter(|(_, n)| *n > 0).map(|(sign, n)| format!("{sign}{n}")).collect();
            said.join(" ")
        }
        Status::Added => "new".to_owned(),
        Status::Removed => "gone".to_owned(),
        Status::Moved => "moved".to_owned(),
        Status::Respelled => plural(resource.spellings().count(), "spelling"),
        Status::Same => "same".to_owned(),
    }
}

/// One sign per change, fewer where the largest would not fit; whatever happened keeps at least one.
fn bar(extent: Extent, most: usize, room: usize) -> Line {
    let scaled = |count: usize| if most <= room { count } else { (count * room).div_ceil(most.max(1)) };
    let mut line = Line::default();
    for (count, sign, role) in
        [(extent.added, "+", Role::Added), (extent.changed, "~", Role::Changed), (extent.removed, "-", Role::Removed)]
    {
        let length = scaled(count).min(room.saturating_sub(line.width()));
        line.push(role, &sign.repeat(length));
    }
    line
}
