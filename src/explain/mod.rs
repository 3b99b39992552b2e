//! Where the values of a resource come from, as data: one history for each value, from the weakest statement to the one that
//! applies.

mod metadata;
mod payload;
mod requests;

use smol_str::SmolStr;

use crate::directive::{Read, Reads};
use crate::finding::{Finding, Outcome};
use crate::metadata::MetadataPath;
use crate::path::{Pointer, RepoPath};
use crate::request::Request;
use crate::resource::Resource;
use crate::side::{ResourceHit, ResourceQuery, Side};
use crate::text::Span;
use crate::value::{Node, Step, StepKind};

pub use metadata::layers_node;

/// Which values are to be explained.
#[derive(Debug, Clone, Default)]
pub struct ExplainQuestion {
    /// Only those at or below this place.
    pub within: Pointer,
    /// Also those that are simply written in the resource's own file.
    pub everything: bool,
}

/// Where the values of one resource, or of one path, come from.
#[derive(Debug)]
pub struct Explanation {
    /// The name of the resource, or the path.
    pub name: String,
    /// The revision it was looked up in.
    pub revision: SmolStr,
    /// The payload and the metadata, in this order.
    pub parts: Vec<ExplainedPart>,
    /// Its requests.
    pub requests: RequestTraces,
    /// The nearest place that exists, if there is nothing at the one that was asked for.
    pub nearest: Option<Pointer>,
    /// The operation of a patch that removed what was asked for.
    pub removed_by: Option<Span>,
    /// A place for values that no file contains.
    pub nowhere: Span,
}

impl Explanation {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.requests.traces.is_empty()
    }
}

/// One of the documents that a resource consists of.
#[derive(Debug)]
pub struct ExplainedPart {
    /// Which one.
    pub subject: ExplainedSubject,
    /// The files it comes from, weakest first.
    pub files: Vec<ExplainedFile>,
    /// The history of each value.
    pub values: Vec<ValueHistory>,
    /// How many values have no history, because they are written where they apply.
    pub omitted: usize,
    /// Layers of collections above that apply to their direct items only; found if everything is asked for.
    pub skipped: Vec<ExplainedFile>,
}

/// What can be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExplainedSubject {
    /// The resource itself.
    Payload,
    /// What its layers say about it.
    Metadata,
}

impl ExplainedSubject {
    /// The word for it, for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Payload => "payload",
            Self::Metadata => "metadata",
        }
    }
}

/// A file that a resource comes from.
#[derive(Debug)]
pub struct ExplainedFile {
    /// What it contributes.
    pub role: FileRole,
    /// Its path, with a line where one is known.
    pub file: String,
}

/// What a file contributes to a resource.
#[derive(Debug)]
pub enum FileRole {
    /// The resource is written in it.
    Document,
    /// A directive includes it, or part of it.
    Included,
    /// Its patches change the resource.
    Patches,
    /// Something in it drops the resource.
    Drops,
    /// It is a layer for many resources.
    Collection {
        /// The selector of the layer.
        selector: String,
        /// Whether it applies to everything below its collection, and not to direct items alone.
        reaches_below: bool,
    },
    /// It is a layer for this resource alone.
    Own {
        /// The selector of the layer.
        selector: String,
    },
}

/// Everything that is said about one value.
#[derive(Debug)]
pub struct ValueHistory {
    /// Its name, dotted.
    pub name: SmolStr,
    /// The keys under which the file in effect has it, if they are others.
    pub written: Option<SmolStr>,
    /// Its place in the effective document.
    pub pointer: Pointer,
    /// What is said, weakest first; the last one applies.
    pub entries: Vec<HistoryEntry>,
}

/// What is said about a value at one place.
#[derive(Debug)]
pub struct HistoryEntry {
    /// Selector of the layer; `None` for the resource's own file and for defaults.
    pub selector: Option<String>,
    /// Where it is written; defaults are written nowhere.
    pub at: Option<Span>,
    /// The steps that brought it from there.
    pub route: Route,
    /// What is said.
    pub effect: HistoryEffect,
}

/// What can be said about a value.
#[derive(Debug)]
pub enum HistoryEffect {
    /// The value is this.
    Value(Node),
    /// Weaker statements do not apply.
    Cleared,
    /// Weaker statements do not apply, because the map around the value is empty here.
    Emptied,
}

