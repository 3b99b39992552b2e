//! Schemas of an OpenAPI document: those of bodies and responses, their attributes and the required ones.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::api::{Api, PathItem, Seen};
use crate::value::{Entry, Node};

/// Names of attributes.
pub(super) type Attributes = BTreeSet<SmolStr>;

/// The attributes of what the operations on a path answer: those of the first answer that names any.
pub(super) fn answered(api: &Api<'_>, item: &PathItem<'_>) -> Attributes {
    let mut seen = Seen::new();
    let operations = ["get", "put", "patch", "post"].into_iter().filter_map(|method| item.operation(method));
    let responses = operations.flat_map(|operation| responses(api, operation));
    let schemas = responses.flat_map(response_schemas);
    let attributes = schemas.map(|schema| properties(api, schema, &mut seen));
    attributes.into_iter().find(|attributes| !attributes.is_empty()).unwrap_or_default()
}

/// The attributes that a schema demands in every case.
pub(super) fn required(api: &Api<'_>, schema: &Node) -> Attributes {
    let all = api.reach(schema, &["allOf"], &mut Seen::new());
    let lists = all.into_iter().filter_map(|schema| schema.get("required")?.as_list());
    lists.flatten().filter_map(Node::as_str).filter(|name| !name.trim().is_empty()).map(SmolStr::new).collect()
}

/// The schema of the body that an operation takes.
pub(super) fn of_request<'a>(api: &Api<'a>, item: &PathItem<'a>, method: &str) -> Option<&'a Node> {
    let operation = item.operation(method)?;
    let body = operation.get("requestBody").and_then(|body| api.resolve(body));
    let written = body.and_then(|body| by_media(body.get("content")?).into_iter().find_map(schema_of));
    written.or_else(|| {
        // Version 2.0 knows the body as a parameter, also one that all operations of a path share.
        let lists = [operation, item.node].map(|node| node.get("parameters").and_then(Node::as_list));
        let mut parameters = lists.into_iter().flatten().flatten().filter_map(|parameter| api.resolve(parameter));
        let is_body = |parameter: &&Node| parameter.get("in").and_then(Node::as_str) == Some("body");
        parameters.find(is_body).and_then(schema_of)
    })
}

/// The media types that the body of an operation may have, in byte order.
pub(super) fn taken_media<'a>(api: &Api<'a>, item: &PathItem<'a>, operation: &'a Node, root: &'a Node) -> Vec<SmolStr> {
    let body = operation.get("requestBody").and_then(|body| api.resolve(body));
    let content = media_names(body.and_then(|body| body.get("content")));
    let consumes = [operation, item.node, root].into_iter().find_map(|node| node.get("consumes"));
    if content.is_empty() { texts(consumes) } else { content }
}

/// The media types that the successful responses of an operation may have, in byte order.
pub(super) fn given_media<'a>(api: &Api<'a>, operation: &'a Node, root: &'a Node) -> Vec<SmolStr> {
    let entries = entries_of(operation.get("responses"));
    let is_success = |entry: &&Entry| entry.key.name.starts_with('2') || entry.key.name == "default";
    let responses = entries.iter().copied().filter(is_success).filter_map(|entry| api.resolve(&entry.value));
    let content: BTreeSet<SmolStr> = responses.flat_map(|response| media_names(response.get("content"))).collect();
    let produces = [operation, root].into_iter().find_map(|node| node.get("produces"));
    if content.is_empty() { texts(produces) } else { content.into_iter().collect() }
}

fn media_names(content: Option<&Node>) -> Vec<SmolStr> {
    let mut names: Vec<SmolStr> = entries_of(content).into_iter().map(|entry| entry.key.name.clone()).collect();
    names.sort();
    names
}

fn texts(list: Option<&Node>) -> Vec<SmolStr> {
    let items = list.and_then(Node::as_list).unwrap_or_default();
    let mut texts: Vec<SmolStr> = items.iter().filter_map(Node::as_str).map(SmolStr::new).collect();
    texts.sort();
    texts
}

fn properties(api: &Api<'_>, schema: &Node, seen: &mut Seen) -> Attributes {
    let all = api.reach(schema, &["allOf", "oneOf", "anyOf", "items"], seen);
    let maps = all.into_iter().filter_map(|schema| schema.get("properties")?.as_map());
    maps.flat_map(|map| map.entries()).map(|entry| entry.key.name.clone()).collect()
}

/// The responses of an operation: success first, then what is left by name.
fn responses<'a>(api: &Api<'a>, operation: &'a Node) -> Vec<&'a Node> {
    const FIRST: [&str; 4] = ["200", "201", "202", "default"];
    let mut entries = entries_of(operation.get("responses"));
    let rank = |name: &str| FIRST.iter().position(|first| *first == name).unwrap_or(FIRST.len());
    entries.sort_by(|a, b| (rank(&a.key.name), &a.key.name).cmp(&(rank(&b.key.name), &b.key.name)));
    entries.into_iter().filter_map(|entry| api.resolve(&entry.value)).collect()
}

/// The schemas of a response by the name of their media type; version 2.0 has one without any.
fn response_schemas(response: &Node) -> Vec<&Node> {
    let mut media = entries_of(response.get("content"));
    media.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    media.into_iter().filter_map(|entry| schema_of(&entry.value)).chain(schema_of(response)).collect()
}

/// The entries of all media types: JSON first, then formats based on it, then the others by name.
fn by_media(content: &Node) -> Vec<&Node> {
    let mut media = entries_of(Some(content));
    let rank = |name: &str| {
        let plain = name.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match plain.as_str() {
            "application/json" => 0,
            plain if plain.starts_with("application/") && plain.ends_with("+json") => 1,
            _ => 2,
        }
    };
    media.sort_by(|a, b| (rank(&a.key.name), &a.key.name).cmp(&(rank(&b.key.name), &b.key.name)));
    media.into_iter().map(|entry| &entry.value).collect()
}

fn schema_of(node: &Node) -> Option<&Node> {
    node.get("schema")
}

fn entries_of(node: Option<&Node>) -> Vec<&Entry> {
    node.and_then(Node::as_map).map(|map| map.entries().iter().collect()).unwrap_or_default()
}
