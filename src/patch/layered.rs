//! Patch files of a repository: which of them speak for a resource, what they say together, and what becomes of it.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::decode::{PatchFile, Reading, read_patch_file};
use super::run::{Patient, Run};
use crate::expression::cel::Inputs;
use crate::finding::{Finding, Outcome, has_errors};
use crate::limits::Limits;
use crate::memo::Memo;
use crate::metadata::{Layers, PatchDocument};
use crate::path::{LogicalPath, RepoPath};
use crate::text::{Sources, Span};
use crate::value::{Entry, Map, Node, Value};

/// What expressions in patch files can read beside `resource` and their loop variable.
const VARIABLES: [&str; 4] = ["parameters", "path", "attributes", "metadata"];

/// The patch files among the layers of one tree, each compiled once. Shared between threads.
#[derive(Default)]
pub struct PatchFiles {
    compiled: Memo<u32, Arc<CompiledFile>>,
    sets: Memo<Vec<u32>, Arc<PatchSet>>,
}

/// A patch file, ready to run.
#[derive(Debug)]
pub struct CompiledFile {
    /// The file.
    pub path: RepoPath,
    /// All of its text.
    pub span: Span,
    /// What it says.
    pub content: PatchFile,
    /// What is wrong with it.
    pub findings: Vec<Finding>,
}

/// All patch files that speak for a resource, in the order they run, and their parameters together.
#[derive(Debug, Default)]
pub struct PatchSet {
    /// The files; those that a later one does not inherit are left out.
    pub files: Vec<Arc<CompiledFile>>,
    /// What is wrong with any of the selected files, in order.
    pub findings: Vec<Finding>,
    parameters: Vec<Entry>,
}

/// The resource that is patched, as far as it is not in its payload.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// What it is called.
    pub path: &'a LogicalPath,
    /// The name people use for it.
    pub alias: &'a str,
    /// What is known from its path.
    pub attributes: &'a Node,
    /// What its layers say.
    pub metadata: &'a Node,
}

/// What became of a resource.
#[derive(Debug)]
pub struct Patched {
    /// Its payload: after all patches, or as it was if anything failed; nothing if it was dropped.
    pub payload: Option<Node>,
    /// What dropped it.
    pub removed_by: Option<Span>,
    /// Every patch and every removal that ran, and whether it meant this resource.
    pub used: Vec<SpecUse>,
    /// Whether everything could be read and applied.
    pub is_complete: bool,
}

/// What somebody sees who looks on while a resource is patched.
#[derive(Debug, Clone, Copy)]
pub enum Seen<'s> {
    /// An operation, by its place, and the resource after it.
    Operation(Span, &'s Node),
    /// A file, and the resource after everything in it; nothing once it was dropped.
    File(&'s CompiledFile, Option<&'s Node>),
}

/// One patch or removal, and whether its target meant the resource. One that never means any is dead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecUse {
    /// Where it is written.
    pub at: Span,
    /// Whether it meant the resource.
    pub is_used: bool,
}

impl PatchFiles {
    /// The patch files that speak for a path; always asked of the same layers.
    pub fn of(&self, path: &LogicalPath, layers: &Layers<'_>, sources: &Sources, limits: &Limits) -> Arc<PatchSet> {
        let documents = layers.patch_documents(path);
        let numbers: Vec<u32> = documents.iter().map(|document| document.number).collect();
        self.sets.get(&numbers, || {
            let files = documents.iter().map(|document| self.compiled(document, sources, limits));
            Arc::new(PatchSet::of(files.collect()))
        })
    }

    /// One patch file, ready to run.
    pub fn compiled(&self, document: &PatchDocument, sources: &Sources, limits: &Limits) -> Arc<CompiledFile> {
        self.compiled.get(&document.number, || {
            let reading = Reading { sources, limits, has_expressions: true, variables: Some(&VARIABLES) };
            let mut findings = document.findings.clone();
            let mut content = PatchFile { inherits: true, ..PatchFile::default() };
            if let Some(root) = &document.root {
                let read = read_patch_file(root, &reading);
                findings.extend(read.findings);
                content = read.value;
            }
            Arc::new(CompiledFile { path: document.path.clone(), span: document.span, content, findings })
        })
    }
}

/// Patches a resource with all files that speak for it. If anything fails, the payload stays as it was.
pub fn apply_layers(payload: &Node, set: &PatchSet, subject: &Subject<'_>, limits: &Limits) -> Outcome<Patched> {
    apply_layers_watched(payload, set, subject, limits, &mut |_| {})
}

