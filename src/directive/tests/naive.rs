//! A naive expander to compare the engine with: it expands everything, looks targets up in the result of the previous round, and
//! repeats until nothing changes. It shares the merge of two values and the key grammar with the engine, so it tests the search for
//! targets, not the merge.

use proptest::prelude::*;

use super::*;
use crate::directive::combine::{Combiner, MergeSide, without_leftovers};
use crate::directive::key::{self, PlusKey, Reference};
use crate::path::Pointer;
use crate::value::{Entry, list_index};
use smol_str::SmolStr;

/// Why there is no result.
#[derive(Debug, PartialEq, Eq, Clone, Copy, PartialOrd, Ord)]
enum Failure {
    Missing,
    Cycle,
    Conflict,
    Unsettled,
}

struct Naive<'a> {
    raw: &'a Node,
    doc: Node,
    is_first: bool,
    profile: MergeProfile,
    /// Maps and targets being expanded.
    open: Vec<Vec<SmolStr>>,
    failures: Vec<Failure>,
}

enum Made {
    Node(Node),
    Removed,
}

fn naive(raw: &Node, profile: MergeProfile) -> Result<Node, Vec<Failure>> {
    let mut naive = Naive { raw, doc: raw.clone(), is_first: true, profile, open: Vec::new(), failures: Vec::new() };
    for _ in 0..40 {
        naive.failures.clear();
        let made = match naive.make(naive.raw.clone(), &mut Vec::new()) {
            Made::Node(node) => node,
            Made::Removed => Node::map(Vec::new(), raw.span),
        };
        if naive.failures.contains(&Failure::Cycle) {
            return Err(vec![Failure::Cycle]);
        }
        if !naive.is_first && made.is_identical(&naive.doc) {
            naive.failures.sort();
            naive.failures.dedup();
            return if naive.failures.is_empty() { Ok(without_leftovers(&made)) } else { Err(naive.failures) };
        }
        naive.doc = made;
        naive.is_first = false;
    }
    Err(vec![Failure::Unsettled])
}

impl Naive<'_> {
    fn make(&mut self, node: Node, path: &mut Vec<SmolStr>) -> Made {
        match &node.value {
            Value::List(list) => {
                let mut items = Vec::new();
                for (index, item) in list.items().iter().enumerate() {
                    path.push(index.to_string().into());
                    let is_directive_map =
                        item.as_map().is_some_and(|map| map.entries().iter().any(|it| directive(it).is_some()));
                    if let Made::Node(made) = self.make(item.clone(), path) {
                        match made.as_list().filter(|_| is_directive_map) {
                            Some(list) => items.extend(list.iter().cloned()),
                            None => items.push(made),
                        }
                    }
                    path.pop();
                }
                Made::Node(Node::list(items, node.span))
            }
            Value::Map(_) => self.make_map(&node, path),
            _ => Made::Node(node),
        }
    }

    fn make_map(&mut self, node: &Node, path: &mut Vec<SmolStr>) -> Made {
        let entries = node.as_map().expect("a map").entries();
        self.open.push(path.clone());
        let mut own = Vec::new();
        let mut bases = Vec::new();
        let mut pending = Vec::new();
        let mut vanishing = 0;
        for entry in entries {
            match directive(entry) {
                None => {
                    path.push(entry.key.name.clone());
                    if let Made::Node(value) = self.make(entry.value.clone(), path) {
                        own.push(Entry { key: entry.key.clone(), value });
                    }
                    path.pop();
                }
                Some(reference) => match self.target(&reference, path) {
                    Some(base) if base.as_map().is_some() || entries.len() == 1 => bases.push(base),
                    Some(_) => self.failures.push(Failure::Conflict),
                    None if reference.is_optional => vanishing += 1,
                    None => {
                        self.failures.push(Failure::Missing);
                        pending.push(entry.clone());
                    }
                },
            }
        }
        self.open.pop();
        if vanishing == entries.len() && vanishing > 0 {
            return Made::Removed;
        }
        if let ([base], 1) = (bases.as_slice(), entries.len())
            && base.as_map().is_none()
        {
            return Made::Node(base.clone());
        }
        let mut produced = 0;
        let mut combiner =
            Combiner { profile: self.profile, produced: &mut produced, forbidden: Vec::new(), keeps_history: false };
        bases.push(Node::map(own, node.span));
        let mut made = bases[0].clone();
        for top in &bases[1..] {
            made =
                combiner.maps(MergeSide { node: &made, provenance: None }, MergeSide { node: top, provenance: None });
        }
        if !pending.is_empty() {
            let all = made.as_map().expect("a map").entries().iter().cloned().chain(pending);
            made = Node::map(all.collect(), node.span);
        }
        Made::Node(made)
    }

    fn target(&mut self, reference: &Reference, path: &[SmolStr]) -> Option<Node> {
        let up = reference.dots.saturating_sub(1);
        let start = if reference.dots == 0 { 0 } else { path.len().saturating_sub(up) };
        let mut at: Vec<SmolStr> = path[..start].to_vec();
        at.extend(reference.pointer.tokens().iter().cloned());
        let found = self.doc.at(&at.iter().cloned().collect::<Pointer>())?.clone();
        if self.open.contains(&at) {
            self.failures.push(Failure::Cycle);
            return None;
        }
        if !self.is_first && !index::has_plus_keys(&found) {
            return Some(found);
        }
        self.open.push(at.clone());
        let made = self.make(found, &mut at);
        self.open.pop();
        match made {
            Made::Node(node) => Some(node),
            Made::Removed => None,
        }
    }
}

