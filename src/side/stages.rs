//! From a resource as its file has it to the resource in effect: expressions, then patches.

use std::sync::Arc;

use super::Side;
use crate::expression::eval::has_expressions;
use crate::finding::{Finding, Outcome, has_errors};
use crate::layout::Role;
use crate::metadata::{EffectiveMetadata, identify};
use crate::patch::{IndexedPath, PatchEvent, PatchSet, PatchSpec, PatchSubject, Patched, SpecUse, apply_layers};
use crate::path::{LogicalPath, Pointer, RepoPath};
use crate::request::derive;
use crate::resource::Resource;
use crate::secrets::without_secrets;
use crate::text::Span;
use crate::value::{Entry, Node, Secret};

/// A resource in effect.
#[derive(Debug, Clone)]
pub struct Effective {
    /// What it is after every stage; nothing if a patch drops it.
    pub payload: Option<Node>,
    /// What it was after its expressions, before its patches.
    pub computed: Node,
    /// The patch that drops it.
    pub removed_by: Option<Span>,
    /// Every patch that applies to its path, and whether it matched it.
    pub patches: Vec<SpecUse>,
    /// What is wrong with the way there.
    pub findings: Vec<Finding>,
    /// Whether a stage failed, so that the payload is not what it should be.
    pub is_incomplete: bool,
    /// Whether an expression failed.
    pub has_failed_expression: bool,
}

impl Effective {
    fn as_written(payload: &Node) -> Self {
        Self {
            payload: Some(payload.clone()),
            computed: payload.clone(),
            removed_by: None,
            patches: Vec::new(),
            findings: Vec::new(),
            is_incomplete: false,
            has_failed_expression: false,
        }
    }
}

/// What makes something else of a resource on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// Its file, as it is written.
    Written,
    /// Merge directives.
    Directives,
    /// Expressions.
    Expressions,
    /// The patches of a file.
    Patches(RepoPath),
}

/// Called after each stage with its result; nothing once the resource was dropped.
type Watch<'w> = dyn FnMut(Stage, Option<&Node>) + 'w;

