//! Requests through the program: what would be sent for files as they stand in a repository, and what no file can make it do.

use std::time::{Duration, Instant};

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

/// A realm of an identity server, in the shape that people keep such servers in.
fn realm() -> TestRepo {
    let repo = TestRepo::new();
    let flows = "admin/realms/_/authentication/flows/_/executions/_/metadata.json";
    repo.write(
        flows,
        r#"{
  "resourceInfo": {
    "idFromAttribute": "id",
    "aliasFromAttribute": "displayName",
    "collectionPath": "/admin/realms/{{.realm}}/authentication/flows/{{.flow}}/executions"
  },
  "operationInfo": {
    "getResource": {"path": "/admin/realms/{{.realm}}/authentication/executions/{{.id}}"},
    "createResource": {
      "path": "./execution",
      "payload": {"jqExpression": ".provider = .providerId", "suppressAttributes": ["providerId"]}
    },
    "updateResource": {"path": "."},
    "deleteResource": {"path": "/admin/realms/{{.realm}}/authentication/executions/{{.id}}"}
  }
}
"#,
    );
    repo.write(
        "admin/realms/_/user-registry/_/metadata.json",
        r#"{
  "resourceInfo": {
    "idFromAttribute": "id",
    "aliasFromAttribute": "name",
    "collectionPath": "/admin/realms/{{.realm}}/components",
    "secretInAttributes": ["bindCredential"]
  }
}
"#,
    );
    repo.write(
        "admin/realms/_/user-registry/_/mappers/_/metadata.json",
        r#"{
  "operationInfo": {
    "listCollection": {
      "query": {"parent": "{{../id}}"},
      "payload": {
        "jqExpression": "[ .[] | select(.parentId == (resource(\"/admin/realms/{{.realm}}/user-registry/{{.provider}}/\") | .id)) ]"
      }
    }
  }
}
"#,
    );
    let write = |path: &str, payload: &str| repo.write(format!("admin/realms/acme/{path}/resource.json"), payload);
    write(
        "authentication/flows/test/executions/Cookie",
        r#"{"id": "e-1", "displayName": "Cookie", "providerId": "auth-cookie"}"#,
    );
    write("user-registry/AD PRD", r#"{"id": "u-1", "name": "AD PRD", "bindCredential": "hunter2"}"#);
    write(
        "user-registry/AD PRD/mappers/email",
        r#"{"id": "m-1", "name": "email", "parentId": "u-1", "bindCredential": "swordfish"}"#,
    );
    write("user-registry/AD PRD/mappers/phone", r#"{"id": "m-2", "name": "phone", "parentId": "elsewhere"}"#);
    repo.commit_all("a realm");
    repo
}

fn render(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut outcrop(repo, &[&["metadata", "render"], arguments].concat()))
}

