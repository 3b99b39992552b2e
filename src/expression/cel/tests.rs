//! What expressions give, what they refuse, and that none of them can run away.

use proptest::prelude::*;

use super::{Computed, Failure, FailureKind, Inputs, Program};
use crate::document::write;
use crate::limits::Limits;
use crate::testing::read as node;
use crate::value::Node;

const DATA: &str = "
name: web
replicas: 3
ratio: 1.10
big: 123456789012345678901234567890
precise: 0.1234567890123456789012345
unsigned: 18446744073709551615
nothing: null
labels: {b: '2', a: '1', c: '3'}
ports: [{name: http, n: 80, open: true}, {name: tls, n: 443, open: false}]
tags: [x, y, x]
tagged: !Ref thing
";

fn evaluate(text: &str) -> Result<Option<String>, Failure> {
    let (data, limits) = (node(DATA), Limits::default());
    let program = Program::compile(text, &limits)?;
    let inputs = Inputs::default().with("d", &data);
    match program.evaluate(&inputs, data.span, &limits, &mut 0)? {
        Computed::Value(node) => Ok(Some(compact(&node))),
        Computed::Omitted => Ok(None),
    }
}

fn compact(node: &Node) -> String {
    let lines = write::to_json(node);
    lines.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

fn kind(text: &str) -> FailureKind {
    evaluate(text).expect_err(text).kind
}

#[track_caller]
fn gives(text: &str, expected: &str) {
    let found = evaluate(text).unwrap_or_else(|failure| panic!("{text}: {}", failure.message));
    assert_eq!(found.as_deref(), Some(compact(&node(expected)).as_str()), "{text}");
}

#[test]
fn plain_expressions() {
    gives("d.replicas - 1", "2");
    gives("d.replicas > 2 && d.name == 'web'", "true");
    gives("1 == 1.0 && 3 > 2.5", "true");
    gives("d.nothing", "null");
    gives("d.nothing == null", "true");
    gives("has(d.labels.a) && !has(d.labels.z)", "true");
    gives("d.?missing.orValue('none')", "none");
    gives("d.labels.?b.hasValue()", "true");
    gives("d.labels['a'] + d.labels[?'z'].orValue('-')", "'1-'");
    gives("'b' in d.labels && 'x' in d.tags && !('q' in d.tags)", "true");
    gives("d.ports[1].name", "tls");
    gives("size(d.tags) + d.labels.size()", "6");
    gives("[1, 2] + [3]", "[1, 2, 3]");
    gives("d.replicas == 3 ? {'a': [1]} : {}", "{a: [1]}");
    gives("{'k': 1, ?'o': d.?missing, ?'p': d.?name}", "{k: 1, p: web}");
    gives("7 / 2", "3");
    gives("7.0 / 2.0", "3.5");
    gives("double(3)", "3");
    gives("1e300 * 10.0", "1e301");
    gives("string(d.replicas) + 'x'", "3x");
    gives("type(d.replicas) == int", "true");
}

#[test]
fn macros_and_functions() {
    gives("d.ports.filter(p, p.open).map(p, {'n': p.n})", "[{n: 80}]");
    gives("d.ports.map(p, p.open, p.name)", "[http]");
    gives("d.ports.exists(p, p.n == 443) && d.ports.exists_one(p, p.open) && !d.ports.all(p, p.open)", "true");
    gives("d.labels.map(k, k)", "[a, b, c]");
    gives("d.tags.distinct()", "[x, y]");
    gives("[[1], [2, [3]]].flatten()", "[1, 2, [3]]");
    gives("[3, 1, 2].sort()", "[1, 2, 3]");
    gives("d.ports.sortBy(p, p.name).map(p, p.n)", "[80, 443]");
    gives("d.tags.join('-').replace('x', 'zz').upperAscii()", "ZZ-Y-ZZ");
    gives("'a,b,c'.split(',', 2)", "['a', 'b,c']");
    gives("'%s=%d'.format(['a', 1])", "a=1");
    gives("base64.encode(bytes('hi')) + string(base64.decode('aGk='))", "aGk=hi");
    gives("math.greatest(1, 5, 3) + math.least([4, 2])", "7");
    gives("math.ceil(1.2)", "2");
    gives("lists.range(3)", "[0, 1, 2]");
    gives("sets.contains([1, 2], [2]) && sets.intersects([1], [1, 3]) && !sets.contains([1], [2])", "true");
    gives("sets.equivalent([1, 2, 2], [2, 1])", "true");
    gives("d.tags.first().value() + d.tags.last().orValue('') + [].first().orValue('-')", "xx-");
    gives("'abc'.matches('^a.c$') && 'abc'.startsWith('a') && 'abc'.substring(1) == 'bc'", "true");
}

#[test]
fn macros_with_two_variables() {
    gives("d.labels.exists(k, v, k == 'b' && v == '2')", "true");
    gives("d.tags.all(i, t, i < 3 && t != '')", "true");
    gives("d.tags.existsOne(i, t, t == 'y') && !d.tags.exists_one(i, t, t == 'x')", "true");
    gives("d.tags.transformList(i, t, t + string(i))", "[x0, y1, x2]");
    gives("d.labels.transformList(k, v, k != 'b', k + v)", "[a1, c3]");
    gives("d.labels.transformMap(k, v, v + v)", "{a: '11', b: '22', c: '33'}");
    gives("d.labels.transformMap(k, v, k != 'a', int(v))", "{b: 2, c: 3}");
    gives("d.ports.transformMapEntry(i, p, {p.name: p.n})", "{http: 80, tls: 443}");
    gives("d.ports.transformMapEntry(i, p, p.open, {p.name: i})", "{http: 0}");
    gives("d.tags.transformMap(i, t, t)", "{'0': x, '1': y, '2': x}");
    // An inner loop does not hide the pair of an outer one, and its own names win.
    gives("d.labels.transformList(k, v, d.tags.transformList(i, t, k + t).join())", "[axayax, bxbybx, cxcycx]");
    gives("d.labels.transformList(k, v, [9].map(k, k))", "[[9], [9], [9]]");
    assert_eq!(kind("d.ports.transformMapEntry(i, p, {'same': i})"), FailureKind::Evaluation);
    assert_eq!(kind("d.tags.exists(i, i, true)"), FailureKind::Syntax);
    assert_eq!(kind("d.tags.exists(i.x, t, true)"), FailureKind::Syntax);
}

#[test]
fn functions_of_patches() {
    gives("oc_merge({'a': 1, 'b': 1}, {'b': 2}, {'c': 3})", "{a: 1, b: 2, c: 3}");
    gives("merge(d.labels, {'a': 'x'})", "{a: x, b: '2', c: '3'}");
    gives("oc_generate_name('Hello World!')", "hello-world-7f83b165");
    gives("sanitizeK8sResourceName('my-app', 'v1.2.3')", "my-app-v1.2.3-4f878dd8");
    gives("oc_generate_name(['my-app', 7, 'v1.2.3'])", "my-app-v1.2.3-4f878dd8");
    gives("size(oc_dns_label(d.tags.map(t, t + 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')))", "63");
    gives("oc_hash('test')", "afd071e5");
    gives("{'a': oc_omit(), 'b': [1, omit(), 2], 'c': {'d': oc_omit()}}", "{b: [1, 2], c: {}}");
    assert_eq!(evaluate("d.replicas > 5 ? 1 : oc_omit()").unwrap(), None);
    assert_eq!(kind("oc_merge({})"), FailureKind::Syntax);
    assert_eq!(kind("oc_generate_name()"), FailureKind::Syntax);
    assert_eq!(kind("oc_generate_name(1)"), FailureKind::Evaluation);
    assert_eq!(kind("oc_merge({}, 1)"), FailureKind::Evaluation);
}

#[test]
fn numbers_are_exact_or_not_computed_with() {
    gives("d.big", "123456789012345678901234567890");
    gives("d.ratio", "1.10");
    gives("{'v': d.big, 'w': [d.precise]}", "{v: 123456789012345678901234567890, w: [0.1234567890123456789012345]}");
    gives("d.big == d.big && d.big != 5 && d.unsigned > 5", "true");
    gives("d.unsigned", "18446744073709551615");
    for text in ["d.big + 1", "d.big > 1", "d.precise * 2.0", "2.0 * d.precise", "1 - d.big", "-d.big"] {
        let failure = evaluate(text).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Evaluation, "{text}");
        assert!(failure.message.contains("cannot hold exactly"), "{text}: {}", failure.message);
    }
    assert_eq!(kind("9223372036854775807 + 1"), FailureKind::Evaluation);
    assert_eq!(kind("1.0 / 0.0"), FailureKind::Evaluation);
    gives("d.tagged", "!Ref thing");
    gives("[d.tagged]", "[!Ref thing]");
}

