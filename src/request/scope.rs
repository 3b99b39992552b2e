//! The names that templates of a resource see, and where each of them comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::Target;
use super::derive::{Derived, derive};
use super::neighbours::ancestors;
use super::render::levels;
use crate::expression::template;
use crate::layer::{Operation, RemoteIdentity, identify};
use crate::path::LogicalPath;
use crate::settings::Format;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// Everything that templates of one resource can name.
#[derive(Debug, Clone)]
pub struct Scoped {
    /// What the templates are given.
    pub scope: Arc<template::Scope>,
    /// What follows from the path.
    pub derived: Vec<Derived>,
    /// What the resource is called.
    pub identity: RemoteIdentity,
    origins: BTreeMap<SmolStr, Origin>,
    ancestors: Vec<(LogicalPath, BTreeMap<SmolStr, Origin>)>,
}

/// Where a name's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A field of the payload, written there.
    Payload(Span),
    /// What is known about the resource without looking into it: its path, its names, its format.
    Context,
    /// A segment of the logical path; the template that names it, or nothing if the name of a collection does.
    Path(Option<Span>),
    /// A resource above.
    Ancestor {
        /// Which.
        path: LogicalPath,
        /// Where it has it from.
        origin: Box<Origin>,
    },
}

/// The names that templates of an operation see; `levels` is how many resources up they reach.
pub fn scope(target: &Target<'_>, operation: Operation, levels: usize) -> Scoped {
    let collection = logical_collection(target.path, operation);
    let derived = derive(target.metadata, target.path, &collection);
    let identity = identify(target.metadata, target.path, target.payload);
    let (root, origins) = root_of(target, &collection, &identity, &derived);
    let above = if levels == 0 { Vec::new() } else { ancestors(target.path, target.neighbours) };
    let mut roots = Vec::new();
    let mut named = Vec::new();
    for (path, payload) in above.into_iter().take(levels) {
        let (root, origins) = ancestor_root(target, &path, &payload);
        roots.push(root);
        named.push((path, origins));
    }
    let format = SmolStr::new_static(format_name(target.format));
    let scope = Arc::new(template::Scope { root, ancestors: roots, format });
    Scoped { scope, derived, identity, origins, ancestors: named }
}

/// The names that templates of an operation see, reaching as far up as they do.
pub fn scope_for(target: &Target<'_>, operation: Operation) -> Scoped {
    scope(target, operation, levels(target, operation))
}

/// The collection in which an operation takes place: for a list, the path itself.
pub(super) fn logical_collection(path: &LogicalPath, operation: Operation) -> LogicalPath {
    match operation {
        Operation::List => path.clone(),
        _ => path.parent().unwrap_or_else(LogicalPath::root),
    }
}

pub(super) fn format_name(format: Format) -> &'static str {
    match format {
        Format::Json => "json",
        Format::Yaml => "yaml",
    }
}

impl Scoped {
    /// A scope that is given as it is, with nothing above it.
    pub fn given(root: Node, format: impl Into<SmolStr>) -> Self {
        let names = root.as_map().map(|map| map.entries()).unwrap_or_default();
        let origins = names.iter().map(|entry| (entry.key.name.clone(), Origin::Payload(entry.value.span))).collect();
        let nameless = RemoteIdentity { alias: SmolStr::default(), remote_id: SmolStr::default() };
        let scope = Arc::new(template::Scope { root, ancestors: Vec::new(), format: format.into() });
        Self { scope, derived: Vec::new(), identity: nameless, origins, ancestors: Vec::new() }
    }

    /// The same with the rendered collection path, unless the payload has a field of that name.
    #[must_use]
    pub fn with_collection_path(&self, collection: &str) -> Self {
        if self.origins.get("collectionPath") != Some(&Origin::Context) {
            return self.clone();
        }
        let span = self.scope.root.span.start_only();
        let entries = self.scope.root.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
        let replaced = entries.into_iter().map(|entry| match entry.key.name.as_str() {
            "collectionPath" => Entry { value: Node::text(collection, span), ..entry },
            _ => entry,
        });
        let root = Node::map(replaced.collect(), self.scope.root.span);
        let scope = template::Scope { root, ..(*self.scope).clone() };
        Self { scope: Arc::new(scope), ..self.clone() }
    }

