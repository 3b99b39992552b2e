//! `outcrop render --root`: kustomizations as `kustomize build` prints them, with secrets hidden.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

fn overlay() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(
        "base/deployment.yaml",
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n",
    );
    repo.write("base/kustomization.yaml", "resources: [deployment.yaml]\n");
    repo.write(
        "prod/kustomization.yaml",
        "resources: [../base]\nnamePrefix: prod-\nsecretGenerator:\n- name: login\n  literals: [password=c4nary]\n",
    );
    repo
}

#[test]
fn a_root_is_rendered_from_the_working_tree_and_from_a_revision() {
    let repo = overlay();
    repo.commit_all("first");
    run(&mut outcrop(&repo, &["render", "--root", "prod"])).ends_with(0).says("name: prod-web");
    repo.write("prod/kustomization.yaml", "resources: [../base]\nnamePrefix: test-\n");
    run(&mut outcrop(&repo, &["render", "--root", "prod"])).ends_with(0).says("name: test-web");
    run(&mut outcrop(&repo, &["render", "--root", "prod", "--at", "HEAD"])).ends_with(0).says("name: prod-web");
}

#[test]
fn generated_secrets_are_hidden() {
    let repo = overlay();
    repo.commit_all("first");
    for format in ["yaml", "json"] {
        run(&mut outcrop(&repo, &["render", "--root", "prod", "--format", format]))
            .ends_with(0)
            .says("prod-login")
            .does_not_say("c4nary")
            .does_not_say("YzRuYXJ5");
    }
}

#[test]
fn a_root_that_cannot_be_built_prints_nothing_and_says_why() {
    let repo = overlay();
    repo.write(
        "prod/kustomization.yaml",
        "resources: [../base, ../gone]\nsecretGenerator:\n- name: x\n  literals: [p=c4nary]\n",
    );
    repo.commit_all("first");
    run(&mut outcrop(&repo, &["render", "--root", "prod"]))
        .ends_with(2)
        .says("there is no file or kustomization `../gone`")
        .does_not_say("c4nary");
    run(&mut outcrop(&repo, &["render", "--root", "nowhere"])).ends_with(2).says("there is no kustomization");
}
