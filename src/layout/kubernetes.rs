//! Kubernetes documents, wherever they are written: named by group, kind, namespace and name.

use super::{FileDocument, Layout, Named, Role};
use crate::resource::{Identity, KubernetesName, kubernetes_name};
use crate::value::Node;

/// Documents with `apiVersion`, `kind` and `metadata.name`, and the members of lists of them.
pub struct Kubernetes;

impl Layout for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn recognise<'d>(&self, document: &FileDocument<'d>) -> Option<Vec<Named<'d>>> {
        if !matches!(document.role, Role::Documents | Role::LegacyResource(_)) {
            return None;
        }
        let root = &document.document.root;
        if deletes(root) {
            return None;
        }
        let items = list_items(root).or_else(|| Some(vec![(kubernetes_name(root)?, root)]))?;
        Some(items.into_iter().map(|(name, item)| (Identity::Kubernetes(name), item)).collect())
    }
}

/// Whether a document is a patch that deletes the document of its name, and so is not that document.
fn deletes(root: &Node) -> bool {
    root.get("$patch").and_then(Node::as_str) == Some("delete")
}

/// The members of a `kind: List`, when the list says nothing beside them and every one has a name.
fn list_items(root: &Node) -> Option<Vec<(KubernetesName, &Node)>> {
    let map = root.as_map()?;
    let is_list = map.get("kind")?.as_str()?.ends_with("List") && map.get("apiVersion")?.as_str().is_some();
    let says_more = map.entries().iter().any(|entry| match entry.key.name.as_str() {
        "kind" | "apiVersion" | "items" => false,
        "metadata" => entry.value.as_map().is_none_or(|metadata| !metadata.is_empty()),
        _ => true,
    });
    if !is_list || says_more {
        return None;
    }
    let items = map.get("items")?.as_list()?;
    items.iter().map(|item| kubernetes_name(item).map(|name| (name, item))).collect()
}
