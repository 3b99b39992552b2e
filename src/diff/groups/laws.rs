//! Laws for every set of changes: each is in at most one group, whatever the order and wherever the lines are.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::diff::Difference;
use crate::diff::testing::{key, list, map, number, secret, string};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::{Identity, Resource};
use crate::text::{SourceId, SourceText, Span};
use crate::value::{KeyKind, Value};

/// A change as plain data: what happened at which of a few paths, with which values, written where.
#[derive(Debug, Clone)]
struct SampleChange {
    kind: ChangeKind,
    path: usize,
    index: usize,
    values: [usize; 2],
    places: [Written; 2],
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Written {
    Own(usize),
    Layer(usize),
    Apart(usize),
}

fn sample_change() -> impl Strategy<Value = SampleChange> {
    let kinds = prop::sample::select(vec![
        ChangeKind::Value,
        ChangeKind::Add,
        ChangeKind::Remove,
        ChangeKind::Move,
        ChangeKind::Type,
    ]);
    let place = || {
        prop_oneof![
            (0..4usize).prop_map(Written::Own),
            (0..3usize).prop_map(Written::Layer),
            (0..3usize).prop_map(Written::Apart)
        ]
    };
    (kinds, 0..4usize, 0..2usize, [0..6usize, 0..6usize], [place(), place()])
        .prop_map(|(kind, path, index, values, places)| SampleChange { kind, path, index, values, places })
}

fn repositories() -> impl Strategy<Value = Vec<Vec<SampleChange>>> {
    prop::collection::vec(prop::collection::vec(sample_change(), 0..4), 0..7)
}

struct Built {
    resources: Vec<ResourceChange>,
    sources: Sources,
}

/// The resources in this order, with everything in the files this far down.
fn built(repository: &[Vec<SampleChange>], order: &[usize], shift: usize) -> Built {
    let sources = Sources::default();
    let add = |path: &str| sources.add(SourceText::new(RepoPath::new(path).unwrap(), "x", "x".repeat(100)));
    let layers = ["_/metadata.yaml", "base.yaml"].map(add);
    let resources = order.iter().map(|&number| {
        let name = format!("r{number}");
        let own = add(&format!("{name}/resource.yaml"));
        let apart = add(&format!("{name}/metadata.yaml"));
        let files = Files { own, apart, layers, shift };
        let identity = Identity::Logical(LogicalPath::root().child(&name));
        let file = RepoPath::new(format!("{name}/resource.yaml")).unwrap();
        let payload = map(vec![]);
        let payload = Node { span: Span::new(own, 0, 1), ..payload };
        let side = Resource { identity, file, position: 0, payload, unit: None };
        let changes = repository[number].iter().map(|sample| files.change(sample)).collect();
        ResourceChange {
            before: Some(side.clone()),
            after: Some(side),
            difference: Difference { changes, ..Difference::default() },
            ..ResourceChange::default()
        }
    });
    let resources = resources.collect();
    Built { resources, sources }
}

struct Files {
    own: SourceId,
    apart: SourceId,
    layers: [SourceId; 2],
    shift: usize,
}

impl Files {
    fn change(&self, sample: &SampleChange) -> Change {
        let item = |label: Option<&str>| PathStep::Item {
            before: Some(sample.index),
            after: Some(sample.index + 1),
            label: label.map(Into::into),
        };
        let named = |name: &str| PathStep::Key(key(name, KeyKind::Text));
        let path = match sample.path {
            0 => vec![named("a"), named("b")],
            1 => vec![named("a"), item(Some("name=x"))],
            2 => vec![PathStep::Metadata, named("a"), item(None)],
            _ => vec![PathStep::Request("get".into()), named("a")],
        };
        let side = |at: usize| self.written(value(sample.values[at]), sample.places[at]);
        let before = (sample.kind != ChangeKind::Add).then(|| side(0));
        Change::new(sample.kind, path, before, (sample.kind != ChangeKind::Remove).then(|| side(1)))
    }

