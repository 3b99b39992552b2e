//! Edits keep what they need not touch, and say what was asked for.

use proptest::prelude::*;

use super::*;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};
use crate::value::{Entry, Key, KeyKind, Value};

fn read(text: &str, format: Format) -> Option<Document> {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text));
    let mut read = crate::document::parse(text, source, format, &Limits::default());
    (read.findings.is_empty() && read.value.len() == 1).then(|| read.value.remove(0))
}

fn edited(text: &str, new: &str, format: Format) -> String {
    let document = read(text, format).unwrap_or_else(|| panic!("{text} is a document"));
    let new = read(new, Format::Yaml).expect("the new value is a document").root;
    edit(text, &document, &new, format, &Limits::default()).expect("it can be edited")
}

fn becomes(text: &str, new: &str, expected: &str) {
    let is = edited(text, new, Format::Yaml);
    assert_eq!(is, expected, "\n{text}\n{is}");
}

#[test]
fn scalars_change_in_place() {
    becomes("a:   1   # one\nb: 2\n", "{a: 5, b: 2}", "a:   5   # one\nb: 2\n");
    becomes("a: \"x\" # c\nb: 'y'\nc: z\n", "{a: v, b: w, c: '1'}", "a: \"v\" # c\nb: 'w'\nc: \"1\"\n");
    becomes("a: &n !!str 1\nb: *n\n", "{a: '2', b: '2'}", "a: &n \"2\"\nb: *n\n");
    becomes("a:\nb: ~\n", "{a: 1, b: 2}", "a: 1\nb: 2\n");
    becomes("- 1 # x\n-\n- 3\n", "[1, 2, 4]", "- 1 # x\n- 2\n- 4\n");
    becomes("a: |\n  text\n  more\nb: 1\n", "{a: other, b: 1}", "a: other\nb: 1\n");
    becomes("a: 1 # c\nb: 2\n", "{a: \"x\\ny\\n\", b: 2}", "a: | # c\n  x\n  y\nb: 2\n");
    becomes("a: 1 # c\nb: 2\n", "{a: {k: 1}, b: 2}", "a: # c\n  k: 1\nb: 2\n");
    becomes("a: # c\n  k: 1\nb: 2\n", "{a: 7, b: 2}", "a: 7 # c\nb: 2\n");
    becomes("a: {k: [1, 2, {x: y}]} # c\n", "{a: {k: [1, 3, {x: 'z, '}]}}", "a: {k: [1, 3, {x: \"z, \"}]} # c\n");
    becomes("a: 1\r\nb: 2\r\n", "{a: 1, b: {c: d, e: f}}", "a: 1\r\nb:\r\n  c: d\r\n  e: f\r\n");
}

#[test]
fn entries_come_with_the_indentation_around_them() {
    becomes(
        "a:\n    x: 1 # c\n\n# end\nb: 2\n",
        "{a: {x: 1, 'y': {z: 1}}, b: 2}",
        "a:\n    x: 1 # c\n    \"y\":\n      z: 1\n\n# end\nb: 2\n",
    );
    becomes("- a: 1\n  b: 2\n- c: 3", "[{a: 1, e: 5, b: 2}, {c: 3, d: 4}]", "- a: 1\n  e: 5\n  b: 2\n- c: 3\n  d: 4");
    becomes("a: {x: 1}\nb: [1]\n", "{a: {x: 1, z: [2]}, b: [1, 2]}", "a: {x: 1, z: [2]}\nb: [1, 2]\n");
    becomes("a: {}\nb: []\n", "{a: {x: 1}, b: [1]}", "a:\n  x: 1\nb:\n- 1\n");
    becomes(
        "a: {\n  x: 1, # c\n  z: 2 # d\n}\n",
        "a: {x: 1, e: 0, z: 2, w: 3}",
        "a: {\n  x: 1,\n  e: 0, # c\n  z: 2, # d\n  w: 3\n}\n",
    );
    becomes("l:\n- 1\n- 3 # c\n", "l: [1, 2, 3, 4]", "l:\n- 1\n- 2\n- 3 # c\n- 4\n");
    becomes(
        "l: # l\n  - 2 # c\nm: [3]\nn:\n- - 5\n",
        "{l: [1, 2], m: [4, 3], n: [[4, 5]]}",
        "l: # l\n  - 1\n  - 2 # c\nm: [4, 3]\nn:\n- - 4\n  - 5\n",
    );
    becomes("a: |+\n  x\n\nb: 1\n", "{a: \"x\\n\\n\", e: 2, b: 1}", "a: |+\n  x\n\ne: 2\nb: 1\n");
}

