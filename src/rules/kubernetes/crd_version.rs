//! `kubernetes/crd-version`: a version of a custom resource that is no longer served.

use super::transition::{Problem, Transition, below, is_true, pointer};
use crate::finding::{self, Severity};
use crate::path::Pointer;
use crate::sanitize;
use crate::value::Node;

/// The versions of a definition that are gone or no longer served.
pub(super) fn crd_versions(transition: &Transition<'_>) -> Vec<Problem> {
    let Some((old, new)) = transition.both() else { return Vec::new() };
    if !transition.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        return Vec::new();
    }
    let newer = versions(new);
    if newer.is_empty() {
        return Vec::new();
    }
    let lost = versions(old).into_iter().filter_map(|(name, was, place)| {
        let is = newer.iter().find(|(other, ..)| *other == name);
        lost_version(name, was, is.map(|(_, node, place)| (*node, place)))
            .map(|problem| Problem { was: place, ..problem })
    });
    lost.collect()
}

fn lost_version(name: &str, was: &Node, is: Option<(&Node, &Pointer)>) -> Option<Problem> {
    let name = sanitize::inline(name);
    let is_stored = is_true(was.get("storage"));
    let all = pointer("/spec/versions");
    let rule = &finding::KUBERNETES_CRD_VERSION;
    let problem = match is {
        None if is_stored => Problem::new(rule, all, " cannot be removed: objects are stored in it")
            .severity(Severity::Error)
            .help("store another version first, migrate the objects, take it out of `status.storedVersions`, then remove it"),
        None => Problem::new(rule, all, " is removed: clients and manifests that use it fail"),
        Some((node, place)) => {
            let is_unserved = is_true(was.get("served")) && !is_true(node.get("served"));
            let place = is_unserved.then(|| below(place, "served"))?;
            Problem::new(rule, place, " is no longer served: clients and manifests that use it fail")
        }
    };
    let problem = problem.head(format!("version {name} of "));
    let has_help = !problem.help.is_empty();
    Some(if has_help { problem } else { problem.help("move everything that uses it to another version first") })
}

/// The versions of a definition, each with its name and place.
fn versions(payload: &Node) -> Vec<(&str, &Node, Pointer)> {
    let list = pointer("/spec/versions");
    let items = payload.at(&list).and_then(Node::as_list).unwrap_or_default();
    let named = items.iter().enumerate().filter_map(|(at, item)| {
        let name = item.get("name")?.as_str()?;
        Some((name, item, below(&list, at.to_string())))
    });
    named.collect()
}
