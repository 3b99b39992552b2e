//! `metadata/dead-edit`: an edited value of a layer that no resource reads.

use crate::finding::{self, Finding, Location};
use crate::impact::LayerEdit;

/// One finding for every edit that no resource reads.
pub fn dead_edits(edits: &[LayerEdit]) -> Vec<Finding> {
    let findings = edits.iter().filter(|edit| edit.is_dead).filter_map(|edit| {
        let message = format!("`{}` is edited here, but no resource reads it", edit.pointer);
        let finding = Finding::new(&finding::METADATA_DEAD_EDIT, Location::Span(edit.after?), message);
        let finding = finding.labelled("nobody reads this");
        Some(match edit.overridden.first() {
            Some(first) => finding
                .related(first.by, format!("counts for {} instead", first.resource))
                .help("a stronger layer says something else for every resource; edit it there, or remove it there"),
            None => finding.help("no resource stands where this layer speaks; check the directory it is in"),
        })
    });
    findings.collect()
}
