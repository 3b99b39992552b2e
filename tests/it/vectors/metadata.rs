//! Metadata: layers, canonical documents, places, identity, masking, templates, requests, inference.

mod inference;
mod requests;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use outcrop::document::{self, Document, write};
use outcrop::finding::{Finding, Outcome, has_errors};
use outcrop::limits::Limits;
use outcrop::metadata::plan::{self, FileEdit, Planned};
use outcrop::metadata::{self, EffectiveMetadata, Layers, MetadataPath};
use outcrop::names::Format;
use outcrop::path::{LogicalPath, RepoPath};
use outcrop::settings::{Given, Root, RootLayout, Roots, Settings};
use outcrop::side::Side;
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::{Value, json};

use super::{CaseResult, cases, name_of};

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
    let answer = answer(&case["given"]);
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

fn answer(given: &Value) -> Answer {
    let format = if text(&given["format"]) == "yaml" { Format::Yaml } else { Format::Json };
    let sources = Sources::default();
    match text(&given["op"]) {
        "resolve" => Ok(json!({ "resolved": shown(&resolved(given, &sources)?) })),
        "view" => {
            let view = metadata::view(&resolved(given, &sources)?, format, &sources);
            Ok(json!({ "resolved": shown(&view) }))
        }
        "format-tokens" => {
            let metadata = metadata(given, &sources)?;
            Ok(json!({ "metadata": shown(&metadata::render_format(&metadata, format)) }))
        }
        "check-metadata" => {
            sound(metadata::canonical(&document(&given["input"], format, &sources)?))?;
            Ok(json!({ "valid": true }))
        }
        "canonicalize" => {
            let canonical = sound(metadata::canonical(&document(&given["input"], format, &sources)?))?;
            let written = write_and_read(&canonical, format, &sources)?;
            Ok(json!({ "output": to_json(&written) }))
        }
        "locate" => {
            let path = metadata_path(given)?;
            let file = path.file(&RepoPath::root(), format).map_err(validation)?;
            Ok(json!({
                "selector": path.to_string(), "collection": path.is_collection(), "file": file.to_string(),
            }))
        }
        "set" => {
            let input = document(&given["input"], format, &sources)?;
            stored(given, &sources, |path, layers| plan::replace(path, &input, layers, format))
        }
        "unset" => stored(given, &sources, plan::remove),
        "list-resources" => list_resources(given),
        "identity" => {
            let payload = document(&given["payload"], Format::Json, &sources)?;
            let identity = sound(metadata::identify(&metadata(given, &sources)?, &logical_path(given)?, &payload))?;
            Ok(json!({ "alias": identity.alias.as_str(), "remoteId": identity.remote_id.as_str() }))
        }
        "identity-list-item" => {
            let payload = document(&given["payload"], Format::Json, &sources)?;
            let identity = metadata::identify_list_item(&metadata(given, &sources)?, &payload);
            let identity = identity.map_err(|finding| Failure::of(&finding))?;
            Ok(json!({ "alias": identity.alias.as_str(), "remoteId": identity.remote_id.as_str() }))
        }
        "mask" => mask(given, &sources),
        "infer" => inference::infer(given, &sources),
        "infer-apply" => inference::apply(given, format, &sources),
        "render" => requests::render(given, &sources),
        "scope" => requests::scope(given, format, &sources),
        "operation" => requests::operation(given, format, &sources),
        "payload" => requests::payload(given, format, &sources),
        "compare" => requests::compare(given, format, &sources),
        "list" => requests::list(given, format, &sources),
        "validate" => requests::validate(given, format, &sources),
        other => Err(Failure { kind: "internal", text: format!("unknown operation {other}") }),
    }
}

fn resolved(given: &Value, sources: &Sources) -> Result<EffectiveMetadata, Failure> {
    let (snapshot, limits) = (snapshot(given), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), sources, &limits);
    sound(metadata::resolve(&logical_path(given)?, &layers)).map(|metadata| (*metadata).clone())
}

fn metadata(given: &Value, sources: &Sources) -> Result<EffectiveMetadata, Failure> {
    sound(metadata::of_document(&document(&given["metadata"], Format::Json, sources)?))
}

/// Plans a change to the given files and returns the files that there are afterwards.
fn stored(given: &Value, sources: &Sources, plan: impl Fn(&MetadataPath, &Layers<'_>) -> Planned) -> Answer {
    let (snapshot, limits) = (snapshot(given), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), sources, &limits);
    let plan = plan(&metadata_path(given)?, &layers).map_err(|findings| first_error(&findings))?;
    let mut files: BTreeSet<String> = file_names(given);
    for edit in plan.edits {
        match edit {
            FileEdit::Write { path, .. } => files.insert(path.to_string()),
            FileEdit::Remove { path } => files.remove(&path.to_string()),
        };
    }
    Ok(json!({ "files": files }))
}

/// Shows the payload of a resource as requests show it, with `{{secret .}}` for what is hidden.
/// Shows the payload of a resource as requests show it, with `{{secret .}}` for what is hidden.
fn mask(given: &Value, sources: &Sources) -> Answer {
    let files = json!({ "a/b/metadata.json": given["metadata"], "a/b/resource.json": given["payload"] });
    let shown = with_side(&json!({ "files": files }), |side| {
        let resource = side.find(&LogicalPath::parse("/a/b").unwrap()).expect("the resource is found");
        write::to_json(&side.shown_payload(resource).expect("it has a payload"))
    });
    let masked = document(&Value::String(shown.replace("•••", metadata::PLACEHOLDER)), Format::Json, sources)?;
    Ok(json!({ "masked": to_json(&masked) }))
}

