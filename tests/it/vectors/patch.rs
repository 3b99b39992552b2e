//! Patches: paths, operations, and patch specifications on a list of resources.

use std::path::Path;

use outcrop::document::{self, Format, write};
use outcrop::expression::cel::Inputs;
use outcrop::finding::{Finding, Outcome, has_errors};
use outcrop::limits::Limits;
use outcrop::patch::{self, PatchPath, Reading};
use outcrop::path::RepoPath;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::Value;

use super::{CaseResult, cases, name_of};

/// A value, or every failure with its kinds and its text.
pub(super) type Answer = Result<Value, Vec<Failure>>;

/// A failure as vectors see it.
pub(super) struct Failure {
    /// The name of the rule, and the category it belongs to.
    kinds: [String; 2],
    text: String,
}

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    cases(folder).iter().map(|case| (name_of(case), run_case(case))).collect()
}

fn run_case(case: &Value) -> Result<(), String> {
    let given = &case["given"];
    let (answer, expected) = if given.get("path").is_some() {
        (pointers(given), &case["expect"]["pointers"])
    } else if given.get("operations").is_some() {
        (document_after(given), &case["expect"]["doc"])
    } else {
        (resources_after(given), &case["expect"]["resources"])
    };
    check(&answer, expected, case.get("error"))
}

/// Compares an answer with what a case expects, or with the error it expects.
pub(super) fn check(answer: &Answer, expected: &Value, error: Option<&Value>) -> Result<(), String> {
    match (answer, error) {
        (Ok(answer), None) if is_same(answer, expected) => Ok(()),
        (Ok(answer), None) => Err(format!("is {answer}, but should be {expected}")),
        (Ok(answer), Some(error)) => Err(format!("is {answer}, but should fail with {error}")),
        (Err(failures), None) => Err(format!("failed with {}", described(failures))),
        (Err(failures), Some(error)) => {
            let (kind, contains) = (text(&error["kind"]), text(&error["contains"]));
            let is_expected =
                |failure: &Failure| failure.kinds.iter().any(|own| own == kind) && failure.text.contains(contains);
            match failures.iter().any(is_expected) {
                true => Ok(()),
                false => Err(format!("failed with {}, but should fail with {error}", described(failures))),
            }
        }
    }
}

fn described(failures: &[Failure]) -> String {
    failures.iter().map(|failure| format!("[{}] {}", failure.kinds[0], failure.text)).collect::<Vec<_>>().join("; ")
}

fn pointers(given: &Value) -> Answer {
    let (sources, limits) = (Sources::default(), Limits::default());
    let document = node(&given["doc"], &sources);
    let path = PatchPath::compile(text(&given["path"]), &limits);
    let found = path.and_then(|path| patch::expand(&path, &document, &limits)).map_err(|trouble| {
        let kinds = [kind_of(trouble.rule.id), trouble.rule.kind.name().to_owned()];
        vec![Failure { kinds, text: trouble.message }]
    })?;
    Ok(found.iter().map(ToString::to_string).collect())
}

fn document_after(given: &Value) -> Answer {
    let (sources, limits) = (Sources::default(), Limits::default());
    let document = node(&given["doc"], &sources);
    let reading = Reading { sources: &sources, limits: &limits, has_expressions: false, variables: None };
    let spec = sound(patch::read_operations(&node(&given["operations"], &sources), &reading))?;
    let outcome = patch::apply_specs(std::slice::from_ref(&document), &[spec], &Inputs::default(), &limits);
    assert!(outcome.findings.is_empty() || outcome.value[0].is_identical(&document), "a failed run changes nothing");
    sound(outcome).map(|documents| to_json(&documents[0]))
}

fn resources_after(given: &Value) -> Answer {
    let (sources, limits) = (Sources::default(), Limits::default());
    let resources = node(&given["resources"], &sources).as_list().expect("a list of resources").to_vec();
    let reading = Reading { sources: &sources, limits: &limits, has_expressions: true, variables: None };
    let specs = sound(patch::read_specs(&node(&given["specs"], &sources), &reading))?;
    let given_inputs = given["inputs"]
        .as_object()
        .map(|inputs| inputs.iter().map(|(name, value)| (name.as_str(), node(value, &sources))).collect::<Vec<_>>());
    let given_inputs = given_inputs.unwrap_or_default();
    let inputs = given_inputs.iter().fold(Inputs::default(), |inputs, (name, value)| inputs.with(name, value));
    let outcome = patch::apply_specs(&resources, &specs, &inputs, &limits);
    let mut pairs = outcome.value.iter().zip(&resources);
    assert!(outcome.findings.is_empty() || pairs.all(|(a, b)| a.is_identical(b)), "a failed run changes nothing");
    sound(outcome).map(|resources| resources.iter().map(to_json).collect())
}

/// The value of an outcome without errors.
pub(super) fn sound<T>(outcome: Outcome<T>) -> Result<T, Vec<Failure>> {
    match has_errors(&outcome.findings) {
        true => Err(outcome.findings.iter().map(Failure::of).collect()),
        false => Ok(outcome.value),
    }
}

impl Failure {
    fn of(finding: &Finding) -> Self {
        let kinds = [kind_of(finding.rule.id), finding.rule.kind.name().to_owned()];
        Self { kinds, text: finding.message.clone() }
    }
}

/// The vectors' name for a rule.
fn kind_of(id: &str) -> String {
    match id.rsplit('/').next().unwrap_or(id) {
        "for-each" => "forEach".to_owned(),
        name => name.to_owned(),
    }
}

fn node(value: &Value, sources: &Sources) -> Node {
    let text = value.to_string();
    let source = sources.add(SourceText::new(RepoPath::root(), "vectors", text.as_str()));
    document::parse(&text, source, Format::Json, &Limits::default()).value.remove(0).root
}

pub(super) fn to_json(node: &Node) -> Value {
    serde_json::from_str(&write::to_json(node)).expect("our own JSON")
}

/// Whether two values are equal, numbers by value.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_same(a, b)))
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
