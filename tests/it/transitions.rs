//! What a change does to objects in a cluster: judged on what is rendered, reported once, at the edit.

use crate::program::{self, Ran, run};
use crate::repo::TestRepo;

fn check(repo: &TestRepo) -> Ran {
    run(&mut program::outcrop(repo, &["check", "HEAD~1", "HEAD"]))
}

/// A repository with these files, and a second commit with others in their place; an empty text removes a file.
fn change(before: &[(&str, &str)], after: &[(&str, &str)]) -> TestRepo {
    let repo = TestRepo::new();
    before.iter().for_each(|(path, text)| repo.write(path, text));
    repo.commit_all("before");
    for (path, text) in after {
        if text.is_empty() { repo.remove(path) } else { repo.write(path, text) }
    }
    repo.commit_all("after");
    repo
}

const WEB: &str = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector:\n    matchLabels: {app: web}\n  template:\n    \
                   metadata:\n      labels: {app: web}\n    spec:\n      containers:\n      - name: web\n        image: web:1\n";
const BASE: &str = "resources: [web.yaml]\nlabels:\n- includeSelectors: true\n  pairs:\n    team: a\n";
const CLAIM: &str = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop}\nspec:\n  accessModes: [ReadWriteOnce]\n  \
                     resources: {requests: {storage: 10Gi}}\n";

fn root(namespace: &str) -> String {
    format!("namespace: {namespace}\nresources: [../base]\n")
}

#[test]
fn one_edit_of_a_base_is_one_finding_at_the_edit_for_all_roots() {
    let (dev, prod) = (root("dev"), root("prod"));
    let before = [
        ("base/web.yaml", WEB),
        ("base/kustomization.yaml", BASE),
        ("dev/kustomization.yaml", &dev),
        ("prod/kustomization.yaml", &prod),
    ];
    let edited = BASE.replace("team: a", "team: b");
    let repo = change(&before, &[("base/kustomization.yaml", &edited)]);
    let ran = check(&repo).ends_with(1);
    assert_eq!(ran.stdout.matches("kubernetes/immutable").count(), 1, "{}", ran.stdout);
    ran.says("base/kustomization.yaml:5").says("Deployment dev/web (and 1 more)").says("in 2 roots: dev, prod");
}

#[test]
fn a_new_root_of_a_known_base_brings_nothing_new() {
    let binding = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\nroleRef: {kind: ClusterRole, name: \
                   cluster-admin}\nsubjects: [{kind: User, name: b}]\n";
    let dev = root("dev");
    let before = [
        ("base/a.yaml", binding),
        ("base/kustomization.yaml", "resources: [a.yaml]\n"),
        ("dev/kustomization.yaml", dev.as_str()),
    ];
    check(&change(&before, &[("prod/kustomization.yaml", &dev)])).ends_with(0).does_not_say("kubernetes/");
    let edited = binding.replace("[{kind", "[{kind: User, name: c}, {kind");
    check(&change(&before, &[("base/a.yaml", &edited)])).ends_with(0).says("kubernetes/cluster-admin").says("User c");
}

#[test]
fn a_version_is_no_problem() {
    let repo = change(&[("web.yaml", WEB)], &[("web.yaml", &WEB.replace("web:1", "web:2"))]);
    check(&repo).ends_with(0).does_not_say("kubernetes/");
}

#[test]
fn a_patch_that_sets_a_field_is_the_place() {
    let root = "resources: [web.yaml]\npatches: [{path: patch.yaml}]\n";
    let patch = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n";
    let before = [("web.yaml", WEB), ("kustomization.yaml", root), ("patch.yaml", patch)];
    let repo = change(&before, &[("patch.yaml", &patch.replace("replicas: 2", "replicas: 0"))]);
    check(&repo).ends_with(0).says("kubernetes/scaled-to-zero").says("patch.yaml:5");
}

#[test]
fn a_patch_is_no_object_that_is_removed() {
    let root = "resources: [data.yaml]\npatches: [{path: patch.yaml}]\n";
    let patch =
        "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: data, namespace: shop, labels: {a: b}}\n";
    let before = [("data.yaml", CLAIM), ("kustomization.yaml", root), ("patch.yaml", patch)];
    let repo = change(&before, &[("patch.yaml", ""), ("kustomization.yaml", "resources: [data.yaml]\n")]);
    check(&repo).ends_with(0).does_not_say("kubernetes/removed");
}

