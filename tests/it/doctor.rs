//! `outcrop doctor`: what it says about repositories of all kinds.

use std::fs;

use crate::hooks::install;
use crate::program::{outcrop as program, path_with_binary, run};
use crate::repo::TestRepo;

/// The program where hooks find it too.
fn outcrop(repo: &TestRepo, arguments: &[&str]) -> std::process::Command {
    let mut command = program(repo, arguments);
    command.env("PATH", path_with_binary());
    command
}

#[test]
fn it_says_what_is_set_up_and_marks_what_cannot_work() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.write("README.md", "hello\n");
    repo.commit_all("first");
    run(&mut outcrop(&repo, &["doctor"]))
        .ends_with(0)
        .says("  pre-commit hook        none\n")
        .says("  git difftool           not set up\n")
        .says("  object ids             SHA-1\n")
        .says("  outcrop.yaml           none")
        .says("skipped: other formats (README.md)")
        .says("no problems")
        .does_not_say("!");
    install(&repo, "pre-commit");
    repo.git(&["config", "difftool.outcrop.cmd", "outcrop difftool -- \"$LOCAL\" \"$REMOTE\""]);
    run(&mut outcrop(&repo, &["doctor"]))
        .ends_with(0)
        .says("  pre-commit hook        calls outcrop\n")
        .says("  git difftool           outcrop difftool");
    let hook = repo.root().join(".git/hooks/pre-commit");
    assert!(repo.command("chmod").arg("-x").arg(&hook).status().expect("chmod runs").success());
    run(&mut outcrop(&repo, &["doctor"])).ends_with(0).says("! pre-commit hook        not executable");

    // Elsewhere, and by way of a hook manager.
    repo.git(&["config", "core.hooksPath", ".husky/_"]);
    repo.write(".husky/_/pre-commit", "#!/bin/sh\n. h\n");
    repo.write(".husky/pre-commit", "outcrop hook pre-commit\n");
    let hook = repo.root().join(".husky/_/pre-commit");
    assert!(repo.command("chmod").arg("+x").arg(&hook).status().expect("chmod runs").success());
    run(&mut outcrop(&repo, &["doctor"])).ends_with(0).says("calls outcrop through .husky/pre-commit");
}

#[test]
fn every_kind_of_repository_is_recognised() {
    let repo = TestRepo::init(&["init", "-q", "--object-format=sha256"]);
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    run(&mut outcrop(&repo, &["doctor"])).ends_with(0).says("object ids             SHA-256").says("(ordinary)");
    repo.git(&["worktree", "add", "-q", &repo.beside("linked").to_string_lossy()]);
    repo.git(&["clone", "-q", "--bare", ".", &repo.beside("bare.git").to_string_lossy()]);
    let origin = format!("file://{}", repo.root().display());
    repo.commit("second");
    repo.git(&["clone", "-q", "--depth=1", &origin, &repo.beside("shallow").to_string_lossy()]);
    repo.git(&["clone", "-q", "--filter=blob:none", &origin, &repo.beside("partial").to_string_lossy()]);
    for (place, said) in [
        ("linked", "(of a linked working tree)"),
        ("bare.git", "none, the repository is bare"),
        ("shallow", "! clone                  shallow"),
        ("partial", "! clone                  partial"),
    ] {
        run(outcrop(&repo, &["doctor"]).current_dir(repo.beside(place))).ends_with(0).says(said);
    }
}

#[test]
fn what_is_broken_does_not_hide_the_rest() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\na: 2\n");
    repo.write("outcrop.yaml", "secretz: []\n");
    repo.commit_all("first");
    run(&mut outcrop(&repo, &["doctor"]))
        .ends_with(2)
        .says("! outcrop.yaml           1 mistake")
        .says("problems: 2 errors");
    fs::write(repo.root().join(".git/index"), "rubbish").expect("it can be written");
    run(&mut outcrop(&repo, &["doctor"]))
        .ends_with(2)
        .says("! index                  the index")
        .says("pre-commit hook")
        .says("error: ");
    let mut outside = outcrop(&repo, &["doctor"]);
    run(outside.current_dir(repo.beside("home"))).ends_with(2).says("is not in a git repository");
}
