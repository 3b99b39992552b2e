//! Unfurl: what is recognised, which includes and expressions stay as they are written, and what a change of them is.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use outcrop::comparison::{Comparison, Options};
use outcrop::directive::{self, Context, Includes, MergeProfile};
use outcrop::document::{self, Format, write};
use outcrop::expression::eval::{Closed, closed, is_whole_expression};
use outcrop::finding::{Finding, Severity};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::settings::{Configuration, Policy};
use outcrop::snapshot::MemorySnapshot;
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;
use serde_json::{Value, json};
use smol_str::SmolStr;

use super::{CaseResult, cases, eval, name_of, node_cases};
use crate::program::{binary, run as run_program};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    let mut results: Vec<CaseResult> = cases(folder)
        .iter()
        .filter(|case| case["kind"] != "eval")
        .map(|case| (name_of(case), run_case(case)))
        .collect();
    let is_eval = |case: &&Node| case.get("kind").and_then(Node::as_str) == Some("eval");
    let asked = node_cases(folder);
    results.extend(asked.iter().filter(is_eval).map(|case| {
        let name = case.get("name").and_then(Node::as_str).unwrap_or_default().to_owned();
        (name, eval::run_case(case))
    }));
    results
}

fn run_case(case: &Value) -> Result<(), String> {
    match text(&case["kind"]) {
        "expand" => expand(case),
        "recognise" => recognise(case),
        "classify" => classify(case),
        "verdict" => verdict(case),
        "repository" => repository(case),
        kind => Err(format!("unknown kind {kind}")),
    }
}

fn path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn files(value: &Value) -> Vec<(&str, &str)> {
    value.as_object().into_iter().flatten().map(|(path, content)| (path.as_str(), text(content))).collect()
}

fn parse(text: &str, file: &RepoPath, sources: &Sources) -> document::Document {
    let source = sources.add(SourceText::new(file.clone(), "test", text));
    document::parse(text, source, Format::Yaml, &Limits::default()).value.remove(0)
}

fn to_json(node: &Node) -> Value {
    serde_json::from_str(&write::to_json(node)).unwrap()
}

fn expand(case: &Value) -> Result<(), String> {
    let given = &case["given"];
    let file = path(given["path"].as_str().unwrap_or("main.yaml"));
    let main = text(&given["yaml"]);
    let snapshot = files(&given["files"])
        .into_iter()
        .chain([(file.to_str().unwrap(), main)])
        .fold(MemorySnapshot::new("test"), |all, (name, content)| all.with(path(name), content.as_bytes()));
    let (sources, limits, includes) = (Sources::default(), Limits::default(), Includes::default());
    let remotes: Vec<SmolStr> = given["remotes"].as_array().into_iter().flatten().map(|url| text(url).into()).collect();
    let context = context(&snapshot, &includes, &sources, &limits, &remotes);
    let document = parse(main, &file, &sources);
    let expanded = directive::expand(&document, &file, &context);
    let root = to_json(&expanded.value.root);
    if let Some(wanted) = case.get("expect").filter(|wanted| **wanted != root) {
        return Err(format!("expected {wanted}, got {root}"));
    }
    if let Some(wanted) = case.get("expect_subset").filter(|wanted| !holds(&root, wanted)) {
        return Err(format!("expected at least {wanted}, got {root}"));
    }
    check_kept(case, &root)?;
    check_findings(case, &document.root, &expanded.findings)?;
    let reasons = |finding: &&Finding| finding.severity == Severity::Note;
    let notes: Vec<&str> =
        expanded.findings.iter().filter(reasons).map(|note| note.rule.id.rsplit('/').next().unwrap()).collect();
    let wanted: Vec<&str> = case["notes"].as_array().into_iter().flatten().map(text).collect();
    if notes != wanted {
        return Err(format!("expected the notes {wanted:?}, got {notes:?}"));
    }
    Ok(())
}

fn holds(found: &Value, wanted: &Value) -> bool {
    match (found, wanted) {
        (Value::Object(found), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| found.get(key).is_some_and(|found| holds(found, wanted)))
        }
        _ => found == wanted,
    }
}

/// The directives that are still in the expanded document are those that the case names.
fn check_kept(case: &Value, root: &Value) -> Result<(), String> {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    collect_directives(root, String::new(), &mut kept);
    let wanted: BTreeSet<String> =
        case["kept"].as_array().into_iter().flatten().map(|it| text(it).to_owned()).collect();
    // Keys that only look like directives are data.
    let is_data = |pointer: &String| {
        let key = pointer.rsplit('/').next().unwrap_or_default().replace("~1", "/");
        key.starts_with("+Include") || key.contains('.') && key.starts_with("+include")
    };
    kept.retain(|pointer| !is_data(pointer));
    if kept == wanted { Ok(()) } else { Err(format!("expected {wanted:?} to be kept, got {kept:?}")) }
}

