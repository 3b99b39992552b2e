//! A patched value knows where it is written, which operation set it, and what it replaced.

use super::PatchTest;
use crate::text::Span;
use crate::value::StepKind;

#[test]
fn values_keep_their_place_and_their_operation() {
    let test = PatchTest::default();
    let text = |span: Span| test.sources.get(span.source).text[span.range()].to_owned();
    let specs =
        "[{operations: [{op: replace, path: /a, value: {deep: [x]}}, {op: add, path: /new/key, value: '${1 + 1}'},
        {op: mergeShallow, path: /m, value: {k: 2}}, {op: add, path: /l/0, value: i}]}]";
    let patched = test.patch("[{a: old, m: {k: 1, o: 0}, l: [z]}]", specs, "{}").unwrap();
    let resource = &patched.as_list().unwrap()[0];
    let a = resource.get("a").unwrap();
    assert_eq!(text(a.span), "{deep: [x]}");
    let step = a.step().unwrap();
    assert_eq!((step.kind, text(step.at)), (StepKind::Patch, "{op: replace, path: /a, value: {deep: [x]}}".to_owned()));
    assert_eq!(a.overridden().and_then(|old| old.as_str()), Some("old"));
    let made = resource.get("new").unwrap();
    assert_eq!((text(made.span), made.step().map(|step| step.kind)), ("/new/key".to_owned(), Some(StepKind::Patch)));
    let computed = made.get("key").unwrap();
    assert_eq!(text(computed.span), "${1 + 1}");
    assert!(text(computed.step().unwrap().at).starts_with("{op: add, path: /new/key"));
    let merged = resource.get("m").unwrap();
    assert!(merged.step().is_none(), "the map itself was not replaced");
    let key = merged.get("k").unwrap();
    assert_eq!((key.step().map(|step| step.kind), key.overridden().is_some()), (Some(StepKind::Patch), true));
    assert!(merged.get("o").unwrap().step().is_none());
    let inserted = &resource.get("l").unwrap().as_list().unwrap()[0];
    assert_eq!((inserted.as_str(), inserted.overridden().is_none()), (Some("i"), true));
}