/// What is printed where everything went well.
fn rendered(repo: &TestRepo, arguments: &[&str]) -> String {
    let ran = render(repo, arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    ran.stdout
}

fn first_line(repo: &TestRepo, arguments: &[&str]) -> String {
    rendered(repo, arguments).lines().next().unwrap_or_default().to_owned()
}

const EXECUTION: &str = "/admin/realms/acme/authentication/flows/test/executions/Cookie";
const REGISTRY: &str = "/admin/realms/acme/user-registry/AD PRD";

#[test]
fn the_worked_requests_come_out() {
    let repo = realm();
    let base = "/admin/realms/acme/authentication";
    for (operation, line) in [
        ("get", format!("GET {base}/executions/e-1")),
        ("create", format!("POST {base}/flows/test/executions/execution")),
        ("update", format!("PUT {base}/flows/test/executions")),
        ("delete", format!("DELETE {base}/executions/e-1")),
    ] {
        assert_eq!(first_line(&repo, &[EXECUTION, operation]), line);
        // The same from a commit, and by the name that metadata files use.
        assert_eq!(first_line(&repo, &[EXECUTION, &format!("{operation}Resource"), "--at", "HEAD"]), line);
    }
    let created = rendered(&repo, &[EXECUTION, "create"]);
    let body = "{\n  \"id\": \"e-1\",\n  \"displayName\": \"Cookie\",\n  \"provider\": \"auth-cookie\"\n}\n";
    assert!(created.ends_with(body), "{created}");
    assert_eq!(first_line(&repo, &[REGISTRY]), "GET /admin/realms/acme/components/u-1");
    let mapper = format!("{REGISTRY}/mappers/email");
    assert_eq!(first_line(&repo, &[&mapper, "delete"]), "DELETE /admin/realms/acme/components/m-1");
    // What the registry declares as secret is so in everything below it.
    let ran = render(&repo, &[&mapper, "create"]);
    assert!(ran.stdout.contains("\"bindCredential\": \"•••\""), "{ran:?}");
    assert!(ran.stderr.contains("secret values are hidden"), "{ran:?}");
}

#[test]
fn a_list_is_answered_from_the_same_snapshot() {
    let repo = realm();
    let mappers = format!("{REGISTRY}/mappers/");
    let listed = rendered(&repo, &[&mappers]);
    assert!(listed.starts_with("GET /admin/realms/acme/components\n  ?parent=u-1\n"), "{listed}");
    assert!(listed.contains("1 resource in this snapshot") && listed.contains("mappers/email  m-1"), "{listed}");
    assert!(!listed.contains("phone"), "{listed}");
    let json = rendered(&repo, &[&mappers, "list", "-o", "json"]);
    assert!(
        json.contains("\"alias\": \"email\"")
            && json.contains("\"ancestor\": \"/admin/realms/acme/user-registry/AD PRD\""),
        "{json}"
    );
}

#[test]
fn the_usual_operation_depends_on_what_is_named() {
    let repo = TestRepo::new();
    repo.write("c/_/metadata.yaml", "operationInfo: {getResource: {path: '/v2/k/{{.key}}'}}");
    repo.write("c/a/resource.yaml", "key: k-1");
    repo.write("c/b/resource.yaml", "other: 1");
    repo.write(
        "d/_/metadata.yaml",
        "resourceInfo: {idFromAttribute: key}\noperationInfo: {getResource: {path: '/v2/k/{{.key}}'}}",
    );
    repo.write("d/new/resource.yaml", "name: new");
    assert_eq!(first_line(&repo, &["/c/a"]), "GET /v2/k/k-1");
    assert_eq!(first_line(&repo, &["c/a/resource.yaml"]), "GET /v2/k/k-1");
    assert_eq!(first_line(&repo, &["/c/"]), "GET /c");
    assert_eq!(first_line(&repo, &["/c/_"]), "GET /c");
    // There is no resource at /c, so there is no key; and what was never made has none yet.
    let instead = render(&repo, &["/c"]);
    assert!(instead.stdout.starts_with("GET /c\n") && instead.stderr.contains("has no id to get it by"), "{instead:?}");
    assert!(render(&repo, &["/d/new"]).stderr.contains("has no id to get it by"));
    // A resource that lacks something else is wrong, and an operation that is asked for is the one that is rendered.
    for arguments in [&["/c/b"][..], &["/c", "get"], &["/d/new", "get"]] {
        let ran = render(&repo, arguments);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.stderr.contains("expression/template") && ran.stderr.contains("metadata.yaml:"), "{ran:?}");
        assert!(ran.stdout.is_empty(), "{ran:?}");
    }
    // Selectors are shown as they are written, and are no command.
    assert_eq!(first_line(&repo, &["/c/_", "get"]), "GET /v2/k/{{.key}}");
    assert_eq!(render(&repo, &["/c/_", "get", "-o", "curl"]).code, 2);
    assert_eq!(render(&repo, &["/c/absent", "create"]).code, 2);
    assert_eq!(
        rendered(&repo, &["/c/a", "-o", "curl"]),
        "curl -X GET \"$SERVER\"'/v2/k/k-1' -H 'Accept: application/json'\n"
    );
}

