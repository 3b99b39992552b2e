//! Types and traits on their own: templates, patches, rules and schemas.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::Checker;
use super::expressions::Expressions;
use super::report::{Findings, below, place};
use super::types;
use crate::expression::cel::StaticType;
use crate::finding;
use crate::layout::openchoreo::definition::has_one_container;
use crate::layout::openchoreo::object::{Object, items, text};
use crate::layout::openchoreo::schema::{Section, SectionPart, section_errors};
use crate::value::{Node, Value};

/// A specification of a type or a trait, and where it is.
pub(super) struct Specified<'n> {
    pub(super) spec: &'n Node,
    pub(super) base: Vec<SmolStr>,
    pub(super) is_trait: bool,
    /// Whether keywords of schemas are judged: a release holds a copy, and the type is judged where it is written.
    pub(super) judges_keywords: bool,
}

/// Kinds that run containers.
const WORKLOADS: [&str; 5] = ["deployment", "statefulset", "daemonset", "cronjob", "job"];

fn is_workload(kind: &str) -> bool {
    WORKLOADS.contains(&kind.to_lowercase().as_str())
}

impl Checker<'_, '_, '_, '_> {
    pub(super) fn component_type(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        self.specification(&Specified { spec, base: place(&["spec"]), is_trait: false, judges_keywords: true }, found);
        self.embedded_traits(object, spec, found);
        allowed(spec, object, found);
        self.type_references(object, spec, found);
    }

    pub(super) fn trait_document(&self, object: &Object, found: &mut Findings<'_>) {
        let Some(spec) = object.node.get("spec") else { return };
        self.specification(&Specified { spec, base: place(&["spec"]), is_trait: true, judges_keywords: true }, found);
    }

    /// What the platform checks of a type or a trait, wherever it is written.
    pub(super) fn specification(&self, specified: &Specified<'_>, found: &mut Findings<'_>) {
        schemas(specified, found);
        let Specified { spec, base, is_trait, .. } = specified;
        let section = |part| Section::read(spec, part).ok().flatten();
        let (parameters, environment) = (section(SectionPart::Parameters), section(SectionPart::Environment));
        let is_first = spec.get("schema").is_some();
        let mut scope = types::scope(
            *is_trait,
            is_first,
            parameters.as_ref().map(Section::schema),
            environment.as_ref().map(Section::schema),
        );
        if is_first && has_one_container(spec) {
            scope.extend(["environment", "gateway"].map(|name| (name.into(), StaticType::Unknown)));
        }
        let mut expressions = Expressions { scope, limits: self.limits, found, is_lenient: false };
        for key in ["validations", "preRenderValidations"] {
            for (at, rule) in items(spec, key).iter().enumerate() {
                let place = below(base, &[key, &at.to_string(), "rule"]);
                let nothing = Node::text("-", rule.span);
                expressions.condition(Some(rule.get("rule").unwrap_or(&nothing)), "rule", &place);
            }
        }
        for (at, rule) in items(spec, "postRenderValidations").iter().enumerate() {
            post_rule(rule, &below(base, &["postRenderValidations", &at.to_string()]), &mut expressions);
        }
        let listed = if *is_trait { "creates" } else { "resources" };
        for (at, template) in items(spec, listed).iter().enumerate() {
            template_expressions(template, &below(base, &[listed, &at.to_string()]), &mut expressions);
        }
        if *is_trait {
            for (at, patch) in items(spec, "patches").iter().enumerate() {
                patch_document(patch, &below(base, &["patches", &at.to_string()]), &mut expressions);
            }
            for (at, removal) in items(spec, "removes").iter().enumerate() {
                removal_document(removal, &below(base, &["removes", &at.to_string()]), &mut expressions);
            }
        }
        let templates = below(base, &[listed]);
        match is_trait {
            true => created(spec, &templates, found),
            false => workload_resources(spec, &templates, found),
        }
    }

