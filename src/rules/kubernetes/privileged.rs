//! `kubernetes/privileged`: a container that has all rights on its node, and had not before.

use super::pod::{containers, pod_spec};
use super::transition::{Problem, Transition, below, is_true};
use crate::finding;
use crate::path::Pointer;
use crate::resource::KubernetesName;
use crate::sanitize;
use crate::value::Node;

/// The containers that become privileged. A container that is only called otherwise is no new one.
pub(super) fn privileged(transition: &Transition<'_>) -> Vec<Problem> {
    let Some((name, new)) = transition.name().zip(transition.newer()) else { return Vec::new() };
    let older = transition.older().map(|old| all(name, old)).unwrap_or_default();
    let newer = all(name, new);
    if newer.len() <= older.len() {
        return Vec::new();
    }
    let added = newer.into_iter().filter(|(container, _)| !older.iter().any(|(known, _)| known == container));
    added.map(|(container, place)| problem(container, place)).collect()
}

fn problem(container: &str, place: Pointer) -> Problem {
    Problem::new(&finding::KUBERNETES_PRIVILEGED, place, " runs privileged from now on")
        .head(format!("container {} of ", sanitize::inline(container)))
        .help("a privileged container has all rights on its node; `capabilities.add` grants single ones")
}

/// The privileged containers of a resource.
fn all<'n>(name: &KubernetesName, payload: &'n Node) -> Vec<(&'n str, Pointer)> {
    let Some((place, spec)) = pod_spec(name, payload) else { return Vec::new() };
    let found = containers(&place, spec).into_iter().filter_map(|(container, node, place)| {
        let context = node.get("securityContext")?;
        is_true(context.get("privileged")).then(|| (container, below(&below(&place, "securityContext"), "privileged")))
    });
    found.collect()
}
