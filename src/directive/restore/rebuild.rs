//! Builds the document to save: the original with what changed written into it.

use std::collections::{BTreeMap, HashMap, HashSet};

use smol_str::SmolStr;

use super::difference::{over, own_value, taken_away, yields};
use crate::directive::combine::without_leftovers;
use crate::directive::engine::{Built, Engine};
use crate::directive::ground::{DirectiveId, Ground, PlaceId, Position, is_member};
use crate::directive::key::STRATEGY;
use crate::path::Pointer;
use crate::value::{Entry, Key, KeyKind, Map, Node, Value};

/// A document to save.
pub(super) struct Rebuilt {
    pub(super) root: Node,
    /// What it should expand to: what was changed, and the deleted targets that were put back.
    pub(super) expected: Node,
    /// The maps whose directives were kept, and where they stand in the expanded document.
    pub(super) points: Vec<(PlaceId, Pointer)>,
}

/// Builds the document to save; the directives of the maps in `in_full` are left out.
pub(super) fn rebuild(engine: &mut Engine<'_>, before: &Node, changed: &Node, in_full: &HashSet<PlaceId>) -> Rebuilt {
    let mut builder = Builder {
        engine,
        before,
        changed,
        in_full,
        points: Vec::new(),
        deleted: BTreeMap::new(),
        way: Vec::new(),
        indexes: HashMap::new(),
    };
    let root = builder.write_back(Ground::ROOT, changed);
    let (root, expected) = builder.put_back(root);
    Rebuilt { root, expected, points: builder.points }
}

struct Builder<'b, 'a> {
    engine: &'b mut Engine<'a>,
    before: &'b Node,
    changed: &'b Node,
    in_full: &'b HashSet<PlaceId>,
    points: Vec<(PlaceId, Pointer)>,
    /// Targets that are gone but still referred to, by where they stood.
    deleted: BTreeMap<Pointer, PlaceId>,
    way: Vec<SmolStr>,
    /// By list: the index of each item after expansion.
    indexes: HashMap<PlaceId, Vec<usize>>,
}

impl Builder<'_, '_> {
    /// What to write at a place so that `wanted` comes out.
    fn write_back(&mut self, place: PlaceId, wanted: &Node) -> Node {
        if !self.engine.ground.place(place).is_marked || self.in_full.contains(&place) {
            return wanted.clone();
        }
        let raw = self.engine.ground.place(place).node.clone();
        match (&raw.value, &wanted.value) {
            (Value::List(_), Value::List(items)) => {
                let items = self.write_back_items(place, &raw, items.items());
                Node { extra: raw.extra.clone(), ..Node::list(items, raw.span) }
            }
            (Value::Map(map), _) if self.engine.ground.is_point(place) => {
                self.write_back_point(place, &raw, map, wanted)
            }
            (Value::Map(map), Value::Map(wanted)) => {
                let entries = self.write_back_entries(place, map, wanted);
                Node { extra: raw.extra.clone(), ..Node::map(entries, raw.span) }
            }
            _ => wanted.clone(),
        }
    }

