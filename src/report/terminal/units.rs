//! Units that do not build, and resources that are rolled out because of others.

use std::collections::{BTreeMap, BTreeSet};

use super::Draft;
use super::summary::wrapped;
use crate::report::paint::{Line, Role, columns};
use crate::report::Report;
use crate::report::places::{Names, text_parts};
use crate::resource::{Home, Unit};
use crate::sanitize;

/// `does not build at HEAD: overlays/{dev, prod}`, a line for each side.
pub(super) fn failed(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (side, label) in [&report.before, &report.after].into_iter().enumerate() {
        let units = report.units.iter().filter(|unit| unit.failed[side]).map(|unit| &unit.unit);
        let units: BTreeSet<&Unit> = units.collect();
        if !units.is_empty() {
            let verb = if units.len() == 1 { "does not build" } else { "do not build" };
            let words = format!("{verb} at {}: {}", sanitize::inline(label), places(&units));
            lines.extend(wrapped(&words, Role::Alarm, draft.style.columns()));
        }
    }
    lines
}

/// `Deployment shop/web  rolls out because ConfigMap shop/settings changed`, and where.
pub(super) fn rollouts(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let mut shared: BTreeMap<(String, String), BTreeSet<&Unit>> = BTreeMap::new();
    for rollout in &report.rollouts {
        let because = rollout.because.iter().cloned().collect::<Vec<_>>().join(", ");
        shared.entry((rollout.identity.to_string(), because)).or_default().insert(&rollout.unit);
    }
    let mut lines = Vec::new();
    for ((name, because), units) in shared {
        let words = format!("rolls out because {} changed, in {}", sanitize::inline(&because), places(&units));
        let line = Line::default().with(Role::Dim, "* ").with(Role::Heading, &name);
        if line.width() + 2 + columns(&words) <= draft.style.columns() {
            lines.push(line.with(Role::Plain, "  ").with(Role::Dim, &words));
            continue;
        }
        lines.push(line);
        let rows = wrapped(&words, Role::Dim, draft.style.columns().saturating_sub(INDENT).max(8));
        lines.extend(rows.into_iter().map(|row| Line::indented(INDENT).then(row)));
    }
    lines
}

const INDENT: usize = 4;

fn places(units: &BTreeSet<&Unit>) -> String {
    Names::of_paths(units.iter().map(|unit| text_parts(&Home::Unit(unit).to_string())).collect()).text()
}
