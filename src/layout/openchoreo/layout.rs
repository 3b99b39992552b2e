//! The layout of OpenChoreo: components as units, rendered as the platform renders them.

use std::collections::BTreeMap;

use smol_str::{SmolStr, format_smolstr};

use super::NAME;
use super::definition::DATA_PLANE;
use super::failure::RenderFailure;
use super::names::without_hash;
use super::object::Object;
use super::objects::Objects;
use super::unit::{BuiltUnit, Dependencies, build};
use super::units::{ENDPOINTS, Listed, NEXT_RELEASE, UnitSource, UnitSpec, all_units, component_units};
use crate::finding::{self, Finding, Location};
use crate::layout::{Ask, IndexEntry, Layout, Rendered};
use crate::patch::PlacedResource;
use crate::path::RepoPath;
use crate::resource::{Identity, KubernetesName, Resource, Unit, kubernetes_name};
use crate::scan;
use crate::value::{Entry, Node};

/// Components in environments.
pub struct OpenChoreo;

impl Layout for OpenChoreo {
    fn name(&self) -> &'static str {
        NAME
    }

    fn has_units(&self) -> bool {
        true
    }

    fn units(&self, ask: &Ask<'_, '_>) -> Vec<Unit> {
        let units = all_units(&Objects::new(ask)).into_iter();
        units.map(|spec| Unit { layout: NAME.into(), key: spec.key }).collect()
    }

    fn render(&self, ask: &Ask<'_, '_>, unit: &Unit) -> Rendered {
        let objects = Objects::new(ask);
        if let Some(key) = unit.key.strip_suffix(ENDPOINTS) {
            return endpoints(&objects, key);
        }
        let Some(spec) = spec_of(&objects, &unit.key) else { return Rendered::default() };
        match build(&objects, &spec, Dependencies::Resolved) {
            Ok(built) => rendered(&objects, built, &spec),
            Err(failure) => failed(failure, &spec),
        }
    }

    fn may_index(&self, _file: &RepoPath, bytes: &[u8]) -> bool {
        scan::contains(bytes, b"openchoreo.dev")
    }

    fn index(&self, resource: &Resource) -> Vec<IndexEntry> {
        let Some(object) = Object::of(resource) else { return Vec::new() };
        let of_units = Listed::of(&object).map(|listed| listed.entries().to_vec()).unwrap_or_default();
        object.entries().into_iter().chain(of_units).collect()
    }
}

/// The unit of a key: `NAMESPACE/COMPONENT@ENVIRONMENT`, and what distinguishes it from others of that name.
fn spec_of(objects: &Objects<'_, '_, '_>, key: &str) -> Option<UnitSpec> {
    let (subject, _) = key.split_once('@')?;
    let (namespace, component) = subject.split_once('/')?;
    component_units(objects, namespace, component).into_iter().find(|spec| spec.key == key)
}

/// Where the endpoints of a component are: by what runs in the environment, or else by the documents as they are.
fn endpoints(objects: &Objects<'_, '_, '_>, key: &str) -> Rendered {
    let found = key.split_once('@').and_then(|(subject, environment)| {
        let (namespace, component) = subject.split_once('/')?;
        let units = component_units(objects, namespace, component);
        let here = || units.iter().filter(|spec| spec.environment == environment);
        let by_release = here().find(|spec| matches!(spec.source, UnitSource::Release(_)));
        let live = units.iter().find(|spec| matches!(spec.source, UnitSource::Live(_)));
        let elsewhere = live.map(|spec| UnitSpec { environment: environment.into(), binding: None, ..spec.clone() });
        by_release.or_else(|| here().next()).cloned().or(elsewhere)
    });
    let Some(spec) = found else { return Rendered::default() };
    let Ok(built) = build(objects, &spec, Dependencies::Unresolved) else { return Rendered::default() };
    let Some(endpoints) = built.endpoints else { return Rendered::default() };
    let at = endpoints.span;
    let entries = vec![
        Entry::named("project", at, Node::text(spec.project.clone(), at)),
        Entry::named("endpoints", at, endpoints),
    ];
    let identity = Identity::File { path: RepoPath::root(), position: None };
    let payload = Node::map(entries, at);
    let resource = Resource { identity, file: RepoPath::root(), position: 0, payload, unit: None };
    Rendered { resources: vec![resource], ..Rendered::default() }
}

/// The resources of a unit, and what it renders in place of what is not in git.
fn rendered(objects: &Objects<'_, '_, '_>, built: BuiltUnit, spec: &UnitSpec) -> Rendered {
    let BuiltUnit { resources, notes, namespace, files, .. } = built;
    let names = names(&resources, &namespace);
    let sources = objects.ask.given().sources;
    let resource = |(resource, identity): (PlacedResource, Identity)| {
        let file = sources.get(resource.node.span.source).path.clone();
        Resource { identity, file, position: 0, payload: resource.node, unit: None }
    };
    let at = notes_place(objects, spec);
    let note = |note: &SmolStr| {
        let message = format!("{}: {}", spec.key, placeholder_words(note));
        let finding = Finding::new(&finding::OPENCHOREO_PLACEHOLDER, at.clone(), message);
        finding.labelled(note.clone()).about(spec.key.clone())
    };
    Rendered {
        findings: notes.iter().map(note).collect(),
        explains: files.into_iter().filter(|file| explains(objects, file)).collect(),
        resources: resources.into_iter().zip(names).map(resource).collect(),
        ..Rendered::default()
    }
}