#[test]
fn failures_are_told_apart() {
    assert_eq!(kind("d.labels.z"), FailureKind::MissingKey);
    assert_eq!(kind("d.missing.deep + 1"), FailureKind::MissingKey);
    assert_eq!(kind("nothing.here"), FailureKind::UnknownVariable);
    assert_eq!(kind("false && nothing"), FailureKind::UnknownVariable);
    assert_eq!(kind("d.tags.map(t, tt)"), FailureKind::UnknownVariable);
    assert_eq!(kind("d.name.missing"), FailureKind::Evaluation);
    assert_eq!(kind("d.tags[7]"), FailureKind::Evaluation);
    assert_eq!(kind("1 +"), FailureKind::Syntax);
    assert_eq!(kind(""), FailureKind::Syntax);
    assert_eq!(kind("d.?missing"), FailureKind::Evaluation);
    assert_eq!(kind("bytes('x')"), FailureKind::Evaluation);
    assert_eq!(kind("{'a': 1, 'a': 2}"), FailureKind::Evaluation);
    assert_eq!(kind("nosuch(1)"), FailureKind::Evaluation);
    assert!(evaluate("dd.x").unwrap_err().message.contains("did you mean `d`?"));
}

#[test]
fn what_is_too_much_is_refused() {
    let limit = FailureKind::Limit;
    assert_eq!(kind(&"1 + ".repeat(5000)), limit);
    for deep in [
        format!("1{}", "+1".repeat(1000)),
        format!("d{}", ".a".repeat(1000)),
        format!("[1]{}", "[0]".repeat(1000)),
        format!("'a'{}", ".trim()".repeat(400)),
    ] {
        assert_eq!(kind(&deep), limit, "{deep}");
    }
    assert_ne!(kind(&format!("{}1{}", "(".repeat(90), ")".repeat(89))), limit);
    assert!(matches!(kind(&"(".repeat(2000)), FailureKind::Syntax));
    let doubled = |start: &str, step: &str| format!("[{start}]{}[0]", step.repeat(60));
    for bomb in [
        "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, true)))".to_owned(),
        "lists.range(1000).exists(a, lists.range(1000).exists(b, lists.range(1000).exists(c, false)))".to_owned(),
        "lists.range(300).map(a, lists.range(300).map(b, lists.range(300)))".to_owned(),
        doubled("'aaaaaaaa'", ".map(x, x + x)"),
        doubled("[1, 2]", ".map(x, x + x)"),
        doubled("'aaaaaaaa'", ".map(x, [x, x].join())"),
        doubled("'aaaaaaaa'", ".map(x, x.replace('a', 'aa'))"),
        doubled("'aaaaaaaa'", ".map(x, x.replace('', x))"),
        doubled("'aaaaaaaa'", ".map(x, '%s%s'.format([x, x]))"),
        doubled("[1]", ".map(x, [x, x])"),
        doubled("{'a': 1}", ".map(x, {'a': x, 'b': x})"),
        doubled("b'aaaaaaaa'", ".map(x, bytes(base64.encode(x) + base64.encode(x)))"),
        "lists.range(200000).distinct()".to_owned(),
        "lists.range(20000).filter(x, x in lists.range(20000))".to_owned(),
        "lists.range(10000).map(x, 'a'.matches('(a{1000}){100}'))".to_owned(),
        "lists.range(1000000).map(x, x).map(x, x).map(x, x).map(x, x).map(x, x)".to_owned(),
        "sets.contains(lists.range(100000), lists.range(100000))".to_owned(),
    ] {
        assert_eq!(evaluate(&bomb).expect_err(&bomb).kind, limit, "{bomb}");
    }
    // Running out is never mistaken for an answer.
    let swallowed = "lists.range(1000).exists(a, lists.range(100000).exists(b, b < 0)) || true";
    assert_eq!(kind(swallowed), limit);
}

