//! Which fields hold a version, and of what.

use smol_str::SmolStr;

use super::image::ImageReference;
use super::{BumpKind, Candidate};
use crate::diff::{Change, ChangeKind, DiffSide, Documents, PathStep, pointer};
use crate::path::Pointer;
use crate::value::{Node, Value};

/// A value before and after, and where it is written.
pub(super) struct VersionField<'c> {
    before: &'c str,
    after: &'c str,
    /// The keys of the path, outermost first; items of lists have none.
    keys: Vec<&'c str>,
    /// The map that holds the value, on both sides.
    parents: Option<[&'c Node; 2]>,
    /// The documents.
    roots: Option<[&'c Node; 2]>,
    file_name: &'c [u8],
}

impl<'c> VersionField<'c> {
    /// The field of a change; `None` for anything but a text or number that is another one now.
    pub(super) fn of_change(change: &'c Change, documents: Option<&'c Documents>, file_name: &'c [u8]) -> Option<Self> {
        // A version that became a number is more than another version: programs may refuse it.
        if change.kind != ChangeKind::Value {
            return None;
        }
        let is_view =
            |step: &PathStep| matches!(step, PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_));
        if change.path.first().is_some_and(is_view) {
            return None;
        }
        let [before, after] = [scalar(change.before.as_ref()?)?, scalar(change.after.as_ref()?)?];
        let key = |step: &'c PathStep| match step {
            PathStep::Key(key) => Some(key.name.as_str()),
            _ => None,
        };
        let keys = change.path.iter().filter_map(key).collect();
        let is_embedded = change.path.iter().any(|step| matches!(step, PathStep::Embedded(_)));
        let documents = documents.filter(|_| !is_embedded);
        let roots = documents.map(|documents| [&documents.before, &documents.after]);
        let parents = roots.and_then(|[before, after]| {
            let above = &change.path[..change.path.len().saturating_sub(1)];
            let parent = |root: &'c Node, side| root.at(&pointer(above, side));
            Some([parent(before, DiffSide::Before)?, parent(after, DiffSide::After)?])
        });
        Some(Self { before, after, keys, parents, roots, file_name })
    }

    /// The bump that the change is.
    pub(super) fn bump(&self) -> Option<Candidate> {
        self.action()
            .or_else(|| self.image())
            .or_else(|| self.kustomize_image())
            .or_else(|| self.tag_of_image())
            .or_else(|| self.chart())
            .or_else(|| self.source())
            .or_else(|| self.hook())
            .or_else(|| self.label())
            .or_else(|| self.package())
            .or_else(|| self.product())
            .or_else(|| reference_in_url(self.before, self.after))
    }

    fn key(&self) -> Option<&'c str> {
        self.keys.last().copied()
    }

    /// The key that is so many levels above the value.
    fn key_above(&self, levels: usize) -> Option<&'c str> {
        self.keys.len().checked_sub(levels + 1).map(|at| self.keys[at])
    }

    /// A neighbour in the same map that is the same text on both sides.
    fn same(&self, name: &str) -> Option<&'c str> {
        let [before, after] = self.parents?;
        let text = before.get(name)?.as_str()?;
        (after.get(name)?.as_str()? == text).then_some(text)
    }

    /// Whether a neighbour is absent or the same on both sides.
    fn is_unchanged(&self, name: &str) -> bool {
        self.parents.is_some_and(|[before, after]| match (before.get(name), after.get(name)) {
            (None, None) => true,
            (Some(before), Some(after)) => before.is_equal(after),
            _ => false,
        })
    }

    /// The kind of the document, if both sides have the same.
    fn kind(&self) -> Option<&'c str> {
        let [before, after] = self.roots?;
        let kind = before.get("kind")?.as_str()?;
        (after.get("kind")?.as_str()? == kind).then_some(kind)
    }

    /// A text at a place of the document that is the same on both sides.
    fn same_at(&self, place: &[&str]) -> Option<&'c str> {
        let [before, after] = self.roots?;
        let place: Pointer = place.iter().map(|token| SmolStr::from(*token)).collect();
        let text = before.at(&place)?.as_str()?;
        (after.at(&place)?.as_str()? == text).then_some(text)
    }

    fn candidate(&self, kind: BumpKind, name: &str) -> Option<Candidate> {
        Candidate::new(kind, name, self.before, self.after)
    }

    /// `uses: owner/name@version` in a workflow.
    fn action(&self) -> Option<Candidate> {
        let ((name, before), (other, after)) = (self.before.split_once('@')?, self.after.split_once('@')?);
        let is_action = self.key() == Some("uses") && name == other && name.contains('/') && !name.contains(':');
        if is_action { Candidate::new(BumpKind::Action, name, before, after) } else { None }
    }

    /// A whole reference to an image, in a field for one or with a registry and a digest.
    fn image(&self) -> Option<Candidate> {
        let [before, after] = [ImageReference::read(self.before)?, ImageReference::read(self.after)?];
        let is_image_field = self.key().is_some_and(|key| {
            let key = key.to_ascii_lowercase();
            key.ends_with("image") || key == "bundle" || key == "uses"
        });
        let is_certain = before.is_certain() && after.is_certain();
        if before.repository != after.repository || !(is_image_field || is_certain) {
            return None;
        }
        Candidate::new(BumpKind::Image, before.repository, before.text, after.text)
    }

    /// `newTag` and `digest` of an entry below `images` of a kustomization.
    fn kustomize_image(&self) -> Option<Candidate> {
        let is_entry = self.key_above(1) == Some("images") && matches!(self.key(), Some("newTag" | "digest"));
        let name = is_entry.then(|| self.same("name")).flatten()?;
        let name = self.is_unchanged("newName").then(|| self.same("newName").unwrap_or(name))?;
        self.candidate(BumpKind::Image, name)
    }

    /// `tag` or `digest` beside the `repository` of an image, as values of charts have them.
    fn tag_of_image(&self) -> Option<Candidate> {
        if !matches!(self.key(), Some("tag" | "digest" | "sha")) {
            return None;
        }
        let is_image = self.key_above(1).is_some_and(|key| key.to_ascii_lowercase().ends_with("image"));
        let repository = self.same("repository");
        if !(is_image || repository.is_some()) || !self.is_unchanged("repository") || !self.is_unchanged("registry") {
            return None;
        }
        self.candidate(BumpKind::Image, repository.or_else(|| self.same("name")).unwrap_or("image"))
    }

    /// The version of a chart: of a HelmRelease, a dependency of `Chart.yaml`, `helmCharts` of a kustomization.
    fn chart(&self) -> Option<Candidate> {
        match self.key()? {
            "targetRevision" => {
                let repository = self.same("repoURL")?;
                let is_same = self.is_unchanged("chart") && self.is_unchanged("path");
                let (kind, name) = match self.same("chart") {
                    Some(chart) => (BumpKind::Chart, chart),
                    None => (BumpKind::Source, repository),
                };
                if is_same { self.candidate(kind, name) } else { None }
            }
            "version" | "chartVersion" if self.is_unchanged("kind") => {
                let repositories = ["repo", "repository", "repoURL", "helmRepository", "chartRepository"];
                let is_same = repositories.iter().all(|name| self.is_unchanged(name)) && self.is_unchanged("sourceRef");
                let has_repository =
                    repositories.iter().any(|name| self.same(name).is_some()) || self.same("chart").is_some();
                let name = ["chart", "name", "chartName"].iter().find_map(|name| self.same(name))?;
                let is_named = ["chart", "name", "chartName"].iter().all(|name| self.is_unchanged(name));
                if is_same && has_repository && is_named { self.candidate(BumpKind::Chart, name) } else { None }
            }
            _ => None,
        }
    }

    /// The reference of a Flux source: `spec.ref.tag` of a GitRepository or an OCIRepository.
    fn source(&self) -> Option<Candidate> {
        let is_source = matches!(self.kind()?, "GitRepository" | "OCIRepository" | "HelmChart" | "ImageRepository");
        let is_reference = self.keys.len() == 3
            && self.keys[..2] == ["spec", "ref"]
            && matches!(self.key(), Some("tag" | "commit" | "semver" | "digest"));
        if !(is_source && is_reference) {
            return None;
        }
        let kind = if self.kind() == Some("OCIRepository") { BumpKind::Chart } else { BumpKind::Source };
        self.candidate(kind, self.same_at(&["spec", "url"])?)
    }

    /// `rev` of a repository in `.pre-commit-config.yaml`.
    fn hook(&self) -> Option<Candidate> {
        let is_revision = self.key() == Some("rev") && self.key_above(1) == Some("repos");
        self.candidate(BumpKind::Source, is_revision.then(|| self.same("repo")).flatten()?)
    }

    /// Labels that repeat the version of what they are on.
    fn label(&self) -> Option<Candidate> {
        match self.key()? {
            key @ "app.kubernetes.io/version" => self.candidate(BumpKind::Label, key),
            key @ "helm.sh/chart" => {
                let ((name, before), (other, after)) = (chart_label(self.before)?, chart_label(self.after)?);
                (name == other).then(|| Candidate::new(BumpKind::Label, key, before, after)).flatten()
            }
            _ => None,
        }
    }

    /// The version of a package: `Chart.yaml` and `package.json` say it themselves.
    fn package(&self) -> Option<Candidate> {
        match (self.file_name, self.keys.as_slice()) {
            (b"Chart.yaml", ["version" | "appVersion"]) => self.candidate(BumpKind::Package, self.same("name")?),
            (b"package.json", ["version"]) => self.candidate(BumpKind::Package, self.same("name")?),
            (b"package.json", [section, name]) if section.to_ascii_lowercase().ends_with("dependencies") => {
                let trimmed =
                    |text: &'c str| text.strip_prefix(['^', '~']).map_or(("", text), |rest| (&text[..1], rest));
                let ((range, before), (other, after)) = (trimmed(self.before), trimmed(self.after));
                (range == other).then(|| Candidate::new(BumpKind::Package, name, before, after)).flatten()
            }
            _ => None,
        }
    }

    /// `spec.version` of kinds whose operators install that version.
    fn product(&self) -> Option<Candidate> {
        const INSTALLED: &[&str] = &[
            "Alertmanager",
            "ApmServer",
            "Beat",
            "Elasticsearch",
            "Grafana",
            "Kibana",
            "KubeadmControlPlane",
            "Logstash",
            "Prometheus",
            "PrometheusAgent",
            "ThanosRuler",
        ];
        let kind = self.kind().filter(|kind| INSTALLED.contains(kind))?;
        (self.keys == ["spec", "version"]).then(|| self.candidate(BumpKind::Package, kind)).flatten()
    }
}

