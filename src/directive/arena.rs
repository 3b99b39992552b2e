//! Arena of value occurrences.
//!
//! A value that is aliased, or whose file is included several times, occurs several times, and relative directives in it resolve
//! differently each time. Occurrences are created on demand; parts of a document without plus keys need none.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::index::{IndexedDocument, name_of};
use super::key::{self, PlusKey, Reference};
use crate::path::RepoPath;
use crate::value::{Entry, Key, Node, StepKind, Value, list_index};

/// Index of an occurrence in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct OccurrenceId(u32);

/// Index of a directive in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct DirectiveId(u32);

/// Index of a file in the arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId(u32);

/// The main document, or one inclusion of a file.
pub(super) struct IncludedFile {
    pub(super) path: RepoPath,
    /// The directive that includes it; none for the main document.
    pub(super) included_by: Option<DirectiveId>,
    /// The number of includes between the main document and this file.
    pub(super) depth: u32,
    pub(super) indexed: Arc<IndexedDocument>,
}

/// One occurrence of a written value.
pub(super) struct Occurrence {
    pub(super) node: Node,
    pub(super) position: Position,
    pub(super) file: FileId,
    /// Levels from the root of the main document.
    pub(super) depth: u32,
    /// Whether an ancestor map holds directives, so that the expanded value may have more parts than are written here.
    pub(super) is_below_directive_map: bool,
    /// Whether it holds a plus key at any depth.
    pub(super) has_plus_keys: bool,
    /// The directives, if this is a map that has some.
    pub(super) directive_map: Option<DirectiveMap>,
}

/// How an occurrence is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// The main document itself.
    Root,
    /// An item or an entry's value.
    Child { parent: OccurrenceId, index: u32 },
    /// The root of a file that the map `at` includes; `is_whole` if the whole file is merged into that map.
    Included { at: OccurrenceId, is_whole: bool },
    /// An anchored value that is written outside the tree of its file, as in `<<: &a {…}`.
    Detached { root: OccurrenceId },
}

/// A map with directives.
pub(super) struct DirectiveMap {
    /// In written order.
    pub(super) directives: Vec<DirectiveId>,
    pub(super) has_other_keys: bool,
}

/// One directive of one occurrence of a map.
pub(super) struct Directive {
    pub(super) occurrence: OccurrenceId,
    pub(super) key: Key,
    pub(super) value: Node,
    /// `None` if the key has an invalid escape.
    pub(super) reference: Option<Reference>,
}

impl Directive {
    /// Whether the target is inserted unexpanded.
    pub(super) fn is_raw(&self) -> bool {
        let is_include = self.reference.as_ref().is_some_and(|reference| reference.is_include);
        !is_include && self.value.as_str() == Some("raw")
    }

    /// Whether the map is removed if the target does not exist.
    pub(super) fn may_vanish(&self) -> bool {
        self.reference.as_ref().is_some_and(|reference| reference.is_optional && !reference.is_include)
    }

    /// The provenance step of the values that this directive brings in.
    pub(super) fn step_kind(&self) -> StepKind {
        match &self.reference {
            Some(reference) if reference.is_include => StepKind::Include,
            _ => StepKind::Directive,
        }
    }
}

/// All occurrences, directives and files created so far.
pub(super) struct Occurrences {
    files: Vec<IncludedFile>,
    occurrences: Vec<Occurrence>,
    directives: Vec<Directive>,
    children: HashMap<(OccurrenceId, u32), OccurrenceId>,
}

impl Occurrences {
    /// The root of the main document.
    pub(super) const ROOT: OccurrenceId = OccurrenceId(0);

    pub(super) fn new(path: RepoPath, indexed: Arc<IndexedDocument>) -> Self {
        let mut arena =
            Self { files: Vec::new(), occurrences: Vec::new(), directives: Vec::new(), children: HashMap::new() };
        let root = indexed.document.root.clone();
        arena.files.push(IncludedFile { path, included_by: None, depth: 0, indexed });
        arena.add(root, Position::Root, FileId(0), 0, false);
        arena
    }

