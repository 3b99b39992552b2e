//! Units that do not build, and resources that are rolled out because of others.

use std::collections::{BTreeMap, BTreeSet};

use super::Draft;
use super::summary::wrapped;
use crate::comparison::DefinitionUse;
use crate::report::Report;
use crate::report::paint::{Line, Role, columns};
use crate::report::places::{Names, text_parts};
use crate::resource::{Home, Unit};
use crate::sanitize;

/// `does not build at HEAD: overlays/{dev, prod}`, a line for each side.
pub(super) fn failed(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let mut lines = Vec::new();
    for (side, label) in [&report.before, &report.after].into_iter().enumerate() {
        let failed = |is_missing: bool| -> BTreeSet<&Unit> {
            let units = report.units.iter().filter(|it| it.failed[side] && it.missing[side] == is_missing);
            units.map(|unit| &unit.unit).collect()
        };
        let broken = failed(false);
        if !broken.is_empty() {
            let verb = if broken.len() == 1 { "does not build" } else { "do not build" };
            let words = format!("{verb} at {}: {}", sanitize::inline(label), places(&broken));
            lines.extend(wrapped(&words, Role::Alarm, draft.style.columns()));
        }
        let missing = failed(true);
        if !missing.is_empty() {
            let label = sanitize::inline(label);
            let words =
                format!("not rendered at {label}, because something is not in this repository: {}", places(&missing));
            lines.extend(wrapped(&words, Role::Dim, draft.style.columns()));
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

/// `Trait acme/route is used by acme/{cart, api}`, or by no component.
pub(super) fn definitions(report: &Report, draft: &Draft<'_>) -> Vec<Line> {
    let line = |it: &DefinitionUse| {
        let names = it.components.iter().map(|name| text_parts(name)).collect();
        let users = if it.components.is_empty() { "no component".to_owned() } else { Names::of_paths(names).text() };
        let effect = if it.is_without_effect { "; what is rendered stays the same" } else { "" };
        let words = format!("* {} is used by {}{effect}", sanitize::inline(&it.name), sanitize::inline(&users));
        wrapped(&words, Role::Dim, draft.style.columns())
    };
    report.definitions.iter().flat_map(line).collect()
}

const INDENT: usize = 4;

fn places(units: &BTreeSet<&Unit>) -> String {
    let names: Vec<String> = units.iter().map(|unit| Home::Unit(unit).to_string()).collect();
    Names::of_paths(names.iter().map(|name| text_parts(name)).collect()).text()
}
