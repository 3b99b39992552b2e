//! YAML, rule by rule.

use super::*;
use crate::value::{Entry, KeyKind, StepKind, Value};

/// Every key and value in written order with the source text of its span.
fn slices(text: &str) -> Vec<&str> {
    fn walk<'t>(text: &'t str, node: &Node, slices: &mut Vec<&'t str>) {
        slices.push(&text[node.span.range()]);
        for item in node.as_list().unwrap_or_default() {
            walk(text, item, slices);
        }
        for Entry { key, value } in node.as_map().map(|map| map.entries()).unwrap_or_default() {
            slices.push(&text[key.span.range()]);
            walk(text, value, slices);
        }
    }
    let mut all = Vec::new();
    walk(text, &only(text, Format::Yaml).root, &mut all);
    all
}

#[test]
fn scalars_follow_the_core_schema() {
    let text = "[null, ~, '', true, yes, 1_000, 0x1F, 1.10, '1', 2001-12-14, .inf, <<, !!str 1, ! 12, \"a\\nb\"]";
    let document = only(text, Format::Yaml);
    let types: Vec<String> = document.root.as_list().unwrap().iter().map(|item| item.type_of().to_string()).collect();
    assert_eq!(
        types.join(" "),
        "null null string boolean string string number number string string number string string string string"
    );
    assert_eq!(write::to_inline(&document.root.as_list().unwrap()[7]), "1.10");
}

#[test]
fn empty_documents_are_none_and_null_ones_are() {
    assert_eq!(lines("---\n---\na: 1\n---\n# c\n...\n---\n"), ["{a: 1}"]);
    assert_eq!(lines("--- ~\n--- null\n---\n"), ["null", "null"]);
    assert!(lines("").is_empty() && lines("# c\n").is_empty() && lines("\n\n").is_empty() && lines("\t\n").is_empty());
    assert_eq!(lines("--- !!str\n"), ["\"\""]);
    assert_eq!(lines("%YAML 1.2\n---\n---\nx"), ["x"]);
}

#[test]
fn spans_slice_to_what_is_written() {
    assert_eq!(
        slices("a: foo\n  bar   # c\n\"b\":  'x'  \nc: [1, {d: e}, f: g]\n"),
        [
            "a: foo\n  bar   # c\n\"b\":  'x'  \nc: [1, {d: e}, f: g]",
            "a",
            "foo\n  bar",
            "\"b\"",
            "'x'",
            "c",
            "[1, {d: e}, f: g]",
            "1",
            "{d: e}",
            "d",
            "e",
            "f: g",
            "f",
            "g"
        ]
    );
    assert_eq!(slices("k:\n- a\n-  b\n\n"), ["k:\n- a\n-  b", "k", "- a\n-  b", "a", "b"]);
    assert_eq!(slices("k: !T # c\n- - a\n"), ["k: !T # c\n- - a", "k", "- - a", "- a", "a"]);
    assert_eq!(slices("- - a\n- - b\n"), ["- - a\n- - b", "- a", "a", "- b", "b"]);
    assert_eq!(slices("? - a\n: - b\n"), ["? - a\n: - b", "- a", "- b", "b"]);
    assert_eq!(slices("é: ü\n"), ["é: ü", "é", "ü"]);
    assert_eq!(slices("\u{feff}a: 1"), ["a: 1", "a", "1"]);
}

#[test]
fn block_scalars_span_from_their_header_to_their_last_line() {
    let text = "a: |\n  x\n\n  y \n\n\nb: &t !T >+ # | c\n   z\n\nc: |2-\n- |\n";
    let text = text.replace("- |\n", "d:\n- |+\n\n- >\n w");
    assert_eq!(
        slices(&text)[1..],
        ["a", "|\n  x\n\n  y ", "b", ">+ # | c\n   z", "c", "|2-", "d", "- |+\n\n- >\n w", "|+", ">\n w"]
    );
    assert_eq!(slices("--- |\r\n a\r\n b\r\n"), ["|\r\n a\r\n b"]);
}