impl Side<'_> {
    /// What a resource of this side is in effect. Worked out once for each that has anything to work out.
    pub fn effective(&self, resource: &Resource) -> Arc<Effective> {
        match self.work_for(resource) {
            None => Arc::new(Effective::as_written(&resource.payload)),
            Some(patches) => {
                let key = (resource.file.clone(), resource.position, resource.identity.clone());
                self.caches.effective.get(&key, || Arc::new(self.work_out(resource, patches, &mut |_, _| {})))
            }
        }
    }

    /// Whether a resource is in effect as it is written, because there is nothing to work out.
    pub fn is_as_written(&self, resource: &Resource) -> bool {
        self.work_for(resource).is_none()
    }

    /// The resource in effect, uncached, and the payload after each stage that follows its directives.
    pub fn stages(&self, resource: &Resource) -> (Effective, Vec<(Stage, Option<Node>)>) {
        let Some(patches) = self.work_for(resource) else {
            return (Effective::as_written(&resource.payload), Vec::new());
        };
        let mut stages = Vec::new();
        let effective = self.work_out(resource, patches, &mut |stage, node| stages.push((stage, node.cloned())));
        (effective, stages)
    }

    /// The patches that apply to a resource, if there is anything to do for it.
    fn work_for(&self, resource: &Resource) -> Option<Option<(LogicalPath, Arc<PatchSet>)>> {
        let patches = self.patches_for(resource);
        let computes = self.settings.expressions && has_expressions(&resource.payload);
        // Layers and the configuration are not resources, though a diff shows them as such.
        let is_resource = || !matches!(self.roles().role(&resource.file), Role::Layer | Role::Configuration);
        ((computes || patches.is_some()) && is_resource()).then_some(patches)
    }

    /// The patch files that apply to a resource, if there are any, and its path.
    fn patches_for(&self, resource: &Resource) -> Option<(LogicalPath, Arc<PatchSet>)> {
        let path = self.path_of(resource)?;
        let layers = self.layers.layers_for(&resource.file)?;
        let set = self.caches.patch_files.get(layers.base())?.files_for(&path, layers, self.sources, self.limits);
        (!set.is_empty()).then_some((path, set))
    }

    /// The paths with positions of all patches that match a resource.
    pub fn indexed_patches(&self, resource: &Resource) -> Vec<IndexedPath> {
        let Some((_, set)) = self.patches_for(resource) else { return Vec::new() };
        let effective = self.effective(resource);
        let is_used = |spec: &&PatchSpec| effective.patches.iter().any(|used| used.is_used && used.at == spec.at());
        let specs = set.files.iter().flat_map(|file| file.content.specs.iter());
        specs.filter(is_used).flat_map(PatchSpec::indexed_paths).collect()
    }

    fn work_out(
        &self,
        resource: &Resource,
        patches: Option<(LogicalPath, Arc<PatchSet>)>,
        watch: &mut Watch<'_>,
    ) -> Effective {
        let Outcome { value: computed, mut findings } = self.computed(resource);
        let has_failed_expression = has_errors(&findings);
        watch(Stage::Expressions, Some(&computed));
        let Some((path, set)) = patches else {
            let known = if findings.is_empty() { Vec::new() } else { self.secrets_of(resource, &computed) };
            let findings = findings.into_iter().map(|finding| without_secrets(finding, &known)).collect();
            let is_incomplete = has_failed_expression;
            return Effective { findings, is_incomplete, has_failed_expression, ..Effective::as_written(&computed) };
        };
        let (outcome, mut seen) = self.patched_stages(&computed, resource, &path, &set);
        let Patched { mut payload, removed_by, used, is_complete } = outcome.value;
        // What comes out different with other secrets was made of them.
        if let Some(other) = self.secrets.disguised(&resource_with(resource, &computed)).filter(|_| is_complete) {
            let (again, others) = self.patched_stages(&other, resource, &path, &set);
            let again = Some(again.value).filter(|again| again.is_complete);
            let hide = |made: Option<Node>, other: Option<&Node>| {
                made.map(|made| self.secrets.hide_dependent(&resource_with(resource, &made), other))
            };
            payload = hide(payload, again.as_ref().and_then(|again| again.payload.as_ref()));
            for (at, (_, node)) in seen.iter_mut().enumerate() {
                let other = others.get(at).filter(|_| again.is_some()).and_then(|(_, node)| node.as_ref());
                *node = hide(node.take(), other);
            }
        }
        if is_complete {
            seen.into_iter().for_each(|(stage, node)| watch(stage, node.as_ref()));
        }
        findings.extend(outcome.findings);
        let known = self.secrets_of(resource, &computed);
        let payload = match known.is_empty() {
            true => payload,
            false => payload.map(|payload| self.secrets.keep(&known, resource_with(resource, &payload))),
        };
        let findings = findings.into_iter().map(|finding| without_secrets(finding, &known)).collect();
        let is_incomplete = has_failed_expression || !is_complete;
        Effective { payload, computed, removed_by, patches: used, findings, is_incomplete, has_failed_expression }
    }

    fn patched(
        &self,
        computed: &Node,
        resource: &Resource,
        path: &LogicalPath,
        set: &PatchSet,
        watch: &mut dyn FnMut(PatchEvent<'_>),
    ) -> Outcome<Patched> {
        let metadata = self.metadata_of(resource);
        let alias = match &metadata {
            Some(metadata) => identify(metadata, path, computed).value.alias,
            None => path.last().unwrap_or_default().into(),
        };
        let nothing = Node::map(Vec::new(), computed.span.start_only());
        let said = metadata.as_deref().map_or_else(|| nothing.clone(), EffectiveMetadata::to_node);
        let attributes =
            metadata.as_deref().map_or_else(|| nothing.clone(), |metadata| attributes(path, metadata, &nothing));
        let subject = PatchSubject { path, alias: &alias, attributes: &attributes, metadata: &said };
        apply_layers(computed, set, &subject, self.limits, watch)
    }

    /// A payload after its patches, and after those of each file.
    fn patched_stages(
        &self,
        computed: &Node,
        resource: &Resource,
        path: &LogicalPath,
        set: &PatchSet,
    ) -> (Outcome<Patched>, Vec<(Stage, Option<Node>)>) {
        let mut seen = Vec::new();
        let outcome = self.patched(computed, resource, path, set, &mut |moment| {
            if let PatchEvent::File(file, node) = moment {
                seen.push((Stage::Patches(file.path.clone()), node.cloned()));
            }
        });
        (outcome, seen)
    }

    fn secrets_of(&self, resource: &Resource, payload: &Node) -> Vec<Secret> {
        self.secrets.secrets_of(resource_with(resource, payload))
    }

    /// The operation of a patch that removed what was at a place, if one did.
    pub fn taken_away(&self, resource: &Resource, place: &Pointer) -> Option<Span> {
        let (path, set) = self.work_for(resource)??;
        let computed = self.computed(resource).value;
        let (mut is_there, mut taken) = (computed.at(place).is_some(), None);
        let outcome = self.patched(&computed, resource, &path, &set, &mut |moment| {
            if let PatchEvent::Operation(at, node) = moment {
                let is_there_now = node.at(place).is_some();
                taken = if is_there && !is_there_now { Some(at) } else { taken.filter(|_| !is_there_now) };
                is_there = is_there_now;
            }
        });
        taken.filter(|_| outcome.value.is_complete)
    }
}

fn resource_with(resource: &Resource, payload: &Node) -> Resource {
    Resource { payload: payload.clone(), ..resource.clone() }
}

/// What follows from the path of a resource, as a map.
fn attributes(path: &LogicalPath, metadata: &EffectiveMetadata, nothing: &Node) -> Node {
    let collection = path.parent().unwrap_or_else(LogicalPath::root);
    let entries = derive(metadata, path, &collection).into_iter().map(|derived| {
        let place = derived.template.unwrap_or(nothing.span);
        Entry::named(derived.name, place, Node::text(derived.value, place))
    });
    Node::map(entries.collect(), nothing.span)
}
