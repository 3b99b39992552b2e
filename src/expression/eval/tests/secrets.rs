//! Secrets: nothing that is made of them is shown, and hiding them changes no result.

use proptest::prelude::*;

use super::super::secrecy::{hidden, opened};
use super::*;
use crate::value::{Entry, Value};

/// What must never be shown; every secret text holds it.
const CANARY: &str = "kanari";

const TREE: &str = r#"
/a: {a: open, s: kanari-a, n: 424242, port: 80}
/a/b:
  a: mine
  s: kanari-b
  same: kanari-a
  l: [kanari-c, {k: kanari-d}]
  n: 424242
  zero: 0
  empty: ""
  e: {eval: {concat: [kanari-e, {eval: a}]}}
  f: {eval: {conct: [kanari-f]}}
  g: {eval: "kanari-g["}
  copy: {eval: s}
  port: 80
"#;

const SECRET_KEYS: [&str; 9] = ["s", "same", "l", "n", "zero", "empty", "e", "f", "g"];

/// The tree as it is, and the tree with its secrets hidden.
fn worlds() -> [World; 2] {
    let clear = World::new(TREE);
    let mut hiding = World::new(TREE);
    for path in ["/a", "/a/b"] {
        let id = hiding.tree.by_path(path).unwrap();
        let Payload::Node(written) = hiding.tree.payload(id) else { panic!("{path} says nothing") };
        let veiled = veiled(&written);
        hiding.tree = hiding.tree.with(&LogicalPath::parse(path).unwrap(), sealed(&written, &veiled));
    }
    [clear, hiding]
}

fn veiled(payload: &Node) -> Node {
    let veil = |entry: &Entry| {
        if SECRET_KEYS.contains(&&*entry.key.name) {
            Entry { key: entry.key.clone(), value: hidden(&entry.value) }
        } else {
            entry.clone()
        }
    };
    Node::map(payload.as_map().unwrap().entries().iter().map(veil).collect(), payload.span)
}

/// Everything that an answer could show.
fn said(answer: &Answer) -> String {
    let value = answer.value.as_ref().map(to_inline).unwrap_or_default();
    let findings = answer.findings.iter().map(|finding| format!("{} {:?}", finding.message, finding.help));
    format!("{value}\n{}\n{:?}", findings.collect::<Vec<_>>().join("\n"), answer.trace)
}

#[test]
fn what_is_made_of_a_secret_is_one() {
    let [_, hiding] = worlds();
    for expression in [
        "s",
        "::a::s",
        "e",
        "copy",
        "{eval: l::0}",
        "{concat: [x, {eval: s}]}",
        "{concat: [x, y], sep: {eval: s}}",
        "{eval: {concat: [{eval: l}]}}",
        "{token: [{eval: s}, '-', 1]}",
        "{add: [{eval: s}, x]}",
        "{add: [{eval: n}, 1]}",
        "{urljoin: [https, {eval: s}]}",
        "{if: s, then: s}",
        "{or: [debug, s]}",
        "{eval: $v, vars: {v: {eval: s}}}",
    ] {
        assert_eq!(hiding.one("/a/b", expression), "•••", "{expression}");
    }
    assert_eq!(hiding.one("/a/b", "l"), "[•••, {k: •••}]");
    assert_eq!(hiding.one("/a/b", "{add: [{eval: l}, [x]]}"), "[•••, {k: •••}, x]");
    assert_eq!(hiding.one("/a/b", "{eval: l, foreach: {v: {eval: $item}}}"), "[{v: •••}, {v: {k: •••}}]");
}

#[test]
fn what_is_asked_about_a_secret_is_answered_with_yes_or_no() {
    let [_, hiding] = worlds();
    for (expression, answer) in [
        ("{eq: [{eval: s}, kanari-b]}", "true"),
        ("{eq: [{eval: s}, {eval: copy}]}", "true"),
        ("{eq: [{eval: same}, {eval: '::a::s'}]}", "true"),
        ("{eq: [{eval: s}, kanari]}", "false"),
        ("{eq: [{eval: l}, [kanari-c, {k: kanari-d}]]}", "true"),
        ("{ne: [{eval: n}, 424242.0]}", "false"),
        ("{lt: [{eval: n}, 424243]}", "true"),
        ("{not: zero}", "true"),
        ("{not: empty}", "true"),
        ("{if: s, then: {q: set}, else: {q: empty}}", "set"),
        ("{validate: [{eval: s}, {type: string, minLength: 8}]}", "true"),
        ("{validate: [{eval: s}, {type: number}]}", "false"),
    ] {
        assert_eq!(hiding.one("/a/b", expression), answer, "{expression}");
    }
    assert_eq!(hiding.list("/a/b", "'[s=kanari-b]::a'"), "[mine]");
    assert_eq!(hiding.list("/a/b", "'.::[s!=kanari-b]::a'"), "[]");
}

