//! The report as people read it in a terminal: what was compared, each resource with its changes, and everything left out.

mod derived_groups;
mod change;
mod footer;
mod group;
pub mod names;
pub mod one_file;
mod order;
mod resource;
mod sources;
pub mod stat;
mod summary;
mod units;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;

pub use names::write as write_names;
pub use one_file::{FileHeading, write_file};
pub use stat::write as write_stat;

pub(super) use change::Layout;
pub(super) use group::is_behind;
pub(super) use resource::CHANGES;
pub(super) use stat::extent_words;
pub(super) use summary::{as_text, count_texts, headline, incomplete, others};

use super::Report;
use super::diagnostics;
use super::edit_pattern::EditPattern;
use super::lines;
use super::locate::Locator;
use super::paint::{Line, Role, Screen};
use super::secret_numbers::SecretNumbers;
use super::style::{Style, Symbols};
use super::summary_counts::SummaryCounts;
use super::text_diff::TextLayout;
use crate::diff::{Fingerprint, Group, HomeFile, Member, ResourceChange};
use crate::text::Sources;

/// Writes the whole report: groups first, then the other changes of each resource.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    if report.groups.is_empty() && report.edits.files.is_empty() {
        return write_each(report, style, out);
    }
    let mut draft = Draft::new(report, style);
    let mut screen = Screen::new(out, style);
    frame(report, &mut draft, &mut screen, |draft, screen| {
        section(sources::lines(report, draft), screen)?;
        for (at, following) in derived_groups::in_order(report, draft) {
            section(draft.group(report, at, &following), screen)?;
        }
        let shown = shown_in_groups(report, style);
        for (at, resource) in report.resources.iter().enumerate() {
            section(draft.resource_without(at, resource, &shown), screen)?;
        }
        findings(report, draft, screen)
    })
}

/// Writes the report resource by resource.
pub fn write_each(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut draft = Draft::new(report, style);
    let mut screen = Screen::new(out, style);
    frame(report, &mut draft, &mut screen, |draft, screen| {
        each_resource(report, screen, |resource| draft.resource(resource))?;
        findings(report, draft, screen)
    })
}

/// The changes that are not repeated at their resource, because groups or the resources that read the file show them.
pub(super) fn shown_in_groups(report: &Report, style: &Style) -> BTreeSet<Member> {
    let grouped = report.groups.iter().flat_map(Group::members);
    let echoes = report.edits.echoes.iter().copied().filter(|_| !style.is_verbose());
    grouped.chain(echoes).collect()
}

fn section(lines: Vec<Line>, screen: &mut Screen<'_>) -> io::Result<()> {
    if !lines.is_empty() {
        screen.blank()?;
    }
    lines.into_iter().try_for_each(|line| screen.line(line))
}

/// The files that were compared as text, then the findings with their snippets, if there are any.
pub(super) fn findings(report: &Report, draft: &Draft<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    section(units::rollouts(report, draft), screen)?;
    section(units::failed(report, draft), screen)?;
    if !report.text_files.is_empty() {
        screen.blank()?;
        lines::show(&report.text_files, draft.style, screen)?;
    }
    if report.findings.is_empty() {
        return Ok(());
    }
    screen.blank()?;
    diagnostics::show(report, draft.style, screen)
}

/// Writes the parts around the resources, which all layouts share.
pub(super) fn frame(
    report: &Report,
    draft: &mut Draft<'_>,
    screen: &mut Screen<'_>,
    body: impl FnOnce(&mut Draft<'_>, &mut Screen<'_>) -> io::Result<()>,
) -> io::Result<()> {
    let counts = SummaryCounts::count(report);
    summary::lines(report, &counts, draft.style).into_iter().try_for_each(|line| screen.line(line))?;
    body(draft, screen)?;
    let footer = footer::lines(report, &counts, draft);
    if !footer.is_empty() {
        screen.blank()?;
    }
    footer.into_iter().try_for_each(|line| screen.line(line))
}

/// Resources with a blank line before each.
pub(super) fn each_resource(
    report: &Report,
    screen: &mut Screen<'_>,
    mut lines: impl FnMut(&ResourceChange) -> Vec<Line>,
) -> io::Result<()> {
    for resource in &report.resources {
        section(lines(resource), screen)?;
    }
    Ok(())
}

/// What lines are made with, and what has to be remembered while making them.
pub(super) struct Draft<'a> {
    pub style: &'a Style,
    pub symbols: &'static Symbols,
    pub secret_numbers: SecretNumbers,
    pub locator: Locator<'a>,
    /// Whether some text was shortened to fit; the footer then says how to show all of it.
    pub was_cut: bool,
    /// The steps of the path above, so that the next one can show what is new in it.
    pub last_path: Vec<String>,
    /// The files of the current resource, before and after.
    pub homes: [Option<HomeFile>; 2],
    /// Text before the next change, instead of blanks.
    pub tag: Option<String>,
    /// Lists of so many names are shown whole.
    pub listed: usize,
    /// The texts that values point into.
    pub sources: &'a Sources,
    /// A hint how to show what was left out.
    pub hint: &'static str,
    /// What was found out about groups, by their names.
    pub edit_patterns: BTreeMap<Fingerprint, Option<Rc<EditPattern>>>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(report: &'a Report, style: &'a Style) -> Self {
        Self {
            style,
            symbols: style.symbols(),
            secret_numbers: SecretNumbers::number_all(report),
            locator: Locator::new(&report.sources),
            was_cut: false,
            last_path: Vec::new(),
            homes: [None, None],
            tag: None,
            listed: 0,
            sources: &report.sources,
            hint: " (-v shows all)",
            edit_patterns: BTreeMap::new(),
        }
    }

    /// The most lines of a value or text to show.
    pub(super) fn most(&self, lines: usize) -> Option<usize> {
        (!self.style.is_verbose()).then_some(lines)
    }

    /// For text after `indent` columns.
    pub(super) fn text_layout(&self, indent: usize) -> TextLayout<'static> {
        let room = self.style.columns().saturating_sub(indent).max(8);
        TextLayout { width: self.most(room), color: self.style.color, symbols: self.symbols }
    }

    /// Text that fits into so many columns.
    pub(super) fn fitted(&mut self, text: &str, width: usize) -> String {
        match super::paint::cut_middle(text, width, self.symbols.ellipsis) {
            Some(cut) if !self.style.is_verbose() => {
                self.was_cut = true;
                cut
            }
            _ => text.to_owned(),
        }
    }

    /// Says that something is missing here.
    pub(super) fn left_out(&self, what: &str, indent: usize) -> Vec<Line> {
        let phrase = format!("{} {what}{}", self.symbols.ellipsis, self.hint);
        let room = self.style.columns().saturating_sub(indent);
        let lines = summary::wrapped(&phrase, Role::Dim, room);
        lines.into_iter().map(|line| Line::indented(indent).then(line)).collect()
    }
}

#[cfg(test)]
mod tests;
