//! What only two revisions show: fields that cannot be changed, and objects that are removed while others refer to them.

use std::collections::{BTreeMap, BTreeSet};

use super::report::{Findings, place};
use crate::finding::{self, Finding, Severity};
use crate::layout::openchoreo::object::{Object, ObjectName, text};
use crate::layout::openchoreo::objects::Objects;
use crate::layout::{Ask, Units};
use crate::value::Node;

/// Adds what is wrong with a change to the findings of its newer side.
pub fn check_change(before: &Units<'_>, after: &Units<'_>, findings: &mut Vec<Finding>) {
    let older = Ask::new(before, Vec::new());
    let older = Objects::new(&older).all();
    if older.is_empty() {
        return;
    }
    let newer = Ask::new(after, Vec::new());
    let newer = Objects::new(&newer).all();
    let removed: BTreeSet<String> = older.iter().map(|object| object.name.to_string()).collect();
    for finding in findings.iter_mut() {
        let is_reference = finding.rule.id.starts_with("openchoreo/ref-") && !finding.label.is_empty();
        if is_reference && removed.contains(&finding.label) {
            finding.severity = Severity::Error;
            finding.message = format!("{} is referred to, and this change removes it", finding.label);
        }
    }
    findings.extend(immutable(&older, &newer));
}

/// Fields by kind that the API server does not let anybody change.
const IMMUTABLE: [(&str, &[&str]); 9] = [
    ("Component", &["owner"]),
    ("Component", &["componentType"]),
    ("Workload", &["owner"]),
    ("ReleaseBinding", &["owner"]),
    ("ReleaseBinding", &["environment"]),
    ("ComponentType", &["workloadType"]),
    ("ClusterComponentType", &["workloadType"]),
    ("Environment", &["dataPlaneRef"]),
    ("ComponentRelease", &[]),
];

fn immutable(older: &[Object], newer: &[Object]) -> Vec<Finding> {
    let mut known: BTreeMap<&ObjectName, Vec<&Object>> = BTreeMap::new();
    for object in older {
        known.entry(&object.name).or_default().push(object);
    }
    let mut findings = Vec::new();
    for object in newer {
        let copies = known.get(&object.name).map(Vec::as_slice).unwrap_or_default();
        let same_file = copies.iter().find(|copy| copy.file == object.file);
        // Of several copies, those in other files are other objects.
        let Some(before) = same_file.or(copies.first().filter(|_| copies.len() == 1)) else { continue };
        let mut found = Findings::new(object);
        for (_, path) in IMMUTABLE.iter().filter(|(kind, _)| *kind == object.name.kind) {
            let (Some(old), Some(new)) = (before.spec(path), object.spec(path)) else { continue };
            if !is_same(old, new) {
                let steps: Vec<&str> = std::iter::once("spec").chain(path.iter().copied()).collect();
                let message =
                    format!("`{}` of {} cannot be changed: the API server rejects this", steps.join("."), object.name);
                found.add(&finding::OPENCHOREO_IMMUTABLE, &place(&steps), message);
                found.relate(std::iter::once(old.span), "before");
            }
        }
        findings.extend(found.all);
    }
    findings
}

/// Whether two values mean the same: a reference may be a text, or a map that names the usual kind.
fn is_same(old: &Node, new: &Node) -> bool {
    let name = |node: &Node| node.as_str().or_else(|| text(node, "name")).map(str::to_owned);
    let kind = |node: &Node| text(node, "kind").map(str::to_owned);
    let is_reference = |node: &Node| node.as_str().is_some() || node.get("name").is_some();
    if old.as_str().is_some() != new.as_str().is_some() && is_reference(old) && is_reference(new) {
        return name(old) == name(new);
    }
    if old.as_map().is_some() && is_reference(old) && is_reference(new) {
        let is_kind = kind(old) == kind(new) || kind(old).is_none() || kind(new).is_none();
        return name(old) == name(new) && is_kind;
    }
    old.is_equal(new)
}
