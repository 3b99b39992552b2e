//! Which lists of Kubernetes objects are merged by key in a strategic merge patch, as kustomize's built-in schema (1.21) has it.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::value::{Node, Value};

/// What is known about a place in a document.
#[derive(Debug, Clone, Copy)]
pub(super) enum Schema<'s> {
    /// Nothing: lists are replaced.
    Unknown,
    /// A type of the built-in table.
    Known(&'static str),
    /// A definition of a schema file.
    Custom(&'s Schemas, &'s Node),
}

/// How a list is merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ListStrategy {
    /// The patch's list replaces the other.
    Replace,
    /// Items are paired by these keys.
    Keyed(Vec<SmolStr>),
    /// The values of both are united.
    Set,
}

/// Schemas that an `openapi` file brings.
#[derive(Debug, Clone, Default)]
pub(super) struct Schemas {
    definitions: BTreeMap<SmolStr, Node>,
    /// Group, version and kind to the name of a definition.
    kinds: BTreeMap<(SmolStr, SmolStr, SmolStr), SmolStr>,
}

impl Schemas {
    /// Adds the definitions of a schema file.
    pub(super) fn add(&mut self, document: &Node) {
        let definitions = document.get("definitions").and_then(Node::as_map);
        for entry in definitions.map_or(&[][..], |map| map.entries()) {
            let kinds = entry.value.get("x-kubernetes-group-version-kind").and_then(Node::as_list).unwrap_or_default();
            for kind in kinds {
                let text = |name: &str| kind.get(name).and_then(Node::as_str).map(SmolStr::new).unwrap_or_default();
                self.kinds.insert((text("group"), text("version"), text("kind")), entry.key.name.clone());
            }
            self.definitions.insert(entry.key.name.clone(), entry.value.clone());
        }
    }

    /// Adds the definitions of a base.
    pub(super) fn extend(&mut self, other: Self) {
        self.definitions.extend(other.definitions);
        self.kinds.extend(other.kinds);
    }

    /// What is known about documents of a kind.
    pub(super) fn of_document(&self, node: &Node) -> Schema<'_> {
        let text = |name: &str| node.get(name).and_then(Node::as_str).unwrap_or_default();
        let (api, kind) = (text("apiVersion"), text("kind"));
        let (group, version) = api.rsplit_once('/').unwrap_or(("", api));
        let key = (SmolStr::new(group), SmolStr::new(version), SmolStr::new(kind));
        if let Some(definition) = self.kinds.get(&key).and_then(|name| self.definitions.get(name)) {
            return Schema::Custom(self, definition);
        }
        built_in(api, kind).map_or(Schema::Unknown, Schema::Known)
    }

    fn resolved<'s>(&'s self, node: &'s Node) -> &'s Node {
        let name = node.get("$ref").and_then(Node::as_str).and_then(|name| name.strip_prefix("#/definitions/"));
        name.and_then(|name| self.definitions.get(name)).unwrap_or(node)
    }
}

impl<'s> Schema<'s> {
    /// What is known about the value of a key.
    pub(super) fn child(self, key: &str) -> Schema<'s> {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Known(parent) => match row(parent, key) {
                Some(Row { kind, .. }) if !kind.is_empty() => Self::Known(kind),
                _ => Self::Unknown,
            },
            Self::Custom(schemas, node) => match node.get("properties").and_then(|properties| properties.get(key)) {
                Some(child) => schemas.schema(child),
                None => match node.get("additionalProperties").filter(|child| child.as_map().is_some()) {
                    Some(child) => schemas.schema(child),
                    None => Self::Unknown,
                },
            },
        }
    }

    /// What is known about the items of a list.
    pub(super) fn items(self) -> Schema<'s> {
        match self {
            // The table names the type of items where it names a list.
            Self::Unknown | Self::Known(_) => self,
            Self::Custom(schemas, node) => match node.get("items") {
                Some(items) => schemas.schema(items),
                None => Self::Unknown,
            },
        }
    }

    /// How the list at a key is merged.
    pub(super) fn strategy(self, key: &str) -> ListStrategy {
        match self {
            Self::Unknown => ListStrategy::Replace,
            Self::Known(parent) => match row(parent, key) {
                Some(Row { keys: ["*"], .. }) => ListStrategy::Set,
                Some(Row { keys: [], .. }) | None => ListStrategy::Replace,
                Some(Row { keys, .. }) => ListStrategy::Keyed(keys.iter().map(|key| SmolStr::new(*key)).collect()),
            },
            Self::Custom(schemas, node) => {
                let child = node.get("properties").and_then(|properties| properties.get(key));
                child.map_or(ListStrategy::Replace, |child| custom_strategy(schemas, child))
            }
        }
    }
}

