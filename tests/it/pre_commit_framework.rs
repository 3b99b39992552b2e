//! The hooks through the real pre-commit framework, where it is installed.

use std::path::Path;
use std::process::Command;

use crate::program::{Ran, path_with_binary, project, run, tool};
use crate::repo::TestRepo;

/// The framework in a repository, with a cache of its own.
fn pre_commit(repo: &TestRepo, framework: &Path, arguments: &[&str]) -> Command {
    let mut command = repo.command(framework);
    command.args(arguments).env("PATH", path_with_binary()).env("PRE_COMMIT_HOME", repo.beside("cache"));
    command
}

/// A repository whose configuration names the hooks as `.pre-commit-hooks.yaml` has them, with the binary of this build.
fn configured() -> TestRepo {
    let repo = TestRepo::new();
    let local = |id: &str, hook: &str, stages: &str| {
        format!(
            "  - id: {id}\n    name: {id}\n    entry: outcrop hook {hook}\n    language: system\n    pass_filenames: false\n    \
             always_run: true\n    require_serial: true\n    stages: [{stages}]\n"
        )
    };
    let hooks = local("outcrop", "pre-commit", "pre-commit") + &local("outcrop-push", "pre-push", "pre-push");
    repo.write(".pre-commit-config.yaml", format!("repos:\n- repo: local\n  hooks:\n{hooks}"));
    repo.write("a.yaml", "a: 1\n");
    repo.write("layers/_/metadata.yaml", "resourceInfo: {idFromAttribute: id}\n");
    repo.commit_all("first");
    repo
}

#[test]
fn the_manifest_is_valid() {
    let Some(framework) = tool("pre-commit") else { return };
    let repo = TestRepo::new();
    let manifest = project().join(".pre-commit-hooks.yaml");
    run(pre_commit(&repo, &framework, &["validate-manifest"]).arg(manifest)).ends_with(0);
}

#[test]
fn the_framework_runs_the_hooks_on_what_is_staged_in_a_range_and_on_everything() {
    let Some(framework) = tool("pre-commit") else { return };
    let repo = configured();
    let framework = |arguments: &[&str]| -> Ran { run(&mut pre_commit(&repo, &framework, arguments)) };
    framework(&["run"]).ends_with(0).says("Passed");
    // Deletions: a hook with a file filter would be skipped here.
    repo.git(&["rm", "-q", "layers/_/metadata.yaml"]);
    framework(&["run", "--verbose"]).ends_with(0).says("Passed").does_not_say("no files to check");
    repo.write("a.yaml", "a: 1\na: 2\n");
    framework(&["run"]).ends_with(0).says("Unstaged files detected").says("Passed");
    repo.git(&["add", "--all"]);
    framework(&["run"]).ends_with(1).says("Failed").says("index:a.yaml").says("document/duplicate-key");
    repo.git(&["commit", "-q", "-m", "bad"]);
    framework(&["run", "--all-files"]).ends_with(1).says("all files of the index").says("index:a.yaml");
    framework(&["run", "--from-ref", "HEAD~1", "--to-ref", "HEAD"]).ends_with(1).says("a.yaml:2:1");
    framework(&["run", "--from-ref", "HEAD", "--to-ref", "HEAD"]).ends_with(0);
}

#[test]
fn the_framework_runs_the_hooks_before_commits_and_pushes() {
    let Some(framework) = tool("pre-commit") else { return };
    let repo = configured();
    let remote = repo.beside("remote.git");
    repo.git(&["init", "-q", "--bare", &remote.to_string_lossy()]);
    repo.git(&["remote", "add", "origin", &remote.to_string_lossy()]);
    repo.git(&["push", "-q", "origin", "main"]);
    run(&mut pre_commit(&repo, &framework, &["install", "-t", "pre-commit", "-t", "pre-push"])).ends_with(0);
    let git = |arguments: &[&str], off: bool| {
        let mut command = repo.command("git");
        command.args(arguments).env("PATH", path_with_binary()).env("PRE_COMMIT_HOME", repo.beside("cache"));
        run(command.env("OUTCROP", if off { "0" } else { "1" }))
    };
    repo.write("a.yaml", "a: 1\na: 2\n");
    repo.git(&["add", "--all"]);
    git(&["commit", "-q", "-m", "bad"], false).ends_with(1).says("index:a.yaml");
    git(&["commit", "-q", "-m", "bad"], true).ends_with(0);
    git(&["push", "-q", "origin", "main"], false).ends_with(1).says("a.yaml").says("OUTCROP=0 git push");
    git(&["push", "-q", "origin", "main:refs/heads/new"], false).ends_with(1).says("a.yaml");
    git(&["push", "-q", "origin", "main"], true).ends_with(0);
}

/// Lets the framework build the program from this checkout, as it does for users.
#[test]
#[ignore = "compiles the whole program"]
fn the_framework_builds_the_program() {
    let Some(framework) = tool("pre-commit") else { return };
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\na: 2\n");
    repo.git(&["add", "--all"]);
    let mut command = pre_commit(&repo, &framework, &["try-repo"]);
    command.arg(project()).args(["outcrop-source", "--verbose", "--all-files"]);
    for name in ["CARGO_HOME", "RUSTUP_HOME"] {
        let home = std::env::var_os("HOME").unwrap_or_default();
        let default = Path::new(&home).join(if name == "CARGO_HOME" { ".cargo" } else { ".rustup" });
        command.env(name, std::env::var_os(name).unwrap_or(default.into_os_string()));
    }
    // How fast the program is does not matter here, how fast it is built does.
    command.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0");
    command.env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "64");
    run(&mut command).ends_with(1).says("index:a.yaml");
}

/// Lets the framework install a wheel, as it does for users once there is a release; no compiler is on the path.
#[test]
#[ignore = "needs a wheel in dist/: (cd wheel && maturin build --out ../dist)"]
fn the_framework_installs_the_wheel() {
    let Some(framework) = tool("pre-commit") else { return };
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\na: 2\n");
    repo.git(&["add", "--all"]);
    let mut command = pre_commit(&repo, &framework, &["try-repo"]);
    command.arg(project()).args(["outcrop", "--verbose", "--all-files"]);
    command.env("PIP_FIND_LINKS", project().join("dist")).env("PATH", "/usr/bin:/bin");
    run(&mut command).ends_with(1).says("index:a.yaml").does_not_say("Compiling");
}
