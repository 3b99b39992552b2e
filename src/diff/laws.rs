//! What must hold for every pair of trees, as properties.

use proptest::prelude::*;

use super::testing::{any_node, edited_lists, edited_pair, list, try_read};
use super::{Change, ChangeKind, DiffSide, Difference, Options, PathStep, diff, pointer};
use crate::document::Format;
use crate::settings::ListRule;
use crate::value::{Entry, KeyKind, Node, Value};

fn pairs() -> impl Strategy<Value = (Node, Node)> {
    prop_oneof![1 => (any_node(), any_node()), 4 => edited_pair(), 3 => edited_lists()]
}

fn all_options() -> Vec<Options> {
    let rule = |pointer: &str, keys: &[&str], is_unordered| ListRule {
        pointer: pointer.into(),
        keys: keys.iter().map(|&key| key.into()).collect(),
        is_unordered,
    };
    let rules = [rule("/**/a", &["name", "id"], false), rule("/**/b", &[], true), rule("/*", &[], false)];
    let embedded_parser: Option<std::sync::Arc<super::EmbeddedParser>> =
        Some(std::sync::Arc::new(|text: &str, _| try_read(text).map(|node| (Format::Json, node))));
    vec![
        Options::default(),
        Options { is_kubernetes: true, ..Options::default() },
        Options { embedded_parser, ..Options::new(&rules).unwrap() },
    ]
}

/// A change in words that do not depend on the side it is seen from.
fn change_text(change: &Change, is_mirrored: bool) -> String {
    let kind = match (change.kind, is_mirrored) {
        (ChangeKind::Add, true) => ChangeKind::Remove,
        (ChangeKind::Remove, true) => ChangeKind::Add,
        (kind, _) => kind,
    };
    let steps: Vec<String> = change
        .path
        .iter()
        .map(|step| match step {
            PathStep::Key(key) => format!("{:?} {}", key.kind, key.name),
            PathStep::Item { before, after, .. } => format!("{:?}", swap(is_mirrored, *before, *after)),
            PathStep::Embedded(format) => format!("{format:?}"),
            PathStep::Metadata => "metadata".to_owned(),
            PathStep::Expression(value) => value.words().to_owned(),
            PathStep::Request(operation) => operation.to_string(),
        })
        .collect();
    let (before, after) = swap(is_mirrored, format!("{:?}", change.before), format!("{:?}", change.after));
    format!("{kind:?} {steps:?} {before} {after}")
}

fn swap<T>(is_swapped: bool, a: T, b: T) -> (T, T) {
    if is_swapped { (b, a) } else { (a, b) }
}

fn all_told(difference: &Difference, is_mirrored: bool) -> (Vec<String>, Vec<String>) {
    let sorted = |changes: &[Change]| {
        let mut texts: Vec<String> = changes.iter().map(|change| change_text(change, is_mirrored)).collect();
        texts.sort();
        texts
    };
    (sorted(&difference.changes), sorted(&difference.spelling_only))
}

/// The value at a path on one side.
fn found(node: &Node, path: &[PathStep], side: DiffSide) -> Option<Node> {
    let Some((step, rest)) = path.split_first() else { return Some(node.clone()) };
    match step {
        PathStep::Key(key) => found(&node.as_map()?.entry_near(0, key)?.value, rest, side),
        PathStep::Item { before, after, .. } => {
            found(node.as_list()?.get((if side == DiffSide::Before { *before } else { *after })?)?, rest, side)
        }
        PathStep::Embedded(_) => found(&try_read(node.as_str()?)?, rest, side),
        PathStep::Metadata | PathStep::Request(_) | PathStep::Expression(_) => None,
    }
}

/// Makes `after` from `before` and the changes alone: nothing was kept back.
fn rebuilt(before: &Node, changes: &[&Change], depth: usize) -> Node {
    let here = changes.iter().find(|change| change.path.len() == depth && change.kind != ChangeKind::Move);
    if let Some(after) = here.and_then(|change| change.after.clone()) {
        return after;
    }
    let mut node = match &before.value {
        Value::Map(map) => {
            let below = |entry: &Entry| -> Vec<&Change> {
                let is_there = |step: &PathStep| matches!(step, PathStep::Key(key) if key.is_same(&entry.key));
                changes.iter().copied().filter(|change| is_there(&change.path[depth])).collect()
            };
            let is_leaf = |change: &Change, kind| change.kind == kind && change.path.len() == depth + 1;
            let mut entries = Vec::new();
            for entry in map.entries() {
                let below = below(entry);
                if !below.iter().any(|change| is_leaf(change, ChangeKind::Remove)) {
                    entries.push(Entry { key: entry.key.clone(), value: rebuilt(&entry.value, &below, depth + 1) });
                }
            }
            for change in changes.iter().filter(|change| is_leaf(change, ChangeKind::Add)) {
                let PathStep::Key(key) = &change.path[depth] else { panic!("a key") };
                entries.push(Entry { key: key.clone(), value: change.after.clone().expect("what was added") });
            }
            Node::map(entries, before.span)
        }
        Value::List(_) => rebuilt_list(before.as_list().expect("a list"), changes, depth),
        _ => before.clone(),
    };
    node.extra.clone_from(&before.extra);
    node
}