#[test]
fn entries_go_with_their_comments() {
    becomes(
        "# file\na: 1\n# about b\n# more\nb: 2 # b\n\n# about c\nc: 3\n",
        "{a: 1, c: 3}",
        "# file\na: 1\n\n# about c\nc: 3\n",
    );
    becomes("# file\na: 1\nb: 2\n", "{b: 2}", "# file\nb: 2\n");
    becomes("- a: 1\n  b: 2\n  c: 3\n- 4\n", "[{c: 3}, 4]", "- c: 3\n- 4\n");
    becomes("a: {x: 1, y: 2, z: 3}\n", "{a: {y: 2}}", "a: {y: 2}\n");
    becomes("a: {x: 1, y: 2, z: 3}\n", "{a: {x: 1, z: 3}}", "a: {x: 1, z: 3}\n");
    becomes("l:\n  - 1\n  # two\n  - 2\n  - 3\n", "l: [1, 3]", "l:\n  - 1\n  - 3\n");
    becomes("a:\n  b: 1\nc: 2\n", "{a: {}, c: 2}", "a: {}\nc: 2\n");
    becomes(
        "a:\n  b:\n    x: 1\n    # c\n    c: 1\nd: 2 # d\n",
        "{a: {b: {x: 1}, c: 1}, d: 2}",
        "a:\n  b:\n    x: 1\n  c: 1\nd: 2 # d\n",
    );
    becomes("- - 1\n  - 2\n- 3\n", "[[2], 3]", "- - 2\n- 3\n");
}

#[test]
fn aliases_and_merge_keys_stay_where_they_still_fit() {
    becomes("a: &x {k: 1}\nb: *x\nc: *x\n", "{a: {k: 2}, b: {k: 2}, c: {k: 1}}", "a: &x {k: 2}\nb: *x\nc:\n  k: 1\n");
    becomes(
        "a: &x\n  k: 1\nb:\n  <<: *x\n  j: 2\n",
        "{a: {k: 1}, b: {k: 3, j: 2}}",
        "a: &x\n  k: 1\nb:\n  <<: *x\n  j: 2\n  k: 3\n",
    );
    becomes("a: &x\n  k: 1\nb:\n  <<: *x\n  j: 2\n", "{a: {k: 1}, b: {j: 2}}", "a: &x\n  k: 1\nb:\n  j: 2\n");
    becomes("a: &x 1\nb: *x\n", "{b: 1}", "b: 1\n");
}

#[test]
fn other_documents_stay() {
    let text = "a: 1\n---\n# two\nb: 2 # c\n---\nc: 3\n";
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text));
    let documents = crate::document::parse(text, source, Format::Yaml, &Limits::default()).value;
    let new = read("{b: 5, d: 6}", Format::Yaml).expect("a document").root;
    let is = edit(text, &documents[1], &new, Format::Yaml, &Limits::default()).expect("it can be edited");
    assert_eq!(is, "a: 1\n---\n# two\nb: 5 # c\nd: 6\n---\nc: 3\n");
    let new = read("[1]", Format::Yaml).expect("a document").root;
    let is = edit(text, &documents[1], &new, Format::Yaml, &Limits::default()).expect("it can be edited");
    assert_eq!(is, "a: 1\n---\n# two\n- 1\n---\nc: 3\n");
}

#[test]
fn json_stays_json() {
    let is =
        edited("{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n", "{a: 'x\"', b: [1, 2, {c: null}], d: {e: 1}}", Format::Json);
    assert_eq!(is, "{\n  \"a\": \"x\\\"\",\n  \"b\": [1, 2, {\"c\": null}],\n  \"d\": {\n    \"e\": 1\n  }\n}\n");
    assert_eq!(edited("{\"a\":1,\"b\":2}", "{b: 2, c: 3}", Format::Json), "{\"b\":2, \"c\": 3}");
    assert_eq!(edited("{}", "{b: 2}", Format::Json), "{\n  \"b\": 2\n}\n");
    assert_eq!(edited("{\"a\":{}}", "{a: {b: [true]}}", Format::Json), "{\"a\":{\"b\": [true]}}");
    let document = read("{\"a\": 1}", Format::Json).expect("a document");
    let infinite = read("{a: .inf}", Format::Yaml).expect("a document").root;
    assert_eq!(edit("{\"a\": 1}", &document, &infinite, Format::Json, &Limits::default()), None);
}

