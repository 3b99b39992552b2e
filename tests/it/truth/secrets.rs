//! Where nothing says what is secret, because a layer or the configuration cannot be read, every value is withheld.

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

/// The secret text, which no command may print.
const CANARY: &str = "hunter2";

/// A repository with this configuration and layer, and a commit that edits a payload below the layer.
fn repository(configuration: &str, layer: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", configuration);
    repo.write("api/users/_/metadata.yaml", layer);
    repo.write("api/users/bob/resource.yaml", "name: bob\nsecret: hunter2-old\n");
    repo.commit_all("one");
    repo.write("api/users/bob/resource.yaml", "name: bob\nsecret: hunter2-new\n");
    repo.commit_all("two");
    repo
}

/// Configurations and layers that may declare `secret` as secret, and cannot be read.
fn unreadable() -> Vec<TestRepo> {
    let roots = "roots: [api]\n";
    vec![
        repository(roots, "resourceInfo:\n  secretInAttributes: [secret\n"),
        repository(roots, "resourceInfo:\n  secretInAttributes: {secret: true}\n"),
        repository(roots, "resource: {secretAttribute: [/secret]}\n"),
        repository(roots, "- secretInAttributes: [secret]\n"),
        repository("roots: [api]\nsecrets: [/**/secret\n", "{}\n"),
        repository("roots: [api]\nsecret: [/**/secret]\n", "{}\n"),
        repository("roots: [api]\nsecrets: {pointer: /**/secret}\n", "{}\n"),
    ]
}

fn withheld_in(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut outcrop(repo, arguments)).does_not_say(CANARY)
}

#[test]
fn no_command_and_no_format_prints_what_may_be_secret() {
    for repo in unreadable() {
        for format in ["terminal", "side-by-side", "unified", "json-patch", "markdown"] {
            withheld_in(&repo, &["diff", "--format", format, "HEAD~1", "HEAD"]).ends_with(2).says("withheld");
        }
        withheld_in(&repo, &["diff", "--format", "json", "HEAD~1", "HEAD"]).ends_with(2);
        withheld_in(&repo, &["diff", "HEAD~1"]).ends_with(2).says("withheld");
        withheld_in(&repo, &["check", "HEAD~1", "HEAD"]).ends_with(2);
        withheld_in(&repo, &["explain", "api/users/bob/resource.yaml", "/secret"]).ends_with(2).says("withheld");
        withheld_in(&repo, &["eval", "--path", "/users/bob", ".::secret"]).ends_with(2);
        withheld_in(&repo, &["render"]).ends_with(2).says("withheld");
        withheld_in(&repo, &["render", "--steps"]).ends_with(2).says("withheld");
        withheld_in(&repo, &["metadata", "render", "/users/bob", "update"]).ends_with(2);
        withheld_in(&repo, &["metadata", "get", "/users/bob"]).ends_with(2);
        repo.write("old.yaml", "name: bob\nsecret: hunter2-old\n");
        withheld_in(&repo, &["difftool", "old.yaml", "api/users/bob/resource.yaml"]).ends_with(2).says("withheld");
        repo.git(&["add", "--all"]);
        withheld_in(&repo, &["hook", "pre-commit"]);
    }
}

#[test]
fn broken_payloads_show_no_lines_where_values_are_withheld_or_declared_secret() {
    let readable = repository("roots: [api]\n", "resourceInfo: {secretInAttributes: [secret]}\n");
    for repo in unreadable().into_iter().chain([readable]) {
        repo.write("api/users/bob/resource.yaml", "name: bob\nsecret: [hunter2-broken\n");
        repo.commit_all("three");
        for arguments in [
            &["diff", "HEAD~1", "HEAD"][..],
            &["diff", "--format", "markdown", "HEAD~1", "HEAD"],
            &["diff", "--format", "json", "HEAD~1", "HEAD"],
            &["diff", "--format", "unified", "HEAD~1", "HEAD"],
            &["check", "--all"],
            &["render"],
        ] {
            withheld_in(&repo, arguments);
        }
    }
}

#[test]
fn difftool_knows_the_secrets_that_layers_of_the_repository_declare() {
    let repo = repository("roots: [api]\n", "resourceInfo: {secretInAttributes: [secret]}\n");
    repo.write("old.yaml", "name: bob\nsecret: hunter2-old\n");
    withheld_in(&repo, &["difftool", "old.yaml", "api/users/bob/resource.yaml"])
        .ends_with(0)
        .says("(sensitive, changed)");
}

#[test]
fn keys_and_the_names_of_documents_stay_readable() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "secrets: [/**/secret\n");
    let text = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web, namespace: shop}}\ndata: {{key: {value}}}\n")
    };
    repo.write("web.yaml", text("hunter2-old"));
    repo.commit_all("one");
    repo.write("web.yaml", text("hunter2-new"));
    repo.commit_all("two");
    withheld_in(&repo, &["diff", "HEAD~1", "HEAD"])
        .ends_with(2)
        .says("ConfigMap")
        .says("web")
        .says(".data.key")
        .says("withheld");
    withheld_in(&repo, &["render"]).ends_with(2).says("kind: ConfigMap").says("name: web").says("key: (withheld)");
}

#[test]
fn a_layer_that_cannot_be_read_is_shown_but_for_what_it_sends_literally() {
    let layer =
        "resourceInfo:\n  secretInAttributes: [secret\noperationInfo:\n  getResource:\n    headers: {X: hunter2-x}\n";
    let repo = repository("roots: [api]\n", layer);
    withheld_in(&repo, &["diff", "HEAD~1", "HEAD"]).ends_with(2).says("secretInAttributes: [secret");
}

#[test]
fn errors_that_do_not_concern_secrets_withhold_nothing() {
    let repo = repository("roots: [api]\n", "resourceInfo: {secretInAttributes: [other]}\noperationInfo: {get: 1}\n");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(2).says("hunter2-new");
}

#[test]
fn values_of_patches_are_withheld_where_their_place_is_computed() {
    let shown = |configuration: &str| {
        let repo = TestRepo::new();
        repo.write("outcrop.yaml", configuration);
        let patches =
            |value: &str| format!("- operations: [{{op: add, path: \"/${{resource.name}}\", value: {value}}}]\n");
        repo.write("_/patches.yaml", patches("hunter2-old"));
        repo.commit_all("one");
        repo.write("_/patches.yaml", patches("hunter2-new"));
        repo.commit_all("two");
        run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"]))
    };
    shown("secrets: [/token]\n").does_not_say(CANARY);
    shown("{}\n").says("hunter2-old → hunter2-new");
}

#[test]
fn names_of_resources_stay_readable_in_messages_about_files_with_secrets() {
    let repo = TestRepo::new();
    repo.write("kustomization.yaml", "resources: ['https://example.org/base?ref=1']\npatches:\n- path: p.yaml\n");
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: warehouse-tools, annotations: {a: b}}\n";
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {password: hunter2}\n";
    repo.write("p.yaml", format!("{namespace}---\n{secret}"));
    repo.commit_all("one");
    let ran = run(&mut outcrop(&repo, &["check", "--all"]));
    ran.does_not_say(CANARY).says("Namespace warehouse-tools is not in this repository");
}
