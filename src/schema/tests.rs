//! Every keyword with a value that it allows and one that it does not, and the places of violations.

use super::*;
use crate::testing::read as node;
use crate::value::{Entry, Secret, Value};

fn answer(schema: &str, value: &str) -> std::result::Result<bool, String> {
    let answer = is_valid(&node(value), &node(schema), 10_000);
    answer.map(|answer| answer.is_valid).map_err(|error| error.message)
}

#[test]
fn every_keyword_has_a_yes_and_a_no() {
    for (schema, yes, no) in [
        ("{type: string}", "x", "1"),
        ("{type: integer}", "1.0", "1.5"),
        ("{type: integer}", "99999999999999999999999", "'1'"),
        ("{type: number}", "1.5", "null"),
        ("{type: [string, 'null']}", "null", "1"),
        ("{type: string, nullable: true}", "null", "1"),
        ("{type: array}", "[]", "{}"),
        ("{type: object}", "{}", "[]"),
        ("{type: boolean}", "true", "1"),
        ("{enum: [1, two]}", "1.0", "2"),
        ("{const: {a: [1]}}", "{a: [1]}", "{a: [2]}"),
        ("{required: [a, b]}", "{a: 1, b: 2}", "{a: 1}"),
        ("{properties: {a: {type: string}}}", "{a: x, b: 1}", "{a: 1}"),
        ("{properties: {a: true}, additionalProperties: false}", "{a: 1}", "{b: 1}"),
        ("{patternProperties: {'^x-': {type: string}}, additionalProperties: false}", "{x-a: y}", "{x-a: 1}"),
        ("{patternProperties: {'^x-': true}, additionalProperties: {type: integer}}", "{x-a: y, b: 1}", "{b: y}"),
        ("{additionalProperties: {type: string}}", "{a: b}", "{a: 1}"),
        ("{propertyNames: {pattern: '^[a-z]+$'}}", "{a: 1}", "{A: 1}"),
        ("{dependentRequired: {a: [b]}}", "{a: 1, b: 1}", "{a: 1}"),
        ("{dependentSchemas: {a: {required: [b]}}}", "{b: 1}", "{a: 1}"),
        ("{dependencies: {a: [b], c: {required: [d]}}}", "{c: 1, d: 1}", "{c: 1}"),
        ("{minProperties: 1, maxProperties: 2}", "{a: 1}", "{a: 1, b: 1, c: 1}"),
        ("{items: {type: string}}", "[a, b]", "[a, 1]"),
        ("{prefixItems: [{type: string}], items: {type: integer}}", "[a, 1, 2]", "[a, b]"),
        ("{items: [{type: string}], additionalItems: false}", "[a]", "[a, b]"),
        ("{minItems: 1, maxItems: 2}", "[1]", "[1, 2, 3]"),
        ("{uniqueItems: true}", "[1, 2]", "[1, 1.0]"),
        ("{contains: {const: 1}}", "[2, 1]", "[2]"),
        ("{contains: {const: 1}, minContains: 0}", "[2]", "~"),
        ("{contains: {const: 1}, minContains: 2, maxContains: 2}", "[1, 2, 1]", "[1, 1, 1]"),
        ("{minimum: 1, maximum: 3}", "3", "3.0000000000000000000000001"),
        ("{exclusiveMinimum: 1}", "1.5", "1"),
        ("{minimum: 1, exclusiveMinimum: true}", "1.5", "1"),
        ("{maximum: 9007199254740992}", "9007199254740992", "9007199254740993"),
        ("{multipleOf: 0.1}", "0.3", "0.35"),
        ("{minLength: 2, maxLength: 3}", "'äö'", "a"),
        ("{pattern: 'b+'}", "abbc", "ac"),
        ("{allOf: [{minimum: 1}, {maximum: 2}]}", "1", "3"),
        ("{anyOf: [{type: string}, {minimum: 5}]}", "5", "4"),
        ("{oneOf: [{minimum: 1}, {maximum: 5}]}", "6", "3"),
        ("{not: {type: string}}", "1", "x"),
        ("{if: {type: string}, then: {minLength: 2}, else: {minimum: 0}}", "ab", "-1"),
        ("{$ref: '#/$defs/a~1b', $defs: {a/b: {type: string}}}", "x", "1"),
        ("{$ref: '#/definitions/a%20b', definitions: {a b: {type: string}}}", "x", "1"),
        ("{properties: {next: {$ref: '#'}}, required: [v]}", "{v: 1, next: {v: 2}}", "{v: 1, next: {}}"),
        ("true", "1", "~"),
    ] {
        assert_eq!(answer(schema, yes), Ok(true), "{schema} allows {yes}");
        if no != "~" {
            assert_eq!(answer(schema, no), Ok(false), "{schema} does not allow {no}");
        }
    }
    assert_eq!(answer("false", "1"), Ok(false));
}

