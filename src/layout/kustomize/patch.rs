//! Patches of a kustomization: which kind a patch is of, which resources it is for, and what it may change.

use std::sync::Arc;

use super::file::{Patch, Text};
use super::id::ResourceId;
use super::load::Loader;
use super::resource::{Resource, with_text_annotations};
use super::scalars::Dialect;
use super::schema::Schemas;
use super::selector::Compiled;
use super::{Fatal, fatal, json_patch, strategic};
use crate::limits::Counted;
use crate::path::RepoPath;
use crate::text::Span;
use crate::value::{Node, Value};

/// What patches and replacements need to know about the kustomization they are in.
pub(super) struct Context<'a> {
    pub(super) directory: &'a RepoPath,
    pub(super) loader: &'a Loader<'a>,
    pub(super) schemas: &'a Schemas,
    /// Whether some resources are not in the repository, so that a patch without a target may be meant for one of them.
    pub(super) is_open: bool,
    /// Whether the kustomization is a component, whose patches may be meant for other users of it.
    pub(super) is_component: bool,
}

/// The content of a patch.
enum Content {
    /// Documents in the shape of resources.
    Strategic(Arc<[Node]>),
    /// Operations.
    Json(Vec<Node>),
}

/// Changing a resource costs as much as looking at so many values, beside its own.
const COPY: u64 = 16;

