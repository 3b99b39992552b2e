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
fn the_schema_of_gitlab_accepts_the_job_of_the_documentation() {
    let Some(tool) = tool("check-jsonschema") else { return };
    let text = fs::read_to_string(project().join("docs/integrations.md")).expect("the documentation is there");
    let job = text.split("# .gitlab-ci.yml\n").nth(1).and_then(|rest| rest.split("```").next());
    let repo = TestRepo::new();
    repo.write(".gitlab-ci.yml", job.expect("the documentation shows a job"));
    check(&tool, &["--builtin-schema", "vendor.gitlab-ci"], &[repo.root().join(".gitlab-ci.yml")]);
}

#[test]
fn the_auditor_has_nothing_to_say() {
    let Some(tool) = tool("zizmor") else { return };
    let documented = workflows_of_the_documentation();
    let mut files = files_in(".github/workflows", "yml");
    files.push(project().join("action.yml"));
    for persona in ["--persona=pedantic", "--persona=auditor"] {
        check(&tool, &["--offline", "--no-progress", persona], &files);
    }
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
        .env("INPUT_DOWNLOAD_URL", "")
        .env("ACTION_REPOSITORY", "acme/outcrop")
        .env("SERVER_URL", "http://127.0.0.1:9");
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

/// Writes a program beside the repository. A process of its own does it: a file that this process has open for writing may be inherited
/// by what other tests start at the same moment, and then cannot be run ("text file busy").
fn write_program(repo: &TestRepo, name: &str, text: &str) {
    let path = repo.beside(name);
    fs::create_dir_all(path.parent().expect("a file has a directory")).expect("directories can be made");
    let mut writer = repo.command("sh");
    writer.args(["-c", "printf %s \"$1\" > \"$0\" && chmod +x \"$0\""]).arg(&path).arg(text);
    assert!(writer.status().expect("sh runs").success());
}

/// A copy of the action with little in it: what is built is named by its sources, and these do not change while a test runs.
fn copy_of_action(repo: &TestRepo) -> PathBuf {
    let action = repo.beside("action");
    for folder in ["action", "src", "docs", "hooks"] {
        fs::create_dir_all(action.join(folder)).expect("directories can be made");
    }
    fs::create_dir_all(repo.beside("temp")).expect("directories can be made");
    for name in ["package.sh", "install.sh", "release.txt"] {
        fs::copy(project().join("action").join(name), action.join("action").join(name)).expect("the file is there");
    }
    for name in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.toml", "Cargo.lock"] {
        fs::copy(project().join(name), action.join(name)).expect("the file is there");
    }
    action
}

#[test]
fn the_binary_is_built_once_and_not_where_strangers_configure_cargo() {
    let repo = TestRepo::new();
    // In place of cargo: prints where it runs, and makes what it should.
    let cargo = "#!/bin/sh\npwd >> \"$RUNNER_TEMP/calls\"\nfor word; do [ \"$last\" = --root ] && root=$word; last=$word; done\n\
                 echo \"$*\" >> \"$RUNNER_TEMP/words\"\nmkdir -p \"$root/bin\" && printf '#!/bin/sh\\n' > \"$root/bin/outcrop\" && \
                 chmod +x \"$root/bin/outcrop\"\n";
    write_program(&repo, "tools/cargo", cargo);
    let action = copy_of_action(&repo);
    let mut path = repo.beside("tools").into_os_string();
    path.push(":");
    path.push(path_with_binary());
    for _ in 0..2 {
        run(script(&repo, "install.sh").env("GITHUB_ACTION_PATH", &action).env("PATH", &path)).ends_with(0);
        assert!(output(&repo).starts_with(&*repo.beside("cache/outcrop").to_string_lossy()), "{}", output(&repo));
    }
    let calls = fs::read_to_string(repo.beside("temp/calls")).expect("cargo was called");
    assert_eq!(calls.lines().map(Path::new).collect::<Vec<_>>(), [action.canonicalize().expect("it is there")]);
    let words = fs::read_to_string(repo.beside("temp/words")).expect("cargo was called");
    assert!(words.starts_with("install --locked --path . --root "), "{words}");

    // Without cargo the message says what to do.
    fs::remove_dir_all(repo.beside("cache")).expect("it is there");
    let tools = repo.beside("few");
    fs::create_dir_all(&tools).expect("directories can be made");
    for name in ["bash", "find", "sort", "tr", "xargs", "cat", "git", "dirname", "basename", "sed"] {
        let found = Command::new("sh").args(["-c", "command -v \"$0\"", name]).output().expect("sh runs");
        let target = String::from_utf8(found.stdout).expect("a path is text");
        std::os::unix::fs::symlink(target.trim(), tools.join(name)).expect("links can be made");
    }
    run(script(&repo, "install.sh").env("GITHUB_ACTION_PATH", &action).env("PATH", &tools))
        .ends_with(2)
        .says("give the input binary");
}

