//! The central law: what is found from the edits alone is what comparing everything on both sides finds. Nothing is missed and
//! nothing is extra: without a cache, while it is filled, and with what it holds from before.

use std::collections::BTreeMap;
use std::sync::Mutex;

use outcrop::comparison::Comparison;
use outcrop::diff::{Change, PathStep, ResourceChange};
use outcrop::document::write;
use outcrop::impact::{Memory, NoMemory, Notable};
use outcrop::report::Report;
use outcrop::snapshot::ObjectId;
use outcrop::value::Node;
use proptest::prelude::*;

use crate::comparing::{Comparing, snapshot};

type Tree = BTreeMap<String, String>;

/// Keeps everything for the length of a test.
#[derive(Default)]
struct Remembered(Mutex<BTreeMap<ObjectId, Vec<Notable>>>);

impl Memory for Remembered {
    fn recall(&self, tree: ObjectId) -> Option<Vec<Notable>> {
        self.0.lock().unwrap().get(&tree).cloned()
    }

    fn remember(&self, tree: ObjectId, notable: &[Notable]) {
        self.0.lock().unwrap().insert(tree, notable.to_vec());
    }
}

fn run(before: &Tree, after: &Tree, memory: &dyn Memory, act: impl Fn(&Comparison<'_>) -> Report) -> Report {
    let side =
        |label, tree: &Tree| snapshot(label, tree.iter().map(|(path, text)| (path.as_str(), text.as_str()))).with_ids();
    Comparing { memory, ..Comparing::new(side("before", before), side("after", after)) }.run(act)
}

/// Everything a report says about resources, as text.
fn described(report: &Report) -> Vec<String> {
    let mut lines: Vec<String> = report.resources.iter().flat_map(resource).collect();
    let hidden = report.would_hide.iter();
    lines.extend(hidden.map(|it| format!("would hide by {}: {} {}", it.rule, it.identity, change(&it.change))));
    lines.extend(
        report.suppressed.iter().map(|taken| format!("{}: {} {}", taken.rule, taken.identity, change(&taken.change))),
    );
    lines
}

fn resource(resource: &ResourceChange) -> Vec<String> {
    let side = |side: &Option<outcrop::resource::Resource>| match side {
        // The document's position is left out: of two documents with equal text, either one may be the changed one.
        Some(side) => format!("{} {}", side.identity, side.file),
        None => "-".to_owned(),
    };
    let mut lines = vec![format!("{} = {}", side(&resource.before), side(&resource.after))];
    lines.extend(resource.changes().map(|it| format!("  {}", change(it))));
    lines
}

fn change(change: &Change) -> String {
    let step = |step: &PathStep| match step {
        PathStep::Key(key) => format!("/{}", key.name),
        PathStep::Item { before, after, label } => format!("[{before:?}{after:?}{label:?}]"),
        other => format!("{other:?}:"),
    };
    let path: String = change.path.iter().map(step).collect();
    let value = |node: &Option<Node>| node.as_ref().map(write::to_inline);
    format!("{:?} {path} {:?} {:?}", change.kind, value(&change.before), value(&change.after))
}

/// All ways to the answer agree.
fn agree(before: &Tree, after: &Tree) -> Result<(), TestCaseError> {
    let expected = described(&run(before, after, &NoMemory, |comparison| comparison.compare_everything()));
    let memory = Remembered::default();
    let cold = described(&run(before, after, &NoMemory, |comparison| comparison.compare()));
    prop_assert_eq!(&cold, &expected, "cold: {:#?} {:#?}", before, after);
    let first = described(&run(before, after, &memory, |comparison| comparison.compare()));
    prop_assert_eq!(&first, &expected, "while it is being remembered");
    let warm = described(&run(before, after, &memory, |comparison| comparison.compare()));
    prop_assert_eq!(&warm, &expected, "warm");
    // What was remembered on the way there is carried over on the way back.
    let back = described(&run(after, before, &memory, |comparison| comparison.compare()));
    prop_assert_eq!(
        &back,
        &described(&run(after, before, &NoMemory, |comparison| comparison.compare_everything())),
        "the way back"
    );
    Ok(())
}

/// Names that meet each other often.
fn directories() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "a/b", "a/b/c", "a/x", "d", "d/e", "d/x/y", "k"]).prop_map(str::to_owned)
}

fn scalars() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["1", "2", "one", "two", "true", "[1, 2]", "{p: 1, q: 2}"]).prop_map(str::to_owned)
}

