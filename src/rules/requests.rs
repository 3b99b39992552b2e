//! `request/*` and `expression/*` in a check: what is wrong with the requests that metadata describes for a resource.

use crate::finding::{self, Finding, Severity};
use crate::metadata::{EffectiveMetadata, Field, FieldPath, Operation, Section};
use crate::path::{LogicalPath, RepoPath};
use crate::request;
use crate::resource::Resource;
use crate::side::Side;
use crate::value::{Node, Value};

/// What is wrong with the requests of a resource whose secrets are hidden, for every operation that its metadata describes.
///
/// Nothing is said where a layer could not be read: that is reported already, and the rest would follow from it.
pub fn request_problems(side: &Side<'_>, resource: &Resource) -> Vec<Finding> {
    let Some(path) = side.path_of(resource).filter(|_| resource.is_managed()) else { return Vec::new() };
    let Some(metadata) = side.metadata_of(resource).filter(|metadata| metadata.is_complete()) else {
        return Vec::new();
    };
    let target = side.target(&path, &resource.payload, &metadata, &resource.file);
    let mut findings = Vec::new();
    for operation in described(&metadata) {
        request::request(&target, operation).gather(&mut findings);
        request::answer(&target, operation).gather(&mut findings);
    }
    findings.into_iter().map(|finding| with_both_places(finding, resource, side)).collect()
}

/// What is wrong with the list of a collection, if metadata describes it; the file is that of one of its resources.
pub fn list_problems(side: &Side<'_>, collection: &LogicalPath, file: &RepoPath) -> Vec<Finding> {
    let Some(metadata) = side.layers().metadata(collection, file).map(|metadata| metadata.value) else {
        return Vec::new();
    };
    if !metadata.is_complete() || !has_section(&metadata, Section::Operation(Operation::List)) {
        return Vec::new();
    }
    let nothing = Node::new(Value::Null, side.nowhere());
    let target = side.target(collection, &nothing, &metadata, file);
    let mut findings = Vec::new();
    request::request(&target, Operation::List).gather(&mut findings);
    request::answer(&target, Operation::List).gather(&mut findings);
    findings.into_iter().map(|finding| judged(finding).about(format!("{collection}/"))).collect()
}

/// The operations on a resource that metadata describes: those with fields of their own, or all if only shared fields are given.
fn described(metadata: &EffectiveMetadata) -> Vec<Operation> {
    let on_resource = Operation::ALL.into_iter().filter(|operation| *operation != Operation::List);
    let own: Vec<Operation> =
        on_resource.clone().filter(|operation| has_section(metadata, Section::Operation(*operation))).collect();
    let collection = FieldPath::new(Section::Resource, Field::CollectionPath);
    let is_shared = has_section(metadata, Section::Defaults) || metadata.get(&collection).is_some();
    if own.is_empty() && is_shared { on_resource.collect() } else { own }
}

fn has_section(metadata: &EffectiveMetadata, section: Section) -> bool {
    metadata.entries().any(|(field_path, _)| field_path.section == section)
}

/// The finding with its resource, and with a place in the file of the resource beside the one in metadata.
fn with_both_places(finding: Finding, resource: &Resource, side: &Side<'_>) -> Finding {
    let finding = judged(finding).about(resource.identity.to_string());
    let is_in_file = finding.spans().any(|span| side.sources.get(span.source).path == resource.file);
    if is_in_file {
        return finding;
    }
    let name = resource.identity.to_string();
    finding.related(resource.payload.span.start_only(), format!("sent for {name}"))
}

/// What depends on a secret cannot be judged without showing it, which is worth a note and is no error.
fn judged(finding: Finding) -> Finding {
    let is_unknown = finding.rule.id == finding::EXPRESSION_SECRET.id;
    Finding { severity: if is_unknown { Severity::Note } else { finding.severity }, ..finding }
}