/// Asks a repository of declarest resources.
fn with_side<T>(given: &Value, ask: impl FnOnce(&Side<'_>) -> T) -> T {
    let snapshot = snapshot(given);
    let root = Root { path: RepoPath::root(), layout: RootLayout::Declarest, format: Format::Json };
    let settings = Settings { roots: Roots::new(vec![root]), ..Settings::default() };
    let (sources, limits) = (Arc::new(Sources::default()), Limits::default());
    ask(&Side::new(Given { snapshot: &snapshot, settings: &settings, sources: &sources, limits: &limits }, &[], false))
}

fn list_resources(given: &Value) -> Answer {
    let path = logical_path(given)?;
    let mut found = with_side(given, |side| {
        let mut found = Vec::new();
        let mut waiting = side.children(&path).to_vec();
        while let Some(path) = waiting.pop() {
            found.extend(side.find(&path).map(|_| path.to_string()));
            if given["recursive"] == true {
                waiting.extend(side.children(&path).iter().cloned());
            }
        }
        found
    });
    found.sort_unstable();
    Ok(json!({ "resources": found }))
}

fn snapshot(given: &Value) -> MemorySnapshot {
    let files = given["files"].as_object().into_iter().flatten();
    files.fold(MemorySnapshot::new("test"), |snapshot, (path, content)| {
        let content = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
        snapshot.with(RepoPath::new(path).unwrap(), content.into_bytes())
    })
}

fn file_names(given: &Value) -> BTreeSet<String> {
    given["files"].as_object().into_iter().flatten().map(|(path, _)| path.clone()).collect()
}

fn logical_path(given: &Value) -> Result<LogicalPath, Failure> {
    LogicalPath::parse(text(&given["path"])).map_err(validation)
}

fn metadata_path(given: &Value) -> Result<MetadataPath, Failure> {
    MetadataPath::parse(text(&given["path"])).map_err(validation)
}

/// A document given as text or as itself. Text is JSON unless the repository's format is YAML or it is no JSON.
fn document(value: &Value, format: Format, sources: &Sources) -> Result<Node, Failure> {
    let (text, is_text) = match value.as_str() {
        Some(text) => (text.to_owned(), true),
        None => (value.to_string(), false),
    };
    let is_yaml = is_text && (format == Format::Yaml || serde_json::from_str::<Value>(&text).is_err());
    let format = if is_yaml { Format::Yaml } else { Format::Json };
    let mut documents = sound(parse(&text, format, sources))?;
    match documents.len() {
        1 => Ok(documents.remove(0).root),
        count => Err(Failure { kind: "validation", text: format!("{count} documents") }),
    }
}

fn parse(text: &str, format: Format, sources: &Sources) -> Outcome<Vec<Document>> {
    let source = sources.add(SourceText::new(RepoPath::root(), "test", text));
    document::parse(text, source, format, &Limits::default())
}

/// What a file holds afterwards, not what was meant to be written.
fn write_and_read(node: &Node, format: Format, sources: &Sources) -> Result<Node, Failure> {
    let (text, format) = match format {
        Format::Json => (write::to_json(node), Format::Json),
        Format::Yaml => (write::to_yaml(node), Format::Yaml),
    };
    Ok(sound(parse(&text, format, sources))?.remove(0).root)
}

fn sound<T>(outcome: Outcome<T>) -> Result<T, Failure> {
    match has_errors(&outcome.findings) {
        true => Err(first_error(&outcome.findings)),
        false => Ok(outcome.value),
    }
}

fn first_error(findings: &[Finding]) -> Failure {
    let error = findings.iter().find(|finding| finding.is_error());
    Failure::of(error.expect("there is an error"))
}

fn validation(error: impl ToString) -> Failure {
    Failure { kind: "validation", text: error.to_string() }
}

impl Failure {
    fn of(finding: &Finding) -> Self {
        let text = format!("{}\n{}", finding.message, finding.help.as_deref().unwrap_or_default());
        Self { kind: finding.rule.kind.name(), text }
    }
}

fn shown(metadata: &EffectiveMetadata) -> Value {
    to_json(&metadata.to_node())
}

fn to_json(node: &Node) -> Value {
    serde_json::from_str(&write::to_json(node)).unwrap()
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
        normalise(&mut found);
        normalise(&mut wanted);
        // Only metadata is written without nulls; payloads may hold them.
        if has_null(&found) && matches!(key, "resolved" | "metadata" | "output" | "files" | "inferred" | "compact") {
            return Err(format!("{key}: a null was written: {found}"));
        }
        if !is_met(&found, &wanted, is_subset) {
            return Err(format!("{key}: expected {wanted}, got {found}"));
        }
    }
    Ok(())
}

/// Empty texts say nothing, and names of headers have no case.
fn normalise(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| value.as_str() != Some(""));
            map.iter_mut().filter(|(key, _)| *key != "body").for_each(|(_, value)| normalise(value));
            if let Some(headers) = map.get_mut("headers").and_then(Value::as_object_mut) {
                *headers =
                    std::mem::take(headers).into_iter().map(|(name, value)| (name.to_lowercase(), value)).collect();
            }
            if let Some(headers) = map.get_mut("httpHeaders").and_then(Value::as_array_mut) {
                for name in headers.iter_mut().filter_map(|header| header.get_mut("name")) {
                    *name = text(name).to_lowercase().into();
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(normalise),
        _ => {}
    }
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.iter().any(|(key, value)| key != "body" && has_null(value)),
        Value::Array(items) => items.iter().any(has_null),
        _ => false,
    }
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

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
