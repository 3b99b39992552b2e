//! What must be written over a base so that the merged value is the wanted one.

use crate::directive::combine::{Combiner, MergeSide, without_leftovers};
use crate::directive::key::STRATEGY;
use crate::settings::MergeProfile;
use crate::text::Span;
use crate::value::{Entry, Key, KeyKind, Map, Node, Value};

/// The smallest value that merges with `base` to `wanted`; what was written before is kept even where it is redundant.
pub(super) fn own_value(base: Option<&Node>, own: Option<&Node>, wanted: &Node, profile: MergeProfile) -> Node {
    let (Some(base), true) = (base, base.is_some_and(|base| base.tag() == wanted.tag())) else { return wanted.clone() };
    match (&base.value, &wanted.value) {
        (Value::Map(base), Value::Map(_)) => {
            let own = own.and_then(Node::as_map);
            Node { extra: wanted.extra.clone(), ..Node::map(own_entries(base, own, wanted, profile), wanted.span) }
        }
        (Value::Map(_), Value::Null) if profile == MergeProfile::Unfurl => marked("nullout", wanted.span),
        _ => wanted.clone(),
    }
}

fn own_entries(base: &Map, own: Option<&Map>, wanted: &Node, profile: MergeProfile) -> Vec<Entry> {
    let none = Map::default();
    let wanted_map = wanted.as_map().unwrap_or(&none);
    let own = own.unwrap_or(&none);
    let mut entries = Vec::new();
    for entry in own.entries() {
        let below = base.get(&entry.key.name);
        match wanted_map.get(&entry.key.name) {
            Some(value) if is_obsolete_removal(&entry.value, below, value) => {}
            Some(value) if yields(below, &entry.value, value, profile) => entries.push(entry.clone()),
            Some(value) => {
                let value = own_value(below, Some(&entry.value), value, profile);
                entries.push(Entry { key: entry.key.clone(), value });
            }
            None if below.is_some() => entries.push(removal(&entry.key, wanted.span)),
            None => {}
        }
    }
    for entry in wanted_map.entries().iter().filter(|entry| own.get(&entry.key.name).is_none()) {
        let below = base.get(&entry.key.name);
        if !below.is_some_and(|below| below.is_identical(&entry.value)) {
            let value = own_value(below, None, &entry.value, profile);
            entries.push(Entry { key: entry.key.clone(), value });
        }
    }
    let is_gone = |entry: &&Entry| wanted_map.get(&entry.key.name).is_none() && own.get(&entry.key.name).is_none();
    let gone = base.entries().iter().filter(|entry| entry.key.name != STRATEGY).filter(is_gone);
    entries.extend(gone.map(|entry| removal(&entry.key, wanted.span)));
    entries
}

/// Whether a value merged over a base gives the wanted one.
pub(super) fn yields(base: Option<&Node>, own: &Node, wanted: &Node, profile: MergeProfile) -> bool {
    let Some(base) = base else { return own.is_identical(wanted) };
    let key = Key { name: "k".into(), kind: KeyKind::Text, span: own.span };
    let hold = |value: &Node| Node::map(vec![Entry { key: key.clone(), value: value.clone() }], own.span);
    over(&hold(base), &hold(own), profile).is_some_and(|merged| merged.is_identical(&hold(wanted)))
}

/// A map merged over a base, without leftover marks; `None` if the base forbids merging.
pub(super) fn over(base: &Node, own: &Node, profile: MergeProfile) -> Option<Node> {
    let mut produced = 0;
    let mut combiner = Combiner { profile, produced: &mut produced, forbidden: Vec::new(), keeps_history: false };
    let merged = combiner.maps(MergeSide { node: base, provenance: None }, MergeSide { node: own, provenance: None });
    combiner.forbidden.is_empty().then(|| without_leftovers(&merged))
}

/// The entry that removes an inherited key.
pub(super) fn removal(key: &Key, span: Span) -> Entry {
    Entry { key: key.clone(), value: marked("whiteout", span) }
}

/// Whether a written value removes an inherited key that is wanted again, with its inherited value.
pub(super) fn is_obsolete_removal(own: &Node, below: Option<&Node>, wanted: &Node) -> bool {
    let strategy = own.get(STRATEGY).and_then(Node::as_str);
    strategy == Some("whiteout") && below.is_some_and(|below| below.is_identical(wanted))
}

fn marked(strategy: &'static str, span: Span) -> Node {
    let key = Key { name: STRATEGY.into(), kind: KeyKind::Text, span };
    Node::map(vec![Entry { key, value: Node::new(Value::String(strategy.into()), span) }], span)
}
