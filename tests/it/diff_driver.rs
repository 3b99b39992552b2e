//! `outcrop diff-driver`, through the real `git diff`, `git log` and `git show`, with every git of the machine.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::program::{outcrop, path_with_binary, run};
use crate::repo::TestRepo;

/// The gits on the path, one of each version.
fn gits() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    for git in std::env::split_paths(&path).map(|place| place.join("git")).filter(|git| git.is_file()) {
        let version = Command::new(&git).arg("--version").output().expect("git starts").stdout;
        found.entry(String::from_utf8_lossy(&version).into_owned()).or_insert(git);
    }
    assert!(!found.is_empty(), "git is installed");
    found.into_values().collect()
}

/// How git is made to call outcrop.
#[derive(Clone, Copy, Debug)]
enum Way {
    Variable(&'static str),
    Driver,
}

const WAYS: [Way; 3] = [Way::Variable("outcrop diff-driver"), Way::Variable("outcrop"), Way::Driver];

fn git(repo: &TestRepo, git: &PathBuf, way: Way, arguments: &[&str]) -> Command {
    let mut command = repo.command(git);
    command.env("PATH", path_with_binary());
    match way {
        Way::Variable(program) => command.env("GIT_EXTERNAL_DIFF", program),
        Way::Driver => command.args(["-c", "diff.outcrop.command=outcrop diff-driver"]),
    };
    command.args(arguments);
    command
}

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write(".gitattributes", "* diff=outcrop\n");
    repo.write("outcrop.yaml", "secrets:\n- /token\n");
    repo.write("app.yaml", "size: 1\ntoken: hunter2\n");
    repo.write("gone.yaml", "gone: 1\n");
    repo.write("same.yaml", "a: 1\nb: 2\n");
    repo.write("moved.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n");
    repo.write("mode.yaml", "a: 1\n");
    repo.write("turns.yaml", "a: 1\n");
    repo.write("crlf.yaml", "a: 1\r\nb: 2\r\n");
    repo.write("Makefile", "all:\n\tcc\n");
    repo.write("sub dir/ö \"x\".yaml", "a: 1\n");
    repo.write("broken.yaml", "a: 1\n");
    std::os::unix::fs::symlink("app.yaml", repo.root().join("link.yaml")).expect("links can be made");
    repo.commit_all("first");
    repo
}

/// Everything that can happen to a file, staged.
fn change(repo: &TestRepo) {
    repo.write("app.yaml", "token: hunter3\nsize: 2\n");
    repo.remove("gone.yaml");
    repo.write("new.yaml", "new: 1\n");
    repo.write("same.yaml", "# a comment\nb: 2\na: 1\n");
    repo.git(&["mv", "moved.yaml", "there.yaml"]);
    repo.write("there.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 6\n");
    repo.git(&["update-index", "--chmod=+x", "mode.yaml"]);
    repo.write("crlf.yaml", "a: 1\r\nb: 3\r\n");
    repo.write("Makefile", "all:\n\tgcc\n");
    repo.write("sub dir/ö \"x\".yaml", "a: 2\n");
    repo.write("broken.yaml", "a: [1\n");
    repo.remove("link.yaml");
    std::os::unix::fs::symlink("same.yaml", repo.root().join("link.yaml")).expect("links can be made");
    repo.remove("turns.yaml");
    std::os::unix::fs::symlink("app.yaml", repo.root().join("turns.yaml")).expect("links can be made");
    repo.git(&["add", "--all"]);
    repo.git(&["update-index", "--chmod=+x", "mode.yaml"]);
}

