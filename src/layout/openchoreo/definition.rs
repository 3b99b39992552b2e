//! Types and traits, compiled once: their schemas, templates, patches and rules.

use smol_str::SmolStr;

use super::failure::{TemplateTrouble, described};
use super::object::{items, text};
use super::schema::{Section, SectionError, SectionPart};
use crate::expression::cel::{Computed, Inputs};
use crate::limits::Limits;
use crate::patch::{
    CelReader, CelScope, Dialect, PlacedResource, PlatformPatches, PlatformTarget, ValueTemplate, elements,
};
use crate::text::Span;
use crate::value::{Node, Value};

/// A type or a trait, ready to be rendered.
#[derive(Debug)]
pub struct Definition {
    /// Its kind.
    pub kind: SmolStr,
    /// Its name.
    pub name: SmolStr,
    /// The kind of workload that a type deploys.
    pub workload_type: SmolStr,
    /// Whether it is written for the first generation of the platform.
    pub is_first_generation: bool,
    /// Whether it is written for the months between the generations: schemas of the first, and the one container of the second.
    pub is_transitional: bool,
    /// Whether it lists resources at all.
    pub has_templates: bool,
    /// Where it is written.
    pub at: Span,
    pub(super) parameters: Result<Option<Section>, SectionError>,
    pub(super) environment: Result<Option<Section>, SectionError>,
    pub(super) templates: Vec<Template>,
    pub(super) patches: PlatformPatches,
    pub(super) embedded: Vec<EmbeddedTrait>,
    pub(super) pre_rules: Vec<PreRule>,
    pub(super) post_rules: Vec<PostRule>,
    /// Whether some expression mentions the resources of endpoints.
    pub(super) uses_endpoint_resources: bool,
    /// Whether some expression mentions the default notification channel.
    pub(super) uses_channel: bool,
}

/// A template of resources.
#[derive(Debug)]
pub(super) struct Template {
    /// Its id, or its number among the templates of a trait.
    id: SmolStr,
    plane: SmolStr,
    include_when: Option<ValueTemplate>,
    for_each: Option<ValueTemplate>,
    variable: SmolStr,
    body: Option<ValueTemplate>,
    at: Span,
}

/// A trait that a type brings along, with values that may be templates over the component.
#[derive(Debug)]
pub(super) struct EmbeddedTrait {
    pub(super) kind: SmolStr,
    pub(super) name: SmolStr,
    pub(super) instance: SmolStr,
    pub(super) parameters: Option<ValueTemplate>,
    pub(super) environment: Option<ValueTemplate>,
    pub(super) at: Span,
}

/// A rule that must hold before anything is rendered.
#[derive(Debug)]
pub(super) struct PreRule {
    pub(super) rule: ValueTemplate,
    pub(super) message: SmolStr,
}

/// A rule that must hold for what was rendered.
#[derive(Debug)]
pub(super) struct PostRule {
    pub(super) when: Option<ValueTemplate>,
    pub(super) for_each: Option<ValueTemplate>,
    pub(super) variable: SmolStr,
    pub(super) target: PlatformTarget,
    pub(super) must_match: bool,
    pub(super) rule: ValueTemplate,
    pub(super) message: SmolStr,
    pub(super) at: Span,
}

/// The plane of templates, patches and rules that name none.
pub const DATA_PLANE: &str = "dataplane";

impl Definition {
    /// Reads the specification of a type or a trait. `plane` is the plane of what names none.
    pub fn read(kind: &str, name: &str, spec: &Node, plane: &str, reader: &CelReader<'_>) -> Self {
        let is_trait = kind.ends_with("Trait");
        let listed = if is_trait { "creates" } else { "resources" };
        let rules = match items(spec, "preRenderValidations") {
            [] => items(spec, "validations"),
            rules => rules,
        };
        let trait_kind = if kind.starts_with("Cluster") { "ClusterTrait" } else { "Trait" };
        let embedded = if is_trait { &[] } else { items(spec, "traits") };
        let templates = items(spec, listed).iter().enumerate();
        Self {
            kind: kind.into(),
            name: name.into(),
            workload_type: text(spec, "workloadType").unwrap_or_default().into(),
            is_first_generation: spec.get("schema").is_some(),
            is_transitional: spec.get("schema").is_some() && has_one_container(spec),
            has_templates: spec.get(listed).is_some_and(|list| list.as_list().is_some()),
            at: spec.span,
            parameters: Section::read(spec, SectionPart::Parameters),
            environment: Section::read(spec, SectionPart::Environment),
            templates: templates.map(|(at, node)| Template::read(at, node, plane, reader)).collect(),
            patches: PlatformPatches::read(spec.get("patches"), spec.get("removes"), plane, reader),
            embedded: embedded.iter().map(|node| EmbeddedTrait::read(node, trait_kind, reader)).collect(),
            pre_rules: rules.iter().map(|node| PreRule::read(node, reader)).collect(),
            post_rules: items(spec, "postRenderValidations").iter().map(|it| PostRule::read(it, reader)).collect(),
            uses_endpoint_resources: mentions(spec, "toEndpointResources"),
            uses_channel: mentions(spec, "defaultNotificationChannel"),
        }
    }

