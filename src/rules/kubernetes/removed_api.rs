//! `kubernetes/removed-api`: a manifest of an API version that Kubernetes no longer serves.

use super::transition::{Problem, Transition, pointer};
use crate::finding;
use crate::value::Node;

/// API versions that are gone: group and version, kinds (all if none), the release without them, and what replaces them.
const GONE: &[(&str, &[&str], &str, &str)] = &[
    ("flowcontrol.apiserver.k8s.io/v1beta3", &[], "1.32", "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta2", &[], "1.29", "flowcontrol.apiserver.k8s.io/v1"),
    ("flowcontrol.apiserver.k8s.io/v1beta1", &[], "1.26", "flowcontrol.apiserver.k8s.io/v1"),
    ("storage.k8s.io/v1beta1", &["CSIStorageCapacity"], "1.27", "storage.k8s.io/v1"),
    ("autoscaling/v2beta2", &["HorizontalPodAutoscaler"], "1.26", "autoscaling/v2"),
    ("autoscaling/v2beta1", &["HorizontalPodAutoscaler"], "1.25", "autoscaling/v2"),
    ("batch/v1beta1", &["CronJob"], "1.25", "batch/v1"),
    ("discovery.k8s.io/v1beta1", &["EndpointSlice"], "1.25", "discovery.k8s.io/v1"),
    ("events.k8s.io/v1beta1", &["Event"], "1.25", "events.k8s.io/v1"),
    ("policy/v1beta1", &["PodDisruptionBudget"], "1.25", "policy/v1"),
    ("policy/v1beta1", &["PodSecurityPolicy"], "1.25", ""),
    ("node.k8s.io/v1beta1", &["RuntimeClass"], "1.25", "node.k8s.io/v1"),
    (
        "admissionregistration.k8s.io/v1beta1",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        "1.22",
        "admissionregistration.k8s.io/v1",
    ),
    ("apiextensions.k8s.io/v1beta1", &["CustomResourceDefinition"], "1.22", "apiextensions.k8s.io/v1"),
    ("apiregistration.k8s.io/v1beta1", &["APIService"], "1.22", "apiregistration.k8s.io/v1"),
    ("authentication.k8s.io/v1beta1", &["TokenReview"], "1.22", "authentication.k8s.io/v1"),
    (
        "authorization.k8s.io/v1beta1",
        &["LocalSubjectAccessReview", "SelfSubjectAccessReview", "SubjectAccessReview"],
        "1.22",
        "authorization.k8s.io/v1",
    ),
    ("certificates.k8s.io/v1beta1", &["CertificateSigningRequest"], "1.22", "certificates.k8s.io/v1"),
    ("coordination.k8s.io/v1beta1", &["Lease"], "1.22", "coordination.k8s.io/v1"),
    ("networking.k8s.io/v1beta1", &["Ingress", "IngressClass"], "1.22", "networking.k8s.io/v1"),
    (
        "rbac.authorization.k8s.io/v1beta1",
        &["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"],
        "1.22",
        "rbac.authorization.k8s.io/v1",
    ),
    ("scheduling.k8s.io/v1beta1", &["PriorityClass"], "1.22", "scheduling.k8s.io/v1"),
    (
        "storage.k8s.io/v1beta1",
        &["CSIDriver", "CSINode", "StorageClass", "VolumeAttachment"],
        "1.22",
        "storage.k8s.io/v1",
    ),
    ("extensions/v1beta1", &["Ingress"], "1.22", "networking.k8s.io/v1"),
    ("extensions/v1beta1", &["NetworkPolicy"], "1.16", "networking.k8s.io/v1"),
    ("extensions/v1beta1", &["PodSecurityPolicy"], "1.16", ""),
    ("extensions/v1beta1", &["DaemonSet", "Deployment", "ReplicaSet"], "1.16", "apps/v1"),
    ("apps/v1beta1", &["Deployment", "ReplicaSet", "StatefulSet"], "1.16", "apps/v1"),
    ("apps/v1beta2", &["DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"], "1.16", "apps/v1"),
];

/// An API version that is gone, unless the older side has it too.
pub(super) fn removed_api(transition: &Transition<'_>) -> Option<Problem> {
    let version = |payload: &'_ Node| payload.get("apiVersion").and_then(Node::as_str).map(str::to_owned);
    let is = version(transition.newer()?)?;
    let kind = &transition.name()?.kind;
    let is_meant = |(gone, kinds, ..): &&(&str, &[&str], &str, &str)| {
        *gone == is && (kinds.is_empty() || kinds.contains(&kind.as_str()))
    };
    let (gone, _, release, replacement) = GONE.iter().find(is_meant)?;
    if transition.older().and_then(version).as_ref() == Some(&is) {
        return None;
    }
    let tail = format!(" has the API version {gone}, which Kubernetes does not serve since {release}");
    let help = match *replacement {
        "" => "there is no replacement; see Pod Security Admission".to_owned(),
        replacement => format!("use {replacement}; its fields may have other names"),
    };
    Some(Problem::new(&finding::KUBERNETES_REMOVED_API, pointer("/apiVersion"), tail).help(help))
}
