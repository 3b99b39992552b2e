//! Repositories that are not plain: shallow, partial, bare, linked, with other hashes, of another owner.

use super::*;
use crate::required::absent;

/// A repository with three commits, cloned beside itself with the given options.
fn cloned(options: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    for (number, message) in ["first", "second", "third"].into_iter().enumerate() {
        repo.write("a.yaml", format!("a: {number}\n"));
        repo.write(format!("dir/{message}.yaml"), format!("name: {message}\n"));
        repo.commit_all(message);
    }
    let url = format!("file://{}", repo.root().display());
    repo.git(&[&["clone", "-q"], options, &[&url, "../clone"]].concat());
    repo.at("clone")
}

#[test]
fn a_shallow_clone_compares_what_it_has_and_says_what_it_lacks() {
    let repo = cloned(&["--depth=2"]);
    assert_eq!(agree(&repo, &["HEAD~1", "HEAD"]), ["a.yaml", "dir/third.yaml"]);
    assert_eq!(agree(&repo, &["HEAD^1...HEAD"]), ["a.yaml", "dir/third.yaml"]);
    let error = select(&repo.open(), &["HEAD~2", "HEAD"]).expect_err("it was cut off");
    assert!(error.help().contains("git fetch --deepen=1"), "{error}: {}", error.help());
    assert!(error.help().contains("fetch-depth"), "{}", error.help());

    let repo = cloned(&["--depth=1"]);
    let repository = repo.open();
    assert!(repository.is_shallow());
    for words in [["HEAD^1", "HEAD"], ["HEAD^!", "--"], ["HEAD~1...", "--"]] {
        assert!(select(&repository, &words).expect_err("it was cut off").help().contains("--deepen=1"), "{words:?}");
    }
    // The parent is named in the commit, so naming it by its id is natural, and it is not there.
    let parent = repo.git(&["cat-file", "-p", "HEAD"]);
    let parent = parent.lines().find_map(|line| line.strip_prefix("parent ")).expect("it has a parent");
    let error = select(&repository, &[parent, "HEAD"]).expect_err("it was cut off");
    assert!(error.help().contains("--deepen=1"), "{error}: {}", error.help());
}

#[test]
fn branches_of_a_shallow_clone_may_lack_their_common_ancestor() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.git(&["switch", "-q", "-c", "feature"]);
    repo.write("b.yaml", "b: 1\n");
    repo.commit_all("on the branch");
    repo.git(&["switch", "-q", "main"]);
    repo.write("c.yaml", "c: 1\n");
    repo.commit_all("on main");
    let url = format!("file://{}", repo.root().display());
    repo.git(&["clone", "-q", "--depth=1", "--no-single-branch", &url, "../clone"]);
    let repo = repo.at("clone");
    let error = select(&repo.open(), &["origin/main...origin/feature"]).expect_err("the ancestor is not there");
    assert!(matches!(error, GitError::NoMergeBase { .. }), "{error}");
    assert!(error.help().contains("--unshallow"), "{}", error.help());
    assert_eq!(agree(&repo, &["origin/main..origin/feature"]), ["b.yaml", "c.yaml"]);
}

#[test]
fn a_partial_clone_knows_what_changed_but_lacks_content() {
    let repo = cloned(&["--filter=blob:none"]);
    let repository = repo.open();
    let sides = sides(&repository, &["HEAD~2", "HEAD"]);
    let changes = sides.changes(&repository);
    assert!(changes.unreadable.is_empty());
    assert_eq!(changes.files.len(), 3, "trees are all there");
    assert_eq!(read(&sides.after, "a.yaml").expect("it is checked out, so it was fetched"), "a: 2\n");
    let reason = read(&sides.before, "a.yaml").expect_err("it was never fetched");
    let Reason::MissingObject { id, help } = reason else { panic!("{reason}") };
    assert_eq!(id, repo.git(&["rev-parse", "HEAD~2:a.yaml"]));
    assert!(help.contains(&format!("git cat-file -p {id}")), "{help}");
    // What the help says works.
    repo.git(&["cat-file", "-p", &id]);
    assert_eq!(read(&super::sides(&repo.open(), &["HEAD~2", "HEAD"]).before, "a.yaml").expect("now it is"), "a: 0\n");
    repo.git(&["fetch", "-q", "--refetch", "--no-filter"]);
    assert_eq!(read(&super::sides(&repo.open(), &["HEAD~1", "HEAD"]).before, "a.yaml").expect("now it is"), "a: 1\n");
}

