//! A resource while kustomize works on it: the document, its former names, and what generators want of it.

use smol_str::SmolStr;

use super::fields::set_at;
use super::{Fatal, fatal};
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

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

/// What a generator does when a resource of its name exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Behavior {
    /// The resource must be new.
    #[default]
    Create,
    /// Data are united.
    Merge,
    /// Data are replaced.
    Replace,
}

/// A resource while it is built.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    /// The document.
    pub(super) node: Node,
    /// The names it had before, the original one first; empty while nothing has changed its name.
    pub(super) previous: Vec<ResourceId>,
    /// Prefixes that were put before its name, innermost first.
    pub(super) prefixes: Vec<SmolStr>,
    /// Suffixes that were put behind its name, innermost first.
    pub(super) suffixes: Vec<SmolStr>,
    /// Whether its name gets a suffix made of its content.
    pub(super) wants_hash: bool,
    /// The suffix that was added, once it was.
    pub(super) hash: Option<SmolStr>,
    /// Whether kustomize keeps notes about it in its annotations, which makes the map exist for later patches.
    pub(super) has_internal_annotations: bool,
}

impl ResourceId {
    /// The identity that a document states.
    pub(super) fn read(node: &Node) -> Self {
        let text = |node: Option<&Node>| node.and_then(Node::as_str).map(SmolStr::new).unwrap_or_default();
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
        self.same_type(other)
            && self.name == other.name
            && self.effective_namespace() == other.effective_namespace()
    }

    /// As messages name it.
    pub(super) fn shown(&self) -> String {
        let namespace = if self.namespace.is_empty() { String::new() } else { format!("{}/", self.namespace) };
        format!("{} {namespace}{}", self.kind, self.name)
    }
}

impl Resource {
    /// A resource as it is written in a file.
    pub(super) fn new(node: Node) -> Self {
        Self {
            node,
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            wants_hash: false,
            hash: None,
            has_internal_annotations: false,
        }
    }

    /// Its present identity.
    pub(super) fn id(&self) -> ResourceId {
        ResourceId::read(&self.node)
    }

    /// Its first identity.
    pub(super) fn original(&self) -> ResourceId {
        self.previous.first().cloned().unwrap_or_else(|| self.id())
    }

    /// Every identity it has or had.
    pub(super) fn ids(&self) -> impl Iterator<Item = ResourceId> {
        self.previous.iter().cloned().chain([self.id()])
    }

    /// Notes the present identity before something may change it.
    pub(super) fn remember_id(&mut self) {
        let id = self.id();
        self.previous.push(id);
        self.has_internal_annotations = true;
    }

    /// Sets its name.
    pub(super) fn rename(&mut self, name: &str, by: Span) {
        let node = Node::text(name, by).through(StepKind::Transformer, by);
        self.node = set_at(&self.node, &["metadata", "name"], node);
    }

    /// Where it is written.
    pub(super) fn span(&self) -> Span {
        self.node.get("kind").map_or(self.node.span, |kind| kind.span)
    }
}

/// Checks what every document of a resource file needs, and makes annotations what kustomize makes of them.
pub(super) fn check(node: Node) -> Result<Node, Fatal> {
    let Some(map) = node.as_map() else {
        return Err(fatal(node.span, "a resource is a map with `kind` and `metadata.name`"));
    };
    if map.get("kind").and_then(Node::as_str).is_none_or(str::is_empty) {
        return Err(fatal(node.span, "this document has no `kind`"));
    }
    Ok(with_text_annotations(&node))
}

/// Checks that a document has a name; lists and patches of lists have none.
pub(super) fn check_name(node: &Node) -> Result<(), Fatal> {
    let name = node.get("metadata").and_then(|metadata| metadata.get("name"));
    match name.map(|name| &name.value) {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        _ => Err(fatal(node.span, "this document has no `metadata.name`")),
    }
}

/// Annotation values are strings, whatever was written, and an empty map of annotations is dropped.
pub(super) fn with_text_annotations(node: &Node) -> Node {
    let Some(annotations) = node.get("metadata").and_then(|metadata| metadata.get("annotations")) else {
        return node.clone();
    };
    match annotations.as_map() {
        Some(map) if map.is_empty() => super::fields::remove_at(node, &["metadata", "annotations"]),
        Some(map) => {
            let text = |entry: &Entry| match &entry.value.value {
                Value::Null => Some("null".into()),
                Value::Bool(value) => Some(SmolStr::from(value.to_string())),
                Value::Number(number) => Some(SmolStr::new(number.as_str())),
                _ => None,
            };
            if map.entries().iter().all(|entry| text(entry).is_none()) {
                return node.clone();
            }
            let entries = map.entries().iter().map(|entry| match text(entry) {
                Some(text) => Entry {
                    value: Node { value: Value::String(text), ..entry.value.clone() },
                    key: entry.key.clone(),
                },
                None => entry.clone(),
            });
            let map = Node::map(entries.collect(), annotations.span);
            set_at(node, &["metadata", "annotations"], Node { extra: annotations.extra.clone(), ..map })
        }
        None if matches!(annotations.value, Value::Null) => {
            super::fields::remove_at(node, &["metadata", "annotations"])
        }
        None => node.clone(),
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
