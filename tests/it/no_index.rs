//! `outcrop diff --no-index`: files, directories, standard input and pipes, wherever they are.

use std::fs;

use crate::program::{binary, outcrop, run, run_with_input};
use crate::repo::TestRepo;

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n";

#[test]
fn files_and_standard_input_are_compared_by_their_meaning() {
    let repo = TestRepo::new();
    repo.write("old.yaml", "b: 1\na: 1\n");
    repo.write("new.yml", "a: 2 # changed\nb: 1\n");
    repo.write("plain", "a: 3\nb: 1\n");
    repo.write("notes", "just words\n");
    let diff = |arguments: &[&str]| run(&mut outcrop(&repo, &[&["diff", "--no-index"], arguments].concat()));
    diff(&["old.yaml", "new.yml"]).ends_with(0).says("old.yaml → new.yml").says("~ .a  1 → 2");
    diff(&["--exit-code", "old.yaml", "new.yml"]).ends_with(1);
    diff(&["--exit-code", "old.yaml", "old.yaml"]).ends_with(0).says("no files differ");
    diff(&["old.yaml", "plain"]).ends_with(0).says(".a  1 → 3");
    diff(&["plain", "/dev/null"]).ends_with(0).says("- plain.yaml");
    diff(&["--exit-code", "notes", "/dev/null"]).ends_with(1).says("- notes").says("-just words");
    diff(&["--format=json", "old.yaml", "new.yml"]).ends_with(0).says("outcrop/report/v1");
    diff(&["old.yaml"]).ends_with(2).says("takes two files or two directories");
    diff(&["old.yaml", "missing.yaml"]).ends_with(2).says("missing.yaml cannot be read");
    diff(&["-", "-"]).ends_with(2).says("only one of the two sides");
    let mut from_input = outcrop(&repo, &["diff", "--no-index", "-", "new.yml"]);
    run_with_input(&mut from_input, "a: 0\nb: 1\n").ends_with(0).says("standard input → new.yml").says(".a  0 → 2");
    let mut json = outcrop(&repo, &["diff", "--no-index", "plain", "-"]);
    run_with_input(&mut json, "{\"a\": 4, \"b\": 1}").ends_with(0).says("~ .a  3 → 4");
    // Outside a repository, and from another directory.
    fs::create_dir_all(repo.beside("outside")).expect("directories can be made");
    let mut elsewhere = outcrop(&repo, &["diff", "--no-index", "../repo/old.yaml", "../repo/new.yml"]);
    run(elsewhere.current_dir(repo.beside("outside"))).ends_with(0).says("~ .a  1 → 2");
    run(&mut outcrop(&repo, &["-C", "..", "diff", "--no-index", "repo/old.yaml", "repo/new.yml"]))
        .ends_with(0)
        .says("~ .a  1 → 2");
}

#[test]
fn process_substitution_works() {
    let repo = TestRepo::new();
    let script = format!(
        "\"$0\" diff --no-index <(printf '%s' '{DEPLOYMENT}') <(printf '%s' '{}')",
        DEPLOYMENT.replace("replicas: 2", "replicas: 3")
    );
    let mut bash = repo.command("bash");
    run(bash.args(["-c", &script]).arg(binary())).ends_with(0).says("~ Deployment web").says(".spec.replicas  2 → 3");
}

/// kubectl writes one file per object, without an extension, and passes both directories before the flags.
#[test]
fn the_directories_of_kubectl_are_compared_by_content() {
    let repo = TestRepo::new();
    let (live, merged) = (repo.beside("LIVE-1"), repo.beside("MERGED-1"));
    for (directory, replicas) in [(&live, "replicas: 2"), (&merged, "replicas: 5")] {
        fs::create_dir_all(directory).expect("directories can be made");
        let text = DEPLOYMENT.replace("replicas: 2", replicas);
        fs::write(directory.join("apps.v1.Deployment.default.web"), text).expect("files can be written");
        let secret =
            format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s}}\nstringData: {{p: hunter{replicas}}}\n");
        fs::write(directory.join("v1.Secret.default.s"), secret.replace(": 2", "2").replace(": 5", "5"))
            .expect("files can be written");
    }
    let mut command = outcrop(&repo, &["diff", "--no-index", "--exit-code"]);
    run(command.args([&live, &merged]))
        .ends_with(1)
        .says("~ Deployment web")
        .says(".spec.replicas  2 → 5")
        .says("(sensitive, changed)")
        .does_not_say("hunter");
    // The order in which kubectl passes its words.
    for flags in [&["--exit-code"][..], &["diff", "--no-index", "--exit-code"]] {
        let mut command = repo.command(binary());
        run(command.args([&live, &merged]).args(flags)).ends_with(1).says("~ Deployment web").does_not_say("hunter");
    }
    let mut same = outcrop(&repo, &["diff", "--no-index", "--exit-code"]);
    run(same.args([&live, &live])).ends_with(0).says("no files differ");
    let mut mixed = outcrop(&repo, &["diff", "--no-index"]);
    run(mixed.arg(&live).arg(live.join("v1.Secret.default.s"))).ends_with(2).says("is not a directory");
}

#[test]
fn secrets_of_the_repository_stay_hidden_in_loose_files() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "secrets:\n- /token\n");
    repo.commit_all("rules");
    repo.write("a.yaml", "token: hunter1\n");
    repo.write("b.yaml", "token: hunter2\n");
    for format in ["terminal", "side-by-side", "unified", "json", "json-patch", "markdown"] {
        run(&mut outcrop(&repo, &["diff", "--no-index", "--format", format, "a.yaml", "b.yaml"]))
            .ends_with(0)
            .does_not_say("hunter");
    }
}
