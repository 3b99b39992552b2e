//! OpenChoreo: what its platform renders, step by step and as a whole, and what is wrong with documents.

mod checking;
mod rendering;

use std::collections::BTreeMap;
use std::path::Path;

use outcrop::document::{self, Format};
use outcrop::layout::openchoreo::{ShorthandOptions, expand_shorthand};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::Value;

use super::{CaseResult, cases, name_of};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    cases(folder).iter().map(|case| (name_of(case), check(case))).collect()
}

fn check(case: &Value) -> Result<(), String> {
    let form = case["form"].as_str().unwrap_or_default();
    match form {
        "documents" if case.get("unit").is_some() => rendering::unit(case),
        "documents" => checking::documents(case),
        "input" => rendering::input(case),
        "trait" => rendering::trait_step(case),
        "renderer" => rendering::renderer(case),
        "shorthand" => shorthand(case),
        _ if form.starts_with("check-") => checking::upstream(form, case),
        _ => Err(format!("the form `{form}` is not known")),
    }
}

fn shorthand(case: &Value) -> Result<(), String> {
    let sources = Sources::default();
    let fields = node(&case["fields"], &sources);
    let types = case.get("types").filter(|types| !types.is_null()).map(|types| node(types, &sources));
    let option = |name: &str| case["options"][name].as_bool().unwrap_or(false);
    let options = ShorthandOptions {
        closes_maps: option("SetAdditionalPropertiesFalse"),
        trusts_defaults: option("SkipDefaultValidation"),
    };
    let made = expand_shorthand(&fields, types.as_ref(), options);
    match (made, case["expect"].get("schema")) {
        (Ok(made), Some(expected)) => same(&made, expected, &sources),
        (Err(_), None) => Ok(()),
        (Ok(made), None) => Err(format!("is {}, but should fail", document::write::to_inline(&made))),
        (Err(error), Some(_)) => Err(format!("fails: {}", error.message)),
    }
}

fn same(made: &Node, expected: &Value, sources: &Sources) -> Result<(), String> {
    match made.is_equal(&node(expected, sources)) {
        true => Ok(()),
        false => Err(format!("is {}, but should be {expected}", document::write::to_inline(made))),
    }
}

fn node(value: &Value, sources: &Sources) -> Node {
    let text = value.to_string();
    let source = sources.add(SourceText::new(RepoPath::root(), "vectors", text.as_str()));
    document::parse(&text, source, Format::Json, &Limits::default()).value.remove(0).root
}

/// Documents as files: those that name no file have one each.
fn snapshot(documents: &Value) -> MemorySnapshot {
    let mut files: BTreeMap<String, String> = BTreeMap::new();
    for (number, document) in documents.as_array().into_iter().flatten().enumerate() {
        let (file, document) = match document.get("document") {
            Some(inner) => (document["file"].as_str().unwrap_or_default().to_owned(), inner),
            None => (format!("{number:03}.yaml"), document),
        };
        files.entry(file).or_default().push_str(&format!("---\n{document}\n"));
    }
    files.iter().fold(MemorySnapshot::new("vectors"), |snapshot, (file, text)| {
        // A JSON file holds one document.
        let text = if file.ends_with(".json") { text.trim_start_matches("---\n") } else { text };
        snapshot.with(RepoPath::new(file).expect("a path"), text.as_bytes())
    })
}
