//! Index of a document: which parts of it hold keys that begin with `+`, and where its anchors, names and includes are.

use std::collections::HashMap;
use std::sync::OnceLock;

use smol_str::SmolStr;

use super::key::{self, PlusKey};
use crate::document::Document;
use crate::value::{Node, StepKind, Value};

/// Whether any key in the tree begins with `+`. Asked of every document.
pub(super) fn has_plus_keys(node: &Node) -> bool {
    node.holds_plus_key()
}

/// Whether a node is a map with a key that begins with `+`.
fn has_own_plus_keys(node: &Node) -> bool {
    node.children().any(|child| child.key.is_some_and(key::starts_with_plus))
}

/// A document with its index, built once per file.
#[derive(Debug)]
pub(super) struct IndexedDocument {
    /// The document; it keeps the addresses below valid.
    pub(super) document: Document,
    /// By address of a list or map: whether it holds a plus key at any depth.
    containers: HashMap<usize, bool>,
    entries: OnceLock<Vec<IndexEntry>>,
}

/// Something that can be referred to by name, or a map that includes a file with such things.
#[derive(Debug, Clone)]
pub(super) struct IndexEntry {
    pub(super) kind: IndexEntryKind,
    /// The path from the root, as indexes of items and entries.
    pub(super) path: Vec<u32>,
}

/// What an index entry is about.
#[derive(Debug, Clone)]
pub(super) enum IndexEntryKind {
    /// `&name` on a value.
    Anchor(SmolStr),
    /// `+&: name` in a map.
    Name(SmolStr),
    /// A map with an include.
    Include,
}

impl IndexEntry {
    /// The name, if it is an anchor.
    pub(super) fn anchor(&self) -> Option<&SmolStr> {
        match &self.kind {
            IndexEntryKind::Anchor(name) => Some(name),
            IndexEntryKind::Name(_) | IndexEntryKind::Include => None,
        }
    }
}

impl IndexedDocument {
    pub(super) fn new(document: Document) -> Self {
        let mut containers = HashMap::new();
        if has_plus_keys(&document.root) {
            mark(&document.root, &mut containers);
        }
        Self { document, containers, entries: OnceLock::new() }
    }

    /// Whether a part of this document holds a plus key at any depth.
    pub(super) fn has_plus_keys(&self, node: &Node) -> bool {
        !self.containers.is_empty()
            && node.value.address().is_some_and(|address| self.containers.get(&address).copied().unwrap_or(false))
    }

    /// Anchors, names and includes in written order.
    pub(super) fn entries(&self) -> &[IndexEntry] {
        self.entries.get_or_init(|| {
            let mut found = Vec::new();
            collect_entries(&self.document.root, &mut Vec::new(), &mut found);
            found
        })
    }
}

/// Appends the index entries of a node and its descendants in written order.
fn collect_entries(node: &Node, path: &mut Vec<u32>, found: &mut Vec<IndexEntry>) {
    // What an alias repeats was indexed where it is written.
    if node.step().is_some_and(|step| matches!(step.kind, StepKind::Alias | StepKind::MergeKey)) {
        return;
    }
    if let Some(anchor) = node.extra.as_ref().and_then(|extra| extra.anchor.clone()) {
        found.push(IndexEntry { kind: IndexEntryKind::Anchor(anchor), path: path.clone() });
    }
    for (index, child) in (0..).zip(node.children()) {
        if let Some(key) = child.key {
            let kind = match key::read(key) {
                PlusKey::Name => name_of(child.node).map(IndexEntryKind::Name),
                PlusKey::Directive(reference) if reference.is_include => Some(IndexEntryKind::Include),
                _ => None,
            };
            found.extend(kind.map(|kind| IndexEntry { kind, path: path.clone() }));
        }
        path.push(index);
        collect_entries(child.node, path, found);
        path.pop();
    }
}

/// The name that the value of `+&` gives, if it is a scalar; otherwise the key is data.
pub(super) fn name_of(value: &Node) -> Option<SmolStr> {
    match &value.value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.as_str().into()),
        Value::Bool(value) => Some(SmolStr::new(value.to_string())),
        _ => None,
    }
}

/// Records for each list and map whether it holds a plus key at any depth.
fn mark(node: &Node, containers: &mut HashMap<usize, bool>) -> bool {
    let Some(address) = node.value.address() else { return false };
    if let Some(&known) = containers.get(&address) {
        return known;
    }
    let mut has_plus_keys = has_own_plus_keys(node);
    for child in node.children() {
        has_plus_keys |= mark(child.node, containers);
    }
    containers.insert(address, has_plus_keys);
    has_plus_keys
}
