//! The requests of a resource on both sides: what would be sent before, what now.

use smol_str::SmolStr;

use super::views::Known;
use crate::diff::{self, Change, Difference, PathStep, Side};
use crate::finding::Outcome;
use crate::layer::Operation;
use crate::request::{self, Part, Request, Target};
use crate::text::Span;
use crate::value::{Entry, Node};

/// The operations on a resource that are compared. A list is a request of its collection, and comparing sends what getting does.
pub(super) const OPERATIONS: [Operation; 4] = [Operation::Get, Operation::Create, Operation::Update, Operation::Delete];

/// The request of an operation, if it can be made.
pub(super) fn made(known: &Known<'_>, operation: Operation) -> Outcome<Option<Made>> {
    known.with_target(|target| {
        let outcome = request::request(target, operation);
        let value = outcome.value.map(|request| Made::of(request, target));
        Outcome { value, findings: outcome.findings }
    })
}

/// A request, and its body where that is not simply the payload.
pub(super) struct Made {
    request: Request,
    own_body: Option<Node>,
}

impl Made {
    fn of(mut request: Request, target: &Target<'_>) -> Self {
        let body = request.body.take();
        let own_body = body.filter(|body| !body.is_identical(target.payload));
        Self { request, own_body }
    }

    /// As a tree. A part whose template is the same on both sides differs because of what went into it.
    fn to_node(&self, other: &Self) -> Node {
        let nowhere = self.request.nowhere;
        let part = |part: &Part, twin: Option<&Part>| {
            let is_same_template = twin.is_some_and(|twin| twin.template == part.template);
            let used = part.uses.first().map(|used| used.value.span);
            Node::text(part.text.as_str(), place(part, used.filter(|_| is_same_template), nowhere))
        };
        let parts = |parts: &[(SmolStr, Part)], twins: &[(SmolStr, Part)]| {
            let twin = |name: &SmolStr| twins.iter().find(|(twin, _)| twin == name).map(|(_, part)| part);
            let entries = parts.iter().map(|(name, it)| Entry::named(name.clone(), nowhere, part(it, twin(name))));
            Node::map(entries.collect(), nowhere)
        };
        let (mine, theirs) = (&self.request, &other.request);
        let mut entries = vec![
            Entry::named("method", nowhere, part(&mine.method, Some(&theirs.method))),
            Entry::named("path", nowhere, part(&mine.path, Some(&theirs.path))),
            Entry::named("query", nowhere, parts(&mine.query, &theirs.query)),
            Entry::named("headers", nowhere, parts(&mine.headers, &theirs.headers)),
        ];
        // Two bodies that are the payloads differ as these do, and that is told already.
        if self.own_body.is_some() || other.own_body.is_some() {
            entries.extend(self.own_body.clone().map(|body| Entry::named("body", nowhere, body)));
        }
        Node::map(entries, nowhere)
    }
}

fn place(part: &Part, used: Option<Span>, nowhere: Span) -> Span {
    used.or(part.at).unwrap_or(nowhere)
}

/// What differs between two requests; changes of the body that repeat a change of the payload are left out.
pub(super) fn compare(before: &Made, after: &Made, payload: &Difference) -> Difference {
    let options = diff::Options::default();
    let mut difference = diff::diff(&before.to_node(after), &after.to_node(before), &options);
    let repeats = |change: &Change| {
        let is_body = matches!(change.path.first(), Some(PathStep::Key(key)) if key.name == "body");
        let rest = change.path.get(1..).unwrap_or_default();
        is_body
            && payload.changes.iter().any(|told| {
                told.kind == change.kind
                    && diff::pointer(&told.path, Side::After) == diff::pointer(rest, Side::After)
                    && is_same(&told.before, &change.before)
                    && is_same(&told.after, &change.after)
            })
    };
    difference.changes.retain(|change| !repeats(change));
    difference.spelling_only.clear();
    let step = PathStep::Request(before.request.operation.name().into());
    difference.changes.iter_mut().for_each(|change| change.path.insert(0, step.clone()));
    difference
}

fn is_same(a: &Option<Node>, b: &Option<Node>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is_identical(b),
        (None, None) => true,
        _ => false,
    }
}