#[test]
fn what_must_not_be_sent_is_no_data_and_no_command() {
    let repo = TestRepo::new();
    let rules = "operationInfo: {createResource: {validate: {requiredAttributes: [name], assertions: [{message: too small, jq: .n > 5}]}}}";
    repo.write("c/_/metadata.yaml", rules);
    repo.write("c/a/resource.yaml", "n: 1");
    for (output, is_shown) in [("text", true), ("json", false), ("curl", false)] {
        let ran = render(&repo, &["/c/a", "create", "-o", output]);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert_eq!(ran.stdout.contains("\"n\": 1"), is_shown, "{ran:?}");
        assert!(
            ran.stderr.contains("missing required attributes [name]") && ran.stderr.contains("too small"),
            "{ran:?}"
        );
    }
}

#[test]
fn requests_are_made_from_what_resources_are_in_effect() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "roots: [{path: api, format: yaml}]");
    repo.write(
        "api/realms/_/metadata.yaml",
        "operationInfo: {createResource: {httpHeaders: [{name: X-Owner, value: '{{../owner}}'}]}}",
    );
    repo.write(
        "api/realms/_/clients/_/patches.yaml",
        "- operations:\n  - {op: add, path: /label, value: '${attributes.realm}-${path.alias}'}\n",
    );
    repo.write("api/realms/acme/resource.yaml", "owner: {eval: {concat: [team, '-', a]}}");
    repo.write("api/realms/acme/clients/web/resource.yaml", "+include: ../../../../../base.yaml\nid: 7\n");
    repo.write("base.yaml", "kind: client\n");
    let created = rendered(&repo, &["/realms/acme/clients/web", "create"]);
    assert!(created.contains("X-Owner: team-a\n"), "{created}");
    assert!(created.contains("Content-Type: application/yaml\n"), "{created}");
    assert!(created.ends_with("\nid: 7\nkind: client\nlabel: acme-web\n"), "{created}");
}

#[test]
fn secrets_are_in_no_request() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "secrets: [/**/x-api-key, /**/token]");
    let metadata = "resourceInfo: {secretInAttributes: [password]}
operationInfo:
  createResource:
    query: {token: literal-one}
    httpHeaders:
      - {name: X-Api-Key, value: literal-two}
      - {name: X-Parent, value: 'of {{../password}}'}
      - {name: X-Own, value: '{{.password}}'}
    body: {a: {token: literal-three}}
";
    repo.write("c/_/metadata.yaml", metadata);
    repo.write("c/p/resource.yaml", "{id: 1, password: hunter-parent}");
    repo.write("c/p/d/r/resource.yaml", "{id: 2, password: hunter-own}");
    for output in ["text", "json", "curl"] {
        let ran = render(&repo, &["/c/p/d/r", "create", "-v", "-o", output]);
        assert_eq!(ran.code, 0, "{ran:?}");
        for secret in ["literal", "hunter"] {
            assert!(!format!("{ran:?}").contains(secret), "{ran:?}");
        }
        assert!(ran.stdout.contains("{{secret .}}") && ran.stderr.contains("secret values are hidden"), "{ran:?}");
    }
    let explained = run(&mut outcrop(&repo, &["explain", "/c/p/d/r", "-v"]));
    assert!(explained.code == 0 && explained.stdout.contains("create  POST"), "{explained:?}");
    assert!(
        !format!("{explained:?}").contains("literal") && !format!("{explained:?}").contains("hunter"),
        "{explained:?}"
    );
    // Nor in the snippet of a finding about them.
    repo.write("c/p/d/r/metadata.yaml", "operationInfo: {createResource: {validate: {requiredAttributes: [gone]}}}");
    let ran = render(&repo, &["/c/p/d/r", "create"]);
    assert!(ran.code == 2 && !format!("{ran:?}").contains("hunter"), "{ran:?}");
    let revealed = render(&repo, &["/c/p/d/r", "--reveal"]);
    assert!(revealed.code == 2 && revealed.stderr.contains("only on a terminal"), "{revealed:?}");
}

