//! Metadata commands: names, lists, cleared fields, roots, layers that move, and paths at which there is nothing.

use std::fs;

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

const LAYER: &str = "\
resourceInfo: {idFromAttribute: id, aliasFromAttribute: name}
operationInfo: {listCollection: {path: /list}, getResource: {path: '/v1/c/{{.id}}'}}
";

/// A repository with a collection of two resources.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "roots: [{path: api, format: yaml}]\n");
    repo.write("api/c/_/metadata.yaml", LAYER);
    repo.write("api/c/one/resource.yaml", "id: 7\nname: first\n");
    repo.write("api/c/two/resource.yaml", "id: 8\nname: second\n");
    repo.commit_all("one");
    repo
}

fn metadata(repo: &TestRepo, arguments: &[&str]) -> Ran {
    run(&mut outcrop(repo, &[&["metadata"], arguments].concat()))
}

#[test]
fn a_resource_is_found_by_its_alias_and_its_id() {
    let repo = repository();
    for name in ["/c/one", "/c/first", "/c/7"] {
        let ran = metadata(&repo, &["render", name]).ends_with(0).says("GET /v1/c/7");
        assert_eq!(ran.stderr, "", "{name}");
    }
    repo.write("api/c/three/resource.yaml", "id: 9\nname: first\n");
    metadata(&repo, &["render", "/c/first"])
        .ends_with(2)
        .says("metadata/ambiguous")
        .says("2 resources answer to `first`: /c/one and /c/three")
        .does_not_say("GET");
    metadata(&repo, &["render", "/c/three"]).ends_with(0).says("GET /v1/c/9");
}

#[test]
fn the_list_of_a_resource_is_that_of_its_collection() {
    let repo = repository();
    let collection = metadata(&repo, &["render", "/c/", "list"]).ends_with(0).says("2 resources in this snapshot");
    let resource = metadata(&repo, &["render", "/c/one", "list"]).ends_with(0);
    assert_eq!(resource.stdout, collection.stdout);
    // With a slash at its end the path is the collection itself.
    metadata(&repo, &["render", "/c/one/", "list"]).says("0 resources in this snapshot");
}

#[test]
fn null_clears_an_inherited_field_and_quotes_make_text() {
    let repo = repository();
    let file = || fs::read_to_string(repo.root().join("api/c/one/metadata.yaml")).unwrap();
    metadata(&repo, &["set", "/c/one", "/operationInfo/getResource/path", "null"]).ends_with(0);
    assert_eq!(file(), "operationInfo:\n  getResource:\n    path: null\n");
    metadata(&repo, &["get", "/c/one"]).ends_with(0).does_not_say("/v1/c/").says("path: ./{{.id}}");
    metadata(&repo, &["set", "/c/one", "/operationInfo/getResource/query/limit", "\"10\""]).ends_with(0);
    assert!(file().contains("limit: \"10\"\n") || file().contains("limit: '10'\n"), "{}", file());
    metadata(&repo, &["set", "/c/one", "/resourceInfo/secretInAttributes", "[id, name]"]).ends_with(0);
    metadata(&repo, &["set", "/c/one", "/operationInfo/getResource/path", "{{.id}}"]).ends_with(0);
    assert!(file().contains("'{{.id}}'") || file().contains("\"{{.id}}\""), "a template is text: {}", file());
    metadata(&repo, &["set", "/c/two", "/operationInfo/getResource/path", "'null'"]).ends_with(0);
    let other = fs::read_to_string(repo.root().join("api/c/two/metadata.yaml")).unwrap();
    assert!(other.contains("\"null\"") || other.contains("'null'"), "{other}");
}

#[test]
fn a_layer_in_another_format_is_one_layer_that_moved() {
    let repo = repository();
    let json = r#"{"resourceInfo": {"idFromAttribute": "id", "aliasFromAttribute": "name"},
        "operationInfo": {"listCollection": {"path": "/list"}, "getResource": {"path": "/v1/c/{{.id}}"}}}"#;
    repo.git(&["rm", "--quiet", "api/c/_/metadata.yaml"]);
    repo.write("api/c/_/metadata.json", json);
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"]))
        .ends_with(0)
        .says("api/c/_/{metadata.yaml => metadata.json}")
        .does_not_say("added")
        .does_not_say("removed")
        .does_not_say("/v1/c/");
}

#[test]
fn roots_are_name_spaces_of_their_own() {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "roots: [x, y]\n");
    repo.write("x/c/_/metadata.yaml", "operationInfo: {getResource: {path: /of-x}}\n");
    repo.write("y/c/_/metadata.yaml", "operationInfo: {getResource: {path: /of-y}}\n");
    repo.write("x/c/a/resource.yaml", "from: x\n");
    repo.write("y/c/a/resource.yaml", "from: early\n");
    repo.commit_all("one");
    metadata(&repo, &["render", "/c/a"]).ends_with(2).says("/c/a is in several roots").says("x/c/a, y/c/a");
    metadata(&repo, &["render", "x/c/a"]).ends_with(0).says("GET /of-x");
    metadata(&repo, &["render", "y/c/a"]).ends_with(0).says("GET /of-y");
    repo.write("y/c/a/resource.yaml", "from: late\n");
    repo.commit_all("two");
    run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).says("1 changed").says("early → late").does_not_say("x/c/a");
    run(&mut outcrop(&repo, &["check", "--all", "--fail-on", "warning"])).ends_with(0);
}

#[test]
fn what_does_not_exist_is_an_error_with_the_nearest_names() {
    let repo = repository();
    let near = "did you mean /c/one?";
    run(&mut outcrop(&repo, &["explain", "/c/on"])).ends_with(2).says(near);
    run(&mut outcrop(&repo, &["render", "/c/on"])).ends_with(2).says(near);
    metadata(&repo, &["render", "/c/on"]).ends_with(2).says(near);
    metadata(&repo, &["get", "/c/on"]).ends_with(2).says(near);
    metadata(&repo, &["resolve", "/c/on"]).ends_with(2).says(near);
    run(&mut outcrop(&repo, &["explain", "/c/seventeen"])).ends_with(2).says("in /c there are /c/one, /c/two");
    metadata(&repo, &["get", "/elsewhere/thing"]).ends_with(2).says("in / there are /c");
    run(&mut outcrop(&repo, &["explain", "/c/one", "/nam"])).ends_with(2).says("did you mean /name?");
    // A path that may be new has the metadata of its collection.
    metadata(&repo, &["get", "/c/seventeen"]).ends_with(0).says("/v1/c/{{.id}}");
}
