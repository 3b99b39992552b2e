//! `kubernetes/cluster-admin`, `kubernetes/cluster-role-binding`: who gets rights in the whole cluster.

use super::transition::{Problem, Transition, below, pointer};
use crate::finding;
use crate::path::Pointer;
use crate::sanitize;
use crate::value::Node;

const GROUP: &str = "rbac.authorization.k8s.io";

/// The subjects that a binding gives more rights than before.
pub(super) fn bindings(transition: &Transition<'_>) -> Vec<Problem> {
    let is_of_cluster = transition.is(GROUP, "ClusterRoleBinding");
    let is_binding = is_of_cluster || transition.is(GROUP, "RoleBinding");
    let Some(new) = transition.newer().filter(|_| is_binding) else { return Vec::new() };
    let is_admin = role(new) == Some("cluster-admin");
    if !is_of_cluster && !is_admin {
        return Vec::new();
    }
    let same_role = transition.older().filter(|old| role(old) == role(new));
    let known: Vec<String> =
        same_role.map(|old| subjects(old).into_iter().map(|(name, _)| name).collect()).unwrap_or_default();
    let added: Vec<(String, Pointer)> = subjects(new).into_iter().filter(|(name, _)| !known.contains(name)).collect();
    let Some((first, place)) = added.first().cloned() else { return Vec::new() };
    let others = match added.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let place = if same_role.is_some() { place } else { pointer("/roleRef/name") };
    let problem = if is_admin { admin(place, &first, &others) } else { of_cluster(place, role(new), &first, &others) };
    vec![problem]
}

fn admin(place: Pointer, subject: &str, others: &str) -> Problem {
    let tail = format!(" gives {subject}{others} the role cluster-admin");
    let help = "bind a role that allows what is needed; cluster-admin may do everything, also read every Secret";
    Problem::new(&finding::KUBERNETES_CLUSTER_ADMIN, place, tail).help(help)
}

fn of_cluster(place: Pointer, role: Option<&str>, subject: &str, others: &str) -> Problem {
    let role = sanitize::inline(role.unwrap_or_default()).into_owned();
    let tail = format!(" gives {subject}{others} a role in every namespace");
    let help = format!("the role is {role}; if one namespace is enough, bind it with a RoleBinding there");
    Problem::new(&finding::KUBERNETES_CLUSTER_ROLE_BINDING, place, tail).help(help)
}

fn role(payload: &Node) -> Option<&str> {
    payload.get("roleRef")?.get("name")?.as_str()
}

/// The subjects of a binding, as people call them, each with its place.
fn subjects(payload: &Node) -> Vec<(String, Pointer)> {
    let list = pointer("/subjects");
    let items = payload.at(&list).and_then(Node::as_list).unwrap_or_default();
    let name = |item: &Node| {
        let text = |key: &str| item.get(key).and_then(Node::as_str).map(|text| sanitize::inline(text).into_owned());
        let namespace = text("namespace").map(|namespace| format!("{namespace}/")).unwrap_or_default();
        Some(format!("{} {namespace}{}", text("kind")?, text("name")?))
    };
    let named = items.iter().enumerate().filter_map(|(at, item)| Some((name(item)?, below(&list, at.to_string()))));
    named.collect()
}
