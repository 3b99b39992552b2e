//! What identifies a resource inside one build.

use smol_str::SmolStr;

use crate::value::{Node, Value};

/// Group, version, kind, name and the namespace that counts, if any does.
pub(super) type IdKey = (SmolStr, SmolStr, SmolStr, SmolStr, Option<SmolStr>);

/// What identifies a resource inside one build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResourceId {
    /// The API group; empty for the core group.
    pub(super) group: SmolStr,
    /// The API version.
    pub(super) version: SmolStr,
    /// The kind.
    pub(super) kind: SmolStr,
    /// The name.
    pub(super) name: SmolStr,
    /// The namespace as written; empty if there is none.
    pub(super) namespace: SmolStr,
}

impl ResourceId {
    /// The identity that a document states.
    pub(super) fn read(node: &Node) -> Self {
        let text = |node: Option<&Node>| match node.map(|node| &node.value) {
            Some(Value::String(text)) => text.clone(),
            _ => SmolStr::default(),
        };
        let api = text(node.get("apiVersion"));
        let (group, version) = api.rsplit_once('/').unwrap_or(("", &api));
        let metadata = node.get("metadata");
        Self {
            group: group.into(),
            version: version.into(),
            kind: text(node.get("kind")),
            name: text(metadata.and_then(|metadata| metadata.get("name"))),
            namespace: text(metadata.and_then(|metadata| metadata.get("namespace"))),
        }
    }

    /// Whether kustomize knows the kind as one without a namespace.
    pub(super) fn is_cluster_scoped(&self) -> bool {
        CLUSTER_SCOPED.iter().any(|(group, versions, kinds)| {
            *group == self.group && versions.contains(&&*self.version) && kinds.contains(&&*self.kind)
        })
    }

    /// The namespace that counts for identity: one that is not written is `default`, and cluster-scoped kinds have none.
    pub(super) fn effective_namespace(&self) -> &str {
        if self.is_cluster_scoped() {
            "\0cluster"
        } else if self.namespace.is_empty() {
            "default"
        } else {
            &self.namespace
        }
    }

    /// Whether both have one group, version and kind.
    pub(super) fn same_type(&self, other: &Self) -> bool {
        self.group == other.group && self.version == other.version && self.kind == other.kind
    }

    /// Whether both name one resource.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.same_type(other) && self.name == other.name && self.effective_namespace() == other.effective_namespace()
    }

    /// A key under which resources of one name are equal.
    pub(super) fn key(&self) -> IdKey {
        let namespace = if self.is_cluster_scoped() {
            None
        } else if self.namespace.is_empty() {
            Some("default".into())
        } else {
            Some(self.namespace.clone())
        };
        (self.group.clone(), self.version.clone(), self.kind.clone(), self.name.clone(), namespace)
    }

    /// As messages name it.
    pub(super) fn shown(&self) -> String {
        let namespace = if self.namespace.is_empty() { String::new() } else { format!("{}/", self.namespace) };
        format!("{} {namespace}{}", self.kind, self.name)
    }
}

/// Group, versions and kinds without a namespace, as kustomize knows them.
const CLUSTER_SCOPED: &[(&str, &[&str], &[&str])] = &[
    ("", &["v1"], &["Namespace", "Node", "PersistentVolume", "ComponentStatus"]),
    ("rbac.authorization.k8s.io", &["v1", "v1beta1"], &["ClusterRole", "ClusterRoleBinding"]),
    ("apiextensions.k8s.io", &["v1", "v1beta1"], &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["v1", "v1beta1"], &["APIService"]),
    (
        "admissionregistration.k8s.io",
        &["v1", "v1beta1"],
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
    ),
    ("storage.k8s.io", &["v1", "v1beta1"], &["StorageClass", "CSIDriver", "CSINode", "VolumeAttachment"]),
    ("scheduling.k8s.io", &["v1", "v1beta1"], &["PriorityClass"]),
    ("networking.k8s.io", &["v1", "v1beta1"], &["IngressClass"]),
    ("node.k8s.io", &["v1", "v1beta1"], &["RuntimeClass"]),
    ("certificates.k8s.io", &["v1", "v1beta1"], &["CertificateSigningRequest"]),
    ("policy", &["v1beta1"], &["PodSecurityPolicy"]),
    ("flowcontrol.apiserver.k8s.io", &["v1beta1"], &["FlowSchema", "PriorityLevelConfiguration"]),
];
