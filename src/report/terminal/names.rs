//! The files of changed resources and those compared as text, one per line, as `git diff --name-only` prints them.

use std::collections::BTreeSet;
use std::io;

use crate::diff::Status;
use crate::report::Report;
use crate::report::paint::{Line, Role, Screen};
use crate::report::style::Style;

/// Writes the files of changed resources once, in byte order: the newer file, or the older one of a removed resource.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let changed = report.resources.iter().filter(|resource| resource.status() < Status::Respelled);
    let files = changed.filter_map(|resource| Some(&resource.after.as_ref().or(resource.before.as_ref())?.file));
    let files: BTreeSet<_> =
        files.chain(report.text_files.iter().map(|file| &file.path)).chain(&report.unread).collect();
    let mut screen = Screen::new(out, style);
    files.into_iter().try_for_each(|file| screen.line(Line::default().with(Role::Plain, &file.to_string())))
}