#[test]
fn everything_that_can_happen_to_a_file_is_shown() {
    for program in gits() {
        for way in WAYS {
            let repo = repository();
            change(&repo);
            let ran = run(&mut git(&repo, &program, way, &["diff", "--cached", "-M"])).ends_with(0);
            let ran = ran
                .says("app.yaml   HEAD → index\n")
                .says("  ~ .size  1 → 2")
                .says("(sensitive, changed)")
                .does_not_say("hunter")
                .says("- gone.yaml")
                .says("+ new.yaml")
                .says("same.yaml   HEAD → index\n  no effective change")
                .says("there.yaml   HEAD → index\n  renamed from moved.yaml\n")
                .says("  ~ .e  5 → 6")
                .says("mode.yaml\n  mode 100644 → 100755\n  the content is the same\n\n")
                .says("crlf.yaml   HEAD → index\n")
                .says("  ~ .b  2 → 3")
                .says("~ Makefile  (not YAML or JSON: compared line by line)\n@@ -1,2 +1,2 @@")
                .says(r#""sub dir/ö \"x\".yaml"   HEAD → index"#)
                .says("~ link.yaml  (symbolic link: compared line by line)\n@@ -1 +1 @@\n-app.yaml\n")
                .says("+same.yaml\n")
                .says("document/syntax")
                .says("~ broken.yaml  (has errors: compared line by line)\n@@ -1 +1 @@\n-a: 1\n+a: [1\n");
            // Without a driver of its own, git shows a changed type as it always does.
            let ran = ran.says("turns.yaml");
            assert_eq!(ran.stderr, "", "{way:?}");
        }
    }
}

#[test]
fn copies_submodules_and_the_working_tree_are_shown() {
    for program in gits() {
        for way in WAYS {
            let repo = repository();
            repo.write("copy.yaml", "a: 1\nb: 2\nc: 3\nd: 4\ne: 7\n");
            repo.git(&["add", "copy.yaml"]);
            let copies = ["diff", "--cached", "-C", "--find-copies-harder"];
            run(&mut git(&repo, &program, way, &copies)).ends_with(0).says("renamed from moved.yaml").says(".e  5 → 7");

            let inner = repo.beside("inner");
            repo.git(&["init", "-q", &inner.to_string_lossy()]);
            let place = inner.to_string_lossy().into_owned();
            repo.git(&["-C", &place, "commit", "-q", "--allow-empty", "-m", "one"]);
            repo.git(&["submodule", "add", "-q", &place, "inner"]);
            repo.git(&["commit", "-q", "-m", "submodule"]);
            repo.git(&["-C", "inner", "commit", "-q", "--allow-empty", "-m", "two"]);
            run(&mut git(&repo, &program, way, &["diff", "--", "inner"])).ends_with(0).says("inner");

            repo.write("app.yaml", "size: 5\ntoken: hunter2\n");
            repo.write("crlf.yaml", "a: 1\nb: 9\n");
            run(&mut git(&repo, &program, way, &["diff", "--", "app.yaml", "crlf.yaml"]))
                .ends_with(0)
                .says("app.yaml   index → working tree")
                .says("~ .size  1 → 5")
                .says("crlf.yaml   index → working tree");
            // From a directory below, git runs its programs at the top.
            let mut below = git(&repo, &program, way, &["diff", "--relative", "--", "../app.yaml"]);
            run(below.current_dir(repo.root().join("sub dir"))).ends_with(0);
        }
    }
}

#[test]
fn conflicts_and_names_that_are_not_text_are_no_failure() {
    for program in gits() {
        let repo = repository();
        repo.git(&["switch", "-q", "-c", "other"]);
        repo.write("app.yaml", "size: 3\n");
        repo.commit_all("theirs");
        repo.git(&["switch", "-q", "main"]);
        repo.write("app.yaml", "size: 4\n");
        repo.commit_all("ours");
        assert!(!repo.try_git(&["merge", "-q", "other"]).status.success());
        let odd = OsStr::from_bytes(b"bad\xff\n.yaml");
        std::fs::write(repo.root().join(odd), "a: 1\n").expect("files can be written");
        repo.git(&["add", "--", "."]);
        repo.git(&["reset", "-q", "--", "app.yaml"]);
        for way in WAYS {
            run(&mut git(&repo, &program, way, &["diff", "--cached"])).ends_with(0).says(r"bad\377\n.yaml");
        }
    }
    let repo = repository();
    let mut unmerged = outcrop(&repo, &["app.yaml"]);
    run(unmerged.env("GIT_DIFF_PATH_COUNTER", "1")).ends_with(0).says("app.yaml\n  unmerged");
    run(&mut outcrop(&repo, &["diff-driver", "a", "b"])).ends_with(2).says("1, 7 or 9 arguments");
}

#[test]
fn history_is_shown_with_its_revisions_and_the_reach_of_layers() {
    for program in gits() {
        let repo = TestRepo::from_folders("examples/shop");
        repo.write("config/regions.json", "{}\n");
        let last = repo.commit_all("last");
        for way in [Way::Variable("outcrop"), Way::Driver] {
            repo.write(".git/info/attributes", "*.yaml diff=outcrop\n");
            let short = repo.git(&["rev-parse", "--short=7", &format!("{last}~1")]);
            run(&mut git(&repo, &program, way, &["show", "--ext-diff", "HEAD~1"]))
                .ends_with(0)
                .says(&format!("customers/_/metadata.yaml   {short}^ → {short}\n  1 edit here → 3 resources;"))
                .says("shared/defaults.yaml")
                .says("  1 edit here → 1 resource;")
                .says("{{.id}}");
            run(&mut git(&repo, &program, way, &["log", "-p", "--ext-diff", "--", "plans"]))
                .ends_with(0)
                .says(".burst  2400 → 3000");
            // Revisions that cannot be inferred can be given.
            let mut given = git(&repo, &program, way, &["diff", "HEAD~2", "HEAD", "--", "customers/_/metadata.yaml"]);
            run(given.env("OUTCROP_OLD_REV", "HEAD~2").env("OUTCROP_NEW_REV", "HEAD"))
                .ends_with(0)
                .says("HEAD~2 → HEAD");
        }
    }
}

#[test]
fn the_exit_code_is_zero_unless_it_is_asked_for() {
    let repo = repository();
    repo.write("app.yaml", "size: 2\n");
    let id = "0".repeat(40);
    let call = |arguments: &[&str]| {
        let all =
            [&["diff-driver"], arguments, &["app.yaml", "/dev/null", ".", ".", "app.yaml", &id, "100644"]].concat();
        run(&mut outcrop(&repo, &all))
    };
    call(&[]).ends_with(0).says("+ app.yaml");
    call(&["--exit-code"]).ends_with(1);
    call(&["--format=unified"]).ends_with(0).says("+++ b/app.yaml");
    // Switched off, the lines are shown as they are written.
    let mut off = outcrop(&repo, &["diff-driver", "app.yaml", "/dev/null", ".", ".", "app.yaml", &id, "100644"]);
    run(off.env("OUTCROP", "0")).ends_with(0).says("+size: 2");
    let missing = ["diff-driver", "a.yaml", "/nowhere/a", &id, "100644", "/nowhere/b", &id, "100644"];
    run(&mut outcrop(&repo, &missing)).ends_with(0).says("cannot be read");
}

/// git prefers the driver of an attribute even to the tool that the user asks for.
#[test]
fn another_program_that_the_user_asks_for_is_called() {
    let repo = repository();
    repo.write("app.yaml", "size: 2\n");
    repo.git(&["config", "diff.outcrop.command", "outcrop diff-driver"]);
    repo.git(&["config", "difftool.other.cmd", "echo other: $(cat $REMOTE)"]);
    let run_git = |arguments: &[&str]| {
        let mut command = repo.command("git");
        command.args(arguments).env("PATH", path_with_binary());
        command
    };
    run(&mut run_git(&["difftool", "-y", "-t", "other"])).ends_with(0).says("other: size: 2").does_not_say("1 → 2");
    run(run_git(&["diff"]).env("GIT_EXTERNAL_DIFF", "echo mine:")).ends_with(0).says("mine: app.yaml");
    run(&mut run_git(&["diff"])).ends_with(0).says("~ .size  1 → 2");
}

#[test]
fn a_normal_form_makes_history_quiet() {
    for program in gits() {
        let repo = repository();
        repo.git(&["config", "diff.outcrop.textconv", "outcrop diff-driver --textconv"]);
        repo.write("same.yaml", "# a comment\n'b': 2\na: 1\n");
        repo.write("app.yaml", "token: hunter3\nsize: 2\n");
        repo.write("secret.yaml", "kind: Secret\nstringData: {p: [hunter5\n");
        repo.commit_all("second");
        let git = |arguments: &[&str]| {
            let mut command = repo.command(&program);
            run(command.args(arguments).env("PATH", path_with_binary()))
        };
        let ran = git(&["log", "-p", "-1"]).ends_with(0).says("-size: 1\n+size: 2").does_not_say("hunter");
        ran.says("token: (sensitive)").says("may contain secrets").does_not_say("same.yaml\n+++");
        git(&["blame", "app.yaml"]).ends_with(0).says("size: 2").does_not_say("hunter");
        git(&["-c", "diff.outcrop.cachetextconv=true", "log", "-p"]).ends_with(0).does_not_say("hunter");
        repo.write("Makefile", "all:\n\tclang\n");
        git(&["diff", "--", "Makefile"]).ends_with(0).says("+\tclang");
    }
}