    fn embedded_traits(&self, object: &Object, spec: &Node, found: &mut Findings<'_>) {
        let is_cluster = object.name.kind.starts_with("Cluster");
        for (at, embedded) in items(spec, "traits").iter().enumerate() {
            let place = below(&place(&["spec", "traits"]), &[&at.to_string()]);
            for key in ["name", "instanceName"] {
                if text(embedded, key).is_none() {
                    let message = format!("an embedded trait needs `{key}`");
                    found.add(&finding::OPENCHOREO_EMBEDDED_TRAIT, &below(&place, &[key]), message);
                }
            }
            if is_cluster && text(embedded, "kind").is_some_and(|kind| kind != "ClusterTrait") {
                let message = "a type of the whole cluster embeds only traits of kind ClusterTrait";
                found.add(&finding::OPENCHOREO_EMBEDDED_TRAIT_KIND, &below(&place, &["kind"]), message);
            }
        }
        instance_names(items(spec, "traits"), &place(&["spec", "traits"]), found);
    }
}

/// Instance names that are used twice.
pub(super) fn instance_names(traits: &[Node], base: &[SmolStr], found: &mut Findings<'_>) {
    let mut seen = BTreeSet::new();
    for (at, it) in traits.iter().enumerate() {
        let name = text(it, "instanceName").unwrap_or_default();
        if !seen.insert(name) {
            let message = format!("the instance name `{}` is used twice", crate::sanitize::inline(name));
            found.add(
                &finding::OPENCHOREO_TRAIT_INSTANCE_DUP,
                &below(base, &[&at.to_string(), "instanceName"]),
                message,
            );
        }
    }
}

fn schemas(specified: &Specified<'_>, found: &mut Findings<'_>) {
    let Specified { spec, base, judges_keywords, .. } = specified;
    let is_first = spec.get("schema").is_some();
    for part in [SectionPart::Parameters, SectionPart::Environment] {
        let name = part.name();
        let section = match is_first {
            true => below(base, &["schema", part.first_generation()]),
            false => below(base, &[name]),
        };
        for error in section_errors(spec, part) {
            let (rule, is_meant) = match error.is_keyword {
                true => (&finding::OPENCHOREO_SCHEMA_KEYWORD, *judges_keywords),
                false => (&finding::OPENCHOREO_SCHEMA_INVALID, true),
            };
            if is_meant {
                found.add(rule, &section, error.message);
                found.relate(std::iter::once(error.at), "here");
            }
        }
    }
}

fn template_expressions(template: &Node, base: &[SmolStr], expressions: &mut Expressions<'_, '_>) {
    let scope = expressions.scope.clone();
    expressions.condition(template.get("includeWhen"), "includeWhen", &below(base, &["includeWhen"]));
    expressions.for_each(template, base);
    if let Some(body) = template.get("template") {
        expressions.value(body, &below(base, &["template"]));
    }
    expressions.scope = scope;
}

fn post_rule(rule: &Node, base: &[SmolStr], expressions: &mut Expressions<'_, '_>) {
    let scope = expressions.scope.clone();
    expressions.condition(rule.get("when"), "when", &below(base, &["when"]));
    expressions.for_each(rule, base);
    target(rule.get("target"), &below(base, &["target"]), expressions);
    expressions.scope.insert("resource".into(), StaticType::Unknown);
    let nothing = Node::text("-", rule.span);
    expressions.condition(Some(rule.get("rule").unwrap_or(&nothing)), "rule", &below(base, &["rule"]));
    expressions.scope = scope;
    if text(rule, "message").is_none() {
        let message = "a rule for rendered resources needs a message";
        expressions.found.add(&finding::OPENCHOREO_RULE_MESSAGE, &below(base, &["message"]), message);
    }
}

fn target(target: Option<&Node>, base: &[SmolStr], expressions: &mut Expressions<'_, '_>) {
    for key in ["version", "kind"] {
        if target.and_then(|target| text(target, key)).is_none() {
            let message = format!("`target` needs `{key}`");
            expressions.found.add(&finding::OPENCHOREO_PATCH_TARGET, &below(base, &[key]), message);
        }
    }
    let scope = expressions.scope.clone();
    expressions.scope.insert("resource".into(), StaticType::Unknown);
    let condition = target.and_then(|target| target.get("where"));
    expressions.condition(condition, "where", &below(base, &["where"]));
    expressions.scope = scope;
}