#[test]
fn a_missing_value_stands_after_its_colon() {
    let starts = |text: &str| {
        let document = only(text, Format::Yaml);
        let entries = document.root.as_map().unwrap().entries().to_vec();
        entries.iter().map(|entry| (entry.value.span.start, entry.value.span.end)).collect::<Vec<_>>()
    };
    assert_eq!(starts("a:\nb : # c\n"), [(2, 2), (6, 6)]);
    assert_eq!(starts("{a, b: , c: }"), [(2, 2), (6, 6), (11, 11)]);
    assert_eq!(starts("? a\n? b\n:\n"), [(3, 3), (9, 9)]);
    assert_eq!(slices("- \n- a"), ["- \n- a", "", "a"]);
}

#[test]
fn tags_outside_the_core_schema_are_kept() {
    let text =
        "[!Ref a, !!binary b, !<tag:e.com,1:x> c, !<!Ref> {}, !a%20b [], !Empty , !!map {}, !!seq [], !!float 1]";
    let document = only(text, Format::Yaml);
    assert_eq!(
        write::to_inline(&document.root),
        "[!Ref a, !!binary b, !<tag:e.com,1:x> c, !Ref {}, !a%20b [], !Empty \"\", {}, [], 1.0]"
    );
    assert_eq!(lines("%TAG !e! tag:e.com,1:\n--- !e!x 12\n"), ["!<tag:e.com,1:x> \"12\""]);
    assert_eq!(lines("!%21x a"), ["!<!!x> a"], "a local name is not one of YAML's own");
    let number_with_tag = &only("!N 12", Format::Yaml).root;
    assert!(
        matches!(&number_with_tag.value, Value::String(text) if text == "12"),
        "a reader that knows the tag reads the text"
    );
}

#[test]
fn a_core_tag_that_does_not_fit_is_a_finding() {
    let text = "a: !!int x\nb: !!map []\nc: !!null y\nd: !!seq z\n---\nok: 1";
    let outcome = read(text, Format::Yaml);
    assert_eq!(
        complaints(text, &outcome.findings),
        [
            ("document/tag", "!!int", "the tag `!!int` does not fit its value"),
            ("document/tag", "!!map", "the tag `!!map` does not fit its value"),
            ("document/tag", "!!null", "the tag `!!null` does not fit its value"),
            ("document/tag", "!!seq", "the tag `!!seq` does not fit its value"),
        ]
    );
    assert_eq!(outcome.value.len(), 1, "the other document stays");
}

#[test]
fn an_alias_is_the_anchored_value_and_says_so() {
    let text = "a: &x {k: v}\nb: *x\n*k2 : 1\n".replace("*k2", "c");
    let document = only(&text, Format::Yaml);
    let (a, b) = (document.root.get("a").unwrap(), document.root.get("b").unwrap());
    assert!(a.is_identical(b));
    assert_eq!(a.span, b.span, "an alias is written where its anchor is");
    let step = b.step().unwrap();
    assert_eq!((step.kind, &text[step.at.range()]), (StepKind::Alias, "*x"));
    let (Value::Map(a), Value::Map(b)) = (&a.value, &b.value) else { panic!("maps") };
    assert!(std::sync::Arc::ptr_eq(a, b), "nothing is copied");
    assert_eq!(lines("&k key: v\nother: *k\n"), ["{key: v, other: key}"]);
    assert_eq!(lines("a: &k key\nb: {*k : v}\n"), ["{a: key, b: {key: v}}"]);
}

#[test]
fn anchors_are_listed_in_written_order() {
    let document = only("a: &o [&i 1, &i 2]\nb: *i\nc: &e\n", Format::Yaml);
    let anchors: Vec<_> =
        document.anchors.iter().map(|(name, node)| format!("{name}={}", write::to_inline(node))).collect();
    assert_eq!(anchors, ["o=[1, 2]", "i=1", "i=2", "e=null"]);
    assert_eq!(write::to_inline(document.root.get("b").unwrap()), "2");
    assert_eq!(document.root.get("a").unwrap().extra.as_ref().unwrap().anchor.as_deref(), Some("o"));
}

