//! Builds the document to save: the original with the changes written into it.

use std::collections::{BTreeMap, HashMap, HashSet};

use smol_str::{SmolStr, ToSmolStr};

use super::difference::{is_obsolete_removal, over, own_value, removal, yields};
use crate::directive::arena::{DirectiveId, OccurrenceId, Occurrences, Position, is_member};
use crate::directive::combine::without_leftovers;
use crate::directive::engine::{Built, Engine};
use crate::directive::key::STRATEGY;
use crate::path::Pointer;
use crate::value::{Entry, Key, KeyKind, Map, Node, Value};

/// A document to save.
pub(super) struct Rebuilt {
    pub(super) root: Node,
    /// What it should expand to: the changed document, and deleted targets that were put back.
    pub(super) expected: Node,
    /// The maps whose directives were kept, with their paths in the expanded document.
    pub(super) directive_maps: Vec<(OccurrenceId, Pointer)>,
    /// The deleted targets that were put back.
    pub(super) put_back: Vec<Pointer>,
}

/// Builds the document to save; the directives of the maps in `in_full` are left out.
pub(super) fn rebuild(
    engine: &mut Engine<'_>,
    before: &Node,
    changed: &Node,
    in_full: &HashSet<OccurrenceId>,
) -> Rebuilt {
    let mut builder = Builder {
        engine,
        before,
        changed,
        in_full,
        directive_maps: Vec::new(),
        deleted: BTreeMap::new(),
        path: Vec::new(),
        indexes: HashMap::new(),
    };
    let root = builder.write_back(Occurrences::ROOT, changed);
    let (root, expected, put_back) = builder.put_back(root);
    Rebuilt { root, expected, directive_maps: builder.directive_maps, put_back }
}

struct Builder<'b, 'a> {
    engine: &'b mut Engine<'a>,
    before: &'b Node,
    changed: &'b Node,
    in_full: &'b HashSet<OccurrenceId>,
    directive_maps: Vec<(OccurrenceId, Pointer)>,
    /// Deleted targets that directives still refer to, by their former path.
    deleted: BTreeMap<Pointer, OccurrenceId>,
    /// The path of the current value in the expanded document.
    path: Vec<SmolStr>,
    /// By list: the index of each written item after expansion.
    indexes: HashMap<OccurrenceId, Vec<usize>>,
}

impl Builder<'_, '_> {
    /// What to write for an occurrence so that it expands to `wanted`.
    fn write_back(&mut self, occurrence: OccurrenceId, wanted: &Node) -> Node {
        if !self.engine.arena.get(occurrence).has_plus_keys || self.in_full.contains(&occurrence) {
            return wanted.clone();
        }
        let raw = self.engine.arena.get(occurrence).node.clone();
        match (&raw.value, &wanted.value) {
            (Value::List(_), Value::List(items)) => {
                let items = self.write_back_items(occurrence, &raw, items.items());
                Node { extra: raw.extra.clone(), ..Node::list(items, raw.span) }
            }
            (Value::Map(map), _) if self.engine.arena.is_directive_map(occurrence) => {
                self.write_back_directive_map(occurrence, &raw, map, wanted)
            }
            (Value::Map(map), Value::Map(wanted)) => {
                let entries = self.write_back_entries(occurrence, map, wanted);
                Node { extra: raw.extra.clone(), ..Node::map(entries, raw.span) }
            }
            _ => wanted.clone(),
        }
    }

