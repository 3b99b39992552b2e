//! `action.yml` and everything around it: what schemas and linters say, and what its scripts do.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::{binary, path_with_binary, project, run, tool};
use crate::repo::TestRepo;

fn files_in(directory: &str, extension: &str) -> Vec<PathBuf> {
    let members = fs::read_dir(project().join(directory)).unwrap_or_else(|error| panic!("{directory}: {error}"));
    let paths = members.map(|member| member.expect("it can be listed").path());
    let mut files: Vec<PathBuf> = paths.filter(|path| path.extension().unwrap_or_default() == extension).collect();
    files.sort();
    assert!(!files.is_empty(), "there is nothing in {directory}");
    files
}

fn check(tool: &Path, arguments: &[&str], files: &[PathBuf]) {
    run(Command::new(tool).args(arguments).args(files).current_dir(project())).ends_with(0);
}

#[test]
fn schemas_accept_the_action_and_the_workflows() {
    let Some(tool) = tool("check-jsonschema") else { return };
    check(&tool, &["--builtin-schema", "vendor.github-actions"], &[project().join("action.yml")]);
    check(&tool, &["--builtin-schema", "vendor.github-workflows"], &files_in(".github/workflows", "yml"));
}

#[test]
fn the_auditor_has_nothing_to_say() {
    let Some(tool) = tool("zizmor") else { return };
    let documented = workflows_of_the_documentation();
    let mut files = files_in(".github/workflows", "yml");
    files.push(project().join("action.yml"));
    check(&tool, &["--offline", "--no-progress", "--persona=auditor"], &files);
    let repo = TestRepo::new();
    for (at, workflow) in documented.iter().enumerate() {
        // The documentation cannot pin what does not exist yet; every other rule holds.
        let pinned =
            workflow.replace("<commit>", "11bd71901bbe5b1630ceea73d27597364c9af683").replace("<owner>", "acme");
        repo.write(format!(".github/workflows/{at}.yml"), pinned);
    }
    check(&tool, &["--offline", "--no-progress"], &[repo.root().join(".github/workflows")]);
}

#[test]
fn the_shell_scripts_are_sound() {
    let Some(tool) = tool("shellcheck") else { return };
    let mut files = files_in("action", "sh");
    files.extend(files_in("hooks", ""));
    files.extend(files_in("examples", "sh"));
    files.push(project().join(".ci/run"));
    check(&tool, &[], &files);
}

/// Complete workflows among the code blocks of the documentation.
fn workflows_of_the_documentation() -> Vec<String> {
    let text = fs::read_to_string(project().join("docs/integrations.md")).expect("the documentation is there");
    let blocks = text.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let found: Vec<String> = blocks.filter(|block| block.contains("\njobs:")).map(str::to_owned).collect();
    assert!(!found.is_empty(), "the documentation shows a workflow");
    found
}

/// The lines of every `run:`, those of a block included.
fn run_lines(text: &str) -> Vec<&str> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    let mut block = None;
    for line in text.lines() {
        let key = line.trim_start().trim_start_matches("- ");
        if block.is_some_and(|column| !line.trim().is_empty() && indent(line) <= column) {
            block = None;
        }
        if key.starts_with("run:") {
            block = Some(line.len() - key.len());
        }
        found.extend(block.map(|_| line));
    }
    found
}

#[test]
fn nothing_is_pasted_into_a_script() {
    let mut files = files_in(".github/workflows", "yml");
    files.push(project().join("action.yml"));
    for file in files {
        let text = fs::read_to_string(&file).expect("it can be read");
        let lines = run_lines(&text);
        assert!(!lines.is_empty(), "{} runs something", file.display());
        for line in lines {
            assert!(!line.contains("${{"), "{}: {line}", file.display());
        }
    }
    assert_eq!(run_lines("- run: |\n    a ${{ b }}\n\n    c\n  env: d\n"), ["- run: |", "    a ${{ b }}", "", "    c"]);
    let action = fs::read_to_string(project().join("action.yml")).expect("it can be read");
    assert!(!action.contains("uses:"), "the action uses no other action");
}

#[test]
fn everything_used_is_pinned_and_permissions_are_few() {
    for file in files_in(".github/workflows", "yml") {
        let text = fs::read_to_string(&file).expect("it can be read");
        assert!(text.contains("\npermissions: {}\n"), "{} starts without permissions", file.display());
        for line in text.lines().filter(|line| line.contains("uses:")) {
            let commit = line.split_once('@').map(|(_, rest)| rest.split(' ').next().unwrap_or_default());
            let is_commit =
                commit.is_some_and(|commit| commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()));
            assert!(is_commit, "{}: {line}", file.display());
        }
    }
}

