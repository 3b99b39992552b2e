//! Runs patch specifications on resources: all of them, or none.

use smol_str::SmolStr;

use super::decode::{PatchFile, part_of, template_finding, trouble_finding};
use super::operation::{Edit, edit};
use super::path::PatchPath;
use super::spec::{PatchSpec, PathTemplate, Removal, Selection, SpecOperation};
use super::template::{Expression, Scene, TemplateFailure};
use crate::expression::cel::{Computed, FailureKind, Inputs};
use crate::finding::{self, Finding, Location, Outcome};
use crate::limits::Limits;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A resource while it is patched.
#[derive(Debug, Clone)]
pub(super) struct Patient<'a> {
    /// As it is by now; nothing once it was dropped.
    pub(super) node: Option<Node>,
    /// A name it has beside the one in it.
    pub(super) alias: Option<&'a str>,
}

/// Runs patches on resources, in order, each seeing what the ones before did. If anything fails, nothing has happened.
pub fn apply_specs(
    resources: &[Node],
    specs: &[PatchSpec],
    inputs: &Inputs<'_>,
    limits: &Limits,
) -> Outcome<Vec<Node>> {
    let mut patients: Vec<Patient<'_>> =
        resources.iter().map(|node| Patient { node: Some(node.clone()), alias: None }).collect();
    let mut run = Run::new(inputs, limits);
    for (number, spec) in specs.iter().enumerate() {
        run.spec(number, spec, &mut patients, &mut |_, _| {});
    }
    let value = match run.findings.is_empty() {
        true => patients.into_iter().filter_map(|patient| patient.node).collect(),
        false => resources.to_vec(),
    };
    Outcome { value, findings: run.findings }
}

/// Runs everything a patch file says on resources; nothing is left of those that it drops. If anything fails, nothing has
/// happened. Its parameters are among the inputs.
pub fn apply_file(
    resources: &[Node],
    file: &PatchFile,
    inputs: &Inputs<'_>,
    limits: &Limits,
) -> Outcome<Vec<Option<Node>>> {
    let patient = |node: &Node| Patient { node: Some(node.clone()), alias: None };
    let mut patients: Vec<Patient<'_>> = resources.iter().map(patient).collect();
    let mut run = Run::new(inputs, limits);
    for (number, spec) in file.specs.iter().enumerate() {
        run.spec(number, spec, &mut patients, &mut |_, _| {});
    }
    // All removals are asked about the same resources.
    let before = patients.clone();
    for (number, removal) in file.removes.iter().enumerate() {
        let mut asked = before.clone();
        run.removal(number, removal, &mut asked);
        let dropped = patients.iter_mut().zip(asked).filter(|(_, asked)| asked.node.is_none());
        dropped.for_each(|(patient, _)| patient.node = None);
    }
    let value = match run.findings.is_empty() {
        true => patients.into_iter().map(|patient| patient.node).collect(),
        false => resources.iter().cloned().map(Some).collect(),
    };
    Outcome { value, findings: run.findings }
}

/// One run, with its account.
pub(super) struct Run<'a> {
    inputs: &'a Inputs<'a>,
    limits: &'a Limits,
    work: u64,
    pub(super) findings: Vec<Finding>,
}

/// Where in a run something happens; all numbers count from 1 when they are told.
#[derive(Clone, Copy)]
struct Moment<'m> {
    spec: usize,
    /// Which element of `forEach`, if there is one.
    round: Option<usize>,
    resource: &'m str,
}

/// The loop variable and its value.
type Bound<'b> = Option<(&'b str, &'b Node)>;

/// What is done with each resource that is meant.
type Act<'f, 'a> = dyn FnMut(&mut Run<'a>, &Moment<'_>, Bound<'_>, &mut Patient<'_>) + 'f;

/// How often a patch runs.
enum Rounds {
    Once,
    Each(Vec<Node>),
    /// Nobody knows, because `forEach` failed.
    Unknown,
}

/// More than this is not told: it would be the same again and again.
const MOST_FINDINGS: usize = 50;

impl<'a> Run<'a> {
    pub(super) fn new(inputs: &'a Inputs<'a>, limits: &'a Limits) -> Self {
        Self { inputs, limits, work: 0, findings: Vec::new() }
    }

