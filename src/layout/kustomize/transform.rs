//! The simple transformers: namespace, names, labels, annotations, replicas, images.

use std::cell::Cell;
use std::collections::HashSet;

use smol_str::{SmolStr, format_smolstr};

use super::configuration::Tables;
use super::fields::{FieldSpec, get_at, in_place_of, rewrite, set_at, split_path};
use super::file::{Image, Kustomization, Labels, Text};
use super::id::IdKey;
use super::pattern::ImagePattern;
use super::resource::Resource;
use super::shared::Writes;
use super::{Fatal, fatal};
use crate::path::Pointer;
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
        let placed = |node: &Node| Ok(in_place_of(Some(node), text("namespace", namespace)));
        if id.group.is_empty() && id.version == "v1" && id.kind == "Namespace" {
            resource.node = with_text(&resource.node, &["metadata", "name"], "namespace", namespace);
        } else if !id.is_cluster_scoped() {
            resource.node = with_text(&resource.node, &["metadata", "namespace"], "namespace", namespace);
        }
        let mut write = |path: &str, create: bool| -> Result<(), Fatal> {
            let path = split_path(path);
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
            (_, "RoleBinding" | "ClusterRoleBinding") => default_subjects(resource, namespace)?,
            _ => {}
        }
        for spec in tables.namespace.iter().filter(|spec| spec.selects(&id)) {
            change(resource, spec, namespace.span, &mut |node| placed(node))?;
        }
    }
    check_ids(resources)
}

/// Subjects that are called `default` follow the namespace.
fn default_subjects(resource: &mut Resource, namespace: &Text) -> Result<(), Fatal> {
    let Some(subjects) = resource.node.get("subjects") else { return Ok(()) };
    if let Some(odd) = subjects.as_list().and_then(|all| all.iter().find(|subject| subject.as_map().is_none())) {
        return Err(fatal(odd.span, "a subject is a map"));
    }
    let changed = subjects.map_children(|child| {
        let subject = child.node;
        let is_default = subject.get("name").and_then(Node::as_str) == Some("default");
        is_default.then(|| with_text(subject, &["namespace"], "namespace", namespace))
    });
    if let Some(changed) = changed {
        resource.node = set_at(&resource.node, &["subjects"], changed);
    }
    Ok(())
}

/// Fails if two resources have one identity.
pub(super) fn check_ids(resources: &[Resource]) -> Result<(), Fatal> {
    let mut ids: HashSet<IdKey> = HashSet::with_capacity(resources.len());
    match resources.iter().find(|resource| !ids.insert(resource.id().key())) {
        Some(twice) => Err(fatal(twice.span(), format!("two resources are called {} now", twice.id().shown()))),
        None => Ok(()),
    }
}

/// Puts prefixes and suffixes on names.
pub(super) fn names(kustomization: &Kustomization, tables: &Tables, resources: &mut [Resource]) -> Result<(), Fatal> {
    if let Some(prefix) = kustomization.name_prefix.as_ref().filter(|text| !text.value.is_empty()) {
        for resource in resources.iter_mut() {
            let by = ("namePrefix", prefix.span);
            if affix(resource, &tables.name_prefix, by, &|name| format_smolstr!("{}{name}", prefix.value))? {
                resource.prefixes.push(prefix.value.clone());
            }
        }
    }
    if let Some(suffix) = kustomization.name_suffix.as_ref().filter(|text| !text.value.is_empty()) {
        for resource in resources.iter_mut() {
            let by = ("nameSuffix", suffix.span);
            if affix(resource, &tables.name_suffix, by, &|name| format_smolstr!("{name}{}", suffix.value))? {
                resource.suffixes.push(suffix.value.clone());
            }
        }
    }
    Ok(())
}

fn affix(
    resource: &mut Resource,
    table: &[FieldSpec],
    (field, by): (&'static str, Span),
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
        change(resource, spec, by, &mut |node| match node.as_str() {
            Some(text) => {
                let renamed = Node { value: Value::String(name(text)), ..node.clone() };
                Ok(renamed.through(StepKind::Kustomize(field), by))
            }
            None => Err(fatal(node.span, "a name is a string")),
        })?;
    }
    Ok(true)
}

/// Puts labels on resources, templates and selectors.
pub(super) fn labels(kustomization: &Kustomization, tables: &Tables, resources: &mut [Resource]) -> Result<(), Fatal> {
    for entry in &kustomization.labels {
        let mut table = entry.fields.clone();
        let further: &[FieldSpec] = match entry {
            Labels { include_selectors: true, .. } => &tables.common_labels,
            Labels { include_templates: true, .. } => &tables.template_labels,
            _ => &[],
        };
        let own = FieldSpec::row("*|*|*", "metadata/labels", true);
        let own = (!entry.include_selectors).then_some(own);
        for spec in tables.labels.iter().chain(further).cloned().chain(own) {
            spec.add_to(&mut table).map_err(|reason| fatal(entry.span, reason))?;
        }
        pairs(resources, &table.iter().collect::<Vec<_>>(), &entry.pairs, "labels")?;
    }
    let table: Vec<&FieldSpec> = tables.common_labels.iter().collect();
    pairs(resources, &table, &kustomization.common_labels, "commonLabels")
}

