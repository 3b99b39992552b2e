//! Differences that are meant: taken out of the diff like ignored ones, and missed where they do not occur.

use smol_str::SmolStr;

use super::suppress::{Suppressed, spellings};
use super::{Change, ChangeKind, ResourceChange};
use crate::glob::{Pattern, glob_matches};
use crate::resource::Resource;
use crate::settings::{Expectation, ExpectedDifference, ExpectedSide};
use crate::value::Node;

/// What came of expected differences.
#[derive(Debug, Default)]
pub struct Expected {
    /// The differences that are meant, each with the reason.
    pub met: Vec<Suppressed>,
    /// The positions of expectations that no difference meets.
    pub unmet: Vec<usize>,
}

/// Takes expected differences out of each resource, and resources without any other difference out of the list.
pub fn expect(expectations: &[Expectation], resources: &mut Vec<ResourceChange>) -> Expected {
    let mut expected = Expected::default();
    let mut is_met = vec![false; expectations.len()];
    resources.retain_mut(|resource| {
        let Some(side) = resource.after.as_ref().or(resource.before.as_ref()).cloned() else { return true };
        let meant: Vec<(usize, &Expectation)> =
            expectations.iter().enumerate().filter(|(_, it)| is_about(it, resource)).collect();
        let mut meet = |at: usize, change: Change| {
            is_met[at] = true;
            let rule = rule_name(&expectations[at]);
            expected.met.push(Suppressed { rule, identity: side.identity.clone(), change });
        };
        if resource.before.is_none() || resource.after.is_none() {
            let Some((at, _)) = meant.iter().find(|(_, it)| is_one_sided(it, resource)) else { return true };
            meet(*at, whole(resource));
            return false;
        }
        let before = resource.difference.changes.len();
        resource.difference.changes.retain(|change| match meant.iter().find(|(_, it)| is_expected(it, change)) {
            Some((at, _)) => {
                meet(*at, change.clone());
                false
            }
            None => true,
        });
        let is_untouched = resource.difference.changes.len() == before;
        is_untouched || resource.is_difference() || resource.spellings().next().is_some()
    });
    expected.unmet = (0..expectations.len()).filter(|at| !is_met[*at]).collect();
    expected
}

fn rule_name(expectation: &Expectation) -> SmolStr {
    match &expectation.reason {
        Some(reason) => SmolStr::from_iter(["--expect: ", reason]),
        None => "--expect".into(),
    }
}

fn is_about(expectation: &Expectation, of: &ResourceChange) -> bool {
    let has_name = |glob: &SmolStr, side: &Resource| glob_matches(glob, &side.identity.to_string());
    let mut sides = of.before.iter().chain(&of.after);
    expectation.resource.as_ref().is_none_or(|glob| sides.any(|side| has_name(glob, side)))
}

fn is_one_sided(expectation: &Expectation, of: &ResourceChange) -> bool {
    match expectation.difference {
        ExpectedDifference::OnlyIn(ExpectedSide::First) => of.after.is_none(),
        ExpectedDifference::OnlyIn(ExpectedSide::Second) => of.before.is_none(),
        ExpectedDifference::At { .. } => false,
    }
}

fn is_expected(expectation: &Expectation, change: &Change) -> bool {
    let ExpectedDifference::At { path, before, after } = &expectation.difference else { return false };
    let covers = |path: &SmolStr| {
        let pattern = Pattern::of_pointer(path).ok();
        pattern.is_some_and(|pattern| spellings(&change.path).iter().any(|tokens| pattern.covers(tokens)))
    };
    let is_value = |wanted: &Option<Node>, found: &Option<Node>| match (wanted, found) {
        (None, _) => true,
        (Some(wanted), Some(found)) => wanted.is_equal(found),
        (Some(_), None) => false,
    };
    path.as_ref().is_none_or(covers) && is_value(before, &change.before) && is_value(after, &change.after)
}

/// A resource that one side does not have, as a change of everything.
fn whole(of: &ResourceChange) -> Change {
    let payload = |side: &Option<Resource>| side.as_ref().map(|side| side.payload.clone());
    let kind = if of.before.is_none() { ChangeKind::Add } else { ChangeKind::Remove };
    Change::new(kind, Vec::new(), payload(&of.before), payload(&of.after))
}
