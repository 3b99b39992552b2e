//! What expressions of types and traits see beside parameters: metadata, workload, configurations, planes and gateways.

use smol_str::{SmolStr, format_smolstr};

use super::build::{MapBuilder, as_number, number, text_or_empty, unless_empty};
use super::object::{at, items, text};
use super::{Generation, names};
use crate::text::Span;
use crate::value::{Entry, Node};

/// Names of a unit, each where it is written.
#[derive(Debug, Clone)]
pub(super) struct UnitNames {
    pub(super) namespace: Node,
    pub(super) project: Node,
    pub(super) component: Node,
    pub(super) environment: Node,
    pub(super) data_plane: Node,
}

/// The variable `metadata`.
pub(super) fn metadata(names: &UnitNames, generation: Generation, nowhere: Span) -> Node {
    let text = |node: &Node| node.as_str().unwrap_or_default().to_owned();
    let [namespace, project] = [&names.namespace, &names.project].map(text);
    let [component, environment] = [&names.component, &names.environment].map(text);
    let made = |parts: &[&str], most| names::generated(parts, most);
    let builder = MapBuilder::new(nowhere)
        .with_text("name", made(&[&component, &environment], names::LONGEST))
        .with_text("namespace", made(&["dp", &namespace, &project, &environment], names::LONGEST_LABEL))
        .with("componentName", names.component.clone())
        .with("componentNamespace", names.namespace.clone())
        .with_text("componentUID", names::COMPONENT_UID)
        .with("projectName", names.project.clone())
        .with_text("projectUID", names::PROJECT_UID)
        .with("environmentName", names.environment.clone())
        .with_text("environmentUID", names::ENVIRONMENT_UID)
        .with("dataPlaneName", names.data_plane.clone())
        .with_text("dataPlaneUID", names::DATA_PLANE_UID);
    let uids = [
        ("component-uid", Node::text(names::COMPONENT_UID, nowhere)),
        ("project-uid", Node::text(names::PROJECT_UID, nowhere)),
        ("environment-uid", Node::text(names::ENVIRONMENT_UID, nowhere)),
    ];
    let group = if generation == Generation::First { "organization" } else { "namespace" };
    let own = [
        (group, names.namespace.clone()),
        ("project", names.project.clone()),
        ("component", names.component.clone()),
        ("environment", names.environment.clone()),
    ];
    let nothing = Node::map(Vec::new(), nowhere);
    match generation {
        Generation::First => builder
            .with("labels", labels(&own, nowhere))
            .with("annotations", nothing)
            .with("podSelectors", labels(&uids, nowhere))
            .done(),
        Generation::Second => {
            let all: Vec<(&str, Node)> = own.into_iter().chain(uids).collect();
            builder
                .with("labels", labels(&all, nowhere))
                .with("annotations", nothing)
                .with("podSelectors", labels(&all, nowhere))
                .done()
        }
    }
}

/// Labels of the platform.
pub(super) fn labels(entries: &[(&str, Node)], nowhere: Span) -> Node {
    let entry =
        |(name, value): &(&str, Node)| Entry::named(format_smolstr!("openchoreo.dev/{name}"), nowhere, value.clone());
    Node::map(entries.iter().map(entry).collect(), nowhere)
}

/// A workload with the overrides of a binding: variables and files are replaced by key in place, new ones are appended.
pub(super) fn overridden(workload: &Node, binding: Option<&Node>, generation: Generation) -> Node {
    let Some(overrides) = binding.and_then(|binding| at(binding, &["spec", "workloadOverrides"])) else {
        return workload.clone();
    };
    match generation {
        Generation::Second => match overrides.get("container") {
            Some(over) => {
                let base = workload.get("container").cloned();
                let base = base.unwrap_or_else(|| Node::map(Vec::new(), over.span.start_only()));
                with_entry(workload, "container", merged_container(&base, over))
            }
            None => workload.clone(),
        },
        Generation::First => {
            let Some(over) = overrides.get("containers").and_then(Node::as_map) else { return workload.clone() };
            let nothing = Node::map(Vec::new(), workload.span.start_only());
            let mut containers = workload.get("containers").cloned().unwrap_or_else(|| nothing.clone());
            for entry in over.entries() {
                let name = entry.key.name.as_str();
                let base = containers.get(name).cloned().unwrap_or_else(|| nothing.clone());
                containers = with_entry(&containers, name, merged_container(&base, &entry.value));
            }
            with_entry(workload, "containers", containers)
        }
    }
}

fn merged_container(base: &Node, over: &Node) -> Node {
    ["env", "files"].iter().fold(base.clone(), |container, key| {
        let added = items(over, key);
        if added.is_empty() {
            return container;
        }
        let name = |item: &Node| item.get("key").and_then(Node::as_str).map(SmolStr::new);
        // The last override of a key counts.
        let replacement = |item: &Node| added.iter().rev().find(|other| name(other) == name(item));
        let kept = items(&container, key);
        let mut merged: Vec<Node> = kept.iter().map(|item| replacement(item).unwrap_or(item).clone()).collect();
        merged.extend(added.iter().filter(|item| !kept.iter().any(|known| name(known) == name(item))).cloned());
        let list = Node::list(merged, over.span);
        with_entry(&container, key, list)
    })
}

