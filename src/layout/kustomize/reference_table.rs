//! The built-in table of fields that name other resources.

use smol_str::SmolStr;

use super::fields::{FieldSpec, split_path};

/// The kinds that fields refer to by name.
#[derive(Debug, Clone)]
pub(super) struct Reference {
    /// Which resources are referred to.
    pub(super) group: SmolStr,
    pub(super) version: SmolStr,
    pub(super) kind: SmolStr,
    /// The fields that refer to them.
    pub(super) fields: Vec<FieldSpec>,
}

impl Reference {
    /// A row of the built-in table: who is referred to, and fields as `group|version|kind path`.
    pub(super) fn row(target: &str, fields: impl IntoIterator<Item = (String, String)>) -> Self {
        let spec = FieldSpec::row(target, "", false);
        let field = |(kinds, path): (String, String)| FieldSpec {
            path: split_path(&path),
            ..FieldSpec::row(&kinds, "", false)
        };
        Self {
            group: spec.group,
            version: spec.version,
            kind: spec.kind,
            fields: fields.into_iter().map(field).collect(),
        }
    }
}

/// Pod specifications, by kind.
const POD_SPECS: &[(&str, &str)] = &[
    ("*|v1|Pod", "spec"),
    ("*|*|PodTemplate", "template/spec"),
    ("*|*|Deployment", "spec/template/spec"),
    ("*|*|ReplicaSet", "spec/template/spec"),
    ("*|*|DaemonSet", "spec/template/spec"),
    ("*|*|StatefulSet", "spec/template/spec"),
    ("*|*|Job", "spec/template/spec"),
    ("*|*|CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// Pod specifications in which accounts, claims and priorities are followed.
const WORKLOADS: &[(&str, &str)] = &[
    ("*|*|Pod", "spec"),
    ("*|*|StatefulSet", "spec/template/spec"),
    ("*|*|Deployment", "spec/template/spec"),
    ("*|*|ReplicationController", "spec/template/spec"),
    ("*|*|Job", "spec/template/spec"),
    ("*|*|DaemonSet", "spec/template/spec"),
    ("*|*|CronJob", "spec/jobTemplate/spec/template/spec"),
];

/// The built-in table of references.
pub(super) fn built_in() -> Vec<Reference> {
    let reference = |row: &Row| {
        let below = row.pods.iter().flat_map(|pod| row.below.iter().map(move |path| (pod, path)));
        let below = below.map(|((kinds, pod), path)| ((*kinds).to_owned(), format!("{pod}/{path}")));
        let fields = row.fields.iter().map(|(kinds, path)| ((*kinds).to_owned(), (*path).to_owned()));
        Reference::row(row.target, below.chain(fields))
    };
    TABLE.iter().map(reference).collect()
}

/// Who is referred to, the fields of pod specifications that do, and further fields.
struct Row {
    target: &'static str,
    pods: &'static [(&'static str, &'static str)],
    below: &'static [&'static str],
    fields: &'static [(&'static str, &'static str)],
}

const fn of_pods(target: &'static str, below: &'static [&'static str]) -> Row {
    Row { target, pods: WORKLOADS, below, fields: &[] }
}

const fn of_fields(target: &'static str, fields: &'static [(&'static str, &'static str)]) -> Row {
    Row { target, pods: &[], below: &[], fields }
}

const SCALED: &[(&str, &str)] = &[("*|*|HorizontalPodAutoscaler", "spec/scaleTargetRef/name")];

static TABLE: &[Row] = &[
    of_fields("*|*|Deployment", SCALED),
    of_fields("*|*|ReplicationController", SCALED),
    of_fields("*|*|ReplicaSet", SCALED),
    of_fields("*|*|StatefulSet", SCALED),
    Row {
        target: "*|v1|ConfigMap",
        pods: POD_SPECS,
        below: &[
            "volumes/configMap/name",
            "containers/env/valueFrom/configMapKeyRef/name",
            "initContainers/env/valueFrom/configMapKeyRef/name",
            "containers/envFrom/configMapRef/name",
            "initContainers/envFrom/configMapRef/name",
            "volumes/projected/sources/configMap/name",
        ],
        fields: &[
            ("*|*|Node", "spec/configSource/configMap"),
            ("*|*|Role", "rules/resourceNames"),
            ("*|*|ClusterRole", "rules/resourceNames"),
            ("*|*|Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
        ],
    },
    Row {
        target: "*|v1|Secret",
        pods: POD_SPECS,
        below: &[
            "volumes/secret/secretName",
            "containers/env/valueFrom/secretKeyRef/name",
            "initContainers/env/valueFrom/secretKeyRef/name",
            "containers/envFrom/secretRef/name",
            "initContainers/envFrom/secretRef/name",
            "imagePullSecrets/name",
            "volumes/projected/sources/secret/name",
        ],
        fields: &[
            ("*|*|Ingress", "spec/tls/secretName"),
            ("*|*|Ingress", "metadata/annotations/ingress.kubernetes.io\\/auth-secret"),
            ("*|*|Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-secret"),
            ("*|*|Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/auth-tls-secret"),
            ("*|*|ServiceAccount", "imagePullSecrets/name"),
            ("*|*|StorageClass", "parameters/secretName"),
            ("*|*|StorageClass", "parameters/adminSecretName"),
            ("*|*|StorageClass", "parameters/userSecretName"),
            ("*|*|StorageClass", "parameters/secretRef"),
            ("*|*|Role", "rules/resourceNames"),
            ("*|*|ClusterRole", "rules/resourceNames"),
            ("serving.knative.dev|v1|Service", "spec/template/spec/containers/env/valueFrom/secretKeyRef/name"),
            ("*|*|PersistentVolume", "spec/azureFile/secretName"),
        ],
    },
    of_fields(
        "*|v1|Service",
        &[
            ("apps|*|StatefulSet", "spec/serviceName"),
            ("*|*|Ingress", "spec/rules/http/paths/backend/serviceName"),
            ("*|*|Ingress", "spec/rules/http/paths/backend/service/name"),
            ("*|*|Ingress", "spec/backend/serviceName"),
            ("*|*|Ingress", "spec/defaultBackend/service/name"),
            ("apiregistration.k8s.io|*|APIService", "spec/service/name"),
            ("admissionregistration.k8s.io|*|ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
            ("admissionregistration.k8s.io|*|MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
        ],
    ),
    of_fields("rbac.authorization.k8s.io|*|Role", &[("rbac.authorization.k8s.io|*|RoleBinding", "roleRef/name")]),
    of_fields(
        "rbac.authorization.k8s.io|*|ClusterRole",
        &[
            ("rbac.authorization.k8s.io|*|RoleBinding", "roleRef/name"),
            ("rbac.authorization.k8s.io|*|ClusterRoleBinding", "roleRef/name"),
        ],
    ),
    Row {
        target: "*|v1|ServiceAccount",
        pods: WORKLOADS,
        below: &["serviceAccountName"],
        fields: &[
            ("rbac.authorization.k8s.io|*|RoleBinding", "subjects"),
            ("rbac.authorization.k8s.io|*|ClusterRoleBinding", "subjects"),
        ],
    },
    of_pods("*|v1|PersistentVolumeClaim", &["volumes/persistentVolumeClaim/claimName"]),
    of_fields(
        "*|v1|PersistentVolume",
        &[("*|*|PersistentVolumeClaim", "spec/volumeName"), ("*|*|ClusterRole", "rules/resourceNames")],
    ),
    of_fields(
        "storage.k8s.io|v1|StorageClass",
        &[
            ("*|*|PersistentVolume", "spec/storageClassName"),
            ("*|*|PersistentVolumeClaim", "spec/storageClassName"),
            ("*|*|StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
        ],
    ),
    of_pods("scheduling.k8s.io|v1|PriorityClass", &["priorityClassName"]),
    of_fields("*|*|ValidatingAdmissionPolicy", &[("*|*|ValidatingAdmissionPolicyBinding", "spec/policyName")]),
];
