//! Findings about documents: the rules that fire, where, and how bad they are.

use std::collections::BTreeSet;

use outcrop::comparison::Judged;
use outcrop::finding::Finding;
use outcrop::path::Pointer;
use outcrop::snapshot::MemorySnapshot;
use serde_json::{Value, json};

use super::snapshot;
use crate::comparing::Comparing;

/// A finding as vectors have it: rule, severity, object, place.
type Described = (String, String, String, String);

/// What is said about units, and no check of documents.
const UNIT_NOTES: [&str; 3] = ["openchoreo/placeholder", "openchoreo/not-rendered", "openchoreo/unit-failed"];

pub(super) fn documents(case: &Value) -> Result<(), String> {
    let found = findings(&case["documents"]);
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    let wanted = case["expect"]["findings"].as_array().into_iter().flatten().map(|finding| {
        (text(finding, "rule"), text(finding, "severity"), text(finding, "object"), text(finding, "path"))
    });
    differences(&found.into_iter().collect(), &wanted.collect())
}

fn differences<T: Ord + std::fmt::Debug>(found: &BTreeSet<T>, wanted: &BTreeSet<T>) -> Result<(), String> {
    let extra: Vec<&T> = found.difference(wanted).collect();
    let missing: Vec<&T> = wanted.difference(found).collect();
    match extra.is_empty() && missing.is_empty() {
        true => Ok(()),
        false => Err(format!("not expected: {extra:?}; missing: {missing:?}")),
    }
}

/// Everything that a check of these documents says about OpenChoreo.
fn findings(documents: &Value) -> Vec<Described> {
    let after = snapshot(documents).with_ids();
    let comparing = Comparing::new(MemorySnapshot::new("before").with_ids(), after);
    let report = comparing.run(|comparison| comparison.check(Judged::Everything));
    let is_meant = |it: &&Finding| it.rule.id.starts_with("openchoreo/") && !UNIT_NOTES.contains(&it.rule.id);
    let found = report.findings.iter().filter(is_meant).map(described);
    // The platform does not look at expressions in paths; here they are warnings.
    found
        .filter(|(rule, severity, _, place)| {
            !(rule.starts_with("oc-expr") && severity == "warning" && place.ends_with(".path"))
        })
        .collect()
}

fn described(finding: &Finding) -> Described {
    let rule = finding.rule.id.replace("openchoreo/", "oc-");
    let object = finding.resource.clone().unwrap_or_default().replace(".openchoreo.dev ", " ");
    let (kind, name) = object.split_once(' ').unwrap_or((&object, ""));
    let is_plain = kind.starts_with("Cluster") || name.contains('/');
    let object = if is_plain { object.clone() } else { format!("{kind} default/{name}") };
    let place = finding.pointer.as_ref().map(dotted).unwrap_or_default();
    (rule, finding.severity.name().to_owned(), object, place)
}

/// `spec.traits[0].name`.
fn dotted(pointer: &Pointer) -> String {
    let mut text = String::new();
    for token in pointer.tokens() {
        let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
        match is_index {
            true => text.push_str(&format!("[{token}]")),
            false if text.is_empty() => text.push_str(token),
            false => text.push_str(&format!(".{token}")),
        }
    }
    text
}

