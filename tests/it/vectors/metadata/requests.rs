//! Templates, requests, transforms, lists and validation: the cases of what would be sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use outcrop::diff::json_patch::{Operation, json_patch};
use outcrop::expression::template::Purpose;
use outcrop::finding::{Finding, Outcome};
use outcrop::limits::Limits;
use outcrop::metadata::openapi::ApiDocument;
use outcrop::metadata::{EffectiveMetadata, Layers, Operation as RequestOperation};
use outcrop::path::{LogicalPath, RepoPath};
use outcrop::request::{self, CompiledTemplates, Flavour, RequestTarget, ResourceLookup, Scoped};

use outcrop::names::Format;
use outcrop::text::Sources;
use outcrop::value::Node;
use serde_json::{Value, json};

use super::{Answer, Failure, document, logical_path, metadata, snapshot, sound, text, to_json};

pub(super) fn render(given: &Value, sources: &Sources) -> Answer {
    let field = given["field"].as_str().unwrap_or("path");
    let template = document(&json!([given["template"]]), Format::Json, sources)?;
    let root = document(&given["scope"], Format::Json, sources)?;
    let none = EffectiveMetadata::empty(root.span);
    let scene = Scene::new(sources, LogicalPath::root(), root.clone(), none, Format::Json);
    let scoped = Scoped::given(root, text(&given["format"]));
    let purpose = if matches!(field, "path" | "collectionPath") { Purpose::Path } else { Purpose::Text };
    let template = &template.as_list().unwrap()[0];
    let part = request::render(field, template, &scene.target(), &scoped, purpose);
    Ok(json!({ "rendered": part.map_err(|finding| Failure::of(&finding))?.text }))
}

pub(super) fn scope(given: &Value, format: Format, sources: &Sources) -> Answer {
    let scene = Scene::of(given, format, sources)?;
    let target = scene.target();
    let scoped = request::scope_for(&target, RequestOperation::Get);
    Ok(json!({ "scope": to_json(&scoped.scope().root) }))
}

pub(super) fn operation(given: &Value, format: Format, sources: &Sources) -> Answer {
    let scene = Scene::of(given, format, sources)?;
    let request = made(request::request(&scene.target(), operation_of(given)?))?;
    let texts = |parts: &[(_, request::RenderedPart)]| -> BTreeMap<String, String> {
        parts.iter().map(|(name, part): &(smol_str::SmolStr, _)| (name.to_string(), part.text.clone())).collect()
    };
    let mut shown = json!({
        "method": request.method.text, "path": request.path.text,
        "query": texts(&request.query), "headers": texts(&request.headers),
    });
    if let Some(body) = &request.body {
        shown["body"] = to_json(body);
    }
    Ok(json!({ "operation": shown }))
}

pub(super) fn payload(given: &Value, format: Format, sources: &Sources) -> Answer {
    let value = document(&given["value"], Format::Json, sources)?;
    let path = LogicalPath::parse("/some/resource").unwrap();
    let scene = Scene::new(sources, path, value.clone(), metadata(given, sources)?, format);
    let (target, operation) = (scene.target(), operation_of(given)?);
    let scoped = request::scope_for(&target, operation);
    let changed = request::transform(&value, &target, operation, &scoped, Flavour::Request);
    Ok(json!({ "value": to_json(&changed.map_err(|finding| Failure::of(&finding))?) }))
}

pub(super) fn compare(given: &Value, format: Format, sources: &Sources) -> Answer {
    let read = |side: &str| document(&given[side], Format::Json, sources);
    let (local, remote) = (read("local")?, read("remote")?);
    let scene = Scene::new(sources, logical_path(given)?, local.clone(), metadata(given, sources)?, format);
    let transformed = |side: &Node| {
        outcrop::request::compare_transform(side, &scene.target()).map_err(|finding| Failure::of(&finding))
    };
    let (local, remote) = (transformed(&local)?, transformed(&remote)?);
    let entries: BTreeMap<String, Value> = json_patch(&local, &remote)
        .iter()
        .map(|operation| {
            let (path, name) = match operation {
                Operation::Add { path, .. } => (path, "add"),
                Operation::Remove { path } => (path, "remove"),
                Operation::Replace { path, .. } => (path, "replace"),
            };
            let shown = |side: &Node| side.at(path).map_or(Value::Null, to_json);
            let entry =
                json!({ "path": path.to_string(), "operation": name, "local": shown(&local), "remote": shown(&remote) });
            (path.to_string(), entry)
        })
        .collect();
    let entries: Vec<Value> = entries.into_values().collect();
    Ok(json!({ "local": to_json(&local), "remote": to_json(&remote), "entries": entries }))
}

pub(super) fn list(given: &Value, format: Format, sources: &Sources) -> Answer {
    let response = document(&given["response"], Format::Json, sources)?;
    let scene = Scene::of(given, format, sources)?;
    let items = sound(request::list(&response, &scene.target()))?;
    let shown = |item: &request::ListItem| {
        json!({
            "logicalPath": item.path.as_str(), "alias": item.identity.alias.as_str(),
            "remoteId": item.identity.remote_id.as_str(), "payload": to_json(&item.payload),
        })
    };
    Ok(json!({ "items": items.iter().map(shown).collect::<Vec<_>>() }))
}

