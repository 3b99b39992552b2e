//! Components and their bindings.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use super::Checker;
use super::document::{allowed_name, instance_names};
use super::references::{named, reference_place};
use super::report::{Findings, below, place};
use super::values::JudgedValues;
use crate::finding::{self, Finding};
use crate::layout::openchoreo::object::{Object, ObjectName, at, items, reference, text};
use crate::layout::openchoreo::objects::nearest;
use crate::layout::openchoreo::schema::SectionPart;
use crate::layout::openchoreo::units::promotion_targets;
use crate::sanitize;
use crate::value::{Map, Node};

impl Checker<'_, '_, '_, '_> {
    pub(super) fn component(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        if let Some(project) = at(spec, &["owner", "projectName"]) {
            let wanted = named("Project", object, project);
            let place = place(&["spec", "owner", "projectName"]);
            self.referred(object, &wanted, &finding::OPENCHOREO_REF_PROJECT, &place, found);
        }
        let component_type = self.named_type(object, spec, found);
        instance_names(items(spec, "traits"), &place(&["spec", "traits"]), found);
        self.component_traits(object, spec, component_type.as_ref(), found);
        if let Some(component_type) = &component_type {
            let judged = JudgedValues {
                spec: component_type.node.get("spec").unwrap_or(&component_type.node),
                part: SectionPart::Parameters,
                values: spec.get("parameters"),
                of: component_type.name.to_string(),
            };
            self.values(&judged, &finding::OPENCHOREO_PARAMS, &place(&["spec", "parameters"]), found);
        }
        self.workflow(object, spec, component_type.as_ref(), found);
        self.workloads(object, spec, found);
    }

    /// The type of a component; none if it is not named rightly or not there.
    fn named_type(&self, object: &Object, spec: &Node, found: &mut Findings<'_>) -> Option<Object> {
        let name = reference(spec, "componentType")?;
        let place = reference_place(spec, "componentType", &place(&["spec"]));
        let Some((workload_type, type_name)) = name.as_str().and_then(|name| name.split_once('/')) else {
            let message = "a type is named WORKLOAD-TYPE/NAME, such as `deployment/web`";
            found.add(&finding::OPENCHOREO_COMPONENT_TYPE_FORM, &place, message);
            return None;
        };
        let kind = spec.get("componentType").and_then(|it| text(it, "kind")).unwrap_or("ComponentType");
        let wanted = ObjectName::new(kind, &object.name.namespace, type_name);
        let rule = &finding::OPENCHOREO_REF_COMPONENT_TYPE;
        let component_type = self.referred(object, &wanted, rule, &place, found)?;
        match component_type.text(&["workloadType"]) {
            Some(own) if own != workload_type => {
                let message = format!("{} has the workload type {own}, not {workload_type}", component_type.name);
                found.add(&finding::OPENCHOREO_WORKLOAD_TYPE_MISMATCH, &place, message);
                found.help(format!("write `{own}/{type_name}`"));
            }
            _ => {}
        }
        Some(component_type)
    }

