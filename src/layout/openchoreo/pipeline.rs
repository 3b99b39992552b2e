//! Renders a component as the platform's pipeline does: values, rules, templates, traits in order, rules, labels.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::Generation;
use super::build::MapBuilder;
use super::context::{self, Configurations, SecretSource, labels, with_entry};
use super::definition::{Definition, EmbeddedTrait, PostRule, boolean, each, filled, missing_header};
use super::derived::{Helpers, of_first_generation};
use super::endpoint_schema::endpoint_resources;
use super::failure::{RenderFailure, Stage, TemplateTrouble, described};
use super::object::{at, items, text};
use super::schema::{Section, SectionError, SectionPart};
use crate::expression::cel::{Computed, HELPERS, Inputs};
use crate::limits::Limits;
use crate::patch::{PlacedResource, ValueTemplate};
use crate::sanitize;
use crate::text::Span;
use crate::value::{Entry, Map, Node};

/// Everything that one rendering reads.
pub struct RenderInput<'a> {
    /// Whose rules apply.
    pub generation: Generation,
    /// The type.
    pub component_type: &'a Definition,
    /// The traits that the type and the component name.
    pub traits: &'a [Arc<Definition>],
    /// What the component says: `parameters` and `traits`.
    pub profile: &'a Node,
    /// The specification of the workload.
    pub workload: &'a Node,
    /// The binding.
    pub binding: Option<&'a Node>,
    /// The environment.
    pub environment: Option<&'a Node>,
    /// The data plane.
    pub data_plane: &'a Node,
    /// Whether the data plane is one of the whole cluster.
    pub is_cluster_plane: bool,
    /// The variable `metadata`.
    pub metadata: Node,
    /// Secrets by name and key.
    pub secrets: &'a SecretSource<'a>,
    /// What other components offer to this one: the items of `dependencies`.
    pub dependencies: Vec<Node>,
    /// What resources offer to it.
    pub resource_dependencies: Vec<Node>,
    /// The default notification channel of the environment.
    pub channel: Option<Node>,
    /// What is too much.
    pub limits: &'a Limits,
}

/// The resources of a component, in the order in which they are applied.
pub fn render(input: &RenderInput<'_>) -> Result<Vec<PlacedResource>, RenderFailure> {
    // Every evaluation needs a deep stack; one for all of them is cheaper than one for each.
    stacker::maybe_grow(ENOUGH_STACK, STACK, || Renderer::new(input)?.run())
}

const STACK: usize = 64 << 20;
const ENOUGH_STACK: usize = 8 << 20;

/// The values of one section, or what is wrong with them.
type Values = Result<Node, TemplateTrouble>;

/// Variables of expressions by name.
type Variables = Vec<(&'static str, Node)>;

struct Renderer<'a> {
    input: &'a RenderInput<'a>,
    nowhere: Span,
    /// What types and traits see alike.
    shared: Variables,
}

/// A rule of a type or a trait that waits for the end, with what its expressions see.
struct Pending<'a> {
    label: String,
    variables: Variables,
    rules: &'a [PostRule],
}

impl<'a> Renderer<'a> {
    fn new(input: &'a RenderInput<'a>) -> Result<Self, RenderFailure> {
        let nowhere = input.component_type.at.start_only();
        if !input.component_type.has_templates {
            let message = format!("{} has no resources", input.component_type.name);
            return Err(RenderFailure::new(Stage::Input, message, input.component_type.at));
        }
        let shared = match input.generation {
            Generation::First => first_generation(input, nowhere),
            Generation::Second => second_generation(input, nowhere),
        };
        Ok(Self { input, nowhere, shared })
    }

