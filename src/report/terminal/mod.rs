//! The report as people read it in a terminal: what was compared, each resource with its changes, and everything left out.

mod also;
mod block;
mod bump_rows;
mod bumps;
mod change;
pub mod directories;
mod elsewhere;
mod footer;
mod group;
mod items;
pub mod names;
pub mod one_file;
mod order;
mod resource;
mod sources;
pub mod stat;
mod summary;
mod units;
mod whole;

use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;

pub use directories::write as write_summary;
pub use names::write as write_names;
pub use one_file::{FileHeading, write_file};
pub use stat::write as write_stat;

pub(super) use block::{Reasons, folded_paths, subject};
pub(super) use bump_rows::{BumpRow, row as bump_row};
pub(super) use change::Layout;
pub(super) use group::is_behind;
pub(super) use resource::CHANGES;
pub(super) use summary::{as_text, count_texts, headline, incomplete, others};

use super::Report;
use super::diagnostics;
use super::edit_pattern::EditPattern;
use super::layer_reach;
use super::lines;
use super::locate::Locator;
use super::outline::Outline;
use super::paint::{Line, Role, Screen};
use super::secret_numbers::SecretNumbers;
use super::style::{Style, Symbols};
use super::summary_counts::SummaryCounts;
use super::text_diff::{Sign, TextLayout};
use crate::diff::{Fingerprint, HomeFile, ResourceChange};
use crate::sanitize;
use crate::text::Sources;

/// Writes the whole report: problems first, then changes by the resources that share them, then what came, went and moved.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_outline(report, &Outline::new(report, style.is_verbose()), style, out)
}

/// Writes the report resource by resource.
pub fn write_each(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    write_outline(report, &Outline::of_each(report), style, out)
}

fn write_outline(report: &Report, outline: &Outline, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut draft = Draft::new(report, style);
    let mut screen = Screen::new(out, style);
    frame(report, &mut draft, &mut screen, |draft, screen| {
        findings(report, draft, screen)?;
        section(bumps::lines(report, draft, is_one_block(outline)), screen)?;
        if draft.style.is_verbose() || !sources::are_said(report, outline, draft) {
            section(sources::lines(report, draft), screen)?;
        }
        section(reach(report, draft), screen)?;
        outline.blocks.iter().try_for_each(|block| section(draft.block(report, block), screen))?;
        for (found, sign) in [(&outline.added, Sign::Added), (&outline.removed, Sign::Removed)] {
            draft.one_sided(report, found, sign).into_iter().try_for_each(|lines| section(lines, screen))?;
        }
        let moves: Vec<Line> = outline.moves.iter().flat_map(|moved| draft.moved(report, moved)).collect();
        section(moves, screen)?;
        respelled(report, draft, screen)?;
        text_files(report, draft, screen)
    })
}

/// Whether all there is to show are the changes of one block.
fn is_one_block(outline: &Outline) -> bool {
    outline.blocks.len() == 1 && outline.added.is_empty() && outline.removed.is_empty()
}

/// Layers that paths lose or gain, if there are any.
fn reach(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let phrases = layer_reach::phrases(report, draft.symbols.arrow);
    if phrases.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![Line::default().with(Role::Heading, "REACH")];
    let room = draft.style.columns().saturating_sub(4);
    for phrase in phrases {
        let wrapped = summary::wrapped(&sanitize::inline(&phrase), Role::Plain, room).into_iter().enumerate();
        lines.extend(wrapped.map(|(at, line)| Line::indented(if at == 0 { 2 } else { 4 }).then(line)));
    }
    lines
}

/// The table of version bumps, if there are any.
pub(super) fn bump_table(report: &Report, draft: &Draft<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    section(bumps::lines(report, draft, false), screen)
}

/// Numbers in another spelling, for those who asked for everything.
fn respelled(report: &Report, draft: &mut Draft<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    if !draft.style.is_verbose() {
        return Ok(());
    }
    for resource in report.resources.iter().filter(|resource| resource.spellings().next().is_some()) {
        draft.enter(resource);
        let mut lines = draft.header(resource);
        lines.extend(draft.spellings(resource));
        section(lines, screen)?;
    }
    Ok(())
}

fn section(lines: Vec<Line>, screen: &mut Screen<'_>) -> io::Result<()> {
    if !lines.is_empty() {
        screen.blank()?;
    }
    lines.into_iter().try_for_each(|line| screen.line(line))
}

/// What rolls out because of other resources, and the files that were compared as text, if there are any.
pub(super) fn text_files(report: &Report, draft: &Draft<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    section(units::rollouts(report, draft), screen)?;
    section(units::definitions(report, draft), screen)?;
    section(units::missing(report, draft), screen)?;
    if report.text_files.is_empty() {
        return Ok(());
    }
    screen.blank()?;
    lines::show(&report.text_files, draft.style, screen)
}

/// Units that do not build, then the findings with their snippets, if there are any.
pub(super) fn findings(report: &Report, draft: &Draft<'_>, screen: &mut Screen<'_>) -> io::Result<()> {
    section(units::failed(report, draft), screen)?;
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
    /// The files of the current resource, before and after.
    pub homes: [Option<HomeFile>; 2],
    /// The one reason of all changes of the current block: it is not said again beside each of them.
    pub shared_reason: Option<String>,
    /// Whether comments beside values are not shown, because secrets are near.
    pub hides_comments: bool,
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
            homes: [None, None],
            shared_reason: None,
            hides_comments: false,
            sources: &report.sources,
            hint: " (-v shows all)",
            edit_patterns: BTreeMap::new(),
        }
    }

    /// The most lines of a value or text to show.
    pub(super) fn most(&self, lines: usize) -> Option<usize> {
        self.style.is_limited().then_some(lines)
    }

    /// For text after `indent` columns.
    pub(super) fn text_layout(&self, indent: usize) -> TextLayout<'static> {
        let room = self.style.columns().saturating_sub(indent).max(8);
        TextLayout {
            width: Some(room),
            color: self.style.color,
            shortens: self.style.is_limited(),
            symbols: self.symbols,
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
