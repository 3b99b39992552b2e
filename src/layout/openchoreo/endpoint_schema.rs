//! The resources of an endpoint, from the schema in its workload: operations of an OpenAPI document, methods of a proto file.

use smol_str::SmolStr;

use super::build::MapBuilder;
use super::object::{at, text};
use crate::document::{self, Format};
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Entry, Map, Node};

/// Kind, service, path and method, in the order in which resources are listed.
type EndpointResource = (&'static str, String, String, String);

/// The resources of every endpoint of a workload; none where the schema cannot be read.
pub(super) fn endpoint_resources(workload: &Node, limits: &Limits) -> Node {
    let nowhere = workload.span.start_only();
    let endpoints = workload.get("endpoints").and_then(Node::as_map).map(Map::entries).unwrap_or_default();
    let of_endpoint = |entry: &Entry| {
        let found = resources(&entry.value, limits)?;
        let items = found.iter().map(|resource| node(resource, nowhere)).collect();
        Some(Entry::named(entry.key.name.clone(), nowhere, Node::list(items, nowhere)))
    };
    Node::map(endpoints.iter().filter_map(of_endpoint).collect(), nowhere)
}

fn node((kind, service, path, method): &EndpointResource, nowhere: Span) -> Node {
    let part = |text: &String| (!text.is_empty()).then(|| Node::text(text.clone(), nowhere));
    MapBuilder::new(nowhere)
        .with_text("kind", *kind)
        .with_some("service", part(service))
        .with_some("method", part(method))
        .with_some("path", part(path))
        .done()
}

fn resources(endpoint: &Node, limits: &Limits) -> Option<Vec<EndpointResource>> {
    let content = at(endpoint, &["schema", "content"])?;
    let words = content.as_str().filter(|words| !words.trim().is_empty())?;
    let declared = at(endpoint, &["schema", "type"]).and_then(Node::as_str).unwrap_or_default();
    let declared = declared.trim().to_lowercase();
    let kind = match declared.as_str() {
        "" => match text(endpoint, "type")? {
            "HTTP" => "openapi",
            "gRPC" => "proto",
            _ => return None,
        },
        "openapi" | "openapiv3" | "oas" | "oas3" | "swagger" => "openapi",
        "proto" | "protobuf" | "grpc" => "proto",
        _ => return None,
    };
    let mut found = match kind {
        "openapi" => operations(words, content.span, limits)?,
        _ => methods(words)?,
    };
    found.sort();
    (!found.is_empty()).then_some(found)
}

const METHODS: [&str; 9] = ["connect", "delete", "get", "head", "options", "patch", "post", "put", "trace"];

fn operations(text: &str, at: Span, limits: &Limits) -> Option<Vec<EndpointResource>> {
    let format = if text.trim_start().starts_with('{') { Format::Json } else { Format::Yaml };
    let parsed = document::parse(text, at.source, format, limits);
    let root = &parsed.value.first().filter(|_| parsed.findings.is_empty())?.root;
    root.as_map()?;
    let mut found = Vec::new();
    for path in root.get("paths").and_then(Node::as_map).map(Map::entries).unwrap_or_default() {
        let members = path.value.as_map().map(Map::entries).unwrap_or_default();
        let methods = members.iter().filter(|entry| METHODS.contains(&entry.key.name.as_str()));
        let resource =
            |entry: &Entry| ("HTTP", String::new(), path.key.name.to_string(), entry.key.name.to_uppercase());
        found.extend(methods.map(resource));
    }
    Some(found)
}

/// The methods of all services of a proto file; nothing if it cannot be read.
fn methods(text: &str) -> Option<Vec<EndpointResource>> {
    let tokens = tokens(text)?;
    let (mut package, mut found, mut at) = (SmolStr::default(), Vec::new(), 0);
    let mut depth = 0_usize;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "package" if depth == 0 => package = tokens.get(at + 1)?.clone(),
            "service" if depth == 0 => {
                let name = tokens.get(at + 1)?;
                let full = if package.is_empty() { name.to_string() } else { format!("{package}.{name}") };
                (tokens.get(at + 2)?.as_str() == "{").then_some(())?;
                at = service(&tokens, at + 3, &full, &mut found)?;
                continue;
            }
            "{" => depth += 1,
            "}" => depth = depth.checked_sub(1)?,
            _ => {}
        }
        at += 1;
    }
    (depth == 0).then_some(found)
}

/// Reads the methods of a service from behind its brace; the place behind its end.
fn service(tokens: &[SmolStr], mut at: usize, name: &str, found: &mut Vec<EndpointResource>) -> Option<usize> {
    let mut depth = 1_usize;
    loop {
        match tokens.get(at)?.as_str() {
            "rpc" if depth == 1 => {
                found.push(("gRPC", name.to_owned(), String::new(), tokens.get(at + 1)?.to_string()))
            }
            "{" => depth += 1,
            "}" if depth == 1 => return Some(at + 1),
            "}" => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

/// Words and punctuation without comments and texts; nothing if a text or a comment does not end.
fn tokens(text: &str) -> Option<Vec<SmolStr>> {
    let (mut tokens, mut rest) = (Vec::new(), text);
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("//") {
            rest = after.split_once('\n').map_or("", |(_, after)| after);
        } else if let Some(after) = rest.strip_prefix("/*") {
            rest = after.split_once("*/")?.1;
        } else if c == '"' || c == '\'' {
            let mut is_escaped = false;
            let end = rest[1..].find(|it: char| {
                let is_end = it == c && !is_escaped;
                is_escaped = it == '\\' && !is_escaped;
                is_end
            })?;
            rest = &rest[end + 2..];
        } else if c.is_alphanumeric() || c == '_' || c == '.' {
            let end = rest.find(|it: char| !(it.is_alphanumeric() || it == '_' || it == '.')).unwrap_or(rest.len());
            tokens.push(SmolStr::new(&rest[..end]));
            rest = &rest[end..];
        } else {
            if !c.is_whitespace() {
                tokens.push(SmolStr::new(c.to_string()));
            }
            rest = &rest[c.len_utf8()..];
        }
    }
    Some(tokens)
}
