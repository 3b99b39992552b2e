//! Expressions inside payloads.

use super::*;
use crate::finding::Location;
use crate::value::StepKind;
use proptest::prelude::*;

#[test]
fn expressions_at_any_depth_are_replaced_with_their_owner_as_current() {
    let world = World::new(
        "/a: {host: h1, port: 81, url: {eval: {concat: ['http://', {eval: .::host}, ':', {eval: .::port}]}}}\n\
         /a/b: {host: h2, up: {eval: '..::url'}, list: [1, {deep: {eval: host}}], none: {eval: nothing}, all: {eval: [1, 2]}}",
    );
    let (value, findings) = world.compute("/a/b");
    assert_eq!(to_inline(&value), "{host: h2, up: http://h1:81, list: [1, {deep: h2}], none: null, all: [1, 2]}");
    assert!(findings.is_empty());
}

#[test]
fn only_eval_with_its_keywords_marks_an_expression() {
    let text = "/n: {main: 1, a: {ref: main}, b: {token: x}, c: {eval: main, other: 1}, d: {q: 1}, e: {eval: main}}";
    let world = World::new(text);
    assert_eq!(
        to_inline(&world.compute("/n").0),
        "{main: 1, a: {ref: main}, b: {token: x}, c: {eval: main, other: 1}, d: {q: 1}, e: 1}"
    );
    assert_eq!(world.list("/n", "c::eval"), "[main]");
}

#[test]
fn a_value_keeps_its_place_and_the_expression_is_a_step_on_its_way() {
    let world = World::new("/a: {base: &x {v: 1, w: [2]}, same: *x}\n/b: {c: {eval: '::a::same::w'}}");
    let (value, _) = world.compute("/b");
    let node = value.get("c").unwrap();
    assert_eq!(world.text_at(node.span), "[2]");
    let steps: Vec<(StepKind, String)> =
        node.step().unwrap().chain().iter().map(|step| (step.kind, world.text_at(step.at))).collect();
    assert_eq!(
        steps,
        [(StepKind::Alias, "*x".to_owned()), (StepKind::Expression, "{eval: '::a::same::w'}".to_owned())]
    );
    let whole = World::new("/a: {n: 1, o: 2}\n/b: {c: {eval: ['x', 'y']}}").compute("/b").0;
    assert_eq!(whole.get("c").unwrap().step().map(|step| step.kind), Some(StepKind::Expression));
}

#[test]
fn a_circle_is_null_and_told_once_with_its_chain() {
    let world = World::new("/a: {x: {eval: '::b::u'}, z: 1}\n/b: {u: {eval: '::a::x'}}\n/c: {v: {eval: '::b::u'}}");
    for path in ["/a", "/b", "/c"] {
        let (value, findings) = world.compute(path);
        assert!(to_inline(&value).contains("null"), "{path}: {}", to_inline(&value));
        let [finding] = &findings[..] else { panic!("{path}: {findings:?}") };
        assert_eq!(finding.rule.id, "expression/cycle");
        assert!(finding.message.contains("`/a` → `/b` → `/a`"), "{}", finding.message);
        let Location::Span(span) = finding.location else { panic!("no place") };
        assert_eq!(world.text_at(span), "{eval: '::b::u'}");
    }
    let (value, findings) = World::new("/a: {x: {eval: x}}").compute("/a");
    assert_eq!((to_inline(&value).as_str(), findings.len()), ("{x: null}", 1));
}

#[test]
fn values_of_one_resource_may_use_each_other_without_a_circle() {
    let world = World::new("/a: {x: {eval: '::b::u'}, z: 1}\n/b: {u: {eval: '::a::z'}, w: {eval: '::a::x'}}");
    assert_eq!(to_inline(&world.compute("/b").0), "{u: 1, w: 1}");
    assert!(world.compute("/a").1.is_empty());
}

#[test]
fn a_value_that_would_hold_itself_ends() {
    let world = World::new("/a: {x: {eval: '.::u'}, u: {z: {eval: '.::x'}}}");
    let (value, findings) = world.compute("/a");
    assert_eq!(to_inline(&value), "{x: {z: {z: null}}, u: {z: {z: null}}}");
    assert_eq!(findings.iter().map(|finding| finding.rule.id).collect::<Vec<_>>(), ["expression/cycle"]);
}

