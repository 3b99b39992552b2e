//! Documents that mean harm end at once, and say why.

use proptest::prelude::*;

use super::*;
use crate::snapshot::{Entry, EntryKind, Reason, Unreadable};
use std::sync::Arc;

fn reported(text: &str) -> Vec<(&'static str, String)> {
    let world = World::new(&[]);
    let outcome = world.expand(text);
    world.reported(&outcome.findings)
}

#[test]
fn cycles_are_reported_with_their_chain() {
    let world = World::new(&[]);
    for text in [
        "a: {+/b: , x: 1}\nb: {+/c: }\nc: {+/a: }\n",
        "x: {+/a: }\na: {+/b: , x: 1}\nb: {+/a: }\n",
        "a: &a {+*b: }\nb: &b {+*a: }\n",
        "a: {+.: }\n",
        "a: {b: {c: {+....: }}}\n",
        "a: {deep: {+/a: }}\n",
        "a: {l: [1, [{+/a: }]]}\n",
        "a: {b: {+/a/c: }, c: {+/a/b: }}\nx: {+/a: }\n",
    ] {
        let outcome = world.expand(text);
        assert_eq!(outcome.findings.len(), 1, "{text}: {:#?}", outcome.findings);
        assert_eq!(outcome.findings[0].rule.id, "merge/recursive-include");
    }
    let outcome = world.expand("a: {+/b: , x: 1}\nb: {m: {+/c: }}\nc: {+/a: }\n");
    assert_eq!(outcome.findings[0].message, "`+/a` depends on itself: `/a` → `/b/m` → `/c` → `/a`");
    assert_eq!(outcome.findings[0].related.len(), 2);
}

#[test]
fn cycles_through_included_files() {
    let world = World::new(&[
        ("lib.yaml", "b: {+/a: }\n"),
        ("one.yaml", "n: {+include: two.yaml}\n"),
        ("two.yaml", "n: {+include: one.yaml}\n"),
    ]);
    let outcome = world.expand("+include: lib.yaml\na: {+/b: }\n");
    assert_eq!(world.reported(&outcome.findings), [("merge/recursive-include", "+/a".to_owned())]);
    let outcome = world.expand("x: {+include: one.yaml}\n");
    assert_eq!(outcome.findings.len(), 1);
    assert_eq!(outcome.findings[0].message, "`+include` includes a file in itself: one.yaml → two.yaml → one.yaml");
    let outcome = world.expand("x: {+include: main.yaml}\n");
    assert_eq!(world.reported(&outcome.findings), [("merge/recursive-include", "+include".to_owned())]);
}

#[test]
fn doubling_ends_at_the_limit() {
    let mut maps = String::from("a0: {k: 1}\n");
    let mut lists = String::from("a0: [1, 2]\n");
    for i in 1..60 {
        let before = i - 1;
        maps += &format!("a{i}: {{p: {{+/a{before}: }}, q: {{+/a{before}: }}}}\n");
        lists += &format!("a{i}: [{{+/a{before}: }}, {{+/a{before}: }}]\n");
    }
    let reported = reported(&maps);
    assert!(reported.iter().all(|(rule, _)| *rule == "limit/nodes"), "{reported:?}");
    assert!(!reported.is_empty());
    let mut world = World::new(&[]);
    world.limits.nodes = 100_000;
    let outcome = world.expand(&lists);
    assert!(outcome.findings.iter().any(|finding| finding.rule.id == "limit/nodes"), "{:?}", outcome.findings);
}

#[test]
fn growing_deeper_ends_at_the_limit() {
    let mut text = String::from("a0: {k: 1}\n");
    for i in 1..1000 {
        text += &format!("a{i}: {{k: {{+/a{}: }}}}\n", i - 1);
    }
    let reported = reported(&text);
    assert!(!reported.is_empty() && reported.iter().all(|(rule, _)| *rule == "limit/depth"), "{reported:?}");
}

