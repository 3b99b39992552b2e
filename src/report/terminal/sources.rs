//! The edited files that changes come from, and how many resources each affects.

use std::collections::{BTreeMap, BTreeSet};

use super::Draft;
use super::summary::wrapped;
use crate::diff::EditedFile;
use crate::path::RepoPath;
use crate::report::Report;
use crate::report::outline::Outline;
use crate::report::paint::{Line, Role, columns};
use crate::report::summary_counts::{grouped, plural};

/// The most files that are listed, and so few that all of them are.
const FEW_FILES: usize = 4;
const MOST_FILES: usize = 8;
const INDENT: usize = 2;

/// More blocks are not looked through.
const MOST_BLOCKS: usize = 60;

/// Whether each file that reaches several resources is named as the reason of exactly one block, or of all: a table would say nothing
/// new. Layers are always listed, because other resources may override them.
pub(super) fn are_said(report: &Report, outline: &Outline, draft: &mut Draft<'_>) -> bool {
    if outline.blocks.len() > MOST_BLOCKS || !report.layer_edits.is_empty() {
        return false;
    }
    let mut named: BTreeMap<RepoPath, usize> = BTreeMap::new();
    for block in &outline.blocks {
        let reasons = block.entries.iter().filter_map(|entry| draft.reason(report, entry));
        let files: BTreeSet<RepoPath> =
            reasons.flat_map(|reason| reason.files().into_iter().cloned().collect::<Vec<_>>()).collect();
        files.into_iter().for_each(|file| *named.entry(file).or_default() += 1);
    }
    let is_said = |count: &usize| *count == 1 || *count == outline.blocks.len();
    report.edits.files.iter().filter(|file| file.resources > 1).all(|file| named.get(&file.file).is_some_and(is_said))
}

/// A heading and one line per file; empty if no edited file affects several resources.
pub(super) fn lines(report: &Report, draft: &mut Draft<'_>) -> Vec<Line> {
    let edits = &report.edits;
    // What a file does to a single resource is said there.
    let far = edits.files.iter().filter(|file| file.resources > 1).count();
    let listed = match draft.style.is_verbose() {
        true => edits.files.len(),
        false if far == 0 => return Vec::new(),
        false if edits.files.len() <= FEW_FILES => edits.files.len(),
        false => draft.most(MOST_FILES).map_or(edits.files.len(), |most| far.min(most)),
    };
    let row = |file: &EditedFile| (file.file.to_string(), file.edits, file.resources);
    let rows: Vec<(String, usize, usize)> = edits.files.iter().take(listed).map(row).collect();
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
    let width = rows.iter().map(|(name, ..)| columns(name)).filter(|width| *width <= room).max().unwrap_or(0);
    let mut lines = vec![Line::default().with(Role::Heading, "SOURCES")];
    for ((name, ..), (edits, resources)) in rows.iter().zip(counts) {
        let name = Line::default().with(Role::Plain, name);
        let start = if name.width() > room {
            let pieces = name.broken(draft.style.columns().saturating_sub(INDENT).max(8));
            lines.extend(pieces.into_iter().map(|piece| Line::indented(INDENT).then(piece)));
            Line::indented(2 * INDENT)
        } else {
            let line = Line::indented(INDENT).then(name).padded(INDENT + width + 2);
            line.padded(INDENT + width + 2 + edits_width - columns(&edits))
        };
        lines.push(start.with(Role::Dim, &edits).with(Role::Dim, &resources));
    }
    let more = edits.files.len().saturating_sub(listed);
    if more > 0 {
        let phrase = format!("{} {} more files (-v lists all)", draft.symbols.ellipsis, grouped(more));
        let phrases = wrapped(&phrase, Role::Dim, draft.style.columns().saturating_sub(INDENT));
        lines.extend(phrases.into_iter().map(|line| Line::indented(INDENT).then(line)));
    }
    lines
}
