//! `outcrop compare`: two parts of one revision, compared as if they were one path in two revisions.

use serde_json::Value;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

const DEPLOYMENT: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  template:\n    spec:\n      containers:\n        - name: app\n          image: quay.io/shop/web:1.0\n";
const SERVICE: &str = "apiVersion: v1\nkind: Service\nmetadata:\n  name: web\nspec:\n  ports:\n    - port: 80\n";

type Tree = Vec<(&'static str, String)>;

/// Two environments with every kind of difference: values, an added, a removed and a renamed resource, plain files, text files.
fn environments() -> [Tree; 2] {
    let first = vec![
        ("web.yaml", format!("{DEPLOYMENT}---\n{SERVICE}")),
        ("settings/a.yaml", "level: info\nlist: [{name: x, v: 1}, {name: y, v: 2}]\n".to_owned()),
        ("gone.yaml", SERVICE.replace("name: web", "name: gone")),
        ("same.yaml", SERVICE.replace("name: web", "name: same")),
        ("templates/t.yaml", "a: {{ .Values.a }}\n".to_owned()),
        ("readme.txt", "one\n".to_owned()),
    ];
    let second = vec![
        ("web.yaml", format!("{}---\n{SERVICE}", DEPLOYMENT.replace("replicas: 1", "replicas: 3"))),
        ("settings/a.yaml", "level: debug\nlist: [{name: y, v: 2}, {name: x, v: 7}]\n".to_owned()),
        ("new.yaml", SERVICE.replace("name: web", "name: brand-new").replace("80", "8443\n      protocol: UDP")),
        ("same.yaml", SERVICE.replace("name: web", "name: same")),
        ("templates/t.yaml", "a: {{ .Values.b }}\n".to_owned()),
        ("readme.txt", "two\n".to_owned()),
    ];
    [first, second]
}

fn write(repo: &TestRepo, below: &str, tree: &Tree) {
    tree.iter().for_each(|(path, text)| repo.write(format!("{below}{path}"), text.as_str()));
}

/// The JSON report, without what names the sides.
fn json(repo: &TestRepo, arguments: &[&str]) -> Value {
    let ran = run(&mut outcrop(repo, &[arguments, &["--format", "json"]].concat()));
    let mut report: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.stderr));
    for name in ["before", "after", "units"] {
        report.as_object_mut().unwrap().remove(name);
    }
    report
}

