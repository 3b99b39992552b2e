//! `kubernetes/rollout`: workloads that are rolled out again because the content of a ConfigMap or Secret changes.

use smol_str::SmolStr;

use super::pod::pod_spec;
use super::transition::{Problem, Transition, below, kubernetes_name, pointer};
use crate::finding;
use crate::path::Pointer;
use crate::resource::Resource;
use crate::value::Node;

/// A ConfigMap or Secret whose name is made of its content, and a workload that refers to it.
pub struct RolledOut<'r> {
    /// What changes.
    pub content: Transition<'r>,
    /// The workload on both sides, without the part of names that is made of content.
    pub workload: [&'r Resource; 2],
}

/// The note about a workload that changes in nothing else; one that does is rolled out anyway.
pub(super) fn rollout(rolled: &RolledOut<'_>) -> Option<Problem> {
    let [before, after] = rolled.workload;
    let name = kubernetes_name(after)?;
    let is_pod = name.kind == "Pod" || name.kind == "Job" || name.kind == "CronJob";
    let (_, spec) = pod_spec(name, &after.payload).filter(|_| !is_pod)?;
    let (_, old) = pod_spec(name, &before.payload)?;
    if !old.is_equal(spec) {
        return None;
    }
    let place = changed_member(rolled.content.older()?, rolled.content.newer()?)?;
    let tail = format!(" changes, so that {name} is rolled out again");
    let help = "its name is made of its content, and the workload refers to the new name";
    Some(Problem::new(&finding::KUBERNETES_ROLLOUT, place, tail).help(help))
}

/// The first member of the data that differs.
fn changed_member(old: &Node, new: &Node) -> Option<Pointer> {
    let places = ["/data", "/binaryData", "/stringData"].into_iter().flat_map(|field| {
        let place = pointer(field);
        let (was, is) = (old.at(&place), new.at(&place));
        let members = is.into_iter().chain(was).flat_map(Node::children).map(|child| child.token());
        let is_changed =
            |name: &SmolStr| !Node::same_option(was.and_then(|it| it.get(name)), is.and_then(|it| it.get(name)));
        members.filter(is_changed).map(|name| below(&place, name)).collect::<Vec<_>>()
    });
    places.into_iter().next()
}
