//! Merges one value over another: which side each leaf is taken from, what it overrides, and what `+%` marks change.

use std::sync::Arc;

use smol_str::SmolStr;

use super::key::STRATEGY;
use crate::memo::Identity;
use crate::settings::MergeProfile;
use crate::text::Span;
use crate::value::{Entry, Key, Map, Node, Step, Value};

/// One of two values to be merged, and its provenance unless its parts carry it already.
#[derive(Clone, Copy)]
pub(super) struct MergeSide<'a> {
    pub(super) node: &'a Node,
    pub(super) provenance: Option<&'a Step>,
}

/// How a map is merged, by its key `+%`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// No mark, or `merge`: key by key.
    Merge { is_explicit: bool },
    /// `error`: merging is an error.
    Error,
    /// `whiteout`: removes its key.
    Whiteout,
    /// `nullout`: replaces the value by null.
    Nullout,
    /// Any other word: replaces the base as a whole.
    Replace,
}

impl Strategy {
    /// The strategy that a map is marked with.
    pub(super) fn from_map(map: &Map) -> Self {
        let Some(mark) = map.get(STRATEGY) else { return Self::Merge { is_explicit: false } };
        match mark.as_str() {
            Some("merge") => Self::Merge { is_explicit: true },
            Some("error") => Self::Error,
            Some("whiteout") => Self::Whiteout,
            Some("nullout") => Self::Nullout,
            _ => Self::Replace,
        }
    }

    /// The strategy for a map over a map: the top's mark counts, then the base's.
    pub(super) fn between(base: Self, top: Self) -> Self {
        match (base, top) {
            (base, Self::Merge { is_explicit: false }) => base,
            (_, top) => top,
        }
    }
}

/// Merges values, counts what it creates and collects what is forbidden.
pub(super) struct Combiner<'a> {
    pub(super) profile: MergeProfile,
    /// The number of values created so far in this run; shared parts do not count.
    pub(super) produced: &'a mut u64,
    /// Maps marked `+%: error` that something was merged over.
    pub(super) forbidden: Vec<Forbidden>,
    /// Whether an overridden value is kept together with what it overrode in turn.
    pub(super) keeps_history: bool,
}

/// A map marked `+%: error`, its key, and the directive that brought it in.
pub(super) struct Forbidden {
    pub(super) key: SmolStr,
    pub(super) brought_at: Option<Span>,
    pub(super) map: Span,
}

impl Combiner<'_> {
    /// Merges two values that are not entries of a map, so that marks on them have no effect.
    pub(super) fn one_over_other(&mut self, base: MergeSide<'_>, top: MergeSide<'_>) -> Node {
        match (&base.node.value, &top.node.value) {
            (Value::Map(_), Value::Map(_)) => self.maps(base, top),
            _ => self.value_over(base, top),
        }
    }

    /// Merges two maps: the top's keys first, then those that only the base has. Marks of the two maps themselves are dropped.
    pub(super) fn maps(&mut self, base: MergeSide<'_>, top: MergeSide<'_>) -> Node {
        let (Some(base_map), Some(top_map)) = (base.node.as_map(), top.node.as_map()) else {
            return top.into_node();
        };
        if is_nothing_over(base_map, top_map) && top.node.tag().is_none() {
            return base.into_node();
        }
        // The base map itself is not kept, so its provenance is passed down to its parts.
        let provenance = joined(base.node.step(), base.provenance);
        let base = MergeSide { provenance: provenance.as_ref(), ..base };
        let mut entries = Vec::with_capacity(base_map.len().max(top_map.len()));
        for entry in top_map.entries().iter().filter(|entry| entry.key.name != STRATEGY) {
            let below = base_map.get(&entry.key.name).map(|node| MergeSide { node, ..base });
            let value = self.entry(&entry.key, below, MergeSide { node: &entry.value, ..top });
            entries.extend(value.map(|value| Entry { key: entry.key.clone(), value }));
        }
        for entry in base_map.entries().iter().filter(|entry| entry.key.name != STRATEGY) {
            if top_map.get(&entry.key.name).is_none() {
                entries.push(Entry {
                    key: entry.key.clone(),
                    value: MergeSide { node: &entry.value, ..base }.into_node(),
                });
            }
        }
        self.count(entries.len());
        let mut node = Node::map(entries, top.node.span);
        node.extra.clone_from(&top.node.extra);
        arrived(node, top.provenance)
    }

    /// The merged value of one key, or `None` if the top removes it.
    fn entry(&mut self, key: &Key, base: Option<MergeSide<'_>>, top: MergeSide<'_>) -> Option<Node> {
        let strategy = top.node.as_map().map(Strategy::from_map);
        let Some(base) = base else {
            return (strategy != Some(Strategy::Whiteout)).then(|| top.into_node());
        };
        match strategy {
            Some(Strategy::Whiteout) => None,
            Some(Strategy::Nullout) => {
                let null = Node::new(Value::Null, top.node.span);
                Some(self.overriding(MergeSide { node: &null, ..top }, base))
            }
            Some(strategy) => Some(self.map_over(key, base, top, strategy)),
            None => Some(self.value_over(base, top)),
        }
    }

    /// Merges a map over any value.
    fn map_over(&mut self, key: &Key, base: MergeSide<'_>, top: MergeSide<'_>, strategy: Strategy) -> Node {
        let Some(base_map) = base.node.as_map() else { return self.overriding(top, base) };
        match Strategy::between(Strategy::from_map(base_map), strategy) {
            Strategy::Merge { .. } => self.maps(base, top),
            Strategy::Error => {
                let brought_at = base.provenance.or_else(|| base.node.step()).map(|step| step.at);
                self.forbidden.push(Forbidden { key: key.name.clone(), brought_at, map: base.node.span });
                top.into_node()
            }
            Strategy::Whiteout | Strategy::Nullout | Strategy::Replace => {
                let unmarked = without_strategy(top.node);
                self.overriding(MergeSide { node: &unmarked, ..top }, base)
            }
        }
    }

    /// Merges anything but a map over any value.
    fn value_over(&mut self, base: MergeSide<'_>, top: MergeSide<'_>) -> Node {
        if self.profile == MergeProfile::Unfurl {
            match (&base.node.value, &top.node.value) {
                (Value::Map(_), Value::Null) => return base.into_node(),
                (Value::List(_), Value::List(_)) => return self.join_lists(base, top),
                _ => {}
            }
        }
        self.overriding(top, base)
    }

    /// The top value, which overrides the base.
    fn overriding(&mut self, top: MergeSide<'_>, base: MergeSide<'_>) -> Node {
        self.count(1);
        let top = top.into_node();
        if self.keeps_history {
            return top.overriding(base.into_node());
        }
        // A complete history could grow without end; a scalar is kept without its own history.
        match &base.node.value {
            Value::List(_) | Value::Map(_) => top,
            value => top.overriding(Node::new(value.clone(), base.node.span)),
        }
    }

    pub(super) fn count(&mut self, made: usize) {
        *self.produced = self.produced.saturating_add(made as u64);
    }
}