/// Two URLs that differ in nothing but the value of `ref`: `https://example.com/repo//dir?ref=v1`.
pub(super) fn reference_in_url(before: &str, after: &str) -> Option<Candidate> {
    let ((name, before, rest), (other, after, other_rest)) = (url_parts(before)?, url_parts(after)?);
    ((name, rest) == (other, other_rest)).then(|| Candidate::new(BumpKind::Source, name, before, after)).flatten()
}

/// A URL before its `ref`, the value of it, and what follows.
fn url_parts(text: &str) -> Option<(&str, &str, &str)> {
    let mark = ["?ref=", "&ref="].iter().find_map(|mark| text.find(mark).map(|at| (at, mark.len())))?;
    let value = &text[mark.0 + mark.1..];
    let end = value.find('&').unwrap_or(value.len());
    let is_url = text.contains('/') && !text.contains(char::is_whitespace);
    is_url.then(|| (&text[..mark.0], &value[..end], &value[end..]))
}

/// The name and the version in the value of `helm.sh/chart`: `app-1.2.3`.
fn chart_label(text: &str) -> Option<(&str, &str)> {
    let at = text
        .match_indices('-')
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].starts_with(|c: char| c.is_ascii_digit()))?;
    Some((&text[..at], &text[at + 1..]))
}

fn scalar(node: &Node) -> Option<&str> {
    match &node.value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.as_str()),
        _ => None,
    }
}
