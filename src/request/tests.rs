//! Requests of resources in the shape of a Keycloak server, written for these tests, and what must never be sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::document;
use crate::finding::{Finding, Outcome};
use crate::limits::Limits;
use crate::metadata::openapi::ApiDocument;
use crate::metadata::{self, Layers, Operation};
use crate::path::RepoPath;
use crate::report;
use crate::snapshot::MemorySnapshot;
use crate::text::SourceText;
use crate::value::{Secret, Value};

/// Metadata files and payloads by path.
struct World {
    snapshot: MemorySnapshot,
    payloads: BTreeMap<LogicalPath, Node>,
    sources: Sources,
    limits: Limits,
    memo: CompiledTemplates,
}

const REGISTRY: &str = "
resourceInfo:
  collectionPath: /admin/realms/{{.realm}}/components
  idFromAttribute: id
  aliasFromAttribute: name
  secretInAttributes: [config.bindCredential]
operationInfo:
  getResource: {path: './{{.id}}'}
";
const MAPPERS: &str = "
operationInfo:
  listCollection:
    payload:
      jqExpression: '[ .[] | select(.parentId == (resource(\"/admin/realms/{{.realm}}/user-registry/{{.provider}}/\") | .id)) ]'
";
const EXECUTIONS: &str = "
resourceInfo:
  collectionPath: /admin/realms/{{.realm}}/authentication/flows/{{.flow}}/executions
  idFromAttribute: id
