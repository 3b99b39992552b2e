//! Components of OpenChoreo through the program: what a changed trait does, who uses it, and commands that name a unit.

use std::collections::BTreeMap;
use std::sync::Mutex;

use outcrop::impact::Memory;
use outcrop::layout::TreeFacts;
use outcrop::snapshot::ObjectId;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

const HEAD: &str = "apiVersion: openchoreo.dev/v1alpha1\nkind: ";

const TYPE: &str = "ComponentType
metadata: {name: web, namespace: acme}
spec:
  workloadType: deployment
  allowedTraits: [{name: route}]
  parameters: {openAPIV3Schema: {type: object, properties: {tier: {type: string, default: small}}}}
  resources:
  - id: deployment
    template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: '${metadata.name}', namespace: '${metadata.namespace}'}
      spec: {tier: '${parameters.tier}', image: '${workload.container.image}'}
";

const TRAIT: &str = "Trait
metadata: {name: route, namespace: acme}
spec:
  creates:
  - template: {apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: '${metadata.componentName}'}, spec: {rules: [{name: one}]}}
";

fn component(name: &str, traits: &str) -> String {
    format!(
        "{HEAD}Component\nmetadata: {{name: {name}, namespace: acme}}\nspec:\n  owner: {{projectName: shop}}\n  componentType: {{name: deployment/web}}\n  traits: {traits}\n---\n{HEAD}Workload\nmetadata: {{name: {name}, namespace: acme}}\nspec:\n  owner: {{projectName: shop, componentName: {name}}}\n  container: {{image: 'i:1'}}\n"
    )
}

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("type.yaml", format!("{HEAD}{TYPE}"));
    repo.write("route.yaml", format!("{HEAD}{TRAIT}"));
    repo.write("cart.yaml", component("cart", "[{name: route, instanceName: r}]"));
    repo.write("api.yaml", component("api", "[{name: route, instanceName: r}]"));
    repo.write("plain.yaml", component("plain", "[]"));
    repo.write(
        "dev.yaml",
        format!("{HEAD}Environment\nmetadata: {{name: dev, namespace: acme}}\nspec: {{isProduction: false}}\n"),
    );
    repo.commit_all("first");
    repo
}

#[test]
fn a_patch_of_a_trait_shows_on_every_route_and_names_its_users() {
    let repo = repository();
    let patched = format!(
        "{HEAD}{TRAIT}  patches:\n  - target: {{version: v1, kind: HTTPRoute}}\n    operations: [{{op: add, path: '/spec/rules/[*]/hostname', value: example.com}}]\n"
    );
    repo.write("route.yaml", &patched);
    repo.commit_all("patch");
    let diff = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).stdout;
    assert!(diff.contains("hostname"), "{diff}");
    assert!(diff.contains("route.yaml:"), "the operation is the cause: {diff}");
    assert!(diff.contains("Trait acme/route is used by acme/"), "{diff}");
    let affected = run(&mut outcrop(&repo, &["affected", "HEAD~1", "HEAD", "--name-only"])).ends_with(0).stdout;
    assert_eq!(affected, "acme/api@dev\nacme/cart@dev\n");
}

#[test]
fn users_of_a_changed_trait_that_cannot_be_rendered_are_listed() {
    let repo = repository();
    repo.remove("type.yaml");
    repo.commit_all("types are elsewhere");
    repo.write("route.yaml", format!("{HEAD}{}", TRAIT.replace("one", "two")));
    repo.commit_all("two");
    let affected = run(&mut outcrop(&repo, &["affected", "HEAD~1", "HEAD", "--format", "matrix"])).ends_with(0).stdout;
    let job =
        |name: &str| format!("{{\"root\":\"acme/{name}@dev\",\"environment\":\"dev\",\"status\":\"incomplete\"}}");
    assert_eq!(affected, format!("{{\"include\":[{},{}]}}\n", job("api"), job("cart")));
}

#[test]
fn a_changed_trait_that_nobody_uses_is_said() {
    let repo = repository();
    repo.write(
        "unused.yaml",
        format!("{HEAD}Trait\nmetadata: {{name: unused, namespace: acme}}\nspec: {{creates: []}}\n"),
    );
    repo.commit_all("unused");
    let diff = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).stdout;
    assert!(diff.contains("Trait acme/unused is used by no component"), "{diff}");
}

