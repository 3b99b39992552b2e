//! Layers over whole trees: order, clearing, provenance, plans, and the laws they keep.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::plan::{self, EditPlan, FileEdit};
use super::*;
use crate::document::write;
use crate::finding::{Finding, Severity};
use crate::glob::is_glob;
use crate::limits::Limits;
use crate::names::Format;
use crate::path::{LogicalPath, RepoPath};
use crate::snapshot::{Entry, Listing, MemorySnapshot, Snapshot, Unreadable};
use crate::testing::read as node;
use crate::text::Sources;
use crate::value::Node;

type Files = BTreeMap<String, String>;

fn files(given: &[(&str, &str)]) -> Files {
    given.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn snapshot(files: &Files) -> MemorySnapshot {
    files.iter().fold(MemorySnapshot::new("test"), |snapshot, (path, text)| {
        snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes())
    })
}

fn logical(path: &str) -> LogicalPath {
    LogicalPath::parse(path).unwrap()
}

fn with_layers<T>(snapshot: &dyn Snapshot, act: impl FnOnce(&Layers<'_>) -> T) -> T {
    let (sources, limits) = (Sources::default(), Limits::default());
    act(&Layers::new(snapshot, RepoPath::root(), &sources, &limits))
}

fn resolved(given: &[(&str, &str)], path: &str) -> (String, Vec<Finding>) {
    with_layers(&snapshot(&files(given)), |layers| {
        let outcome = resolve(&logical(path), layers);
        (write::to_inline(&outcome.value.to_node()), outcome.findings)
    })
}

fn check(given: &[(&str, &str)], path: &str, wanted: &str) {
    let (shown, findings) = resolved(given, path);
    assert!(findings.is_empty(), "{findings:?}");
    assert_eq!(shown, wanted);
}

fn get(fields: &str) -> String {
    format!("operationInfo: {{getResource: {{{fields}}}}}")
}

#[test]
fn depth_beats_kind_and_bytes_break_ties() {
    let id = |id: &str| format!("resourceInfo: {{idFromAttribute: {id}}}");
    let order = |selectors: &[&str], path: &str| {
        let given: Files = selectors
            .iter()
            .map(|selector| (format!("{selector}/_/metadata.yaml"), id(&format!("x{selector}"))))
            .collect();
        with_layers(&snapshot(&given), |layers| {
            let metadata = resolve(&logical(path), layers).value;
            let shown: Vec<String> = metadata.layers().iter().filter_map(|layer| selector_of(layer)).collect();
            shown
        })
    };
    assert_eq!(order(&["a/b", "a/b/_"], "/a/b/c"), ["/a/b", "/a/b/_"]);
    assert_eq!(order(&["a/b/c", "_/b/c", "_/_/c", "a/_/c"], "/a/b/c/d"), ["/_/_/c", "/_/b/c", "/a/_/c", "/a/b/c"]);
    assert_eq!(order(&["1/c", "_/c"], "/1/c/d"), ["/1/c", "/_/c"]);
    assert_eq!(order(&["customers/*", "customers/a*"], "/customers/acme"), ["/customers/*", "/customers/a*"]);
    assert_eq!(
        order(&["customers/a*", "customers/acme", "customers/_"], "/customers/acme"),
        ["/customers/_", "/customers/a*", "/customers/acme"]
    );
}

fn selector_of(layer: &Layer) -> Option<String> {
    match &layer.origin {
        LayerOrigin::File { selector, .. } => Some(selector.to_string()),
        _ => None,
    }
}

#[test]
fn the_root_speaks_for_all_and_a_resource_for_itself_alone() {
    let given = [
        ("_/metadata.yaml", "resourceInfo: {idFromAttribute: root}"),
        ("customers/acme/metadata.json", "{\"resourceInfo\": {\"aliasFromAttribute\": \"own\"}}"),
    ];
    check(&given, "/customers/acme/orders/o1", "{resourceInfo: {idFromAttribute: root}}");
    check(&given, "/customers/acme", "{resourceInfo: {idFromAttribute: root, aliasFromAttribute: own}}");
    check(&given, "/", "{resourceInfo: {idFromAttribute: root}}");
}

#[test]
fn maps_merge_by_key_and_an_empty_one_replaces_all() {
    let base = get("query: {a: '1', b: '2'}, headers: {X-A: '1', Accept: a/b}");
    let over = |fields: &str| resolved(&[("x/_/metadata.yaml", &base), ("x/y/metadata.yaml", &get(fields))], "/x/y").0;
    let headers = "httpHeaders: [{name: Accept, value: a/b}, {name: X-A, value: \"1\"}]";
    let expect = |fields: &str| format!("{{operationInfo: {{getResource: {{{fields}}}}}}}");
    assert_eq!(over("query: {b: '3', c: '4'}"), expect(&format!("query: {{a: \"1\", b: \"3\", c: \"4\"}}, {headers}")));
    assert_eq!(over("query: {}"), expect(&format!("query: {{}}, {headers}")));
    let query = "query: {a: \"1\", b: \"2\"}";
    assert_eq!(over("httpHeaders: []"), expect(&format!("{query}, httpHeaders: [{{name: Accept, value: a/b}}]")));
    assert_eq!(over("accept: c/d"), expect(&format!("{query}, {}", headers.replace("a/b", "c/d"))));
}

#[test]
fn null_clears_at_every_level() {
    let base = "{resourceInfo: {idFromAttribute: id, secretInAttributes: [s]}, operationInfo: {\
                defaults: {payload: {jqExpression: .d}}, \
                getResource: {path: /p, query: {a: '1', b: '2'}, headers: {X-A: '1', X-B: '2', Accept: a}, \
                payload: {filterAttributes: [f], jqExpression: .j}, validate: {requiredAttributes: [r], schemaRef: 'openapi:#/x'}}}}";
    let over = |text: &str| resolved(&[("x/_/metadata.yaml", base), ("x/y/metadata.yaml", text)], "/x/y").0;
    let without = |left_out: &[&str]| {
        let whole = resolved(&[("x/_/metadata.yaml", base)], "/x/y").0;
        left_out.iter().fold(whole, |text, part| {
            assert!(text.contains(part), "{text} has no {part}");
            text.replacen(part, "", 1)
        })
    };
    assert_eq!(over("resourceInfo: {idFromAttribute: null}"), without(&["idFromAttribute: id, "]));
    assert_eq!(
        over("resourceInfo: null"),
        without(&["resourceInfo: {idFromAttribute: id, secretInAttributes: [s]}, "])
    );
    assert_eq!(over(&get("query: {a: null}")), without(&["a: \"1\", "]));
    assert_eq!(over(&get("query: null")), without(&["query: {a: \"1\", b: \"2\"}, "]));
    let (xa, xb) = ("{name: X-A, value: \"1\"}", "{name: X-B, value: \"2\"}");
    assert_eq!(over(&get("httpHeaders: [{name: x-a, value: null}]")), without(&[&format!("{xa}, ")]));
    assert_eq!(over(&get("headers: {X-A: null, X-B: null}")), without(&[&format!(", {xa}, {xb}")]));
    assert_eq!(over(&get("httpHeaders: null")), without(&[&format!(", {xa}, {xb}")]));
    assert_eq!(over(&get("accept: null")), without(&["{name: Accept, value: a}, "]));
    assert_eq!(over(&get("payload: null")), without(&[", payload: {filterAttributes: [f], jqExpression: .j}"]));
    assert_eq!(over(&get("payload: {jqExpression: null}")), without(&[", jqExpression: .j"]));
    assert_eq!(
        over(&get("validate: null")),
        without(&[", validate: {requiredAttributes: [r], schemaRef: openapi:#/x}"])
    );
    assert_eq!(over("operationInfo: {defaults: null}"), without(&["defaults: {payload: {jqExpression: .d}}, "]));
    assert_eq!(
        over("operationInfo: {getResource: null}"),
        "{resourceInfo: {idFromAttribute: id, secretInAttributes: [s]}, operationInfo: {defaults: {payload: {jqExpression: .d}}}}"
    );
    assert_eq!(over("operationInfo: null"), "{resourceInfo: {idFromAttribute: id, secretInAttributes: [s]}}");
    // The document `null` says nothing, and so does an empty text.
    assert_eq!(over("null"), without(&[]));
    assert_eq!(over("resourceInfo: {idFromAttribute: ''}"), without(&[]));
}

#[test]
fn what_was_cleared_can_be_set_again() {
    let given = [
        ("_/metadata.yaml", get("query: {a: '1'}, path: /1")),
        ("x/_/metadata.yaml", get("query: null, path: null")),
        ("x/y/metadata.yaml", get("query: {b: '2'}")),
    ];
    let given: Vec<(&str, &str)> = given.iter().map(|(path, text)| (*path, text.as_str())).collect();
    check(&given, "/x/y", "{operationInfo: {getResource: {query: {b: \"2\"}}}}");
}

#[test]
fn the_order_of_transforms_is_merged() {
    let transform = |text: &str| format!("operationInfo: {{defaults: {{payload: {{{text}}}}}}}");
    let (first, second) = (transform("jq: .a, suppress: [b]"), get("payload: {filter: [c]}"));
    let given = files(&[("_/metadata.yaml", &first), ("x/metadata.yaml", &second)]);
    with_layers(&snapshot(&given), |layers| {
        let metadata = resolve(&logical("/x"), layers).value;
        let fields: Vec<Field> = metadata.transforms(Operation::Get).into_iter().map(|step| step.kind).collect();
        assert_eq!(fields, [Field::Jq, Field::Suppress, Field::Filter]);
        let shared: Vec<Field> = metadata.transforms(Operation::List).into_iter().map(|step| step.kind).collect();
        assert_eq!(shared, [Field::Jq, Field::Suppress]);
    });
}

#[test]
fn every_value_knows_who_set_it_and_whom_it_overrode() {
    let given = [
        ("_/metadata.yaml", "resourceInfo:\n  idFromAttribute: root\n"),
        ("x/_/metadata.yaml", "resourceInfo:\n  idFromAttribute: null\n"),
        ("x/y/metadata.yaml", "resourceInfo:\n  aliasFromAttribute: a\n  idFromAttribute: own\n"),
    ];
    let (sources, limits) = (Sources::default(), Limits::default());
    let snapshot = snapshot(&files(&given));
    let layers = Layers::new(&snapshot, RepoPath::root(), &sources, &limits);
    let metadata = resolve(&logical("/x/y"), &layers).value;
    let provenance = metadata.provenance(&FieldPath::new(Section::Resource, Field::IdFromAttribute)).unwrap();
    let shown = |entry: &EffectiveEntry| {
        let text = sources.get(entry.at.source);
        let value = entry.value().map_or("-", |node| node.as_str().unwrap_or("?")).to_owned();
        (text.path.to_string(), text.line_column(entry.at.start as usize).0, value)
    };
    assert_eq!(shown(provenance.winner), ("x/y/metadata.yaml".to_owned(), 3, "own".to_owned()));
    let overridden: Vec<_> = provenance.overridden.iter().map(|entry| shown(entry)).collect();
    assert_eq!(
        overridden,
        [("x/_/metadata.yaml".to_owned(), 2, "-".to_owned()), ("_/metadata.yaml".to_owned(), 2, "root".to_owned())]
    );
}

#[test]
fn one_bad_layer_makes_the_whole_incomplete_but_not_useless() {
    let given =
        [("_/metadata.yaml", "resourceInfo: {idFromAttribute: id}"), ("x/_/metadata.yaml", "resourceInfo: {oops: 1}")];
    with_layers(&snapshot(&files(&given)), |layers| {
        let outcome = resolve(&logical("/x/y"), layers);
        assert!(!outcome.value.is_complete());
        assert_eq!(outcome.value.text(Section::Resource, Field::IdFromAttribute), Some("id"));
        assert_eq!(outcome.findings.len(), 1);
        assert!(resolve(&logical("/other"), layers).value.is_complete());
    });
    for (text, rule) in [
        ("", "metadata/invalid"),
        ("# only a comment\n", "metadata/invalid"),
        ("a: [", "document/syntax"),
        ("{}\n---\n{}\n", "metadata/invalid"),
        ("\u{feff}{}", ""),
    ] {
        let (_, findings) = resolved(&[("_/metadata.yaml", text)], "/x");
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.id).collect();
        assert_eq!(rules.first().copied().unwrap_or_default(), rule, "{text:?}");
    }
}

