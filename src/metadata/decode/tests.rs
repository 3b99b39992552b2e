//! What the reader of metadata documents accepts, refuses and prefers.

use super::*;
use crate::document::{Format, parse};
use crate::finding::{Location, Severity};
use crate::limits::Limits;
use crate::metadata::canonical;
use crate::path::RepoPath;
use crate::testing::read as node;
use crate::text::{SourceText, Sources};
use proptest::prelude::*;

fn get(fields: &str) -> String {
    format!("operationInfo: {{getResource: {{{fields}}}}}")
}

/// Both documents say the same, and the second is its canonical form.
fn same(text: &str, wanted: &str) {
    let outcome = canonical(&node(text));
    let errors: Vec<&Finding> = outcome.findings.iter().filter(|finding| finding.is_error()).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    let shown = crate::document::write::to_inline(&outcome.value);
    assert!(outcome.value.is_identical(&node(wanted)), "{text}\n gave   {shown}\n wanted {wanted}");
}

fn findings(text: &str) -> Vec<Finding> {
    decode(&node(text)).findings
}

/// The only thing that is wrong with a document.
fn wrong(text: &str) -> Finding {
    let found = findings(text);
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found.into_iter().next().expect("there is one")
}

#[test]
fn empty_documents_say_nothing() {
    for text in ["null", "{}", "{resourceInfo: {}}", "{resourceInfo: null, operationInfo: null}"] {
        same(text, "{}");
    }
    same("operationInfo: {}", "operationInfo: {}");
    same("operationInfo: {defaults: {}, getResource: {}}", "operationInfo: {getResource: {}}");
    same(&get("validate: {}, payload: {}, path: ''"), &get(""));
}

#[test]
fn canonical_names_beat_aliases_field_by_field() {
    same(&get("method: POST, url: {path: /a}"), &get("httpMethod: POST, path: /a"));
    same(&get("httpMethod: PUT, method: POST, path: ' ', url: {path: /a}"), &get("httpMethod: PUT, path: /a"));
    same(&get("headers: {A: '1'}, httpHeaders: []"), &get("httpHeaders: []"));
    same(
        &get("filter: a, suppress: [b], jq: .c"),
        &get("payload: {filterAttributes: [a], suppressAttributes: [b], jqExpression: .c}"),
    );
    same(
        &get("payload: {filter: [x], filterAttributes: [y], jq: .z}"),
        &get("payload: {filterAttributes: [y], jqExpression: .z}"),
    );
    same("resourceInfo: {secretsFromAttributes: a}", "resourceInfo: {secretInAttributes: [a]}");
}

#[test]
fn what_does_not_count_is_said() {
    for text in [
        get("httpMethod: PUT, method: POST"),
        get("payload: {jq: .a}, jq: .b"),
        get("accept: a, httpHeaders: [{name: Accept, value: b}]"),
        "{operationInfo: {get: {path: /a}, getResource: {path: /b}}}".to_owned(),
        "{idFromAttribute: a, resourceInfo: {idFromAttribute: b}}".to_owned(),
    ] {
        let finding = wrong(&text);
        assert_eq!((finding.rule.id, finding.severity), ("metadata/shadowed", Severity::Warning), "{text}");
    }
}

#[test]
fn a_payload_silences_the_aliases_beside_it() {
    same(&get("payload: {suppress: [a]}, filter: [b], jq: .c"), &get("payload: {suppressAttributes: [a]}"));
    same(&get("payload: null, filter: [b]"), &get("payload: {filterAttributes: [b]}"));
}

#[test]
fn a_canonical_operation_replaces_its_namesake_of_old() {
    same(
        "operationInfo: {get: {path: /legacy, method: POST}, getResource: {path: /new}}",
        "operationInfo: {getResource: {path: /new}}",
    );
    same("operationInfo: {get: {path: /a}, list: {}}", "operationInfo: {getResource: {path: /a}, listCollection: {}}");
    same("operationInfo: {get: {path: /a}, getResource: null}", "operationInfo: {getResource: {path: /a}}");
}

