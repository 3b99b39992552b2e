//! `compare/nothing-left`: compare rules of metadata that leave nothing of a resource to compare.

use crate::finding::{self, Finding, Location};
use crate::metadata::Operation;
use crate::request;
use crate::resource::Resource;
use crate::side::Side;
use crate::value::{Node, Value};

/// A finding if nothing of a resource is left after its compare rules, so that no change of it can ever be seen.
pub fn nothing_left(side: &Side<'_>, resource: &Resource) -> Option<Finding> {
    let path = side.path_of(resource).filter(|_| resource.is_managed())?;
    let metadata = side.metadata_of(resource).filter(|metadata| metadata.is_complete())?;
    let transforms = metadata.transforms(Operation::Compare);
    let first = transforms.first().filter(|_| !is_empty(&resource.payload))?;
    let target = side.target(&path, &resource.payload, &metadata, &resource.file);
    // A rule that fails is reported with the requests.
    let left = request::compare_transform(&resource.payload, &target).ok()?;
    if !is_empty(&left) {
        return None;
    }
    let message = format!("the compare rules leave nothing of {} to compare", resource.identity);
    let finding = Finding::new(&finding::COMPARE_NOTHING_LEFT, Location::Span(first.node.span), message)
        .labelled("leaves nothing")
        .related(resource.payload.span.start_only(), "of all this")
        .help("no change of the resource would be seen; is an attribute misspelled?")
        .about(resource.identity.to_string());
    Some(finding)
}

fn is_empty(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::Map(map) => map.entries().is_empty(),
        Value::List(list) => list.items().is_empty(),
        _ => false,
    }
}
