//! What a person sees of real repositories: everything that changed, where it applies, and not one line too many.

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

/// What `outcrop diff HEAD~1 HEAD` prints with these flags.
fn diff(repo: &TestRepo, flags: &[&str]) -> String {
    let arguments: Vec<&str> = ["diff"].into_iter().chain(flags.iter().copied()).chain(["HEAD~1", "HEAD"]).collect();
    let ran = run(&mut outcrop(repo, &arguments));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.stdout
}

fn deployment(name: &str, image: &str) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\nspec:\n  template:\n    spec:\n      containers:\n        - name: app\n          image: {image}\n"
    )
}

#[test]
fn everything_that_changed_goes_through_a_pipe_whole() {
    let repo = TestRepo::new();
    let long = |word: &str| format!("{} {word} {}", "some words before it".repeat(30), "and after it".repeat(30));
    let digest = |digit: &str| format!("registry.example.com/team/app@sha256:{}", digit.repeat(64));
    let document = |word: &str, digit: &str, count: usize| {
        let entries: String = (0..count).map(|at| format!("  key-{at}: value-{at}\n")).collect();
        let text: String = (0..count).map(|at| format!("  {word} line {at}\n")).collect();
        format!("prose: {}\nimage: {}\nentries:\n  x: 1\n{entries}text: |\n{text}", long(word), digest(digit))
    };
    repo.write("app.yaml", document("old", "a", 3));
    repo.commit_all("before");
    repo.write("app.yaml", document("new", "b", 90));
    repo.commit_all("after");
    let shown = diff(&repo, &[]);
    for value in [long("old"), long("new"), digest("a"), digest("b")] {
        assert!(shown.contains(&value), "{value} is not in\n{shown}");
    }
    for at in 3..90 {
        assert!(
            shown.contains(&format!("value-{at}\n")) && shown.contains(&format!("new line {at}\n")),
            "{at}\n{shown}"
        );
    }
    assert!(!shown.contains('…'), "{shown}");
}

#[test]
fn two_edited_lines_that_reach_37_resources_stay_within_20_lines() {
    let repo = TestRepo::new();
    let layer = |version: &str, method: &str| {
        format!("operationInfo:\n  updateResource:\n    path: /{version}/customers/{{{{.id}}}}\n    method: {method}\n")
    };
    repo.write("customers/_/metadata.yaml", layer("v1", "PUT"));
    for at in 0..37 {
        repo.write(format!("customers/c{at:02}/resource.yaml"), format!("id: {at}\n"));
    }
    repo.commit_all("before");
    repo.write("customers/_/metadata.yaml", layer("v2", "PATCH"));
    repo.commit_all("after");
    for flags in [&["--width", "80"][..], &["--width", "140"], &[]] {
        let shown = diff(&repo, flags);
        assert!(shown.contains("~ 37 resources\n") && shown.contains("c36"), "{shown}");
        assert!(shown.contains("because customers/_/metadata.yaml:"), "{shown}");
        assert!(shown.lines().count() <= 20, "{} lines\n{shown}", shown.lines().count());
    }
}

#[test]
fn resources_of_one_name_are_told_apart_by_their_files() {
    let repo = TestRepo::new();
    let write = |image: &str| {
        for directory in ["development", "staging/base", "staging/p01"] {
            repo.write(format!("apps/{directory}/web.yaml"), deployment("web", image));
        }
    };
    write("web:1");
    repo.commit_all("before");
    write("web:2");
    repo.commit_all("after");
    let shown = diff(&repo, &[]);
    assert!(shown.contains("~ Deployment web  in 3 files\n"), "{shown}");
    assert!(shown.contains("    apps/{development, staging/{base, p01}}/web.yaml\n"), "{shown}");
    let table = diff(&repo, &["--stat"]);
    assert!(table.contains("Deployment web  apps/staging/p01/web.yaml"), "{table}");
}

#[test]
fn the_same_value_at_many_paths_is_one_line() {
    let repo = TestRepo::new();
    let workflow = |sha: &str, version: &str| {
        let job = |name: &str| format!("  {name}:\n    steps:\n      - uses: org/action@{sha} # {version}\n");
        format!("jobs:\n{}{}{}{}", job("build"), job("lint"), job("test"), job("docs"))
    };
    repo.write("ci.yaml", workflow("aaaa", "v1.0.0"));
    repo.commit_all("before");
    repo.write("ci.yaml", workflow("bbbb", "v1.1.0"));
    repo.commit_all("after");
    let shown = diff(&repo, &[]);
    assert!(shown.contains("~ 4 × .uses  org/action@aaaa → org/action@bbbb  # v1.0.0 → # v1.1.0\n"), "{shown}");
    assert!(shown.contains("at .jobs.{build, lint, test, docs}.steps[0]\n"), "{shown}");
}