    /// Writes a map without directives of its own entry by entry.
    fn write_back_entries(&mut self, occurrence: OccurrenceId, raw: &Map, wanted: &Map) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(raw.len());
        for (index, entry) in (0..).zip(raw.entries()) {
            let key = entry.key.clone();
            if !is_member(entry) {
                entries.push(entry.clone());
            } else if let Some(value) = wanted.get(&key.name) {
                let Some(child) = self.engine.arena.child(occurrence, index) else { continue };
                let value = self.write_back_below(key.name.clone(), child, value);
                entries.push(Entry { key, value });
            } else if self.value_of_child(occurrence, index).is_none() {
                // It expanded to nothing before, too.
                entries.push(entry.clone());
            }
        }
        let is_new = |entry: &&Entry| raw.entry(&entry.key.name).is_none_or(|known| !is_member(known));
        entries.extend(wanted.entries().iter().filter(is_new).cloned());
        entries
    }

    /// Writes a list. Items at its start and end that keep their index keep their directives; the others are written in full.
    fn write_back_items(&mut self, occurrence: OccurrenceId, raw: &Node, wanted: &[Node]) -> Vec<Node> {
        let raw_items = raw.as_list().unwrap_or_default();
        let before: Vec<ExpandedItem> =
            (0..).take(raw_items.len()).map(|index| self.items_of_child(occurrence, index)).collect();
        let cleaned = without_leftovers(&Node::list(wanted.to_vec(), raw.span));
        let wanted = cleaned.as_list().unwrap_or_default();
        if !before.iter().all(ExpandedItem::is_single) && is_unchanged(&before, wanted) {
            return raw_items.to_vec();
        }
        let (at_start, at_end) = kept_items(&before, wanted);
        let mut items = Vec::with_capacity(wanted.len());
        for (at, value) in wanted.iter().enumerate() {
            let from_end = wanted.len() - at;
            let index = if at < at_start { Some(at) } else { (from_end <= at_end).then(|| raw_items.len() - from_end) };
            let child = index.and_then(|index| self.engine.arena.child(occurrence, u32::try_from(index).ok()?));
            items.push(match child {
                Some(child) => self.write_back_below(at.to_smolstr(), child, value),
                None => value.clone(),
            });
        }
        items
    }

    /// Writes the child of the current value that has this token.
    fn write_back_below(&mut self, token: SmolStr, child: OccurrenceId, wanted: &Node) -> Node {
        self.path.push(token);
        let written = self.write_back(child, wanted);
        self.path.pop();
        written
    }

    /// Writes a map with directives: the directives unchanged, and what differs from what they bring in.
    fn write_back_directive_map(&mut self, occurrence: OccurrenceId, raw: &Node, map: &Map, wanted: &Node) -> Node {
        let directives = self.engine.arena.directives_of(occurrence).to_vec();
        let mut bases = Vec::with_capacity(directives.len());
        for directive in directives {
            match self.target_now(directive) {
                Ok(base) => bases.extend(base),
                Err(Unknown) => return wanted.clone(),
            }
        }
        self.directive_maps.push((occurrence, self.path.iter().cloned().collect()));
        if let ([base], 1, false) = (bases.as_slice(), map.len(), wanted.as_map().is_some()) {
            return if base.is_identical(wanted) { raw.clone() } else { wanted.clone() };
        }
        if wanted.as_map().is_none() || bases.iter().any(|base| base.as_map().is_none()) {
            return wanted.clone();
        }
        let profile = self.engine.context.profile;
        let nothing = Node::map(Vec::new(), raw.span);
        let mut base = bases.first().unwrap_or(&nothing).clone();
        for top in bases.iter().skip(1) {
            let Some(merged) = over(&base, top, profile) else { return wanted.clone() };
            base = merged;
        }
        let own = self.own_entries(occurrence, map, &base, wanted);
        let values = own.iter().filter_map(OwnEntry::expanded).collect();
        match over(&base, &Node::map(values, raw.span), profile) {
            Some(merged) if merged.is_identical(&without_leftovers(&Node { extra: None, ..wanted.clone() })) => {
                let entries = own.into_iter().map(|entry| entry.written).collect();
                Node { extra: raw.extra.clone(), ..Node::map(entries, raw.span) }
            }
            // The directives cannot be kept.
            _ => wanted.clone(),
        }
    }

    /// What to write beside directives that bring in `base`: the written entries first, then new ones, then removals.
    fn own_entries(&mut self, occurrence: OccurrenceId, raw: &Map, base: &Node, wanted: &Node) -> Vec<OwnEntry> {
        let none = Map::default();
        let (base, wanted_map) = (base.as_map().unwrap_or(&none), wanted.as_map().unwrap_or(&none));
        let mut own = Vec::with_capacity(raw.len());
        for (index, entry) in (0..).zip(raw.entries()) {
            own.extend(self.own_entry(occurrence, index, entry, base, wanted));
        }
        let is_written = |name: &str| raw.entry(name).is_some_and(is_member);
        for entry in wanted_map.entries().iter().filter(|entry| !is_written(&entry.key.name)) {
            let below = base.get(&entry.key.name);
            if !below.is_some_and(|below| below.is_identical(&entry.value)) {
                let value = own_value(below, None, &entry.value, self.engine.context.profile);
                own.push(OwnEntry::plain(Entry { key: entry.key.clone(), value }));
            }
        }
        for Entry { key, .. } in base.entries() {
            if wanted_map.get(&key.name).is_none() && !is_written(&key.name) {
                own.push(OwnEntry::plain(removal(key, wanted.span)));
            }
        }
        own
    }

    /// What becomes of a written entry; `None` if it is deleted.
    fn own_entry(
        &mut self,
        occurrence: OccurrenceId,
        index: u32,
        entry: &Entry,
        base: &Map,
        wanted: &Node,
    ) -> Option<OwnEntry> {
        let unchanged = |value| Some(OwnEntry { written: entry.clone(), value });
        if !is_member(entry) {
            return unchanged(None);
        }
        let key = entry.key.clone();
        let below = base.get(&key.name);
        let own = self.uncleaned_child(occurrence, index);
        let Some(value) = wanted.get(&key.name) else {
            if is_leftover(own.as_ref()) && !is_null_mark(own.as_ref(), below) {
                return unchanged(own);
            }
            return below.map(|_| OwnEntry::plain(removal(&key, wanted.span)));
        };
        let profile = self.engine.context.profile;
        let value = match own {
            None if below.is_some_and(|below| below.is_identical(value)) => return unchanged(None),
            // The key came back as it is inherited, so that nothing removes it any more.
            Some(own) if is_obsolete_removal(&own, below, value) => return None,
            Some(own) if yields(below, &own, value, profile) => own,
            own => own_value(below, own.as_ref(), value, profile),
        };
        let child = self.engine.arena.child(occurrence, index)?;
        let written = self.write_back_below(key.name.clone(), child, &value);
        Some(OwnEntry { written: Entry { key, value: written }, value: Some(value) })
    }

    /// What a directive brings in after the change; `None` if its target is optional and missing.
    fn target_now(&mut self, directive: DirectiveId) -> Result<Option<Node>, Unknown> {
        let brought = self.engine.contribution_of(directive).ok_or(Unknown)?;
        let Some(at) = self.target_path(directive) else { return Ok(brought) };
        if let Some(now) = self.changed.at(&at) {
            return Ok(Some(now.clone()));
        }
        let Some(brought) = brought else { return Ok(None) };
        let target = self.engine.only_occurrence(directive).ok_or(Unknown)?;
        self.deleted.insert(at, target);
        Ok(Some(without_leftovers(&brought)))
    }

    /// Puts back deleted targets as they were written; returns the document to save, what it should expand to, and the targets.
    fn put_back(&mut self, mut root: Node) -> (Node, Node, Vec<Pointer>) {
        let mut expected = self.changed.clone();
        let mut done: Vec<Pointer> = Vec::new();
        while let Some((at, occurrence)) = self.deleted.pop_first() {
            if done.iter().any(|done| at.tokens().starts_with(done.tokens())) {
                continue;
            }
            let raw = self.engine.arena.get(occurrence).node.clone();
            let Some(value) = self.before.at(&at).cloned() else { continue };
            let (Some(with_raw), Some(with_value)) =
                (inserted(&root, at.tokens(), &raw), inserted(&expected, at.tokens(), &value))
            else {
                continue;
            };
            (root, expected) = (with_raw, with_value);
            done.push(at);
            for directive in self.directives_within(occurrence) {
                // Called only because it records deleted targets.
                let _ = self.target_now(directive);
            }
        }
        (root, expected, done)
    }

    /// The expanded value of an entry before the change, with marks; `None` if it was removed.
    fn uncleaned_child(&mut self, occurrence: OccurrenceId, index: u32) -> Option<Node> {
        let child = self.engine.arena.child(occurrence, index)?;
        match self.engine.build(child)? {
            Built::Node(node) => Some(node),
            Built::Removed => None,
        }
    }

    /// The expanded value of an entry before the change; `None` if it was removed or only a mark.
    fn value_of_child(&mut self, occurrence: OccurrenceId, index: u32) -> Option<Node> {
        let value = self.uncleaned_child(occurrence, index)?;
        let cleaned = without_leftovers(&hold(&value));
        cleaned.as_map().and_then(|map| map.entries().first()).map(|entry| entry.value.clone())
    }

    /// What an item of a list expanded to before the change.
    fn items_of_child(&mut self, occurrence: OccurrenceId, index: u32) -> ExpandedItem {
        let Some(value) = self.uncleaned_child(occurrence, index) else { return ExpandedItem::default() };
        let is_directive_map =
            self.engine.arena.child(occurrence, index).is_some_and(|child| self.engine.arena.is_directive_map(child));
        let spliced = value.as_list().filter(|_| is_directive_map);
        let list = Node::list(spliced.map_or_else(|| vec![value.clone()], <[Node]>::to_vec), value.span);
        let items = without_leftovers(&list).as_list().unwrap_or_default().to_vec();
        ExpandedItem { items, is_spliced: spliced.is_some() }
    }
}