fn collect_directives(value: &Value, at: String, kept: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let pointer = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
                if key.starts_with('+') {
                    kept.insert(pointer.clone());
                }
                collect_directives(value, pointer, kept);
            }
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| collect_directives(item, format!("{at}/{index}"), kept));
        }
        _ => {}
    }
}

/// Exactly the errors that a case names, each at the key of its directive.
fn check_findings(case: &Value, root: &Node, findings: &[Finding]) -> Result<(), String> {
    let mut keys: BTreeMap<(u32, u32), String> = BTreeMap::new();
    root.for_each(&mut outcrop::path::Pointer::root(), |at, node| {
        for entry in node.as_map().map(|map| map.entries()).unwrap_or_default() {
            let mut pointer = at.clone();
            pointer.push(entry.key.name.clone());
            keys.insert((entry.key.span.start, entry.key.span.end), pointer.to_string());
        }
    });
    let place = |finding: &Finding| {
        let source = root.span.source;
        let own = finding.spans().filter(|span| span.source == source);
        own.filter_map(|span| keys.get(&(span.start, span.end)).cloned()).next().unwrap_or_default()
    };
    let kind = |finding: &Finding| match finding.rule.id {
        "document/syntax" => "yaml-syntax".to_owned(),
        id => id.rsplit('/').next().unwrap_or_default().to_owned(),
    };
    let found: Vec<Value> = findings
        .iter()
        .filter(|finding| finding.is_error())
        .map(|finding| json!({ "kind": kind(finding), "at": place(finding) }))
        .collect();
    let wanted = case["findings"].as_array().cloned().unwrap_or_default();
    if found == wanted { Ok(()) } else { Err(format!("expected {wanted:?}, got {found:?}: {findings:?}")) }
}

fn context<'a>(
    snapshot: &'a MemorySnapshot,
    includes: &'a Includes,
    sources: &'a Sources,
    limits: &'a Limits,
    remotes: &'a [SmolStr],
) -> Context<'a> {
    let (profile, unfurl, is_unfurl) = (MergeProfile::Plain, true, false);
    Context { snapshot, includes, sources, limits, profile, unfurl, is_unfurl, remotes }
}

fn recognise(case: &Value) -> Result<(), String> {
    let (given, sources) = (&case["given"], Sources::default());
    let file = path(text(&given["path"]));
    let others = files(&given["files"]).into_iter();
    let snapshot =
        others.fold(MemorySnapshot::new("given"), |all, (name, content)| all.with(path(name), content.as_bytes()));
    let (includes, limits) = (Includes::default(), Limits::default());
    let document = parse(text(&given["yaml"]), &file, &sources);
    let expanded = directive::expand(&document, &file, &context(&snapshot, &includes, &sources, &limits, &[]));
    let role = directive::unfurl_role(&expanded.value.root, &file);
    let found = match role {
        Some(role) => json!({ "dialect": "unfurl", "role": role.name() }),
        None => json!({ "dialect": "none" }),
    };
    if found == case["expect"] { Ok(()) } else { Err(format!("expected {}, got {found}", case["expect"])) }
}

fn classify(case: &Value) -> Result<(), String> {
    let sources = Sources::default();
    let node = parse(&case["given"]["expr"].to_string(), &path("e.yaml"), &sources).root;
    let found = match is_whole_expression(&node) {
        false => json!({ "evaluates": null, "because": "data" }),
        true => match closed(&node, &Limits::default()) {
            Closed::Yes => json!({ "evaluates": true }),
            Closed::Path => json!({ "evaluates": false, "because": "path" }),
            Closed::Function => json!({ "evaluates": false, "because": "function" }),
            Closed::Malformed(finding) if finding.rule.id == "expression/parse" => {
                json!({ "evaluates": false, "because": "syntax" })
            }
            Closed::Malformed(finding) => json!({ "evaluates": false, "because": finding.rule.id }),
        },
    };
    if found == case["expect"] { Ok(()) } else { Err(format!("expected {}, got {found}", case["expect"])) }
}