#[test]
fn a_renamed_directory_is_one_line_and_copies_pair_by_their_places() {
    let repo = TestRepo::new();
    for ring in 0..4 {
        repo.write(format!("etcd-rd/rings/ring-{ring}/web.yaml"), deployment("web", "web:1"));
    }
    repo.commit_all("before");
    repo.git(&["mv", "etcd-rd", "etcd"]);
    repo.commit_all("after");
    let shown = diff(&repo, &[]);
    assert!(shown.ends_with("\n» {etcd-rd => etcd}/  4 files moved unchanged\n"), "{shown}");
}

#[test]
fn many_new_resources_are_counted_by_directory_and_copies_are_named() {
    let repo = TestRepo::new();
    let write = |directory: &str| {
        for at in 0..15 {
            repo.write(format!("{directory}/{at}.yaml"), deployment(&format!("web-{at}"), "web:1"));
        }
    };
    write("apps/base");
    repo.commit_all("before");
    write("apps-rd/ring-0");
    write("apps-rd/ring-1");
    repo.commit_all("after");
    let shown = diff(&repo, &[]);
    assert!(shown.contains("+ 30 resources added  in 30 files"), "{shown}");
    assert!(shown.contains("30 files copied from apps/base/ to apps-rd/"), "{shown}");
    assert!(shown.contains("Deployment 15\n") && shown.lines().count() < 10, "{shown}");
    assert!(diff(&repo, &["-v"]).contains("+ kind: Deployment"));
}

#[test]
fn a_report_can_be_narrowed() {
    let repo = TestRepo::new();
    let write = |version: &str| {
        repo.write("apps/web/deployment.yaml", deployment("web", &format!("web:{version}")));
        repo.write(
            "infra/dns/service.yaml",
            format!("apiVersion: v1\nkind: Service\nmetadata:\n  name: dns\n  labels:\n    v: '{version}'\n"),
        );
    };
    write("1");
    repo.commit_all("before");
    write("2");
    repo.commit_all("after");
    let kind = diff(&repo, &["--kind", "deployment"]);
    assert!(kind.contains("Deployment web") && !kind.contains("Service dns"), "{kind}");
    assert!(kind.contains("Only shown: --kind deployment; 1 other resource"), "{kind}");
    let root = diff(&repo, &["--root", "infra/"]);
    assert!(root.contains("Service dns") && !root.contains("Deployment web"), "{root}");
    let summary = diff(&repo, &["--summary"]);
    assert!(summary.contains("apps/web/   1 changed\n") && summary.contains("infra/dns/  1 changed\n"), "{summary}");
}

#[test]
fn printed_paths_can_be_pasted() {
    let repo = TestRepo::new();
    repo.write("apps/web.yaml", deployment("web", "web:1"));
    repo.commit_all("before");
    repo.write("apps/web.yaml", deployment("web", "web:2"));
    repo.commit_all("after");
    let spellings = [
        ".spec.template.spec.containers[app].image",
        "/spec/template/spec/containers/0/image",
        ".spec.template.spec.containers[name=app].image",
    ];
    assert!(diff(&repo, &[]).contains(spellings[0]));
    for path in spellings {
        let shown = diff(&repo, &["--ignore", path]);
        assert!(shown.contains("Suppressed: 1 change") && !shown.contains("web:2"), "{path}\n{shown}");
        let explained = run(&mut outcrop(&repo, &["explain", "apps/web.yaml", path]));
        assert!(explained.code == 0 && explained.stdout.contains("web:2"), "{path}\n{}", explained.stderr);
        repo.write("outcrop.yaml", format!("ignore:\n  - '{path}'\n"));
        let configured = run(&mut outcrop(&repo, &["diff", "--config", "outcrop.yaml", "HEAD~1", "HEAD"]));
        assert!(
            configured.stdout.contains("Suppressed: 1 change"),
            "{path}\n{}{}",
            configured.stdout,
            configured.stderr
        );
    }
}

