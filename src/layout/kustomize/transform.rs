//! The simple transformers: namespace, names, labels, annotations, replicas, images.

use regex::Regex;
use smol_str::{SmolStr, format_smolstr};

use super::configuration::Tables;
use super::fields::{FieldSpec, get_at, rewrite, set_at};
use super::file::{Image, Kustomization, Text};
use super::id::ResourceId;
use super::resource::Resource;
use super::{Fatal, fatal};
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

/// Puts everything into a namespace.
pub(super) fn namespace(
    kustomization: &Kustomization,
    tables: &Tables,
    resources: &mut [Resource],
) -> Result<(), Fatal> {
    let Some(namespace) = kustomization.namespace.as_ref().filter(|text| !text.value.is_empty()) else { return Ok(()) };
    for resource in resources.iter_mut() {
        resource.remember_id();
        let id = resource.id();
        let placed = |_: &Node| Ok(text(namespace));
        if id.group.is_empty() && id.version == "v1" && id.kind == "Namespace" {
            resource.node = set_at(&resource.node, &["metadata", "name"], text(namespace));
        } else if !id.is_cluster_scoped() {
            resource.node = set_at(&resource.node, &["metadata", "namespace"], text(namespace));
        }
        let mut write = |path: &str, create: bool| -> Result<(), Fatal> {
            let path = super::fields::split_path(path);
            let create = create.then_some(namespace.span);
            if let Some(changed) = rewrite(&resource.node, &path, create, &mut |node| placed(node))? {
                resource.node = changed;
            }
            Ok(())
        };
        match (id.group.as_str(), id.kind.as_str()) {
            ("apiregistration.k8s.io", "APIService") => write("spec/service/namespace", true)?,
            ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                write("spec/conversion/webhook/clientConfig/service/namespace", false)?;
            }
            (_, "RoleBinding" | "ClusterRoleBinding") => default_subjects(resource, namespace),
            _ => {}
        }
        for spec in tables.namespace.iter().filter(|spec| spec.selects(&id)) {
            change(resource, spec, namespace.span, &mut |_| Ok(text(namespace)))?;
        }
    }
    check_ids(resources)
}

/// Subjects that are called `default` follow the namespace.
fn default_subjects(resource: &mut Resource, namespace: &Text) {
    let Some(subjects) = resource.node.get("subjects") else { return };
    let changed = subjects.map_children(|child| {
        let subject = child.node;
        let is_default = subject.get("name").and_then(Node::as_str) == Some("default");
        is_default.then(|| set_at(subject, &["namespace"], text(namespace)))
    });
    if let Some(changed) = changed {
        resource.node = set_at(&resource.node, &["subjects"], changed);
    }
}

/// Fails if two resources have one identity.
pub(super) fn check_ids(resources: &[Resource]) -> Result<(), Fatal> {
    let ids: Vec<ResourceId> = resources.iter().map(Resource::id).collect();
    for (at, id) in ids.iter().enumerate() {
        if ids[..at].iter().any(|other| other.is_same(id)) {
            return Err(fatal(resources[at].span(), format!("two resources are called {} now", id.shown())));
        }
    }
    Ok(())
}

/// Puts prefixes and suffixes on names.
pub(super) fn names(kustomization: &Kustomization, tables: &Tables, resources: &mut [Resource]) -> Result<(), Fatal> {
    if let Some(prefix) = kustomization.name_prefix.as_ref().filter(|text| !text.value.is_empty()) {
        for resource in resources.iter_mut() {
            if affix(resource, &tables.name_prefix, prefix, &|name| format_smolstr!("{}{name}", prefix.value))? {
                resource.prefixes.push(prefix.value.clone());
            }
        }
    }
    if let Some(suffix) = kustomization.name_suffix.as_ref().filter(|text| !text.value.is_empty()) {
        for resource in resources.iter_mut() {
            if affix(resource, &tables.name_suffix, suffix, &|name| format_smolstr!("{name}{}", suffix.value))? {
                resource.suffixes.push(suffix.value.clone());
            }
        }
    }
    Ok(())
}

fn affix(
    resource: &mut Resource,
    table: &[FieldSpec],
    by: &Text,
    name: &dyn Fn(&str) -> SmolStr,
) -> Result<bool, Fatal> {
    let id = resource.id();
    let is_skipped = matches!(id.kind.as_str(), "CustomResourceDefinition" | "Namespace")
        || (id.group == "apiregistration.k8s.io" && id.kind == "APIService");
    if is_skipped {
        return Ok(false);
    }
    resource.remember_id();
    for spec in table.iter().filter(|spec| spec.selects(&id)) {
        change(resource, spec, by.span, &mut |node| match node.as_str() {
            Some(text) => Ok(transformed(Node::text(name(text), node.span), by.span)),
            None => Err(fatal(node.span, "a name is a string")),
        })?;
    }
    Ok(true)
}