/// A repository whose list is shaped by this, and whose path is made by that.
fn hostile(jq: &str, template: &str) -> TestRepo {
    let repo = TestRepo::new();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let metadata = format!(
        "resourceInfo: {{idFromAttribute: id}}\noperationInfo:\n  getResource:\n    path: {}\n  listCollection:\n    payload:\n      jqExpression: {}\n",
        quoted(template),
        quoted(jq)
    );
    repo.write("c/_/metadata.yaml", metadata);
    repo.write("c/a/resource.yaml", "{id: 1, many: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}");
    repo
}

#[test]
fn hostile_jq_ends_with_a_finding() {
    for jq in [
        "repeat(.)",
        "[range(1e18)]",
        "def f: f; f",
        "def f: [f]; f",
        "[.[] | until(false; .)]",
        "reduce range(1e9) as $i (\"x\"; . + .)",
        "[limit(1e9; repeat(resource(\"/c/a\")))]",
        "[range(1e9) | resource(\"/c/\\(.)\")?]",
        "$ENV",
        "env",
        "input",
        "halt",
        "now",
        "debug",
        "$__loc__ | input_filename",
        "import \"x\" as x; .",
    ] {
        let repo = hostile(jq, "/x");
        let started = Instant::now();
        let ran = run(outcrop(&repo, &["metadata", "render", "/c/", "list"]).env("CANARY", "tweet-tweet"));
        assert_eq!(ran.code, 2, "{jq}: {ran:?}");
        let is_said = ran.stderr.contains("expression/jq") || ran.stderr.contains("limit/expression");
        assert!(is_said && ran.stderr.contains("c/_/metadata.yaml:"), "{jq}: {ran:?}");
        assert!(!format!("{ran:?}").contains("tweet-tweet"), "{jq}: {ran:?}");
        assert!(started.elapsed() < Duration::from_secs(120), "{jq} took {:?}", started.elapsed());
    }
}

#[test]
fn hostile_templates_end_with_a_finding() {
    let loops = "{{range .many}}".repeat(8) + "x" + &"{{end}}".repeat(8);
    let deep = "{{if .id}}".repeat(5000);
    let long = format!("{{{{printf \"%0999d\" 1}}}}{}", "{{printf \"%999s\" .id}}".repeat(2000));
    for template in [
        loops.as_str(),
        &deep,
        &long,
        "{{env \"CANARY\"}}",
        "/x/{{.CANARY}}",
        "/x/{{ CANARY }}",
        "{% include '/etc/passwd' %}{{.x}}",
        "{{../../../../id}}",
        "{{index .many 99}}",
        "{{template \"x\"}}",
        "{{call .id}}",
    ] {
        let repo = hostile(".", template);
        let started = Instant::now();
        let ran = run(outcrop(&repo, &["metadata", "render", "/c/a", "get"]).env("CANARY", "tweet-tweet"));
        assert_eq!(ran.code, 2, "{template:.40}: {ran:?}");
        assert!(!format!("{ran:?}").contains("tweet-tweet") && !format!("{ran:?}").contains("root:"), "{ran:?}");
        assert!(started.elapsed() < Duration::from_secs(60), "{template:.40} took {:?}", started.elapsed());
    }
}

