//! Objects that are deleted and created again on purpose, or that stay when they are removed: what annotations say about it.

use super::transition::Transition;
use crate::value::{Node, StepKind};

/// What becomes of an object whose fields cannot be changed in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Update {
    /// The API server refuses the update.
    Refused,
    /// The object is deleted and created again, because someone asked for it.
    Recreated,
    /// Nothing: the update does not happen, or the object is a new one each time.
    Harmless,
}

/// What becomes of an object whose fields cannot be changed in place.
pub(super) fn update(transition: &Transition<'_>) -> Update {
    let Some(newer) = transition.newer() else { return Update::Harmless };
    let is_job = transition.is("batch", "Job");
    if is_hook(newer) || has_hashed_name(newer) || is_never_updated(newer) || is_job && goes_away(transition.older()) {
        return Update::Harmless;
    }
    let is_forced = transition.applied.is_forced
        || is_enabled(annotation(newer, "kustomize.toolkit.fluxcd.io/force"))
        || has_option(newer, "Force=true");
    match (is_forced, is_job) {
        (true, true) => Update::Harmless,
        (true, false) => Update::Recreated,
        (false, _) => Update::Refused,
    }
}

/// Whether an object stays in the cluster when it is removed from the repository.
pub(super) fn is_kept(transition: &Transition<'_>) -> bool {
    let Some(older) = transition.older() else { return false };
    transition.applied.is_kept
        || annotation(older, "kustomize.toolkit.fluxcd.io/prune")
            .is_some_and(|text| text.eq_ignore_ascii_case("disabled"))
        || annotation(older, "helm.sh/resource-policy") == Some("keep")
        || has_option(older, "Prune=false")
        || has_option(older, "Delete=false")
        || is_hook(older)
}

/// Hooks are created anew each time.
fn is_hook(payload: &Node) -> bool {
    ["helm.sh/hook", "argocd.argoproj.io/hook"].iter().any(|key| annotation(payload, key).is_some())
}

/// A name that is made of content belongs to another object when the content changes.
fn has_hashed_name(payload: &Node) -> bool {
    let name = payload.get("metadata").and_then(|metadata| metadata.get("name"));
    let mut steps = name.and_then(Node::step).into_iter().flat_map(|step| step.chain());
    steps.any(|step| step.kind == StepKind::NameSuffixHash)
}

/// Flux leaves such objects alone once they exist.
fn is_never_updated(payload: &Node) -> bool {
    let policy = annotation(payload, "kustomize.toolkit.fluxcd.io/ssa");
    policy.is_some_and(|text| text.eq_ignore_ascii_case("IfNotPresent") || text.eq_ignore_ascii_case("Ignore"))
}

/// A finished Job with a time to live is gone before it is applied again.
fn goes_away(older: Option<&Node>) -> bool {
    let spec = older.and_then(|older| older.get("spec"));
    spec.and_then(|spec| spec.get("ttlSecondsAfterFinished")).is_some()
}

fn is_enabled(text: Option<&str>) -> bool {
    text.is_some_and(|text| text.eq_ignore_ascii_case("enabled") || text == "true")
}

fn has_option(payload: &Node, option: &str) -> bool {
    let options = annotation(payload, "argocd.argoproj.io/sync-options").unwrap_or_default();
    options.split(',').any(|it| it.trim() == option)
}

fn annotation<'n>(payload: &'n Node, key: &str) -> Option<&'n str> {
    payload.get("metadata")?.get("annotations")?.get(key)?.as_str()
}
