//! A resource while kustomize works on it: the document, its former names, and what generators want of it.

use std::sync::Arc;

use smol_str::SmolStr;

use super::fields::set_at;
use super::id::ResourceId;
use super::scalars::plain_text;
use super::shared::Shared;
use super::{Fatal, fatal};
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

/// What a generator does when a resource of its name exists already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Behavior {
    /// The resource must be new.
    #[default]
    Create,
    /// Data are united.
    Merge,
    /// Data are replaced.
    Replace,
}

/// A resource while it is built.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    /// The document.
    pub(super) node: Node,
    /// The names it had before, the original one first; empty while nothing has changed its name.
    pub(super) previous: Vec<ResourceId>,
    /// Prefixes that were put before its name, innermost first.
    pub(super) prefixes: Vec<SmolStr>,
    /// Suffixes that were put behind its name, innermost first.
    pub(super) suffixes: Vec<SmolStr>,
    /// Whether its name gets a suffix made of its content.
    pub(super) wants_hash: bool,
    /// The suffix that was added, once it was.
    pub(super) hash: Option<SmolStr>,
    /// Whether kustomize keeps notes about it in its annotations, which makes the map exist for later patches.
    pub(super) has_internal_annotations: bool,
    /// Values that are in several of its fields.
    pub(super) shared: Shared,
    /// Annotations that mean something else than the text they are written with.
    pub(super) annotations_read: Vec<AnnotationRead>,
}

/// An annotation without quotes: the text of it, and the text of what it means, which is what a JSON patch leaves of it.
#[derive(Debug, Clone)]
pub(super) struct AnnotationRead {
    key: SmolStr,
    written: SmolStr,
    meant: SmolStr,
}

impl Resource {
    /// A resource as it is written in a file.
    pub(super) fn new(node: Node) -> Self {
        Self {
            node,
            previous: Vec::new(),
            prefixes: Vec::new(),
            suffixes: Vec::new(),
            wants_hash: false,
            hash: None,
            has_internal_annotations: false,
            shared: Shared::default(),
            annotations_read: Vec::new(),
        }
    }

    /// Its present identity.
    pub(super) fn id(&self) -> ResourceId {
        ResourceId::read(&self.node)
    }

    /// Its first identity.
    pub(super) fn original(&self) -> ResourceId {
        self.previous.first().cloned().unwrap_or_else(|| self.id())
    }

    /// Every identity it has or had.
    pub(super) fn ids(&self) -> impl Iterator<Item = ResourceId> {
        self.previous.iter().cloned().chain([self.id()])
    }

    /// Whether an identity is or was its own.
    pub(super) fn is_called(&self, id: &ResourceId) -> bool {
        self.previous.iter().any(|other| other.is_same(id)) || self.id().is_same(id)
    }

    /// Notes the present identity before something may change it.
    pub(super) fn remember_id(&mut self) {
        let id = self.id();
        self.previous.push(id);
        self.note_in_annotations();
    }

    /// Kustomize notes something in its annotations, which are written again for that and are values of their own then.
    fn note_in_annotations(&mut self) {
        self.has_internal_annotations = true;
        if self.shared.is_empty() {
            return;
        }
        let path = ["metadata", "annotations"];
        let own = |node: &Node| Node { extra: node.extra.as_deref().cloned().map(Arc::new), ..node.clone() };
        let annotations = super::fields::get_at(&self.node, &path);
        let separate = annotations
            .and_then(|node| node.map_children(|child| self.shared.holds(child.node).then(|| own(child.node))));
        if let Some(separate) = separate {
            self.node = set_at(&self.node, &path, separate);
        }
    }

    /// Adds the suffix that is made of its content to its name.
    pub(super) fn add_hash(&mut self, hash: SmolStr) {
        self.remember_id();
        let path = ["metadata", "name"];
        if let Some(name) = super::fields::get_at(&self.node, &path) {
            let text = format!("{}-{hash}", name.as_str().unwrap_or_default());
            let renamed = Node { value: Value::String(text.into()), ..name.clone() };
            let renamed = renamed.through(StepKind::NameSuffixHash, self.node.span);
            self.node = set_at(&self.node, &path, renamed);
        }
        self.hash = Some(hash);
    }

    /// The document that a JSON patch sees and leaves: annotations are what they mean.
    pub(super) fn with_read_annotations(&mut self) -> Node {
        let read = std::mem::take(&mut self.annotations_read);
        let is_written = |read: &AnnotationRead, node: &Node| node.as_str() == Some(read.written.as_str());
        read.iter().fold(self.node.clone(), |node, read| {
            let path = ["metadata", "annotations", read.key.as_str()];
            match super::fields::get_at(&node, &path).filter(|found| is_written(read, found)) {
                Some(found) => {
                    let meant = Node { value: Value::String(read.meant.clone()), ..found.clone() };
                    set_at(&node, &path, meant)
                }
                None => node,
            }
        })
    }

