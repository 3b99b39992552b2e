//! The edited files that changes come from, and how many resources each affects.

use super::Draft;
use super::summary::wrapped;
use crate::report::Report;
use crate::report::paint::{Line, Role, columns};
use crate::report::summary_counts::{grouped, plural};

/// The most files that are listed.
const MOST_FILES: usize = 8;
const INDENT: usize = 2;

/// A heading and one line per file; empty if no edited file affects other resources.
pub(super) fn lines(report: &Report, draft: &mut Draft<'_>) -> Vec<Line> {
    let edits = &report.edits;
    let listed = draft.most(MOST_FILES).unwrap_or(edits.files.len());
    let mut rows: Vec<(String, usize, usize)> = Vec::new();
    rows.extend(edits.files.iter().take(listed).map(|file| (file.file.to_string(), file.edits, file.resources)));
    if rows.is_empty() {
        return Vec::new();
    }
    let counts = |row: &(String, usize, usize)| {
        let arrow = draft.symbols.arrow;
        (plural(row.1, "edit"), format!(" {arrow} {}", plural(row.2, "resource")))
    };
    let counts: Vec<(String, String)> = rows.iter().map(counts).collect();
    let edits_width = counts.iter().map(|(edits, _)| columns(edits)).max().unwrap_or(0);
    let widest_count = counts.iter().map(|(_, resources)| columns(resources)).max().unwrap_or(0) + edits_width;
    let room = draft.style.columns().saturating_sub(INDENT + 2 + widest_count).max(8);
    let width = rows.iter().map(|(name, ..)| columns(name)).max().unwrap_or(0).min(room);
    let mut lines = vec![Line::default().with(Role::Heading, "SOURCES")];
    for ((name, ..), (edits, resources)) in rows.iter().zip(counts) {
        let line = Line::indented(INDENT).with(Role::Plain, name);
        let line = match columns(name) <= width {
            true => line.padded(INDENT + width + 2),
            // A long name has the line for itself.
            false => {
                lines.extend(line.broken(draft.style.columns()));
                Line::indented(INDENT + 4)
            }
        };
        let line = line.padded(INDENT + width + 2 + edits_width - columns(&edits));
        lines.push(line.with(Role::Dim, &edits).with(Role::Dim, &resources));
    }
    let more = edits.files.len().saturating_sub(listed);
    if more > 0 {
        let phrase = format!("{} {} more files (-v lists all)", draft.symbols.ellipsis, grouped(more));
        let phrases = wrapped(&phrase, Role::Dim, draft.style.columns().saturating_sub(INDENT));
        lines.extend(phrases.into_iter().map(|line| Line::indented(INDENT).then(line)));
    }
    lines
}
