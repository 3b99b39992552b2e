//! Components of OpenChoreo in three environments, rendered in one run: `cargo bench --bench openchoreo`. The time grows with their number.

#![allow(clippy::disallowed_methods, reason = "measuring needs the machine")]

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use outcrop::layout::TreeFacts;
use outcrop::limits::{Budget, Limits};
use outcrop::path::RepoPath;
use outcrop::settings::{Given, Settings};
use outcrop::side::Side;
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::Sources;

const ENVIRONMENTS: [&str; 3] = ["dev", "staging", "prod"];

fn main() {
    let mut first = None;
    for count in [125, 250, 500, 1000] {
        let snapshot = repository(count);
        let limits = Limits { run_bytes: u64::MAX, entries: u64::MAX, ..Limits::default() };
        let budget = Budget { limits: limits.clone(), ..Budget::default() };
        let (sources, settings) = (Arc::new(Sources::default()), Settings::default());
        let given = Given { snapshot: &snapshot, settings: &settings, sources: &sources, limits: &limits };
        let side = Side::new(given, &[], true);
        let start = Instant::now();
        let (facts, _) = TreeFacts::read(side.units(), &budget);
        let seconds = start.elapsed().as_secs_f64();
        let broken = facts.units.values().filter(|unit| unit.is_broken).count();
        let each = seconds * 1e3 / facts.units.len() as f64;
        assert_eq!(broken, 0, "every unit is rendered");
        let ratio = each / *first.get_or_insert(each);
        let units = facts.units.len();
        say(&format!(
            "{count} components, {units} units: {seconds:.2} s, {each:.3} ms each, {ratio:.2} times the first"
        ));
    }
}

/// Components with a workload, a trait, and a binding for each environment.
fn repository(count: usize) -> MemorySnapshot {
    let head = "apiVersion: openchoreo.dev/v1alpha1\nkind: ";
    let add = |snapshot: MemorySnapshot, path: String, kind: &str, name: &str, spec: &str| {
        let text = format!("{head}{kind}\nmetadata: {{name: {name}, namespace: acme}}\nspec:\n{spec}");
        snapshot.with(RepoPath::new(&path).expect("a path"), text.as_bytes())
    };
    let mut snapshot = MemorySnapshot::new("bench");
    snapshot = add(snapshot, "type.yaml".into(), "ComponentType", "web", TYPE);
    snapshot = add(snapshot, "trait.yaml".into(), "Trait", "scale", TRAIT);
    for environment in ENVIRONMENTS {
        snapshot = add(snapshot, format!("{environment}.yaml"), "Environment", environment, "  isProduction: false\n");
    }
    for number in 0..count {
        let name = format!("c{number}");
        let component = "  owner: {projectName: shop}\n  componentType: {name: deployment/web}\n  parameters: {tier: large}\n  traits: [{name: scale, instanceName: s}]\n";
        snapshot = add(snapshot, format!("apps/{name}/component.yaml"), "Component", &name, component);
        let workload = format!(
            "  owner: {{projectName: shop, componentName: {name}}}\n  container: {{image: i, env: [{{key: A, value: b}}]}}\n  endpoints: {{http: {{type: HTTP, port: 80}}}}\n"
        );
        snapshot = add(snapshot, format!("apps/{name}/workload.yaml"), "Workload", &name, &workload);
        for environment in ENVIRONMENTS {
            let binding = format!(
                "  owner: {{projectName: shop, componentName: {name}}}\n  environment: {environment}\n  componentTypeEnvironmentConfigs: {{replicas: 2}}\n"
            );
            snapshot = add(
                snapshot,
                format!("apps/{name}/{environment}.yaml"),
                "ReleaseBinding",
                &format!("{name}-{environment}"),
                &binding,
            );
        }
    }
    snapshot
}

const TYPE: &str = "  workloadType: deployment
  allowedTraits: [{name: scale}]
  parameters: {openAPIV3Schema: {type: object, properties: {tier: {type: string, default: small}}}}
  environmentConfigs: {openAPIV3Schema: {type: object, properties: {replicas: {type: integer, default: 1}}}}
  resources:
  - id: deployment
    template:
      apiVersion: apps/v1
      kind: Deployment
      metadata: {name: '${metadata.name}', namespace: '${metadata.namespace}', labels: {tier: '${parameters.tier}'}}
      spec:
        replicas: ${environmentConfigs.replicas}
        selector: {matchLabels: '${metadata.podSelectors}'}
        template:
          spec:
            containers:
            - {name: main, image: '${workload.container.image}', envFrom: '${configurations.toContainerEnvFrom()}'}
  - id: service
    template:
      apiVersion: v1
      kind: Service
      metadata: {name: '${metadata.componentName}', namespace: '${metadata.namespace}'}
      spec: {ports: '${workload.toServicePorts()}'}
  - id: settings
    forEach: ${configurations.toConfigEnvsByContainer()}
    var: envs
    template:
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: '${envs.resourceName}'}
      data: '${envs.envs.transformMapEntry(i, e, {e.name: e.value})}'
";

const TRAIT: &str = "  parameters: {openAPIV3Schema: {type: object, properties: {max: {type: integer, default: 3}}}}
  creates:
  - template: {apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: '${metadata.name}'}, spec: {maxReplicas: '${parameters.max}'}}
  patches:
  - target: {group: apps, version: v1, kind: Deployment}
    operations: [{op: add, path: /metadata/annotations/scaled-by, value: '${trait.name}/${trait.instanceName}'}]
";

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("stdout is open");
}
