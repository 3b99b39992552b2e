//! Kustomize roots as units: what `diff`, `affected`, `explain` and `check` say about what a change does to them.

use crate::program::{self, Ran, run};
use crate::repo::TestRepo;

fn outcrop(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut program::outcrop(repo, arguments))
}

fn json(repo: &TestRepo, arguments: &[&str]) -> serde_json::Value {
    let ran = outcrop(repo, arguments);
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {} {}", ran.stdout, ran.stderr))
}

const BASE: &str = "resources: [web.yaml]\nconfigMapGenerator:\n- name: settings\n  literals: [LEVEL=info]\n";
const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 1\n  template:\n    spec:\n      \
                   containers:\n      - name: web\n        image: example/web:1\n        envFrom:\n        - configMapRef: {name: settings}\n";

/// A base with three overlays.
fn three_overlays() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("base/kustomization.yaml", BASE);
    repo.write("base/web.yaml", WEB);
    for name in ["dev", "stage", "prod"] {
        repo.write(
            format!("overlays/{name}/kustomization.yaml"),
            format!("namespace: {name}\nresources: [../../base]\n"),
        );
    }
    repo.commit_all("first");
    repo
}

#[test]
fn an_edit_of_a_base_is_shown_in_every_root() {
    let repo = three_overlays();
    repo.write("base/web.yaml", WEB.replace("replicas: 1", "replicas: 2"));
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert!(ran.stdout.contains("overlays/{dev, prod, stage}"), "{}", ran.stdout);
    assert!(ran.stdout.contains("base/web.yaml:6"), "{}", ran.stdout);
    let report = json(&repo, &["diff", "--format", "json", "HEAD~1", "HEAD"]);
    let resources = report["resources"].as_array().expect("resources");
    assert_eq!(resources.len(), 3);
    assert!(resources.iter().all(|resource| resource["after"]["unit"]["layout"] == "kustomize"), "{report}");
    let names = outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout;
    assert_eq!(names, "overlays/dev\noverlays/prod\noverlays/stage\n");
}

#[test]
fn files_are_compared_as_written_where_kustomize_is_off() {
    let repo = three_overlays();
    repo.write("base/web.yaml", WEB.replace("replicas: 1", "replicas: 2"));
    repo.commit_all("second");
    let as_written = |report: &serde_json::Value| {
        let resources = report["resources"].as_array().expect("resources");
        resources.len() == 1 && resources[0]["after"]["unit"].is_null()
    };
    assert!(as_written(&json(&repo, &["diff", "--only", "sources", "--format", "json", "HEAD~1", "HEAD"])));
    repo.write("outcrop.yaml", "layouts: {kustomize: off}\n");
    repo.commit_all("switch off");
    repo.write("base/web.yaml", WEB.replace("replicas: 1", "replicas: 3"));
    repo.commit_all("third");
    assert!(as_written(&json(&repo, &["diff", "--format", "json", "HEAD~1", "HEAD"])));
}

#[test]
fn what_only_follows_a_new_suffix_is_a_rollout() {
    let repo = three_overlays();
    repo.write("base/kustomization.yaml", BASE.replace("LEVEL=info", "LEVEL=debug"));
    repo.commit_all("second");
    let report = json(&repo, &["diff", "--format", "json", "HEAD~1", "HEAD"]);
    let ids: Vec<&str> =
        report["resources"].as_array().expect("resources").iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!(ids, ["ConfigMap dev/settings", "ConfigMap prod/settings", "ConfigMap stage/settings"]);
    let rollouts = report["rollouts"].as_array().expect("rollouts");
    assert_eq!(rollouts.len(), 3);
    assert_eq!(rollouts[0]["because"][0], "ConfigMap dev/settings");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert!(ran.stdout.contains("roll out because"), "{}", ran.stdout);
}