#[test]
fn yaml_is_preferred_and_a_second_file_is_said() {
    let id = |id: &str| format!("{{\"resourceInfo\": {{\"idFromAttribute\": \"{id}\"}}}}");
    let given = [("x/metadata.json", id("json")), ("x/metadata.yml", id("yml")), ("x/metadata.yaml", id("yaml"))];
    let given: Vec<(&str, &str)> = given.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (shown, findings) = resolved(&given, "/x");
    assert_eq!(shown, "{resourceInfo: {idFromAttribute: yaml}}");
    let rules: Vec<(&str, Severity)> = findings.iter().map(|finding| (finding.rule.id, finding.severity)).collect();
    assert_eq!(rules, [("metadata/two-files", Severity::Warning); 2]);
}

#[test]
fn paths_that_stand_for_other_paths_are_refused() {
    with_layers(&MemorySnapshot::new("test"), |layers| {
        let path = LogicalPath::of_directory(&RepoPath::new("a/b*").unwrap()).unwrap();
        let outcome = resolve(&path, layers);
        assert_eq!(outcome.findings[0].rule.id, "metadata/path");
        assert!(!outcome.value.is_complete());
    });
    let (shown, findings) = resolved(&[("a/[b/_/metadata.yaml", "{}")], "/a/b");
    assert_eq!((shown.as_str(), findings[0].rule.id), ("{}", "metadata/selector"));
}

