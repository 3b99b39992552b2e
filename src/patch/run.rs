//! Runs patch specifications on resources: all of them, or none.

use std::borrow::Cow;

use smol_str::SmolStr;

use super::decode::{PatchFile, template_finding};
use super::operation::{Edit, edit};
use super::path::PatchPath;
use super::spec::{PatchSpec, PatchTarget, PathTemplate, Removal, Selection, SpecOperation};
use super::template::{CelScope, Dialect, TemplateFailure, ValueTemplate};
use crate::expression::cel::{Computed, FailureKind, Inputs};
use crate::finding::{self, Finding, Location, Outcome, Refusal};
use crate::limits::{Counted, Limits};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A resource while it is patched.
#[derive(Debug, Clone)]
pub(super) struct PatchState<'a> {
    /// Its current payload; none once it was removed.
    pub(super) node: Option<Node>,
    /// Another name of the resource.
    pub(super) alias: Option<&'a str>,
    /// The plane that the resource is for, if planes matter.
    pub(super) plane: Option<&'a str>,
}

/// The resources after a patch file, none for those that it removes. If anything fails, all are as they were. The parameters of
/// the file are among the inputs.
pub(super) fn apply_file(
    resources: &[Node],
    file: &PatchFile,
    inputs: &Inputs<'_>,
    limits: &Limits,
) -> Outcome<Vec<Option<Node>>> {
    let state = |node: &Node| PatchState { node: Some(node.clone()), alias: None, plane: None };
    let mut states: Vec<PatchState<'_>> = resources.iter().map(state).collect();
    let mut run = PatchRun::new(inputs, limits);
    for (number, spec) in file.specs.iter().enumerate() {
        run.spec(number, spec, &mut states, &mut |_, _| {});
    }
    // Every removal sees the resources as they were before any removal.
    let before = states.clone();
    for (number, removal) in file.removes.iter().enumerate() {
        let mut asked = before.clone();
        run.removal(number, removal, &mut asked);
        let removed = states.iter_mut().zip(asked).filter(|(_, asked)| asked.node.is_none());
        removed.for_each(|(state, _)| state.node = None);
    }
    let findings = run.finish();
    let value = if findings.is_empty() {
        states.into_iter().map(|state| state.node).collect()
    } else {
        resources.iter().cloned().map(Some).collect()
    };
    Outcome { value, findings }
}

impl PatchState<'_> {
    /// Whether a target means the resource, as far as its condition does not say otherwise.
    pub(super) fn fits(&self, target: &PatchTarget) -> bool {
        let is_plane = target.plane.is_empty() || self.plane.is_none_or(|plane| plane == target.plane);
        is_plane && self.node.as_ref().is_some_and(|node| target.fits(node, self.alias))
    }
}

/// An operation with every expression evaluated.
pub(super) struct FilledOperation<'o> {
    path: Cow<'o, PatchPath>,
    value: Option<Node>,
}

/// One run over resources, with the work it did.
pub(super) struct PatchRun<'a> {
    pub(super) inputs: &'a Inputs<'a>,
    pub(super) limits: &'a Limits,
    pub(super) work: u64,
    /// The work that the account of the run knows of.
    booked: u64,
    is_over_run: bool,
    pub(super) dialect: Dialect,
    pub(super) findings: Vec<Finding>,
}

/// Where in a run a failure happens, for messages; numbers count from 0 here and from 1 in messages.
#[derive(Clone, Copy)]
pub(super) struct PatchMoment<'m> {
    pub(super) spec: usize,
    /// Which element of `forEach`, if there is one.
    pub(super) round: Option<usize>,
    pub(super) resource: &'m str,
}

/// The loop variable and its value.
pub(super) type Bound<'b> = Option<(&'b str, &'b Node)>;

/// What is done with each selected resource.
type Act<'f, 'a> = dyn FnMut(&mut PatchRun<'a>, &PatchMoment<'_>, Bound<'_>, &mut PatchState<'_>) + 'f;

/// How often a patch runs.
pub(super) enum Rounds {
    Once,
    Each(Vec<Node>),
    /// Unknown, because `forEach` failed.
    Unknown,
}

/// Work is booked in batches, because threads share the account.
const BATCH: u64 = 1024;
/// Findings of one run; more would repeat themselves.
const MOST_FINDINGS: usize = 50;