fn patch_document(patch: &Node, base: &[SmolStr], expressions: &mut Expressions<'_, '_>) {
    let scope = expressions.scope.clone();
    expressions.for_each(patch, base);
    target(patch.get("target"), &below(base, &["target"]), expressions);
    for (at, operation) in items(patch, "operations").iter().enumerate() {
        patch_operation(operation, &below(base, &["operations", &at.to_string()]), expressions);
    }
    expressions.scope = scope;
}

fn patch_operation(operation: &Node, base: &[SmolStr], expressions: &mut Expressions<'_, '_>) {
    let rule = &finding::OPENCHOREO_PATCH_OPERATION;
    let op = operation.get("op").and_then(Node::as_str).unwrap_or_default();
    match op {
        "add" | "replace" | "remove" => {}
        "mergeShallow" => {
            let message = "`mergeShallow` is known to outcrop, and not to the platform";
            expressions.found.add_as(rule, finding::Severity::Warning, &below(base, &["op"]), message);
        }
        _ => expressions.found.add(rule, &below(base, &["op"]), "an operation is `add`, `replace` or `remove`"),
    }
    let path = below(base, &["path"]);
    match text(operation, "path") {
        None => expressions.found.add(rule, &path, "an operation needs a `path`"),
        // The platform does not look at expressions in paths before it runs them.
        Some(words) => {
            expressions.is_lenient = true;
            expressions.text(words, &path);
            expressions.is_lenient = false;
        }
    }
    let value = below(base, &["value"]);
    match (op, operation.get("value")) {
        ("remove", Some(_)) => expressions.found.add(rule, &value, "`remove` takes no value"),
        ("add" | "replace", None) => expressions.found.add(rule, &value, format!("`{op}` needs a value")),
        ("add" | "replace" | "mergeShallow", Some(node)) => expressions.value(node, &value),
        _ => {}
    }
}

fn removal_document(removal: &Node, base: &[SmolStr], expressions: &mut Expressions<'_, '_>) {
    let scope = expressions.scope.clone();
    expressions.for_each(removal, base);
    let of = removal.get("target");
    let group = of.and_then(|it| text(it, "group")).unwrap_or_default();
    let kind = of.and_then(|it| text(it, "kind")).unwrap_or_default();
    if is_workload(kind) && ["apps", "batch"].contains(&group) {
        let message = format!("a trait does not remove a {}", crate::sanitize::inline(kind));
        expressions.found.add(&finding::OPENCHOREO_TRAIT_REMOVES_WORKLOAD, &below(base, &["target", "kind"]), message);
    }
    target(of, &below(base, &["target"]), expressions);
    expressions.scope = scope;
}

/// What every template needs; its kind, if it has one.
fn header(template: &Node, base: &[SmolStr], found: &mut Findings<'_>) -> Option<SmolStr> {
    let rule = &finding::OPENCHOREO_TEMPLATE_HEADER;
    let base = below(base, &["template"]);
    let body = template.get("template").filter(|body| !matches!(body.value, Value::Null));
    let Some(body) = body else {
        found.add(rule, &base, "there is no template");
        return None;
    };
    if text(body, "apiVersion").is_none() {
        found.add(rule, &below(&base, &["apiVersion"]), "a template needs `apiVersion`");
    }
    let kind = text(body, "kind");
    match kind {
        None => found.add(rule, &below(&base, &["kind"]), "a template needs `kind`"),
        Some(kind) if kind.contains("${") => {
            found.add(rule, &below(&base, &["kind"]), "the kind of a template is no expression");
        }
        Some(_) => {}
    }
    let metadata = body.get("metadata");
    let is_named = |name: &Node| !matches!(name.value, Value::Null) && name.as_str() != Some("");
    if !metadata.and_then(|metadata| metadata.get("name")).is_some_and(is_named) {
        found.add(rule, &below(&base, &["metadata", "name"]), "a template needs `metadata.name`");
    }
    if let Some(namespace) = metadata.and_then(|metadata| metadata.get("namespace")) {
        let words = namespace.as_str().unwrap_or_default().trim();
        let inner = words.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')).map(str::trim);
        if inner != Some("metadata.namespace") {
            let message = "a namespace is exactly `${metadata.namespace}`";
            found.add(rule, &below(&base, &["metadata", "namespace"]), message);
        }
    }
    Some(kind.unwrap_or_default().into())
}