    /// Whether it makes no sense to go on.
    fn is_over(&mut self, at: Span) -> bool {
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

    /// Runs one patch; `watch` sees each resource after each operation. Whether any resource was meant.
    pub(super) fn spec(
        &mut self,
        number: usize,
        spec: &PatchSpec,
        patients: &mut [Patient<'_>],
        watch: &mut dyn FnMut(Span, &Node),
    ) -> bool {
        self.each(number, &spec.selection, patients, &mut |run, moment, bound, patient| {
            for (number, operation) in spec.operations.iter().enumerate() {
                if run.is_over(operation.at) {
                    break;
                }
                run.operation(moment, number, operation, bound, patient);
                patient.node.iter().for_each(|node| watch(operation.at, node));
            }
        })
    }

    /// Drops the resources that are meant. Whether any was.
    pub(super) fn removal(&mut self, number: usize, removal: &Removal, patients: &mut [Patient<'_>]) -> bool {
        self.each(number, &removal.selection, patients, &mut |_, _, _, patient| patient.node = None)
    }

    /// Elements outside, resources inside.
    fn each(
        &mut self,
        number: usize,
        selection: &Selection,
        patients: &mut [Patient<'_>],
        act: &mut Act<'_, 'a>,
    ) -> bool {
        let fits: Vec<bool> = patients
            .iter()
            .map(|patient| patient.node.as_ref().is_some_and(|node| selection.target.fits(node, patient.alias)))
            .collect();
        let elements = match self.rounds(number, selection) {
            Rounds::Once => return self.targets(number, selection, None, &fits, patients, act),
            Rounds::Each(elements) => elements,
            Rounds::Unknown => return fits.contains(&true),
        };
        let mut is_used = elements.is_empty() && fits.contains(&true);
        for (round, element) in elements.iter().enumerate() {
            if self.is_over(selection.at) {
                break;
            }
            let bound = Some((round, (selection.variable.as_str(), element)));
            is_used |= self.targets(number, selection, bound, &fits, patients, act);
        }
        is_used
    }

    fn targets(
        &mut self,
        spec: usize,
        selection: &Selection,
        bound: Option<(usize, (&str, &Node))>,
        fits: &[bool],
        patients: &mut [Patient<'_>],
        act: &mut Act<'_, 'a>,
    ) -> bool {
        let mut is_used = false;
        for (patient, _) in patients.iter_mut().zip(fits).filter(|(_, fits)| **fits) {
            let Some(node) = patient.node.clone() else { continue };
            let name = name_of(&node);
            let moment = Moment { spec, round: bound.map(|(round, _)| round), resource: &name };
            let bound = bound.map(|(_, bound)| bound);
            let is_meant = match &selection.target.condition {
                None => true,
                Some(condition) => self.condition(condition, &moment, bound, &node),
            };
            if is_meant {
                is_used = true;
                act(self, &moment, bound, patient);
            }
        }
        is_used
    }

    fn rounds(&mut self, spec: usize, selection: &Selection) -> Rounds {
        let Some(for_each) = &selection.for_each else { return Rounds::Once };
        let mut scene = Scene { inputs: self.inputs.clone(), limits: self.limits, work: &mut self.work };
        let failure = match for_each.evaluate(&mut scene) {
            Ok(Computed::Value(node)) if node.as_list().is_some() => {
                return Rounds::Each(node.as_list().unwrap_or_default().to_vec());
            }
            Ok(Computed::Value(node)) if node.as_map().is_some() => return Rounds::Each(pairs(&node)),
            Ok(other) => for_each.failed(&format!("`forEach` needs a list or a map, and this is {}", type_of(&other))),
            Err(failure) => failure,
        };
        let moment = Moment { spec, round: None, resource: "" };
        self.fail(template_finding(&failure, &finding::PATCH_FOR_EACH, "forEach"), &moment, None);
        Rounds::Unknown
    }

    fn condition(&mut self, condition: &Expression, moment: &Moment<'_>, bound: Bound<'_>, resource: &Node) -> bool {
        let failure = match condition.evaluate(&mut self.scene(bound, resource)) {
            Ok(Computed::Value(Node { value: Value::Bool(is_meant), .. })) => return is_meant,
            Ok(other) => condition.failed(&format!("`where` needs a boolean, and this is {}", type_of(&other))),
            // What a resource does not have cannot be asked for.
            Err(TemplateFailure { failure, .. }) if failure.kind == FailureKind::MissingKey => return false,
            Err(failure) => failure,
        };
        self.fail(template_finding(&failure, &finding::PATCH_WHERE, "where"), moment, None);
        false
    }

    fn scene<'s>(&'s mut self, bound: Bound<'s>, resource: &'s Node) -> Scene<'s, 's> {
        let mut inputs: Inputs<'s> = self.inputs.clone();
        if let Some((name, element)) = bound {
            inputs = inputs.with(name, element);
        }
        Scene { inputs: inputs.with("resource", resource), limits: self.limits, work: &mut self.work }
    }

    fn operation(
        &mut self,
        moment: &Moment<'_>,
        number: usize,
        operation: &SpecOperation,
        bound: Bound<'_>,
        patient: &mut Patient<'_>,
    ) {
        let Some(resource) = patient.node.clone() else { return };
        match self.edited(operation, bound, &resource) {
            Ok(edited) => patient.node = Some(edited),
            Err(finding) => self.fail(*finding, moment, Some((number, operation))),
        }
    }

    fn edited(&mut self, operation: &SpecOperation, bound: Bound<'_>, resource: &Node) -> Result<Node, Box<Finding>> {
        let template =
            |failure: &TemplateFailure, what: &str| Box::new(template_finding(failure, &finding::PATCH_TEMPLATE, what));
        let made;
        let path = match &operation.path {
            PathTemplate::Fixed(path) => path,
            PathTemplate::Made(path) => {
                let filled =
                    path.fill(&mut self.scene(bound, resource)).map_err(|failure| template(&failure, "path"))?;
                let Computed::Value(Node { value: Value::String(text), .. }) = &filled else {
                    let message = format!("the `path` must be a text, and this is {}", type_of(&filled));
                    return Err(
                        Finding::new(&finding::PATCH_TEMPLATE, Location::Span(operation.path_at), message).into()
                    );
                };
                made = PatchPath::compile(text, self.limits)
                    .map_err(|trouble| trouble_finding(&trouble, operation.path_at))?;
                &made
            }
        };
        let value = match &operation.value {
            None => None,
            Some(value) => {
                match value.fill(&mut self.scene(bound, resource)).map_err(|failure| template(&failure, "value"))? {
                    Computed::Value(value) => Some(value),
                    Computed::Omitted => {
                        let message = format!("the value at `{}` was omitted", path.shown());
                        let finding = Finding::new(&finding::PATCH_TEMPLATE, Location::Span(operation.at), message);
                        return Err(finding
                            .help("`oc_omit()` leaves out a part of a value; use `where` instead")
                            .into());
                    }
                }
            }
        };
        let (at, path_at) = (operation.at, operation.path_at);
        let asked = Edit { action: operation.action, path, value: value.as_ref(), at, path_at };
        edit(resource, &asked, self.limits, &mut self.work).map_err(|trouble| {
            let place = part_of(path_at, path.as_str(), &trouble);
            Box::new(trouble_finding(&trouble, place))
        })
    }

    fn fail(&mut self, mut finding: Finding, moment: &Moment<'_>, operation: Option<(usize, &SpecOperation)>) {
        let mut told = format!("patch {}", moment.spec + 1);
        if let Some(round) = moment.round {
            told.push_str(&format!(", iteration {}", round + 1));
        }
        if let Some((number, operation)) = operation {
            told.push_str(&format!(", operation {} ({})", number + 1, operation.action.name()));
            if let PathTemplate::Fixed(path) = &operation.path
                && !finding.message.contains(path.as_str())
            {
                told.push_str(&format!(" at `{}`", path.shown()));
            }
        }
        if !moment.resource.is_empty() {
            told.push_str(&format!(", {}", sanitize::inline(moment.resource)));
        }
        finding.message = format!("{} ({told})", finding.message);
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        }
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
fn name_of(resource: &Node) -> SmolStr {
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