/// Puts labels on resources, templates and selectors.
pub(super) fn labels(kustomization: &Kustomization, tables: &Tables, resources: &mut [Resource]) -> Result<(), Fatal> {
    for entry in &kustomization.labels {
        let table: Vec<&FieldSpec> = if entry.include_selectors {
            tables.common_labels.iter().chain(&entry.fields).collect()
        } else if entry.include_templates {
            tables.template_labels.iter().chain(&entry.fields).collect()
        } else {
            tables.labels.iter().chain(&entry.fields).collect()
        };
        pairs(resources, &table, &entry.pairs)?;
    }
    pairs(resources, &tables.common_labels.iter().collect::<Vec<_>>(), &kustomization.common_labels)
}

/// Puts annotations on resources and templates.
pub(super) fn annotations(
    kustomization: &Kustomization,
    tables: &Tables,
    resources: &mut [Resource],
) -> Result<(), Fatal> {
    pairs(resources, &tables.common_annotations.iter().collect::<Vec<_>>(), &kustomization.common_annotations)
}

/// Sets keys of the maps that a table leads to.
fn pairs(resources: &mut [Resource], table: &[&FieldSpec], pairs: &[(Text, Text)]) -> Result<(), Fatal> {
    let Some((first, _)) = pairs.first() else { return Ok(()) };
    for resource in resources {
        let id = resource.id();
        for spec in table.iter().filter(|spec| spec.selects(&id)) {
            change(resource, spec, first.span, &mut |node| {
                if !matches!(node.value, Value::Map(_) | Value::Null) {
                    return Err(fatal(node.span, "this is not a map, so that nothing can be set in it"));
                }
                Ok(pairs
                    .iter()
                    .fold(node.clone(), |node, (key, value)| set_at(&node, &[key.value.as_str()], text(value))))
            })?;
        }
    }
    Ok(())
}

/// Sets replica counts.
pub(super) fn replicas(
    kustomization: &Kustomization,
    tables: &Tables,
    resources: &mut [Resource],
    is_open: bool,
) -> Result<(), Fatal> {
    for replicas in &kustomization.replicas {
        let mut is_found = false;
        for resource in resources.iter_mut() {
            let is_named = resource.ids().any(|id| id.name == replicas.name.value);
            let id = resource.id();
            for spec in tables.replicas.iter().filter(|spec| is_named && spec.selects(&id)) {
                is_found = true;
                let count = transformed(replicas.count.clone(), replicas.count.span);
                change(resource, spec, replicas.count.span, &mut |_| Ok(count.clone()))?;
            }
        }
        if !is_found && !is_open {
            return Err(fatal(replicas.name.span, format!("no workload here is called `{}`", replicas.name.value)));
        }
    }
    Ok(())
}

/// Sets names, tags and digests of images.
pub(super) fn images(kustomization: &Kustomization, tables: &Tables, resources: &mut [Resource]) -> Result<(), Fatal> {
    for image in &kustomization.images {
        let rule = ImageRule::new(image, kustomization)?;
        for resource in resources.iter_mut() {
            let id = resource.id();
            // Upstream has two passes over containers, which shows when a suffix is added.
            for _ in 0..if image.tag_suffix.is_some() { 2 } else { 1 } {
                if id.kind != "CustomResourceDefinition"
                    && let Some(changed) = rule.containers(&resource.node)
                {
                    resource.node = changed;
                }
            }
            for spec in tables.images.iter().filter(|spec| spec.selects(&id)) {
                change(resource, spec, rule.span, &mut |node| Ok(rule.apply(node).unwrap_or_else(|| node.clone())))?;
            }
            for path in ["spec/volumes[]/image/reference", "spec/template/spec/volumes[]/image/reference"] {
                let spec = FieldSpec::row("*|*|*", path, false);
                let mut set = |node: &Node| Ok(rule.apply(node).unwrap_or_else(|| node.clone()));
                if let Ok(Some(changed)) = rewrite(&resource.node, &spec.path, None, &mut set) {
                    resource.node = changed;
                }
            }
        }
    }
    Ok(())
}

struct ImageRule<'i> {
    image: &'i Image,
    pattern: Regex,
    span: Span,
}

