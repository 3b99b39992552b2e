//! Patch specifications: targets, loops, expressions, and what is refused.

use super::{PatchTest, failed, shown};

fn after(resources: &str, specs: &str, parameters: &str) -> String {
    shown(&PatchTest::default().patch(resources, specs, parameters).unwrap_or_else(|findings| panic!("{findings:?}")))
}

fn refused(specs: &str) -> (Vec<&'static str>, String) {
    failed(PatchTest::default().patch(
        "[{kind: A, metadata: {name: a}, n: 1}]",
        specs,
        "{list: [1, 2], s: abc, p: a.b}",
    ))
}

#[test]
fn targets_by_group_version_and_name() {
    let resources = "[{apiVersion: apps/v1, kind: D}, {apiVersion: v1, kind: D}, {kind: D}]";
    let marked = |target: &str| {
        let specs = format!("[{{target: {target}, operations: [{{op: add, path: /x, value: 1}}]}}]");
        after(resources, &specs, "{}").split("}, {").map(|resource| resource.contains("x: 1")).collect::<Vec<_>>()
    };
    assert_eq!(marked("{group: apps}"), [true, false, false]);
    assert_eq!(marked("{version: v1}"), [true, true, false]);
    assert_eq!(marked("{group: '', kind: D}"), [true, true, true]);
    assert_eq!(marked("{kind: E}"), [false, false, false]);
}

#[test]
fn values_keys_and_paths_are_filled_in() {
    let specs = r#"[{operations: [
        {op: add, path: "/m/${parameters.k}", value: {"${parameters.k}-x": ["${1 + 1}", "a ${1 + 1} ${'}'}"], plain: 1.10}},
        {op: add, path: /all, value: "${parameters.m} and ${null} ${1.5} ${2.0} ${[1, true]}"},
        {op: add, path: /same, value: " ${parameters.v} "},
        {op: add, path: /part, value: {a: "${oc_omit()}", b: ["${oc_omit()}", 1]}}]}]"#;
    let found = after("[{}]", specs, "{k: key, m: {b: 1, a: [x]}, v: 1.10}");
    let expected = "[{m: {key: {key-x: [2, \"a 2 }\"], plain: 1.10}}, \
                    all: '{\"a\":[\"x\"],\"b\":1} and null 1.5 2 [1,true]', same: 1.10, part: {b: [1]}}]";
    assert_eq!(found, expected);
}

#[test]
fn what_expressions_put_into_a_text_is_not_read_again() {
    let specs = "[{operations: [{op: add, path: /t, value: '${parameters.a} ${parameters.b}'}]}]";
    assert_eq!(after("[{}]", specs, "{a: '${parameters.b}', b: x}"), "[{t: \"${parameters.b} x\"}]");
    let specs = "[{operations: [{op: add, path: /t, value: 'open ${ end'}]}]";
    assert_eq!(after("[{}]", specs, "{}"), "[{t: \"open ${ end\"}]");
}

#[test]
fn loops_see_the_resource_change() {
    let specs = "[{forEach: '${parameters.list}', var: e, target: {where: '${resource.n < 3}'}, operations: [
        {op: replace, path: /n, value: '${resource.n + e}'}, {op: add, path: /seen/-, value: '${resource.n}'}]}]";
    assert_eq!(after("[{n: 0}, {n: 9}]", specs, "{list: [1, 2, 3, 4]}"), "[{n: 3, seen: [1, 3]}, {n: 9}]");
}

#[test]
fn a_loop_variable_hides_an_input_and_goes_away() {
    let specs =
        "[{forEach: '${[parameters.x]}', var: parameters, operations: [{op: add, path: /a, value: '${parameters}'}]},
        {operations: [{op: add, path: /b, value: '${parameters.x}'}]}]";
    assert_eq!(after("[{}]", specs, "{x: 1}"), "[{a: 1, b: 1}]");
}

#[test]
fn where_and_for_each_fail_by_name() {
    let operations = "operations: [{op: add, path: /x, value: 1}]";
    let with = |rest: &str| refused(&format!("[{{{rest}, {operations}}}]"));
    assert_eq!(with("target: {where: '${nothing}'}").0, ["patch/where"]);
    assert_eq!(with("target: {where: '${resource.n}'}").0, ["patch/where"]);
    assert_eq!(with("target: {where: '${resource.n + true}'}").0, ["patch/where"]);
    assert_eq!(with("target: {where: '${1 +}'}").0, ["patch/where"]);
    assert_eq!(with("target: {where: '${true} ${true}'}").0, ["patch/where"]);
    assert_eq!(with("forEach: '${resource.n}'").0, ["patch/for-each"]);
    assert_eq!(with("forEach: '${parameters.missing}'").0, ["patch/for-each"]);
    assert_eq!(with("forEach: plain").0, ["patch/for-each"]);
    // A loop that fails is reported even where no resource is meant.
    assert_eq!(with("target: {kind: Z}, forEach: '${parameters.s}'").0, ["patch/for-each"]);
    assert!(with("target: {where: '${resource.n}'}").1.contains("(patch 1, A/a)"));
}

