//! `kubernetes/scaled-to-zero`: a workload that runs no pods from now on.

use super::transition::{Problem, Transition, pointer, written};
use crate::finding;
use crate::value::{Node, Value};

/// A workload whose number of replicas becomes zero.
pub(super) fn scaled_to_zero(transition: &Transition<'_>) -> Option<Problem> {
    const KINDS: [(&str, &str); 5] = [
        ("apps", "Deployment"),
        ("apps", "StatefulSet"),
        ("apps", "ReplicaSet"),
        ("", "ReplicationController"),
        ("argoproj.io", "Rollout"),
    ];
    let (old, new) = transition.both()?;
    if !KINDS.iter().any(|(group, kind)| transition.is(group, kind)) {
        return None;
    }
    let place = pointer("/spec/replicas");
    let is_zero = |root: &Node| {
        written(root, &place).is_some_and(|node| matches!(&node.value, Value::Number(number) if number.is_zero()))
    };
    if !is_zero(new) || is_zero(old) {
        return None;
    }
    let help = "no pod of it runs until the number is raised again; an autoscaler does not start it either";
    Some(Problem::new(&finding::KUBERNETES_SCALED_TO_ZERO, place, " is scaled to zero").help(help))
}