#[test]
fn a_root_that_does_not_build_on_one_side_shows_no_false_changes() {
    let repo = three_overlays();
    repo.write("overlays/dev/kustomization.yaml", "namespace: dev\nresources: [../../base, gone.yaml]\n");
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("does not build at HEAD: overlays/dev"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("Deployment"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("no effective change"), "{}", ran.stdout);
    let check = outcrop(&repo, &["check", "HEAD~1", "HEAD"]);
    assert_eq!(check.code, 1, "{}", check.stdout);
    assert!(check.stdout.contains("overlays/dev/kustomization.yaml:2"), "{}", check.stdout);
    let affected = json(&repo, &["affected", "--format", "json", "HEAD~1", "HEAD"]);
    assert_eq!(affected["units"][0]["status"], "incomplete");
}

#[test]
fn a_root_that_became_part_of_another_is_moved() {
    let repo = TestRepo::new();
    repo.write("app/kustomization.yaml", "namespace: shop\nresources: [web.yaml]\n");
    repo.write("app/web.yaml", WEB);
    repo.commit_all("first");
    repo.write("all/kustomization.yaml", "resources: [../app]\n");
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert!(ran.stdout.contains("app => all"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("+ Deployment") && !ran.stdout.contains("- Deployment"), "{}", ran.stdout);
}

#[test]
fn a_refactoring_without_effect_changes_nothing() {
    let repo = three_overlays();
    repo.git(&["mv", "base", "common"]);
    for name in ["dev", "stage", "prod"] {
        repo.write(
            format!("overlays/{name}/kustomization.yaml"),
            format!("namespace: {name}\nresources: [../../common]\n"),
        );
    }
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert!(ran.stdout.contains("no effective change"), "{}", ran.stdout);
    assert_eq!(outcrop(&repo, &["affected", "HEAD~1", "HEAD"]).stdout, "");
    let reached = outcrop(&repo, &["affected", "--reached", "HEAD~1", "HEAD"]).stdout;
    assert_eq!(reached.lines().count(), 3, "{reached}");
}

#[test]
fn an_edit_over_contents_that_are_elsewhere_is_a_change() {
    let repo = TestRepo::new();
    let kustomization = |version: &str, tag: &str| {
        format!(
            "resources: ['https://example.com/x?ref=v1']\nhelmCharts:\n- name: chart\n  version: {version}\n  valuesFile: values.yaml\n\
             images:\n- name: web\n  newTag: {tag}\n"
        )
    };
    repo.write("app/kustomization.yaml", kustomization("1.0.0", "a"));
    repo.write("app/values.yaml", "replicas: 1\n");
    repo.commit_all("first");
    for (file, text, shown) in [
        ("app/kustomization.yaml", kustomization("1.0.0", "b"), "newTag"),
        ("app/kustomization.yaml", kustomization("1.1.0", "b"), "1.1.0"),
        ("app/values.yaml", "replicas: 2\n".to_owned(), ".replicas"),
        ("app/kustomization.yaml", kustomization("1.1.0", "b").replace("ref=v1", "ref=v2"), "v2"),
    ] {
        repo.write(file, text);
        repo.commit_all("edit");
        let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
        assert!(ran.stdout.contains(shown), "{shown}: {}", ran.stdout);
        assert_eq!(outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout, "app\n");
    }
}

#[test]
fn what_is_done_to_contents_that_are_elsewhere_is_compared_with_the_files_it_is_in() {
    let repo = TestRepo::new();
    let patch = |memory: &str| {
        format!("apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: manager}}\nspec: {{memory: {memory}}}\n")
    };
    let kustomization = |name: &str| {
        format!(
            "resources: ['https://example.com/x?ref=v1', web.yaml]\ncomponents: [../common]\npatches:\n- path: {name}\n- path: web-patch.yaml\n\
             - path: ops.yaml\n  target: {{kind: Deployment}}\n- path: web-ops.yaml\n  target: {{kind: Deployment, name: web}}\n"
        )
    };
    repo.write("app/base/kustomization.yaml", kustomization("manager.yaml"));
    repo.write("app/kustomization.yaml", "resources: [base]\n");
    repo.write("app/common/kustomization.yaml", "kind: Component\npatchesStrategicMerge: [secret.yaml]\n");
    repo.write(
        "app/common/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: geheim1}\n",
    );
    repo.write("app/base/manager.yaml", patch("1Gi"));
    repo.write("app/base/web.yaml", WEB);
    repo.write("app/base/web-patch.yaml", WEB.replace("replicas: 1", "replicas: 2"));
    repo.write("app/base/ops.yaml", "[{op: add, path: /spec/paused, value: true}]\n");
    repo.write("app/base/web-ops.yaml", "[{op: add, path: /spec/x, value: true}]\n");
    repo.commit_all("first");
    for (file, text, shown) in [
        ("app/base/manager.yaml", patch("2Gi"), "spec.memory"),
        (
            "app/base/ops.yaml",
            "[{op: add, path: /spec/paused, value: false}]\n".to_owned(),
            "[path=/spec/paused].value",
        ),
        (
            "app/common/secret.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: key}\nstringData: {password: geheim2}\n".to_owned(),
            "(sensitive, changed)",
        ),
    ] {
        repo.write(file, text);
        repo.commit_all("edit");
        outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("RemoteBase").says(shown).says(file).does_not_say("geheim");
    }
    // A patch for a resource of the repository is no news about others.
    repo.write("app/base/web-patch.yaml", WEB.replace("replicas: 1", "replicas: 3"));
    repo.write("app/base/web-ops.yaml", "[{op: add, path: /spec/x, value: false}]\n");
    repo.commit_all("edit");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("Deployment web").does_not_say("RemoteBase");
    // A file that is called something else, with the same content, is no change.
    repo.git(&["mv", "app/base", "app/main"]);
    repo.git(&["mv", "app/main/manager.yaml", "app/main/resources.yaml"]);
    repo.write("app/kustomization.yaml", "resources: [main]\n");
    repo.write("app/main/kustomization.yaml", kustomization("resources.yaml"));
    repo.commit_all("rename");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("no effective change");
}

#[test]
fn a_suffix_that_a_name_has_on_one_side_only_is_a_change() {
    let repo = three_overlays();
    repo.write("base/kustomization.yaml", format!("{BASE}generatorOptions: {{disableNameSuffixHash: true}}\n"));
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "--exit-code", "HEAD~1", "HEAD"]).ends_with(1);
    ran.says("~ .metadata.name  settings-").says("→ settings\n").says("3 × Deployment");
}

