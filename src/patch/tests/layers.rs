//! Patch files in layers: selection, parameters, removals, and the findings about them.

use super::shown;
use crate::finding::Finding;
use crate::limits::Limits;
use crate::metadata::Layers;
use crate::patch::{PatchFiles, PatchSubject, Patched, apply_layers};
use crate::path::{LogicalPath, RepoPath};
use crate::snapshot::MemorySnapshot;
use crate::text::Sources;

fn patched(files: &[(&str, &str)], path: &str, payload: &str) -> (Patched, Vec<Finding>, Vec<String>) {
    let add = |snapshot: MemorySnapshot, (path, text): &(&str, &str)| {
        snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes())
    };
    let snapshot = files.iter().fold(MemorySnapshot::new("test"), add);
    let (sources, limits) = (Sources::default(), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), &sources, &limits);
    let test = super::PatchTest::default();
    let (payload, attributes, metadata) =
        (test.node(payload), test.node("{realm: r}"), test.node("{resourceInfo: {}}"));
    let path = LogicalPath::parse(path).unwrap();
    let alias = path.last().unwrap().to_owned();
    let set = PatchFiles::default().files_for(&path, &layers, &sources, &limits);
    let subject = PatchSubject { path: &path, alias: &alias, attributes: &attributes, metadata: &metadata };
    let outcome = apply_layers(&payload, &set, &subject, &limits, &mut |_| {});
    let read = set.files.iter().map(|file| file.path.to_string()).collect();
    (outcome.value, outcome.findings, read)
}

fn payload(patched: &Patched) -> String {
    patched.payload.as_ref().map_or("removed".to_owned(), shown)
}

const APPEND: &str = "- operations: [{op: add, path: /l/-, value: '${path.segments}'}]\n";

#[test]
fn files_are_found_like_layers() {
    let files = [
        ("_/patches.yaml", APPEND),
        ("a/resource.yaml", "{}"),
        ("a/b/patches.json", "[]"),
        ("a/b/resource.yaml", "{}"),
        ("a/_/patches.yml", APPEND),
        ("_/_/patches.yaml", APPEND),
        ("a/b*/_/patches.yaml", APPEND),
        ("a/c/_/patches.yaml", APPEND),
        ("a/patches.yaml", APPEND),
    ];
    let (after, findings, read) = patched(&files, "/a/b", "{}");
    assert_eq!(
        read,
        ["_/patches.yaml", "_/_/patches.yaml", "a/_/patches.yml", "a/b*/_/patches.yaml", "a/b/patches.json"]
    );
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(payload(&after), "{l: [[a, b], [a, b], [a, b], [a, b]]}");
}

#[test]
fn inputs_of_expressions() {
    let file = "- operations: [{op: add, path: /x, value: '${path.collection} ${attributes.realm} ${has(metadata.resourceInfo)} ${parameters}'}]\n";
    let (after, findings, _) = patched(&[("c/_/patches.yaml", file)], "/c/d", "{}");
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(payload(&after), "{x: \"/c r true {}\"}");
}

#[test]
fn parameters_are_merged_and_cleared_at_every_level() {
    let show = "parameters: {a: {x: 1, y: {z: 1}}, l: [1], n: 1}\npatches: [{operations: [{op: add, path: /p, value: '${parameters}'}]}]\n";
    let files = [
        ("_/patches.yaml", show),
        ("c/_/patches.yaml", "parameters: {a: {x: null, y: {w: null, v: 2}}, l: [2], m: {q: null}}\n"),
        ("c/d/patches.yaml", "parameters: {n: null}\n"),
    ];
    let (after, _, _) = patched(&files, "/c/d", "{}");
    assert_eq!(payload(&after), "{p: {a: {y: {z: 1, v: 2}}, l: [2], m: {}}}");
}

#[test]
fn removals_come_after_patches_and_say_who() {
    let file = "patches: [{operations: [{op: add, path: /gone, value: true}]}]\nremoves: [{target: {name: other}}, {target: {where: '${resource.gone}'}}]\n";
    let deeper = "- operations: [{op: replace, path: /nothing, value: 1}]\n";
    let (after, findings, _) = patched(&[("_/patches.yaml", file), ("c/d/patches.yaml", deeper)], "/c/d", "{}");
    assert!(findings.is_empty() && after.is_complete, "{findings:?}");
    assert_eq!(payload(&after), "removed");
    assert_eq!(after.used.iter().map(|used| used.is_used).collect::<Vec<_>>(), [true, false, true, false]);
    assert_eq!(after.removed_by, Some(after.used[2].at));
}

#[test]
fn broken_files_leave_the_resource_alone() {
    let good = ("_/patches.yaml", "- operations: [{op: add, path: /x, value: 1}]\n");
    for (text, rule) in [
        ("a: [", "document/syntax"),
        ("", "patch/invalid"),
        ("3", "patch/invalid"),
        ("inherit: maybe", "patch/invalid"),
        ("parameters: 3", "patch/invalid"),
        ("- {operations: []}", "patch/invalid"),
        ("- {operations: [{op: add, path: /x, value: '${nothing}'}]}", "patch/template"),
        ("- {target: {kind: None, where: '${nothing}'}, operations: [{op: remove, path: /x}]}", "patch/where"),
        ("removes: [{forEach: '${resource}'}]", "patch/for-each"),
        ("removes: [{operations: []}]", "patch/unknown-key"),
    ] {
        let (after, findings, _) = patched(&[good, ("c/_/patches.yaml", text)], "/c/d", "{a: 1}");
        assert_eq!(findings.first().map(|finding| finding.rule.id), Some(rule), "{text}");
        assert_eq!((payload(&after), after.is_complete), ("{a: 1}".to_owned(), false), "{text}");
    }
}

#[test]
fn warnings_do_not_stop_patches() {
    let one = "- operations: [{op: add, path: /x, value: {eval: .name}}]\n";
    let (after, findings, _) = patched(&[("_/patches.yaml", one), ("_/patches.json", "[]")], "/c", "{}");
    let rules: Vec<_> = findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["patch/two-files", "patch/eval-is-data"]);
    assert_eq!((payload(&after), after.is_complete), ("{x: {eval: .name}}".to_owned(), true));
}

#[test]
fn switching_off_what_is_inherited() {
    let files = [
        (
            "_/patches.yaml",
            "parameters: {p: 1}\npatches: [{operations: [{op: add, path: /x, value: 1}]}]\nremoves: [{}]\n",
        ),
        ("c/_/patches.yaml", "inherit: false\nparameters: {q: 1}\n"),
        ("c/d/patches.yaml", "- operations: [{op: add, path: /p, value: '${parameters}'}]\n"),
    ];
    let (after, _, read) = patched(&files, "/c/d", "{}");
    assert_eq!(payload(&after), "{p: {q: 1}}");
    assert_eq!(read, ["c/_/patches.yaml", "c/d/patches.yaml"]);
    assert_eq!(payload(&patched(&files, "/e", "{}").0), "removed");
}
