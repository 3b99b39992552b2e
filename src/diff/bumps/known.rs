//! Which fields hold a version, and of what: one table, from which the documentation is made.
//!
//! A field counts only if everything that names the thing is the same on both sides.

use super::field::VersionField;
use super::image::ImageReference;
use super::url::versioned_url;
use super::version::Version;
use super::{BumpKind, Candidate};

/// Fields that hold the version of something.
pub(super) struct KnownField {
    /// What the version belongs to.
    pub(super) kind: BumpKind,
    /// The fields, in words.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documentation is made from it"))]
    pub(super) fields: &'static str,
    /// What must be the same on both sides.
    #[cfg_attr(not(test), expect(dead_code, reason = "the documentation is made from it"))]
    pub(super) same: &'static str,
    read: fn(&VersionField<'_>) -> Option<Candidate>,
}

/// Every field that is known, the most specific first.
pub(super) const KNOWN_FIELDS: &[KnownField] = &[
    KnownField {
        kind: BumpKind::Action,
        fields: "`uses: owner/name@version` of workflows and actions, with the version in a comment beside a commit (`# v4.2.0`)",
        same: "the name before `@`",
        read: action,
    },
    KnownField {
        kind: BumpKind::Image,
        fields: "a whole reference to an image in a field whose name ends in `image` or `imageName`, in the `value` of a variable or parameter with `image` or `bundle` in its name, and, if it has a registry and a digest, in any field",
        same: "registry and name of the image",
        read: image,
    },
    KnownField {
        kind: BumpKind::Image,
        fields: "`newTag` and `digest` of `images` of a kustomization",
        same: "`name` and `newName`",
        read: kustomize_image,
    },
    KnownField {
        kind: BumpKind::Image,
        fields: "`tag`, `digest` and `sha` beside `repository`, or in a map whose name ends in `image`, as values of charts have them",
        same: "`registry`, `repository` and `name`",
        read: tag_of_image,
    },
    KnownField {
        kind: BumpKind::Chart,
        fields: "`targetRevision` of an Argo CD source with a `chart`",
        same: "`repoURL` and `chart`",
        read: argo_chart,
    },
    KnownField {
        kind: BumpKind::Source,
        fields: "`targetRevision` of any other Argo CD source",
        same: "`repoURL` and `path`",
        read: argo_source,
    },
    KnownField {
        kind: BumpKind::Chart,
        fields: "`version` beside a chart: `spec.chart.spec` of a HelmRelease, `spec` of a HelmChart, `dependencies` of `Chart.yaml`, `helmCharts` of a kustomization, `releases` of helmfile",
        same: "the name of the chart and its repository",
        read: chart,
    },
    KnownField {
        kind: BumpKind::Chart,
        fields: "`spec.ref.tag`, `spec.ref.semver` and `spec.ref.digest` of an OCIRepository",
        same: "`spec.url`",
        read: oci_repository,
    },
    KnownField {
        kind: BumpKind::Source,
        fields: "`spec.ref.tag`, `spec.ref.semver` and `spec.ref.commit` of a GitRepository",
        same: "`spec.url`",
        read: git_repository,
    },
    KnownField {
        kind: BumpKind::Source,
        fields: "the version of a remote base or component of a kustomization; `?ref=` in the address of a git repository; the tag in the address of a file on GitHub (`releases/download/…`, `raw.githubusercontent.com/…`)",
        same: "the rest of the address",
        read: source,
    },
    KnownField {
        kind: BumpKind::Source,
        fields: "`rev` of `repos` in `.pre-commit-config.yaml`",
        same: "`repo`",
        read: hook,
    },
    KnownField {
        kind: BumpKind::Label,
        fields: "the labels and annotations `app.kubernetes.io/version`, `helm.sh/chart`, `controller-gen.kubebuilder.io/version`, `gateway.networking.k8s.io/bundle-version`",
        same: "the name of the chart in `helm.sh/chart`",
        read: label,
    },
    KnownField {
        kind: BumpKind::Package,
        fields: "`version` and `appVersion` of `Chart.yaml`; `version` and the `dependencies` sections of `package.json`; a range keeps its sign (`^1.0.0` and `^1.0.1`)",
        same: "`name`",
        read: package,
    },
    KnownField {
        kind: BumpKind::Package,
        fields: "`spec.version` of Alertmanager, Elasticsearch, Grafana, Kibana, KubeadmControlPlane, Logstash, Plan, Prometheus, PrometheusAgent and ThanosRuler; `spec.talos.version` of a TalosUpgrade; `spec.kubernetes.version` of a KubernetesUpgrade; `talosVersion` and `kubernetesVersion` of `talconfig.yaml`; `spec.startingCSV` of a Subscription",
        same: "the kind of the document",
        read: product,
    },
    KnownField {
        kind: BumpKind::Package,
        fields: "inputs of a step (`with`) that are called `version` or end in `-version`",
        same: "the action of the step, in any version",
        read: tool_of_step,
    },
    KnownField {
        kind: BumpKind::Package,
        fields: "any value with a comment `# renovate: … depName=NAME` in the line above",
        same: "the comment",
        read: annotated,
    },
];

/// The bump that a field is.
pub(super) fn bump(field: &VersionField<'_>) -> Option<Candidate> {
    KNOWN_FIELDS.iter().find_map(|known| (known.read)(field).map(|bump| Candidate { kind: known.kind, ..bump }))
}

fn candidate(field: &VersionField<'_>, name: &str) -> Option<Candidate> {
    Candidate::new(name, field.before, field.after)
}

fn action(field: &VersionField<'_>) -> Option<Candidate> {
    let ((name, before), (other, after)) = (field.before.split_once('@')?, field.after.split_once('@')?);
    let is_action = field.key() == Some("uses") && name == other && name.contains('/') && !name.contains(':');
    let bump = Candidate::new(name, before, after).filter(|_| is_action)?;
    let comments = field.comments().map(|comment| comment.as_deref().and_then(version_in_comment).map(Into::into));
    Some(Candidate { comments, ..bump })
}

/// The version in a comment: `# v4.2.0`, `# tag=v4.2.0`.
fn version_in_comment(comment: &str) -> Option<&str> {
    let word = comment.trim_start_matches('#').split_whitespace().next()?;
    let word = word.rsplit(['=', '@']).next()?;
    Version::read(word).map(|_| word)
}

fn image(field: &VersionField<'_>) -> Option<Candidate> {
    let (old_flag, old) = flag(field.before);
    let (new_flag, new) = flag(field.after);
    let [before, after] = [ImageReference::read(old)?, ImageReference::read(new)?];
    let is_meant = match field.key() {
        Some("value") => field.same("name").is_some_and(is_image_name) && before.has_registry(),
        Some("uses") => old.starts_with("docker://"),
        Some(key) => is_image_name(key) && old_flag.is_empty(),
        None => !old_flag.is_empty() && before.has_registry(),
    };
    let is_certain = before.is_certain() && after.is_certain();
    let is_same = before.repository == after.repository && old_flag == new_flag;
    let name = before.repository.trim_start_matches("docker://");
    (is_same && (is_meant || is_certain)).then(|| Candidate::new(name, before.text, after.text)).flatten()
}

/// `--image=` and what follows it; nothing and the whole text for anything else.
pub(super) fn flag(text: &str) -> (&str, &str) {
    let end = text.find('=').filter(|_| text.starts_with('-')).map_or(0, |at| at + 1);
    text.split_at(end)
}

/// Whether a name is one of a field or variable for an image.
fn is_image_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let is_variable = name.contains("_image") || name.contains("image_") || name.contains("-image");
    ["image", "imagename", "bundle"].iter().any(|end| name.ends_with(end)) || is_variable
}