fn rebuilt_list(before: &[Node], changes: &[&Change], depth: usize) -> Node {
    let place = |change: &Change| match &change.path[depth] {
        PathStep::Item { before, after, .. } => (*before, *after),
        other => panic!("an item, not {other:?}"),
    };
    let is_leaf = |change: &Change, kind| change.kind == kind && change.path.len() == depth + 1;
    let count = |kind| changes.iter().filter(|change| is_leaf(change, kind)).count();
    let mut slots: Vec<Option<Node>> = vec![None; before.len() + count(ChangeKind::Add) - count(ChangeKind::Remove)];
    let mut is_settled = vec![false; before.len()];
    for change in changes {
        let (from, to) = place(change);
        match change.kind {
            ChangeKind::Add if is_leaf(change, ChangeKind::Add) => slots[to.expect("a place")] = change.after.clone(),
            ChangeKind::Remove if is_leaf(change, ChangeKind::Remove) => is_settled[from.expect("a place")] = true,
            ChangeKind::Move if is_leaf(change, ChangeKind::Move) => {
                let (from, to) = (from.expect("a place"), to.expect("a place"));
                is_settled[from] = true;
                slots[to] = Some(item(before, from, changes, depth));
            }
            _ => {}
        }
    }
    let mut rest = (0..before.len()).filter(|&at| !is_settled[at]).map(|at| item(before, at, changes, depth));
    let filled = slots.into_iter().map(|slot| slot.unwrap_or_else(|| rest.next().expect("as many as slots")));
    list(filled.collect())
}

fn item(before: &[Node], at: usize, changes: &[&Change], depth: usize) -> Node {
    let is_there = |change: &&&Change| {
        matches!(&change.path[depth], PathStep::Item { before: Some(from), after: Some(_), .. } if *from == at)
            && !(change.kind == ChangeKind::Move && change.path.len() == depth + 1)
    };
    let below: Vec<&Change> = changes.iter().filter(is_there).copied().collect();
    rebuilt(&before[at], &below, depth + 1)
}

fn has_only_text_keys(node: &Node) -> bool {
    match &node.value {
        Value::Map(map) => {
            map.entries().iter().all(|entry| entry.key.kind == KeyKind::Text && has_only_text_keys(&entry.value))
        }
        Value::List(_) => node.as_list().unwrap_or_default().iter().all(has_only_text_keys),
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn nothing_differs_from_itself(node in any_node()) {
        for options in all_options() {
            let difference = diff(&node, &node.clone(), &options);
            prop_assert!(difference.changes.is_empty() && difference.spelling_only.is_empty());
        }
    }

    #[test]
    fn no_change_means_equal_and_no_spelling_means_identical((before, after) in pairs()) {
        let difference = diff(&before, &after, &Options::default());
        prop_assert_eq!(difference.changes.is_empty(), before.is_equal(&after));
        if before.is_equal(&after) {
            prop_assert_eq!(difference.spelling_only.is_empty(), before.is_identical(&after));
        }
    }

    #[test]
    fn the_way_back_mirrors_the_way_there((before, after) in pairs()) {
        for options in all_options() {
            let there = diff(&before, &after, &options);
            let back = diff(&after, &before, &options);
            prop_assert_eq!(all_told(&there, false), all_told(&back, true));
        }
    }

    #[test]
    fn the_changes_alone_make_after_from_before((before, after) in pairs()) {
        for is_kubernetes in [false, true] {
            let difference = diff(&before, &after, &Options { is_kubernetes, ..Options::default() });
            let changes: Vec<&Change> = difference.changes.iter().collect();
            prop_assert!(rebuilt(&before, &changes, 0).is_equal(&after), "{:?}", difference.changes);
        }
    }

    #[test]
    fn every_value_stands_where_its_path_says((before, after) in pairs()) {
        for options in all_options() {
            let difference = diff(&before, &after, &options);
            for change in difference.changes.iter().chain(&difference.spelling_only) {
                for (node, value, side) in [(&before, &change.before, DiffSide::Before), (&after, &change.after, DiffSide::After)] {
                    let Some(value) = value else { continue };
                    // A string whose formatting alone changed is shown as it is.
                    let is_formatting = matches!(change.path.last(), Some(PathStep::Embedded(_))) && value.as_str().is_some();
                    let at_path = found(node, &change.path[..change.path.len() - usize::from(is_formatting)], side);
                    prop_assert!(at_path.is_some_and(|found| found.is_identical(value)));
                    let is_inside = change.path.iter().any(|step| matches!(step, PathStep::Embedded(_)));
                    if !is_inside && has_only_text_keys(node) {
                        let at_pointer = node.at(&pointer(&change.path, side));
                        prop_assert!(at_pointer.is_some_and(|found| found.is_identical(value)));
                    }
                }
            }
        }
    }

    #[test]
    fn the_same_input_gives_the_same_output((before, after) in pairs()) {
        for options in all_options() {
            let tell = || format!("{:?}", diff(&before, &after, &options));
            prop_assert_eq!(tell(), tell());
        }
    }
}
