//! Laws of the writers, and how their output looks.

use proptest::prelude::*;
use smol_str::SmolStr;

use super::*;
use crate::document::{Format, parse};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::sanitize::is_hidden;
use crate::text::{SourceId, SourceText, Sources, Span};
use crate::value::{Entry, Extra, Key, KeyKind, Node, Number, Secret, Value};

fn source() -> SourceId {
    Sources::default().add(SourceText::new(RepoPath::root(), "", ""))
}

fn nowhere() -> Span {
    Span::new(source(), 0, 0)
}

fn read(text: &str, format: Format) -> Node {
    let outcome = parse(text, source(), format, &Limits::default());
    assert!(outcome.findings.is_empty(), "{text}\n{:#?}", outcome.findings);
    let [document] = outcome.value.try_into().unwrap_or_else(|all: Vec<_>| panic!("{} documents", all.len()));
    document.root
}

#[test]
fn yaml_looks_as_people_write_it() {
    let text = "\
apiVersion: v1
spec:
  containers:
  - name: web
    args:
    - - a
      - \"yes\"
    - {}
    env: []
  - !Ref name
data: |
  line one

    line two
keep: |+
  a

strip: |-
  a
  b
indented: |2-
    a
  b
\"on\": \"1_000\"
1: '\"hi\": x'
? [a, b]
: \"a\\e\\u202e\"
tagged: !Map
  a: null
list: !List
- !Inner
  b: 1.10
";
    let node = read(text, Format::Yaml);
    assert_eq!(to_yaml(&node), text.replace("? [a, b]\n: ", "[a, b]: "));
    assert_eq!(to_yaml(&read("--- |\n a\n b\n", Format::Yaml)), "|\n  a\n  b\n");
    assert_eq!(to_yaml(&read("!T [a]", Format::Yaml)), "!T\n- a\n");
}

#[test]
fn json_looks_as_people_write_it() {
    let text = "{\n  \"a\": [\n    0x10,\n    .inf,\n    {},\n    \"\\u202e\\ud800\\udc00\"\n  ],\n  \"b\": []\n}\n";
    let json = to_json(&read(&text.replace("\\ud800\\udc00", "\\U000e0001"), Format::Yaml));
    assert_eq!(
        json,
        text.replace("0x10", "16").replace(".inf", "\".inf\"").replace("\\ud800\\udc00", "\\udb40\\udc01")
    );
}