/// Answers every request for a path with a file, until it is dropped with the process.
fn serve(path: &'static str, content: Vec<u8>) -> String {
    use std::io::{BufRead as _, BufReader, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = listener.local_addr().expect("it has an address");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().filter_map(Result::ok) {
            let mut lines = BufReader::new(stream.try_clone().expect("it can be cloned")).lines();
            let request = lines.next().and_then(Result::ok).unwrap_or_default();
            while lines.next().and_then(Result::ok).is_some_and(|line| !line.is_empty()) {}
            let is_known = request.split(' ').nth(1) == Some(path);
            let (status, body) = if is_known { ("200 OK", &content[..]) } else { ("404 Not Found", &b""[..]) };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
        }
    });
    format!("http://{address}")
}

#[test]
fn a_release_is_downloaded_once_and_only_with_the_pinned_checksum() {
    const ARCHIVE: &str = "outcrop-x86_64-unknown-linux-musl.tar.gz";
    let repo = TestRepo::new();
    // A release as action/package.sh packs it, and an action that pins it.
    let pack = |command: &mut Command| run(command).ends_with(0);
    let action = copy_of_action(&repo);
    // In place of a binary, which would take long to compress.
    write_program(&repo, "release/outcrop", "#!/bin/sh\necho \"outcrop 9.9.9 $*\"\n");
    let mut package = repo.command("bash");
    package.arg(action.join("action/package.sh")).arg("x86_64-unknown-linux-musl");
    package.env("OUTCROP_BIN", repo.beside("release/outcrop"));
    pack(&mut package);
    let archive = fs::read(action.join("dist").join(ARCHIVE)).expect("it was packed");
    let pinned = fs::read_to_string(action.join("dist").join(format!("{ARCHIVE}.sha256"))).expect("it has a checksum");
    let pin = |line: &str| {
        fs::write(action.join("action/release.txt"), format!("# a comment\nversion 9.9.9\n{line}"))
            .expect("it can be written");
    };
    let server = serve("/v9.9.9/outcrop-x86_64-unknown-linux-musl.tar.gz", archive);
    let install = |server: &str| {
        let _ = fs::remove_file(repo.beside("output"));
        let mut command = script(&repo, "install.sh");
        command.env("GITHUB_ACTION_PATH", &action).env("INPUT_DOWNLOAD_URL", server);
        run(&mut command)
    };

    // A wrong checksum ends everything: nothing is kept, and nothing else is tried.
    pin(&format!("{}  {ARCHIVE}\n", "0".repeat(64)));
    install(&server).ends_with(2).says("::error title=outcrop::the checksum of").does_not_say("built from source");
    assert!(!repo.beside("cache/outcrop").exists() && output(&repo).is_empty());

    pin(&pinned);
    install(&server).ends_with(0).says("downloading");
    let installed = PathBuf::from(output(&repo));
    assert!(installed.starts_with(repo.beside("cache/outcrop/X64")), "{}", installed.display());
    run(repo.command(&installed).arg("--version")).ends_with(0).says("outcrop 9.9.9");
    for beside in ["outcrop.1", "completions/outcrop.bash", "LICENSE-MIT"] {
        assert!(installed.with_file_name(beside).exists(), "{beside}");
    }
    // The second time nothing is asked of the server.
    install("http://127.0.0.1:9").ends_with(0).says_nothing();

    // Where the release cannot be reached, the sources are built.
    fs::remove_dir_all(repo.beside("cache")).expect("it is there");
    write_program(
        &repo,
        "tools/cargo",
        "#!/bin/sh\nfor word; do [ \"$last\" = --root ] && root=$word; last=$word; done\n\
        mkdir -p \"$root/bin\" && printf '#!/bin/sh\\n' > \"$root/bin/outcrop\" && chmod +x \"$root/bin/outcrop\"\n",
    );
    let mut path = repo.beside("tools").into_os_string();
    path.push(":");
    path.push(path_with_binary());
    fs::remove_file(repo.beside("output")).expect("it is there");
    let mut command = script(&repo, "install.sh");
    command
        .env("GITHUB_ACTION_PATH", &action)
        .env("INPUT_DOWNLOAD_URL", format!("{server}/elsewhere"))
        .env("PATH", path);
    run(&mut command).ends_with(0).says("::warning title=outcrop::the release 9.9.9 cannot be downloaded");
    assert!(output(&repo).ends_with("/bin/outcrop"), "{}", output(&repo));
}

