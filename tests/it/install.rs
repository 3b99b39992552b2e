//! `outcrop install`: what it writes, what it leaves alone, and what is left after `--uninstall`.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::program::{Ran, git, outcrop, run, tool};
use crate::repo::TestRepo;

const BAD: &str = "a: 1\na: 2\n";

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo
}

fn install(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut outcrop(repo, &[&["install"], arguments].concat()))
}

/// Every file of the sandbox with its content and mode, except objects and the index.
fn everything(repo: &TestRepo) -> BTreeMap<PathBuf, (Vec<u8>, u32)> {
    fn walk(directory: &Path, found: &mut BTreeMap<PathBuf, (Vec<u8>, u32)>) {
        for member in fs::read_dir(directory).expect("it is there") {
            let path = member.expect("it can be listed").path();
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            if metadata.is_dir() {
                walk(&path, found);
            } else {
                found.insert(path.clone(), (fs::read(&path).unwrap_or_default(), metadata.permissions().mode()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&repo.beside(""), &mut found);
    found.retain(|path, _| !path.starts_with(repo.root().join(".git/objects")) && !path.ends_with(".git/index"));
    found
}

const TARGETS: &[&[&str]] = &[
    &["hook"],
    &["hook", "--hook", "pre-push"],
    &["pre-commit"],
    &["difftool"],
    &["difftool", "--global"],
    &["diff-driver"],
    &["diff-driver", "--global"],
    &["alias"],
    &["alias", "--global"],
];

#[test]
fn every_target_is_listed_written_once_and_taken_back() {
    for target in TARGETS {
        let repo = repository();
        let before = everything(&repo);
        let planned = install(&repo, &[target, &["--dry-run"][..]].concat()).ends_with(0).says("would change:");
        assert_eq!(everything(&repo), before, "{target:?} wrote something in a dry run");
        let done = install(&repo, target).ends_with(0).says("changed:");
        let steps = |ran: &Ran| -> Vec<String> {
            ran.stdout.lines().filter(|line| line.starts_with("  ")).map(str::to_owned).collect()
        };
        assert_eq!(steps(&planned), steps(&done), "{target:?}");
        let after = everything(&repo);
        assert_ne!(after, before, "{target:?}");
        install(&repo, target).ends_with(0).says("nothing to do: this is set up already");
        assert_eq!(everything(&repo), after, "{target:?} twice");
        install(&repo, &[target, &["--uninstall"][..]].concat()).ends_with(0).says("changed:");
        let left: Vec<PathBuf> = everything(&repo).into_keys().collect();
        assert_eq!(left, before.keys().cloned().collect::<Vec<_>>(), "{target:?} left something behind");
        install(&repo, &[target, &["--uninstall"][..]].concat()).ends_with(0).says("nothing to do");
    }
}

#[test]
fn the_hooks_work_through_git() {
    let repo = repository();
    install(&repo, &["hook"]).ends_with(0);
    repo.write("a.yaml", BAD);
    run(&mut git(&repo, &["commit", "-q", "-a", "-m", "bad"])).ends_with(1).says("index:a.yaml");
    repo.git(&["checkout", "-q", "--", "a.yaml"]);
    // A merge that git makes by itself runs another hook.
    repo.git(&["switch", "-q", "-c", "other"]);
    repo.write("b.yaml", BAD);
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "theirs"]);
    repo.git(&["switch", "-q", "main"]);
    repo.write("c.yaml", "c: 1\n");
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "ours"]);
    run(&mut git(&repo, &["merge", "-q", "--no-edit", "other"]))
        .ends_with(1)
        .says("index:b.yaml")
        .says("OUTCROP=0 git merge");
    run(git(&repo, &["commit", "-q", "--no-edit"]).env("OUTCROP", "0")).ends_with(0);
}

#[test]
fn a_hook_of_somebody_else_is_kept_and_runs_first_if_that_is_wanted() {
    for name in ["pre-commit", "pre-push"] {
        let repo = repository();
        let hook = repo.root().join(".git/hooks").join(name);
        let foreign = "#!/bin/sh\necho foreign \"$@\"\ncat\n[ ! -e fail ]\n";
        fs::create_dir_all(repo.root().join(".git/hooks")).expect("directories can be made");
        fs::write(&hook, foreign).expect("files can be written");
        fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).expect("modes can be set");
        let before = everything(&repo);
        install(&repo, &["hook", "--hook", name]).ends_with(2).says("is not a hook of outcrop").says("--chain");
        assert_eq!(everything(&repo), before);
        install(&repo, &["hook", "--hook", name, "--chain"]).ends_with(0).says("rename").says("before-outcrop");
        install(&repo, &["hook", "--hook", name, "--chain"]).ends_with(0).says("nothing to do");
        let remote = repo.beside("remote.git").to_string_lossy().into_owned();
        repo.git(&["init", "-q", "--bare", &remote]);
        let act = |repo: &TestRepo| match name {
            "pre-commit" => run(&mut git(repo, &["commit", "-a", "-m", "x"])),
            _ => run(&mut git(repo, &["push", &remote, "HEAD:refs/heads/x"])),
        };
        repo.write("a.yaml", BAD);
        if name == "pre-push" {
            repo.git(&["commit", "-q", "-a", "--no-verify", "-m", "bad"]);
        }
        act(&repo).ends_with(1).says("foreign").says("a.yaml");
        repo.write("fail", "");
        act(&repo).ends_with(1).says("foreign").does_not_say("document/duplicate-key");
        fs::remove_file(repo.root().join("fail")).expect("it is there");
        install(&repo, &["hook", "--uninstall"]).ends_with(0).says("rename");
        assert_eq!(fs::read_to_string(&hook).expect("it is back"), foreign);
        assert!(!hook.with_file_name(format!("{name}.before-outcrop")).exists());
    }
}

