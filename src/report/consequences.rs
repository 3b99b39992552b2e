//! What follows from changes elsewhere, in words: resources that roll out, and components that use changed types.

use std::collections::{BTreeMap, BTreeSet};

use super::Report;
use super::places::{Names, text_parts};
use super::summary_counts::grouped;
use crate::resource::{Home, Unit};
use crate::sanitize;

/// Resources that roll out for the same reason in the same roots.
pub(super) struct RolloutText {
    /// `Deployment shop/web`, or `2 × Deployment shop/{api, web}`.
    pub names: String,
    /// `rolls out because ConfigMap shop/settings changed, in overlays/prod`.
    pub words: String,
    /// How many resources.
    pub count: usize,
}

/// What rolls out, those of most roots first.
pub(super) fn rollouts(report: &Report) -> Vec<RolloutText> {
    let mut units: BTreeMap<(String, String), BTreeSet<&Unit>> = BTreeMap::new();
    for rollout in &report.rollouts {
        let because = rollout.because.iter().cloned().collect::<Vec<_>>().join(", ");
        units.entry((rollout.identity.to_string(), because)).or_default().insert(&rollout.unit);
    }
    let mut names: BTreeMap<(String, BTreeSet<&Unit>), Vec<String>> = BTreeMap::new();
    for ((name, because), units) in units {
        names.entry((because, units)).or_default().push(name);
    }
    let mut found: Vec<RolloutText> = names
        .into_iter()
        .map(|((because, units), names)| {
            let verb = if names.len() == 1 { "rolls" } else { "roll" };
            let words = format!("{verb} out because {} changed, in {}", sanitize::inline(&because), places(&units));
            RolloutText { count: names.len() * units.len(), names: together(&names), words }
        })
        .collect();
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.names.cmp(&b.names)));
    found
}

/// `2 × Deployment shop/{api, web}`; names of several kinds one after the other.
fn together(names: &[String]) -> String {
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for name in names {
        let (kind, rest) = name.split_once(' ').unwrap_or(("", name));
        kinds.entry(kind).or_default().push(rest);
    }
    let kind = |(kind, names): (&str, Vec<&str>)| {
        let count = if names.len() > 1 { format!("{} × ", grouped(names.len())) } else { String::new() };
        let names = Names::of_paths(names.iter().map(|name| text_parts(name)).collect()).text();
        format!("{count}{kind} {names}").trim_start().to_owned()
    };
    kinds.into_iter().map(kind).collect::<Vec<_>>().join(", ")
}

/// `Trait acme/route is used by acme/{cart, api}`, or by no component.
pub(super) fn definitions(report: &Report) -> Vec<String> {
    let phrase = |it: &crate::comparison::DefinitionUse| {
        let names = it.components.iter().map(|name| text_parts(name)).collect();
        let users = if it.components.is_empty() { "no component".to_owned() } else { Names::of_paths(names).text() };
        let effect = if it.is_without_effect { "; what is rendered stays the same" } else { "" };
        format!("{} is used by {}{effect}", sanitize::inline(&it.name), sanitize::inline(&users))
    };
    report.definitions.iter().map(phrase).collect()
}

/// Roots, their common parts once.
pub(super) fn places(units: &BTreeSet<&Unit>) -> String {
    places_of(units).text()
}

/// Roots by what their names share.
pub(super) fn places_of(units: &BTreeSet<&Unit>) -> Names {
    let names: Vec<String> = units.iter().map(|unit| Home::Unit(unit).to_string()).collect();
    Names::of_paths(names.iter().map(|name| text_parts(name)).collect())
}
