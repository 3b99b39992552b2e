//! Kustomizations and Flux Kustomizations: what `kustomize build` and the controller of Flux give, as a set of documents, or that they
//! fail.

use std::path::Path;
use std::sync::Arc;

use outcrop::document::write::to_inline;
use outcrop::document::{self, Format};
use outcrop::layout::kustomize::{Built, Cache, build, build_flux};
use outcrop::limits::{Budget, Limits};
use outcrop::path::RepoPath;
use outcrop::settings::{Given, Settings};
use outcrop::snapshot::{MemorySnapshot, Scope, files_below};
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::Value;

use super::{CaseResult, name_of, read};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    let parse = |text: &str| {
        let case = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(vec![case])
    };
    let cases = read(folder, parse).into_iter();
    cases.map(|case: Value| (name_of(&case), check(&case))).collect()
}

fn check(case: &Value) -> Result<(), String> {
    let snapshot = snapshot_of(files_of(case));
    let built = match case.get("flux").and_then(Value::as_str) {
        Some(object) => build_object(case["files"][object].as_str().expect("a file of the case"), &snapshot),
        None => build_root(&root_of(case), &snapshot)?,
    };
    let reasons = || built.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("; ");
    match (case.get("error"), built.is_failed) {
        (Some(_), true) => Ok(()),
        (Some(_), false) if case.get("strict_only").is_some() && has_note(&built, "kustomize/outside-root") => Ok(()),
        (Some(error), false) => Err(format!("it must fail: {error}")),
        (None, true) => Err(format!("it fails: {}", reasons())),
        (None, false) => same_documents(&built, case),
    }
}

fn files_of(case: &Value) -> Vec<(RepoPath, Vec<u8>)> {
    let file = |(path, content): (&String, &Value)| {
        let bytes = match content {
            Value::String(text) => text.clone().into_bytes(),
            binary => from_base64(binary["base64"].as_str().expect("binary content")),
        };
        (RepoPath::new(path).expect("a path"), bytes)
    };
    case["files"].as_object().expect("a case has files").iter().map(file).collect()
}

fn snapshot_of(files: Vec<(RepoPath, Vec<u8>)>) -> MemorySnapshot {
    files.into_iter().fold(MemorySnapshot::new("test"), |snapshot, (path, bytes)| snapshot.with(path, bytes))
}

fn root_of(case: &Value) -> RepoPath {
    match case["root"].as_str().expect("a case has a root").trim_end_matches('/') {
        "." => RepoPath::root(),
        root => RepoPath::new(root).expect("a path"),
    }
}

/// Builds a root, on its own and after every other kustomization: what builds share makes no difference.
fn build_root(root: &RepoPath, snapshot: &MemorySnapshot) -> Result<Built, String> {
    let (sources, limits, settings) = (Arc::new(Sources::default()), Limits::default(), Settings::default());
    let given = Given { snapshot, settings: &settings, sources: &sources, limits: &limits };
    let alone = build(root, given, &Cache::default());
    let shared = Cache::default();
    let budget = Budget::default();
    let (files, _) = files_below(snapshot, &Scope::everything(), &budget.limits, &budget.spent);
    for directory in files.iter().filter_map(|file| file.path.parent()) {
        build(&directory, given, &shared);
    }
    let after_others = build(root, given, &shared);
    let is_same = alone.is_failed == after_others.is_failed
        && alone.inputs == after_others.inputs
        && alone.findings.len() == after_others.findings.len()
        && alone.resources.len() == after_others.resources.len()
        && alone.resources.iter().zip(&after_others.resources).all(|(one, other)| one.node.is_identical(&other.node));
    if is_same { Ok(alone) } else { Err("it is built differently after other kustomizations".to_owned()) }
}

/// Cases with parts cut out of their files end with documents or with a finding.
#[test]
fn damaged_kustomizations_are_findings() {
    let folder = crate::program::project().join("fixtures/vectors/kustomize");
    let cases =
        read(&folder, |text| serde_json::from_str(text).map(|case| vec![case]).map_err(|error| error.to_string()));
    let mut state = 17_usize;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below.max(1)
    };
    for case in &cases {
        for _ in 0..12 {
            let mut files = files_of(case);
            let at = random(files.len());
            let text = &mut files[at].1;
            let start = random(text.len());
            let end = (start + random(24)).min(text.len());
            text.drain(start..end);
            let built =
                build_root(&root_of(case), &snapshot_of(files)).unwrap_or_else(|error| panic!("{error}: {case}"));
            assert!(!built.is_failed || built.findings.iter().any(outcrop::finding::Finding::is_error), "{case}");
        }
    }
}

/// Builds a Flux Kustomization that is written in a text. No other object is known.
pub(super) fn build_object(text: &str, snapshot: &MemorySnapshot) -> Built {
    let (sources, limits, settings) = (Arc::new(Sources::default()), Limits::default(), Settings::default());
    let source = sources.add(SourceText::new(RepoPath::root(), "vectors", text));
    let object = document::parse(text, source, Format::Yaml, &limits).value.swap_remove(0).root;
    let given = Given { snapshot, settings: &settings, sources: &sources, limits: &limits };
    build_flux(&object, given, &Cache::default(), &|_, _, _| Vec::new())
}

fn has_note(built: &Built, rule: &str) -> bool {
    built.findings.iter().any(|finding| finding.rule.id == rule)
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
    let mut documents = case["expect"].as_array().expect("documents").clone();
    if case.get("optional").is_some() {
        // Annotations about the build are left out, and that is noted.
        if !has_note(built, "kustomize/unresolved") {
            return Err("it is not noted that metadata about the build is left out".to_owned());
        }
        documents.iter_mut().for_each(without_build_metadata);
    }
    let mut expected: Vec<Node> = documents.iter().map(read_json).collect();
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

fn without_build_metadata(document: &mut Value) {
    let metadata = document["metadata"].as_object_mut().expect("a resource has metadata");
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    annotations.retain(|name, _| !name.contains("config.kubernetes.io/"));
    if annotations.is_empty() {
        metadata.remove("annotations");
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
