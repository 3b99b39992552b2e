//! What a Secret looks like, however it is written: Kubernetes Secrets, lists of them, templates and generators of them.

use crate::value::{Entry, Map, Node, StepKind, Value};

/// What a map is, as far as secrets are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ObjectRole {
    /// A Kubernetes Secret.
    Secret,
    /// A list whose items are Secrets, also without saying so.
    SecretList,
    /// An object of a tool that makes a Secret, with a template of it.
    Template,
    /// A generator of kustomize, with literal values.
    Generator,
}

/// What a map is; nothing for everything else.
pub(super) fn role(map: &Map) -> Option<ObjectRole> {
    let Some(kind) = map.get("kind") else {
        // Without its directives the rest of a document is not known.
        return (is_open(map) && holds_data(map)).then_some(ObjectRole::Secret);
    };
    // What a template of another tool makes of the kind is not known.
    let is_unknown = kind.as_map().is_some() && map.get("apiVersion").is_some_and(|version| version.as_str().is_some());
    if is_unknown && map.get("stringData").is_some() {
        return Some(ObjectRole::Secret);
    }
    if is_secret_kind(kind) && is_object(map) {
        return Some(ObjectRole::Secret);
    }
    let kind = kind.as_str()?.trim();
    match kind {
        "SecretList" => Some(ObjectRole::SecretList),
        "SecretGenerator" => Some(ObjectRole::Generator),
        "SecretStore" | "ClusterSecretStore" | "SecretReference" | "Fake" if map.get("spec").is_some() => {
            Some(ObjectRole::Template)
        }
        _ if kind.ends_with("Secret") && map.get("spec").is_some() => Some(ObjectRole::Template),
        _ => None,
    }
}

/// Whether the kind of an object is that of a Secret, or may turn out to be.
pub(super) fn is_secret_kind(kind: &Node) -> bool {
    match &kind.value {
        // The second word is the first in base64, as the tag `!!binary` takes it.
        Value::String(text) => text.trim().eq_ignore_ascii_case("Secret") || text.trim() == "U2VjcmV0",
        // A kind that is computed or comes from elsewhere may be one.
        Value::Map(map) => map.get("eval").is_some() || is_open(map),
        Value::Secret(_) => true,
        _ => false,
    }
}

/// Whether the kind of a target is that of a Secret, or a pattern that matches it.
pub fn may_be_secret_kind(kind: Option<&Node>) -> bool {
    let Some(kind) = kind else { return true };
    is_secret_kind(kind) || kind.as_str().is_none_or(|text| text.contains(['*', '.', '|', '[', '(', '?']))
}

/// The members of a Secret that a reference to one does not have.
const OWN: [&str; 6] = ["metadata", "data", "stringData", "binaryData", "stringdata", "immutable"];
/// The members that a reference to a Secret may have.
const REFERENCE: [&str; 14] = [
    "apiVersion",
    "kind",
    "name",
    "namespace",
    "group",
    "apiGroup",
    "version",
    "key",
    "optional",
    "uid",
    "resourceVersion",
    "fieldPath",
    "controller",
    "blockOwnerDeletion",
];

/// Whether a map is an object, and not a reference to one.
fn is_object(map: &Map) -> bool {
    let is_own = |name: &str| OWN.contains(&name);
    let is_other = |name: &str| !REFERENCE.contains(&name);
    map.entries().iter().any(|entry| is_own(&entry.key.name))
        || map.get("apiVersion").is_some() && map.entries().iter().any(|entry| is_other(&entry.key.name))
}

fn holds_data(map: &Map) -> bool {
    map.get("data").is_some() || map.get("stringData").is_some()
}

/// Whether a map has a merge directive that was not followed.
pub(super) fn is_open(map: &Map) -> bool {
    map.entries().iter().any(|entry| entry.key.name.as_bytes().first() == Some(&b'+'))
}

/// Whether a member of a generator is a value; the others say what it is called and which files it reads.
pub(super) fn is_generated_value(member: &str) -> bool {
    !matches!(member, "apiVersion" | "kind" | "metadata" | "name" | "namespace" | "files" | "envs" | "env" | "type")
        && !matches!(member, "behavior" | "options" | "kvSources" | "disableNameSuffixHash")
}

/// Whether a member of the object of a tool holds values of the Secret that it makes.
pub(super) fn is_template_value(member: &str) -> bool {
    matches!(member, "data" | "stringData" | "binaryData" | "templateFrom" | "literal")
}

/// Whether a member of the metadata of a Secret says what it is called, or what the cluster counts.
pub(super) fn is_name(member: &str) -> bool {
    matches!(
        member,
        "name" | "namespace" | "generateName" | "uid" | "resourceVersion" | "generation" | "creationTimestamp"
    )
}

/// Annotations that configure a tool, by the domain before `/` or by the whole name. They hold options, names and times.
const TOOL_ANNOTATIONS: [&str; 19] = [
    "app.kubernetes.io",
    "argocd.argoproj.io",
    "cert-manager.io",
    "config.kubernetes.io",
    "external-secrets.io",
    "fluxcd.controlplane.io",
    "helm.sh",
    "helm.toolkit.fluxcd.io",
    "internal.config.kubernetes.io",
    "kubernetes.io/description",
    "kubernetes.io/service-account.name",
    "kustomize.config.k8s.io",
    "kustomize.toolkit.fluxcd.io",
    "meta.helm.sh",
    "reflector.v1.k8s.emberstack.com",
    "reloader.stakater.com",
    "replicator.v1.mittwald.de",
    "sealedsecrets.bitnami.com",
    "tekton.dev",
];

/// Whether an annotation of a Secret says nothing about its content: it configures a tool, or a kustomization gives it to every
/// resource.
pub(super) fn is_plain_annotation(entry: &Entry) -> bool {
    let name = entry.key.name.as_str();
    let domain = name.split_once('/').map_or(name, |(domain, _)| domain);
    let is_known = TOOL_ANNOTATIONS.contains(&name) || TOOL_ANNOTATIONS.contains(&domain);
    let is_plain = entry.value.children().next().is_none() && !matches!(entry.value.value, Value::Secret(_));
    is_plain && (is_known || is_common(&entry.value))
}

/// Whether a kustomization gave a value to every resource.
fn is_common(value: &Node) -> bool {
    value.steps().any(|step| matches!(step.kind, StepKind::Kustomize("commonAnnotations" | "commonMetadata")))
}
