//! `outcrop hook pre-commit`, through the real `git commit` and by hand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::program::{self, git, outcrop, run};
use crate::repo::TestRepo;

const GOOD: &str = "a: 1\nb: 2\n";
const BAD: &str = "a: 1\na: 2\n";

/// Copies one of the project's hooks to where git looks for hooks.
pub(crate) fn install(repo: &TestRepo, name: &str) {
    let directory = PathBuf::from(repo.git(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"]));
    fs::create_dir_all(&directory).expect("directories can be made");
    fs::copy(program::project().join("hooks").join(name), directory.join(name)).expect("the hook is there");
}

fn hooked() -> TestRepo {
    let repo = TestRepo::new();
    install(&repo, "pre-commit");
    repo
}

/// A repository with one good commit.
fn begun() -> TestRepo {
    let repo = hooked();
    repo.write("a.yaml", GOOD);
    repo.write("sub/b.yaml", GOOD);
    repo.commit_all_unchecked();
    repo
}

impl TestRepo {
    /// Commits without asking the hook.
    fn commit_all_unchecked(&self) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "-q", "--no-verify", "-m", "unchecked"]);
    }
}

#[test]
fn what_is_staged_counts_and_not_what_lies_about() {
    let repo = begun();
    repo.write("a.yaml", "a: 3\n");
    repo.git(&["add", "a.yaml"]);
    repo.write("a.yaml", BAD);
    run(&mut git(&repo, &["commit", "-q", "-m", "staged good, working tree bad"])).ends_with(0).says_nothing();

    repo.git(&["add", "a.yaml"]);
    repo.write("a.yaml", GOOD);
    run(&mut git(&repo, &["commit", "-q", "-m", "staged bad, working tree good"]))
        .ends_with(1)
        .says("index:a.yaml:2:1")
        .says("document/duplicate-key")
        .says("OUTCROP=0 git commit")
        .says("--no-verify");
}

#[test]
fn commit_all_and_commit_only_check_what_they_commit() {
    let repo = begun();
    repo.write("a.yaml", BAD);
    run(&mut git(&repo, &["commit", "-q", "-m", "nothing staged, so git refuses itself"]))
        .ends_with(1)
        .does_not_say("index:");
    run(&mut git(&repo, &["commit", "-q", "-a", "-m", "all"])).ends_with(1).says("index:a.yaml");
    repo.write("sub/b.yaml", "b: 3\n");
    run(&mut git(&repo, &["commit", "-q", "-o", "sub/b.yaml", "-m", "only"])).ends_with(0).says_nothing();
    repo.git(&["add", "a.yaml"]);
    repo.write("sub/b.yaml", "b: 4\n");
    run(&mut git(&repo, &["commit", "-q", "-o", "sub/b.yaml", "-m", "only"])).ends_with(0).says_nothing();
    run(&mut git(&repo, &["commit", "-q", "-o", "a.yaml", "-m", "only"])).ends_with(1).says("index:a.yaml");
}

#[test]
fn the_first_commit_is_checked_as_a_whole() {
    let repo = hooked();
    repo.write("a.yaml", BAD);
    repo.git(&["add", "--all"]);
    run(&mut git(&repo, &["commit", "-q", "-m", "first"])).ends_with(1).says("index:a.yaml");
    repo.write("a.yaml", GOOD);
    repo.git(&["add", "--all"]);
    run(&mut git(&repo, &["commit", "-q", "-m", "first"])).ends_with(0).says_nothing();
    let empty = hooked();
    run(&mut git(&empty, &["commit", "-q", "--allow-empty", "-m", "empty"])).ends_with(0).says_nothing();
}

#[test]
fn it_does_not_matter_where_one_stands() {
    let repo = begun();
    repo.write("a.yaml", BAD);
    repo.git(&["add", "--all"]);
    let mut commit = git(&repo, &["commit", "-q", "-m", "from below"]);
    run(commit.current_dir(repo.root().join("sub"))).ends_with(1).says("index:a.yaml");

    // A hook manager that changes the directory leaves git's relative path to the index behind.
    let mut hook = outcrop(&repo, &["hook", "pre-commit"]);
    let hook = hook.current_dir(repo.root().join("sub")).env("GIT_INDEX_FILE", ".git/index");
    run(hook).ends_with(1).says("index:a.yaml");
    let mut elsewhere = outcrop(&repo, &["hook", "pre-commit", "-C"]);
    run(elsewhere.arg(repo.root()).current_dir("/").env("GIT_INDEX_FILE", ".git/index"))
        .ends_with(1)
        .says("index:a.yaml");
}