#[test]
fn all_programs_of_a_run_share_one_allowance() {
    let repo = hostile("[.[] | select(.id > 0)]", "/x/{{.id}}");
    assert_eq!(first_line(&repo, &["/c/", "list"]), "GET /c");
    repo.write("outcrop.yaml", "limits: {request_steps: 20}");
    let ran = render(&repo, &["/c/", "list"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("take too many steps together") && ran.stderr.contains("request_steps"), "{ran:?}");
    repo.write("outcrop.yaml", "limits: {request_steps: 0}");
    let ran = render(&repo, &["/c/a"]);
    assert!(ran.code == 2 && ran.stderr.contains("limit/expression"), "{ran:?}");
}

#[test]
fn a_path_that_names_its_segments_anew_changes_every_request_that_reads_the_name() {
    let repo = TestRepo::new();
    let layer = |update: &str| {
        let get = "/x/{{.zone}}/{{.id}}";
        format!("operationInfo:\n  updateResource: {{path: \"{update}\"}}\n  getResource: {{path: \"{get}\"}}\n")
    };
    repo.write("realms/_/clients/_/metadata.yaml", layer("/{{.zone}}/acme/clients/{{.id}}"));
    repo.write("realms/acme/clients/web/resource.yaml", "id: 7\n");
    repo.commit_all("one");
    repo.write("realms/_/clients/_/metadata.yaml", layer("/realms/{{.zone}}/clients/{{.id}}"));
    repo.commit_all("two");
    let ran = run(&mut outcrop(&repo, &["diff", "--only", "requests", "HEAD~1", "HEAD"])).ends_with(0);
    ran.says("get request › .path").says("/x/realms/7 → /x/acme/7");
}

#[test]
fn a_part_that_cannot_be_made_does_not_hide_the_others() {
    let repo = TestRepo::new();
    let layer = |version: &str| {
        let header = "httpHeaders: [{name: X-Gone, value: \"{{.gone}}\"}]";
        format!("operationInfo:\n  updateResource:\n    path: \"/{version}/{{{{.id}}}}\"\n    {header}\n")
    };
    repo.write("c/_/metadata.yaml", layer("v1"));
    repo.write("c/one/resource.yaml", "id: 7\n");
    repo.commit_all("one");
    repo.write("c/_/metadata.yaml", layer("v2"));
    repo.commit_all("two");
    let ran = run(&mut outcrop(&repo, &["diff", "--only", "requests", "HEAD~1", "HEAD"]));
    ran.says("update request › .path").says("/v1/7 → /v2/7");
}

/// A collection whose bodies have to match the schema of an OpenAPI document.
fn customers() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "roots: [{path: ., layout: declarest}]\nopenapi: api.yaml\n");
    repo.write(
        "api.yaml",
        "paths:
  /customers:
    post: {requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Customer'}}}}}
components:
  schemas:
    Customer:
      type: object
      required: [name]
      properties:
        name: {type: string}
        age:
          minimum: 18
",
    );
    repo.write(
        "customers/_/metadata.yaml",
        "operationInfo:
  createResource:
    validate:
      schemaRef: openapi:request-body
",
    );
    repo.write("customers/acme/resource.yaml", "name: Acme\nage: 20\n");
    repo.commit_all("customers");
    repo
}

#[test]
fn bodies_are_checked_against_their_schema() {
    let repo = customers();
    render(&repo, &["/customers/acme", "create"]).ends_with(0).does_not_say("request/schema");
    repo.write("customers/acme/resource.yaml", "name: 5\nage: 17\n");
    repo.commit_all("wrong");
    let found = |ran: Ran| {
        ran.says("request/schema")
            .says("the body of POST /customers does not match its schema at $.name: expected string, found number")
            .says("the body of POST /customers does not match its schema at $.age: expected at least 18")
            .says("customers/acme/resource.yaml:2:6")
            .says("api.yaml:12:20")
    };
    found(render(&repo, &["/customers/acme", "create"]));
    found(run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])));
}

#[test]
fn schemas_that_cannot_be_used_are_reported() {
    let repo = customers();
    let create = |repo: &TestRepo| render(repo, &["/customers/acme", "create"]);
    repo.write("outcrop.yaml", "roots: [{path: ., layout: declarest}]\n");
    repo.commit_all("without a document");
    create(&repo).says("request/schema").says("there is no OpenAPI document");
    repo.write("outcrop.yaml", "roots: [{path: ., layout: declarest}]\nopenapi: api.yaml\n");
    let endless =
        "paths: {/customers: {post: {requestBody: {content: {x: {schema: {$ref: '#/components/schemas/A'}}}}}}}
components: {schemas: {A: {allOf: [{$ref: '#/components/schemas/A'}]}}}
";
    repo.write("api.yaml", endless);
    repo.commit_all("endless");
    create(&repo).says("limit/schema").says("refers to itself without end");
}
