//! `kubernetes/rbac-wildcard`: a role that grants everything of some sort, and did not before.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::transition::{Problem, Transition, texts};
use crate::finding;
use crate::path::Pointer;
use crate::value::Node;

/// The lists of a rule, and what a `*` in each of them means.
const LISTS: [(&str, &str); 4] = [
    ("verbs", "every verb"),
    ("resources", "every resource"),
    ("apiGroups", "every API group"),
    ("nonResourceURLs", "every URL"),
];

/// A role with rules that have a `*` and allow something that no rule allowed before; the place is the first such `*`.
pub(super) fn rbac_wildcard(transition: &Transition<'_>) -> Option<Problem> {
    let is_role = ["Role", "ClusterRole"].iter().any(|kind| transition.is("rbac.authorization.k8s.io", kind));
    let new = transition.newer().filter(|_| is_role)?;
    let older = transition.older().map(rules).unwrap_or_default();
    let is_wider = |rule: &Node| !older.iter().any(|old| allows(old, rule));
    let mut places: Vec<(Pointer, Pointer)> = Vec::new();
    let mut granted: BTreeSet<usize> = BTreeSet::new();
    for (at, rule) in rules(new).iter().enumerate().filter(|(_, rule)| is_wider(rule)) {
        for (number, (list, _)) in LISTS.iter().enumerate() {
            if let Some(star) = texts(rule.get(list)).iter().position(|text| *text == "*") {
                places.push((place(at, &[list, &star.to_string()]), place(same_but(list, rule, older), &[list])));
                granted.insert(number);
            }
        }
    }
    let all: Vec<&str> = granted.into_iter().map(|number| LISTS[number].1).collect();
    let tail = format!(" grants more than before, with a `*`: {}", all.join(", "));
    let (at, was) = places.into_iter().next()?;
    let problem = Problem { was, ..Problem::new(&finding::KUBERNETES_RBAC_WILDCARD, at, tail) };
    Some(problem.help("list what is needed; a `*` also grants what is added to the cluster later"))
}

/// A place in the rule at a position.
fn place(rule: usize, below: &[&str]) -> Pointer {
    ["rules", &rule.to_string()].into_iter().chain(below.iter().copied()).map(SmolStr::new).collect()
}

/// The position of the older rule that differs in one list alone; behind the last one if there is none.
fn same_but(list: &str, rule: &Node, older: &[Node]) -> usize {
    let others = || LISTS.iter().map(|(name, _)| *name).filter(|name| *name != list);
    let is_same = |old: &Node| others().all(|name| Node::same_option(old.get(name), rule.get(name)));
    older.iter().position(is_same).unwrap_or(older.len())
}

fn rules(payload: &Node) -> &[Node] {
    payload.get("rules").and_then(Node::as_list).unwrap_or_default()
}

/// Whether one rule allows all that another one allows.
fn allows(one: &Node, other: &Node) -> bool {
    let lists = LISTS.iter().all(|(list, _)| {
        let (has, wanted) = (texts(one.get(list)), texts(other.get(list)));
        has.contains(&"*") || wanted.iter().all(|text| has.contains(text))
    });
    let (has, wanted) = (texts(one.get("resourceNames")), texts(other.get("resourceNames")));
    let names = has.is_empty() || !wanted.is_empty() && wanted.iter().all(|name| has.contains(name));
    lists && names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn a_rule_allows_what_its_lists_hold() {
        let allows = |one: &str, other: &str| allows(&read(one), &read(other));
        assert!(allows("{verbs: ['*'], resources: [pods, nodes]}", "{verbs: [get], resources: [pods]}"));
        assert!(!allows("{verbs: [get], resources: [pods]}", "{verbs: ['*'], resources: [pods]}"));
        assert!(!allows("{verbs: ['*'], resourceNames: [a]}", "{verbs: ['*']}"));
    }
}