#[test]
fn the_flat_form_is_read_and_gives_way_to_the_nested_one() {
    same(
        "{idFromAttribute: id, secretsFromAttributes: [s], collectionPath: /c, filter: [a], suppress: b, jq: .c, \
          operations: {get: {path: /g, method: GET}, compare: {ignoreAttributes: [/x]}}}",
        "{resourceInfo: {idFromAttribute: id, collectionPath: /c, secretInAttributes: [s]}, \
          operationInfo: {defaults: {payload: {filterAttributes: [a], suppressAttributes: [b], jqExpression: .c}}, \
          getResource: {httpMethod: GET, path: /g}, compareResources: {suppressAttributes: [/x]}}}",
    );
    same(
        "{idFromAttribute: flat, aliasFromAttribute: kept, resourceInfo: {idFromAttribute: nested}, \
          operations: {get: {path: /flat, method: GET}}, operationInfo: {getResource: {path: /nested}}}",
        "{resourceInfo: {idFromAttribute: nested, aliasFromAttribute: kept}, \
          operationInfo: {getResource: {httpMethod: GET, path: /nested}}}",
    );
    assert_eq!(wrong("operations: {fetch: {}}").rule.id, "metadata/unknown-key");
}

#[test]
fn headers_are_sorted_and_the_later_of_two_counts() {
    let header = |name: &str, value: &str| format!("{{name: {name}, value: '{value}'}}");
    let list = |items: &[(&str, &str)]| {
        let items: Vec<String> = items.iter().map(|(name, value)| header(name, value)).collect();
        get(&format!("httpHeaders: [{}]", items.join(", ")))
    };
    same(
        &list(&[("b", "2"), ("A", "1"), ("content-TYPE", "x"), ("b", "3")]),
        &list(&[("A", "1"), ("Content-Type", "x"), ("b", "3")]),
    );
    same(&list(&[("X-A", "1"), ("x-a", "2")]), &list(&[("x-a", "2")]));
    same(
        &get("headers: {B: '2', accept: a}, contentType: c"),
        &list(&[("Accept", "a"), ("B", "2"), ("Content-Type", "c")]),
    );
    same(&get("accept: a, httpHeaders: [{name: Accept, value: b}]"), &list(&[("Accept", "b")]));
    same(&get("accept: '', headers: {A: ''}"), &list(&[("A", "")]));
    same(&get("headers: {}"), &get("httpHeaders: []"));
}

#[test]
fn comparing_has_its_transforms_at_the_top() {
    let compare = |fields: &str| format!("operationInfo: {{compareResources: {{{fields}}}}}");
    let top = compare("filterAttributes: [/a], suppressAttributes: [/b], jqExpression: .c");
    same(&compare("filter: [/a], ignoreAttributes: [/b], jq: .c"), &top);
    same(&compare("payload: {filterAttributes: [/a], suppress: [/b], jq: .c}"), &top);
    same(&compare("jqExpression: .c, payload: {filterAttributes: [/a], suppress: [/b], jq: .x}"), &top);
    // Only below `payload` can another order be said, so it stays there.
    let reordered = "payload: {jqExpression: .c, suppressAttributes: [/b]}";
    same(&compare(reordered), &compare(reordered));
}

#[test]
fn the_order_of_transforms_survives() {
    let keys = |text: &str| -> Vec<String> {
        let canonical = canonical(&node(text)).value;
        let payload = canonical.get("operationInfo").and_then(|info| info.get("getResource")?.get("payload"));
        let entries = payload.and_then(Node::as_map).expect("a payload").entries();
        entries.iter().map(|entry| entry.key.name.to_string()).collect()
    };
    assert_eq!(keys(&get("payload: {jq: .a, filter: [b]}")), ["jqExpression", "filterAttributes"]);
    assert_eq!(keys(&get("payload: {suppress: [], filter: [b]}")), ["suppressAttributes", "filterAttributes"]);
    assert_eq!(keys(&get("jq: .a, filter: [b]")), ["filterAttributes", "jqExpression"]);
}