#[test]
fn a_base_that_an_application_set_names_after_a_patch_is_a_root() {
    let repo = TestRepo::new();
    repo.write(
        "argo/base/set.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: web}\nspec:\n  generators:\n  - clusters:\n      \
         values: {root: apps/web, env: staging}\n  template: {spec: {source: {path: '{{values.root}}/{{values.env}}'}}}\n",
    );
    repo.write("argo/base/kustomization.yaml", "resources: [set.yaml]\n");
    repo.write(
        "argo/dev/kustomization.yaml",
        "resources: [../base]\npatches:\n- path: patch.yaml\n  target: {kind: ApplicationSet}\n",
    );
    let operation = "[{op: replace, path: /spec/generators/0/clusters/values/env, value: dev}]\n";
    repo.write("argo/dev/patch.yaml", operation);
    repo.write("apps/web/dev/kustomization.yaml", "resources: [web.yaml]\n");
    repo.write("apps/web/dev/web.yaml", WEB);
    repo.write(
        "apps/web/staging/kustomization.yaml",
        "resources: [../dev]\nimages:\n- {name: example/web, newTag: '0'}\n",
    );
    repo.commit_all("first");
    repo.write("apps/web/dev/web.yaml", WEB.replace("example/web:1", "example/web:2"));
    repo.commit_all("second");
    let names = || outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout;
    assert_eq!(names(), "apps/web/dev\n");
    repo.remove("argo/dev/patch.yaml");
    repo.write(
        "argo/dev/kustomization.yaml",
        format!("resources: [../base]\npatches:\n- target: {{kind: ApplicationSet}}\n  patch: |-\n    {operation}"),
    );
    repo.commit_all("third");
    repo.write("apps/web/dev/web.yaml", WEB.replace("example/web:1", "example/web:3"));
    repo.commit_all("fourth");
    assert_eq!(names(), "apps/web/dev\n");
}