operationInfo:
  createResource:
    path: ./execution
    payload:
      jqExpression: .provider = .providerId
      suppressAttributes: [providerId]
    validate:
      requiredAttributes: [realm, provider]
      assertions: [{message: the name is blank, jq: .displayName != \"\"}]
  updateResource: {path: .}
  deleteResource: {path: '/admin/realms/{{.realm}}/authentication/executions/{{.id}}'}
  getResource: {path: '/admin/realms/{{.realm}}/authentication/executions/{{.id}}'}
";

impl World {
    fn new(files: &[(&str, &str)], payloads: &[(&str, &str)]) -> Self {
        let snapshot = files.iter().fold(MemorySnapshot::new("test"), |snapshot, (path, text)| {
            snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes().to_vec())
        });
        let mut world = Self {
            snapshot,
            payloads: BTreeMap::new(),
            sources: Sources::default(),
            limits: Limits::default(),
            memo: CompiledTemplates::default(),
        };
        for (path, text) in payloads {
            let payload = world.read(text);
            world.payloads.insert(LogicalPath::parse(path).unwrap(), payload);
        }
        world
    }

    fn keycloak() -> Self {
        Self::new(
            &[
                ("admin/realms/_/user-registry/_/metadata.yaml", REGISTRY),
                ("admin/realms/_/user-registry/_/mappers/_/metadata.yaml", MAPPERS),
                ("admin/realms/_/authentication/flows/_/executions/_/metadata.yaml", EXECUTIONS),
            ],
            &[
                (
                    "/admin/realms/acme/authentication/flows/test/executions/Cookie",
                    "{id: e-1, displayName: Cookie, providerId: auth-cookie}",
                ),
                ("/admin/realms/acme/user-registry/AD PRD", "{id: u-1, name: AD PRD}"),
                ("/admin/realms/acme/user-registry/AD PRD/mappers/email", "{id: m-1, name: email, parentId: u-1}"),
                ("/admin/realms/acme/user-registry/AD PRD/mappers/phone", "{id: m-2, name: phone, parentId: other}"),
            ],
        )
    }

    fn read(&self, text: &str) -> Node {
        let source = self.sources.add(SourceText::new(RepoPath::new("payload.yaml").unwrap(), "test", text));
        document::parse(text, source, document::Format::Yaml, &self.limits).value.remove(0).root
    }

    fn with<T>(&self, path: &str, use_target: impl FnOnce(&RequestTarget<'_>) -> T) -> T {
        let path = LogicalPath::parse(path).unwrap();
        let null = self.read("null");
        let metadata = self.metadata(&path).unwrap();
        use_target(&RequestTarget {
            path: &path,
            payload: self.payloads.get(&path).unwrap_or(&null),
            metadata: &metadata,
            format: Format::Json,
            file_type: None,
            lookup: self,
            sources: &self.sources,
            memo: &self.memo,
        })
    }

    fn request(&self, path: &str, operation: Operation) -> Result<Request, Vec<Finding>> {
        let outcome = self.with(path, |target| request(target, operation));
        match (outcome.value, outcome.findings.is_empty()) {
            (Some(request), true) => Ok(request),
            _ => Err(outcome.findings),
        }
    }

    fn line(&self, path: &str, operation: Operation) -> String {
        match self.request(path, operation) {
            Ok(request) => format!("{} {}", request.method.text, request.path.text),
            Err(findings) => findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("\n"),
        }
    }
}

impl ResourceLookup for World {
    fn payload(&self, path: &LogicalPath) -> Option<Node> {
        self.payloads.get(path).cloned()
    }

    fn children(&self, collection: &LogicalPath) -> Vec<(LogicalPath, Node)> {
        let below = self.payloads.iter().filter(|(path, _)| path.parent().as_ref() == Some(collection));
        below.map(|(path, payload)| (path.clone(), payload.clone())).collect()
    }

    fn metadata(&self, path: &LogicalPath) -> Option<Arc<EffectiveMetadata>> {
        let layers = Layers::new(&self.snapshot, RepoPath::root(), &self.sources, &self.limits);
        let resolved = metadata::resolve(path, &layers);
        assert!(resolved.findings.is_empty(), "{:?}", resolved.findings);
        Some(Arc::new((*resolved.value).clone()))
    }

    fn openapi(&self) -> Outcome<Option<Arc<ApiDocument>>> {
        Outcome::clean(None)
    }
}

const EXECUTION: &str = "/admin/realms/acme/authentication/flows/test/executions/Cookie";

#[test]
fn requests_of_an_execution() {
    let world = World::keycloak();
    let base = "/admin/realms/acme/authentication";
    let line = |operation| world.line(EXECUTION, operation);
    assert_eq!(line(Operation::Create), format!("POST {base}/flows/test/executions/execution"));
    assert_eq!(line(Operation::Update), format!("PUT {base}/flows/test/executions"));
    assert_eq!(line(Operation::Delete), format!("DELETE {base}/executions/e-1"));
    assert_eq!(line(Operation::Get), format!("GET {base}/executions/e-1"));
    let created = world.request(EXECUTION, Operation::Create).unwrap();
    let body = created.body.unwrap();
    assert!(body.is_equal(&world.read("{id: e-1, displayName: Cookie, provider: auth-cookie}")), "{body:?}");
}

#[test]
fn requests_below_a_collection_of_another_name() {
    let world = World::keycloak();
    assert_eq!(
        world.line("/admin/realms/acme/user-registry/AD PRD", Operation::Get),
        "GET /admin/realms/acme/components/u-1"
    );
    let mapper = "/admin/realms/acme/user-registry/AD PRD/mappers/email";
    assert_eq!(world.line(mapper, Operation::Delete), "DELETE /admin/realms/acme/components/m-1");
}

#[test]
fn a_list_finds_its_parent_by_name() {
    let world = World::keycloak();
    let listed = |path: &str| {
        world.with(path, |target| {
            let outcome = list(&list_response(target), target);
            let names: Vec<String> = outcome.value.iter().map(|item| item.path.as_str().to_owned()).collect();
            (names, outcome.findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>())
        })
    };
    let mappers = "/admin/realms/acme/user-registry/AD PRD/mappers";
    assert_eq!(listed(mappers), (vec![format!("{mappers}/email")], vec![]));
    // The parent answers to its id as well.
    let by_id = World { payloads: BTreeMap::new(), ..World::keycloak() };
    let mut payloads = world.payloads.clone();
    let moved: Vec<(LogicalPath, Node)> = payloads
        .iter()
        .filter(|(path, _)| path.as_str().contains("mappers"))
        .map(|(path, payload)| (LogicalPath::parse(&path.as_str().replace("AD PRD", "u-1")).unwrap(), payload.clone()))
        .collect();
    payloads.extend(moved);
    let by_id = World { payloads, ..by_id };
    by_id.with("/admin/realms/acme/user-registry/u-1/mappers", |target| {
        let outcome = list(&list_response(target), target);
        assert_eq!(outcome.value.len(), 1, "{:?}", outcome.findings);
    });
    let (names, findings) = listed("/admin/realms/acme/user-registry/missing/mappers");
    assert!(names.is_empty() && findings.len() <= 1);
}

#[test]
fn lists_have_many_shapes() {
    let world =
        World::new(&[("c/_/metadata.yaml", "resourceInfo: {idFromAttribute: id, aliasFromAttribute: name}")], &[]);
    let listed = |response: &str| {
        world.with("/c", |target| {
            let outcome = list(&world.read(response), target);
            match outcome.findings.first() {
                Some(finding) => format!("{}: {}", finding.rule.id, finding.message),
                None => outcome
                    .value
                    .iter()
                    .map(|item| format!("{}={}", item.path, item.identity.remote_id))
                    .collect::<Vec<_>>()
                    .join(" "),
            }
        })
    };
    assert_eq!(listed("[{id: 2, name: b}, {id: 1, name: a}]"), "/c/a=1 /c/b=2");
    assert_eq!(listed("{items: [{name: a}], other: []}"), "/c/a=a");
    assert_eq!(listed("{total: 1, clients: [{id: x}]}"), "/c/x=x");
    assert_eq!(listed("[]"), "");
    for (response, rule) in [
        (
            "{a: [], b: []}",
            "request/list: the list of /c cannot be read: several fields of the response are lists: a, b",
        ),
        ("{a: 1}", "request/list: "),
        ("{items: {}}", "request/list: "),
        ("[1]", "request/list: "),
        ("text", "request/list: "),
        ("[{other: 1}]", "metadata/identity: "),
        ("[{id: 1, name: a}, {id: 2, name: a}]", "metadata/ambiguous: two items of a list have the alias `a`"),
    ] {
        assert!(listed(response).starts_with(rule), "{response}: {}", listed(response));
    }
}

#[test]
fn everything_wrong_is_said_at_once_with_field_and_path() {
    let metadata = "
operationInfo:
  createResource:
    httpMethod: '{{.a}}'
    path: /x/{{.b}}
    query: {q: '{{../c}}'}
    httpHeaders: [{name: X-D, value: '{{.d'}, {name: Accept, value: '{{.e}}'}]
    payload: {jqExpression: '.[0] | {{.f}}'}
";
    let world = World::new(&[("c/_/metadata.yaml", metadata)], &[("/c/r", "{id: 1}")]);
    let findings = world.request("/c/r", Operation::Create).unwrap_err();
    let template: Vec<&str> = findings.iter().map(|finding| finding.message.as_str()).collect();
    let fields = ["`method`", "`path`", "`query.q`", "`headers.X-D`", "`accept`", "`jq`"];
    assert_eq!(template.len(), fields.len(), "{template:#?}");
    for (message, field) in template.iter().zip(fields) {
        assert!(message.contains(field) && message.contains("/c/r"), "{message}");
    }
    let crate::finding::Location::Span(span) = findings[1].location else { panic!("a place") };
    assert_eq!(&metadata[span.range()], ".b");
}

#[test]
fn what_must_not_be_sent_is_refused() {
    let refused = |metadata: &str, payload: &str, operation| {
        let world = World::new(&[("c/_/metadata.yaml", metadata)], &[("/c/r", payload)]);
        world.request("/c/r", operation).err().map(|findings| findings[0].rule.id)
    };
    for id in ["../up", "''", "null", "' '", ".", "[]", "{a: 1}"] {
        assert_eq!(refused("{}", &format!("{{id: {id}}}"), Operation::Delete), Some("expression/template"), "{id}");
    }
    assert_eq!(refused("{}", "{id: a/b}", Operation::Get), None);
    let header = "operationInfo: {getResource: {httpHeaders: [{name: X, value: '{{.v}}'}]}}";
    assert_eq!(refused(header, "{v: \"a\\r\\nEvil: 1\"}", Operation::Get), Some("request/header"));
    assert_eq!(refused(header, "{v: null}", Operation::Get), Some("expression/template"));
    assert_eq!(refused(header, "{v: ''}", Operation::Get), None);
    let method = "operationInfo: {getResource: {httpMethod: '{{.v}}'}}";
    assert_eq!(refused(method, "{v: 'GET /x HTTP/1.1'}", Operation::Get), Some("request/header"));
    let filter = "operationInfo: {createResource: {payload: {filterAttributes: [a]}}}";
    assert_eq!(refused(filter, "[1]", Operation::Create), Some("request/payload"));
    let endless = "operationInfo: {updateResource: {payload: {jqExpression: 'def f: f; f'}}}";
    assert_eq!(refused(endless, "{}", Operation::Update), Some("limit/expression"));
    assert_eq!(refused(endless, "{}", Operation::Create), None);
}

#[test]
fn names_have_their_order_of_strength() {
    let metadata = "
resourceInfo: {collectionPath: '/api/{{.project}}/x', aliasFromAttribute: slug}
operationInfo: {getResource: {path: './{{.id}}', query: {l: '{{.logicalPath}}', c: '{{.collectionPath}}', a: '{{.alias}}', p: '{{.payload.slug}}', f: '{{.resourceFormat}}'}}}
";
    let world = World::new(
        &[("projects/_/jobs/_/metadata.yaml", metadata)],
        &[("/projects/p1/jobs/j1", "{slug: s, logicalPath: mine}")],
    );
    let request = world.request("/projects/p1/jobs/j1", Operation::Get).unwrap();
    let query: Vec<(&str, &str)> =
        request.query.iter().map(|(name, part)| (name.as_str(), part.text.as_str())).collect();
    assert_eq!(query, [("a", "s"), ("c", "/api/p1/x"), ("f", "json"), ("l", "mine"), ("p", "s")]);
    assert_eq!(request.path.text, "/api/p1/x/s");
    assert_eq!(request.collection.uses[0].origin, Some(ScopeOrigin::Path(None)), "only the collection's name says it");
    assert_eq!(request.path.uses[0].origin, Some(ScopeOrigin::Context));
    assert!(matches!(request.query[3].1.uses[0].origin, Some(ScopeOrigin::Payload(_))));
    assert!(request.path.by.is_some() && request.method.by.is_none());
}

#[test]
fn media_headers_follow_the_format_unless_they_are_set_or_cleared() {
    let headers = |metadata: &str| {
        let world = World::new(&[("c/_/metadata.yaml", metadata)], &[("/c/r", "{id: 1}")]);
        let request = world.request("/c/r", Operation::Update).unwrap();
        request.headers.iter().map(|(name, part)| format!("{name}: {}", part.text)).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(headers("{}"), "Accept: application/json, Content-Type: application/json");
    let set = "operationInfo: {updateResource: {httpHeaders: [{name: accept, value: 'a/{{resource_format .}}'}, {name: X-A, value: '1'}]}}";
    assert_eq!(headers(set), "Accept: a/json, Content-Type: application/json, X-A: 1");
    assert_eq!(
        headers("operationInfo: {updateResource: {httpHeaders: [{name: Accept, value: null}]}}"),
        "Content-Type: application/json"
    );
}

#[test]
fn bodies_are_validated_with_what_the_path_says() {
    let world = World::keycloak();
    let with = |payload: &str| {
        let mut payloads = world.payloads.clone();
        payloads.insert(LogicalPath::parse(EXECUTION).unwrap(), world.read(payload));
        let world = World { payloads, ..World::keycloak() };
        world.line(EXECUTION, Operation::Create)
    };
    assert!(with("{displayName: x, provider: p, providerId: p}").starts_with("POST"));
    assert!(with("{displayName: x}").contains("missing required attributes [provider]"));
    assert!(with("{displayName: '', providerId: p}").contains("the name is blank"));
}

#[test]
fn reports_show_the_request_and_never_a_secret() {
    let metadata = "operationInfo: {createResource: {query: {t: '{{.token}}'}, httpHeaders: [{name: X-Token, value: 'Bearer {{.token}}'}], payload: {jqExpression: '.auth = \"x\" + .token'}}}";
    let mut world = World::new(&[("c/_/metadata.yaml", metadata)], &[]);
    let plain = world.read("{id: r 1, token: hunter2}");
    let hidden = |entry: &crate::value::Entry| match entry.key.name.as_str() {
        "token" => crate::value::Entry {
            value: Node::new(Value::Secret(Secret::hide(entry.value.clone())), plain.span),
            ..entry.clone()
        },
        _ => entry.clone(),
    };
    let entries = plain.as_map().unwrap().entries().iter().map(hidden).collect();
    world.payloads.insert(LogicalPath::parse("/c/r").unwrap(), Node::map(entries, plain.span));
    let request = world.request("/c/r", Operation::Create).unwrap();
    let rendered = crate::side::RenderedRequest::alone(request.clone());
    assert!(rendered.hides_secrets());
    let rendered = [rendered];
    let mut text = Vec::new();
    let style = report::Style { verbosity: 1, ..report::Style::default() };
    report::request::write(&rendered, Format::Json, &world.sources, &style, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let json = document::write::to_json(&report::request::to_node(&rendered[0], &world.sources));
    let curl = report::request::curl(&request, Format::Json);
    for shown in [&text, &json, &curl, &format!("{request:?}")] {
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    assert!(text.starts_with("POST /c\n  ?t={{secret .}}\n"), "{text}");
    assert!(text.contains("from Bearer {{.token}}") && text.contains("\"auth\": \"•••\""), "{text}");
    assert!(
        curl.starts_with("curl -X POST \"$SERVER\"'/c?t=%7B%7Bsecret%20.%7D%7D' -H 'Accept: application/json'"),
        "{curl}"
    );
    assert!(json.contains("\"layer\": \"c/_/metadata.yaml\""), "{json}");
}