/// The steps of a value from where it is written to where it applies.
#[derive(Debug, Default)]
pub struct Route {
    /// The kind of each step, and where it is written.
    pub steps: Vec<(StepKind, Span)>,
    /// How many more there are.
    pub left_out: usize,
}

/// More steps than these are counted, not kept.
const LONGEST_ROUTE: usize = 20;

impl Route {
    /// The route of a value: its own steps first, then those of the parts around it, from the inside out.
    fn along<'a>(steps: impl IntoIterator<Item = &'a Step>) -> Self {
        let mut route = Self::default();
        for step in steps.into_iter().flat_map(Step::chain) {
            if route.steps.len() < LONGEST_ROUTE {
                route.steps.push((step.kind, step.at));
            } else {
                route.left_out += 1;
            }
        }
        route
    }
}

/// The requests of a resource, each with what it is made of.
#[derive(Debug, Default)]
pub struct RequestTraces {
    /// Those that some layer changes, in the order of operations.
    pub traces: Vec<RequestTrace>,
    /// How many follow the defaults alone.
    pub by_defaults: usize,
}

/// What one request is made of.
#[derive(Debug)]
pub struct RequestTrace {
    /// What would be sent, with the template of every part.
    pub request: Request,
    /// The transforms of its payload, in order: name and definition.
    pub transforms: Vec<(SmolStr, Node)>,
}

/// Where the values of what a query means come from: one explanation for each resource, or one for a path without any.
pub fn explain(side: &Side<'_>, query: &ResourceQuery, question: &ExplainQuestion) -> Outcome<Vec<Explanation>> {
    let mut findings = Vec::new();
    let found = side.query(query).gather(&mut findings);
    let mut explanations = Vec::new();
    if let (ResourceQuery::Path(path, root), true) = (query, found.is_empty()) {
        let metadata = side.stored_metadata(path, root).gather(&mut findings);
        let mut part = metadata::part(side, &metadata, path, &question.within);
        if question.everything {
            part.skipped = metadata::skipped(side, &metadata, path, root);
        }
        let parts = path_parts(part, question);
        let requests = requests::of_collection(side, path, root, question).gather(&mut findings);
        explanations.push(Explanation { requests, ..explanation(side, path.to_string(), parts) });
    }
    for hit in found {
        explanations.push(explain_resource(side, hit, question).gather(&mut findings));
    }
    Outcome { value: explanations, findings }
}

/// Where every value of one document comes from; the document is as it may be shown.
pub fn explain_document(side: &Side<'_>, shown: &Node, file: &RepoPath, reads: &Reads) -> Explanation {
    let question = ExplainQuestion { everything: true, ..ExplainQuestion::default() };
    let (values, omitted) = payload::histories(shown, &question);
    let included: Vec<RepoPath> =
        reads.iter().filter(|(_, read)| **read != Read::Absent).map(|(file, _)| file.clone()).collect();
    let files = files(file, &included);
    let part = ExplainedPart { subject: ExplainedSubject::Payload, files, values, omitted, skipped: Vec::new() };
    explanation(side, file.to_string(), vec![part])
}

impl ExplainQuestion {
    /// The question with list items by their indexes, where it has names.
    fn resolved(&self, payload: &Node) -> Self {
        Self { within: payload::resolved(payload, &self.within), ..*self }
    }
}

/// The parts of a path without a resource.
fn path_parts(metadata: ExplainedPart, question: &ExplainQuestion) -> Vec<ExplainedPart> {
    let nothing = ExplainedPart {
        subject: ExplainedSubject::Payload,
        files: Vec::new(),
        values: Vec::new(),
        omitted: 0,
        skipped: Vec::new(),
    };
    let has_layers = !metadata.files.is_empty();
    let mut parts = vec![nothing, metadata];
    parts.retain(|part| {
        if question.within.tokens().is_empty() {
            part.subject == ExplainedSubject::Metadata || !has_layers
        } else {
            !part.values.is_empty()
        }
    });
    parts
}