/// Where a note about a unit is: at the component or the binding.
fn notes_place(objects: &Objects<'_, '_, '_>, spec: &UnitSpec) -> Location {
    let file = match (&spec.source, &spec.binding) {
        (UnitSource::Live(file), _) => file.clone(),
        (_, Some((file, _))) => file.clone(),
        _ => RepoPath::root(),
    };
    let content = objects.ask.file(&file);
    let is_meant = |resource: &&Resource| {
        Object::of(resource).and_then(|object| Listed::of(&object)).is_some_and(|it| it.component == spec.component)
    };
    let found = content.as_ref().and_then(|content| content.resources.iter().find(is_meant));
    match found {
        Some(resource) => Location::Span(resource.payload.span.start_only()),
        None => Location::File { path: file, revision: objects.ask.given().snapshot.label().into() },
    }
}

/// What is said about a placeholder.
fn placeholder_words(note: &str) -> String {
    let (kind, what) = note.split_once(':').unwrap_or((note, ""));
    let missing = match kind {
        "environment-placeholder" => "its Environment".to_owned(),
        "data-plane-placeholder" => "its data plane".to_owned(),
        "notification-channel-placeholder" => "the default notification channel".to_owned(),
        "secret-placeholder" => format!("the secret {what}"),
        "dependency-placeholder" => format!("the endpoint {what}"),
        _ => format!("the resource {what}"),
    };
    format!("{missing} is not in this repository; a placeholder is rendered")
}

/// Kinds that matter only for what is rendered from them.
const EXPLAINED: [&str; 8] = [
    "Component",
    "Workload",
    "ComponentType",
    "ClusterComponentType",
    "Trait",
    "ClusterTrait",
    "ReleaseBinding",
    "ComponentRelease",
];

/// Whether a change of a file is explained by what is rendered from it.
fn explains(objects: &Objects<'_, '_, '_>, file: &RepoPath) -> bool {
    let is_explained =
        |resource: &Resource| Object::of(resource).is_some_and(|it| EXPLAINED.contains(&it.name.kind.as_str()));
    objects.ask.file(file).is_some_and(|content| content.resources.iter().all(is_explained))
}

/// The names of resources: without generated hashes and without the namespace that the unit is deployed to.
fn names(resources: &[PlacedResource], namespace: &str) -> Vec<Identity> {
    let short = |resource: &PlacedResource, is_short: bool| {
        let found = kubernetes_name(&resource.node)?;
        let name = if is_short { SmolStr::new(without_hash(&found.name)) } else { found.name.clone() };
        let name = if resource.plane == DATA_PLANE { name } else { format_smolstr!("{name} [{}]", resource.plane) };
        let namespace = if found.namespace == namespace { SmolStr::default() } else { found.namespace.clone() };
        Some(KubernetesName { name, namespace, ..found })
    };
    let mut counts: BTreeMap<KubernetesName, usize> = BTreeMap::new();
    for name in resources.iter().filter_map(|resource| short(resource, true)) {
        *counts.entry(name).or_default() += 1;
    }
    let name = |resource: &PlacedResource| {
        let name = short(resource, true)?;
        if counts.get(&name) == Some(&1) { Some(name) } else { short(resource, false) }
    };
    let unnamed = || Identity::File { path: RepoPath::root(), position: None };
    resources.iter().map(|resource| name(resource).map_or_else(unnamed, Identity::Kubernetes)).collect()
}

/// A unit that cannot be rendered: because something is not in the repository, or because something is wrong.
fn failed(failure: RenderFailure, spec: &UnitSpec) -> Rendered {
    let RenderFailure { stage, message, at, missing } = failure;
    let unit = &spec.key;
    let finding = match missing {
        Some(_) => {
            let message = format!("{unit} is not rendered: {message}");
            Finding::new(&finding::OPENCHOREO_NOT_RENDERED, Location::Span(at), message)
                .help("`catalog:` in outcrop.yaml names directories with types and traits that are kept elsewhere")
        }
        None => {
            let message = format!("{unit} fails in the stage {}: {message}", stage.name());
            Finding::new(&finding::OPENCHOREO_UNIT_FAILED, Location::Span(at), message)
        }
    };
    let is_missing = missing.is_some();
    let finding = finding.about(unit.trim_end_matches(NEXT_RELEASE));
    Rendered { findings: vec![finding], is_broken: true, is_missing, ..Rendered::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_group_are_read() {
        let file = RepoPath::new("a.yaml").unwrap();
        assert!(OpenChoreo.may_index(&file, b"apiVersion: openchoreo.dev/v1alpha1"));
        assert!(!OpenChoreo.may_index(&file, b"apiVersion: example.dev/v1"));
        assert!(!OpenChoreo.may_index(&file, b".dev"));
    }

    #[test]
    fn a_placeholder_is_described_in_words() {
        let words = placeholder_words("secret-placeholder:db/pw");
        assert_eq!(words, "the secret db/pw is not in this repository; a placeholder is rendered");
    }
}
