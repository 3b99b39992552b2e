//! The units of a repository: for each component and environment what runs, by its release, and what the next release will be.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};

use super::names::UNKNOWN_ENVIRONMENT;
use super::object::{Object, ObjectName, items, reference};
use super::objects::{Objects, shared_directories};
use crate::layout::IndexEntry;
use crate::path::RepoPath;
use crate::value::Node;

/// Files by what is to be known to find units.
pub(super) const UNITS: &str = "openchoreo units";
/// Files by the components that units are about.
pub(super) const COMPONENTS: &str = "openchoreo components";

/// A component or a binding, as far as units are concerned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listed {
    pub(super) namespace: SmolStr,
    pub(super) component: SmolStr,
    pub(super) project: SmolStr,
    pub(super) file: RepoPath,
    pub(super) binding: Option<ListedBinding>,
}

/// What a binding says about units.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListedBinding {
    pub(super) name: SmolStr,
    pub(super) environment: SmolStr,
    pub(super) release: SmolStr,
}

/// A unit: a component in an environment, and what it is rendered from.
#[derive(Debug, Clone)]
pub(super) struct UnitSpec {
    pub(super) key: SmolStr,
    pub(super) namespace: SmolStr,
    pub(super) component: SmolStr,
    pub(super) project: SmolStr,
    pub(super) environment: SmolStr,
    pub(super) source: UnitSource,
    /// The file and the name of the binding, if there is one.
    pub(super) binding: Option<(RepoPath, SmolStr)>,
}

/// What a unit is rendered from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UnitSource {
    /// The frozen copies of a release.
    Release(SmolStr),
    /// The documents as they are now; the file of the component.
    Live(RepoPath),
}

/// Marks a unit that shows what a release to come will be.
pub(super) const NEXT_RELEASE: &str = " (next release)";
/// Marks a unit that is only asked where the endpoints of a component are.
pub(super) const ENDPOINTS: &str = " (endpoints)";

impl Listed {
    pub(super) fn of(object: &Object) -> Option<Self> {
        let (project, owner) = object.owner();
        let (component, binding) = match object.name.kind.as_str() {
            "Component" => (object.name.name.clone(), None),
            "ReleaseBinding" => {
                let text = |key| SmolStr::new(object.text(&[key]).unwrap_or_default());
                let (environment, release) = (text("environment"), text("releaseName"));
                (owner.into(), Some(ListedBinding { name: object.name.name.clone(), environment, release }))
            }
            _ => return None,
        };
        let namespace = object.name.namespace.clone();
        Some(Self { namespace, component, project: project.into(), file: object.file.clone(), binding })
    }

    /// Where indexes list it.
    pub(super) fn entries(&self) -> [IndexEntry; 2] {
        let Self { namespace, component, project, binding, .. } = self;
        let subject = format_smolstr!("{namespace}/{component}");
        let key = match binding {
            None => format_smolstr!("{namespace}\t{component}\t{project}"),
            Some(ListedBinding { name, environment, release }) => {
                format_smolstr!("{namespace}\t{component}\t{project}\t{name}\t{environment}\t{release}")
            }
        };
        let entry = |index: &str, key| IndexEntry { index: index.into(), key };
        [entry(UNITS, key), entry(COMPONENTS, subject)]
    }

    fn parse(file: RepoPath, key: &str) -> Option<Self> {
        let mut parts = key.split('\t').map(SmolStr::new);
        let (namespace, component, project) = (parts.next()?, parts.next()?, parts.next()?);
        let binding = match (parts.next(), parts.next(), parts.next()) {
            (Some(name), Some(environment), Some(release)) => Some(ListedBinding { name, environment, release }),
            _ => None,
        };
        Some(Self { namespace, component, project, file, binding })
    }
}

/// All units, found in what indexes list.
pub(super) fn all_units(objects: &Objects<'_, '_, '_>) -> Vec<UnitSpec> {
    let mut by_component: BTreeMap<(SmolStr, SmolStr), Vec<Listed>> = BTreeMap::new();
    for (file, key) in objects.ask.index(UNITS) {
        if let Some(listed) = Listed::parse(file, &key).filter(|it| !objects.is_catalog(&it.file)) {
            let subject = (listed.namespace.clone(), listed.component.clone());
            by_component.entry(subject).or_default().push(listed);
        }
    }
    by_component.into_values().flat_map(|listed| units_of(objects, listed)).collect()
}

/// The units of one component.
pub(super) fn component_units(objects: &Objects<'_, '_, '_>, namespace: &str, component: &str) -> Vec<UnitSpec> {
    let files = objects.ask.look_up(COMPONENTS, &format!("{namespace}/{component}"), &RepoPath::root());
    let contents = files.iter().filter(|file| !objects.is_catalog(file)).filter_map(|file| objects.ask.file(file));
    let listed = contents.flat_map(|content| {
        let found = content.resources.iter().filter_map(|resource| Listed::of(&Object::of(resource)?));
        found.filter(|it| it.namespace == namespace && it.component == component).collect::<Vec<_>>()
    });
    let listed = listed.collect();
    units_of(objects, listed)
}

