//! `outcrop hook pre-push`, through the real `git push` and with every kind of line git can say.

use crate::hooks::install;
use crate::program::{Ran, git, outcrop, run, run_with_input};
use crate::repo::TestRepo;

const BAD: &str = "a: 1\na: 2\n";
const ZERO: &str = "0000000000000000000000000000000000000000";

/// A repository with an old mistake that its remote has too, and the hook.
fn pushed_once() -> TestRepo {
    let repo = TestRepo::new();
    let remote = repo.beside("remote.git");
    repo.git(&["init", "-q", "--bare", &remote.to_string_lossy()]);
    repo.git(&["remote", "add", "origin", &remote.to_string_lossy()]);
    repo.write("old.yaml", BAD);
    repo.write("a.yaml", "v: 1\n");
    repo.commit_all("first");
    repo.git(&["push", "-q", "origin", "main"]);
    install(&repo, "pre-push");
    repo
}

fn push(repo: &TestRepo, what: &[&str]) -> Ran {
    run(&mut git(repo, &[&["push", "-q"], what].concat()))
}

#[test]
fn what_the_remote_has_already_stops_nobody() {
    let repo = pushed_once();
    push(&repo, &["origin", "main"]).ends_with(0).says_nothing();
    repo.write("a.yaml", "v: 2\n");
    repo.commit_all("good");
    push(&repo, &["origin", "main"]).ends_with(0).says_nothing();
    push(&repo, &["origin", "main:refs/heads/copy"]).ends_with(0).says_nothing();
    push(&repo, &["origin", "--delete", "copy"]).ends_with(0).says_nothing();
}

#[test]
fn a_new_mistake_stops_the_push_of_a_known_branch_and_of_a_new_one() {
    let repo = pushed_once();
    repo.write("new.yaml", "x: [1\n");
    let tip = repo.commit_all("bad");
    let stopped = |ran: Ran| ran.ends_with(1).says("new.yaml").says("OUTCROP=0 git push").does_not_say("old.yaml");
    stopped(push(&repo, &["origin", "main"])).says("refs/heads/main").says(&tip[..7]);
    stopped(push(&repo, &["origin", "HEAD:refs/heads/feature"])).says("refs/heads/feature");
    stopped(push(&repo, &["origin", "HEAD^{/ba}:refs/heads/found"])).says("refs/heads/found");
    repo.git(&["tag", "-a", "v1", "-m", "v1"]);
    stopped(push(&repo, &["origin", "v1"])).says("refs/tags/v1");
    let both = stopped(push(&repo, &["origin", "main:refs/heads/one", "main:refs/heads/two"]));
    assert_eq!(both.stderr.matches("new.yaml").count(), 1, "the same range is checked once");
    run(git(&repo, &["push", "-q", "origin", "main"]).env("OUTCROP", "0")).ends_with(0).says_nothing();
}

#[test]
fn messages_stay_off_the_output_that_programs_read() {
    let repo = pushed_once();
    repo.write("new.yaml", "x: [1\n");
    repo.commit_all("bad");
    let ran = run(&mut git(&repo, &["push", "--porcelain", "origin", "main"])).ends_with(1);
    assert!(!ran.stdout.contains("new.yaml"), "{}", ran.stdout);
}

#[test]
fn a_push_by_force_is_compared_with_what_it_replaces() {
    let repo = pushed_once();
    repo.write("new.yaml", BAD);
    repo.commit_all("bad");
    run(git(&repo, &["push", "-q", "origin", "main"]).env("OUTCROP", "0")).ends_with(0);
    repo.write("new.yaml", "# spaced out\n\na: 1\na: 2\n");
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "-q", "--amend", "-m", "still bad, but known"]);
    push(&repo, &["--force", "origin", "main"]).ends_with(0);
}

#[test]
fn a_remote_nobody_has_seen_gets_everything_checked() {
    let repo = pushed_once();
    let other = repo.beside("other.git");
    repo.git(&["init", "-q", "--bare", &other.to_string_lossy()]);
    push(&repo, &[&other.to_string_lossy(), "main"]).ends_with(1).says("empty tree").says("old.yaml");
    repo.git(&["tag", "text", &repo.git(&["rev-parse", "HEAD:a.yaml"])]);
    push(&repo, &["origin", "text"]).ends_with(0).says("refs/tags/text is a file");
}