fn kustomize_image(field: &VersionField<'_>) -> Option<Candidate> {
    let is_entry = field.key_above(1) == Some("images") && matches!(field.key(), Some("newTag" | "digest"));
    let name = is_entry.then(|| field.same("name")).flatten()?;
    let is_same = field.are_unchanged(&["name", "newName"]);
    is_same.then(|| candidate(field, field.same("newName").unwrap_or(name))).flatten()
}

fn tag_of_image(field: &VersionField<'_>) -> Option<Candidate> {
    if !matches!(field.key(), Some("tag" | "digest" | "sha")) {
        return None;
    }
    let is_image = field.key_above(1).is_some_and(|key| key.to_ascii_lowercase().ends_with("image"));
    let repository = field.same("repository");
    let is_same = field.are_unchanged(&["registry", "repository", "name"]);
    if !(is_same && (is_image || repository.is_some())) {
        return None;
    }
    let name = repository.or_else(|| field.same("name")).or_else(|| field.key_above(1)).unwrap_or("image");
    match field.same("registry") {
        Some(registry) => candidate(field, &format!("{registry}/{name}")),
        None => candidate(field, name),
    }
}

fn argo_chart(field: &VersionField<'_>) -> Option<Candidate> {
    let chart = field.same("chart").filter(|_| is_argo_source(field))?;
    candidate(field, chart)
}