#[test]
fn a_path_of_a_million_segments_is_no_trouble() {
    let path = "/a".repeat(1_000_000);
    check(&[("_/metadata.yaml", "operationInfo: {}")], &path, "{operationInfo: {}}");
}

#[test]
fn metadata_may_have_a_root_of_its_own() {
    let given = files(&[
        ("meta/x/_/metadata.yaml", "resourceInfo: {idFromAttribute: right}"),
        ("x/_/metadata.yaml", "resourceInfo: {idFromAttribute: wrong}"),
    ]);
    let (snapshot, sources, limits) = (snapshot(&given), Sources::default(), Limits::default());
    let layers = Layers::new(&snapshot, RepoPath::new("meta").unwrap(), &sources, &limits);
    let metadata = resolve(&logical("/x/y"), &layers).value;
    assert_eq!(metadata.text(Section::Resource, Field::IdFromAttribute), Some("right"));
    assert_eq!(selector_of(&metadata.layers()[0]).as_deref(), Some("/x"));
}

fn applied(mut files: Files, plan: &EditPlan) -> Files {
    for edit in &plan.edits {
        match edit {
            FileEdit::Write { path, text } => files.insert(path.to_str().unwrap().to_owned(), text.clone()),
            FileEdit::Remove { path } => files.remove(path.to_str().unwrap()),
        };
    }
    files
}