/// A map with one entry replaced or added.
pub(super) fn with_entry(map: &Node, key: &str, value: Node) -> Node {
    let mut entries = map.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
    match entries.iter_mut().find(|entry| entry.key.name == key) {
        Some(entry) => entry.value = value,
        None => entries.push(Entry::named(key, map.span.start_only(), value)),
    }
    Node::map(entries, map.span)
}

/// The variable `workload`.
pub(super) fn workload(spec: &Node, generation: Generation) -> Node {
    let nowhere = spec.span.start_only();
    if generation == Generation::First {
        let containers = spec.get("containers").and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default();
        let entry = |entry: &Entry| Entry { key: entry.key.clone(), value: container(Some(&entry.value), nowhere) };
        let containers = Node::map(containers.iter().map(entry).collect(), nowhere);
        return MapBuilder::new(nowhere).with("containers", containers).done();
    }
    let endpoints = spec.get("endpoints").and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default();
    let entry = |entry: &Entry| Entry { key: entry.key.clone(), value: endpoint(&entry.value) };
    let endpoints = Node::map(endpoints.iter().map(entry).collect(), nowhere);
    MapBuilder::new(nowhere)
        .with("container", container(spec.get("container"), nowhere))
        .with("endpoints", endpoints)
        .done()
}

fn container(node: Option<&Node>, nowhere: Span) -> Node {
    let field = |key: &str| unless_empty(node.and_then(|node| node.get(key)));
    MapBuilder::new(nowhere)
        .with_some("image", field("image"))
        .with_some("command", field("command"))
        .with_some("args", field("args"))
        .done()
}

fn endpoint(node: &Node) -> Node {
    let nowhere = node.span.start_only();
    let zero = || number(0, nowhere);
    let port = node.get("port").cloned().unwrap_or_else(zero);
    let target = unless_empty(node.get("targetPort")).unwrap_or_else(|| port.clone());
    let mut visibility = vec![Node::text("project", nowhere)];
    for declared in items(node, "visibility") {
        if !visibility.iter().any(|known| known.as_str() == declared.as_str()) {
            visibility.push(declared.clone());
        }
    }
    MapBuilder::new(nowhere)
        .with_some("displayName", unless_empty(node.get("displayName")))
        .with("port", port)
        .with("targetPort", target)
        .with("type", text_or_empty(node.get("type"), nowhere))
        .with_some("basePath", unless_empty(node.get("basePath")))
        .with("visibility", Node::list(visibility, nowhere))
        .done()
}

/// A secret that a reference gives, if it is known: key, property and version in the store.
pub(super) type SecretSource<'s> = dyn Fn(&str, &str) -> Option<Node> + 's;

/// The variables and files of one container, by whether they are secret.
#[derive(Debug, Clone)]
pub(super) struct Configurations {
    pub(super) config_envs: Vec<Node>,
    pub(super) config_files: Vec<Node>,
    pub(super) secret_envs: Vec<Node>,
    pub(super) secret_files: Vec<Node>,
}

impl Configurations {
    /// Those of a container.
    pub(super) fn of_container(container: Option<&Node>, generation: Generation, secrets: &SecretSource<'_>) -> Self {
        let mut all = Self {
            config_envs: Vec::new(),
            config_files: Vec::new(),
            secret_envs: Vec::new(),
            secret_files: Vec::new(),
        };
        let list = |key: &str| container.map(|container| items(container, key)).unwrap_or_default();
        for env in list("env") {
            all.add(env, false, generation, secrets);
        }
        for file in list("files") {
            all.add(file, true, generation, secrets);
        }
        all
    }

    fn add(&mut self, item: &Node, is_file: bool, generation: Generation, secrets: &SecretSource<'_>) {
        let nowhere = item.span.start_only();
        let from = item.get("valueFrom");
        let reference = from.and_then(|from| from.get("secretKeyRef").or_else(|| from.get("secretRef")));
        let base = MapBuilder::new(nowhere).with("name", text_or_empty(item.get("key"), nowhere));
        let base = match is_file {
            true => base.with("mountPath", text_or_empty(item.get("mountPath"), nowhere)),
            false => base,
        };
        let value = unless_empty(item.get("value"));
        if generation == Generation::First && (value.is_some() || reference.is_none()) {
            let Some(value) = value else { return };
            let made = base.with("value", value).done();
            return if is_file { self.config_files.push(made) } else { self.config_envs.push(made) };
        }
        let Some(reference) = reference else {
            let made = base.with("value", text_or_empty(item.get("value"), nowhere)).done();
            return if is_file { self.config_files.push(made) } else { self.config_envs.push(made) };
        };
        let (name, key) = (text(reference, "name").unwrap_or_default(), text(reference, "key").unwrap_or_default());
        let Some(remote) = secrets(name, key) else { return };
        let made = match generation {
            Generation::First => base.with("remoteRef", remote).done(),
            Generation::Second => base.with_text("value", "").with("remoteRef", remote).done(),
        };
        if is_file { self.secret_files.push(made) } else { self.secret_envs.push(made) }
    }