#[test]
fn a_linked_working_tree_has_its_own_index() {
    let repo = begun();
    let linked = repo.beside("linked");
    repo.git(&["worktree", "add", "-q", "-b", "side", &linked.to_string_lossy()]);
    repo.write("a.yaml", BAD);
    repo.git(&["add", "--all"]);
    let linked = repo.at("linked");
    linked.write("sub/b.yaml", "b: 3\n");
    linked.git(&["add", "--all"]);
    run(&mut git(&linked, &["commit", "-q", "-m", "good"])).ends_with(0).says_nothing();
    linked.write("sub/b.yaml", BAD);
    linked.git(&["add", "--all"]);
    run(&mut git(&linked, &["commit", "-q", "-m", "bad"])).ends_with(1).says("index:sub/b.yaml");
}

#[test]
fn a_file_that_is_only_announced_is_not_checked() {
    let repo = begun();
    repo.write("announced.yaml", BAD);
    repo.git(&["add", "-N", "announced.yaml"]);
    repo.write("a.yaml", "a: 3\n");
    repo.git(&["add", "a.yaml"]);
    run(&mut git(&repo, &["commit", "-q", "-m", "announced"])).ends_with(0).says_nothing();
}

#[test]
fn a_conflict_cannot_be_checked_and_its_resolution_is() {
    let repo = begun();
    repo.git(&["switch", "-q", "-c", "other"]);
    repo.write("a.yaml", "a: theirs\n");
    repo.commit_all_unchecked();
    repo.git(&["switch", "-q", "main"]);
    repo.write("a.yaml", "a: ours\n");
    repo.commit_all_unchecked();
    assert!(!repo.try_git(&["merge", "-q", "other"]).status.success());
    run(&mut outcrop(&repo, &["hook", "pre-commit"]))
        .ends_with(2)
        .says("unresolved merge conflict")
        .says("git add -- a.yaml");

    repo.write("a.yaml", BAD);
    repo.git(&["add", "a.yaml"]);
    run(&mut git(&repo, &["commit", "-q", "--no-edit"])).ends_with(1).says("index:a.yaml");
    repo.write("a.yaml", "a: both\n");
    repo.git(&["add", "a.yaml"]);
    run(&mut git(&repo, &["commit", "-q", "--no-edit"])).ends_with(0).says_nothing();
    assert_eq!(repo.git(&["rev-list", "--count", "--merges", "HEAD"]), "1");
}

#[test]
fn a_commit_that_only_deletes_is_looked_at() {
    let repo = hooked();
    repo.write("customers/_/metadata.yaml", "idAttribute: id\n");
    repo.write("customers/acme/resource.yaml", "id: 1\n");
    repo.commit_all_unchecked();
    repo.git(&["rm", "-q", "customers/_/metadata.yaml"]);
    let mut commit = git(&repo, &["commit", "-q", "-m", "without the layer"]);
    run(commit.env("OUTCROP_VERBOSE", "1")).ends_with(0).says("HEAD..index: no problems").says("1 file");
}

#[test]
fn what_was_wrong_before_stops_nobody() {
    let repo = hooked();
    repo.write("a.yaml", BAD);
    repo.write("b.yaml", GOOD);
    repo.commit_all_unchecked();
    repo.write("b.yaml", "b: 3\n");
    repo.git(&["add", "--all"]);
    run(&mut git(&repo, &["commit", "-q", "-m", "another file"])).ends_with(0).says_nothing();
    repo.write("a.yaml", "# a comment\na: 1\na: 2\n");
    repo.git(&["add", "--all"]);
    run(&mut git(&repo, &["commit", "-q", "-m", "the same file"])).ends_with(0).says_nothing();
    run(&mut git(&repo, &["commit", "-q", "--amend", "-m", "only the message"])).ends_with(0).says_nothing();
    repo.write("a.yaml", "a: 1\na: 2\nc: 1\nc: 2\n");
    repo.git(&["add", "--all"]);
    run(&mut git(&repo, &["commit", "-q", "-m", "one more"])).ends_with(1).says("`c`").does_not_say("`a`");
}

#[test]
fn with_nothing_staged_and_no_commit_under_way_everything_is_checked() {
    let repo = begun();
    run(&mut outcrop(&repo, &["hook", "pre-commit"])).ends_with(0).says("nothing is staged, so all files");
    repo.write("a.yaml", BAD);
    repo.commit_all_unchecked();
    run(&mut outcrop(&repo, &["hook", "pre-commit"]))
        .ends_with(1)
        .says("nothing is staged, so all files")
        .says("index:a.yaml");
}

#[test]
fn the_hook_can_be_switched_off_and_does_not_pass_in_silence_without_its_program() {
    let repo = begun();
    repo.write("a.yaml", BAD);
    repo.git(&["add", "--all"]);
    let mut without = git(&repo, &["commit", "-q", "-m", "no program"]);
    run(without.env("OUTCROP_BIN", "/nowhere/outcrop"))
        .ends_with(1)
        .says("/nowhere/outcrop cannot be found")
        .says("OUTCROP=0");
    run(outcrop(&repo, &["hook", "pre-commit"]).env("OUTCROP", "0")).ends_with(0).says_nothing();
    run(git(&repo, &["commit", "-q", "-m", "off"]).env("OUTCROP", "0")).ends_with(0).says_nothing();
}

