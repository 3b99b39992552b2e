//! Metadata proposed from OpenAPI documents, shown and stored.

use std::collections::BTreeMap;
use std::sync::Arc;

use outcrop::finding::Outcome;
use outcrop::limits::Limits;
use outcrop::metadata::openapi::{self, Inference, Inferred};
use outcrop::metadata::plan::{self, FileEdit};
use outcrop::metadata::{self, Layer, Layers};
use outcrop::names::Format;
use outcrop::path::RepoPath;
use outcrop::text::{SourceText, Sources, Span};
use outcrop::value::Node;
use serde_json::{Value, json};

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

use super::{Answer, Failure, document, first_error, metadata_path, snapshot, sound, to_json};

pub(super) fn infer(given: &Value, sources: &Sources) -> Answer {
    let existing = match &given["existing"] {
        Value::Null => None,
        existing => {
            Some(sound(metadata::of_document(&document(existing, Format::Json, sources)?))?.layers()[0].clone())
        }
    };
    let inferred = inferred(given, existing.as_ref(), sources)?;
    Ok(json!({ "inferred": to_json(&inferred.inferred), "compact": to_json(&inferred.compact) }))
}

pub(super) fn apply(given: &Value, format: Format, sources: &Sources) -> Answer {
    let (snapshot, limits) = (snapshot(given), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::root(), sources, &limits);
    let target = openapi::target(&metadata_path(given)?, openapi(given, sources)?.as_ref());
    let existing = layers.layer_at(&target.directory(&RepoPath::root()).unwrap());
    let inferred = inferred(given, existing.as_ref(), sources)?;
    let planned = plan::supplement(&inferred.path, &inferred.compact, &layers, format);
    let mut files: BTreeMap<String, Value> = given["files"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(path, content)| {
            (path.clone(), content.as_str().map_or_else(|| content.clone(), |text| read(text, sources)))
        })
        .collect();
    for edit in planned.map_err(|findings| first_error(&findings))?.edits {
        match edit {
            FileEdit::Write { path, text } => files.insert(path.to_string(), read(&text, sources)),
            FileEdit::Remove { path } => files.remove(&path.to_string()),
        };
    }
    Ok(json!({ "files": files }))
}

fn inferred(given: &Value, existing: Option<&Arc<Layer>>, sources: &Sources) -> Result<Inferred, Failure> {
    let path = metadata_path(given)?;
    let source = sources.add(SourceText::new(RepoPath::root(), "nowhere", ""));
    let nowhere = Span::new(source, 0, 0);
    if given["recursive"] == true {
        let ran = run(&mut outcrop(&TestRepo::new(), &["metadata", "infer", "--recursive", &path.to_string()]));
        assert_eq!(ran.code, 2, "{ran:?}");
        return Err(Failure { kind: "validation", text: ran.stderr });
    }
    let openapi = openapi(given, sources)?;
    let Outcome { value, findings } =
        openapi::infer(&Inference { path: &path, openapi: openapi.as_ref(), existing, nowhere });
    sound(Outcome { value, findings })
}

pub(super) fn openapi(given: &Value, sources: &Sources) -> Result<Option<Node>, Failure> {
    match &given["openapi"] {
        Value::Null => Ok(None),
        openapi => document(openapi, Format::Json, sources).map(Some),
    }
}

fn read(text: &str, sources: &Sources) -> Value {
    document(&Value::String(text.to_owned()), Format::Json, sources).map_or(Value::Null, |node| to_json(&node))
}
