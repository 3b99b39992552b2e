//! Patches and removals of a trait of OpenChoreo, run exactly as its platform runs them: every failure is fatal, operations are made
//! once for all targets and do not see `resource`, and resources of different planes are different.

use smol_str::SmolStr;

use super::operation::Action;
use super::path::PatchPath;
use super::run::{Bound, PatchMoment, PatchRun, PatchState, Rounds, name_of};
use super::spec::{PatchSpec, PatchTarget, PathTemplate, Removal, Selection, SpecOperation};
use super::template::{CelReader, Dialect, ValueTemplate};
use crate::expression::cel::Inputs;
use crate::finding::{Finding, Refusal};
use crate::limits::Limits;
use crate::value::{Node, Value};

/// The patches and removals of a trait, ready to run.
#[derive(Debug, Default)]
pub struct PlatformPatches {
    patches: Vec<Result<PatchSpec, Box<Finding>>>,
    removals: Vec<Removal>,
}

/// A resource and the plane that it is for.
#[derive(Debug, Clone)]
pub struct PlacedResource {
    /// The plane; empty if there is none.
    pub plane: SmolStr,
    /// The resource.
    pub node: Node,
    /// Where it comes from: the template, and the element it was made for.
    pub origin: SmolStr,
}

/// Which resources of a plane are meant, for rules that look at them.
#[derive(Debug)]
pub struct PlatformTarget(PatchTarget);

impl PlatformPatches {
    /// Reads patches and removals as the API server keeps them; `plane` is the plane of those that name none. What cannot be read
    /// fails when it is run.
    pub fn read(patches: Option<&Node>, removals: Option<&Node>, plane: &str, reader: &CelReader<'_>) -> Self {
        let items = |list: Option<&Node>| list.and_then(Node::as_list).unwrap_or_default().to_vec();
        let patch = |node: Node| {
            let operations = node.get("operations").and_then(Node::as_list).unwrap_or_default();
            let operations = operations.iter().map(|node| operation(node, reader)).collect::<Result<_, _>>();
            Ok(PatchSpec { selection: selection(&node, plane, reader), operations: operations? })
        };
        Self {
            patches: items(patches).into_iter().map(patch).collect(),
            removals: items(removals)
                .iter()
                .map(|node| Removal { selection: selection(node, plane, reader) })
                .collect(),
        }
    }

    /// The resources after all patches and removals, or the first failure.
    pub fn apply(
        &self,
        resources: Vec<PlacedResource>,
        inputs: &Inputs<'_>,
        limits: &Limits,
    ) -> Result<Vec<PlacedResource>, Box<Finding>> {
        let mut run = PatchRun::new(inputs, limits);
        run.dialect = Dialect::Platform;
        let mut states: Vec<PatchState<'_>> = resources.iter().map(state).collect();
        for (number, spec) in self.patches.iter().enumerate() {
            let spec = spec.as_ref().map_err(Clone::clone)?;
            run.patch(number, spec, &mut states);
            run.first_failure()?;
        }
        let mut dropped = vec![false; states.len()];
        for (number, removal) in self.removals.iter().enumerate() {
            run.mark(number, &removal.selection, &states, &mut dropped);
            run.first_failure()?;
        }
        let nodes: Vec<Option<Node>> = states.into_iter().map(|state| state.node).collect();
        let left = resources.into_iter().zip(nodes).zip(dropped).filter(|(_, is_dropped)| !is_dropped);
        Ok(left.filter_map(|((resource, node), _)| Some(PlacedResource { node: node?, ..resource })).collect())
    }
}

impl PlatformTarget {
    /// Reads a target.
    pub fn read(target: Option<&Node>, plane: &str, reader: &CelReader<'_>) -> Self {
        Self(read_target(target, plane, reader))
    }

    /// The resources that are meant, or the first failure of `where`.
    pub fn select<'r>(
        &self,
        resources: &'r [PlacedResource],
        inputs: &Inputs<'_>,
        limits: &Limits,
    ) -> Result<Vec<&'r PlacedResource>, Box<Finding>> {
        let mut run = PatchRun::new(inputs, limits);
        run.dialect = Dialect::Platform;
        let mut meant = Vec::new();
        for resource in resources.iter().filter(|resource| state(resource).fits(&self.0)) {
            let name = name_of(&resource.node);
            let moment = PatchMoment { spec: 0, round: None, resource: &name };
            let is_meant = self.0.condition.as_ref().is_none_or(|it| run.condition(it, &moment, None, &resource.node));
            run.first_failure()?;
            meant.extend(is_meant.then_some(resource));
        }
        Ok(meant)
    }

    /// The group, version and kind, for messages.
    pub fn shown(&self) -> String {
        format!("{}/{}/{}", self.0.group, self.0.version, self.0.kind)
    }
}

fn state(resource: &PlacedResource) -> PatchState<'_> {
    PatchState { node: Some(resource.node.clone()), alias: None, plane: Some(&resource.plane) }
}

