//! The public JSON Schema test suite: drafts 4 and 2020-12, which OpenAPI 3.0 and 3.1 build on.
//!
//! The suite is not part of the repository. It is looked for as `JSON-Schema-Test-Suite` beside the other corpora or in the folder
//! that `OUTCROP_CORPORA` names; without it the test is reported as skipped, or fails where
//! `OUTCROP_REQUIRE` names `schema-suite`. `fixtures/schema-suite-exceptions.json` lists where
//! outcrop differs on purpose; an exception that no longer applies is a failure too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use outcrop::document::{Format, parse};
use outcrop::limits::Limits;
use outcrop::path::RepoPath;
use outcrop::schema;
use outcrop::text::{SourceText, Sources};
use outcrop::value::{Node, Value};

use crate::required::absent;

const DRAFTS: [&str; 2] = ["draft4", "draft2020-12"];

#[test]
fn schemas_are_checked_as_the_public_suite_says() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora");
    let folder = std::env::var_os("OUTCROP_CORPORA").map_or_else(beside, PathBuf::from);
    let folder = folder.join("JSON-Schema-Test-Suite/tests");
    if !folder.is_dir() {
        absent("schema-suite", &format!("there is no {}; OUTCROP_CORPORA names its folder", folder.display()));
        return;
    }
    let reasons: BTreeMap<String, String> =
        serde_json::from_str(include_str!("../../fixtures/schema-suite-exceptions.json")).unwrap();
    let (mut passed, mut excepted, mut wrong) = (0, 0, Vec::new());
    let mut unused: BTreeSet<&str> = reasons.keys().map(String::as_str).collect();
    for draft in DRAFTS {
        for (file, group, failures, count) in groups(&folder.join(draft)) {
            let names = [format!("{draft}/{file}"), format!("{draft}/{file}: {group}")];
            let reason = names.iter().find_map(|name| reasons.get_key_value(name));
            match reason {
                Some((name, _)) => {
                    excepted += count;
                    if !failures.is_empty() {
                        unused.remove(name.as_str());
                    }
                }
                None => {
                    passed += count - failures.len();
                    wrong.extend(failures.into_iter().map(|failure| format!("{}: {failure}", names[1])));
                }
            }
        }
    }
    println!("{passed} cases pass, {excepted} are in groups that are listed as exceptions");
    wrong.extend(unused.into_iter().map(|name| format!("{name} is listed as an exception, and nothing in it fails")));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// File, name, failures and number of cases of each group of a draft.
fn groups(draft: &Path) -> Vec<(String, String, Vec<String>, usize)> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(draft).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let groups = files.iter().flat_map(|path| {
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        let groups = read(&std::fs::read_to_string(path).unwrap()).as_list().unwrap().to_vec();
        groups.into_iter().map(move |group| {
            let (schema, cases) = (group.get("schema").unwrap(), group.get("tests").and_then(Node::as_list).unwrap());
            let failures = cases.iter().filter_map(|case| failure(case, schema)).collect();
            (file.clone(), text(&group, "description"), failures, cases.len())
        })
    });
    groups.collect()
}

/// What is wrong about a case; yes and no, and the list of violations, must both agree with it.
fn failure(case: &Node, schema: &Node) -> Option<String> {
    let is_valid = matches!(case.get("valid").unwrap().value, Value::Bool(true));
    let (data, name) = (case.get("data").unwrap(), text(case, "description"));
    match schema::is_valid(data, schema, 1_000_000) {
        Ok(answer) if answer.is_valid != is_valid => return Some(format!("{name}: is_valid is {}", answer.is_valid)),
        Ok(_) => {}
        Err(error) => return Some(format!("{name}: {}", error.message)),
    }
    let violations = schema::violations(data, schema, schema, &schema::Patterns::default(), 1_000_000).found;
    (violations.is_empty() != is_valid).then(|| format!("{name}: {violations:?}"))
}

fn text(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::as_str).unwrap().to_owned()
}

fn read(text: &str) -> Node {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text));
    let mut parsed = parse(text, source, Format::Json, &Limits::default());
    assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
    parsed.value.remove(0).root
}