#[test]
fn the_threshold_decides_what_stops_a_commit() {
    let repo = begun();
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
    repo.write("twice.yaml", format!("{service}---\n{service}"));
    repo.git(&["add", "--all"]);
    run(&mut outcrop(&repo, &["hook", "pre-commit"])).ends_with(0).says("resource/duplicate").does_not_say("OUTCROP=0");
    run(&mut outcrop(&repo, &["hook", "pre-commit", "--fail-on", "warning"])).ends_with(1).says("resource/duplicate");
    run(outcrop(&repo, &["hook", "pre-commit"]).env("OUTCROP_FAIL_ON", "warning")).ends_with(1);
}

#[test]
fn file_names_are_refused_because_deleted_files_are_not_among_them() {
    let repo = begun();
    run(&mut outcrop(&repo, &["hook", "pre-commit", "a.yaml"])).ends_with(2).says("pass_filenames: false");
    run(&mut outcrop(&repo, &["hook", "pre-commit", "--unknown"])).ends_with(2);
}

#[test]
fn a_hook_manager_can_say_from_where_to_where() {
    let repo = begun();
    repo.git(&["switch", "-q", "-c", "feature"]);
    repo.write("a.yaml", BAD);
    repo.commit_all_unchecked();
    repo.git(&["switch", "-q", "main"]);
    repo.write("c.yaml", "x: [1\n");
    repo.commit_all_unchecked();
    let range = |from: &str, to: &str| {
        let mut command = outcrop(&repo, &["hook", "pre-commit"]);
        run(command.env("PRE_COMMIT_FROM_REF", from).env("PRE_COMMIT_TO_REF", to))
    };
    range("main", "feature").ends_with(1).says("feature:a.yaml").does_not_say("c.yaml");
    range("feature", "main").ends_with(1).says("main:c.yaml").does_not_say("a.yaml");
    range("main", "main").ends_with(0).says_nothing();
    range("main", "missing").ends_with(2).says("missing is not a revision").says("OUTCROP=0");
    range("main", "--output=x").ends_with(2).says("looks like an option");
    repo.git(&["switch", "-q", "--orphan", "unrelated"]);
    repo.write("d.yaml", BAD);
    repo.commit_all_unchecked();
    range("main", "unrelated").ends_with(1).says("no common ancestor").says("unrelated:d.yaml");
}

#[test]
fn outcrop_yaml_of_the_last_commit_judges() {
    let repo = begun();
    repo.write("outcrop.yaml", "rules:\n  document/duplicate-key: off\n");
    repo.write("a.yaml", BAD);
    repo.git(&["add", "--all"]);
    // Without rules before there is nothing to escape from.
    run(&mut outcrop(&repo, &["hook", "pre-commit"])).ends_with(0);
    repo.write("a.yaml", GOOD);
    repo.write("outcrop.yaml", "rules:\n  document/duplicate-key: error\n");
    repo.commit_all_unchecked();
    repo.write("outcrop.yaml", "rules:\n  document/duplicate-key: off\n");
    repo.write("a.yaml", BAD);
    repo.git(&["add", "--all"]);
    run(&mut outcrop(&repo, &["hook", "pre-commit"])).ends_with(1).says("index:a.yaml").says("config/rules-change");
}

#[test]
fn nothing_is_written() {
    let repo = begun();
    // A file that looks touched: git would refresh the index here.
    repo.set_time("a.yaml", -3600);
    repo.write("sub/b.yaml", BAD);
    repo.git(&["add", "sub/b.yaml"]);
    let before = everything_in(repo.root());
    run(&mut outcrop(&repo, &["hook", "pre-commit"])).ends_with(1);
    run(outcrop(&repo, &["hook", "pre-commit"]).env("GIT_INDEX_FILE", ".git/index")).ends_with(1);
    let mut after = everything_in(repo.root());
    // What is remembered about trees is no part of the repository, and may be deleted at any time.
    after.retain(|path, _| !path.starts_with(repo.root().join(".git/outcrop")));
    assert!(after == before, "something of the repository was written");
}

/// Every file with its content and the time of its last change.
fn everything_in(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    for member in fs::read_dir(directory).expect("it is there") {
        let path = member.expect("it can be listed").path();
        if path.is_dir() {
            found.extend(everything_in(&path));
        } else {
            let changed = fs::metadata(&path).and_then(|metadata| metadata.modified()).expect("it has a time");
            found.insert(path.clone(), (fs::read(&path).expect("it can be read"), changed));
        }
    }
    found
}
