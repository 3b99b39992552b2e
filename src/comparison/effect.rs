//! The second step: resources as they are in effect, after their expressions and patches.

use std::collections::BTreeSet;

use super::load::Loaded;
use super::{Comparison, Gap};
use crate::finding::Finding;
use crate::parallel::{FEW, few_or_many};
use crate::path::RepoPath;
use crate::resource::Resource;
use crate::rules;
use crate::side::Side;
use crate::text::Span;

/// Resources of one side as they are in effect.
pub(super) struct InEffect {
    pub(super) resources: Vec<Resource>,
    findings: Vec<Finding>,
    /// Whether every stage succeeded for all of them.
    is_complete: bool,
    /// The patches that changed one of them, by their places.
    used: BTreeSet<Span>,
}

impl Comparison<'_> {
    /// Takes the resources of both sides through their stages, and looks for patches of changed files that match none.
    pub(super) fn effect(&self, loaded: Loaded, layers: &[RepoPath]) -> Loaded {
        let Loaded { before, after, mut findings, mut gap, files } = loaded;
        let (before, after) = (in_effect(before, &self.before), in_effect(after, &self.after));
        if !before.is_complete || !after.is_complete {
            gap = gap.max(Gap::Unparsed);
        }
        let scope = &self.options.scope;
        findings.before.extend(before.findings);
        findings.before.extend(rules::unused_patches(&self.before, layers, &before.used, scope));
        findings.after.extend(after.findings);
        findings.after.extend(rules::unused_patches(&self.after, layers, &after.used, scope));
        Loaded { before: before.resources, after: after.resources, findings, gap, files }
    }
}

/// Takes resources through the stages after their directives.
pub(super) fn in_effect(resources: Vec<Resource>, side: &Side<'_>) -> InEffect {
    let effective = few_or_many(resources, FEW, |resource| (side.effective(&resource), resource));
    let mut in_effect = InEffect {
        resources: Vec::with_capacity(effective.len()),
        findings: Vec::new(),
        is_complete: true,
        used: BTreeSet::new(),
    };
    for (effective, resource) in effective {
        in_effect.is_complete &= !effective.is_incomplete;
        in_effect.used.extend(effective.patches.iter().filter(|patch| patch.is_used).map(|patch| patch.at));
        in_effect.findings.extend(effective.findings.iter().cloned());
        // A resource that a patch drops is not there.
        if let Some(payload) = effective.payload.clone() {
            in_effect.resources.push(Resource { payload, ..resource });
        }
    }
    in_effect
}
