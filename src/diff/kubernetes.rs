//! The lists of the Kubernetes API that are really maps, and the members that serve as their keys.

use super::identity::Names;
use crate::value::Node;

/// What is known about a list.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Its items are named by these members.
    Named(Names),
    /// Its items have no name, and their order is significant.
    Ordered,
    /// Nothing.
    Nothing,
}

/// What the Kubernetes API defines for the list below a key. Both sides are inspected if the key has several shapes.
pub(super) fn known(key: &str, before: &[Node], after: &[Node]) -> Known {
    let have = |member: &str| {
        let mut items = before.iter().chain(after);
        items.all(|item| item.get(member).is_some())
    };
    let members: &[(&'static str, Option<&'static str>)] = match key {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "containerStatuses"
        | "initContainerStatuses"
        | "ephemeralContainerStatuses"
        | "volumes"
        | "env"
        | "imagePullSecrets"
        | "secrets"
        | "resourceClaims"
        | "schedulingGates"
        | "claims"
        | "webhooks"
        | "matchConditions"
        | "variables"
        | "sysctls"
        | "listeners"
        | "httpHeaders"
        | "versions"
        | "additionalPrinterColumns" => &[("name", None)],
        "volumeMounts" => &[("mountPath", None)],
        "volumeDevices" => &[("devicePath", None)],
        "ports" if have("containerPort") => &[("containerPort", None), ("protocol", Some("TCP"))],
        "ports" if have("port") => &[("port", None), ("protocol", Some("TCP"))],
        "conditions" => &[("type", None)],
        "addresses" if have("type") => &[("type", None), ("address", None)],
        "hostAliases" | "podIPs" | "hostIPs" => &[("ip", None)],
        "topologySpreadConstraints" => &[("topologyKey", None), ("whenUnsatisfiable", None)],
        "taints" => &[("key", None), ("effect", None)],
        "ownerReferences" => &[("uid", None)],
        "volumeClaimTemplates" => &[("metadata.name", None)],
        "subjects" => &[("kind", None), ("namespace", Some("")), ("name", None)],
        "paths" if have("path") => &[("path", None), ("pathType", Some(""))],
        "parentRefs" => &[("namespace", Some("")), ("name", None), ("sectionName", Some("")), ("port", Some(""))],
        "tolerations" | "args" | "command" | "envFrom" => return Known::Ordered,
        _ => return Known::Nothing,
    };
    Known::Named(Names::known(members))
}

/// Whether a tree is a Kubernetes document: it has `apiVersion` and `kind`.
pub(super) fn is_kubernetes(node: &Node) -> bool {
    ["apiVersion", "kind"].iter().all(|member| node.get(member).and_then(Node::as_str).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::testing::read;

    #[test]
    fn ports_have_two_shapes() {
        let label = |text: &str| {
            let list = read(text);
            let items = list.as_list().expect("a list");
            match known("ports", items, items) {
                Known::Named(names) => names.label(&items[0]).map(String::from),
                _ => None,
            }
        };
        assert_eq!(label(r#"[{"containerPort": 80}]"#).as_deref(), Some("containerPort=80,protocol=TCP"));
        assert_eq!(label(r#"[{"port": 80, "protocol": "UDP"}]"#).as_deref(), Some("port=80,protocol=UDP"));
        assert_eq!(label("[80]"), None);
    }

    #[test]
    fn order_is_what_arguments_mean() {
        assert_eq!(known("args", &[], &[]), Known::Ordered);
        assert_eq!(known("tolerations", &[], &[]), Known::Ordered);
        assert_eq!(known("rules", &[], &[]), Known::Nothing);
    }
}
