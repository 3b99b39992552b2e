//! Compare rules of metadata: which changes of a payload they hide, and which the newer side's would hide.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::views::{ResourceWithMetadata, ViewNotes};
use crate::diff::{self, Change, DiffSide, Difference, Options, Suppressed};
use crate::metadata::{EffectiveMetadata, LayerOrigin, Operation};
use crate::request;
use crate::value::Node;

/// The changes that the compare rules of the older side let through; nothing where there are no rules. What they hide is noted,
/// and so is what the rules of the newer side would hide in addition.
pub(super) fn let_through(
    old: &ResourceWithMetadata<'_>,
    new: &ResourceWithMetadata<'_>,
    plain: &Difference,
    options: &Options,
    notes: &mut ViewNotes,
) -> Option<Difference> {
    let old_rules = CompareRules::in_metadata(&old.metadata);
    let new_rules = CompareRules::in_metadata(&new.metadata);
    let shown = old_rules.as_ref().and_then(|_| transformed(old, [old, new], options, notes));
    if let (Some(rule), Some(shown)) = (&old_rules, &shown) {
        notes.suppressed.extend(hidden(plain, shown, rule, new));
    }
    if let Some(rule) = new_rules.as_ref().filter(|_| old_rules != new_rules) {
        let current = shown.as_ref().unwrap_or(plain);
        if let Some(future) = transformed(new, [old, new], options, notes) {
            notes.would_hide.extend(hidden(current, &future, rule, new));
        }
    }
    shown
}

/// Both payloads after the rules of one side, compared. Where a rule fails, nothing is hidden.
fn transformed(
    rules: &ResourceWithMetadata<'_>,
    sides: [&ResourceWithMetadata<'_>; 2],
    options: &Options,
    notes: &mut ViewNotes,
) -> Option<Difference> {
    let mut transformed = Vec::with_capacity(2);
    for side in sides {
        match request::compare_transform(&side.resource.payload, &rules.target()) {
            Ok(node) => transformed.push(node),
            Err(finding) => {
                notes.findings.after.push(*finding);
                return None;
            }
        }
    }
    Some(diff::diff(&transformed[0], &transformed[1], options))
}

/// The changes that are among all of them but not among those that are shown.
fn hidden(all: &Difference, shown: &Difference, rule: &CompareRules, of: &ResourceWithMetadata<'_>) -> Vec<Suppressed> {
    let place_of = |change: &Change| diff::pointer(&change.path, DiffSide::After).to_string();
    let shown: BTreeSet<String> = shown.changes.iter().map(place_of).collect();
    let hidden = all.changes.iter().filter(|change| !shown.contains(&place_of(change))).map(|change| Suppressed {
        rule: rule.name.clone(),
        identity: of.resource.identity.clone(),
        change: change.clone(),
    });
    hidden.collect()
}

/// What metadata says about comparing, and which files say it.
#[derive(Debug, Clone)]
struct CompareRules {
    name: SmolStr,
    rules: Vec<(SmolStr, Node)>,
}

impl PartialEq for CompareRules {
    fn eq(&self, other: &Self) -> bool {
        self.rules.len() == other.rules.len()
            && self.rules.iter().zip(&other.rules).all(|(a, b)| a.0 == b.0 && a.1.is_identical(&b.1))
    }
}

impl CompareRules {
    fn in_metadata(metadata: &EffectiveMetadata) -> Option<Self> {
        let transforms = metadata.transforms(Operation::Compare);
        if transforms.is_empty() {
            return None;
        }
        let files: BTreeSet<String> = transforms
            .iter()
            .filter_map(|step| match &step.by.origin {
                LayerOrigin::File { path, .. } => Some(path.to_string()),
                _ => None,
            })
            .collect();
        let files: Vec<String> = files.into_iter().collect();
        let name = if files.is_empty() {
            "compare rules of metadata".into()
        } else {
            format!("compare rules of {}", files.join(", ")).into()
        };
        let rules = transforms.into_iter().map(|step| (format!("{:?}", step.kind).into(), step.node.clone()));
        Some(Self { name, rules: rules.collect() })
    }
}
