//! Snapshots of real repositories, held against what git itself says about them.

mod clones;
mod environment;
mod hostile;
mod index;
mod revisions;
mod worktree;

use std::ffi::OsString;

use outcrop::limits::{Budget, Limits};
use outcrop::path::RepoPath;
use outcrop::shell::git::{GitError, GitSnapshot, Repository, Selection, Words};
use outcrop::snapshot::{self, Changes, Entry, EntryKind, Reason, Scope, Snapshot};
use proptest::prelude::*;

use crate::repo::TestRepo;

/// Both sides of a comparison.
struct Sides {
    before: GitSnapshot,
    after: GitSnapshot,
    selection: Selection,
}

fn select(repository: &Repository, words: &[&str]) -> Result<Selection, GitError> {
    let is_staged = words.contains(&"--staged");
    let is_from_merge_base = words.contains(&"--merge-base");
    let words = words.iter().copied().filter(|&word| !["--staged", "--merge-base"].contains(&word));
    let words: Vec<OsString> = words.map(OsString::from).collect();
    let dashes = words.iter().position(|word| word == "--");
    let paths = dashes.map(|at| &words[at + 1..]);
    let arguments = &words[..dashes.unwrap_or(words.len())];
    repository.select(Words { is_staged, is_from_merge_base, arguments, paths })
}

fn sides(repository: &Repository, words: &[&str]) -> Sides {
    let selection = select(repository, words).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let snapshot = |revision| {
        repository.snapshot(revision, &Budget::default()).unwrap_or_else(|error| panic!("{words:?}: {error}"))
    };
    let before = snapshot(&selection.comparison.before);
    let after = snapshot(&selection.comparison.after);
    Sides { before, after, selection }
}

impl Sides {
    fn changes(&self, repository: &Repository) -> Changes {
        let scope = Scope::new(&self.selection.paths, repository.prefix(), &[]).expect("the paths are well-formed");
        let budget = Budget::default();
        snapshot::changes(&self.before, &self.after, &scope, &budget.limits, &budget.spent)
    }

    /// The paths that differ. Files of which the walk could not know it are read.
    fn changed_paths(&self, repository: &Repository) -> Vec<String> {
        let changes = self.changes(repository);
        assert!(changes.unreadable.is_empty(), "{:?}", changes.unreadable);
        let differs = |file: &&snapshot::ChangedFile| match (&file.before, &file.after) {
            (Some(before), Some(after)) if before.kind == after.kind && before.kind != EntryKind::Conflict => {
                content(&self.before, before) != content(&self.after, after)
            }
            _ => true,
        };
        changes.files.iter().filter(differs).map(|file| file.path.to_string()).collect()
    }
}

fn changed(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let repository = repo.open();
    sides(&repository, words).changed_paths(&repository)
}