    /// A map without directives of its own: each entry on its own.
    fn write_back_entries(&mut self, place: PlaceId, raw: &Map, wanted: &Map) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(raw.len());
        for (index, entry) in (0..).zip(raw.entries()) {
            let key = entry.key.clone();
            if !is_member(entry) {
                entries.push(entry.clone());
            } else if let Some(value) = wanted.get(&key.name) {
                let Some(child) = self.engine.ground.child(place, index) else { continue };
                self.way.push(key.name.clone());
                let value = self.write_back(child, value);
                self.way.pop();
                entries.push(Entry { key, value });
            } else if self.value_of_child(place, index).is_none() {
                // It came to nothing before, too.
                entries.push(entry.clone());
            }
        }
        let is_new = |entry: &&Entry| raw.entry(&entry.key.name).is_none_or(|known| !is_member(known));
        entries.extend(wanted.entries().iter().filter(is_new).cloned());
        entries
    }

    /// Items keep their place; once other lists were spliced in, or items came or went, what moved is written in full.
    fn write_back_items(&mut self, place: PlaceId, raw: &Node, wanted: &[Node]) -> Vec<Node> {
        let raw_items = raw.as_list().unwrap_or_default();
        let mut spread: Vec<Spread> = Vec::with_capacity(raw_items.len());
        for index in (0..).take(raw_items.len()) {
            spread.push(self.items_of_child(place, index));
        }
        let cleaned = without_leftovers(&Node::list(wanted.to_vec(), raw.span));
        let wanted = cleaned.as_list().unwrap_or_default();
        let before: Vec<&Node> = spread.iter().flat_map(|spread| &spread.items).collect();
        let is_unchanged = before.len() == wanted.len()
            && before.iter().zip(wanted).all(|(before, wanted)| before.is_identical(wanted));
        let is_one_to_one = spread.iter().all(Spread::is_single);
        if is_unchanged && !is_one_to_one {
            return raw_items.to_vec();
        }
        let is_same_length = is_one_to_one && wanted.len() == raw_items.len();
        let stays = |(before, wanted): &(&&Node, &Node)| before.is_identical(wanted);
        let singles = spread.iter().take_while(|spread| spread.is_single()).count();
        let prefix = match is_same_length {
            true => raw_items.len(),
            false => before.iter().zip(wanted).take(singles).take_while(stays).count(),
        };
        let suffix = match is_one_to_one && !is_same_length {
            true => before[prefix..].iter().rev().zip(wanted[prefix..].iter().rev()).take_while(stays).count(),
            false => 0,
        };
        let mut items = Vec::with_capacity(wanted.len());
        for (at, value) in wanted.iter().enumerate() {
            let from_end = wanted.len() - at;
            let index = match () {
                () if at < prefix => Some(at),
                () if from_end <= suffix => Some(raw_items.len() - from_end),
                () => None,
            };
            let child = index.and_then(|index| self.engine.ground.child(place, u32::try_from(index).ok()?));
            self.way.push(SmolStr::new(at.to_string()));
            items.push(match child {
                Some(child) => self.write_back(child, value),
                None => value.clone(),
            });
            self.way.pop();
        }
        items
    }

    /// A map with directives: the directives as they are, and what differs from what they bring.
    fn write_back_point(&mut self, place: PlaceId, raw: &Node, map: &Map, wanted: &Node) -> Node {
        let directives = self.engine.ground.directives_of(place).to_vec();
        let mut bases = Vec::with_capacity(directives.len());
        for directive in directives {
            match self.target_now(directive) {
                Ok(base) => bases.extend(base),
                Err(Unknown) => return wanted.clone(),
            }
        }
        self.points.push((place, self.way.iter().cloned().collect()));
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
        let (values, entries) = self.own_entries(place, map, &base, wanted);
        // What cannot be said beside the directives is written in full.
        match over(&base, &Node::map(values, raw.span), profile) {
            Some(merged) if merged.is_identical(&without_leftovers(&Node { extra: None, ..wanted.clone() })) => {
                Node { extra: raw.extra.clone(), ..Node::map(entries, raw.span) }
            }
            _ => wanted.clone(),
        }
    }

    /// What to write beside directives that bring `base`: the values, and the entries that say them.
    fn own_entries(&mut self, place: PlaceId, raw: &Map, base: &Node, wanted: &Node) -> (Vec<Entry>, Vec<Entry>) {
        let profile = self.engine.context.profile;
        let none = Map::default();
        let (base_map, wanted_map) = (base.as_map().unwrap_or(&none), wanted.as_map().unwrap_or(&none));
        let (mut values, mut entries) = (Vec::new(), Vec::new());
        for (index, entry) in (0..).zip(raw.entries()) {
            let key = entry.key.clone();
            if !is_member(entry) {
                entries.push(entry.clone());
                continue;
            }
            let below = base_map.get(&key.name);
            let own = self.uncleaned_child(place, index);
            let Some(value) = wanted_map.get(&key.name) else {
                let is_mark =
                    own.as_ref().is_none_or(|own| without_leftovers(&hold(own)).as_map().is_some_and(Map::is_empty));
                if is_mark && !is_null_mark(own.as_ref(), below) {
                    values.extend(own.map(|value| Entry { key: key.clone(), value }));
                    entries.push(entry.clone());
                } else if below.is_some() {
                    values.push(taken_away(&key, wanted.span));
                    entries.push(taken_away(&key, wanted.span));
                }
                continue;
            };
            let new = match &own {
                // It came to nothing before, too.
                None if below.is_some_and(|below| below.is_identical(value)) => {
                    entries.push(entry.clone());
                    continue;
                }
                Some(own) if yields(below, own, value, profile) => own.clone(),
                own => own_value(below, own.as_ref(), value, profile),
            };
            let Some(child) = self.engine.ground.child(place, index) else { continue };
            self.way.push(key.name.clone());
            let written = self.write_back(child, &new);
            self.way.pop();
            values.push(Entry { key: key.clone(), value: new });
            entries.push(Entry { key, value: written });
        }
        let is_own = |name: &str| raw.entry(name).is_some_and(is_member);
        for entry in wanted_map.entries().iter().filter(|entry| !is_own(&entry.key.name)) {
            let below = base_map.get(&entry.key.name);
            if !below.is_some_and(|below| below.is_identical(&entry.value)) {
                let value = own_value(below, None, &entry.value, profile);
                values.push(Entry { key: entry.key.clone(), value: value.clone() });
                entries.push(Entry { key: entry.key.clone(), value });
            }
        }
        for entry in base_map.entries() {
            if wanted_map.get(&entry.key.name).is_none() && !is_own(&entry.key.name) {
                values.push(taken_away(&entry.key, wanted.span));
                entries.push(taken_away(&entry.key, wanted.span));
            }
        }
        (values, entries)
    }

    /// What a directive brings in the changed document; nothing if its target is missing and may be.
    fn target_now(&mut self, directive: DirectiveId) -> Result<Option<Node>, Unknown> {
        let brought = self.engine.contribution_of(directive).ok_or(Unknown)?;
        let Some(at) = self.target_path(directive) else { return Ok(brought) };
        if let Some(now) = self.changed.at(&at) {
            return Ok(Some(now.clone()));
        }
        let Some(brought) = brought else { return Ok(None) };
        let target = self.engine.only_place(directive).ok_or(Unknown)?;
        self.deleted.insert(at, target);
        Ok(Some(without_leftovers(&brought)))
    }

    /// Targets that were deleted come back as they were written.
    fn put_back(&mut self, mut root: Node) -> (Node, Node) {
        let mut expected = self.changed.clone();
        let mut done: Vec<Pointer> = Vec::new();
        while let Some((at, place)) = self.deleted.pop_first() {
            if done.iter().any(|done| at.tokens().starts_with(done.tokens())) {
                continue;
            }
            let raw = self.engine.ground.place(place).node.clone();
            let Some(value) = self.before.at(&at).cloned() else { continue };
            let (Some(with_raw), Some(with_value)) =
                (inserted(&root, at.tokens(), &raw), inserted(&expected, at.tokens(), &value))
            else {
                continue;
            };
            (root, expected) = (with_raw, with_value);
            done.push(at);
            for directive in self.directives_within(place) {
                // Only for what it notes as deleted.
                let _ = self.target_now(directive);
            }
        }
        (root, expected)
    }

    /// The value of an entry as it was, with marks; nothing if it vanished.
    fn uncleaned_child(&mut self, place: PlaceId, index: u32) -> Option<Node> {
        let child = self.engine.ground.child(place, index)?;
        match self.engine.build(child)? {
            Built::Node(node) => Some(node),
            Built::Removed => None,
        }
    }

    /// The value of an entry as it was; nothing if it vanished or was only a mark.
    fn value_of_child(&mut self, place: PlaceId, index: u32) -> Option<Node> {
        let value = self.uncleaned_child(place, index)?;
        let cleaned = without_leftovers(&hold(&value));
        cleaned.as_map().and_then(|map| map.entries().first()).map(|entry| entry.value.clone())
    }

    /// What an item of a list became.
    fn items_of_child(&mut self, place: PlaceId, index: u32) -> Spread {
        let Some(value) = self.uncleaned_child(place, index) else { return Spread::default() };
        let is_point = self.engine.ground.child(place, index).is_some_and(|child| self.engine.ground.is_point(child));
        let spliced = value.as_list().filter(|_| is_point);
        let list = Node::list(spliced.map_or_else(|| vec![value.clone()], <[Node]>::to_vec), value.span);
        let items = without_leftovers(&list).as_list().unwrap_or_default().to_vec();
        Spread { items, is_spliced: spliced.is_some() }
    }
}

