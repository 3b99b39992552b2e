//! Proposes metadata for a path: what follows from the path itself, refined by an OpenAPI document, below what is stored.

use std::sync::Arc;

use super::api::{Api, Last, PathItem};
use super::compact::compact;
use super::draft::{Demands, MetadataDraft, Proposal};
use super::fallback::Fallback;
use super::identity::ItemNames;
use super::schema;
use super::template::PathSegment;
use crate::finding::Outcome;
use crate::metadata::{self, Layer, MetadataPath, Operation};
use crate::text::Span;
use crate::value::Node;

/// A path to propose metadata for, and what is known about it.
#[derive(Debug, Clone, Copy)]
pub struct Inference<'a> {
    /// The path; see [`target`] for the one that is meant by it.
    pub path: &'a MetadataPath,
    /// The OpenAPI document, if there is one.
    pub openapi: Option<&'a Node>,
    /// The stored metadata of exactly this path. It overrides the proposal.
    pub existing: Option<&'a Arc<Layer>>,
    /// An empty span for values that are not written anywhere.
    pub nowhere: Span,
}

/// Proposed metadata, in canonical form.
#[derive(Debug, Clone)]
pub struct Inferred {
    /// The path that it applies to.
    pub path: MetadataPath,
    /// Whether the OpenAPI document knows the path.
    pub is_known: bool,
    /// Everything that is proposed, whatever is stored.
    pub inferred: Node,
    /// What is stored over the proposal, without what follows from the path alone.
    pub compact: Node,
}

/// Proposes metadata for a path. Nothing that is stored is ever changed by it.
pub fn infer(inference: &Inference<'_>) -> Outcome<Inferred> {
    let Inference { path, openapi, existing, nowhere } = *inference;
    let api = openapi.map(Api::new);
    let path = promoted(path, api.as_ref());
    let fallback = Fallback::of(&path);
    let baseline = MetadataDraft::of_fallback(&fallback, nowhere);
    let (draft, is_known) = match &api {
        Some(api) => improved(baseline.clone(), api, &path, &fallback),
        None => (baseline.clone(), false),
    };
    let proposed = metadata::of_document(&draft.to_node());
    let mut findings = api.map(Api::into_findings).unwrap_or_default();
    findings.extend(proposed.findings);
    let mut complete = proposed.value.clone();
    if let Some(existing) = existing {
        let errors = existing.statements.findings.iter().filter(|finding| finding.is_error());
        findings.extend(errors.cloned());
        complete = complete.under(existing);
    }
    let baseline = metadata::of_document(&baseline.to_node()).value.to_node();
    let compact = compact(&complete.to_node(), &baseline);
    Outcome { value: Inferred { path, is_known, inferred: proposed.value.to_node(), compact }, findings }
}

/// The path that metadata is inferred for: a plain path is that of a collection if the document has items below it.
pub fn target(path: &MetadataPath, openapi: Option<&Node>) -> MetadataPath {
    promoted(path, openapi.map(Api::new).as_ref())
}

fn promoted(path: &MetadataPath, api: Option<&Api<'_>>) -> MetadataPath {
    let Some(api) = api.filter(|_| !path.is_collection()) else { return path.clone() };
    let own = path.segments();
    let has_any = |item: &PathItem<'_>, methods: &[&str]| methods.iter().any(|name| item.operation(name).is_some());
    let is_collection = |item: &PathItem<'_>| {
        item.template.len() == own.len() && item.template.starts_with(own) && has_any(item, &["get", "post"])
    };
    let is_item = |item: &PathItem<'_>| {
        item.template.len() == own.len() + 1
            && item.template.starts_with(own)
            && matches!(item.template.last(), Some(PathSegment::Variable(name)) if super::template::is_safe(name))
            && has_any(item, &["get", "put", "patch", "delete"])
    };
    let has_items = api.paths().any(|item| is_collection(&item)) && api.paths().any(|item| is_item(&item));
    if has_items { path.to_collection() } else { path.clone() }
}

/// The draft with what the document knows better, and whether it knows the path at all.
fn improved(
    mut draft: MetadataDraft,
    api: &Api<'_>,
    path: &MetadataPath,
    fallback: &Fallback,
) -> (MetadataDraft, bool) {
    let segments = path.segments();
    let count = segments.len();
    let (collection, item) = if path.is_collection() {
        (api.best(segments, count, Last::Anything), api.best(segments, count + 1, Last::Item))
    } else {
        let above = segments.split_last().map(|(_, above)| above).unwrap_or_default();
        (api.best(above, above.len(), Last::Anything), api.best(segments, count, Last::Anything))
    };
    if let Some(item) = &collection {
        on_collection(&mut draft, api, item, fallback);
    }
    if let Some(item) = &item {
        on_item(&mut draft, api, item, fallback);
    }
    if fallback.identity.is_some() {
        name_items(&mut draft, api, collection.as_ref(), item.as_ref(), fallback);
    }
    let is_known = if path.is_collection() { collection.is_some() } else { item.is_some() };
    (draft, is_known)
}

fn on_collection(draft: &mut MetadataDraft, api: &Api<'_>, item: &PathItem<'_>, fallback: &Fallback) {
    let path = item.template.to_metadata(&fallback.collection);
    if item.operation("get").is_some() {
        draft.propose(Operation::List, proposal(api, item, "GET", &path));
    }
    if item.operation("post").is_some() {
        draft.propose(Operation::Create, proposal(api, item, "POST", &path));
    }
    draft.collection_path = (path, item.at);
}

fn on_item(draft: &mut MetadataDraft, api: &Api<'_>, item: &PathItem<'_>, fallback: &Fallback) {
    let path = item.template.to_metadata(&fallback.item);
    if item.operation("get").is_some() {
        draft.propose(Operation::Get, proposal(api, item, "GET", &path));
        draft.propose(Operation::Compare, proposal(api, item, "GET", &path));
    }
    let update = ["PUT", "PATCH"].into_iter().find(|method| item.operation(&method.to_lowercase()).is_some());
    if let Some(method) = update {
        draft.propose(Operation::Update, proposal(api, item, method, &path));
    }
    if item.operation("delete").is_some() {
        draft.propose(Operation::Delete, proposal(api, item, "DELETE", &path));
    }
}

fn proposal(api: &Api<'_>, item: &PathItem<'_>, method: &'static str, path: &str) -> Proposal {
    let schema = match method {
        "POST" | "PUT" | "PATCH" => schema::of_request(api, item, &method.to_lowercase()),
        _ => None,
    };
    let body = schema.map(|schema| Demands { required: schema::required(api, schema), at: schema.span });
    Proposal { method, path: path.to_owned(), at: item.at, body }
}

fn name_items(
    draft: &mut MetadataDraft,
    api: &Api<'_>,
    collection: Option<&PathItem<'_>>,
    item: Option<&PathItem<'_>>,
    fallback: &Fallback,
) {
    let answered = [item, collection].into_iter().flatten().map(|item| (schema::answered(api, item), item.at));
    let named = answered.into_iter().find(|(attributes, _)| !attributes.is_empty());
    let variable = item.and_then(|item| item.template.last_variable());
    let at = item.or(collection).map(|item| item.at);
    let (attributes, at) = match (named, at) {
        (Some((attributes, at)), _) => (attributes, at),
        (None, Some(at)) => (schema::Attributes::new(), at),
        (None, None) => return,
    };
    draft.identity = Some((ItemNames::of(variable, &attributes, fallback.item_name.as_deref()), at));
}
