//! `resource/joined`: two files that described two resources describe one now.

use std::collections::BTreeMap;

use crate::finding::{self, Finding, Location};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};

/// One finding for every resource that two files describe, if they described two resources before. Only files of one directory can
/// be meant to be applied together without a unit that says so.
pub fn joined_resources(older: &[&Resource], newer: &[&Resource]) -> Vec<Finding> {
    let was: BTreeMap<(&RepoPath, usize), &Identity> =
        older.iter().map(|resource| ((&resource.file, resource.position), &resource.identity)).collect();
    let mut first: BTreeMap<(&Identity, Option<RepoPath>), &Resource> = BTreeMap::new();
    let mut findings = Vec::new();
    let named = newer.iter().filter(|resource| resource.unit.is_none());
    for resource in named.filter(|resource| matches!(resource.identity, Identity::Kubernetes(_))) {
        let other = *first.entry((&resource.identity, resource.file.parent())).or_insert(resource);
        let before = [other, resource].map(|it| was.get(&(&it.file, it.position)));
        let [Some(one), Some(two)] = before else { continue };
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