    /// Where a name has its value from.
    pub fn origin(&self, level: usize, name: &str) -> Option<Origin> {
        match level.checked_sub(1) {
            None => self.origins.get(name).cloned(),
            Some(above) => {
                let (path, origins) = self.ancestors.get(above)?;
                let origin = Box::new(origins.get(name)?.clone());
                Some(Origin::Ancestor { path: path.clone(), origin })
            }
        }
    }
}

/// Names in the order of their strength; the first to claim a name has it.
#[derive(Default)]
struct Names {
    entries: Vec<Entry>,
    origins: BTreeMap<SmolStr, Origin>,
}

impl Names {
    fn claim(&mut self, name: impl Into<SmolStr>, value: Node, origin: Origin) {
        let name = name.into();
        if !self.origins.contains_key(&name) {
            self.entries.push(Entry::named(name.clone(), value.span, value));
            self.origins.insert(name, origin);
        }
    }

    fn claim_payload(&mut self, payload: &Node) {
        for entry in payload.as_map().map(|map| map.entries()).unwrap_or_default() {
            self.claim(entry.key.name.clone(), entry.value.clone(), Origin::Payload(entry.value.span));
        }
    }

    fn claim_derived(&mut self, derived: &[Derived], nowhere: Span) {
        for attribute in derived {
            let value = Node::text(attribute.value.clone(), attribute.template.unwrap_or(nowhere));
            self.claim(attribute.name.clone(), value, Origin::Path(attribute.template));
        }
    }
}

fn root_of(
    target: &Target<'_>,
    collection: &LogicalPath,
    identity: &RemoteIdentity,
    derived: &[Derived],
) -> (Node, BTreeMap<SmolStr, Origin>) {
    let nowhere = target.payload.span.start_only();
    let mut names = Names::default();
    // These two always mean the whole payload, whatever it holds.
    let whole = with_derived(target.payload, derived);
    names.claim("payload", whole.clone(), Origin::Payload(target.payload.span));
    names.claim("value", whole, Origin::Payload(target.payload.span));
    names.claim_payload(target.payload);
    let mut context = vec![
        ("logicalPath", target.path.as_str()),
        ("collectionPath", collection.as_str()),
        ("alias", identity.alias.as_str()),
        ("remoteID", identity.remote_id.as_str()),
        ("resourceFormat", format_name(target.format)),
    ];
    if !identity.remote_id.trim().is_empty() {
        context.push(("id", identity.remote_id.as_str()));
    }
    for (name, value) in context {
        names.claim(name, Node::text(value, nowhere), Origin::Context);
    }
    names.claim_derived(derived, nowhere);
    (Node::map(names.entries, target.payload.span), names.origins)
}

/// A payload with what follows from its path, where it lacks it.
pub(super) fn with_derived(payload: &Node, derived: &[Derived]) -> Node {
    let Value::Map(map) = &payload.value else { return payload.clone() };
    let nowhere = payload.span.start_only();
    let missing = derived.iter().filter(|attribute| map.get(&attribute.name).is_none());
    let added: Vec<Entry> = missing
        .map(|attribute| {
            let place = attribute.template.unwrap_or(nowhere);
            Entry::named(attribute.name.clone(), place, Node::text(attribute.value.clone(), place))
        })
        .collect();
    if added.is_empty() {
        return payload.clone();
    }
    Node { extra: payload.extra.clone(), ..Node::map([map.entries(), &added].concat(), payload.span) }
}

/// What `../` sees: the payload of the resource above, then what follows from its path.
fn ancestor_root(target: &Target<'_>, path: &LogicalPath, payload: &Node) -> (Node, BTreeMap<SmolStr, Origin>) {
    let mut names = Names::default();
    names.claim_payload(payload);
    if let Some(metadata) = target.neighbours.metadata(path) {
        let collection = logical_collection(path, Operation::Get);
        names.claim_derived(&derive(&metadata, path, &collection), payload.span.start_only());
    }
    (Node::map(names.entries, payload.span), names.origins)
}