fn set(files: &Files, path: &str, document: &str) -> Result<Files, Vec<Finding>> {
    let path = MetadataPath::parse(path).unwrap();
    with_layers(&snapshot(files), |layers| {
        plan::replace(&path, &node(document), layers, Format::Json).map(|plan| applied(files.clone(), &plan))
    })
}

#[test]
fn a_file_keeps_its_name_and_a_new_one_has_the_format_of_the_layers_around() {
    let given = files(&[("a/_/metadata.yml", "{}")]);
    let after = set(&given, "/a/", "idFromAttribute: id").unwrap();
    assert_eq!(after["a/_/metadata.yml"], "resourceInfo:\n  idFromAttribute: id\n");
    let after = set(&given, "/a", "idFromAttribute: id").unwrap();
    assert_eq!(after["a/metadata.yml"], "resourceInfo:\n  idFromAttribute: id\n");
    let after = set(&files(&[]), "/a", "idFromAttribute: id").unwrap();
    assert_eq!(after["a/metadata.json"], "{\n  \"resourceInfo\": {\n    \"idFromAttribute\": \"id\"\n  }\n}\n");
}

#[test]
fn a_rewrite_that_would_bring_back_a_cleared_value_is_refused() {
    let rule = |result: Result<Files, Vec<Finding>>| result.map_err(|findings| findings[0].rule.id);
    let given = files(&[
        ("_/metadata.yaml", "resourceInfo: {idFromAttribute: id}"),
        ("a/metadata.yaml", "resourceInfo: {idFromAttribute: null}"),
        ("b/metadata.yaml", "resourceInfo: {aliasFromAttribute: null}"),
    ]);
    // The null is in the new document, or in the one that is replaced.
    assert_eq!(rule(set(&given, "/c", "resourceInfo: {idFromAttribute: null}")), Err("metadata/clears"));
    assert_eq!(rule(set(&given, "/a", "resourceInfo: {aliasFromAttribute: x}")), Err("metadata/clears"));
    assert_eq!(rule(set(&given, "/_/c/", "resourceInfo: null")), Err("metadata/clears"));
    // Nothing is lost where the field is set anew, or where nothing is inherited.
    assert!(set(&given, "/a", "resourceInfo: {idFromAttribute: x}").is_ok());
    assert!(set(&given, "/b", "resourceInfo: {}").is_ok());
    assert!(set(&given, "/", "resourceInfo: {idFromAttribute: null}").is_ok());
}