    /// Adds a file that a directive includes and returns its root.
    pub(super) fn include(
        &mut self,
        by: DirectiveId,
        path: RepoPath,
        indexed: Arc<IndexedDocument>,
        is_whole: bool,
    ) -> OccurrenceId {
        let at = self.directive(by).occurrence;
        let includer = self.get(at);
        let (depth, file_depth) = (includer.depth, self.file(includer.file).depth + 1);
        let root = indexed.document.root.clone();
        let file = FileId(index(self.files.len()));
        self.files.push(IncludedFile { path, included_by: Some(by), depth: file_depth, indexed });
        self.add(root, Position::Included { at, is_whole }, file, depth, true)
    }

    /// Adds an anchored value that is written outside the tree of its file.
    pub(super) fn detach(&mut self, root: OccurrenceId, node: Node) -> OccurrenceId {
        let Occurrence { file, depth, .. } = *self.get(root);
        self.add(node, Position::Detached { root }, file, depth, true)
    }

    fn add(
        &mut self,
        node: Node,
        position: Position,
        file: FileId,
        depth: u32,
        is_below_directive_map: bool,
    ) -> OccurrenceId {
        let id = OccurrenceId(index(self.occurrences.len()));
        let has_plus_keys = self.file(file).indexed.has_plus_keys(&node);
        let directive_map = if has_plus_keys { self.read_directive_map(&node, id) } else { None };
        self.occurrences.push(Occurrence {
            node,
            position,
            file,
            depth,
            is_below_directive_map,
            has_plus_keys,
            directive_map,
        });
        id
    }

    fn read_directive_map(&mut self, node: &Node, occurrence: OccurrenceId) -> Option<DirectiveMap> {
        let map = node.as_map()?;
        let mut directive_map = DirectiveMap { directives: Vec::new(), has_other_keys: false };
        for entry in map.entries() {
            let reference = match key::read(&entry.key) {
                PlusKey::Directive(reference) => Some(reference),
                PlusKey::BadEscape => None,
                PlusKey::Data | PlusKey::Strategy | PlusKey::Name => {
                    directive_map.has_other_keys = true;
                    continue;
                }
            };
            directive_map.directives.push(DirectiveId(index(self.directives.len())));
            self.directives.push(Directive {
                occurrence,
                key: entry.key.clone(),
                value: entry.value.clone(),
                reference,
            });
        }
        (!directive_map.directives.is_empty()).then_some(directive_map)
    }

    pub(super) fn file(&self, id: FileId) -> &IncludedFile {
        &self.files[id.0 as usize]
    }

    pub(super) fn get(&self, id: OccurrenceId) -> &Occurrence {
        &self.occurrences[id.0 as usize]
    }

    pub(super) fn directive(&self, id: DirectiveId) -> &Directive {
        &self.directives[id.0 as usize]
    }

    /// The number of occurrences.
    pub(super) fn len(&self) -> usize {
        self.occurrences.len()
    }

    pub(super) fn directives(&self) -> impl Iterator<Item = DirectiveId> + use<> {
        (0..index(self.directives.len())).map(DirectiveId)
    }

    /// The directives of a map, in written order; empty for everything else.
    pub(super) fn directives_of(&self, occurrence: OccurrenceId) -> &[DirectiveId] {
        self.get(occurrence).directive_map.as_ref().map_or(&[], |directive_map| &directive_map.directives)
    }

    pub(super) fn is_directive_map(&self, occurrence: OccurrenceId) -> bool {
        self.get(occurrence).directive_map.is_some()
    }