/// The items that an item of a list became.
#[derive(Default)]
struct Spread {
    items: Vec<Node>,
    is_spliced: bool,
}

impl Spread {
    fn is_single(&self) -> bool {
        self.items.len() == 1 && !self.is_spliced
    }
}

/// A target that cannot be looked up in the changed document.
struct Unknown;

/// A map that holds just this value, to see what becomes of it.
fn hold(value: &Node) -> Node {
    let key = Key { name: "k".into(), kind: KeyKind::Text, span: value.span };
    Node::map(vec![Entry { key, value: value.clone() }], value.span)
}

/// `nullout` over something is null, not nothing.
fn is_null_mark(own: Option<&Node>, below: Option<&Node>) -> bool {
    let mark = own.and_then(|own| own.get(STRATEGY)).and_then(Node::as_str);
    below.is_some() && mark == Some("nullout")
}

/// The tree with a value put in under a path of keys; none if something other than a map is in the way.
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
    /// Where the target of a directive stands in the expanded document, if it stands there at all.
    fn target_path(&mut self, directive: DirectiveId) -> Option<Pointer> {
        let reference = self.engine.ground.directive(directive).reference.clone()?;
        if reference.is_include || self.engine.ground.directive(directive).is_raw() {
            return None;
        }
        let start = match &reference.anchor {
            Some(anchor) => *self.engine.anchors.as_ref()?.get(anchor)?,
            None if reference.dots == 0 => Ground::ROOT,
            None => self.engine.ground.seat(self.engine.ground.directive(directive).place),
        };
        let place = (1..reference.dots).fold(start, |place, _| self.engine.ground.climb(place));
        let mut path = self.expanded_path(place)?;
        reference.pointer.tokens().iter().for_each(|token| path.push(token.clone()));
        Some(path)
    }

    /// Where a place stands in the expanded document.
    fn expanded_path(&mut self, place: PlaceId) -> Option<Pointer> {
        let mut tokens = Vec::new();
        let mut current = place;
        while let Position::Child { parent, index } = self.engine.ground.place(current).position {
            let node = self.engine.ground.place(parent).node.clone();
            tokens.push(match &node.value {
                Value::Map(map) => map.entries()[index as usize].key.name.clone(),
                _ => {
                    let index = self.expanded_indexes(parent, node.as_list()?.len())?[index as usize];
                    SmolStr::new(index.to_string())
                }
            });
            current = parent;
        }
        let is_in_document = self.engine.ground.place(current).position == Position::Root;
        is_in_document.then(|| tokens.into_iter().rev().collect())
    }

    /// The index that each item of a list has after expansion.
    fn expanded_indexes(&mut self, list: PlaceId, length: usize) -> Option<&[usize]> {
        if !self.indexes.contains_key(&list) {
            let mut indexes = Vec::with_capacity(length);
            let mut next = 0;
            for index in (0..).take(length) {
                indexes.push(next);
                let child = self.engine.ground.child(list, index)?;
                next += match self.engine.build(child)? {
                    Built::Removed => 0,
                    Built::Node(item) if self.engine.ground.is_point(child) => item.as_list().map_or(1, <[Node]>::len),
                    Built::Node(_) => 1,
                };
            }
            self.indexes.insert(list, indexes);
        }
        self.indexes.get(&list).map(Vec::as_slice)
    }

    /// The directives in a part of the document.
    fn directives_within(&self, place: PlaceId) -> Vec<DirectiveId> {
        let ground = &self.engine.ground;
        ground.directives().filter(|&it| ground.is_within(ground.directive(it).place, place)).collect()
    }
}
