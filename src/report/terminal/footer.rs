//! The footer: everything that was left out of the report.

use std::collections::{BTreeMap, BTreeSet};

use super::Draft;
use super::change::Layout;
use super::group::is_behind;
use super::resource::CHANGES;
use super::summary::{others, wrapped};
use crate::diff::{Member, ResourceChange, Suppressed};
use crate::finding::{Finding, Severity};
use crate::path::RepoPath;
use crate::report::paint::{Line, Role};
use crate::report::places::Names;
use crate::report::summary_counts::{SummaryCounts, other_problems, plural};
use crate::report::{LayerEdit, Report, Skipped};
use crate::sanitize;

/// The lines of the footer.
pub(super) fn lines(report: &Report, counts: &SummaryCounts, draft: &mut Draft<'_>) -> Vec<Line> {
    let columns = draft.style.columns();
    draft.homes = [None, None];
    let mut lines = overridden(report, draft);
    lines.extend(echoed(report, draft));
    lines.extend(suppressed(report, draft));
    lines.extend(would_hide(report, draft));
    lines.extend(skipped(report, draft));
    if !report.only.is_empty() {
        let phrase = format!("Only compared: {} (--only)", report.only.join(", "));
        lines.extend(wrapped(&phrase, Role::Dim, columns));
    }
    if !report.filters.is_empty() {
        let hidden = plural(report.filtered_out, "other resource");
        let phrase = format!("Only shown: {}; {hidden} differ", report.filters.join(", "));
        lines.extend(wrapped(&sanitize::inline(&phrase), Role::Dim, columns));
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
        let has_new = report.new_problems.iter().any(|finding| finding.severity != Severity::Note);
        let role = if has_new { Role::Changed } else { Role::Dim };
        lines.extend(wrapped(&phrase, role, columns));
    }
    lines.extend(notes(report, draft));
    lines
}

/// So many notes are all shown.
const MOST_NOTES: usize = 2;

/// What is worth knowing and no problem: `note: ensemble.yaml: 3 expressions need a running deployment and are compared as text`.
/// The same note about several files is shown once; of many notes, the first of each rule.
fn notes(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let mut notes: Vec<(&Finding, BTreeSet<RepoPath>)> = Vec::new();
    for note in report.new_problems.iter().filter(|finding| finding.severity == Severity::Note) {
        let path = note.path(&report.sources);
        match notes.iter_mut().find(|(known, _)| known.rule.id == note.rule.id && known.message == note.message) {
            Some((_, paths)) => drop(paths.insert(path)),
            None => notes.push((note, BTreeSet::from([path]))),
        }
    }
    let is_short = draft.most(MOST_NOTES).is_some_and(|most| notes.len() > most);
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let shown = notes.iter().filter(|(note, _)| !is_short || seen.insert(note.rule.id));
    let phrase = |(note, paths): &(&Finding, BTreeSet<RepoPath>)| {
        let names = Names::of_files(paths).shortened(LONGEST_LIST, Some(1));
        format!("note: {names}: {}", note.message)
    };
    let mut phrases: Vec<String> = shown.map(phrase).collect();
    if notes.len() > phrases.len() {
        phrases
            .push(format!("{} like these; outcrop check lists all", plural(notes.len() - phrases.len(), "more note")));
    }
    phrases.iter().flat_map(|phrase| draft.phrase(&sanitize::inline(phrase), 0)).collect()
}

/// The longest list of files that are shown elsewhere.
const LONGEST_LIST: usize = 160;

/// Files that count as changed, but whose changes are shown only where other resources read them.
fn echoed(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let is_echo = |resource: usize, of: &ResourceChange| {
        let count = of.changes().count();
        count > 0 && (0..count).all(|change| report.edits.echoes.contains(&Member { resource, change }))
    };
    let found = report.resources.iter().enumerate().filter(|(at, of)| is_echo(*at, of));
    let files: BTreeSet<&RepoPath> = found.filter_map(|(_, of)| of.after.as_ref()).map(|side| &side.file).collect();
    if files.is_empty() || draft.style.is_verbose() || report.is_ungrouped {
        return Vec::new();
    }
    let names = Names::of_files(files).shortened(LONGEST_LIST, Some(1));
    draft.phrase(&format!("Changed too, and shown where it is read: {names} (-v)"), 0)
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
        let words = draft.overridden_text(edit);
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
        lines.extend(draft.phrase(&rule, 2));
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
        lines.extend(draft.phrase(&phrase, 2));
        lines.extend(draft.path_of(&hidden.change, Layout { indent: 4, details: 8, ..CHANGES }));
    }
    lines
}

fn taken_out(suppressed: &Suppressed, draft: &mut Draft<'_>) -> Vec<Line> {
    let mut lines = vec![Line::indented(4).with(Role::Heading, &suppressed.identity.to_string())];
    lines.extend(draft.change(&suppressed.change, Layout { indent: 6, details: 10, ..CHANGES }));
    lines
}

/// How the changed files were interpreted, and how many resources were looked at; only with `-v`.
fn read_as(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    if !draft.style.is_verbose() {
        return Vec::new();
    }
    let kinds: Vec<String> =
        report.read_as.iter().map(|(kind, count)| format!("{} ({count})", kind.describe())).collect();
    let kinds = (!kinds.is_empty()).then(|| format!("Interpreted as: {}", kinds.join(", ")));
    let examined = (report.examined > 0).then(|| format!("Examined: {}", plural(report.examined, "resource")));
    kinds.into_iter().chain(examined).flat_map(|phrase| wrapped(&phrase, Role::Dim, draft.style.columns())).collect()
}

/// `9 other files not compared (Go 8, Markdown 1)`; with `-v` also their names.
fn skipped(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let Some(phrase) = others(report) else { return Vec::new() };
    let mut lines = wrapped(&phrase, Role::Dim, draft.style.columns());
    if draft.style.is_verbose() {
        let name = |skipped: &Skipped| Line::indented(2).with(Role::Dim, &skipped.path.to_string());
        lines.extend(report.skipped.iter().map(name));
    }
    lines
}