/// The items that an item of a list expands to.
#[derive(Default)]
struct ExpandedItem {
    items: Vec<Node>,
    /// Whether the items are those of a list that replaced the item.
    is_spliced: bool,
}

impl ExpandedItem {
    fn is_single(&self) -> bool {
        self.items.len() == 1 && !self.is_spliced
    }
}

/// Whether a list expanded to the wanted items.
fn is_unchanged(before: &[ExpandedItem], wanted: &[Node]) -> bool {
    let items = before.iter().flat_map(|item| &item.items);
    items.clone().count() == wanted.len() && items.zip(wanted).all(|(before, wanted)| before.is_identical(wanted))
}

/// The number of items at the start and at the end of a list that stay where they are written. If no item was added or removed,
/// all of them do, even those that changed.
fn kept_items(before: &[ExpandedItem], wanted: &[Node]) -> (usize, usize) {
    let singles = before.iter().take_while(|item| item.is_single()).count();
    let is_one_to_one = singles == before.len();
    if is_one_to_one && before.len() == wanted.len() {
        return (wanted.len(), 0);
    }
    let items: Vec<&Node> = before.iter().flat_map(|item| &item.items).collect();
    let is_kept = |(before, wanted): &(&&Node, &Node)| before.is_identical(wanted);
    let at_start = items.iter().zip(wanted).take(singles).take_while(is_kept).count();
    if !is_one_to_one {
        return (at_start, 0);
    }
    let rest = items[at_start..].iter().rev().zip(wanted[at_start..].iter().rev());
    (at_start, rest.take_while(is_kept).count())
}

