//! DeclaREST of every generation: metadata, payloads, requests, secrets, selectors, writing, and two revisions compared.

mod asked;
mod spelling;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use outcrop::comparison::{ComparedViews, Comparison, Options};
use outcrop::document::write;
use outcrop::finding::{Finding, has_errors};
use outcrop::limits::Limits;
use outcrop::metadata::{MetadataPath, is_metadata_file};
use outcrop::path::RepoPath;
use outcrop::settings::{Configuration, Given, Policy};
use outcrop::side::Side;
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::Sources;
use outcrop::value::Node;
use serde_json::{Value, json};

use super::{CaseResult, cases, name_of};
use crate::program::{binary, run as run_program};

/// What a stage can answer: a value, or an error with its kind and words.
type Answer = Result<Value, Failure>;

struct Failure {
    kind: &'static str,
    text: String,
}

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    cases(folder).iter().map(|case| (name_of(case), run_case(case))).collect()
}

fn run_case(case: &Value) -> Result<(), String> {
    let given = &case["given"];
    let answer = match text(&given["op"]) {
        "change" => change(given),
        "change-payload" => change_payload(given),
        "selectors-change" => selectors_change(given),
        "repository" => match repository(given) {
            Some(answer) => answer,
            None => return Ok(()),
        },
        _ => asked::answer(given),
    };
    match (&case["error"], answer) {
        (Value::Null, Ok(answer)) => check(&answer, &case["expect"]),
        (Value::Null, Err(failure)) => Err(format!("unexpected {} error: {}", failure.kind, failure.text)),
        (_, Ok(answer)) => Err(format!("expected an error, got {answer}")),
        (error, Err(failure)) => {
            let contains = text(&error["contains"]).to_lowercase();
            match failure.kind == text(&error["kind"]) && failure.text.to_lowercase().contains(&contains) {
                true => Ok(()),
                false => Err(format!("expected {error}, got {}: {}", failure.kind, failure.text)),
            }
        }
    }
}

/// Every key of the expectation must be met; one that ends in `_subset` may find more than it names.
fn check(answer: &Value, expect: &Value) -> Result<(), String> {
    for (key, wanted) in expect.as_object().into_iter().flatten() {
        let (key, is_subset) = key.strip_suffix("_subset").map_or((key.as_str(), false), |key| (key, true));
        if key == "absent" {
            let names = wanted.as_array().into_iter().flatten().map(text);
            if let Some(name) = names.into_iter().find(|name| answer["scope"].get(name).is_some()) {
                return Err(format!("{name} is in scope: {}", answer["scope"]));
            }
            continue;
        }
        let (mut found, mut wanted) = (answer[key].clone(), wanted.clone());
        if matches!(key, "resolved" | "selectors") {
            spelling::normalise(&mut found);
            spelling::normalise(&mut wanted);
        }
        if key == "operation" {
            spelling::lower_headers(&mut found);
            spelling::lower_headers(&mut wanted);
        }
        if matches!(key, "same" | "added" | "removed")
            && let (Some(found), Some(wanted)) = (found.as_array_mut(), wanted.as_array_mut())
        {
            found.sort_by_key(|path| text(path).to_owned());
            wanted.sort_by_key(|path| text(path).to_owned());
        }
        if !is_met(&found, &wanted, is_subset) {
            return Err(format!("{key}: expected {wanted}, got {found}"));
        }
    }
    Ok(())
}

fn is_met(found: &Value, wanted: &Value, is_subset: bool) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            let same_size = is_subset || found.len() == wanted.len();
            let met = |(key, wanted)| found.get(key).is_some_and(|found| is_met(found, wanted, is_subset));
            same_size && wanted.iter().all(met)
        }
        (Value::Array(found), Value::Array(wanted)) => {
            let mut pairs = found.iter().zip(wanted);
            found.len() == wanted.len() && pairs.all(|(found, wanted)| is_met(found, wanted, false))
        }
        (Value::Number(found), Value::Number(wanted)) => found.as_f64() == wanted.as_f64(),
        _ => found == wanted,
    }
}

