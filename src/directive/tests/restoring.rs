//! Restoring: what was changed comes out again, and what was not stays as it is written.

use proptest::prelude::*;

use super::*;
use crate::document::write::to_inline;
use crate::value::{Entry, Key, KeyKind};

impl World {
    fn restore(&self, text: &str, changed: &Node) -> Outcome<Restored> {
        let document = self.parse(text);
        let file = path("main.yaml");
        let original = Original { text, document: &document, format: Format::Yaml, file: &file };
        restore(&original, changed, &self.context())
    }
}

fn restores(world: &World, text: &str, changed: &str, expected: &str) {
    let outcome = world.restore(text, &world.parse(changed).root);
    assert!(outcome.findings.is_empty(), "{text}\n{:#?}", outcome.findings);
    let restored = outcome.value.text;
    assert_eq!(restored, expected, "\n{text}\n{restored}");
}

#[test]
fn comments_and_layout_survive() {
    let text = "\
# defaults for all
base: &b
  image: web   # pinned
  res: {cpu: 1, mem: 2}

svc:
  # the usual
  +/base:      # keep
  port: 80     # public
  tags: [a, b]
";
    let changed = "{base: {image: web, res: {cpu: 1, mem: 2}}, \
                   svc: {image: web, res: {cpu: 1, mem: 9}, port: 81, tags: [a, b], extra: {x: 1}}}";
    let expected = text.replace("80 ", "81 ") + "  res:\n    mem: 9\n  extra:\n    x: 1\n";
    restores(&World::new(&[]), text, changed, &expected);
}

#[test]
fn nested_directives_come_back_in_their_own_map() {
    let text = "t: {a: 1}\nu: {b: 2}\nx:\n  +/t:\n  in:\n    +/u:\n    c: 3\n";
    restores(
        &World::new(&[]),
        text,
        "{t: {a: 1}, u: {b: 2}, x: {a: 1, in: {b: 2, c: 4}}}",
        &text.replace("c: 3", "c: 4"),
    );
    restores(
        &World::new(&[]),
        text,
        "{t: {a: 1}, u: {b: 2}, x: {a: 5, in: {c: 3}}}",
        "t: {a: 1}\nu: {b: 2}\nx:\n  +/t:\n  in:\n    +/u:\n    c: 3\n    b:\n      +%: whiteout\n  a: 5\n",
    );
}

#[test]
fn a_removal_goes_when_its_key_comes_back_as_it_is_inherited() {
    let text = "b: {a: 1, n: {c: 2, d: 3}}\nx:\n  +/b:\n  a:\n    +%: whiteout\n  n:\n    c:\n      +%: whiteout\n";
    restores(
        &World::new(&[]),
        text,
        "{b: {a: 1, n: {c: 2, d: 3}}, x: {a: 1, n: {d: 3}}}",
        "b: {a: 1, n: {c: 2, d: 3}}\nx:\n  +/b:\n  n:\n    c:\n      +%: whiteout\n",
    );
    restores(
        &World::new(&[]),
        text,
        "{b: {a: 1, n: {c: 2, d: 3}}, x: {a: 4, n: {d: 3}}}",
        "b: {a: 1, n: {c: 2, d: 3}}\nx:\n  +/b:\n  a: 4\n  n:\n    c:\n      +%: whiteout\n",
    );
}

#[test]
fn lists_with_splices_stay_until_they_change() {
    let text = "e: [x, y]\nl: [a, {+/e: }, b] # list\nk: 1\n";
    restores(&World::new(&[]), text, "{e: [x, y], l: [a, x, y, b], k: 2}", &text.replace("k: 1", "k: 2"));
    restores(&World::new(&[]), text, "{e: [x, y], l: [a, x, z, b], k: 1}", "e: [x, y]\nl: [a, x, z, b] # list\nk: 1\n");
}

#[test]
fn anchors_relative_paths_and_names_are_looked_up_in_what_was_changed() {
    let text = "t: &t {a: 1}\nn: {+&: n, b: 1}\nx: {+*t: , +*n: , in: {+../side: }, side: {s: 1}}\n";
    restores(
        &World::new(&[]),
        text,
        "{t: {a: 2}, n: {b: 3}, x: {a: 2, b: 3, in: {s: 4}, side: {s: 4}}}",
        "t: &t {a: 2}\nn: {+&: n, b: 3}\nx: {+*t: , +*n: , in: {+../side: }, side: {s: 4}}\n",
    );
}

