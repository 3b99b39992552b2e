//! The public suites of YAML, JSON and JSON Patch: what they accept is read with the right value, what they refuse is refused.
//!
//! The suites are not part of the repository. They are looked for beside it, or in the folder that `OUTCROP_CORPORA` names;
//! absent ones are reported, and are a failure where `OUTCROP_REQUIRE` names `corpora` or `OUTCROP_CORPORA` is set. Where we
//! differ on purpose, `fixtures/corpora-exceptions.json` says why, and an exception that no longer holds is a failure too.

use std::collections::BTreeMap;
use std::path::PathBuf;

use outcrop::document::{Document, Format, decode, parse, write};
use outcrop::limits::Limits;
use outcrop::patch;
use outcrop::path::RepoPath;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::{Value, json};

use crate::program::project;
use crate::required::absent;

#[test]
fn the_yaml_test_suite() {
    run("yaml-test-suite.json", "yaml", |case| {
        let bytes = base64(case["yaml_base64"].as_str().expect("every case has a text"));
        let documents = read(&bytes, Format::Yaml);
        if case["error"].as_bool().expect("every case says whether it is an error") {
            return refused(&documents);
        }
        let documents = documents?;
        survives_writing(&documents)?;
        case["json"].as_str().map_or(Ok(()), |json| compare(json, &documents))
    });
}

#[test]
fn the_json_test_suite() {
    run("json-test-suite.json", "json", |case| {
        let bytes = base64(case["base64"].as_str().expect("every case has a text"));
        let documents = read(&bytes, Format::Json);
        match case["expect"].as_str() {
            Some("accept") => compare(std::str::from_utf8(&bytes).expect("accepted text is UTF-8"), &documents?),
            Some("reject") => refused(&documents),
            _ => Ok(()),
        }
    });
}

#[test]
fn the_json_patch_suites() {
    for file in ["json-patch-tests.json", "json-patch-spec-tests.json"] {
        run(file, "json-patch", |case| {
            if case["disabled"] == true || case["patch"].is_null() {
                return Ok(());
            }
            let (document, operations) = (only(&case["doc"])?, only(&case["patch"])?);
            let (inputs, sources, limits) = (only(&json!({}))?, Sources::default(), Limits::default());
            let read = patch::read_any(&operations, &inputs, &sources, &limits);
            let applied = read.value.apply(std::slice::from_ref(&document), &inputs, &limits);
            let failures: Vec<_> = read.findings.iter().chain(&applied.findings).collect();
            match (case.get("expected"), failures.first()) {
                (Some(expected), None) => {
                    let found = applied.value[0].as_ref().expect("JSON Patch removes no document");
                    let is_expected = found.is_equal(&only(expected)?);
                    is_expected.then_some(()).ok_or_else(|| format!("gives {}", write::to_inline(found)))
                }
                (Some(_), Some(failure)) => Err(failure.message.clone()),
                (None, None) if case.get("error").is_some() => Err("accepted, but must fail".to_owned()),
                _ => Ok(()),
            }
        });
    }
}

/// A value of a suite as one document of ours.
fn only(value: &Value) -> Result<Node, String> {
    Ok(read(value.to_string().as_bytes(), Format::Json)?.remove(0).root)
}

/// Runs every case of a suite and compares what fails with the listed exceptions.
fn run(file: &str, suite: &str, check: impl Fn(&Value) -> Result<(), String>) {
    let Some(cases) = load(file) else { return };
    let mut exceptions = exceptions(suite);
    let mut wrong = Vec::new();
    for case in &cases {
        let name = ["id", "name", "comment"].iter().find_map(|key| case[key].as_str());
        let name = name.unwrap_or("a case without a name");
        match (check(case), exceptions.remove(name)) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Err(failure), None) => wrong.push(format!("{name}: {failure}")),
            (Ok(()), Some(reason)) => wrong.push(format!("{name} is listed as an exception ({reason}) but passes")),
        }
    }
    wrong.extend(exceptions.into_keys().map(|name| format!("{name} is listed as an exception but is no case")));
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn refused(documents: &Result<Vec<Document>, String>) -> Result<(), String> {
    documents.as_ref().map_or(Ok(()), |_| Err("accepted, but must be refused".to_owned()))
}

fn compare(expected: &str, documents: &[Document]) -> Result<(), String> {
    let expected: Vec<Value> = serde_json::Deserializer::from_str(expected)
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(|error| format!("the suite's own JSON: {error}"))?;
    let found: Vec<Value> = documents
        .iter()
        .map(|document| serde_json::from_str(&write::to_json(&document.root)))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("our own JSON: {error}"))?;
    let is_same = same(&Value::Array(expected.clone()), &Value::Array(found.clone()));
    is_same.then_some(()).ok_or_else(|| format!("expected {expected:?}, found {found:?}"))
}

/// Equal, with numbers compared by value: the suite writes `450.00` as `450`.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn survives_writing(documents: &[Document]) -> Result<(), String> {
    for document in documents {
        let text = write::to_yaml(&document.root);
        let again = read(text.as_bytes(), Format::Yaml)?;
        if again.len() != 1 || !again[0].root.is_identical(&document.root) {
            return Err(format!("written as {text:?}, it is read back as something else"));
        }
    }
    Ok(())
}

/// The documents, or the first reason why there are none.
fn read(bytes: &[u8], format: Format) -> Result<Vec<Document>, String> {
    let text = decode(bytes).map_err(|error| error.to_string())?;
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", &*text));
    let outcome = parse(&text, source, format, &Limits::default());
    outcome.findings.first().map_or(Ok(outcome.value), |finding| Err(finding.message.clone()))
}

fn load(file: &str) -> Option<Vec<Value>> {
    let named = std::env::var_os("OUTCROP_CORPORA").map(PathBuf::from);
    let folder = named.clone().unwrap_or_else(|| project().join("../shared/corpora"));
    let Ok(text) = std::fs::read_to_string(folder.join(file)) else {
        assert!(named.is_none(), "OUTCROP_CORPORA names {}, which has no {file}", folder.display());
        absent("corpora", &format!("there is no {file}; set OUTCROP_CORPORA to the folder that holds it"));
        return None;
    };
    Some(serde_json::from_str(&text).expect("a suite is a list of cases"))
}

fn exceptions(suite: &str) -> BTreeMap<String, String> {
    let all: BTreeMap<String, BTreeMap<String, String>> =
        serde_json::from_str(include_str!("../../fixtures/corpora-exceptions.json")).expect("a table of reasons");
    all.get(suite).cloned().unwrap_or_default()
}

fn base64(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (mut bits, mut count) = (0_u32, 0);
    for digit in text.bytes() {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => continue,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    bytes
}
