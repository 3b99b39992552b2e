//! The response that a request would get if the server had exactly the payloads of the snapshot.

use super::scope::scope_for;
use super::{Flavour, ListItem, RequestTarget, list, list_response, transform};
use crate::finding::Outcome;
use crate::metadata::{Field, Operation};
use crate::value::{Node, Value};

/// A response after the transforms of its metadata.
#[derive(Debug, Clone)]
pub enum ExpectedResponse {
    /// What getting or comparing makes of the payload.
    Payload(Node),
    /// What a list finds.
    Items(Vec<ListItem>),
}

/// The answer to a request, where metadata has something to say about it: without transforms it is simply what is there.
pub fn answer(target: &RequestTarget<'_>, operation: Operation) -> Outcome<Option<ExpectedResponse>> {
    let has_transforms = !target.metadata.transforms(operation).is_empty();
    let is_there = !matches!(target.payload.value, Value::Null);
    let flavour = match operation {
        Operation::List if names_items(target) => {
            let Outcome { value, findings } = list(&list_response(target), target);
            return Outcome { value: Some(ExpectedResponse::Items(value)), findings };
        }
        Operation::Get if has_transforms && is_there => Flavour::Request,
        Operation::Compare if has_transforms && is_there => Flavour::Compare,
        _ => return Outcome::clean(None),
    };
    match transform(target.payload, target, operation, &scope_for(target, operation), flavour) {
        Ok(payload) => Outcome::clean(Some(ExpectedResponse::Payload(payload))),
        Err(finding) => Outcome { value: None, findings: vec![*finding] },
    }
}

/// Whether metadata names or transforms the items of a list; otherwise nothing can be wrong with them.
fn names_items(target: &RequestTarget<'_>) -> bool {
    let names = [Field::IdFromAttribute, Field::AliasFromAttribute];
    let has_jq = || target.metadata.transforms(Operation::List).iter().any(|step| step.kind == Field::Jq);
    names.into_iter().any(|field| target.metadata.identity(field).is_some()) || has_jq()
}