    /// The resources after what a trait creates, patches and removes; `instance` is part of their origins.
    pub fn apply_trait(
        &self,
        mut resources: Vec<PlacedResource>,
        instance: &str,
        inputs: &Inputs<'_>,
        limits: &Limits,
    ) -> Result<Vec<PlacedResource>, TemplateTrouble> {
        resources.extend(self.render_templates(instance, false, inputs, limits)?);
        self.patches.apply(resources, inputs, limits).map_err(|finding| TemplateTrouble::of_finding(*finding))
    }

    /// The variables of a trait on its own: those that are given, with the defaults of its schemas, and its name.
    pub fn trait_variables(&self, given: &Node, limits: &Limits) -> Result<Vec<(SmolStr, Node)>, TemplateTrouble> {
        let nowhere = given.span.start_only();
        let entries = given.as_map().map(|map| map.entries()).unwrap_or_default();
        let sections = [
            ("parameters", &self.parameters),
            (if self.is_first_generation { "envOverrides" } else { "environmentConfigs" }, &self.environment),
        ];
        let is_section = |name: &str| sections.iter().any(|(section, _)| *section == name);
        let others = entries.iter().filter(|entry| !is_section(&entry.key.name));
        let mut variables: Vec<(SmolStr, Node)> =
            others.map(|entry| (entry.key.name.clone(), entry.value.clone())).collect();
        for (name, section) in sections {
            let section = section.as_ref().map_err(|error| TemplateTrouble::new(error.message.clone(), error.at))?;
            let values = match section {
                None => Node::map(Vec::new(), nowhere),
                Some(section) => {
                    let (values, found) = section.apply(given.get(name), nowhere, limits.request_steps);
                    if let Some(first) = found.first() {
                        let message = format!("{name}: {}", described(&found));
                        return Err(TemplateTrouble::new(message, first.schema));
                    }
                    values
                }
            };
            variables.push((name.into(), values));
        }
        if given.get("trait").is_none() {
            let own = super::build::MapBuilder::new(nowhere)
                .with_text("name", self.name.clone())
                .with_text("instanceName", self.name.clone());
            variables.push(("trait".into(), own.done()));
        }
        Ok(variables)
    }

    /// What the templates give, in order. With `is_checked`, each must have a kind, a version and a name.
    pub fn render_templates(
        &self,
        instance: &str,
        is_checked: bool,
        inputs: &Inputs<'_>,
        limits: &Limits,
    ) -> Result<Vec<PlacedResource>, TemplateTrouble> {
        let mut rendered = Vec::new();
        for template in &self.templates {
            rendered.extend(template.render(instance, is_checked, inputs, limits)?);
        }
        Ok(rendered)
    }
}

impl Template {
    fn read(number: usize, node: &Node, plane: &str, reader: &CelReader<'_>) -> Self {
        let body = node.get("template").filter(|body| !matches!(body.value, Value::Null));
        Self {
            id: text(node, "id").map_or_else(|| SmolStr::new(number.to_string()), SmolStr::new),
            plane: text(node, "targetPlane").unwrap_or(plane).into(),
            include_when: optional(node.get("includeWhen"), reader),
            for_each: optional(node.get("forEach"), reader),
            variable: text(node, "var").unwrap_or("item").into(),
            body: body.map(|body| ValueTemplate::compile(body, reader, &mut Vec::new())),
            at: node.span,
        }
    }

    fn render(
        &self,
        instance: &str,
        is_checked: bool,
        inputs: &Inputs<'_>,
        limits: &Limits,
    ) -> Result<Vec<PlacedResource>, TemplateTrouble> {
        let trouble = |what: TemplateTrouble| what.within(&format!("template {}", self.id));
        if let Some(condition) = &self.include_when
            && !boolean(condition, "includeWhen", inputs, limits).map_err(trouble)?
        {
            return Ok(Vec::new());
        }
        let origin = |part: &str| SmolStr::new(format!("{instance}/{}/{part}", self.id));
        let Some(for_each) = &self.for_each else {
            return Ok(vec![self.one(origin(""), is_checked, inputs, limits).map_err(trouble)?]);
        };
        let elements = each(for_each, inputs, limits).map_err(trouble)?;
        let one = |(at, element): (usize, &Node)| {
            let key = element.get("key").or_else(|| element.get("name")).and_then(Node::as_str);
            let part = key.map_or_else(|| at.to_string(), str::to_owned);
            self.one(origin(&part), is_checked, &inputs.clone().with(&self.variable, element), limits)
        };
        elements.iter().enumerate().map(one).collect::<Result<_, _>>().map_err(trouble)
    }

    fn one(
        &self,
        origin: SmolStr,
        is_checked: bool,
        inputs: &Inputs<'_>,
        limits: &Limits,
    ) -> Result<PlacedResource, TemplateTrouble> {
        let Some(body) = &self.body else { return Err(TemplateTrouble::new("it has no template", self.at)) };
        let node = match filled(body, inputs, limits)? {
            Computed::Value(node) if node.as_map().is_some() => node,
            _ => return Err(TemplateTrouble::new("it does not give a map", self.at)),
        };
        if is_checked && let Some(missing) = missing_header(&node) {
            return Err(TemplateTrouble::new(format!("what it gives has no `{missing}`"), node.span));
        }
        Ok(PlacedResource { plane: self.plane.clone(), node, origin })
    }
}