/// One file: its path and its text.
fn files() -> impl Strategy<Value = (String, String)> {
    let resource = (directories(), payloads()).prop_map(|(at, text)| (format!("{at}/resource.yaml"), text));
    let legacy = (directories(), payloads()).prop_map(|(at, text)| (format!("{at}.yaml"), text));
    let plain = (directories(), payloads()).prop_map(|(at, text)| (format!("{at}/plain.yaml"), text));
    let kubernetes = (directories(), prop::collection::vec((0..3u8, scalars()), 1..4)).prop_map(|(at, documents)| {
        let document = |(name, value): (u8, String)| {
            format!("apiVersion: v1\nkind: Thing\nmetadata: {{name: n{name}}}\nspec: {{value: {value}}}\n")
        };
        (format!("{at}/things.yaml"), documents.into_iter().map(document).collect::<Vec<_>>().join("---\n"))
    });
    let shared = payloads().prop_map(|text| ("shared.yaml".to_owned(), text));
    let deep = scalars().prop_map(|value| ("deep.yaml".to_owned(), format!("deep: {value}\n")));
    prop_oneof![4 => resource, 2 => legacy, 1 => plain, 2 => kubernetes, 2 => shared, 1 => deep, 3 => layers(), 3 => patches()]
}

fn payloads() -> impl Strategy<Value = String> {
    let plain = (scalars(), scalars()).prop_map(|(id, value)| format!("id: {id}\nvalue: {value}\n"));
    let includes = (scalars(), prop::sample::select(vec!["shared.yaml", "deep.yaml"]), 0..4usize)
        .prop_map(|(id, file, levels)| format!("id: {id}\nfrom:\n  +?include: {}{file}\n", "../".repeat(levels)));
    let climbs = (scalars(), 1..4usize)
        .prop_map(|(id, levels)| format!("id: {id}\n+?include: {}shared.yaml\n", "../".repeat(levels)));
    let directive = scalars().prop_map(|value| format!("base: {{x: {value}}}\nuser:\n  +/base:\n"));
    let reads = vec![
        "{eval: \"::a/b::value\"}",
        "{eval: \"::d::id\"}",
        "{eval: \".::id\"}",
        "{eval: \"..::value\"}",
        "{eval: \"from::deep\"}",
        "{eval: \".children::id\"}",
        "{eval: \".descendents::value\"}",
        "{eval: {concat: [{eval: \"::a::id\"}, x]}}",
    ];
    let expression =
        (scalars(), prop::sample::select(reads)).prop_map(|(id, read)| format!("id: {id}\nvalue: {read}\n"));
    prop_oneof![4 => plain, 1 => includes, 2 => climbs, 1 => directive, 3 => expression]
}

fn layers() -> impl Strategy<Value = (String, String)> {
    let place = prop_oneof![
        directories().prop_map(|at| format!("{at}/_")),
        directories(),
        Just("_".to_owned()),
        Just("a/_/c/_".to_owned()),
        Just("d/x*/_".to_owned()),
    ];
    let text = prop_oneof![
        3 => prop::sample::select(vec!["id", "value", "name"])
            .prop_map(|name| format!("resourceInfo: {{idFromAttribute: {name}}}\n")),
        1 => Just("resourceInfo: {secretInAttributes: [value]}\n".to_owned()),
        2 => prop::sample::select(vec!["./{{.id}}", "/v1/{{.id}}", "/x/{{../id}}/y", "./{{../../value}}", "./{{.value}}"])
            .prop_map(|path| format!("operationInfo: {{updateResource: {{path: \"{path}\"}}}}\n")),
        2 => (
            prop::sample::select(vec!["/a/{{.zone}}", "/{{.zone}}/b/{{.id}}", "/d/{{.zone}}/{{.id}}", "/{{.zone}}"]),
            prop::sample::select(vec!["./{{.id}}", "/g/{{.zone}}", "/g/{{../zone}}"]),
        )
            .prop_map(|(update, get)| format!(
                "operationInfo:\n  updateResource: {{path: \"{update}\"}}\n  getResource: {{path: \"{get}\"}}\n"
            )),
        1 => prop::sample::select(vec!["{{.zone}}", "{{.id}}", "{{../zone}}", "x"]).prop_map(|value| {
            format!("operationInfo: {{updateResource: {{httpHeaders: [{{name: X-Zone, value: \"{value}\"}}]}}}}\n")
        }),
        1 => Just("resourceInfo: {collectionPath: \"/c/{{.b}}/{{.id}}\"}\n".to_owned()),
        1 => Just("operationInfo: {getResource: {httpHeaders: [{name: X-Up, value: \"{{../id}}\"}]}}\n".to_owned()),
        1 => prop::sample::select(vec!["[/value]", "[id]", "[/spec/value]", "[]"])
            .prop_map(|list| format!("operationInfo: {{compareResources: {{suppressAttributes: {list}}}}}\n")),
        1 => Just("operationInfo: {compareResources: {jqExpression: \"del(.id)\"}}\n".to_owned()),
        1 => Just("operationInfo: {defaults: {payload: {jqExpression: \".extra = .id\"}}}\n".to_owned()),
        1 => (1..4usize).prop_map(|levels| {
            format!("operationInfo:\n  getResource:\n    query:\n      +?include: {}deep.yaml\n", "../".repeat(levels))
        }),
    ];
    (place, text).prop_map(|(at, text)| (format!("{at}/metadata.yaml"), text))
}