/// An entry of a map with directives.
struct OwnEntry {
    /// The entry as it is written.
    written: Entry,
    /// The value that is merged over what the directives bring in; `None` for directives and for what expands to nothing.
    value: Option<Node>,
}

impl OwnEntry {
    /// An entry without directives.
    fn plain(entry: Entry) -> Self {
        Self { value: Some(entry.value.clone()), written: entry }
    }

    fn expanded(&self) -> Option<Entry> {
        let value = self.value.clone()?;
        Some(Entry { key: self.written.key.clone(), value })
    }
}

/// Whether an expanded value is nothing but a mark such as `+%: whiteout`, which is not in the final document.
fn is_leftover(own: Option<&Node>) -> bool {
    own.is_none_or(|own| without_leftovers(&hold(own)).as_map().is_some_and(Map::is_empty))
}

/// The target of a directive cannot be looked up in the changed document.
struct Unknown;

/// A map with just this value, to see whether cleaning removes it.
fn hold(value: &Node) -> Node {
    let key = Key { name: "k".into(), kind: KeyKind::Text, span: value.span };
    Node::map(vec![Entry { key, value: value.clone() }], value.span)
}

/// Whether a value is marked `nullout` and overrides something, so that it is null rather than absent.
fn is_null_mark(own: Option<&Node>, below: Option<&Node>) -> bool {
    let mark = own.and_then(|own| own.get(STRATEGY)).and_then(Node::as_str);
    below.is_some() && mark == Some("nullout")
}