    fn written(&self, node: Node, written: Written) -> Node {
        let (source, at) = match written {
            Written::Own(at) => (self.own, at),
            Written::Layer(at) => (self.layers[at % 2], at),
            Written::Apart(at) => (self.apart, at),
        };
        Node { span: Span::new(source, at + self.shift, at + self.shift + 1), ..node }
    }
}

fn value(number_of: usize) -> Node {
    match number_of {
        0 => string("x"),
        1 => number("1"),
        2 => number("1.0"),
        3 => list(vec![string("x"), secret(string("hidden"))]),
        4 => secret(string("hidden")),
        _ => Node::new(Value::Null, string("").span),
    }
}

/// A group in words that do not depend on the order of resources.
type Seen = (String, BTreeSet<(String, usize)>, Vec<BTreeSet<String>>);

fn seen(built: &Built) -> Vec<Seen> {
    let name = |at: usize| built.resources[at].after.as_ref().unwrap().identity.to_string();
    let groups = groups(&built.resources, &built.sources);
    let seen = groups.iter().map(|group| {
        let members = group.members().map(|member| (name(member.resource), member.change)).collect();
        let variants = group.variants.iter().map(|variant| variant.resources().into_iter().map(name).collect());
        (group.fingerprint.to_string(), members, variants.collect())
    });
    seen.collect()
}

/// Whether two changes belong together, by the words of the rule and one at a time.
fn belong_together(a: &SampleChange, b: &SampleChange, are_apart: bool) -> bool {
    let values = |sample: &SampleChange, side: usize| value(sample.values[side]);
    let sides: Vec<usize> = match a.kind {
        ChangeKind::Add => vec![1],
        ChangeKind::Remove => vec![0],
        _ => vec![0, 1],
    };
    let is_same_side = |side: &usize| match (a.places[*side], b.places[*side]) {
        (Written::Own(_), Written::Own(_)) => values(a, *side).is_identical(&values(b, *side)),
        (Written::Own(_), _) | (_, Written::Own(_)) => false,
        _ if are_apart => values(a, *side).is_identical(&values(b, *side)),
        // Each resource has its own file beside it.
        (this, that) => this == that && !matches!(this, Written::Apart(_)),
    };
    a.kind == b.kind
        && a.path == b.path
        && (a.kind != ChangeKind::Move || !(1..=2).contains(&a.path) || a.index == b.index)
        && sides.iter().all(is_same_side)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn each_change_is_in_one_group_or_stands_alone(repository in repositories()) {
        let order: Vec<usize> = (0..repository.len()).collect();
        let built = built(&repository, &order, 0);
        let groups = groups(&built.resources, &built.sources);
        let mut of: BTreeMap<Member, usize> = BTreeMap::new();
        for (at, group) in groups.iter().enumerate() {
            prop_assert!(group.resource_count() >= 2);
            for member in group.members() {
                prop_assert!(built.resources[member.resource].change(member.change).is_some());
                prop_assert_eq!(of.insert(member, at), None);
            }
            for variant in &group.variants {
                let (_, first) = variant.example(&built.resources).unwrap();
                for member in &variant.members {
                    let change = built.resources[member.resource].change(member.change).unwrap();
                    prop_assert!(Node::same_option(first.before.as_ref(), change.before.as_ref()));
                    prop_assert!(Node::same_option(first.after.as_ref(), change.after.as_ref()));
                }
            }
        }
        let names: BTreeSet<String> = groups.iter().map(|group| group.fingerprint.to_string()).collect();
        prop_assert_eq!(names.len(), groups.len());
        prop_assert!(names.iter().all(|name| name.len() == 12));
        let all: Vec<(Member, &SampleChange)> = repository.iter().enumerate().flat_map(|(resource, changes)| {
            changes.iter().enumerate().map(move |(change, sample)| (Member { resource, change }, sample))
        }).collect();
        for (a, this) in &all {
            for (b, that) in &all {
                if belong_together(this, that, false) && a.resource != b.resource {
                    prop_assert!(of.contains_key(a) && of.get(a) == of.get(b), "{this:?} {that:?}");
                }
                let both_alone = !of.contains_key(a) && !of.contains_key(b);
                prop_assert!(!(both_alone && a.resource != b.resource && belong_together(this, that, true)));
                if of.contains_key(a) && of.get(a) == of.get(b) {
                    prop_assert!(belong_together(this, that, false) || belong_together(this, that, true));
                }
            }
        }
    }

    #[test]
    fn order_and_lines_change_nothing(repository in repositories(), seed in any::<u64>(), shift in 0usize..50) {
        let order: Vec<usize> = (0..repository.len()).collect();
        let mut shuffled = order.clone();
        shuffled.sort_by_key(|at| (*at as u64 + 1).wrapping_mul(seed | 1).rotate_left(17));
        let first = seen(&built(&repository, &order, 0));
        prop_assert_eq!(&first, &seen(&built(&repository, &shuffled, 0)));
        prop_assert_eq!(&first, &seen(&built(&repository, &order, shift)));
    }
}

#[test]
fn many_resources_come_before_few() {
    let one =
        |path, values, place| SampleChange { kind: ChangeKind::Value, path, index: 0, values, places: [place; 2] };
    let (few, many) = (one(3, [0, 1], Written::Own(0)), one(0, [1, 0], Written::Layer(1)));
    let outlier = SampleChange { values: [2, 0], ..many.clone() };
    let repository = vec![vec![few.clone(), outlier], vec![few, many.clone()], vec![many]];
    let built = built(&repository, &[0, 1, 2], 0);
    let groups = groups(&built.resources, &built.sources);
    assert_eq!(groups.iter().map(Group::resource_count).collect::<Vec<_>>(), [3, 2]);
    let variants: Vec<Vec<usize>> = groups[0].variants.iter().map(Variant::resources).collect();
    assert_eq!(variants, [vec![1, 2], vec![0]], "the outlier is a variant of its own");
    assert!(matches!(&groups[0].after.as_ref().unwrap().origin, Origin::At(place) if place.span.start == 1));
    assert!(matches!(&groups[1].after.as_ref().unwrap().origin, Origin::Own));
}

#[test]
fn a_name_says_nothing_about_secrets() {
    let named = |old: &str, new: &str| {
        let mut built = built(&[vec![], vec![]], &[0, 1], 0);
        for of in &mut built.resources {
            let hidden = |text: &str| Some(map(vec![("a", secret(string(text)))]));
            let path = |name: &str| vec![PathStep::Key(key(name, KeyKind::Text))];
            let change = Change::new(ChangeKind::Value, path("inside"), hidden(old), hidden(new));
            of.difference.changes.push(change.clone());
            let revealed = |node: Option<Node>| node.and_then(|node| node.get("a").cloned());
            let bare = Change::new(ChangeKind::Value, path("bare"), Some(string(old)), revealed(change.after));
            of.difference.changes.push(bare);
        }
        let groups = groups(&built.resources, &built.sources);
        groups.iter().map(|group| group.fingerprint.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(named("one", "two").len(), 2);
    assert_eq!(named("one", "two"), named("three", "four"));
}