    fn component_traits(
        &self,
        object: &Object,
        spec: &Node,
        component_type: Option<&Object>,
        found: &mut Findings<'_>,
    ) {
        let type_spec = component_type.and_then(|it| it.node.get("spec"));
        let default = match component_type {
            Some(it) if it.name.kind.starts_with("Cluster") => "ClusterTrait",
            _ => "Trait",
        };
        let key = |node: &Node, kind: &str| {
            (text(node, "kind").unwrap_or(kind).to_owned(), allowed_name(node).unwrap_or_default().to_owned())
        };
        let allowed: BTreeSet<(String, String)> = type_spec
            .map(|spec| items(spec, "allowedTraits"))
            .unwrap_or_default()
            .iter()
            .map(|it| key(it, default))
            .collect();
        let embedded: BTreeSet<&str> = type_spec
            .map(|spec| items(spec, "traits"))
            .unwrap_or_default()
            .iter()
            .filter_map(|it| text(it, "instanceName"))
            .collect();
        for (at, instance) in items(spec, "traits").iter().enumerate() {
            let base = place(&["spec", "traits", &at.to_string()]);
            let (kind, name) = key(instance, "Trait");
            if component_type.is_some() && !allowed.contains(&(kind.clone(), name.clone())) {
                let message = format!("the type does not allow the {kind} {}", sanitize::inline(&name));
                found.add(&finding::OPENCHOREO_TRAIT_NOT_ALLOWED, &below(&base, &["name"]), message);
                let listed: Vec<String> = allowed.iter().map(|(kind, name)| format!("{kind} {name}")).collect();
                found.help(match listed.is_empty() {
                    true => "the type allows no traits".to_owned(),
                    false => format!("allowed: {}", listed.join(", ")),
                });
            }
            let own = text(instance, "instanceName").unwrap_or_default();
            if embedded.contains(own) {
                let message = format!("the type embeds an instance `{}` already", sanitize::inline(own));
                found.add(&finding::OPENCHOREO_TRAIT_INSTANCE_COLLISION, &below(&base, &["instanceName"]), message);
            }
            let wanted = ObjectName::new(&kind, &object.name.namespace, &name);
            if name.is_empty() {
                continue;
            }
            let rule = &finding::OPENCHOREO_REF_TRAIT;
            if let Some(definition) = self.referred(object, &wanted, rule, &below(&base, &["name"]), found) {
                let judged = JudgedValues {
                    spec: definition.node.get("spec").unwrap_or(&definition.node),
                    part: SectionPart::Parameters,
                    values: instance.get("parameters"),
                    of: definition.name.to_string(),
                };
                self.values(&judged, &finding::OPENCHOREO_TRAIT_PARAMS, &below(&base, &["parameters"]), found);
            }
        }
    }

    fn workflow(&self, object: &Object, spec: &Node, component_type: Option<&Object>, found: &mut Findings<'_>) {
        let Some(workflow) = spec.get("workflow").filter(|it| it.as_map().is_some()) else { return };
        let Some(name) = text(workflow, "name") else { return };
        let kind = text(workflow, "kind").unwrap_or("ClusterWorkflow");
        let place = place(&["spec", "workflow", "name"]);
        let wanted = ObjectName::new(kind, &object.name.namespace, name);
        self.referred(object, &wanted, &finding::OPENCHOREO_REF_WORKFLOW, &place, found);
        let Some(type_spec) = component_type.and_then(|it| it.node.get("spec")) else { return };
        let is_allowed = |entry: &Node| {
            // An entry of the first generation has no kind.
            let has_kind = entry.as_str().is_some() || text(entry, "kind").unwrap_or("ClusterWorkflow") == kind;
            allowed_name(entry) == Some(name) && has_kind
        };
        if !items(type_spec, "allowedWorkflows").iter().any(is_allowed) {
            let message = format!("the type does not allow the {kind} {}", sanitize::inline(name));
            found.add(&finding::OPENCHOREO_WORKFLOW_NOT_ALLOWED, &place, message);
        }
    }

    fn workloads(&self, object: &Object, spec: &Node, found: &mut Findings<'_>) {
        let ObjectName { namespace, name, .. } = &object.name;
        let copies = self.objects.copies(&object.name);
        let mut own = self.objects.owned("Workload", namespace, name);
        own.retain(|workload| {
            let is_near = || nearest(copies.clone(), &workload.file).is_some_and(|copy| copy.file == object.file);
            workload.owner().0 == object.owner().0 && is_near()
        });
        match own.len() {
            0 if spec.get("workflow").is_none() => {
                found.add(&finding::OPENCHOREO_REF_WORKLOAD, &[], format!("{} has no Workload", object.name));
            }
            0 | 1 => {}
            count => {
                found.add(&finding::OPENCHOREO_WORKLOAD_MANY, &[], format!("{} has {count} Workloads", object.name));
                found.relate(own.iter().map(|workload| workload.node.span.start_only()), "one of them");
            }
        }
    }

