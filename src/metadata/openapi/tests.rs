//! Inference and checks over whole documents, honest and hostile ones.

use std::fmt::Write as _;
use std::sync::Arc;

use super::*;
use crate::document::write;
use crate::finding::{Finding, Outcome};
use crate::metadata::{self, Layer, MetadataPath};
use crate::testing::read as parse;
use crate::text::Span;
use crate::value::{Entry, Node};

fn infer_over(path: &str, api: Option<&str>, existing: Option<&str>) -> Outcome<Inferred> {
    let existing: Option<Arc<Layer>> =
        existing.map(|text| Arc::clone(&metadata::of_document(&parse(text)).value.layers()[0]));
    let openapi = api.map(parse);
    let nowhere = parse("{}").span;
    let path = MetadataPath::parse(path).unwrap();
    infer(&Inference { path: &path, openapi: openapi.as_ref(), existing: existing.as_ref(), nowhere })
}

fn inferred(path: &str, api: &str) -> Node {
    let outcome = infer_over(path, Some(api), None);
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
    outcome.value.inferred
}

fn at<'a>(node: &'a Node, names: &[&str]) -> &'a str {
    let found = names.iter().try_fold(node, |node, name| node.get(name));
    found.and_then(Node::as_str).unwrap_or("nothing")
}

fn path_of<'a>(node: &'a Node, operation: &str) -> &'a str {
    at(node, &["operationInfo", operation, "path"])
}

fn rules(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.rule.id).collect()
}

#[test]
fn a_literal_beside_the_items_is_no_item() {
    let api = "paths: {/users: {get: {}}, /users/count: {get: {}}, '/users/{user-id}': {get: {}, patch: {}}}";
    let node = inferred("/users/", api);
    assert_eq!(path_of(&node, "getResource"), "/users/{{.user}}");
    assert_eq!(at(&node, &["operationInfo", "updateResource", "httpMethod"]), "PATCH");
    assert_eq!(at(&node, &["operationInfo", "deleteResource", "httpMethod"]), "DELETE", "the fallback stays");
    let only = inferred("/users/", "paths: {/users: {get: {}}, /users/count: {get: {}}}");
    assert_eq!(path_of(&only, "getResource"), "/users/{{.user}}");
}

#[test]
fn the_best_path_wins_and_of_equals_the_first() {
    let api = "paths: {'/a/{x}/c': {get: {}}, '/a/b/c': {get: {}}, '/{y}/b/c': {get: {}}}";
    assert_eq!(path_of(&inferred("/a/b/c/", api), "listCollection"), "/a/b/c");
    assert_eq!(path_of(&inferred("/a/_/c/", api), "listCollection"), "/a/{{.x}}/c");
    let equal = "paths: {'/{z}/c': {get: {}}, '/{y}/c': {get: {}}, '/{a}/c': {parameters: []}}";
    assert_eq!(path_of(&inferred("/_/c/", equal), "listCollection"), "/{{.y}}/c");
}

#[test]
fn the_collection_is_called_as_the_document_calls_it() {
    let api = "paths: {'/realms/{realmName}/clients': {get: {}, post: {}}}";
    let outcome = infer_over("/realms/_/clients/", Some(api), None);
    let compact = outcome.value.compact;
    assert_eq!(at(&compact, &["resourceInfo", "collectionPath"]), "/realms/{{.realmName}}/clients");
    assert_eq!(path_of(&compact, "createResource"), "/realms/{{.realmName}}/clients");
    assert_eq!(path_of(&compact, "getResource"), "nothing", "it follows from the path alone");
    assert!(outcome.value.is_known);
}

#[test]
fn a_resource_is_a_collection_if_it_has_items() {
    let api = "paths: {/realms: {get: {}}, '/realms/{realm}': {get: {}}, '/realms/{realm}/keys': {get: {}}}";
    let outcome = infer_over("/realms", Some(api), None).value;
    assert!(outcome.path.is_collection());
    assert_eq!(path_of(&outcome.inferred, "getResource"), "/realms/{{.realm}}");
    let unsafe_name = "paths: {/realms: {get: {}}, '/realms/{realm-id}': {get: {}}}";
    assert!(!infer_over("/realms", Some(unsafe_name), None).value.path.is_collection());
    let one = infer_over("/realms/master", Some(api), None).value;
    assert!(!one.path.is_collection() && one.is_known);
    assert_eq!(path_of(&one.inferred, "getResource"), "/realms/{{.realm}}");
    assert_eq!(path_of(&one.inferred, "deleteResource"), "/realms/master");
    assert_eq!(path_of(&one.inferred, "listCollection"), "/realms");
    assert!(one.inferred.get("resourceInfo").is_some_and(|info| info.get("idFromAttribute").is_none()));
    assert!(!infer_over("/other/", Some(api), None).value.is_known);
}