/// A value, and how each part of it is written.
#[derive(Debug, Clone)]
enum Written {
    Scalar(String),
    Block(String),
    List { items: Vec<Written>, is_flow: bool, comment: bool },
    Map { entries: Vec<(String, Written)>, is_flow: bool, comment: bool, indent: usize },
}

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        "[0-9]",
        "[a-z]{1,4}",
        "'[a-z :#]{0,4}'",
        "\"[a-z ]{0,3}\"",
        Just("null".to_owned()),
        Just("1.50".to_owned()),
        Just("a b".to_owned()),
        Just("~".to_owned()),
        Just(String::new()),
        Just("!T x".to_owned()),
        Just("!!str 1".to_owned()),
    ]
}

fn written() -> impl Strategy<Value = Written> {
    let leaf =
        prop_oneof![8 => scalar().prop_map(Written::Scalar), 1 => "(\\||\\|-|>|\\|\\+)".prop_map(Written::Block)];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let keys = "[a-f]|'[g-h] '|\"i\"|1|true";
        prop_oneof![
            (proptest::collection::btree_map(keys, inner.clone(), 0..4), any::<[bool; 2]>(), 1usize..4).prop_map(
                |(entries, [is_flow, comment], indent)| {
                    Written::Map { entries: entries.into_iter().collect(), is_flow, comment, indent }
                }
            ),
            (proptest::collection::vec(inner, 0..4), any::<[bool; 2]>())
                .prop_map(|(items, [is_flow, comment])| Written::List { items, is_flow, comment }),
        ]
    })
}