impl Context<'_> {
    /// Whether an entry may match nothing for a good reason.
    pub(super) fn is_lenient(&self) -> bool {
        self.is_open || self.is_component
    }

    /// Books the copy of a resource that is changed, before it is made.
    pub(super) fn pay(&self, resource: &Resource, span: Span) -> Result<(), Fatal> {
        let limits = self.loader.given().limits;
        let is_booked = limits.take_steps(resource.node.size().saturating_add(COPY));
        if is_booked { Ok(()) } else { Err(super::run_limit(span, limits, Counted::Steps)) }
    }

    /// Notes a target that selects nothing.
    fn note_unused(&self, patch: &Patch) {
        if !self.is_lenient() {
            let span = patch.target.as_ref().and_then(|target| target.span).unwrap_or(patch.span);
            self.loader.note_no_match(span, "no resource here matches the target of this patch");
        }
    }

    /// `patchesStrategicMerge`: paths or inline documents.
    pub(super) fn strategic(&self, patches: &[Text], resources: &mut Vec<Resource>) -> Result<(), Fatal> {
        let mut is_empty = true;
        for text in patches {
            let path = self.loader.path(self.directory, text);
            let file = path.filter(|_| !text.value.contains('\n')).map(|path| self.loader.text(&path)).transpose()?;
            let documents = match file.flatten() {
                Some(file) => {
                    self.loader.note_outside(self.directory, &file.path, text.span);
                    self.loader.documents(&file, Dialect::Resource)?
                }
                None if text.value.contains([':', '\n']) => self.loader.inline(text, Dialect::Resource)?,
                None => return Err(fatal(text.span, format!("there is no file `{}`", text.value))),
            };
            let listed =
                Listed { field: "patchesStrategicMerge", span: text.span, can_rename: false, can_retype: false };
            for document in shapes(&documents)? {
                is_empty = false;
                self.to_its_resource(document, listed, resources)?;
            }
            drop_deleted(resources);
        }
        // Single files may be empty, not all of them.
        match patches.first() {
            Some(first) if is_empty => Err(fatal(first.span, "this patch is empty")),
            _ => Ok(()),
        }
    }

    /// `patches`: strategic or JSON, with or without a target.
    pub(super) fn apply(&self, patches: &[Patch], resources: &mut Vec<Resource>) -> Result<(), Fatal> {
        for patch in patches {
            match self.content(patch)? {
                Content::Strategic(documents) => self.apply_strategic(patch, &documents, resources)?,
                Content::Json(operations) => {
                    let Some(target) = &patch.target else {
                        return Err(fatal(patch.span, "a JSON patch needs a target"));
                    };
                    let target = Compiled::new(target, patch.span)?;
                    let mut is_used = false;
                    for resource in resources.iter_mut().filter(|resource| target.selects(resource)) {
                        is_used = true;
                        resource.remember_id();
                        self.apply_json(resource, &operations, ("patches", patch.span))?;
                        resource.node = with_map_of_annotations(&resource.node);
                    }
                    if !is_used {
                        self.note_unused(patch);
                    }
                }
            }
            drop_deleted(resources);
        }
        Ok(())
    }

    /// `patchesJson6902`.
    pub(super) fn json(&self, patches: &[Patch], resources: &mut Vec<Resource>) -> Result<(), Fatal> {
        for patch in patches {
            let target = patch.target.as_ref().filter(|target| !target.name.is_empty());
            let target = target.ok_or_else(|| fatal(patch.span, "a JSON patch needs a target with a name"))?;
            let Content::Json(operations) = self.content(patch)? else {
                return Err(fatal(patch.span, "this is not a list of JSON patch operations"));
            };
            let target = Compiled::new(target, patch.span)?;
            let mut is_used = false;
            for resource in resources.iter_mut().filter(|resource| target.selects(resource)) {
                is_used = true;
                self.apply_json(resource, &operations, ("patchesJson6902", patch.span))?;
            }
            if !is_used {
                self.note_unused(patch);
            }
            drop_deleted(resources);
        }
        Ok(())
    }

    fn content(&self, patch: &Patch) -> Result<Content, Fatal> {
        let operations = |documents: &[Node]| documents.first()?.as_list().map(<[Node]>::to_vec);
        match (&patch.path, &patch.inline) {
            (Some(path), None) => {
                let file = self.loader.required(self.directory, path)?;
                if let Ok(documents) = self.loader.documents(&file, json_dialect(&file.text))
                    && let Some(operations) = operations(&documents)
                {
                    return Ok(Content::Json(operations));
                }
                let documents = self.loader.documents(&file, Dialect::Resource)?;
                shapes(&documents)?;
                Ok(Content::Strategic(documents))
            }
            (None, Some(text)) => {
                if let Ok(documents) = self.loader.inline(text, json_dialect(&text.value))
                    && let Some(operations) = operations(&documents)
                {
                    return Ok(Content::Json(operations));
                }
                let documents = self.loader.inline(text, Dialect::Resource)?;
                shapes(&documents)?;
                Ok(Content::Strategic(documents))
            }
            (Some(_), Some(_)) => Err(fatal(patch.span, "a patch has either `path` or `patch`, not both")),
            (None, None) => Err(fatal(patch.span, "a patch has a `path` or a `patch`")),
        }
    }

    fn apply_strategic(&self, patch: &Patch, documents: &[Node], resources: &mut [Resource]) -> Result<(), Fatal> {
        let listed = Listed {
            field: "patches",
            span: patch.span,
            can_rename: patch.allow_name_change,
            can_retype: patch.allow_kind_change,
        };
        let documents = shapes(documents)?;
        if documents.is_empty() {
            return Ok(());
        }
        let Some(target) = &patch.target else {
            return documents.into_iter().try_for_each(|document| self.to_its_resource(document, listed, resources));
        };
        let [document] = documents.as_slice() else {
            return Err(fatal(patch.span, "a patch with a target is one document"));
        };
        let target = Compiled::new(target, patch.span)?;
        let mut is_used = false;
        for resource in resources.iter_mut().filter(|resource| target.selects(resource)) {
            is_used = true;
            self.merge(resource, document, listed)?;
        }
        if !is_used {
            self.note_unused(patch);
        }
        Ok(())
    }

    /// Applies a patch to the one resource that it names itself.
    fn to_its_resource(&self, document: &Node, listed: Listed, resources: &mut [Resource]) -> Result<(), Fatal> {
        let id = ResourceId::read(document);
        let is_meant = |resource: &&mut Resource| resource.is_called(&id);
        let mut meant = resources.iter_mut().filter(is_meant);
        match (meant.next(), meant.next()) {
            (Some(resource), None) => self.merge(resource, document, listed),
            (None, _) if self.is_open => {
                self.loader.note(document.span, format!("{} is not in this repository", id.shown()));
                Ok(())
            }
            (None, _) => Err(fatal(document.span, format!("no resource here is called {}", id.shown()))),
            _ => Err(fatal(document.span, format!("several resources are called {}", id.shown()))),
        }
    }

    fn merge(&self, resource: &mut Resource, document: &Node, listed: Listed) -> Result<(), Fatal> {
        self.pay(resource, listed.span)?;
        let before = resource.node.clone();
        if listed.can_rename || listed.can_retype {
            resource.remember_id();
        }
        let kept = |keys: &[&str], node: &Node| match super::fields::get_at(&before, keys) {
            Some(value) => super::fields::set_at(node, keys, value.clone()),
            None => super::fields::remove_at(node, keys),
        };
        let listed_at = (listed.field, listed.span);
        let merged = strategic::merge(&before, document, self.schemas, listed_at, &resource.shared)?;
        let Some((merged, writes)) = merged else {
            resource.node = Node::map(Vec::new(), before.span);
            return Ok(());
        };
        let mut merged = resource.shared.written(merged, writes);
        if !listed.can_retype {
            merged = kept(&["apiVersion"], &kept(&["kind"], &merged));
        }
        if !listed.can_rename {
            merged = kept(&["metadata", "name"], &merged);
        }
        merged = kept(&["metadata", "namespace"], &merged);
        super::check_size(&merged, document.span, self.loader.given().limits)?;
        resource.node = with_text_annotations(&merged);
        Ok(())
    }

    fn apply_json(
        &self,
        resource: &mut Resource,
        operations: &[Node],
        listed: (&'static str, Span),
    ) -> Result<(), Fatal> {
        self.pay(resource, listed.1)?;
        let annotations = ["metadata", "annotations"];
        let has_none = super::fields::get_at(&resource.node, &annotations).is_none();
        let node = resource.with_read_annotations();
        let node = if has_none && resource.has_internal_annotations {
            super::fields::set_at(&node, &annotations, Node::map(Vec::new(), node.span))
        } else {
            node
        };
        let patched = json_patch::apply(&node, operations, listed, self.loader.given().limits)?;
        resource.node = with_text_annotations(&rounded(&patched).unwrap_or(patched));
        resource.shared.separate();
        Ok(())
    }
}

