//! What expressions of types and traits can read, as types: the context of the platform and the schemas.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::expression::cel::{HELPERS, StaticType, TypeScope};
use crate::value::{Map, Node, Value};

/// The variables of a type or a trait. `parameters` and `environment` are its schemas, none if it has no such section.
pub(super) fn scope(
    is_trait: bool,
    is_first: bool,
    parameters: Option<&Node>,
    environment: Option<&Node>,
) -> TypeScope {
    let values = |schema: Option<&Node>| schema.map_or_else(|| StaticType::object([]), of_schema);
    let mut scope = TypeScope::new();
    let mut add = |name: &str, it: StaticType| drop(scope.insert(name.into(), it));
    add("parameters", values(parameters));
    if is_first {
        add("envOverrides", values(environment));
        add("metadata", StaticType::Unknown);
        add("dataplane", StaticType::Unknown);
        match is_trait {
            true => add("trait", trait_type()),
            false => {
                add("workload", StaticType::Unknown);
                add("configurations", StaticType::Unknown);
                add(HELPERS, StaticType::Unknown);
            }
        }
        return scope;
    }
    add("environmentConfigs", values(environment));
    add("metadata", metadata());
    add("workload", workload());
    add("configurations", object(&[("configs", configurations()), ("secrets", configurations())]));
    add("dependencies", dependencies());
    add("dataplane", data_plane());
    add("environment", object(&[("gateway", gateway()), ("defaultNotificationChannel", StaticType::Text)]));
    add("gateway", gateway());
    add(HELPERS, helpers());
    if is_trait {
        add("trait", trait_type());
    }
    scope
}

/// The type of what a schema describes.
pub(super) fn of_schema(schema: &Node) -> StaticType {
    let keeps_unknown = schema.get("x-kubernetes-preserve-unknown-fields");
    if keeps_unknown.is_some_and(|it| matches!(it.value, Value::Bool(true))) {
        return StaticType::Unknown;
    }
    let format = schema.get("format").and_then(Node::as_str).unwrap_or_default();
    match schema.get("type").and_then(Node::as_str) {
        Some("string") if ["date", "date-time", "duration"].contains(&format) => StaticType::Unknown,
        Some("string") if format == "byte" => StaticType::Bytes,
        Some("string") => StaticType::Text,
        Some("integer") => StaticType::Int,
        Some("number") => StaticType::Double,
        Some("boolean") => StaticType::Bool,
        Some("array") => StaticType::list(schema.get("items").map_or(StaticType::Unknown, of_schema)),
        Some("object") => {
            let properties = schema.get("properties").and_then(Node::as_map).map(Map::entries).unwrap_or_default();
            match schema.get("additionalProperties").map(|it| &it.value) {
                Some(Value::Map(_)) => {
                    StaticType::map(schema.get("additionalProperties").map_or(StaticType::Unknown, of_schema))
                }
                Some(Value::Bool(true)) if properties.is_empty() => StaticType::map(StaticType::Unknown),
                _ => {
                    let field = |entry: &crate::value::Entry| (entry.key.name.clone(), of_schema(&entry.value));
                    StaticType::Object(Arc::new(properties.iter().map(field).collect()))
                }
            }
        }
        _ => StaticType::Unknown,
    }
}

/// What a loop variable is, by what is looped over. Fields of values of maps are known, their types are not.
pub(super) fn loop_variable(range: &StaticType) -> StaticType {
    match range {
        StaticType::Map(values) => {
            let value = match &**values {
                StaticType::Object(_) => shadow(values),
                _ => StaticType::Unknown,
            };
            object(&[("key", StaticType::Text), ("value", value)])
        }
        other => other.items().unwrap_or(StaticType::Unknown),
    }
}

fn shadow(found: &StaticType) -> StaticType {
    match found {
        StaticType::Object(fields) if !fields.is_empty() => {
            let field = |(name, it): (&SmolStr, &StaticType)| (name.clone(), shadow(it));
            StaticType::Object(Arc::new(fields.iter().map(field).collect()))
        }
        _ => StaticType::Unknown,
    }
}

fn object(fields: &[(&str, StaticType)]) -> StaticType {
    StaticType::object(fields.iter().map(|(name, it)| (*name, it.clone())))
}

fn texts(names: &[&str]) -> StaticType {
    object(&names.iter().map(|name| (*name, StaticType::Text)).collect::<Vec<_>>())
}

fn with(base: StaticType, more: &[(&str, StaticType)]) -> StaticType {
    match base {
        StaticType::Object(fields) => {
            let mut fields = (*fields).clone();
            fields.extend(more.iter().map(|(name, it)| (SmolStr::new(name), it.clone())));
            StaticType::Object(Arc::new(fields))
        }
        other => other,
    }
}