impl Written {
    fn flow(&self) -> String {
        match self {
            Self::Scalar(text) if text.is_empty() => "null".to_owned(),
            Self::Scalar(text) => text.clone(),
            Self::Block(_) => "\"x\\n\"".to_owned(),
            Self::List { items, .. } => format!("[{}]", items.iter().map(Self::flow).collect::<Vec<_>>().join(", ")),
            Self::Map { entries, .. } => {
                let entries = entries.iter().map(|(key, value)| format!("{key}: {}", value.flow()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The value as it follows an indicator, lines in the given column.
    fn after(&self, column: usize, out: &mut String) {
        match self {
            Self::Scalar(text) if text.is_empty() => out.push_str(" # nothing\n"),
            Self::Scalar(text) => *out += &format!(" {text}\n"),
            Self::Block(header) => {
                let indent = " ".repeat(column + 2);
                *out += &format!(" {header}\n{indent}x\n{indent}# no comment\n\n");
            }
            Self::List { items, is_flow: false, comment } if !items.is_empty() => {
                out.push_str(if *comment { " # a list\n" } else { "\n" });
                for item in items {
                    *out += &" ".repeat(column);
                    out.push('-');
                    item.after(column + 2, out);
                }
            }
            Self::Map { entries, is_flow: false, comment, indent } if !entries.is_empty() => {
                out.push('\n');
                let column = column + indent;
                for (key, value) in entries {
                    let indent = " ".repeat(column);
                    if *comment {
                        *out += &format!("{indent}# about it\n");
                    }
                    *out += &format!("{indent}{key}:");
                    value.after(column, out);
                }
            }
            other => *out += &format!(" {} # flow\n", other.flow()),
        }
    }

    fn document(&self) -> String {
        let mut out = String::from("# head\nfirst: 0 # a\nroot:");
        self.after(0, &mut out);
        out + "# about last\nlast: 1 # b\n# foot\n"
    }
}

/// How to make another value of a value.
#[derive(Debug, Clone)]
struct Mutation {
    way: Vec<u8>,
    kind: u8,
    value: String,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let value = prop_oneof![
        2 => scalar(), 1 => Just("{n: 1, m: [x, {o: p}]}".to_owned()), 1 => Just("[1, [2], {q: 3}]".to_owned()),
        1 => Just("\"two\\nlines\\n\"".to_owned()), 1 => Just("\"tail\\n\\n\"".to_owned()), 1 => Just("{}".to_owned()),
        1 => Just("\" lead\\n x\"".to_owned()), 1 => Just("\"# no\\n\\n# comment\\n\"".to_owned()),
    ];
    (proptest::collection::vec(any::<u8>(), 0..5), 0u8..5, value).prop_map(|(way, kind, value)| Mutation {
        way,
        kind,
        value,
    })
}

impl Mutation {
    fn apply(&self, node: &Node, level: usize) -> Node {
        let value = read(&self.value, Format::Yaml).map_or_else(|| Node::new(Value::Null, node.span), |it| it.root);
        let Some(&step) = self.way.get(level) else { return self.here(node, value) };
        match &node.value {
            Value::Map(map) if !map.is_empty() => {
                let at = usize::from(step) % map.len();
                let mut entries = map.entries().to_vec();
                entries[at].value = self.apply(&entries[at].value, level + 1);
                Node { extra: node.extra.clone(), ..Node::map(entries, node.span) }
            }
            Value::List(list) if !list.items().is_empty() => {
                let at = usize::from(step) % list.items().len();
                let mut items = list.items().to_vec();
                items[at] = self.apply(&items[at], level + 1);
                Node { extra: node.extra.clone(), ..Node::list(items, node.span) }
            }
            _ => self.here(node, value),
        }
    }

    fn here(&self, node: &Node, value: Node) -> Node {
        let at = usize::from(self.way.last().copied().unwrap_or_default());
        match &node.value {
            Value::Map(map) if self.kind < 2 && !map.is_empty() => {
                let mut entries = map.entries().to_vec();
                entries.remove(at % map.len());
                Node { extra: node.extra.clone(), ..Node::map(entries, node.span) }
            }
            Value::Map(map) if self.kind < 4 && map.get("new key").is_none() => {
                let mut entries = map.entries().to_vec();
                let key = Key { name: "new key".into(), kind: KeyKind::Text, span: node.span };
                entries.insert(at % (map.len() + 1), Entry { key, value });
                Node { extra: node.extra.clone(), ..Node::map(entries, node.span) }
            }
            Value::List(list) if self.kind < 2 && !list.items().is_empty() => {
                let mut items = list.items().to_vec();
                items.remove(at % list.items().len());
                Node { extra: node.extra.clone(), ..Node::list(items, node.span) }
            }
            Value::List(list) if self.kind < 4 => {
                let mut items = list.items().to_vec();
                items.insert(at % (items.len() + 1), value);
                Node { extra: node.extra.clone(), ..Node::list(items, node.span) }
            }
            _ => value,
        }
    }
}

/// Whether the lines of one text come in this order in another.
fn lines_survive(lines: &str, text: &str) -> bool {
    let mut rest = text.lines();
    lines.lines().all(|line| rest.any(|it| it == line))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn an_edited_text_says_the_new_value(written in written(), mutations in proptest::collection::vec(mutation(), 1..4)) {
        let text = written.document();
        let document = read(&text, Format::Yaml);
        prop_assert!(document.is_some(), "{text}");
        let document = document.expect("checked above");
        let new = mutations.iter().fold(document.root.clone(), |node, mutation| mutation.apply(&node, 0));
        let edited = edit(&text, &document, &new, Format::Yaml, &Limits::default());
        prop_assert!(edited.is_some(), "{text}\n{}", write::to_inline(&new));
        let edited = edited.expect("checked above");
        let again = read(&edited, Format::Yaml);
        prop_assert!(again.is_some_and(|again| again.root.is_identical(&new)), "{text}\n{edited}");
    }

    #[test]
    fn lines_outside_the_change_stay(written in written(), mutation in mutation()) {
        let text = written.document();
        let document = read(&text, Format::Yaml).expect("generated texts can be read");
        let root = document.root.get("root").expect("generated texts have a root");
        let changed = mutation.apply(root, 0);
        let mut entries = document.root.as_map().expect("a map").entries().to_vec();
        entries[1].value = changed;
        let new = Node::map(entries, document.root.span);
        let edited = edit(&text, &document, &new, Format::Yaml, &Limits::default()).expect("it can be edited");
        prop_assert!(edited.starts_with("# head\nfirst: 0 # a\nroot:"), "{edited}");
        prop_assert!(edited.ends_with("# about last\nlast: 1 # b\n# foot\n"), "{edited}");
    }

    #[test]
    fn a_changed_scalar_changes_its_own_lines_only(written in written(), way in proptest::collection::vec(any::<u8>(), 5)) {
        let text = written.document();
        let document = read(&text, Format::Yaml).expect("generated texts can be read");
        let mut old = &document.root;
        for step in &way {
            old = match &old.value {
                Value::Map(map) if !map.is_empty() => &map.entries()[usize::from(*step) % map.len()].value,
                Value::List(list) if !list.items().is_empty() => &list.items()[usize::from(*step) % list.items().len()],
                _ => old,
            };
        }
        prop_assume!(!matches!(old.value, Value::Map(_) | Value::List(_)));
        let new = replaced(&document.root, old, &Node::new(Value::String("changed".into()), old.span));
        let edited = edit(&text, &document, &new, Format::Yaml, &Limits::default()).expect("it can be edited");
        let range = old.span.range();
        let (before, after) = (&text[..lines::start_of_line(&text, range.start)], &text[lines::next_line(&text, range.end)..]);
        prop_assert!(edited.starts_with(before) && edited.ends_with(after), "{text}\n{edited}");
        prop_assert!(lines_survive(before, &edited));
    }

    #[test]
    fn json_too(written in written(), mutations in proptest::collection::vec(mutation(), 1..4)) {
        let untagged = written.document().replace("!T ", "").replace("!!str ", "");
        let root = read(&untagged, Format::Yaml).expect("generated texts can be read").root;
        for text in [write::to_json(&root), write::to_json(&root).replace("\n", " ").replace("  ", "")] {
            let Some(document) = read(&text, Format::Json) else { continue };
            let new = mutations.iter().fold(document.root.clone(), |node, mutation| mutation.apply(&node, 0));
            let new = read(&write::to_json(&new), Format::Json).expect("JSON").root;
            let edited = edit(&text, &document, &new, Format::Json, &Limits::default()).expect("it can be edited");
            prop_assert!(read(&edited, Format::Json).is_some_and(|again| again.root.is_identical(&new)), "{text}\n{edited}");
        }
    }
}

/// Text made of what YAML gives meaning to; part of it can be read.
fn snippets() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-c]",
        2 => "(1|true|null|~|yes|1.50|é)",
        4 => "(: |: |:|- |\\? |, |,)",
        4 => "(\n|\n  |\n    |\n- |\n  - | )",
        2 => "([\\[\\]{}])",
        1 => "('a'|\"b\"|\"\\n\"|'it''s')",
        2 => "(\\|\n  |>-\n  |&a |\\*a |!T |!!str |<<: \\*a\n|#c\n| # d\n)",
        1 => "(--- |\r\n|\t)",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_can_be_read_can_be_edited(text in snippets(), mutations in proptest::collection::vec(mutation(), 1..3)) {
        if let Some(document) = read(&text, Format::Yaml) {
            let new = mutations.iter().fold(document.root.clone(), |node, mutation| mutation.apply(&node, 0));
            let edited = edit(&text, &document, &new, Format::Yaml, &Limits::default());
            prop_assert!(edited.is_some(), "{text:?} to {}", write::to_inline(&new));
        }
    }
}

fn replaced(node: &Node, old: &Node, new: &Node) -> Node {
    if node.span == old.span && !matches!(node.value, Value::Map(_) | Value::List(_)) {
        return new.clone();
    }
    match &node.value {
        Value::Map(map) => {
            let entries =
                map.entries().iter().map(|it| Entry { key: it.key.clone(), value: replaced(&it.value, old, new) });
            Node { extra: node.extra.clone(), ..Node::map(entries.collect(), node.span) }
        }
        Value::List(list) => {
            let items = list.items().iter().map(|item| replaced(item, old, new)).collect();
            Node { extra: node.extra.clone(), ..Node::list(items, node.span) }
        }
        _ => node.clone(),
    }
}