#[test]
fn versions_agree_everywhere() {
    let read = |name: &str| fs::read_to_string(project().join(name)).expect("the file is there");
    let version = env!("CARGO_PKG_VERSION");
    assert!(read("action/release.txt").lines().any(|line| line == format!("version {version}")));
    assert!(
        read("CHANGELOG.md").contains("## [Unreleased]") || read("CHANGELOG.md").contains(&format!("## [{version}]"))
    );
    assert!(read("Cargo.lock").contains(&format!("name = \"outcrop\"\nversion = \"{version}\"")));
    // The wheel takes its version from Cargo.toml; what the pre-commit framework installs asks for exactly that wheel.
    let (wheel, hook) = (read("wheel/pyproject.toml"), read("pyproject.toml"));
    assert!(wheel.contains("dynamic = [\"version\"]") && !wheel.contains(version));
    assert!(wheel.contains(env!("CARGO_PKG_DESCRIPTION")), "wheel/pyproject.toml describes something else");
    assert!(hook.contains(&format!("version = \"{version}\"")) && hook.contains(&format!("\"outcrop=={version}\"")));
    // The archives that are built are those that the action and cargo-binstall ask for.
    let (workflow, install, manifest) =
        (read(".github/workflows/release.yml"), read("action/install.sh"), read("Cargo.toml"));
    let targets: Vec<&str> =
        workflow.lines().filter_map(|line| line.trim().strip_prefix("- { target: ")?.split(',').next()).collect();
    assert_eq!(targets.len(), 5, "{targets:?}");
    for target in targets {
        assert!(install.contains(target), "the action does not know {target}");
    }
    assert!(
        manifest.contains("{ name }-{ target }{ archive-suffix }")
            && read("action/package.sh").contains("archive=outcrop-$target.tar.gz")
    );
}

/// Keep a Changelog: an unreleased section first, then versions in falling order, each with its kinds of change.
#[test]
fn the_changelog_is_in_order() {
    let text = fs::read_to_string(project().join("CHANGELOG.md")).expect("the changelog is there");
    let headings: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(headings.first(), Some(&"[Unreleased]"));
    let number = |heading: &&str| -> Vec<u32> {
        let version = heading.trim_start_matches('[').split(']').next().unwrap_or_default();
        version.split('.').map(|part| part.parse().unwrap_or_else(|_| panic!("{heading} names no version"))).collect()
    };
    let versions: Vec<Vec<u32>> = headings.iter().skip(1).map(number).collect();
    assert!(versions.windows(2).all(|pair| pair[0] > pair[1]), "{headings:?}");
    assert!(
        headings.iter().skip(1).all(|heading| heading.contains("] - 20")),
        "every version has a date: {headings:?}"
    );
    let kinds = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"];
    for kind in text.lines().filter_map(|line| line.strip_prefix("### ")) {
        assert!(kinds.contains(&kind), "`{kind}` is no kind of change");
    }
}

#[test]
fn the_validator_of_actions_has_nothing_to_say() {
    let Some(tool) = tool("action-validator") else { return };
    check(&tool, &[], &[project().join("action.yml")]);
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