    pub(super) fn binding(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        let component = self.owner(object, found);
        let release = self.bound_release(object, spec, found);
        if let Some(environment) = spec.get("environment") {
            let place = place(&["spec", "environment"]);
            self.environment_named(object, environment, &place, found);
            self.in_pipeline(object, environment, found);
        }
        self.secrets(
            object,
            at(spec, &["workloadOverrides", "container"]),
            &["spec", "workloadOverrides", "container"],
            found,
        );
        let source = match (&release, &component) {
            (Some(release), _) => release.spec(&["componentType", "spec"]).cloned().map(|type_spec| BoundSource {
                type_spec,
                of: release.name.to_string(),
                instances: release
                    .spec(&["componentProfile"])
                    .map(|it| items(it, "traits").to_vec())
                    .unwrap_or_default(),
                frozen: release.node.get("spec").map(|it| items(it, "traits").to_vec()),
            }),
            (None, Some(component)) => self.live_source(component),
            (None, None) => None,
        };
        if let Some(source) = source {
            self.environment_values(object, spec, &source, found);
        }
    }

    /// The component that something belongs to. A component of another project is a mistake.
    pub(super) fn owner(&self, object: &Object, found: &mut Findings<'_>) -> Option<Object> {
        let name = object.spec(&["owner", "componentName"])?;
        let wanted = named("Component", object, name);
        let component_place = place(&["spec", "owner", "componentName"]);
        let rule = &finding::OPENCHOREO_REF_COMPONENT;
        let component = self.referred(object, &wanted, rule, &component_place, found)?;
        let (own, its) = (object.owner().0, component.owner().0);
        if own != its {
            let message = format!("{} is part of the project {}", component.name, sanitize::inline(its));
            found.add(&finding::OPENCHOREO_OWNER_MISMATCH, &place(&["spec", "owner", "projectName"]), message);
            return None;
        }
        Some(component)
    }

    fn bound_release(&self, object: &Object, spec: &Node, found: &mut Findings<'_>) -> Option<Object> {
        let name = spec.get("releaseName").filter(|name| name.as_str().is_some_and(|it| !it.is_empty()))?;
        let wanted = named("ComponentRelease", object, name);
        let place = place(&["spec", "releaseName"]);
        let release = self.referred(object, &wanted, &finding::OPENCHOREO_REF_RELEASE, &place, found)?;
        if release.owner() != object.owner() {
            let (project, component) = release.owner();
            let message = format!("{} is a release of {project}/{component}", release.name);
            found.add(&finding::OPENCHOREO_RELEASE_OWNER, &place, message);
            return None;
        }
        Some(release)
    }

    /// Whether the pipeline of the project leads to the environment.
    fn in_pipeline(&self, object: &Object, environment: &Node, found: &mut Findings<'_>) {
        let find = |kind: &str, name: &str| {
            self.objects.find(&ObjectName::new(kind, &object.name.namespace, name), &object.file)
        };
        let Some(project) = find("Project", object.owner().0) else { return };
        let name = project.node.get("spec").and_then(|spec| reference(spec, "deploymentPipelineRef")?.as_str());
        let Some(pipeline) = name.and_then(|name| find("DeploymentPipeline", name)) else { return };
        let paths = pipeline.node.get("spec").map(|spec| items(spec, "promotionPaths")).unwrap_or_default();
        let mut known = paths.iter().flat_map(|path| {
            promotion_targets(path).into_iter().chain(reference(path, "sourceEnvironmentRef")).filter_map(Node::as_str)
        });
        let wanted = environment.as_str().unwrap_or_default();
        if !known.any(|it| it == wanted) {
            let message = format!("{} does not lead to the environment {}", pipeline.name, sanitize::inline(wanted));
            found.add(&finding::OPENCHOREO_BINDING_ENVIRONMENT, &place(&["spec", "environment"]), message);
        }
    }

    fn live_source(&self, component: &Object) -> Option<BoundSource> {
        let spec = component.node.get("spec")?;
        let name = reference(spec, "componentType")?.as_str()?.split_once('/')?.1.to_owned();
        let kind = spec.get("componentType").and_then(|it| text(it, "kind")).unwrap_or("ComponentType");
        let found = self.objects.find(&ObjectName::new(kind, &component.name.namespace, &name), &component.file)?;
        Some(BoundSource {
            type_spec: found.node.get("spec")?.clone(),
            of: found.name.to_string(),
            instances: items(spec, "traits").to_vec(),
            frozen: None,
        })
    }

