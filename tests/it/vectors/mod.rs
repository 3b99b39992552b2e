//! Conformance cases as data: every area below `fixtures/vectors/`, or below the folder that `OUTCROP_VECTORS` names.
//!
//! Those of `../shared/vectors/` are run too, where it is there. An area without a runner is reported as not built.

mod declarest;
mod diff;
mod eval;
mod flux_substitution;
mod kustomize;
mod layered_patches;
mod merge;
mod metadata;
mod openchoreo;
mod patch;
mod unfurl;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use outcrop::document::{self, Format};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;

use crate::program::project;
use crate::required::{absent, report};

/// A case's name, and why it failed if it did.
type CaseResult = (String, Result<(), String>);

/// Runs the cases of one area's folder.
type Runner = fn(&Path) -> Vec<CaseResult>;

/// Every area whose stage is built.
const AREAS: &[(&str, Runner)] = &[
    ("declarest", declarest::run),
    ("diff", diff::run),
    ("eval", eval::run),
    ("flux-substitution", flux_substitution::run),
    ("kustomize", kustomize::run),
    ("layered-patches", layered_patches::run),
    ("merge", merge::run),
    ("metadata", metadata::run),
    ("openchoreo", openchoreo::run),
    ("patch", patch::run),
    ("unfurl", unfurl::run),
];

#[test]
fn vectors() {
    let folders: Vec<(String, PathBuf)> = match std::env::var_os("OUTCROP_VECTORS").map(PathBuf::from) {
        Some(named) => areas(&named)
            .unwrap_or_else(|| panic!("OUTCROP_VECTORS names no folder: {}", named.display()))
            .into_iter()
            .collect(),
        None => {
            let bundled = areas(&bundled()).expect("the project has vectors");
            let beside = areas(&project().join("../shared/vectors")).unwrap_or_default();
            for (area, _) in AREAS.iter().filter(|(area, _)| !beside.contains_key(*area)) {
                report(&format!("vectors {area}: no folder beside the project"));
            }
            bundled.into_iter().chain(beside).collect()
        }
    };
    for (area, _) in AREAS.iter().filter(|(area, _)| !folders.iter().any(|(known, _)| known == area)) {
        absent("vectors", &format!("there is no folder for the area {area}"));
    }
    let mut failures = Vec::new();
    for (area, folder) in &folders {
        let Some((_, run)) = AREAS.iter().find(|(name, _)| name == area) else {
            report(&format!("vectors {area}: not built"));
            continue;
        };
        let results = run(folder);
        assert!(!results.is_empty(), "{} holds no cases", folder.display());
        let failed: Vec<&CaseResult> = results.iter().filter(|(_, result)| result.is_err()).collect();
        report(&format!("vectors {area}: {} passed, {} failed", results.len() - failed.len(), failed.len()));
        for (name, result) in failed {
            let reason = result.as_ref().expect_err("only failures are listed here");
            report(&format!("  {area}/{name}: {reason}"));
            failures.push(format!("{area}/{name}"));
        }
    }
    assert!(failures.is_empty(), "failing vectors: {}", failures.join(", "));
}

#[test]
fn every_bundled_area_has_a_runner_and_every_runner_an_area() {
    let bundled: Vec<String> = areas(&bundled()).unwrap().into_keys().collect();
    assert_eq!(bundled, AREAS.iter().map(|(area, _)| *area).collect::<Vec<_>>());
}

/// The folders in a folder, by name; `None` if there is no such folder.
fn areas(root: &Path) -> Option<BTreeMap<String, PathBuf>> {
    let paths = fs::read_dir(root).ok()?.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
    Some(paths.map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), path)).collect())
}

/// A copy of a public repository in the folder that `OUTCROP_REPOSITORIES` names, as `OWNER+NAME/repo`; its absence is reported.
fn copy_of(repository: &str) -> Option<PathBuf> {
    let copies = std::env::var_os("OUTCROP_REPOSITORIES").map(PathBuf::from);
    let copy = copies.map(|copies| copies.join(repository.replace('/', "+")).join("repo")).filter(|copy| copy.is_dir());
    if copy.is_none() {
        absent("repositories", &format!("there is no copy of {repository}"));
    }
    copy
}

fn bundled() -> PathBuf {
    project().join("fixtures/vectors")
}

/// The cases of every JSON file in a folder, in order of the files' names.
fn cases(folder: &Path) -> Vec<serde_json::Value> {
    read(folder, |text| serde_json::from_str(text).map_err(|error| error.to_string()))
}

/// The cases as nodes, which keep the order of keys and the digits of numbers.
fn node_cases(folder: &Path) -> Vec<Node> {
    read(folder, |text| {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "vectors", text));
        let parsed = document::parse(text, source, Format::Json, &Limits::default());
        let list = parsed.value.first().and_then(|document| document.root.as_list());
        list.map(<[Node]>::to_vec).ok_or_else(|| "a file of vectors is a list".to_owned())
    })
}

fn read<T>(folder: &Path, parse: impl Fn(&str) -> Result<Vec<T>, String>) -> Vec<T> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &PathBuf| {
        parse(&fs::read_to_string(file).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.iter().flat_map(read).collect()
}

fn name_of(case: &serde_json::Value) -> String {
    case["name"].as_str().unwrap_or("without a name").to_owned()
}