#[test]
fn json_fits_on_one_line_with_or_without_spaces() {
    let node = read("{b: [1, {}, x], a: {c: null}}", Format::Yaml);
    assert_eq!(json(&node, Layout::Line, KeyOrder::Written), r#"{"b": [1, {}, "x"], "a": {"c": null}}"#);
    assert_eq!(json(&node, Layout::Compact, KeyOrder::Sorted), r#"{"a":{"c":null},"b":[1,{},"x"]}"#);
}

#[test]
fn a_json_writer_stops_soon_after_its_limit() {
    let mut writer = JsonWriter::new(Layout::Compact).within(10);
    writer.list(0..1_000_000, |writer, item| writer.literal(&item.to_string()));
    assert!(writer.is_full());
    assert_eq!(writer.into_text(), "[0,1,2,3,4,5]");
}

#[test]
fn a_secret_is_never_written() {
    let secret =
        Node::new(Value::Secret(Secret::hide(Node::new(Value::String("hunter2".into()), nowhere()))), nowhere());
    let list = Node::list(vec![secret], nowhere());
    assert_eq!(to_yaml(&list), "- •••\n");
    assert_eq!(to_json(&list), "[\n  \"•••\"\n]\n");
    assert_eq!(to_inline(&list), "[•••]");
}

#[test]
fn a_line_can_be_bounded() {
    let node = read("[aaaa, {b: cccc}]", Format::Yaml);
    let length = to_inline(&node).len();
    assert!(inline_within(&node, length).is_some());
    assert!((0..length).all(|most| inline_within(&node, most).is_none()));
}

fn text() -> impl Strategy<Value = String> {
    let hard = "[-?:,\\[\\]{}#&*!|>'\"%@`~=<.a1_ \n\t\r\\\\\u{7}\u{85}\u{202e}\u{feff}\u{fffe}é😀]{0,8}";
    let words = "(yes|no|null|true|1e3|0x1f|12:30|2001-12-14|<<|---|\\.\\.\\.|- a|a: b|a #b|a, b|\\[a\\]|\\*a|&a)";
    let lines = "( |  |\t)?[ab:#-]{0,3}(\n( |  |\t)?[ab:#-]{0,3} ?){1,4}\n{0,3}";
    prop_oneof![3 => "[a-z]{1,8}", 3 => hard, 2 => words, 3 => lines, 1 => any::<String>(), 1 => "[a ]{1100}"]
}

fn number() -> impl Strategy<Value = Number> {
    let yaml = "([-+]?[0-9]{1,20}|0x[0-9a-fA-F]{1,20}|0o[0-7]{1,9}|[-+]?[0-9]{0,3}\\.[0-9]{1,4}(e[-+]?[0-9]{1,3})?|-?\\.inf|\\.nan)";
    yaml.prop_map(|text| Number::from_yaml(&text).expect("the pattern makes numbers"))
}

fn tag() -> impl Strategy<Value = Option<SmolStr>> {
    prop_oneof![
        6 => Just(None),
        1 => "(![A-Za-z][A-Za-z0-9:!, é]{0,5}|!!binary|!<tag:x,1:[a-z !,]{1,4}>)".prop_map(|tag| Some(tag.into())),
    ]
}

fn with_tag(mut node: Node, tag: Option<SmolStr>) -> Node {
    node.extra = tag.is_some().then(|| Extra { tag, ..Extra::default() }.into());
    node
}

fn scalar() -> impl Strategy<Value = Node> {
    prop_oneof![
        Just(Value::Null).boxed(),
        any::<bool>().prop_map(Value::Bool).boxed(),
        number().prop_map(Value::Number).boxed(),
        text().prop_map(|text| Value::String(text.into())).boxed(),
    ]
    .prop_map(|value| Node::new(value, nowhere()))
}

fn key(inner: impl Strategy<Value = Node> + 'static) -> impl Strategy<Value = Key> {
    let key = |name: SmolStr, kind| Key { name, kind, span: nowhere() };
    let other_scalar =
        prop_oneof![Just(SmolStr::new("null")), Just("true".into()), number().prop_map(|n| n.as_str().into())];
    prop_oneof![
        8 => text().prop_map(move |name| key(name.into(), KeyKind::Text)),
        1 => other_scalar.prop_map(move |name| key(name, KeyKind::Scalar)),
        1 => inner.prop_map(move |node| key(to_inline(&Node::list(vec![node], nowhere())).into(), KeyKind::Collection)),
    ]
}

fn map(entries: Vec<(Key, Node)>) -> Node {
    let mut kept: Vec<Entry> = Vec::new();
    for (key, value) in entries {
        if kept.iter().all(|entry| entry.key.name != key.name) {
            kept.push(Entry { key, value });
        }
    }
    Node::map(kept, nowhere())
}

/// Any value that YAML can say.
fn yaml_node() -> impl Strategy<Value = Node> {
    let leaf = prop_oneof![
        5 => scalar(),
        1 => (text(), tag()).prop_map(|(text, tag)| with_tag(Node::new(Value::String(text.into()), nowhere()), tag)),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| Node::list(items, nowhere()));
        let entry = (key(inner.clone()), inner);
        let map = proptest::collection::vec(entry, 0..5).prop_map(map);
        (prop_oneof![list, map], tag()).prop_map(|(node, tag)| with_tag(node, tag))
    })
}

/// Any value that JSON can say.
fn json_node() -> impl Strategy<Value = Node> {
    let leaf = scalar().prop_filter(
        "JSON has no infinity",
        |node| !matches!(&node.value, Value::Number(number) if number.to_json().is_none()),
    );
    leaf.prop_recursive(4, 24, 5, |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..5).prop_map(|items| Node::list(items, nowhere()));
        let key = text().prop_map(|name| Key { name: name.into(), kind: KeyKind::Text, span: nowhere() });
        let map = proptest::collection::vec((key, inner), 0..5).prop_map(map);
        prop_oneof![list, map]
    })
}

proptest! {
    #[test]
    fn yaml_reads_back_as_the_same_value(node in yaml_node()) {
        let text = to_yaml(&node);
        prop_assert!(read(&text, Format::Yaml).is_identical(&node), "{}", text);
        prop_assert!(!text.chars().any(is_hidden));
        prop_assert!(text.ends_with('\n'));
    }

    #[test]
    fn a_line_of_yaml_reads_back_as_the_same_value(node in yaml_node()) {
        let text = to_inline(&node);
        prop_assert!(!text.contains('\n'));
        prop_assert!(!text.chars().any(is_hidden));
        let again = read(&text, Format::Yaml);
        prop_assert!(again.is_identical(&node), "{}", text);
        prop_assert_eq!(to_inline(&again), text);
    }

    #[test]
    fn json_reads_back_as_the_same_value(node in json_node()) {
        let text = to_json(&node);
        prop_assert!(read(&text, Format::Json).is_identical(&node), "{}", text);
        prop_assert!(!text.chars().any(is_hidden));
    }

    #[test]
    fn json_is_yaml(node in json_node()) {
        let text = to_json(&node);
        let has_long_key = text.lines().any(|line| line.len() > 1000);
        if !has_long_key {
            prop_assert!(read(&text, Format::Yaml).is_identical(&node), "{}", text);
        }
    }
}
