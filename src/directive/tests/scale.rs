//! Work grows with the document, not with its square.

use super::*;
use crate::snapshot::{Entry, ObjectId, Unreadable};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn attempts(text: &str) -> u64 {
    let world = World::new(&[]);
    let document = world.parse(text);
    let (outcome, attempts) = engine::expand_counting(&document, &path("main.yaml"), &world.context());
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    attempts
}

fn assert_linear(document: impl Fn(usize) -> String) {
    let (small, large) = (attempts(&document(500)), attempts(&document(2000)));
    assert!(large <= small * 5, "{small} attempts for 500, {large} for 2000");
    assert!(small <= 10_000, "{small} attempts for 500");
}

#[test]
fn chains_are_linear_in_either_order() {
    assert_linear(|n| {
        (1..n).map(|i| format!("a{i}: {{+/a{}: , k{}: 1}}\n", i - 1, i % 7)).collect::<String>() + "a0: {k: 1}\n"
    });
    assert_linear(|n| {
        (1..n).map(|i| format!("a{i}: {{+/a{}: , k: 1}}\n", i + 1)).collect::<String>() + &format!("a{n}: {{k: 1}}\n")
    });
}

#[test]
fn chains_of_paths_into_expanded_maps_are_linear() {
    let links = |n: usize, next: fn(usize) -> usize| -> String {
        (1..n).map(|i| format!("p{i}: {{+/q{i}: }}\nq{i}: {{s: {{+/p{}/s: }}}}\n", next(i))).collect()
    };
    assert_linear(|n| links(n, |i| i - 1) + "p0: {s: {k: 1}}\n");
    assert_linear(|n| links(n, |i| i + 1) + &format!("p{n}: {{s: {{k: 1}}}}\n"));
}

#[test]
fn many_users_of_one_base_share_it() {
    let base: String = (0..500).map(|i| format!("  k{i}: {{v: {i}}}\n")).collect();
    let users: String = (0..1000).map(|i| format!("u{i}: {{+/base: }}\n")).collect();
    let world = World::new(&[]);
    let root = world.expand(&format!("base:\n{base}{users}")).value.root;
    let (base, last) = (root.get("base").expect("there"), root.get("u999").expect("there"));
    assert!(std::ptr::eq(base.as_map().expect("a map"), last.as_map().expect("a map")));
}

/// Counts how often a file is read.
struct Counting {
    inner: MemorySnapshot,
    reads: AtomicUsize,
}

impl Snapshot for Counting {
    fn label(&self) -> &str {
        self.inner.label()
    }

    fn list(&self, directory: &RepoPath) -> crate::snapshot::Listing {
        self.inner.list(directory)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        let id = ObjectId::new(&[7; 20]);
        Ok(self.inner.entry(path)?.map(|entry| Entry { id, ..entry }))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.read(file)
    }
}

#[test]
fn a_common_file_is_read_and_parsed_once_for_a_thousand_documents() {
    let common: String = (0..2000).map(|i| format!("key{i}: {{value: {i}}}\n")).collect();
    let world = World::new(&[("common.yaml", &common)]);
    let snapshot = Counting { inner: world.snapshot.clone(), reads: AtomicUsize::new(0) };
    let context = Context { snapshot: &snapshot, ..world.context() };
    let mut made = 0;
    for i in 0..1000 {
        let document = world.parse(&format!("name: d{i}\nall: {{+include: common.yaml}}\n"));
        let outcome = expand(&document, &path("main.yaml"), &context);
        assert!(outcome.findings.is_empty());
        assert_eq!(outcome.value.reads[&path("common.yaml")], Read::Present(ObjectId::new(&[7; 20])));
        made += outcome.value.root.get("all").map_or(0, |all| all.size());
    }
    assert_eq!(snapshot.reads.load(Ordering::Relaxed), 1);
    assert_eq!(made, 1000 * 4001, "every document has it all");
}

#[test]
fn chains_longer_than_the_stack_is_deep() {
    let n = 20_000;
    let chain: String = (1..n).map(|i| format!("a{i}: {{+/a{}: , k: {i}}}\n", i + 1)).collect();
    let world = World::new(&[]);
    let outcome = world.expand(&(chain + &format!("a{n}: {{j: 1}}\nx: {{+/a1/j: }}\n")));
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
}
