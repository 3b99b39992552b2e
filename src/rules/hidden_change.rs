//! `compare/hidden-change`: compare rules that hide a change of the commit that brings them.

use crate::diff::{self, DiffSide, Suppressed};
use crate::finding::{self, Finding, Location};

/// One finding for every change that rules of the same commit hide from now on.
pub fn hidden_changes(would_hide: &[Suppressed]) -> Vec<Finding> {
    let findings = would_hide.iter().filter_map(|hidden| {
        let place = diff::pointer(&hidden.change.path, DiffSide::After);
        let node = hidden.change.after.as_ref().or(hidden.change.before.as_ref())?;
        let message =
            format!("the change of `{place}` of {} is hidden by {} from now on", hidden.identity, hidden.rule);
        let mut finding = Finding::new(&finding::COMPARE_HIDDEN_CHANGE, Location::Span(node.span), message)
            .labelled("changed here")
            .help("commit the rule on its own, so that this change is reviewed without it")
            .about(hidden.identity.to_string());
        finding.pointer = Some(place);
        Some(finding)
    });
    findings.collect()
}
