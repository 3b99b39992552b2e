//! Corners of paths and operations.

use super::{PatchTest, failed, shown};

fn after(document: &str, operation: &str) -> String {
    let test = PatchTest::default();
    shown(&test.operate(&test.node(document), &format!("[{operation}]")).unwrap())
}

fn rule(document: &str, operation: &str) -> &'static str {
    let test = PatchTest::default();
    failed(test.operate(&test.node(document), &format!("[{operation}]"))).0[0]
}

#[test]
fn several_matches_in_one_list_do_not_disturb_each_other() {
    let list = "{l: [{n: x, i: 0}, {n: y}, {n: x, i: 2}, {n: x, i: 3}]}";
    assert_eq!(after(list, "{op: remove, path: \"/l[?(@.n=='x')]\"}"), "{l: [{n: y}]}");
    assert_eq!(after(list, "{op: remove, path: '/l/[*]'}"), "{l: []}");
    let inserted = after("{l: [a, b]}", "{op: add, path: '/l[*]', value: new}");
    assert_eq!(inserted, "{l: [new, a, new, b]}");
    assert_eq!(
        after("{l: [{a: 1}, 2]}", "{op: mergeShallow, path: '/l[*]', value: {b: 3}}"),
        "{l: [{a: 1, b: 3}, {b: 3}]}"
    );
}

#[test]
fn lists_in_lists_and_numbers_as_keys() {
    assert_eq!(after("{m: [[1, 2], [3]]}", "{op: replace, path: '/m/0/1', value: x}"), "{m: [[1, x], [3]]}");
    assert_eq!(after("{m: [[1], [3]]}", "{op: add, path: '/m[*][-]', value: 9}"), "{m: [[1, 9], [3, 9]]}");
    assert_eq!(after("{ports: {'8080': a}}", "{op: replace, path: /ports/8080, value: b}"), "{ports: {\"8080\": b}}");
    assert_eq!(after("{m: {}}", "{op: add, path: /m/007, value: b}"), "{m: {\"007\": b}}");
    assert_eq!(rule("{l: [1]}", "{op: replace, path: /l/00, value: b}"), "patch/bad-path");
    assert_eq!(rule("{l: [1]}", "{op: replace, path: /l/+0, value: b}"), "patch/bad-path");
    assert_eq!(rule("{l: [1]}", "{op: replace, path: /l/-1, value: b}"), "patch/out-of-bounds");
    assert_eq!(rule("{l: [1]}", "{op: replace, path: '/l[-1]', value: b}"), "patch/out-of-bounds");
}

#[test]
fn the_root_and_the_append_marker() {
    for operation in [
        "{op: add, path: '', value: {}}",
        "{op: remove, path: /}",
        "{op: mergeShallow, path: '', value: {a: 1}}",
        "{op: replace, path: /, value: 1}",
    ] {
        assert_eq!(rule("{a: 1}", operation), "patch/root-target", "{operation}");
    }
    assert_eq!(rule("{a: 1}", "{op: add, path: /-, value: 1}"), "patch/wrong-type");
    assert_eq!(rule("{m: {}}", "{op: add, path: /m/-, value: 1}"), "patch/wrong-type");
    assert_eq!(rule("{m: 1}", "{op: add, path: /m/-, value: 1}"), "patch/wrong-type");
    assert_eq!(rule("{l: [[]]}", "{op: add, path: /l/-/x, value: 1}"), "patch/append-misuse");
    assert_eq!(rule("{l: [1]}", "{op: remove, path: /l/-}"), "patch/append-misuse");
    assert_eq!(rule("{l: []}", "{op: mergeShallow, path: /l/-, value: {}}"), "patch/append-misuse");
    assert_eq!(after("[1]", "{op: add, path: /-, value: 2}"), "[1, 2]");
}

