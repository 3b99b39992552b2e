//! What one side answers.

use std::collections::BTreeMap;

use outcrop::document::{self, Format};
use outcrop::limits::Limits;
use outcrop::metadata::plan::{self, FileEdit};
use outcrop::metadata::{self, InLists, Layers, MetadataPath, Operation, PayloadType};
use outcrop::path::{LogicalPath, Pointer, RepoPath};
use outcrop::request::{self, Flavour};
use outcrop::settings::Root;
use outcrop::side::{Side, WantedRequests};
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::{Value, json};

use super::{Answer, Failure, sound, text, to_json, validation, with_side};

pub(super) fn answer(given: &Value) -> Answer {
    match text(&given["op"]) {
        "bundle" => with_side(given, |side| {
            let root = side.settings.metadata_root.as_ref().map(ToString::to_string);
            Ok(json!({ "metadataRoot": root }))
        }),
        "set" => set(given),
        "selectors" => with_side(given, |side| {
            let shown = |selector: &MetadataPath| ordered(&side.selector_metadata(selector).to_node());
            let all: BTreeMap<String, Value> =
                side.selectors().keys().map(|selector| (selector.to_string(), shown(selector))).collect();
            Ok(json!({ "selectors": all }))
        }),
        "payload" => with_side(given, |side| {
            let resource = side.find(&path(given)?).ok_or_else(|| validation("there is no resource"))?;
            let (_, extension) = resource.file.stem_and_extension().unwrap_or_default();
            let kind = PayloadType::of_extension(extension);
            let payload = match kind.name {
                "octet-stream" => json!({ "$base64": resource.payload.as_str() }),
                _ => to_json(&resource.payload),
            };
            Ok(json!({ "payload": payload, "type": kind.name }))
        }),
        _ => with_side(given, |side| ask(given, side)),
    }
}

fn ask(given: &Value, side: &Side<'_>) -> Answer {
    let selector = MetadataPath::parse(text(&given["path"])).map_err(validation)?;
    let roots = side.settings.layer_roots();
    let root: Root = roots.all()[0].clone();
    let stored = side.stored_metadata(&selector, &root);
    match text(&given["op"]) {
        "resolve" => {
            let layers = side.layers().layers_at(&root.path).expect("there are layers");
            let found = metadata::resolve_text(&selector, layers);
            sound(&found.findings)?;
            Ok(json!({ "resolved": ordered(&found.value.to_node()) }))
        }
        "view" => {
            sound(&stored.findings)?;
            let view = metadata::view(&stored.value, Format::Json, side.sources);
            Ok(json!({ "resolved": to_json(&view.to_node()) }))
        }
        "required" => {
            let required = metadata::required_attributes(&stored.value, operation(given)?);
            Ok(json!({ "required": required.iter().map(ToString::to_string).collect::<Vec<_>>() }))
        }
        "operation" => {
            let mut made = requests(given, side, &selector, &root)?;
            Ok(json!({ "operation": made.remove(0) }))
        }
        "validate" => requests(given, side, &selector, &root).map(|_| json!({ "valid": true })),
        "defaults" => {
            sound(&stored.findings)?;
            let path = path(given)?;
            let resource = side.find(&path).ok_or_else(|| validation("there is no resource"))?;
            sound(&side.file(&resource.file).findings)?;
            Ok(json!({ "payload": to_json(&resource.payload) }))
        }
        "secrets" => {
            let resource = side.find(&path(given)?).ok_or_else(|| validation("there is no resource"))?;
            let hidden = side.shown_payload(resource.clone()).expect("it has a payload");
            let declared = stored.value.secret_attributes().places(&resource.payload, InLists::Nothing);
            let mut masked = resource.payload.clone();
            for place in declared {
                // What metadata declares is never shown; names in lists are hidden beside it, to be safe.
                let is_hidden =
                    hidden.at(&place).is_none_or(|node| node.holds_secret() || node.as_str() == Some("•••"));
                assert!(is_hidden || hidden.holds_secret(), "{place} is shown");
                let placeholder = Node::text(metadata::PLACEHOLDER, masked.span);
                masked = if place.tokens().is_empty() { placeholder } else { masked.with_at(&place, placeholder) };
            }
            Ok(json!({ "masked": to_json(&masked) }))
        }
        _ => of_subject(given, side, &selector, &root),
    }
}

/// What is asked about a path with its payload: scope, identity, transforms.
fn of_subject(given: &Value, side: &Side<'_>, selector: &MetadataPath, root: &Root) -> Answer {
    let subject = side.subject_at(selector, root);
    sound(&subject.findings)?;
    let subject = subject.value;
    let target = subject.target(side);
    match text(&given["op"]) {
        "scope" => {
            let scoped = request::scope_for(&target, Operation::Get);
            Ok(json!({ "scope": to_json(&scoped.scope().root) }))
        }
        "identity" => {
            let identity = metadata::identify(target.metadata, target.path, target.payload);
            sound(&identity.findings)?;
            let identity = identity.value;
            Ok(json!({ "alias": identity.alias.as_str(), "remoteId": identity.remote_id.as_str() }))
        }
        "transform" => {
            let value = node(&given["value"], side.sources);
            let operation = operation(given)?;
            let scoped = request::scope_for(&target, operation);
            let flavour = if operation == Operation::Compare { Flavour::Compare } else { Flavour::Request };
            let changed = request::transform(&value, &target, operation, &scoped, flavour);
            let changed = changed.map_err(|finding| Failure::of(&finding))?;
            Ok(json!({ "value": to_json(&changed) }))
        }
        other => Err(Failure { kind: "internal", text: format!("unknown operation {other}") }),
    }
}

