//! Values for tests: read from a line of JSON, built by hand, or random.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;

use crate::diff::{Change, PathStep};
use crate::path::RepoPath;
use crate::text::{SourceText, Sources, Span};
use crate::value::{Entry, Extra, Key, KeyKind, Node, Number, Secret, Value};

static SPAN: LazyLock<Span> = LazyLock::new(|| {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
    Span::new(source, 0, 0)
});

pub(crate) fn span() -> Span {
    *SPAN
}

pub(crate) fn scalar(value: Value) -> Node {
    Node::new(value, span())
}

pub(crate) fn string(text: &str) -> Node {
    scalar(Value::String(text.into()))
}

pub(crate) fn number(text: &str) -> Node {
    scalar(Value::Number(Number::from_yaml(text).unwrap_or_else(|| panic!("{text} is a number"))))
}

pub(crate) fn list(items: Vec<Node>) -> Node {
    Node::list(items, span())
}

pub(crate) fn key(name: &str, kind: KeyKind) -> Key {
    Key { name: name.into(), kind, span: span() }
}

pub(crate) fn map(entries: Vec<(&str, Node)>) -> Node {
    let entry = |(name, value)| Entry { key: key(name, KeyKind::Text), value };
    Node::map(entries.into_iter().map(entry).collect(), span())
}

pub(crate) fn secret(hidden: Node) -> Node {
    scalar(Value::Secret(Secret::hide(hidden)))
}

pub(crate) fn tagged(tag: &str, mut node: Node) -> Node {
    node.extra = Some(Arc::new(Extra { tag: Some(tag.into()), ..Extra::default() }));
    node
}

/// Reads JSON that keeps the spelling of numbers and knows `.nan` and `.inf`.
pub(crate) fn read(text: &str) -> Node {
    try_read(text).unwrap_or_else(|| panic!("{text} is no JSON"))
}

pub(crate) fn try_read(text: &str) -> Option<Node> {
    let mut rest = text.chars().peekable();
    let node = read_value(&mut rest)?;
    skip_blanks(&mut rest);
    rest.next().is_none().then_some(node)
}

fn skip_blanks(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(|next| next.is_whitespace()).is_some() {}
}

fn read_value(rest: &mut Peekable<Chars<'_>>) -> Option<Node> {
    skip_blanks(rest);
    match rest.peek()? {
        '"' => Some(string(&read_string(rest)?)),
        '[' => {
            rest.next();
            let mut items = Vec::new();
            while !ends(rest, ']') {
                items.push(read_value(rest)?);
                comma(rest, ']')?;
            }
            Some(list(items))
        }
        '{' => {
            rest.next();
            let mut entries = Vec::new();
            while !ends(rest, '}') {
                let name = read_string(rest)?;
                skip_blanks(rest);
                rest.next_if_eq(&':')?;
                entries.push(Entry { key: key(&name, KeyKind::Text), value: read_value(rest)? });
                comma(rest, '}')?;
            }
            Some(Node::map(entries, span()))
        }
        _ => {
            let mut word = String::new();
            while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || "+-.".contains(*next)) {
                word.push(next);
            }
            Some(match word.as_str() {
                "null" => scalar(Value::Null),
                "true" => scalar(Value::Bool(true)),
                "false" => scalar(Value::Bool(false)),
                _ => scalar(Value::Number(Number::from_yaml(&word)?)),
            })
        }
    }
}

fn ends(rest: &mut Peekable<Chars<'_>>, end: char) -> bool {
    skip_blanks(rest);
    rest.next_if_eq(&end).is_some()
}

fn comma(rest: &mut Peekable<Chars<'_>>, end: char) -> Option<()> {
    skip_blanks(rest);
    (rest.next_if_eq(&',').is_some() || rest.peek() == Some(&end)).then_some(())
}