#[test]
fn aliases_stay_beside_directives() {
    let text = "d: &d {k: 1}\nb: {j: 1}\nx: {+/b: , m: *d}\ny: *d\n";
    restores(
        &World::new(&[]),
        text,
        "{d: {k: 1}, b: {j: 2}, x: {j: 2, m: {k: 1}}, y: {k: 1}}",
        &text.replace("b: {j: 1}", "b: {j: 2}"),
    );
    restores(
        &World::new(&[]),
        text,
        "{d: {k: 2}, b: {j: 1}, x: {j: 1, m: {k: 2}}, y: {k: 1}}",
        "d: &d {k: 2}\nb: {j: 1}\nx: {+/b: , m: *d}\ny:\n  k: 1\n",
    );
}

#[test]
fn what_vanished_stays_written() {
    let text = "x: {+?/nope: }\ny: {gone: {+%: whiteout}, k: 1}\nz:\n  +&: name\n  k: 1\n";
    restores(
        &World::new(&[]),
        text,
        "{y: {k: 2}, z: {k: 3}}",
        &text.replacen("k: 1", "k: 2", 1).replace("  k: 1", "  k: 3"),
    );
}

#[test]
fn a_deleted_target_is_put_back_with_what_it_needs() {
    let text = "c: {z: 1}\nlib:\n  b: {+/c: , y: 2} # b\n  o: 1\nx: {+/lib/b: , k: 1}\n";
    let world = World::new(&[]);
    let outcome = world.restore(text, &world.parse("{lib: {o: 1}, x: {z: 1, y: 2, k: 5}}").root);
    assert!(outcome.findings.is_empty());
    let again = world.parse(&outcome.value.text).root;
    let expected = "{c: {z: 1}, lib: {b: {+/c: , y: 2}, o: 1}, x: {+/lib/b: , k: 5}}";
    assert!(again.is_identical(&world.parse(expected).root), "{}", outcome.value.text);
    let put_back: Vec<String> = outcome.value.put_back.iter().map(ToString::to_string).collect();
    assert_eq!(put_back, ["/lib/b", "/c"]);
}

#[test]
fn what_looks_like_a_directive_cannot_be_saved() {
    let world = World::new(&[]);
    let outcome = world.restore("a: {+/b: }\nb: {k: 1}\n", &world.parse("{a: {k: 1}, b: {k: 1}, c: {'+foo': 1}}").root);
    assert!(outcome.findings.is_empty(), "this is data");
    let changed = world.expand("t: {'+/x': 1}\na: {+/t: raw}\nx: {}\nb: 1\n").value.root;
    let outcome = world.restore("a: 1\n", &changed);
    assert_eq!(outcome.findings[0].rule.id, "merge/not-restorable");
    assert_eq!(outcome.value.text, "a: 1\n");
}

#[test]
fn includes_stay_and_their_files_are_not_touched() {
    let world = World::new(&[("inc.yaml", "a: {b: 1, c: 2}\nd: 3\n")]);
    restores(
        &world,
        "x:\n  +include: inc.yaml # shared\n  e: 4\n",
        "x: {a: {b: 1, c: 9}, e: 4}",
        "x:\n  +include: inc.yaml # shared\n  e: 4\n  a:\n    c: 9\n  d:\n    +%: whiteout\n",
    );
}

#[test]
fn many_users_of_a_changed_base_keep_their_directive() {
    let users: String = (0..100).map(|i| format!("u{i}: {{+/base: , k: {i}}}\n")).collect();
    let text = format!("base: {{l: [1, 2], v: 1}}\n{users}");
    for profile in [MergeProfile::Plain, MergeProfile::Unfurl] {
        let world = World { profile, ..World::new(&[]) };
        let users: String = (0..100).map(|i| format!("u{i}: {{l: [2], v: 2, k: {i}}}\n")).collect();
        let changed = world.parse(&format!("base: {{l: [1, 2], v: 2}}\n{users}")).root;
        let outcome = world.restore(&text, &changed);
        assert!(outcome.findings.is_empty());
        assert!(world.expand(&outcome.value.text).value.root.is_identical(&changed));
        let directives = if profile == MergeProfile::Plain { 100 } else { 0 };
        assert_eq!(count_directives(&outcome.value.text), directives, "{}", outcome.value.text);
    }
}