#[test]
fn a_wildcard_may_clear_what_only_some_of_its_paths_inherit() {
    let given = files(&[("a/b/_/metadata.yaml", "resourceInfo: {idFromAttribute: id}")]);
    let null = "resourceInfo: {idFromAttribute: null}";
    assert!(set(&given, "/_/b/c/", null).is_err() && set(&given, "/a/*/c/", null).is_err());
    assert!(set(&given, "/_/x/c/", null).is_ok() && set(&given, "/a/x*/c/", null).is_ok());
}

#[test]
fn nothing_is_planned_for_a_document_or_a_place_that_is_wrong() {
    let given = files(&[("file", "x"), ("a/metadata.json", "{}")]);
    let rule = |path, document| set(&given, path, document).map_err(|findings| findings[0].rule.id);
    assert_eq!(rule("/a", "resourceInfo: {ids: x}"), Err("metadata/unknown-key"));
    assert_eq!(rule("/file/x", "{}"), Err("metadata/path"));
    assert_eq!(rule("/.git/hooks", "{}"), Err("metadata/path"));
    assert_eq!(rule("/x/.GIT/", "{}"), Err("metadata/path"));
    with_layers(&snapshot(&given), |layers| {
        let nothing = plan::remove(&MetadataPath::parse("/b").unwrap(), layers);
        assert_eq!(nothing.map_err(|findings| findings[0].rule.id), Err("metadata/not-found"));
    });
}

