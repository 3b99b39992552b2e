//! `kubernetes/rbac-wildcard`: a role that grants everything of some sort, and did not before.

use super::transition::{Problem, Transition, below, pointer, texts};
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

/// The rules of a role that have a `*` and allow something that no rule allowed before.
pub(super) fn rbac_wildcards(transition: &Transition<'_>) -> Vec<Problem> {
    let is_role = ["Role", "ClusterRole"].iter().any(|kind| transition.is("rbac.authorization.k8s.io", kind));
    let Some(new) = transition.newer().filter(|_| is_role) else { return Vec::new() };
    let older = transition.older().map(rules).unwrap_or_default();
    let widened = rules(new).iter().enumerate().filter_map(|(at, rule)| {
        let is_known = older.iter().any(|old| allows(old, rule));
        let wild: Vec<&(&str, &str)> = LISTS.iter().filter(|(list, _)| texts(rule.get(list)).contains(&"*")).collect();
        let (list, _) = wild.first().filter(|_| !is_known)?;
        let all: Vec<&str> = wild.iter().map(|(_, all)| *all).collect();
        Some(widening(&below(&below(&pointer("/rules"), at.to_string()), *list), rule.get(list)?, &all.join(", ")))
    });
    widened.collect()
}

fn widening(list: &Pointer, node: &Node, all: &str) -> Problem {
    let star = node.as_list().and_then(|items| items.iter().position(|item| item.as_str() == Some("*")));
    let place = star.map_or_else(|| list.clone(), |at| below(list, at.to_string()));
    Problem::new(&finding::KUBERNETES_RBAC_WILDCARD, place, format!(" grants more than before, with a `*`: {all}"))
        .help("list what is needed; a `*` also grants what is added to the cluster later")
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