#[test]
fn what_is_absent_or_null() {
    assert_eq!(after("{a: null}", "{op: remove, path: /a/b/c}"), "{a: null}");
    assert_eq!(after("{l: [null]}", "{op: remove, path: /l/0/x}"), "{l: [null]}");
    assert_eq!(rule("{l: [null]}", "{op: add, path: /l/0/x, value: 1}"), "patch/wrong-type");
    assert_eq!(rule("{l: [null]}", "{op: mergeShallow, path: /l/0/x, value: {}}"), "patch/wrong-type");
    assert_eq!(after("{l: [null]}", "{op: mergeShallow, path: /l/0, value: {a: 1}}"), "{l: [{a: 1}]}");
    assert_eq!(after("{a: null}", "{op: replace, path: /a, value: 1}"), "{a: 1}");
    assert_eq!(rule("{a: null}", "{op: replace, path: /a/b, value: 1}"), "patch/missing");
    assert_eq!(rule("{}", "{op: remove, path: /l/0}"), "patch/wrong-type");
    assert_eq!(after("{a: 1}", "{op: mergeShallow, path: /a, value: {b: null}}"), "{a: {b: null}}");
    assert_eq!(rule("{a: 1}", "{op: add, path: /a}"), "patch/bad-value");
    assert_eq!(after("{a: 1}", "{op: add, path: /a, value: null}"), "{a: null}");
    assert_eq!(rule("{a: {}}", "{op: mergeShallow, path: \"/l[?(@.x=='y')]\", value: {}}"), "patch/no-match");
    assert_eq!(rule("{l: {}}", "{op: remove, path: '/l[*]'}"), "patch/wrong-type");
}

#[test]
fn filters_compare_by_value() {
    let found = |item: &str, value: &str| {
        let (document, operation) =
            (format!("{{l: [{{v: {item}}}]}}"), format!("{{op: remove, path: \"/l[?(@.v=='{value}')]\"}}"));
        let test = PatchTest::default();
        test.operate(&test.node(&document), &format!("[{operation}]")).is_ok()
    };
    assert!(found("1000000", "1000000") && found("1e6", "1000000") && found("1.50", "1.5") && found("0x10", "16"));
    assert!(found("null", "") && !found("''", "null") && found("''", "") && found("true", "true"));
    assert!(!found("{a: 1}", "{a: 1}") && !found("[]", "[]") && !found("10", "1"));
    assert!(found("123456789012345678901234567890", "123456789012345678901234567890"));
    assert!(!found("123456789012345678901234567890", "123456789012345678901234567891"));
}

#[test]
fn operations_are_read_strictly() {
    let test = PatchTest::default();
    let document = test.node("{a: 1}");
    let failed = |operations: &str| failed(test.operate(&document, operations));
    assert_eq!(failed("[{op: Add, path: /a, value: 1}]").0, ["patch/unsupported-op"]);
    assert!(failed("[{op: mergeshallow, path: /a, value: {}}]").1.contains("did you mean `mergeShallow`?"));
    assert_eq!(failed("[{op: add, path: /a, value: 1, form: x}]").0, ["patch/unknown-key"]);
    assert_eq!(failed("[{op: add, value: 1}, {path: /a}, 3, {op: add, path: 1, value: 1}]").0, ["patch/invalid"; 4]);
    assert_eq!(failed("[]").0, ["patch/invalid"]);
    assert_eq!(failed("{}").0, ["patch/invalid"]);
    // Everything that is wrong is reported at once.
    let both =
        failed("[{op: replace, path: /x, value: 1}, {op: add, path: /b, value: 1}, {op: replace, path: /y, value: 1}]");
    assert_eq!(both.0, ["patch/missing"; 2]);
    assert!(both.1.contains("operation 1 (replace)"), "{}", both.1);
}

#[test]
fn what_is_too_much_is_refused() {
    let mut test = PatchTest::default();
    test.limits.patch_matches = 100;
    let list = test.node(&format!("{{l: [{}]}}", "{a: 1}, ".repeat(101)));
    let operations = "[{op: replace, path: '/l[*]/a', value: 2}]";
    assert_eq!(failed(test.operate(&list, operations)).0, ["limit/patch"]);
    let deep = format!("[{{op: add, path: '{}', value: 1}}]", "/a".repeat(127));
    assert!(test.operate(&test.node("{}"), &deep).is_ok());
    let deeper = format!("[{{op: add, path: '/a{}', value: {{b: 1}}}}]", "/a".repeat(127));
    assert_eq!(failed(test.operate(&test.node("{}"), &deeper)).0, ["limit/depth"]);
    test.limits.nodes = 50;
    assert_eq!(failed(test.operate(&list, "[{op: add, path: /m, value: 1}]")).0, ["limit/nodes"]);
}
