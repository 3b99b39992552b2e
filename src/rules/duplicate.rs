//! `resource/duplicate` and `resource/two-files`: two resources with one name that are applied together.

use std::collections::BTreeMap;

use crate::finding::{self, Finding, Location};
use crate::names;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource, Unit};
use crate::settings::Roots;

/// One finding for every resource whose name an earlier one has: of the same file or unit, or at the same logical path of the same root.
/// Files that merely exist in one repository are not applied together.
pub fn duplicates(resources: &[Resource], roots: &Roots) -> Vec<Finding> {
    let mut first: BTreeMap<(&Identity, Option<&Unit>, Option<&RepoPath>), &Resource> = BTreeMap::new();
    let mut findings = Vec::new();
    for resource in resources {
        let place = match &resource.identity {
            _ if resource.unit.is_some() => None,
            Identity::Logical(_) => roots.around(&resource.file).map(|root| &root.path),
            Identity::Kubernetes(_) | Identity::File { .. } => Some(&resource.file),
        };
        let name = (&resource.identity, resource.unit.as_ref(), place);
        let other = *first.entry(name).or_insert(resource);
        if !std::ptr::eq(other, resource) {
            let location = Location::Span(resource.payload.span.start_only());
            let (rule, message) = match has_two_files(other, resource) {
                true => (&finding::RESOURCE_TWO_FILES, format!("{} has two files", resource.identity)),
                false => (&finding::RESOURCE_DUPLICATE, format!("{} is defined twice", resource.identity)),
            };
            let finding = Finding::new(rule, location, message)
                .labelled("again here")
                .related(other.payload.span.start_only(), format!("first in {}", other.file))
                .help("remove one of them, or give it a name of its own");
            findings.push(finding);
        }
    }
    findings
}

/// Whether both are `resource.*` of one directory.
fn has_two_files(one: &Resource, other: &Resource) -> bool {
    let is_resource = |resource: &Resource| names::is_resource_file(resource.file.file_name());
    is_resource(one) && is_resource(other) && one.file != other.file && one.file.parent() == other.file.parent()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::LogicalPath;
    use crate::resource::KubernetesName;
    use crate::rules::settle::tests::node;
    use crate::settings::Root;

    fn resource(identity: Identity, file: &str, position: usize) -> Resource {
        Resource { identity, file: RepoPath::new(file).unwrap(), position, payload: node("x"), unit: None }
    }

    fn logical(name: &str) -> Identity {
        Identity::Logical(LogicalPath::parse(name).unwrap())
    }

    #[test]
    fn only_the_second_of_two_namesakes_is_reported() {
        let resource = |name: &str, position| resource(logical(name), "a.yaml", position);
        let duplicates = |resources: &[Resource]| duplicates(resources, &Roots::default());
        assert_eq!(duplicates(&[resource("/a", 0), resource("/b", 1)]).len(), 0);
        let findings = duplicates(&[resource("/a", 0), resource("/b", 1), resource("/a", 2)]);
        assert_eq!(
            findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(),
            ["/a is defined twice"]
        );
    }

    #[test]
    fn only_what_is_applied_together_is_reported() {
        let kubernetes = || {
            let [group, kind, namespace, name] = ["", "ConfigMap", "", "a"].map(Into::into);
            Identity::Kubernetes(KubernetesName { group, kind, namespace, name })
        };
        let count = |first: Resource, second: Resource, roots: &Roots| duplicates(&[first, second], roots).len();
        let none = Roots::default();
        assert_eq!(count(resource(kubernetes(), "a/x.yaml", 0), resource(kubernetes(), "b/x.yaml", 0), &none), 0);
        assert_eq!(count(resource(kubernetes(), "a/x.yaml", 0), resource(kubernetes(), "a/x.yaml", 1), &none), 1);
        let both =
            || (resource(logical("/a"), "x/a/resource.yaml", 0), resource(logical("/a"), "y/a/resource.yaml", 0));
        let root = |path: &str| Root {
            path: RepoPath::new(path).unwrap(),
            layout: Default::default(),
            format: Default::default(),
        };
        let roots = Roots::new(vec![root("x"), root("y")]);
        assert_eq!(count(both().0, both().1, &roots), 0);
        assert_eq!(count(both().0, resource(logical("/a"), "x/a/resource.json", 0), &roots), 1);
    }
}
