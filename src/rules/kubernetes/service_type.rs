//! `kubernetes/service-type`: a Service that is reached in another way than before.

use super::transition::{Problem, Transition, is_placeholder, pointer, written};
use crate::finding;
use crate::sanitize;
use crate::value::Node;

/// A Service whose type changes.
pub(super) fn service_type(transition: &Transition<'_>) -> Option<Problem> {
    let (old, new) = transition.both().filter(|_| transition.is("", "Service"))?;
    let place = pointer("/spec/type");
    let [was, is] = [old, new].map(|root| written(root, &place));
    if [was, is].into_iter().flatten().any(is_placeholder) {
        return None;
    }
    let [was, is] = [was, is].map(|node| node.and_then(Node::as_str).unwrap_or("ClusterIP"));
    if was == is {
        return None;
    }
    let effect = match (was, is) {
        ("ExternalName", _) | (_, "ExternalName") => "its name leads somewhere else, and its address changes",
        ("LoadBalancer", _) => "its load balancer and external address are released",
        (_, "LoadBalancer") => "it gets an external address",
        ("NodePort", _) => "its ports on the nodes are closed",
        _ => "its ports are opened on every node",
    };
    let [was, is] = [was, is].map(sanitize::inline);
    let tail = format!(" changes its type from {was} to {is}: {effect}");
    let help = "make sure that clients follow; an external address that is released may not be given again";
    Some(Problem::new(&finding::KUBERNETES_SERVICE_TYPE, place, tail).help(help))
}
