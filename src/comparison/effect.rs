//! The second step: resources as they are in effect, after their expressions and patches.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::expressions::{WrittenKey, WrittenPayloads, key};
use super::load::Loaded;
use super::{Comparison, Gap};
use crate::expression::eval::has_expressions;
use crate::finding::{self, Finding};
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::rules;
use crate::side::{Effective, Side};
use crate::text::Span;
use crate::value::Node;

/// Resources of one side as they are in effect.
#[derive(Default)]
pub(super) struct InEffect {
    pub(super) resources: Vec<Resource>,
    pub(super) findings: Vec<Finding>,
    /// Whether a stage failed for one of them.
    pub(super) is_incomplete: bool,
    /// The patches that changed one of them, by their places.
    used: BTreeSet<Span>,
    /// Payloads with expressions as they are written.
    written: WrittenPayloads,
}

impl Comparison<'_> {
    /// Takes the resources of both sides through their stages, and looks for patches of changed files that match none.
    pub(super) fn effect(&self, mut loaded: Loaded, layers: &[RepoPath]) -> Loaded {
        let [before, after] = both_in_effect(loaded.before, loaded.after, &self.before, &self.after);
        if before.is_incomplete || after.is_incomplete {
            loaded.gap = loaded.gap.max(Gap::Unparsed);
        }
        let (scope, findings) = (&self.options.scope, &mut loaded.findings);
        findings.before.extend(before.findings);
        findings.before.extend(rules::unused_patches(&self.before, layers, &before.used, scope));
        findings.after.extend(after.findings);
        findings.after.extend(rules::unused_patches(&self.after, layers, &after.used, scope));
        let written = [before.written, after.written];
        Loaded { before: before.resources, after: after.resources, written, ..loaded }
    }
}

/// Takes the resources of both sides through the stages after their directives. A stage that fails on one side is left out on
/// both: what a failure makes of a resource is not a change.
pub(super) fn both_in_effect(
    before: Vec<Resource>,
    after: Vec<Resource>,
    older: &Side<'_>,
    newer: &Side<'_>,
) -> [InEffect; 2] {
    let work = |resources: Vec<Resource>, side: &Side<'_>| -> Vec<(Arc<Effective>, Resource)> {
        few_or_many(resources, FEW, |resource| (side.effective(&resource), resource))
    };
    let sides = [(work(before, older), older), (work(after, newer), newer)];
    let mut failed: BTreeMap<WrittenKey, FailedStage> = BTreeMap::new();
    for (effective, resource) in sides.iter().flat_map(|(worked, _)| worked).filter(|(it, _)| it.is_incomplete) {
        let stage = if effective.has_failed_expression { FailedStage::Expressions } else { FailedStage::Patches };
        let known = failed.entry(key(resource)).or_insert(stage);
        *known = (*known).min(stage);
    }
    // Expressions of another language in an unedited document were there before, and are no part of this change.
    let is_foreign = |finding: &Finding| {
        [&finding::EXPRESSION_UNKNOWN_FUNCTION, &finding::EXPRESSION_UNKNOWN_SPECIAL_KEY]
            .iter()
            .any(|rule| rule.id == finding.rule.id)
    };
    let failures = |worked: &[(Arc<Effective>, Resource)]| -> BTreeMap<WrittenKey, Node> {
        let failing = worked.iter().filter(|(it, _)| {
            it.has_failed_expression && it.findings.iter().filter(|finding| finding.is_error()).all(is_foreign)
        });
        failing.map(|(_, resource)| (key(resource), resource.payload.clone())).collect()
    };
    let (older, newer) = (failures(&sides[0].0), failures(&sides[1].0));
    let untouched: BTreeSet<WrittenKey> = older
        .into_iter()
        .filter(|(key, payload)| newer.get(key).is_some_and(|newer| newer.is_identical(payload)))
        .map(|(key, _)| key)
        .collect();
    sides.map(|(worked, side)| in_effect(worked, side, &failed, &untouched))
}

/// The first stage that failed for a resource on either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FailedStage {
    Expressions,
    Patches,
}

fn in_effect(
    worked: Vec<(Arc<Effective>, Resource)>,
    side: &Side<'_>,
    failed: &BTreeMap<WrittenKey, FailedStage>,
    untouched: &BTreeSet<WrittenKey>,
) -> InEffect {
    let mut in_effect = InEffect::default();
    for (effective, resource) in worked {
        let is_untouched = !untouched.is_empty() && untouched.contains(&key(&resource));
        in_effect.is_incomplete |= effective.is_incomplete && !is_untouched;
        in_effect.used.extend(effective.patches.iter().filter(|patch| patch.is_used).map(|patch| patch.at));
        in_effect.findings.extend(effective.findings.iter().filter(|_| !is_untouched).cloned());
        // What fails there stays as it is written on both sides, and the rest is computed.
        let stage = if failed.is_empty() || is_untouched { None } else { failed.get(&key(&resource)) };
        let payload = match stage {
            None => effective.payload.clone(),
            Some(FailedStage::Patches) => Some(effective.computed.clone()),
            Some(FailedStage::Expressions) => Some(resource.payload.clone()),
        };
        if stage.is_none() && side.settings.expressions && has_expressions(&resource.payload) {
            in_effect.written.insert(key(&resource), resource.payload.clone());
        }
        // A resource that a patch drops is not there.
        if let Some(payload) = payload {
            in_effect.resources.push(Resource { payload, ..resource });
        }
    }
    in_effect
}
