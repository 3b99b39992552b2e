//! Patch layers in real repositories: what an edited layer changes, and secrets that patches carry around.

use crate::repo::TestRepo;

fn outcrop(repo: &TestRepo, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = repo.command(env!("CARGO_BIN_EXE_outcrop")).args(arguments).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// What changes, by its name.
fn names(repo: &TestRepo, arguments: &[&str]) -> Vec<String> {
    let (out, _, code) = outcrop(repo, &[&["diff", "--no-group"], arguments].concat());
    assert_eq!(code, Some(0), "{out}");
    let heading = |line: &str| line.strip_prefix("~ ").and_then(|line| line.split("  ").next()).map(str::to_owned);
    out.lines().filter_map(heading).collect()
}

fn layer(condition: &str) -> String {
    format!("- target: {{where: \"${{{condition}}}\"}}\n  operations: [{{op: add, path: /support, value: phone}}]\n")
}

/// Ten shops with 0 to 9 seats, and Kubernetes documents with as many replicas.
fn shops(condition: &str) -> TestRepo {
    let repo = TestRepo::new();
    for seats in 0..10 {
        repo.write(format!("shops/s{seats}/resource.yaml"), format!("seats: {seats}\n"));
    }
    let document = |seats: i32| format!("apiVersion: v1\nkind: Seat\nmetadata: {{name: k{seats}}}\nseats: {seats}\n");
    repo.write("shops/all.yaml", (0..10).map(document).collect::<Vec<_>>().join("---\n"));
    repo.write("shops/_/patches.yaml", layer(condition));
    repo.commit_all("first");
    repo
}

#[test]
fn a_changed_where_shows_on_exactly_those_who_start_or_stop_matching() {
    let repo = shops("resource.seats > 6");
    repo.write("shops/_/patches.yaml", layer("resource.seats > 4 && resource.seats < 9"));
    repo.git(&["add", "--all"]);
    let expected = ["/shops/s5", "/shops/s6", "/shops/s9", "Seat k5", "Seat k6", "Seat k9", "shops/_/patches.yaml"];
    let mut found = names(&repo, &["--staged"]);
    found.sort();
    assert_eq!(found, expected, "the index");
    let (shown, _, _) =
        outcrop(&repo, &["diff", "--no-group", "--staged", "--", "/shops/s5", "/shops/s9", "/shops/s8"]);
    assert!(shown.contains("~ /shops/s5") && shown.contains("+ .support  phone"), "{shown}");
    assert!(shown.contains("~ /shops/s9") && shown.contains("- .support  phone"), "{shown}");
    assert!(!shown.contains("/shops/s8"), "{shown}");
    repo.commit("second");
    let mut found = names(&repo, &["HEAD~1", "HEAD"]);
    found.sort();
    assert_eq!(found, expected, "commits");
    repo.write("shops/_/patches.yaml", layer("resource.seats > 6"));
    let mut found = names(&repo, &[]);
    found.sort();
    assert_eq!(found, expected, "the working tree, and the way back");
    assert!(names(&repo, &["HEAD~1"]).is_empty(), "and it is as it was");
}

/// A resource whose secret a patch copies to every place it can reach, and a Kubernetes Secret that is treated the same.
fn leaking(secret: &str) -> TestRepo {
    let repo = TestRepo::new();
    write_leaking(&repo, secret);
    repo.commit_all("first");
    repo
}

fn write_leaking(repo: &TestRepo, secret: &str) {
    repo.write("apps/_/metadata.yaml", "resourceInfo: {secretInAttributes: [password, spec.inner.pin]}\n");
    repo.write(
        "apps/web/resource.yaml",
        format!(
            "spec: {{password: {secret}-one, inner: {{pin: {secret}-two}}, labels: {{}}}}\n\
             gone: {{password: {secret}-three}}\nown: {{eval: {{concat: [a, {{eval: spec::password}}]}}}}\n"
        ),
    );
    repo.write(
        "apps/_/patches.yaml",
        format!(
            "parameters: {{password: {secret}-four}}\npatches:\n- target: {{where: \"${{has(resource.spec)}}\"}}\n  operations:\n  \
             - {{op: add, path: /url, value: \"x://u:${{resource.spec.password}}@h\"}}\n  \
             - {{op: add, path: /copy, value: \"${{resource.spec.inner}}\"}}\n  \
             - {{op: add, path: \"/spec/labels/${{resource.spec.password}}\", value: \"1\"}}\n  \
             - {{op: add, path: /old, value: \"${{resource.gone.password}}\"}}\n  \
             - {{op: remove, path: /gone}}\n  \
             - {{op: add, path: /spec/other, value: {{password: \"${{parameters.password}}\"}}}}\n  \
             - {{op: add, path: /again, value: [\"${{parameters.password}}\"]}}\n  \
             - {{op: add, path: /spec/literal/password, value: {secret}-five}}\n"
        ),
    );
    repo.write(
        "deploy/secret.yaml",
        format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: s, labels: {{}}}}\nstringData: {{key: {secret}-six}}\n"
        ),
    );
    repo.write(
        "deploy/_/patches.yaml",
        format!(
            "- target: {{kind: Secret}}\n  operations:\n  \
             - {{op: add, path: /metadata/labels/x, value: \"${{resource.stringData.key}}\"}}\n  \
             - {{op: add, path: /stringData/more, value: {secret}-seven}}\n"
        ),
    );
}

