//! Findings belong to paths and to the change; nothing is claimed that belongs to others; what common readers accept is read.

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

/// A repository with these files, committed.
fn repository(files: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::new();
    commit(&repo, files);
    repo
}

fn commit(repo: &TestRepo, files: &[(&str, &str)]) {
    files.iter().for_each(|(path, text)| repo.write(path, text));
    repo.commit_all("edit");
}

fn check_all(repo: &TestRepo) -> Ran {
    run(&mut outcrop(repo, &["check", "--all", "--fail-on", "warning"]))
}

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";

#[test]
fn only_what_is_applied_together_is_a_duplicate() {
    let apart = repository(&[("a/x.yaml", MAP), ("b/x.yaml", MAP), ("c/y.yaml", &MAP.replace("v1\n", "v1 #\n"))]);
    assert_eq!(check_all(&apart).code, 0, "{:?}", check_all(&apart));
    let one_file = repository(&[("a/x.yaml", &format!("{MAP}---\n{MAP}"))]);
    let ran = check_all(&one_file);
    assert_eq!((ran.code, ran.stdout.matches("resource/duplicate").count()), (1, 1), "{ran:?}");
    let one_path = repository(&[("a/resource.yaml", "x: 1\n"), ("a/resource.json", "{\"x\": 1}\n")]);
    let ran = check_all(&one_path);
    assert_eq!((ran.code, ran.stdout.matches("resource/two-files").count()), (1, 1), "{ran:?}");
    let two_roots = repository(&[
        ("outcrop.yaml", "roots: [{path: x}, {path: y}]\n"),
        ("x/a/resource.yaml", "x: 1\n"),
        ("y/a/resource.yaml", "x: 1\n"),
    ]);
    assert_eq!(check_all(&two_roots).code, 0, "{:?}", check_all(&two_roots));
}

#[test]
fn the_same_content_in_three_files_is_three_places() {
    let repo = repository(&[("readme.yaml", "a: 1\n")]);
    commit(&repo, &[("a/x.yaml", "a: [\n"), ("b/x.yaml", "a: [\n"), ("c/x.yaml", "a: [\n")]);
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"]));
    for path in ["a/x.yaml", "b/x.yaml", "c/x.yaml"] {
        assert!(ran.stdout.contains(path), "{ran:?}");
    }
    assert!(ran.stdout.contains("3 errors in 3 files"), "{ran:?}");
    let double = format!("{MAP}---\n{MAP}");
    let repo = repository(&[("a/x.yaml", &double), ("b/x.yaml", &double)]);
    assert!(check_all(&repo).stdout.contains("2 warnings in 2 files"), "{:?}", check_all(&repo));
}

#[test]
fn a_file_that_moves_brings_no_new_problem() {
    let repo = repository(&[("a/x.yaml", "a: [\n"), ("y.yaml", "a: 1\n")]);
    repo.git(&["mv", "a/x.yaml", "b.yaml"]);
    repo.commit_all("move");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"]));
    assert_eq!(ran.code, 0, "{ran:?}");
}

#[test]
fn a_comparison_counts_new_problems_and_existing_ones() {
    let twice = format!("{MAP}---\n{MAP}");
    let repo = repository(&[("a.yaml", "x: 'one\ntwo'\ny: 1\n"), ("b.yaml", &twice)]);
    commit(&repo, &[("a.yaml", "x: 'one\ntwo'\ny: 2\n"), ("c.yaml", "x: 'one\ntwo'\n")]);
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"]));
    assert!(ran.stdout.contains("1 new problem; outcrop check lists all (1 existing)"), "{ran:?}");
    assert!(!ran.stdout.contains("document/lenient"), "{ran:?}");
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--format", "markdown"]));
    assert!(ran.stdout.contains("1 new problem; outcrop check lists all (1 existing)"), "{ran:?}");
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--format", "json"]));
    assert_eq!(ran.stdout.matches("\"document/lenient\"").count(), 1, "programs get the new ones: {ran:?}");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"]));
    assert_eq!((ran.code, ran.stdout.matches("document/lenient").count()), (0, 1), "{ran:?}");
    assert!(ran.stdout.contains("c.yaml") && ran.stdout.contains("1 existing problem"), "{ran:?}");
}

#[test]
fn the_older_side_is_heard_only_where_it_limits_the_comparison() {
    let repo = repository(&[("a.yaml", "x: [\n"), ("b.yaml", "x: 'one\ntwo'\n")]);
    commit(&repo, &[("a.yaml", "x: []\n"), ("b.yaml", "x: one two\n")]);
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"]));
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.contains("HEAD~1:a.yaml"), "it says at which revision: {ran:?}");
    assert!(!ran.stdout.contains("document/lenient") && !ran.stdout.contains("problem"), "{ran:?}");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"]));
    assert_eq!(ran.code, 0, "a repair is no problem: {ran:?}");
}

