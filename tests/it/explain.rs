//! Where values come from, looked up in a snapshot and written for people and programs.

use std::sync::Arc;

use outcrop::document::write::to_json;
use outcrop::explain::ExplainQuestion;
use outcrop::metadata::MetadataPath;
use outcrop::path::{Pointer, RepoPath};
use outcrop::report::{Style, explain};
use outcrop::resource::KubernetesQuery;
use outcrop::settings::{Configuration, Given, Policy};
use outcrop::side::{ResourceQuery, Side};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::Sources;

use crate::repo::TestRepo;

type Files<'a> = &'a [(&'a str, &'a str)];

/// Both forms of the answer.
fn explain(
    files: Files<'_>,
    sought: impl Fn(&Side<'_>) -> ResourceQuery,
    within: &str,
    everything: bool,
) -> [String; 2] {
    let add = |snapshot: MemorySnapshot, (path, text): &(&str, &str)| {
        snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes())
    };
    let snapshot = files.iter().fold(MemorySnapshot::new("test"), add);
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&snapshot, &snapshot, Policy::Head, &sources);
    let settings = configuration.policy();
    let given = Given { snapshot: &snapshot, settings, sources: &sources, limits: &settings.limits };
    let side = Side::new(given, &[], false);
    let question = ExplainQuestion { within: Pointer::parse(within).unwrap(), everything };
    let outcome = outcrop::explain::explain(&side, &sought(&side), &question);
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    let mut text = Vec::new();
    explain::write(&outcome.value, &sources, &Style { width: 120, ..Style::default() }, &mut text).unwrap();
    let data = explain::to_node(&outcome.value, &sources).map(|node| to_json(&node)).unwrap_or_default();
    [String::from_utf8(text).unwrap(), data]
}

fn of_file(files: Files<'_>, file: &str, within: &str) -> String {
    let sought = |_: &Side<'_>| ResourceQuery::File(RepoPath::new(file).unwrap(), None);
    let [text, _] = explain(files, sought, within, false);
    // The heading and the files are not the point of most tests.
    text.split_once("\n\n.").map(|(_, rest)| format!(".{rest}")).unwrap_or(text)
}

fn of_path(path: &str) -> impl Fn(&Side<'_>) -> ResourceQuery {
    move |side| ResourceQuery::Path(MetadataPath::parse(path).unwrap(), side.settings.layer_roots().all()[0].clone())
}

#[test]
fn anchors_and_merge_keys_are_shown_like_directives() {
    let text = "base: &b\n  k: 1\n  l: 2\nmerged:\n  <<: *b\n  l: 3\nalias: *b\n";
    assert_eq!(
        of_file(&[("a.yaml", text)], "a.yaml", ""),
        "\
.merged.k
  ▸ 1  a.yaml:2  via << at a.yaml:5

.merged.l
    ~~2~~  a.yaml:3  via << at a.yaml:5
  ▸ 3      a.yaml:6

.alias
  ▸ {k: 1, l: 2}  a.yaml:2  via *b at a.yaml:7

2 more values come from the file itself; a POINTER or -v shows them
"
    );
}

#[test]
fn what_came_as_a_whole_is_shown_as_a_whole_unless_asked_for() {
    let files = [("a.yaml", "x: {+include: b.yaml, own: 1}\n"), ("b.yaml", "p: {q: [1, 2], r: {s: 3}}\n")];
    assert_eq!(
        of_file(&files, "a.yaml", ""),
        "\
.x.p
  ▸ {q: [1, 2], r: {s: 3}}  b.yaml:1  via +include at a.yaml:1

1 more value comes from the file itself; a POINTER or -v shows it
"
    );
    assert_eq!(of_file(&files, "a.yaml", "/x/p/q/1"), ".x.p.q[1]\n  ▸ 2  b.yaml:1  via +include at a.yaml:1\n");
}

#[test]
fn what_was_replaced_as_a_whole_is_shown_with_its_parts() {
    let files = [("a.yaml", "x:\n  +/y:\n  l: [3]\ny:\n  l: [1, 2]\n")];
    let expected = "\
.x.l
    ~~[1, 2]~~  a.yaml:5  via +/y at a.yaml:2
  ▸ [3]         a.yaml:3

.x.l[0]  3  a.yaml:3
";
    assert_eq!(of_file(&files, "a.yaml", "/x/l/0"), expected);
    assert_eq!(of_file(&files, "a.yaml", "/x/l"), expected);
}

#[test]
fn a_long_way_is_cut_and_counted() {
    let mut text = "k0: {v: 1}\n".to_owned();
    for at in 1..40 {
        text += &format!("k{at}: {{+/k{}: }}\n", at - 1);
    }
    let shown = of_file(&[("a.yaml", &text)], "a.yaml", "/k39/v");
    assert!(shown.contains("via +/k0 at a.yaml:2"), "{shown}");
    assert!(shown.contains("and 19 more"), "{shown}");
}