/// Lines as git writes them, and what must come out.
#[test]
fn every_line_counts() {
    let repo = pushed_once();
    let first = repo.git(&["rev-parse", "HEAD"]);
    repo.write("a.yaml", "v: 2\n");
    let good = repo.commit_all("good");
    repo.write("new.yaml", BAD);
    let bad = repo.commit_all("bad");
    let unknown = "1234567890123456789012345678901234567890";
    let delete = format!("(delete) {ZERO} refs/heads/gone {first}\n");
    let cases: &[(&str, String, i32, &str)] = &[
        ("nothing", String::new(), 0, ""),
        ("a deletion", delete.clone(), 0, ""),
        ("a good update", format!("main {good} refs/heads/main {first}\n"), 0, ""),
        ("a bad update", format!("main {bad} refs/heads/main {good}\n"), 1, "new.yaml"),
        ("bad after a deletion", format!("{delete}main {bad} refs/heads/main {good}\n"), 1, "new.yaml"),
        ("a new branch", format!("main {good} refs/heads/x {ZERO}\n"), 0, ""),
        ("a new bad branch", format!("main {bad} refs/heads/x {ZERO}\n"), 1, "merge base"),
        ("the remote is ahead of us", format!("main {good} refs/heads/main {unknown}\n"), 0, ""),
        ("the remote is ahead, we are bad", format!("main {bad} refs/heads/main {unknown}\n"), 1, "merge base"),
        ("back to what was", format!("main {first} refs/heads/main {bad}\n"), 0, ""),
        ("good and bad", format!("a {good} refs/heads/a {first}\nb {bad} refs/heads/b {good}\n"), 1, "refs/heads/b"),
        ("rubbish", "rubbish\n".to_owned(), 2, "cannot read this line of git's list"),
        ("good, then rubbish", format!("a {good} refs/heads/a {first}\nrubbish\n"), 2, "rubbish"),
        ("what is not here", format!("x {unknown} refs/heads/x {ZERO}\n"), 2, unknown),
    ];
    for (case, input, code, said) in cases {
        let ran = run_with_input(&mut outcrop(&repo, &["hook", "pre-push", "origin", "file:///remote"]), input);
        assert_eq!(ran.code, *code, "{case}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{case}: {}", ran.stderr);
        assert_eq!(ran.stderr.is_empty(), *code == 0, "{case}: {}", ran.stderr);
    }
}

#[test]
fn long_ids_are_ids_too() {
    let repo = TestRepo::init(&["init", "-q", "--object-format=sha256"]);
    repo.write("a.yaml", BAD);
    let tip = repo.commit_all("bad");
    let zero = "0".repeat(64);
    let hook = || outcrop(&repo, &["hook", "pre-push", "origin", "file:///remote"]);
    run_with_input(&mut hook(), &format!("main {tip} refs/heads/main {zero}\n")).ends_with(1).says("a.yaml");
    run_with_input(&mut hook(), &format!("(delete) {zero} refs/heads/main {tip}\n")).ends_with(0).says_nothing();
}

/// The framework passes variables and no lines.
#[test]
fn variables_speak_where_no_line_does() {
    let repo = pushed_once();
    repo.write("new.yaml", "x: [1\n");
    repo.commit_all("bad");
    let hook = |variables: &[(&str, &str)]| {
        let mut command = outcrop(&repo, &["hook", "pre-push"]);
        run(command.env("PRE_COMMIT", "1").envs(variables.iter().copied()))
    };
    let from_to = [("PRE_COMMIT_FROM_REF", "HEAD~1"), ("PRE_COMMIT_TO_REF", "HEAD")];
    hook(&from_to).ends_with(1).says("new.yaml").does_not_say("old.yaml");
    let to_only = [("PRE_COMMIT_TO_REF", "HEAD"), ("PRE_COMMIT_REMOTE_NAME", "origin")];
    hook(&to_only).ends_with(1).says("new.yaml").does_not_say("old.yaml");
    let branch_only = [("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main"), ("PRE_COMMIT_REMOTE_NAME", "origin")];
    hook(&branch_only).ends_with(1).says("all files of refs/heads/main").says("old.yaml");
    run(&mut outcrop(&repo, &["hook", "pre-push"])).ends_with(0).says_nothing();
}
