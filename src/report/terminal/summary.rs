//! The first lines: the two sides, how much was compared, and the counts.

use crate::finding::Finding;
use crate::report::Report;
use crate::report::paint::{Line, Role, columns, cut_middle};
use crate::report::style::Style;
use crate::report::summary_counts::{SummaryCounts, files_with_findings, grouped, plural};
use crate::sanitize;

/// The sides and what was compared, then the counts; one line if nothing changed.
pub(super) fn lines(report: &Report, counts: &SummaryCounts, style: &Style) -> Vec<Line> {
    let columns = style.columns();
    let answer =
        if counts.is_unchanged() { unchanged(report) } else { Line::default().with(Role::Dim, &compared(report)) };
    let answers = if answer.width() <= columns { vec![answer] } else { wrapped(&answer.plain(), Role::Plain, columns) };
    let words = std::iter::once(title(report, style)).chain(answers).collect();
    let mut lines = filled(words, "   ", columns);
    let counts = count_texts(counts).into_iter().map(|(role, text)| Line::default().with(role, &text)).collect();
    lines.extend(filled(counts, "  ", columns));
    lines
}

/// `HEAD → index`.
fn title(report: &Report, style: &Style) -> Line {
    let symbols = style.symbols();
    let arrow = format!(" {} ", symbols.arrow);
    let room = style.columns().saturating_sub(columns(&arrow)) / 2;
    let side = |label: &str| {
        let label = sanitize::inline(label).into_owned();
        cut_middle(&label, room, symbols.ellipsis).unwrap_or(label)
    };
    let before = Line::default().with(Role::Heading, &side(&report.before));
    before.with(Role::Dim, &arrow).with(Role::Heading, &side(&report.after))
}

fn compared(report: &Report) -> String {
    let resources = plural(report.compared.resources, "resource");
    let files = plural(report.compared.files, "changed file");
    format!("{resources} in {files}")
}

/// The result in one phrase: how much was compared without a change, or that files with errors could not be compared.
fn unchanged(report: &Report) -> Line {
    if report.is_incomplete() {
        let phrase = match files_with_findings(report, Finding::is_error) {
            0 => "could not compare everything".to_owned(),
            1 => "could not compare: 1 file has errors".to_owned(),
            files => format!("could not compare: {} have errors", plural(files, "file")),
        };
        return Line::default().with(Role::Alarm, &phrase);
    }
    let phrase = match (report.compared.files, report.compared.resources) {
        (0, _) => "no files differ".to_owned(),
        (files, 0) => format!("no resources to compare in {}", plural(files, "changed file")),
        _ => format!("no effective change: {} compared", compared(report)),
    };
    Line::default().with(Role::Plain, &phrase)
}

/// The counts, most important first, without zeros.
pub(in crate::report) fn count_texts(counts: &SummaryCounts) -> Vec<(Role, String)> {
    let changed = match counts.changed_and_moved {
        0 => "changed".to_owned(),
        moved => format!("changed ({moved} also moved)"),
    };
    let counts = [
        (counts.changed, Role::Changed, changed),
        (counts.added, Role::Added, "added".to_owned()),
        (counts.removed, Role::Removed, "removed".to_owned()),
        (counts.moved, Role::Moved, "moved".to_owned()),
        (counts.groups, Role::Heading, noun(counts.groups, "group")),
        (counts.errors, Role::Alarm, noun(counts.errors, "error")),
        (counts.warnings, Role::Changed, noun(counts.warnings, "warning")),
        (counts.notes, Role::Dim, noun(counts.notes, "note")),
        (counts.secrets, Role::Moved, noun(counts.secrets, "secret")),
        (counts.overridden, Role::Dim, "overridden".to_owned()),
        (counts.dead_edits, Role::Changed, format!("dead {}", noun(counts.dead_edits, "edit"))),
        (counts.order_only, Role::Dim, "order-only".to_owned()),
        (counts.spelling_only, Role::Dim, "spelling-only".to_owned()),
        (counts.suppressed, Role::Dim, "suppressed".to_owned()),
        (counts.skipped, Role::Dim, format!("{} skipped", noun(counts.skipped, "file"))),
    ];
    let said = counts.into_iter().filter(|(count, ..)| *count > 0);
    said.map(|(count, role, word)| (role, format!("{} {word}", grouped(count)))).collect()
}

fn noun(count: usize, noun: &str) -> String {
    if count == 1 { noun.to_owned() } else { format!("{noun}s") }
}

/// Puts pieces side by side as long as they fit.
pub(super) fn filled(pieces: Vec<Line>, gap: &str, columns: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for piece in pieces {
        match lines.last_mut() {
            Some(line) if line.width() + gap.len() + piece.width() <= columns => {
                line.push(Role::Plain, gap);
                line.append(piece);
            }
            _ => lines.push(piece),
        }
    }
    lines
}

/// A phrase over as many lines as it takes.
pub(super) fn wrapped(phrase: &str, role: Role, width: usize) -> Vec<Line> {
    let mut rows: Vec<String> = Vec::new();
    for word in phrase.split(' ') {
        match rows.last_mut() {
            Some(row) if columns(row) + 1 + columns(word) <= width => row.extend([" ", word]),
            _ => rows.push(word.to_owned()),
        }
    }
    rows.iter().map(|row| Line::default().with(role, row)).collect()
}
