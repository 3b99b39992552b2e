//! Findings as people read them: the worst first, and one that many resources share only once.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::summary_counts::plural;
use crate::finding::{Finding, Severity};
use crate::text::Span;

/// This many resources with the same problem are a group.
const FEWEST: usize = 3;

/// A finding, and those about further resources that differ in nothing but the resource.
pub(super) struct FindingGroup<'a> {
    /// The finding that is shown.
    pub(super) first: &'a Finding,
    /// The findings about other resources.
    pub(super) others: Vec<&'a Finding>,
}

impl FindingGroup<'_> {
    /// `also in 39 other resources: /customers/b, /customers/c, /customers/d, and 36 more (-v shows each)`
    pub(super) fn also(&self) -> String {
        const MOST_NAMES: usize = 3;
        let names = self.others.iter().filter_map(|finding| finding.resource.as_deref());
        let mut names: Vec<String> = names.take(MOST_NAMES).map(str::to_owned).collect();
        if self.others.len() > MOST_NAMES {
            names.push(format!("and {} more (-v shows each)", self.others.len() - MOST_NAMES));
        }
        format!("also in {}: {}", plural(self.others.len(), "other resource"), names.join(", "))
    }
}

/// The groups of findings in order of severity, then as they are. With `is_each`, every finding is shown on its own.
pub(super) fn finding_groups(findings: &[Finding], is_each: bool) -> Vec<FindingGroup<'_>> {
    let mut ordered: Vec<&Finding> = findings.iter().collect();
    ordered.sort_by_key(|finding| Reverse(finding.severity));
    let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
    let keys: Vec<Option<Key>> = ordered.iter().map(|finding| key(finding).filter(|_| !is_each)).collect();
    keys.iter().flatten().for_each(|key| *counts.entry(key.clone()).or_default() += 1);
    let mut groups: Vec<FindingGroup<'_>> = Vec::new();
    let mut known: BTreeMap<Key, usize> = BTreeMap::new();
    for (finding, key) in ordered.into_iter().zip(keys) {
        let key = key.filter(|key| counts.get(key).is_some_and(|count| *count >= FEWEST));
        match key.as_ref().and_then(|key| known.get(key)) {
            Some(at) => groups[*at].others.push(finding),
            None => {
                known.extend(key.map(|key| (key, groups.len())));
                groups.push(FindingGroup { first: finding, others: Vec::new() });
            }
        }
    }
    groups
}

/// What findings of one group have in common: what is said, and the place that all of them point at.
type Key = (Severity, &'static str, String, Span);

/// The place is that of the rule: the last of the further places, or the finding's own where it has no other.
fn key(finding: &Finding) -> Option<Key> {
    finding.resource.as_ref()?;
    let shared = finding.related.iter().rev().map(|label| label.span).find(|span| Some(*span) != finding.span());
    Some((finding.severity, finding.rule.id, finding.shape(), shared.or(finding.span())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{self, Location};
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};

    #[test]
    fn what_one_rule_says_about_many_resources_is_shown_once() {
        let sources = Sources::default();
        let rule = sources.add(SourceText::new(RepoPath::root(), "x", "jq"));
        let finding = |name: &str| {
            let own = sources.add(SourceText::new(RepoPath::new(name).unwrap(), "x", "a: 1"));
            Finding::new(&finding::REQUEST_ASSERTION, Location::Span(Span::new(own, 0, 0)), format!("{name} is wrong"))
                .related(Span::new(rule, 0, 2), "does not hold")
                .about(name)
        };
        let names: Vec<String> = (0..40).map(|at| format!("c{at}")).collect();
        let mut findings: Vec<Finding> = names.iter().map(|name| finding(name)).collect();
        findings.insert(0, Finding { severity: Severity::Warning, ..finding("w") });
        let groups = finding_groups(&findings, false);
        let sizes: Vec<usize> = groups.iter().map(|group| group.others.len()).collect();
        assert_eq!(sizes, [39, 0]);
        assert!(groups[0].also().starts_with("also in 39 other resources: c1, c2"), "{}", groups[0].also());
        assert_eq!(finding_groups(&findings, true).len(), 41);
    }
}