fn explain_resource(side: &Side<'_>, hit: ResourceHit, question: &ExplainQuestion) -> Outcome<Explanation> {
    let mut findings = Vec::new();
    let ResourceHit { mut resource, includes } = hit;
    let question = &question.resolved(&resource.payload);
    // What a unit renders is in effect as it is.
    let patches = match resource.unit {
        Some(_) => Patches { files: Vec::new(), removed_by: None },
        None => put_into_effect(side, &mut resource, question, &mut findings),
    };
    let question = &question.resolved(&resource.payload);
    let path = side.path_of(&resource);
    let metadata = path.and_then(|path| {
        let metadata = side.layers().metadata(&path, &resource.file)?.gather(&mut findings);
        let path = MetadataPath::of_resource(&path);
        let layers = side.layers().layers_for(&resource.file).filter(|_| question.everything);
        let skipped = layers.map(|layers| metadata::skipped_in(layers, &metadata, &path)).unwrap_or_default();
        Some((path, metadata, skipped))
    });
    let name = resource.identity.to_string();
    let nearest = payload::nearest(&resource.payload, &question.within);
    let requests = requests::of_resource(side, &resource, question).gather(&mut findings);
    let shown = side.hidden(resource);
    let (values, omitted) = payload::histories(&shown.payload, question);
    let mut files = files(&shown.file, &includes);
    files.extend(patches.files);
    let mut parts =
        vec![ExplainedPart { subject: ExplainedSubject::Payload, files, values, omitted, skipped: Vec::new() }];
    parts.extend(metadata.map(|(path, stored, skipped)| {
        let part = metadata::part(side, &stored, &path, &question.within);
        ExplainedPart { skipped, ..part }
    }));
    retain_asked(&mut parts, question);
    let explanation =
        Explanation { requests, nearest, removed_by: patches.removed_by, ..explanation(side, name, parts) };
    Outcome { value: explanation, findings }
}

/// Of a whole resource the payload is always shown, and metadata if some layer applies; of a place only what is there.
fn retain_asked(parts: &mut Vec<ExplainedPart>, question: &ExplainQuestion) {
    let is_whole = question.within.tokens().is_empty();
    parts.retain(|part| match (is_whole, part.subject) {
        (true, ExplainedSubject::Payload) => true,
        (true, ExplainedSubject::Metadata) => !part.files.is_empty(),
        (false, _) => !part.values.is_empty(),
    });
}

/// What patches did to a resource.
struct Patches {
    /// The files with patches that change it, in the order they run, and the place of what drops it.
    files: Vec<ExplainedFile>,
    /// The operation that removed what was asked for.
    removed_by: Option<Span>,
}

/// Takes a resource through its expressions and patches.
fn put_into_effect(
    side: &Side<'_>,
    resource: &mut Resource,
    question: &ExplainQuestion,
    findings: &mut Vec<Finding>,
) -> Patches {
    let effective = side.effective(resource);
    findings.extend(effective.findings.iter().cloned());
    let used = effective.patches.iter().filter(|patch| patch.is_used).map(|patch| patch.at);
    let mut patched_by: Vec<RepoPath> = used.map(|at| side.sources.get(at.source).path.clone()).collect();
    patched_by.dedup();
    let patched = patched_by.iter().map(|file| ExplainedFile { role: FileRole::Patches, file: file.to_string() });
    let dropped = effective.removed_by.map(|at| {
        let text = side.sources.get(at.source);
        let file = format!("{}:{}", text.path, text.lines().line_of(at.range().start) + 1);
        ExplainedFile { role: FileRole::Drops, file }
    });
    let payload = effective.payload.as_ref().unwrap_or(&effective.computed).clone();
    let is_gone = payload.at(&question.within).is_none();
    let removed_by = if is_gone { side.taken_away(resource, &question.within) } else { None };
    resource.payload = payload;
    Patches { files: patched.chain(dropped).collect(), removed_by }
}

fn explanation(side: &Side<'_>, name: String, parts: Vec<ExplainedPart>) -> Explanation {
    Explanation {
        name,
        revision: side.snapshot.label().into(),
        parts,
        requests: RequestTraces::default(),
        nearest: None,
        removed_by: None,
        nowhere: side.nowhere(),
    }
}

/// What is written in a file applies over what it includes.
fn files(file: &RepoPath, includes: &[RepoPath]) -> Vec<ExplainedFile> {
    let included = includes.iter().map(|file| ExplainedFile { role: FileRole::Included, file: file.to_string() });
    included.chain([ExplainedFile { role: FileRole::Document, file: file.to_string() }]).collect()
}
