//! What a component gets from others: addresses of endpoints, and outputs of resources that are not in git.

use smol_str::{SmolStr, format_smolstr};

use super::build::{MapBuilder, as_number, number};
use super::context::endpoint_ports;
use super::object::{at, items, text};
use crate::expression::cel::short_hash;
use crate::text::Span;
use crate::value::{Entry, Map, Node};

/// Where the endpoints of a component can be reached, by name: host, port, path and scheme. Those that no Service offers are left out.
pub(super) fn endpoint_addresses(services: &[&Node], workload: &Node, namespace: &str) -> Node {
    let nowhere = workload.span.start_only();
    let ports = endpoint_ports(workload);
    let offered = |service: &Node| -> Vec<u64> {
        let all = at(service, &["spec", "ports"]).and_then(Node::as_list).unwrap_or_default();
        all.iter().filter_map(|port| as_number(port.get("port")?)).collect()
    };
    let fitting =
        |service: &Node| offered(service).iter().filter(|port| ports.iter().any(|(_, it)| it == *port)).count();
    let most = services.iter().map(|service| fitting(service)).max().unwrap_or(0);
    let Some(service) = services.iter().find(|service| fitting(service) == most && most > 0) else {
        return Node::map(Vec::new(), nowhere);
    };
    let metadata = |key: &str| service.get("metadata").and_then(|it| text(it, key));
    let namespace = metadata("namespace").unwrap_or(namespace);
    let host = format!("{}.{namespace}.svc.cluster.local", metadata("name").unwrap_or_default());
    let offered = offered(service);
    let address = |entry: &Entry| {
        let port = as_number(entry.value.get("port")?).filter(|port| offered.contains(port))?;
        let made = MapBuilder::new(nowhere)
            .with_text("host", host.clone())
            .with("port", number(port, nowhere))
            .with_text("path", text(&entry.value, "basePath").unwrap_or_default())
            .with_text("scheme", scheme(text(&entry.value, "type").unwrap_or_default()));
        Some(Entry::named(entry.key.name.clone(), nowhere, made.done()))
    };
    let endpoints = workload.get("endpoints").and_then(Node::as_map).map(Map::entries).unwrap_or_default();
    Node::map(endpoints.iter().filter_map(address).collect(), nowhere)
}

fn scheme(kind: &str) -> &'static str {
    match kind.to_ascii_lowercase().as_str() {
        "http" | "graphql" => "http",
        "websocket" | "ws" => "ws",
        "grpc" => "grpc",
        "udp" => "udp",
        _ => "tcp",
    }
}

/// The older name of the dependencies of a workload on endpoints.
pub(super) const CONNECTIONS: &str = "connections";

/// What a component asks of an endpoint of another one.
pub(super) struct EndpointDependency<'n> {
    pub(super) node: &'n Node,
    pub(super) project: SmolStr,
    pub(super) component: SmolStr,
    pub(super) endpoint: SmolStr,
}

impl<'n> EndpointDependency<'n> {
    /// The dependencies of a workload on endpoints.
    pub(super) fn of_workload(workload: &'n Node, project: &str) -> Vec<Self> {
        let list = |path: &[&str]| at(workload, path).and_then(Node::as_list).unwrap_or_default();
        let read = |node: &'n Node, endpoint: &str| Self {
            node,
            project: text(node, "project").unwrap_or(project).into(),
            component: text(node, "component").unwrap_or_default().into(),
            endpoint: text(node, endpoint).unwrap_or_default().into(),
        };
        match list(&["dependencies", "endpoints"]) {
            // What they were called to March 2026.
            [] => list(&[CONNECTIONS]).iter().map(|node| read(node, "endpoint")).collect(),
            all => all.iter().map(|node| read(node, "name")).collect(),
        }
    }

    /// The item of `dependencies`; without an address it has placeholders.
    pub(super) fn item(&self, namespace: &str, address: Option<&Node>) -> Node {
        let nowhere = self.node.span.start_only();
        let variable = |binding: &str, value: &str| {
            let name = at(self.node, &["envBindings", binding]).filter(|name| name.as_str() != Some(""))?;
            let value = (!value.is_empty()).then(|| Node::text(value, nowhere));
            Some(MapBuilder::new(name.span).with("name", name.clone()).with_some("value", value).done())
        };
        let unresolved = format!("{}.{}.unresolved.invalid", self.component, self.project);
        let part = |key: &str| address.and_then(|address| text(address, key)).unwrap_or_default();
        let port = address.and_then(|address| as_number(address.get("port")?)).map(|port| port.to_string());
        let port = port.unwrap_or_default();
        let (host, whole) = match address {
            Some(_) => (part("host").to_owned(), joined(part("scheme"), part("host"), &port, part("path"))),
            None => (unresolved.clone(), unresolved),
        };
        let values = [("address", whole.as_str()), ("host", &host), ("port", &port), ("basePath", part("path"))];
        let variables = values.iter().filter_map(|(binding, value)| variable(binding, value)).collect();
        MapBuilder::new(nowhere)
            .with_text("namespace", namespace)
            .with_text("project", self.project.clone())
            .with_text("component", self.component.clone())
            .with_text("endpoint", self.endpoint.clone())
            .with_text("visibility", text(self.node, "visibility").unwrap_or_default())
            .with("envVars", Node::list(variables, nowhere))
            .done()
    }
}

