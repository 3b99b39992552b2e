//! `outcrop render`: resources of a snapshot in effect.

use std::fmt::Write as _;

use crate::repo::TestRepo;

fn outcrop(repo: &TestRepo, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = repo.command(env!("CARGO_BIN_EXE_outcrop")).args(arguments).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn headings(repo: &TestRepo, arguments: &[&str]) -> Vec<String> {
    let (out, err, code) = outcrop(repo, &[&["render"], arguments].concat());
    assert_eq!(code, Some(0), "{arguments:?}: {err}");
    out.lines().filter(|line| line.starts_with("# ")).map(|line| line[2..].to_owned()).collect()
}

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a/x/resource.yaml", "num: 1\n");
    repo.write("a/y/resource.yaml", "num: 2\n");
    repo.write(
        "k/all.yaml",
        "apiVersion: v1\nkind: T\nmetadata: {name: one}\n---\napiVersion: v1\nkind: T\nmetadata: {name: two}\n",
    );
    repo.write("plain.json", "{\"big\": 12345678901234567890.10}\n");
    repo.write("a/_/patches.yaml", "removes: [{target: {where: \"${resource.num == 2}\"}}]\n");
    repo.commit_all("first");
    repo
}

#[test]
fn resources_are_named_in_every_way() {
    let repo = repository();
    let all = ["/a/x  a/x/resource.yaml", "T one  k/all.yaml", "T two  k/all.yaml", "plain.json"];
    assert_eq!(headings(&repo, &[]), all);
    assert_eq!(headings(&repo, &["/a"]), all[..1]);
    assert_eq!(headings(&repo, &["/a/x"]), all[..1]);
    assert_eq!(headings(&repo, &["a/x"]), all[..1]);
    assert_eq!(headings(&repo, &["a/*/resource.yaml"]), all[..1]);
    assert_eq!(headings(&repo, &["/k/T.two"]), all[2..3]);
    assert_eq!(headings(&repo, &["T two", "plain.json"]), all[2..]);
    assert_eq!(headings(&repo, &["t/one"]), all[1..2]);
    assert_eq!(headings(&repo, &["k/all.yaml#2"]), all[2..3]);
    assert_eq!(headings(&repo, &[":!k"]), [all[0], all[3]]);
    assert_eq!(headings(&repo, &["-C", "k", "all.yaml"]), all[1..3]);
    let (out, err, code) = outcrop(&repo, &["render", "/a/x", "/absent", "T three"]);
    assert_eq!((out.as_str(), code), ("# /a/x  a/x/resource.yaml\nnum: 1\n", Some(2)));
    assert!(err.contains("no resource matches /absent, T three"), "{err}");
}

#[test]
fn what_is_dropped_is_absent_and_said_to_whoever_asked() {
    let repo = repository();
    let (out, err, code) = outcrop(&repo, &["render", "/a/y"]);
    assert_eq!((out.as_str(), err.trim(), code), ("", "note: removed by a patch: /a/y", Some(0)));
    let (out, _, _) = outcrop(&repo, &["render", "/a/y", "--steps"]);
    assert!(out.contains("# 2 of 2: after a/_/patches.yaml, which drops it\n"), "{out}");
}

#[test]
fn revisions_and_untracked_files_and_digits_are_kept() {
    let repo = repository();
    repo.write("a/x/resource.yaml", "num: 5\n");
    repo.write("a/new/resource.yaml", "num: 6\n");
    assert!(outcrop(&repo, &["render", "/a", "--at", "HEAD"]).0.ends_with("num: 1\n"));
    assert_eq!(
        outcrop(&repo, &["render", "/a"]).0,
        "# /a/new  a/new/resource.yaml\nnum: 6\n---\n# /a/x  a/x/resource.yaml\nnum: 5\n"
    );
    let (json, _, _) = outcrop(&repo, &["render", "plain.json", "--format", "json"]);
    assert!(json.contains("\"big\": 12345678901234567890.10"), "{json}");
    let parsed: serde_json::Value = serde_json::from_str(&outcrop(&repo, &["render", "--format", "json"]).0).unwrap();
    assert_eq!(parsed.as_array().unwrap().len(), 5);
}

#[test]
fn untracked_files_stand_among_tracked_ones() {
    let repo = TestRepo::new();
    let write = |at: usize| repo.write(format!("list/{at:02}.yaml"), format!("at: {at}\n"));
    (0..40).step_by(2).for_each(write);
    repo.commit_all("every other file");
    (1..40).step_by(2).chain([10]).for_each(write);
    let shown = outcrop(&repo, &["render"]).0;
    let files: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("# ")).collect();
    let expected: Vec<String> = (0..40).map(|at| format!("list/{at:02}.yaml")).collect();
    assert_eq!(files, expected);
}

#[test]
fn what_is_wrong_is_reported_and_the_rest_is_rendered() {
    let repo = repository();
    repo.write("a/bad/resource.yaml", "a: [\n");
    repo.write("a/x/patches.yaml", "- operations: [{op: replace, path: /none, value: 1}, {op: remove, path: /q/7}]\n");
    let (out, err, code) = outcrop(&repo, &["render"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(out.contains("# /a/x  a/x/resource.yaml\n# incomplete: not every stage succeeded\nnum: 1\n"), "{out}");
    assert!(out.contains("# plain.json"), "{out}");
    assert!(err.contains("a/bad/resource.yaml:") && err.contains("a/x/patches.yaml:1:"), "{err}");
    assert_eq!(outcrop(&repo, &["render", "plain.json"]).2, Some(0), "who asks for something else is not bothered");
}

#[test]
fn what_cannot_be_known_to_be_harmless_is_withheld() {
    let repo = repository();
    repo.write("a/_/metadata.yaml", "resourceInfo: {secretInAttributes: [num]\n");
    let (out, err, code) = outcrop(&repo, &["render", "/a/x"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(out.contains("withheld") && !out.contains("num: 1"), "{out}");
}

#[test]
fn ten_thousand_resources_come_in_order() {
    let repo = TestRepo::new();
    let mut text = String::new();
    for number in 0..10_000 {
        let at = if number % 10 == 0 { "" } else { "---\n" };
        write!(text, "{at}apiVersion: v1\nkind: T\nmetadata: {{name: n{number:05}}}\nspec: {{a: [1, 2, 3]}}\n")
            .unwrap();
        if number % 10 == 9 {
            repo.write(format!("d{:02}/f{number:05}.yaml", number / 1000), std::mem::take(&mut text));
        }
    }
    repo.write("_/patches.yaml", "- operations: [{op: add, path: /spec/n, value: \"${resource.metadata.name}\"}]\n");
    repo.commit_all("many");
    let names: Vec<String> = headings(&repo, &["--at", "HEAD"]);
    assert_eq!(names.len(), 10_000);
    assert!(names.is_sorted());
    let (again, _, _) = outcrop(&repo, &["render", "--at", "HEAD", "d03", "--format", "json"]);
    let parsed: serde_json::Value = serde_json::from_str(&again).unwrap();
    let items = parsed.as_array().unwrap();
    assert_eq!(items.len(), 1_000);
    assert!(items.iter().all(|item| item["payload"]["spec"]["n"] == item["payload"]["metadata"]["name"]));
}