    /// As expressions see it.
    pub(super) fn node(&self, nowhere: Span) -> Node {
        let part = |envs: &[Node], files: &[Node]| {
            MapBuilder::new(nowhere)
                .with("envs", Node::list(envs.to_vec(), nowhere))
                .with("files", Node::list(files.to_vec(), nowhere))
                .done()
        };
        MapBuilder::new(nowhere)
            .with("configs", part(&self.config_envs, &self.config_files))
            .with("secrets", part(&self.secret_envs, &self.secret_files))
            .done()
    }
}

/// What a SecretReference says about a key: where its value is in the store.
pub(super) fn remote_reference(reference: &Node, key: &str) -> Option<Node> {
    let entries = at(reference, &["spec", "data"]).and_then(Node::as_list).unwrap_or_default();
    let entry = entries.iter().find(|entry| text(entry, "secretKey") == Some(key))?;
    let remote = entry.get("remoteRef")?;
    let made = MapBuilder::new(remote.span)
        .with("key", text_or_empty(remote.get("key"), remote.span))
        .with_some("property", unless_empty(remote.get("property")))
        .with_some("version", unless_empty(remote.get("version")));
    Some(made.done())
}

/// The variable `dataplane`. Below a ClusterDataPlane every observability plane is one of the cluster.
pub(super) fn data_plane(plane: &Node, is_cluster: bool, generation: Generation) -> Node {
    let nowhere = plane.span.start_only();
    let spec = |path: &[&str]| plane.get("spec").and_then(|spec| at(spec, path));
    let builder = MapBuilder::new(nowhere).with_some("secretStore", unless_empty(spec(&["secretStoreRef", "name"])));
    if generation == Generation::First {
        return builder
            .with_some("publicVirtualHost", unless_empty(spec(&["gateway", "publicVirtualHost"])))
            .with_some("observabilityPlaneRef", unless_empty(spec(&["observabilityPlaneRef"])))
            .done();
    }
    let observability = spec(&["observabilityPlaneRef"]).filter(|node| node.as_map().is_some()).map(|reference| {
        let kind = match is_cluster {
            true => Some(Node::text("ClusterObservabilityPlane", nowhere)),
            false => unless_empty(reference.get("kind")),
        };
        MapBuilder::new(nowhere).with_some("kind", kind).with_some("name", unless_empty(reference.get("name"))).done()
    });
    builder
        .with_some("gateway", gateway(None, spec(&["gateway"])))
        .with_some("observabilityPlaneRef", observability)
        .with_some("annotations", unless_empty(at(plane, &["metadata", "annotations"])))
        .done()
}

/// The gateways of an environment: each of the four leaves is taken whole, from the environment or else from the plane.
pub(super) fn gateway(environment: Option<&Node>, plane: Option<&Node>) -> Option<Node> {
    let nowhere = environment.or(plane)?.span.start_only();
    let network = |direction: &str| {
        let leaf = |reach: &str| {
            let found = |node: Option<&Node>| {
                let leaf = at(node?, &[direction, reach])?;
                leaf.as_map().is_some().then(|| gateway_leaf(leaf))
            };
            found(environment).or_else(|| found(plane))
        };
        let (external, internal) = (leaf("external"), leaf("internal"));
        // The plane's own network may be there without leaves.
        let is_there = external.is_some()
            || internal.is_some()
            || environment.is_none() && plane?.get(direction).is_some_and(|it| it.as_map().is_some());
        is_there
            .then(|| MapBuilder::new(nowhere).with_some("external", external).with_some("internal", internal).done())
    };
    let (ingress, egress) = (network("ingress"), network("egress"));
    (ingress.is_some() || egress.is_some())
        .then(|| MapBuilder::new(nowhere).with_some("ingress", ingress).with_some("egress", egress).done())
}

fn gateway_leaf(leaf: &Node) -> Node {
    let nowhere = leaf.span.start_only();
    let listener = |name: &str| {
        let listener = leaf.get(name).filter(|node| node.as_map().is_some())?;
        let made = ["listenerName", "port", "host"]
            .iter()
            .fold(MapBuilder::new(nowhere), |made, key| made.with_some(key, unless_empty(listener.get(key))));
        Some(made.done())
    };
    let made = ["name", "namespace"]
        .iter()
        .fold(MapBuilder::new(nowhere), |made, key| made.with_some(key, unless_empty(leaf.get(key))));
    ["http", "https", "tls"].iter().fold(made, |made, key| made.with_some(key, listener(key))).done()
}

/// The ports of endpoints, in the order of their names.
pub(super) fn endpoint_ports(workload: &Node) -> Vec<(SmolStr, u64)> {
    let endpoints = workload.get("endpoints").and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default();
    let port = |entry: &Entry| Some((entry.key.name.clone(), as_number(entry.value.get("port")?)?));
    let mut ports: Vec<(SmolStr, u64)> = endpoints.iter().filter_map(port).collect();
    ports.sort();
    ports
}