#[test]
fn each_faulty_expression_stays_as_written_and_is_told() {
    let world =
        World::new("/a: {x: {eval: 'a['}, u: {eval: {nope: 1}}, z: {eval: v}, v: 1}\n/b: {c: {eval: '::a::x'}}");
    let (value, findings) = world.compute("/a");
    assert_eq!(to_inline(&value), "{x: {eval: \"a[\"}, u: {eval: {nope: 1}}, z: 1, v: 1}");
    let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.id).collect();
    assert_eq!(rules, ["expression/parse", "expression/unknown-function"]);
    let (_, findings) = world.compute("/b");
    assert_eq!(findings[0].related.len(), 1, "it says who needs it");
    assert_eq!(world.text_at(findings[0].related[0].span), "{eval: '::a::x'}");
}

#[test]
fn resources_in_data_stand_as_their_paths() {
    let world = World::new("/a: {up: {eval: ..}, kids: {eval: .children}, k: {eval: '::b'}}\n/a/b: {}\n/c: {}");
    assert_eq!(to_inline(&world.compute("/a").0), "{up: /, kids: [/a/b], k: /a/b}");
}

#[test]
fn the_payload_at_hand_counts_for_its_owner() {
    let world = World::new("/a: {v: 1, x: {eval: v}}");
    let changed = parse("{v: 2, x: {eval: v}}", &world.sources);
    let owner = world.tree.by_path("/a").unwrap();
    assert_eq!(to_inline(&compute(&changed, &changed, owner, &world.tree, &world.limits).value), "{v: 2, x: 2}");
}

#[test]
fn quoted_expressions_are_data_for_everybody() {
    let world = World::new("/a: {x: {eval: {q: {eval: v}}}, v: 1}\n/b: {u: {eval: '::a::x'}}");
    assert_eq!(to_inline(&world.compute("/a").0), "{x: {eval: v}, v: 1}");
    assert_eq!(to_inline(&world.compute("/b").0), "{u: {eval: v}}");
}

#[test]
fn bytes_without_the_word_have_no_expressions() {
    for yes in [
        "a: {eval: x}",
        "\"\\u0065val\": x",
        "\"ev\\\n  al\": x",
        "\"\\x65val\": x",
        "+include: other.yaml",
        "e\0v\0a\0l\0",
        "? eval\n: x",
        "? !!str eval\n: x",
        "a: &k eval\nb: {*k : x}",
        "{eval}",
        "{'eval'\n : x}",
        "{ a: 1, eval, b: 2}",
        "{\"eval\" /* why */: 1}",
    ] {
        assert!(may_have_expressions(yes.as_bytes()), "{yes:?}");
    }
    for no in [
        "a: 1",
        "re: 'c:\\temp'",
        "",
        "run: eval set -- \"$@\"\nmedieval: x\neval-all: y\na.eval: z",
        "run: |\n  make \\\n    all\n",
        "\"b\\u003cc\\n\": \"\\x1b[0m\"",
        "'eval ': x",
    ] {
        assert!(!may_have_expressions(no.as_bytes()), "{no:?}");
    }
}

proptest! {
    #[test]
    fn a_key_is_noticed_wherever_it_may_be(text in "([{}\\[\\],:?&*!#'\" \na1-]|\"eval\"|eval|&a |\\*a |: |\\? |!!str ){1,12}") {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "", text.as_str()));
        let parsed = document::parse(&text, source, Format::Yaml, &Limits::default());
        if parsed.value.iter().any(|document| has_expressions(&document.root)) {
            prop_assert!(may_have_expressions(text.as_bytes()), "{text:?}");
        }
    }

    #[test]
    fn a_no_from_the_bytes_is_certain(text in "[a{ ]{0,3}(\"?e|\"\\\\x65|\"\\\\u0065)(v|\\\\x76)(a|\\\\\n)?(a|l)l?\"?: [}1\n]{0,4}") {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "", text.as_str()));
        let parsed = document::parse(&text, source, Format::Yaml, &Limits::default());
        if parsed.value.iter().any(|document| has_expressions(&document.root)) {
            prop_assert!(may_have_expressions(text.as_bytes()));
        }
    }
}