    fn run(&self) -> Result<Vec<PlacedResource>, RenderFailure> {
        let (input, definition) = (self.input, self.input.component_type);
        let variables = self.component_variables()?;
        let inputs = bound(&variables);
        self.pre_rules(definition, "", &inputs)?;
        let mut pending = vec![Pending {
            label: format!("{} {}/{}", definition.kind, definition.workload_type, definition.name),
            variables: variables.clone(),
            rules: &definition.post_rules,
        }];
        let rendered = definition.render_templates("", true, &inputs, input.limits);
        let mut resources = rendered.map_err(|trouble| trouble.at_stage(Stage::Resources))?;
        for embedded in &definition.embedded {
            let trait_variables = self.embedded_variables(embedded, &inputs)?;
            let named = (embedded.kind.as_str(), embedded.name.as_str(), embedded.instance.as_str());
            resources = self.apply(named, trait_variables, resources, &mut pending, embedded.at)?;
        }
        for instance in items(input.profile, "traits") {
            let kind = text(instance, "kind").unwrap_or("Trait");
            let name = text(instance, "name").unwrap_or_default();
            let own = text(instance, "instanceName").unwrap_or_default();
            let trait_variables = self.instance_variables(kind, name, own, instance)?;
            resources = self.apply((kind, name, own), trait_variables, resources, &mut pending, instance.span)?;
        }
        self.post_rules(&pending, &resources)?;
        self.finished(resources)
    }

    /// The variables of the type.
    fn component_variables(&self) -> Result<Variables, RenderFailure> {
        let (input, definition) = (self.input, self.input.component_type);
        let binding = input.binding.and_then(|binding| binding.get("spec"));
        let environment = binding.and_then(|spec| {
            spec.get("componentTypeEnvironmentConfigs").or_else(|| spec.get("componentTypeEnvOverrides"))
        });
        let fail = |trouble: TemplateTrouble| trouble.at_stage(Stage::Parameters);
        let parameters = self.values(&definition.parameters, input.profile.get("parameters")).map_err(fail)?;
        let environment = self.values(&definition.environment, environment).map_err(fail)?;
        Ok(self.with_values(definition, parameters, environment, None))
    }

    /// The variables of a trait that the type brings along.
    fn embedded_variables(&self, embedded: &EmbeddedTrait, inputs: &Inputs<'_>) -> Result<Variables, RenderFailure> {
        let definition = self.definition(&embedded.kind, &embedded.name, embedded.at)?;
        let label = format!("trait {}/{}", embedded.name, embedded.instance);
        let resolve = |template: &Option<ValueTemplate>| match template {
            None => Ok(None),
            Some(template) => match filled(template, inputs, self.input.limits) {
                Ok(Computed::Value(node)) if node.as_map().is_some() => Ok(Some(node)),
                Ok(_) => Err(TemplateTrouble::new("the values of a trait are a map", embedded.at)),
                Err(trouble) => Err(trouble),
            },
        };
        let fail = |trouble: TemplateTrouble| trouble.within(&label).at_stage(Stage::EmbeddedBindings);
        let parameters = resolve(&embedded.parameters).map_err(fail)?;
        let environment = resolve(&embedded.environment).map_err(fail)?;
        self.trait_variables(definition, &embedded.instance, parameters.as_ref(), environment.as_ref())
    }

    /// The variables of a trait that the component names.
    fn instance_variables(
        &self,
        kind: &str,
        name: &str,
        instance: &str,
        node: &Node,
    ) -> Result<Variables, RenderFailure> {
        let definition = self.definition(kind, name, node.span)?;
        let spec = self.input.binding.and_then(|binding| binding.get("spec"));
        let all = spec.and_then(|spec| spec.get("traitEnvironmentConfigs").or_else(|| spec.get("traitOverrides")));
        let environment = all.and_then(|all| all.get(instance));
        self.trait_variables(definition, instance, node.get("parameters"), environment)
    }

    fn trait_variables(
        &self,
        definition: &Definition,
        instance: &str,
        parameters: Option<&Node>,
        environment: Option<&Node>,
    ) -> Result<Variables, RenderFailure> {
        let label = format!("trait {}/{instance}", definition.name);
        let fail = |trouble: TemplateTrouble| trouble.within(&label).at_stage(Stage::TraitParameters);
        let parameters = self.values(&definition.parameters, parameters).map_err(fail)?;
        let environment = self.values(&definition.environment, environment).map_err(fail)?;
        let own = MapBuilder::new(self.nowhere)
            .with_text("name", definition.name.clone())
            .with_text("instanceName", instance)
            .done();
        Ok(self.with_values(definition, parameters, environment, Some(own)))
    }

