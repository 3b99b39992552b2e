//! Repositories of DeclaREST and Unfurl as a person meets them: selectors, reach of layers, and notes that are no problems.

use crate::program::{self, Ran, run};
use crate::repo::TestRepo;

fn outcrop(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut program::outcrop(repo, arguments))
}

fn json(repo: &TestRepo, arguments: &[&str]) -> serde_json::Value {
    let ran = outcrop(repo, arguments);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr))
}

/// A bundle whose layer for projects changes from the old form to the new one.
fn bundle() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("bundle.yaml", "kind: MetadataBundle\nname: x\nversion: 1.0.0\ndeclarest: {metadataRoot: metadata}\n");
    repo.write(
        "metadata/projects/_/metadata.yaml",
        "resourceInfo: {idFromAttribute: id, aliasFromAttribute: name, secretInAttributes: [token]}\noperationInfo: {deleteResource: {path: /p}}\n",
    );
    repo.write("metadata/projects/_/jobs/_/metadata.yaml", "resource: {id: \"{{/id}}\", alias: \"{{/name}}\"}\n");
    repo.commit_all("first");
    repo.write(
        "metadata/projects/_/metadata.yaml",
        "resource: {id: \"{{/id}}\", alias: \"{{/name}}\", secretAttributes: [token]}\noperations: {delete: {path: /p}}\n",
    );
    repo.commit_all("second");
    repo
}

#[test]
fn a_layer_of_the_new_form_is_lost_by_what_is_further_down() {
    let repo = bundle();
    let sentence = "metadata/projects/_/metadata.yaml: selector.descendants true → false (the file has the new form now): 1 path \
                    below loses this layer (/projects/_/jobs)";
    let shown = outcrop(&repo, &["diff", "--width", "200", "HEAD~1", "HEAD"]).ends_with(0);
    assert!(shown.stdout.contains(sentence), "{}", shown.stdout);
    outcrop(&repo, &["diff", "--format", "markdown", "HEAD~1", "HEAD"]).ends_with(0).says(sentence);
    let report = json(&repo, &["diff", "--format", "json", "HEAD~1", "HEAD"]);
    assert_eq!(report["reach"][0]["paths"], serde_json::json!(["/projects/_/jobs"]));
    assert_eq!((&report["reach"][0]["before"], &report["reach"][0]["form_changed"]), (&true.into(), &true.into()));
    outcrop(&repo, &["check", "HEAD~1", "HEAD"])
        .ends_with(0)
        .says("metadata/secret-lost")
        .says("/projects/_/jobs loses");
    outcrop(&repo, &["diff", "HEAD", "HEAD"]).does_not_say("REACH");
}

#[test]
fn the_selectors_of_a_bundle_are_affected_and_explained() {
    let repo = bundle();
    let affected = outcrop(&repo, &["affected", "HEAD~1", "HEAD"]).ends_with(0).stdout;
    assert_eq!(affected, "/projects/_/jobs  changed\n");
    let data = json(&repo, &["affected", "--format", "json", "HEAD~1", "HEAD"]);
    assert_eq!(data["selectors"], serde_json::json!([{"name": "/projects/_/jobs", "status": "changed"}]));
    let explained = outcrop(&repo, &["explain", "-v", "/projects/_/jobs"]).ends_with(0).stdout;
    for line in [
        "  /projects/_/jobs  metadata/projects/_/jobs/_/metadata.yaml  (direct items)",
        "  skipped: /projects  metadata/projects/_/metadata.yaml",
        "resourceInfo.aliasFromAttribute (resource.alias)",
    ] {
        assert!(explained.contains(line), "no `{line}` in\n{explained}");
    }
    let before = outcrop(&repo, &["explain", "--at", "HEAD~1", "/projects/_/jobs"]).ends_with(0).stdout;
    assert!(before.contains("metadata/projects/_/metadata.yaml  (everything below)"), "{before}");
    let data = json(&repo, &["explain", "--format", "json", "/projects/_/jobs"]);
    assert_eq!(data["resources"][0]["metadata"]["layers"][0]["reach"], "direct items");
    assert_eq!(data["resources"][0]["metadata"]["values"][0]["written"], "resource.id");
}

