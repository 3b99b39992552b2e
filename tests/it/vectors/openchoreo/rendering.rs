//! Rendered components, and single steps of rendering.

use std::collections::BTreeSet;
use std::sync::Arc;

use outcrop::document::write::to_inline;
use outcrop::expression::cel::Inputs;
use outcrop::layout::TreeFacts;
use outcrop::layout::openchoreo::{DATA_PLANE, Definition, Generation, RenderFailure, RenderInput, render};
use outcrop::limits::{Budget, Limits};
use outcrop::patch::{CelReader, PlacedResource};
use outcrop::resource::{Identity, Resource, Unit};
use outcrop::settings::{Given, Settings};
use outcrop::side::Side;
use outcrop::text::Sources;
use outcrop::value::Node;
use serde_json::{Value, json};

use super::{node, snapshot};

/// A unit, found and rendered as in a repository.
pub(super) fn unit(case: &Value) -> Result<(), String> {
    let (snapshot, settings) = (snapshot(&case["documents"]), Settings::default());
    let (sources, budget) = (Arc::new(Sources::default()), Budget::default());
    let given = Given { snapshot: &snapshot, settings: &settings, sources: &sources, limits: &budget.limits };
    let side = Side::new(given, &[], true);
    let (facts, _) = TreeFacts::read(side.units(), &budget);
    let asked = &case["unit"];
    let word = |key: &str| asked[key].as_str().unwrap_or_default();
    let plain = format!("{}/{}@{}", word("namespace"), word("component"), word("environment"));
    let next = format!("{plain} (next release)");
    let of_key = |key: &str| Unit { layout: "openchoreo".into(), key: key.into() };
    let is_failing = case["expect"].get("error").is_some();
    let subject = format!("{}/{}@", word("namespace"), word("component"));
    // Where something is missing, the environment may not be known either.
    let elsewhere = facts.units.keys().find(|unit| is_failing && unit.key.starts_with(&subject));
    let unit = match word("source") {
        "live" if facts.units.contains_key(&of_key(&next)) => of_key(&next),
        _ if facts.units.contains_key(&of_key(&plain)) => of_key(&plain),
        _ => elsewhere.cloned().unwrap_or_else(|| of_key(&plain)),
    };
    if !facts.units.contains_key(&unit) {
        let known: Vec<String> = facts.units.keys().map(ToString::to_string).collect();
        return Err(format!("there is no unit {unit} among {}", known.join(", ")));
    }
    let rendered = side.units().rendered(&unit);
    let failure = rendered.findings.iter().find(|_| rendered.is_broken);
    let expected = &case["expect"];
    if let Some(error) = expected.get("error") {
        let Some(failure) = failure else { return Err(format!("it must fail: {error}")) };
        let stage = error["stage"].as_str().unwrap_or_default();
        let is_stage = match failure.rule.id {
            "openchoreo/not-rendered" => stage == "reference",
            _ => failure.message.contains(&format!("in the stage {stage}:")),
        };
        let missing = error["missing"].as_str().filter(|missing| !missing.ends_with(" form"));
        let words = error["mentions"].as_array().into_iter().flatten().filter_map(Value::as_str).chain(missing);
        let absent: Vec<&str> = words.filter(|word| !failure.message.contains(word)).collect();
        return match is_stage && absent.is_empty() {
            true => Ok(()),
            false => Err(format!("fails with `{}`, but should fail with {error}", failure.message)),
        };
    }
    if let Some(failure) = failure {
        return Err(format!("fails: {}", failure.message));
    }
    let notes: BTreeSet<&str> = rendered.findings.iter().map(|finding| finding.label.as_str()).collect();
    let wanted = expected["notes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let wanted: BTreeSet<&str> = wanted.collect();
    if notes != wanted {
        return Err(format!("has the notes {notes:?}, but should have {wanted:?}"));
    }
    let made: Vec<(String, &Node)> = rendered.resources.iter().map(|it| (plane_of(it), &it.payload)).collect();
    same_resources(&made, &expected["resources"])
}

/// The plane of a resource, which its name has unless it is the usual one.
fn plane_of(resource: &Resource) -> String {
    let name = match &resource.identity {
        Identity::Kubernetes(name) => name.name.as_str(),
        _ => "",
    };
    let plane = name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")).map(|(_, plane)| plane);
    plane.unwrap_or(DATA_PLANE).to_owned()
}

fn same_resources(made: &[(String, &Node)], expected: &Value) -> Result<(), String> {
    let sources = Sources::default();
    let expected: Vec<&Value> = expected.as_array().into_iter().flatten().collect();
    for (number, resource) in expected.iter().enumerate() {
        let Some((plane, found)) = made.get(number) else {
            return Err(format!("resource {number} is missing: {}", resource["object"]));
        };
        if *plane != resource["targetPlane"].as_str().unwrap_or_default() {
            return Err(format!("resource {number} is for the plane {plane}"));
        }
        if !found.is_equal(&node(&resource["object"], &sources)) {
            return Err(format!("resource {number} is {}, but should be {}", to_inline(found), resource["object"]));
        }
    }
    match made.get(expected.len()) {
        Some((_, extra)) => Err(format!("{} is not expected", to_inline(extra))),
        None => Ok(()),
    }
}

/// The input of the platform's pipeline.
pub(super) fn input(case: &Value) -> Result<(), String> {
    let sources = Sources::default();
    let made = render_input(case, &sources).map_err(|failure| (failure.stage.name().to_owned(), failure.message));
    compare(made, &case["expect"])
}

fn render_input(case: &Value, sources: &Sources) -> Result<Vec<PlacedResource>, RenderFailure> {
    let limits = Limits::default();
    let given = &case["input"];
    let part = |key: &str| given.get(key).filter(|part| !part.is_null()).map(|part| node(part, sources));
    let empty = node(&json!({}), sources);
    let spec = |node: Option<Node>| node.and_then(|node| node.get("spec").cloned()).unwrap_or_else(|| empty.clone());
    let reader = CelReader { sources, limits: &limits, programs: None, is_deferred: true };
    let name = |node: &Value| node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let component_type = Definition::read(
        "ComponentType",
        &name(&given["componentType"]),
        &spec(part("componentType")),
        DATA_PLANE,
        &reader,
    );
    let traits = given["traits"].as_array().into_iter().flatten().map(|it| {
        let kind = it["kind"].as_str().filter(|kind| !kind.is_empty()).unwrap_or("Trait");
        Arc::new(Definition::read(kind, &name(it), &spec(Some(node(it, sources))), DATA_PLANE, &reader))
    });
    let traits: Vec<Arc<Definition>> = traits.collect();
    let secrets = |name: &str, key: &str| {
        let entries = given["secretReferences"][name]["spec"]["data"].as_array()?;
        let entry = entries.iter().find(|entry| entry["secretKey"] == key)?;
        Some(node(&entry["remoteRef"], sources))
    };
    let list = |key: &str| part(key).and_then(|list| list.as_list().map(<[Node]>::to_vec)).unwrap_or_default();
    let binding = part("releaseBinding");
    let environment = part("environment");
    let profile = spec(part("component"));
    let workload = spec(part("workload"));
    let data_plane = part("dataPlane").unwrap_or_else(|| empty.clone());
    let is_first = case["generation"] == json!(1);
    render(&RenderInput {
        generation: if is_first { Generation::First } else { Generation::Second },
        component_type: &component_type,
        traits: &traits,
        profile: &profile,
        workload: &workload,
        binding: binding.as_ref(),
        environment: environment.as_ref(),
        is_cluster_plane: given["dataPlane"]["kind"] == "ClusterDataPlane",
        data_plane: &data_plane,
        metadata: part("metadata").unwrap_or_else(|| empty.clone()),
        secrets: &secrets,
        dependencies: list("dependencyItems"),
        resource_dependencies: list("resourceDependencyItems"),
        channel: part("defaultNotificationChannel"),
        limits: &limits,
    })
}

/// Resources, or the stage that fails and why.
type Made = Result<Vec<PlacedResource>, (String, String)>;

fn compare(made: Made, expected: &Value) -> Result<(), String> {
    match (made, expected.get("error")) {
        (Ok(made), None) => {
            let made: Vec<(String, &Node)> = made.iter().map(|it| (it.plane.to_string(), &it.node)).collect();
            same_resources(&made, &expected["resources"])
        }
        (Ok(_), Some(error)) => Err(format!("it must fail: {error}")),
        (Err((stage, message)), None) => Err(format!("fails in {stage}: {message}")),
        (Err((stage, message)), Some(error)) => {
            let words = error["mentions"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let absent: Vec<&str> = words.filter(|word| !message.contains(word)).collect();
            match error["stage"] == json!(stage) && absent.is_empty() {
                true => Ok(()),
                false => Err(format!("fails in {stage} with `{message}`, but should fail with {error}")),
            }
        }
    }
}

/// One step of applying a trait.
pub(super) fn trait_step(case: &Value) -> Result<(), String> {
    if case["trait"].is_null() {
        // A trait that could not even be written down.
        return if case["expect"].get("error").is_some() { Ok(()) } else { Err("there is no trait".to_owned()) };
    }
    let step = case["step"].as_str().unwrap_or("all");
    let mut spec = case["trait"]["spec"].clone();
    for part in ["creates", "patches", "removes"].iter().filter(|part| step != "all" && step != **part) {
        spec.as_object_mut().map(|spec| spec.remove(*part));
    }
    let sources = Sources::default();
    let resources = case["resources"].as_array().into_iter().flatten().map(|resource| PlacedResource {
        plane: resource["targetPlane"].as_str().unwrap_or_default().into(),
        node: node(&resource["object"], &sources),
        origin: Default::default(),
    });
    let resources = resources.collect();
    let made = with_context(case, "Trait", &spec, &sources, |definition, inputs, limits| {
        definition.apply_trait(resources, "", inputs, limits).map_err(|trouble| trouble.message)
    });
    compare(made.map_err(|message| ("trait".to_owned(), message)), &case["expect"])
}

/// The templates of a type.
pub(super) fn renderer(case: &Value) -> Result<(), String> {
    let sources = Sources::default();
    let spec = json!({ "resources": case["templates"] });
    let made = with_context(case, "ComponentType", &spec, &sources, |definition, inputs, limits| {
        definition.render_templates("", true, inputs, limits).map_err(|trouble| trouble.message)
    });
    compare(made.map_err(|message| ("renderer".to_owned(), message)), &case["expect"])
}

fn with_context<T>(
    case: &Value,
    kind: &str,
    spec: &Value,
    sources: &Sources,
    act: impl FnOnce(&Definition, &Inputs<'_>, &Limits) -> T,
) -> T {
    let limits = Limits::default();
    let reader = CelReader { sources, limits: &limits, programs: None, is_deferred: true };
    // What names no plane is for any.
    let definition = Definition::read(kind, "", &node(spec, sources), "", &reader);
    let context = node(&case["context"], sources);
    let entries = context.as_map().map(|map| map.entries()).unwrap_or_default();
    let inputs = entries.iter().fold(Inputs::default(), |inputs, it| inputs.with(&it.key.name, &it.value));
    act(&definition, &inputs, &limits)
}
