//! The help of every command, and the variable that all formats share.

use crate::program::{self, run};
use crate::repo::TestRepo;

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let list = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let names = list.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn every_command_shows_examples() {
    let repo = TestRepo::new();
    let help = |words: &[&str]| {
        let ran = run(program::outcrop(&repo, words).arg("--help")).ends_with(0);
        assert!(ran.stdout.contains("Examples:\n  "), "`outcrop {} --help` has no examples", words.join(" "));
        assert!(ran.stdout.contains("Global options:"), "`outcrop {} --help` has no headings", words.join(" "));
        ran.stdout
    };
    let all = commands(&help(&[]));
    assert!(all.len() > 15, "{all:?}");
    for name in &all {
        for below in commands(&help(&[name])) {
            help(&[name, &below]);
        }
    }
}

#[test]
fn a_format_that_a_command_does_not_have_leaves_it_as_it_is() {
    let repo = TestRepo::new();
    repo.write("customers/acme/resource.yaml", "id: 1\n");
    repo.commit_all("first");
    let with =
        |format: &str, words: &[&str]| run(program::outcrop(&repo, words).env("OUTCROP_FORMAT", format)).ends_with(0);
    with("json", &["diff", "HEAD", "HEAD"]).says("\"schema\":");
    with("json", &["render", "/customers/acme"]).says("\"id\": 1");
    with("json", &["explain", "/customers/acme"]).says("\"revision\"");
    with("sarif", &["check", "--all"]).says("2.1.0");
    for words in [&["diff", "HEAD", "HEAD"][..], &["render", "/customers/acme"], &["explain", "/customers/acme"]] {
        let plain = run(&mut program::outcrop(&repo, words)).ends_with(0).stdout;
        assert_eq!(with("sarif", words).stdout, plain, "{words:?}");
    }
    // A flag and another way to show things come before the variable.
    with("json", &["diff", "--format", "unified", "HEAD", "HEAD"]).does_not_say("\"schema\"");
    with("json", &["diff", "--stat", "HEAD", "HEAD"]).does_not_say("\"schema\"");
    with("josn", &["diff", "HEAD", "HEAD"]).says("note: OUTCROP_FORMAT=josn is ignored: no command has this format");
}
