//! From a resource as its file has it to the resource in effect: expressions, then patches.

use std::sync::Arc;

use super::World;
use crate::expression::path::has_expressions;
use crate::finding::{Finding, Outcome, Severity};
use crate::layer::{EffectiveMetadata, identify};
use crate::patch::{PatchSet, Patched, SpecUse, Subject, apply_layers};
use crate::path::LogicalPath;
use crate::request::derive;
use crate::resource::{Resource, Role};
use crate::text::Span;
use crate::value::{Entry, Node};

/// A resource in effect.
#[derive(Debug, Clone)]
pub struct Effective {
    /// What it is after every stage; nothing if a patch drops it.
    pub payload: Option<Node>,
    /// What it was after its expressions, before its patches.
    pub computed: Node,
    /// The patch that drops it.
    pub removed_by: Option<Span>,
    /// Every patch that speaks for it, and whether it meant it.
    pub patches: Vec<SpecUse>,
    /// What is wrong with the way there.
    pub findings: Vec<Finding>,
    /// Whether a stage failed, so that the payload is not what it should be.
    pub is_incomplete: bool,
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
        }
    }
}

impl World<'_> {
    /// What a resource of this world is in effect. Worked out once for each that has anything to work out.
    pub fn effective(&self, resource: &Resource) -> Arc<Effective> {
        let patches = self.patches_for(resource);
        let computes = self.settings.expressions && has_expressions(&resource.payload);
        // Layers and the configuration are not resources, though a diff shows them as such.
        let is_plain = !computes && patches.is_none();
        if is_plain || matches!(self.roles.of(&resource.file), Role::Layer | Role::Configuration) {
            return Arc::new(Effective::as_written(&resource.payload));
        }
        let key = (resource.file.clone(), resource.position, resource.identity.clone());
        self.effective.get(&key, || Arc::new(self.work_out(resource, patches)))
    }

    /// The patch files that speak for a resource, if there are any, and its path.
    fn patches_for(&self, resource: &Resource) -> Option<(LogicalPath, Arc<PatchSet>)> {
        let path = self.path_of(resource)?;
        let layers = self.layers_for(&resource.file)?;
        let set = self.patch_files.get(layers.base())?.of(&path, layers, self.sources, self.limits);
        (!set.is_empty()).then_some((path, set))
    }

    fn work_out(&self, resource: &Resource, patches: Option<(LogicalPath, Arc<PatchSet>)>) -> Effective {
        let Outcome { value: computed, mut findings } = self.computed(resource);
        let is_wrong = |finding: &Finding| finding.severity == Severity::Error;
        let is_incomplete = findings.iter().any(is_wrong);
        let Some((path, set)) = patches else {
            return Effective { findings, is_incomplete, ..Effective::as_written(&computed) };
        };
        let outcome = self.patched(&computed, resource, &path, &set);
        findings.extend(outcome.findings);
        let Patched { payload, removed_by, used, is_complete } = outcome.value;
        let is_incomplete = is_incomplete || !is_complete;
        Effective { payload, computed, removed_by, patches: used, findings, is_incomplete }
    }

    fn patched(&self, computed: &Node, resource: &Resource, path: &LogicalPath, set: &PatchSet) -> Outcome<Patched> {
        let metadata = self.metadata_of(resource);
        let alias = match &metadata {
            Some(metadata) => identify(metadata, path, computed).alias,
            None => path.last().unwrap_or_default().into(),
        };
        let nothing = Node::map(Vec::new(), computed.span.start_only());
        let said = metadata.as_deref().map_or_else(|| nothing.clone(), EffectiveMetadata::to_node);
        let attributes =
            metadata.as_deref().map_or_else(|| nothing.clone(), |metadata| attributes(path, metadata, &nothing));
        let subject = Subject { path, alias: &alias, attributes: &attributes, metadata: &said };
        apply_layers(computed, set, &subject, self.limits)
    }
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
