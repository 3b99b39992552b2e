//! The footer: everything that was left out of the report.

use std::collections::BTreeMap;

use super::Draft;
use super::change::Layout;
use super::group::is_behind;
use super::resource::CHANGES;
use super::summary::wrapped;
use crate::diff::Suppressed;
use crate::report::paint::{Line, Role, columns};
use crate::report::summary_counts::{SummaryCounts, other_problems, plural};
use crate::report::{LayerEdit, Report, SkipReason};
use crate::sanitize;

/// The most names of skipped files on one line.
const NAMED_FILES: usize = 5;

/// The lines of the footer.
pub(super) fn lines(report: &Report, counts: &SummaryCounts, draft: &mut Draft<'_>) -> Vec<Line> {
    let columns = draft.style.columns();
    draft.homes = [None, None];
    let mut lines = overridden(report, draft);
    lines.extend(suppressed(report, draft));
    lines.extend(would_hide(report, draft));
    lines.extend(skipped(report, draft));
    if !report.only.is_empty() {
        let phrase = format!("Only compared: {} (--only)", report.only.join(", "));
        lines.extend(wrapped(&phrase, Role::Dim, columns));
    }
    lines.extend(read_as(report, draft));
    if report.switched_off > 0 {
        let phrase = format!("Disabled: {} by `rules` in outcrop.yaml", plural(report.switched_off, "finding"));
        lines.extend(wrapped(&phrase, Role::Dim, columns));
    }
    if counts.spelling_only > 0 && !draft.style.is_verbose() {
        let numbers = plural(counts.spelling_only, "number");
        let phrase = format!("Spelling only: {numbers} written differently but equal in value (-v lists them)");
        lines.extend(wrapped(&phrase, Role::Dim, columns));
    }
    if let Some(phrase) = other_problems(report) {
        let role = if report.new_problems.is_empty() { Role::Dim } else { Role::Changed };
        lines.extend(wrapped(&phrase, role, columns));
    }
    if report.is_incomplete() {
        let phrase = "Incomplete: files with errors were not compared";
        lines.extend(wrapped(phrase, Role::Alarm, columns));
    }
    if draft.was_cut {
        let phrase = format!("{} marks text shortened to fit the width (-v shows all)", draft.symbols.ellipsis);
        lines.extend(wrapped(&phrase, Role::Dim, columns));
    }
    lines
}

/// Edits of layers that some resources override, unless a group shows them. Edits without any effect are findings.
fn overridden(report: &Report, draft: &mut Draft<'_>) -> Vec<Line> {
    let is_shown = |edit: &LayerEdit| edit.is_dead || report.groups.iter().any(|group| is_behind(edit, group, report));
    let mut lines = Vec::new();
    for edit in report.layer_edits.iter().filter(|edit| !edit.overridden.is_empty() && !is_shown(edit)) {
        let line = edit.at().map(|at| draft.locator.start(at).line).unwrap_or_default();
        let title =
            format!("Partly overridden: {} at {}:{line}", sanitize::inline(&edit.pointer.to_string()), edit.file);
        lines.extend(draft.phrase(&title, 0));
        let words = draft.overridden_text(edit, draft.style.columns().saturating_sub(2));
        lines.extend(draft.phrase(&words, 2));
    }
    lines
}

/// The number of changes that each rule hides; with `--show-suppressed` also the changes.
fn suppressed(report: &Report, draft: &mut Draft<'_>) -> Vec<Line> {
    if report.suppressed.is_empty() {
        return Vec::new();
    }
    let mut by_rule: BTreeMap<&str, Vec<&Suppressed>> = BTreeMap::new();
    for suppressed in &report.suppressed {
        by_rule.entry(&suppressed.rule).or_default().push(suppressed);
    }
    let hint = if draft.style.show_suppressed { "" } else { " (--show-suppressed lists them)" };
    let title = format!("Suppressed: {}{hint}", plural(report.suppressed.len(), "change"));
    let mut lines = wrapped(&title, Role::Dim, draft.style.columns());
    for (rule, taken) in by_rule {
        let rule = format!("{} by {}", taken.len(), sanitize::inline(rule));
        let rule = draft.fitted(&rule, draft.style.columns().saturating_sub(2));
        lines.push(Line::indented(2).with(Role::Dim, &rule));
        if draft.style.show_suppressed {
            lines.extend(taken.iter().flat_map(|suppressed| taken_out(suppressed, draft)));
        }
    }
    lines
}

