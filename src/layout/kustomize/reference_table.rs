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
    let below = |specs: &[(&str, &str)], paths: &[&str]| -> Vec<(String, String)> {
        let both = specs.iter().flat_map(|spec| paths.iter().map(move |path| (spec, path)));
        both.map(|((kinds, spec), path)| ((*kinds).to_owned(), format!("{spec}/{path}"))).collect()
    };
    let fields = |rows: &[(&str, &str)]| -> Vec<(String, String)> {
        rows.iter().map(|(kinds, path)| ((*kinds).to_owned(), (*path).to_owned())).collect()
    };
    let join = |lists: [Vec<(String, String)>; 2]| lists.into_iter().flatten();
    let scale = || fields(&[("*|*|HorizontalPodAutoscaler", "spec/scaleTargetRef/name")]);
    let config_map = below(
        POD_SPECS,
        &[
            "volumes/configMap/name",
            "containers/env/valueFrom/configMapKeyRef/name",
            "initContainers/env/valueFrom/configMapKeyRef/name",
            "containers/envFrom/configMapRef/name",
            "initContainers/envFrom/configMapRef/name",
            "volumes/projected/sources/configMap/name",
        ],
    );
    let secret = below(
        POD_SPECS,
        &[
            "volumes/secret/secretName",
            "containers/env/valueFrom/secretKeyRef/name",
            "initContainers/env/valueFrom/secretKeyRef/name",
            "containers/envFrom/secretRef/name",
            "initContainers/envFrom/secretRef/name",
            "imagePullSecrets/name",
            "volumes/projected/sources/secret/name",
        ],
    );
    vec![
        Reference::row("*|*|Deployment", scale()),
        Reference::row("*|*|ReplicationController", scale()),
        Reference::row("*|*|ReplicaSet", scale()),
        Reference::row("*|*|StatefulSet", scale()),
        Reference::row(
            "*|v1|ConfigMap",
            join([
                config_map,
                fields(&[
                    ("*|*|Node", "spec/configSource/configMap"),
                    ("*|*|Role", "rules/resourceNames"),
                    ("*|*|ClusterRole", "rules/resourceNames"),
                    ("*|*|Ingress", "metadata/annotations/nginx.ingress.kubernetes.io\\/fastcgi-params-configmap"),
                ]),
            ]),
        ),
        Reference::row(
            "*|v1|Secret",
            join([
                secret,
                fields(&[
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
                ]),
            ]),
        ),
        Reference::row(
            "*|v1|Service",
            fields(&[
                ("apps|*|StatefulSet", "spec/serviceName"),
                ("*|*|Ingress", "spec/rules/http/paths/backend/serviceName"),
                ("*|*|Ingress", "spec/rules/http/paths/backend/service/name"),
                ("*|*|Ingress", "spec/backend/serviceName"),
                ("*|*|Ingress", "spec/defaultBackend/service/name"),
                ("apiregistration.k8s.io|*|APIService", "spec/service/name"),
                ("admissionregistration.k8s.io|*|ValidatingWebhookConfiguration", "webhooks/clientConfig/service"),
                ("admissionregistration.k8s.io|*|MutatingWebhookConfiguration", "webhooks/clientConfig/service"),
            ]),
        ),
        Reference::row(
            "rbac.authorization.k8s.io|*|Role",
            fields(&[("rbac.authorization.k8s.io|*|RoleBinding", "roleRef/name")]),
        ),
        Reference::row(
            "rbac.authorization.k8s.io|*|ClusterRole",
            fields(&[
                ("rbac.authorization.k8s.io|*|RoleBinding", "roleRef/name"),
                ("rbac.authorization.k8s.io|*|ClusterRoleBinding", "roleRef/name"),
            ]),
        ),
        Reference::row(
            "*|v1|ServiceAccount",
            join([
                below(WORKLOADS, &["serviceAccountName"]),
                fields(&[
                    ("rbac.authorization.k8s.io|*|RoleBinding", "subjects"),
                    ("rbac.authorization.k8s.io|*|ClusterRoleBinding", "subjects"),
                ]),
            ]),
        ),
        Reference::row("*|v1|PersistentVolumeClaim", below(WORKLOADS, &["volumes/persistentVolumeClaim/claimName"])),
        Reference::row(
            "*|v1|PersistentVolume",
            fields(&[("*|*|PersistentVolumeClaim", "spec/volumeName"), ("*|*|ClusterRole", "rules/resourceNames")]),
        ),
        Reference::row(
            "storage.k8s.io|v1|StorageClass",
            fields(&[
                ("*|*|PersistentVolume", "spec/storageClassName"),
                ("*|*|PersistentVolumeClaim", "spec/storageClassName"),
                ("*|*|StatefulSet", "spec/volumeClaimTemplates/spec/storageClassName"),
            ]),
        ),
        Reference::row("scheduling.k8s.io|v1|PriorityClass", below(WORKLOADS, &["priorityClassName"])),
        Reference::row(
            "*|*|ValidatingAdmissionPolicy",
            fields(&[("*|*|ValidatingAdmissionPolicyBinding", "spec/policyName")]),
        ),
    ]
}