fn argo_source(field: &VersionField<'_>) -> Option<Candidate> {
    candidate(field, field.same("repoURL").filter(|_| is_argo_source(field))?)
}

fn is_argo_source(field: &VersionField<'_>) -> bool {
    field.key() == Some("targetRevision")
        && field.same("repoURL").is_some()
        && field.are_unchanged(&["repoURL", "chart", "path"])
}

fn chart(field: &VersionField<'_>) -> Option<Candidate> {
    const REPOSITORIES: [&str; 5] = ["repo", "repository", "repoURL", "helmRepository", "sourceRef"];
    const NAMES: [&str; 3] = ["chart", "name", "chartName"];
    let is_version = matches!(field.key(), Some("version" | "chartVersion"));
    let is_same = field.are_unchanged(&REPOSITORIES) && field.are_unchanged(&NAMES);
    let is_chart = field.same("chart").is_some() || field.first_same(&REPOSITORIES).is_some();
    (is_version && is_same && is_chart).then(|| candidate(field, field.first_same(&NAMES)?)).flatten()
}

fn oci_repository(field: &VersionField<'_>) -> Option<Candidate> {
    flux_reference(field, "OCIRepository", &["tag", "semver", "digest"])
}

fn git_repository(field: &VersionField<'_>) -> Option<Candidate> {
    flux_reference(field, "GitRepository", &["tag", "semver", "commit"])
}

fn flux_reference(field: &VersionField<'_>, kind: &str, names: &[&str]) -> Option<Candidate> {
    let is_reference = matches!(field.keys.as_slice(), ["spec", "ref", name] if names.contains(name));
    let url = field.same_at(&["spec", "url"]).filter(|_| is_reference && field.kind() == Some(kind))?;
    candidate(field, url)
}

fn source(field: &VersionField<'_>) -> Option<Candidate> {
    let is_remote = matches!(field.reported_kind(), Some("RemoteBase" | "RemoteComponent"));
    if is_remote && field.keys == ["ref"] {
        return candidate(field, field.same("url")?);
    }
    let url = versioned_url(field.before, field.after, field.list().is_some_and(is_list_of_bases))?;
    Candidate::new(url.name, url.before, url.after)
}

/// Whether a list of a kustomization holds addresses.
pub(super) fn is_list_of_bases(key: &str) -> bool {
    ["resources", "components", "bases", "crds"].contains(&key)
}

fn hook(field: &VersionField<'_>) -> Option<Candidate> {
    let is_revision = field.key() == Some("rev") && field.key_above(1) == Some("repos");
    candidate(field, is_revision.then(|| field.same("repo")).flatten()?)
}

