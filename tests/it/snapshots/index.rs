//! What is staged, in every form an index can take.

use std::path::Path;

use super::*;

#[test]
fn staged_and_unstaged_changes_are_kept_apart() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.write("b.yaml", "b: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    repo.git(&["add", "a.yaml"]);
    repo.write("a.yaml", "a: 3\n");
    repo.write("b.yaml", "b: 2\n");
    assert_eq!(agree(&repo, &["--staged"]), ["a.yaml"]);
    assert_eq!(agree(&repo, &[]), ["a.yaml", "b.yaml"]);
    assert_eq!(agree(&repo, &["HEAD"]), ["a.yaml", "b.yaml"]);

    let repository = repo.open();
    let staged = sides(&repository, &["--staged"]);
    assert_eq!(read(&staged.before, "a.yaml").expect("readable"), "a: 1\n");
    assert_eq!(read(&staged.after, "a.yaml").expect("readable"), "a: 2\n");
    assert_eq!((staged.before.label(), staged.after.label()), ("HEAD", "index"));
    let unstaged = sides(&repository, &[]);
    assert_eq!(read(&unstaged.before, "a.yaml").expect("readable"), "a: 2\n");
    assert_eq!(read(&unstaged.after, "a.yaml").expect("readable"), "a: 3\n");
    assert_eq!((unstaged.before.label(), unstaged.after.label()), ("index", "working tree"));
}

#[test]
fn before_the_first_commit_everything_staged_is_new() {
    let repo = TestRepo::new();
    assert!(agree(&repo, &["--staged"]).is_empty());
    repo.write("a/b.yaml", "a: 1\n");
    repo.git(&["add", "--all"]);
    assert_eq!(agree(&repo, &["--staged"]), ["a/b.yaml"]);
    assert_eq!(select(&repo.open(), &["HEAD"]), Err(GitError::Unborn { word: "HEAD".to_owned() }));
}

#[test]
fn a_file_that_is_only_announced_is_not_staged() {
    let repo = TestRepo::new();
    repo.write("a/old.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a/new.yaml", "a: 1\n");
    repo.write("b/new.yaml", "a: 1\n");
    repo.git(&["add", "--intent-to-add", "."]);
    assert!(agree(&repo, &["--staged"]).is_empty());
    assert_eq!(agree(&repo, &[]), ["a/new.yaml", "b/new.yaml"]);
    let repository = repo.open();
    let index = sides(&repository, &["--staged"]).after;
    assert!(index.list(&RepoPath::root()).entries.iter().all(|entry| entry.path != path("b")));
    assert_eq!(index.entry(&path("b/new.yaml")).expect("readable"), None);
}

#[test]
fn a_conflict_is_one_entry_without_content() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.write("b/c.yaml", "c: 1\n");
    repo.commit_all("first");
    repo.git(&["switch", "-q", "-c", "other"]);
    repo.write("a.yaml", "a: 2\n");
    repo.commit_all("theirs");
    repo.git(&["switch", "-q", "main"]);
    repo.write("a.yaml", "a: 3\n");
    repo.commit_all("ours");
    assert!(!repo.try_git(&["merge", "-q", "other"]).status.success());
    assert_eq!(agree(&repo, &["--staged"]), ["a.yaml"]);
    assert_eq!(agree(&repo, &[]), ["a.yaml"]);
    let repository = repo.open();
    let Sides { after: index, .. } = sides(&repository, &["--staged"]);
    let conflict = Entry { path: path("a.yaml"), kind: EntryKind::Conflict, id: None };
    let listed = index.list(&RepoPath::root()).entries;
    assert_eq!(listed.iter().filter(|entry| entry.path == conflict.path).collect::<Vec<_>>(), [&conflict]);
    assert!(index.read(&conflict).expect_err("there is no content").to_string().contains("unresolved merge conflict"));
    let Sides { after: worktree, .. } = sides(&repository, &["HEAD"]);
    assert!(read(&worktree, "a.yaml").expect("what is on disk has content").contains("<<<<<<<"));
}

/// Changes, stages and unstages files under different forms of index; git and we must agree on all of them.
#[track_caller]
fn agree_under(prepare: impl Fn(&TestRepo)) {
    let repo = TestRepo::new();
    for number in 0..40 {
        repo.write(format!("d{}/e{}/f{number}.yaml", number % 4, number % 3), format!("a: {number}\n"));
    }
    repo.write("top.yaml", "a: 1\n");
    repo.commit_all("first");
    prepare(&repo);
    assert!(agree(&repo, &["--staged"]).is_empty());
    assert!(agree(&repo, &[]).is_empty());
    repo.write("d0/e0/f0.yaml", "a: changed\n");
    repo.write("d0/e0/new.yaml", "a: new\n");
    repo.git(&["add", "--all"]);
    repo.write("top.yaml", "a: 2\n");
    assert_eq!(agree(&repo, &["--staged"]), ["d0/e0/f0.yaml", "d0/e0/new.yaml"]);
    assert_eq!(agree(&repo, &[]), ["top.yaml"]);
    repo.remove("d0/e0/f12.yaml");
    repo.git(&["rm", "-q", "--cached", "d0/e0/f24.yaml"]);
    agree(&repo, &["--staged"]);
    agree(&repo, &[]);
    agree(&repo, &["HEAD"]);
    let repository = repo.open();
    let index = sides(&repository, &["--staged"]).after;
    assert_eq!(all_files(&index), repo.git(&["ls-files"]).lines().collect::<Vec<_>>());
}

