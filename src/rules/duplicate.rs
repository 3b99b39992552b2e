//! `resource/duplicate`: two resources with the same identity.

use std::collections::BTreeMap;

use crate::finding::{self, Finding, Location};
use crate::resource::{Identity, Resource};

/// One finding for every resource whose identity an earlier one has.
pub fn duplicates(resources: &[Resource]) -> Vec<Finding> {
    let mut first: BTreeMap<&Identity, &Resource> = BTreeMap::new();
    let mut findings = Vec::new();
    for resource in resources {
        let other = *first.entry(&resource.identity).or_insert(resource);
        if !std::ptr::eq(other, resource) {
            let location = Location::Span(resource.payload.span.start_only());
            let message = format!("{} is described twice", resource.identity);
            let finding = Finding::new(&finding::RESOURCE_DUPLICATE, location, message)
                .labelled("again here")
                .related(other.payload.span.start_only(), format!("first in {}", other.file))
                .help("remove one of them, or give it a name of its own");
            findings.push(finding);
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::{LogicalPath, RepoPath};
    use crate::rules::settle::tests::node;

    #[test]
    fn only_the_second_of_two_namesakes_is_reported() {
        let resource = |name: &str, position| Resource {
            identity: Identity::Logical(LogicalPath::parse(name).unwrap()),
            file: RepoPath::new("a.yaml").unwrap(),
            position,
            payload: node("x"),
            unit: None,
        };
        assert_eq!(duplicates(&[resource("/a", 0), resource("/b", 1)]).len(), 0);
        let findings = duplicates(&[resource("/a", 0), resource("/b", 1), resource("/a", 2)]);
        assert_eq!(
            findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>(),
            ["/a is described twice"]
        );
    }
}
