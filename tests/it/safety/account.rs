//! Small files that ask for much work: one account for the whole run, a finding with the way out, exit code 2.

use std::sync::Arc;

use outcrop::comparison::{Comparison, Options};
use outcrop::limits::Scarce;
use outcrop::report::{Style, terminal};
use outcrop::settings::{Configuration, Policy};
use outcrop::text::Sources;

use crate::comparing::snapshot;
use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

/// Lists of lists, each with ten times the one before.
fn laughs(levels: usize, leaf: &str) -> String {
    let mut text = format!("a0: &a0 [{}]\n", [leaf; 10].join(", "));
    for level in 1..levels {
        let alias = format!("*a{}", level - 1);
        text.push_str(&format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 10].join(", ")));
    }
    text
}

fn pair(limits: &str, file: impl Fn(&str) -> Vec<(String, String)>) -> TestRepo {
    let repo = TestRepo::new();
    for (value, message) in [("x", "first"), ("y", "second")] {
        repo.write("outcrop.yaml", format!("limits: {{{limits}}}\n"));
        file(value).into_iter().for_each(|(path, text)| repo.write(path, text));
        repo.commit_all(message);
    }
    repo
}

fn diff(repo: &TestRepo, format: &str) -> Ran {
    run(&mut outcrop(repo, &["diff", "HEAD~1", "HEAD", "--format", format]))
}

const FORMATS: [&str; 7] = ["terminal", "side-by-side", "unified", "json", "json-patch", "markdown", "html"];

#[test]
fn aliases_in_many_files_share_one_limit() {
    let file = |value: &str| (0..6).map(|n| (format!("f{n}.yaml"), laughs(3, value))).collect();
    let repo = pair("run_nodes: 5000", file);
    for format in FORMATS {
        let ran = diff(&repo, format).ends_with(2);
        let is_said = ran.stdout.contains("run_nodes") || ran.stderr.contains("run_nodes");
        assert!(is_said || matches!(format, "unified" | "json-patch" | "side-by-side"), "{format}: {ran:?}");
    }
    run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(2).says("limits.run_nodes");
    let repo = pair("run_nodes: 100000", file);
    diff(&repo, "terminal").ends_with(0).does_not_say("run_nodes");
}

#[test]
fn the_limit_is_said_once_with_the_number_of_other_places() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "limits: {run_nodes: 2000}\n");
    repo.commit_all("first");
    (0..9).for_each(|n| repo.write(format!("f{n}.yaml"), laughs(3, "x")));
    repo.commit_all("second");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(2);
    assert_eq!(ran.stdout.matches("limit/run-work").count(), 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("more place"), "{}", ran.stdout);
}

#[test]
fn merge_keys_are_counted_for_every_entry_that_they_look_at() {
    let text = |value: &str| {
        let keys: String = (0..50).map(|n| format!("  k{n}: {value}\n")).collect();
        let users: String = (0..50).map(|n| format!("u{n}: {{<<: [*b, *b, *b, *b]}}\n")).collect();
        vec![("a.yaml".to_owned(), format!("b: &b\n{keys}{users}"))]
    };
    diff(&pair("run_nodes: 15000", text), "terminal").ends_with(2);
    diff(&pair("run_nodes: 200000", text), "terminal").ends_with(0);
}

#[test]
fn includes_of_all_files_share_one_limit() {
    let files = |value: &str| {
        let shared: String = (0..100).map(|n| format!("k{n}: {value}\n")).collect();
        let users = (0..30).map(|n| (format!("u{n}.yaml"), format!("n: {n}\n+include: shared.yaml\n")));
        users.chain([("shared.yaml".to_owned(), shared)]).collect()
    };
    diff(&pair("run_nodes: 9000", files), "terminal").ends_with(2).says("limits.run_nodes");
    diff(&pair("run_nodes: 90000", files), "terminal").ends_with(0);
}

#[test]
fn expressions_of_all_resources_share_one_limit() {
    let files = |value: &str| {
        let file = |n| (format!("c/r{n}/resource.yaml"), format!("v: {value}\nall: {{eval: '::c::.children::v'}}\n"));
        (0..60).map(file).collect()
    };
    diff(&pair("run_steps: 2000", files), "terminal").ends_with(2).says("limits.run_steps");
    run(&mut outcrop(&pair("run_steps: 2000", files), &["render"])).ends_with(2).says("limits.run_steps");
    diff(&pair("run_steps: 1000000", files), "terminal").ends_with(0);
}

