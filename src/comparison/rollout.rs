//! Names that are made of content. A generated ConfigMap or Secret with other data has another name, so that whatever uses it is
//! rolled out again. Such names are compared without the suffix, and what is rolled out is listed.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::resource::{Identity, Resource, Unit};
use crate::value::{Node, StepKind, Value};

/// A resource that is rolled out again because others have a new content.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rollout {
    /// The resource.
    pub identity: Identity,
    /// What renders it.
    pub unit: Unit,
    /// The resources with a new content, by name.
    pub because: BTreeSet<String>,
}

/// The resources of a unit that refer to another suffix on the newer side.
pub(super) fn rollouts(unit: &Unit, before: &[Resource], after: &[Resource]) -> Vec<Rollout> {
    let older: BTreeMap<&Identity, BTreeMap<SmolStr, SmolStr>> =
        before.iter().map(|resource| (&resource.identity, suffixes(&resource.payload))).collect();
    let rollout = |resource: &Resource| {
        let known = older.get(&resource.identity)?;
        let newer = suffixes(&resource.payload);
        let is_new = |(name, suffix): &(&SmolStr, &SmolStr)| known.get(*name).is_some_and(|old| old != *suffix);
        let mut because: BTreeSet<String> =
            newer.iter().filter(is_new).map(|(name, _)| called(name, &resource.identity, after)).collect();
        because.extend(changed_values(resource, before, after));
        let identity = resource.identity.clone();
        (!because.is_empty()).then(|| Rollout { identity, unit: unit.clone(), because })
    };
    after.iter().filter_map(rollout).collect()
}

/// The objects that a Helm release takes its values from, and that have another content now.
fn changed_values(release: &Resource, before: &[Resource], after: &[Resource]) -> Vec<String> {
    let Identity::Kubernetes(own) = &release.identity else { return Vec::new() };
    if own.kind != "HelmRelease" || own.group != "helm.toolkit.fluxcd.io" {
        return Vec::new();
    }
    let sources = release.payload.get("spec").and_then(|spec| spec.get("valuesFrom")).and_then(Node::as_list);
    let changed = |source: &Node| {
        let text = |key: &str| source.get(key).and_then(Node::as_str).unwrap_or_default();
        let is_meant = |resource: &&Resource| match &resource.identity {
            Identity::Kubernetes(it) => {
                let (kind, name) = (text("kind"), text("name"));
                it.kind == kind && it.namespace == own.namespace && (it.name == name || is_suffixed(name, &it.name))
            }
            _ => false,
        };
        let (older, newer) = (before.iter().find(is_meant)?, after.iter().find(is_meant)?);
        (!older.payload.is_equal(&newer.payload)).then(|| newer.identity.to_string())
    };
    sources.unwrap_or_default().iter().filter_map(changed).collect()
}

/// Whether a name is another one with a suffix made of content.
fn is_suffixed(name: &str, plain: &str) -> bool {
    let suffix = name.strip_prefix(plain).and_then(|rest| rest.strip_prefix('-'));
    suffix.is_some_and(|suffix| SUFFIXES.contains(&suffix.len()))
}

/// Both sides of a unit with names that do not have the suffix made of content. A resource that has a suffix on one side only is called
/// something else in the cluster, so that its name stays as it is.
pub(super) fn without_suffixes(sides: [Vec<Resource>; 2]) -> [Vec<Resource>; 2] {
    let own = |side: &[Resource]| -> BTreeMap<Identity, Option<SmolStr>> {
        let name = |resource: &Resource| resource.payload.get("metadata")?.get("name").and_then(split).map(|it| it.0);
        side.iter().map(|resource| (resource.identity.clone(), name(resource))).collect()
    };
    let [before, after] = [own(&sides[0]), own(&sides[1])];
    let renamed = before.iter().filter_map(|(identity, old)| match (old, after.get(identity)?) {
        (Some(name), None) | (None, Some(name)) => Some(name.clone()),
        _ => None,
    });
    let renamed: BTreeSet<SmolStr> = renamed.collect();
    sides.map(|side| side.into_iter().map(|resource| stripped_resource(resource, &renamed)).collect())
}

