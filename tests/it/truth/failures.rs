//! Edits of expressions are always visible, and what fails on one side does not look like a change.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

/// A repository with two resources of the same address, and one whose payload is edited from one text to another.
fn edited(before: &str, after: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "roots: [api]\n");
    repo.write("api/compute/resource.yaml", "ip: 10.0.0.1\n");
    repo.write("api/database/resource.yaml", "ip: 10.0.0.1\n");
    repo.write("api/web/resource.yaml", before);
    repo.commit_all("one");
    repo.write("api/web/resource.yaml", after);
    repo.commit_all("two");
    repo
}

fn diff(repo: &TestRepo, arguments: &[&str]) -> crate::program::Ran {
    run(&mut outcrop(repo, &[&["diff"], arguments, &["HEAD~1", "HEAD"]].concat()))
}

#[test]
fn an_edited_expression_is_a_change_though_its_value_is_the_same() {
    let repo = edited("x: {eval: \"::compute::ip\"}\n", "x: {eval: \"::database::ip\"}\n");
    diff(&repo, &["--exit-code"])
        .ends_with(1)
        .says("1 changed")
        .says(".x")
        .says("::compute::ip")
        .says("::database::ip")
        .says("value unchanged")
        .does_not_say("no effective change");
    for format in ["side-by-side", "markdown", "unified", "json"] {
        diff(&repo, &["--format", format]).says("::compute::ip").says("::database::ip").says("value unchanged");
    }
}

#[test]
fn an_edited_expression_that_finds_nothing_is_a_change() {
    let repo = edited("x: {eval: \"::nothing::ip\"}\n", "x: {eval: \"::nowhere::ip\"}\n");
    diff(&repo, &["--exit-code"]).ends_with(1).says("::nowhere::ip").says("finds nothing on either side");
}

#[test]
fn a_literal_that_becomes_an_expression_of_its_value_is_a_change() {
    let repo = edited("x: 10.0.0.1\n", "x: {eval: \"::database::ip\"}\n");
    diff(&repo, &["--exit-code"]).ends_with(1).says("10.0.0.1").says("::database::ip").says("value unchanged");
}

#[test]
fn an_expression_is_compared_as_data_and_ignored_where_its_place_is() {
    let repo = edited("x: {eval: \"::compute::ip\"}\n", "x:\n  eval: '::compute::ip'\n");
    diff(&repo, &["--exit-code"]).ends_with(0).says("no effective change");
    let repo = edited("x: {eval: \"::compute::ip\"}\n", "x: {eval: \"::database::ip\"}\n");
    diff(&repo, &["--exit-code", "--ignore", "/x"]).ends_with(0);
}

#[test]
fn a_secret_place_shows_no_text_of_its_expression() {
    let repo = edited("x: {eval: \"::compute::ip\"}\n", "x: {eval: \"::database::ip\"}\n");
    repo.write("outcrop.yaml", "roots: [api]\nsecrets: [/x]\n");
    repo.commit_all("three");
    run(&mut outcrop(&repo, &["diff", "HEAD~2", "HEAD"])).says("sensitive").does_not_say("::database::ip");
}

#[test]
fn a_patch_that_fails_on_one_side_is_left_out_on_both() {
    let repo = edited("z: 1\n", "z: 1\n# edited\n");
    repo.write("api/web/patches.yaml", "- operations: [{op: replace, path: /z, value: 3}]\n");
    repo.commit_all("good");
    let broken = "- operations: [{op: replace, path: /z, value: 3}, {op: replace, path: /nope, value: 3}]\n";
    repo.write("api/web/patches.yaml", broken);
    repo.commit_all("broken");
    diff(&repo, &[])
        .ends_with(2)
        .says("patch/missing")
        .does_not_say("3 → 1")
        .does_not_say("/web  api/web/resource.yaml");
    repo.write("api/web/patches.yaml", "- operations: [{op: replace, path: /z, value: 3}]\n");
    repo.commit_all("repaired");
    diff(&repo, &[]).ends_with(2).does_not_say("1 → 3").does_not_say("/web  api/web/resource.yaml");
}

#[test]
fn an_expression_that_fails_on_one_side_is_compared_as_it_is_written() {
    let repo = edited("x: {eval: \"::database::ip\"}\n", "x: {eval: \"::database::ip\"}\n# edited\n");
    repo.write("api/database/resource.yaml", "ip: [\n");
    repo.commit_all("broken");
    diff(&repo, &[]).ends_with(2).does_not_say("~ .x");
}

#[test]
fn a_layer_that_fails_on_one_side_changes_no_metadata() {
    let repo = edited("z: 1\n", "z: 2\n");
    repo.write("api/_/metadata.yaml", "operationInfo: {getResource: {path: /v2}}\n");
    repo.commit_all("good");
    repo.write("api/_/metadata.yaml", "operationInfo: {getResource: {path: /v2}\n");
    repo.commit_all("broken");
    diff(&repo, &[]).ends_with(2).does_not_say("metadata ›").does_not_say("get request");
}
