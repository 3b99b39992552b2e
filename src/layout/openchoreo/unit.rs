//! Renders one unit: collects what it is made of, with placeholders for what is not in git, and runs the pipeline.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use super::build::MapBuilder;
use super::cache::{Cache, DefinitionPlace};
use super::context::{self, UnitNames, remote_reference};
use super::definition::Definition;
use super::dependencies::{EndpointDependency, endpoint_addresses, resource_items};
use super::failure::{RenderFailure, Stage};
use super::names;
use super::object::{Object, ObjectName, at, items, reference, text};
use super::objects::{Objects, nearest};
use super::pipeline::{RenderInput, render};
use super::units::{ENDPOINTS, UnitSource, UnitSpec};
use super::{Generation, NAME};
use crate::document::{self, Format};
use crate::patch::PlacedResource;
use crate::path::RepoPath;
use crate::resource::Unit;
use crate::text::{SourceText, Span};
use crate::value::{Map, Node};

/// What a unit renders.
#[derive(Debug, Default)]
pub(super) struct BuiltUnit {
    pub(super) resources: Vec<PlacedResource>,
    /// What was rendered in place of things that are not in git.
    pub(super) notes: BTreeSet<SmolStr>,
    /// The namespace that the unit is deployed to.
    pub(super) namespace: SmolStr,
    /// Where the endpoints of the component are.
    pub(super) endpoints: Option<Node>,
    /// The files whose documents it is rendered from.
    pub(super) files: BTreeSet<RepoPath>,
}

/// How far dependencies on other components are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dependencies {
    /// To where their endpoints are.
    Resolved,
    /// Not at all: only the endpoints of this one are asked for.
    Unresolved,
}

/// Renders a unit.
pub(super) fn build(
    objects: &Objects<'_, '_, '_>,
    spec: &UnitSpec,
    dependencies: Dependencies,
) -> Result<BuiltUnit, RenderFailure> {
    let binding = spec.binding.as_ref().and_then(|(file, name)| {
        let name = ObjectName::new("ReleaseBinding", &spec.namespace, name);
        objects.copies(&name).into_iter().find(|object| object.file == *file)
    });
    if binding.as_ref().is_some_and(|binding| binding.text(&["state"]) == Some("Undeploy")) {
        let files = binding.iter().map(|binding| binding.file.clone()).collect();
        return Ok(BuiltUnit { files, ..BuiltUnit::default() });
    }
    let parts = match &spec.source {
        UnitSource::Release(release) => Parts::of_release(objects, spec, release, binding.as_ref())?,
        UnitSource::Live(file) => Parts::live(objects, spec, file)?,
    };
    Builder { objects, spec, binding, parts, notes: RefCell::default(), dependencies }.build()
}

/// What a unit is rendered from, beside its environment.
struct Parts {
    generation: Generation,
    component_type: Arc<Definition>,
    traits: Vec<Arc<Definition>>,
    profile: Node,
    workload: Node,
    /// Where the names of the component and of its project are written.
    component: Node,
    project: Node,
    from: RepoPath,
    files: BTreeSet<RepoPath>,
}