#[test]
fn a_selector_is_explained_by_its_own_text() {
    let repo = bundle();
    repo.write("metadata/projects/_/runs/_/metadata.yaml", "resource: {secretAttributes: [/every]}\n");
    repo.write("metadata/projects/prod-*/runs/_/metadata.yaml", "resource: {id: \"{{/x}}\"}\n");
    let explained = outcrop(&repo, &["explain", "/projects/prod-*/runs"]).ends_with(0);
    let explained = explained.says("resourceInfo.idFromAttribute (resource.id)").stdout;
    assert!(!explained.contains("/every"), "{explained}");
    outcrop(&repo, &["metadata", "get", "/projects/prod-*/runs"]).ends_with(0).does_not_say("/every");
}

#[test]
fn selectors_that_no_resource_matches_are_for_programs_and_those_who_ask() {
    let repo = TestRepo::new();
    repo.write("customers/acme/resource.yaml", "id: 1\n");
    repo.write("customers/_/metadata.yaml", "resource: {id: \"{{/id}}\"}\n");
    repo.write("orders/_/metadata.yaml", "resource: {id: \"{{/id}}\"}\n");
    repo.commit_all("first");
    repo.write("orders/_/metadata.yaml", "resource: {id: \"{{/number}}\"}\n");
    repo.commit_all("second");
    let names = |report: &serde_json::Value| -> Vec<String> {
        let all = report["resources"].as_array().into_iter().flatten();
        all.filter(|it| it["subject"] == "selector").map(|it| it["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&json(&repo, &["diff", "--format", "json", "HEAD~1", "HEAD"])), ["/orders"]);
    outcrop(&repo, &["diff", "-v", "HEAD~1", "HEAD"]).ends_with(0).says("~ /orders").does_not_say("~ orders/_");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).ends_with(0).does_not_say("~ /orders").says("1 dead edit");
}

#[test]
fn a_note_is_no_problem_and_a_file_has_one() {
    let repo = TestRepo::new();
    let ensemble = |get: &str| {
        format!(
            "apiVersion: unfurl/v1alpha1\nkind: Ensemble\n+include: {{file: t.yaml, repository: cloud}}\nspec:\n  ip: {{eval: \
             {{get_env: {get}}}}}\n"
        )
    };
    repo.write("readme.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("ensemble.yaml", ensemble("HOME"));
    repo.commit_all("second");
    let note = "1 include leads to other repositories (cloud)";
    let ran = outcrop(&repo, &["diff", "--width", "200", "HEAD~1", "HEAD"]).ends_with(0).does_not_say("problem");
    let notes: Vec<&str> = ran.stdout.lines().filter(|line| line.starts_with("note: ensemble.yaml: ")).collect();
    assert!(
        matches!(notes[..], [one] if one.contains(note) && one.contains("needs a running deployment")),
        "{notes:?}"
    );
    let checked = outcrop(&repo, &["check", "HEAD~1", "HEAD"]).ends_with(0).says("1 note in 1 file");
    checked.says("needs a running deployment").says(note);

    repo.write("ensemble.yaml", ensemble("USER"));
    repo.commit_all("third");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).ends_with(0).does_not_say("problem").does_not_say("note: ");
    outcrop(&repo, &["check", "HEAD~1", "HEAD"]).ends_with(0).does_not_say("problem");
}

#[test]
fn what_makes_an_ensemble_may_be_included() {
    let repo = TestRepo::new();
    repo.write("base.yaml", "apiVersion: unfurl/v1alpha1\nkind: Ensemble\n");
    repo.write("ensemble.yaml", "+include: base.yaml\nx:\n  +include: {file: a.yaml, when: .x}\ny: {eval: '::a::b'}\n");
    repo.commit_all("first");
    outcrop(&repo, &["check", "--all"])
        .ends_with(0)
        .does_not_say("error")
        .says("1 include leads to what only a run knows");
}
