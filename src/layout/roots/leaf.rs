//! What a root refers to and the repository does not hold, as resources: an edit of anything that is known about it is a change.

use crate::document::{self, Format};
use crate::layout::kustomize::Leaf;
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName, Resource};
use crate::settings::Given;
use crate::value::{Entry, Node};

/// A leaf as a resource, and the files of the repository that it names.
pub(super) fn resources(leaf: &Leaf, given: Given<'_>) -> Vec<Resource> {
    let name = KubernetesName {
        group: "".into(),
        kind: kind(leaf.field).into(),
        namespace: "".into(),
        name: leaf.reference.clone(),
    };
    let file = given.sources.get(leaf.span().source).path.clone();
    let identity = Identity::Kubernetes(name);
    let own = Resource { identity, file, position: 0, payload: payload(leaf), unit: None };
    let named = leaf.files.iter().map(|(path, text)| named_file(path, text, given));
    [own].into_iter().chain(named).collect()
}

/// What people call the entries of a field.
fn kind(field: &str) -> &str {
    match field {
        "resources" => "RemoteBase",
        "components" => "RemoteComponent",
        "helmCharts" | "helmChartInflationGenerator" => "HelmChart",
        "generators" => "Generator",
        "transformers" => "Transformer",
        "validators" => "Validator",
        other => other,
    }
}

/// The entry, and what is applied to the contents.
fn payload(leaf: &Leaf) -> Node {
    let span = leaf.span();
    let mut entries = match (leaf.entry.as_map(), leaf.entry.as_str()) {
        (Some(map), _) => map.entries().to_vec(),
        (None, Some(text)) if !text.contains('\n') => reference(leaf, text),
        (None, _) => vec![Entry::named("entry", span, leaf.entry.clone())],
    };
    if !leaf.applied.is_empty() {
        let applied = Node::list(leaf.applied.clone(), span);
        entries.retain(|entry| entry.key.name != APPLIED);
        entries.push(Entry::named(APPLIED, span, applied));
    }
    Node::map(entries, span)
}

/// The key below which a leaf has what transforms its contents.
const APPLIED: &str = "applied";

/// A remote reference by its parts.
fn reference(leaf: &Leaf, text: &str) -> Vec<Entry> {
    let span = leaf.span();
    let entry = |key: &str, value: &str| Entry::named(key, span, Node::text(value, span));
    let mut entries = vec![entry("url", &leaf.reference)];
    let revision = leaf.revision.as_deref();
    entries.extend(revision.map(|revision| entry("ref", revision)));
    let query = text.strip_prefix(leaf.reference.as_str()).unwrap_or_default();
    if revision.is_none_or(|revision| query != format!("?ref={revision}")) && !query.is_empty() {
        entries.push(entry("query", query));
    }
    entries
}

/// A file that a leaf names: its document, or its text.
fn named_file(path: &RepoPath, text: &Node, given: Given<'_>) -> Resource {
    let format = Format::of_file_name(path.file_name());
    let parsed = format.zip(text.as_str()).and_then(|(format, words)| {
        let parsed = document::parse(words, text.span.source, format, given.limits);
        let [document] = parsed.value.as_slice() else { return None };
        parsed.findings.is_empty().then(|| document.root.clone())
    });
    let identity = Identity::File { path: path.clone(), position: None };
    let payload = parsed.unwrap_or_else(|| text.clone());
    Resource { identity, file: path.clone(), position: 0, payload, unit: None }
}