#[test]
fn nulls_are_left_out_except_in_a_body() {
    same(
        &get("path: null, query: {a: null}, payload: null, validate: null, accept: null, body: {a: null}"),
        &get("body: {a: null}"),
    );
    same(
        &get("httpHeaders: [{name: A, value: null}, {name: B, value: '1'}]"),
        &get("httpHeaders: [{name: B, value: '1'}]"),
    );
    same(&get("query: {a: null, b: '1'}"), &get("query: {b: '1'}"));
    same(&get("validate: {assertions: [{message: null, jq: .a}]}"), &get("validate: {assertions: [{jq: .a}]}"));
}

#[test]
fn unknown_keys_are_wrong_wherever_they_stand() {
    for (text, help) in [
        ("{resourceInfos: {}}", "did you mean `resourceInfo`?"),
        ("resourceInfo: {idFromAttributes: a}", "did you mean `idFromAttribute`?"),
        ("operationInfo: {getResources: {}}", "did you mean `getResource`?"),
        ("operationInfo: {defaults: {path: /a}}", "known keys: payload"),
        (
            "operationInfo: {defaults: {payload: {filters: a}}}",
            "known keys: filterAttributes, suppressAttributes, jqExpression, transforms",
        ),
        ("operationInfo: {getResource: {HttpMethod: GET}}", "did you mean `httpMethod`?"),
        ("operationInfo: {getResource: {url: {query: a}}}", "known keys: path"),
        ("operationInfo: {getResource: {validate: {requiredAttribute: a}}}", "did you mean `requiredAttributes`?"),
        ("operationInfo: {getResource: {validate: {assertions: [{jq: .a, massage: b}]}}}", "did you mean `message`?"),
        ("operationInfo: {getResource: {httpHeaders: [{name: a, value: b, x: c}]}}", "known keys: name, value"),
        (
            "operationInfo: {getResource: {filterAttributes: [a]}}",
            "only `compareResources` has it at the top; here it is `payload.filterAttributes`",
        ),
    ] {
        let finding = wrong(text);
        assert_eq!((finding.rule.id, finding.help.as_deref()), ("metadata/unknown-key", Some(help)), "{text}");
    }
}

#[test]
fn values_of_another_shape_are_wrong() {
    for text in [
        "[]",
        "text",
        "resourceInfo: []",
        "resourceInfo: {idFromAttribute: 1}",
        "resourceInfo: {secretInAttributes: {a: b}}",
        "resourceInfo: {secretInAttributes: [1]}",
        "resourceInfo: {secretInAttributes: [null]}",
        "operationInfo: []",
        "operationInfo: {getResource: GET}",
        "operationInfo: {getResource: {query: {page: 1}}}",
        "operationInfo: {getResource: {query: [a]}}",
        "operationInfo: {getResource: {httpHeaders: {A: b}}}",
        "operationInfo: {getResource: {httpHeaders: [{name: A}]}}",
        "operationInfo: {getResource: {httpHeaders: [{value: A}]}}",
        "operationInfo: {getResource: {httpHeaders: [{name: ' ', value: A}]}}",
        "operationInfo: {getResource: {httpHeaders: [{name: A, value: 1}]}}",
        "operationInfo: {getResource: {httpHeaders: [A]}}",
        "operationInfo: {getResource: {accept: 1}}",
        "operationInfo: {getResource: {payload: [a]}}",
        "operationInfo: {getResource: {validate: {requiredAttributes: ['']}}}",
        "operationInfo: {getResource: {validate: {assertions: {jq: .a}}}}",
        "operationInfo: {getResource: {validate: {assertions: [{message: m}]}}}",
        "operationInfo: {getResource: {validate: {assertions: [{jq: ' '}]}}}",
        "operationInfo: {getResource: {validate: {assertions: [a]}}}",
        "operationInfo: {getResource: {validate: {schemaRef: 'jsonschema:x'}}}",
        "operations: []",
    ] {
        assert_eq!(wrong(text).rule.id, "metadata/invalid", "{text}");
    }
    same(
        &get("validate: {schemaRef: ' openapi:request-body '}"),
        &get("validate: {schemaRef: ' openapi:request-body '}"),
    );
    same(&get("validate: {schemaRef: 'openapi:#/a'}"), &get("validate: {schemaRef: 'openapi:#/a'}"));
}