#[test]
fn templates_fail_with_their_place() {
    let test = PatchTest::default();
    let specs = "[{operations: [{op: add, path: /x, value: [a, 'b ${parameters.list + 1} c']}]}]";
    let findings = test.patch("[{}]", specs, "{list: []}").unwrap_err();
    let crate::finding::Location::Span(span) = findings[0].location else { panic!("a place in the patch") };
    assert_eq!(&test.sources.get(span.source).text[span.range()], "${parameters.list + 1}");
    let value = |value: &str| refused(&format!("[{{operations: [{{op: add, path: /x, value: {value}}}]}}]"));
    assert_eq!(value("'${oc_omit()}'").0, ["patch/template"]);
    assert_eq!(value("'${parameters.none}'").0, ["patch/template"]);
    assert_eq!(value("{'${1}': x}").0, ["patch/template"]);
    assert_eq!(value("{'${parameters.s}': x, abc: y}").0, ["patch/template"]);
    assert_eq!(value("'${a ${b}}'").0, ["patch/template"]);
    assert_eq!(value("'${lists.range(1000).all(a, lists.range(1000).all(b, true))}'").0, ["limit/expression"]);
    let path = |path: &str| refused(&format!("[{{operations: [{{op: add, path: '{path}', value: 1}}]}}]"));
    assert_eq!(path("${parameters.list}").0, ["patch/template"]);
    assert!(path("${parameters.list}").1.contains("path"));
    assert_eq!(path("/a[${parameters.p}]").0, ["patch/bad-path"]);
}

#[test]
fn specifications_are_read_strictly() {
    let operations = "operations: [{op: add, path: /x, value: 1}]";
    let with = |rest: &str| refused(&format!("[{{{rest}, {operations}}}]"));
    assert_eq!(with("targte: {}").0, ["patch/unknown-key"]);
    assert_eq!(with("target: {Kind: x}").0, ["patch/unknown-key"]);
    assert_eq!(with("target: {kind: [x]}").0, ["patch/invalid"]);
    assert_eq!(with("target: x").0, ["patch/invalid"]);
    for name in ["resource", "in", "a-b", "1a", "''"] {
        assert_eq!(with(&format!("forEach: '${{parameters.list}}', var: {name}")).0, ["patch/invalid"], "{name}");
    }
    assert_eq!(with("targetPlane: moon").0, ["patch/invalid"]);
    assert_eq!(refused("[{target: {}}]").0, ["patch/invalid"]);
    assert_eq!(refused("[3]").0, ["patch/invalid"]);
    assert_eq!(with("targetPlane: dataplane, forEach: null, target: null, x: 1").0, ["patch/unknown-key"]);
}

#[test]
fn a_failure_anywhere_leaves_everything_as_it_was() {
    let specs = "[{operations: [{op: add, path: /x, value: 1}]}, {target: {kind: B}, operations: [{op: replace, path: /y, value: 1}]}]";
    let findings = PatchTest::default().patch("[{kind: A}, {kind: B, metadata: {name: b}}]", specs, "{}").unwrap_err();
    assert_eq!(findings.len(), 1);
    assert!(
        findings[0].message.contains("`/y`") && findings[0].message.contains("patch 2, operation 1 (replace), B/b")
    );
}

#[test]
fn endless_loops_end() {
    let mut test = PatchTest::default();
    test.limits.patch_work = 200_000;
    let specs = "[{forEach: '${lists.range(100000)}', operations: [{op: add, path: /l/-, value: '${item}'}]}]";
    let findings = test.patch("[{}]", specs, "{}").unwrap_err();
    assert_eq!(findings[0].rule.id, "limit/patch");
    test.limits = crate::limits::Limits::default();
    let specs = "[{forEach: '${lists.range(100000)}', operations: [{op: replace, path: /nope, value: 1}]}]";
    assert_eq!(test.patch("[{}]", specs, "{}").unwrap_err().len(), 50);
}

#[test]
fn a_place_overridden_very_often_can_be_forgotten() {
    let specs = "[{forEach: '${lists.range(20000)}', operations: [{op: add, path: /n, value: '${item}'},
        {op: add, path: /hide/a, value: {b: '${resource.?hide.?a.orValue(1)}'}}, {op: add, path: /hide/a, value: 1}]}]";
    assert_eq!(after("[{n: 0}]", specs, "{}"), "[{n: 19999, hide: {a: 1}}]");
}