/// The paths that differ according to git.
fn changed_for_git(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let words: Vec<&str> = words.iter().map(|&word| if word == "--staged" { "--cached" } else { word }).collect();
    let arguments = [&["diff", "--name-only", "-z", "--no-renames", "--ignore-submodules=all"], &words[..]].concat();
    let printed = repo.git_bytes(&arguments);
    let mut names: Vec<RepoPath> = printed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(path).collect();
    // Unmerged paths are named twice, and each path once is enough.
    names.sort();
    names.dedup();
    names.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn agree(repo: &TestRepo, words: &[&str]) -> Vec<String> {
    let found = changed(repo, words);
    assert_eq!(found, changed_for_git(repo, words), "{words:?}");
    found
}

fn path(bytes: impl AsRef<[u8]>) -> RepoPath {
    RepoPath::new(bytes).expect("a plain path")
}

fn content(snapshot: &dyn Snapshot, entry: &Entry) -> Vec<u8> {
    snapshot.read(entry).unwrap_or_else(|error| panic!("{error}")).to_vec()
}

/// The content of a file, or why there is none.
fn read(snapshot: &dyn Snapshot, name: &str) -> Result<String, Reason> {
    let entry = snapshot.entry(&path(name)).map_err(|error| error.reason)?;
    let entry = entry.unwrap_or_else(|| panic!("{name} is not in {}", snapshot.label()));
    let bytes = snapshot.read(&entry).map_err(|error| error.reason)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Every file of a snapshot.
fn all_files(snapshot: &dyn Snapshot) -> Vec<String> {
    let (entries, unreadable) =
        snapshot::files_below(snapshot, &Scope::everything(), &Limits::default(), &Default::default());
    assert!(unreadable.is_empty(), "{unreadable:?}");
    entries.iter().map(|entry| entry.path.to_string()).collect()
}

/// A change to a repository, for random histories.
#[derive(Debug, Clone)]
enum Step {
    Write(String, u8),
    Remove(usize),
}

fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let name = "[ab.-]{1,2}(/[ab-]{1,2}){0,2}";
    let name = name.prop_filter("a name git accepts", |name| RepoPath::new(name).is_ok());
    let step = prop_oneof![
        4 => (name, 0..3_u8).prop_map(|(name, content)| Step::Write(name, content)),
        1 => (0..8_usize).prop_map(Step::Remove),
    ];
    prop::collection::vec(step, 1..8)
}

fn apply(repo: &TestRepo, steps: &[Step]) {
    for step in steps {
        match step {
            Step::Write(name, content) => {
                let file = repo.root().join(name);
                let mut above = file.parent();
                // What is in the way, a file where a directory is needed or the other way round, goes.
                while let Some(directory) = above.filter(|directory| directory.starts_with(repo.root())) {
                    if directory.is_file() {
                        std::fs::remove_file(directory).expect("it can be removed");
                    }
                    above = directory.parent();
                }
                if file.is_dir() {
                    std::fs::remove_dir_all(&file).expect("it can be removed");
                }
                repo.write(name, [*content]);
            }
            Step::Remove(number) => {
                let names = repo.git(&["ls-files", "--cached", "--others"]);
                let name = names.lines().nth(*number).filter(|name| repo.root().join(name).is_file());
                name.into_iter().for_each(|name| repo.remove(name));
            }
        }
    }
}

#[test]
fn a_fixture_is_a_folder_for_each_commit() {
    let repo = TestRepo::from_folders("fixtures/repos/two-commits");
    assert_eq!(agree(&repo, &["HEAD~1", "HEAD"]), ["customers/acme/resource.yaml", "gone.yaml"]);
    assert_eq!(agree(&repo, &["HEAD~1", "HEAD", "--", ":!gone.yaml"]), ["customers/acme/resource.yaml"]);
    assert_eq!(changed(&repo, &["HEAD~1", "HEAD", "--", "/customers/acme"]), ["customers/acme/resource.yaml"]);
}

#[test]
fn pathspecs_mean_what_they_mean_to_git() {
    let repo = TestRepo::new();
    let names = ["a", "b", "ab", "A", "a b", "[", "[a]", "a.yaml", "*", "-"];
    for (number, name) in names.iter().enumerate() {
        repo.write(format!("{name}.f"), "");
        for other in &names[..=number] {
            repo.write(format!("{name}/{other}"), "");
            repo.write(format!("{name}/{other}.d/{name}"), "");
        }
    }
    repo.git(&["add", "--all"]);
    let all: Vec<RepoPath> = repo
        .git_bytes(&["ls-files", "-z"])
        .split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(path)
        .collect();
    let magic = r"(:\(glob\)|:\(icase\)|:\(glob,icase\)|:\(literal\)|:!|:\^|:/|:\(top,exclude\))?";
    let word = format!("{magic}(\\./|b/\\.\\./)?[abA*?\\[\\]!.-]{{1,4}}(/[abA*?.]{{1,3}}){{0,2}}/?");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 200, ..ProptestConfig::default() });
    // At the top git takes `.` and `..` for names, and finds nothing; that help is not worth copying.
    let is_fair = |word: &String| {
        let is_top = word.starts_with(":/") || word.contains("top");
        let mut components = word.trim_start_matches(":/").split(['/', ')']);
        // Before 2.41, what `a**` means to git depends on where it keeps its strings.
        let is_undefined = word.contains("glob") && word.contains("**");
        let is_dotted = is_top && components.any(|name| matches!(name, "." | ".." | ""));
        !word.starts_with('-') && !is_undefined && !is_dotted
    };
    let words = prop::collection::vec(word.as_str().prop_filter("not a quirk", is_fair), 1..3);
    let outcome = runner.run(&words, |words| {
        // `git ls-files a/ ':!b'` and `git ls-files 'a/*' ':!b'` find nothing, `git ls-files a ':!b'` does: another quirk.
        let excludes =
            words.iter().any(|word| word.starts_with(":!") || word.starts_with(":^") || word.contains("exclude"));
        if excludes && words.iter().any(|word| word.ends_with('.') || word.contains('/')) {
            return Ok(());
        }
        let mut arguments = vec!["ls-files", "-z", "--"];
        arguments.extend(words.iter().map(String::as_str));
        let output = repo.try_git(&arguments);
        let scope = Scope::new(&words, &RepoPath::root(), &[]);
        prop_assert_eq!(output.status.success(), scope.is_ok(), "{:?}", words);
        let Ok(scope) = scope else { return Ok(()) };
        let mut expected: Vec<RepoPath> =
            output.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(path).collect();
        expected.sort();
        let mut found: Vec<RepoPath> = all.iter().filter(|path| scope.wants(path)).cloned().collect();
        found.sort();
        prop_assert_eq!(found, expected, "{:?}", words);
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_repositories_differ_where_git_says(
        first in any_steps(), second in any_steps(), staged in any_steps(), unstaged in any_steps(),
    ) {
        let repo = TestRepo::new();
        apply(&repo, &first);
        repo.commit_all("first");
        apply(&repo, &second);
        repo.commit_all("second");
        apply(&repo, &staged);
        repo.git(&["add", "--all"]);
        apply(&repo, &unstaged);
        for words in [&["HEAD~1", "HEAD"][..], &["--staged"], &[], &["HEAD"], &["HEAD~1"], &["--staged", "HEAD~1"]] {
            agree(&repo, words);
        }
        for pathspec in ["a*", "a/", "b", ":!a", "*b*", ":(glob)*/b", ":(icase)A"] {
            agree(&repo, &["HEAD~1", "HEAD", "--", pathspec]);
        }
        let index = repo.open();
        let index = sides(&index, &["--staged"]).after;
        let printed = repo.git(&["ls-files"]);
        prop_assert_eq!(all_files(&index), printed.lines().collect::<Vec<_>>());
    }
}
