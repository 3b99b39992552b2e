//! The fields that the API server does not let anyone change, kind by kind.

/// The fields of a kind that cannot be changed.
pub(super) struct ImmutableKind {
    pub(super) group: &'static str,
    pub(super) kind: &'static str,
    pub(super) fields: &'static [ImmutableField],
    /// What to do instead.
    pub(super) instead: &'static str,
    /// The page of the Kubernetes documentation.
    pub(super) link: &'static str,
}

/// A field that cannot be changed.
pub(super) struct ImmutableField {
    /// Where it is.
    pub(super) at: &'static str,
    /// What it means if it is not written.
    pub(super) absent: Absent,
    /// Members of it, at any depth, that may change or that the API server sets itself.
    pub(super) except: &'static [&'static str],
}

/// What it means if a field is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// There is no value.
    NoValue,
    /// The API server takes this value.
    Default(&'static str),
    /// The cluster decides, so that nothing can be said.
    Unknown,
    /// There is no value yet; it may be set once.
    SetOnce,
}

const fn field(at: &'static str, absent: Absent) -> ImmutableField {
    ImmutableField { at, absent, except: &[] }
}

/// What the API server adds to templates of claims.
const OF_CLAIMS: &[&str] = &["apiVersion", "kind", "status", "creationTimestamp"];
/// What may change in the specification of a Pod.
const OF_PODS: &[&str] = &["image", "activeDeadlineSeconds", "terminationGracePeriodSeconds", "tolerations"];

const RECREATE: &str = "give it another name, or delete the object and let it be created again";
const SELECTOR: &[ImmutableField] = &[field("/spec/selector", Absent::Unknown)];
const SPEC: &[ImmutableField] = &[field("/spec", Absent::Unknown)];
const ROLE_REF: &[ImmutableField] = &[field("/roleRef", Absent::Unknown)];
const BINDINGS: &str = "https://kubernetes.io/docs/reference/access-authn-authz/rbac/#clusterrolebinding-example";
const NEW_BINDING: &str = "delete the binding and create another one; a binding of another name does no harm";

