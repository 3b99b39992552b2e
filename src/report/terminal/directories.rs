//! The report as a table of directories: how many resources changed in each.

use std::collections::BTreeMap;
use std::io;

use super::{Draft, frame};
use crate::diff::Status;
use crate::report::Report;
use crate::report::paint::{Line, Role, Screen, columns};
use crate::report::style::Style;
use crate::report::summary_counts::grouped;

/// Resources by what happened to them: changed, added, removed, moved, compared as text.
type Counts = [usize; 5];

const WORDS: [(&str, Role); 5] = [
    ("changed", Role::Changed),
    ("added", Role::Added),
    ("removed", Role::Removed),
    ("moved", Role::Moved),
    ("as text", Role::Changed),
];

/// Writes one line per directory, and everything around them as in the full report.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut draft = Draft::new(report, style);
    let mut screen = Screen::new(out, style);
    let rows = directories(report);
    let widest = rows.keys().map(|name| columns(name)).max().unwrap_or(0).min(style.finite_columns() / 2);
    frame(report, &mut draft, &mut screen, |_, screen| {
        if !rows.is_empty() {
            screen.blank()?;
        }
        for (name, counts) in &rows {
            let mut line = Line::default().with(Role::Heading, name).padded(widest + 2);
            let mut gap = if columns(name) > widest { "  " } else { "" };
            for (count, (word, role)) in counts.iter().zip(WORDS).filter(|(count, _)| **count > 0) {
                line.push(Role::Plain, gap);
                line.push(role, &format!("{} {word}", grouped(*count)));
                gap = "  ";
            }
            screen.line(line)?;
        }
        Ok(())
    })
}

fn directories(report: &Report) -> BTreeMap<String, Counts> {
    let mut rows: BTreeMap<String, Counts> = BTreeMap::new();
    let mut count = |directory: String, at: usize| rows.entry(directory).or_default()[at] += 1;
    let named = |directory: Option<crate::path::RepoPath>| match directory {
        Some(directory) if !directory.is_root() => format!("{directory}/"),
        _ => "./".to_owned(),
    };
    for of in &report.resources {
        let Some(side) = of.after.as_ref().or(of.before.as_ref()) else { continue };
        let place = match &side.unit {
            Some(_) => format!("{}/", side.home()),
            None => named(side.file.parent()),
        };
        match of.status() {
            Status::Changed => count(place, 0),
            Status::Added => count(place, 1),
            Status::Removed => count(place, 2),
            Status::Moved => count(place, 3),
            Status::Respelled | Status::Same => {}
        }
    }
    for file in &report.text_files {
        count(named(file.path.parent()), 4);
    }
    rows
}