    /// The occurrence of the item or entry at an index.
    pub(super) fn child(&mut self, parent: OccurrenceId, index: u32) -> Option<OccurrenceId> {
        if let Some(&known) = self.children.get(&(parent, index)) {
            return Some(known);
        }
        let Occurrence { file, depth, is_below_directive_map, .. } = *self.get(parent);
        let node = self.get(parent).node.value.child(index as usize)?.node.clone();
        let is_below_directive_map = is_below_directive_map || self.is_directive_map(parent);
        let child = self.add(node, Position::Child { parent, index }, file, depth + 1, is_below_directive_map);
        self.children.insert((parent, index), child);
        Some(child)
    }

    /// The occurrence of a written member of a map. Directives and names are not members.
    pub(super) fn member(&mut self, parent: OccurrenceId, name: &str) -> Option<OccurrenceId> {
        let map = self.get(parent).node.as_map()?;
        let at = map.position(name).filter(|&at| is_member(&map.entries()[at]))?;
        self.child(parent, index(at))
    }

    /// The occurrence of an item by its written index.
    pub(super) fn item(&mut self, parent: OccurrenceId, token: &str) -> Option<OccurrenceId> {
        self.child(parent, u32::try_from(list_index(token)?).ok()?)
    }

    /// The descendant at a path of indexes.
    pub(super) fn descend(&mut self, from: OccurrenceId, path: &[u32]) -> Option<OccurrenceId> {
        path.iter().try_fold(from, |occurrence, &index| self.child(occurrence, index))
    }

    /// The parent, across the borders of files. A list is one level and its item another; the parent of the root is the root.
    pub(super) fn climb(&self, occurrence: OccurrenceId) -> OccurrenceId {
        match self.get(self.position_in_document(occurrence)).position {
            Position::Root => Self::ROOT,
            Position::Child { parent, .. } => self.position_in_document(parent),
            Position::Included { at, .. } => self.climb(at),
            Position::Detached { root } => self.position_in_document(root),
        }
    }

    /// The occurrence whose position a value has in the expanded document: for the root of a file that is merged into a map, that map.
    pub(super) fn position_in_document(&self, mut occurrence: OccurrenceId) -> OccurrenceId {
        while let Position::Included { at, is_whole: true } = self.get(occurrence).position {
            if self.get(occurrence).node.as_map().is_none() {
                break;
            }
            occurrence = at;
        }
        occurrence
    }

    /// Whether an occurrence is `above` itself or written inside it.
    pub(super) fn is_within(&self, mut occurrence: OccurrenceId, above: OccurrenceId) -> bool {
        while occurrence != above {
            let Position::Child { parent, .. } = self.get(occurrence).position else { return false };
            occurrence = parent;
        }
        true
    }

    /// An occurrence as messages name it: its pointer, after the file's name if that is not the main document.
    pub(super) fn describe(&self, occurrence: OccurrenceId) -> String {
        let mut tokens: Vec<SmolStr> = Vec::new();
        let mut current = occurrence;
        while let Position::Child { parent, index } = self.get(current).position {
            tokens.push(match &self.get(parent).node.value {
                Value::Map(map) => map.entries()[index as usize].key.name.clone(),
                _ => SmolStr::new(index.to_string()),
            });
            current = parent;
        }
        let pointer: crate::path::Pointer = tokens.into_iter().rev().collect();
        let pointer = pointer.to_string();
        match self.get(current).position {
            Position::Included { .. } => format!("{}#{pointer}", self.file(self.get(current).file).path),
            _ if pointer.is_empty() => "the whole document".to_owned(),
            _ => pointer,
        }
    }
}

/// Whether an entry stays in the expanded map: it is neither a directive nor a name.
pub(super) fn is_member(entry: &Entry) -> bool {
    match key::read(&entry.key) {
        PlusKey::Data | PlusKey::Strategy => true,
        PlusKey::Name => name_of(&entry.value).is_none(),
        PlusKey::Directive(_) | PlusKey::BadEscape => false,
    }
}

/// Converts a count, which the limits on nodes and bytes keep far below 2^32.
fn index(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 values are held at once")
}
