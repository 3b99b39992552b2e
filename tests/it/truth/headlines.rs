//! The headline, the exit codes and the counts: one test for each row of the table, in every format.

use std::fs;

use serde_json::Value;

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

const TEMPLATE: &str = "kind: Service\nspec:\n  {{- if .Values.port }}\n  port: {{ .Values.port }}\n  {{- end }}\n";

/// A repository with a chart, an application and files of other kinds.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("app.yaml", "replicas: 1\nimage: web\n");
    repo.write("other.json", "{\"a\": 1}\n");
    repo.write("chart/Chart.yaml", "name: web\n");
    repo.write("chart/templates/service.yaml", TEMPLATE);
    repo.write("main.go", "package main\n");
    repo.write("README.md", "# Title\n");
    repo.commit_all("first");
    repo
}

fn diff(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut outcrop(repo, &[&["diff", "HEAD~1", "HEAD"], arguments].concat()))
}

fn json(repo: &TestRepo) -> Value {
    serde_json::from_str(&diff(repo, &["--format", "json"]).stdout).unwrap()
}

/// The output `changed` of the action.
fn changed(repo: &TestRepo) -> String {
    let outputs = repo.beside("outputs");
    let _ = fs::remove_file(&outputs);
    let mut step = outcrop(repo, &["ci", "github", "--base", "HEAD~1", "--head", "HEAD"]);
    let _ = run(step.env("GITHUB_OUTPUT", &outputs));
    let text = fs::read_to_string(&outputs).unwrap();
    let mut lines = text.lines().skip_while(|line| !line.starts_with("changed<<"));
    lines.nth(1).unwrap_or_default().to_owned()
}

/// A template is read once to see what it is, and again to show its lines: the second reading can meet the limit of the run.
#[test]
fn a_template_that_cannot_be_read_again_makes_the_comparison_incomplete() {
    let repo = TestRepo::new();
    let padding = "# text\n".repeat(200);
    repo.write("outcrop.yaml", "limits: {run_bytes: 4500}\n");
    repo.write("chart/Chart.yaml", "name: web\n");
    repo.write("chart/templates/service.yaml", format!("{TEMPLATE}{padding}"));
    repo.commit_all("first");
    repo.write("chart/templates/service.yaml", format!("{TEMPLATE}# more\n{padding}"));
    repo.commit_all("second");
    diff(&repo, &["--exit-code"]).ends_with(2).says("incomplete").does_not_say("no effective change");
}

const FORMATS: &[&[&str]] =
    &[&[], &["--stat"], &["--format", "side-by-side"], &["--format", "markdown"], &["--format", "unified"]];

#[test]
fn everything_was_compared_and_nothing_differs() {
    let repo = repository();
    repo.write("app.yaml", "# a comment\nimage: web\nreplicas: 1\n");
    repo.write("other.json", "{\n  \"a\": 1\n}\n");
    repo.commit_all("second");
    for format in FORMATS.iter().filter(|format| !format.contains(&"unified")) {
        diff(&repo, format).ends_with(0).says("no effective change: 2 changed files compared");
    }
    diff(&repo, &["--exit-code"]).ends_with(0);
    let report = json(&repo);
    assert_eq!((&report["summary"]["complete"], &report["compared"]["files"]), (&true.into(), &2.into()));
    assert_eq!((&report["compared_as_text"], &report["compared"]["resources"]), (&Value::Array(vec![]), &0.into()));
    assert_eq!(changed(&repo), "false");
}

#[test]
fn something_differs() {
    let repo = repository();
    repo.write("app.yaml", "replicas: 2\nimage: web\n");
    repo.commit_all("second");
    diff(&repo, &[]).ends_with(0).says("1 resource in 1 changed file");
    diff(&repo, &["--exit-code"]).ends_with(1);
    assert_eq!(changed(&repo), "true");
}

#[test]
fn configuration_by_name_but_not_by_content_is_a_change() {
    let repo = repository();
    repo.write("chart/templates/service.yaml", TEMPLATE.replace("port", "http"));
    repo.write("logo.yaml", b"\x89PNG\r\n\x1a\n\0\0");
    repo.commit_all("second");
    for format in FORMATS {
        let ran = diff(&repo, format).ends_with(0).does_not_say("no effective change");
        let ran = ran.says("2 files compared as text: Helm templates (1), binary (1)");
        if !format.contains(&"--stat") {
            ran.says("+  http: {{ .Values.http }}").says("10 bytes");
        }
    }
    diff(&repo, &["--exit-code"]).ends_with(1);
    diff(&repo, &["--name-only"]).says("chart/templates/service.yaml\nlogo.yaml\n");
    let report = json(&repo);
    assert_eq!(report["compared_as_text"].as_array().unwrap().len(), 2);
    assert_eq!((&report["summary"]["complete"], &report["summary"]["compared_as_text"]), (&true.into(), &2.into()));
    assert!(report["compared_as_text"][0]["diff"].as_str().unwrap().contains("+  http: "), "{report}");
    assert_eq!(changed(&repo), "true");
}

