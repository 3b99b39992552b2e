//! Metadata that is proposed for a path: each value with the place in the OpenAPI document that it comes from.

use super::fallback::Fallback;
use super::identity::ItemNames;
use super::schema::Attributes;
use crate::metadata::compose;
use crate::metadata::{Field, FieldPath, Operation, Section, TransformOrder};
use crate::text::Span;
use crate::value::Node;

/// A proposal for one path.
#[derive(Debug, Clone)]
pub(super) struct MetadataDraft {
    pub(super) identity: Option<(ItemNames, Span)>,
    pub(super) collection_path: (String, Span),
    pub(super) has_secret: bool,
    /// In canonical order, each once.
    operations: Vec<(Operation, Proposal)>,
    nowhere: Span,
}

/// What is proposed for one operation.
#[derive(Debug, Clone)]
pub(super) struct Proposal {
    pub(super) method: &'static str,
    pub(super) path: String,
    pub(super) at: Span,
    pub(super) body: Option<Demands>,
}

/// What an API demands of a body.
#[derive(Debug, Clone)]
pub(super) struct Demands {
    pub(super) required: Attributes,
    pub(super) at: Span,
}

impl MetadataDraft {
    /// What follows from the path alone.
    pub(super) fn of_fallback(fallback: &Fallback, nowhere: Span) -> Self {
        let (collection, item) = (joined(&fallback.collection), joined(&fallback.item));
        let is_collection = fallback.identity.is_some();
        let proposal = |operation: Operation| {
            let is_on_collection = match operation {
                Operation::List => true,
                Operation::Create => is_collection,
                _ => false,
            };
            let path = if is_on_collection { collection.clone() } else { item.clone() };
            (operation, Proposal { method: Field::Method.default_text(operation), path, at: nowhere, body: None })
        };
        Self {
            identity: fallback.identity.clone().map(|identity| (identity, nowhere)),
            collection_path: (collection.clone(), nowhere),
            has_secret: fallback.has_secret,
            operations: Operation::ALL.into_iter().map(proposal).collect(),
            nowhere,
        }
    }

    /// Puts something better in the place of what is proposed for an operation.
    pub(super) fn propose(&mut self, operation: Operation, better: Proposal) {
        if let Some((_, proposal)) = self.operations.iter_mut().find(|(known, _)| *known == operation) {
            *proposal = better;
        }
    }

    /// The draft as a canonical document.
    pub(super) fn to_node(&self) -> Node {
        let mut values = self.resource_info();
        for (operation, proposal) in &self.operations {
            values.extend(proposal.values(Section::Operation(*operation)));
        }
        let values = values.iter().map(|(field_path, node)| (field_path, node, node.span));
        compose::document(values, |_| TransformOrder::default(), self.nowhere)
    }

    fn resource_info(&self) -> Vec<(FieldPath, Node)> {
        let value = |field, node| (FieldPath::new(Section::Resource, field), node);
        let mut values = Vec::new();
        if let Some((names, at)) = &self.identity {
            values.push(value(Field::IdFromAttribute, Node::text(names.id.clone(), *at)));
            values.push(value(Field::AliasFromAttribute, Node::text(names.alias.clone(), *at)));
        }
        let (collection, at) = &self.collection_path;
        values.push(value(Field::CollectionPath, Node::text(collection.as_str(), *at)));
        if self.has_secret {
            let secrets = Node::list(vec![Node::text("secret", self.nowhere)], self.nowhere);
            values.push(value(Field::SecretInAttributes, secrets));
        }
        values
    }
}

impl Proposal {
    /// The fields of an operation, in the order of [`Field`].
    fn values(&self, section: Section) -> Vec<(FieldPath, Node)> {
        let value = |field, node| (FieldPath::new(section, field), node);
        let mut values = vec![
            value(Field::Method, Node::text(self.method, self.at)),
            value(Field::Path, Node::text(self.path.as_str(), self.at)),
        ];
        if let Some(Demands { required, at }) = &self.body {
            if !required.is_empty() {
                let names = required.iter().map(|name| Node::text(name.clone(), *at)).collect();
                values.push(value(Field::RequiredAttributes, Node::list(names, *at)));
            }
            values.push(value(Field::SchemaRef, Node::text("openapi:request-body", *at)));
        }
        values
    }
}

fn joined(segments: &[String]) -> String {
    format!("/{}", segments.join("/"))
}
