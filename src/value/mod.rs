//! The ordered tree that every stage works on, with two kinds of equality.
//!
//! Scalars are stored in the node, lists and maps behind a shared pointer: cloning a subtree copies nothing, so aliases, included
//! files and unchanged parts are shared. Lists and maps know their hash, size and height, so that equal subtrees are found, and
//! bombs refused, without a walk.

pub mod align;
mod arithmetic;
mod binary;
mod decimal;
mod mix;
mod natural;
mod number;
mod origin;
mod overlay;
pub mod provenance;
mod secret;
mod walk;

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use smol_str::SmolStr;

pub use arithmetic::{CalculationError, Operation, calculate, compare};
pub use binary::{base64, text_of_base64};
pub use number::Number;
pub use origin::{Extra, Step, StepKind};
pub use overlay::overlaid;
pub use secret::Secret;
pub use walk::{Child, Children};

use crate::memo::Identity;
use crate::path::Pointer;
use crate::text::Span;
pub use mix::hasher;

/// A value, where it is written, and its provenance.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// Where it is written.
    pub span: Span,
    /// What few values have: a tag, an anchor, a provenance step.
    pub extra: Option<Arc<Extra>>,
}

/// What a node holds.
#[derive(Clone, Debug)]
pub enum Value {
    /// `null`, `~`, or nothing written.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number in its own spelling.
    Number(Number),
    /// Text.
    String(SmolStr),
    /// Items in order.
    List(Arc<List>),
    /// Entries in written order; the order carries no meaning.
    Map(Arc<Map>),
    /// Something that is compared but never shown.
    Secret(Secret),
}

/// Items in order.
#[derive(Debug)]
pub struct List {
    items: Vec<Node>,
    weight: Weight,
}

/// Entries in written order, each key once.
#[derive(Debug)]
pub struct Map {
    entries: Vec<Entry>,
    /// Positions sorted by key, for maps too large to scan.
    by_key: Option<Vec<u32>>,
    weight: Weight,
}

/// One key and its value.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// Its value.
    pub value: Node,
}

/// A map's key: its text, its place, and what type it has in the file.
#[derive(Clone, Debug)]
pub struct Key {
    /// The key as text; for a key that is a list or a map, its compact form.
    pub name: SmolStr,
    /// What it was in the file; JSON knows only text.
    pub kind: KeyKind,
    /// Where it is written.
    pub span: Span,
}

/// What a key was in the file. YAML allows `1: x` beside `"1": x`, and they differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum KeyKind {
    /// A string, as nearly always.
    Text,
    /// A number, boolean or null.
    Scalar,
    /// A list or a map.
    Collection,
}

/// The JSON types, as people name them in messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Type {
    /// `null`
    Null,
    /// `boolean`
    Bool,
    /// `number`
    Number,
    /// `string`
    String,
    /// `list`
    List,
    /// `map`
    Map,
    /// A masked value, whatever its type.
    Secret,
}

/// What a subtree weighs, known without walking it.
#[derive(Clone, Copy, Debug)]
struct Weight {
    hash: u64,
    /// Nodes after alias expansion; a shared subtree counts each time.
    size: u64,
    height: u32,
    traits: Traits,
}

/// What is somewhere in a subtree, so that most searches end at its root.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    /// A map with a key `eval`, which may be an expression, or a secret, which may hide one.
    eval: bool,
    secret: bool,
    /// A map with a text key that begins with `+`, which may be a directive.
    plus: bool,
    /// A value that has more than its value: a tag, an anchor, a provenance step, something that it overrides.
    extra: bool,
}

impl Traits {
    fn add(&mut self, other: Self) {
        self.eval |= other.eval;
        self.secret |= other.secret;
        self.plus |= other.plus;
        self.extra |= other.extra;
    }
}

impl Node {
    /// A value at a place, with nothing special about it.
    pub fn new(value: Value, span: Span) -> Self {
        Self { value, span, extra: None }
    }

    /// A text.
    pub fn text(text: impl Into<SmolStr>, span: Span) -> Self {
        Self::new(Value::String(text.into()), span)
    }

    /// A list of these items.
    pub fn list(items: Vec<Node>, span: Span) -> Self {
        Self::new(Value::List(Arc::new(List::new(items))), span)
    }

    /// A map of these entries; the caller has made sure that each key comes once.
    pub fn map(entries: Vec<Entry>, span: Span) -> Self {
        Self::new(Value::Map(Arc::new(Map::new(entries))), span)
    }