#[test]
fn all_versions_say_what_a_body_needs() {
    let two = "{swagger: '2.0', definitions: {C: {required: [b, a], allOf: [{$ref: '#/definitions/B'}], oneOf: [{required: [x]}]}, B: {required: [c, a]}},
        parameters: {P: {in: body, schema: {$ref: '#/definitions/C'}}},
        paths: {/c: {post: {parameters: [{in: query, name: q}, {$ref: '#/parameters/P'}]}}}}";
    let three = "{openapi: 3.1.0, components: {schemas: {C: {required: [b, a], allOf: [{$ref: '#/components/schemas/B'}]}, B: {required: [c, a]}},
        requestBodies: {R: {content: {text/plain: {schema: {required: [z]}}, 'application/x+json': {schema: {required: [y]}},
        'application/json; charset=utf-8': {schema: {$ref: '#/components/schemas/C'}}}}}},
        paths: {/c: {post: {requestBody: {$ref: '#/components/requestBodies/R'}}}}}";
    for api in [two, three] {
        let node = inferred("/c/", api);
        let create = node.get("operationInfo").and_then(|node| node.get("createResource")).unwrap();
        let validate = create.get("validate").unwrap();
        assert_eq!(
            write::to_json(validate.get("requiredAttributes").unwrap()).split_whitespace().collect::<String>(),
            r#"["a","b","c"]"#
        );
        assert_eq!(at(validate, &["schemaRef"]), "openapi:request-body");
    }
}

#[test]
fn names_come_from_the_first_answer_that_has_any() {
    let api = "{components: {schemas: {Org: {oneOf: [{properties: {id: {}}}, {allOf: [{properties: {name: {}}}]}]}}},
        paths: {/orgs: {get: {responses: {200: {content: {a/b: {schema: {type: array, items: {$ref: '#/components/schemas/Org'}}}}}}}},
        '/orgs/{orgId}': {get: {responses: {204: {}}}}}}";
    let node = inferred("/orgs/", api);
    assert_eq!(at(&node, &["resourceInfo", "aliasFromAttribute"]), "name");
    assert_eq!(at(&node, &["resourceInfo", "idFromAttribute"]), "id");
    let two = "{paths: {/orgs: {get: {}}, '/orgs/{orgId}': {get: {responses: {default: {schema: {properties: {x: {}}}}, 201: {schema: {properties: {key: {}}}}}}}}}";
    assert_eq!(at(&inferred("/orgs/", two), &["resourceInfo", "aliasFromAttribute"]), "key");
}

#[test]
fn what_is_stored_has_the_last_word_also_when_it_clears() {
    let api = "paths: {'/realms/{realmName}/clients': {get: {}, post: {}}}";
    let stored = "{resourceInfo: {secretInAttributes: []}, operationInfo: {createResource: null, listCollection: {path: /mine}}}";
    let compact = infer_over("/realms/_/clients/", Some(api), Some(stored)).value.compact;
    assert_eq!(path_of(&compact, "listCollection"), "/mine");
    assert_eq!(path_of(&compact, "createResource"), "nothing");
    let secrets = compact.get("resourceInfo").and_then(|info| info.get("secretInAttributes")).and_then(Node::as_list);
    assert_eq!(secrets.map(<[Node]>::len), Some(0));
}

#[test]
fn references_that_lead_nowhere_are_reported_and_left_out() {
    let circle = "{components: {schemas: {A: {$ref: '#/components/schemas/B'}, B: {$ref: '#/components/schemas/A'}}},
        paths: {/c: {$ref: '#/paths/~1c'}, '/c/{id}': {get: {responses: {200: {$ref: 'other.yaml#/x'}}}, put: {requestBody: {$ref: '#/nothing'}}}}}";
    let outcome = infer_over("/c/", Some(circle), None);
    assert_eq!(rules(&outcome.findings), ["openapi/reference"; 3]);
    assert_eq!(path_of(&outcome.value.inferred, "getResource"), "/c/{{.id}}");
    let endless = "{components: {schemas: {A: {allOf: [{$ref: '#/components/schemas/A'}], items: {$ref: '#/components/schemas/A'}, required: [a]}}},
        paths: {/c: {post: {requestBody: {content: {x: {schema: {$ref: '#/components/schemas/A'}}}}, responses: {200: {schema: {$ref: '#/components/schemas/A'}}}}}}}";
    let outcome = infer_over("/c/", Some(endless), None);
    assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
}

#[test]
fn what_is_no_openapi_document_gives_a_finding_and_the_fallback() {
    for wrong in ["[]", "null", "text", "{}", "{paths: []}", "{paths: null}"] {
        let outcome = infer_over("/users/", Some(wrong), None);
        assert_eq!(rules(&outcome.findings), ["openapi/invalid"], "{wrong}");
        assert_eq!(path_of(&outcome.value.inferred, "getResource"), "/users/{{.user}}");
    }
    let odd = "{paths: {/users: null, x-y: {get: {}}, '/users/{a': {get: {}}, '/{{.x}}': {get: {}}, 5: {}, /users/: {get: 7, post: []}}}";
    let outcome = infer_over("/users/", Some(odd), None);
    assert!(outcome.findings.is_empty() && !outcome.value.is_known, "{odd}");
}

