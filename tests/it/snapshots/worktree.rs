//! What is on disk, as far as git tracks it.

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

fn repo_with(files: &[&str]) -> TestRepo {
    let repo = TestRepo::new();
    for file in files {
        repo.write(file, format!("name: {file}\n"));
    }
    repo.commit_all("first");
    repo
}

#[test]
fn what_is_deleted_or_not_tracked_is_not_there() {
    let repo = repo_with(&["a.yaml", "b/c.yaml", "b/d.yaml", "e/f.yaml"]);
    repo.remove("a.yaml");
    repo.remove("b/c.yaml");
    repo.remove("e");
    repo.write("untracked.yaml", "x: 1\n");
    assert_eq!(agree(&repo, &[]), ["a.yaml", "b/c.yaml", "e/f.yaml"]);
    let repository = repo.open();
    let worktree = sides(&repository, &[]).after;
    assert_eq!(all_files(&worktree), ["b/d.yaml"]);
    assert_eq!(worktree.entry(&path("e")).expect("readable"), None);
}

#[test]
fn files_links_and_directories_can_take_each_others_place() {
    let repo =
        repo_with(&["file-to-directory", "file-to-link", "directory/x.yaml", "linked/x.yaml", "elsewhere/x.yaml"]);
    symlink("elsewhere/x.yaml", repo.root().join("link-to-file")).expect("links can be made");
    repo.commit_all("second");
    repo.remove("file-to-directory");
    repo.write("file-to-directory/x.yaml", "x: 1\n");
    repo.remove("file-to-link");
    symlink("elsewhere/x.yaml", repo.root().join("file-to-link")).expect("links can be made");
    repo.remove("directory");
    repo.write("directory", "x: 1\n");
    repo.remove("linked");
    symlink("elsewhere", repo.root().join("linked")).expect("links can be made");
    repo.remove("link-to-file");
    repo.write("link-to-file", "x: 1\n");
    let changed = ["directory/x.yaml", "file-to-directory", "file-to-link", "link-to-file", "linked/x.yaml"];
    assert_eq!(agree(&repo, &[]), changed);
    let repository = repo.open();
    let worktree = sides(&repository, &[]).after;
    assert_eq!(all_files(&worktree), ["elsewhere/x.yaml", "file-to-link", "link-to-file"]);
    let link = worktree.entry(&path("file-to-link")).expect("readable").expect("there");
    assert_eq!(link.kind, EntryKind::Symlink);
    assert_eq!(content(&worktree, &link), b"elsewhere/x.yaml");
}

#[test]
fn a_link_out_of_the_working_tree_is_never_followed() {
    let repo = repo_with(&["secrets/a.yaml", "b.yaml"]);
    fs::create_dir(repo.beside("outside")).expect("the directory is new");
    fs::write(repo.beside("outside/a.yaml"), "canary\n").expect("the file is new");
    let Sides { after: worktree, .. } = sides(&repo.open(), &[]);
    let before = worktree.entry(&path("secrets/a.yaml")).expect("readable").expect("there");
    repo.remove("secrets");
    symlink(repo.beside("outside"), repo.root().join("secrets")).expect("links can be made");
    assert!(!String::from_utf8_lossy(&content(&worktree, &before)).contains("canary"));
    let blind = Entry { id: None, ..before };
    assert!(worktree.read(&blind).is_err(), "a directory above it is a link now");
    assert_eq!(agree(&repo, &[]), ["secrets/a.yaml"]);
}

#[test]
fn a_file_that_was_only_touched_keeps_its_id() {
    let repo = repo_with(&["a.yaml", "b/c.yaml"]);
    repo.set_time("a.yaml", 100);
    repo.set_time("b/c.yaml", 100);
    let repository = repo.open();
    let sides = sides(&repository, &[]);
    assert!(sides.changes(&repository).files.is_empty());
    assert!(sides.after.entry(&path("a.yaml")).expect("readable").expect("there").id.is_some());
}

#[test]
fn a_change_in_the_moment_of_staging_is_seen() {
    // Same size, same second, same inode: only the content differs.
    for _ in 0..20 {
        let repo = repo_with(&["a.yaml"]);
        repo.write("a.yaml", "name: A.yaml\n");
        assert_eq!(agree(&repo, &[]), ["a.yaml"]);
    }
}

#[test]
fn files_that_git_is_set_to_ignore_are_ignored() {
    let repo = repo_with(&["assumed.yaml", "skipped.yaml", "plain.yaml"]);
    repo.git(&["update-index", "--assume-unchanged", "assumed.yaml"]);
    repo.git(&["update-index", "--skip-worktree", "skipped.yaml"]);
    repo.write("assumed.yaml", "x: 1\n");
    repo.remove("skipped.yaml");
    repo.write("plain.yaml", "x: 1\n");
    assert_eq!(agree(&repo, &[]), ["plain.yaml"]);
    let worktree = sides(&repo.open(), &[]).after;
    assert_eq!(read(&worktree, "skipped.yaml").expect("readable"), "name: skipped.yaml\n");
}