#[test]
fn broken_and_endless_schemas_say_so() {
    for schema in [
        "{$ref: '#'}",
        "{$ref: 'https://example.com/schema'}",
        "{$ref: '#/nope'}",
        "{type: text}",
        "{pattern: '('}",
        "{pattern: 'a{1000}{1000}{1000}'}",
        "{required: a}",
        "{minLength: x}",
        "{allOf: {}}",
        "{unevaluatedProperties: false}",
        "[]",
        "{a: 1, allOf: [{$ref: '#/b'}, {$ref: '#/b'}], b: {allOf: [{$ref: '#'}, {$ref: '#'}]}}",
    ] {
        let value = if schema.contains("required") { "{}" } else { "text" };
        assert!(answer(schema, value).is_err(), "{schema}");
    }
}

#[test]
fn every_violation_has_its_places() {
    let schema = "type: object
required: [name, kind]
properties:
  name: {type: string, minLength: 3}
  size: {minimum: 10, multipleOf: 4}
  tags: {items: {pattern: '^[a-z]+$'}, uniqueItems: true, maxItems: 2}
  choice: {oneOf: [{type: string}, {minLength: 1}]}
additionalProperties: false";
    let value = "{name: ab, size: 7, tags: [a, 'B', a], choice: x, other: 1}";
    let (schema, value) = (node(schema), node(value));
    let checked = violations(&value, &schema, &schema, &Patterns::default(), 10_000);
    assert!(checked.stopped.is_none());
    let shown: Vec<String> = checked.found.iter().map(|found| format!("{}: {}", found.place, found.reason)).collect();
    let expected = [
        "$.kind: it is required, and missing",
        "$.name: expected at least 3 characters, found 2",
        "$.size: expected at least 10",
        "$.size: expected a multiple of 4",
        "$.tags[1]: it does not match the pattern `^[a-z]+$`",
        "$.tags[2]: it is equal to the item [0]",
        "$.tags: expected at most 2 items, found 3",
        "$.choice: it matches 2 schemas of `oneOf`, and only one may match",
        "$.other: a property of this name is not allowed",
    ];
    assert_eq!(shown, expected);
    let size = value.get("size").expect("it is given");
    let minimum = schema.get("properties").and_then(|known| known.get("size")?.get("minimum")).expect("it is given");
    assert_eq!((checked.found[2].value, checked.found[2].schema), (size.span, minimum.span));
}

#[test]
fn violations_before_a_part_that_cannot_be_used_are_kept() {
    let schema = node("{type: string, allOf: [{$ref: '#/nothing'}], enum: [1]}");
    let checked = violations(&node("1"), &schema, &schema, &Patterns::default(), 10_000);
    assert_eq!(checked.found.len(), 1);
    assert!(checked.stopped.is_some_and(|error| !error.is_limit && error.message.contains("/nothing")));
    let endless = node("{allOf: [{$ref: '#'}]}");
    let checked = violations(&node("1"), &endless, &endless, &Patterns::default(), 10_000);
    assert!(checked.stopped.is_some_and(|error| error.is_limit));
}

#[test]
fn secrets_are_not_judged() {
    let (secret, open) = (Node::new(Value::Secret(Secret::hide(node("x"))), node("x").span), node("y"));
    for schema in [
        "{properties: {a: {type: integer}}}",
        "{not: {properties: {a: {const: x}}}}",
        "{oneOf: [{properties: {a: {const: x}}}, {required: [a]}]}",
        "{anyOf: [{properties: {a: {const: x}}}, {required: [c]}]}",
        "{if: {properties: {a: {const: x}}}, then: false, else: false}",
        "{const: {a: x, b: y}}",
        "{enum: [{a: x, b: y}]}",
    ] {
        let entries = vec![Entry::named("a", open.span, secret.clone()), Entry::named("b", open.span, open.clone())];
        let schema = node(schema);
        let checked = violations(&Node::map(entries, open.span), &schema, &schema, &Patterns::default(), 10_000);
        assert!(checked.found.is_empty(), "{schema:?}: {:?}", checked.found);
    }
}
