//! One value over another: which side each leaf is taken from, what is remembered of the other, and what `+%` marks change.

use std::sync::Arc;

use smol_str::SmolStr;

use super::key::STRATEGY;
use super::lists;
use crate::settings::MergeProfile;
use crate::text::Span;
use crate::value::{Entry, Key, Map, Node, Step, Value};

/// A value that takes part in a merge, and the way it comes, unless that is already noted on its parts.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub(super) node: &'a Node,
    pub(super) way: Option<&'a Step>,
}

/// What a map says about how it wants to be merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// Nothing said, or `merge`: key by key.
    Merge { is_explicit: bool },
    /// `error`: not at all.
    Error,
    /// `whiteout`: takes its key away.
    Whiteout,
    /// `nullout`: puts null in its place.
    Nullout,
    /// Any other word: takes the place of what is below as a whole.
    Replace,
}

impl Strategy {
    pub(super) fn of(map: &Map) -> Self {
        let Some(mark) = map.get(STRATEGY) else { return Self::Merge { is_explicit: false } };
        match mark.as_str() {
            Some("merge") => Self::Merge { is_explicit: true },
            Some("error") => Self::Error,
            Some("whiteout") => Self::Whiteout,
            Some("nullout") => Self::Nullout,
            _ => Self::Replace,
        }
    }

    /// The strategy for a map over a map: the upper one's word counts, then the lower one's.
    pub(super) fn between(base: Self, top: Self) -> Self {
        match (base, top) {
            (base, Self::Merge { is_explicit: false }) => base,
            (_, top) => top,
        }
    }
}

/// Merges and keeps the books.
pub(super) struct Combiner<'a> {
    pub(super) profile: MergeProfile,
    /// Values made so far in this run; shared parts do not count.
    pub(super) produced: &'a mut u64,
    /// Maps that refuse to be merged with: the key, the directive that brought the refusing map, and that map.
    pub(super) forbidden: Vec<Forbidden>,
    /// Whether what is overridden is remembered together with what that in turn had overridden.
    pub(super) keeps_history: bool,
}

/// A map marked `+%: error` that something wanted to merge with.
pub(super) struct Forbidden {
    pub(super) key: SmolStr,
    pub(super) brought_at: Option<Span>,
    pub(super) map: Span,
}

impl Combiner<'_> {
    /// A value over another, without a key of its own: marks on the two mean nothing.
    pub(super) fn one_over_other(&mut self, base: Side<'_>, top: Side<'_>) -> Node {
        match (&base.node.value, &top.node.value) {
            (Value::Map(_), Value::Map(_)) => self.maps(base, top),
            _ => self.value_over(base, top),
        }
    }

    /// Two maps become one: the top's keys first, then what only the base has. Marks of the two maps themselves are dropped.
    pub(super) fn maps(&mut self, base: Side<'_>, top: Side<'_>) -> Node {
        let (Some(base_map), Some(top_map)) = (base.node.as_map(), top.node.as_map()) else {
            return top.brought();
        };
        if is_nothing_over(base_map, top_map) && top.node.tag().is_none() {
            return base.brought();
        }
        // The map that the base stood in is not kept, so what it knows about its way is handed down to its parts.
        let way = joined(base.node.step(), base.way);
        let base = Side { way: way.as_ref(), ..base };
        let mut entries = Vec::with_capacity(base_map.len().max(top_map.len()));
        for entry in top_map.entries().iter().filter(|entry| entry.key.name != STRATEGY) {
            let below = base_map.get(&entry.key.name).map(|node| Side { node, ..base });
            let value = self.entry(&entry.key, below, Side { node: &entry.value, ..top });
            entries.extend(value.map(|value| Entry { key: entry.key.clone(), value }));
        }
        for entry in base_map.entries().iter().filter(|entry| entry.key.name != STRATEGY) {
            if top_map.get(&entry.key.name).is_none() {
                entries.push(Entry { key: entry.key.clone(), value: Side { node: &entry.value, ..base }.brought() });
            }
        }
        self.count(entries.len());
        let mut node = Node::map(entries, top.node.span);
        node.extra.clone_from(&top.node.extra);
        arrived(node, top.way)
    }

    /// The value of one key, or nothing if the top takes it away.
    fn entry(&mut self, key: &Key, base: Option<Side<'_>>, top: Side<'_>) -> Option<Node> {
        let strategy = top.node.as_map().map(Strategy::of);
        let Some(base) = base else {
            return (strategy != Some(Strategy::Whiteout)).then(|| top.brought());
        };
        match strategy {
            Some(Strategy::Whiteout) => None,
            Some(Strategy::Nullout) => {
                let null = Node::new(Value::Null, top.node.span);
                Some(self.overriding(Side { node: &null, ..top }, base))
            }
            Some(strategy) => Some(self.map_over(key, base, top, strategy)),
            None => Some(self.value_over(base, top)),
        }
    }

    /// A map over anything.
    fn map_over(&mut self, key: &Key, base: Side<'_>, top: Side<'_>, strategy: Strategy) -> Node {
        let Some(base_map) = base.node.as_map() else { return self.overriding(top, base) };
        match Strategy::between(Strategy::of(base_map), strategy) {
            Strategy::Merge { .. } => self.maps(base, top),
            Strategy::Error => {
                let brought_at = base.way.or_else(|| base.node.step()).map(|step| step.at);
                self.forbidden.push(Forbidden { key: key.name.clone(), brought_at, map: base.node.span });
                top.brought()
            }
            Strategy::Whiteout | Strategy::Nullout | Strategy::Replace => {
                let unmarked = without_strategy(top.node);
                self.overriding(Side { node: &unmarked, ..top }, base)
            }
        }
    }

    /// Anything but a map over anything.
    fn value_over(&mut self, base: Side<'_>, top: Side<'_>) -> Node {
        if self.profile == MergeProfile::Unfurl {
            match (&base.node.value, &top.node.value) {
                (Value::Map(_), Value::Null) => return base.brought(),
                (Value::List(_), Value::List(_)) => return lists::join(self, base, top),
                _ => {}
            }
        }
        self.overriding(top, base)
    }

    fn overriding(&mut self, top: Side<'_>, base: Side<'_>) -> Node {
        self.count(1);
        let top = top.brought();
        if self.keeps_history {
            return top.overriding(base.brought());
        }
        // A history of histories has no end; of a scalar the value itself can be kept without it.
        match &base.node.value {
            Value::List(_) | Value::Map(_) => top,
            value => top.overriding(Node::new(value.clone(), base.node.span)),
        }
    }

    pub(super) fn count(&mut self, made: usize) {
        *self.produced = self.produced.saturating_add(made as u64);
    }
}