#[test]
fn removing_metadata_prunes_what_is_left_empty() {
    let given = files(&[("a/b/_/metadata.yaml", "{}"), ("a/b/_/metadata.json", "{}"), ("a/x", "")]);
    let plan = with_layers(&snapshot(&given), |layers| plan::remove(&MetadataPath::parse("/a/b/").unwrap(), layers));
    let plan = plan.unwrap();
    assert_eq!(applied(given, &plan).into_keys().collect::<Vec<_>>(), ["a/x"]);
    let pruned: Vec<String> = plan.prune.iter().map(ToString::to_string).collect();
    assert_eq!(pruned, ["a/b/_", "a/b"]);
}

/// The text of `x/metadata.yaml` after one change to it.
fn amended(text: &str, pointer: &str, value: Option<&str>) -> Result<String, &'static str> {
    let given = files(&[("x/metadata.yaml", text)]);
    let (path, pointer) = (MetadataPath::parse("/x").unwrap(), crate::path::Pointer::parse(pointer).unwrap());
    let plan = with_layers(&snapshot(&given), |layers| match value {
        Some(value) => plan::set_field(&path, &pointer, value, layers, Format::Json),
        None => plan::unset_field(&path, &pointer, layers),
    });
    let after = applied(given, &plan.map_err(|findings| findings[0].rule.id)?);
    Ok(after.get("x/metadata.yaml").cloned().unwrap_or_default())
}

#[test]
fn one_field_changes_and_everything_else_stays() {
    let text = "# who\nresourceInfo:\n  idFromAttribute: id   # the id\n  aliasFromAttribute: null\n\n# how\noperationInfo:\n  get:\n    method: 'GET'\n";
    let set = |pointer, value| amended(text, pointer, Some(value)).unwrap();
    assert_eq!(
        set("/resourceInfo/idFromAttribute", "uuid"),
        text.replace("idFromAttribute: id ", "idFromAttribute: uuid ")
    );
    // The place is the one the file uses, under whatever name.
    assert_eq!(set("/operationInfo/getResource/httpMethod", "POST"), text.replace("'GET'", "'POST'"));
    assert_eq!(set("/operationInfo/getResource/path", "/a"), format!("{text}    path: /a\n"));
    let unset = |pointer| amended(text, pointer, None).unwrap();
    assert_eq!(unset("/resourceInfo/idFromAttribute"), text.replace("  idFromAttribute: id   # the id\n", ""));
    assert_eq!(
        unset("/operationInfo/getResource/httpMethod"),
        text.replace("# how\noperationInfo:\n  get:\n    method: 'GET'\n", "")
    );
}

#[test]
fn headers_and_queries_change_key_by_key() {
    let text = get("httpHeaders: [{name: X-A, value: '1'}], query: {a: '1'}");
    let set = |pointer: &str, value| {
        node(&amended(&text, &format!("/operationInfo/getResource/{pointer}"), Some(value)).unwrap())
    };
    let same =
        |found: Node, wanted: &str| assert!(found.is_identical(&node(&get(wanted))), "{}", write::to_inline(&found));
    same(set("httpHeaders/x-a", "2"), "httpHeaders: [{name: X-A, value: '2'}], query: {a: '1'}");
    same(
        set("httpHeaders/accept", "b"),
        "httpHeaders: [{name: X-A, value: '1'}, {name: Accept, value: b}], query: {a: '1'}",
    );
    same(set("query/0", "x"), "httpHeaders: [{name: X-A, value: '1'}], query: {a: '1', '0': x}");
    let fresh = amended("{}", "/operationInfo/getResource/httpHeaders/X-B", Some("3")).unwrap();
    same(node(&fresh), "httpHeaders: [{name: X-B, value: '3'}]");
    // An empty map would mean something else, so the last key takes it along.
    let unset = amended(&text, "/operationInfo/getResource/query/a", None).unwrap();
    same(node(&unset), "httpHeaders: [{name: X-A, value: '1'}]");
    assert_eq!(amended(&get("query: {a: '1'}"), "/operationInfo/getResource/query/a", None).as_deref(), Ok(""));
}