/// Every kind with fields that cannot be changed. A CronJob is not among them: all of it may change.
pub(super) const IMMUTABLE: &[ImmutableKind] = &[
    ImmutableKind {
        group: "apps",
        kind: "Deployment",
        fields: SELECTOR,
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#label-selector-updates",
    },
    ImmutableKind {
        group: "apps",
        kind: "DaemonSet",
        fields: SELECTOR,
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/#pod-selector",
    },
    ImmutableKind {
        group: "apps",
        kind: "ReplicaSet",
        fields: SELECTOR,
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/workloads/controllers/replicaset/",
    },
    ImmutableKind {
        group: "apps",
        kind: "StatefulSet",
        fields: &[
            field("/spec/selector", Absent::Unknown),
            field("/spec/serviceName", Absent::NoValue),
            field("/spec/podManagementPolicy", Absent::Default("OrderedReady")),
            ImmutableField { at: "/spec/volumeClaimTemplates", absent: Absent::NoValue, except: OF_CLAIMS },
        ],
        instead: "delete it with `--cascade=orphan`, so that its pods and claims stay, and let it be created again; claims that \
                  exist are not changed by that",
        link: "https://kubernetes.io/docs/concepts/workloads/controllers/statefulset/",
    },
    ImmutableKind {
        group: "batch",
        kind: "Job",
        fields: &[
            field("/spec/selector", Absent::Unknown),
            field("/spec/template", Absent::Unknown),
            field("/spec/completionMode", Absent::Default("NonIndexed")),
            field("/spec/podFailurePolicy", Absent::NoValue),
            field("/spec/backoffLimitPerIndex", Absent::NoValue),
            field("/spec/managedBy", Absent::Default("kubernetes.io/job-controller")),
            field("/spec/successPolicy", Absent::NoValue),
        ],
        instead: "give it another name or a `generateName`, or let it be replaced: `ttlSecondsAfterFinished`, the annotation \
                  `kustomize.toolkit.fluxcd.io/force: enabled` of Flux, or a hook of Argo CD",
        link: "https://kubernetes.io/docs/concepts/workloads/controllers/job/",
    },
    ImmutableKind {
        group: "",
        kind: "Pod",
        fields: &[ImmutableField { at: "/spec", absent: Absent::Unknown, except: OF_PODS }],
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/workloads/pods/#pod-update-and-replacement",
    },
    ImmutableKind {
        group: "",
        kind: "PersistentVolumeClaim",
        fields: &[
            field("/spec/accessModes", Absent::Unknown),
            field("/spec/storageClassName", Absent::Unknown),
            field("/spec/volumeMode", Absent::Default("Filesystem")),
            field("/spec/volumeName", Absent::SetOnce),
            field("/spec/selector", Absent::NoValue),
            field("/spec/dataSource", Absent::Unknown),
            field("/spec/dataSourceRef", Absent::Unknown),
        ],
        instead: "create a claim of another name and copy the data; only the size of a claim can grow",
        link: "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#expanding-persistent-volumes-claims",
    },
    ImmutableKind {
        group: "",
        kind: "PersistentVolume",
        fields: &[
            field("/spec/awsElasticBlockStore", Absent::NoValue),
            field("/spec/azureDisk", Absent::NoValue),
            field("/spec/azureFile", Absent::NoValue),
            field("/spec/cephfs", Absent::NoValue),
            field("/spec/cinder", Absent::NoValue),
            ImmutableField { at: "/spec/csi", absent: Absent::NoValue, except: &["controllerExpandSecretRef"] },
            field("/spec/fc", Absent::NoValue),
            field("/spec/flexVolume", Absent::NoValue),
            field("/spec/gcePersistentDisk", Absent::NoValue),
            field("/spec/hostPath", Absent::NoValue),
            field("/spec/iscsi", Absent::NoValue),
            field("/spec/local", Absent::NoValue),
            field("/spec/nfs", Absent::NoValue),
            field("/spec/rbd", Absent::NoValue),
            field("/spec/vsphereVolume", Absent::NoValue),
            field("/spec/volumeMode", Absent::Default("Filesystem")),
            field("/spec/nodeAffinity", Absent::SetOnce),
        ],
        instead: "create a volume of another name",
        link: "https://kubernetes.io/docs/concepts/storage/persistent-volumes/#persistent-volumes",
    },
    ImmutableKind {
        group: "",
        kind: "Secret",
        fields: &[field("/type", Absent::Default("Opaque"))],
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
    },
    ImmutableKind {
        group: "storage.k8s.io",
        kind: "StorageClass",
        fields: &[
            field("/provisioner", Absent::Unknown),
            field("/parameters", Absent::NoValue),
            field("/reclaimPolicy", Absent::Default("Delete")),
            field("/volumeBindingMode", Absent::Default("Immediate")),
        ],
        instead: "create a class of another name, or delete it and create it again: volumes that exist keep what they have",
        link: "https://kubernetes.io/docs/concepts/storage/storage-classes/",
    },
    ImmutableKind {
        group: "storage.k8s.io",
        kind: "CSIDriver",
        fields: &[
            field("/spec/attachRequired", Absent::Default("true")),
            field("/spec/volumeLifecycleModes", Absent::Unknown),
        ],
        instead: RECREATE,
        link: "https://kubernetes.io/docs/reference/kubernetes-api/config-and-storage-resources/csi-driver-v1/",
    },
    ImmutableKind {
        group: "storage.k8s.io",
        kind: "VolumeAttributesClass",
        fields: &[field("/driverName", Absent::Unknown), field("/parameters", Absent::NoValue)],
        instead: "create a class of another name",
        link: "https://kubernetes.io/docs/concepts/storage/volume-attributes-classes/",
    },
    ImmutableKind {
        group: "rbac.authorization.k8s.io",
        kind: "RoleBinding",
        fields: ROLE_REF,
        instead: NEW_BINDING,
        link: BINDINGS,
    },
    ImmutableKind {
        group: "rbac.authorization.k8s.io",
        kind: "ClusterRoleBinding",
        fields: ROLE_REF,
        instead: NEW_BINDING,
        link: BINDINGS,
    },
    ImmutableKind {
        group: "networking.k8s.io",
        kind: "IngressClass",
        fields: &[field("/spec/controller", Absent::Unknown)],
        instead: RECREATE,
        link: "https://kubernetes.io/docs/reference/kubernetes-api/service-resources/ingress-class-v1/",
    },
    ImmutableKind {
        group: "scheduling.k8s.io",
        kind: "PriorityClass",
        fields: &[
            field("/value", Absent::Unknown),
            field("/preemptionPolicy", Absent::Default("PreemptLowerPriority")),
        ],
        instead: "create a class of another name, or delete it and create it again: pods that run keep their priority",
        link: "https://kubernetes.io/docs/concepts/scheduling-eviction/pod-priority-preemption/#priorityclass",
    },
    ImmutableKind {
        group: "node.k8s.io",
        kind: "RuntimeClass",
        fields: &[field("/handler", Absent::Unknown)],
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/containers/runtime-class/",
    },
    ImmutableKind {
        group: "apiextensions.k8s.io",
        kind: "CustomResourceDefinition",
        fields: &[field("/spec/scope", Absent::Unknown), field("/spec/names/kind", Absent::Unknown)],
        instead: "define a resource of another name; deleting a definition deletes its custom resources",
        link: "https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/",
    },
    ImmutableKind {
        group: "apps",
        kind: "ControllerRevision",
        fields: &[field("/data", Absent::NoValue)],
        instead: RECREATE,
        link: "https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/controller-revision-v1/",
    },
    ImmutableKind {
        group: "resource.k8s.io",
        kind: "ResourceClaim",
        fields: SPEC,
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
    },
    ImmutableKind {
        group: "resource.k8s.io",
        kind: "ResourceClaimTemplate",
        fields: SPEC,
        instead: RECREATE,
        link: "https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/",
    },
];