#[test]
fn patches_of_all_resources_share_one_limit() {
    let files = |value: &str| {
        let patches = "patches:\n- target: {where: \"${resource.l.all(a, resource.l.exists(b, a == b))}\"}\n  operations:\n  \
                       - {op: add, path: /vip, value: true}\n";
        let file = |n| (format!("c/r{n}/resource.yaml"), format!("v: {value}\nl: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n"));
        (0..40).map(file).chain([("_/patches.yaml".to_owned(), patches.to_owned())]).collect()
    };
    diff(&pair("run_steps: 3000", files), "terminal").ends_with(2).says("limits.run_steps");
    diff(&pair("run_steps: 10000000", files), "terminal").ends_with(0);
}

#[test]
fn changes_beyond_the_limit_are_not_listed_and_that_is_said() {
    let text = |value: &str| vec![("a.yaml".to_owned(), (0..30).map(|n| format!("k{n}: {value}\n")).collect())];
    let repo = pair("changes: 10", text);
    for format in FORMATS {
        let ran = diff(&repo, format).ends_with(2);
        // These two show whole documents.
        if !matches!(format, "unified" | "json-patch") {
            ran.does_not_say("k29");
        }
    }
    diff(&repo, "terminal").ends_with(2).says("limits.changes").says("k9");
}

#[test]
fn a_report_that_is_too_long_ends_with_a_sentence() {
    let text = |value: &str| vec![("a.yaml".to_owned(), laughs(4, value))];
    let repo = pair("output_bytes: 1000", text);
    run(&mut outcrop(&repo, &["render", "--at", "HEAD"])).ends_with(2).says("limits.output_bytes");
}

#[test]
fn a_splice_is_refused_before_its_items_are_copied() {
    let mut text = "l0: [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..9 {
        let items = format!("- +/l{}: null\n", level - 1).repeat(10);
        text.push_str(&format!("l{level}:\n{items}"));
    }
    let repo = TestRepo::new();
    repo.write("a.yaml", text);
    repo.commit_all("first");
    run(&mut outcrop(&repo, &["expand", "a.yaml"])).ends_with(1).says("limits.nodes");
}

#[test]
fn what_is_not_done_when_memory_is_scarce_is_left_out_and_that_is_said() {
    let [before, after] = ["a: 1\n", "a: 2\n"].map(|text| snapshot("side", [("a.yaml", text), ("b.yaml", text)]));
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Base, &sources);
    configuration.limits().note_scarce(Scarce::Memory);
    let report = Comparison::new(&before, &after, &configuration, &sources, Options::default()).compare();
    assert!(report.is_incomplete() && report.resources.is_empty(), "{:?}", report.resources);
    let said = report.findings.iter().filter(|finding| finding.rule.id == "limit/run-work");
    assert!(said.filter_map(|finding| finding.help.as_deref()).any(|help| help.contains("limits.memory_bytes")));
}

#[test]
fn roots_that_are_left_out_are_not_said_to_be_broken() {
    let config_map =
        |value: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: \"{value}\"}}\n");
    let [before, after] = ["1", "2"].map(|value| {
        snapshot("side", [("kustomization.yaml", "resources: [c.yaml]\n"), ("c.yaml", &*config_map(value))])
    });
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Base, &sources);
    configuration.limits().note_scarce(Scarce::Time);
    let report = Comparison::new(&before, &after, &configuration, &sources, Options::default()).compare();
    let units: Vec<_> = report.units.iter().map(|unit| (unit.is_left_out, unit.failed)).collect();
    assert_eq!(units, [(true, [false; 2])]);
    let mut shown = Vec::new();
    terminal::write(&report, &Style::default(), &mut shown).expect("a Vec takes it");
    let shown = String::from_utf8(shown).expect("text");
    assert!(shown.contains("incomplete: 1 root not compared") && !shown.contains("not build"), "{shown}");
}
