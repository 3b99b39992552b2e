//! Laws that hold for any text: given up, or the same.

use proptest::prelude::*;

use super::{compare, many};
use crate::document::write;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources, Span};
use crate::value::{Entry, Key, KeyKind, Node, Number, Value};

/// Lines that fit together often enough to be a document, and often not quite.
fn lines() -> impl Strategy<Value = String> {
    let indent = prop_oneof![6 => "(|  |    )", 2 => "( {0,6})", 1 => "(\t| \t)"];
    let dashes = prop_oneof![5 => Just(String::new()), 3 => Just("- ".to_owned()), 1 => "(- - |-   |-|-  - )"];
    let key = prop_oneof![
        6 => "[a-h]: ",
        3 => "[a-h]:",
        2 => "('[a-d]'|\"[a-d]\"|[a-d] [a-d]|[0-9]|true|~|-[a-d]|<<|[a-d]#)(:| : |: |:  )",
        2 => Just(String::new()),
    ];
    let value = prop_oneof![
        3 => Just(String::new()),
        6 => "[a-c1]{1,3}",
        3 => "(true|~|null|1\\.50|0x1F|-1|--a|\\.5|http://a:b|a#b|a, b|é😀|\\(x\\)|a b|/x|\\$x|\\.\\.\\.|---)",
        3 => "('a'|\"b\"|'it''s'|\"a\\\\n\\\\\"b\"|''|\"\"|'a\tb'|\"\\\\x41\"|\"a: #b\"|'a'b|\"|')",
        3 => "(\\||\\|-|\\|\\+|>|\\|2|\\| #c|\\|- )",
        3 => flow(),
        1 => "(&a b|\\*a|!t x|\\? a|@a|`|%a|a: b|- a|:a|: a|# c|#c|a:|a\t|\\[|\\{|\u{a0}|\u{85}|\u{feff})",
    ];
    let end = prop_oneof![12 => Just("\n"), 2 => Just(" \n"), 2 => Just(" # c\n"), 2 => Just("\n\n"), 1 => Just("\r\n"),
        1 => Just("#c\n"), 1 => Just("\t\n"), 1 => Just("\n   \n"), 1 => Just("\n    # c: d\n"), 1 => Just("\n# c\n")];
    let odd = "(---\n|--- # c\n|--- a\n|\\.\\.\\.\n|%YAML 1\\.2\n|---a\n|   \t\n|'\n|\"\n|  \\]\n|# \u{7}\n)";
    let line = (indent, dashes, key, value, end).prop_map(|(a, b, c, d, e)| [a, b, c, d, e.to_owned()].concat());
    let lines = proptest::collection::vec(prop_oneof![30 => line, 1 => odd], 0..9);
    (lines, 0..4_usize).prop_map(|(lines, cut)| {
        let text = lines.concat();
        match cut {
            0 => text.trim_end_matches('\n').to_owned(),
            1 => text.trim_end().to_owned(),
            _ => text,
        }
    })
}

fn flow() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[a-c]{1,2}",
        3 => "(, |\\[|\\]|\\{|\\}|: )",
        1 => "(,|:| |'a'|\"b\"|\"a\":|-a|- |#| #c|\\?|&a|\\*|!|http://x|a b|~|1)",
    ];
    let loose = proptest::collection::vec(part, 0..6).prop_map(|parts| parts.concat());
    let list = proptest::collection::vec("([a-c]|'a'|\"b c\"|-a|1\\.5|~|\\{\\}|\\[\\]|\\{a: b\\})", 0..4);
    let map = proptest::collection::vec("([a-h]|'[a-h]'): ?([a-c]|'a'|\\[a\\]|\\{\\})?", 0..4);
    let separator = prop_oneof![6 => Just(", "), 1 => Just(","), 1 => Just(" , ")];
    prop_oneof![
        loose.clone().prop_map(|inner| format!("[{inner}]")),
        loose.prop_map(|inner| format!("{{{inner}}}")),
        (list, separator.clone()).prop_map(|(items, comma)| format!("[{}]", items.join(comma))),
        (map, separator).prop_map(|(pairs, comma)| format!("{{{}}}", pairs.join(comma))),
    ]
}

/// A block of text below a key, where blank lines, indentation and the end matter.
fn blocks() -> impl Strategy<Value = String> {
    let start = "(a:|- a:|-|- -|a:\n -|a:\n-|  a:) (\\||\\|-|\\|\\+|>|>-|>\\+|'x|\"x|x)( |# c| # c)?";
    let line = "\n( {0,5})(|x|x|x y |#x|x #y|\tx|'|\"|''|x: y|- x|x\\\\|\\\\ x|\\\\|'x'|\\[x|\\{\\}|&x|\\*x|!x|\\? x|: x|%x|@x|`x`|\\|)";
    let lines = proptest::collection::vec(line, 0..7).prop_map(|lines| lines.concat());
    let after = "(\nb: c|\n  b: c|\n- b|\n  # c\nb: c|\n|\n\n|\n  |'|\"\n|'\nb: c\n|\"\n- c|)";
    (start, lines, after).prop_map(|(start, lines, after)| [start, lines, after].concat())
}

fn written() -> impl Strategy<Value = String> {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
    let span = Span::new(source, 0, 0);
    let text = || prop_oneof![4 => "[a-z]{1,8}", 2 => "[-a:#'\" \n,.1~é]{0,9}", 1 => "[a-z ]{0,5}(\n {0,3}[a-z]{0,4}){1,4}\n{0,2}"];
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        "-?[0-9]{1,9}(\\.[0-9]{1,3})?".prop_map(|text| Number::from_yaml(&text).map_or(Value::Null, Value::Number)),
        text().prop_map(|text| Value::String(text.into())),
    ];
    let node = scalar.prop_map(move |value| Node::new(value, span)).prop_recursive(5, 40, 6, move |inner| {
        let list = proptest::collection::vec(inner.clone(), 0..6).prop_map(move |items| Node::list(items, span));
        let map = proptest::collection::btree_map(text(), inner, 0..6).prop_map(move |entries| {
            let key = |name: String| Key { name: name.into(), kind: KeyKind::Text, span };
            Node::map(entries.into_iter().map(|(name, value)| Entry { key: key(name), value }).collect(), span)
        });
        prop_oneof![list, map]
    });
    node.prop_map(|node| write::to_yaml(&node))
}

fn small() -> Limits {
    Limits { depth: 4, nodes: 12, ..Limits::default() }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn lines_read_the_same_both_ways(text in lines()) {
        compare(&text, &Limits::default());
        compare(&text, &small());
    }

    #[test]
    fn blocks_read_the_same_both_ways(text in blocks()) {
        compare(&text, &Limits::default());
    }

    #[test]
    fn what_we_write_reads_the_same_both_ways(text in written()) {
        compare(&text, &Limits::default());
        compare(&text, &small());
    }

    #[test]
    fn brackets_read_the_same_both_ways(value in flow(), start in "(a: |- |- a: |a:\n  )", end in "(|\n| # c\n|\nb: c\n|#|: x)") {
        compare(&[start, value, end].concat(), &Limits::default());
    }
}