#[test]
fn what_a_root_no_longer_lists_is_removed_by_the_kustomization() {
    let before =
        [("data.yaml", CLAIM), ("web.yaml", WEB), ("kustomization.yaml", "resources: [data.yaml, web.yaml]\n")];
    let repo = change(&before, &[("kustomization.yaml", "resources: [web.yaml]\n")]);
    check(&repo).ends_with(0).says("PersistentVolumeClaim shop/data is removed").says("--> HEAD:kustomization.yaml");
}

#[test]
fn what_an_object_of_flux_applied_is_removed_with_it() {
    let object = |name: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\nspec:\n  path: \
             ./{name}\n  prune: true\n  targetNamespace: {name}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
        )
    };
    let (a, b) = (object("a"), object("b"));
    let root = "resources: [../shared]\n";
    let before = [
        ("flux/a.yaml", a.as_str()),
        ("flux/b.yaml", &b),
        ("a/kustomization.yaml", root),
        ("b/kustomization.yaml", root),
        ("shared/data.yaml", CLAIM),
        ("shared/kustomization.yaml", "resources: [data.yaml]\n"),
    ];
    let repo = change(&before, &[("flux/b.yaml", ""), ("b/kustomization.yaml", "")]);
    check(&repo).ends_with(0).says("PersistentVolumeClaim b/data is removed").says("HEAD~1:flux/b.yaml");
}

#[test]
fn what_other_roots_still_have_is_a_note_where_a_root_goes() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    let base = [("base/n.yaml", namespace), ("base/kustomization.yaml", "resources: [n.yaml]\n")];
    let roots =
        [("dev/kustomization.yaml", "resources: [../base]\n"), ("prod/kustomization.yaml", "resources: [../base]\n")];
    let before: Vec<_> = base.into_iter().chain(roots).collect();
    let edited = namespace.replace("shop}", "shop, labels: {a: b}}");
    let repo = change(&before, &[("dev/kustomization.yaml", ""), ("base/n.yaml", &edited)]);
    check(&repo).ends_with(0).says("note[kubernetes/removed]").says("other roots have it");
    let repo = change(&before, &[("dev/kustomization.yaml", "resources: []\n")]);
    check(&repo).ends_with(0).says("warning[kubernetes/removed]").says("everything in it");
}

#[test]
fn what_moves_to_another_file_is_not_removed() {
    let repo = change(&[("a/data.yaml", CLAIM)], &[("a/data.yaml", ""), ("b/claim.yaml", CLAIM)]);
    check(&repo).ends_with(0).does_not_say("kubernetes/removed");
}

#[test]
fn what_is_in_a_removed_namespace_is_not_named_again() {
    let namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n";
    let repo = change(
        &[("data.yaml", CLAIM), ("namespace.yaml", namespace), ("web.yaml", WEB)],
        &[("data.yaml", ""), ("namespace.yaml", "")],
    );
    let ran = check(&repo).ends_with(0).says("Namespace shop is removed");
    assert_eq!(ran.stdout.matches("kubernetes/removed").count(), 1, "{}", ran.stdout);
}

const JOB: &str = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: migrate\nspec:\n  template:\n    spec:\n      restartPolicy: Never\n      \
                   containers:\n      - name: migrate\n        image: migrate\n        args: [up]\n";

#[test]
fn a_job_that_is_replaced_on_purpose_is_fine() {
    let edited = |job: &str| job.replace("[up]", "[down]");
    check(&change(&[("job.yaml", JOB)], &[("job.yaml", &edited(JOB))])).ends_with(1).says("spec.template");
    let ways = [
        ("name: migrate\nspec", "name: migrate\n  annotations: {kustomize.toolkit.fluxcd.io/force: enabled}\nspec"),
        ("name: migrate\nspec", "name: migrate\n  annotations: {argocd.argoproj.io/hook: PreSync}\nspec"),
        (
            "name: migrate\nspec",
            "name: migrate\n  annotations: {argocd.argoproj.io/sync-options: 'Replace=true,Force=true'}\nspec",
        ),
        ("spec:\n  template", "spec:\n  ttlSecondsAfterFinished: 60\n  template"),
        ("  name: migrate\nspec", "  generateName: migrate-\nspec"),
        ("spec:\n  template", "spec:\n  suspend: true\n  template"),
    ];
    for (from, to) in ways {
        let job = JOB.replacen(from, to, 1);
        assert_ne!(job, JOB);
        let ran = check(&change(&[("job.yaml", &job)], &[("job.yaml", &edited(&job))]));
        assert!(ran.code == 0 && !ran.stdout.contains("kubernetes/"), "{to}: {}", ran.stdout);
    }
}

