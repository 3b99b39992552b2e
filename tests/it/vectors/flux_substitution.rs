//! The language of `${…}` in Flux, through a Kustomization that substitutes variables in a ConfigMap.

use std::path::Path;

use outcrop::layout::kustomize::Built;
use outcrop::path::RepoPath;
use outcrop::snapshot::MemorySnapshot;
use outcrop::value::Node;
use serde_json::{Value, json};

use super::kustomize::build_object;
use super::{CaseResult, read};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    let parse = |text: &str| -> Result<Vec<Value>, String> {
        let file: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        file["rows"].as_array().cloned().ok_or_else(|| "a file of rows has `rows`".to_owned())
    };
    let is_name = |name: &String| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
    };
    let is_possible = |row: &Value| row["vars"].as_object().expect("a row has vars").keys().all(is_name);
    let rows = read(folder, parse).into_iter();
    // The language knows more names than Flux does: a Kustomization with such a variable is refused before anything is substituted.
    let result = |row: &Value| if is_possible(row) { check(row) } else { check_refused(row) };
    rows.map(|row| (row["text"].as_str().unwrap_or_default().escape_debug().to_string(), result(&row))).collect()
}

/// A last line keeps the text a string, whatever it says.
const END: &str = "\nend";

fn check(row: &Value) -> Result<(), String> {
    let built = built(row);
    let data = built.resources.first().and_then(|resource| resource.node.get("data")?.get("k")).and_then(Node::as_str);
    match (row.get("expect").and_then(Value::as_str), data) {
        (None, None) if built.is_failed => Ok(()),
        (Some(expected), Some(found)) if found.strip_suffix(END) == Some(expected) => Ok(()),
        (expected, found) => Err(format!("{found:?} is found, and {expected:?} is expected")),
    }
}

fn check_refused(row: &Value) -> Result<(), String> {
    if built(row).is_failed { Ok(()) } else { Err("a name that Flux refuses is accepted".to_owned()) }
}

fn built(row: &Value) -> Built {
    let text = row["text"].as_str().expect("a row has a text");
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": format!("{text}{END}")}});
    let snapshot =
        MemorySnapshot::new("test").with(RepoPath::new("app/a.yaml").expect("a path"), map.to_string().into_bytes());
    let object = json!({
        "apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization", "metadata": {"name": "app"},
        "spec": {"path": "app", "postBuild": {"substitute": row["vars"], "substituteStrategy": "Always"}},
    });
    build_object(&object.to_string(), &snapshot)
}
