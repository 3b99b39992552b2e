//! Configuration from outside the compared revisions, files of it that are ignored, and the file that `init` writes.

use std::fs;

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

const IGNORING: &str = "ignore: [/status]\n";

/// A repository whose last commit changes two values.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("app.yaml", "replicas: 1\nstatus: old\n");
    repo.commit_all("one");
    repo.write("app.yaml", "replicas: 2\nstatus: new\n");
    repo.commit_all("two");
    repo
}

fn diff(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut outcrop(repo, &[&["diff"], arguments, &["HEAD~1", "HEAD"]].concat()))
}

#[test]
fn a_named_file_applies_to_both_sides_and_in_every_command() {
    let repo = repository();
    let file = repo.beside("mine.yaml");
    fs::write(&file, "ignore: [/status]\nsecrets: [/replicas]\n").unwrap();
    let file = file.to_str().unwrap();
    diff(&repo, &[]).ends_with(0).says("old → new");
    diff(&repo, &["--config", file]).ends_with(0).does_not_say("old → new").says("sensitive").says("suppressed");
    let mut command = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    run(command.env("OUTCROP_CONFIG", file)).does_not_say("old → new").says("suppressed");
    run(&mut outcrop(&repo, &["render", "--config", file])).ends_with(0).does_not_say("replicas: 2");
    let mut summary = outcrop(&repo, &["ci", "github", "--base", "HEAD~1", "--head", "HEAD", "--config", file]);
    run(&mut summary).does_not_say("old → new");
}

#[test]
fn a_named_file_replaces_the_one_of_the_repository() {
    let repo = repository();
    repo.write("outcrop.yaml", IGNORING);
    repo.commit_all("three");
    repo.write("app.yaml", "replicas: 2\nstatus: newer\n");
    repo.commit_all("four");
    diff(&repo, &[]).does_not_say("newer");
    repo.write("other.yaml", "lists: []\n");
    diff(&repo, &["--config", "other.yaml"]).says("new → newer");
}

#[test]
fn a_named_file_that_is_missing_or_wrong_is_an_error() {
    let repo = repository();
    diff(&repo, &["--config", "nothing.yaml"]).ends_with(2).says("the configuration nothing.yaml cannot be read");
    repo.write("wrong.yaml", "ignroe: [/status]\n");
    diff(&repo, &["--config", "wrong.yaml"]).ends_with(2).says("wrong.yaml").says("ignroe").does_not_say("old → new");
}

#[test]
fn a_file_that_git_does_not_know_is_mentioned_where_it_is_ignored() {
    let repo = repository();
    let untracked = "outcrop.yaml is not tracked by git and is ignored";
    let unstaged = "outcrop.yaml has changes that are not staged and are ignored";
    diff(&repo, &[]).does_not_say("outcrop.yaml");
    repo.write("outcrop.yaml", IGNORING);
    diff(&repo, &[]).says(untracked).says("--config outcrop.yaml").says("old → new");
    run(&mut outcrop(&repo, &["diff"])).says(untracked);
    run(&mut outcrop(&repo, &["check", "--staged"])).says(untracked);
    run(&mut outcrop(&repo, &["hook", "pre-commit"])).says(untracked);
    run(&mut outcrop(&repo, &["render", "--at", "HEAD"])).says(untracked);
    diff(&repo, &["--config", "outcrop.yaml"]).does_not_say("ignored;").does_not_say("old → new");
    // What is on disk is read by commands that look at the files on disk.
    run(&mut outcrop(&repo, &["render"])).does_not_say(untracked);
    repo.git(&["add", "outcrop.yaml"]);
    run(&mut outcrop(&repo, &["diff", "--staged"])).does_not_say("ignored;");
    repo.write("outcrop.yaml", "ignore: [/other]\n");
    run(&mut outcrop(&repo, &["diff", "--staged"])).says(unstaged);
    run(&mut outcrop(&repo, &["diff"])).does_not_say("ignored;");
    repo.commit_all("three");
    diff(&repo, &[]).does_not_say("ignored;");
}

#[test]
fn init_records_what_the_files_use() {
    let repo = TestRepo::new();
    repo.write("shop/_/metadata.yaml", "resourceInfo: {idFromAttribute: name}\n");
    repo.write("shop/customers/acme/resource.yaml", "+include: ../../base.yaml\nname: acme\n");
    repo.write("shop/base.yaml", "plan: free\n");
    repo.write("shop/orders/one/resource.yaml", "total: {eval: \"::customers::acme::plan\"}\n");
    repo.write("api/openapi.yaml", "openapi: 3.0.0\npaths: {}\n");
    repo.write("deploy/web.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n");
    repo.write("chart/Chart.yaml", "name: web\n");
    repo.write("chart/templates/web.yaml", "a: {{ .Values.a }}\n{{- if .Values.b }}\nb: 1\n{{- end }}\n");
    repo.commit_all("one");
    let printed = run(&mut outcrop(&repo, &["init", "--dry-run"])).ends_with(0);
    assert!(!repo.root().join("outcrop.yaml").exists());
    run(&mut outcrop(&repo, &["init"])).ends_with(0).says("wrote outcrop.yaml").says("git add outcrop.yaml");
    let text = fs::read_to_string(repo.root().join("outcrop.yaml")).unwrap();
    assert_eq!(text, printed.stdout);
    for line in ["  - \"shop\"", "openapi: \"api/openapi.yaml\"", "directives: on", "expressions: on"] {
        assert!(text.lines().any(|written| written == line), "{line}: {text}");
    }
    assert!(text.contains("templates of other tools") && text.contains("Kubernetes documents"), "{text}");
    run(&mut outcrop(&repo, &["init"])).ends_with(2).says("there is an outcrop.yaml already");
    repo.git(&["add", "outcrop.yaml"]);
    run(&mut outcrop(&repo, &["check", "--all"])).ends_with(0).does_not_say("config/");
}

#[test]
fn init_switches_off_what_no_file_uses() {
    let repo = repository();
    run(&mut outcrop(&repo, &["init"])).ends_with(0);
    let text = fs::read_to_string(repo.root().join("outcrop.yaml")).unwrap();
    assert!(text.contains("\ndirectives: off\n") && text.contains("\nexpressions: off\n"), "{text}");
    assert!(text.contains("\nlayouts:\n  kustomize: off\n  flux: off\n"), "{text}");
    assert!(!text.contains("\nroots") && !text.contains("openapi"), "{text}");
    repo.commit_all("three");
    run(&mut outcrop(&repo, &["check", "--all"])).ends_with(0);
}