#[test]
fn a_secret_becomes_no_key() {
    let [_, hiding] = worlds();
    for expression in ["{eval: l, foreach: {key: $item, value: $index}}", "{eval: '.::$v', vars: {v: {eval: s}}}"] {
        let answer = hiding.ask("/a/b", expression, Form::One);
        assert!(answer.value.is_none(), "{expression}");
        assert!(answer.findings[0].message.contains("is a secret, and would be shown"), "{:?}", answer.findings);
        assert!(!said(&answer).contains(CANARY), "{}", said(&answer));
    }
}

#[test]
fn a_fault_in_a_secret_expression_says_nothing_about_it() {
    let [clear, hiding] = worlds();
    for key in ["f", "g"] {
        assert!(said(&clear.ask("/a/b", key, Form::One)).contains(CANARY));
        let answer = hiding.ask("/a/b", key, Form::One);
        assert!(answer.value.is_none());
        assert!(!said(&answer).contains(CANARY), "{}", said(&answer));
    }
    let answer = hiding.ask("/a/b", "{token: [{eval: s}, '-', 7]}", Form::One);
    assert!(!said(&answer).contains("of 2"), "{}", said(&answer));
}

#[test]
fn a_payload_keeps_its_own_secrets_and_hides_copies() {
    let [clear, hiding] = worlds();
    let owner = clear.tree.by_path("/a/b").unwrap();
    let (Payload::Node(written), Payload::Node(seen)) = (clear.tree.payload(owner), hiding.tree.payload(owner)) else {
        panic!("it says something");
    };
    let computed = compute(&written, &seen, owner, &hiding.tree, &hiding.limits).value;
    let at = |key: &str| to_inline(computed.get(key).unwrap());
    // Later stages need the values themselves, and what shows them hides these places.
    assert_eq!((at("s"), at("n"), at("l")), ("kanari-b".into(), "424242".into(), "[kanari-c, {k: kanari-d}]".into()));
    assert_eq!((at("copy"), at("e")), ("•••".into(), "•••".into()));
    let Value::Secret(copy) = &computed.get("copy").unwrap().value else { panic!("it is a secret") };
    let Value::Secret(own) = hidden(computed.get("s").unwrap()).value else { panic!("it is a secret") };
    assert!(copy.is_equal(&own));
}

fn paths() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "s",
        "same",
        "l",
        "n",
        "zero",
        "empty",
        "e",
        "f",
        "g",
        "copy",
        "a",
        "port",
        "*",
        "0",
        "-1",
        "k",
        "..",
        ".",
        "[s]",
        "[!s=x]",
        "[s=$v]",
        "l[k]",
        "$v",
        ".ancestors",
        ".name",
        "::a",
        "a?",
    ]);
    prop::collection::vec(key, 1..4).prop_map(|keys| keys.join("::"))
}

fn expressions() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => paths().prop_map(|path| format!("{{eval: '{path}'}}")),
        1 => paths().prop_map(|path| format!("{{eval: '{path}', vars: {{v: {{eval: s}}}}}}")),
        1 => prop::sample::select(vec!["x", "'-'", "1", "0", "null", "true", "[1]", "a"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let two = prop::sample::select(vec![
            "eq", "ne", "lt", "ge", "add", "sub", "mul", "mod", "validate", "urljoin", "concat",
        ]);
        let many = prop::sample::select(vec!["concat", "urljoin", "and", "or", "token"]);
        let each = prop::sample::select(vec![
            "$item",
            ".",
            "k",
            "{key: $item, value: $index}",
            "{key: $index, value: $item}",
            "{x: {eval: $item}}",
        ]);
        prop_oneof![
            (two, inner.clone(), inner.clone()).prop_map(|(name, a, b)| format!("{{eval: {{{name}: [{a}, {b}]}}}}")),
            (many, prop::collection::vec(inner.clone(), 1..4))
                .prop_map(|(name, items)| format!("{{eval: {{{name}: [{}]}}}}", items.join(", "))),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(a, b, c)| format!("{{eval: {{if: {a}, then: {b}, else: {c}}}}}")),
            (inner.clone(), each).prop_map(|(inner, each)| format!("{{eval: {inner}, foreach: {each}}}")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("{{eval: {{concat: [{a}, x], sep: {b}}}}}")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn nothing_secret_is_said_and_no_result_is_changed(expression in expressions()) {
        let [clear, hiding] = worlds();
        for form in [Form::All, Form::One] {
            let (open, shut) = (clear.ask("/a/b", &expression, form), hiding.ask("/a/b", &expression, form));
            let text = said(&shut);
            prop_assert!(!text.contains(CANARY), "{expression}:\n{text}");
            match (open.value, shut.value) {
                (Some(open), Some(shut)) => {
                    let shut = opened(&shut).unwrap_or(shut);
                    prop_assert!(open.is_equal(&shut), "{expression}: {} {}", to_inline(&open), to_inline(&shut));
                }
                (None, None) => {}
                (None, Some(shut)) => prop_assert!(false, "{expression} should fail: {}", to_inline(&shut)),
                (Some(_), None) => prop_assert!(text.contains("would be shown"), "{expression}: {text}"),
            }
        }
    }
}
