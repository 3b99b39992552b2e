//! Which parts of a document hold keys that begin with `+`, and where its anchors are: found once per file, then only looked up.

use std::collections::HashMap;
use std::sync::OnceLock;

use smol_str::SmolStr;

use super::key::{self, PlusKey};
use crate::document::Document;
use crate::value::{Node, StepKind, Value};

/// Whether any key in the tree begins with `+`; the one question asked of every document.
pub(super) fn has_plus_keys(node: &Node) -> bool {
    node.children().any(|child| child.key.is_some_and(key::starts_with_plus) || has_plus_keys(child.node))
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
            && node.value.address().is_some_and(|address| self.containers.get(&address).copied().unwrap_or(false))
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
        for (index, child) in (0..).zip(node.children()) {
            match child.key.map(key::read) {
                Some(PlusKey::Name) => {
                    let name = name_of(child.node).map(LandmarkKind::Name);
                    found.extend(name.map(|kind| Landmark { kind, way: way.clone() }));
                }
                Some(PlusKey::Directive(reference)) if reference.is_include => {
                    found.push(Landmark { kind: LandmarkKind::Include, way: way.clone() });
                }
                _ => {}
            }
            way.push(index);
            self.note_landmarks(child.node, way, found);
            way.pop();
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
    let Some(address) = node.value.address() else { return false };
    if let Some(&known) = containers.get(&address) {
        return known;
    }
    let mut is_marked = false;
    for child in node.children() {
        is_marked |= child.key.is_some_and(key::starts_with_plus);
        is_marked |= mark(child.node, containers);
    }
    containers.insert(address, is_marked);
    is_marked
}