fn patches() -> impl Strategy<Value = (String, String)> {
    let place = prop_oneof![
        directories().prop_map(|at| format!("{at}/_")),
        directories(),
        Just("_".to_owned()),
        Just("a/_/c/_".to_owned()),
        Just("d/x*/_".to_owned()),
    ];
    let add = |value: String| format!("- operations: [{{op: add, path: /added, value: {value}}}]\n");
    let text = prop_oneof![
        scalars().prop_map(add),
        prop::sample::select(vec!["Thing", "Other"]).prop_map(|kind| {
            format!("- target: {{kind: {kind}}}\n  operations: [{{op: add, path: /spec/patched, value: true}}]\n")
        }),
        prop::sample::select(vec!["1", "2"]).prop_map(|id| {
            format!("- target: {{where: \"${{has(resource.id) && resource.id == {id}}}\"}}\n  operations: [{{op: add, path: /where, value: {id}}}]\n")
        }),
        scalars().prop_map(|value| format!("parameters: {{tier: {value}}}\npatches: []\n")),
        Just("- operations: [{op: add, path: /tier, value: \"${parameters.?tier.orValue('none')}\"}]\n".to_owned()),
        Just("- operations: [{op: add, path: /known, value: \"${path.logical}\"}]\n".to_owned()),
        Just("- operations: [{op: add, path: /said, value: \"${metadata}\"}]\n".to_owned()),
        Just("inherit: false\npatches: []\n".to_owned()),
        Just("removes: [{target: {where: \"${has(resource.id) && resource.id == 2}\"}}]\n".to_owned()),
        Just("- operations: [{op: remove, path: /absent/x}, {op: replace, path: /value, value: 9}]\n".to_owned()),
        (1..4usize).prop_map(|levels| format!("parameters:\n  +?include: {}deep.yaml\npatches: []\n", "../".repeat(levels))),
    ];
    (place, text).prop_map(|(at, text)| (format!("{at}/patches.yaml"), text))
}

fn trees() -> impl Strategy<Value = Tree> {
    prop::collection::vec(files(), 1..12).prop_map(|files| without_clashes(files.into_iter().collect()))
}

/// A path cannot be a file and a directory at once; such files are left out.
fn without_clashes(tree: Tree) -> Tree {
    let is_directory = |path: &String| tree.keys().any(|other| other.starts_with(&format!("{path}/")));
    tree.iter().filter(|(path, _)| !is_directory(path)).map(|(path, text)| (path.clone(), text.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_edits_affect_is_what_comparing_everything_finds(
        before in trees(),
        edits in prop::collection::vec((files(), any::<prop::sample::Index>(), 0..3u8), 1..4),
    ) {
        let mut after = before.clone();
        for ((path, text), at, how) in edits {
            let known = after.keys().nth(at.index(after.len().max(1))).cloned();
            match (how, known) {
                // A new file, another text for an old one, or one file less.
                (0, _) | (_, None) => {
                    after.insert(path, text);
                }
                (1, Some(known)) => {
                    after.remove(&known);
                }
                (_, Some(known)) => {
                    if known.rsplit('/').next() == path.rsplit('/').next() {
                        after.insert(known, text);
                    } else {
                        after.insert(path, text);
                    }
                }
            }
        }
        agree(&before, &without_clashes(after))?;
    }
}
