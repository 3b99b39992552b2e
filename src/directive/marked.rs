//! Which parts of a document hold keys that begin with `+`, and where its anchors are: found once per file, then only looked up.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::key::{self, PlusKey};
use crate::document::Document;
use crate::value::{Node, StepKind, Value};

/// Whether any key in the tree begins with `+`; the one question asked of every document.
pub(super) fn has_plus_keys(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => {
            let entries = map.entries();
            entries.iter().any(|entry| key::starts_with_plus(&entry.key) || has_plus_keys(&entry.value))
        }
        Value::List(list) => list.items().iter().any(has_plus_keys),
        _ => false,
    }
}

/// What is known of a document before its directives are followed.
#[derive(Debug)]
pub(super) struct Marked {
    /// Kept so that the addresses below stay true.
    pub(super) document: Document,
    /// By address of a list or map: whether it holds a plus key at any depth.
    containers: HashMap<usize, bool>,
    landmarks: OnceLock<Vec<Landmark>>,
}

/// Something that can be referred to by name, or that brings in more such things.
#[derive(Debug, Clone)]
pub(super) struct Landmark {
    pub(super) kind: LandmarkKind,
    /// The way down from the root: positions among items and entries.
    pub(super) way: Vec<u32>,
}

#[derive(Debug, Clone)]
pub(super) enum LandmarkKind {
    /// `&name` on a value.
    Anchor(SmolStr),
    /// `+&: name` in a map.
    Name(SmolStr),
    /// A map with an include.
    Include,
}

impl Landmark {
    /// The name, if it is an anchor.
    pub(super) fn anchor(&self) -> Option<&SmolStr> {
        match &self.kind {
            LandmarkKind::Anchor(name) => Some(name),
            LandmarkKind::Name(_) | LandmarkKind::Include => None,
        }
    }
}

impl Marked {
    pub(super) fn new(document: Document) -> Self {
        let mut containers = HashMap::new();
        if has_plus_keys(&document.root) {
            mark(&document.root, &mut containers);
        }
        Self { document, containers, landmarks: OnceLock::new() }
    }

    /// Whether a part of this document holds a plus key at any depth.
    pub(super) fn is_marked(&self, node: &Node) -> bool {
        !self.containers.is_empty()
            && address(node).is_some_and(|address| self.containers.get(&address).copied().unwrap_or(false))
    }

    /// Anchors, names and includes in written order.
    pub(super) fn landmarks(&self) -> &[Landmark] {
        self.landmarks.get_or_init(|| {
            let mut found = Vec::new();
            self.note_landmarks(&self.document.root, &mut Vec::new(), &mut found);
            found
        })
    }

    fn note_landmarks(&self, node: &Node, way: &mut Vec<u32>, found: &mut Vec<Landmark>) {
        // What an alias repeats was met where it is written.
        if node.step().is_some_and(|step| matches!(step.kind, StepKind::Alias | StepKind::MergeKey)) {
            return;
        }
        if let Some(anchor) = node.extra.as_ref().and_then(|extra| extra.anchor.clone()) {
            found.push(Landmark { kind: LandmarkKind::Anchor(anchor), way: way.clone() });
        }
        match &node.value {
            Value::List(list) => {
                for (index, item) in (0..).zip(list.items()) {
                    way.push(index);
                    self.note_landmarks(item, way, found);
                    way.pop();
                }
            }
            Value::Map(map) => {
                for (index, entry) in (0..).zip(map.entries()) {
                    match key::read(&entry.key) {
                        PlusKey::Name => {
                            let name = name_of(&entry.value).map(LandmarkKind::Name);
                            found.extend(name.map(|kind| Landmark { kind, way: way.clone() }));
                        }
                        PlusKey::Directive(reference) if reference.is_include => {
                            found.push(Landmark { kind: LandmarkKind::Include, way: way.clone() });
                        }
                        _ => {}
                    }
                    way.push(index);
                    self.note_landmarks(&entry.value, way, found);
                    way.pop();
                }
            }
            _ => {}
        }
    }
}

/// The name that `+&` gives; anything but a scalar with text is no name, and the key stays data.
pub(super) fn name_of(value: &Node) -> Option<SmolStr> {
    match &value.value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.as_str().into()),
        Value::Bool(value) => Some(SmolStr::new(value.to_string())),
        _ => None,
    }
}

fn mark(node: &Node, containers: &mut HashMap<usize, bool>) -> bool {
    let Some(address) = address(node) else { return false };
    if let Some(&known) = containers.get(&address) {
        return known;
    }
    let mut is_marked = false;
    match &node.value {
        Value::Map(map) => {
            for entry in map.entries() {
                is_marked |= key::starts_with_plus(&entry.key);
                is_marked |= mark(&entry.value, containers);
            }
        }
        Value::List(list) => {
            for item in list.items() {
                is_marked |= mark(item, containers);
            }
        }
        _ => {}
    }
    containers.insert(address, is_marked);
    is_marked
}

fn address(node: &Node) -> Option<usize> {
    match &node.value {
        Value::List(list) => Some(Arc::as_ptr(list).addr()),
        Value::Map(map) => Some(Arc::as_ptr(map).addr()),
        _ => None,
    }
}