#[test]
fn json_is_restored_as_json() {
    let world = World::new(&[]);
    let text = "{\n  \"b\": {\"k\": 1},\n  \"x\": {\"+/b\": null, \"j\": 2}\n}\n";
    let source = world.sources.add(SourceText::new(path("main.json"), "test", text));
    let document = document::parse(text, source, Format::Json, &world.limits).value.remove(0);
    let file = path("main.json");
    let original = Original { text, document: &document, format: Format::Json, file: &file };
    let changed = world.parse("{b: {k: 1}, x: {k: 5, j: 2}}").root;
    let outcome = restore(&original, &changed, &world.context());
    assert_eq!(outcome.value.text, "{\n  \"b\": {\"k\": 1},\n  \"x\": {\"+/b\": null, \"j\": 2, \"k\": 5}\n}\n");
}

/// One change of a value: where, what, and with what.
#[derive(Debug, Clone)]
struct Change {
    way: Vec<u8>,
    kind: u8,
    value: String,
}

fn change() -> impl Strategy<Value = Change> {
    let value = prop_oneof![
        "[4-6]",
        Just("{}".to_owned()),
        Just("{z: 1}".to_owned()),
        Just("[7, 8]".to_owned()),
        Just("null".to_owned())
    ];
    (proptest::collection::vec(any::<u8>(), 1..4), 0u8..4, value).prop_map(|(way, kind, value)| Change {
        way,
        kind,
        value,
    })
}

impl Change {
    fn apply(&self, node: &Node, level: usize, value: &Node) -> Node {
        let Some(&step) = self.way.get(level) else { return self.here(node, value) };
        match &node.value {
            Value::Map(map) if !map.is_empty() => {
                let mut entries = map.entries().to_vec();
                let at = usize::from(step) % entries.len();
                entries[at].value = self.apply(&entries[at].value, level + 1, value);
                Node::map(entries, node.span)
            }
            Value::List(list) if !list.items().is_empty() => {
                let mut items = list.items().to_vec();
                let at = usize::from(step) % items.len();
                items[at] = self.apply(&items[at], level + 1, value);
                Node::list(items, node.span)
            }
            _ => self.here(node, value),
        }
    }

    fn here(&self, node: &Node, value: &Node) -> Node {
        let at = usize::from(self.way[self.way.len() - 1]);
        match &node.value {
            Value::Map(map) if self.kind == 0 && !map.is_empty() => {
                let mut entries = map.entries().to_vec();
                entries.remove(at % entries.len());
                Node::map(entries, node.span)
            }
            Value::Map(map) if self.kind < 3 && map.get("n").is_none() => {
                let key = Key { name: "n".into(), kind: KeyKind::Text, span: node.span };
                let entries = map.entries().iter().cloned().chain([Entry { key, value: value.clone() }]);
                Node::map(entries.collect(), node.span)
            }
            Value::List(list) if self.kind == 0 && !list.items().is_empty() => {
                let mut items = list.items().to_vec();
                items.remove(at % items.len());
                Node::list(items, node.span)
            }
            Value::List(list) if self.kind < 3 => {
                let mut items = list.items().to_vec();
                items.insert(at % (items.len() + 1), value.clone());
                Node::list(items, node.span)
            }
            _ => value.clone(),
        }
    }
}

/// Whether everything of one value is in the other, which may have more keys.
fn is_within(small: &Node, large: &Node) -> bool {
    match (&small.value, &large.value) {
        (Value::Map(small), Value::Map(large)) => small
            .entries()
            .iter()
            .all(|entry| large.get(&entry.key.name).is_some_and(|value| is_within(&entry.value, value))),
        _ => small.is_identical(large),
    }
}

/// Whether one value still has every member and item that the other has.
fn has_all_paths(node: &Node, original: &Node) -> bool {
    match (&node.value, &original.value) {
        (Value::Map(map), Value::Map(original)) => original
            .entries()
            .iter()
            .all(|entry| map.get(&entry.key.name).is_some_and(|value| has_all_paths(value, &entry.value))),
        (Value::List(list), Value::List(original)) => {
            let pairs = || list.items().iter().zip(original.items());
            list.items().len() >= original.items().len()
                && pairs().all(|(node, original)| has_all_paths(node, original))
        }
        (_, Value::Map(map)) => map.is_empty(),
        (_, Value::List(list)) => list.items().is_empty(),
        _ => true,
    }
}

