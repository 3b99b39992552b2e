//! Secrets in metadata: what rules name is hidden in a document of metadata as it is in a payload.

use std::sync::Arc;

use super::Secrets;
use super::hidden_metadata::DeclaredAt;
use super::withhold::hide_credentials;
use crate::memo::Identity;
use crate::metadata::{EffectiveMetadata, Field, FieldPath, MetadataPath, SecretAttributes};
use crate::path::{LogicalPath, Pointer, RepoPath};
use crate::resource::{Identity as ResourceIdentity, Resource};
use crate::value::{Entry, Node, Value};

impl Secrets<'_> {
    /// A document of metadata for a path, with what rules name hidden.
    #[must_use]
    pub fn hide_metadata(&self, node: Node, path: &MetadataPath) -> Node {
        let logical = path.to_logical();
        let stored = self.layers().fold(SecretAttributes::default(), |all, side| all.and(&side.secrets_at(path)));
        let resource = document_at(&logical.unwrap_or_else(LogicalPath::root), node);
        let declared = DeclaredAt { own: self.attributes_of(&resource), stored };
        self.hide_document(resource, &declared)
    }

    fn hide_document(&self, document: Resource, declared: &DeclaredAt) -> Node {
        let DeclaredAt { own, stored } = declared;
        let hidden = self.hide_declared_in(document, own, stored.is_unknown()).payload;
        if self.is_off {
            hidden
        } else {
            hide_credentials(&hidden, &|name| stored.has_name(name) || self.masks.has_name(name))
        }
    }

    /// One value of a document of metadata, with what rules name hidden.
    #[must_use]
    pub fn hide_field(&self, pointer: &Pointer, node: &Node, path: &MetadataPath) -> Node {
        let hidden = self.hide_metadata(nested(pointer, node), path);
        hidden.at(pointer).cloned().unwrap_or(hidden)
    }

    /// Effective metadata of a path with what rules name hidden, however a rule reaches it: by the name of a header, or by its place
    /// in the document.
    #[must_use]
    pub fn hide_effective(&self, metadata: &Arc<EffectiveMetadata>, path: &MetadataPath) -> Arc<EffectiveMetadata> {
        match path.to_logical() {
            Some(logical) if !path.is_collection() => self.hide_effective_of(metadata, &logical),
            logical => {
                let stored = self.layers().fold(SecretAttributes::default(), |all, it| all.and(&it.secrets_at(path)));
                self.hide_declared_at(metadata, &logical.unwrap_or_else(LogicalPath::root), stored)
            }
        }
    }

    /// Effective metadata of a resource with what rules name hidden.
    #[must_use]
    pub fn hide_effective_of(&self, metadata: &Arc<EffectiveMetadata>, path: &LogicalPath) -> Arc<EffectiveMetadata> {
        let stored = self.layers().fold(SecretAttributes::default(), |all, it| all.and(&it.secrets_of(path)));
        self.hide_declared_at(metadata, path, stored)
    }

    fn hide_declared_at(
        &self,
        metadata: &Arc<EffectiveMetadata>,
        path: &LogicalPath,
        stored: SecretAttributes,
    ) -> Arc<EffectiveMetadata> {
        if self.is_off {
            return Arc::clone(metadata);
        }
        let own = self.attributes_of(&document_at(path, metadata.to_node()));
        let declared = DeclaredAt { own, stored };
        let hide = |declared: &DeclaredAt| Arc::new(self.hide_values_of(metadata, path, declared));
        // A rule for some places may hide in one document what it shows in an equal one elsewhere.
        if !self.is_same_for_all() {
            return hide(&declared);
        }
        let key = (Identity::of_shared(metadata), declared);
        self.hidden_metadata.get(&key, || hide(&key.1))
    }

    fn hide_values_of(
        &self,
        metadata: &EffectiveMetadata,
        path: &LogicalPath,
        declared: &DeclaredAt,
    ) -> EffectiveMetadata {
        let document = self.hide_document(document_at(path, metadata.to_node()), declared);
        metadata.map_values(|field_path, node| {
            let by_name = |node: &Node| {
                let pointer = field_path.pointer();
                let hidden = self.hide_document(document_at(path, nested(&pointer, node)), declared);
                hidden.at(&pointer).cloned().unwrap_or(hidden)
            };
            if field_path.field != Field::Headers {
                return Some(by_name(node));
            }
            let name = node.get("name").and_then(Node::as_str)?;
            let listed = document.at(&FieldPath::new(field_path.section, Field::Headers).pointer())?;
            let is_meant = |item: &&Node| item.get("name").and_then(Node::as_str) == Some(name);
            let item = listed.as_list()?.iter().find(is_meant).cloned().unwrap_or_else(|| node.clone());
            match item.get("value").map(|value| &value.value) {
                Some(Value::Secret(_)) => Some(item),
                _ => Some(with_value(node, by_name(node.get("value")?))),
            }
        })
    }
}

/// A document of metadata as a resource of its path.
fn document_at(path: &LogicalPath, payload: Node) -> Resource {
    let file = path.directory_below(&RepoPath::root()).unwrap_or_default();
    Resource { identity: ResourceIdentity::Logical(path.clone()), file, position: 0, payload, unit: None }
}

/// A document with nothing but a value at its place.
fn nested(pointer: &Pointer, node: &Node) -> Node {
    pointer.tokens().iter().rev().fold(node.clone(), |inner, token| {
        Node::map(vec![Entry::named(token.clone(), inner.span, inner.clone())], inner.span)
    })
}

/// A header with another value.
fn with_value(header: &Node, value: Node) -> Node {
    let entries = header.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
    let replaced = entries.into_iter().map(|mut entry| {
        if entry.key.name == "value" {
            entry.value = value.clone();
        }
        entry
    });
    Node::map(replaced.collect(), header.span)
}