    /// The type, for messages and type changes.
    pub fn type_of(&self) -> Type {
        match &self.value {
            Value::Null => Type::Null,
            Value::Bool(_) => Type::Bool,
            Value::Number(_) => Type::Number,
            Value::String(_) => Type::String,
            Value::List(_) => Type::List,
            Value::Map(_) => Type::Map,
            Value::Secret(_) => Type::Secret,
        }
    }

    /// The map, if it is one.
    pub fn as_map(&self) -> Option<&Map> {
        match &self.value {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The items, if it is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(list) => Some(&list.items),
            _ => None,
        }
    }

    /// The text, if it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The member of a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.get(key)
    }

    /// Follows a pointer; list indexes are digits without a sign or leading zero.
    pub fn at(&self, pointer: &Pointer) -> Option<&Node> {
        pointer.tokens().iter().try_fold(self, |node, token| match &node.value {
            Value::Map(map) => map.get(token),
            Value::List(list) => list.items.get(list_index(token)?),
            _ => None,
        })
    }

    /// The local tag (`!Ref`), if it has one; the tags of the core schema are not kept.
    pub fn tag(&self) -> Option<&str> {
        self.extra.as_ref()?.tag.as_deref()
    }

    /// The last provenance step, if the value was not written here.
    pub fn step(&self) -> Option<&Step> {
        self.extra.as_ref()?.step.as_ref()
    }

    /// All provenance steps, the last one first.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        std::iter::successors(self.step(), |step| step.before.as_deref())
    }

    /// The value that this one overrides.
    pub fn overridden(&self) -> Option<&Node> {
        self.extra.as_ref()?.overridden.as_ref()
    }

    /// Returns the value with one more provenance step. Nothing below is copied.
    #[must_use]
    pub fn through(mut self, kind: StepKind, at: Span) -> Self {
        let mut extra = self.extra.as_deref().cloned().unwrap_or_default();
        extra.step = Some(Step { kind, at, before: extra.step.take().map(Arc::new) });
        self.extra = Some(Arc::new(extra));
        self
    }

    /// Returns the value with a note of the value that it overrides.
    #[must_use]
    pub fn overriding(mut self, other: Node) -> Self {
        let mut extra = self.extra.as_deref().cloned().unwrap_or_default();
        extra.overridden = Some(other);
        self.extra = Some(Arc::new(extra));
        self
    }

    /// Returns the value without the note of what it overrides.
    #[must_use]
    pub fn forgetting(mut self) -> Self {
        if self.overridden().is_some() {
            let mut extra = self.extra.as_deref().cloned().unwrap_or_default();
            extra.overridden = None;
            self.extra = Some(Arc::new(extra));
        }
        self
    }

    /// Returns a copy in which every node has one span: for documents inside a string, whose parts have no spans in the file.
    #[must_use]
    pub fn written_at(&self, span: Span) -> Self {
        let moved = match &self.value {
            Value::List(list) => Self::list(list.items.iter().map(|item| item.written_at(span)).collect(), span),
            Value::Map(map) => {
                let entries = map
                    .entries
                    .iter()
                    .map(|entry| Entry { key: Key { span, ..entry.key.clone() }, value: entry.value.written_at(span) });
                Self::map(entries.collect(), span)
            }
            scalar => Self::new(scalar.clone(), span),
        };
        let tag = self.tag().map(SmolStr::new);
        let extra = tag.map(|tag| Arc::new(Extra { tag: Some(tag), ..Extra::default() }));
        Self { extra, ..moved }
    }

    /// How many nodes this is after alias expansion.
    pub fn size(&self) -> u64 {
        self.weight().map_or(1, |weight| weight.size)
    }

    /// Whether some map in it has a key `eval`, or a secret may hide one.
    pub fn may_hold_eval(&self) -> bool {
        self.traits().eval
    }

    /// Whether some map in it has a text key that begins with `+`. What a secret hides is not looked at.
    pub fn holds_plus_key(&self) -> bool {
        self.traits().plus
    }

    /// Whether the node is a secret or holds one. What a secret hides is not looked at.
    pub fn holds_secret(&self) -> bool {
        self.traits().secret
    }

    /// Whether it or a value in it has a tag, an anchor, a provenance step, or overrides something.
    pub fn holds_extra(&self) -> bool {
        self.traits().extra
    }

    fn traits(&self) -> Traits {
        let is_secret = matches!(self.value, Value::Secret(_));
        let mut traits = self.weight().map(|weight| weight.traits).unwrap_or_default();
        traits.add(Traits { eval: is_secret, secret: is_secret, extra: self.extra.is_some(), ..Traits::default() });
        traits
    }

    /// How many levels it has; a scalar has one.
    pub fn height(&self) -> u32 {
        self.weight().map_or(1, |weight| weight.height)
    }

    /// A hash under which equal nodes agree. Unequal nodes may collide: a match is verified with [`Node::is_equal`].
    pub fn hash(&self) -> u64 {
        let tag = self.tag();
        if let (Some(weight), None) = (self.weight(), tag) {
            return weight.hash;
        }
        let mut hasher = hasher();
        tag.hash(&mut hasher);
        match &self.value {
            Value::Null => hasher.write_u8(0),
            Value::Bool(value) => hasher.write_u8(1 + u8::from(*value)),
            Value::Number(number) => number.hash_value(&mut hasher),
            Value::String(text) => text.hash(&mut hasher),
            Value::List(_) | Value::Map(_) => hasher.write_u64(self.weight().map_or(0, |weight| weight.hash)),
            Value::Secret(secret) => hasher.write_u64(secret.hash()),
        }
        hasher.finish()
    }

    /// Whether both have the same value: numbers by value, maps without regard to key order. Diff, compare and filters use this.
    pub fn is_equal(&self, other: &Self) -> bool {
        self.is_same(other, Number::is_equal)
    }

    /// Whether both are one tree in memory, so that there is nothing to compare.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        match (&self.value, &other.value) {
            (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b),
            (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// Whether both have the same value, including the type and digits of numbers. Expand, restore and exact patches use this.
    pub fn is_identical(&self, other: &Self) -> bool {
        self.is_same(other, Number::is_identical)
    }

    fn is_same(&self, other: &Self, same_number: fn(&Number, &Number) -> bool) -> bool {
        if self.tag() != other.tag() {
            return false;
        }
        match (&self.value, &other.value) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => same_number(a, b),
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Secret(a), Value::Secret(b)) => a.is_same(b, same_number),
            (Value::List(a), Value::List(b)) => {
                Arc::ptr_eq(a, b)
                    || (a.weight.hash == b.weight.hash
                        && a.items.len() == b.items.len()
                        && a.items.iter().zip(&b.items).all(|(a, b)| a.is_same(b, same_number)))
            }
            (Value::Map(a), Value::Map(b)) => {
                Arc::ptr_eq(a, b)
                    || (a.weight.hash == b.weight.hash
                        && a.entries.len() == b.entries.len()
                        && a.entries.iter().enumerate().all(|(at, entry)| {
                            b.entry_near(at, &entry.key)
                                .is_some_and(|twin| entry.value.is_same(&twin.value, same_number))
                        }))
            }
            _ => false,
        }
    }

    fn weight(&self) -> Option<Weight> {
        match &self.value {
            Value::List(list) => Some(list.weight),
            Value::Map(map) => Some(map.weight),
            _ => None,
        }
    }
}