fn label(field: &VersionField<'_>) -> Option<Candidate> {
    let key = field.key().filter(|_| matches!(field.key_above(1), Some("labels" | "annotations")))?;
    match key {
        "app.kubernetes.io/version"
        | "controller-gen.kubebuilder.io/version"
        | "gateway.networking.k8s.io/bundle-version" => candidate(field, key),
        "helm.sh/chart" => {
            let ((name, before), (other, after)) = (chart_label(field.before)?, chart_label(field.after)?);
            (name == other).then(|| Candidate::new(&format!("{key} {name}"), before, after)).flatten()
        }
        _ => None,
    }
}

/// The name and the version in the value of `helm.sh/chart`: `app-1.2.3`.
fn chart_label(text: &str) -> Option<(&str, &str)> {
    let mut dashes = text.match_indices('-').map(|(at, _)| at);
    let at = dashes.find(|at| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?;
    Some((&text[..at], &text[at + 1..]))
}

fn package(field: &VersionField<'_>) -> Option<Candidate> {
    match (field.file_name, field.keys.as_slice()) {
        (b"Chart.yaml", ["version" | "appVersion"]) | (b"package.json", ["version"]) => {
            candidate(field, field.same("name")?)
        }
        (b"package.json", [section, name]) if section.to_ascii_lowercase().ends_with("dependencies") => {
            let ((range, before), (other, after)) = (range_sign(field.before), range_sign(field.after));
            (range == other).then(|| Candidate::new(name, before, after)).flatten()
        }
        _ => None,
    }
}

fn range_sign(text: &str) -> (&str, &str) {
    text.split_at(usize::from(text.starts_with(['^', '~'])))
}

fn product(field: &VersionField<'_>) -> Option<Candidate> {
    const INSTALLED: [&str; 10] = [
        "Alertmanager",
        "Elasticsearch",
        "Grafana",
        "Kibana",
        "KubeadmControlPlane",
        "Logstash",
        "Plan",
        "Prometheus",
        "PrometheusAgent",
        "ThanosRuler",
    ];
    match (field.kind(), field.keys.as_slice()) {
        (Some(kind), ["spec", "version"]) if INSTALLED.contains(&kind) => candidate(field, kind),
        (Some("TalosUpgrade"), ["spec", "talos", "version"]) => candidate(field, "Talos"),
        (Some("KubernetesUpgrade"), ["spec", "kubernetes", "version"]) => candidate(field, "Kubernetes"),
        (Some("Subscription"), ["spec", "startingCSV"]) => {
            let ((name, before), (other, after)) = (field.before.split_once('.')?, field.after.split_once('.')?);
            (name == other).then(|| Candidate::new(name, before, after)).flatten()
        }
        (_, ["talosVersion"]) if field.file_name.starts_with(b"talconfig") => candidate(field, "Talos"),
        (_, ["kubernetesVersion"]) if field.file_name.starts_with(b"talconfig") => candidate(field, "Kubernetes"),
        _ => None,
    }
}

fn tool_of_step(field: &VersionField<'_>) -> Option<Candidate> {
    let key = field.key().filter(|key| *key == "version" || key.ends_with("-version"))?;
    let uses = field.beside_parent("uses").filter(|_| field.key_above(1) == Some("with"))?;
    let [action, other] = uses.map(|uses| uses.split('@').next().unwrap_or(uses));
    if action != other {
        return None;
    }
    candidate(field, &format!("{key} of {action}"))
}

fn annotated(field: &VersionField<'_>) -> Option<Candidate> {
    let comment = field.comment_above()?;
    let words = comment.trim_start_matches('#').trim_start().strip_prefix("renovate:")?;
    let name = words.split_whitespace().find_map(|word| word.strip_prefix("depName="))?;
    candidate(field, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::is_documented;

    #[test]
    fn every_known_field_is_documented() {
        let rows = KNOWN_FIELDS.iter().map(|known| {
            let KnownField { kind, fields, same, .. } = known;
            format!("| {} | {fields} | {same} |\n", kind.name())
        });
        let table = format!("| kind | fields | must be the same |\n|---|---|---|\n{}", rows.collect::<String>());
        is_documented("docs/reports.md", "bump fields", &table);
    }
}
