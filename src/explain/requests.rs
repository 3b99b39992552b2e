//! Traces of requests: the templates of a request, who wrote them, and the values that went into them.

use smol_str::SmolStr;

use super::{ExplainQuestion, RequestTrace, RequestTraces};
use crate::finding::Outcome;
use crate::metadata::{Field, MetadataPath, Operation, Section};
use crate::path::RepoPath;
use crate::request::{self, Request};
use crate::resource::Resource;
use crate::settings::Root;
use crate::side::{RequestSubject, Side, WantedRequests};

/// Traces of the requests of a resource that some layer changes, and how many follow the defaults.
pub(super) fn of_resource(side: &Side<'_>, resource: &Resource, question: &ExplainQuestion) -> Outcome<RequestTraces> {
    let path = side.path_of(resource).filter(|_| resource.is_managed());
    let Some(path) = path.map(|path| MetadataPath::of_resource(&path)) else {
        return Outcome::clean(RequestTraces::default());
    };
    let subject = side.subject_of(&path, &RepoPath::root(), Some(resource.clone())).value;
    traces(&subject, &subject.operations(WantedRequests::All), question, side)
}

/// Traces of the requests of a collection, which can only be listed.
pub(super) fn of_collection(
    side: &Side<'_>,
    path: &MetadataPath,
    root: &Root,
    question: &ExplainQuestion,
) -> Outcome<RequestTraces> {
    if path.to_logical().is_none() || !path.is_collection() {
        return Outcome::clean(RequestTraces::default());
    }
    let subject = side.subject_at(path, root).value;
    traces(&subject, &[Operation::List], question, side)
}

fn traces(
    subject: &RequestSubject,
    operations: &[Operation],
    question: &ExplainQuestion,
    side: &Side<'_>,
) -> Outcome<RequestTraces> {
    let target = subject.target(side);
    let (mut all, mut findings) = (RequestTraces::default(), Vec::new());
    let asked = question.within.tokens();
    for operation in operations.iter().copied() {
        let is_asked = match asked {
            [] => is_set_by_layer(subject, operation),
            _ => Section::Operation(operation).wire().iter().eq(asked.iter().take(2)),
        };
        if !is_asked || subject.is_impossible(operation) {
            all.by_defaults += usize::from(asked.is_empty());
            continue;
        }
        let made = request::request(&target, operation);
        match made.value {
            Some(request) => all.traces.push(trace(subject, request)),
            None => findings.extend(made.findings),
        }
    }
    Outcome { value: all, findings }
}

fn trace(subject: &RequestSubject, request: Request) -> RequestTrace {
    // Only what is sent has a body that could be transformed, and only a list has an answer that is always looked at.
    let transforms = subject.metadata.transforms(request.operation);
    let named = transforms.into_iter().map(|step| {
        let wire = step.kind.row().map_or("", |row| row.wire);
        (SmolStr::new(wire.strip_prefix("payload.").unwrap_or(wire)), step.node.clone())
    });
    RequestTrace { transforms: named.collect(), request }
}

/// Whether a layer says something about a request, other than what becomes of a payload that is compared.
fn is_set_by_layer(subject: &RequestSubject, operation: Operation) -> bool {
    subject.metadata.entries().any(|(field, _)| match (field.section, field.field) {
        (_, Field::Itself) => false,
        (Section::Resource, Field::CollectionPath) => matches!(operation, Operation::Get | Operation::List),
        (Section::Resource | Section::Operations, _) => false,
        (Section::Defaults, _) => matches!(operation, Operation::Create | Operation::Update),
        (Section::Operation(own), field) => {
            own == operation && (own != Operation::Compare || !Field::TRANSFORMS.contains(&field))
        }
    })
}