/// An address as connection strings have it.
fn joined(scheme: &str, host: &str, port: &str, path: &str) -> String {
    let scheme =
        if ["http", "https", "ws", "wss", "tls"].contains(&scheme) { format!("{scheme}://") } else { String::new() };
    let port = if port.is_empty() { String::new() } else { format!(":{port}") };
    let slash = if path.is_empty() || path.starts_with('/') { "" } else { "/" };
    format!("{scheme}{host}{port}{slash}{path}")
}

/// What resources give to a workload, as placeholders: their outputs exist only in a cluster.
pub(super) fn resource_items(workload: &Node) -> Vec<(SmolStr, Node)> {
    let all = at(workload, &["dependencies", "resources"]).and_then(Node::as_list).unwrap_or_default();
    all.iter().map(|node| (text(node, "ref").unwrap_or_default().into(), resource_item(node))).collect()
}

fn resource_item(node: &Node) -> Node {
    let (nowhere, name) = (node.span.start_only(), text(node, "ref").unwrap_or_default());
    let secret = format_smolstr!("unresolved-{name}");
    let volume = format_smolstr!("r-{}", short_hash(&format!("{name}:secret:{secret}")));
    let files = bindings(node, "fileBindings");
    let variable = |entry: &Entry| {
        let output = &entry.key.name;
        let made = MapBuilder::new(entry.value.span).with("name", entry.value.clone());
        match files.iter().any(|file| file.key.name == *output) {
            true => {
                let reference = MapBuilder::new(nowhere).with_text("name", secret.clone());
                let reference = reference.with_text("key", output.clone()).done();
                made.with("valueFrom", MapBuilder::new(nowhere).with("secretKeyRef", reference).done()).done()
            }
            false => made.with_text("value", format!("unresolved:{name}/{output}")).done(),
        }
    };
    let mount = |entry: &Entry| {
        MapBuilder::new(entry.value.span)
            .with_text("name", volume.clone())
            .with("mountPath", entry.value.clone())
            .with_text("subPath", entry.key.name.clone())
            .done()
    };
    let volumes = match files.is_empty() {
        true => Vec::new(),
        false => {
            let source = MapBuilder::new(nowhere).with_text("secretName", secret.clone()).done();
            vec![MapBuilder::new(nowhere).with_text("name", volume.clone()).with("secret", source).done()]
        }
    };
    let list = |items: Vec<Node>, nowhere: Span| Node::list(items, nowhere);
    MapBuilder::new(nowhere)
        .with_text("ref", name)
        .with("envVars", list(bindings(node, "envBindings").iter().map(variable).collect(), nowhere))
        .with("volumeMounts", list(files.iter().map(mount).collect(), nowhere))
        .with("volumes", list(volumes, nowhere))
        .done()
}

/// Bindings by the names of outputs.
fn bindings(node: &Node, key: &str) -> Vec<Entry> {
    let mut entries = node.get(key).and_then(Node::as_map).map(|map| map.entries().to_vec()).unwrap_or_default();
    entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    entries
}

/// The dependencies of a workload on resources, each where it is written.
pub(super) fn resource_references(workload: &Node) -> Vec<(usize, &Node)> {
    let all = workload.get("dependencies").map(|it| items(it, "resources")).unwrap_or_default();
    all.iter().enumerate().filter_map(|(at, node)| Some((at, node.get("ref")?))).collect()
}
