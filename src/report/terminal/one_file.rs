//! One file of a git diff: its name and what changes in it, without the lines around a whole report.

use std::io;

use super::{Draft, each_resource, findings, summary, text_files};
use crate::report::Report;
use crate::report::paint::{Line, Role, Screen};
use crate::report::style::Style;
use crate::report::summary_counts::SummaryCounts;
use crate::sanitize;

/// What is said about a file before its changes.
pub struct FileHeading<'a> {
    /// Its path, safe to print.
    pub path: &'a str,
    /// The names of both sides, if there is something to say about them.
    pub sides: Option<(&'a str, &'a str)>,
    /// Remarks, one per line.
    pub notes: &'a [String],
}

/// Writes the heading and the changes of a file; if nothing differs in effect, a line that says so.
pub fn write_file(
    report: &Report,
    heading: &FileHeading<'_>,
    style: &Style,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    let mut draft = Draft::new(report, style);
    let line = Line::default().with(Role::Heading, heading.path);
    screen.line(match heading.sides {
        Some((before, after)) => {
            let (before, after) = (sanitize::inline(before), sanitize::inline(after));
            line.with(Role::Dim, &format!("   {before} {} {after}", style.symbols().arrow))
        }
        None => line,
    })?;
    for note in heading.notes {
        screen.line(Line::indented(2).with(Role::Dim, &sanitize::inline(note)))?;
    }
    let counts = SummaryCounts::count(report);
    if counts.is_unchanged() && report.text_files.is_empty() && report.compared.files > 0 {
        let (role, phrase) = summary::headline(report, &counts);
        screen.line(Line::indented(2).with(role, &phrase))?;
    }
    findings(report, &draft, &mut screen)?;
    each_resource(report, &mut screen, |resource| draft.resource(resource))?;
    text_files(report, &draft, &mut screen)
}