#[test]
fn several_faults_are_reported_in_the_order_of_the_file() {
    let found =
        findings("{operationInfo: {getResource: {path: 1, methd: GET}}, resourceInfo: {aliasFromAttribute: []}}");
    let messages: Vec<&str> = found.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`operationInfo.getResource.path` takes a text, and this is a number",
            "unknown key `methd` in `operationInfo.getResource`",
            "`resourceInfo.aliasFromAttribute` takes a text, and this is a list",
        ]
    );
}

proptest! {
    #[test]
    fn canonical_form_is_its_own_canonical_form(text in document()) {
        let root = node(&text);
        let once = canonical(&root).value;
        let twice = canonical(&once);
        prop_assert!(twice.findings.is_empty(), "{text}: {:?}", twice.findings);
        prop_assert!(once.is_identical(&twice.value), "{text}");
        let written = node(&crate::document::write::to_yaml(&once));
        prop_assert!(once.is_identical(&written), "{text}");
    }

    #[test]
    fn faults_have_places_and_the_rest_is_canonical(text in "[a-z:{}\\[\\], \n'+-]{0,60}") {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", text.as_str()));
        for document in parse(&text, source, Format::Yaml, &Limits::default()).value {
            for finding in decode(&document.root).findings {
                let Location::Span(span) = finding.location else { panic!("{finding:?} has no place") };
                prop_assert!(span.start <= span.end && span.end as usize <= text.len(), "{text}: {finding:?}");
            }
            // What is kept of a document with faults has none.
            let again = decode(&canonical(&document.root).value);
            prop_assert!(again.findings.is_empty(), "{text}: {:?}", again.findings);
        }
    }
}

/// Documents with every name there is, right and wrong shapes, nulls and emptiness.
fn document() -> impl Strategy<Value = String> {
    let value = prop_oneof![
        Just("null".to_owned()),
        Just("a".to_owned()),
        Just("''".to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
        Just("[a, b]".to_owned()),
        Just("{a: b, c: null}".to_owned()),
        Just("[{name: A, value: b}, {name: accept, value: null}]".to_owned()),
        Just("[{message: m, jq: .a}]".to_owned()),
    ];
    let payload_keys = ["filter", "suppress", "jq", "filterAttributes", "suppressAttributes", "jqExpression"];
    let payload = proptest::sample::subsequence(payload_keys.to_vec(), 0..4).prop_shuffle();
    let keys = [
        "httpMethod",
        "method",
        "path",
        "query",
        "httpHeaders",
        "headers",
        "accept",
        "contentType",
        "body",
        "filter",
        "suppress",
        "jq",
        "validate",
        "filterAttributes",
        "ignoreAttributes",
        "nonsense",
    ];
    let fields = proptest::sample::subsequence(keys.to_vec(), 0..8);
    let names = ["get", "getResource", "createResource", "compareResources", "list", "defaults"];
    let operation = (fields, payload, proptest::collection::vec(value, 24)).prop_map(|(fields, payload, values)| {
        let mut values = values.into_iter();
        let mut pair = |key: &str| format!("{key}: {}", values.next().unwrap_or_default());
        let payload: Vec<String> = payload.into_iter().map(&mut pair).collect();
        let mut fields: Vec<String> = fields.into_iter().map(&mut pair).collect();
        if !payload.is_empty() {
            fields.push(format!("payload: {{{}}}", payload.join(", ")));
        }
        format!("{{{}}}", fields.join(", "))
    });
    let operations = proptest::collection::vec(operation, names.len());
    (proptest::sample::subsequence(names.to_vec(), 0..4), operations).prop_map(|(names, operations)| {
        let pairs: Vec<String> = names.iter().zip(operations).map(|(name, body)| format!("{name}: {body}")).collect();
        format!("{{operationInfo: {{{}}}}}", pairs.join(", "))
    })
}