#[test]
fn hooks_go_where_git_looks_for_them() {
    let repo = repository();
    let linked = repo.beside("linked").to_string_lossy().into_owned();
    repo.git(&["worktree", "add", "-q", "-b", "side", &linked]);
    run(&mut outcrop(&repo, &["-C", &linked, "install", "hook"])).ends_with(0);
    assert!(repo.root().join(".git/hooks/pre-commit").exists());
    install(&repo, &["hook"]).ends_with(0).says("nothing to do");

    repo.git(&["config", "core.hooksPath", ".githooks"]);
    install(&repo, &["hook"]).ends_with(0).says(".githooks/pre-commit");
    repo.write("a.yaml", BAD);
    run(&mut git(&repo, &["commit", "-q", "-a", "-m", "bad"])).ends_with(1).says("index:a.yaml");

    // Hooks of all repositories are not changed by accident.
    let shared = repo.beside("shared-hooks").to_string_lossy().into_owned();
    repo.git(&["config", "core.hooksPath", &shared]);
    install(&repo, &["hook"]).ends_with(2).says("other repositories").says("--global");
    install(&repo, &["hook", "--global"]).ends_with(0).says("shared-hooks/pre-commit");
}

#[test]
fn hook_managers_keep_their_hooks_and_the_message_says_what_to_add() {
    let said = |hook: &str, script: &str, path: Option<&str>| {
        let repo = repository();
        if let Some(path) = path {
            repo.git(&["config", "core.hooksPath", path]);
        }
        repo.write(hook, script);
        install(&repo, &["hook"]).ends_with(2)
    };
    said(".git/hooks/pre-commit", "#!/bin/sh\n# File generated by pre-commit: https://pre-commit.com\n", None)
        .says("outcrop install pre-commit");
    said(".git/hooks/pre-commit", "#!/bin/sh\ncall_lefthook run pre-commit\n", None).says("lefthook.yml").says("jobs:");
    said(".husky/_/pre-commit", "#!/bin/sh\n. h\n", Some(".husky/_")).says(".husky/pre-commit");
}

#[test]
fn entries_of_others_are_not_overwritten() {
    let repo = repository();
    repo.git(&["config", "difftool.outcrop.cmd", "mine"]);
    install(&repo, &["difftool"]).ends_with(2).says("is set already: mine").says("nothing was changed");
    install(&repo, &["difftool", "--uninstall"]).ends_with(0).says("is kept");
    assert_eq!(repo.git(&["config", "difftool.outcrop.cmd"]), "mine");
    repo.write(".git/info/attributes", "*.md diff=markdown\n");
    install(&repo, &["diff-driver"]).ends_with(0);
    let attributes = || fs::read_to_string(repo.root().join(".git/info/attributes")).expect("it is there");
    assert!(
        attributes().starts_with("*.md diff=markdown\n# outcrop: begin\n*.yaml diff=outcrop\n"),
        "{}",
        attributes()
    );
    install(&repo, &["diff-driver", "--uninstall"]).ends_with(0);
    assert_eq!(attributes(), "*.md diff=markdown\n");
    install(&repo, &["difftool", "--chain"]).ends_with(2).says("only for `outcrop install hook`");
}

#[test]
fn what_is_installed_works_in_git() {
    let repo = repository();
    for target in ["difftool", "diff-driver", "alias"] {
        install(&repo, &[target]).ends_with(0);
    }
    repo.write("a.yaml", "a: 2\n");
    run(&mut git(&repo, &["diff"])).ends_with(0).says("a.yaml   index → working tree").says("~ .a  1 → 2");
    run(&mut git(&repo, &["difftool", "-y", "-t", "outcrop"])).ends_with(0).says("index → working tree");
    run(&mut git(&repo, &["outcrop"])).ends_with(0).says("index → working tree").says("~ .a  1 → 2");
}

#[test]
fn the_pre_commit_framework_accepts_what_is_added() {
    let Some(framework) = tool("pre-commit") else { return };
    for text in [
        "",
        "# ours\nrepos:\n- repo: local\n  hooks:\n  - {id: x, name: x, entry: 'true', language: system}\n",
        "fail_fast: true\nrepos:\n  - repo: local\n    hooks:\n      - {id: x, name: x, entry: 'true', language: system}",
    ] {
        let repo = repository();
        if !text.is_empty() {
            repo.write(".pre-commit-config.yaml", text);
        }
        install(&repo, &["pre-commit"]).ends_with(0).says("pre-commit install");
        let mut command = repo.command(&framework);
        run(command.args(["validate-config", ".pre-commit-config.yaml"])).ends_with(0);
        let written = fs::read_to_string(repo.root().join(".pre-commit-config.yaml")).expect("it is there");
        assert!(
            written.starts_with(text.trim_end()) && written.contains("entry: outcrop hook pre-commit"),
            "{written}"
        );
        install(&repo, &["pre-commit", "--uninstall"]).ends_with(0);
        let left = fs::read_to_string(repo.root().join(".pre-commit-config.yaml")).unwrap_or_default();
        assert_eq!(left.trim_end(), text.trim_end());
    }
    let repo = repository();
    repo.write(".pre-commit-config.yaml", "repos: []\n");
    install(&repo, &["pre-commit"]).ends_with(2).says("add this entry to the list yourself");
}