impl Schemas {
    /// What a definition says; a reference to a type of Kubernetes itself is a row of the built-in table.
    fn schema<'s>(&'s self, node: &'s Node) -> Schema<'s> {
        let name = node.get("$ref").and_then(Node::as_str).and_then(|name| name.strip_prefix("#/definitions/"));
        let is_own = name.is_none_or(|name| self.definitions.contains_key(name));
        let built_in =
            name.and_then(|name| name.rsplit('.').next()).and_then(|name| ROWS.iter().find(|row| row.parent == name));
        match built_in {
            Some(row) if !is_own => Schema::Known(row.parent),
            _ => Schema::Custom(self, self.resolved(node)),
        }
    }
}

fn custom_strategy(schemas: &Schemas, node: &Node) -> ListStrategy {
    let text = |name: &str| {
        let own = node.get(name).or_else(|| schemas.resolved(node).get(name));
        own.and_then(Node::as_str).unwrap_or_default()
    };
    if !text("x-kubernetes-patch-strategy").split(',').any(|strategy| strategy == "merge") {
        return ListStrategy::Replace;
    }
    let several = node.get("x-kubernetes-list-map-keys").and_then(Node::as_list).unwrap_or_default();
    let several: Vec<SmolStr> = several.iter().filter_map(Node::as_str).map(SmolStr::new).collect();
    match text("x-kubernetes-patch-merge-key") {
        _ if !several.is_empty() => ListStrategy::Keyed(several),
        "" if matches!(node.get("items").map(|items| &items.value), Some(Value::Map(_))) => ListStrategy::Set,
        "" => ListStrategy::Replace,
        key => ListStrategy::Keyed(vec![key.into()]),
    }
}

/// The type of a document's root.
fn built_in(api: &str, kind: &str) -> Option<&'static str> {
    let exact = match (api, kind) {
        ("v1", "Pod") => "Pod",
        ("v1", "PodTemplate") => "PodTemplate",
        ("v1", "ReplicationController") => "Workload",
        ("v1", "Service") => "Service",
        ("v1", "ServiceAccount") => "ServiceAccount",
        ("v1", "Node") => "Node",
        ("v1", "Namespace" | "PersistentVolumeClaim") => "WithConditions",
        ("v1", "ComponentStatus") => "ComponentStatus",
        ("apps/v1", "Deployment" | "DaemonSet" | "ReplicaSet" | "StatefulSet") => "Workload",
        ("batch/v1", "Job") => "Workload",
        ("batch/v1" | "batch/v1beta1", "CronJob") => "CronJob",
        ("policy/v1" | "policy/v1beta1", "PodDisruptionBudget") => "WithConditions",
        ("apiregistration.k8s.io/v1" | "apiregistration.k8s.io/v1beta1", "APIService") => "WithConditions",
        (
            "admissionregistration.k8s.io/v1" | "admissionregistration.k8s.io/v1beta1",
            "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration",
        ) => "Webhooks",
        ("storage.k8s.io/v1" | "storage.k8s.io/v1beta1", "CSINode") => "CSINode",
        ("kustomize.config.k8s.io/v1beta1", "Kustomization") => "Kustomization",
        ("extensions/v1beta1", "Ingress") => "Object",
        _ => "",
    };
    if !exact.is_empty() {
        return Some(exact);
    }
    KNOWN_VERSIONS.contains(&api).then_some("Object")
}

/// API versions whose kinds are known, beside those with an entry of their own.
const KNOWN_VERSIONS: &[&str] = &[
    "v1",
    "apps/v1",
    "batch/v1",
    "batch/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2beta1",
    "autoscaling/v2beta2",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1beta1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "scheduling.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "coordination.k8s.io/v1beta1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1beta1",
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
    "apiextensions.k8s.io/v1beta1",
    "apiregistration.k8s.io/v1",
    "apiregistration.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
];

/// A field of a type: the type of its value or of its items, and the keys by which a list is merged (`*`: a set of values).
struct Row {
    parent: &'static str,
    field: &'static str,
    kind: &'static str,
    keys: &'static [&'static str],
}