#[test]
fn values_are_read_as_their_field_asks() {
    let get = |pointer: &str, value| amended("{}", pointer, Some(value));
    assert_eq!(get("/resourceInfo/idFromAttribute", "null").unwrap(), "resourceInfo:\n  idFromAttribute: null\n");
    assert_eq!(
        get("/resourceInfo/secretInAttributes", "[a, b]").unwrap(),
        "resourceInfo:\n  secretInAttributes:\n  - a\n  - b\n"
    );
    assert_eq!(get("/resourceInfo/secretInAttributes", "null").unwrap(), "resourceInfo:\n  secretInAttributes: null\n");
    assert_eq!(get("/resourceInfo/idFromAttribute", ""), Err("metadata/invalid"));
    assert_eq!(get("/operationInfo/getResource/query", "{a: 1}"), Err("metadata/invalid"));
    assert_eq!(get("/operationInfo/getResource/validate/schemaRef", "x"), Err("metadata/invalid"));
    assert_eq!(get("/operationInfo/getResource", "{}"), Err("metadata/invalid"));
    assert_eq!(get("/operationInfo/getResource/pth", "x"), Err("metadata/unknown-key"));
    assert_eq!(amended("{}", "/resourceInfo/idFromAttribute", None), Err("metadata/not-found"));
    assert_eq!(amended("{oops: 1}", "/resourceInfo/idFromAttribute", Some("x")), Err("metadata/unknown-key"));
}

#[test]
fn old_forms_are_changed_where_they_stand() {
    let flat = "{idFromAttribute: a, operations: {get: {method: GET}}, jq: .x}";
    let set = |pointer, value| amended(flat, pointer, Some(value)).unwrap();
    assert_eq!(set("/resourceInfo/idFromAttribute", "b"), flat.replace("idFromAttribute: a", "idFromAttribute: b"));
    assert_eq!(set("/operationInfo/getResource/httpMethod", "PUT"), flat.replace("GET", "PUT"));
    assert_eq!(set("/operationInfo/defaults/payload/jqExpression", ".y"), flat.replace(".x", ".y"));
    // A `payload` would silence the `filter` beside it.
    let aliased = get("filter: [a]");
    let after = amended(&aliased, "/operationInfo/getResource/payload/jqExpression", Some(".x")).unwrap();
    assert_eq!(after, get("filter: [a], jq: .x"));
}

/// Lists everything in the opposite order.
struct Backwards(MemorySnapshot);

impl Snapshot for Backwards {
    fn label(&self) -> &str {
        self.0.label()
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        let mut listing = self.0.list(directory);
        listing.entries.reverse();
        listing
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.0.entry(path)
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        self.0.read(file)
    }
}

fn trees() -> impl Strategy<Value = Files> {
    let segment = || proptest::sample::select(vec!["a", "b", "1", "_", "*", "a*", "[ab]", "?"]);
    let place = proptest::collection::vec(segment(), 0..4);
    let text = proptest::sample::select(vec![
        "resourceInfo: {idFromAttribute: ID}",
        "resourceInfo: {aliasFromAttribute: ID}",
        "resourceInfo: {idFromAttribute: null}",
        "operationInfo: {getResource: {query: {ID: x, k: ID}}}",
        "operationInfo: {getResource: {query: {}}}",
        "operationInfo: {getResource: {headers: {X-H: ID, Accept: ID}}}",
        "operationInfo: {getResource: null}",
    ]);
    proptest::collection::vec((place, text, any::<bool>()), 0..8).prop_map(|layers| {
        let mut files = Files::new();
        for (at, (segments, text, is_resource)) in layers.into_iter().enumerate() {
            let marker = if is_resource { vec![] } else { vec!["_"] };
            let directory: Vec<&str> = segments.into_iter().chain(marker).collect();
            let path = directory.iter().map(|name| format!("{name}/")).collect::<String>() + "metadata.yaml";
            files.insert(path, text.replace("ID", &format!("v{at}")));
        }
        files
    })
}