/// Puts annotations on resources and templates.
pub(super) fn annotations(
    kustomization: &Kustomization,
    tables: &Tables,
    resources: &mut [Resource],
) -> Result<(), Fatal> {
    let table: Vec<&FieldSpec> = tables.common_annotations.iter().collect();
    pairs(resources, &table, &kustomization.common_annotations, "commonAnnotations")
}

/// Sets keys of the maps that a table leads to.
fn pairs(
    resources: &mut [Resource],
    table: &[&FieldSpec],
    pairs: &[(Text, Text)],
    field: &'static str,
) -> Result<(), Fatal> {
    for resource in resources {
        for (key, value) in pairs {
            pair(resource, table, (key, value), field)?;
        }
    }
    Ok(())
}

/// Sets a key of the maps that a table leads to. Where it is new, it is one value in all of them.
fn pair(
    resource: &mut Resource,
    table: &[&FieldSpec],
    (key, value): (&Text, &Text),
    field: &'static str,
) -> Result<(), Fatal> {
    let id = resource.id();
    let new = text(field, value);
    let (writes, created) = (Writes::default(), Cell::new(0));
    for spec in table.iter().filter(|spec| spec.selects(&id)) {
        change(resource, spec, key.span, &mut |node| {
            if !matches!(node.value, Value::Map(_) | Value::Null) {
                return Err(fatal(node.span, "this is not a map, so that nothing can be set in it"));
            }
            let path = [key.value.as_str()];
            let Some(old) = get_at(node, &path) else {
                created.set(created.get() + 1);
                return Ok(set_at(node, &path, new.clone()));
            };
            let placed = in_place_of(Some(old), text(field, value));
            writes.note(&Pointer::root(), old, &placed);
            Ok(set_at(node, &path, placed))
        })?;
    }
    if !resource.shared.is_empty() {
        let document = resource.node.clone();
        resource.node = resource.shared.written(document, writes);
    }
    if created.get() > 1 {
        resource.shared.add(&new);
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
                let span = replicas.count.span;
                let count = replicas.count.clone().through(StepKind::Kustomize("replicas"), span);
                change(resource, spec, span, &mut |node| Ok(in_place_of(Some(node), count.clone())))?;
            }
        }
        if !is_found && !is_open {
            return Err(fatal(replicas.name.span, format!("no workload here is called `{}`", replicas.name.value)));
        }
    }
    Ok(())
}

/// Fields beside containers that hold images.
const VOLUME_IMAGES: [&str; 2] = ["spec/volumes[]/image/reference", "spec/template/spec/volumes[]/image/reference"];

/// Sets names, tags and digests of images. Returns the names that no image has.
pub(super) fn images(
    kustomization: &Kustomization,
    tables: &Tables,
    resources: &mut [Resource],
) -> Result<Vec<Text>, Fatal> {
    let volumes = VOLUME_IMAGES.map(split_path);
    let mut unused = Vec::new();
    for image in &kustomization.images {
        let rule = ImageRule::new(image)?;
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
            let mut set = |node: &Node| Ok(rule.apply(node).unwrap_or_else(|| node.clone()));
            for spec in tables.images.iter().filter(|spec| spec.selects(&id)) {
                change(resource, spec, rule.span, &mut set)?;
            }
            for path in &volumes {
                if let Ok(Some(changed)) = rewrite(&resource.node, path, None, &mut set) {
                    resource.node = changed;
                }
            }
        }
        if !rule.is_used.get() {
            unused.push(image.name.clone());
        }
    }
    Ok(unused)
}

struct ImageRule<'i> {
    image: &'i Image,
    pattern: ImagePattern,
    /// The entry's deciding key.
    span: Span,
    is_used: Cell<bool>,
}

impl<'i> ImageRule<'i> {
    fn new(image: &'i Image) -> Result<Self, Fatal> {
        let texts = [&image.new_tag, &image.digest, &image.tag_suffix, &image.new_name];
        let span = texts.into_iter().flatten().map(|text| text.span).next().unwrap_or(image.name.span);
        let pattern = ImagePattern::new(&image.name.value)
            .ok_or_else(|| fatal(image.name.span, format!("`{}` is not a regular expression", image.name.value)))?;
        Ok(Self { image, pattern, span, is_used: Cell::new(false) })
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
        self.is_used.set(true);
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
        (image != text).then(|| {
            let new = Node::text(image, self.span).through(StepKind::Kustomize("images"), self.span);
            in_place_of(Some(node), new)
        })
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
fn text(field: &'static str, text: &Text) -> Node {
    Node::text(text.value.clone(), text.span).through(StepKind::Kustomize(field), text.span)
}

/// The document with a text of the kustomization in a field.
fn with_text(node: &Node, path: &[&str], field: &'static str, new: &Text) -> Node {
    set_at(node, path, in_place_of(get_at(node, path), text(field, new)))
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
