//! A repository of OpenChoreo, for the central law: types, traits, components, workloads, bindings, releases and copies of them.

use proptest::prelude::*;

/// Files with one object each. Names meet often, so that references come to lead somewhere and nowhere.
pub(crate) fn files() -> impl Strategy<Value = (String, String)> {
    let name = || prop::sample::select(vec!["cart", "api"]);
    let value = || prop::sample::select(vec!["1", "2", "3"]);
    let environment = || prop::sample::select(vec!["dev", "prod"]);
    let directory = || prop::sample::select(vec!["one", "one/deep", "two"]);
    let of = |kind: &str, name: &str, spec: String| {
        format!(
            "apiVersion: openchoreo.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}, namespace: acme}}\nspec: {spec}\n"
        )
    };
    prop_oneof![
        3 => (directory(), name(), value()).prop_map(move |(directory, name, value)| {
            let spec = format!(
                "{{owner: {{projectName: shop}}, componentType: {{name: deployment/web}}, parameters: {{tier: {value}}}, traits: [{{name: scale, instanceName: s}}]}}"
            );
            (format!("{directory}/{name}.yaml"), of("Component", name, spec))
        }),
        3 => (directory(), name(), value()).prop_map(move |(directory, name, value)| {
            let dependency = if name == "cart" { ", dependencies: {endpoints: [{component: api, name: http, envBindings: {host: API}}]}" } else { "" };
            let spec = format!(
                "{{owner: {{projectName: shop, componentName: {name}}}, container: {{image: i:{value}}}, endpoints: {{http: {{type: HTTP, port: 80}}}}{dependency}}}"
            );
            (format!("{directory}/{name}-workload.yaml"), of("Workload", name, spec))
        }),
        2 => (directory(), name(), environment(), value()).prop_map(move |(directory, name, environment, value)| {
            let spec = format!(
                "{{owner: {{projectName: shop, componentName: {name}}}, environment: {environment}, releaseName: r{value}, componentTypeEnvironmentConfigs: {{replicas: {value}}}}}"
            );
            (format!("{directory}/{name}-{environment}.yaml"), of("ReleaseBinding", &format!("{name}-{environment}"), spec))
        }),
        2 => (directory(), value()).prop_map(move |(directory, value)| {
            let spec = format!(
                "{{workloadType: deployment, parameters: {{openAPIV3Schema: {{type: object, properties: {{tier: {{type: integer}}}}}}}}, environmentConfigs: {{openAPIV3Schema: {{type: object, properties: {{replicas: {{type: integer, default: {value}}}}}}}}}, resources: [{{id: deployment, template: {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: \"${{metadata.name}}\"}}, spec: {{replicas: \"${{environmentConfigs.replicas}}\", tier: \"${{parameters.tier}}\", env: \"${{dependencies.toContainerEnvs()}}\"}}}}}}, {{id: service, template: {{apiVersion: v1, kind: Service, metadata: {{name: \"${{metadata.componentName}}\"}}, spec: {{ports: \"${{workload.toServicePorts()}}\"}}}}}}]}}"
            );
            (format!("{directory}/type.yaml"), of("ComponentType", "web", spec))
        }),
        2 => (directory(), value()).prop_map(move |(directory, value)| {
            let spec = format!(
                "{{patches: [{{target: {{group: apps, version: v1, kind: Deployment}}, operations: [{{op: add, path: /spec/scaled, value: {value}}}]}}]}}"
            );
            (format!("{directory}/trait.yaml"), of("Trait", "scale", spec))
        }),
        1 => (directory(), value()).prop_map(move |(directory, value)| {
            let spec = format!(
                "{{owner: {{projectName: shop, componentName: cart}}, componentType: {{kind: ComponentType, name: web, spec: {{workloadType: deployment, resources: [{{id: deployment, template: {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: frozen-{value}}}}}}}]}}}}, workload: {{container: {{image: i}}}}}}"
            );
            (format!("{directory}/release.yaml"), of("ComponentRelease", &format!("r{value}"), spec))
        }),
        1 => directory().prop_map(move |directory| {
            (format!("{directory}/project.yaml"), of("Project", "shop", "{deploymentPipelineRef: {name: std}}".to_owned()))
        }),
        1 => (directory(), environment()).prop_map(move |(directory, environment)| {
            let spec = format!("{{promotionPaths: [{{sourceEnvironmentRef: {{name: {environment}}}}}]}}");
            (format!("{directory}/pipeline.yaml"), of("DeploymentPipeline", "std", spec))
        }),
        1 => (directory(), environment(), value()).prop_map(move |(directory, environment, value)| {
            let spec = format!("{{gateway: {{ingress: {{external: {{name: g{value}}}}}}}}}");
            (format!("{directory}/{environment}.yaml"), of("Environment", environment, spec))
        }),
    ]
}
