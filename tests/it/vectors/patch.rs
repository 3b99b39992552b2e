//! Patches: paths, operations, and patch specifications on a list of resources.

use std::path::Path;

use outcrop::document::{self, Format, write};
use outcrop::finding::{Finding, Outcome, has_errors};
use outcrop::limits::Limits;
use outcrop::patch::{self, PatchPath};
use outcrop::path::RepoPath;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::{Value, json};

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
    let found = path.and_then(|path| patch::expand(&path, &document, &limits)).map_err(|refusal| {
        let kinds = [kind_of(refusal.rule.id), refusal.rule.kind.name().to_owned()];
        vec![Failure { kinds, text: refusal.message }]
    })?;
    Ok(found.iter().map(ToString::to_string).collect())
}

fn document_after(given: &Value) -> Answer {
    let specs = json!([{ "operations": given["operations"] }]);
    patched(&specs, &json!({}), &json!([given["doc"]])).map(|documents| documents[0].clone())
}

fn resources_after(given: &Value) -> Answer {
    let inputs = if given["inputs"].is_null() { &json!({}) } else { &given["inputs"] };
    patched(&given["specs"], inputs, &given["resources"])
}

/// The resources after a patch, read and applied as `outcrop patch` does it.
fn patched(specs: &Value, inputs: &Value, resources: &Value) -> Answer {
    let (sources, limits) = (Sources::default(), Limits::default());
    let resources = node(resources, &sources).as_list().expect("a list of resources").to_vec();
    let inputs = node(inputs, &sources);
    let patch = sound(patch::read_any(&node(specs, &sources), &inputs, &sources, &limits))?;
    let outcome = patch.apply(&resources, &inputs, &limits);
    let mut pairs = outcome.value.iter().flatten().zip(&resources);
    assert!(outcome.findings.is_empty() || pairs.all(|(a, b)| a.is_identical(b)), "a failed run changes nothing");
    sound(outcome).map(|resources| resources.iter().flatten().map(to_json).collect())
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