fn paths() -> impl Strategy<Value = String> {
    let segment = proptest::sample::select(vec!["a", "b", "ab", "1", "x"]);
    proptest::collection::vec(segment, 0..5)
        .prop_map(|segments| segments.iter().map(|segment| format!("/{segment}")).collect::<String>() + "/")
}

/// The layers of a path by the book: all files that apply to it, sorted.
fn by_the_book(files: &Files, path: &LogicalPath) -> Vec<String> {
    let mut found: Vec<(bool, usize, bool, String)> = Vec::new();
    for file in files.keys() {
        let directory = RepoPath::new(file).unwrap().parent().unwrap();
        let Some(selector) = MetadataPath::of_directory(&directory) else { continue };
        if selector.applies_to(path) && (selector.is_collection() || selector.to_logical().as_ref() == Some(path)) {
            let is_literal = selector.segments().last().is_some_and(|last| last != "_" && !is_glob(last));
            let depth = selector.segments().len();
            found.push((!selector.is_collection(), depth, is_literal, selector.to_string()));
        }
    }
    found.sort();
    found.into_iter().map(|(.., selector)| selector).collect()
}

proptest! {
    #[test]
    fn layers_apply_by_the_book_whatever_the_order_of_listings(files in trees(), path in paths()) {
        let path = logical(&path);
        let forwards = snapshot(&files);
        let backwards = Backwards(snapshot(&files));
        let shown = |snapshot: &dyn Snapshot| with_layers(snapshot, |layers| {
            let metadata = resolve(&path, layers).value;
            let selectors: Vec<String> = metadata.layers().iter().filter_map(|layer| selector_of(layer)).collect();
            (selectors, write::to_yaml(&metadata.to_node()))
        });
        let (selectors, text) = shown(&forwards);
        prop_assert_eq!(&selectors, &by_the_book(&files, &path));
        prop_assert_eq!(shown(&backwards), (selectors, text));
    }

    #[test]
    fn remembering_changes_nothing(files in trees(), paths in proptest::collection::vec(paths(), 1..6)) {
        let snapshot = snapshot(&files);
        let alone = |path: &String| with_layers(&snapshot, |layers| {
            write::to_yaml(&resolve(&logical(path), layers).value.to_node())
        });
        let together: Vec<String> = with_layers(&snapshot, |layers| {
            paths.iter().map(|path| write::to_yaml(&resolve(&logical(path), layers).value.to_node())).collect()
        });
        prop_assert_eq!(together, paths.iter().map(alone).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_set_is_what_is_there_and_what_is_unset_is_gone(files in trees(), path in paths(), collection in any::<bool>()) {
        let path = if collection { path } else { path.trim_end_matches('/').to_owned() };
        let Ok(metadata_path) = MetadataPath::parse(&path) else { return Ok(()) };
        let document = "{resourceInfo: {secretInAttributes: []}, operationInfo: {getResource: {query: {}}}}";
        let Ok(after) = set(&files, &path, document) else { return Ok(()) };
        let stored = |files: &Files| with_layers(&snapshot(files), |layers| {
            let directory = metadata_path.directory(&RepoPath::root()).unwrap();
            let found = ["yaml", "yml", "json"].iter().find_map(|extension| {
                files.get(&format!("{directory}/metadata.{extension}"))
            });
            let target = metadata_path.to_logical().unwrap();
            (found.cloned(), write::to_yaml(&resolve(&target, layers).value.to_node()))
        });
        let (text, _) = stored(&after);
        prop_assert!(canonical(&node(&text.unwrap())).value.is_identical(&node(document)));
        let plan = with_layers(&snapshot(&after), |layers| plan::remove(&metadata_path, layers)).unwrap();
        let gone = applied(after, &plan);
        prop_assert_eq!(stored(&gone).0, None);
        let mut untouched = files.clone();
        untouched.retain(|name, _| gone.contains_key(name));
        prop_assert_eq!(untouched, gone);
    }
}
