//! The pods that a resource runs.

use super::transition::{below, pointer};
use crate::path::Pointer;
use crate::resource::KubernetesName;
use crate::value::Node;

/// The specification of the pods that a resource runs, and its place.
pub(super) fn pod_spec<'n>(name: &KubernetesName, payload: &'n Node) -> Option<(Pointer, &'n Node)> {
    let place = match (name.group.as_str(), name.kind.as_str()) {
        ("", "Pod") => pointer("/spec"),
        ("batch", "CronJob") => pointer("/spec/jobTemplate/spec/template/spec"),
        ("" | "apps" | "batch" | "extensions" | "argoproj.io", _) => pointer("/spec/template/spec"),
        _ => return None,
    };
    let spec = payload.at(&place)?;
    spec.get("containers").and_then(Node::as_list)?;
    Some((place, spec))
}

/// The containers of pods, each with its name and place.
pub(super) fn containers<'n>(place: &Pointer, spec: &'n Node) -> Vec<(&'n str, &'n Node, Pointer)> {
    let lists = ["containers", "initContainers"].into_iter().flat_map(|list| {
        let items = spec.get(list).and_then(Node::as_list).unwrap_or_default();
        let list = below(place, list);
        items.iter().enumerate().map(move |(at, item)| (item, below(&list, at.to_string()))).collect::<Vec<_>>()
    });
    lists.filter_map(|(item, place)| Some((item.get("name")?.as_str()?, item, place))).collect()
}

/// The volumes of pods, each with its place.
pub(super) fn volumes<'n>(place: &Pointer, spec: &'n Node) -> Vec<(&'n Node, Pointer)> {
    let list = below(place, "volumes");
    let items = spec.get("volumes").and_then(Node::as_list).unwrap_or_default();
    items.iter().enumerate().map(|(at, item)| (item, below(&list, at.to_string()))).collect()
}
