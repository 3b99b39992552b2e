//! `metadata/redundant`, `merge/redundant`: an override that is equal to what it overrides.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{self, Finding, Location};
use crate::metadata::{Effect, EffectiveEntry, Field, LayerOrigin};
use crate::path::{Pointer, RepoPath};
use crate::resource::Resource;
use crate::side::Side;
use crate::text::Span;
use crate::value::{Node, StepKind};

/// One finding for every value of these layer files that changes nothing for any resource that takes it from there.
pub fn redundant_layers(side: &Side<'_>, layers: &[RepoPath], resources: &[&Resource]) -> Vec<Finding> {
    let layers: BTreeSet<&RepoPath> = layers.iter().collect();
    let is_meant = |entry: &EffectiveEntry| match &entry.by.origin {
        LayerOrigin::File { path, .. } => layers.contains(path),
        _ => false,
    };
    // By place: the field, and what it repeats, as long as every resource agrees.
    let mut judged: BTreeMap<Span, (Pointer, Option<Span>)> = BTreeMap::new();
    if layers.is_empty() {
        return Vec::new();
    }
    for resource in resources {
        let Some(metadata) = side.metadata_of(resource).filter(|metadata| metadata.is_complete()) else { continue };
        let own = metadata.entries().filter(|(path, entry)| path.field != Field::Itself && is_meant(entry));
        for (field_path, entry) in own {
            let repeats = entry.over.as_ref().filter(|over| is_same(entry, over)).map(|over| over.at);
            let known = judged.entry(entry.at).or_insert_with(|| (field_path.pointer(), repeats));
            known.1 = known.1.and(repeats);
        }
    }
    let redundant = judged.into_iter().filter_map(|(at, (pointer, repeats))| {
        let message = format!("`{pointer}` is set to what a weaker layer sets already");
        let finding = Finding::new(&finding::METADATA_REDUNDANT, Location::Span(at), message);
        Some(finding.labelled("repeats it").related(repeats?, "set here").help("remove one of them"))
    });
    redundant.collect()
}

fn is_same(entry: &EffectiveEntry, over: &EffectiveEntry) -> bool {
    match (&entry.effect, &over.effect) {
        (Effect::Set(own), Effect::Set(other)) => own.is_equal(other),
        _ => false,
    }
}

/// One finding for every value of a resource that is written beside a merge directive and equal to what the directive brings.
pub fn redundant_overrides(resource: &Resource) -> Vec<Finding> {
    let mut findings = Vec::new();
    resource.payload.for_each(&mut Pointer::default(), |place, node| {
        let Some(over) = node.overridden().filter(|over| is_brought(over) && over.is_equal(node)) else { return };
        if node.holds_secret() || node.span == over.span {
            return;
        }
        let message = format!("`{place}` of {} is what it overrides", resource.identity);
        let mut finding = Finding::new(&finding::MERGE_REDUNDANT, Location::Span(node.span), message)
            .labelled("repeats it")
            .related(over.span, "inherited from here")
            .help("remove it, unless it is meant to stay when the inherited value changes")
            .about(resource.identity.to_string());
        finding.pointer = Some(place.clone());
        findings.push(finding);
    });
    findings
}

/// Whether a directive brought a value; a patch or an expression replaces values on purpose.
fn is_brought(node: &Node) -> bool {
    node.step().is_none_or(|step| matches!(step.kind, StepKind::Directive | StepKind::Include | StepKind::MergeKey))
}