fn requests(given: &Value, side: &Side<'_>, selector: &MetadataPath, root: &Root) -> Result<Vec<Value>, Failure> {
    let made = side.requests(selector, root, WantedRequests::One(operation(given)?));
    let texts: Vec<String> =
        made.findings.iter().filter(|finding| finding.is_error()).map(|finding| finding.message.clone()).collect();
    if let Some(first) = made.findings.iter().find(|finding| finding.is_error()) {
        return Err(Failure { kind: Failure::of(first).kind, text: texts.join("\n") });
    }
    let shown = made.value.requests.iter().map(|made| {
        let request = &made.request;
        let query: BTreeMap<&str, &str> =
            request.query.iter().map(|(name, part)| (name.as_str(), part.text.as_str())).collect();
        // Media headers that only come from defaults are not part of a case.
        let said = request.headers.iter().filter(|(_, part)| part.at.is_some());
        let headers: BTreeMap<&str, &str> = said.map(|(name, part)| (name.as_str(), part.text.as_str())).collect();
        let mut shown = json!({
            "method": request.method.text, "path": request.path.text, "query": query, "headers": headers,
        });
        if let Some(body) = &request.body {
            shown["body"] = to_json(body);
        }
        shown
    });
    Ok(shown.collect())
}

fn set(given: &Value) -> Answer {
    let snapshot = super::snapshot(&given["files"], &json!({}));
    let (sources, limits) = (Sources::default(), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), &sources, &limits);
    let selector = MetadataPath::parse(text(&given["path"])).map_err(validation)?;
    let pointer = Pointer::parse(text(&given["pointer"])).map_err(validation)?;
    let value = given["value"].as_str().map_or_else(|| given["value"].to_string(), str::to_owned);
    let plan = plan::set_field(&selector, &pointer, &value, &layers, Format::Json).map_err(|findings| {
        let error = findings.iter().find(|finding| finding.is_error());
        Failure::of(error.expect("a refusal has a reason"))
    })?;
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (path, content) in given["files"].as_object().into_iter().flatten() {
        files.insert(path.clone(), content.as_str().map_or_else(|| content.to_string(), str::to_owned));
    }
    for edit in plan.edits {
        match edit {
            FileEdit::Write { path, text } => files.insert(path.to_string(), text),
            FileEdit::Remove { path } => files.remove(&path.to_string()),
        };
    }
    let parsed: BTreeMap<&String, Value> =
        files.iter().map(|(path, content)| (path, to_json(&node(&Value::String(content.clone()), &sources)))).collect();
    Ok(json!({ "files": parsed }))
}

/// A document of metadata whose transforms are lists, in the order they run: maps of JSON have none.
fn ordered(node: &Node) -> Value {
    const KINDS: [&str; 3] = ["filterAttributes", "suppressAttributes", "jqExpression"];
    let mut value = to_json(node);
    let operations = node.get("operationInfo").and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default();
    for entry in operations {
        let name = entry.key.name.as_str();
        let (fields, at) = match name {
            "compareResources" => (Some(&entry.value), &mut value["operationInfo"][name]),
            _ => (entry.value.get("payload"), &mut value["operationInfo"][name]["payload"]),
        };
        let fields = fields.and_then(Node::as_map).map(|map| map.entries()).unwrap_or_default().iter();
        let kinds: Vec<_> = fields.filter(|field| KINDS.contains(&field.key.name.as_str())).collect();
        if kinds.is_empty() {
            if at.is_null() {
                value["operationInfo"][name].as_object_mut().map(|operation| operation.remove("payload"));
            }
            continue;
        }
        let steps: Vec<Value> =
            kinds.iter().map(|field| json!({ field.key.name.as_str(): to_json(&field.value) })).collect();
        if let Some(map) = at.as_object_mut() {
            map.retain(|key, _| !KINDS.contains(&key.as_str()));
            map.insert("transforms".to_owned(), steps.into());
        }
    }
    value
}

fn path(given: &Value) -> Result<LogicalPath, Failure> {
    LogicalPath::parse(text(&given["path"])).map_err(validation)
}

fn operation(given: &Value) -> Result<Operation, Failure> {
    let name = text(&given["operation"]);
    Operation::parse(name).ok_or_else(|| validation(format!("unknown operation {name}")))
}

/// A value, or the value of a text.
fn node(value: &Value, sources: &Sources) -> Node {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let source = sources.add(SourceText::new(RepoPath::root(), "test", text.as_str()));
    document::parse(&text, source, Format::Yaml, &Limits::default()).value.remove(0).root
}