/// The verdict of a report about one file.
fn verdict(case: &Value) -> Result<(), String> {
    let given = &case["given"];
    let side = |label: &str, main: &Value, others: &Value| {
        let others = files(others).into_iter();
        let all = others.chain([(text(&given["path"]), text(main))]);
        all.fold(MemorySnapshot::new(label), |all, (name, content)| all.with(path(name), content.as_bytes()))
    };
    let others = &given["files"];
    let both = |name: &str| if others[name].is_null() { others.clone() } else { others[name].clone() };
    let before = side("before", &given["before"], &both("before"));
    let after = side("after", &given["after"], &both("after"));
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Base, &sources);
    let report = Comparison::new(&before, &after, &configuration, &sources, Options::default()).compare();
    let mut out = Vec::new();
    outcrop::report::json::write(&report, &mut out).unwrap();
    let report: Value = serde_json::from_slice(&out).unwrap();
    if let Some(finding) = report["findings"].as_array().into_iter().flatten().next() {
        return Err(format!("a finding: {finding}"));
    }
    let is_it =
        |resource: &&Value| resource["after"]["file"] == given["path"] || resource["before"]["file"] == given["path"];
    let resource = report["resources"].as_array().into_iter().flatten().find(is_it);
    let changes = resource.map(changes_of).unwrap_or_default();
    let found = if changes.is_empty() { "same" } else { "differs" };
    if found != text(&case["expect"]["verdict"]) {
        return Err(format!("the verdict is {found}: {resource:?}"));
    }
    let wanted = case["expect"]["changes"].as_array().cloned().unwrap_or_default();
    if changes == wanted { Ok(()) } else { Err(format!("expected {wanted:?}, got {changes:?}: {resource:?}")) }
}

/// The changes of a resource: the place, whether a text of an expression changed, and whether the value did.
fn changes_of(resource: &Value) -> Vec<Value> {
    let list = |name: &str| resource[name].as_array().cloned().unwrap_or_default();
    let mut changes: Vec<Value> = Vec::new();
    for change in list("changes") {
        let is_template = |side: &Value| text(side).contains("{{") || text(side).contains("{%");
        let inside = text(&change["path"]).split('/').any(|token| token == "eval")
            || is_template(&change["before"])
            || is_template(&change["after"]);
        let value = if inside { Value::Null } else { json!(true) };
        changes.push(json!({ "path": change["path"], "text": inside, "value": value }));
    }
    for change in list("expressions") {
        match changes.iter_mut().find(|known| known["path"] == change["path"]) {
            Some(known) => known["text"] = json!(true),
            None => changes.push(json!({ "path": change["path"], "text": true, "value": false })),
        }
    }
    changes
}

/// Two commits of a public repository, compared by the program without any configuration.
fn repository(case: &Value) -> Result<(), String> {
    let given = &case["given"];
    let Some(copy) = super::copy_of(text(&given["repository"])) else { return Ok(()) };
    let arguments = ["diff", "--format", "json", text(&given["before"]), text(&given["after"])];
    let mut command = std::process::Command::new(binary());
    command.args(arguments).current_dir(&copy);
    for (number, url) in given["remotes"].as_array().into_iter().flatten().enumerate() {
        command.env("GIT_CONFIG_COUNT", (number + 1).to_string());
        command.env(format!("GIT_CONFIG_KEY_{number}"), format!("remote.given{number}.url"));
        command.env(format!("GIT_CONFIG_VALUE_{number}"), text(url));
    }
    let ran = run_program(&mut command);
    let report: Value = serde_json::from_str(&ran.stdout).map_err(|_| ran.stderr.clone())?;
    let errors = report["findings"].as_array().into_iter().flatten().filter(|finding| finding["severity"] == "error");
    let errors = errors.count();
    if json!(errors) != case["expect"]["errors"] {
        return Err(format!("{errors} errors: {}", report["findings"]));
    }
    let wanted = case["expect"]["files"].as_object().cloned().unwrap_or_default();
    for (file, changes) in &wanted {
        let resource = report["resources"].as_array().into_iter().flatten().find(|it| it["after"]["file"] == *file);
        let Some(resource) = resource else { return Err(format!("{file} is not in the report")) };
        let found = places(resource["changes"].as_array().map(Vec::as_slice).unwrap_or_default());
        let wanted: BTreeSet<(String, String)> = changes.as_array().into_iter().flatten().map(place).collect();
        if found != wanted {
            return Err(format!("{file}: expected {wanted:?}, got {found:?}"));
        }
    }
    Ok(())
}

/// The places of changes; a list that became longer or shorter is one value.
fn places(changes: &[Value]) -> BTreeSet<(String, String)> {
    let list_of = |(kind, path): &(String, String)| {
        let (list, item) = path.rsplit_once('/')?;
        (kind != "value" && item.bytes().all(|byte| byte.is_ascii_digit())).then(|| list.to_owned())
    };
    let all: Vec<(String, String)> = changes.iter().map(place).collect();
    let lists: BTreeSet<String> = all.iter().filter_map(list_of).collect();
    let within = |path: &str| lists.iter().find(|list| path.starts_with(&format!("{list}/"))).cloned();
    all.into_iter().map(|(kind, path)| within(&path).map_or((kind, path), |list| ("value".to_owned(), list))).collect()
}

fn place(change: &Value) -> (String, String) {
    let kind = match text(&change["kind"]) {
        kind @ ("add" | "remove") => kind,
        _ => "value",
    };
    (kind.to_owned(), text(&change["path"]).to_owned())
}