/// The document without annotations that are no map: kustomize writes its notes in their place.
fn with_map_of_annotations(node: &Node) -> Node {
    let path = ["metadata", "annotations"];
    match super::fields::get_at(node, &path) {
        Some(annotations) if annotations.as_map().is_none() => super::fields::remove_at(node, &path),
        _ => node.clone(),
    }
}

/// How a strategic merge patch is listed in a kustomization.
#[derive(Clone, Copy)]
struct Listed {
    field: &'static str,
    span: Span,
    can_rename: bool,
    can_retype: bool,
}

/// The dialect of a JSON patch: text that begins as JSON is JSON.
fn json_dialect(text: &str) -> Dialect {
    if text.trim_start().starts_with('[') { Dialect::Resource } else { Dialect::Yaml11 }
}

/// Documents that have the shape of resources; empty ones do not count.
fn shapes(documents: &[Node]) -> Result<Vec<&Node>, Fatal> {
    let is_empty = |node: &Node| matches!(node.value, Value::Null) || node.as_map().is_some_and(|map| map.is_empty());
    let documents: Vec<&Node> = documents.iter().filter(|node| !is_empty(node)).collect();
    for document in &documents {
        super::resource::check((*document).clone())?;
        super::resource::check_name(document)?;
    }
    Ok(documents)
}

/// Resources that a patch has deleted are empty maps.
fn drop_deleted(resources: &mut Vec<Resource>) {
    resources.retain(|resource| resource.node.as_map().is_none_or(|map| !map.is_empty()));
}

/// Numbers become doubles on their way through a JSON patch.
fn rounded(node: &Node) -> Option<Node> {
    match &node.value {
        Value::Number(number) => {
            let number = super::numbers::as_double(number)?;
            Some(Node { value: Value::Number(number), ..node.clone() })
        }
        _ => node.map_children(|child| rounded(child.node)),
    }
}