#[test]
fn a_partial_clone_without_trees_says_which_are_missing() {
    let repo = cloned(&["--filter=tree:0", "--no-checkout"]);
    let repository = repo.open();
    let changes = sides(&repository, &["HEAD~1", "HEAD"]).changes(&repository);
    assert!(changes.files.is_empty());
    assert_eq!(changes.unreadable.len(), 2, "one root on each side");
    assert!(changes.unreadable.iter().all(|unreadable| matches!(unreadable.reason, Reason::MissingObject { .. })));
}

#[test]
fn what_is_checked_out_of_a_partial_clone_is_read_from_disk() {
    let repo = cloned(&["--filter=blob:none"]);
    let id = repo.git(&["rev-parse", "HEAD:a.yaml"]);
    // As if the objects had been pruned: the files themselves are still there.
    for pack in std::fs::read_dir(repo.root().join(".git/objects/pack")).expect("there are packs") {
        let pack = pack.expect("it can be listed").path();
        std::fs::remove_file(&pack).expect("it can be removed");
    }
    let worktree = sides(&repo.open(), &[]).after;
    let entry = worktree.entry(&path("a.yaml")).expect("readable").expect("there");
    assert_eq!(entry.id.expect("it is unchanged").to_string(), id);
    assert_eq!(content(&worktree, &entry), b"a: 2\n");
}

#[test]
fn an_upstream_on_a_remote_is_a_revision() {
    let repo = cloned(&[]);
    repo.write("a.yaml", "a: local\n");
    repo.commit_all("local");
    assert_eq!(agree(&repo, &["@{u}"]), ["a.yaml"]);
    assert_eq!(agree(&repo, &["@{u}..."]), ["a.yaml"]);
    assert_eq!(agree(&repo, &["origin/main", "main@{upstream}"]), [""; 0]);
}

#[test]
fn a_bare_repository_has_no_working_tree_and_no_index() {
    let repo = cloned(&["--bare"]);
    assert_eq!(agree(&repo, &["HEAD~1", "HEAD"]), ["a.yaml", "dir/third.yaml"]);
    assert_eq!(agree(&repo, &["HEAD~1", "HEAD", "--", "dir"]), ["dir/third.yaml"]);
    let repository = repo.open();
    assert_eq!(repository.root(), None);
    assert_eq!(select(&repository, &[]), Err(GitError::Bare { what: "working tree" }));
    assert_eq!(select(&repository, &["HEAD"]), Err(GitError::Bare { what: "working tree" }));
    assert_eq!(select(&repository, &["--staged"]), Err(GitError::Bare { what: "index" }));
}

#[test]
fn a_linked_worktree_has_its_own_head_and_index() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    repo.write("a.yaml", "a: main\n");
    repo.git(&["add", "--all"]);
    let repo = repo.at("side");
    assert!(agree(&repo, &["--staged"]).is_empty());
    repo.write("b.yaml", "b: 1\n");
    repo.git(&["add", "--all"]);
    repo.write("a.yaml", "a: side\n");
    assert_eq!(agree(&repo, &["--staged"]), ["b.yaml"]);
    assert_eq!(agree(&repo, &[]), ["a.yaml"]);
    repo.commit("on the side");
    assert_eq!(agree(&repo, &["main", "HEAD"]), ["b.yaml"]);
    assert_eq!(repo.open().root().map(|root| root.canonicalize().expect("there")), repo.root().canonicalize().ok());
}

