//! Merge directives end to end: edits of included files, what is remembered about trees, and files put back.

use std::fs;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

/// `app.yaml` includes `shared/base.yaml`, which includes `shared/deep.yaml`.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("app.yaml", "# ours\nservice:\n  +include: shared/base.yaml\n  name: web # kept\n");
    repo.write("shared/base.yaml", "+include: deep.yaml\nport: 80\n");
    repo.write("shared/deep.yaml", "retries: 1\n");
    repo.write("other.yaml", "a: 1\n");
    repo.commit_all("one");
    repo
}

#[test]
fn an_edit_of_an_included_file_is_a_change_of_all_that_include_it() {
    let repo = repository();
    repo.write("shared/deep.yaml", "retries: 2\n");
    let says = |arguments: &[&str]| {
        let ran = run(&mut outcrop(&repo, arguments)).ends_with(0);
        ran.says("~ app.yaml")
            .says(".service.retries  1 → 2")
            .says("~ shared/base.yaml")
            .says("3 resources in 1 changed file")
    };
    says(&["diff"]);
    repo.git(&["add", "."]);
    says(&["diff", "--staged"]);
    repo.commit_all("two");
    says(&["diff", "HEAD~1", "HEAD"]);
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--", "app.yaml"]))
        .ends_with(0)
        .says(".service.retries  1 → 2");
}

#[test]
fn an_include_that_is_spelled_with_escapes_is_followed_too() {
    let repo = repository();
    repo.write("escaped.yaml", "x:\n  \"\\x2binclude\": shared/deep.yaml\n");
    repo.write("escaped.json", r#"{"x": {"+\u0069nclude": "shared/deep.yaml"}}"#);
    repo.commit_all("two");
    repo.write("shared/deep.yaml", "retries: 2\n");
    repo.commit_all("three");
    let ran = run(&mut outcrop(&repo, &["diff", "--no-group", "HEAD~1", "HEAD"])).ends_with(0);
    ran.says("~ escaped.yaml").says("~ escaped.json").says(".x.retries  1 → 2");
}

#[test]
fn a_comment_in_an_included_file_changes_nothing() {
    let repo = repository();
    repo.write("shared/deep.yaml", "# why once\nretries: 1\n");
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "--exit-code", "HEAD~1", "HEAD"])).ends_with(0).says("no effective change");
}

#[test]
fn a_broken_include_makes_the_including_resource_incomplete() {
    let repo = repository();
    repo.write("shared/deep.yaml", "retries: [1\n");
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(2).says("shared/deep.yaml");
    run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"]))
        .ends_with(1)
        .says("deep.yaml:1:10")
        .says("1 error in 1 file");
}

#[test]
fn directives_can_be_turned_off() {
    let repo = repository();
    repo.write("outcrop.yaml", "directives: off\n");
    repo.commit_all("two");
    repo.write("shared/deep.yaml", "retries: 2\n");
    repo.commit_all("three");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).does_not_say("app.yaml");
}

#[test]
fn what_is_remembered_may_be_lost_or_damaged_at_any_time() {
    let repo = repository();
    repo.write("shared/deep.yaml", "retries: 2\n");
    repo.commit_all("two");
    let diff = |cache: &str| {
        let ran = run(outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).env("OUTCROP_CACHE", cache)).ends_with(0);
        ran.stdout
    };
    let folder = repo.root().join(".git/outcrop");
    let without = diff("off");
    assert!(!folder.exists(), "nothing is written when the memory is off");
    assert_eq!(diff("on"), without, "cold");
    assert!(folder.exists());
    assert_eq!(diff("on"), without, "warm");
    for entry in fs::read_dir(folder.join("inputs")).unwrap() {
        fs::write(entry.unwrap().path(), b"outcrop inputs 1\n../x\0\xff").unwrap();
    }
    assert_eq!(diff("on"), without, "damaged");
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_warm_memory_follows_files_that_begin_to_include() {
    let repo = repository();
    let diff = || run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0);
    repo.write("other.yaml", "a: 2\n");
    repo.commit_all("two");
    diff();
    repo.write("late.yaml", "x:\n  +include: shared/deep.yaml\n");
    repo.commit_all("three");
    diff();
    repo.write("shared/deep.yaml", "retries: 3\n");
    repo.commit_all("four");
    diff().says("~ late.yaml").says("~ app.yaml");
}

#[test]
fn restoring_keeps_directives_comments_and_layout() {
    let repo = repository();
    let expanded = run(&mut outcrop(&repo, &["expand", "app.yaml"])).ends_with(0).stdout;
    assert_eq!(expanded, "service:\n  name: web\n  port: 80\n  retries: 1\n");
    repo.write("changed.yaml", expanded.replace("port: 80", "port: 81"));
    let original = fs::read_to_string(repo.root().join("app.yaml")).unwrap();
    let restored = "# ours\nservice:\n  +include: shared/base.yaml\n  name: web # kept\n  port: 81\n";
    let printed = run(&mut outcrop(&repo, &["restore", "app.yaml", "changed.yaml"])).ends_with(0).stdout;
    assert_eq!(printed, restored);
    assert_eq!(fs::read_to_string(repo.root().join("app.yaml")).unwrap(), original, "printing writes nothing");
    run(&mut outcrop(&repo, &["restore", "--write", "app.yaml", "changed.yaml"])).ends_with(0).says_nothing();
    assert_eq!(fs::read_to_string(repo.root().join("app.yaml")).unwrap(), restored);
    let again = run(&mut outcrop(&repo, &["expand", "app.yaml"])).ends_with(0).stdout;
    assert_eq!(again, expanded.replace("port: 80", "port: 81"));
}

#[test]
fn a_deleted_target_that_is_still_used_is_kept_and_named() {
    let repo = repository();
    repo.write("base.yaml", "base: {image: web}\nsvc: {+/base: , port: 80}\n");
    repo.write("changed.yaml", "svc: {image: web, port: 80}\n");
    let restored = run(&mut outcrop(&repo, &["restore", "base.yaml", "changed.yaml"])).ends_with(0);
    assert!(restored.stderr.contains("`/base` was deleted, but directives still refer to it: it is kept"));
    assert!(restored.stdout.contains("base: {image: web}"), "{}", restored.stdout);
}

#[test]
fn nothing_is_written_when_restoring_fails() {
    let repo = repository();
    let original = fs::read(repo.root().join("app.yaml")).unwrap();
    repo.write("changed.yaml", "service: [1\n");
    run(&mut outcrop(&repo, &["restore", "--write", "app.yaml", "changed.yaml"])).ends_with(1).says("changed.yaml");
    repo.write("changed.yaml", "- a list\n");
    run(&mut outcrop(&repo, &["restore", "--write", "app.yaml", "changed.yaml"])).ends_with(1).says("only a map");
    assert_eq!(fs::read(repo.root().join("app.yaml")).unwrap(), original);
    assert_eq!(fs::read_dir(repo.root()).unwrap().count(), 5, "no leftovers");
}
