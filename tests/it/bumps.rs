//! Version bumps as a reviewer sees them: the table, the headline, the JSON report; and when "only version bumps" is not said.

use serde_json::Value;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

fn deployment(name: &str, tag: &str, replicas: u32) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  namespace: shop\nspec:\n  replicas: {replicas}\n  template:\n    spec:\n      containers:\n        - name: app\n          image: quay.io/shop/{name}:{tag}\n"
    )
}

/// A repository whose last commit turns the first files into the second ones; what the second does not name is removed.
fn repository(before: &[(&str, String)], after: &[(&str, String)]) -> TestRepo {
    let repo = TestRepo::new();
    for files in [before, after] {
        repo.clear();
        files.iter().for_each(|(path, text)| repo.write(path, text.as_str()));
        repo.commit_all("change");
    }
    repo
}

fn json(repo: &TestRepo, flags: &[&str]) -> Value {
    let arguments: Vec<&str> = ["diff", "--format", "json"].into_iter().chain(flags.iter().copied()).collect();
    let ran = run(&mut outcrop(repo, &[&arguments[..], &["HEAD~1", "HEAD"]].concat()));
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr))
}

#[track_caller]
fn says_only(repo: &TestRepo, flags: &[&str], expected: bool) {
    assert_eq!(json(repo, flags)["summary"]["only_bumps"], Value::Bool(expected));
    let ran = run(&mut outcrop(repo, &[&["diff"], flags, &["HEAD~1", "HEAD"]].concat()));
    assert_eq!(ran.stdout.contains("only version bumps"), expected, "{}", ran.stdout);
}

#[test]
fn what_is_beside_a_version_is_known_in_plain_files_too() {
    let files = |tag: &str, action: &str, tool: &str| {
        let workflow = format!(
            "jobs:\n  check:\n    steps:\n      - uses: shop/setup-tool@{action}\n        with:\n          version: {tool}\n"
        );
        vec![
            ("values.yaml", format!("web:\n  repository: quay.io/shop/web\n  tag: {tag}\n")),
            ("tools.yaml", format!("# renovate: datasource=docker depName=shop/tool\ntool: {tool}\n")),
            (".github/workflows/check.yaml", workflow),
        ]
    };
    says_only(&repository(&files("v1", "v1", "5.6.0"), &files("v2", "v2", "5.8.1")), &[], true);
    let other = [("values.yaml", "web:\n  repository: quay.io/shop/api\n  tag: v2\n".to_owned())];
    says_only(&repository(&files("v1", "v1", "1.0")[..1], &other), &[], false);
}

#[test]
fn a_bump_is_one_row_with_everything_that_uses_it() {
    let files = |tag: &str| {
        let base = format!("resources: [web.yaml]\nimages:\n  - name: quay.io/shop/web\n    newTag: {tag}\n");
        let ring = |name: &str| format!("resources: [../../base]\nnamespace: {name}\n");
        vec![
            ("base/web.yaml", deployment("web", "v0", 1)),
            ("base/kustomization.yaml", base),
            ("rings/a/kustomization.yaml", ring("a")),
            ("rings/b/kustomization.yaml", ring("b")),
        ]
    };
    let repo = repository(&files("v1.4.0"), &files("v1.5.0"));
    says_only(&repo, &[], true);
    let report = json(&repo, &[]);
    let bump = &report["bumps"][0];
    assert_eq!(
        (&bump["kind"], &bump["name"], &bump["level"]),
        (&"image".into(), &"quay.io/shop/web".into(), &"minor".into())
    );
    assert_eq!((&bump["before"]["version"], &bump["after"]["version"]), (&"v1.4.0".into(), &"v1.5.0".into()));
    assert_eq!(bump["uses"].as_array().map(Vec::len), Some(2));
    assert_eq!(report["bumps"].as_array().map(Vec::len), Some(1));
    let shown = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).stdout;
    assert!(shown.contains("2 resources in 1 changed file, only version bumps: 1 image\n"), "{shown}");
    assert!(
        shown.contains("\nBUMPS\n  quay.io/shop/web  v1.4.0 → v1.5.0  minor  2 × Deployment in 2 roots\n"),
        "{shown}"
    );
    let markdown = run(&mut outcrop(&repo, &["diff", "--format", "markdown", "HEAD~1", "HEAD"])).stdout;
    assert!(markdown.contains("; only version bumps: 1 image\n"), "{markdown}");
    assert!(
        markdown.contains("| `quay.io/shop/web` | `v1.4.0` | `v1.5.0` | minor | `2 × Deployment in 2 roots` |"),
        "{markdown}"
    );
    let page = run(&mut outcrop(&repo, &["diff", "--format", "html", "HEAD~1", "HEAD"])).stdout;
    assert!(page.contains("<h2>Version bumps</h2>") && page.contains("only version bumps: 1 image"), "{page}");
}