/// A report without the places of files below a directory.
fn without(report: Value, prefixes: &[&str]) -> Value {
    let mut text = report.to_string();
    prefixes.iter().for_each(|prefix| text = text.replace(prefix, ""));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn two_directories_differ_as_two_commits_of_one_path_do() {
    let [first, second] = environments();
    let history = TestRepo::new();
    write(&history, "", &first);
    history.commit_all("first");
    history.clear();
    write(&history, "", &second);
    history.commit_all("second");
    let beside = TestRepo::new();
    write(&beside, "env/first/", &first);
    write(&beside, "env/second/", &second);
    beside.commit_all("both");
    let compared = json(&beside, &["compare", "env/first", "env/second", "--at", "HEAD"]);
    let compared = without(compared, &["env/first/", "env/second/"]);
    let mut diffed = json(&history, &["diff", "HEAD~1", "HEAD"]);
    // The only words that differ: what kind of template it is follows from the place of its chart.
    for (mine, theirs) in
        ["compared_as_text", "skipped", "summary", "resources", "groups", "suppressed", "bumps"].map(|it| (it, it))
    {
        if mine == "compared_as_text" {
            let kinds = |report: &Value| {
                report[mine]
                    .as_array()
                    .map(|all| all.iter().map(|it| (it["path"].clone(), it["diff"].clone())).collect::<Vec<_>>())
            };
            assert_eq!(kinds(&compared), kinds(&diffed));
            continue;
        }
        assert_eq!(compared[mine], diffed[theirs].take(), "{mine}");
    }
    assert_eq!(compared["compared"]["files"], diffed["compared"]["files"]);
    assert_eq!(compared["compared"]["resources"], diffed["compared"]["resources"]);
}

#[test]
fn roots_are_built_in_their_own_places() {
    let repo = TestRepo::new();
    repo.write("base/web.yaml", DEPLOYMENT);
    repo.write("base/kustomization.yaml", "resources: [web.yaml]\n");
    repo.write("rings/1/kustomization.yaml", "resources: [../../base]\nnamespace: shop\n");
    repo.write(
        "far/away/2/kustomization.yaml",
        "resources: [../../../base]\nnamespace: shop\nreplicas: [{name: web, count: 5}]\n",
    );
    repo.commit_all("rings");
    let ran =
        run(&mut outcrop(&repo, &["compare", "rings/1", "far/away/2", "--at", "HEAD", "--exit-code"])).ends_with(1);
    assert!(
        ran.stdout.starts_with("HEAD:rings/1 → HEAD:far/away/2   1 resource in 1 changed file\n1 changed\n"),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout.contains("~ Deployment shop/web\n") && ran.stdout.contains(".spec.replicas  1 → 5"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("far/away/2/kustomization.yaml:3 (replicas)"), "{}", ran.stdout);
    run(&mut outcrop(&repo, &["compare", "rings/1", "rings/1", "--exit-code"])).ends_with(0);
    // Directories of roots: the roots in them pair by name.
    repo.write(
        "other/1/kustomization.yaml",
        "resources: [../../base]\nnamespace: shop\nreplicas: [{name: web, count: 2}]\n",
    );
    let untracked = run(&mut outcrop(&repo, &["compare", "rings", "other"])).ends_with(2);
    assert!(untracked.stderr.contains("git add"), "{}", untracked.stderr);
    repo.git(&["add", "other"]);
    let ran = run(&mut outcrop(&repo, &["compare", "rings", "other", "--exit-code"]));
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("~ Deployment shop/web  1\n"), "{}", ran.stdout);
}

#[test]
fn files_and_resources_are_compared_whatever_they_are_called() {
    let repo = TestRepo::new();
    repo.write("a.yaml", DEPLOYMENT);
    repo.write("b.yaml", DEPLOYMENT.replace("name: web", "name: worker").replace("1.0", "1.1"));
    repo.write("x.yaml", "level: info\n");
    repo.write("y.yaml", "level: debug\n");
    repo.commit_all("files");
    let shown = |first: &str, second: &str| run(&mut outcrop(&repo, &["compare", first, second])).ends_with(0).stdout;
    let files = shown("x.yaml", "y.yaml");
    assert!(files.contains("~ y.yaml\n  ~ .level  info → debug\n"), "{files}");
    let resources = shown("Deployment web", "Deployment worker");
    assert!(resources.contains("1 changed\n") && resources.contains(".metadata.name  web → worker"), "{resources}");
    for (first, second) in [("a.yaml", "."), ("a.yaml", "Deployment web"), ("a.yaml", "missing.yaml")] {
        run(&mut outcrop(&repo, &["compare", first, second])).ends_with(2);
    }
}

#[test]
fn expected_differences_are_counted_and_missed() {
    let repo = TestRepo::new();
    let [first, second] = environments();
    write(&repo, "first/", &first[..4].to_vec());
    write(&repo, "second/", &second[..4].to_vec());
    repo.git(&["add", "."]);
    let expect = "- resource: Deployment web\n  path: .spec.replicas\n  before: 1\n  after: 3\n  reason: more load\n\
        - resource: Service gone\n  only: first\n- resource: Service brand-new\n  only: second\n- path: /level\n- path: /list\n";
    repo.write("expected.yaml", expect);
    let arguments = ["compare", "first", "second", "--expect", "expected.yaml", "--exit-code"];
    let ran = run(&mut outcrop(&repo, &arguments)).ends_with(0);
    assert!(
        ran.stdout.contains("1 by --expect: more load\n") && ran.stdout.contains("Suppressed: 6 changes"),
        "{}",
        ran.stdout
    );
    repo.write("expected.yaml", expect.replace("after: 3", "after: 4"));
    let ran = run(&mut outcrop(&repo, &arguments)).ends_with(1);
    assert!(ran.stdout.contains("compare/expected") && ran.stdout.contains(".spec.replicas  1 → 3"), "{}", ran.stdout);
    repo.write("expected.yaml", format!("{expect}- path: /nothing\n  reason: was here\n"));
    let ran = run(&mut outcrop(&repo, &arguments)).ends_with(1);
    assert!(ran.stdout.contains("this difference does not occur: was here"), "{}", ran.stdout);
    repo.write("expected.yaml", "- pat: /a\n");
    run(&mut outcrop(&repo, &arguments)).ends_with(2);
}

#[test]
fn a_clone_without_a_checkout_says_how_to_read_the_last_commit() {
    let repo = TestRepo::new();
    let [first, second] = environments();
    write(&repo, "staging/", &first);
    write(&repo, "production/", &second);
    repo.commit_all("both");
    repo.git(&["rm", "-r", "--quiet", "--cached", "."]);
    std::fs::remove_dir_all(repo.root().join("staging")).expect("it is there");
    std::fs::remove_dir_all(repo.root().join("production")).expect("it is there");
    for arguments in
        [&["compare", "staging", "production"][..], &["explain", "staging/web.yaml"], &["render", "staging"]]
    {
        run(&mut outcrop(&repo, arguments)).ends_with(2).says("nothing is checked out here: `--at HEAD`");
        run(&mut outcrop(&repo, &[arguments, &["--at", "HEAD"]].concat())).ends_with(0);
    }
}
