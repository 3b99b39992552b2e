//! `kubernetes/host-path`: pods that read or write a directory of their node, and did not before.

use super::pod::{pod_spec, volumes};
use super::transition::{Problem, Transition, below};
use crate::finding;
use crate::path::Pointer;
use crate::resource::KubernetesName;
use crate::sanitize;
use crate::value::Node;

/// The directories of a node that pods mount and did not mount before.
pub(super) fn host_paths(transition: &Transition<'_>) -> Vec<Problem> {
    let Some((name, new)) = transition.name().zip(transition.newer()) else { return Vec::new() };
    let older = transition.older().map(|old| all(name, old)).unwrap_or_default();
    let added = all(name, new).into_iter().filter(|(path, _)| !older.iter().any(|(known, _)| known == path));
    added.map(|(path, place)| problem(path, place)).collect()
}

fn problem(path: &str, place: Pointer) -> Problem {
    let tail = format!(" mounts `{}` of its node", sanitize::inline(path));
    Problem::new(&finding::KUBERNETES_HOST_PATH, place, tail)
        .help("pods that can write to a node can take it over; prefer a claim, or mount it with `readOnly: true`")
}

fn all<'n>(name: &KubernetesName, payload: &'n Node) -> Vec<(&'n str, Pointer)> {
    let Some((place, spec)) = pod_spec(name, payload) else { return Vec::new() };
    let found = volumes(&place, spec).into_iter().filter_map(|(volume, place)| {
        let path = volume.get("hostPath")?.get("path")?.as_str()?;
        Some((path, below(&below(&place, "hostPath"), "path")))
    });
    found.collect()
}