pub(super) fn validate(given: &Value, format: Format, sources: &Sources) -> Answer {
    let scene = Scene::of(given, format, sources)?;
    made(request::request(&scene.target(), operation_of(given)?))?;
    Ok(json!({ "valid": true }))
}

fn made<T>(outcome: Outcome<Option<T>>) -> Result<T, Failure> {
    // All that is wrong is reported; a case may ask for any of it.
    let all: Vec<Failure> = outcome.findings.iter().map(|finding: &Finding| Failure::of(finding)).collect();
    match (outcome.value, all.is_empty()) {
        (Some(value), true) => Ok(value),
        (_, true) => panic!("nothing came of it, and nothing is said"),
        (_, false) => {
            let texts: Vec<&str> = all.iter().map(|failure| failure.text.as_str()).collect();
            Err(Failure { kind: all[0].kind, text: texts.join("\n") })
        }
    }
}

fn operation_of(given: &Value) -> Result<RequestOperation, Failure> {
    let name = text(&given["operation"]);
    RequestOperation::parse(name)
        .ok_or_else(|| Failure { kind: "validation", text: format!("unknown operation {name}") })
}

/// A resource and what is around it.
struct Scene<'s> {
    path: LogicalPath,
    payload: Node,
    metadata: EffectiveMetadata,
    format: Format,
    around: Around,
    sources: &'s Sources,
    memo: CompiledTemplates,
}

/// Payloads and metadata of other resources.
#[derive(Default)]
struct Around {
    openapi: Option<Arc<ApiDocument>>,
    payloads: BTreeMap<String, Node>,
    metadata: BTreeMap<String, Arc<EffectiveMetadata>>,
}

impl<'s> Scene<'s> {
    fn new(
        sources: &'s Sources,
        path: LogicalPath,
        payload: Node,
        metadata: EffectiveMetadata,
        format: Format,
    ) -> Self {
        Self { path, payload, metadata, format, around: Around::default(), sources, memo: CompiledTemplates::default() }
    }

    fn of(given: &Value, format: Format, sources: &'s Sources) -> Result<Self, Failure> {
        let payload = document(&given["payload"], Format::Json, sources)?;
        let path = logical_path(given)?;
        let openapi =
            super::inference::openapi(given, sources)?.map(|root| Arc::new(ApiDocument::new(root, Default::default())));
        let mut around = Around { openapi, ..Around::default() };
        for (path, payload) in given["resources"].as_object().into_iter().flatten() {
            around.payloads.insert(path.clone(), document(payload, Format::Json, sources)?);
        }
        let metadata = match given["files"].is_null() {
            true => metadata(given, sources)?,
            false => around.read_files(given, &path, sources)?,
        };
        Ok(Self { around, ..Self::new(sources, path, payload, metadata, format) })
    }

    fn target(&self) -> RequestTarget<'_> {
        RequestTarget {
            path: &self.path,
            payload: &self.payload,
            metadata: &self.metadata,
            format: self.format,
            file_type: None,
            lookup: &self.around,
            sources: self.sources,
            memo: &self.memo,
        }
    }
}

impl Around {
    fn read_files(
        &mut self,
        given: &Value,
        path: &LogicalPath,
        sources: &Sources,
    ) -> Result<EffectiveMetadata, Failure> {
        let (snapshot, limits) = (snapshot(given), Limits::default());
        let layers = Layers::new(&snapshot, RepoPath::root(), sources, &limits);
        let resolved =
            |path: &LogicalPath| sound(outcrop::metadata::resolve(path, &layers)).map(|metadata| (*metadata).clone());
        for (file, content) in given["files"].as_object().into_iter().flatten() {
            let Some(directory) = file.strip_suffix("/resource.json").or(file.strip_suffix("/resource.yaml")) else {
                continue;
            };
            let path = LogicalPath::parse(&format!("/{directory}")).unwrap();
            self.payloads.insert(path.as_str().to_owned(), document(content, Format::Json, sources)?);
            self.metadata.insert(path.as_str().to_owned(), Arc::new(resolved(&path)?));
        }
        resolved(path)
    }
}

impl ResourceLookup for Around {
    fn payload(&self, path: &LogicalPath) -> Option<Node> {
        self.payloads.get(path.as_str()).cloned()
    }

    fn children(&self, collection: &LogicalPath) -> Vec<(LogicalPath, Node)> {
        let all = self.payloads.iter().map(|(path, payload)| (LogicalPath::parse(path).unwrap(), payload.clone()));
        all.filter(|(path, _)| path.parent().as_ref() == Some(collection)).collect()
    }

    fn metadata(&self, path: &LogicalPath) -> Option<Arc<EffectiveMetadata>> {
        self.metadata.get(path.as_str()).cloned()
    }

    fn openapi(&self) -> Outcome<Option<Arc<ApiDocument>>> {
        Outcome::clean(self.openapi.clone())
    }
}
