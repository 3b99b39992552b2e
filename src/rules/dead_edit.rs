//! `metadata/dead-edit`: an edited value of a layer that no resource reads.

use crate::finding::{self, Finding, Location};
use crate::impact::LayerEdit;
use crate::path::RepoPath;

/// One finding for the edits of a file that no resource reads, and one for those that every resource overrides.
pub fn dead_edits(edits: &[LayerEdit]) -> Vec<Finding> {
    let mut files: Vec<(&RepoPath, bool, Vec<&LayerEdit>)> = Vec::new();
    for edit in edits.iter().filter(|edit| edit.is_dead && edit.after.is_some()) {
        let is_overridden = !edit.overridden.is_empty();
        match files.iter_mut().find(|(file, other, _)| *file == &edit.file && *other == is_overridden) {
            Some((_, _, known)) => known.push(edit),
            None => files.push((&edit.file, is_overridden, vec![edit])),
        }
    }
    files.iter().filter_map(|(_, _, edits)| dead(edits)).collect()
}

fn dead(edits: &[&LayerEdit]) -> Option<Finding> {
    let edit = edits.first()?;
    let message = match edits.len() - 1 {
        0 => format!("`{}` is edited here, but no resource reads it", edit.pointer),
        1 => format!("`{}` and 1 other value are edited here, but no resource reads them", edit.pointer),
        more => format!("`{}` and {more} other values are edited here, but no resource reads them", edit.pointer),
    };
    let finding = Finding::new(&finding::METADATA_DEAD_EDIT, Location::Span(edit.after?), message);
    let finding = finding.labelled("no resource reads this");
    Some(match edit.overridden.first() {
        Some(first) => finding
            .related(first.by, format!("applies to {} instead", first.resource))
            .help("a stronger layer says something else for every resource; edit it there, or remove it there"),
        None => finding.help("no resource matches this layer's directory; was it moved or misnamed?"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::OverridingResource;
    use crate::path::{LogicalPath, Pointer};
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
        let several = dead_edits(&[edit(true, vec![]), edit(true, vec![]), edit(true, vec![])]);
        assert_eq!(several.len(), 1);
        assert_eq!(several[0].message, "`/a` and 2 other values are edited here, but no resource reads them");
    }
}
