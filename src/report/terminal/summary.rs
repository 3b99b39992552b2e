//! The first lines: the two sides, how much was compared, and the counts.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::report::only_bumps::only_bumps;
use crate::report::paint::{Line, Role, columns, cut_middle};
use crate::report::style::Style;
use crate::report::summary_counts::{SummaryCounts, grouped, plural};
use crate::report::{Report, SkipReason, Skipped};
use crate::sanitize;

/// The sides and what was compared, then the counts; one line if nothing changed.
pub(super) fn lines(report: &Report, counts: &SummaryCounts, style: &Style) -> Vec<Line> {
    let columns = style.columns();
    let (role, phrase) = headline(report, counts);
    let answer = Line::default().with(role, &phrase);
    let answers = if answer.width() <= columns { vec![answer] } else { wrapped(&phrase, role, columns) };
    let words = std::iter::once(title(report, style)).chain(answers).collect();
    let mut lines = filled(words, "   ", columns);
    if report.is_incomplete() && !counts.is_unchanged() {
        lines.extend(wrapped(&compared(report), Role::Dim, columns));
    }
    let counted = count_texts(counts).into_iter().map(|(role, text)| Line::default().with(role, &text)).collect();
    lines.extend(filled(counted, "  ", columns));
    let as_text = as_text(report).filter(|text| *text != phrase);
    lines.extend(as_text.into_iter().flat_map(|text| wrapped(&text, Role::Changed, columns)));
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

/// The result in one phrase. What could not be compared comes first, and "no effective change" is said only of what was compared.
pub(in crate::report) fn headline(report: &Report, counts: &SummaryCounts) -> (Role, String) {
    if let Some(phrase) = incomplete(report) {
        return (Role::Alarm, phrase);
    }
    if !counts.is_unchanged() {
        return match only_bumps(report) {
            Some(phrase) => (Role::Plain, format!("{}, {phrase}", compared(report))),
            None => (Role::Dim, compared(report)),
        };
    }
    if let Some(phrase) = as_text(report) {
        return (Role::Changed, phrase);
    }
    let others = report.text_files.len() + report.skipped.len();
    let phrase = match (report.compared.files.saturating_sub(others), others) {
        (0, 0) => "no files differ".to_owned(),
        (0, _) => "no configuration files differ".to_owned(),
        (files, 0) => format!("no effective change: {} compared", plural(files, "changed file")),
        (files, _) => format!("nothing differs in {}", plural(files, "compared file")),
    };
    (Role::Plain, phrase)
}

/// `incomplete: 2 files could not be compared`, if something could not be.
pub(in crate::report) fn incomplete(report: &Report) -> Option<String> {
    let left_out = report.units.iter().filter(|unit| unit.is_left_out).count();
    let failed = report.units.iter().filter(|unit| unit.is_unjudged() && !unit.is_left_out).count();
    report.is_incomplete().then(|| match report.unread.len() {
        _ if left_out > 0 => format!("incomplete: {} not compared", plural(left_out, "root")),
        _ if failed == 1 => "incomplete: 1 root does not build".to_owned(),
        _ if failed > 1 => format!("incomplete: {} do not build", plural(failed, "root")),
        0 => "incomplete: not everything could be compared".to_owned(),
        files => format!("incomplete: {} could not be compared", plural(files, "file")),
    })
}

/// `4 files compared as text: Helm templates (4)`, if there are such files.
pub(in crate::report) fn as_text(report: &Report) -> Option<String> {
    let kinds = numbered(report.compared_as_text().map(|file| file.kind.to_owned()));
    let count = report.compared_as_text().count();
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{kind} ({})", grouped(count))).collect();
    (count > 0).then(|| format!("{} compared as text: {}", plural(count, "file"), kinds.join(", ")))
}

/// `9 other files not compared (Go 8, Markdown 1)`, if there are such files.
pub(in crate::report) fn others(report: &Report) -> Option<String> {
    let kinds = numbered(report.skipped.iter().map(kind_of_file));
    let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{kind} {}", grouped(count))).collect();
    let count = report.skipped.len();
    (count > 0).then(|| format!("{} not compared ({})", plural(count, "other file"), kinds.join(", ")))
}

/// Each name with how often it occurs, the most frequent first.
fn numbered(names: impl Iterator<Item = String>) -> Vec<(String, usize)> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    names.for_each(|name| *counts.entry(name).or_default() += 1);
    let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| Reverse(*count));
    counts
}

/// What people call a file that was not compared: its language, or its extension.
fn kind_of_file(file: &Skipped) -> String {
    if file.reason != SkipReason::OtherFormat {
        return file.reason.describe().to_owned();
    }
    let Some((_, extension)) = file.path.stem_and_extension() else { return "without extension".to_owned() };
    let extension = extension.to_ascii_lowercase();
    let known = LANGUAGES.iter().find(|(extensions, _)| extensions.contains(&extension.as_str()));
    known.map_or_else(|| format!(".{}", sanitize::inline(&extension)), |(_, name)| (*name).to_owned())
}

const LANGUAGES: &[(&[&str], &str)] = &[
    (&["go"], "Go"),
    (&["md", "markdown", "mdx"], "Markdown"),
    (&["rs"], "Rust"),
    (&["py"], "Python"),
    (&["js", "mjs", "cjs", "jsx"], "JavaScript"),
    (&["ts", "tsx"], "TypeScript"),
    (&["sh", "bash", "zsh"], "shell"),
    (&["tf", "tfvars", "hcl"], "Terraform"),
    (&["jsonnet", "libsonnet"], "Jsonnet"),
    (&["png", "jpg", "jpeg", "gif", "svg", "ico", "webp"], "pictures"),
    (&["html", "css", "scss"], "web pages"),
    (&["txt", "rst", "adoc"], "text"),
    (&["toml"], "TOML"),
];

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
        (counts.errors, Role::Alarm, noun(counts.errors, "error")),
        (counts.warnings, Role::Changed, noun(counts.warnings, "warning")),
        (counts.notes, Role::Dim, noun(counts.notes, "note")),
        (counts.secrets, Role::Moved, noun(counts.secrets, "secret")),
        (counts.overridden, Role::Dim, "overridden".to_owned()),
        (counts.dead_edits, Role::Changed, format!("dead {}", noun(counts.dead_edits, "edit"))),
        (counts.order_only, Role::Dim, "order-only".to_owned()),
        (counts.spelling_only, Role::Dim, "spelling-only".to_owned()),
        (counts.suppressed, Role::Dim, "suppressed".to_owned()),
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
