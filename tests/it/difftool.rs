//! `outcrop difftool`, through the real `git difftool`.

use std::process::Command;

use crate::program::{git, outcrop, run};
use crate::repo::TestRepo;

const COMMAND: &str = r#"outcrop difftool --path "$MERGED" -- "$LOCAL" "$REMOTE""#;

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.git(&["config", "difftool.outcrop.cmd", COMMAND]);
    repo.write("outcrop.yaml", "secrets:\n- /spec/token\n");
    repo.write("sub/app.yaml", "spec: {token: hunter2, size: 1}\n");
    repo.write("gone.yaml", "gone: 1\n");
    repo.write("same.yaml", "a: 1\nb: 2\n");
    repo.write("Makefile", "all:\n\tcc\n");
    repo.commit_all("first");
    repo
}

fn difftool(repo: &TestRepo, arguments: &[&str]) -> Command {
    git(repo, &[&["difftool", "-y", "-t", "outcrop"], arguments].concat())
}

#[test]
fn each_file_is_compared_by_its_meaning() {
    let repo = repository();
    repo.write("sub/app.yaml", "spec:\n  size: 2\n  token: hunter3\n");
    repo.remove("gone.yaml");
    repo.write("new.yaml", "new: 1\n");
    repo.git(&["add", "--all"]);
    let ran = run(&mut difftool(&repo, &["HEAD"])).ends_with(0);
    let ran = ran.says("~ sub/app.yaml").says(".spec.size  1 → 2").says("- gone.yaml").says("+ new.yaml");
    // The rule is in a file that git does not hand over.
    ran.says("(sensitive, changed)").does_not_say("hunter");
    run(&mut difftool(&repo, &["HEAD", "HEAD", "--", "sub/app.yaml"])).ends_with(0).says_nothing();
}

#[test]
fn directories_are_compared_at_once() {
    let repo = repository();
    repo.write("sub/app.yaml", "spec: {token: hunter3, size: 2}\n");
    repo.remove("gone.yaml");
    repo.write("Makefile", "all:\n\tgcc\n");
    for arguments in [&["-d", "HEAD"][..], &["-d", "--no-symlinks", "HEAD"]] {
        run(&mut difftool(&repo, arguments))
            .ends_with(0)
            .says(".spec.size  1 → 2")
            .says("- gone.yaml")
            .says("~ Makefile  (not YAML or JSON: compared line by line)")
            .does_not_say("hunter");
    }
    let commits = repo.commit_all("second");
    run(&mut difftool(&repo, &["-d", "HEAD~1", &commits])).ends_with(0).says(".spec.size  1 → 2");
}

#[test]
fn a_rename_and_a_subdirectory_are_no_obstacle() {
    let repo = repository();
    repo.git(&["mv", "same.yaml", "moved.yaml"]);
    repo.write("moved.yaml", "a: 1\nb: 3\n");
    repo.git(&["add", "--all"]);
    run(&mut difftool(&repo, &["--cached", "-M10%", "HEAD"])).ends_with(0).says(".b  2 → 3");
    repo.write("sub/app.yaml", "spec: {size: 5, token: hunter2}\n");
    let mut below = difftool(&repo, &["--", "app.yaml"]);
    run(below.current_dir(repo.root().join("sub"))).ends_with(0).says("~ sub/app.yaml").says("1 → 5");
}

#[test]
fn what_cannot_be_read_by_meaning_is_shown_as_lines() {
    let repo = repository();
    repo.write("Makefile", "all:\n\tgcc\x1b[31m\n");
    repo.write("same.yaml", "a: [1\nb: 2\n");
    repo.write("binary", b"\0\x01");
    repo.write("secret.yaml", "kind: Secret\nstringData: {p: [hunter5\n");
    repo.git(&["add", "--all"]);
    run(&mut difftool(&repo, &["HEAD"]))
        .ends_with(0)
        .says(
            "~ Makefile  (not YAML or JSON: compared line by line)\n@@ -1,2 +1,2 @@\n all:\n-→   cc\n+→   gcc\\e[31m\n",
        )
        .says("document/syntax")
        .says("~ same.yaml  (has errors: compared line by line)\n@@ -1,2 +1,2 @@\n-a: 1\n+a: [1\n b: 2\n")
        .says("binary  (not YAML or JSON: none before, 2 bytes after)")
        .says("not shown because it may contain secrets")
        .does_not_say("hunter")
        .does_not_say("\x1b");
}

/// git takes any exit code but 0 of a trusted tool for a crash, and says so in its own way: 128, or 1 for directories in newer
/// versions. Untrusted, no exit code stops it.
#[test]
fn the_exit_code_speaks_only_when_git_listens() {
    let repo = repository();
    repo.write("same.yaml", "b: 2\na: 1\n");
    run(&mut difftool(&repo, &["--trust-exit-code"])).ends_with(0).says("no effective change");
    repo.write("same.yaml", "a: 1\nb: 3\n");
    run(&mut difftool(&repo, &[])).ends_with(0);
    run(&mut difftool(&repo, &["--trust-exit-code"])).ends_with(128).says(".b  2 → 3");
    let by_hand = |arguments: &[&str]| {
        repo.write("../old.yaml", "a: 1\n");
        let (old, new) = (repo.beside("old.yaml"), repo.root().join("same.yaml"));
        let mut command = outcrop(&repo, &["difftool"]);
        run(command.args(arguments).arg(old).arg(new))
    };
    by_hand(&[]).ends_with(0);
    by_hand(&["--exit-code"]).ends_with(1);
    run(&mut outcrop(&repo, &["difftool", "same.yaml", "missing.yaml"]))
        .ends_with(2)
        .says("missing.yaml cannot be read");
    run(&mut outcrop(&repo, &["difftool", "same.yaml", "sub"])).ends_with(2).says("sub cannot be read");
}

#[test]
fn it_works_without_a_repository() {
    let repo = repository();
    let outside = repo.beside("outside");
    std::fs::create_dir_all(outside.join("left")).expect("directories can be made");
    std::fs::create_dir_all(outside.join("right")).expect("directories can be made");
    std::fs::write(outside.join("left/a.yaml"), "a: 1\n").expect("files can be written");
    std::fs::write(outside.join("right/a.yaml"), "a: 2\n").expect("files can be written");
    for sides in [["left", "right"], ["left/a.yaml", "right/a.yaml"]] {
        let mut command = outcrop(&repo, &["difftool"]);
        run(command.args(sides).current_dir(&outside)).ends_with(0).says(".a  1 → 2");
    }
}
