//! Kustomizations: what `kustomize build` prints, as a set of documents, or that it fails.

use std::path::Path;
use std::sync::Arc;

use outcrop::document::write::to_inline;
use outcrop::document::{self, Format};
use outcrop::layout::kustomize::{Built, Cache, build};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::settings::{Given, Settings};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::Value;

use super::{CaseResult, name_of, read};
use crate::program::project;

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    // What Flux adds to a kustomization is not built; nor are `quirk` and `optional` parts of upstream.
    let is_built = |case: &Value| ["flux", "quirk", "optional"].iter().all(|key| case.get(key).is_none());
    let parse = |text: &str| {
        let case = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(vec![case])
    };
    let mut cases = read(folder, parse);
    // The project's own cases are few; those that rest on kustomize's own tests are used where they are at hand.
    let shared = project().join("../shared/vectors/kustomize");
    if std::env::var_os("OUTCROP_VECTORS").is_none() && shared.is_dir() {
        cases.extend(read(&shared, parse));
    }
    cases.into_iter().filter(is_built).map(|case: Value| (name_of(&case), check(&case))).collect()
}

fn check(case: &Value) -> Result<(), String> {
    let mut snapshot = MemorySnapshot::new("test");
    for (path, content) in case["files"].as_object().expect("a case has files") {
        let bytes = match content {
            Value::String(text) => text.clone().into_bytes(),
            binary => from_base64(binary["base64"].as_str().expect("binary content")),
        };
        snapshot = snapshot.with(RepoPath::new(path).expect("a path"), bytes);
    }
    let (sources, limits, settings) = (Arc::new(Sources::default()), Limits::default(), Settings::default());
    let root = match case["root"].as_str().expect("a case has a root").trim_end_matches('/') {
        "." => RepoPath::root(),
        root => RepoPath::new(root).expect("a path"),
    };
    let given = Given { snapshot: &snapshot, settings: &settings, sources: &sources, limits: &limits };
    let built = build(&root, given, &Cache::default());
    let reasons = || built.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ");
    match (case.get("error"), built.is_failed) {
        (Some(_), true) => Ok(()),
        (Some(_), false) if case.get("strict_only").is_some() => Ok(()),
        (Some(error), false) => Err(format!("it must fail: {error}")),
        (None, true) => Err(format!("it fails: {}", reasons())),
        (None, false) => same_documents(&built, case),
    }
}

fn same_documents(built: &Built, case: &Value) -> Result<(), String> {
    for reference in case.get("opaque").and_then(Value::as_array).into_iter().flatten() {
        let reference = reference.as_str().unwrap_or_default();
        let is_there = built.leaves.iter().any(|leaf| {
            leaf.entry.as_str().is_some_and(|entry| entry == reference) || reference.contains(leaf.reference.as_str())
        });
        if !is_there {
            return Err(format!("`{reference}` is not reported as unresolved"));
        }
    }
    let mut expected: Vec<Node> = case["expect"].as_array().expect("documents").iter().map(read_json).collect();
    for resource in &built.resources {
        match expected.iter().position(|node| node.is_equal(&resource.node)) {
            Some(at) => drop(expected.remove(at)),
            None => return Err(format!("{} is not expected", to_inline(&resource.node))),
        }
    }
    match expected.first() {
        Some(missing) => Err(format!("{} is missing", to_inline(missing))),
        None => Ok(()),
    }
}

fn read_json(value: &Value) -> Node {
    let text = value.to_string();
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "vectors", text.as_str()));
    document::parse(&text, source, Format::Json, &Limits::default()).value.swap_remove(0).root
}

fn from_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u32> = text.chars().filter_map(|digit| ALPHABET.find(digit)).map(|at| at as u32).collect();
    let bytes = digits.chunks(4).flat_map(|group| {
        let bits = group.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - group.len()));
        bits.to_be_bytes()[1..group.len()].to_vec()
    });
    bytes.collect()
}