/// Changes that the compare rules of the newer side would hide. They are shown, because a change must not hide itself.
fn would_hide(report: &Report, draft: &mut Draft<'_>) -> Vec<Line> {
    if report.would_hide.is_empty() {
        return Vec::new();
    }
    let count = plural(report.would_hide.len(), "change");
    let title = format!("Compare rules change: {count} above would be hidden by the new rules");
    let mut lines = wrapped(&title, Role::Changed, draft.style.columns());
    for hidden in &report.would_hide {
        let phrase = format!("{} by {}", hidden.identity, sanitize::inline(&hidden.rule));
        let phrase = draft.fitted(&phrase, draft.style.columns().saturating_sub(2));
        lines.push(Line::indented(2).with(Role::Dim, &phrase));
        lines.extend(draft.path_of(&hidden.change, Layout { indent: 4, details: 8, ..CHANGES }));
    }
    lines
}

fn taken_out(suppressed: &Suppressed, draft: &mut Draft<'_>) -> Vec<Line> {
    let name = draft.fitted(&suppressed.identity.to_string(), draft.style.columns().saturating_sub(4));
    let mut lines = vec![Line::indented(4).with(Role::Heading, &name)];
    lines.extend(draft.change(&suppressed.change, Layout { indent: 6, details: 10, ..CHANGES }));
    lines
}

/// How the changed files were interpreted; only with `-v`.
fn read_as(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    if !draft.style.is_verbose() || report.read_as.is_empty() {
        return Vec::new();
    }
    let kinds: Vec<String> =
        report.read_as.iter().map(|(kind, count)| format!("{} ({count})", kind.describe())).collect();
    wrapped(&format!("Interpreted as: {}", kinds.join(", ")), Role::Dim, draft.style.columns())
}

fn skipped(report: &Report, draft: &mut Draft<'_>) -> Vec<Line> {
    if report.skipped.is_empty() {
        return Vec::new();
    }
    let mut by_reason: BTreeMap<SkipReason, Vec<String>> = BTreeMap::new();
    for skipped in &report.skipped {
        by_reason.entry(skipped.reason).or_default().push(skipped.path.to_string());
    }
    let count = plural(report.skipped.len(), "changed file");
    let mut lines = vec![Line::default().with(Role::Dim, &format!("Not compared: {count}"))];
    for (reason, files) in by_reason {
        lines.extend(group(reason, &files, draft));
    }
    lines
}

fn group(reason: SkipReason, files: &[String], draft: &mut Draft<'_>) -> Vec<Line> {
    let label = format!("{} ({})", reason.describe(), files.len());
    if draft.style.is_verbose() {
        let title = Line::indented(2).with(Role::Dim, &label);
        let names = files.iter().map(|file| Line::indented(4).with(Role::Dim, file));
        return std::iter::once(title).chain(names).collect();
    }
    let shown = files.iter().take(NAMED_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = files.len().saturating_sub(NAMED_FILES);
    let more = if more > 0 { format!(", {more} more (-v lists all)") } else { String::new() };
    let text = format!("{label}: {shown}{more}");
    let room = draft.style.columns().saturating_sub(2);
    if columns(&text) <= room {
        return vec![Line::indented(2).with(Role::Dim, &text)];
    }
    let mut lines = vec![Line::indented(2).with(Role::Dim, &format!("{label}:"))];
    for file in files.iter().take(NAMED_FILES) {
        let file = draft.fitted(file, room.saturating_sub(2));
        lines.push(Line::indented(4).with(Role::Dim, &file));
    }
    lines.extend((!more.is_empty()).then(|| Line::indented(4).with(Role::Dim, more.trim_start_matches(", "))));
    lines
}