#[test]
fn a_parameter_is_the_cause_of_what_it_changes() {
    let repo = repository();
    repo.write("cart.yaml", component("cart", "[]\n  parameters: {tier: large}"));
    repo.commit_all("large");
    let diff = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).stdout;
    assert!(diff.contains("cart.yaml") && diff.contains("tier"), "{diff}");
}

/// Types between the generations: schemas in shorthand, and workloads with one container and connections.
#[test]
fn a_migration_of_types_to_the_second_generation_changes_nothing_that_is_rendered() {
    let repo = repository();
    let old = TYPE
        .replace(
            "parameters: {openAPIV3Schema: {type: object, properties: {tier: {type: string, default: small}}}}",
            "schema: {parameters: {tier: string | default=small}, envOverrides: {replicas: integer | default=2}}",
        )
        .replace(
            "tier: '${parameters.tier}'",
            "tier: '${parameters.tier}', replicas: '${envOverrides.replicas}', env: '${connections.toContainerEnv()}'",
        );
    let new = TYPE
        .replace("parameters: {openAPIV3Schema", "environmentConfigs: {openAPIV3Schema: {type: object, properties: {replicas: {type: integer, default: 2}}}}\n  parameters: {openAPIV3Schema")
        .replace("tier: '${parameters.tier}'", "tier: '${parameters.tier}', replicas: '${environmentConfigs.replicas}', env: '${dependencies.toContainerEnvs()}'");
    let provider = component("plain", "[]");
    repo.write("plain.yaml", format!("{provider}  endpoints: {{http: {{type: HTTP, port: 80}}}}\n"));
    let consumer = component("cart", "[]");
    let binding = "{component: plain, endpoint: http, visibility: project, envBindings: {address: PLAIN}}";
    repo.write("cart.yaml", format!("{consumer}  connections: [{binding}]\n"));
    repo.write("type.yaml", format!("{HEAD}{old}"));
    repo.commit_all("old");
    let rendered = run(&mut outcrop(&repo, &["render", "acme/cart@dev"])).ends_with(0).stdout;
    assert!(rendered.contains("replicas: 2") && rendered.contains("name: PLAIN"), "{rendered}");
    let binding = binding.replace("endpoint: http", "name: http");
    repo.write("cart.yaml", format!("{consumer}  dependencies: {{endpoints: [{binding}]}}\n"));
    repo.write("type.yaml", format!("{HEAD}{new}"));
    repo.commit_all("new");
    let affected = run(&mut outcrop(&repo, &["affected", "HEAD~1", "HEAD", "--name-only"])).ends_with(0).stdout;
    assert_eq!(affected, "");
    let diff = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(0).stdout;
    assert!(diff.contains("ComponentType acme/web is used by acme/{api, cart, plain}"), "{diff}");
    assert!(diff.contains("what is rendered stays the same"), "{diff}");
    let check = run(&mut outcrop(&repo, &["check", "--all", "HEAD~1", "HEAD~1"])).stdout;
    assert!(!check.contains("error["), "{check}");
}

/// The first generation lists names alone, and its templates may read the namespace of the component.
#[test]
fn lists_of_names_allow_traits_and_workflows() {
    let repo = TestRepo::new();
    let old = TYPE
        .replace("allowedTraits: [{name: route}]", "allowedTraits: [route]\n  allowedWorkflows: [build]")
        .replace(
            "parameters: {openAPIV3Schema: {type: object, properties: {tier: {type: string, default: small}}}}",
            "schema: {parameters: {tier: string | default=small}}",
        )
        .replace("image: '${workload.container.image}'", "of: '${metadata.componentNamespace}'");
    repo.write("type.yaml", format!("{HEAD}{old}"));
    repo.write("route.yaml", format!("{HEAD}{TRAIT}"));
    let cart = component("cart", "[{name: route, instanceName: r}]\n  workflow: {name: build}");
    repo.write("cart.yaml", cart.replace("{name: deployment/web}", "deployment/web"));
    repo.commit_all("first");
    let check = run(&mut outcrop(&repo, &["check", "--all", "HEAD", "HEAD"])).ends_with(0).stdout;
    assert!(!check.contains("not-allowed") && !check.contains("allowed-"), "{check}");
    let rendered = run(&mut outcrop(&repo, &["render", "acme/cart@unknown-environment"])).ends_with(0).stdout;
    assert!(rendered.contains("of: acme"), "{rendered}");
}