fn read_string(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    rest.next_if_eq(&'"')?;
    let mut text = String::new();
    loop {
        match rest.next()? {
            '"' => return Some(text),
            '\\' => text.push(match rest.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            other => text.push(other),
        }
    }
}

/// Any value, small enough that two of them often have something in common.
pub(crate) fn any_node() -> impl Strategy<Value = Node> {
    let name = prop::sample::select(vec!["name", "id", "a", "b", "c", "type", "ports"]);
    let scalar_node = prop_oneof![
        2 => Just(scalar(Value::Null)),
        2 => any::<bool>().prop_map(|value| scalar(Value::Bool(value))),
        6 => prop::sample::select(vec!["0", "1", "1.0", "2", "1.10", "1.1", "0x10", "16", ".nan", "-0.0"]).prop_map(number),
        6 => prop::sample::select(vec!["", "x", "y", "true", "1", "--level=info", "--level=debug"])
            .prop_map(string),
        3 => prop::sample::select(vec!["one\ntwo\n", "one\nthree\n", "two\none\nthree", "k: 1\nl: 2\n"]).prop_map(string),
        2 => prop::sample::select(vec![r#"{"a": [1]}"#, r#"{"a":[1]}"#, r#"{"a": [1.0, 2]}"#, "[1, 2]", "[2, 1]"]).prop_map(string),
        1 => prop::sample::select(vec!["x", "y"]).prop_map(|text| secret(string(text))),
        1 => prop::sample::select(vec!["!Ref", "!Sub"]).prop_map(|tag| tagged(tag, string("x"))),
    ];
    scalar_node.prop_recursive(4, 48, 6, move |inner| {
        let kind = prop_oneof![9 => Just(KeyKind::Text), 1 => Just(KeyKind::Scalar)];
        let entry = ((name.clone(), kind), inner.clone());
        let map = prop::collection::vec(entry, 0..6).prop_map(|entries| {
            let mut kept: Vec<Entry> = Vec::new();
            for ((name, kind), value) in entries {
                let key = key(name, kind);
                if !kept.iter().any(|entry| entry.key.is_same(&key)) {
                    kept.push(Entry { key, value });
                }
            }
            Node::map(kept, span())
        });
        let tagged_map = map.clone().prop_map(|map| tagged("!Thing", map));
        let list = prop::collection::vec(inner.clone(), 0..6).prop_map(list);
        prop_oneof![10 => map, 10 => list, 1 => tagged_map]
    })
}

/// A value and an edited copy of it, so that much is shared and lists are shuffled, shortened and lengthened.
pub(crate) fn edited_pair() -> impl Strategy<Value = (Node, Node)> {
    (any_node(), any_node(), any::<u64>()).prop_map(|(node, other, seed)| {
        let mut random = Random(seed | 1);
        let edited = edit(&node, &other, &mut random);
        (node, edited)
    })
}

/// Two long lists of few kinds of items, the second an edited copy of the first.
pub(crate) fn edited_lists() -> impl Strategy<Value = (Node, Node)> {
    let item = prop_oneof![
        (0..9_u8).prop_map(|at| number(&at.to_string())),
        (0..40_u8, 0..3_u8).prop_map(|(a, b)| read(&format!(r#"{{"name": "n{a}", "b": {b}, "c": [{b}, 1]}}"#))),
        (0..9_u8, 0..9_u8, 0..3_u8)
            .prop_map(|(a, b, c)| read(&format!(r#"{{"a": {a}, "b": {b}, "c": {{"d": {c}}}}}"#))),
    ];
    let items = prop_oneof![
        prop::collection::vec(item.clone(), 0..40),
        prop::collection::hash_set(0..60_u8, 0..30).prop_map(|names| {
            let mut names: Vec<u8> = names.into_iter().collect();
            names.sort_unstable();
            names.iter().map(|at| read(&format!(r#"{{"name": "n{at}", "b": 1, "c": {{"d": 2, "e": 3}}}}"#))).collect()
        }),
    ];
    (items, prop::collection::vec((any::<u16>(), any::<u16>(), item), 0..12)).prop_map(|(items, edits)| {
        let mut edited = items.clone();
        for (kind, at, other) in edits {
            let at = usize::from(at);
            match kind % 5 {
                0 => edited.insert(at % (edited.len() + 1), other),
                _ if edited.is_empty() => {}
                1 => drop(edited.remove(at % edited.len())),
                2 => {
                    let item = edited.remove(at % edited.len());
                    edited.insert(usize::from(kind) % (edited.len() + 1), item);
                }
                3 => {
                    let at = at % edited.len();
                    edited[at] = edit(&edited[at], &other, &mut Random(u64::from(kind) + 1));
                }
                _ => {
                    let by = usize::from(kind) % 7 % edited.len();
                    edited.rotate_left(by);
                }
            }
        }
        (list(items), list(edited))
    })
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap_or_default()
    }
}

fn edit(node: &Node, other: &Node, random: &mut Random) -> Node {
    if random.below(12) == 0 {
        return other.clone();
    }
    let mut copy = match &node.value {
        Value::List(_) => {
            // What is put in is not edited again: something may be put into it, and so on without end.
            let items = node.as_list().unwrap_or_default();
            let mut items: Vec<Node> = items.iter().map(|item| edit(item, other, random)).collect();
            match random.below(6) {
                0 if !items.is_empty() => drop(items.remove(random.below(items.len()))),
                1 => items.insert(random.below(items.len() + 1), other.clone()),
                2 if !items.is_empty() => {
                    let item = items.remove(random.below(items.len()));
                    items.insert(random.below(items.len() + 1), item);
                }
                3 => items.reverse(),
                _ => {}
            }
            list(items)
        }
        Value::Map(map) => {
            let mut entries = map.entries().to_vec();
            for entry in &mut entries {
                entry.value = edit(&entry.value, other, random);
            }
            match random.below(5) {
                0 if !entries.is_empty() => drop(entries.remove(random.below(entries.len()))),
                1 if !entries.iter().any(|entry| entry.key.name == "new") => {
                    entries.push(Entry { key: key("new", KeyKind::Text), value: other.clone() });
                }
                2 => entries.reverse(),
                _ => {}
            }
            Node::map(entries, span())
        }
        _ => node.clone(),
    };
    copy.extra.clone_from(&node.extra);
    copy
}

/// Each change in one line: `value /a/b`, `move /l/0→2 name=web`.
pub(crate) fn lines(changes: &[Change]) -> Vec<String> {
    let step = |step: &PathStep| match step {
        PathStep::Key(key) => format!("/{}", key.name),
        PathStep::Embedded(format) => format!("/({format:?})"),
        PathStep::Metadata => "metadata:".to_owned(),
        PathStep::Expression(value) => value.words().to_owned(),
        PathStep::Request(operation) => format!("{operation}:"),
        PathStep::Item { before, after, label } => {
            let index = |at: &Option<usize>| at.map_or_else(|| "-".to_owned(), |at| at.to_string());
            let label = label.as_ref().map_or_else(String::new, |label| format!("[{label}]"));
            if before == after {
                format!("/{}{label}", index(before))
            } else {
                format!("/{}→{}{label}", index(before), index(after))
            }
        }
    };
    let line = |change: &Change| {
        let path: String = change.path.iter().map(step).collect();
        format!("{:?} {path}", change.kind).to_lowercase()
    };
    changes.iter().map(line).collect()
}