impl Parts {
    /// The frozen copies of a release.
    fn of_release(
        objects: &Objects<'_, '_, '_>,
        spec: &UnitSpec,
        release: &str,
        binding: Option<&Object>,
    ) -> Result<Self, RenderFailure> {
        let name = ObjectName::new("ComponentRelease", &spec.namespace, release);
        let from = spec.binding.as_ref().map(|(file, _)| file.clone()).unwrap_or_default();
        let nowhere = binding.map_or_else(|| nowhere(objects), |binding| binding.node.span);
        let Some(release) = objects.find(&name, &from) else { return Err(RenderFailure::missing(name, nowhere)) };
        let owner = (spec.project.as_str(), spec.component.as_str());
        if release.owner() != owner {
            let (project, component) = release.owner();
            let message = format!("{} is a release of {project}/{component}", release.name);
            return Err(RenderFailure::new(Stage::Reference, message, nowhere));
        }
        let empty = || Node::map(Vec::new(), release.node.span.start_only());
        let written = |path: &[&str]| release.spec(path).cloned().unwrap_or_else(empty);
        let frozen = written(&["componentType"]);
        let is_second = frozen.get("spec").is_some_and(|spec| spec.as_map().is_some());
        // Between the generations, releases held the bare specification and the one container of a workload.
        let has_one_container = release.spec(&["workload", "container"]).is_some();
        let generation = if is_second || has_one_container { Generation::Second } else { Generation::First };
        let read = |kind: &str, name: &str, spec: &Node, part: SmolStr| {
            objects.ask.shared::<Cache>().definition(
                DefinitionPlace { file: release.file.clone(), position: release.position, part },
                kind,
                name,
                spec,
                objects.ask.given(),
            )
        };
        let component_type = match is_second {
            true => {
                let kind = text(&frozen, "kind").unwrap_or("ComponentType");
                let spec = frozen.get("spec").unwrap_or(&frozen);
                read(kind, text(&frozen, "name").unwrap_or_default(), spec, "componentType".into())
            }
            false => read("ComponentType", "", &frozen, "componentType".into()),
        };
        let frozen = written(&["traits"]);
        let of_map = frozen.as_map().map(Map::entries).unwrap_or_default().iter();
        let of_map = of_map.map(|it| read("Trait", &it.key.name, &it.value, format_smolstr!("traits/{}", it.key.name)));
        let of_list = frozen.as_list().unwrap_or_default().iter().enumerate().map(|(number, it)| {
            let kind = text(it, "kind").unwrap_or("Trait");
            let spec = it.get("spec").unwrap_or(it);
            read(kind, text(it, "name").unwrap_or_default(), spec, format_smolstr!("traits/{number}"))
        });
        Ok(Self {
            generation,
            component_type,
            traits: of_map.chain(of_list).collect(),
            profile: written(&["componentProfile"]),
            workload: written(&["workload"]),
            component: written(&["owner", "componentName"]),
            project: written(&["owner", "projectName"]),
            files: [from.clone(), release.file.clone()].into_iter().collect(),
            from,
        })
    }

    /// The documents as they are now.
    fn live(objects: &Objects<'_, '_, '_>, spec: &UnitSpec, file: &RepoPath) -> Result<Self, RenderFailure> {
        let name = ObjectName::new("Component", &spec.namespace, &spec.component);
        let copies = objects.copies(&name);
        let Some(component) = copies.iter().find(|object| object.file == *file) else {
            return Err(RenderFailure::missing(name, nowhere(objects)));
        };
        let own = component.node.get("spec").cloned();
        let own = own.unwrap_or_else(|| Node::map(Vec::new(), component.node.span.start_only()));
        // A change of a trait reaches the components that name it, also those that cannot be rendered.
        own_traits(&own).for_each(|(kind, name, _)| {
            objects.find(&ObjectName::new(&kind, &spec.namespace, &name), &component.file);
        });
        let component_type = component_type(objects, component)?;
        let definition = definition_of(objects, &component_type);
        let is_old = own.get("componentType").is_some_and(|it| it.as_str().is_some());
        if definition.is_first_generation && !is_old && !definition.is_transitional {
            let message = format!("{} is written for an older generation than the component", component_type.name);
            return Err(RenderFailure::new(Stage::Reference, message, component_type.node.span));
        }
        let has_sections = ["parameters", "environmentConfigs"].iter().any(|it| component_type.spec(&[it]).is_some());
        let is_second_type = !definition.is_first_generation || definition.is_transitional && !is_old;
        let is_first = !is_second_type || is_old && !has_sections;
        let generation = if is_first { Generation::First } else { Generation::Second };
        let mut files: BTreeSet<RepoPath> = [component.file.clone(), component_type.file.clone()].into();
        files.extend(spec.binding.iter().map(|(file, _)| file.clone()));
        let traits = traits(objects, spec, component, &definition, &mut files)?;
        let is_too_old = |it: &&Arc<Definition>| {
            it.is_first_generation && generation == Generation::Second && !definition.is_transitional
        };
        if let Some(old) = traits.iter().find(is_too_old) {
            let message = format!("{} {} is written for an older generation than the component", old.kind, old.name);
            return Err(RenderFailure::new(Stage::Reference, message, old.at));
        }
        let workload = workload(objects, component, &copies)?;
        files.insert(workload.file.clone());
        let empty = || Node::map(Vec::new(), workload.node.span.start_only());
        let written = |path: &[&str]| at(&component.node, path).cloned().unwrap_or_else(empty);
        Ok(Self {
            generation,
            component_type: definition,
            traits,
            profile: own,
            workload: workload.node.get("spec").cloned().unwrap_or_else(empty),
            component: written(&["metadata", "name"]),
            project: written(&["spec", "owner", "projectName"]),
            from: component.file.clone(),
            files,
        })
    }
}