    fn environment_values(&self, object: &Object, spec: &Node, source: &BoundSource, found: &mut Findings<'_>) {
        let key =
            |names: [&'static str; 2]| names.into_iter().find(|name| spec.get(name).is_some()).unwrap_or(names[0]);
        let own = key(["componentTypeEnvironmentConfigs", "componentTypeEnvOverrides"]);
        let judged = JudgedValues {
            spec: &source.type_spec,
            part: SectionPart::Environment,
            values: spec.get(own),
            of: source.of.clone(),
        };
        self.values(&judged, &finding::OPENCHOREO_ENVCONFIGS, &place(&["spec", own]), found);
        let all = key(["traitEnvironmentConfigs", "traitOverrides"]);
        let given = spec.get(all).and_then(Node::as_map).map(Map::entries).unwrap_or_default();
        let instance = |name: &str| source.instances.iter().find(|it| text(it, "instanceName") == Some(name));
        for entry in given.iter().filter(|entry| instance(&entry.key.name).is_none()) {
            let message =
                format!("the component has no trait instance `{}`; this is ignored", sanitize::inline(&entry.key.name));
            let at = place(&["spec", all, &entry.key.name]);
            found.add(&finding::OPENCHOREO_TRAIT_ENVCONFIGS_INSTANCE, &at, message);
        }
        for it in &source.instances {
            let name = text(it, "instanceName").unwrap_or_default();
            let kind = text(it, "kind").unwrap_or("Trait");
            let wanted = ObjectName::new(kind, &object.name.namespace, text(it, "name").unwrap_or_default());
            let is_meant = |frozen: &&Node| {
                text(frozen, "kind").unwrap_or("Trait") == kind && text(frozen, "name") == text(it, "name")
            };
            let trait_spec = match &source.frozen {
                Some(frozen) => frozen.iter().find(is_meant).and_then(|it| it.get("spec")).cloned(),
                None => self.objects.find(&wanted, &object.file).and_then(|it| it.node.get("spec").cloned()),
            };
            let Some(trait_spec) = trait_spec else { continue };
            let values = spec.get(all).and_then(|all| all.get(name));
            let judged =
                JudgedValues { spec: &trait_spec, part: SectionPart::Environment, values, of: wanted.to_string() };
            self.values(&judged, &finding::OPENCHOREO_TRAIT_ENVCONFIGS, &place(&["spec", all, name]), found);
        }
    }

    /// Second bindings of one component and environment.
    pub(super) fn bindings(&self, all: &[Object]) -> Vec<Finding> {
        let mut known: BTreeMap<(SmolStr, SmolStr, SmolStr, SmolStr), &Object> = BTreeMap::new();
        let mut findings = Vec::new();
        for object in all.iter().filter(|object| object.name.kind == "ReleaseBinding") {
            let (project, component) = object.owner();
            let environment = object.text(&["environment"]).unwrap_or_default();
            let key = (object.name.namespace.clone(), project.into(), component.into(), environment.into());
            match known.get(&key) {
                // Copies of one binding are not two bindings.
                Some(first) if first.name != object.name => {
                    let mut found = Findings::new(object);
                    let message = format!("{} deploys the component to {environment} already", first.name);
                    found.add(&finding::OPENCHOREO_BINDING_DUPLICATE, &place(&["spec", "environment"]), message);
                    found.relate(std::iter::once(first.node.span.start_only()), "the other binding");
                    findings.extend(found.all);
                }
                Some(_) => {}
                None => drop(known.insert(key, object)),
            }
        }
        findings
    }
}

/// What a binding deploys: a type, and the traits of the component.
struct BoundSource {
    type_spec: Node,
    of: String,
    instances: Vec<Node>,
    /// The frozen traits of a release.
    frozen: Option<Vec<Node>>,
}