#[test]
fn resources_are_found_by_path_file_and_name() {
    let deployment =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec: {replicas: 3}\n";
    let both = format!("{deployment}---\napiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{}}\n");
    let files = [
        ("deploy/all.yaml", both.as_str()),
        ("c/_/metadata.yaml", "resourceInfo: {idFromAttribute: id}\n"),
        ("c/a/resource.json", r#"{"id": 1}"#),
        ("c/b.yaml", "id: 2\n"),
        ("plain.yaml", "id: 3\n"),
        ("broken.yaml", "web: ]\n"),
    ];
    let names = |sought: &dyn Fn(&Side<'_>) -> ResourceQuery| {
        let [text, _] = explain(&files, sought, "", false);
        let headings = text.lines().filter_map(|line| line.strip_suffix("  test")).map(str::to_owned);
        headings.collect::<Vec<_>>()
    };
    let named =
        |text: &'static str| move |_: &Side<'_>| ResourceQuery::Kubernetes(KubernetesQuery::parse(text).unwrap());
    let file = |name: &'static str, at| move |_: &Side<'_>| ResourceQuery::File(RepoPath::new(name).unwrap(), at);
    assert_eq!(names(&named("deployment/web")), ["Deployment shop/web"]);
    assert_eq!(names(&named("Service other/web")), [""; 0]);
    assert_eq!(names(&file("deploy/all.yaml", None)), ["Deployment shop/web", "Service web"]);
    assert_eq!(names(&file("deploy/all.yaml", Some(1))), ["Service web"]);
    assert_eq!(names(&file("plain.yaml", None)), ["plain.yaml"]);
    assert_eq!(names(&of_path("/deploy/Deployment.web")), ["Deployment shop/web"]);
    assert_eq!(names(&of_path("/c/a")), ["/c/a"]);
    let [text, _] = explain(&files, of_path("/c/b"), "", false);
    assert!(text.contains("defined in  c/b.yaml"), "{text}");
    assert!(text.contains("resourceInfo.idFromAttribute  id  c/_/metadata.yaml:1"), "{text}");
}

#[test]
fn metadata_tells_what_brought_it_too() {
    let files = [
        ("c/_/metadata.yaml", "resourceInfo:\n  +include: ../../ids.yaml\n"),
        ("ids.yaml", "idFromAttribute: id\n"),
        ("c/a/resource.yaml", "id: 1\n"),
    ];
    let [text, _] = explain(&files, of_path("/c/a"), "/resourceInfo", false);
    assert!(text.contains("  ▸ id  ids.yaml:1  via +include at c/_/metadata.yaml:2"), "{text}");
}

#[test]
fn secrets_are_in_no_answer() {
    let files = [
        ("outcrop.yaml", "secrets: [/**/apiKey]\n"),
        ("_/metadata.yaml", "resourceInfo: {secretInAttributes: [password]}\n"),
        (
            "a/resource.yaml",
            "x: {+/y: , apiKey: hunter1, password: hunter2}\ny: {apiKey: hunter3, password: hunter4}\n",
        ),
        (
            "b/resource.yaml",
            "x: {+/y: , password: '{{secret .}}', l: []}\ny: {l: [{password: hunter5}], password: hunter6}\n",
        ),
        (
            "s.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {+/t: , a: hunter7}\nt: {a: hunter8}\n",
        ),
    ];
    for everything in [false, true] {
        for sought in ["/a", "/b", "/Secret.s"] {
            for answer in explain(&files, of_path(sought), "", everything) {
                assert!(answer.contains("sensitive"), "{answer}");
                assert!(!answer.contains("hunter"), "{answer}");
            }
        }
    }
}

#[test]
fn what_patches_and_expressions_do_is_shown() {
    let repo = TestRepo::new();
    repo.write("a/x/resource.yaml", "size: 3\nold: {key: 1}\ntwice: {eval: {concat: [{eval: size}, {eval: size}]}}\n");
    repo.write("a/y/resource.yaml", "size: 4\n");
    repo.write(
        "a/_/patches.yaml",
        "patches:\n- target: {where: '${resource.size == 3}'}\n  operations:\n  - {op: replace, path: /size, value: 30}\n  \
         - {op: remove, path: /old}\nremoves:\n- target: {where: '${resource.size == 4}'}\n",
    );
    repo.commit_all("first");
    let explain = |arguments: &[&str]| {
        let output = repo.command(env!("CARGO_BIN_EXE_outcrop")).arg("explain").args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&output.stdout) + &text(&output.stderr), output.status.code())
    };
    let (text, _) = explain(&["/a/x"]);
    for part in [
        "patched by  a/_/patches.yaml",
        ".size\n    ~~3~~  a/x/resource.yaml:1\n  ▸ 30     a/_/patches.yaml:4  by a patch\n",
        ".twice\n  ▸ \"33\"  a/x/resource.yaml:3  by an expression\n",
    ] {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let (text, code) = explain(&["/a/x", "/old/key"]);
    let expected = "no value at /old/key in /a/x: removed by the patch at a/_/patches.yaml:5";
    assert!(text.contains(expected) && code == Some(2), "{text}");
    let (text, _) = explain(&["/a/y"]);
    assert!(text.contains("dropped by  a/_/patches.yaml:7"), "{text}");
}
