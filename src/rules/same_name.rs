//! `metadata/ambiguous` in a check: two resources of a collection with one alias or one id.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::finding::{self, Finding, Location};
use crate::metadata::{EffectiveMetadata, Field, FieldPath, Section, identify};
use crate::path::{LogicalPath, RepoPath};
use crate::request::ResourceLookup;
use crate::sanitize;
use crate::side::Side;
use crate::value::Node;

/// One finding for every resource of a collection whose alias or id an earlier one has; the file is that of one of its resources.
/// Without attributes that name resources, their directories do, and these are different.
pub fn same_names(side: &Side<'_>, collection: &LogicalPath, file: &RepoPath) -> Vec<Finding> {
    let metadata = side.layers().metadata(collection, file).map(|metadata| metadata.value);
    let may_name = |metadata: &EffectiveMetadata| {
        [Field::AliasFromAttribute, Field::IdFromAttribute]
            .into_iter()
            .any(|field| metadata.text(Section::Resource, field).is_some())
    };
    if !metadata.is_some_and(|metadata| may_name(&metadata)) {
        return Vec::new();
    }
    let mut names: BTreeMap<(&'static str, SmolStr), (LogicalPath, Node)> = BTreeMap::new();
    let mut findings = Vec::new();
    for (path, payload) in ResourceLookup::children(side, collection) {
        let Some(metadata) = ResourceLookup::metadata(side, &path).filter(|metadata| may_name(metadata)) else {
            continue;
        };
        let identity = identify(&metadata, &path, &payload).value;
        let is_one_name = identity.alias == identity.remote_id;
        let own =
            [("alias", Field::AliasFromAttribute, identity.alias), ("id", Field::IdFromAttribute, identity.remote_id)];
        for (what, field, name) in own.into_iter().skip(usize::from(is_one_name)) {
            match names.get(&(what, name.clone())) {
                Some(first) => findings.push(twice(what, &name, first, (&path, &payload), &metadata, field)),
                None => drop(names.insert((what, name), (path.clone(), payload.clone()))),
            }
        }
    }
    findings
}

fn twice(
    what: &str,
    name: &str,
    (first, its_payload): &(LogicalPath, Node),
    (path, payload): (&LogicalPath, &Node),
    metadata: &EffectiveMetadata,
    field: Field,
) -> Finding {
    let message = format!("{path} has the {what} `{}`, which {first} has too", sanitize::inline(name));
    let attribute = metadata.get(&FieldPath::new(Section::Resource, field));
    let value = |payload: &Node| {
        let found = attribute.and_then(Node::as_str).and_then(|attribute| {
            let names = attribute.trim().trim_start_matches('/').split(['.', '/']);
            names.map(SmolStr::new).try_fold(payload, |node, name| node.get(&name))
        });
        found.map_or(payload.span.start_only(), |node| node.span)
    };
    let finding = Finding::new(&finding::METADATA_AMBIGUOUS, Location::Span(value(payload)), message)
        .labelled(format!("this {what}"))
        .related(value(its_payload), format!("and that of {first}"))
        .help("give one of them another name: requests for both would reach one resource of the server")
        .about(path.to_string());
    match attribute {
        Some(attribute) => finding.related(attribute.span, format!("the attribute with the {what}")),
        None => finding,
    }
}
