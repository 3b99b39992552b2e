//! Verdicts on pairs of files: same, different, or not readable.

use std::path::Path;

use outcrop::diff::{self, ChangeKind, DiffSide};
use outcrop::report::Report;
use serde_json::Value;

use super::{CaseResult, cases, name_of};
use crate::comparing::{Comparing, snapshot};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    cases(folder).iter().map(|case| (name_of(case), run_case(case))).collect()
}

fn run_case(case: &Value) -> Result<(), String> {
    let report = compare(text(&case["given"]["before"]), text(&case["given"]["after"]));
    let verdict = match (report.is_incomplete(), report.has_differences()) {
        (true, _) => "error",
        (false, false) => "same",
        (false, true) => "differs",
    };
    let expected = text(&case["expect"]["verdict"]);
    if verdict != expected {
        return Err(format!("expected {expected}, got {verdict}"));
    }
    match &case["expect"]["changes"] {
        Value::Array(changes) => check_changes(&report, changes),
        _ => Ok(()),
    }
}

fn compare(before: &str, after: &str) -> Report {
    let side = |label, text| snapshot(label, [("file.yaml", text)]);
    Comparing::new(side("before", before), side("after", after)).run(|comparison| comparison.compare())
}

fn check_changes(report: &Report, expected: &[Value]) -> Result<(), String> {
    let mut found: Vec<(String, String)> = Vec::new();
    for resource in &report.resources {
        for change in &resource.difference.changes {
            let side = if change.kind == ChangeKind::Remove { DiffSide::Before } else { DiffSide::After };
            found.push((kind_name(change.kind).to_owned(), diff::pointer(&change.path, side).to_string()));
        }
    }
    let mut wanted: Vec<(String, String)> =
        expected.iter().map(|change| (text(&change["kind"]).to_owned(), text(&change["path"]).to_owned())).collect();
    found.sort();
    wanted.sort();
    if found == wanted { Ok(()) } else { Err(format!("expected changes {wanted:?}, got {found:?}")) }
}

fn kind_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Add => "add",
        ChangeKind::Remove => "remove",
        ChangeKind::Value => "value",
        ChangeKind::Type => "type",
        ChangeKind::Text => "text",
        ChangeKind::Reorder => "reorder",
        ChangeKind::Move => "move",
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
