//! Proposed metadata on its way to a document: each value with the place that speaks for it.

use super::fallback::Fallback;
use super::identity::ItemNames;
use super::schema::Attributes;
use crate::metadata::Operation;
use crate::text::Span;
use crate::value::{Entry, Node};

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
            (operation, Proposal { method: usual_method(operation), path, at: nowhere, body: None })
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

    /// The document.
    pub(super) fn to_node(&self) -> Node {
        let operations = self
            .operations
            .iter()
            .map(|(operation, proposal)| Entry::named(operation.wire(), proposal.at, proposal.to_node()));
        let operations = Node::map(operations.collect(), self.nowhere);
        let entries = vec![
            Entry::named("resourceInfo", self.nowhere, self.resource_info()),
            Entry::named("operationInfo", self.nowhere, operations),
        ];
        Node::map(entries, self.nowhere)
    }

    fn resource_info(&self) -> Node {
        let mut entries = Vec::new();
        if let Some((identity, at)) = &self.identity {
            entries.push(text("idFromAttribute", &identity.id, *at));
            entries.push(text("aliasFromAttribute", &identity.alias, *at));
        }
        entries.push(text("collectionPath", &self.collection_path.0, self.collection_path.1));
        if self.has_secret {
            let secrets = Node::list(vec![Node::text("secret", self.nowhere)], self.nowhere);
            entries.push(Entry::named("secretInAttributes", self.nowhere, secrets));
        }
        Node::map(entries, self.nowhere)
    }
}

impl Proposal {
    fn to_node(&self) -> Node {
        let mut entries = vec![text("httpMethod", self.method, self.at), text("path", &self.path, self.at)];
        if let Some(demands) = &self.body {
            entries.push(Entry::named("validate", demands.at, demands.to_node()));
        }
        Node::map(entries, self.at)
    }
}

impl Demands {
    fn to_node(&self) -> Node {
        let mut entries = Vec::new();
        if !self.required.is_empty() {
            let names = self.required.iter().map(|name| Node::text(name.clone(), self.at)).collect();
            entries.push(Entry::named("requiredAttributes", self.at, Node::list(names, self.at)));
        }
        entries.push(Entry::named("schemaRef", self.at, Node::text("openapi:request-body", self.at)));
        Node::map(entries, self.at)
    }
}

fn text(name: &str, text: &str, at: Span) -> Entry {
    Entry::named(name, at, Node::text(text, at))
}

fn joined(segments: &[String]) -> String {
    format!("/{}", segments.join("/"))
}

fn usual_method(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "POST",
        Operation::Update => "PUT",
        Operation::Delete => "DELETE",
        Operation::Get | Operation::List | Operation::Compare => "GET",
    }
}