/// The validators of the platform, each through a document that has what it looks at.
pub(super) fn upstream(form: &str, case: &Value) -> Result<(), String> {
    let expected = &case["expect"];
    let wanted: BTreeSet<(String, String)> = expected["findings"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|it| (it["rule"].as_str().unwrap_or_default().into(), it["path"].as_str().unwrap_or_default().into()))
        .collect();
    let frozen = wanted
        .iter()
        .any(|(_, path)| path.starts_with("spec.componentType") || path.starts_with("spec.traits[0].spec"));
    let (spec, is_trait) = match form {
        "check-componenttype-cel" => (with_schemas(case), false),
        "check-trait-cel" => (with_schemas(case), true),
        "check-workload-resources" => {
            (json!({ "workloadType": case["workloadType"], "resources": case["resources"] }), false)
        }
        "check-trait-creates" => (json!({ "creates": case["creates"] }), true),
        _ => return names(form, case),
    };
    let kind = if is_trait { "Trait" } else { "ComponentType" };
    let document = match frozen {
        false => object(kind, "checked", &spec),
        true => object("ComponentRelease", "checked", &release(&spec, is_trait)),
    };
    let found = findings(&json!([document]));
    let is_meant = |rule: &str| match form {
        // These look at expressions, or at the shapes of templates, and at nothing else.
        "check-componenttype-cel" | "check-trait-cel" => {
            rule.starts_with("oc-expr")
                || ["oc-patch-operation", "oc-patch-target", "oc-rule-message", "oc-trait-removes-workload"]
                    .contains(&rule)
        }
        _ => ["oc-template-header", "oc-ct-workload-resource", "oc-ct-proxy-workload", "oc-trait-creates-workload"]
            .contains(&rule),
    };
    // A template that is not there at all is reported with the shapes of templates.
    let is_absent =
        |rule: &str, path: &str| form.ends_with("-cel") && rule == "oc-template-header" && path.ends_with(".template");
    let found = found.into_iter().map(|(rule, _, _, path)| (rule, path));
    let found = found.filter(|(rule, path)| is_meant(rule) || is_absent(rule, path));
    differences(&found.collect(), &wanted)
}

fn with_schemas(case: &Value) -> Value {
    let mut spec = case["spec"].clone();
    for (key, part) in [("parametersSchema", "parameters"), ("environmentConfigsSchema", "environmentConfigs")] {
        if let Some(schema) = case.get(key).filter(|schema| !schema.is_null()) {
            spec[part] = json!({ "openAPIV3Schema": schema });
        }
    }
    spec
}

fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({
        "apiVersion": "openchoreo.dev/v1alpha1",
        "kind": kind,
        "metadata": { "name": name, "namespace": "acme" },
        "spec": spec,
    })
}

fn release(spec: &Value, is_trait: bool) -> Value {
    let traits = if is_trait { json!([{ "kind": "Trait", "name": "t", "spec": spec }]) } else { json!([]) };
    let component_type = if is_trait { json!({ "workloadType": "proxy", "resources": [] }) } else { spec.clone() };
    json!({
        "owner": { "projectName": "p", "componentName": "c" },
        "componentType": { "kind": "ComponentType", "name": "web", "spec": component_type },
        "traits": traits,
        "workload": { "container": { "image": "i" } },
    })
}

/// Allowed traits and instance names: whether the rule fires.
fn names(form: &str, case: &Value) -> Result<(), String> {
    let list = |key: &str| case.get(key).filter(|list| !list.is_null()).cloned().unwrap_or_else(|| json!([]));
    let component_type = json!({
        "workloadType": "proxy",
        "resources": [],
        "traits": list("embedded"),
        "allowedTraits": list("allowedTraits"),
    });
    let component = json!({
        "owner": { "projectName": "p" },
        "componentType": { "kind": "ComponentType", "name": "proxy/web" },
        "traits": list("traits"),
    });
    let found =
        findings(&json!([object("ComponentType", "web", &component_type), object("Component", "c", &component)]));
    let rules: BTreeSet<String> = found.into_iter().map(|(rule, ..)| rule).collect();
    let known: &[&str] = match form {
        "check-allowed-traits" => &["oc-trait-not-allowed"],
        _ => &["oc-trait-instance-dup", "oc-trait-instance-collision"],
    };
    let fired: Vec<&&str> = known.iter().filter(|rule| rules.contains(**rule)).collect();
    match (case["expect"]["ok"].as_bool().unwrap_or(false), case["expect"]["rule"].as_str()) {
        (true, _) if fired.is_empty() => Ok(()),
        (false, Some(rule)) if fired.contains(&&rule) => Ok(()),
        _ => Err(format!("fires {fired:?}, but should be {}", case["expect"])),
    }
}