#[test]
fn a_plain_index() {
    agree_under(|_| {});
}

#[test]
fn an_index_of_version_4() {
    agree_under(|repo| {
        repo.git(&["config", "index.version", "4"]);
        repo.git(&["update-index", "--index-version=4"]);
    });
}

#[test]
fn a_split_index() {
    agree_under(|repo| {
        repo.git(&["update-index", "--split-index"]);
        repo.git(&["config", "core.splitIndex", "true"]);
    });
}

#[test]
fn an_index_without_remembered_trees() {
    agree_under(|repo| {
        repo.git(&["read-tree", "--empty"]);
        repo.git(&["add", "--all"]);
    });
}

#[test]
fn a_sparse_index_holds_whole_directories() {
    let sparse = |repo: &TestRepo| {
        repo.git(&["sparse-checkout", "init", "--cone", "--sparse-index"]);
        repo.git(&["sparse-checkout", "set", "d0"]);
        assert!(repo.git(&["ls-files", "--sparse"]).lines().any(|line| line == "d1/"), "the index is sparse");
    };
    agree_under(sparse);

    let repo = TestRepo::new();
    repo.write("d0/a.yaml", "a: 1\n");
    repo.write("d1/e/b.yaml", "b: 1\n");
    repo.commit_all("first");
    sparse(&repo);
    let repository = repo.open();
    let Sides { before: index, after: worktree, .. } = sides(&repository, &[]);
    for snapshot in [&index, &worktree] {
        assert_eq!(all_files(snapshot), ["d0/a.yaml", "d1/e/b.yaml"]);
        assert_eq!(read(snapshot, "d1/e/b.yaml").expect("readable"), "b: 1\n");
        assert_eq!(snapshot.entry(&path("d1/e/none.yaml")).expect("readable"), None);
        assert_eq!(snapshot.entry(&path("d1/e/b.yaml/x")).expect("readable"), None);
    }
}

#[test]
fn nothing_is_listed_below_a_directory_that_is_equal() {
    let repo = TestRepo::new();
    repo.write("same/a.yaml", "a: 1\n");
    repo.write("other/a.yaml", "a: 1\n");
    // What is as young as the index is staged again by the next `git add`, and git forgets the tree above it.
    repo.set_time("same/a.yaml", -100);
    repo.commit_all("first");
    repo.write("other/a.yaml", "a: 2\n");
    repo.git(&["add", "--all"]);
    let repository = repo.open();
    let Sides { before, after, .. } = sides(&repository, &["--staged"]);
    let id = |snapshot: &GitSnapshot, name: &str| snapshot.entry(&path(name)).expect("readable").expect("there").id;
    assert!(id(&after, "same").is_some());
    assert_eq!(id(&before, "same"), id(&after, "same"));
    assert_ne!(id(&before, "other"), id(&after, "other"));
    assert_eq!(id(&after, ""), None, "git has not written the new tree yet");
}

#[test]
fn reading_changes_nothing_in_the_repository() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    let state = || {
        let index = Path::new(".git/index");
        let metadata = repo.root().join(index).metadata().expect("the index is there");
        (metadata.modified().expect("it has a time"), std::fs::read(repo.root().join(index)).expect("readable"))
    };
    let before = state();
    for words in [&[][..], &["--staged"], &["HEAD"]] {
        changed(&repo, words);
    }
    assert_eq!(state(), before);
    assert!(!repo.root().join(".git/index.lock").exists());
}

#[test]
fn a_damaged_index_is_an_error_that_says_which_file() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write(".git/index", "DIRC nonsense");
    let repository = repo.open();
    let selection = select(&repository, &["--staged"]).expect("the words are fine");
    let error = repository.snapshot(&selection.comparison.after, &Budget::default()).err().expect("it is damaged");
    assert!(matches!(&error, GitError::Index { path, .. } if path.ends_with("index")), "{error}");
}

#[test]
fn any_damage_to_the_index_gives_files_or_an_error() {
    let repo = TestRepo::new();
    for number in 0..12 {
        repo.write(format!("d{}/e{}/f{number}.yaml", number % 3, number % 2), "a: 1\n");
    }
    repo.commit_all("first");
    let index = repo.root().join(".git/index");
    let whole = std::fs::read(&index).expect("the index is there");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 400, ..ProptestConfig::default() });
    let damage = prop::collection::vec((0..whole.len(), any::<u8>()), 1..4);
    let outcome = runner.run(&(damage, 0..whole.len()), |(bytes, length)| {
        let mut damaged = whole.clone();
        bytes.iter().for_each(|&(at, byte)| damaged[at] = byte);
        // Every fourth is cut off as well.
        if length % 4 == 0 {
            damaged.truncate(length);
        }
        std::fs::write(&index, &damaged).expect("the index can be written");
        let repository = repo.open();
        for words in [&["--staged"][..], &[]] {
            let Ok(selection) = select(&repository, words) else { continue };
            let snapshot = |revision| repository.snapshot(revision, &Budget::default());
            let (Ok(before), Ok(after)) =
                (snapshot(&selection.comparison.before), snapshot(&selection.comparison.after))
            else {
                continue;
            };
            snapshot::changes(&before, &after, &Scope::everything(), &Limits::default(), &Default::default());
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