impl PatchRun<'_> {
    fn first_failure(&mut self) -> Result<(), Box<Finding>> {
        match self.findings.is_empty() {
            true => Ok(()),
            false => Err(Box::new(self.findings.swap_remove(0))),
        }
    }

    fn patch(&mut self, number: usize, spec: &PatchSpec, states: &mut [PatchState<'_>]) {
        match self.rounds(number, &spec.selection) {
            Rounds::Unknown => {}
            Rounds::Once => self.patch_once(number, None, spec, None, states),
            Rounds::Each(elements) => {
                for (round, element) in elements.iter().enumerate() {
                    let bound = Some((spec.selection.variable.as_str(), element));
                    self.patch_once(number, Some(round), spec, bound, states);
                    if !self.findings.is_empty() {
                        break;
                    }
                }
            }
        }
    }

    /// Selects, then makes all operations, then applies them to each target. Without candidates nothing is made.
    fn patch_once(
        &mut self,
        number: usize,
        round: Option<usize>,
        spec: &PatchSpec,
        bound: Bound<'_>,
        states: &mut [PatchState<'_>],
    ) {
        let moment = PatchMoment { spec: number, round, resource: "" };
        let target = &spec.selection.target;
        let mut candidates: Vec<&mut PatchState<'_>> = states.iter_mut().filter(|state| state.fits(target)).collect();
        if candidates.is_empty() {
            return;
        }
        if let Some(condition) = &target.condition {
            candidates.retain(|state| {
                let node = state.node.clone();
                node.is_some_and(|node| self.findings.is_empty() && self.condition(condition, &moment, bound, &node))
            });
        }
        let mut operations = Vec::new();
        for (at, operation) in spec.operations.iter().enumerate() {
            if !self.findings.is_empty() {
                return;
            }
            match self.filled(operation, bound, None) {
                Ok(filled) => operations.push((at, operation, filled)),
                Err(finding) => self.fail(*finding, &moment, Some((at, operation))),
            }
        }
        for state in candidates {
            for (at, operation, filled) in &operations {
                let Some(node) = state.node.clone() else { break };
                match self.applied(operation, filled, &node) {
                    Ok(edited) => state.node = Some(edited),
                    Err(finding) => {
                        let name = name_of(&node);
                        let moment = PatchMoment { resource: &name, ..moment };
                        return self.fail(*finding, &moment, Some((*at, operation)));
                    }
                }
            }
        }
    }

    /// Marks the resources that a removal selects.
    fn mark(&mut self, number: usize, selection: &Selection, states: &[PatchState<'_>], dropped: &mut [bool]) {
        let elements = match self.rounds(number, selection) {
            Rounds::Unknown => return,
            Rounds::Once => vec![None],
            Rounds::Each(elements) => elements.into_iter().map(Some).collect(),
        };
        for (round, element) in elements.iter().enumerate() {
            let bound = element.as_ref().map(|element| (selection.variable.as_str(), element));
            let moment = PatchMoment { spec: number, round: element.is_some().then_some(round), resource: "" };
            for (state, dropped) in states.iter().zip(&mut *dropped).filter(|(it, _)| it.fits(&selection.target)) {
                let Some(node) = &state.node else { continue };
                let condition = selection.target.condition.as_ref();
                *dropped |= condition.is_none_or(|condition| self.condition(condition, &moment, bound, node));
            }
        }
    }
}

fn selection(node: &Node, plane: &str, reader: &CelReader<'_>) -> Selection {
    let named = text(node, "targetPlane").unwrap_or_else(|| plane.into());
    Selection {
        target: read_target(node.get("target"), &named, reader),
        for_each: expression(node.get("forEach"), reader),
        variable: text(node, "var").unwrap_or_else(|| "item".into()),
        at: node.span,
    }
}

fn read_target(node: Option<&Node>, plane: &str, reader: &CelReader<'_>) -> PatchTarget {
    let field = |name: &str| node.and_then(|node| text(node, name)).unwrap_or_default();
    PatchTarget {
        group: field("group"),
        version: field("version"),
        kind: field("kind"),
        name: SmolStr::default(),
        condition: expression(node.and_then(|node| node.get("where")), reader),
        plane: plane.into(),
    }
}

/// A text that is set.
fn text(node: &Node, name: &str) -> Option<SmolStr> {
    node.get(name).and_then(Node::as_str).filter(|text| !text.is_empty()).map(SmolStr::new)
}

fn expression(node: Option<&Node>, reader: &CelReader<'_>) -> Option<ValueTemplate> {
    let node = node.filter(|node| node.as_str().is_none_or(|text| !text.is_empty()))?;
    let is_set = !matches!(node.value, Value::Null);
    is_set.then(|| ValueTemplate::compile(node, reader, &mut Vec::new()))
}

fn operation(node: &Node, reader: &CelReader<'_>) -> Result<SpecOperation, Box<Finding>> {
    let op = node.get("op").and_then(Node::as_str).unwrap_or_default();
    let action = Action::parse(op).map_err(|refusal| Box::new(refusal.into_finding(node.span)))?;
    let written = node.get("path").filter(|path| path.as_str().is_some());
    let path_at = written.map_or(node.span, |path| path.span);
    let refused = |refusal: Refusal| Box::new(refusal.into_finding(path_at));
    let path = match written.map(|path| ValueTemplate::compile(path, reader, &mut Vec::new())) {
        Some(ValueTemplate::Text(template)) => PathTemplate::Computed(template),
        _ => {
            let path = written.and_then(Node::as_str).unwrap_or_default();
            PathTemplate::Fixed(PatchPath::compile(path, reader.limits).map_err(refused)?)
        }
    };
    // A value that is not written is null.
    let nothing = Node::new(Value::Null, node.span);
    let value = (action != Action::Remove).then(|| node.get("value").unwrap_or(&nothing));
    let value = value.map(|value| ValueTemplate::compile(value, reader, &mut Vec::new()));
    Ok(SpecOperation { action, path, value, at: node.span, path_at })
}