impl<'a> PatchRun<'a> {
    pub(super) fn new(inputs: &'a Inputs<'a>, limits: &'a Limits) -> Self {
        let is_over_run = limits.steps_left() == 0;
        Self { inputs, limits, work: 0, booked: 0, is_over_run, dialect: Dialect::Layered, findings: Vec::new() }
    }

    /// What is wrong. All work is booked on the account of the run.
    pub(super) fn finish(mut self) -> Vec<Finding> {
        self.book();
        self.findings
    }

    /// Books work on the account of the run, and notes whether the run has done too much.
    fn book(&mut self) {
        let new = self.work - self.booked;
        self.booked = self.work;
        self.is_over_run |= !self.limits.take_steps(new);
    }

    /// Whether a limit is reached, so that the run stops.
    fn is_over(&mut self, at: Span) -> bool {
        if self.work - self.booked > BATCH {
            self.book();
        }
        if self.is_over_run {
            let is_known = self.findings.iter().any(|finding| finding.rule.id == finding::LIMIT_RUN_WORK.id);
            if !is_known {
                self.findings.push(too_much_in_run(at, self.limits));
            }
            return true;
        }
        if self.work > self.limits.patch_work && self.findings.len() < MOST_FINDINGS {
            let message = format!("patching this resource takes more than {} steps", self.limits.patch_work);
            self.findings.truncate(MOST_FINDINGS - 1);
            let is_known = self.findings.iter().any(|finding| finding.rule.id == finding::LIMIT_PATCH.id);
            if !is_known {
                self.findings.push(Finding::new(&finding::LIMIT_PATCH, Location::Span(at), message));
            }
        }
        self.work > self.limits.patch_work || self.findings.len() >= MOST_FINDINGS
    }

