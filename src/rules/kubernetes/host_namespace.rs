//! `kubernetes/host-namespace`: pods that share the network, processes or memory of their node, and did not before.

use super::pod::pod_spec;
use super::transition::{Problem, Transition, below, is_true};
use crate::finding;
use crate::value::Node;

/// What pods may share with their node.
const SHARED: [(&str, &str); 3] =
    [("hostNetwork", "the network"), ("hostPID", "the processes"), ("hostIPC", "the shared memory")];

/// What pods share with their node and did not share before.
pub(super) fn host_namespaces(transition: &Transition<'_>) -> Vec<Problem> {
    let Some((name, new)) = transition.name().zip(transition.newer()) else { return Vec::new() };
    let Some((place, spec)) = pod_spec(name, new) else { return Vec::new() };
    let older = transition.older().and_then(|old| pod_spec(name, old)).map(|(_, spec)| spec);
    let shares = |spec: &Node, key: &str| is_true(spec.get(key));
    let added = SHARED.iter().filter(|(key, _)| shares(spec, key) && !older.is_some_and(|old| shares(old, key)));
    let problem = |(key, what): &(&'static str, &str)| {
        let tail = format!(" uses {what} of its node (`{key}`)");
        Problem::new(&finding::KUBERNETES_HOST_NAMESPACE, below(&place, *key), tail)
            .help("pods that share a namespace of their node see and reach what other pods do not")
    };
    added.map(problem).collect()
}