fn stripped_resource(resource: Resource, renamed: &BTreeSet<SmolStr>) -> Resource {
    if !resource.payload.any(|node| split(node).is_some()) {
        return resource;
    }
    Resource { payload: stripped(&resource.payload, renamed), ..resource }
}

fn stripped(node: &Node, renamed: &BTreeSet<SmolStr>) -> Node {
    match split(node) {
        Some((name, _)) if renamed.contains(&name) => node.clone(),
        Some((name, _)) => Node { value: Value::String(name), ..node.clone() },
        None => node.map_children(|child| Some(stripped(child.node, renamed))).unwrap_or_else(|| node.clone()),
    }
}

/// The names with a suffix that a document refers to, each with its suffix; its own name is not one of them.
fn suffixes(payload: &Node) -> BTreeMap<SmolStr, SmolStr> {
    let own = payload.get("metadata").and_then(|metadata| metadata.get("name"));
    let mut found = BTreeMap::new();
    payload.for_each(&mut crate::path::Pointer::root(), |_, node| {
        if own.is_none_or(|own| !std::ptr::eq(own, node)) {
            found.extend(split(node));
        }
    });
    found
}

/// The workloads of a component of OpenChoreo whose pods restart: on the platform they do, whenever another resource on their plane
/// changes in more than its metadata.
pub(super) fn restarts(unit: &Unit, before: &[Resource], after: &[Resource]) -> Vec<Rollout> {
    let is_workload = |identity: &Identity| matches!(identity, Identity::Kubernetes(name) if ["Deployment", "StatefulSet"].contains(&&*name.kind));
    // Resources for other planes are called so.
    let is_here = |identity: &Identity| matches!(identity, Identity::Kubernetes(name) if !name.name.ends_with(']'));
    let older: BTreeMap<&Identity, &Node> = before.iter().map(|it| (&it.identity, &it.payload)).collect();
    let newer: BTreeMap<&Identity, &Node> = after.iter().map(|it| (&it.identity, &it.payload)).collect();
    let differs = |identity: &Identity| match (older.get(identity), newer.get(identity)) {
        (Some(old), Some(new)) => !without_metadata(old).is_equal(&without_metadata(new)),
        _ => true,
    };
    let all = older.keys().chain(newer.keys()).copied();
    let because: BTreeSet<String> =
        all.filter(|it| !is_workload(it) && is_here(it) && differs(it)).map(Identity::to_string).collect();
    if because.is_empty() {
        return Vec::new();
    }
    let workloads = newer.keys().filter(|it| is_workload(it) && is_here(it) && older.contains_key(**it));
    let rollout =
        |identity: &&Identity| Rollout { identity: (*identity).clone(), unit: unit.clone(), because: because.clone() };
    workloads.map(rollout).collect()
}

fn without_metadata(node: &Node) -> Node {
    let Some(map) = node.as_map() else { return node.clone() };
    Node::map(map.entries().iter().filter(|entry| entry.key.name != "metadata").cloned().collect(), node.span)
}

/// The lengths of suffixes: those of kustomize, and those of OpenChoreo.
const SUFFIXES: [usize; 2] = [10, 8];

/// A name that has a suffix made of content, and the suffix.
fn split(node: &Node) -> Option<(SmolStr, SmolStr)> {
    let is_made = node.step().is_some_and(|step| step.kind == StepKind::NameSuffixHash);
    let (name, suffix) = node.as_str().filter(|_| is_made)?.rsplit_once('-')?;
    SUFFIXES.contains(&suffix.len()).then(|| (name.into(), suffix.into()))
}

/// What people call the resource that a name without suffix means.
fn called(name: &str, user: &Identity, among: &[Resource]) -> String {
    let is_meant = |identity: &&Identity| match identity {
        Identity::Kubernetes(it) => {
            it.name == name && ["ConfigMap", "Secret"].contains(&&*it.kind) && *identity != user
        }
        _ => false,
    };
    let found = among.iter().map(|resource| &resource.identity).find(is_meant);
    found.map_or_else(|| name.to_owned(), Identity::to_string)
}
