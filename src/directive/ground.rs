//! The ground that directives are followed on: every occurrence of a written value that matters, with its place in the document.
//!
//! A value can occur several times, through aliases or because its file is included several times, and directives in it may mean
//! different targets each time. So the unit is the place, made when something looks at it. Parts without plus keys need no places.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::key::{self, PlusKey, Reference};
use super::marked::{Marked, name_of};
use crate::path::RepoPath;
use crate::value::{Entry, Key, Node, StepKind, Value, list_index};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct PlaceId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DirectiveId(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId(u32);

/// The main document, or one inclusion of a file.
pub(super) struct File {
    pub(super) path: RepoPath,
    /// The directive that includes it; none for the main document.
    pub(super) included_by: Option<DirectiveId>,
    pub(super) depth: u32,
    pub(super) marked: Arc<Marked>,
}

/// One occurrence of a written value.
pub(super) struct Place {
    pub(super) node: Node,
    pub(super) position: Position,
    pub(super) file: FileId,
    /// Levels from the root of the main document.
    pub(super) depth: u32,
    /// Whether a map above it holds directives, so that more than what is written may stand here in the end.
    pub(super) is_below_point: bool,
    /// Whether it holds a plus key at any depth.
    pub(super) is_marked: bool,
    /// What it is if it is a map with directives.
    pub(super) point: Option<Point>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The main document itself.
    Root,
    /// An item or an entry's value.
    Child { parent: PlaceId, index: u32 },
    /// The root of an included file. When the whole file is merged it stands where the including map stands.
    Included { at: PlaceId, is_whole: bool },
    /// An anchored value that is written outside the tree, as in `<<: &a {…}`.
    Aside { root: PlaceId },
}

/// A map with directives.
pub(super) struct Point {
    /// In written order.
    pub(super) directives: Vec<DirectiveId>,
    pub(super) has_other_keys: bool,
}

/// One directive at one place.
pub(super) struct Directive {
    pub(super) place: PlaceId,
    pub(super) key: Key,
    pub(super) value: Node,
    /// Nothing if the key has an escape that means nothing.
    pub(super) reference: Option<Reference>,
}

impl Directive {
    /// Whether the target is taken as it is written.
    pub(super) fn is_raw(&self) -> bool {
        let is_include = self.reference.as_ref().is_some_and(|reference| reference.is_include);
        !is_include && self.value.as_str() == Some("raw")
    }

    /// Whether its absence takes the map with it.
    pub(super) fn may_vanish(&self) -> bool {
        self.reference.as_ref().is_some_and(|reference| reference.is_optional && !reference.is_include)
    }

    pub(super) fn step_kind(&self) -> StepKind {
        match &self.reference {
            Some(reference) if reference.is_include => StepKind::Include,
            _ => StepKind::Directive,
        }
    }
}

/// All places and directives met so far.
pub(super) struct Ground {
    files: Vec<File>,
    places: Vec<Place>,
    directives: Vec<Directive>,
    children: HashMap<(PlaceId, u32), PlaceId>,
}

impl Ground {
    pub(super) const ROOT: PlaceId = PlaceId(0);

    pub(super) fn new(path: RepoPath, marked: Arc<Marked>) -> Self {
        let mut ground =
            Self { files: Vec::new(), places: Vec::new(), directives: Vec::new(), children: HashMap::new() };
        let root = marked.document.root.clone();
        ground.files.push(File { path, included_by: None, depth: 0, marked });
        ground.add(root, Position::Root, FileId(0), 0, false);
        ground
    }

    /// Takes in a file that a directive includes; the place of its root.
    pub(super) fn include(&mut self, by: DirectiveId, path: RepoPath, marked: Arc<Marked>, is_whole: bool) -> PlaceId {
        let at = self.directive(by).place;
        let includer = self.place(at);
        let (depth, file_depth) = (includer.depth, self.file(includer.file).depth + 1);
        let root = marked.document.root.clone();
        let file = FileId(index(self.files.len()));
        self.files.push(File { path, included_by: Some(by), depth: file_depth, marked });
        self.add(root, Position::Included { at, is_whole }, file, depth, true)
    }

    /// Takes in an anchored value that is written outside the tree of its file.
    pub(super) fn aside(&mut self, root: PlaceId, node: Node) -> PlaceId {
        let Place { file, depth, .. } = *self.place(root);
        self.add(node, Position::Aside { root }, file, depth, true)
    }

    fn add(&mut self, node: Node, position: Position, file: FileId, depth: u32, is_below_point: bool) -> PlaceId {
        let id = PlaceId(index(self.places.len()));
        let is_marked = self.file(file).marked.is_marked(&node);
        let point = if is_marked { self.read_point(&node, id) } else { None };
        self.places.push(Place { node, position, file, depth, is_below_point, is_marked, point });
        id
    }

    fn read_point(&mut self, node: &Node, place: PlaceId) -> Option<Point> {
        let map = node.as_map()?;
        let mut point = Point { directives: Vec::new(), has_other_keys: false };
        for entry in map.entries() {
            let reference = match key::read(&entry.key) {
                PlusKey::Directive(reference) => Some(reference),
                PlusKey::BadEscape => None,
                PlusKey::Data | PlusKey::Strategy | PlusKey::Name => {
                    point.has_other_keys = true;
                    continue;
                }
            };
            point.directives.push(DirectiveId(index(self.directives.len())));
            self.directives.push(Directive { place, key: entry.key.clone(), value: entry.value.clone(), reference });
        }
        (!point.directives.is_empty()).then_some(point)
    }

    pub(super) fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    pub(super) fn place(&self, id: PlaceId) -> &Place {
        &self.places[id.0 as usize]
    }

    pub(super) fn directive(&self, id: DirectiveId) -> &Directive {
        &self.directives[id.0 as usize]
    }

    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    pub(super) fn directives(&self) -> impl Iterator<Item = DirectiveId> + use<> {
        (0..index(self.directives.len())).map(DirectiveId)
    }

    /// The directives of a map, in written order; empty for everything else.
    pub(super) fn directives_of(&self, place: PlaceId) -> &[DirectiveId] {
        self.place(place).point.as_ref().map_or(&[], |point| &point.directives)
    }

    pub(super) fn is_point(&self, place: PlaceId) -> bool {
        self.place(place).point.is_some()
    }

    /// The place of an item or entry.
    pub(super) fn child(&mut self, parent: PlaceId, index: u32) -> Option<PlaceId> {
        if let Some(&known) = self.children.get(&(parent, index)) {
            return Some(known);
        }
        let Place { file, depth, is_below_point, .. } = *self.place(parent);
        let node = self.place(parent).node.value.child(index as usize)?.node.clone();
        let is_below_point = is_below_point || self.is_point(parent);
        let child = self.add(node, Position::Child { parent, index }, file, depth + 1, is_below_point);
        self.children.insert((parent, index), child);
        Some(child)
    }

    /// The place of a member of a map that is written there; the keys that vanish in expansion are no members.
    pub(super) fn member(&mut self, parent: PlaceId, name: &str) -> Option<PlaceId> {
        let map = self.place(parent).node.as_map()?;
        let at = map.position(name).filter(|&at| is_member(&map.entries()[at]))?;
        self.child(parent, index(at))
    }

    /// The place of an item by its written index.
    pub(super) fn item(&mut self, parent: PlaceId, token: &str) -> Option<PlaceId> {
        self.child(parent, u32::try_from(list_index(token)?).ok()?)
    }

    /// Walks down by positions.
    pub(super) fn descend(&mut self, from: PlaceId, way: &[u32]) -> Option<PlaceId> {
        way.iter().try_fold(from, |place, &index| self.child(place, index))
    }

    /// One level up. A list counts as one level and its item as another; above the root is the root.
    pub(super) fn climb(&self, place: PlaceId) -> PlaceId {
        match self.place(self.seat(place)).position {
            Position::Root => Self::ROOT,
            Position::Child { parent, .. } => self.seat(parent),
            Position::Included { at, .. } => self.climb(at),
            Position::Aside { root } => self.seat(root),
        }
    }

    /// The root of an included file stands where the including map stands, so that is its place in the document.
    pub(super) fn seat(&self, mut place: PlaceId) -> PlaceId {
        while let Position::Included { at, is_whole: true } = self.place(place).position {
            if self.place(place).node.as_map().is_none() {
                break;
            }
            place = at;
        }
        place
    }

    /// Whether a place is `above` itself or written inside it.
    pub(super) fn is_within(&self, mut place: PlaceId, above: PlaceId) -> bool {
        while place != above {
            let Position::Child { parent, .. } = self.place(place).position else { return false };
            place = parent;
        }
        true
    }

    /// A place as people write it: a pointer, after the file's name if that is not the main document.
    pub(super) fn describe(&self, place: PlaceId) -> String {
        let mut tokens: Vec<SmolStr> = Vec::new();
        let mut current = place;
        while let Position::Child { parent, index } = self.place(current).position {
            tokens.push(match &self.place(parent).node.value {
                Value::Map(map) => map.entries()[index as usize].key.name.clone(),
                _ => SmolStr::new(index.to_string()),
            });
            current = parent;
        }
        let pointer: crate::path::Pointer = tokens.into_iter().rev().collect();
        let pointer = pointer.to_string();
        match self.place(current).position {
            Position::Included { .. } => format!("{}#{pointer}", self.file(self.place(current).file).path),
            _ if pointer.is_empty() => "the whole document".to_owned(),
            _ => pointer,
        }
    }
}

/// Whether an entry is still there after expansion: neither a directive nor a name.
pub(super) fn is_member(entry: &Entry) -> bool {
    match key::read(&entry.key) {
        PlusKey::Data | PlusKey::Strategy => true,
        PlusKey::Name => name_of(&entry.value).is_none(),
        PlusKey::Directive(_) | PlusKey::BadEscape => false,
    }
}

/// Counts here stay far below 2^32: the limits on nodes and bytes see to it.
fn index(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 values are held at once")
}