/// A step of the action, as the runner would start it.
fn script(repo: &TestRepo, name: &str) -> Command {
    let mut command = repo.command("bash");
    command.arg(project().join("action").join(name)).env("GITHUB_ACTION_PATH", project());
    command.env("GITHUB_OUTPUT", repo.beside("output")).env("RUNNER_TEMP", repo.beside("temp"));
    command.env("RUNNER_TOOL_CACHE", repo.beside("cache")).env("RUNNER_ARCH", "X64").env("RUNNER_OS", "Linux");
    command.env("INPUT_BINARY", "").env("INPUT_PATHS", "").env("PATH", path_with_binary());
    command
}

fn output(repo: &TestRepo) -> String {
    let text = fs::read_to_string(repo.beside("output")).unwrap_or_default();
    text.lines().nth(1).unwrap_or_default().to_owned()
}

#[test]
fn a_given_binary_is_used_as_it_is() {
    let repo = TestRepo::new();
    run(script(&repo, "install.sh").env("INPUT_BINARY", binary())).ends_with(0).says_nothing();
    assert_eq!(Path::new(&output(&repo)), binary());
    run(script(&repo, "install.sh").env("INPUT_BINARY", "/nowhere/outcrop"))
        .ends_with(2)
        .says("::error title=outcrop::");
}

#[test]
fn the_binary_is_built_once_and_not_where_strangers_configure_cargo() {
    let repo = TestRepo::new();
    // In place of cargo: prints where it runs, and makes what it should.
    let cargo = "#!/bin/sh\npwd >> \"$RUNNER_TEMP/calls\"\nfor word; do [ \"$last\" = --root ] && root=$word; last=$word; done\n\
                 echo \"$*\" >> \"$RUNNER_TEMP/words\"\nmkdir -p \"$root/bin\" && printf '#!/bin/sh\\n' > \"$root/bin/outcrop\" && \
                 chmod +x \"$root/bin/outcrop\"\n";
    repo.write("../tools/cargo", cargo);
    fs::create_dir_all(repo.beside("temp")).expect("directories can be made");
    assert!(repo.command("chmod").arg("+x").arg(repo.beside("tools/cargo")).status().expect("chmod runs").success());
    let mut path = repo.beside("tools").into_os_string();
    path.push(":");
    path.push(path_with_binary());
    for _ in 0..2 {
        run(script(&repo, "install.sh").env("PATH", &path)).ends_with(0);
        assert!(output(&repo).starts_with(&*repo.beside("cache/outcrop").to_string_lossy()), "{}", output(&repo));
    }
    let calls = fs::read_to_string(repo.beside("temp/calls")).expect("cargo was called");
    assert_eq!(calls.lines().map(Path::new).collect::<Vec<_>>(), [project().canonicalize().expect("it is there")]);
    let words = fs::read_to_string(repo.beside("temp/words")).expect("cargo was called");
    assert!(words.starts_with("install --locked --path . --root "), "{words}");

    // Without cargo the message says what to do.
    fs::remove_dir_all(repo.beside("cache")).expect("it is there");
    let tools = repo.beside("few");
    fs::create_dir_all(&tools).expect("directories can be made");
    for name in ["bash", "find", "sort", "tr", "xargs", "cat", "git", "dirname", "basename"] {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", name]).output().expect("sh runs");
        let target = String::from_utf8(found.stdout).expect("a path is text");
        std::os::unix::fs::symlink(target.trim(), tools.join(name)).expect("links can be made");
    }
    run(script(&repo, "install.sh").env("PATH", &tools)).ends_with(2).says("give the input binary");
}

#[test]
fn the_review_passes_inputs_on_and_nothing_else() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    repo.write("sub dir/b.yaml", "b: [1\n");
    repo.commit_all("second");
    let review = |paths: &str, fail_on: &str| {
        let mut command = script(&repo, "review.sh");
        command.env("OUTCROP_BIN", binary()).env("INPUT_PATHS", paths).env("OUTCROP_FAIL_ON", fail_on);
        fs::create_dir_all(repo.beside("temp")).expect("directories can be made");
        run(command.env("OUTCROP_BASE", "HEAD~1").env("OUTCROP_HEAD", ""))
    };
    review("", "error").ends_with(1).says("::error file=sub dir/b.yaml").says("1 → 2");
    review("", "never").ends_with(0).says("::error file=sub dir/b.yaml");
    review("a.yaml\n", "error").ends_with(0).says("1 → 2").does_not_say("b.yaml");
    review("sub dir\r\n\n$(touch pwned)\n--fail-on=never\n", "error")
        .ends_with(1)
        .says("sub dir/b.yaml")
        .does_not_say("1 → 2");
    assert!(!repo.root().join("pwned").exists());
}