impl Side<'_> {
    /// The value with the way it comes noted on it.
    pub(super) fn brought(self) -> Node {
        arrived(self.node.clone(), self.way)
    }
}

/// One way after another.
fn joined(own: Option<&Step>, way: Option<&Step>) -> Option<Step> {
    let Some(own) = own else { return way.cloned() };
    let onward = way.map(Step::chain).unwrap_or_default();
    Some(onward.into_iter().fold(own.clone(), |before, step| Step::new(step.kind, step.at).after(Arc::new(before))))
}

/// A value after it has come a way.
fn arrived(node: Node, way: Option<&Step>) -> Node {
    match way {
        None => node,
        Some(Step { kind, at, before: None, .. }) => node.through(*kind, *at),
        Some(way) => way.chain().into_iter().fold(node, |node, step| node.through(step.kind, step.at)),
    }
}

/// An empty map changes nothing: the base can be shared as a whole.
fn is_nothing_over(base: &Map, top: &Map) -> bool {
    top.is_empty() && base.get(STRATEGY).is_none()
}

/// The map without its mark.
pub(super) fn without_strategy(node: &Node) -> Node {
    let Some(map) = node.as_map().filter(|map| map.get(STRATEGY).is_some()) else { return node.clone() };
    let entries = map.entries().iter().filter(|entry| entry.key.name != STRATEGY).cloned().collect();
    Node { extra: node.extra.as_ref().map(Arc::clone), ..Node::map(entries, node.span) }
}

/// Takes away what only marks were left of: members marked `whiteout` or `nullout`, items marked `whiteout`.
pub(super) fn without_leftovers(node: &Node) -> Node {
    Cleaning::default().clean(node)
}

/// Remembers what it has seen, because subtrees are shared.
#[derive(Default)]
struct Cleaning {
    /// By address of the list or map; the tree being cleaned keeps them all alive.
    done: std::collections::HashMap<usize, Option<Value>>,
}

impl Cleaning {
    fn clean(&mut self, node: &Node) -> Node {
        match self.cleaned(&node.value) {
            Some(value) => Node { value, ..node.clone() },
            None => node.clone(),
        }
    }

    /// The value without leftovers, if it has any.
    fn cleaned(&mut self, value: &Value) -> Option<Value> {
        let address = value.address()?;
        if let Some(done) = self.done.get(&address) {
            return done.clone();
        }
        let cleaned = match value {
            Value::List(list) => self.items(list.items()),
            Value::Map(map) => self.entries(map),
            _ => None,
        };
        self.done.insert(address, cleaned.clone());
        cleaned
    }

    fn items(&mut self, items: &[Node]) -> Option<Value> {
        let is_kept = |item: &&Node| item.as_map().is_none_or(|map| Strategy::of(map) != Strategy::Whiteout);
        let kept: Vec<Node> = items.iter().filter(is_kept).map(|item| self.clean(item)).collect();
        let is_changed = kept.len() != items.len() || kept.iter().zip(items).any(|(a, b)| !is_shared(a, b));
        is_changed.then(|| Node::list(kept, items[0].span).value)
    }

    fn entries(&mut self, map: &Map) -> Option<Value> {
        let is_kept = |entry: &&Entry| {
            let strategy = entry.value.as_map().map(Strategy::of);
            !matches!(strategy, Some(Strategy::Whiteout | Strategy::Nullout))
        };
        let clean = |entry: &Entry| Entry { key: entry.key.clone(), value: self.clean(&entry.value) };
        let kept: Vec<Entry> = map.entries().iter().filter(is_kept).map(clean).collect();
        let is_changed =
            kept.len() != map.len() || kept.iter().zip(map.entries()).any(|(a, b)| !is_shared(&a.value, &b.value));
        is_changed.then(|| Node::map(kept, map.entries()[0].key.span).value)
    }
}

/// Whether two nodes are the same object, or scalars.
fn is_shared(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::List(a), Value::List(b)) => Arc::ptr_eq(a, b),
        (Value::Map(a), Value::Map(b)) => Arc::ptr_eq(a, b),
        _ => true,
    }
}
