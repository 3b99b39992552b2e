//! Each value has its provenance, and what it overrides.

use super::*;
use crate::path::Pointer;

fn way(world: &World, root: &Node, pointer: &str) -> Vec<(&'static str, String)> {
    let pointer = Pointer::parse(pointer).expect("a pointer");
    let mut steps = Vec::new();
    let mut node = root;
    let note = |node: &Node, steps: &mut Vec<(&'static str, String)>| {
        if let Some(step) = node.step() {
            let mut these: Vec<_> = step.chain().iter().map(|step| (step.kind.name(), world.slice(step.at))).collect();
            // Steps of ancestors were taken after those of descendants.
            these.append(steps);
            *steps = these;
        }
    };
    note(node, &mut steps);
    for token in pointer.tokens() {
        node = node.at(&[token.clone()].into_iter().collect()).expect("something is there");
        note(node, &mut steps);
    }
    steps
}

fn step(kind: &'static str, at: &str) -> (&'static str, String) {
    (kind, at.to_owned())
}

#[test]
fn the_chain_of_directives_is_kept() {
    let world = World::new(&[("f.yaml", "deep: {k: 1}\n")]);
    let root = world.expand("a: {+/b: , own: 1}\nb: {+/c: , x: 1}\nc: {+include: f.yaml, y: 2}\n").value.root;
    assert_eq!(
        way(&world, &root, "/a/deep/k"),
        [step("include", "+include"), step("directive", "+/c"), step("directive", "+/b")]
    );
    assert_eq!(way(&world, &root, "/a/y"), [step("directive", "+/c"), step("directive", "+/b")]);
    assert!(way(&world, &root, "/a/own").is_empty());
    let deep = root.at(&Pointer::parse("/a/deep/k").expect("a pointer")).expect("a value");
    assert_eq!(world.slice(deep.span), "1");
    assert_eq!(world.sources.get(deep.span.source).path, path("f.yaml"));
}

#[test]
fn a_way_through_other_directives_is_kept() {
    let world = World::new(&[]);
    let root = world.expand("p: {+/a/c: }\na: {+/b: , c: {x: 1}}\nb: {c: {y: 2}}\n").value.root;
    assert_eq!(way(&world, &root, "/p/y"), [step("directive", "+/b"), step("directive", "+/a/c")]);
    assert_eq!(way(&world, &root, "/p/x"), [step("directive", "+/a/c")]);
}

#[test]
fn what_is_overridden_is_kept() {
    let world = World::new(&[]);
    let root = world.expand("a: {+/b: , k: 1}\nb: {+/c: , k: 2}\nc: {k: 3}\n").value.root;
    let k = root.at(&Pointer::parse("/a/k").expect("a pointer")).expect("a value");
    let second = k.overridden().expect("it overrides");
    let third = second.overridden().expect("that too overrides");
    assert_eq!([k, second, third].map(|node| world.slice(node.span)), ["1", "2", "3"]);
    assert_eq!(second.step().map(|step| world.slice(step.at)).as_deref(), Some("+/b"));
    assert!(third.overridden().is_none());
}

#[test]
fn spliced_items_know_what_brought_them() {
    let world = World::new(&[]);
    let root = world.expand("l: [1, {+/e: }]\ne: [2, 3]\n").value.root;
    assert_eq!(way(&world, &root, "/l/2"), [step("directive", "+/e")]);
}
