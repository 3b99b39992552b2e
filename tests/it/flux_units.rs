//! Flux Kustomizations as units: what the controller would apply, with what the object adds and the variables of the repository.

use crate::program::{self, Ran, run};
use crate::repo::TestRepo;

fn outcrop(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut program::outcrop(repo, arguments))
}

const OBJECT: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec:\n  \
                      path: ./apps/web\n  prune: true\n  targetNamespace: shop\n  sourceRef: {kind: GitRepository, name: flux-system}\n  \
                      postBuild:\n    substituteFrom: [{kind: ConfigMap, name: settings}]\n";
const SETTINGS: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: flux-system}\ndata:\n  HOST: a.example.com\n";
const WEB: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\ndata:\n  url: https://${HOST}/\n";
const UNIT: &str = "clusters/prod/web.yaml#flux-system/web";

fn cluster() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("clusters/prod/web.yaml", OBJECT);
    repo.write("clusters/prod/settings.yaml", SETTINGS);
    repo.write("apps/web/web.yaml", WEB);
    repo.commit_all("first");
    repo
}

#[test]
fn an_edited_variable_changes_what_reads_it() {
    let repo = cluster();
    repo.write("clusters/prod/settings.yaml", SETTINGS.replace("a.example.com", "b.example.com"));
    repo.commit_all("second");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    assert!(ran.stdout.contains("https://b.example.com/"), "{}", ran.stdout);
    assert!(ran.stdout.contains("clusters/prod/settings.yaml:5"), "{}", ran.stdout);
    let names = outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout;
    assert_eq!(names, format!("{UNIT}\n"));
}

#[test]
fn variables_may_stand_among_other_documents() {
    let repo = cluster();
    let among = |settings: &str| {
        format!(
            "kind: Namespace\napiVersion: v1\nmetadata: {{name: flux-system}}\n---\n# nothing\n---\n{settings}---\na: 1\n"
        )
    };
    repo.write("clusters/prod/settings.yaml", among(SETTINGS));
    repo.commit_all("among others");
    repo.write("clusters/prod/settings.yaml", among(&SETTINGS.replace("a.example.com", "b.example.com")));
    repo.commit_all("another host");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("https://b.example.com/");
    assert!(ran.stdout.contains("clusters/prod/settings.yaml:11"), "{}", ran.stdout);
    assert_eq!(outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout, format!("{UNIT}\n"));
}

#[test]
fn a_new_file_below_the_path_is_a_new_object_in_the_target_namespace() {
    let repo = cluster();
    repo.write("apps/web/more/api.yaml", WEB.replace("name: web", "name: api"));
    repo.commit_all("second");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("shop/api");
    assert_eq!(outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout, format!("{UNIT}\n"));
}

#[test]
fn a_stray_file_stops_the_object_and_says_where() {
    let repo = cluster();
    repo.write("apps/web/values.yaml", "replicas: 3\n");
    repo.commit_all("second");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).ends_with(2).says("apps/web/values.yaml").says("does not build");
}

#[test]
fn a_directory_that_flux_applies_is_not_shown_twice() {
    let repo = cluster();
    repo.write("apps/web/kustomization.yaml", "resources: [web.yaml]\n");
    repo.commit_all("second");
    repo.write("apps/web/web.yaml", WEB.replace("https", "http"));
    repo.commit_all("third");
    assert_eq!(outcrop(&repo, &["affected", "--name-only", "HEAD~1", "HEAD"]).stdout, format!("{UNIT}\n"));
}

#[test]
fn what_source_ignore_leaves_out_is_not_read() {
    let repo = cluster();
    repo.write(".sourceignore", "apps/**/values.yaml\n");
    repo.commit_all("second");
    repo.write("apps/web/values.yaml", "replicas: 3\n");
    repo.commit_all("third");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).ends_with(0);
}

#[test]
fn what_is_no_longer_there_stays_in_the_cluster_without_prune() {
    let repo = cluster();
    repo.write("apps/web/api.yaml", WEB.replace("name: web", "name: api"));
    repo.write("clusters/prod/web.yaml", OBJECT.replace("prune: true", "prune: false"));
    repo.commit_all("second");
    repo.remove("apps/web/api.yaml");
    repo.commit_all("third");
    outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).says("1 note");
    outcrop(&repo, &["check", "HEAD~1", "HEAD"]).says("ConfigMap shop/api stays in the cluster");
}

#[test]
fn a_helm_release_follows_the_values_that_it_reads() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: api}\nspec:\n  chart: {spec: {chart: api, version: 1.0.0}}\n  \
                   valuesFrom: [{kind: ConfigMap, name: web}]\n";
    let repo = cluster();
    repo.write("apps/web/release.yaml", release);
    repo.commit_all("second");
    repo.write("apps/web/web.yaml", WEB.replace("https", "http"));
    repo.commit_all("third");
    let ran = outcrop(&repo, &["diff", "HEAD~1", "HEAD"]);
    ran.says("HelmRelease.helm.toolkit.fluxcd.io shop/api").says("because ConfigMap shop/web changed");
    outcrop(&repo, &["check", "--all"])
        .says("the chart of HelmRelease.helm.toolkit.fluxcd.io shop/api is not rendered");
}