#[test]
fn what_flux_applies_with_force_is_created_again() {
    let object = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: web, namespace: flux-system}\nspec:\n  \
                  path: ./apps\n  force: true\n  sourceRef: {kind: GitRepository, name: flux-system}\n";
    let edited = WEB.replace("app: web", "app: shop");
    let repo = change(
        &[("flux/web.yaml", object), ("apps/web.yaml", WEB), ("apps/data.yaml", CLAIM)],
        &[("apps/web.yaml", &edited), ("apps/data.yaml", "")],
    );
    // It is not pruned either.
    check(&repo)
        .ends_with(0)
        .says("note[kubernetes/immutable]")
        .says("deleted and created again")
        .does_not_say("kubernetes/removed");
}

#[test]
fn marked_data_is_immutable_unless_its_name_is_made_of_it() {
    let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\nimmutable: true\ndata: {a: '1'}\n";
    let repo = change(&[("map.yaml", map)], &[("map.yaml", &map.replace("'1'", "'2'"))]);
    check(&repo).ends_with(1).says("`data` of ConfigMap settings cannot be changed");
    let root = "configMapGenerator:\n- name: settings\n  literals: [a=1]\n  options: {immutable: true}\n";
    let repo = change(&[("kustomization.yaml", root)], &[("kustomization.yaml", &root.replace("a=1", "a=2"))]);
    check(&repo).ends_with(0).does_not_say("kubernetes/immutable");
}

#[test]
fn an_address_is_given_once() {
    let service = |spec: &str| format!("apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\nspec: {{{spec}}}\n");
    let code = |before: &str, after: &str| {
        check(&change(&[("s.yaml", &service(before))], &[("s.yaml", &service(after))])).code
    };
    assert_eq!(code("clusterIP: 10.0.0.1", "clusterIP: 10.0.0.2"), 1);
    assert_eq!(code("ports: []", "clusterIP: None"), 1);
    assert_eq!(code("clusterIP: None", "ports: []"), 0);
    assert_eq!(code("clusterIP: 10.0.0.1", "type: ExternalName"), 0);
}

#[test]
fn a_diff_counts_what_a_check_lists() {
    let repo = change(&[("data.yaml", CLAIM)], &[("data.yaml", &CLAIM.replace("10Gi", "5Gi"))]);
    let ran = run(&mut program::outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0);
    ran.says("1 new problem").does_not_say("incomplete");
    check(&repo).ends_with(1).says("cannot shrink from 10Gi to 5Gi");
}

#[test]
fn an_older_api_version_is_reported_once_it_is_used() {
    let budget = |version: &str| {
        format!(
            "apiVersion: policy/{version}\nkind: PodDisruptionBudget\nmetadata: {{name: web}}\nspec: {{minAvailable: 1}}\n"
        )
    };
    let (old, new) = (budget("v1beta1"), budget("v1"));
    check(&change(&[("b.yaml", &new)], &[("b.yaml", &old)])).ends_with(0).says("kubernetes/removed-api").says("1.25");
    let repo = change(&[("b.yaml", &old)], &[("b.yaml", &old.replace("1}", "2}"))]);
    check(&repo).ends_with(0).does_not_say("kubernetes/removed-api");
    run(&mut program::outcrop(&repo, &["check", "--all"])).ends_with(0).says("kubernetes/removed-api");
}

#[test]
fn a_stored_version_of_a_custom_resource_cannot_go() {
    let crd = |versions: &str| {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: a.example.com}}\nspec:\n  versions: [{versions}]\n"
        )
    };
    let v = |name: &str, storage: bool| format!("{{name: {name}, served: true, storage: {storage}}}");
    let before = crd(&format!("{}, {}", v("v1", true), v("v2", false)));
    let repo = change(&[("crd.yaml", &before)], &[("crd.yaml", &crd(&v("v2", true)))]);
    check(&repo).ends_with(1).says("version v1 of").says("objects are stored in it");
}