    fn definition(&self, kind: &str, name: &str, at: Span) -> Result<&'a Definition, RenderFailure> {
        let is_meant = |it: &&Arc<Definition>| it.kind == kind && it.name == name;
        let found = self.input.traits.iter().find(is_meant).map(|it| &**it);
        found.ok_or_else(|| {
            RenderFailure::new(
                Stage::Trait,
                format!("there is no {} {}", sanitize::inline(kind), sanitize::inline(name)),
                at,
            )
        })
    }

    /// The values of a section after its schema; without a schema nothing is left.
    fn values(&self, section: &Result<Option<Section>, SectionError>, given: Option<&Node>) -> Values {
        let section = section.as_ref().map_err(|error| TemplateTrouble::new(error.message.clone(), error.at))?;
        let Some(section) = section else { return Ok(Node::map(Vec::new(), self.nowhere)) };
        let (values, found) = section.apply(given, self.nowhere, self.input.limits.request_steps);
        match found.first() {
            None => Ok(values),
            Some(first) => {
                let at = if first.value.range().is_empty() { first.schema } else { first.value };
                Err(TemplateTrouble::new(described(&found), at))
            }
        }
    }

    fn with_values(
        &self,
        definition: &Definition,
        parameters: Node,
        environment: Node,
        own: Option<Node>,
    ) -> Variables {
        let is_trait = own.is_some();
        let part = match self.input.generation {
            Generation::Second if !definition.is_first_generation => SectionPart::Environment.name(),
            _ => SectionPart::Environment.first_generation(),
        };
        // Traits of the first generation see neither workload nor configurations.
        let is_seen = |name: &str| {
            !is_trait || self.input.generation == Generation::Second || ["metadata", "dataplane"].contains(&name)
        };
        let shared = self.shared.iter().filter(|(name, _)| is_seen(name)).cloned();
        let own = own.map(|own| ("trait", own));
        shared.chain([("parameters", parameters), (part, environment)]).chain(own).collect()
    }

    fn apply(
        &self,
        (kind, name, instance): (&str, &str, &str),
        variables: Variables,
        resources: Vec<PlacedResource>,
        pending: &mut Vec<Pending<'a>>,
        at: Span,
    ) -> Result<Vec<PlacedResource>, RenderFailure> {
        let definition = self.definition(kind, name, at)?;
        let label = format!("trait {name}/{instance}");
        let inputs = bound(&variables);
        self.pre_rules(definition, &label, &inputs)?;
        let applied = definition.apply_trait(resources, instance, &inputs, self.input.limits);
        let applied = applied.map_err(|trouble| trouble.within(&label).at_stage(Stage::Trait))?;
        let label = format!("{kind} {name}/{instance}");
        pending.push(Pending { label, variables, rules: &definition.post_rules });
        Ok(applied)
    }

    /// All rules are looked at, and all that fail are named.
    fn pre_rules(&self, definition: &Definition, label: &str, inputs: &Inputs<'_>) -> Result<(), RenderFailure> {
        let mut failures: Vec<TemplateTrouble> = Vec::new();
        for rule in &definition.pre_rules {
            match boolean(&rule.rule, "rule", inputs, self.input.limits) {
                Ok(true) => {}
                Ok(false) => {
                    let at = rule.rule.failed("").at;
                    failures.push(TemplateTrouble::new(sanitize::inline(&rule.message), at));
                }
                Err(trouble) => failures.push(trouble),
            }
        }
        joined(failures, label, Stage::PreRender)
    }

    fn post_rules(&self, pending: &[Pending<'_>], resources: &[PlacedResource]) -> Result<(), RenderFailure> {
        let mut failures = Vec::new();
        for Pending { label, variables, rules } in pending {
            let inputs = bound(variables);
            for rule in *rules {
                let found = self.post_rule(rule, &inputs, resources);
                failures.extend(found.into_iter().map(|trouble| trouble.within(label)));
            }
        }
        joined(failures, "", Stage::PostRender)
    }

    fn post_rule(&self, rule: &PostRule, inputs: &Inputs<'_>, resources: &[PlacedResource]) -> Vec<TemplateTrouble> {
        let limits = self.input.limits;
        match rule.when.as_ref().map_or(Ok(true), |when| boolean(when, "when", inputs, limits)) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(trouble) => return vec![trouble],
        }
        let Some(for_each) = &rule.for_each else { return self.selected_rule(rule, inputs, resources, "") };
        match each(for_each, inputs, limits) {
            Ok(elements) => {
                let one = |element: &Node| {
                    let shown = crate::document::write::to_inline(element);
                    let note = format!(" ({} = {shown})", rule.variable);
                    self.selected_rule(rule, &inputs.clone().with(&rule.variable, element), resources, &note)
                };
                elements.iter().flat_map(one).collect()
            }
            Err(trouble) => vec![trouble],
        }
    }

    fn selected_rule(
        &self,
        rule: &PostRule,
        inputs: &Inputs<'_>,
        resources: &[PlacedResource],
        note: &str,
    ) -> Vec<TemplateTrouble> {
        let limits = self.input.limits;
        let selected = match rule.target.select(resources, inputs, limits) {
            Ok(selected) => selected,
            Err(finding) => return vec![TemplateTrouble::of_finding(*finding)],
        };
        if selected.is_empty() {
            let message =
                format!("no resource is a {}{note}: {}", rule.target.shown(), sanitize::inline(&rule.message));
            return rule.must_match.then(|| TemplateTrouble::new(message, rule.at)).into_iter().collect();
        }
        let failure = |resource: &&PlacedResource| {
            let name = shown(&resource.node);
            match boolean(&rule.rule, "rule", &inputs.clone().with("resource", &resource.node), limits) {
                Ok(true) => None,
                Ok(false) => {
                    let message = format!("{name}: {}{note}", sanitize::inline(&rule.message));
                    Some(TemplateTrouble::new(message, rule.at))
                }
                Err(trouble) => Some(trouble.within(&name)),
            }
        };
        selected.iter().filter_map(failure).collect()
    }

    /// The resources with the labels of the platform, each complete, in order.
    fn finished(&self, resources: Vec<PlacedResource>) -> Result<Vec<PlacedResource>, RenderFailure> {
        let labels = self.platform_labels();
        let mut finished = Vec::with_capacity(resources.len());
        for resource in resources {
            if let Some(missing) = missing_header(&resource.node) {
                let message = format!("{} has no `{missing}`", shown(&resource.node));
                return Err(RenderFailure::new(Stage::Final, message, resource.node.span));
            }
            let node = labelled(&resource.node, &labels);
            finished.push(PlacedResource { node, ..resource });
        }
        finished.sort_by(|a, b| place(&a.node).cmp(&place(&b.node)));
        Ok(finished)
    }

    fn platform_labels(&self) -> Node {
        let metadata = &self.input.metadata;
        let named = |key: &str| metadata.get(key).cloned().unwrap_or_else(|| Node::text("", self.nowhere));
        match self.input.generation {
            Generation::Second => {
                metadata.get("labels").cloned().unwrap_or_else(|| Node::map(Vec::new(), self.nowhere))
            }
            Generation::First => labels(
                &[
                    ("component", named("componentName")),
                    ("environment", named("environmentName")),
                    ("project", named("projectName")),
                ],
                self.nowhere,
            ),
        }
    }
}

