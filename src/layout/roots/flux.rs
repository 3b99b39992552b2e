//! The layout of Flux: Kustomization objects as units, rendered as the controller renders them.

use smol_str::{SmolStr, format_smolstr};

use super::index::APPLIED;
use super::units::rendered;
use crate::finding::{self, Finding, Location};
use crate::layout::kustomize::{Cache, build_flux, resolve};
use crate::layout::{Ask, IndexEntry, Layout, Rendered};
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName, Resource, Unit};
use crate::scan;
use crate::text::Span;
use crate::value::{Node, Value};

/// Kustomization objects of Flux, as their files have them.
pub struct Flux;

/// The name of the layout.
const NAME: &str = "flux";
/// The group of its objects.
const GROUP: &str = "kustomize.toolkit.fluxcd.io";
/// Files by the Kustomization objects in them.
const OBJECTS: &str = "flux kustomizations";
/// Files by the names of the ConfigMaps in them.
const CONFIG_MAPS: &str = "config maps";

impl Layout for Flux {
    fn name(&self) -> &'static str {
        NAME
    }

    fn has_units(&self) -> bool {
        true
    }

    fn units(&self, ask: &Ask<'_, '_>) -> Vec<Unit> {
        ask.index(OBJECTS).into_iter().filter_map(|(file, name)| unit(&file, &name)).collect()
    }

    fn render(&self, ask: &Ask<'_, '_>, unit: &Unit) -> Rendered {
        let Some((file, name)) = unit.key.rsplit_once('#') else { return Rendered::default() };
        let content = RepoPath::new(file).ok().and_then(|file| Some((ask.file(&file)?, file)));
        let Some((content, file)) = content else { return Rendered::default() };
        let object = content.resources.iter().find(|resource| name_of(resource).is_some_and(|found| found == name));
        let Some(object) = object else { return Rendered::default() };
        let around = file.parent().unwrap_or_default();
        let lookup = |kind: &str, namespace: &str, name: &str| objects(ask, &around, kind, namespace, name);
        let mut rendered = rendered(ask, build_flux(&object.payload, ask.given(), &ask.shared::<Cache>(), &lookup));
        rendered.keeps_removed = keeps_removed(&object.payload);
        rendered.findings.extend(charts(&rendered.resources));
        rendered
    }

    fn may_index(&self, _file: &RepoPath, bytes: &[u8]) -> bool {
        scan::contains(bytes, b"kustomize.toolkit") || scan::contains(bytes, b"ConfigMap")
    }

    fn index(&self, resource: &Resource) -> Vec<IndexEntry> {
        if let Some(name) = name_of(resource) {
            let path = applied(&resource.payload).map(|key| IndexEntry { index: APPLIED.into(), key });
            return path.into_iter().chain([IndexEntry { index: OBJECTS.into(), key: name }]).collect();
        }
        match &resource.identity {
            Identity::Kubernetes(KubernetesName { group, kind, name, .. })
                if group.is_empty() && kind == "ConfigMap" =>
            {
                vec![IndexEntry { index: CONFIG_MAPS.into(), key: name.clone() }]
            }
            _ => Vec::new(),
        }
    }
}

/// The unit of a Kustomization object of Flux.
pub fn flux_unit(resource: &Resource) -> Option<Unit> {
    unit(&resource.file, &name_of(resource)?)
}

fn unit(file: &RepoPath, name: &str) -> Option<Unit> {
    Some(Unit { layout: NAME.into(), key: format_smolstr!("{}#{name}", file.to_str()?) })
}

/// Where an object says, or does not say, that Flux deletes what it no longer holds; `None` if Flux does.
fn keeps_removed(object: &Node) -> Option<Span> {
    let prune = object.get("spec").and_then(|spec| spec.get("prune"));
    let is_pruned = prune.is_some_and(|prune| matches!(prune.value, Value::Bool(true)));
    (!is_pruned).then(|| prune.or_else(|| object.get("spec")).map_or(object.span, |node| node.span))
}

/// A note about Helm releases, if there are any: they are compared as data.
fn charts(resources: &[Resource]) -> Option<Finding> {
    let is_release = |resource: &&Resource| match &resource.identity {
        Identity::Kubernetes(name) => name.kind == "HelmRelease" && name.group == "helm.toolkit.fluxcd.io",
        _ => false,
    };
    let first = resources.iter().find(is_release)?;
    let message = match resources.iter().filter(is_release).count() {
        1 => format!("the chart of {} is not rendered; the release is compared as data", first.identity),
        count => format!("the charts of {count} Helm releases are not rendered; the releases are compared as data"),
    };
    Some(Finding::new(&finding::KUSTOMIZE_UNRESOLVED, Location::Span(first.payload.span), message))
}

/// `namespace/name` of a Kustomization object.
fn name_of(resource: &Resource) -> Option<SmolStr> {
    let Identity::Kubernetes(KubernetesName { group, kind, namespace, name }) = &resource.identity else { return None };
    let is_object = group == GROUP && kind == "Kustomization";
    is_object.then(|| if namespace.is_empty() { name.clone() } else { format_smolstr!("{namespace}/{name}") })
}

/// The directory that an object applies, if it may be one of this repository.
fn applied(object: &Node) -> Option<SmolStr> {
    let spec = object.get("spec")?;
    let kind = spec.get("sourceRef").and_then(|source| source.get("kind")).and_then(Node::as_str);
    let path = spec.get("path").and_then(Node::as_str).unwrap_or_default();
    let path = resolve(&RepoPath::root(), path.trim_start_matches('/'))?;
    path.to_str().filter(|_| kind.is_none_or(|kind| kind == "GitRepository")).map(SmolStr::new)
}

/// The objects of the repository with a name, those in the nearest directory.
fn objects(ask: &Ask<'_, '_>, around: &RepoPath, kind: &str, namespace: &str, name: &str) -> Vec<Node> {
    let is_meant = |resource: &&Resource| match &resource.identity {
        Identity::Kubernetes(found) => {
            let is_near = namespace.is_empty() || found.namespace.is_empty() || found.namespace == namespace;
            found.kind == kind && found.name == name && is_near
        }
        _ => false,
    };
    let files = ask.look_up(CONFIG_MAPS, name, around);
    let contents = files.iter().filter_map(|file| ask.file(file));
    contents
        .flat_map(|file| file.resources.iter().filter(is_meant).map(|it| it.payload.clone()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_objects_and_config_maps_are_read() {
        let file = RepoPath::new("a.yaml").unwrap();
        for text in ["apiVersion: kustomize.toolkit.fluxcd.io/v1", "kind: ConfigMap", "ConfigMap"] {
            assert!(Flux.may_index(&file, text.as_bytes()), "{text}");
        }
        for text in ["", "kind: Deployment", "nfigMap", "kustomize.config.k8s.io"] {
            assert!(!Flux.may_index(&file, text.as_bytes()), "{text}");
        }
    }
}
