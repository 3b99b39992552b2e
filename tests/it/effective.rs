//! The central law: what is found from the edits alone is what comparing everything on both sides finds. Nothing is missed and
//! nothing is extra: without a cache, while it is filled, with what it holds from before, with one that forgets, and with one that
//! holds facts about files that do not exist.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use outcrop::diff::{Change, PathStep, ResourceChange};
use outcrop::document::write;
use outcrop::impact::{Memory, NoMemory};
use outcrop::layout::{Declarest, FileFacts, Input, Kubernetes, LAYOUTS, Layout, Plain, TreeFacts};
use outcrop::path::RepoPath;
use outcrop::report::Report;
use outcrop::snapshot::{Entry, Listing, MemorySnapshot, ObjectId, Snapshot, Unreadable};
use outcrop::value::Node;
use proptest::prelude::*;

use crate::comparing::{Comparing, snapshot};
use crate::kustomize_layout;
use crate::openchoreo_layout;
use crate::stack_layout::{self, Stacks};

type Tree = BTreeMap<String, String>;

/// Keeps everything for the length of a test.
#[derive(Default)]
struct Remembered {
    trees: Mutex<BTreeMap<(ObjectId, String), TreeFacts>>,
    /// Whether facts about files that do not exist, and about files that depend on nothing, are added to what is recalled.
    adds_nonsense: bool,
    /// Whether every second tree is forgotten.
    is_forgetful: bool,
}

impl Memory for Remembered {
    fn recall(&self, tree: ObjectId, reading: &str) -> Option<TreeFacts> {
        let mut facts = self.trees.lock().unwrap().get(&(tree, reading.to_owned())).cloned()?;
        if self.adds_nonsense {
            let path = |text: &str| RepoPath::new(text).unwrap();
            let inputs = [Input::File(path("gone.yaml")), Input::Subtree(RepoPath::root())];
            let nonsense = FileFacts { inputs: Arc::new(inputs), entries: Arc::default() };
            let mut files = (*facts.files).clone();
            for file in ["nowhere/x.yaml", "a", "a/resource.yaml", "shared.yaml", "outcrop.yaml"] {
                files.insert(path(file), nonsense.clone());
            }
            facts.files = Arc::new(files);
        }
        Some(facts)
    }

    fn remember(&self, tree: ObjectId, reading: &str, facts: &TreeFacts) {
        if !self.is_forgetful || tree.as_bytes()[0].is_multiple_of(2) {
            self.trees.lock().unwrap().insert((tree, reading.to_owned()), facts.clone());
        }
    }
}

fn in_memory(label: &str, tree: &Tree) -> MemorySnapshot {
    snapshot(label, tree.iter().map(|(path, text)| (path.as_str(), text.as_str()))).with_ids()
}

/// Every layout, and one that exists only in tests.
const WITH_STACKS: &[&dyn Layout] = &[&Stacks, &Declarest, &Kubernetes, &Plain];

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
        Some(side) => format!("{} {}", side.identity, side.home()),
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
fn agree(before: &Tree, after: &Tree, layouts: &[&dyn Layout]) -> Result<(), TestCaseError> {
    let run = |before: &Tree, after: &Tree, memory: &dyn Memory| {
        let comparing = Comparing::new(in_memory("before", before), in_memory("after", after));
        described(&Comparing { memory, layouts, ..comparing }.run(|comparison| comparison.compare()))
    };
    let everything = |before: &Tree, after: &Tree| {
        let comparing = Comparing::new(in_memory("before", before), in_memory("after", after));
        described(&Comparing { layouts, ..comparing }.run(|comparison| comparison.compare_everything()))
    };
    let expected = everything(before, after);
    let cold = run(before, after, &NoMemory);
    prop_assert_eq!(&cold, &expected, "cold: {:#?} {:#?}", before, after);
    let memory = Remembered::default();
    let first = run(before, after, &memory);
    prop_assert_eq!(&first, &expected, "while it is being remembered");
    let warm = run(before, after, &memory);
    prop_assert_eq!(&warm, &expected, "warm: {:#?} {:#?}", before, after);
    // What was remembered on the way there is carried over on the way back.
    let back = run(after, before, &memory);
    prop_assert_eq!(&back, &everything(after, before), "the way back");
    for memory in [
        Remembered { adds_nonsense: true, ..Remembered::default() },
        Remembered { is_forgetful: true, ..Remembered::default() },
    ] {
        for turn in ["cold", "warm"] {
            let found = run(before, after, &memory);
            prop_assert_eq!(&found, &expected, "{}, nonsense: {}", turn, memory.adds_nonsense);
        }
    }
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

fn trees(files: impl Strategy<Value = (String, String)>) -> impl Strategy<Value = Tree> {
    prop::collection::vec(files, 1..12).prop_map(|files| without_clashes(files.into_iter().collect()))
}

/// A file to add or to take the text of, which file to edit, and how.
type Edit = ((String, String), prop::sample::Index, u8);

fn edits(files: impl Strategy<Value = (String, String)>) -> impl Strategy<Value = Vec<Edit>> {
    prop::collection::vec((files, any::<prop::sample::Index>(), 0..3u8), 1..4)
}

/// A path cannot be a file and a directory at once; such files are left out.
fn without_clashes(tree: Tree) -> Tree {
    let is_directory = |path: &String| tree.keys().any(|other| other.starts_with(&format!("{path}/")));
    tree.iter().filter(|(path, _)| !is_directory(path)).map(|(path, text)| (path.clone(), text.clone())).collect()
}

fn edited(before: &Tree, edits: Vec<Edit>) -> Tree {
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
                let is_alike = known.rsplit('/').next() == path.rsplit('/').next();
                after.insert(if is_alike { known } else { path }, text);
            }
        }
    }
    without_clashes(after)
}

