//! `kubernetes/removed`: an object whose removal takes data, other objects or protection with it.

use super::recreated::is_kept;
use super::transition::{Problem, Transition};
use crate::finding::{self, Severity};
use crate::path::Pointer;

/// What is lost with an object, by group and kind.
const LOSSES: [(&str, &str, &str); 6] = [
    ("", "Namespace", "everything in it is deleted with it"),
    ("", "PersistentVolumeClaim", "its data is deleted too, unless the volume has the reclaim policy Retain"),
    ("", "PersistentVolume", "claims that are bound to it lose their data"),
    ("apps", "StatefulSet", "its pods are deleted; its claims stay, unless a policy deletes them"),
    ("apiextensions.k8s.io", "CustomResourceDefinition", "all custom resources of its kind are deleted with it"),
    ("networking.k8s.io", "NetworkPolicy", "the traffic that it blocks is allowed from then on"),
];

/// An object that is gone and takes something with it. What a removed namespace holds is not named once more.
pub(super) fn removed(transition: &Transition<'_>, namespaces: &[&str]) -> Option<Problem> {
    let name = transition.name().filter(|_| transition.after.is_none())?;
    let (_, _, loss) = LOSSES.iter().find(|(group, kind, _)| name.group == *group && name.kind == *kind)?;
    let is_inside = namespaces.contains(&name.namespace.as_str());
    if is_kept(transition) || is_inside {
        return None;
    }
    let help = "where removed objects are not pruned, delete it by hand; to keep it, annotate it in a change before: \
                `kustomize.toolkit.fluxcd.io/prune: disabled` for Flux, `argocd.argoproj.io/sync-options: Prune=false` for Argo CD";
    let problem = |tail: String| Problem::new(&finding::KUBERNETES_REMOVED, Pointer::root(), tail).help(help);
    Some(match transition.is_left_to_others {
        true => problem(" is removed with its root, but other roots have it".to_owned()).severity(Severity::Note),
        false => problem(format!(" is removed: {loss}")),
    })
}

/// The namespaces that a change removes.
pub(super) fn removed_namespaces<'r>(transitions: &[Transition<'r>]) -> Vec<&'r str> {
    let gone = transitions
        .iter()
        .filter(|it| it.after.is_none() && it.is("", "Namespace") && !is_kept(it) && !it.is_left_to_others);
    gone.filter_map(|it| Some(it.name()?.name.as_str())).collect()
}