/// The member that every resource needs and this one has not.
pub(super) fn missing_header(node: &Node) -> Option<&'static str> {
    let metadata = node.get("metadata").filter(|metadata| metadata.as_map().is_some());
    let checks = [
        ("apiVersion", text(node, "apiVersion").is_some()),
        ("kind", text(node, "kind").is_some()),
        ("metadata", metadata.is_some()),
        ("metadata.name", metadata.and_then(|it| text(it, "name")).is_some()),
    ];
    checks.into_iter().find(|(_, is_there)| !is_there).map(|(name, _)| name)
}

impl EmbeddedTrait {
    fn read(node: &Node, kind: &str, reader: &CelReader<'_>) -> Self {
        let values = |key: &str| {
            let values = node.get(key).filter(|it| !matches!(it.value, Value::Null))?;
            Some(ValueTemplate::compile(values, reader, &mut Vec::new()))
        };
        Self {
            kind: text(node, "kind").unwrap_or(kind).into(),
            name: text(node, "name").unwrap_or_default().into(),
            instance: text(node, "instanceName").unwrap_or_default().into(),
            parameters: values("parameters"),
            environment: values("environmentConfigs"),
            at: node.span,
        }
    }
}

impl PreRule {
    fn read(node: &Node, reader: &CelReader<'_>) -> Self {
        let rule = node.get("rule").unwrap_or(node);
        Self {
            rule: ValueTemplate::compile(rule, reader, &mut Vec::new()),
            message: text(node, "message").unwrap_or_default().into(),
        }
    }
}

impl PostRule {
    fn read(node: &Node, reader: &CelReader<'_>) -> Self {
        let PreRule { rule, message } = PreRule::read(node, reader);
        let target = node.get("target");
        let must_match = target.and_then(|target| target.get("mustMatch")).map(|it| &it.value);
        Self {
            when: optional(node.get("when"), reader),
            for_each: optional(node.get("forEach"), reader),
            variable: text(node, "var").unwrap_or("item").into(),
            target: PlatformTarget::read(target, text(node, "targetPlane").unwrap_or(DATA_PLANE), reader),
            must_match: !matches!(must_match, Some(Value::Bool(false))),
            rule,
            message,
            at: node.span,
        }
    }
}

fn optional(node: Option<&Node>, reader: &CelReader<'_>) -> Option<ValueTemplate> {
    let node = node.filter(|node| !matches!(node.value, Value::Null) && node.as_str() != Some(""))?;
    Some(ValueTemplate::compile(node, reader, &mut Vec::new()))
}

/// The value of a template.
pub(super) fn filled(
    template: &ValueTemplate,
    inputs: &Inputs<'_>,
    limits: &Limits,
) -> Result<Computed, TemplateTrouble> {
    let mut work = 0;
    let mut scope = CelScope { inputs: inputs.clone(), limits, work: &mut work, dialect: Dialect::Platform };
    template.fill(&mut scope).map_err(|failure| TemplateTrouble::of_template(&failure))
}

/// The value of a condition.
pub(super) fn boolean(
    template: &ValueTemplate,
    what: &str,
    inputs: &Inputs<'_>,
    limits: &Limits,
) -> Result<bool, TemplateTrouble> {
    match filled(template, inputs, limits)? {
        Computed::Value(Node { value: Value::Bool(value), .. }) => Ok(value),
        Computed::Value(other) => {
            let failure = template.failed(&format!("`{what}` needs a boolean, and this is a {}", other.type_of()));
            Err(TemplateTrouble::of_template(&failure))
        }
        Computed::Omitted => Err(TemplateTrouble::of_template(&template.failed(&format!("`{what}` gives nothing")))),
    }
}

/// The elements of a loop.
pub(super) fn each(
    template: &ValueTemplate,
    inputs: &Inputs<'_>,
    limits: &Limits,
) -> Result<Vec<Node>, TemplateTrouble> {
    let found = match filled(template, inputs, limits)? {
        Computed::Value(node) => elements(&node),
        Computed::Omitted => None,
    };
    found.ok_or_else(|| TemplateTrouble::of_template(&template.failed("`forEach` needs a list or a map")))
}

/// Whether some expression reads the one container of a workload, or what it is connected to.
pub(super) fn has_one_container(spec: &Node) -> bool {
    const CONTAINER: &str = "workload.container";
    let reads = |text: &str| {
        let mut rest = text.split(CONTAINER).skip(1);
        rest.any(|after| !after.starts_with('s')) || text.contains("connections.toContainerEnv(")
    };
    spec.any(|part| part.as_str().is_some_and(reads))
}

/// Whether a word occurs in some text of a value.
fn mentions(node: &Node, word: &str) -> bool {
    node.any(|part| part.as_str().is_some_and(|text| text.contains(word)))
}
