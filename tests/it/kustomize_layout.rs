//! A repository of files for kustomize, for the central law: bases, overlays, components, patches, generators, charts, objects of Argo CD
//! and Flux.

use proptest::prelude::*;

/// Files of kustomize and the files that they name. Names meet often, so that files come to be used and to be missing.
pub(crate) fn files() -> impl Strategy<Value = (String, String)> {
    prop_oneof![4 => kustomizations(), 2 => documents(), 1 => patches(), 1 => data(), 1 => applications(), 2 => flux()]
}

fn directories() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["base", "dev", "prod", "prod/eu", "part", "extra"])
}

/// A way from a directory to another one.
fn way(from: &str, to: &str) -> String {
    format!("{}{to}", "../".repeat(from.split('/').count()))
}

fn kustomizations() -> impl Strategy<Value = (String, String)> {
    let name = prop_oneof![6 => Just("kustomization.yaml"), 1 => Just("kustomization.yml"), 1 => Just("Kustomization")];
    (directories(), name, prop::collection::vec(fields(), 1..5)).prop_map(|(directory, name, fields)| {
        let mut text = String::new();
        let mut known = Vec::new();
        for (field, lines) in fields {
            if !known.contains(&field) {
                known.push(field);
                text.push_str(&lines.replace("WAY:", &way(directory, "")));
            }
        }
        (format!("{directory}/{name}"), text)
    })
}

/// A field and its lines; `WAY:` leads to the root of the repository.
fn fields() -> impl Strategy<Value = (&'static str, String)> {
    let value = || prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        4 => prop::collection::vec(directories(), 1..3).prop_map(|to| {
            let entries: String = to.iter().map(|to| format!("  - WAY:{to}\n")).collect();
            ("resources", format!("resources:\n{entries}"))
        }),
        4 => Just(("resources", "resources:\n  - thing.yaml\n".to_owned())),
        1 => prop::sample::select(vec!["one", "two"])
            .prop_map(|tag| ("resources", format!("resources:\n  - https://example.com/base?ref={tag}\n"))),
        1 => directories().prop_map(|to| ("components", format!("components:\n  - WAY:{to}\n"))),
        1 => Just(("kind", "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\n".to_owned())),
        2 => value().prop_map(|value| ("namespace", format!("namespace: ns-{value}\n"))),
        2 => value().prop_map(|value| ("namePrefix", format!("namePrefix: {value}-\n"))),
        2 => value().prop_map(|value| ("images", format!("images:\n  - name: web\n    newTag: {value}\n"))),
        1 => Just(("patches", "patches:\n  - path: patch.yaml\n    target: {kind: Pod}\n".to_owned())),
        2 => value().prop_map(|value| {
            ("configMapGenerator", format!("configMapGenerator:\n  - name: settings\n    literals: [k={value}]\n"))
        }),
        1 => Just(("configMapGenerator", "configMapGenerator:\n  - name: files\n    files: [data.txt]\n".to_owned())),
        1 => value().prop_map(|value| {
            ("helmCharts", format!("helmCharts:\n  - name: chart\n    version: {value}\n    valuesFile: data.txt\n"))
        }),
        1 => Just(("nonsense", "nonsense: [\n".to_owned())),
    ]
}

fn documents() -> impl Strategy<Value = (String, String)> {
    (directories(), 0..3u8, prop::sample::select(vec!["1", "2"])).prop_map(|(directory, name, value)| {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: n{name}}}\nspec:\n  containers:\n    - name: web\n      image: web:{value}\n      \
             envFrom: [{{configMapRef: {{name: settings}}}}]\n"
        );
        (format!("{directory}/thing.yaml"), text)
    })
}

fn patches() -> impl Strategy<Value = (String, String)> {
    (directories(), prop::sample::select(vec!["1", "2"])).prop_map(|(directory, value)| {
        (format!("{directory}/patch.yaml"), format!("- {{op: add, path: /spec/priority, value: {value}}}\n"))
    })
}

fn data() -> impl Strategy<Value = (String, String)> {
    (directories(), prop::sample::select(vec!["one\n", "two\n"]))
        .prop_map(|(directory, text)| (format!("{directory}/data.txt"), text.to_owned()))
}

/// Objects of Flux, variables for them, and what they do not read.
fn flux() -> impl Strategy<Value = (String, String)> {
    let value = || prop::sample::select(vec!["a", "b"]);
    prop_oneof![
        4 => (directories(), value(), any::<bool>()).prop_map(|(directory, namespace, prune)| {
            let text = format!(
                "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: app, namespace: flux}}\nspec:\n  path: ./{directory}\n  \
                 prune: {prune}\n  targetNamespace: {namespace}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n  \
                 postBuild: {{substituteFrom: [{{kind: ConfigMap, name: vars}}]}}\n"
            );
            ("clusters/app.yaml".to_owned(), text)
        }),
        2 => value().prop_map(|value| {
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: vars, namespace: flux}}\ndata: {{TAG: {value}}}\n");
            ("clusters/vars.yaml".to_owned(), text)
        }),
        2 => (directories(), value()).prop_map(|(directory, name)| {
            let text = format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{k: '${{TAG}}'}}\n");
            (format!("{directory}/more.yaml"), text)
        }),
        1 => prop::sample::select(vec!["more.yaml\n", "thing.yaml\n"]).prop_map(|text| (".sourceignore".to_owned(), text.to_owned())),
    ]
}

fn applications() -> impl Strategy<Value = (String, String)> {
    (directories(), any::<bool>()).prop_map(|(directory, is_set)| {
        if is_set {
            let text = format!(
                "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: set}}\nspec:\n  generators:\n    \
                 - clusters: {{values: {{dir: {directory}}}}}\n  template: {{spec: {{source: {{path: '{{{{values.dir}}}}'}}}}}}\n"
            );
            return ("apps/set.yaml".to_owned(), text);
        }
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: app}}\nspec: {{source: {{path: {directory}}}}}\n"
        );
        ("apps/app.yaml".to_owned(), text)
    })
}
