//! `patch/dead`: patches that match no resource.

use std::collections::BTreeSet;

use crate::finding::{self, Finding, Location};
use crate::layout::Role;
use crate::metadata::is_patch_file;
use crate::path::RepoPath;
use crate::side::Side;
use crate::snapshot::Scope;
use crate::text::Span;

/// The patches of these layer files that are not among the used ones. All resources that the files apply to must have been looked
/// at.
pub fn unused_patches(side: &Side<'_>, layers: &[RepoPath], used: &BTreeSet<Span>, scope: &Scope) -> Vec<Finding> {
    let mut findings = Vec::new();
    let files = layers.iter().filter(|file| is_patch_file(file.file_name()) && scope.wants(file));
    let files = files.filter(|file| side.roles().role(file) == Role::Layer);
    for file in files.filter_map(|file| side.patch_file(file)) {
        let patches = file.content.specs.iter().map(|spec| (spec.at(), "patch"));
        let removals = file.content.removes.iter().map(|removal| (removal.at(), "removal"));
        for (at, what) in patches.chain(removals).filter(|(at, _)| !used.contains(at)) {
            let message = format!("this {what} matches no resource");
            let finding = Finding::new(&finding::PATCH_DEAD, Location::Span(at), message);
            findings.push(finding.help("compare `target` and `where` with the resources below the place of this file"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::settings::{Given, Settings};
    use crate::snapshot::MemorySnapshot;
    use crate::text::Sources;

    #[test]
    fn patches_that_no_resource_used_are_reported() {
        let file = RepoPath::new("_/patches.yaml").unwrap();
        let text = "- operations: [{op: add, path: /a, value: 1}]\n- operations: [{op: add, path: /b, value: 1}]\n";
        let snapshot = MemorySnapshot::new("x").with(file.clone(), text.as_bytes());
        let (settings, sources) = (Settings::default(), Arc::new(Sources::default()));
        let given = Given { snapshot: &snapshot, settings: &settings, sources: &sources, limits: &settings.limits };
        let side = Side::new(given, &[], false);
        let first = side.patch_file(&file).unwrap().content.specs[0].at();
        let unused = |used: &[Span]| {
            let used = used.iter().copied().collect();
            unused_patches(&side, std::slice::from_ref(&file), &used, &Scope::everything()).len()
        };
        assert_eq!((unused(&[]), unused(&[first])), (2, 1));
    }
}