#[test]
fn aliases_without_an_anchor_or_an_end_are_findings() {
    let text = "a: *x\nb: &y [*y]\n---\nc: &z 1\n---\nd: *z\n";
    let outcome = read(text, Format::Yaml);
    let found = complaints(text, &outcome.findings);
    assert_eq!(found[0].0, "document/undefined-alias");
    assert_eq!(found[0].2, "the alias `*x` names an anchor that is not defined before it");
    assert_eq!((found[1].0, found[1].1), ("document/alias-cycle", "*y"));
    assert_eq!((found[2].0, found[2].1), ("document/undefined-alias", "*z"), "anchors do not cross documents");
    assert_eq!(outcome.value.len(), 1);
}

#[test]
fn merge_keys_bring_in_what_is_not_written() {
    let text = "base: &b {x: 1, w: 2}\nmore: &m {w: 3, z: 4}\nall:\n  a: 0\n  <<: [*b, *m]\n  x: 9\n";
    let document = only(text, Format::Yaml);
    assert_eq!(write::to_inline(document.root.get("all").unwrap()), "{a: 0, w: 2, z: 4, x: 9}");
    let merged = document.root.get("all").unwrap().get("z").unwrap();
    let step = merged.step().unwrap();
    assert_eq!((step.kind, &text[step.at.range()]), (StepKind::MergeKey, "<<"));
    assert_eq!(&text[merged.span.range()], "4");
    assert_eq!(lines("{<<: {a: 1}, b: 2}"), ["{a: 1, b: 2}"]);
    assert_eq!(lines("{\"<<\": 1}"), ["{\"<<\": 1}"]);
    assert_eq!(lines("!!merge <<: {a: 1}"), ["{a: 1}"]);
    assert_eq!(lines("[<<, !!merge x]"), ["[\"<<\", !!merge x]"]);
}

#[test]
fn merge_keys_of_something_else_are_findings() {
    let text = "a:\n  <<: 1\nb:\n  <<: [{}, x]\nc:\n  <<: {p: 1}\n  <<: {q: 1}\nd:\n  <<:\n";
    let outcome = read(text, Format::Yaml);
    let found: Vec<_> =
        complaints(text, &outcome.findings).into_iter().map(|(rule, _, message)| (rule, message)).collect();
    assert_eq!(
        found,
        [
            ("document/merge-key", "the merge key `<<` takes a map or a list of maps, not a number"),
            ("document/merge-key", "the merge key `<<` takes maps, but this list holds something else"),
            ("document/duplicate-key", "the merge key `<<` is written twice in one map"),
            ("document/merge-key", "the merge key `<<` takes a map or a list of maps, not a null"),
        ]
    );
}

#[test]
fn duplicate_keys_are_findings_with_both_places() {
    let text = "a: 1\nb: 2\na: 3\n1: x\n\"1\": y\n";
    let outcome = read(text, Format::Yaml);
    assert_eq!(
        complaints(text, &outcome.findings),
        [
            ("document/duplicate-key", "a", "the key `a` is written twice in one map"),
            ("document/duplicate-key", "\"1\"", "the key `1` is written twice in one map"),
        ]
    );
    assert_eq!(outcome.findings[0].related[0].span.range(), 0..1);
    assert!(outcome.value.is_empty());
    let many: String = (0..100).map(|n| format!("k{}: v\n", n % 99)).collect();
    assert_eq!(rules(&many, Format::Yaml), ["document/duplicate-key"]);
}

#[test]
fn keys_of_every_kind_have_a_name() {
    let document = only("1: a\n~: b\nTrue: c\n[x, {w: z}]: d\n? !T t\n: e\n1.50: f\n", Format::Yaml);
    let keys: Vec<_> = document
        .root
        .as_map()
        .unwrap()
        .entries()
        .iter()
        .map(|entry| (entry.key.name.as_str(), entry.key.kind))
        .collect();
    assert_eq!(
        keys,
        [
            ("1", KeyKind::Scalar),
            ("null", KeyKind::Scalar),
            ("true", KeyKind::Scalar),
            ("[x, {w: z}]", KeyKind::Collection),
            ("!T t", KeyKind::Collection),
            ("1.50", KeyKind::Scalar),
        ]
    );
    assert_eq!(lines(": a\n"), ["{null: a}"]);
}

