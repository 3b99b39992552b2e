//! Laws of patches.

use proptest::prelude::*;

use super::{PatchTest, shown};
use crate::patch::rfc6902::{apply_json_patch, read_json_patch};
use crate::patch::{PatchPath, expand};
use crate::value::Node;

fn documents() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Value, json};
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0..5_i64).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from),
    ];
    let inner = leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("[abn0-]", inner, 0..4).prop_map(|map| json!(map)),
        ]
    });
    proptest::collection::btree_map("[abln]", inner, 0..4).prop_map(|map| json!(map))
}

fn pointers() -> impl Strategy<Value = String> {
    proptest::collection::vec(prop_oneof!["[abln]", "[0-3]", Just("-".to_owned()), Just("~1".to_owned())], 0..4)
        .prop_map(|tokens| tokens.iter().map(|token| format!("/{token}")).collect())
}

fn paths() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        "[abln]",
        "[abln]\\[\\*\\]",
        "[abln]\\[[0-2]\\]",
        "[abln]\\[\\?\\(@\\.[an]=='[ab1]?'\\)\\]",
        "[0-2]",
        Just("-".to_owned()),
    ];
    proptest::collection::vec(part, 1..4).prop_map(|parts| parts.iter().map(|part| format!("/{part}")).collect())
}

fn operations() -> impl Strategy<Value = serde_json::Value> {
    let verbs = proptest::sample::select(vec!["add", "replace", "remove", "mergeShallow"]);
    let one = (verbs, paths(), documents())
        .prop_map(|(op, path, value)| serde_json::json!({"op": op, "path": path, "value": value}));
    proptest::collection::vec(one, 1..5).prop_map(serde_json::Value::from)
}

proptest! {
    #[test]
    fn a_run_does_everything_or_nothing(document in documents(), operations in operations()) {
        let test = PatchTest::default();
        let before = test.node(&document.to_string());
        let text = shown(&before);
        let whole = test.operate(&before, &operations.to_string());
        prop_assert_eq!(shown(&before), text, "what was given never changes");
        // One by one gives the same, up to the first that fails.
        let mut step_by_step = Ok(before);
        for operation in operations.as_array().unwrap() {
            let single = serde_json::json!([operation]).to_string();
            step_by_step = step_by_step.and_then(|node| test.operate(&node, &single));
        }
        match (whole, step_by_step) {
            (Ok(whole), Ok(steps)) => prop_assert!(whole.is_identical(&steps)),
            (whole, steps) => prop_assert!(whole.is_err() && steps.is_err()),
        }
    }

    #[test]
    fn setting_twice_is_setting_once(document in documents(), path in paths(), value in documents()) {
        let test = PatchTest::default();
        let before = test.node(&document.to_string());
        for op in ["replace", "mergeShallow"] {
            let operation = serde_json::json!([{"op": op, "path": path, "value": value}]).to_string();
            if let Ok(once) = test.operate(&before, &operation)
                // What is replaced may be what a filter looks at; then the second run means other items.
                && let Ok(twice) = test.operate(&once, &operation)
            {
                prop_assert!(twice.is_identical(&once), "{op}");
            }
        }
    }

    #[test]
    fn matches_share_nothing_that_can_change(items in 1..6_usize) {
        let test = PatchTest::default();
        let list = format!("{{l: [{}]}}", "{}, ".repeat(items));
        let operations = "[{op: add, path: '/l[*]/v', value: {x: [1]}}, {op: add, path: '/l/0/v/x/-', value: 2}]";
        let after = test.operate(&test.node(&list), operations).unwrap();
        let sizes: Vec<usize> = after.get("l").unwrap().as_list().unwrap().iter()
            .map(|item| item.get("v").unwrap().get("x").unwrap().as_list().unwrap().len()).collect();
        prop_assert_eq!(sizes.iter().sum::<usize>(), items + 1);
        prop_assert_eq!(sizes[0], 2);
    }

    #[test]
    fn places_that_exist_are_found_and_distinct(document in documents(), path in paths()) {
        let test = PatchTest::default();
        let node = test.node(&document.to_string());
        if let Ok(compiled) = PatchPath::compile(&path, &test.limits)
            && let Ok(found) = expand(&compiled, &node, &test.limits)
        {
            let mut distinct = found.clone();
            distinct.sort();
            distinct.dedup();
            prop_assert_eq!(distinct.len(), found.len());
        }
    }

    #[test]
    fn any_text_is_a_path_or_a_finding(text in "[/a-c\\[\\]?(@.='\"*)~0-9 -]{0,24}") {
        let test = PatchTest::default();
        let document = test.node("{a: [{b: c}], b: {c: 1}}");
        if let Ok(path) = PatchPath::compile(&text, &test.limits)
            && let Ok(found) = expand(&path, &document, &test.limits)
        {
            // Each place is a path again, and means itself alone.
            for place in found {
                let again = PatchPath::compile(&place.to_string(), &test.limits);
                let again = again.and_then(|path| expand(&path, &document, &test.limits));
                prop_assert!(again.as_ref().is_ok_and(|again| *again == [place.clone()]), "{place} is {again:?}");
            }
        }
    }

    #[test]
    fn json_patch_agrees_with_the_oracle(
        document in documents(),
        verb in proptest::sample::select(vec!["add", "replace", "remove", "move", "copy", "test"]),
        path in pointers(),
        from in pointers(),
        value in documents(),
    ) {
        // The oracle does not move the whole document onto itself; RFC 6902 only forbids moving it into itself.
        prop_assume!(verb != "move" || !from.is_empty());
        let patch = serde_json::json!([{"op": verb, "path": path, "from": from, "value": value}]);
        let mut expected = document.clone();
        let parsed: json_patch::Patch = serde_json::from_value(patch.clone()).unwrap();
        let oracle = json_patch::patch(&mut expected, &parsed).map(|()| expected);
        let test = PatchTest::default();
        let before: Node = test.node(&document.to_string());
        let read = read_json_patch(&test.node(&patch.to_string()));
        prop_assert!(read.findings.is_empty());
        let ours = apply_json_patch(&before, &read.value, &test.limits);
        match oracle {
            Ok(expected) => {
                prop_assert!(ours.findings.is_empty(), "{:?}", ours.findings);
                prop_assert!(ours.value.is_equal(&test.node(&expected.to_string())), "{}", shown(&ours.value));
            }
            Err(error) => {
                prop_assert!(!ours.findings.is_empty(), "{error}: {}", shown(&ours.value));
                prop_assert!(ours.value.is_identical(&before));
            }
        }
    }
}
