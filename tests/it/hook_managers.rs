//! The hooks through prek, lefthook and husky, where they are installed.

use std::path::Path;

use crate::program::{Ran, path_with_binary, project, run, tool};
use crate::repo::TestRepo;

const BAD: &str = "a: 1\na: 2\n";

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.write("layers/_/metadata.yaml", "resourceInfo: {idFromAttribute: id}\n");
    repo.commit_all("first");
    let remote = repo.beside("remote.git").to_string_lossy().into_owned();
    repo.git(&["init", "-q", "--bare", &remote]);
    repo.git(&["remote", "add", "origin", &remote]);
    repo.git(&["push", "-q", "origin", "main"]);
    repo
}

/// git with the program and a hook manager on its path.
fn git(repo: &TestRepo, manager: &Path, arguments: &[&str], off: bool) -> Ran {
    let mut path = manager.parent().expect("a program is in a directory").as_os_str().to_owned();
    path.push(":");
    path.push(path_with_binary());
    let mut command = repo.command("git");
    command.args(arguments).env("PATH", path).env("PREK_HOME", repo.beside("prek"));
    run(command.env("OUTCROP", if off { "0" } else { "1" }))
}

/// A commit of broken configuration is stopped, one that only deletes is looked at, and a push is stopped.
fn commits_and_pushes_are_checked(repo: &TestRepo, manager: &Path) {
    let git = |arguments: &[&str], off| git(repo, manager, arguments, off);
    repo.git(&["rm", "-q", "layers/_/metadata.yaml"]);
    git(&["commit", "-q", "-m", "only a deletion"], false).ends_with(0);
    repo.write("a.yaml", BAD);
    repo.git(&["add", "a.yaml"]);
    repo.write("a.yaml", "a: 1\n");
    git(&["commit", "-q", "-m", "staged bad, working tree good"], false).ends_with(1).says("index:a.yaml");
    git(&["commit", "-q", "-m", "switched off"], true).ends_with(0);
    git(&["push", "-q", "origin", "main"], false).ends_with(1).says("a.yaml");
    git(&["push", "-q", "origin", "main"], true).ends_with(0);
}

#[test]
fn prek_runs_the_hooks() {
    let Some(prek) = tool("prek") else { return };
    let repo = repository();
    let hook = |id: &str, name: &str| {
        format!(
            "  - {{id: {id}, name: {id}, entry: outcrop hook {name}, language: system, pass_filenames: false, \
             always_run: true, stages: [{name}]}}\n"
        )
    };
    let hooks = hook("outcrop", "pre-commit") + &hook("outcrop-push", "pre-push");
    repo.write(".pre-commit-config.yaml", format!("repos:\n- repo: local\n  hooks:\n{hooks}"));
    repo.commit_all("hooks");
    let mut install = repo.command(&prek);
    run(install.args(["install", "-t", "pre-commit", "-t", "pre-push"]).env("PREK_HOME", repo.beside("prek")))
        .ends_with(0);
    commits_and_pushes_are_checked(&repo, &prek);
    let manifest = project().join(".pre-commit-hooks.yaml");
    run(repo.command(&prek).arg("validate-manifest").arg(manifest)).ends_with(0);
}

#[test]
fn lefthook_runs_the_hooks() {
    let Some(lefthook) = tool("lefthook") else { return };
    let repo = repository();
    let documentation = std::fs::read_to_string(project().join("docs/integrations.md")).expect("it is there");
    let settings = documentation.split("# lefthook.yml\n").nth(1).and_then(|rest| rest.split("```").next());
    repo.write("lefthook.yml", settings.expect("the documentation shows it"));
    repo.commit_all("hooks");
    run(repo.command(&lefthook).arg("install")).ends_with(0);
    commits_and_pushes_are_checked(&repo, &lefthook);
}

#[test]
fn husky_runs_the_hooks() {
    let Some(husky) = tool("husky") else { return };
    let repo = repository();
    run(repo.command(&husky).env("PATH", path_with_binary())).ends_with(0);
    repo.write(".husky/pre-commit", "outcrop hook pre-commit\n");
    repo.write(".husky/pre-push", "outcrop hook pre-push \"$@\"\n");
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "-q", "--no-verify", "-m", "hooks"]);
    commits_and_pushes_are_checked(&repo, &husky);
}