impl Value {
    /// The address of a list or a map; it belongs to no other one as long as this value lives.
    pub fn address(&self) -> Option<usize> {
        match self {
            Self::List(list) => Some(Arc::as_ptr(list).addr()),
            Self::Map(map) => Some(Arc::as_ptr(map).addr()),
            _ => None,
        }
    }

    /// A key that is equal only for the one list or map in memory; none for a scalar.
    pub fn identity(&self) -> Option<Identity<Value>> {
        self.address().map(|address| Identity::new(address, self.clone()))
    }
}

impl List {
    /// The items in order.
    pub fn items(&self) -> &[Node] {
        &self.items
    }

    fn new(items: Vec<Node>) -> Self {
        let mut hasher = hasher();
        hasher.write_u8(3);
        let mut weight = Weight::EMPTY;
        for item in &items {
            hasher.write_u64(item.hash());
            weight.hold(item);
        }
        weight.hash = hasher.finish();
        Self { items, weight }
    }
}

/// Up to this many entries a scan is faster than a search.
const SMALL_MAP: usize = 16;

impl Map {
    fn new(entries: Vec<Entry>) -> Self {
        let mut weight = Weight::EMPTY;
        for entry in &entries {
            let mut hasher = hasher();
            entry.key.name.hash(&mut hasher);
            entry.key.kind.hash(&mut hasher);
            hasher.write_u64(entry.value.hash());
            // A sum does not depend on the order of the entries.
            weight.hash = weight.hash.wrapping_add(hasher.finish());
            weight.traits.eval |= entry.key.name == "eval";
            weight.traits.plus |= entry.key.kind == KeyKind::Text && entry.key.name.as_bytes().first() == Some(&b'+');
            weight.hold(&entry.value);
        }
        let by_key = (entries.len() > SMALL_MAP).then(|| {
            let mut positions: Vec<u32> = (0..).take(entries.len()).collect();
            let order = |at: u32| (&entries[at as usize].key.name, entries[at as usize].key.kind);
            positions.sort_by(|&a, &b| order(a).cmp(&order(b)));
            positions
        });
        Self { entries, by_key, weight }
    }

