//! The entries of one map: duplicate keys, and what merge keys bring in.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::SmolStr;

use crate::finding;
use crate::text::Span;
use crate::value::{Entry, Map, Node, StepKind, Value};

use super::problems::Problems;

/// The number of entries up to which comparing all pairs is faster than sorting.
const FEW: usize = 16;
/// The longest chain of overridden values that is kept.
const LONGEST_HISTORY: usize = 50;

/// Reports every key that occurs again, whatever its kind: `1` and `"1"` are duplicates.
pub(super) fn report_duplicates(entries: &[Entry], problems: &mut Problems) {
    if entries.len() <= FEW {
        for (at, entry) in entries.iter().enumerate() {
            if let Some(first) = entries[..at].iter().find(|first| first.key.name == entry.key.name) {
                problems.duplicate_key(&entry.key.name, first.key.span, entry.key.span);
            }
        }
        return;
    }
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    // A stable sort keeps namesakes in written order.
    sorted.sort_by(|a, b| a.key.name.cmp(&b.key.name));
    for namesakes in sorted.chunk_by(|a, b| a.key.name == b.key.name) {
        for again in &namesakes[1..] {
            problems.duplicate_key(&again.key.name, namesakes[0].key.span, again.key.span);
        }
    }
}

/// A `<<` and its value.
pub(super) struct Merge {
    /// The number of entries before it.
    pub(super) position: usize,
    /// The `<<`.
    pub(super) key: Span,
    /// The value to be merged.
    pub(super) value: Node,
}

impl Merge {
    /// The number of entries that it brings in.
    pub(super) fn entries(&self) -> u64 {
        maps_of(&self.value).map_or(0, |maps| maps.iter().map(|map| map.len() as u64).sum())
    }
}

/// The entries, with those that merge keys bring in at the position of `<<`. Written keys win, then earlier merges.
pub(super) fn merged(entries: Vec<Entry>, merges: Vec<Merge>, problems: &mut Problems) -> Vec<Entry> {
    report_repeated_merges(&merges, problems);
    let mut names: BTreeSet<SmolStr> = entries.iter().map(|entry| entry.key.name.clone()).collect();
    let mut losers: BTreeMap<SmolStr, Node> = BTreeMap::new();
    let mut all = Vec::with_capacity(entries.len());
    let mut entries = entries.into_iter();
    let mut taken = 0;
    for merge in merges {
        all.extend(entries.by_ref().take(merge.position - taken));
        taken = merge.position;
        let Some(maps) = maps_of(&merge.value) else {
            report_not_a_map(&merge, problems);
            continue;
        };
        for entry in maps.into_iter().flat_map(Map::entries) {
            let value = || entry.value.clone().through(StepKind::MergeKey, merge.key);
            if names.insert(entry.key.name.clone()) {
                all.push(Entry { key: entry.key.clone(), value: value() });
            } else {
                // Of several overridden values, the strongest is kept.
                losers.entry(entry.key.name.clone()).or_insert_with(value);
            }
        }
    }
    all.extend(entries);
    for entry in &mut all {
        if let Some(loser) = losers.remove(&entry.key.name) {
            entry.value = with_loser(&entry.value, loser);
        }
    }
    all
}

/// The value with what it overrides. A long history is truncated, because dropping it would need a deep stack.
fn with_loser(value: &Node, loser: Node) -> Node {
    let is_long = std::iter::successors(loser.overridden(), |node| node.overridden()).nth(LONGEST_HISTORY).is_some();
    value.clone().overriding(if is_long { loser.forgetting() } else { loser })
}

fn maps_of(value: &Node) -> Option<Vec<&Map>> {
    match &value.value {
        Value::Map(map) => Some(vec![map]),
        Value::List(_) => value.as_list()?.iter().map(Node::as_map).collect(),
        _ => None,
    }
}

fn report_not_a_map(merge: &Merge, problems: &mut Problems) {
    let message = match merge.value.as_list() {
        Some(_) => "the merge key `<<` takes maps, but this list holds something else".to_owned(),
        None => format!("the merge key `<<` takes a map or a list of maps, not a {}", merge.value.type_of()),
    };
    let finding = problems.finding(&finding::DOCUMENT_MERGE_KEY, merge.key.range(), message);
    let finding = finding.labelled("this merge key").related(merge.value.span, "its value");
    problems.report(finding.help("quote the key (`\"<<\"`) if it is meant as data"));
}

fn report_repeated_merges(merges: &[Merge], problems: &mut Problems) {
    for again in merges.iter().skip(1) {
        let message = "the merge key `<<` is written twice in one map";
        let finding = problems.finding(&finding::DOCUMENT_DUPLICATE_KEY, again.key.range(), message);
        let finding = finding.labelled("again here").related(merges[0].key, "first here");
        problems.report(finding.help("merge several maps with one key: `<<: [*first, *second]`"));
    }
}
