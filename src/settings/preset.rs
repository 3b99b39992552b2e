//! Presets of fields that programs write and reviewers rarely read: one table, from which the documentation is made.

/// Fields whose changes can be hidden under one name.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name in `ignore: [{preset: NAME}]`.
    pub name: &'static str,
    /// What its fields have in common.
    pub summary: &'static str,
    /// The fields.
    pub fields: &'static [PresetField],
}

/// A field of a preset.
#[derive(Debug, PartialEq, Eq)]
pub struct PresetField {
    /// Where it is: a pattern of JSON Pointers.
    pub pointer: &'static str,
    /// Whether it counts in every document, and not only in Kubernetes documents.
    pub anywhere: bool,
    /// Who writes it, and why it changes.
    pub reason: &'static str,
}

const fn field(pointer: &'static str, reason: &'static str) -> PresetField {
    PresetField { pointer, anywhere: false, reason }
}

const fn anywhere(pointer: &'static str, reason: &'static str) -> PresetField {
    PresetField { pointer, anywhere: true, reason }
}

/// Every preset. Labels below `selector` and `matchLabels` are never part of one: a changed selector selects other Pods.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "helm",
        summary: "labels and annotations that charts put on every resource and change with every version of the chart",
        fields: &[
            field("/**/metadata/labels/helm.sh~1chart", "name and version of the chart"),
            field("/**/metadata/labels/chart", "name and version of the chart, in older charts"),
            field("/**/metadata/labels/heritage", "the program that installs, in older charts"),
            field("/**/metadata/labels/app.kubernetes.io~1version", "the application version of the chart"),
            field("/**/metadata/labels/app.kubernetes.io~1managed-by", "the program that installs"),
            field("/**/metadata/annotations/meta.helm.sh~1release-name", "written by `helm install`"),
            field("/**/metadata/annotations/meta.helm.sh~1release-namespace", "written by `helm install`"),
        ],
    },
    Preset {
        name: "kubernetes",
        summary: "fields that the API server and its controllers write, in documents that were exported from a cluster",
        fields: &[
            field("/status", "the observed state"),
            field("/**/metadata/creationTimestamp", "the time of creation; `null` in generated documents"),
            field("/metadata/generation", "counts changes of the specification"),
            field("/metadata/managedFields", "who owns which field"),
            field("/metadata/resourceVersion", "counts changes"),
            field("/metadata/selfLink", "the address in the API"),
            field("/metadata/uid", "the id of the object"),
            field(
                "/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration",
                "written by `kubectl apply`",
            ),
            field("/metadata/annotations/deployment.kubernetes.io~1revision", "counts rollouts"),
            field("/metadata/annotations/deprecated.daemonset.template.generation", "counts rollouts"),
        ],
    },
    Preset {
        name: "checksums",
        summary: "annotations with a checksum of another document, which make workloads follow its changes",
        fields: &[
            field("/**/metadata/annotations/checksum~1*", "`checksum/config` and the like, written by charts"),
            field("/**/metadata/annotations/checksum.*", "`checksum.config` and the like"),
            field("/**/metadata/annotations/*~1checksum", "`example.com/checksum`"),
            field("/**/metadata/annotations/*~1checksum-*", "`example.com/checksum-config`"),
            field("/**/metadata/annotations/*~1config-hash", "`example.com/config-hash`"),
            field("/**/metadata/annotations/*~1config-checksum", "`example.com/config-checksum`"),
        ],
    },
    Preset {
        name: "generated",
        summary: "stamps of generators: their version, the time, and where a document came from",
        fields: &[
            field("/metadata/annotations/controller-gen.kubebuilder.io~1version", "the version of controller-gen"),
            field("/metadata/annotations/config.kubernetes.io~1origin", "written by kustomize (`buildMetadata`)"),
            field(
                "/metadata/annotations/alpha.config.kubernetes.io~1transformations",
                "written by kustomize (`buildMetadata`)",
            ),
            field("/metadata/annotations/internal.config.kubernetes.io~1*", "written by configuration functions"),
            field("/metadata/annotations/operators.operatorframework.io~1builder", "the version of operator-sdk"),
            field("/metadata/annotations/operators.operatorframework.io~1project_layout", "the layout of operator-sdk"),
            field("/metadata/annotations/createdAt", "the time at which a ClusterServiceVersion was generated"),
            field("/metadata/annotations/kompose.version", "the version of kompose"),
            field("/metadata/annotations/kompose.cmd", "the command line of kompose"),
            field("/metadata/annotations/argocd.argoproj.io~1tracking-id", "written by Argo CD"),
            anywhere("/sops/lastmodified", "the time at which sops wrote the file"),
            anywhere("/sops/version", "the version of sops"),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glob::Pattern;
    use crate::testing::is_documented;

    #[test]
    fn every_field_of_a_preset_is_documented() {
        let mut text = String::new();
        for Preset { name, summary, fields } in PRESETS {
            text.push_str(&format!("\n### {name}\n\nThe preset `{name}` hides {summary}.\n\n| field | |\n|---|---|\n"));
            for field in *fields {
                let everywhere = if field.anywhere { "; in every document" } else { "" };
                text.push_str(&format!("| `{}` | {}{everywhere} |\n", field.pointer, field.reason));
            }
        }
        is_documented("docs/noise.md", "presets", &(text + "\n"));
    }

    #[test]
    fn fields_are_patterns_and_never_selectors() {
        for field in PRESETS.iter().flat_map(|preset| preset.fields) {
            let pattern = Pattern::of_pointer(field.pointer).expect("it is a pattern");
            for place in
                [["spec", "selector", "matchLabels", "helm.sh/chart"], ["spec", "selector", "matchLabels", "chart"]]
            {
                assert!(!pattern.covers(&place), "{}", field.pointer);
            }
        }
    }
}
