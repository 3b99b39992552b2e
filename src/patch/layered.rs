//! Patch files of a repository: which of them apply to a resource, and the resource after them.

use std::sync::Arc;

use super::decode::{PatchContext, PatchFile, read_patch_file};
use super::overlay::{Nulls, overlay};
use super::run::{PatchRun, PatchState};
use crate::expression::cel::Inputs;
use crate::finding::{Finding, Outcome, has_errors};
use crate::limits::Limits;
use crate::memo::Memo;
use crate::metadata::{Layers, PatchDocument};
use crate::path::{LogicalPath, RepoPath};
use crate::text::{Sources, Span};
use crate::value::{Entry, Node};

/// The variables of expressions in patch files, beside `resource` and the loop variable.
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
    /// The span of its whole text.
    pub span: Span,
    /// Its content.
    pub content: PatchFile,
    /// The findings about it.
    pub findings: Vec<Finding>,
}

/// All patch files that apply to a resource, in the order they run, and their merged parameters.
#[derive(Debug, Default)]
pub struct PatchSet {
    /// The files, without those that a later one does not inherit.
    pub files: Vec<Arc<CompiledFile>>,
    /// The findings about all selected files, in order.
    pub findings: Vec<Finding>,
    parameters: Option<Node>,
}

/// What expressions know about the patched resource beside its payload.
#[derive(Debug, Clone, Copy)]
pub struct PatchSubject<'a> {
    /// Its logical path.
    pub path: &'a LogicalPath,
    /// Its alias, the last part of its path.
    pub alias: &'a str,
    /// The attributes that its path gives.
    pub attributes: &'a Node,
    /// Its metadata.
    pub metadata: &'a Node,
}

/// A resource after its patches.
#[derive(Debug)]
pub struct Patched {
    /// Its payload: after all patches, or as it was if anything failed; none if it was removed.
    pub payload: Option<Node>,
    /// What removed it.
    pub removed_by: Option<Span>,
    /// Every patch and every removal that ran, and whether it selected this resource.
    pub used: Vec<SpecUse>,
    /// Whether everything could be read and applied.
    pub is_complete: bool,
}

/// An event while a resource is patched.
#[derive(Debug, Clone, Copy)]
pub enum PatchEvent<'s> {
    /// An operation, by its span, and the resource after it.
    Operation(Span, &'s Node),
    /// A file, and the resource after everything in it; none once it was removed.
    File(&'s CompiledFile, Option<&'s Node>),
}

/// One patch or removal, and whether its target selected the resource. One that never selects any is unused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpecUse {
    /// Where it is written.
    pub at: Span,
    /// Whether it selected the resource.
    pub is_used: bool,
}

impl PatchFiles {
    /// The patch files that apply to a path; all calls must pass the same layers.
    pub fn files_for(
        &self,
        path: &LogicalPath,
        layers: &Layers<'_>,
        sources: &Sources,
        limits: &Limits,
    ) -> Arc<PatchSet> {
        let documents = layers.patch_documents(path);
        let numbers: Vec<u32> = documents.iter().map(|document| document.number).collect();
        self.sets.get(&numbers, || {
            let files = documents.iter().map(|document| self.compiled(document, sources, limits));
            Arc::new(PatchSet::new(files.collect()))
        })
    }

    /// One patch file, ready to run.
    pub fn compiled(&self, document: &PatchDocument, sources: &Sources, limits: &Limits) -> Arc<CompiledFile> {
        self.compiled.get(&document.number, || {
            let context = PatchContext { sources, limits, variables: &VARIABLES };
            let mut findings = document.findings.clone();
            let mut content = PatchFile { inherits: true, ..PatchFile::default() };
            if let Some(root) = &document.root {
                let read = read_patch_file(root, &context);
                findings.extend(read.findings);
                content = read.value;
            }
            Arc::new(CompiledFile { path: document.path.clone(), span: document.span, content, findings })
        })
    }
}

/// Patches a resource with all files that apply to it. If anything fails, the payload is as it was, and the events that `watch`
/// was given are void.
pub fn apply_layers(
    payload: &Node,
    set: &PatchSet,
    subject: &PatchSubject<'_>,
    limits: &Limits,
    watch: &mut dyn FnMut(PatchEvent<'_>),
) -> Outcome<Patched> {
    let unpatched = |is_complete, used| Patched { payload: Some(payload.clone()), removed_by: None, used, is_complete };
    let is_broken = has_errors(&set.findings);
    if is_broken || set.files.is_empty() {
        return Outcome { value: unpatched(!is_broken, Vec::new()), findings: set.findings.clone() };
    }
    let generated = set.files[0].span.start_only();
    let parameters = set.parameters.clone().unwrap_or_else(|| Node::map(Vec::new(), generated));
    let path = path_input(subject, generated);
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
    let value = if is_complete { ran.value } else { unpatched(false, ran.value.used) };
    Outcome { value, findings }
}

const STACK: usize = 64 << 20;
const ENOUGH_STACK: usize = 8 << 20;

fn run_files(
    payload: &Node,
    set: &PatchSet,
    subject: &PatchSubject<'_>,
    inputs: &Inputs<'_>,
    limits: &Limits,
    watch: &mut dyn FnMut(PatchEvent<'_>),
) -> Outcome<Patched> {
    let mut run = PatchRun::new(inputs, limits);
    let mut states = [PatchState { node: Some(payload.clone()), alias: Some(subject.alias), plane: None }];
    let (mut used, mut removed_by) = (Vec::new(), None);
    for file in &set.files {
        for (number, spec) in file.content.specs.iter().enumerate() {
            let is_used = run.spec(number, spec, &mut states, &mut |at, node| watch(PatchEvent::Operation(at, node)));
            used.push(SpecUse { at: spec.at(), is_used });
        }
        // Every removal of a file sees the resource as it was before any of them.
        let before = states.clone();
        for (number, removal) in file.content.removes.iter().enumerate() {
            let mut asked = before.clone();
            let is_used = run.removal(number, removal, &mut asked);
            used.push(SpecUse { at: removal.at(), is_used });
            if asked[0].node.is_none() && states[0].node.is_some() {
                (states, removed_by) = (asked, Some(removal.at()));
            }
        }
        watch(PatchEvent::File(file, states[0].node.as_ref()));
    }
    let [state] = states;
    let value = Patched { payload: state.node, removed_by, used, is_complete: true };
    Outcome { value, findings: run.finish() }
}

impl PatchSet {
    fn new(files: Vec<Arc<CompiledFile>>) -> Self {
        let findings = files.iter().flat_map(|file| file.findings.iter().cloned()).collect();
        let start = files.iter().rposition(|file| !file.content.inherits).unwrap_or(0);
        let files = files[start..].to_vec();
        let parameters = files.iter().filter_map(|file| file.content.parameters.as_ref());
        let parameters =
            parameters.fold(None, |merged: Option<Node>, over| Some(overlay(merged.as_ref(), over, Nulls::Clear)));
        Self { files, findings, parameters }
    }

    /// Whether no patch file applies to the path.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty() && self.findings.is_empty()
    }
}

/// The value of the variable `path`.
fn path_input(subject: &PatchSubject<'_>, at: Span) -> Node {
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