    /// Runs one patch; `watch` is given each resource after each operation. Returns whether any resource was selected.
    pub(super) fn spec(
        &mut self,
        number: usize,
        spec: &PatchSpec,
        states: &mut [PatchState<'_>],
        watch: &mut dyn FnMut(Span, &Node),
    ) -> bool {
        self.each(number, &spec.selection, states, &mut |run, moment, bound, state| {
            for (number, operation) in spec.operations.iter().enumerate() {
                if run.is_over(operation.at) {
                    break;
                }
                run.operation(moment, number, operation, bound, state);
                state.node.iter().for_each(|node| watch(operation.at, node));
            }
        })
    }

    /// Removes the selected resources. Returns whether there was any.
    pub(super) fn removal(&mut self, number: usize, removal: &Removal, states: &mut [PatchState<'_>]) -> bool {
        self.each(number, &removal.selection, states, &mut |_, _, _, state| state.node = None)
    }

    /// Calls `act` for every element and, for each of them, every selected resource.
    fn each(
        &mut self,
        number: usize,
        selection: &Selection,
        states: &mut [PatchState<'_>],
        act: &mut Act<'_, 'a>,
    ) -> bool {
        let mut fitting: Vec<&mut PatchState<'_>> =
            states.iter_mut().filter(|state| state.fits(&selection.target)).collect();
        if !fitting.is_empty() && self.is_over(selection.at) {
            return true;
        }
        let elements = match self.rounds(number, selection) {
            Rounds::Once => return self.targets(number, selection, None, &mut fitting, act),
            Rounds::Each(elements) => elements,
            Rounds::Unknown => return !fitting.is_empty(),
        };
        let mut is_used = elements.is_empty() && !fitting.is_empty();
        for (round, element) in elements.iter().enumerate() {
            if self.is_over(selection.at) {
                break;
            }
            let bound = Some((round, (selection.variable.as_str(), element)));
            is_used |= self.targets(number, selection, bound, &mut fitting, act);
        }
        is_used
    }

    fn targets(
        &mut self,
        spec: usize,
        selection: &Selection,
        bound: Option<(usize, (&str, &Node))>,
        states: &mut [&mut PatchState<'_>],
        act: &mut Act<'_, 'a>,
    ) -> bool {
        let mut is_used = false;
        for state in states {
            let Some(node) = state.node.clone() else { continue };
            let name = name_of(&node);
            let moment = PatchMoment { spec, round: bound.map(|(round, _)| round), resource: &name };
            let bound = bound.map(|(_, bound)| bound);
            let is_selected = match &selection.target.condition {
                None => true,
                Some(condition) => self.condition(condition, &moment, bound, &node),
            };
            if is_selected {
                is_used = true;
                act(self, &moment, bound, state);
            }
        }
        is_used
    }

    pub(super) fn rounds(&mut self, spec: usize, selection: &Selection) -> Rounds {
        let Some(for_each) = &selection.for_each else { return Rounds::Once };
        let failure = match for_each.fill(&mut self.scope(None, None)) {
            Ok(Computed::Value(node)) if elements(&node).is_some() => {
                return Rounds::Each(elements(&node).unwrap_or_default());
            }
            Ok(other) => for_each.failed(&format!("`forEach` needs a list or a map, and this is {}", type_of(&other))),
            Err(failure) => failure,
        };
        let moment = PatchMoment { spec, round: None, resource: "" };
        self.fail(template_finding(&failure, &finding::PATCH_FOR_EACH, "forEach"), &moment, None);
        Rounds::Unknown
    }

    pub(super) fn condition(
        &mut self,
        condition: &ValueTemplate,
        moment: &PatchMoment<'_>,
        bound: Bound<'_>,
        resource: &Node,
    ) -> bool {
        let failure = match condition.fill(&mut self.scope(bound, Some(resource))) {
            Ok(Computed::Value(Node { value: Value::Bool(is_selected), .. })) => return is_selected,
            Ok(other) => condition.failed(&format!("`where` needs a boolean, and this is {}", type_of(&other))),
            // A resource without the key is not selected.
            Err(TemplateFailure { failure, .. })
                if failure.kind == FailureKind::MissingKey && self.dialect == Dialect::Layered =>
            {
                return false;
            }
            Err(failure) => failure,
        };
        self.fail(template_finding(&failure, &finding::PATCH_WHERE, "where"), moment, None);
        false
    }

    pub(super) fn scope<'s>(&'s mut self, bound: Bound<'s>, resource: Option<&'s Node>) -> CelScope<'s, 's> {
        let mut inputs: Inputs<'s> = self.inputs.clone();
        if let Some((name, element)) = bound {
            inputs = inputs.with(name, element);
        }
        if let Some(resource) = resource {
            inputs = inputs.with("resource", resource);
        }
        CelScope { inputs, limits: self.limits, work: &mut self.work, dialect: self.dialect }
    }

    fn operation(
        &mut self,
        moment: &PatchMoment<'_>,
        number: usize,
        operation: &SpecOperation,
        bound: Bound<'_>,
        state: &mut PatchState<'_>,
    ) {
        let Some(resource) = state.node.clone() else { return };
        match self.edited(operation, bound, &resource) {
            Ok(edited) => state.node = Some(edited),
            Err(finding) => self.fail(*finding, moment, Some((number, operation))),
        }
    }

    fn edited(&mut self, operation: &SpecOperation, bound: Bound<'_>, resource: &Node) -> Result<Node, Box<Finding>> {
        let filled = self.filled(operation, bound, Some(resource))?;
        self.applied(operation, &filled, resource)
    }

    /// The path and the value of an operation, with every expression evaluated.
    pub(super) fn filled<'o>(
        &mut self,
        operation: &'o SpecOperation,
        bound: Bound<'_>,
        resource: Option<&Node>,
    ) -> Result<FilledOperation<'o>, Box<Finding>> {
        let template =
            |failure: &TemplateFailure, what: &str| Box::new(template_finding(failure, &finding::PATCH_TEMPLATE, what));
        let path = match &operation.path {
            PathTemplate::Fixed(path) => Cow::Borrowed(path),
            PathTemplate::Computed(path) => {
                let filled =
                    path.fill(&mut self.scope(bound, resource)).map_err(|failure| template(&failure, "path"))?;
                let Computed::Value(Node { value: Value::String(text), .. }) = &filled else {
                    let message = format!("the `path` must be a text, and this is {}", type_of(&filled));
                    return Err(
                        Finding::new(&finding::PATCH_TEMPLATE, Location::Span(operation.path_at), message).into()
                    );
                };
                let made = PatchPath::compile(text, self.limits);
                Cow::Owned(made.map_err(|refusal| refusal.into_finding(operation.path_at))?)
            }
        };
        let Some(value) = &operation.value else { return Ok(FilledOperation { path, value: None }) };
        match value.fill(&mut self.scope(bound, resource)).map_err(|failure| template(&failure, "value"))? {
            Computed::Value(value) => Ok(FilledOperation { path, value: Some(value) }),
            Computed::Omitted => {
                let message = format!("the value at `{}` was omitted", path.shown());
                let finding = Finding::new(&finding::PATCH_TEMPLATE, Location::Span(operation.at), message);
                Err(finding.help("`oc_omit()` leaves out a part of a value; use `where` instead").into())
            }
        }
    }

    /// A resource after an operation.
    pub(super) fn applied(
        &mut self,
        operation: &SpecOperation,
        filled: &FilledOperation<'_>,
        resource: &Node,
    ) -> Result<Node, Box<Finding>> {
        let (at, path_at, path) = (operation.at, operation.path_at, &*filled.path);
        let value = filled.value.as_ref();
        let asked = Edit { action: operation.action, path, value, at, path_at, dialect: self.dialect };
        edit(resource, &asked, self.limits, &mut self.work).map_err(|refusal| {
            let span = part_of(path_at, path.as_str(), &refusal);
            Box::new(refusal.into_finding(span))
        })
    }

    pub(super) fn fail(
        &mut self,
        mut finding: Finding,
        moment: &PatchMoment<'_>,
        operation: Option<(usize, &SpecOperation)>,
    ) {
        let mut context = format!("patch {}", moment.spec + 1);
        if let Some(round) = moment.round {
            context.push_str(&format!(", iteration {}", round + 1));
        }
        if let Some((number, operation)) = operation {
            context.push_str(&format!(", operation {} ({})", number + 1, operation.action.name()));
            if let PathTemplate::Fixed(path) = &operation.path
                && !finding.message.contains(path.as_str())
            {
                context.push_str(&format!(" at `{}`", path.shown()));
            }
        }
        if !moment.resource.is_empty() {
            context.push_str(&format!(", {}", sanitize::inline(moment.resource)));
        }
        finding.message = format!("{} ({context})", finding.message);
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
    }
}

/// The finding about patches that take too many steps in all.
pub(super) fn too_much_in_run(at: Span, limits: &Limits) -> Finding {
    let (message, help) = limits.excess(Counted::Steps);
    Finding::new(&finding::LIMIT_RUN_WORK, Location::Span(at), message).help(help)
}

/// The span of the wrong part of a path, if the path is written without quotes and escapes.
fn part_of(whole: Span, path: &str, refusal: &Refusal) -> Span {
    match &refusal.range {
        Some(part) if whole.range().len() == path.len() => {
            let start = whole.range().start;
            Span::new(whole.source, start + part.start, start + part.end)
        }
        _ => whole,
    }
}

/// The elements that a loop runs over: the items of a list, or the entries of a map.
pub fn elements(node: &Node) -> Option<Vec<Node>> {
    match &node.value {
        Value::List(list) => Some(list.items().to_vec()),
        Value::Map(_) => Some(pairs(node)),
        _ => None,
    }
}

/// The entries of a map as elements, in the order of their keys.
fn pairs(map: &Node) -> Vec<Node> {
    let mut entries: Vec<&Entry> = map.as_map().map(|map| map.entries().iter().collect()).unwrap_or_default();
    entries.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    let pair = |entry: &&Entry| {
        let (at, key) = (entry.key.span, Node::text(entry.key.name.clone(), entry.key.span));
        Node::map(vec![Entry::named("key", at, key), Entry::named("value", at, entry.value.clone())], at)
    };
    entries.iter().map(pair).collect()
}

fn type_of(computed: &Computed) -> String {
    match computed {
        Computed::Value(node) => format!("a {}", node.type_of()),
        Computed::Omitted => "omitted".to_owned(),
    }
}

/// Kind and name of a resource, for messages.
pub(super) fn name_of(resource: &Node) -> SmolStr {
    let text = |node: Option<&Node>| node.and_then(Node::as_str).map(SmolStr::new);
    let kind = text(resource.get("kind"));
    let name = text(resource.get("metadata").and_then(|metadata| metadata.get("name")));
    match (kind, name) {
        (None, None) => SmolStr::new_static("unknown resource"),
        (kind, name) => {
            smol_str::format_smolstr!("{}/{}", kind.as_deref().unwrap_or("?"), name.as_deref().unwrap_or("?"))
        }
    }
}
