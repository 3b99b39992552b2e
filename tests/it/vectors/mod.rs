//! Conformance cases as data: every area under `fixtures/vectors/`, or under the folder that `OUTCROP_VECTORS` names.

mod diff;
mod eval;
mod layered_patches;
mod merge;
mod metadata;
mod patch;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A case's name, and why it failed if it did.
type CaseResult = (String, Result<(), String>);

/// Runs the cases of one area's folder.
type Runner = fn(&Path) -> Vec<CaseResult>;

/// Every area, with its runner once its stage is built.
const AREAS: &[(&str, Option<Runner>)] = &[
    ("diff", Some(diff::run)),
    ("eval", Some(eval::run)),
    ("layered-patches", Some(layered_patches::run)),
    ("merge", Some(merge::run)),
    ("metadata", Some(metadata::run)),
    ("patch", Some(patch::run)),
];

#[test]
fn vectors() {
    let root = std::env::var_os("OUTCROP_VECTORS").map_or_else(bundled, PathBuf::from);
    let mut failures = Vec::new();
    for (area, runner) in AREAS {
        let folder = root.join(area);
        if !folder.is_dir() {
            continue;
        }
        let Some(run) = runner else {
            say(&format!("vectors {area}: not built"));
            continue;
        };
        let results = run(&folder);
        let failed: Vec<&CaseResult> = results.iter().filter(|(_, result)| result.is_err()).collect();
        say(&format!("vectors {area}: {} passed, {} failed", results.len() - failed.len(), failed.len()));
        for (name, result) in failed {
            let reason = result.as_ref().expect_err("only failures are listed here");
            say(&format!("  {area}/{name}: {reason}"));
            failures.push(format!("{area}/{name}"));
        }
    }
    assert!(failures.is_empty(), "failing vectors: {}", failures.join(", "));
}

#[test]
fn every_bundled_area_is_known() {
    for entry in fs::read_dir(bundled()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(AREAS.iter().any(|(area, _)| *area == name), "{name} is no known area");
    }
}

fn bundled() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/vectors")
}

/// Written past the test harness, which would swallow it.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
}

/// The cases of every JSON file in a folder, in order of the files' names.
fn cases(folder: &Path) -> Vec<serde_json::Value> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let read = |file: &PathBuf| -> Vec<serde_json::Value> {
        serde_json::from_str(&fs::read_to_string(file).unwrap())
            .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    files.iter().flat_map(read).collect()
}

fn name_of(case: &serde_json::Value) -> String {
    case["name"].as_str().unwrap_or("without a name").to_owned()
}