#[test]
fn commands_take_the_name_of_a_unit() {
    let repo = repository();
    let rendered = run(&mut outcrop(&repo, &["render", "acme/cart@dev"])).ends_with(0).stdout;
    assert!(rendered.contains("kind: HTTPRoute") && rendered.contains("kind: Deployment"), "{rendered}");
    let explained =
        run(&mut outcrop(&repo, &["explain", "acme/cart@dev", "Deployment cart-dev", "/spec/tier"])).ends_with(0);
    assert!(explained.stdout.contains("type.yaml"), "{}", explained.stdout);
    repo.write("outcrop.yaml", "layouts: {openchoreo: off}\n");
    let off = run(&mut outcrop(&repo, &["render", "acme/cart@dev"]));
    assert_ne!(off.code, 0, "{}", off.stdout);
}

#[test]
fn a_trait_is_a_patch_for_documents() {
    let repo = repository();
    repo.write("deployment.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {}\n");
    let scale = format!(
        "{HEAD}Trait\nmetadata: {{name: scale}}\nspec:\n  parameters: {{openAPIV3Schema: {{type: object, properties: {{max: {{type: integer, default: 3}}}}}}}}\n  creates:\n  - template: {{apiVersion: v1, kind: ConfigMap, metadata: {{name: made}}}}\n  patches:\n  - target: {{group: apps, version: v1, kind: Deployment}}\n    operations: [{{op: add, path: /spec/max, value: '${{parameters.max}}'}}]\n"
    );
    repo.write("scale.yaml", &scale);
    let patched = run(&mut outcrop(&repo, &["patch", "scale.yaml", "deployment.yaml"]));
    assert!(
        patched.stdout.contains("max: 3") && patched.stdout.contains("kind: ConfigMap"),
        "{} {}",
        patched.stdout,
        patched.stderr
    );
}

/// Counts what is found out anew.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<(ObjectId, String), TreeFacts>>);

impl Memory for Kept {
    fn recall(&self, tree: ObjectId, reading: &str) -> Option<TreeFacts> {
        self.0.lock().unwrap().get(&(tree, reading.to_owned())).cloned()
    }

    fn remember(&self, tree: ObjectId, reading: &str, facts: &TreeFacts) {
        self.0.lock().unwrap().insert((tree, reading.to_owned()), facts.clone());
    }
}

#[test]
fn an_edited_trait_affects_only_its_users() {
    let files = |hostname: &str| {
        let patched = format!(
            "{HEAD}{TRAIT}  patches:\n  - target: {{version: v1, kind: HTTPRoute}}\n    operations: [{{op: add, path: /spec/host, value: {hostname}}}]\n"
        );
        vec![
            ("type.yaml".to_owned(), format!("{HEAD}{TYPE}")),
            ("route.yaml".to_owned(), patched),
            ("cart.yaml".to_owned(), component("cart", "[{name: route, instanceName: r}]")),
            ("plain.yaml".to_owned(), component("plain", "[]")),
        ]
    };
    let snapshot = |label: &str, files: &[(String, String)]| {
        crate::comparing::snapshot(label, files.iter().map(|(path, text)| (path.as_str(), text.as_str()))).with_ids()
    };
    let memory = Kept::default();
    let comparing = crate::comparing::Comparing::new(snapshot("a", &files("x")), snapshot("b", &files("y")));
    let comparing = crate::comparing::Comparing { memory: &memory, ..comparing };
    let report = comparing.run(|comparison| comparison.compare());
    let reached: Vec<String> = report.units.iter().map(|change| change.unit.key.to_string()).collect();
    assert_eq!(reached, ["acme/cart@unknown-environment"]);
}