#[test]
fn includes_of_includes_end_at_the_limit() {
    let files: Vec<(String, String)> =
        (0..60).map(|i| (format!("f{i}.yaml"), format!("n: {{+include: f{}.yaml}}\n", i + 1))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let world = World::new(&files);
    let outcome = world.expand("x: {+include: f0.yaml}\n");
    assert_eq!(world.reported(&outcome.findings), [("limit/includes", "+include".to_owned())]);
    let many: String = (0..1010).map(|i| format!("x{i}: {{+include: f59.yaml, k: 1}}\n")).collect();
    let world = World::new(&[("f59.yaml", "k: 1\n")]);
    let outcome = world.expand(&many);
    assert_eq!(outcome.findings.len(), 10);
    assert!(outcome.findings.iter().all(|finding| finding.rule.id == "limit/includes"));
    let wide: Vec<(String, String)> = (0..20)
        .map(|i| (format!("w{i}.yaml"), format!("a: {{+include: w{n}.yaml}}\nb: {{+include: w{n}.yaml}}\n", n = i + 1)))
        .collect();
    let wide: Vec<(&str, &str)> = wide.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let outcome = World::new(&wide).expand("x: {+include: w0.yaml}\n");
    assert!(outcome.findings.iter().any(|finding| finding.rule.id == "limit/includes"));
}

#[test]
fn lookups_that_go_round_end() {
    assert_eq!(reported("x: {+/y/k: }\ny: {+/x/k: }\n").len(), 2);
    assert!(!reported("l: [{+/e: }, {+/x/y: }]\ne: [1, 2]\nx: {y: {+/l/1: }}\n").is_empty());
    // The first item vanishes, and the others refer to themselves and to each other.
    assert!(!reported("b: [{+?/0: }, {+/b/0: }]\n").is_empty());
    assert!(!reported("b: [{+?/0: }, {+/b/1: }, {+/b/0: }]\n").is_empty());
    reported("p: {+?/q/x: }\nq: {+/r: , +?/p: }\nr: {x: {x: {+%: whiteout}}}\n");
    reported("a: {+/b/c: , +/c/b: }\nb: {+/a/c: , +/c/a: }\nc: {+/a/b: , +/b/a: }\n");
    reported("+/a: \n+/b: \na: {b: {+/b: }}\nb: {a: {+/a: }}\n");
}

#[test]
fn storms_of_cycles_end() {
    let n = 3000;
    let chain: String = (0..n).map(|i| format!("a{i}: {{+/a{}: , +/a0: }}\n", i + 1)).collect();
    let mut world = World::new(&[]);
    world.limits.nodes = 1_000_000;
    let outcome = world.expand(&(chain + &format!("a{n}: {{k: 1}}\n")));
    assert!(outcome.findings.iter().any(|finding| finding.rule.id == "merge/recursive-include"));
    let items: String = (0..2000).map(|_| "{+/l/1999: }, ").collect();
    assert!(!World::new(&[]).expand(&format!("l: [{items}]\n")).findings.is_empty());
    let piled: String =
        (1..3000).map(|i| format!("a{i}: {{+/a{}: , m: {{x{i}: 1}}}}\np{i}: {{+/a{i}/m: }}\n", i - 1)).collect();
    let outcome = world.expand(&format!("a0: {{m: {{x0: 0}}}}\n{piled}"));
    assert!(outcome.findings.iter().any(|finding| finding.rule.id == "limit/nodes"));
}

/// A tree in which one name is a link, and another a link to a directory.
struct WithLinks(MemorySnapshot);

impl Snapshot for WithLinks {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn list(&self, directory: &RepoPath) -> crate::snapshot::Listing {
        self.0.list(directory)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let entry = self.0.entry(path)?;
        let is_link = path.file_name().starts_with(b"link");
        Ok(entry.map(|entry| if is_link { Entry { kind: EntryKind::Symlink, ..entry } } else { entry }))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        assert_eq!(file.kind, EntryKind::File, "links are never read");
        let reason = Reason::Other("damaged".to_owned());
        Err(Unreadable { path: file.path.clone(), revision: "test".into(), reason })
    }
}

#[test]
fn links_are_refused_and_damaged_files_are_reported() {
    let world = World::new(&[("link.yaml", "/etc/passwd"), ("linked", "elsewhere"), ("plain.yaml", "a: 1\n")]);
    let snapshot = WithLinks(world.snapshot.clone());
    let context = Context { snapshot: &snapshot, ..world.context() };
    let document =
        world.parse("a: {+include: link.yaml}\nb: {+?include: linked/x.yaml}\nc: {+?include: plain.yaml, k: 1}\n");
    let outcome = expand(&document, &path("main.yaml"), &context);
    let refused = ("merge/include-refused", "+include".to_owned());
    let also = ("merge/include-refused", "+?include".to_owned());
    assert_eq!(world.reported(&outcome.findings), [refused, also, ("source/unreadable", "plain.yaml".to_owned())]);
}

/// Keys and values that have or nearly have a meaning, in any combination.
fn any_document() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        4 => "[abc]",
        4 => "[+][?]?(include[12]?)?([*][abc])?[.]{0,3}(/[abc01~]{0,2}){0,2}",
        1 => "[+][%&]",
        1 => "[+][?*./~a]{0,4}",
    ];
    let leaf = prop_oneof![
        4 => "[1-3]",
        2 => "(one|two|self|list|gone|bad|d/deep)[.]yaml(#/[ab])?",
        1 => "(raw|merge|error|whiteout|nullout|other|[abc])",
        1 => "[&][abc] [1-3]",
        1 => "[*][abc]",
        1 => "(null|\\{\\}|\\[\\])",
        1 => "\\{file: (one|list)[.]yaml(, merge: raw)?\\}",
        1 => "(/etc/passwd|[.][.]/x|http://x/y|[.][.]/[.][.]/z)",
    ];
    let value = leaf.prop_recursive(3, 24, 4, move |inner| {
        let map = proptest::collection::btree_map(key.clone(), inner.clone(), 0..4).prop_map(|entries| {
            let entries = entries.into_iter().map(|(key, value)| format!("'{key}': {value}"));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        });
        let anchored = ("([&][abc] )?", map).prop_map(|(anchor, map)| anchor + &map);
        let list = proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(", ")));
        prop_oneof![4 => anchored, 1 => list]
    });
    proptest::collection::btree_map("[abc]|[+]/[abc]|[+]include|[+][*][abc]", value, 1..4).prop_map(|entries| {
        let entries = entries.into_iter().map(|(key, value)| format!("'{key}': {value}\n"));
        entries.collect::<String>()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn any_document_ends_with_a_value_and_findings_in_their_place(text in any_document(), is_tight: bool, is_unfurl: bool) {
        let mut world = World::new(&[
            ("one.yaml", "a: {+/b: , x: &a {k: 1}}\nb: {+include: two.yaml}\n+?/c: \n"),
            ("two.yaml", "c: &c {+*a: , l: [{+.../d: }]}\nd: [1, 2]\n"),
            ("self.yaml", "a: {+include: self.yaml}\n"),
            ("list.yaml", "- {+/a: }\n- [{+../0: }]\n- &b {k: 1}\n"),
            ("bad.yaml", "a: [\n"),
            ("d/deep.yaml", "a: {+include: ../one.yaml}\nb: {+..../b: }\n"),
        ]);
        if is_unfurl {
            world.profile = MergeProfile::Unfurl;
        }
        let source = world.sources.add(SourceText::new(path("main.yaml"), "test", text.as_str()));
        let parsed = document::parse(&text, source, Format::Yaml, &world.limits);
        if is_tight {
            world.limits = Limits { nodes: 60, depth: 6, includes: 3, include_depth: 2, ..Limits::default() };
        }
        for document in &parsed.value {
            let outcome = expand(document, &path("main.yaml"), &world.context());
            for (_, at) in world.reported(&outcome.findings) {
                prop_assert!(!at.is_empty());
            }
            prop_assert!(outcome.value.root.height() <= world.limits.depth.max(document.root.height()));
            let again = expand(document, &path("main.yaml"), &world.context());
            prop_assert!(again.value.root.is_identical(&outcome.value.root), "same input, same value");
            prop_assert_eq!(again.findings.len(), outcome.findings.len());
        }
    }
}
