//! What follows from changes elsewhere, in words: resources that roll out, and components that use changed types.

use std::collections::{BTreeMap, BTreeSet};

use super::Report;
use super::places::{Names, text_parts};
use super::summary_counts::grouped;
use crate::resource::{Home, Identity, Unit};
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

/// Resources, what they roll out because of, and where.
#[derive(Default)]
struct Shared<'r> {
    names: BTreeSet<String>,
    because: BTreeSet<String>,
    units: BTreeSet<&'r Unit>,
}

impl<'r> Shared<'r> {
    fn add(&mut self, other: Shared<'r>) {
        self.names.extend(other.names);
        self.because.extend(other.because);
        self.units.extend(other.units);
    }
}

/// What rolls out, those of most roots first. The same resource in several namespaces occurs once.
pub(super) fn rollouts(report: &Report) -> Vec<RolloutText> {
    let mut by_name: BTreeMap<(String, BTreeSet<String>), Shared<'_>> = BTreeMap::new();
    for rollout in &report.rollouts {
        let namespace = match &rollout.identity {
            Identity::Kubernetes(name) => format!(" {}/", name.namespace),
            _ => String::new(),
        };
        let short = |name: &str| if namespace.len() > 2 { name.replacen(&namespace, " ", 1) } else { name.to_owned() };
        let name = rollout.identity.to_string();
        let key = (short(&name), rollout.because.iter().map(|name| short(name)).collect());
        by_name.entry(key).or_default().add(Shared {
            names: BTreeSet::from([name]),
            because: rollout.because.clone(),
            units: BTreeSet::from([&rollout.unit]),
        });
    }
    let mut by_units: BTreeMap<(BTreeSet<String>, BTreeSet<&Unit>), Shared<'_>> = BTreeMap::new();
    for ((_, because), shared) in by_name {
        by_units.entry((because, shared.units.clone())).or_default().add(shared);
    }
    let mut found: Vec<RolloutText> = by_units.into_iter().map(|((short, _), shared)| text(&short, &shared)).collect();
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.names.cmp(&b.names)));
    found
}

fn text(short: &BTreeSet<String>, shared: &Shared<'_>) -> RolloutText {
    let verb = if shared.names.len() == 1 { "rolls" } else { "roll" };
    let join = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
    let because = match shared.because.len() == short.len() {
        true => join(&shared.because),
        false => format!("{} of the same namespace", join(short)),
    };
    let words = format!("{verb} out because {} changed, in {}", sanitize::inline(&because), places(&shared.units));
    let names: Vec<String> = shared.names.iter().cloned().collect();
    RolloutText { count: shared.names.len().max(shared.units.len()), names: together(&names), words }
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