#[test]
fn a_kustomization_among_templates_is_compared_as_a_file() {
    let repo = TestRepo::new();
    repo.write("hack/templates/web/kustomization.yaml", "namespace: one\nresources: [../base]\n");
    repo.commit_all("first");
    repo.write("hack/templates/web/kustomization.yaml", "namespace: two\nresources: [../base]\n");
    repo.commit_all("second");
    outcrop(&repo, &["diff", "--exit-code", "HEAD~1", "HEAD"]).ends_with(1).says("namespace").says("one → two");
    outcrop(&repo, &["check", "HEAD~1", "HEAD"]).ends_with(0);
}

#[test]
fn the_matrix_has_a_job_for_each_root_that_is_left() {
    let repo = three_overlays();
    repo.write("base/web.yaml", WEB.replace("replicas: 1", "replicas: 2"));
    repo.remove("overlays/dev/kustomization.yaml");
    repo.commit_all("second");
    let matrix = json(&repo, &["affected", "--format", "matrix", "HEAD~1", "HEAD"]);
    let jobs: Vec<(&str, &str)> = matrix["include"]
        .as_array()
        .expect("jobs")
        .iter()
        .filter_map(|job| Some((job["root"].as_str()?, job["environment"].as_str()?)))
        .collect();
    assert_eq!(jobs, [("overlays/prod", "prod"), ("overlays/stage", "stage")]);
}

#[test]
fn values_of_a_root_are_explained() {
    let repo = three_overlays();
    repo.write(
        "overlays/dev/kustomization.yaml",
        "namespace: dev\nresources: [../../base]\nimages:\n- name: example/web\n  newTag: \"7\"\n",
    );
    repo.commit_all("second");
    let ran = outcrop(&repo, &["explain", "overlays/dev", "Deployment web", "/spec/template/spec/containers/0/image"]);
    assert!(
        ran.stdout.contains("example/web:7") && ran.stdout.contains("overlays/dev/kustomization.yaml:5"),
        "{} {}",
        ran.stdout,
        ran.stderr
    );
    let unknown = outcrop(&repo, &["explain", "overlays/dev", "Deployment gone"]);
    assert!(unknown.stderr.contains("overlays/dev renders no Deployment gone"), "{}", unknown.stderr);
    let rendered = outcrop(&repo, &["render", "overlays/dev"]).stdout;
    assert_eq!(rendered, outcrop(&repo, &["render", "--root", "overlays/dev"]).stdout);
}

#[test]
fn a_generator_may_replace_what_a_remote_base_has() {
    let repo = TestRepo::new();
    let root = |from: &str| {
        format!(
            "resources: [{from}]\nconfigMapGenerator:\n- name: settings\n  behavior: replace\n  literals: [LEVEL=info]\n"
        )
    };
    repo.write("root/kustomization.yaml", root("https://example.com/base?ref=1"));
    repo.commit_all("first");
    repo.write("root/kustomization.yaml", root("https://example.com/base?ref=1").replace("info", "debug"));
    repo.commit_all("second");
    outcrop(&repo, &["check", "HEAD~1", "HEAD"]).ends_with(0).does_not_say("kustomize/build");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("LEVEL").says("debug");
    repo.write("root/kustomization.yaml", root("web.yaml"));
    repo.write("root/web.yaml", WEB);
    repo.commit_all("third");
    outcrop(&repo, &["check", "HEAD~1", "HEAD"]).ends_with(1).says("to merge with or replace");
}

#[test]
fn a_template_that_cannot_be_built_yet_is_a_note() {
    let repo = TestRepo::new();
    repo.write("templates/cluster/kustomization.yaml", "resources: [../base, map.yaml]\n");
    repo.write("templates/cluster/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n");
    repo.commit_all("first");
    repo.write("templates/cluster/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '2'}\n");
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("1 → 2") || ran.stdout.contains("\"1\" → \"2\""), "{ran:?}");
    assert_eq!(outcrop(&repo, &["check", "HEAD~1", "HEAD"]).code, 0);
}