/// Files of every built-in layout, and of the layout that exists only in tests.
fn files_with_stacks() -> impl Strategy<Value = (String, String)> {
    prop_oneof![1 => files(), 2 => stack_layout::files()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn what_edits_affect_is_what_comparing_everything_finds(before in trees(files()), edits in edits(files())) {
        let after = edited(&before, edits);
        agree(&before, &after, LAYOUTS)?;
    }

    #[test]
    fn the_law_holds_for_units_with_every_kind_of_input(
        before in trees(files_with_stacks()),
        edits in edits(files_with_stacks()),
    ) {
        let after = edited(&before, edits);
        agree(&before, &after, WITH_STACKS)?;
    }
}

/// Files of every built-in layout, mostly of kustomize.
fn files_with_kustomize() -> impl Strategy<Value = (String, String)> {
    prop_oneof![1 => files(), 6 => kustomize_layout::files()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn the_law_holds_for_kustomize_roots(
        before in trees(files_with_kustomize()),
        edits in edits(files_with_kustomize()),
    ) {
        let after = edited(&before, edits);
        agree(&before, &after, LAYOUTS)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn the_law_holds_for_components_of_openchoreo(
        before in trees(openchoreo_layout::files()),
        edits in edits(openchoreo_layout::files()),
    ) {
        let after = edited(&before, edits);
        agree(&before, &after, LAYOUTS)?;
    }
}

/// A snapshot that notes which files are read.
struct Watched {
    files: MemorySnapshot,
    read: Mutex<BTreeSet<String>>,
}

impl Snapshot for Watched {
    fn label(&self) -> &str {
        self.files.label()
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        self.files.list(directory)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.files.entry(path)
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        self.read.lock().unwrap().insert(file.path.to_string());
        self.files.read(file)
    }
}

/// The files that comparing two trees opens on either side.
fn opened(before: &Tree, after: &Tree, memory: &dyn Memory, layouts: &[&dyn Layout]) -> Vec<String> {
    let watched = |label, tree| Watched { files: in_memory(label, tree), read: Mutex::default() };
    let comparing = Comparing { memory, layouts, ..Comparing::new(watched("before", before), watched("after", after)) };
    comparing.run(|comparison| comparison.compare());
    let read = |side: Watched| side.read.into_inner().unwrap();
    read(comparing.before).union(&read(comparing.after)).cloned().collect()
}

fn tree(files: &[(&str, &str)]) -> Tree {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

/// What all ways find to differ.
fn agreed(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    let (before, after) = (tree(before), tree(after));
    agree(&before, &after, LAYOUTS).unwrap();
    let comparing = Comparing::new(in_memory("before", &before), in_memory("after", &after));
    described(&comparing.run(|comparison| comparison.compare()))
}

const WHERE: &str = "- target: {where: \"${has(resource.id) && resource.id == 1}\"}\n  operations: [{op: add, path: /where, value: 1}]\n";
const SECRET_VALUE: (&str, &str) = ("_/metadata.yaml", "resourceInfo: {secretInAttributes: [value]}\n");

#[test]
fn a_declared_name_does_not_hide_the_fields_of_patches() {
    let files = [("_/patches.yaml", WHERE), ("a/resource.yaml", "id: 1\nvalue: 1\n")];
    let shown = agreed(&files, &[files[0], files[1], SECRET_VALUE]).join("\n");
    assert!(!shown.contains("/where") && !shown.contains("/value"), "{shown}");
    // What is added to a plain place is shown, there and in the patches.
    let edited = WHERE.replace("value: 1", "value: 2");
    let shown =
        agreed(&[files[0], files[1], SECRET_VALUE], &[(files[0].0, &edited), files[1], SECRET_VALUE]).join("\n");
    assert_eq!(shown.matches("Some(\"1\") Some(\"2\")").count(), 2, "{shown}");
    // What is added to a secret place is not.
    let [old, new] =
        ["first", "second"].map(|value| format!("- operations: [{{op: add, path: /value, value: {value}}}]\n"));
    let shown = agreed(&[(files[0].0, &old), files[1], SECRET_VALUE], &[(files[0].0, &new), files[1], SECRET_VALUE]);
    let shown = shown.join("\n");
    assert_eq!(shown.matches("•••").count(), 4, "{shown}");
    assert!(!shown.contains("first") && !shown.contains("second"), "{shown}");
}

#[test]
fn what_is_hidden_does_not_depend_on_what_else_is_read() {
    let shared = [
        ("shared.yaml", "value: first\n"),
        ("a/resource.yaml", "id: 1\n+?include: ../shared.yaml\n"),
        ("a/_/metadata.yaml", "resourceInfo: {secretInAttributes: [value]}\n"),
        ("a/metadata.yaml", "resourceInfo: {secretInAttributes: [value]}\n"),
    ];
    // A file that a secret is taken from is included elsewhere.
    let [before, after] = ["id: 2\n", "id: 2\nfrom:\n  +?include: ../shared.yaml\n"]
        .map(|text| shared.into_iter().chain([("d/resource.yaml", text)]).collect::<Vec<_>>());
    let shown = agreed(&before, &after).join("\n");
    assert!(shown.contains("/from") && shown.contains("•••") && !shown.contains("first"), "{shown}");
    // One of two equal secrets goes, and a plain copy of it is edited.
    let copies = [("b.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\nstringData: {x: hunter22}\n")];
    let [before, after] = [("hunter22", "a"), ("hunter23", "b")].map(|(secret, note)| {
        let text = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: c}}\nstringData: {{x: {secret}}}\n---\nplain: hunter22\nnote: {note}\n"
        );
        [copies[0], ("c.yaml", Box::leak(text.into_boxed_str()) as &str)]
    });
    let shown = agreed(&before, &after).join("\n");
    assert!(shown.contains("/note") && !shown.contains("/plain") && !shown.contains("hunter"), "{shown}");
}

#[test]
fn a_warm_comparison_opens_only_files_that_differ() {
    let mut before = tree(&[
        ("evaluation.yaml", "retrieval: {eval: 1, other: 2}\n"),
        ("script.yaml", "run: |\n  make \\\n    eval\n"),
        ("escaped.json", "{\"a\": \"\\u0065val\"}"),
        ("app/resource.yaml", "id: 1\n"),
        ("app/_/metadata.yaml", "resourceInfo: {idFromAttribute: id}\n"),
        ("base.yaml", "x: 1\n"),
        ("user.yaml", "y:\n  +include: base.yaml\n"),
    ]);
    before.extend((0..50).map(|number| (format!("many/{number}.yaml"), format!("evaluate: {number}\n"))));
    let mut after = before.clone();
    after.insert("app/resource.yaml".to_owned(), "id: 2\n".to_owned());
    let memory = Remembered::default();
    assert!(opened(&before, &after, &memory, LAYOUTS).len() > 50, "everything is looked at once");
    assert_eq!(opened(&before, &after, &memory, LAYOUTS), ["app/_/metadata.yaml", "app/resource.yaml"]);
    let mut next = after.clone();
    next.insert("many/7.yaml".to_owned(), "evaluate: no\n".to_owned());
    assert_eq!(opened(&after, &next, &memory, LAYOUTS), ["many/7.yaml"], "carried over to the next commit");
    let mut last = next.clone();
    last.insert("base.yaml".to_owned(), "x: 2\n".to_owned());
    assert_eq!(opened(&next, &last, &memory, LAYOUTS), ["base.yaml", "user.yaml"], "and to the dependents of an edit");
}

#[test]
fn only_units_with_an_input_that_differs_are_rendered_again() {
    let before = tree(&[
        ("stacks/one.yaml", "file: a.yaml\n"),
        ("stacks/two.yaml", "file: b.yaml\n"),
        ("stacks/three.yaml", "of: one\nmakes: more\n"),
        ("made/more.yaml", "thing: n1\nfrom: k\n"),
        ("k/things.yaml", "apiVersion: v1\nkind: Thing\nmetadata: {name: n1}\n"),
        ("a.yaml", "x: 1\n"),
        ("b.yaml", "x: 1\n"),
    ]);
    let edit = |path: &str, text: &str| {
        let mut after = before.clone();
        after.insert(path.to_owned(), text.to_owned());
        let memory = Remembered::default();
        opened(&before, &after, &memory, WITH_STACKS);
        opened(&before, &after, &memory, WITH_STACKS)
    };
    assert_eq!(edit("a.yaml", "x: 2\n"), ["a.yaml", "stacks/one.yaml", "stacks/three.yaml"]);
    assert_eq!(edit("b.yaml", "x: 2\n"), ["b.yaml", "stacks/two.yaml"]);
    let nearer = "apiVersion: v1\nkind: Thing\nmetadata: {name: n1}\n";
    assert_eq!(edit("k/nearer/things.yaml", nearer), ["k/nearer/things.yaml", "made/more.yaml"]);
    assert_eq!(edit("far.yaml", nearer), ["far.yaml"], "there is one nearer");
}
