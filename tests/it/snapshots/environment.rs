//! What hooks and aliases say through the environment, as the real git says it.
//!
//! The environment belongs to the whole process, so these tests run a second process: this very test binary, asked to run
//! only the test `probe`.

use std::path::PathBuf;
use std::process::Command;

use super::*;

/// Not a test: answers in a process of its own what differs there.
#[test]
#[ignore = "run by other tests, in an environment of their choice"]
fn probe() {
    let Ok(words) = std::env::var("OUTCROP_PROBE") else { return };
    let words: Vec<&str> = words.split_whitespace().collect();
    let answer = |answer: String| println!("probe: {answer}");
    let repository = match Repository::open(std::path::Path::new(".")) {
        Ok(repository) => repository,
        Err(error) => return answer(format!("error {error}; {}", error.help())),
    };
    repository.notes().iter().for_each(|note| answer(format!("note {note}")));
    let selection = match select(&repository, &words) {
        Ok(selection) => selection,
        Err(error) => return answer(format!("error {error}; {}", error.help())),
    };
    let [before, after] = [&selection.comparison.before, &selection.comparison.after]
        .map(|revision| repository.snapshot(revision, &Budget::default()).unwrap_or_else(|error| panic!("{error}")));
    let sides = Sides { before, after, selection };
    let changes = sides.changes(&repository);
    changes.unreadable.iter().for_each(|unreadable| answer(format!("unreadable {unreadable}")));
    for file in &changes.files {
        let shown = |snapshot: &GitSnapshot, entry: &Option<Entry>| match entry {
            Some(entry) => match snapshot.read(entry) {
                Ok(content) => format!("{:?}", String::from_utf8_lossy(&content)),
                Err(unreadable) => format!("({})", unreadable.reason),
            },
            None => "nothing".to_owned(),
        };
        let (before, after) = (shown(&sides.before, &file.before), shown(&sides.after, &file.after));
        if before != after {
            answer(format!("{} {before} {after}", file.path));
        }
    }
    answer("done".to_owned());
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    println!("peak: {}", peak.trim());
}

const PROBE: [&str; 4] = ["--exact", "snapshots::environment::probe", "--ignored", "--nocapture"];

fn this_binary() -> PathBuf {
    std::env::current_exe().expect("a running program has a path")
}

fn answers(printed: &[u8]) -> Vec<String> {
    let printed = String::from_utf8_lossy(printed);
    let answers: Vec<String> =
        printed.lines().filter_map(|line| line.split_once("probe: ")).map(|(_, answer)| answer.to_owned()).collect();
    assert!(!answers.is_empty(), "{printed}");
    answers
}

fn run_probe(command: &mut Command, words: &str) -> Vec<String> {
    let output = command.args(PROBE).env("OUTCROP_PROBE", words).output().expect("this binary runs");
    answers(&output.stdout)
}

