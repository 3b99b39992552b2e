//! Documents of OpenChoreo and their identities.

use std::fmt;

use smol_str::{SmolStr, format_smolstr};

use crate::layout::IndexEntry;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, kubernetes_name};
use crate::sanitize;
use crate::value::Node;

/// The group of all kinds.
pub(super) const GROUP: &str = "openchoreo.dev";
/// The namespace of documents that name none.
const DEFAULT_NAMESPACE: &str = "default";

/// Files by the kinds, namespaces and names of the objects in them.
pub(super) const OBJECTS: &str = "openchoreo objects";
/// Files by the kinds of the objects in them.
pub const KINDS: &str = "openchoreo kinds";
/// Files by the components that their workloads and bindings belong to.
pub(super) const OWNED: &str = "openchoreo owned";
/// Files by the namespaces of the environments in them.
pub(super) const ENVIRONMENTS: &str = "openchoreo environments";
/// Files by the namespaces of the notification channels in them.
pub(super) const CHANNELS: &str = "openchoreo channels";

/// What an object is called. Kinds that start with `Cluster` have no namespace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectName {
    /// The kind.
    pub kind: SmolStr,
    /// The namespace; empty for kinds without one.
    pub namespace: SmolStr,
    /// The name.
    pub name: SmolStr,
}

/// A document of OpenChoreo.
#[derive(Debug, Clone)]
pub struct Object {
    /// What it is called.
    pub name: ObjectName,
    /// The file it is written in.
    pub file: RepoPath,
    /// Which document of that file it is, from 0.
    pub position: usize,
    /// The document.
    pub node: Node,
    /// What the resource is called in reports.
    pub subject: SmolStr,
}

impl ObjectName {
    /// An object of this name that others in a namespace may refer to.
    pub fn new(kind: &str, namespace: &str, name: &str) -> Self {
        let namespace = if kind.starts_with("Cluster") { "" } else { namespace };
        Self { kind: kind.into(), namespace: namespace.into(), name: name.into() }
    }

    /// The key of the object in indexes.
    pub(super) fn key(&self) -> SmolStr {
        format_smolstr!("{}/{}/{}", self.kind, self.namespace, self.name)
    }
}

impl fmt::Display for ObjectName {
    /// `ComponentType acme/web`, `ClusterTrait autoscale`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", sanitize::inline(&self.kind))?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", sanitize::inline(&self.namespace))?;
        }
        f.write_str(&sanitize::inline(&self.name))
    }
}

impl Object {
    /// The object that a resource is, if it is one. The file of a `Resource` may well be called `resource.yaml`, which gives it a path
    /// as its name.
    pub fn of(resource: &Resource) -> Option<Self> {
        let name = match &resource.identity {
            Identity::Kubernetes(name) => name.clone(),
            _ => kubernetes_name(&resource.payload)?,
        };
        let namespace = if name.namespace.is_empty() { DEFAULT_NAMESPACE } else { &name.namespace };
        (name.group == GROUP).then(|| Self {
            name: ObjectName::new(&name.kind, namespace, &name.name),
            file: resource.file.clone(),
            position: resource.position,
            node: resource.payload.clone(),
            subject: resource.identity.to_string().into(),
        })
    }

    /// A part of its specification.
    pub fn spec(&self, path: &[&str]) -> Option<&Node> {
        at(self.node.get("spec")?, path)
    }

    /// A text in its specification.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.spec(path)?.as_str()
    }

    /// The project and the component that it belongs to.
    pub fn owner(&self) -> (&str, &str) {
        let text = |key| self.text(&["owner", key]).unwrap_or_default();
        (text("projectName"), text("componentName"))
    }

    /// Where indexes list it.
    pub(super) fn entries(&self) -> Vec<IndexEntry> {
        let entry = |index: &str, key: SmolStr| IndexEntry { index: index.into(), key };
        let namespace = &self.name.namespace;
        let mut entries = vec![entry(OBJECTS, self.name.key()), entry(KINDS, self.name.kind.clone())];
        match self.name.kind.as_str() {
            "Workload" | "ReleaseBinding" => {
                let component = self.owner().1;
                entries.push(entry(OWNED, format_smolstr!("{}/{namespace}/{component}", self.name.kind)));
            }
            "Environment" => entries.push(entry(ENVIRONMENTS, namespace.clone())),
            "ObservabilityAlertsNotificationChannel" => entries.push(entry(CHANNELS, namespace.clone())),
            _ => {}
        }
        entries
    }
}

/// A part of a value.
pub(super) fn at<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| node.get(key))
}

/// A text of a map that is set.
pub(super) fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)?.as_str().filter(|text| !text.is_empty())
}

/// The items of a list in a map.
pub(super) fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    node.get(key).and_then(Node::as_list).unwrap_or_default()
}

/// A reference that is a text, or a map with a name.
pub(super) fn reference<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let found = node.get(key)?;
    let name = if found.as_str().is_some() { found } else { found.get("name")? };
    name.as_str().is_some_and(|name| !name.is_empty()).then_some(name)
}