/// The given files, and a configuration that says where resources and metadata are.
fn snapshot(files: &Value, given: &Value) -> MemorySnapshot {
    let format = if text(&given["format"]) == "yaml" { "yaml" } else { "json" };
    let mut configuration = format!("roots: [{{path: ., layout: declarest, format: {format}}}]\n");
    match (given["shared"].as_str(), given["root"].as_str()) {
        (Some(shared), Some(root)) => configuration += &format!("metadata: {{root: {shared}, overlay: {root}}}\n"),
        (_, Some(root)) => configuration += &format!("metadata: {{root: {root}}}\n"),
        _ => {}
    }
    let mut all: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    all.insert("outcrop.yaml".to_owned(), configuration.into_bytes());
    for (path, content) in files.as_object().into_iter().flatten() {
        let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        all.insert(path.clone(), content.into_bytes());
    }
    if let (Some(payload), Some(path)) = (given.get("payload"), given["path"].as_str()) {
        all.insert(format!("{}/resource.json", path.trim_matches('/')), payload.to_string().into_bytes());
    }
    all.into_iter().fold(MemorySnapshot::new("test"), |snapshot, (path, content)| {
        snapshot.with(RepoPath::new(&path).unwrap(), content)
    })
}

/// Asks one side.
fn with_side<T>(given: &Value, ask: impl FnOnce(&Side<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
    let snapshot = snapshot(&given["files"], given);
    let (sources, limits) = (Arc::new(Sources::default()), Limits::default());
    let configuration = Configuration::of_one(&snapshot, &sources);
    sound(configuration.findings())?;
    let settings = &configuration.after;
    ask(&Side::new(Given { snapshot: &snapshot, settings, sources: &sources, limits: &limits }, &[], false))
}

/// The report of a comparison as programs read it.
fn compared(before: &MemorySnapshot, after: &MemorySnapshot) -> Value {
    // Requests would need payloads that a case about metadata does not have.
    let views = ComparedViews { requests: false, ..ComparedViews::default() };
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(before, after, Policy::Base, &sources);
    let report =
        Comparison::new(before, after, &configuration, &sources, Options { views, ..Options::default() }).compare();
    let mut out = Vec::new();
    outcrop::report::json::write(&report, &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

/// The effective metadata of one resource on two sides.
fn change(given: &Value) -> Answer {
    let with_resource = |files: &Value| {
        let mut files = files.clone();
        let path = text(&given["path"]).trim_matches('/').to_owned();
        files[format!("{path}/resource.json")] = json!({});
        snapshot(&files, given)
    };
    let report = compared(&with_resource(&given["before"]), &with_resource(&given["after"]));
    fail_on_errors(&report)?;
    let resource = report["resources"].as_array().into_iter().flatten();
    let resource = resource.into_iter().find(|resource| resource["id"] == given["path"]);
    let mut changed: Vec<String> = Vec::new();
    for change in resource.and_then(|resource| resource["metadata"].as_array()).into_iter().flatten() {
        changed.push(spelling::pointer(change));
    }
    changed.sort();
    changed.dedup();
    let verdict = if changed.is_empty() { "same" } else { "differs" };
    Ok(json!({ "verdict": verdict, "changed": changed }))
}

fn change_payload(given: &Value) -> Answer {
    let report = compared(&snapshot(&given["before"], given), &snapshot(&given["after"], given));
    fail_on_errors(&report)?;
    let (mut changed, mut same) = (serde_json::Map::new(), Vec::new());
    for path in given["paths"].as_array().into_iter().flatten() {
        let resource = report["resources"].as_array().into_iter().flatten().find(|resource| resource["id"] == *path);
        let changes = resource.and_then(|resource| resource["changes"].as_array()).cloned().unwrap_or_default();
        match changes.is_empty() {
            true => same.push(path.clone()),
            false => {
                let pointers: Vec<Value> = changes.iter().map(|change| change["path"].clone()).collect();
                changed.insert(text(path).to_owned(), pointers.into());
            }
        }
    }
    Ok(json!({ "changed": changed, "same": same }))
}

fn selectors_change(given: &Value) -> Answer {
    let (before, after) = (snapshot(&given["before"], given), snapshot(&given["after"], given));
    let report = compared(&before, &after);
    let known = |files: &Value| -> Vec<String> {
        with_side(&json!({ "files": files, "root": given["root"] }), |side| {
            Ok(side.selectors().keys().map(ToString::to_string).collect())
        })
        .unwrap_or_default()
    };
    selectors(&report, &known(&given["before"]), &known(&given["after"]))
}

/// What a report says about selectors.
fn selectors(report: &Value, before: &[String], after: &[String]) -> Answer {
    fail_on_errors(report)?;
    let (mut changed, mut fallback) = (serde_json::Map::new(), serde_json::Map::new());
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    let subjects = report["resources"].as_array().into_iter().flatten();
    for subject in subjects.filter(|subject| subject["subject"] == "selector") {
        let id = text(&subject["id"]).to_owned();
        let mut pointers: Vec<String> =
            subject["changes"].as_array().into_iter().flatten().map(spelling::pointer).collect();
        pointers.sort();
        pointers.dedup();
        match text(&subject["status"]) {
            "added" => added.push(id.clone()),
            "removed" => removed.push(id.clone()),
            _ if pointers.is_empty() => continue,
            _ => {
                changed.insert(id, pointers.into());
                continue;
            }
        }
        fallback.insert(id, pointers.into());
    }
    let is_same = |selector: &&String| after.contains(selector) && !changed.contains_key(*selector);
    let same: Vec<&String> = before.iter().filter(is_same).collect();
    Ok(json!({ "changed": changed, "same": same, "added": added, "removed": removed, "fallback": fallback }))
}

/// Two commits of a public repository; nothing without a copy of it.
fn repository(given: &Value) -> Option<Answer> {
    let copy = super::copy_of(text(&given["repository"]))?;
    let outcrop = |arguments: &[&str]| {
        let ran = run_program(std::process::Command::new(binary()).args(arguments).current_dir(&copy));
        serde_json::from_str::<Value>(&ran.stdout).map_err(|_| Failure { kind: "internal", text: ran.stderr })
    };
    let (before, after) = (text(&given["before"]), text(&given["after"]));
    let git =
        |arguments: &[&str]| run_program(std::process::Command::new("git").args(arguments).current_dir(&copy)).stdout;
    let known = |revision: &str| -> Result<Vec<String>, Failure> {
        let bundle = git(&["show", &format!("{revision}:bundle.yaml")]);
        let root = bundle.lines().find_map(|line| line.trim().strip_prefix("metadataRoot:")).unwrap_or_default();
        let root = RepoPath::new(root.trim().trim_matches(['"', '\''])).map_err(validation)?;
        let files = git(&["ls-tree", "-r", "--name-only", revision]);
        let selector = |file: &str| {
            let directory = RepoPath::new(file).ok().filter(|file| is_metadata_file(file.file_name()))?.parent()?;
            Some(MetadataPath::of_directory(&directory.below(&root)?)?.to_string())
        };
        Ok(files.lines().filter_map(selector).collect())
    };
    Some((|| {
        let report = outcrop(&["diff", "--format", "json", before, after])?;
        selectors(&report, &known(before)?, &known(after)?)
    })())
}

fn fail_on_errors(report: &Value) -> Result<(), Failure> {
    let findings = report["findings"].as_array().into_iter().flatten();
    match findings.into_iter().find(|finding| finding["severity"] == "error") {
        Some(finding) => Err(Failure { kind: "validation", text: text(&finding["message"]).to_owned() }),
        None => Ok(()),
    }
}

fn sound(findings: &[Finding]) -> Result<(), Failure> {
    match has_errors(findings) {
        true => Err(Failure::of(findings.iter().find(|finding| finding.is_error()).expect("there is one"))),
        false => Ok(()),
    }
}

fn validation(error: impl ToString) -> Failure {
    Failure { kind: "validation", text: error.to_string() }
}

impl Failure {
    fn of(finding: &Finding) -> Self {
        let text = format!("{}\n{}", finding.message, finding.help.as_deref().unwrap_or_default());
        let kind = match finding.rule.kind.name() {
            "not_found" => "validation",
            kind => kind,
        };
        Self { kind, text }
    }
}

fn to_json(node: &Node) -> Value {
    serde_json::from_str(&write::to_json(node)).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
