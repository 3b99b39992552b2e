//! Findings that a change brings, as opposed to those that were there before.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::path::RepoPath;
use crate::text::Sources;

/// The findings that the older side does not have: those with the same rule, message and file are left out, as often as the older
/// side has them.
pub fn only_new(mut findings: Vec<Finding>, known: &[Finding], sources: &Sources) -> Vec<Finding> {
    let mut counts: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    for finding in known {
        *counts.entry(fingerprint(finding, sources)).or_default() += 1;
    }
    findings.retain(|finding| match counts.get_mut(&fingerprint(finding, sources)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    findings
}

type Fingerprint = (&'static str, RepoPath, String);

/// What stays the same when lines move: the rule, the file and the message.
fn fingerprint(finding: &Finding, sources: &Sources) -> Fingerprint {
    (finding.rule.id, finding.path(sources), finding.message.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{self, Location};

    #[test]
    fn what_was_there_as_often_is_not_new() {
        let about = |file: &str| {
            let location = Location::File { path: RepoPath::new(file).unwrap(), revision: "x".into() };
            Finding::new(&finding::RESOURCE_DUPLICATE, location, "twice")
        };
        let new = |found: Vec<Finding>, known: &[Finding]| only_new(found, known, &Sources::default()).len();
        assert_eq!(new(vec![about("a"), about("a")], &[about("a")]), 1);
        assert_eq!(new(vec![about("a")], &[about("b")]), 1);
        assert_eq!(new(vec![about("a")], &[about("a"), about("a")]), 0);
    }
}