fn trait_type() -> StaticType {
    texts(&["name", "instanceName"])
}

fn metadata() -> StaticType {
    let names = [
        "name",
        "namespace",
        "componentName",
        "componentNamespace",
        "componentUID",
        "projectName",
        "projectUID",
        "environmentName",
        "environmentUID",
        "dataPlaneName",
        "dataPlaneUID",
    ];
    let labels = || StaticType::map(StaticType::Text);
    with(texts(&names), &[("labels", labels()), ("annotations", labels()), ("podSelectors", labels())])
}

fn workload() -> StaticType {
    let list = || StaticType::list(StaticType::Text);
    let container = object(&[("image", StaticType::Text), ("command", list()), ("args", list())]);
    let endpoint = with(
        texts(&["displayName", "type", "basePath"]),
        &[("port", StaticType::Int), ("targetPort", StaticType::Int), ("visibility", list())],
    );
    object(&[("container", container), ("endpoints", StaticType::map(endpoint))])
}

fn remote_reference() -> StaticType {
    texts(&["key", "property", "version"])
}

fn env() -> StaticType {
    with(texts(&["name", "value"]), &[("remoteRef", remote_reference())])
}

fn configurations() -> StaticType {
    let file = with(texts(&["name", "mountPath", "value"]), &[("remoteRef", remote_reference())]);
    object(&[("envs", StaticType::list(env())), ("files", StaticType::list(file))])
}

fn variable() -> StaticType {
    let key = || texts(&["name", "key"]);
    let source = object(&[("secretKeyRef", key()), ("configMapKeyRef", key())]);
    with(texts(&["name", "value"]), &[("valueFrom", source)])
}

fn mount() -> StaticType {
    texts(&["name", "mountPath", "subPath"])
}

fn volume() -> StaticType {
    object(&[("name", StaticType::Text), ("configMap", texts(&["name"])), ("secret", texts(&["secretName"]))])
}

fn dependencies() -> StaticType {
    let list = |of: StaticType| StaticType::list(of);
    let item =
        with(texts(&["namespace", "project", "component", "endpoint", "visibility"]), &[("envVars", list(variable()))]);
    let parts = [("envVars", list(variable())), ("volumeMounts", list(mount())), ("volumes", list(volume()))];
    let resource = with(texts(&["ref"]), &parts);
    with(object(&parts), &[("items", list(item)), ("resources", list(resource))])
}

fn data_plane() -> StaticType {
    let more = [
        ("gateway", gateway()),
        ("observabilityPlaneRef", texts(&["kind", "name"])),
        ("annotations", StaticType::map(StaticType::Text)),
    ];
    with(texts(&["secretStore"]), &more)
}

fn gateway() -> StaticType {
    let listener = || with(texts(&["listenerName", "host"]), &[("port", StaticType::Int)]);
    let listeners = [("http", listener()), ("https", listener()), ("tls", listener())];
    let leaf = || with(texts(&["name", "namespace"]), &listeners);
    let network = || object(&[("external", leaf()), ("internal", leaf())]);
    object(&[("ingress", network()), ("egress", network())])
}

fn helpers() -> StaticType {
    let list = |of: StaticType| StaticType::list(of);
    let config_file =
        with(texts(&["name", "mountPath", "value", "resourceName"]), &[("remoteRef", remote_reference())]);
    let secret_file = with(texts(&["name", "mountPath", "resourceName"]), &[("remoteRef", remote_reference())]);
    let env_from = object(&[("configMapRef", texts(&["name"])), ("secretRef", texts(&["name"]))]);
    let envs = || with(texts(&["resourceName"]), &[("envs", list(env()))]);
    let port = with(texts(&["name", "protocol"]), &[("port", StaticType::Int), ("targetPort", StaticType::Int)]);
    let resource = texts(&["kind", "service", "method", "path"]);
    object(&[
        ("configFileList", list(config_file)),
        ("secretFileList", list(secret_file)),
        ("containerEnvFrom", list(env_from)),
        ("configVolumeMounts", list(mount())),
        ("configVolumes", list(volume())),
        ("configEnvs", list(envs())),
        ("secretEnvs", list(envs())),
        ("servicePorts", list(port)),
        ("dependencyEnvVars", list(variable())),
        ("dependencyVolumeMounts", list(mount())),
        ("dependencyVolumes", list(volume())),
        ("endpointResources", StaticType::map(list(resource))),
    ])
}
