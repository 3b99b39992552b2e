//! `reference/removed`: a resource that the change removes and another one still refers to.

use crate::finding::{self, Finding, Location};
use crate::path::{Pointer, RepoPath};
use crate::resource::{Identity, KubernetesName, Resource};
use crate::value::{Node, Value};

/// A resource as it is written, with its expressions.
pub struct Referrer<'a> {
    /// Its name.
    pub identity: &'a Identity,
    /// Its file.
    pub file: &'a RepoPath,
    /// Its payload, before expressions are evaluated.
    pub written: &'a Node,
}

/// One finding for every reference to a resource of the older side that the newer side does not have.
pub fn removed_references(removed: &[&Resource], referrers: &[Referrer<'_>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for referrer in referrers {
        referrer.written.for_each(&mut Pointer::default(), |place, node| {
            let meant = |gone: &&&Resource| match &gone.identity {
                Identity::Kubernetes(name) => {
                    is_near(gone, referrer) && refers_to(referrer.identity, name, place, node, referrer.written)
                }
                Identity::Logical(path) => {
                    let last = path.last().unwrap_or_default();
                    expression(place, node).is_some_and(|first| first == last || first == path.as_str())
                }
                Identity::File { .. } => false,
            };
            findings.extend(removed.iter().find(meant).map(|gone| finding(gone, referrer, place, node)));
        });
    }
    findings
}

fn finding(gone: &Resource, referrer: &Referrer<'_>, place: &Pointer, node: &Node) -> Finding {
    let message = format!("{} refers to {}, which this change removes", referrer.identity, gone.identity);
    let mut finding = Finding::new(&finding::REFERENCE_REMOVED, Location::Span(node.span), message)
        .labelled("refers to it")
        .related(gone.payload.span.start_only(), "removed")
        .help("remove the reference too, or keep the resource")
        .about(referrer.identity.to_string());
    finding.pointer = Some(place.clone());
    finding
}

/// The first name of an expression that starts at the top: `acme` of `::acme::name`.
fn expression<'n>(place: &Pointer, node: &'n Node) -> Option<&'n str> {
    let is_expression = place.tokens().iter().any(|token| token == "eval" || token == "ref");
    let rest = node.as_str().filter(|_| is_expression)?.trim().strip_prefix("::")?;
    let end = rest.find("::").unwrap_or(rest.len());
    rest[..end].split(['[', '?', '=']).next()
}

/// Whether both are written in one directory: what is applied together.
fn is_near(gone: &Resource, referrer: &Referrer<'_>) -> bool {
    gone.file.parent() == referrer.file.parent()
}

/// The members that refer to a resource by its name, and the member around them.
const REFERENCES: [(&str, &str, &str); 13] = [
    ("ConfigMap", "configMapRef", "name"),
    ("ConfigMap", "configMapKeyRef", "name"),
    ("ConfigMap", "configMap", "name"),
    ("Secret", "secretRef", "name"),
    ("Secret", "secretKeyRef", "name"),
    ("Secret", "secret", "secretName"),
    ("ServiceAccount", "", "serviceAccountName"),
    ("PersistentVolumeClaim", "persistentVolumeClaim", "claimName"),
    ("Service", "service", "name"),
    ("Service", "spec", "serviceName"),
    ("Role", "roleRef", "name"),
    ("ClusterRole", "roleRef", "name"),
    ("PriorityClass", "", "priorityClassName"),
];

/// Whether a value names a Kubernetes resource where such a name is expected.
fn refers_to(from: &Identity, name: &KubernetesName, place: &Pointer, node: &Node, root: &Node) -> bool {
    let Identity::Kubernetes(own) = from else { return false };
    let is_namespace = own.namespace == name.namespace || own.namespace.is_empty() || name.namespace.is_empty();
    if !is_namespace || node.as_str() != Some(name.name.as_str()) {
        return false;
    }
    let [.., around, last] = place.tokens() else { return false };
    let is_reference = |(kind, parent, key): &&(&str, &str, &str)| {
        *kind == name.kind && *key == last && (parent.is_empty() || *parent == around)
    };
    if !REFERENCES.iter().any(|reference| is_reference(&reference)) {
        return false;
    }
    // A role may be of a cluster or of a namespace, and an optional reference may be missing.
    let above: Pointer = place.tokens()[..place.tokens().len() - 1].iter().cloned().collect();
    let around = root.at(&above);
    let has =
        |key: &str, wanted: &str| around.and_then(|node| node.get(key)).is_none_or(|it| it.as_str() == Some(wanted));
    let optional = around.and_then(|node| node.get("optional"));
    let is_optional = optional.is_some_and(|it| matches!(it.value, Value::Bool(true)));
    has("kind", &name.kind) && !is_optional
}