/// The units of the copies of a component and of its bindings.
fn units_of(objects: &Objects<'_, '_, '_>, mut listed: Vec<Listed>) -> Vec<UnitSpec> {
    listed.sort();
    listed.dedup();
    let (components, bindings): (Vec<Listed>, Vec<Listed>) = listed.into_iter().partition(|it| it.binding.is_none());
    let mut units = Keys::default();
    let mut bound: BTreeMap<&RepoPath, Vec<(&Listed, &ListedBinding, bool)>> = BTreeMap::new();
    for it in &bindings {
        let Some(binding) = &it.binding else { continue };
        let release = ObjectName::new("ComponentRelease", &it.namespace, &binding.release);
        let has_release = !binding.release.is_empty() && objects.has(&release);
        if has_release {
            let source = UnitSource::Release(binding.release.clone());
            units.add(it, &binding.environment, "", source, Some(binding));
        }
        let owner = owner_of(it, &components);
        if let Some(owner) = owner {
            bound.entry(&owner.file).or_default().push((it, binding, has_release));
        }
    }
    for component in &components {
        let source = || UnitSource::Live(component.file.clone());
        match bound.get(&component.file) {
            Some(bindings) => {
                for (it, binding, has_release) in bindings {
                    let suffix = if *has_release { NEXT_RELEASE } else { "" };
                    units.add(it, &binding.environment, suffix, source(), Some(binding));
                }
            }
            None => {
                let environment = root_environment(objects, component);
                units.add(component, &environment, "", source(), None);
            }
        }
    }
    units.found
}

/// The copy of a component that a binding belongs to: of the same project, and the nearest one.
fn owner_of<'l>(binding: &Listed, components: &'l [Listed]) -> Option<&'l Listed> {
    let same = components.iter().filter(|it| it.project == binding.project);
    same.rev().max_by_key(|it| shared_directories(&it.file, &binding.file))
}

/// Units with keys that differ.
#[derive(Default)]
struct Keys {
    taken: BTreeSet<SmolStr>,
    found: Vec<UnitSpec>,
}

impl Keys {
    fn add(
        &mut self,
        of: &Listed,
        environment: &str,
        suffix: &str,
        source: UnitSource,
        binding: Option<&ListedBinding>,
    ) {
        let plain = format_smolstr!("{}/{}@{environment}{suffix}", of.namespace, of.component);
        // Copies of one component are units of their own, and the first keeps the plain name.
        let file = match &source {
            UnitSource::Live(file) => file.clone(),
            UnitSource::Release(_) => of.file.clone(),
        };
        let name = binding.map(|binding| binding.name.clone()).unwrap_or_default();
        let others = [format_smolstr!("{plain} in {file}"), format_smolstr!("{plain} in {file} by {name}")];
        let key = [plain].into_iter().chain(others).find(|key| !self.taken.contains(key));
        let Some(key) = key else { return };
        self.taken.insert(key.clone());
        self.found.push(UnitSpec {
            key,
            namespace: of.namespace.clone(),
            component: of.component.clone(),
            project: of.project.clone(),
            environment: environment.into(),
            source,
            binding: binding.map(|binding| (of.file.clone(), binding.name.clone())),
        });
    }
}

/// Where a component without a binding is deployed first: at the start of its project's pipeline, or in the only environment.
fn root_environment(objects: &Objects<'_, '_, '_>, component: &Listed) -> SmolStr {
    let find =
        |kind: &str, name: &str| objects.find(&ObjectName::new(kind, &component.namespace, name), &component.file);
    let project = find("Project", &component.project);
    let pipeline = project.as_ref().and_then(|project| {
        let name = reference(project.node.get("spec")?, "deploymentPipelineRef")?.as_str()?.to_owned();
        find("DeploymentPipeline", &name)
    });
    if let Some(root) = pipeline.and_then(|pipeline| pipeline_root(pipeline.node.get("spec")?)) {
        return root;
    }
    let environments = objects.environments(&component.namespace);
    let names: BTreeSet<&SmolStr> = environments.iter().map(|environment| &environment.name.name).collect();
    match names.into_iter().collect::<Vec<_>>()[..] {
        [only] => only.clone(),
        _ => UNKNOWN_ENVIRONMENT.into(),
    }
}

/// The first environment of a pipeline that none leads to.
pub(super) fn pipeline_root(spec: &Node) -> Option<SmolStr> {
    let paths = items(spec, "promotionPaths");
    let targets: BTreeSet<&str> = paths.iter().flat_map(promotion_targets).filter_map(Node::as_str).collect();
    let sources = paths.iter().filter_map(|path| reference(path, "sourceEnvironmentRef")?.as_str());
    sources.into_iter().find(|source| !targets.contains(source)).map(SmolStr::new)
}

/// The environments that a path leads to, by their names.
pub(super) fn promotion_targets(path: &Node) -> Vec<&Node> {
    let targets = items(path, "targetEnvironmentRefs").iter();
    targets.filter_map(|target| if target.as_str().is_some() { Some(target) } else { target.get("name") }).collect()
}