#[test]
fn names_of_others_are_not_claimed() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {x: y}\n";
    let unknown = "- nonsense: 1\n";
    let repo = repository(&[
        ("test/base/patches.yaml", secret),
        ("test/other/patches.yaml", unknown),
        ("chart/metadata.yaml", "version: 1\nunknown: {}\n"),
        ("tree/a/resource.yaml", "x: 1\n"),
        ("tree/a/patches.yaml", &secret.replace("Secret", "ConfigMap")),
        ("tree/_/metadata.yaml", &secret.replace("Secret", "Widget")),
    ]);
    let ran = check_all(&repo);
    assert_eq!(ran.code, 0, "{ran:?}");
    commit(&repo, &[("tree/a/patches.yaml", unknown)]);
    assert_eq!(check_all(&repo).code, 1, "in a tree of resources it is a patch file: {:?}", check_all(&repo));
}

#[test]
fn names_with_globs_are_no_paths_of_metadata() {
    let repo = repository(&[
        ("a/x.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 'all[*]'}\nsecret: hidden\n"),
        ("_/metadata.yaml", "resource: {secretAttributes: [/secret]}\n"),
    ]);
    let ran = run(&mut outcrop(&repo, &["render"]));
    assert!(!ran.stdout.contains("metadata/path") && !ran.stderr.contains("metadata/path"), "{ran:?}");
}

#[test]
fn what_common_readers_accept_is_a_warning() {
    let repo = repository(&[
        ("a.yaml", "a:\n  x: 'one\n  two'\n  y: \"three\nfour\"\n"),
        (".vscode/extensions.json", "{\n  // mine\n  \"recommendations\": [\"a\",],\n}\n"),
        ("tsconfig.build.json", "{\"a\": 1, /* why */ \"b\": [2,],}\n"),
        (".devcontainer/devcontainer.json", "{\"a\": 1,}\n"),
        ("x.jsonc", "// first\n{\"a\": 1}\n"),
        ("x.json5", "{a: 1}\n"),
        ("jinja.json", "{\n{% if x %}\n\"a\": {{ b }}\n{% endif %}\n}\n"),
        ("helm.yaml", "a: {{ .Values.a }}\n"),
        ("erb.json", "{\"a\": <%= b %>}\n"),
    ]);
    let ran = run(&mut outcrop(&repo, &["check", "--all"]));
    assert_eq!((ran.code, ran.stdout.matches("document/lenient").count()), (0, 1), "{ran:?}");
    assert!(ran.stdout.contains("1 warning in 1 file"), "{ran:?}");
    commit(&repo, &[("a.yaml", "a:\n  x: 'one\n  two'\n  y: \"three four\"\n"), ("x.jsonc", "{\"a\": 2} // last\n")]);
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"]));
    assert!(ran.stdout.contains("x.jsonc") && !ran.stdout.contains("three"), "it is read as they read it: {ran:?}");
    commit(&repo, &[("package.json", "{\"a\": 1,}\n"), ("grafana.json", "{\"a\": \"{{pod}}\",}\n")]);
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"]));
    assert!(ran.code == 1 && ran.stdout.contains("2 errors in 2 files"), "{ran:?}");
}

#[test]
fn a_text_block_at_the_end_of_a_file_without_line_break_has_none() {
    for (before, after) in [
        ("a: |\n  x\n", "a: |\n  x"),
        ("z: 1\n---\na: |\n  x\n", "z: 1\n---\na: |\n  x"),
        ("a: !t |\n  x\n", "a: !t |\n  x"),
        ("a: >+\n  x\n", "a: >+\n  x"),
    ] {
        let repo = repository(&[("a.yaml", before)]);
        commit(&repo, &[("a.yaml", after)]);
        assert_eq!(run(&mut outcrop(&repo, &["diff", "--exit-code", "HEAD~1", "HEAD"])).code, 1, "{after:?}");
        commit(&repo, &[("a.yaml", &after.replace(['|', '>'], "|-").replace("|-+", "|-"))]);
        assert_eq!(run(&mut outcrop(&repo, &["diff", "--exit-code", "HEAD~1", "HEAD"])).code, 0, "{after:?}");
    }
}

#[test]
fn a_patch_that_deletes_a_document_is_not_the_document() {
    let repo = repository(&[("a.yaml", MAP)]);
    commit(&repo, &[("patch.yaml", &format!("{MAP}$patch: delete\n"))]);
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"]));
    assert!(ran.stdout.contains("+ patch.yaml") && !ran.stdout.contains("+ ConfigMap a"), "{ran:?}");
}

#[test]
fn an_unclosed_quote_is_reported_where_it_opens() {
    let repo = repository(&[("a.yaml", "a: 1\nb: \"open\nc: 2\nd: 3\n")]);
    let ran = check_all(&repo);
    assert!(ran.code == 1 && ran.stdout.contains("a.yaml:2:4"), "{ran:?}");
}