/// The tree with a value inserted at a path of keys; `None` if a value on the path is not a map.
fn inserted(node: &Node, path: &[SmolStr], value: &Node) -> Option<Node> {
    let Some((first, rest)) = path.split_first() else { return Some(value.clone()) };
    let map = node.as_map()?;
    let mut entries = map.entries().to_vec();
    match map.position(first) {
        Some(at) => entries[at].value = inserted(&entries[at].value, rest, value)?,
        None => {
            let empty = Node::map(Vec::new(), node.span);
            let key = Key { name: first.clone(), kind: KeyKind::Text, span: value.span };
            let value = if rest.is_empty() { value.clone() } else { inserted(&empty, rest, value)? };
            entries.push(Entry { key, value });
        }
    }
    Some(Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
}

impl Builder<'_, '_> {
    /// The path of a directive's target in the expanded document, if it has one.
    fn target_path(&mut self, directive: DirectiveId) -> Option<Pointer> {
        let reference = self.engine.arena.directive(directive).reference.clone()?;
        if reference.is_include || self.engine.arena.directive(directive).is_raw() {
            return None;
        }
        let start = match &reference.anchor {
            Some(anchor) => *self.engine.anchors.as_ref()?.get(anchor)?,
            None if reference.dots == 0 => Occurrences::ROOT,
            None => self.engine.arena.position_in_document(self.engine.arena.directive(directive).occurrence),
        };
        let occurrence = (1..reference.dots).fold(start, |occurrence, _| self.engine.arena.climb(occurrence));
        let mut path = self.expanded_path(occurrence)?;
        reference.pointer.tokens().iter().for_each(|token| path.push(token.clone()));
        Some(path)
    }

    /// The path of an occurrence in the expanded document.
    fn expanded_path(&mut self, occurrence: OccurrenceId) -> Option<Pointer> {
        let mut tokens = Vec::new();
        let mut current = occurrence;
        while let Position::Child { parent, index } = self.engine.arena.get(current).position {
            let node = self.engine.arena.get(parent).node.clone();
            tokens.push(match &node.value {
                Value::Map(map) => map.entries()[index as usize].key.name.clone(),
                _ => {
                    let index = self.expanded_indexes(parent, node.as_list()?.len())?[index as usize];
                    SmolStr::new(index.to_string())
                }
            });
            current = parent;
        }
        let is_in_document = self.engine.arena.get(current).position == Position::Root;
        is_in_document.then(|| tokens.into_iter().rev().collect())
    }

    /// The index that each item of a list has after expansion.
    fn expanded_indexes(&mut self, list: OccurrenceId, length: usize) -> Option<&[usize]> {
        if !self.indexes.contains_key(&list) {
            let mut indexes = Vec::with_capacity(length);
            let mut next = 0;
            for index in (0..).take(length) {
                indexes.push(next);
                let child = self.engine.arena.child(list, index)?;
                next += match self.engine.build(child)? {
                    Built::Removed => 0,
                    Built::Node(item) if self.engine.arena.is_directive_map(child) => {
                        item.as_list().map_or(1, <[Node]>::len)
                    }
                    Built::Node(_) => 1,
                };
            }
            self.indexes.insert(list, indexes);
        }
        self.indexes.get(&list).map(Vec::as_slice)
    }

    /// The directives in a part of the document.
    fn directives_within(&self, occurrence: OccurrenceId) -> Vec<DirectiveId> {
        let arena = &self.engine.arena;
        arena.directives().filter(|&it| arena.is_within(arena.directive(it).occurrence, occurrence)).collect()
    }
}
