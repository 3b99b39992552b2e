//! Groups in Markdown: the edited files, the table of groups and their details.

use super::{LONGEST_SPAN, MARGIN, MOST_SOURCES, cell, fenced, html, shortened, span};
use crate::diff::Group;
use crate::diff::path_text;
use crate::report::summary_counts::{grouped, plural};
use crate::report::terminal::{self, Draft};
use crate::report::{LayerEdit, Report, cause};

/// The edited files behind what changed.
pub(super) fn sources(report: &Report) -> String {
    let files = &report.edits.files;
    if files.is_empty() {
        return String::new();
    }
    let mut listed: Vec<String> = Vec::new();
    for file in files.iter().take(MOST_SOURCES) {
        let reach = format!("{} → {}", plural(file.edits, "edit"), plural(file.resources, "resource"));
        listed.push(format!("{} ({reach})", span(&file.file.to_string())));
    }
    let more = files.len().saturating_sub(MOST_SOURCES);
    if more > 0 {
        listed.push(format!("and {} more", plural(more, "file")));
    }
    format!("Sources: {}.\n\n", listed.join(", "))
}

/// `| ~ | .plan silver → gold | 5 | … |`.
pub(super) fn row(report: &Report, group: &Group, draft: &mut Draft<'_>) -> String {
    let Some((_, example)) = group.example(&report.resources) else { return String::new() };
    let (symbol, _) = draft.change_symbol(example);
    let path = path_text::display(&group.path, draft.symbols.embedded);
    let values =
        draft.group_values(report, group).map(|short| format!(" {}", cell(&short.plain()))).unwrap_or_default();
    let varies = if draft.usual(report, group).1.is_empty() { "" } else { ", varies" };
    let why = cause::of_group(group, &report.resources, &report.sources, &mut draft.locator, draft.symbols)
        .unwrap_or_default();
    let count = grouped(group.resource_count());
    format!("| {} | {}{values}{varies} | **{count}** | {} |\n", cell(&symbol), cell(&path), cell(&why))
}

/// A group, folded: the change, its resources and its cause.
pub(super) fn detail(report: &Report, group: &Group, draft: &mut Draft<'_>) -> String {
    let mut lines = draft.group_change(report, group, MARGIN);
    // Names are not at the margin, so that none can look like a change.
    lines.extend(draft.group_details(report, group, MARGIN.inset));
    let symbol =
        group.example(&report.resources).map(|(_, example)| draft.change_symbol(example).0).unwrap_or_default();
    let path = html(&shortened(&path_text::display(&group.path, draft.symbols.embedded)));
    let tail = format!("{}, {}", plural(group.resource_count(), "resource"), group.fingerprint);
    let summary = format!("{} <code>{path}</code> in {tail}", html(&symbol));
    format!("<details><summary>{summary}</summary>\n\n{}\n</details>\n\n", fenced(&lines))
}

/// Edits of layers that some resources override, unless a group or a finding shows them.
pub(super) fn overridden(report: &Report, draft: &mut Draft<'_>) -> String {
    let is_shown =
        |edit: &LayerEdit| edit.is_dead || report.groups.iter().any(|group| terminal::is_behind(edit, group, report));
    let mut text = String::new();
    let overridden = report.layer_edits.iter().filter(|edit| !edit.overridden.is_empty() && !is_shown(edit));
    for edit in overridden.take(MOST_SOURCES) {
        let words = draft.overridden_text(edit, LONGEST_SPAN);
        let (pointer, file) = (span(&edit.pointer.to_string()), span(&edit.file.to_string()));
        text.push_str(&format!("Partly overridden: {pointer} in {file}: {}\n\n", span(&words)));
    }
    text
}
