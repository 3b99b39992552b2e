//! The requests of a resource on both sides: what would be sent before, and what now.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::SideFindings;
use super::metadata_difference::{MetadataDifference, OPERATIONS};
use super::views::ResourceWithMetadata;
use crate::diff::{self, Change, DiffSide, Difference, PathStep};
use crate::finding::Outcome;
use crate::limits::Limits;
use crate::metadata::{Operation, RequestParts};
use crate::path::{LogicalPath, Pointer};
use crate::request::{self, RenderedPart, RenderedParts};
use crate::text::Span;
use crate::value::{Entry, Node};

/// Whether layers name the segments of the path of a resource differently now.
pub(super) fn names_otherwise(
    old: &ResourceWithMetadata<'_>,
    new: &ResourceWithMetadata<'_>,
    metadata: &MetadataDifference,
) -> bool {
    metadata.may_derive_otherwise() && derive_otherwise(old, new)
}

/// Whether the path of a resource gives its templates, and those of resources below it, other names or values.
fn derive_otherwise(old: &ResourceWithMetadata<'_>, new: &ResourceWithMetadata<'_>) -> bool {
    let derived = |known: &ResourceWithMetadata<'_>| {
        let collection = known.path.parent().unwrap_or_else(LogicalPath::root);
        request::derive(&known.metadata, &known.path, &collection)
    };
    let (before, after) = (derived(old), derived(new));
    !before.iter().map(|it| (&it.name, &it.value)).eq(after.iter().map(|it| (&it.name, &it.value)))
}

/// What differs between the requests of a resource, and what is wrong with them. If `is_same` holds, neither the payload nor the
/// path nor its names nor an ancestor changed, so that only the parts whose metadata changed can differ.
pub(super) fn compare_requests(
    old: &ResourceWithMetadata<'_>,
    new: &ResourceWithMetadata<'_>,
    payload: &Difference,
    metadata: &MetadataDifference,
    is_same: bool,
    limits: &Limits,
) -> (Difference, SideFindings) {
    let everything = OPERATIONS.map(|operation| (operation, RequestParts::ALL));
    let operations = if is_same { metadata.affected_parts() } else { &everything };
    let (mut all, mut findings) = (Difference::default(), SideFindings::default());
    for &(operation, wanted) in operations {
        let (before, after) = (made(old, operation, wanted), made(new, operation, wanted));
        findings.before.extend(before.findings);
        findings.after.extend(after.findings);
        let difference = compare(&before.value, &after.value, payload, limits);
        all.is_cut |= difference.is_cut;
        all.changes.extend(difference.changes);
        all.spelling_only.extend(difference.spelling_only);
    }
    (all, findings)
}

/// Parts of the request of an operation.
fn made(known: &ResourceWithMetadata<'_>, operation: Operation, wanted: RequestParts) -> Outcome<Made> {
    let target = known.target();
    let Outcome { value: parts, findings } = request::parts(&target, operation, wanted);
    let is_own_body = parts.body.as_ref().is_some_and(|body| !body.is_identical(target.payload));
    Outcome { value: Made { operation, parts, is_own_body }, findings }
}

/// Parts of a request. What could not be made on one side is compared on neither; a finding says why.
struct Made {
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
        // Two bodies that are the payloads differ as these do, and that is reported already.
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
fn compare(before: &Made, after: &Made, payload: &Difference, limits: &Limits) -> Difference {
    let options = diff::Options { limits: limits.clone(), ..diff::Options::default() };
    let mut known: HashMap<Pointer, Vec<&Change>> = HashMap::new();
    for change in &payload.changes {
        known.entry(diff::pointer(&change.path, DiffSide::After)).or_default().push(change);
    }
    let mut difference = diff::diff(&before.to_node(after), &after.to_node(before), &options);
    let repeats = |change: &Change| {
        let is_body = matches!(change.path.first(), Some(PathStep::Key(key)) if key.name == "body");
        let rest = change.path.get(1..).unwrap_or_default();
        let there = known.get(&diff::pointer(rest, DiffSide::After)).filter(|_| is_body);
        there.is_some_and(|there| {
            there.iter().any(|known| {
                known.kind == change.kind
                    && Node::same_option(known.before.as_ref(), change.before.as_ref())
                    && Node::same_option(known.after.as_ref(), change.after.as_ref())
            })
        })
    };
    difference.changes.retain(|change| !repeats(change));
    difference.spelling_only.clear();
    let step = PathStep::Request(before.operation.name().into());
    difference.changes.iter_mut().for_each(|change| change.path.insert(0, step.clone()));
    difference
}