fn bound(variables: &Variables) -> Inputs<'_> {
    variables.iter().fold(Inputs::default().traced(), |inputs, (name, node)| inputs.with(name, node))
}

/// What types and traits of the second generation see.
fn second_generation(input: &RenderInput<'_>, nowhere: Span) -> Variables {
    let spec = context::overridden(input.workload, input.binding, Generation::Second);
    let workload = context::workload(&spec, Generation::Second);
    let configurations = Configurations::of_container(spec.get("container"), Generation::Second, input.secrets);
    let dependencies = dependencies(input, nowhere);
    let uses_resources = input.component_type.uses_endpoint_resources
        || input.traits.iter().any(|definition| definition.uses_endpoint_resources);
    let prefix = prefix(&input.metadata);
    let helpers = Helpers {
        prefix: &prefix,
        workload: &workload,
        dependencies: &dependencies,
        endpoint_resources: match uses_resources {
            true => endpoint_resources(&spec, input.limits),
            false => Node::map(Vec::new(), nowhere),
        },
        nowhere,
    };
    let own = input.environment.and_then(|environment| at(environment, &["spec", "gateway"]));
    let plane = at(input.data_plane, &["spec", "gateway"]);
    let gateway = context::gateway(own, plane);
    let environment = MapBuilder::new(nowhere)
        .with_some("gateway", gateway.clone())
        .with_some("defaultNotificationChannel", input.channel.clone())
        .done();
    let mut variables = vec![
        ("metadata", input.metadata.clone()),
        ("dataplane", context::data_plane(input.data_plane, input.is_cluster_plane, Generation::Second)),
        ("environment", environment),
        (HELPERS, helpers.node(&configurations)),
        ("workload", workload),
        ("configurations", configurations.node(nowhere)),
        ("dependencies", dependencies),
    ];
    variables.extend(gateway.map(|gateway| ("gateway", gateway)));
    variables
}