#[test]
fn the_comment_of_a_pull_request_has_a_marker_links_and_a_budget() {
    let repo = TestRepo::new();
    let write = |version: &str| {
        for at in 0..3 {
            repo.write(format!("apps/a{at}.yaml"), deployment(&format!("web-{at}"), &format!("web:{version}")));
        }
        repo.write("other.yaml", format!("value: {version}\n"));
    };
    write("1");
    repo.commit_all("before");
    write("2");
    repo.commit_all("after");
    let link = "https://example.com/o/r/blob/abc";
    let shown = diff(&repo, &["--format", "markdown", "--link", link]);
    assert!(shown.starts_with("<!-- outcrop:v1 fp="), "{shown}");
    assert!(shown.contains("[`other.yaml`](https://example.com/o/r/blob/abc/other.yaml)"), "{shown}");
    assert!(shown.contains("\n- .spec.template.spec.containers[app].image  web:1\n+ "), "{shown}");
    assert!(!shown.contains("<details>"), "a short comment is not folded\n{shown}");
    let again = diff(&repo, &["--format", "markdown", "--link", link]);
    assert_eq!(shown, again);
}

#[test]
fn the_same_change_in_files_and_roots_is_one_block() {
    let repo = TestRepo::new();
    for root in ["dev", "prod"] {
        repo.write(format!("roots/{root}/kustomization.yaml"), "resources: [../../base]\n");
    }
    repo.write("base/kustomization.yaml", "resources: [web.yaml]\n");
    for image in ["web:1.0", "web:1.1"] {
        repo.write("base/web.yaml", deployment("web", image));
        repo.write("rendered.yaml", deployment("web", image));
        repo.commit_all(image);
    }
    let shown = diff(&repo, &["--width", "80"]);
    assert_eq!(shown.matches("\n~ ").count(), 1, "{shown}");
    assert!(shown.contains("in 1 file and 2 roots"), "{shown}");
    assert!(shown.contains("because base/web.yaml:10, in 2 of 3 changes"), "{shown}");
    assert!(!shown.contains("SOURCES"), "the block names the only source\n{shown}");
}

#[test]
fn resources_that_differ_in_their_names_are_shown_once() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "x: 1\n");
    repo.commit_all("before");
    for name in ["api", "web"] {
        repo.write(format!("apps/{name}.yaml"), deployment(name, "web:1.0"));
    }
    repo.commit_all("after");
    let shown = diff(&repo, &["--width", "80"]);
    assert_eq!(shown.matches("kind: Deployment").count(), 1, "{shown}");
    assert!(shown.contains("    also web in apps/web.yaml\n"), "{shown}");
    let each = diff(&repo, &["--width", "80", "--no-group"]);
    assert_eq!(each.matches("kind: Deployment").count(), 2, "{each}");
}

#[test]
fn what_another_root_includes_now_is_shown_where_it_is_added() {
    let repo = TestRepo::new();
    repo.write("apps/kustomization.yaml", "resources: [api.yaml]\n");
    repo.write("apps/api.yaml", deployment("api", "api:1.0"));
    repo.write("team/kustomization.yaml", "resources: [web.yaml]\n");
    repo.write("team/web.yaml", deployment("web", "web:1.0"));
    repo.commit_all("before");
    repo.write("apps/kustomization.yaml", "resources: [api.yaml, ../team]\n");
    repo.commit_all("after");
    let shown = diff(&repo, &["--width", "80"]);
    assert_eq!(shown.matches("kind: Deployment").count(), 1, "{shown}");
    assert!(shown.contains("- Deployment web  team\n    added with the same content in apps\n"), "{shown}");
    assert!(shown.contains("1 added  1 removed"), "{shown}");
}

#[test]
fn files_are_named_once_beside_a_resource_with_a_name() {
    let repo = TestRepo::new();
    for value in ["1", "2"] {
        repo.write("map.yaml", format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: web}}\nlevel: {value}\n"));
        repo.write("a/plain.yaml", format!("level: {value}\n"));
        repo.write("b/plain.yaml", format!("level: {value}\n"));
        repo.commit_all(value);
    }
    let shown = diff(&repo, &["--width", "80"]);
    assert!(shown.contains("~ ConfigMap web and 2 files\n    {a, b}/plain.yaml, map.yaml\n"), "{shown}");
}