#[test]
fn lines_that_may_hold_a_secret_are_withheld() {
    let repo = repository();
    let secret = |value: &str| format!("kind: Secret\nstringData:\n  {{{{- if true }}}}\n  password: {value}\n");
    repo.write("outcrop.yaml", "secrets:\n- /spec/token\n");
    repo.write("chart/templates/secret.yaml", secret("hunter1"));
    repo.write("chart/templates/token.yaml", "spec:\n  {{- x }}\n  token: hunter1\n");
    repo.write("broken.yaml", "spec:\n  token: hunter1\n x: [\n");
    repo.commit_all("second");
    repo.write("chart/templates/secret.yaml", secret("hunter2"));
    repo.write("chart/templates/token.yaml", "spec:\n  {{- x }}\n  token: hunter2\n");
    repo.write("broken.yaml", "spec:\n  token: hunter2\n x: [\n");
    repo.commit_all("third");
    for format in FORMATS.iter().copied().chain([&["--format", "json"][..], &["-v"]]) {
        diff(&repo, format).ends_with(2).does_not_say("hunter");
    }
    diff(&repo, &[]).says("differs; not shown because it may contain secrets");
}

#[test]
fn files_that_are_no_configuration_are_one_line() {
    let repo = repository();
    repo.write("main.go", "package other\n");
    repo.write("more.go", "package other\n");
    repo.write("README.md", "# Other\n");
    repo.commit_all("second");
    let line = "3 other files not compared (Go 2, Markdown 1)";
    for format in FORMATS {
        diff(&repo, format).ends_with(0).says(line).does_not_say("package").does_not_say("no effective change");
    }
    diff(&repo, &["--exit-code"]).ends_with(0);
    diff(&repo, &["--exit-code", "--all-files"]).ends_with(0).says("+package other").says("~ README.md");
    assert_eq!(changed(&repo), "false");
    // What was compared beside them is said to be the same, and no more than that.
    repo.write("main.go", "package third\n");
    repo.write("app.yaml", "image: web\nreplicas: 1\n");
    repo.commit_all("third");
    diff(&repo, &[]).ends_with(0).says("nothing differs in 1 compared file").says("1 other file not compared (Go 1)");
}

#[test]
fn what_cannot_be_read_comes_first() {
    let repo = repository();
    repo.write("app.yaml", "replicas: [1\n");
    repo.write("other.json", "{\"a\": }\n");
    repo.commit_all("second");
    for format in FORMATS {
        let ran = diff(&repo, format).ends_with(2).does_not_say("no effective change");
        // A marker for programs is not shown.
        let first = ran.stdout.lines().find(|line| !line.starts_with("<!-- ")).unwrap_or_default();
        assert!(first.contains("incomplete: 2 files could not be compared"), "{}", ran.stdout);
        if !format.contains(&"--stat") {
            ran.says("+replicas: [1");
        }
    }
    diff(&repo, &["--exit-code"]).ends_with(2);
    diff(&repo, &["--name-only"]).ends_with(2).says("app.yaml\nother.json\n");
    let report = json(&repo);
    assert_eq!((&report["summary"]["complete"], &report["incomplete"]), (&false.into(), &true.into()));
    assert_eq!(report["not_compared"].as_array().unwrap().len(), 2);
    assert_eq!(changed(&repo), "true");
    // A commit that repairs the file shows the repair.
    repo.write("app.yaml", "replicas: [1]\n");
    repo.commit_all("third");
    diff(&repo, &[]).ends_with(2).says("incomplete: 1 file could not be compared").says("+replicas: [1]");
}

#[test]
fn a_missing_object_is_incomplete() {
    let repo = repository();
    repo.write("app.yaml", "replicas: 2\n");
    repo.commit_all("second");
    let id = repo.git(&["rev-parse", "HEAD:app.yaml"]);
    let (folder, file) = id.trim().split_at(2);
    fs::remove_file(repo.root().join(".git/objects").join(folder).join(file)).unwrap();
    let ran = diff(&repo, &["--exit-code"]).ends_with(2).does_not_say("no effective change");
    ran.says("incomplete: 1 file could not be compared");
}

#[test]
fn renamed_files_count_once_and_resources_count_if_they_change() {
    let repo = repository();
    repo.git(&["mv", "other.json", "renamed.json"]);
    repo.git(&["mv", "main.go", "start.go"]);
    repo.git(&["mv", "chart/templates/service.yaml", "chart/templates/web.yaml"]);
    repo.write("many.yaml", "a: 1\n---\na: 2\n---\na: 3\n");
    repo.commit("second");
    let counted = repo.git(&["diff", "--shortstat", "-M", "HEAD~1", "HEAD"]);
    assert!(counted.trim().starts_with("3 files changed"), "{counted}");
    let ran = diff(&repo, &[]).says("1 resource in 3 changed files").says("1 file compared as text");
    ran.says("chart/templates/service.yaml → chart/templates/web.yaml").says("1 other file not compared (Go 1)");
    repo.commit_all("third");
    repo.write("many.yaml", "a: 1\n---\na: 2\n---\na: 4\n");
    repo.commit_all("fourth");
    diff(&repo, &[]).says("1 resource in 1 changed file");
    diff(&repo, &["-v"]).says("Examined: 3 resources");
}