#[test]
fn anything_else_that_changes_takes_the_word_only_away() {
    let web = |tag: &str, replicas| vec![("web.yaml", deployment("web", tag, replicas))];
    says_only(&repository(&web("1.0", 1), &web("1.1", 1)), &[], true);
    says_only(&repository(&web("1.0", 1), &web("1.1", 2)), &[], false);
    let with = |tag: &str, more: (&'static str, &str)| [web(tag, 1), vec![(more.0, more.1.to_owned())]].concat();
    let cases: [(&str, &str, &str); 6] = [
        ("new.yaml", "", "kind: Other\napiVersion: v1\nmetadata: {name: x}\n"),
        ("chart/templates/a.yaml", "a: {{ .Values.a }}\n", "a: {{ .Values.b }}\n"),
        ("README.md", "one\n", "two\n"),
        ("broken.yaml", "a: 1\n", "a: b: c\n"),
        ("plain.yaml", "a: 1.10\n", "a: 1.1\n"),
        ("outcrop.yaml", "rules: {}\n", "rules: {resource/duplicate: off}\n"),
    ];
    for (path, before, after) in cases {
        let repo = repository(&with("1.0", (path, before)), &with("1.1", (path, after)));
        let report = json(&repo, &[]);
        assert_eq!(report["summary"]["only_bumps"], Value::Bool(false), "{path}");
        assert_eq!(report["bumps"].as_array().map(Vec::len), Some(1), "{path}");
    }
    let moved = [("other.yaml", deployment("web", "1.1", 1))];
    says_only(&repository(&web("1.0", 1), &moved), &[], false);
    says_only(&repository(&with("1.0", ("a.yaml", "a: 1\n")), &web("1.1", 1)), &[], false);
}

#[test]
fn what_is_hidden_counts_as_if_it_were_shown() {
    let files = |tag: &str, replicas| {
        vec![("web.yaml", deployment("web", tag, replicas)), ("job.yaml", deployment("job", tag, 1))]
    };
    let repo = repository(&files("1.0", 1), &files("1.1", 2));
    says_only(&repo, &["--ignore", "/spec/replicas"], false);
    says_only(&repo, &["--only", "metadata"], false);
    let repo = repository(&files("1.0", 1), &files("1.1", 1));
    says_only(&repo, &["--ignore", "/spec/template"], false);
    says_only(&repo, &["--kind", "Deployment"], true);
    let chart = |version: &str| {
        let labels = format!("  labels:\n    helm.sh/chart: web-{version}\nspec:");
        vec![("web.yaml", deployment("web", version, 1).replace("spec:\n  replicas", &format!("{labels}\n  replicas")))]
    };
    let repo = repository(&chart("1.0"), &chart("1.1"));
    says_only(&repo, &["--neat"], true);
}

#[test]
fn steps_of_workflows_show_the_versions_of_their_comments() {
    let path = ".github/workflows/ci.yaml";
    let workflow = |commit: &str, version: &str| {
        let step = format!("      - uses: actions/checkout@{} # {version}\n", commit.repeat(40));
        vec![(path, format!("on: push\njobs:\n  a:\n    steps:\n{step}  b:\n    steps:\n{step}"))]
    };
    let repo = repository(&workflow("a", "v4.1.1"), &workflow("b", "v4.2.0"));
    let shown = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).stdout;
    let row = format!(
        "actions/checkout  v4.1.1 ({}) → v4.2.0 ({})  minor  2 steps in {path}\n",
        "a".repeat(40),
        "b".repeat(40)
    );
    assert!(shown.contains(&row), "{shown}");
    says_only(&repo, &[], true);
}