#[test]
fn a_repository_of_sha256_ids_works_the_same() {
    let repo = TestRepo::init(&["init", "-q", "--object-format=sha256"]);
    assert!(agree(&repo, &["--staged"]).is_empty());
    repo.write("a.yaml", "a: 1\n");
    repo.write("b/c.yaml", "a: 1\n");
    let first = repo.commit_all("first");
    assert_eq!(first.len(), 64);
    repo.write("a.yaml", "a: 2\n");
    repo.git(&["add", "--all"]);
    repo.write("b/c.yaml", "a: 2\n");
    assert_eq!(agree(&repo, &["--staged"]), ["a.yaml"]);
    assert_eq!(agree(&repo, &[]), ["b/c.yaml"]);
    repo.commit("second");
    assert_eq!(agree(&repo, &[&first, "HEAD"]), ["a.yaml"]);
    let repository = repo.open();
    assert_eq!(read(&sides(&repository, &[&first, "HEAD"]).before, "a.yaml").expect("readable"), "a: 1\n");
    repo.git(&["repack", "-q", "-a", "-d"]);
    assert_eq!(agree(&repo, &[&first[..10], "HEAD"]), ["a.yaml"]);
}

#[test]
fn names_kept_as_reftable_are_refused_but_ids_work() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    let first = repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    let second = repo.commit_all("second");
    // What such a repository looks like to a reader that does not know the format.
    repo.git(&["config", "core.repositoryFormatVersion", "1"]);
    repo.git(&["config", "extensions.refStorage", "reftable"]);
    repo.remove(".git/refs");
    repo.write(".git/refs/heads", "this repository uses the reftable format\n");
    repo.write(".git/HEAD", "ref: refs/heads/.invalid\n");
    let repository = repo.open();
    for words in [&["HEAD~1", "HEAD"][..], &["main"], &["--staged"], &["main...HEAD"]] {
        let error = select(&repository, words).expect_err("names cannot be read");
        assert!(matches!(error, GitError::Reftable { .. }), "{words:?}: {error}");
        assert!(error.help().contains("git rev-parse"), "{}", error.help());
    }
    assert_eq!(sides(&repository, &[&first, &second]).changed_paths(&repository), ["a.yaml"]);
    assert!(sides(&repository, &[]).changed_paths(&repository).is_empty(), "index and working tree need no names");
}

#[test]
fn a_repository_of_another_user_is_read_with_a_note() {
    let repo = TestRepo::init(&["init", "-q", "--object-format=sha256"]);
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    repo.git(&["config", "core.pager", "evil"]);
    assert!(repo.open().notes().is_empty());
    assert_eq!(repo.open().config("core.pager").as_deref(), Some("evil"));
    let change = repo.command("chown").args(["-R", "12345", "."]).output();
    if !change.is_ok_and(|output| output.status.success()) {
        absent("root", "only root can give a repository away");
        return;
    }
    let repository = repo.open();
    assert_eq!(repository.notes().len(), 1);
    assert!(repository.notes()[0].contains("another user"));
    assert_eq!(repository.config("core.pager"), None);
    assert_eq!(sides(&repository, &[]).changed_paths(&repository), ["a.yaml"]);
    assert_eq!(sides(&repository, &["HEAD"]).changed_paths(&repository), ["a.yaml"]);
}

#[test]
fn what_is_no_repository_is_said_to_be_none() {
    let sandbox = tempfile::TempDir::new().expect("a temporary directory can be made");
    let error = Repository::open(sandbox.path()).err().expect("there is none");
    assert_eq!(error, GitError::NotARepository { directory: sandbox.path().to_owned() });
    assert!(error.help().contains("outcrop diff --no-index"));
    std::fs::create_dir(sandbox.path().join(".git")).expect("the directory is new");
    assert!(Repository::open(sandbox.path()).is_err());
}

#[test]
fn objects_of_another_repository_are_found_through_alternates() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    repo.commit_all("second");
    repo.git(&["clone", "-q", "--shared", ".", "../clone"]);
    let repo = repo.at("clone");
    assert_eq!(agree(&repo, &["HEAD~1", "HEAD"]), ["a.yaml"]);
}