const fn to(parent: &'static str, field: &'static str, kind: &'static str) -> Row {
    Row { parent, field, kind, keys: &[] }
}

const fn keyed(parent: &'static str, field: &'static str, kind: &'static str, keys: &'static [&'static str]) -> Row {
    Row { parent, field, kind, keys }
}

fn row(parent: &str, field: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.parent == parent && row.field == field)
}

/// The complete table of keyed fields, and the ways to them.
static ROWS: &[Row] = &[
    to("Object", "metadata", "ObjectMeta"),
    keyed("ObjectMeta", "ownerReferences", "", &["uid"]),
    keyed("ObjectMeta", "finalizers", "", &["*"]),
    to("WithConditions", "metadata", "ObjectMeta"),
    to("WithConditions", "status", "Status"),
    keyed("Status", "conditions", "", &["type"]),
    keyed("ComponentStatus", "conditions", "", &["type"]),
    to("ComponentStatus", "metadata", "ObjectMeta"),
    to("Pod", "metadata", "ObjectMeta"),
    to("Pod", "spec", "PodSpec"),
    to("Pod", "status", "PodStatus"),
    keyed("PodStatus", "conditions", "", &["type"]),
    keyed("PodStatus", "podIPs", "", &["ip"]),
    to("PodTemplate", "metadata", "ObjectMeta"),
    to("PodTemplate", "template", "PodTemplateSpec"),
    to("PodTemplateSpec", "metadata", "ObjectMeta"),
    to("PodTemplateSpec", "spec", "PodSpec"),
    to("Workload", "metadata", "ObjectMeta"),
    to("Workload", "spec", "WorkloadSpec"),
    to("Workload", "status", "Status"),
    to("WorkloadSpec", "template", "PodTemplateSpec"),
    to("CronJob", "metadata", "ObjectMeta"),
    to("CronJob", "spec", "CronJobSpec"),
    to("CronJobSpec", "jobTemplate", "JobTemplate"),
    to("JobTemplate", "metadata", "ObjectMeta"),
    to("JobTemplate", "spec", "WorkloadSpec"),
    keyed("PodSpec", "containers", "Container", &["name"]),
    keyed("PodSpec", "initContainers", "Container", &["name"]),
    keyed("PodSpec", "ephemeralContainers", "EphemeralContainer", &["name"]),
    keyed("PodSpec", "volumes", "", &["name"]),
    keyed("PodSpec", "imagePullSecrets", "", &["name"]),
    keyed("PodSpec", "hostAliases", "", &["ip"]),
    keyed("PodSpec", "topologySpreadConstraints", "", &["topologyKey", "whenUnsatisfiable"]),
    keyed("Container", "env", "", &["name"]),
    keyed("Container", "ports", "", &["containerPort", "protocol"]),
    keyed("Container", "volumeMounts", "", &["mountPath"]),
    keyed("Container", "volumeDevices", "", &["devicePath"]),
    keyed("EphemeralContainer", "env", "", &["name"]),
    keyed("EphemeralContainer", "volumeMounts", "", &["mountPath"]),
    keyed("EphemeralContainer", "volumeDevices", "", &["devicePath"]),
    to("Service", "metadata", "ObjectMeta"),
    to("Service", "spec", "ServiceSpec"),
    to("Service", "status", "Status"),
    keyed("ServiceSpec", "ports", "", &["port", "protocol"]),
    to("ServiceAccount", "metadata", "ObjectMeta"),
    keyed("ServiceAccount", "secrets", "", &["name"]),
    to("Webhooks", "metadata", "ObjectMeta"),
    keyed("Webhooks", "webhooks", "", &["name"]),
    to("Node", "metadata", "ObjectMeta"),
    to("Node", "spec", "NodeSpec"),
    to("Node", "status", "NodeStatus"),
    keyed("NodeSpec", "podCIDRs", "", &["*"]),
    keyed("NodeStatus", "conditions", "", &["type"]),
    keyed("NodeStatus", "addresses", "", &["type"]),
    to("CSINode", "metadata", "ObjectMeta"),
    to("CSINode", "spec", "CSINodeSpec"),
    keyed("CSINodeSpec", "drivers", "", &["name"]),
    keyed("Kustomization", "configMapGenerator", "", &["name"]),
    keyed("Kustomization", "secretGenerator", "", &["name"]),
];