#[test]
fn long_chains_and_large_documents_end() {
    let mut api = String::from("components:\n  schemas:\n    S5000: {required: [last], properties: {id: {}}}\n");
    for at in 0..5000 {
        let next = format!("'#/components/schemas/S{}'", at + 1);
        let _ = writeln!(api, "    S{at}: {{allOf: [{{$ref: {next}}}, {{$ref: {next}}}], oneOf: [{{$ref: {next}}}]}}");
    }
    api.push_str("paths:\n  /c: {post: {requestBody: {content: {x: {schema: {$ref: '#/components/schemas/S0'}}}}}}\n");
    for at in 0..5000 {
        let _ = writeln!(api, "  /c/x{at}: {{get: {{}}}}");
    }
    let outcome = infer_over("/c/", Some(&api), None);
    let create = outcome.value.inferred.get("operationInfo").and_then(|node| node.get("createResource")).unwrap();
    assert!(write::to_json(create).contains("last"));
    let value = parse("{id: 1}");
    let findings = check_body(&body(&value, "openapi:#/components/schemas/S0", &[]), &document(&api));
    assert_eq!(rules(&findings), ["limit/schema"]);
}

fn document(text: &str) -> ApiDocument {
    ApiDocument::new(parse(text), Default::default())
}

fn body<'a>(value: &'a Node, reference: &'a str, known: &'a [Entry]) -> Body<'a> {
    Body { reference, at: value.span, method: "POST", path: "/api/customers", value, known }
}

const CUSTOMERS: &str = "{paths: {/api/customers: {post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/C'}}}}}},
    '/api/{any}': {post: {}, put: {}}}, components: {schemas: {
    C: {type: object, required: [name], additionalProperties: false, properties: {name: {type: string}, age: {type: integer}, kind: {enum: [1, two]},
        tags: {type: array, items: {type: string}}, pair: {items: [{type: string}]}, note: {type: string, nullable: true}, any: {type: [string, 'null']},
        more: {allOf: [{type: object}], anyOf: [{required: [a]}, {required: [b]}], oneOf: [{required: [a]}, {required: [c]}]}}},
    Loop: {allOf: [{$ref: '#/components/schemas/Loop'}]}}}}";

#[test]
fn bodies_are_checked_against_their_schema() {
    let api = document(CUSTOMERS);
    let messages = |value: &str| -> Vec<String> {
        check_body(&body(&parse(value), "openapi:request-body", &[]), &api)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    };
    for fine in [
        "{name: x}",
        "{name: x, age: 2.0, kind: 1.0, tags: [a], note: null, any: null, pair: [a, 1]}",
        "{name: x, more: {a: 1}}",
    ] {
        assert_eq!(messages(fine), Vec::<String>::new(), "{fine}");
    }
    let cases = [
        ("{name: 5}", "$.name: expected string"),
        ("{}", "$.name: it is required"),
        ("[]", "$: expected object"),
        ("{name: x, age: 2.5}", "$.age: "),
        ("{name: x, kind: 3}", "$.kind: "),
        ("{name: x, tags: [a, 1]}", "$.tags[1]: "),
        ("{name: x, pair: [1]}", "$.pair[0]: "),
        ("{name: null}", "$.name: "),
        ("{name: x, other: 1}", "$.other: "),
        ("{name: x, more: {b: 1}}", "$.more: it matches none"),
        ("{name: x, more: {a: 1, c: 1}}", "$.more: it matches 2"),
        ("{name: x, more: 1}", "$.more allOf[0]: "),
    ];
    for (value, wanted) in cases {
        let found = messages(value);
        assert!(found.iter().any(|message| message.contains(wanted)), "{value}: {found:?}");
    }
    assert_eq!(messages("{age: x, tags: [1]}").len(), 3, "every violation is reported");
}

#[test]
fn what_follows_from_the_path_counts_where_the_schema_knows_it() {
    let api = document(CUSTOMERS);
    let (value, span): (Node, Span) = (parse("{age: 1}"), parse("{}").span);
    let known = [Entry::named("name", span, Node::text("x", span)), Entry::named("realm", span, Node::text("y", span))];
    assert!(check_body(&body(&value, "openapi:#/components/schemas/C", &known), &api).is_empty());
}

#[test]
fn missing_schemas_are_reported() {
    let api = document(CUSTOMERS);
    let value = parse("{name: x}");
    let rule = |body: &Body<'_>| rules(&check_body(body, &api)).join(" ");
    assert_eq!(rule(&body(&value, "openapi:#/nothing", &[])), "request/schema");
    assert_eq!(rule(&Body { path: "/other", ..body(&value, "openapi:request-body", &[]) }), "request/schema");
    assert_eq!(rule(&Body { method: "PUT", ..body(&value, "openapi:request-body", &[]) }), "request/schema");
    assert_eq!(rule(&Body { path: "/api/x", ..body(&value, "openapi:request-body", &[]) }), "request/schema");
    assert_eq!(rule(&body(&value, "openapi:#/components/schemas/Loop", &[])), "limit/schema");
}