/// The same, for somebody who looks on. What they see counts only if nothing fails in the end.
pub fn apply_layers_watched(
    payload: &Node,
    set: &PatchSet,
    subject: &Subject<'_>,
    limits: &Limits,
    watch: &mut dyn FnMut(Seen<'_>),
) -> Outcome<Patched> {
    let unpatched = |is_complete, used| Patched { payload: Some(payload.clone()), removed_by: None, used, is_complete };
    let is_broken = has_errors(&set.findings);
    if is_broken || set.files.is_empty() {
        return Outcome { value: unpatched(!is_broken, Vec::new()), findings: set.findings.clone() };
    }
    let nowhere = set.files[0].span.start_only();
    let (parameters, path) = (Node::map(set.parameters.clone(), nowhere), path_input(subject, nowhere));
    let inputs = Inputs::default()
        .with("parameters", &parameters)
        .with("path", &path)
        .with("attributes", subject.attributes)
        .with("metadata", subject.metadata);
    // Every evaluation needs a deep stack; one for all of them is cheaper than one for each.
    let ran = stacker::maybe_grow(ENOUGH_STACK, STACK, || run_files(payload, set, subject, &inputs, limits, watch));
    let mut findings = set.findings.clone();
    let is_complete = ran.findings.is_empty();
    findings.extend(ran.findings);
    let value = match is_complete {
        true => ran.value,
        false => unpatched(false, ran.value.used),
    };
    Outcome { value, findings }
}

const STACK: usize = 64 << 20;
const ENOUGH_STACK: usize = 8 << 20;

fn run_files(
    payload: &Node,
    set: &PatchSet,
    subject: &Subject<'_>,
    inputs: &Inputs<'_>,
    limits: &Limits,
    watch: &mut dyn FnMut(Seen<'_>),
) -> Outcome<Patched> {
    let mut run = Run::new(inputs, limits);
    let mut patients = [Patient { node: Some(payload.clone()), alias: Some(subject.alias) }];
    let (mut used, mut removed_by) = (Vec::new(), None);
    for file in &set.files {
        for (number, spec) in file.content.specs.iter().enumerate() {
            let is_used = run.spec(number, spec, &mut patients, &mut |at, node| watch(Seen::Operation(at, node)));
            used.push(SpecUse { at: spec.at(), is_used });
        }
        // All removals of a file are asked about the same resource.
        let before = patients.clone();
        for (number, removal) in file.content.removes.iter().enumerate() {
            let mut asked = before.clone();
            let is_used = run.removal(number, removal, &mut asked);
            used.push(SpecUse { at: removal.at(), is_used });
            if asked[0].node.is_none() && patients[0].node.is_some() {
                (patients, removed_by) = (asked, Some(removal.at()));
            }
        }
        watch(Seen::File(file, patients[0].node.as_ref()));
    }
    let [patient] = patients;
    let value = Patched { payload: patient.node, removed_by, used, is_complete: true };
    Outcome { value, findings: run.findings }
}

impl PatchSet {
    fn of(files: Vec<Arc<CompiledFile>>) -> Self {
        let findings = files.iter().flat_map(|file| file.findings.iter().cloned()).collect();
        let start = files.iter().rposition(|file| !file.content.inherits).unwrap_or(0);
        let files = files[start..].to_vec();
        let parameters = files.iter().filter_map(|file| file.content.parameters.as_ref()?.as_map());
        let parameters = parameters.fold(Vec::new(), |merged, over| overlay(&merged, over));
        Self { files, findings, parameters }
    }

    /// Whether no patch file speaks for the path.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.findings.is_empty()
    }
}

/// Maps are merged, everything else is replaced, and null clears.
fn overlay(under: &[Entry], over: &Map) -> Vec<Entry> {
    let mut merged = under.to_vec();
    let mut places: HashMap<SmolStr, usize> =
        merged.iter().enumerate().map(|(at, entry)| (entry.key.name.clone(), at)).collect();
    let mut cleared = vec![false; merged.len()];
    for entry in over.entries() {
        let place = places.get(&entry.key.name).copied();
        let below = place.and_then(|at| merged[at].value.as_map()).map(Map::entries).unwrap_or_default();
        let value = match &entry.value.value {
            Value::Null => None,
            Value::Map(map) => {
                let inside = Node::map(overlay(below, map), entry.value.span);
                Some(Node { extra: entry.value.extra.clone(), ..inside })
            }
            _ => Some(entry.value.clone()),
        };
        match (place, value) {
            (Some(at), Some(value)) => (merged[at], cleared[at]) = (Entry { key: entry.key.clone(), value }, false),
            (Some(at), None) => cleared[at] = true,
            (None, Some(value)) => {
                places.insert(entry.key.name.clone(), merged.len());
                merged.push(Entry { key: entry.key.clone(), value });
                cleared.push(false);
            }
            (None, None) => {}
        }
    }
    let mut cleared = cleared.into_iter();
    merged.retain(|_| !cleared.next().unwrap_or(false));
    merged
}

/// `path` as expressions see it.
fn path_input(subject: &Subject<'_>, at: Span) -> Node {
    let text = |text: &str| Node::text(text, at);
    let collection = subject.path.parent().unwrap_or_else(LogicalPath::root);
    let segments = subject.path.segments().map(text).collect();
    let entries = [
        ("logical", text(subject.path.as_str())),
        ("collection", text(collection.as_str())),
        ("alias", text(subject.alias)),
        ("segments", Node::list(segments, at)),
    ];
    Node::map(entries.into_iter().map(|(name, value)| Entry::named(name, at, value)).collect(), at)
}