#[test]
fn only_what_an_expression_reads_is_handed_over() {
    // `big` lies beside what is read, and does not matter.
    gives("size(d.ports) + d.replicas", "5");
    gives("d['replicas'] + d.?replicas.value()", "6");
    gives("size(d)", "11");
}

#[test]
fn a_program_is_shared_between_threads() {
    let limits = Limits::default();
    let program = Program::compile("d.replicas * 2", &limits).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let data = node(DATA);
                let inputs = Inputs::default().with("d", &data);
                let value = program.evaluate(&inputs, data.span, &limits, &mut 0);
                assert!(matches!(value, Ok(Computed::Value(value)) if compact(&value) == "6"));
            });
        }
    });
}

fn fragments() -> impl Strategy<Value = String> {
    let words = [
        "d",
        ".",
        "labels",
        "name",
        "ports",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "'a'",
        "1",
        "2.5",
        "1u",
        "+",
        "-",
        "*",
        "/",
        "%",
        "==",
        "!=",
        "<",
        "in",
        "&&",
        "||",
        "!",
        "?",
        ":",
        ",",
        ".map(x, ",
        ".filter(x, ",
        ".all(x, ",
        "x",
        ".exists(i, v, ",
        ".transformMap(k, v, ",
        "k",
        "v",
        "has(",
        "size(",
        "oc_merge(",
        "oc_omit()",
        ".orValue(",
        ".?",
        "[?",
        "lists.range(",
        "1000",
        "true",
        "null",
        "b'x'",
        "r'\\d'",
        ".matches(",
        ".split(",
        "''",
        "string(",
        "duration('1s')",
        "-9223372036854775808",
        " ",
        "\n",
        "\"",
        "`",
        "@",
        "$",
        "é",
        "optional.of(",
        ".first()",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..25).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_text_is_an_answer_or_a_failure(text in fragments()) {
        let limits = Limits { cel_steps: 20_000, nodes: 100_000, ..Limits::default() };
        let data = node(DATA);
        if let Ok(program) = Program::compile(&text, &limits) {
            let mut work = 0;
            let _ = program.evaluate(&Inputs::default().with("d", &data), data.span, &limits, &mut work);
            prop_assert!(work <= limits.cel_steps + limits.nodes + 1);
        }
    }

    #[test]
    fn any_characters_are_an_answer_or_a_failure(text in "\\PC{0,60}") {
        // Parentheses around an expression change nothing.
        if let (Ok(alone), Ok(enclosed)) = (evaluate(&text), evaluate(&format!("({text}\n)"))) {
            prop_assert_eq!(alone, enclosed);
        }
    }

    #[test]
    fn the_same_expression_gives_the_same_bytes(keys in proptest::collection::btree_set("[a-z]{1,4}", 1..20)) {
        let map: Vec<String> = keys.iter().rev().map(|key| format!("'{key}': '{key}'")).collect();
        let text = format!("{{{}}}", map.join(", "));
        let listed = evaluate(&format!("{text}.map(k, k).join(',')")).unwrap();
        let expected = keys.iter().cloned().collect::<Vec<_>>().join(",");
        prop_assert_eq!(listed, Some(format!("\"{expected}\"")));
    }
}