/// The type that a component names.
fn component_type(objects: &Objects<'_, '_, '_>, component: &Object) -> Result<Object, RenderFailure> {
    let fail = |message: String, at: Span| RenderFailure::new(Stage::Reference, message, at);
    let written = component.spec(&["componentType"]).unwrap_or(&component.node);
    let named = component.node.get("spec").and_then(|spec| reference(spec, "componentType"));
    let Some(named) = named else { return Err(fail("the component names no type".to_owned(), written.span)) };
    let Some((workload_type, name)) = named.as_str().and_then(|name| name.split_once('/')) else {
        return Err(fail("the type of a component is named WORKLOAD-TYPE/NAME".to_owned(), named.span));
    };
    let kind = text(written, "kind").unwrap_or("ComponentType");
    let wanted = ObjectName::new(kind, &component.name.namespace, name);
    let Some(found) = objects.find(&wanted, &component.file) else {
        return Err(RenderFailure::missing(wanted, named.span));
    };
    match found.text(&["workloadType"]) {
        Some(own) if own != workload_type => {
            let message = format!("{} has the workload type {own}, not {workload_type}", found.name);
            Err(fail(message, named.span))
        }
        _ => Ok(found),
    }
}

fn definition_of(objects: &Objects<'_, '_, '_>, object: &Object) -> Arc<Definition> {
    let place = DefinitionPlace { file: object.file.clone(), position: object.position, part: SmolStr::default() };
    let spec = object.node.get("spec").unwrap_or(&object.node);
    objects.ask.shared::<Cache>().definition(place, &object.name.kind, &object.name.name, spec, objects.ask.given())
}

/// The traits that a type brings along and those that a component names.
fn traits(
    objects: &Objects<'_, '_, '_>,
    spec: &UnitSpec,
    component: &Object,
    definition: &Definition,
    files: &mut BTreeSet<RepoPath>,
) -> Result<Vec<Arc<Definition>>, RenderFailure> {
    let embedded = definition.embedded.iter().map(|it| (it.kind.clone(), it.name.clone(), it.at));
    let own = component.node.get("spec").into_iter().flat_map(own_traits);
    let mut known: BTreeSet<(SmolStr, SmolStr)> = BTreeSet::new();
    let mut found = Vec::new();
    for (kind, name, at) in embedded.chain(own) {
        if !known.insert((kind.clone(), name.clone())) {
            continue;
        }
        let wanted = ObjectName::new(&kind, &spec.namespace, &name);
        let Some(object) = objects.find(&wanted, &component.file) else {
            return Err(RenderFailure::missing(wanted, at));
        };
        files.insert(object.file.clone());
        found.push(definition_of(objects, &object));
    }
    Ok(found)
}

/// Kind, name and place of the traits that a component names.
fn own_traits(spec: &Node) -> impl Iterator<Item = (SmolStr, SmolStr, Span)> {
    items(spec, "traits").iter().map(|it| {
        let word = |key: &str| text(it, key).map(SmolStr::new);
        (word("kind").unwrap_or_else(|| "Trait".into()), word("name").unwrap_or_default(), it.span)
    })
}