#[test]
fn copies_of_secrets_are_shown_in_no_format() {
    let repo = leaking("canary-before");
    write_leaking(&repo, "canary-after");
    repo.write(
        "apps/web2/resource.yaml",
        "spec: {password: canary-third, inner: {}, labels: {}}\ngone: {password: p}\n",
    );
    let ways: &[&[&str]] = &[
        &["diff"],
        &["diff", "-v"],
        &["diff", "--format", "side-by-side"],
        &["diff", "--format", "unified"],
        &["diff", "--format", "json"],
        &["diff", "--format", "json-patch"],
        &["diff", "--format", "markdown"],
        &["diff", "--stat"],
        &["check", "--all"],
        &["check", "--all", "--format", "json"],
        &["check", "--all", "--format", "github"],
        &["explain", "/apps/web"],
        &["explain", "/apps/web", "-v"],
        &["explain", "/apps/web", "/url"],
        &["explain", "/apps/web", "-o", "json"],
        &["explain", "Secret s", "-o", "yaml"],
        &["render"],
        &["render", "--steps"],
        &["render", "--format", "json", "--steps"],
        &["patch", "apps/_/patches.yaml", "apps/web/resource.yaml"],
        &["patch", "apps/_/patches.yaml", "apps/web/resource.yaml", "--diff"],
        &["patch", "deploy/_/patches.yaml", "deploy/secret.yaml", "--format", "json"],
        &["doctor"],
    ];
    for way in ways {
        let (out, err, code) = outcrop(&repo, way);
        assert!(code.is_some(), "{way:?} crashed");
        for text in [&out, &err] {
            assert!(!text.contains("canary"), "{way:?} shows a secret:\n{text}");
        }
    }
    let (out, err, _) = outcrop(&repo, &["render", "/apps/web"]);
    assert!(out.contains("url: •••") && out.contains("•••: \"1\"") && out.contains("old: •••"), "{out}");
    assert!(out.contains("own: •••") && out.contains("again:\n- •••") && err.contains("--reveal"), "{out}{err}");
}

#[test]
fn a_failing_patch_does_not_quote_secrets() {
    let repo = TestRepo::new();
    repo.write("apps/_/metadata.yaml", "resourceInfo: {secretInAttributes: [password]}\n");
    repo.write("apps/web/resource.yaml", "password: canary-one\n");
    let path = "/labels/${resource.password}";
    repo.write("apps/_/patches.yaml", format!("- operations: [{{op: replace, path: \"{path}\", value: 1}}]\n"));
    repo.commit_all("first");
    for way in
        [&["render"][..], &["check", "--all"], &["explain", "/apps/web"], &["check", "--all", "--format", "json"]]
    {
        let (out, err, code) = outcrop(&repo, way);
        assert_ne!(code, Some(0), "{way:?}");
        assert!(format!("{out}{err}").contains("•••"), "{way:?}: {out}{err}");
        assert!(!format!("{out}{err}").contains("canary"), "{way:?}: {out}{err}");
    }
}
