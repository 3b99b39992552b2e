//! What the JSON report promises.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use super::{schema, write};
use crate::diff::ChangeKind;
use crate::document;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::report::sample::{
    boolean, both, change, grouped, key, kubernetes, list, map, number, report, resource, rich, string, text_key,
};
use crate::report::{Report, SkipReason, Skipped};
use crate::text::{SourceText, Sources};
use crate::value::{Entry, Extra, Key, KeyKind, Node};

fn text(report: &Report) -> String {
    let mut out = Vec::new();
    write(report, &mut out).expect("writing to memory works");
    String::from_utf8(out).expect("JSON is text")
}

fn parsed(report: &Report) -> Json {
    serde_json::from_str(&text(report)).expect("the report is JSON")
}

fn with_value(before: Node, after: Node) -> Report {
    let side = || resource(kubernetes("ConfigMap", "x"), "x.yaml", map([]));
    report(vec![both(side(), side(), vec![change(ChangeKind::Value, [key("a")], before, after)])])
}

/// Makes a schema refuse members that it does not name.
fn close(schema: &mut Json) {
    if schema.get("properties").is_some() {
        schema["additionalProperties"] = Json::Bool(false);
    }
    match schema {
        Json::Object(members) => members.values_mut().for_each(close),
        Json::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn node(text: &str) -> Node {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text));
    let mut parsed = document::parse(text, source, document::Format::Json, &Limits::default());
    parsed.value.remove(0).root
}

#[test]
fn what_is_written_is_in_the_schema() {
    let mut closed: Json = serde_json::from_str(schema()).expect("the schema is JSON");
    close(&mut closed);
    let closed = node(&closed.to_string());
    let mut odd = rich();
    let path = RepoPath::new(b"a\xff.yaml").expect("a path");
    odd.skipped.push(Skipped { path, reason: SkipReason::Submodule });
    for report in [rich(), odd, grouped(), Report::default(), with_value(boolean(true), number("1"))] {
        let violations = crate::schema::violations(
            &node(&text(&report)),
            &closed,
            &closed,
            &crate::schema::Patterns::default(),
            u64::MAX,
        );
        assert!(violations.stopped.is_none() && violations.found.is_empty(), "{violations:?}");
    }
}

#[test]
fn numbers_keep_every_digit() {
    let big = "123456789012345678901234567890.10";
    let shown = text(&with_value(number(big), list([number("1e999"), number("0x10"), number(".inf"), number("-.5")])));
    assert!(shown.contains(&format!("\"before\":{big}")), "{shown}");
    assert!(shown.contains("\"after\":[1e999,16,\".inf\",-0.5]"), "{shown}");
}

#[test]
fn tags_and_keys_of_other_types_are_not_lost() {
    let mut tagged = string("x");
    tagged.extra = Some(std::sync::Arc::new(Extra { tag: Some("!Ref".into()), ..Extra::default() }));
    let scalar = Key { kind: KeyKind::Scalar, ..text_key("1") };
    let entries = vec![Entry { key: text_key("1"), value: string("a") }, Entry { key: scalar, value: string("b") }];
    let shown = text(&with_value(tagged, Node::map(entries, string("").span)));
    assert!(shown.contains(r#""before":{"!Ref":"x"}"#), "{shown}");
    assert!(shown.contains(r#""after":{"1":"a","1 (another key)":"b"}"#), "{shown}");
}

#[test]
fn paths_that_are_no_text_keep_their_bytes() {
    let mut report = report(Vec::new());
    let path = RepoPath::new(b"a\xff\xfe.yaml").expect("a path");
    report.skipped.push(Skipped { path, reason: SkipReason::Binary });
    let shown = &parsed(&report)["skipped"][0];
    assert_eq!(shown["path_bytes"], "Yf/+LnlhbWw=");
    assert_eq!(shown["path"], "a\u{fffd}\u{fffd}.yaml");
}

#[test]
fn every_kind_of_change_has_its_own_name() {
    let kinds = [
        ChangeKind::Add,
        ChangeKind::Remove,
        ChangeKind::Value,
        ChangeKind::Type,
        ChangeKind::Text,
        ChangeKind::Reorder,
        ChangeKind::Move,
    ];
    let side = || resource(kubernetes("ConfigMap", "x"), "x.yaml", map([]));
    let changes = kinds.map(|kind| change(kind, [key("a")], string("x"), string("y")));
    let shown = parsed(&report(vec![both(side(), side(), changes.into())]));
    let names: BTreeSet<&str> = shown["resources"][0]["changes"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|change| change["kind"].as_str())
        .collect();
    assert_eq!(names.len(), kinds.len());
}

#[test]
fn exact_strings_are_harmless_where_they_are_printed() {
    let hostile = "\u{1b}[31m\u{202e}\u{9b} ##[error]x \u{e0001}";
    let report = with_value(string(hostile), string("y"));
    let shown = text(&report);
    assert!(!shown.trim_end().chars().any(|c| c.is_control() || crate::sanitize::is_hidden(c)));
    assert!(!shown.contains("##["));
    assert_eq!(parsed(&report)["resources"][0]["changes"][0]["before"], hostile);
}

#[test]
fn a_group_names_all_its_resources_and_its_cause() {
    let shown = parsed(&grouped());
    assert_eq!(shown["summary"]["groups"], 3);
    let first = &shown["groups"][0];
    assert_eq!(
        (&first["view"], &first["kind"], &first["path"], &first["path_shape"]),
        (
            &Json::from("metadata"),
            &Json::from("value"),
            &Json::from("/operationInfo/updateResource/path"),
            &Json::from("/operationInfo/updateResource/path")
        )
    );
    let count = |list: &Json| list.as_array().map_or(0, Vec::len);
    assert_eq!(count(&first["resources"]), 37);
    let variants = first["variants"].as_array().expect("a list");
    let counted: Vec<_> = variants.iter().map(|variant| (count(&variant["resources"]), &variant["before"])).collect();
    let values = ["/v1/customers/{{.id}}", "/v0", "/old"].map(Json::from);
    assert_eq!(counted, [(34, &values[0]), (2, &values[1]), (1, &values[2])]);
    let cause = &first["cause"]["after"];
    assert_eq!((&cause["file"], &cause["line"]), (&Json::from("customers/_/metadata.yaml"), &Json::from(3)));
    assert_eq!(cause["via"][0]["kind"], "layer");
    let change = &shown["resources"][7]["metadata"][0];
    assert_eq!((&change["group"], &change["cause"]["after"]), (&first["fingerprint"], cause));
    let own = &shown["groups"][1];
    assert_eq!((&own["before"], &own["after"], count(&own["resources"])), (&"silver".into(), &"gold".into(), 5));
    assert_eq!((&own["cause"]["after"]["own"], &own["cause"]["after"]["file"]), (&true.into(), &Json::Null));
    let secret = &shown["groups"][2];
    assert_eq!((&secret["sensitive"], &secret["before"], count(&secret["resources"])), (&true.into(), &Json::Null, 3));
    let edit = &shown["layer_edits"][0];
    assert_eq!((&edit["readers"], count(&edit["overridden"])), (&37.into(), 2));
}