/// The one workload of a component: of its project, and nearest to this copy of it.
fn workload(objects: &Objects<'_, '_, '_>, component: &Object, copies: &[Object]) -> Result<Object, RenderFailure> {
    let ObjectName { namespace, name, .. } = &component.name;
    let mut found = objects.owned("Workload", namespace, name);
    found.retain(|workload| {
        let is_own = workload.owner().0 == component.owner().0;
        is_own && nearest(copies.to_vec(), &workload.file).is_some_and(|copy| copy.file == component.file)
    });
    match (found.len(), found.into_iter().next()) {
        (1, Some(workload)) => Ok(workload),
        (0, _) | (_, None) => {
            Err(RenderFailure::missing(ObjectName::new("Workload", namespace, name), component.node.span))
        }
        (count, Some(first)) => {
            let message = format!("{count} workloads belong to {}", component.name);
            Err(RenderFailure::new(Stage::Reference, message, first.node.span))
        }
    }
}

/// A place for what is written nowhere.
fn nowhere(objects: &Objects<'_, '_, '_>) -> Span {
    let given = objects.ask.given();
    let source = given.sources.add(SourceText::new(RepoPath::root(), given.snapshot.label(), ""));
    Span::new(source, 0, 0)
}

struct Builder<'b, 'q, 'f, 'a> {
    objects: &'b Objects<'q, 'f, 'a>,
    spec: &'b UnitSpec,
    binding: Option<Object>,
    parts: Parts,
    notes: RefCell<BTreeSet<SmolStr>>,
    dependencies: Dependencies,
}

impl Builder<'_, '_, '_, '_> {
    fn build(self) -> Result<BuiltUnit, RenderFailure> {
        let Self { spec, parts, .. } = &self;
        let nowhere = parts.profile.span.start_only();
        let environment = self.environment();
        let (plane, plane_name, is_cluster) = self.data_plane(environment.as_ref(), nowhere);
        let written = self.binding.as_ref().and_then(|binding| binding.spec(&["environment"])).cloned();
        let unit_names = UnitNames {
            namespace: Node::text(spec.namespace.clone(), nowhere),
            project: parts.project.clone(),
            component: parts.component.clone(),
            environment: written.unwrap_or_else(|| Node::text(spec.environment.clone(), nowhere)),
            data_plane: plane_name,
        };
        let metadata = context::metadata(&unit_names, parts.generation, nowhere);
        let namespace = SmolStr::new(text(&metadata, "namespace").unwrap_or_default());
        let (dependencies, resource_dependencies) = self.dependencies();
        let secrets = |name: &str, key: &str| Some(self.secret(name, key, nowhere));
        let input = RenderInput {
            generation: parts.generation,
            component_type: &parts.component_type,
            traits: &parts.traits,
            profile: &parts.profile,
            workload: &parts.workload,
            binding: self.binding.as_ref().map(|binding| &binding.node),
            environment: environment.as_ref().map(|environment| &environment.node),
            data_plane: &plane,
            is_cluster_plane: is_cluster,
            metadata,
            secrets: &secrets,
            dependencies,
            resource_dependencies,
            channel: self.channel(nowhere),
            limits: self.objects.ask.given().limits,
        };
        let resources = render(&input)?;
        let endpoints = (self.dependencies == Dependencies::Unresolved).then(|| {
            let is_service = |it: &&PlacedResource| {
                it.plane == super::definition::DATA_PLANE
                    && text(&it.node, "kind") == Some("Service")
                    && text(&it.node, "apiVersion") == Some("v1")
            };
            let services: Vec<&Node> = resources.iter().filter(is_service).map(|it| &it.node).collect();
            endpoint_addresses(&services, &parts.workload, &namespace)
        });
        let (notes, files) = (self.notes.take(), parts.files.clone());
        Ok(BuiltUnit { resources, notes, namespace, endpoints, files })
    }

    fn note(&self, note: impl Into<SmolStr>) {
        self.notes.borrow_mut().insert(note.into());
    }

    fn find(&self, kind: &str, name: &str) -> Option<Object> {
        self.objects.find(&ObjectName::new(kind, &self.spec.namespace, name), &self.parts.from)
    }

    fn environment(&self) -> Option<Object> {
        let found = self.find("Environment", &self.spec.environment);
        if found.is_none() {
            self.note("environment-placeholder");
        }
        found
    }