    /// Where it is written.
    pub(super) fn span(&self) -> Span {
        self.node.get("kind").map_or(self.node.span, |kind| kind.span)
    }
}

/// Checks what every document of a resource file needs, and makes annotations what kustomize makes of them.
pub(super) fn check(node: Node) -> Result<Node, Fatal> {
    let Some(map) = node.as_map() else {
        return Err(fatal(node.span, "a resource is a map with `kind` and `metadata.name`"));
    };
    if map.get("kind").and_then(Node::as_str).is_none_or(str::is_empty) {
        return Err(fatal(node.span, "this document has no `kind`"));
    }
    Ok(with_text_annotations(&node))
}

/// Checks that a document has a name; lists and patches of lists have none.
pub(super) fn check_name(node: &Node) -> Result<(), Fatal> {
    let name = node.get("metadata").and_then(|metadata| metadata.get("name"));
    match name.map(|name| &name.value) {
        Some(Value::String(text)) if !text.is_empty() => Ok(()),
        _ => Err(fatal(node.span, "this document has no `metadata.name`")),
    }
}

/// Checks what every resource needs in the end, and drops annotations that are empty.
pub(super) fn finished(node: &Node) -> Result<Node, Fatal> {
    if node.get("metadata").is_none_or(|metadata| metadata.as_map().is_none()) {
        return Err(fatal(node.span, "this resource has no `metadata`"));
    }
    let node = check(node.clone())?;
    if !node.get("kind").and_then(Node::as_str).is_some_and(|kind| kind.ends_with("List")) {
        check_name(&node)?;
    }
    let annotations = super::fields::get_at(&node, &["metadata", "annotations"]);
    let is_empty = annotations.and_then(Node::as_map).is_some_and(|map| map.is_empty());
    Ok(if is_empty { super::fields::remove_at(&node, &["metadata", "annotations"]) } else { node })
}

/// The document with annotations as they are written in the text of its file, and those that mean something else.
pub(super) fn with_written_annotations(node: &Node, text: &str) -> (Node, Vec<AnnotationRead>) {
    let path = ["metadata", "annotations"];
    let Some(annotations) = super::fields::get_at(node, &path).filter(|node| node.as_map().is_some()) else {
        return (node.clone(), Vec::new());
    };
    let mut read = Vec::new();
    let changed = annotations.map_children(|child| {
        let meant = scalar_text(child.node)?;
        let written = text.get(child.node.span.range()).and_then(plain_text).unwrap_or("null");
        if written == meant || child.node.as_str().is_some() && super::timestamp::completed(written).is_none() {
            return None;
        }
        read.push(AnnotationRead { key: child.token(), written: written.into(), meant });
        Some(Node { value: Value::String(written.into()), ..child.node.clone() })
    });
    (changed.map_or_else(|| node.clone(), |changed| set_at(node, &path, changed)), read)
}

/// The text of a scalar.
fn scalar_text(node: &Node) -> Option<SmolStr> {
    match &node.value {
        Value::String(text) => Some(text.clone()),
        Value::Null => Some("null".into()),
        Value::Bool(value) => Some(SmolStr::from(value.to_string())),
        Value::Number(number) => Some(super::numbers::printed(number)),
        _ => None,
    }
}

/// Annotation values are strings, whatever was written.
pub(super) fn with_text_annotations(node: &Node) -> Node {
    let Some(annotations) = node.get("metadata").and_then(|metadata| metadata.get("annotations")) else {
        return node.clone();
    };
    match annotations.as_map() {
        Some(map) => {
            let text = |entry: &Entry| match &entry.value.value {
                Value::String(_) => None,
                Value::List(_) | Value::Map(_) => Some(SmolStr::default()),
                _ => scalar_text(&entry.value),
            };
            if map.entries().iter().all(|entry| text(entry).is_none()) {
                return node.clone();
            }
            let entries = map.entries().iter().map(|entry| match text(entry) {
                Some(text) => {
                    Entry { value: Node { value: Value::String(text), ..entry.value.clone() }, key: entry.key.clone() }
                }
                None => entry.clone(),
            });
            let map = Node::map(entries.collect(), annotations.span);
            set_at(node, &["metadata", "annotations"], Node { extra: annotations.extra.clone(), ..map })
        }
        None if matches!(annotations.value, Value::Null) => {
            super::fields::remove_at(node, &["metadata", "annotations"])
        }
        None => node.clone(),
    }
}
