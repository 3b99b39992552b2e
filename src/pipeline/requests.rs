//! The requests of a resource on both sides: what would be sent before, what now.

use smol_str::SmolStr;

use super::views::Known;
use crate::diff::{self, Change, DiffSide, Difference, PathStep};
use crate::finding::Outcome;
use crate::metadata::{Operation, RequestParts};
use crate::path::LogicalPath;
use crate::request::{self, RenderedPart, RenderedParts};
use crate::text::Span;
use crate::value::{Entry, Node};

/// The operations on a resource that are compared. A list is a request of its collection, and comparing sends what getting does.
pub(super) const OPERATIONS: [Operation; 4] = [Operation::Get, Operation::Create, Operation::Update, Operation::Delete];

/// Whether the path of a resource gives its templates, and those of what stands below it, other names or values.
pub(super) fn derive_otherwise(old: &Known<'_>, new: &Known<'_>) -> bool {
    let derived = |known: &Known<'_>| {
        let collection = known.path.parent().unwrap_or_else(LogicalPath::root);
        request::derive(&known.metadata, &known.path, &collection)
    };
    let (before, after) = (derived(old), derived(new));
    !before.iter().map(|it| (&it.name, &it.value)).eq(after.iter().map(|it| (&it.name, &it.value)))
}

/// Parts of the request of an operation.
pub(super) fn made(known: &Known<'_>, operation: Operation, wanted: RequestParts) -> Outcome<Made> {
    known.with_target(|target| {
        let Outcome { value: parts, findings } = request::parts(target, operation, wanted);
        let is_own_body = parts.body.as_ref().is_some_and(|body| !body.is_identical(target.payload));
        Outcome { value: Made { operation, parts, is_own_body }, findings }
    })
}

/// Parts of a request. What could not be made on one side is compared on neither; a finding says why.
pub(super) struct Made {
    operation: Operation,
    parts: RenderedParts,
    /// Whether the body is something else than the payload.
    is_own_body: bool,
}

impl Made {
    /// As a tree. A part whose template is the same on both sides differs because of what went into it.
    fn to_node(&self, other: &Self) -> Node {
        let (mine, theirs) = (&self.parts, &other.parts);
        let nowhere = mine.nowhere;
        let shown = |part: &RenderedPart, twin: Option<&RenderedPart>| {
            let is_same_template = twin.is_some_and(|twin| twin.template == part.template);
            let used = part.uses.first().map(|used| used.value.span);
            Node::text(part.text.as_str(), place(part, used.filter(|_| is_same_template), nowhere))
        };
        let one = |name: &'static str, part: &Option<RenderedPart>, twin: &Option<RenderedPart>| {
            part.as_ref().zip(twin.as_ref()).map(|(part, twin)| Entry::named(name, nowhere, shown(part, Some(twin))))
        };
        let many = |name: &'static str,
                    parts: &[(SmolStr, Option<RenderedPart>)],
                    twins: &[(SmolStr, Option<RenderedPart>)]| {
            let entries = parts.iter().filter_map(|(name, part)| {
                let twin = match twins.iter().find(|(twin, _)| twin == name) {
                    Some((_, twin)) => Some(twin.as_ref()?),
                    None => None,
                };
                Some(Entry::named(name.clone(), nowhere, shown(part.as_ref()?, twin)))
            });
            Entry::named(name, nowhere, Node::map(entries.collect(), nowhere))
        };
        let mut entries: Vec<Entry> = Vec::with_capacity(5);
        entries.extend(one("method", &mine.method, &theirs.method));
        entries.extend(one("path", &mine.path, &theirs.path));
        entries.push(many("query", &mine.query, &theirs.query));
        entries.push(many("headers", &mine.headers, &theirs.headers));
        // Two bodies that are the payloads differ as these do, and that is told already.
        if let Some(body) =
            mine.body.as_ref().filter(|_| theirs.body.is_some() && (self.is_own_body || other.is_own_body))
        {
            entries.push(Entry::named("body", nowhere, body.clone()));
        }
        Node::map(entries, nowhere)
    }
}

fn place(part: &RenderedPart, used: Option<Span>, nowhere: Span) -> Span {
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
                    && diff::pointer(&told.path, DiffSide::After) == diff::pointer(rest, DiffSide::After)
                    && Node::same_option(told.before.as_ref(), change.before.as_ref())
                    && Node::same_option(told.after.as_ref(), change.after.as_ref())
            })
    };
    difference.changes.retain(|change| !repeats(change));
    difference.spelling_only.clear();
    let step = PathStep::Request(before.operation.name().into());
    difference.changes.iter_mut().for_each(|change| change.path.insert(0, step.clone()));
    difference
}