#[test]
fn a_pipe_in_place_of_a_file_is_not_opened() {
    let repo = repo_with(&["a.yaml"]);
    repo.remove("a.yaml");
    assert!(repo.command("mkfifo").arg("a.yaml").status().expect("mkfifo is installed").success());
    let worktree = sides(&repo.open(), &[]).after;
    let reason = read(&worktree, "a.yaml").expect_err("a pipe has no content").to_string();
    assert!(reason.contains("pipe"), "{reason}");
}

#[test]
fn a_file_is_not_read_when_it_is_too_large() {
    let repo = repo_with(&["a.yaml"]);
    repo.write("a.yaml", vec![b'#'; 5_000]);
    let repository = repo.open();
    let mut worktree = sides(&repository, &[]).after;
    worktree.set_limits(Limits { file_bytes: 4_999, ..Limits::default() });
    let reason = read(&worktree, "a.yaml").expect_err("it is too large");
    assert!(matches!(reason, Reason::FileTooLarge { size: 5_000, limit: 4_999 }), "{reason}");
    worktree.set_limits(Limits { run_bytes: 5_001, ..Limits::default() });
    assert!(read(&worktree, "a.yaml").is_ok());
    let reason = read(&worktree, "a.yaml").expect_err("the run has had its share");
    assert!(matches!(reason, Reason::RunTooLarge { limit: 5_001 }), "{reason}");
}

#[test]
fn line_endings_are_not_changes() {
    let repo = TestRepo::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write("a.yaml", "a: 1\r\nb: 2\r\n");
    // Old enough for git, and for us, to know that it has not changed since it was staged.
    repo.set_time("a.yaml", -100);
    repo.commit_all("first");
    assert!(agree(&repo, &[]).is_empty());
    let repository = repo.open();
    let Sides { before, after, .. } = sides(&repository, &[]);
    assert_eq!(read(&before, "a.yaml").expect("readable"), "a: 1\nb: 2\n");
    assert_eq!(read(&after, "a.yaml").expect("readable"), "a: 1\nb: 2\n", "it is known to be the same");
    repo.write("a.yaml", "a: 1\r\nb: 3\r\n");
    let after = sides(&repository, &[]).after;
    assert_eq!(read(&after, "a.yaml").expect("readable"), "a: 1\r\nb: 3\r\n", "as it is on disk");
}

#[test]
fn submodules_are_not_entered() {
    let repo = repo_with(&["a.yaml"]);
    let library = repo.beside("library");
    repo.git(&["init", "-q", library.to_str().expect("text")]);
    let at = |arguments: &[&str]| repo.git(&[&["-C", library.to_str().expect("text")], arguments].concat());
    fs::write(library.join("inside.yaml"), "x: 1\n").expect("the file is new");
    at(&["add", "--all"]);
    at(&["commit", "-q", "-m", "library"]);
    repo.git(&["submodule", "--quiet", "add", library.to_str().expect("text"), "sub"]);
    repo.commit_all("second");
    repo.write("sub/inside.yaml", "x: 2\n");
    assert!(agree(&repo, &[]).is_empty());
    assert_eq!(changed(&repo, &["HEAD~1", "HEAD"]), [".gitmodules", "sub"]);
    let worktree = sides(&repo.open(), &[]).after;
    assert_eq!(all_files(&worktree), [".gitmodules", "a.yaml", "sub"]);
    let sub = worktree.entry(&path("sub")).expect("readable").expect("there");
    assert_eq!(sub.kind, EntryKind::Submodule);
    assert!(worktree.list(&path("sub")).entries.is_empty());
    // From inside the submodule, the submodule's own repository is the one that counts.
    let inside = Repository::open(&repo.root().join("sub")).expect("it is a repository");
    assert_eq!(sides(&inside, &[]).changed_paths(&inside), ["inside.yaml"]);
}

#[test]
fn names_may_be_any_bytes() {
    use std::os::unix::ffi::OsStrExt as _;
    let repo = TestRepo::new();
    let names: [&[u8]; 7] = [
        b"-dash.yaml",
        b"new\nline.yaml",
        b"quote\".yaml",
        b"\xff\xfe.yaml",
        b"tab\t/x.yaml",
        b"a b.yaml",
        b"\x1b[31m.yaml",
    ];
    for name in names {
        repo.write(std::ffi::OsStr::from_bytes(name), "a: 1\n");
    }
    repo.commit_all("first");
    for name in names {
        repo.write(std::ffi::OsStr::from_bytes(name), "a: 2\n");
    }
    assert_eq!(agree(&repo, &[]).len(), names.len());
    repo.git(&["add", "--all"]);
    assert_eq!(agree(&repo, &["--staged"]).len(), names.len());
    repo.commit("second");
    let found = agree(&repo, &["HEAD~1", "HEAD"]);
    assert_eq!(found.len(), names.len());
    assert!(found.contains(&r#""\377\376.yaml""#.to_owned()), "{found:?}");
}