fn directive(entry: &Entry) -> Option<Reference> {
    match key::read(&entry.key) {
        PlusKey::Directive(reference) => Some(reference),
        _ => None,
    }
}

/// A flow map or list with directives here and there.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[1-3]",
        Just("null".to_owned()),
        Just("{}".to_owned()),
        Just("[]".to_owned()),
        Just("{+%: whiteout}".to_owned())
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            4 => map_of(inner.clone()),
            1 => proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", "))),
        ]
    })
}

fn map_of(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let key = "[abc]";
    let pointer = "(/[abc012]){1,2}";
    let directive = (
        "[+]",
        prop_oneof![1 => "", 4 => "[?]"],
        prop_oneof![8 => "", 1 => "[.]", 2 => "[.]{2}", 1 => "[.]{3}"],
        pointer,
    )
        .prop_map(|(plus, optional, dots, pointer)| [plus, optional, dots, pointer.to_owned()].concat());
    let entries = proptest::collection::btree_map(key, inner, 0..3);
    let directives = proptest::collection::btree_set(directive, 0..2);
    (entries, directives).prop_map(|(entries, directives)| {
        let directives = directives.into_iter().map(|it| format!("{it}: "));
        let entries = entries.into_iter().map(|(key, value)| format!("{key}: {value}"));
        format!("{{{}}}", directives.chain(entries).collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn document() -> impl Strategy<Value = String> {
    map_of(value())
}

fn kinds(findings: &[Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.rule.id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_the_rule(text in document(), is_unfurl: bool) {
        let profile = if is_unfurl { MergeProfile::Unfurl } else { MergeProfile::Plain };
        let world = World { profile, ..World::new(&[]) };
        let raw = world.parse(&text).root;
        let expected = naive(&raw, profile);
        let outcome = world.expand(&text);
        let is = outcome.value.root;
        match expected {
            // What may be missing and contains itself counts as missing to the rule and as a cycle to the engine.
            Ok(_) if text.contains('?') && kinds(&outcome.findings).contains(&"merge/recursive-include") => {}
            // What vanishes because it was found differs, too.
            Ok(_) if text.contains("whiteout") && !outcome.findings.is_empty() => {}
            // A marker that a directive brings in is a value to the rule and nothing to an optional reference of the engine.
            Ok(_) if text.contains("whiteout") && text.contains('?') => {}
            Ok(expected) => {
                prop_assert!(outcome.findings.is_empty(), "should be {} but {:?}", document::write::to_inline(&expected), kinds(&outcome.findings));
                prop_assert!(is.is_identical(&expected), "is {} should be {}", document::write::to_inline(&is), document::write::to_inline(&expected));
            }
            // A target that vanishes because it was found has no right answer.
            Err(failures) if failures == [Failure::Unsettled] => {}
            Err(failures) => prop_assert!(!outcome.findings.is_empty(), "should fail with {failures:?} but is {}", document::write::to_inline(&is)),
        }
    }
}

#[test]
fn list_indexes_are_strict() {
    assert_eq!(list_index("01"), None);
}