fn count_directives(text: &str) -> usize {
    text.matches("+/").count() + text.matches("+?").count() + text.matches("+.").count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn expanding_what_was_saved_gives_what_was_changed(
        text in naive::document(),
        changes in proptest::collection::vec(change(), 1..3),
        is_unfurl: bool,
    ) {
        let profile = if is_unfurl { MergeProfile::Unfurl } else { MergeProfile::Plain };
        let world = World { profile, ..World::new(&[]) };
        let expanded = world.expand(&text);
        prop_assume!(expanded.findings.is_empty() && text.contains('+'));
        let original = expanded.value.root;
        let changed = changes.iter().fold(original.clone(), |node, change| {
            change.apply(&node, 0, &world.parse(&change.value).root)
        });
        let outcome = world.restore(&text, &changed);
        prop_assert!(outcome.findings.is_empty(), "{} {:?}", to_inline(&changed), outcome.findings);
        let again = world.expand(&outcome.value.text);
        prop_assert!(again.findings.is_empty(), "{} {:?}", outcome.value.text, again.findings);
        let root = again.value.root;
        let has_deletions = !has_all_paths(&changed, &original);
        let holds = root.is_identical(&changed) || (has_deletions && is_within(&changed, &root));
        prop_assert!(holds, "changed {}\nsaved {}\nexpands to {}", to_inline(&changed), outcome.value.text, to_inline(&root));
    }

    #[test]
    fn comments_outside_the_change_survive(text in naive::document(), change in change()) {
        let world = World::new(&[]);
        prop_assume!(text.contains('+') && world.expand(&text).findings.is_empty());
        let block = document::write::to_yaml(&world.parse(&text).root);
        let text = format!("# head\nabove: 1 # kept\n{block}# about below\nbelow: [1, 2] # kept, too\n");
        let expanded = world.expand(&text).value.root;
        let mut entries = expanded.as_map().expect("a map").entries().to_vec();
        let is_between = |at: &usize| !matches!(entries[*at].key.name.as_str(), "above" | "below");
        let between: Vec<usize> = (0..entries.len()).filter(is_between).collect();
        prop_assume!(!between.is_empty());
        let at = between[usize::from(change.way[0]) % between.len()];
        entries[at].value = change.apply(&entries[at].value, 1, &world.parse(&change.value).root);
        let changed = Node::map(entries, expanded.span);
        let outcome = world.restore(&text, &changed);
        prop_assert!(outcome.findings.is_empty());
        prop_assert!(outcome.value.text.starts_with("# head\nabove: 1 # kept\n"), "{}", outcome.value.text);
        prop_assert!(outcome.value.text.contains("# about below\nbelow: [1, 2] # kept, too\n"), "{}", outcome.value.text);
    }

    #[test]
    fn what_nobody_changed_stays_to_the_letter(text in naive::document(), is_unfurl: bool) {
        let profile = if is_unfurl { MergeProfile::Unfurl } else { MergeProfile::Plain };
        let world = World { profile, ..World::new(&[]) };
        let expanded = world.expand(&text);
        prop_assume!(expanded.findings.is_empty() && text.contains('+'));
        prop_assert_eq!(world.restore(&text, &expanded.value.root).value.text, text);
    }

    #[test]
    fn a_new_key_at_the_root_leaves_every_directive(text in naive::document(), is_unfurl: bool) {
        let profile = if is_unfurl { MergeProfile::Unfurl } else { MergeProfile::Plain };
        let world = World { profile, ..World::new(&[]) };
        let expanded = world.expand(&text);
        prop_assume!(expanded.findings.is_empty() && text.contains('+') && !text.contains("whiteout"));
        let root = expanded.value.root;
        let key = Key { name: "fresh".into(), kind: KeyKind::Text, span: root.span };
        let value = Node::new(Value::Bool(true), root.span);
        let entries = root.as_map().expect("a map").entries().iter().cloned().chain([Entry { key, value }]);
        let changed = Node::map(entries.collect(), root.span);
        let outcome = world.restore(&text, &changed);
        prop_assert_eq!(count_directives(&outcome.value.text), count_directives(&text), "{}", outcome.value.text);
    }
}
