//! `metadata/dead-edit`: an edited value of a layer that no resource reads.

use crate::finding::{self, Finding, Location};
use crate::impact::LayerEdit;

/// One finding for every edit that no resource reads.
pub fn dead_edits(edits: &[LayerEdit]) -> Vec<Finding> {
    let findings = edits.iter().filter(|edit| edit.is_dead).filter_map(|edit| {
        let message = format!("`{}` is edited here, but no resource reads it", edit.pointer);
        let finding = Finding::new(&finding::METADATA_DEAD_EDIT, Location::Span(edit.after?), message);
        let finding = finding.labelled("no resource reads this");
        Some(match edit.overridden.first() {
            Some(first) => finding
                .related(first.by, format!("applies to {} instead", first.resource))
                .help("a stronger layer says something else for every resource; edit it there, or remove it there"),
            None => finding.help("no resource matches this layer's directory; was it moved or misnamed?"),
        })
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::OverridingResource;
    use crate::path::{LogicalPath, Pointer, RepoPath};
    use crate::resource::Identity;
    use crate::rules::settle::tests::node;

    #[test]
    fn only_edits_that_no_resource_reads_are_reported() {
        let at = node("x").span;
        let edit = |is_dead, overridden| LayerEdit {
            file: RepoPath::new("_/metadata.yaml").unwrap(),
            pointer: Pointer::parse("/a").unwrap(),
            before: None,
            after: Some(at),
            readers: 0,
            overridden,
            is_dead,
        };
        let resource = Identity::Logical(LogicalPath::parse("/c").unwrap());
        let findings = dead_edits(&[
            edit(false, vec![]),
            edit(true, vec![]),
            edit(true, vec![OverridingResource { resource, by: at }]),
        ]);
        assert_eq!(findings.iter().map(|finding| finding.related.len()).collect::<Vec<_>>(), [0, 1]);
    }
}
