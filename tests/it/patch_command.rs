//! `outcrop patch`: patch files and JSON Patch documents applied to files by hand.

use std::io::Write as _;
use std::process::Stdio;

use crate::repo::TestRepo;

fn outcrop(repo: &TestRepo, arguments: &[&str], input: &str) -> (String, String, Option<i32>) {
    let mut command = repo.command(env!("CARGO_BIN_EXE_outcrop"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    child.stdin.take().expect("it is piped").write_all(input.as_bytes()).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.yaml", "# kept on disk\nkind: A\nnum: 1.10\n---\nkind: B\n");
    repo.write("spec.yaml", "- target: {kind: A}\n  operations: [{op: add, path: /v, value: \"${v}\"}]\n");
    repo.write(
        "json.json",
        r#"[{"op": "test", "path": "/kind", "value": "B"}, {"op": "copy", "from": "/kind", "path": "/k"}]"#,
    );
    repo
}

#[test]
fn inputs_come_from_words_and_files() {
    let repo = repository();
    let (out, err, code) = outcrop(&repo, &["patch", "spec.yaml", "a.yaml", "--input", "v=[1, two]"], "");
    assert_eq!((out.as_str(), err.as_str(), code), ("kind: A\nnum: 1.10\nv:\n- 1\n- two\n---\nkind: B\n", "", Some(0)));
    repo.write("in.yaml", "v: {deep: {x: 1}, y: 2}\n");
    let (out, _, _) = outcrop(
        &repo,
        &["patch", "spec.yaml", "a.yaml", "--input", "in.yaml", "--input", "v.deep.x=9", "--format", "json"],
        "",
    );
    let parsed: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(parsed[0]["v"], serde_json::json!({"deep": {"x": 9}, "y": 2}));
    let (_, err, code) = outcrop(&repo, &["patch", "spec.yaml", "a.yaml"], "");
    assert!(code == Some(1) && err.contains("there is no variable `v`") && err.contains("spec.yaml:2:"), "{err}");
    let (_, err, code) = outcrop(&repo, &["patch", "spec.yaml", "a.yaml", "--input", "resource=1"], "");
    assert!(code == Some(2) && err.contains("`resource` cannot be given"), "{err}");
    let kept = std::fs::read_to_string(repo.root().join("a.yaml")).unwrap();
    assert!(kept.starts_with("# kept on disk\n"), "nothing is written");
}

#[test]
fn a_json_patch_is_strict_and_all_or_nothing() {
    let repo = repository();
    let (out, _, code) = outcrop(&repo, &["patch", "json.json", "-"], "kind: B\n");
    assert_eq!((out.as_str(), code), ("kind: B\nk: B\n", Some(0)));
    let (out, err, code) = outcrop(&repo, &["patch", "json.json", "a.yaml", "-"], "kind: C\n");
    assert_eq!((out.as_str(), code), ("", Some(1)));
    assert!(err.contains("patch/test-failed") && err.contains("2 errors"), "all at once: {err}");
    assert!(err.contains("a.yaml") && err.contains("stdin.yaml"), "and for each document: {err}");
}

#[test]
fn the_difference_is_shown_instead() {
    let repo = repository();
    let (out, _, code) = outcrop(&repo, &["patch", "spec.yaml", "a.yaml", "--diff", "--input", "v=x"], "");
    assert_eq!(code, Some(0));
    assert!(out.starts_with("as written → patched   2 resources in 1 changed file\n1 changed\n"), "{out}");
    assert!(out.contains("~ a.yaml#1\n  + .v  x\n"), "{out}");
    repo.write("drop.yaml", "removes: [{target: {kind: B}}]\n");
    let (out, _, _) = outcrop(&repo, &["patch", "drop.yaml", "a.yaml", "--diff"], "");
    assert!(out.contains("1 removed") && out.contains("- a.yaml#2"), "{out}");
}

#[test]
fn errors_of_spec_and_documents_are_reported_at_once() {
    let repo = repository();
    repo.write("bad.yaml", "- operations:\n  - {op: add, path: /x}\n  - {op: nope, path: /x}\n- {targets: {}, operations: [{op: remove, path: '/[['}]}\n");
    let (_, err, code) = outcrop(&repo, &["patch", "bad.yaml", "a.yaml"], "");
    assert_eq!(code, Some(1));
    assert!(err.contains("4 errors in 1 file"), "{err}");
    repo.write("broken.yaml", "a: [\n");
    let (out, err, code) = outcrop(&repo, &["patch", "spec.yaml", "broken.yaml", "--input", "v=1"], "");
    assert!(out.is_empty() && code == Some(1) && err.contains("broken.yaml:"), "{err}");
    let (_, err, code) = outcrop(&repo, &["patch", "spec.yaml", "missing.yaml"], "");
    assert!(code == Some(2) && err.contains("missing.yaml cannot be read"), "{err}");
}

#[test]
fn directives_are_followed_in_patches_and_documents() {
    let repo = repository();
    repo.write("base/ops.yaml", "more: {deep: 1}\n");
    repo.write("base/doc.yaml", "kind: A\nfrom:\n  +include: ops.yaml\n");
    repo.write("base/p.yaml", "parameters:\n  +include: ops.yaml\npatches:\n- operations: [{op: add, path: /p, value: \"${parameters.more.deep}\"}]\n");
    let (out, err, code) = outcrop(&repo, &["patch", "base/p.yaml", "base/doc.yaml"], "");
    assert_eq!((out.as_str(), code), ("kind: A\nfrom:\n  more:\n    deep: 1\np: 1\n", Some(0)), "{err}");
}
