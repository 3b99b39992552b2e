//! Units that do not build, and resources that are rolled out because of others.

use std::collections::BTreeSet;

use super::Draft;
use super::summary::wrapped;
use crate::report::Report;
use crate::report::consequences::{self, places, places_of};
use crate::report::paint::{Line, Role, columns};
use crate::report::summary_counts::{grouped, plural};
use crate::resource::Unit;
use crate::sanitize;

/// The most rollouts that are shown; more are counted.
const MOST_ROLLOUTS: usize = 6;
/// The most lines with names of units that are not rendered.
const MOST_LINES: usize = 2;
const INDENT: usize = 4;

/// The units that fail on a side: because something is missing, or for another reason.
fn failing(report: &Report, side: usize, is_missing: bool) -> BTreeSet<&Unit> {
    let units = report.units.iter().filter(|it| it.failed[side] && it.missing[side] == is_missing);
    units.map(|unit| &unit.unit).collect()
}

/// `does not build at HEAD: overlays/{dev, prod}`, a line for each side.
pub(super) fn failed(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let [before, after] = [failing(report, 0, false), failing(report, 1, false)];
    let sides = match before == after {
        true => vec![(before, "on both sides".to_owned())],
        false => vec![(before, format!("at {}", report.before)), (after, format!("at {}", report.after))],
    };
    let mut lines = Vec::new();
    for (broken, side) in sides.iter().filter(|(broken, _)| !broken.is_empty()) {
        let verb = if broken.len() == 1 { "does not build" } else { "do not build" };
        let words = format!("{verb} {}: {}", sanitize::inline(side), places(broken));
        lines.extend(wrapped(&words, Role::Alarm, draft.style.columns()));
    }
    lines
}

/// `3 roots not rendered, because something is not in this repository: overlays/{dev, prod}`, and those that were left out.
pub(super) fn missing(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let [before, after] = [failing(report, 0, true), failing(report, 1, true)];
    let sides = match before == after {
        true => vec![(before, String::new())],
        false => vec![(before, format!(" at {}", report.before)), (after, format!(" at {}", report.after))],
    };
    let mut lines = Vec::new();
    let left_out: BTreeSet<&Unit> = report.units.iter().filter(|it| it.is_left_out).map(|it| &it.unit).collect();
    if !left_out.is_empty() {
        let count = plural(left_out.len(), "root");
        let words = format!("{count} not compared, because the run was about to use up its memory or time:");
        lines.extend(wrapped(&words, Role::Alarm, draft.style.columns()));
        lines.extend(draft.listed(&places_of(&left_out), Role::Dim, INDENT, "", MOST_LINES));
    }
    for (missing, side) in sides.iter().filter(|(missing, _)| !missing.is_empty()) {
        let count = plural(missing.len(), "root");
        let side = sanitize::inline(side);
        let words = format!("{count} not rendered{side}, because something is not in this repository:");
        lines.extend(wrapped(&words, Role::Dim, draft.style.columns()));
        lines.extend(draft.listed(&places_of(missing), Role::Dim, INDENT, "", MOST_LINES));
    }
    lines
}

/// `Deployment shop/web  rolls out because ConfigMap shop/settings changed`, and where.
pub(super) fn rollouts(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let all = consequences::rollouts(report);
    let listed = draft.most(MOST_ROLLOUTS).filter(|most| all.len() > most + 1).unwrap_or(all.len());
    let mut lines = Vec::new();
    for rollout in all.iter().take(listed) {
        let line = Line::default().with(Role::Dim, "* ").with(Role::Heading, &rollout.names);
        if line.width() + 2 + columns(&rollout.words) <= draft.style.columns() {
            lines.push(line.with(Role::Plain, "  ").with(Role::Dim, &rollout.words));
            continue;
        }
        lines.extend(line.broken(draft.style.columns()));
        let rows = wrapped(&rollout.words, Role::Dim, draft.style.columns().saturating_sub(INDENT).max(8));
        lines.extend(rows.into_iter().map(|row| Line::indented(INDENT).then(row)));
    }
    let more: usize = all[listed..].iter().map(|rollout| rollout.count).sum();
    if more > 0 {
        let phrase = format!("{} {} more resources roll out (-v lists all)", draft.symbols.ellipsis, grouped(more));
        lines.extend(wrapped(&phrase, Role::Dim, draft.style.columns()));
    }
    lines
}

/// `Trait acme/route is used by acme/{cart, api}`, or by no component.
pub(super) fn definitions(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let phrases = consequences::definitions(report);
    phrases.iter().flat_map(|words| wrapped(&format!("* {words}"), Role::Dim, draft.style.columns())).collect()
}