    /// The entries in written order.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of a key by its text.
    pub fn get(&self, name: &str) -> Option<&Node> {
        self.entry(name).map(|entry| &entry.value)
    }

    /// The entry of a key by its text; if both `1: x` and `"1": x` are there, the text key.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.position(name).map(|at| &self.entries[at])
    }

    /// The position of a key among the entries.
    pub fn position(&self, name: &str) -> Option<usize> {
        let Some(by_key) = &self.by_key else {
            let mut named = self.entries.iter().enumerate().filter(|(_, entry)| entry.key.name == name);
            let (first, entry) = named.next()?;
            // Nearly every key is a text key, and no other one of this name comes before it.
            return match entry.key.kind {
                KeyKind::Text => Some(first),
                _ => named.chain([(first, entry)]).min_by_key(|(_, entry)| entry.key.kind).map(|(at, _)| at),
            };
        };
        let at = by_key.partition_point(|&at| self.entries[at as usize].key.name.as_str() < name);
        by_key.get(at).map(|&at| at as usize).filter(|&at| self.entries[at].key.name == name)
    }

    /// The entry of the same key; tried first at the same position, because most maps keep their order.
    pub fn entry_near(&self, position: usize, key: &Key) -> Option<&Entry> {
        self.position_near(position, key).map(|at| &self.entries[at])
    }

    /// The position of the same key; the given position is tried first.
    pub fn position_near(&self, position: usize, key: &Key) -> Option<usize> {
        if self.entries.get(position).is_some_and(|entry| entry.key.is_same(key)) {
            return Some(position);
        }
        let Some(by_key) = &self.by_key else {
            return self.entries.iter().position(|entry| entry.key.is_same(key));
        };
        let order = |at: u32| (&self.entries[at as usize].key.name, self.entries[at as usize].key.kind);
        let found = by_key.binary_search_by(|&at| order(at).cmp(&(&key.name, key.kind)));
        found.ok().map(|at| by_key[at] as usize)
    }
}

impl Default for Map {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Entry {
    /// A text key with its value, for generated maps.
    pub fn named(name: impl Into<SmolStr>, at: Span, value: Node) -> Self {
        Self { key: Key { name: name.into(), kind: KeyKind::Text, span: at }, value }
    }
}

impl Key {
    /// Same text and same kind.
    pub fn is_same(&self, other: &Self) -> bool {
        self.kind == other.kind && self.name == other.name
    }
}

impl Weight {
    const EMPTY: Self =
        Self { hash: 0, size: 1, height: 1, traits: Traits { eval: false, secret: false, plus: false, extra: false } };

    fn hold(&mut self, child: &Node) {
        self.size = self.size.saturating_add(child.size());
        self.height = self.height.max(child.height().saturating_add(1));
        self.traits.add(child.traits());
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Null => "null",
            Self::Bool => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::List => "list",
            Self::Map => "map",
            Self::Secret => "secret",
        })
    }
}

/// A list index as RFC 6901 writes it: digits, no sign, no leading zero.
pub fn list_index(token: &str) -> Option<usize> {
    let digits = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    (digits && (token.len() == 1 || !token.starts_with('0'))).then(|| token.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{SourceText, Sources};

    #[test]
    fn a_number_and_its_text_are_two_keys_in_maps_of_any_size() {
        let source = Sources::default().add(SourceText::new(crate::path::RepoPath::root(), "", ""));
        let span = Span::new(source, 0, 0);
        let entry = |name: &str, kind, value| Entry {
            key: Key { name: name.into(), kind, span },
            value: Node::new(Value::Bool(value), span),
        };
        for others in [0..0, 0..40] {
            let mut entries: Vec<Entry> = others.map(|at: u32| entry(&format!("k{at}"), KeyKind::Text, true)).collect();
            entries.push(entry("1", KeyKind::Scalar, false));
            entries.push(entry("1", KeyKind::Text, true));
            let map = Node::map(entries.clone(), span);
            entries.reverse();
            assert!(map.is_equal(&Node::map(entries, span)));
            assert!(matches!(map.get("1").map(|node| &node.value), Some(Value::Bool(true))));
        }
    }
}
