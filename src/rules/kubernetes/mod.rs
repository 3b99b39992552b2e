//! What a change does to objects in a cluster: what the API server refuses, what is lost, and what gets more rights.
//!
//! Each rule judges one resource on both sides. What one edit does to many resources and roots is one finding, at the edit.

mod bindings;
mod cause;
mod crd_version;
mod host_namespace;
mod host_path;
mod immutable;
mod immutable_fields;
mod pod;
mod privileged;
mod quantity;
mod rbac_wildcard;
mod recreated;
mod removed;
mod removed_api;
mod rollout;
mod scaled_to_zero;
mod service_type;
mod transition;
mod volume_shrink;

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{Finding, Severity};

pub use cause::EditedFiles;
use cause::{CausePlace, PlaceKey, cause};
pub use rollout::RolledOut;
use transition::Problem;
pub use transition::{Applied, Transition};

/// What rules say about transitions.
pub fn transition_findings(transitions: &[Transition<'_>], files: &EditedFiles<'_>) -> Vec<Finding> {
    let namespaces = removed::removed_namespaces(transitions);
    let is_change = |it: &&Transition<'_>| !it.older().zip(it.newer()).is_some_and(|(old, new)| old.is_equal(new));
    let changed = transitions.iter().filter(is_change);
    joined(changed.flat_map(|it| problems(it, &namespaces).into_iter().map(move |problem| (problem, *it))), files)
}

/// What rules say about the newer side alone.
pub fn state_findings(transitions: &[Transition<'_>], files: &EditedFiles<'_>) -> Vec<Finding> {
    let alone = transitions.iter().map(|it| Transition { before: None, ..*it });
    joined(alone.filter_map(|it| Some((removed_api::removed_api(&it)?, it))), files)
}

/// What is rolled out because of changed content.
pub fn rollout_findings(rolled: &[RolledOut<'_>], files: &EditedFiles<'_>) -> Vec<Finding> {
    joined(rolled.iter().filter_map(|it| Some((rollout::rollout(it)?, it.content))), files)
}

fn problems(transition: &Transition<'_>, namespaces: &[&str]) -> Vec<Problem> {
    let mut found = immutable::immutable(transition);
    found.extend(volume_shrink::volume_shrink(transition));
    found.extend(removed::removed(transition, namespaces));
    found.extend(crd_version::crd_versions(transition));
    found.extend(rbac_wildcard::rbac_wildcard(transition));
    found.extend(bindings::bindings(transition));
    found.extend(scaled_to_zero::scaled_to_zero(transition));
    found.extend(service_type::service_type(transition));
    found.extend(privileged::privileged(transition));
    found.extend(host_path::host_paths(transition));
    found.extend(host_namespace::host_namespaces(transition));
    found.extend(removed_api::removed_api(transition));
    found
}

/// Problems with one cause and one wording, and the resources that have them.
struct JoinedProblem<'r> {
    problem: Problem,
    place: CausePlace,
    affected: Vec<Transition<'r>>,
}

/// One finding for everything that one edit does in one way, to however many resources of however many roots.
fn joined<'r>(found: impl Iterator<Item = (Problem, Transition<'r>)>, files: &EditedFiles<'_>) -> Vec<Finding> {
    let mut all: Vec<JoinedProblem<'r>> = Vec::new();
    let mut known: BTreeMap<(&str, Severity, String, String, PlaceKey), usize> = BTreeMap::new();
    for (problem, transition) in found {
        let Some(place) = cause(&transition, &problem, files) else { continue };
        let Problem { rule, severity, head, tail, .. } = &problem;
        let key = (rule.id, *severity, head.clone(), tail.clone(), place.key(files));
        let at = *known.entry(key).or_insert(all.len());
        match all.get_mut(at) {
            Some(known) => known.affected.push(transition),
            None => all.push(JoinedProblem { problem, place, affected: vec![transition] }),
        }
    }
    all.into_iter().filter_map(finding).collect()
}

fn finding(joined: JoinedProblem<'_>) -> Option<Finding> {
    let JoinedProblem { problem, place, affected } = joined;
    let first = affected.first()?.resource()?;
    let Problem { rule, severity, at, head, tail, help, .. } = problem;
    let message = format!("{head}{}{tail}", subject(&affected));
    let mut finding =
        Finding::new(rule, place.location, message).labelled(place.label).about(first.identity.to_string());
    finding.severity = severity;
    finding.pointer = Some(at);
    finding.related = place.related;
    let help = match roots(&affected) {
        None => help,
        Some(roots) => format!("{help}\n{roots}"),
    };
    Some(finding.help(help))
}

/// `Deployment shop/web`, or `Deployment shop/web (and 3 more)`.
fn subject(affected: &[Transition<'_>]) -> String {
    let names: BTreeSet<String> =
        affected.iter().filter_map(Transition::resource).map(|resource| resource.identity.to_string()).collect();
    let first = affected.first().and_then(Transition::resource).map(|it| it.identity.to_string()).unwrap_or_default();
    match names.len() {
        0 | 1 => first,
        count => format!("{first} (and {} more)", count - 1),
    }
}

/// The roots in which it happens, if there are several.
fn roots(affected: &[Transition<'_>]) -> Option<String> {
    const MOST_NAMES: usize = 4;
    let roots: BTreeSet<String> =
        affected.iter().filter_map(Transition::resource).map(|resource| resource.home().to_string()).collect();
    if roots.len() < 2 {
        return None;
    }
    let names: Vec<&str> = roots.iter().take(MOST_NAMES).map(String::as_str).collect();
    let more =
        if roots.len() > names.len() { format!(", and {} more", roots.len() - names.len()) } else { String::new() };
    Some(format!("in {} roots: {}{more}", roots.len(), names.join(", ")))
}