/// What differs in a repository, and how much memory it took at most to find out, in KiB.
pub(super) fn probe_with_peak(repo: &TestRepo, words: &str) -> (Vec<String>, u64) {
    let mut command = repo.command(this_binary());
    let output = command.args(PROBE).env("OUTCROP_PROBE", words).output().expect("this binary runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let peak = printed.lines().find_map(|line| line.strip_prefix("peak: ")?.split_whitespace().next());
    (answers(&output.stdout), peak.and_then(|peak| peak.parse().ok()).unwrap_or(0))
}

/// Installs a hook that probes, and gives what it found when `act` made git run it.
fn through_hook(repo: &TestRepo, hook: &str, words: &str, act: &[&str]) -> Vec<String> {
    let script = format!(
        "#!/bin/sh\nOUTCROP_PROBE='{words}' '{}' {} > '{}'\n",
        this_binary().display(),
        PROBE.join(" "),
        repo.beside("probed").display()
    );
    let hooks = PathBuf::from(repo.git(&["rev-parse", "--git-path", "hooks"]));
    repo.write(hooks.join(hook), script);
    let file = repo.root().join(hooks.join(hook));
    assert!(repo.command("chmod").arg("+x").arg(&file).status().expect("chmod is installed").success());
    let output = repo.try_git(act);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let probed = std::fs::read(repo.beside("probed")).unwrap_or_else(|_| panic!("the hook did not run: {said}"));
    answers(&probed)
}

fn staged_and_unstaged() -> TestRepo {
    let repo = TestRepo::new();
    for name in ["a.yaml", "b.yaml", "sub/c.yaml"] {
        repo.write(name, "v: 1\n");
    }
    repo.commit_all("first");
    repo.write("a.yaml", "v: staged\n");
    repo.git(&["add", "a.yaml"]);
    repo.write("a.yaml", "v: later\n");
    repo.write("b.yaml", "v: 2\n");
    repo
}

#[test]
fn a_plain_commit_shows_its_hook_what_is_staged() {
    let repo = staged_and_unstaged();
    let found = through_hook(&repo, "pre-commit", "--staged", &["commit", "-q", "-m", "x"]);
    assert_eq!(found, [r#"a.yaml "v: 1\n" "v: staged\n""#, "done"]);
}

#[test]
fn commit_all_shows_its_hook_everything() {
    let repo = staged_and_unstaged();
    let found = through_hook(&repo, "pre-commit", "--staged", &["commit", "-q", "-a", "-m", "x"]);
    assert_eq!(found, [r#"a.yaml "v: 1\n" "v: later\n""#, r#"b.yaml "v: 1\n" "v: 2\n""#, "done"]);
}

#[test]
fn commit_only_shows_its_hook_that_path_only() {
    let repo = staged_and_unstaged();
    let found = through_hook(&repo, "pre-commit", "--staged", &["commit", "-q", "-m", "x", "-o", "b.yaml"]);
    assert_eq!(found, [r#"b.yaml "v: 1\n" "v: 2\n""#, "done"]);
}

#[test]
fn the_first_commit_shows_its_hook_all_files_as_new() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "v: 1\n");
    repo.git(&["add", "--all"]);
    let found = through_hook(&repo, "pre-commit", "--staged", &["commit", "-q", "-m", "x"]);
    assert_eq!(found, [r#"a.yaml nothing "v: 1\n""#, "done"]);
}

#[test]
fn a_commit_in_a_linked_worktree_shows_its_own_index() {
    let repo = staged_and_unstaged();
    repo.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    let repo = repo.at("side");
    repo.write("sub/c.yaml", "v: side\n");
    let found = through_hook(&repo, "pre-commit", "--staged", &["commit", "-q", "-a", "-m", "x"]);
    assert_eq!(found, [r#"sub/c.yaml "v: 1\n" "v: side\n""#, "done"]);
}

#[test]
fn a_push_shows_its_hook_no_objects_but_says_so() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "v: 1\n");
    repo.commit_all("first");
    repo.git(&["clone", "-q", "--bare", ".", "../server"]);
    repo.write("a.yaml", "v: 2\n");
    let second = repo.commit_all("second");
    let server = repo.at("server");
    let source = server.beside("repo");
    let words = format!("HEAD {second}");
    let push = ["-C", source.to_str().expect("text"), "push", "-q", "../server", "main"];
    let found = through_hook(&server, "pre-receive", &words, &push);
    assert!(found[0].starts_with(&format!("error object {second}")) && found[0].contains("push"), "{found:?}");
    let commit = ["-C", source.to_str().expect("text"), "commit", "-q", "--allow-empty", "-m", "third"];
    server.git(&commit);
    let found = through_hook(&server, "post-receive", "HEAD~2 HEAD", &push);
    assert_eq!(found, [r#"a.yaml "v: 1\n" "v: 2\n""#, "done"]);
}

#[test]
fn an_alias_runs_at_the_top_and_says_where_the_user_stands() {
    let repo = staged_and_unstaged();
    repo.write("sub/c.yaml", "v: 2\n");
    let alias = format!("!'{}' {}", this_binary().display(), PROBE.join(" "));
    repo.git(&["config", "alias.probe", &alias]);
    let mut command = repo.command("git");
    command.arg("probe").current_dir(repo.root().join("sub")).env("OUTCROP_PROBE", "HEAD c.yaml");
    let output = command.output().expect("git is installed");
    assert_eq!(answers(&output.stdout), [r#"sub/c.yaml "v: 1\n" "v: 2\n""#, "done"]);
}

#[test]
fn variables_name_the_repository_the_working_tree_and_the_index() {
    let repo = staged_and_unstaged();
    let elsewhere = repo.beside("elsewhere");
    std::fs::create_dir(&elsewhere).expect("the directory is new");
    let git_dir = repo.root().join(".git");
    let probe = |words: &str, directory: &std::path::Path, variables: &[(&str, &std::path::Path)]| {
        let mut command = repo.command(this_binary());
        command.current_dir(directory).envs(variables.iter().copied());
        run_probe(&mut command, words)
    };
    let staged = r#"a.yaml "v: 1\n" "v: staged\n""#;
    assert_eq!(probe("--staged", &elsewhere, &[("GIT_DIR", &git_dir)]), [staged, "done"]);
    let variables = [("GIT_DIR", &*git_dir), ("GIT_WORK_TREE", repo.root())];
    let found = probe("", &elsewhere, &variables);
    assert_eq!(found, [r#"a.yaml "v: staged\n" "v: later\n""#, r#"b.yaml "v: 1\n" "v: 2\n""#, "done"]);
    // Without a named working tree git takes the directory it runs in, and finds no file there.
    let found = probe("", &elsewhere, &[("GIT_DIR", &git_dir)]);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(found[..3].iter().all(|line| line.ends_with(" nothing")));
    let other = repo.beside("other-index");
    repo.command("git").args(["read-tree", "HEAD"]).env("GIT_INDEX_FILE", &other).status().expect("git runs");
    assert_eq!(probe("--staged", repo.root(), &[("GIT_INDEX_FILE", &other)]), ["done"]);
    let missing = repo.beside("nowhere");
    let found = probe("--staged", repo.root(), &[("GIT_DIR", &missing)]);
    assert!(found[0].starts_with("error") && found[0].contains("not in a git repository"), "{found:?}");
}

#[test]
fn no_program_is_ever_started() {
    let repo = staged_and_unstaged();
    let trap = format!("touch '{}'", repo.beside("PWNED").display());
    let keys = [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.hooksPath",
        "core.askPass",
        "diff.external",
        "gpg.program",
        "credential.helper",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "alias.status",
        "uploadpack.packObjectsHook",
        "core.gitProxy",
        "sequence.editor",
        "merge.evil.driver",
        "interactive.diffFilter",
    ];
    let mut config = std::fs::read_to_string(repo.root().join(".git/config")).expect("readable");
    for key in keys {
        let (section, name) = key.rsplit_once('.').expect("a key has a section");
        let section = section.split_once('.').map_or_else(|| section.to_owned(), |(a, b)| format!("{a} \"{b}\""));
        config.push_str(&format!("[{section}]\n\t{name} = {trap}\n"));
    }
    repo.write(".git/config", config);
    repo.write(".gitattributes", "* filter=evil diff=evil merge=evil\n");
    for words in ["", "--staged", "HEAD", "HEAD HEAD"] {
        let mut command = repo.command(this_binary());
        // Without any program in reach, neither git nor a shell can be found.
        let found = run_probe(command.env("PATH", repo.beside("empty")), words);
        assert_eq!(found.last().map(String::as_str), Some("done"), "{found:?}");
    }
    assert!(!repo.beside("PWNED").exists());
}
