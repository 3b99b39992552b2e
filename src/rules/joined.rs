//! `resource/joined`: two files that described two resources describe one now.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::{self, Finding, Location};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};

/// One finding for every resource that two files describe, if they described two resources before. Only files of one directory can
/// be meant to be applied together without a unit that says so.
pub fn joined_resources(older: &[&Resource], newer: &[&Resource]) -> Vec<Finding> {
    let was = Versions::new(older, newer);
    let mut first: BTreeMap<(&Identity, Option<RepoPath>), &Resource> = BTreeMap::new();
    let mut findings = Vec::new();
    let named = newer.iter().filter(|resource| resource.unit.is_none());
    for resource in named.filter(|resource| matches!(resource.identity, Identity::Kubernetes(_))) {
        let other = *first.entry((&resource.identity, resource.file.parent())).or_insert(resource);
        let [Some(one), Some(two)] = [other, resource].map(|it| was.identity_of(it)) else { continue };
        if other.file == resource.file || one == two {
            continue;
        }
        let message =
            format!("{} is described by two files, which described {one} and {two} before", resource.identity);
        let finding =
            Finding::new(&finding::RESOURCE_JOINED, Location::Span(resource.payload.span.start_only()), message)
                .labelled("here too")
                .related(other.payload.span.start_only(), format!("first in {}", other.file))
                .help("the one that is applied last wins; give one of them its own name, or remove it")
                .about(resource.identity.to_string());
        findings.push(finding);
    }
    findings
}

/// Which resources the files described before, and describe now.
struct Versions<'r> {
    by_position: BTreeMap<(&'r RepoPath, usize), &'r Identity>,
    older: BTreeSet<(&'r RepoPath, &'r Identity)>,
    newer: BTreeSet<(&'r RepoPath, &'r Identity)>,
}

impl<'r> Versions<'r> {
    fn new(older: &[&'r Resource], newer: &[&'r Resource]) -> Self {
        let named = |resources: &[&'r Resource]| resources.iter().map(|it| (&it.file, &it.identity)).collect();
        let by_position = older.iter().map(|it| ((&it.file, it.position), &it.identity)).collect();
        Self { by_position, older: named(older), newer: named(newer) }
    }

    /// What a document described before. One that is new in its file described nothing: documents around it may have moved.
    fn identity_of(&self, resource: &'r Resource) -> Option<&'r Identity> {
        let file = &resource.file;
        if self.older.contains(&(file, &resource.identity)) {
            return Some(&resource.identity);
        }
        let renamed = self.by_position.get(&(file, resource.position)).copied();
        renamed.filter(|before| !self.newer.contains(&(file, *before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::KubernetesName;
    use crate::testing::read;

    fn document(file: &str, position: usize, name: &str) -> Resource {
        let [kind, name] = ["ConfigMap", name].map(Into::into);
        let identity = Identity::Kubernetes(KubernetesName { group: "".into(), kind, namespace: "".into(), name });
        Resource { identity, file: RepoPath::new(file).unwrap(), position, payload: read("{}"), unit: None }
    }

    fn joined(older: &[Resource], newer: &[Resource]) -> usize {
        joined_resources(&older.iter().collect::<Vec<_>>(), &newer.iter().collect::<Vec<_>>()).len()
    }

    #[test]
    fn a_renamed_document_joins_another_and_a_moved_one_does_not() {
        let older = [document("a.yaml", 0, "one"), document("all.yaml", 0, "two"), document("all.yaml", 1, "one")];
        let renamed = [document("a.yaml", 0, "two"), document("all.yaml", 0, "two"), document("all.yaml", 1, "one")];
        assert_eq!(joined(&older, &renamed), 1);
        let inserted = [
            document("a.yaml", 0, "one"),
            document("all.yaml", 0, "first"),
            document("all.yaml", 1, "two"),
            document("all.yaml", 2, "one"),
        ];
        assert_eq!(joined(&older, &inserted), 0);
    }
}