#[test]
fn each_broken_document_is_reported_and_the_others_stay() {
    let text = "a: 1\n---\nb: [1\n---\nc: 'x\n---\nd: 4\n---\ne: f: g\n";
    let outcome = read(text, Format::Yaml);
    assert_eq!(
        complaints(text, &outcome.findings).into_iter().map(|(_, at, message)| (at, message)).collect::<Vec<_>>(),
        [("[", "`[` is not closed"), ("'", "this quoted string is not closed"), (":", "a key is not allowed here"),]
    );
    let kept: Vec<_> = outcome.value.iter().map(|document| &text[document.span.range()]).collect();
    assert_eq!(kept, ["a: 1\n", "---\nd: 4\n"]);
}

#[test]
fn refusals_are_explained() {
    for (text, at, message, help) in [
        ("a:\n\tb: 1\n", "\t", "a tab is used for indentation", "indent with spaces"),
        ("a: 1\n \tb: 2\n", "\t", "a tab is used for indentation", "indent with spaces"),
        ("a: @x\n", "@", "a value cannot start with `@`", "quotes"),
        ("a: `x`\n", "`", "a value cannot start with ```", "quotes"),
        ("a: \"x\\qy\"\n", "\\", "unknown escape in a double-quoted string", "single quotes"),
        ("a: \"\\ud800\"\n", "\"", "half of a surrogate pair is not a character", "both halves"),
        ("a: [1}\n", "[", "`[` is closed by `}`", "order"),
        ("a: ]\n", "]", "this closing bracket has no opening bracket", "remove it"),
        ("a: [1\nb: 2\n", ":", "a comma or a closing bracket is missing before this", "commas"),
        ("a: \"b\nc: d\n", "\"", "this quoted string is not closed", "closing quote"),
        ("a: \"b\" c\n", "c", "text after a closing quote", "whole value"),
        ("a: x\u{7}\n", "\u{7}", "the character U+0007 cannot be part of a YAML file", "remove it"),
        ("a:\n  b: 1\n c: 2\n", "c", "this does not fit into the map around it", "same column"),
        ("- a\nb: c\n", "b", "this does not fit into the list around it", "same column"),
        ("a: - b\n", "-", "a list cannot start here", "line of its own"),
        ("a: 1\nb\nc: 2\n", "b", "a key without `:`", "key: value"),
        (
            "<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n",
            "<<<<<<<",
            "this file has an unresolved merge conflict",
            "one side",
        ),
        ("%YAML 2.0\n---\na\n", "%", "the file requires a YAML version other than 1", "%YAML"),
        ("a: *\n", "*", "an anchor or alias without a name", "quote"),
        ("a: !e!x y\n", "!", "the tag uses a handle that is not declared", "%TAG"),
        ("a: b #c\n  d\n", "#", "a comment in the middle of a value", "move"),
    ] {
        let outcome = read(text, Format::Yaml);
        assert_eq!(complaints(text, &outcome.findings), [("document/syntax", at, message)], "{text:?}");
        let said = outcome.findings[0].help.as_deref().unwrap_or_default();
        assert!(said.contains(help), "{text:?}: {said:?}");
    }
}

#[test]
fn a_part_is_read_as_if_it_were_all() {
    let text = "a: 1\n---\nb: 2\n";
    let outcome = parse_part(text, 5..text.len(), source(), Format::Yaml, &Limits::default());
    let [document] = &outcome.value[..] else { panic!("one document") };
    assert_eq!(&text[document.root.get("b").unwrap().span.range()], "2");
    assert_eq!(document.span.range(), 5..text.len());
}