/// What types of the first generation see.
fn first_generation(input: &RenderInput<'_>, nowhere: Span) -> Variables {
    let spec = context::overridden(input.workload, input.binding, Generation::First);
    let containers = spec.get("containers").and_then(Node::as_map).map(Map::entries).unwrap_or_default();
    let of_container = |entry: &Entry| {
        let all = Configurations::of_container(Some(&entry.value), Generation::First, input.secrets);
        (entry.key.name.clone(), all)
    };
    let by_container: BTreeMap<SmolStr, Configurations> = containers.iter().map(of_container).collect();
    let entry = |(name, all): (&SmolStr, &Configurations)| Entry::named(name.clone(), nowhere, all.node(nowhere));
    let configurations = Node::map(by_container.iter().map(entry).collect(), nowhere);
    vec![
        ("metadata", input.metadata.clone()),
        ("dataplane", context::data_plane(input.data_plane, input.is_cluster_plane, Generation::First)),
        ("workload", context::workload(&spec, Generation::First)),
        ("configurations", configurations),
        (HELPERS, of_first_generation(&prefix(&input.metadata), &by_container, nowhere)),
    ]
}

fn prefix(metadata: &Node) -> String {
    let name = |key: &str| text(metadata, key).unwrap_or_default();
    format!("{}-{}", name("componentName"), name("environmentName"))
}

/// The variable `dependencies`: the items, and everything in them one after the other.
fn dependencies(input: &RenderInput<'_>, nowhere: Span) -> Node {
    let list = |items: Vec<Node>| Node::list(items, nowhere);
    let (endpoints, resources) = (&input.dependencies, &input.resource_dependencies);
    let all = |key: &str| list(resources.iter().flat_map(|item| items(item, key)).cloned().collect());
    let variables = endpoints.iter().chain(resources).flat_map(|item| items(item, "envVars")).cloned().collect();
    MapBuilder::new(nowhere)
        .with("items", list(endpoints.clone()))
        .with("resources", list(resources.clone()))
        .with("envVars", list(variables))
        .with("volumeMounts", all("volumeMounts"))
        .with("volumes", all("volumes"))
        .done()
}

/// A resource with labels; those of the platform win.
fn labelled(resource: &Node, labels: &Node) -> Node {
    let nothing = Node::map(Vec::new(), resource.span.start_only());
    let metadata = resource.get("metadata").unwrap_or(&nothing);
    let own = metadata.get("labels").filter(|it| it.as_map().is_some()).unwrap_or(&nothing);
    let added = labels.as_map().map(Map::entries).unwrap_or_default();
    let all = added.iter().fold(own.clone(), |all, entry| with_entry(&all, &entry.key.name, entry.value.clone()));
    let all = Node { extra: own.extra.clone(), ..all };
    let metadata = Node { extra: metadata.extra.clone(), ..with_entry(metadata, "labels", all) };
    Node { extra: resource.extra.clone(), ..with_entry(resource, "metadata", metadata) }
}

/// What resources are sorted by.
fn place(node: &Node) -> [&str; 4] {
    let metadata = |key: &str| node.get("metadata").and_then(|it| text(it, key)).unwrap_or_default();
    let own = |key: &str| text(node, key).unwrap_or_default();
    [own("kind"), own("apiVersion"), metadata("namespace"), metadata("name")]
}

/// `Deployment/web`, for messages.
fn shown(node: &Node) -> String {
    let name = node.get("metadata").and_then(|it| text(it, "name")).unwrap_or("?");
    format!("{}/{}", sanitize::inline(text(node, "kind").unwrap_or("?")), sanitize::inline(name))
}

fn joined(failures: Vec<TemplateTrouble>, label: &str, stage: Stage) -> Result<(), RenderFailure> {
    let Some(first) = failures.first() else { return Ok(()) };
    let at = first.at;
    let all: Vec<String> = failures.into_iter().map(|trouble| trouble.message).collect();
    let message = if label.is_empty() { all.join("; ") } else { format!("{label}: {}", all.join("; ")) };
    Err(RenderFailure::new(stage, message, at))
}