/// Exactly one template of a type has the kind of its workload type.
fn workload_resources(spec: &Node, base: &[SmolStr], found: &mut Findings<'_>) {
    let wanted = text(spec, "workloadType").unwrap_or_default();
    let (rule, mut matching) = (&finding::OPENCHOREO_CT_WORKLOAD_RESOURCE, Vec::new());
    for (at, template) in items(spec, "resources").iter().enumerate() {
        let place = below(base, &[&at.to_string()]);
        let Some(kind) = header(template, &place, found) else { continue };
        let place = below(&place, &["template", "kind"]);
        if wanted == "proxy" {
            if is_workload(&kind) {
                found.add(&finding::OPENCHOREO_CT_PROXY_WORKLOAD, &place, format!("a proxy has no {kind}"));
            }
        } else if kind.eq_ignore_ascii_case(wanted) {
            matching.push(place);
        } else if is_workload(&kind) {
            found.add(rule, &place, format!("a type of workload type {wanted} has no {kind}"));
        }
    }
    if wanted != "proxy" && matching.len() != 1 {
        let message =
            format!("exactly one resource has the kind of the workload type {wanted}, not {}", matching.len());
        matching.iter().for_each(|place| found.add(rule, place, message.clone()));
        found.add(rule, base, message);
    }
}

fn created(spec: &Node, base: &[SmolStr], found: &mut Findings<'_>) {
    for (at, template) in items(spec, "creates").iter().enumerate() {
        let place = below(base, &[&at.to_string()]);
        if let Some(kind) = header(template, &place, found).filter(|kind| is_workload(kind)) {
            let place = below(&place, &["template", "kind"]);
            found.add(&finding::OPENCHOREO_TRAIT_CREATES_WORKLOAD, &place, format!("a trait does not create a {kind}"));
        }
    }
}

/// The name in an entry of what components may use. In the first generation it was all of the entry.
pub(super) fn allowed_name(entry: &Node) -> Option<&str> {
    text(entry, "name").or_else(|| entry.as_str().filter(|name| !name.is_empty()))
}

/// Lists of what components may use.
fn allowed(spec: &Node, object: &Object, found: &mut Findings<'_>) {
    let trait_kind = if object.name.kind.starts_with("Cluster") { "ClusterTrait" } else { "Trait" };
    let key = |node: &Node, kind: &str| {
        format!("{}:{}", text(node, "kind").unwrap_or(kind), allowed_name(node).unwrap_or_default())
    };
    let embedded: BTreeSet<String> = items(spec, "traits").iter().map(|it| key(it, trait_kind)).collect();
    let lists = [
        ("allowedTraits", trait_kind, &finding::OPENCHOREO_ALLOWED_TRAITS),
        ("allowedWorkflows", "ClusterWorkflow", &finding::OPENCHOREO_ALLOWED_WORKFLOWS),
    ];
    for (list, kind, rule) in lists {
        let mut seen = BTreeSet::new();
        for (at, entry) in items(spec, list).iter().enumerate() {
            let place = place(&["spec", list, &at.to_string()]);
            if allowed_name(entry).is_none() {
                found.add(rule, &below(&place, &["name"]), "an entry needs a name");
                continue;
            }
            let key = key(entry, kind);
            if !seen.insert(key.clone()) {
                found.add(rule, &place, format!("{key} is listed twice"));
            }
            if list == "allowedTraits" && embedded.contains(&key) {
                found.add(rule, &place, format!("{key} is embedded, and need not be allowed"));
            }
        }
    }
}
