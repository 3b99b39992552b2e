//! Secrets in metadata: what rules name is hidden in a document of metadata as it is in a payload.

use super::Secrets;
use super::withhold::hide_credentials;
use crate::metadata::{EffectiveMetadata, Field, FieldPath, MetadataPath, SecretAttributes};
use crate::path::{LogicalPath, Pointer, RepoPath};
use crate::resource::{Identity, Resource};
use crate::value::{Entry, Node, Value};

impl Secrets<'_> {
    /// A document of metadata for a path, with what rules name hidden.
    #[must_use]
    pub fn hide_metadata(&self, node: Node, path: &MetadataPath) -> Node {
        let logical = path.to_logical().unwrap_or_else(LogicalPath::root);
        let file = logical.directory_below(&RepoPath::root()).unwrap_or_default();
        let resource = Resource { identity: Identity::Logical(logical), file, position: 0, payload: node, unit: None };
        let declared = self.layers().fold(SecretAttributes::default(), |all, side| all.and(&side.secrets_at(path)));
        let hidden = self.hide_in_metadata(resource, declared.is_unknown()).payload;
        if self.is_off {
            hidden
        } else {
            hide_credentials(&hidden, &|name| declared.has_name(name) || self.masks.has_name(name))
        }
    }

    /// One value of a document of metadata, with what rules name hidden.
    #[must_use]
    pub fn hide_field(&self, pointer: &Pointer, node: &Node, path: &MetadataPath) -> Node {
        let nested = pointer.tokens().iter().rev().fold(node.clone(), |inner, token| {
            Node::map(vec![Entry::named(token.clone(), inner.span, inner.clone())], inner.span)
        });
        let hidden = self.hide_metadata(nested, path);
        hidden.at(pointer).cloned().unwrap_or(hidden)
    }

    /// Effective metadata with what rules name hidden, however a rule reaches it: by the name of a header, or by its place in the
    /// document.
    #[must_use]
    pub fn hide_effective(&self, metadata: &EffectiveMetadata, path: &MetadataPath) -> EffectiveMetadata {
        if self.is_off {
            return metadata.clone();
        }
        let document = self.hide_metadata(metadata.to_node(), path);
        metadata.map_values(|field_path, node| {
            let by_name = |node: &Node| self.hide_field(&field_path.pointer(), node, path);
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