impl MergeSide<'_> {
    /// The value with its provenance.
    pub(super) fn into_node(self) -> Node {
        arrived(self.node.clone(), self.provenance)
    }
}

/// The provenance of a part, followed by that of the whole.
fn joined(own: Option<&Step>, provenance: Option<&Step>) -> Option<Step> {
    let Some(own) = own else { return provenance.cloned() };
    let onward = provenance.map(Step::chain).unwrap_or_default();
    Some(onward.into_iter().fold(own.clone(), |before, step| Step::new(step.kind, step.at).after(Arc::new(before))))
}

/// The value with further provenance steps.
fn arrived(node: Node, provenance: Option<&Step>) -> Node {
    match provenance {
        None => node,
        Some(Step { kind, at, before: None, .. }) => node.through(*kind, *at),
        Some(provenance) => provenance.chain().into_iter().fold(node, |node, step| node.through(step.kind, step.at)),
    }
}

/// Whether the top is an empty map, so that the base can be shared as a whole.
fn is_nothing_over(base: &Map, top: &Map) -> bool {
    top.is_empty() && base.get(STRATEGY).is_none()
}

/// The map without its `+%` mark.
pub(super) fn without_strategy(node: &Node) -> Node {
    let Some(map) = node.as_map().filter(|map| map.get(STRATEGY).is_some()) else { return node.clone() };
    let entries = map.entries().iter().filter(|entry| entry.key.name != STRATEGY).cloned().collect();
    Node { extra: node.extra.as_ref().map(Arc::clone), ..Node::map(entries, node.span) }
}

/// The value without leftover marks: members marked `whiteout` or `nullout` and items marked `whiteout` are removed.
pub(super) fn without_leftovers(node: &Node) -> Node {
    Cleaning::default().clean(node)
}

/// Results by subtree, because subtrees are shared.
#[derive(Default)]
struct Cleaning {
    done: std::collections::HashMap<Identity<Value>, Option<Value>>,
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
        self.done.extend(value.identity().map(|identity| (identity, cleaned.clone())));
        cleaned
    }

    fn items(&mut self, items: &[Node]) -> Option<Value> {
        let is_kept = |item: &&Node| item.as_map().is_none_or(|map| Strategy::from_map(map) != Strategy::Whiteout);
        let kept: Vec<Node> = items.iter().filter(is_kept).map(|item| self.clean(item)).collect();
        let is_changed = kept.len() != items.len() || kept.iter().zip(items).any(|(a, b)| !is_shared(a, b));
        is_changed.then(|| Node::list(kept, items[0].span).value)
    }

    fn entries(&mut self, map: &Map) -> Option<Value> {
        let is_kept = |entry: &&Entry| {
            let strategy = entry.value.as_map().map(Strategy::from_map);
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