    /// The plane of an environment, its name, and whether it is one of the whole cluster.
    fn data_plane(&self, environment: Option<&Object>, nowhere: Span) -> (Node, Node, bool) {
        let spec = environment.and_then(|environment| environment.node.get("spec"));
        let named = spec.and_then(|spec| reference(spec, "dataPlaneRef"));
        let kind = spec.and_then(|spec| text(spec.get("dataPlaneRef")?, "kind")).unwrap_or("DataPlane");
        let found = match named {
            Some(name) => self.find(kind, name.as_str().unwrap_or_default()),
            None => {
                let planes = ["DataPlane", "ClusterDataPlane"];
                planes.iter().find_map(|kind| self.find(kind, names::DEFAULT_PLANE))
            }
        };
        let is_cluster = |kind: &str| kind == "ClusterDataPlane";
        if let Some(found) = found {
            let name = at(&found.node, &["metadata", "name"]).cloned();
            let name = name.unwrap_or_else(|| Node::text(found.name.name.clone(), nowhere));
            return (found.node, name, is_cluster(&found.name.kind));
        }
        self.note("data-plane-placeholder");
        let name = named.cloned().unwrap_or_else(|| Node::text(names::DEFAULT_PLANE, nowhere));
        (placeholder_plane(nowhere), name, is_cluster(kind))
    }

    fn secret(&self, name: &str, key: &str, nowhere: Span) -> Node {
        let found = self.find("SecretReference", name).and_then(|found| remote_reference(&found.node, key));
        found.unwrap_or_else(|| {
            self.note(format_smolstr!("secret-placeholder:{name}/{key}"));
            MapBuilder::new(nowhere).with_text("key", format!("unresolved/{name}")).with_text("property", key).done()
        })
    }

    fn channel(&self, nowhere: Span) -> Option<Node> {
        let mentions = self.parts.component_type.uses_channel || self.parts.traits.iter().any(|it| it.uses_channel);
        if let Some(found) = self.objects.default_channel(&self.spec.namespace, &self.spec.environment) {
            return at(&found.node, &["metadata", "name"]).cloned();
        }
        if mentions {
            self.note("notification-channel-placeholder");
        }
        Some(Node::text(names::DEFAULT_CHANNEL, nowhere))
    }

    /// What other components and resources offer.
    fn dependencies(&self) -> (Vec<Node>, Vec<Node>) {
        if self.parts.generation == Generation::First {
            return Default::default();
        }
        let spec = self.spec;
        let endpoint = |dependency: &EndpointDependency<'_>| {
            let address = match self.dependencies {
                Dependencies::Resolved => self.address(dependency),
                Dependencies::Unresolved => None,
            };
            if address.is_none() {
                let EndpointDependency { project, component, endpoint, .. } = dependency;
                self.note(format_smolstr!("dependency-placeholder:{project}/{component}/{endpoint}"));
            }
            dependency.item(&spec.namespace, address.as_ref())
        };
        let endpoints = EndpointDependency::of_workload(&self.parts.workload, &spec.project);
        let endpoints = endpoints.iter().map(endpoint).collect();
        let resource = |(name, item): (SmolStr, Node)| {
            self.note(format_smolstr!("resource-dependency-placeholder:{name}"));
            item
        };
        (endpoints, resource_items(&self.parts.workload).into_iter().map(resource).collect())
    }

    /// Where the endpoint of another component is in the same environment.
    fn address(&self, dependency: &EndpointDependency<'_>) -> Option<Node> {
        let UnitSpec { namespace, environment, .. } = self.spec;
        let (component, project) = (&dependency.component, &dependency.project);
        let key = format_smolstr!("{namespace}/{component}@{environment}{ENDPOINTS}");
        let provider = self.objects.ask.output(&Unit { layout: NAME.into(), key });
        let payload = &provider.resources.first()?.payload;
        let is_meant = text(payload, "project") == Some(project.as_str());
        at(payload, &["endpoints", dependency.endpoint.as_str()]).filter(|_| is_meant).cloned()
    }
}

/// A data plane for what is not in git.
fn placeholder_plane(at: Span) -> Node {
    let parsed = document::parse(names::DATA_PLANE, at.source, Format::Yaml, &Default::default());
    parsed.value.first().map_or_else(|| Node::map(Vec::new(), at), |document| document.root.written_at(at))
}