impl<'i> ImageRule<'i> {
    fn new(image: &'i Image, kustomization: &Kustomization) -> Result<Self, Fatal> {
        let texts = [&image.digest, &image.new_tag, &image.tag_suffix, &image.new_name];
        let anywhere = || kustomization.node.as_ref().map(|node| node.span);
        let span = texts.into_iter().flatten().map(|text| text.span).next().or_else(anywhere);
        let span = span.expect("a kustomization that was read knows where it is written");
        let tail = r"(:[a-zA-Z0-9_.{}-]*)?(@sha256:[a-zA-Z0-9_.{}-]*)?$";
        let pattern = Regex::new(&format!("^{}{tail}", image.name))
            .map_err(|_| fatal(span, format!("`{}` is not a regular expression", image.name)))?;
        Ok(Self { image, pattern, span })
    }

    /// Every `image` in the items of lists called `containers` or `initContainers`.
    fn containers(&self, node: &Node) -> Option<Node> {
        node.map_children(|child| {
            let value = child.node;
            let is_list =
                matches!(child.token().as_str(), "containers" | "initContainers") && value.as_list().is_some();
            if !is_list {
                return self.containers(value);
            }
            value.map_children(|child| {
                let container = child.node;
                let container_of = |node: &Node| self.containers(node);
                let image = container.get("image").and_then(|image| self.apply(image));
                match image {
                    Some(image) => {
                        let changed = set_at(container, &["image"], image);
                        Some(container_of(&changed).unwrap_or(changed))
                    }
                    None => container_of(container),
                }
            })
        })
    }

    fn apply(&self, node: &Node) -> Option<Node> {
        let text = node.as_str()?;
        if !self.pattern.is_match(text) {
            return None;
        }
        let (name, tag, digest) = split(text);
        let name = self.image.new_name.as_ref().map_or(name, |new| new.value.as_str());
        let image = self.image;
        let image = match (&image.new_tag, &image.digest, &image.tag_suffix) {
            (Some(tag), Some(digest), _) => format!("{name}:{}@{}", tag.value, digest.value),
            (Some(tag), None, _) => format!("{name}:{}", tag.value),
            (None, Some(digest), _) => format!("{name}@{}", digest.value),
            (None, None, Some(suffix)) => match tag {
                "" => format!("{name}:{}", suffix.value),
                tag => format!("{name}:{tag}{}", suffix.value),
            },
            (None, None, None) => {
                let tag = if tag.is_empty() { String::new() } else { format!(":{tag}") };
                let digest = if digest.is_empty() { String::new() } else { format!("@{digest}") };
                format!("{name}{tag}{digest}")
            }
        };
        (image != text).then(|| transformed(Node::text(image, node.span), self.span))
    }
}

/// The name, tag and digest of an image.
fn split(image: &str) -> (&str, &str, &str) {
    let (rest, digest) = image.split_once('@').unwrap_or((image, ""));
    let after_host = rest.find('/').unwrap_or(0);
    match rest[after_host..].find(':') {
        Some(at) => (&rest[..after_host + at], &rest[after_host + at + 1..], digest),
        None => (rest, "", digest),
    }
}

/// Rewrites the fields of one specification.
fn change(
    resource: &mut Resource,
    spec: &FieldSpec,
    by: Span,
    set: &mut dyn FnMut(&Node) -> Result<Node, Fatal>,
) -> Result<(), Fatal> {
    if let Some(changed) = rewrite(&resource.node, &spec.path, spec.create.then_some(by), set)? {
        resource.node = changed;
    }
    Ok(())
}

/// A text of the kustomization in a resource.
fn text(text: &Text) -> Node {
    transformed(Node::text(text.value.clone(), text.span), text.span)
}

fn transformed(node: Node, by: Span) -> Node {
    node.through(StepKind::Transformer, by)
}

/// Entries of a resource's labels or annotations.
pub(super) fn metadata_entries<'n>(node: &'n Node, name: &str) -> &'n [Entry] {
    get_at(node, &["metadata", name]).and_then(Node::as_map).map_or(&[], |map| map.entries())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_taken_apart_at_the_last_host() {
        assert_eq!(split("nginx"), ("nginx", "", ""));
        assert_eq!(split("nginx:1.2"), ("nginx", "1.2", ""));
        assert_eq!(split("host:5000/a/b:1@sha256:x"), ("host:5000/a/b", "1", "sha256:x"));
        assert_eq!(split("host/a@sha256:x"), ("host/a", "", "sha256:x"));
    }
}
