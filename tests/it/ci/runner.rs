//! The runner's side: what it takes for a command in the output of a step, whatever a stranger wrote into the files.

use super::*;

/// Commands the runner knows.
const NAMES: [&str; 14] = [
    "set-env",
    "add-path",
    "set-output",
    "save-state",
    "add-mask",
    "add-matcher",
    "remove-matcher",
    "debug",
    "echo",
    "stop-commands",
    "group",
    "error",
    "warning",
    "notice",
];

/// What the runner obeys in the output of a step, in order. It reads lines that end in any way; `::name …::` after blanks,
/// `##[name …]` anywhere; after `stop-commands` only the word that ends it.
pub(super) fn obeyed(output: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut stopped: Option<String> = None;
    for line in output.split(['\n', '\r']) {
        let Some((name, rest)) = command(line) else { continue };
        match &stopped {
            Some(token) if name.eq_ignore_ascii_case(token) => stopped = None,
            Some(_) => {}
            None if name.eq_ignore_ascii_case("stop-commands") => stopped = Some(rest.to_owned()),
            None if NAMES.contains(&name.to_lowercase().as_str()) => found.push(line.to_owned()),
            None => {}
        }
    }
    assert_eq!(stopped, None, "commands were never allowed again");
    found
}

fn command(line: &str) -> Option<(&str, &str)> {
    if let Some(rest) = line.trim_start().strip_prefix("::")
        && let Some((command, data)) = rest.split_once("::")
    {
        return Some((command.split(' ').next()?, data));
    }
    let (command, data) = line.split_once("##[")?.1.split_once(']')?;
    Some((command.split(' ').next()?, data))
}

const HOSTILE: &str = concat!(
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"::error::name\"\n",
    "  labels: {\"##[error]label\": \"##[add-mask]a\"}\n",
    "data:\n  ::set-output name=errors::0: \"::stop-commands::x\"\n",
    "  lines: |\n    ::error::first\n    ##[error]second\n      ::warning file=a::third\n",
    "  returned: \"a\\r::error::cr\\n::error::lf\\u2028::error::ls\\x85::error::nel\"\n",
    "  escaped: \"\\e[31m##[error]\\e]0;title\\a\"\n",
);

#[test]
fn only_our_own_commands_are_obeyed() {
    let project = Project::new();
    let repo = &project.repo;
    repo.write("hostile.yaml", HOSTILE.replace("first", "before").replace("##[add-mask]a", "b"));
    repo.write("##[error]name.yaml", "a: 1\n");
    repo.commit_all("hostile");
    repo.write("hostile.yaml", HOSTILE);
    repo.write("##[error]name.yaml", "a: 2\n");
    repo.write("::error::.yaml", "x: 1 # ##[error]comment\n::error::x: 1\n::error::x: 2\n");
    repo.write("broken.yaml", "# ##[error]comment\n::error::: [\n  ::warning::in\n");
    repo.write("##[error].txt", "not compared\n");
    repo.write("line\nbreak\r::error::x.yaml", "x: [\n");
    repo.commit_all("more hostile");
    for arguments in [&["--base", "HEAD~1"][..], &["--base", "HEAD~1", "-v"], &["--base", "HEAD~1", "--color=always"]] {
        let mut command = outcrop(repo, &["ci", "github"]);
        let ran = run(command.args(arguments).env("GITHUB_ACTIONS", "true")).ends_with(1);
        let commands = obeyed(&ran.stdout);
        assert_eq!(commands.len(), 3, "{commands:#?}");
        for (command, file) in commands.iter().zip(["%3A%3Aerror%3A%3A.yaml", "broken.yaml", "line"]) {
            assert!(command.starts_with("::error file=") && command.contains(file), "{command}");
        }
        assert!(!ran.stdout.contains("##["), "{}", ran.stdout);
        assert_eq!(obeyed(&ran.stderr), [""; 0]);
    }
    // The other commands print names and values too.
    for arguments in
        [&["diff", "HEAD~1", "HEAD"][..], &["check", "HEAD~1", "HEAD"], &["doctor"], &["hook", "pre-commit"]]
    {
        let ran = run(outcrop(repo, arguments).env("GITHUB_ACTIONS", "true"));
        assert_eq!(obeyed(&ran.stdout), [""; 0], "{arguments:?}");
        assert_eq!(obeyed(&ran.stderr), [""; 0], "{arguments:?}");
    }
}

#[test]
fn names_that_cannot_be_resolved_command_nothing_either() {
    let project = Project::new();
    let hostile = "::error::x\r##[error]y";
    let ran = run(&mut outcrop(&project.repo, &["ci", "github", "--base", hostile])).ends_with(2);
    let commands = obeyed(&ran.stdout);
    assert!(matches!(commands.as_slice(), [only] if only.starts_with("::error title=outcrop::")), "{commands:#?}");
    let ran = run(outcrop(&project.repo, &["diff", hostile, "--"]).env("GITHUB_ACTIONS", "true")).ends_with(2);
    assert_eq!(obeyed(&ran.stderr), [""; 0], "{}", ran.stderr);
}

#[test]
fn the_port_of_the_parser_finds_what_the_runner_would() {
    assert_eq!(obeyed("  ::error::x\nfine\ra ##[Warning]b"), ["  ::error::x", "a ##[Warning]b"]);
    assert_eq!(obeyed("::stop-commands::abcdefg\n::error::x\n::abcdefg::\n::notice::y"), ["::notice::y"]);
    assert_eq!(obeyed("a ::error::x\n::unknown::x\n##\\[error]"), [""; 0]);
}
