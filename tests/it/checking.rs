//! `outcrop check`, hooks and CI judge requests, schemas and names; formats carry the same findings.

use std::collections::BTreeSet;
use std::fs;

use outcrop::document::parse;
use outcrop::limits::Limits;
use outcrop::names::Format;
use outcrop::path::RepoPath;
use outcrop::schema::{self, Patterns};
use outcrop::text::{SourceText, Sources};
use outcrop::value::Node;

use crate::program::{self, outcrop, run};
use crate::repo::TestRepo;

const METADATA: &str = "resourceInfo:\n  collectionPath: /api/customers\noperationInfo:\n  createResource:\n    validate:\n      requiredAttributes: \
    [name, tier]\n      assertions:\n      - message: seats must be positive\n        jq: .seats > 0\n      schemaRef: openapi:request-body\n";
const OPENAPI: &str = "openapi: 3.0.3\ninfo: {title: shop, version: '1'}\npaths:\n  /api/customers:\n    post:\n      requestBody:\n        \
    content:\n          application/json:\n            schema: {$ref: 'schemas/customer.yaml#/Customer'}\n      responses: {}\n";
const SCHEMAS: &str = "Customer:\n  type: object\n  properties:\n    name: {$ref: '#/Name'}\n    seats: {type: integer}\nName: {type: string, pattern: \
    '^[a-z]+$'}\n";
const GOOD: &str = "name: acme\ntier: gold\nseats: 3\n";
const BAD: &str = "name: acme\nseats: -1.5\n";
const THREE: [&str; 3] = ["request/assertion", "request/required", "request/schema"];

/// A customer with metadata and the schema of its server, in two files.
fn shop() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", "openapi: api/openapi.yaml\n");
    repo.write("api/openapi.yaml", OPENAPI);
    repo.write("api/schemas/customer.yaml", SCHEMAS);
    repo.write("customers/_/metadata.yaml", METADATA);
    repo.write("customers/acme/resource.yaml", GOOD);
    repo.commit_all("good");
    repo
}

#[test]
fn check_hook_and_ci_report_the_same_three_problems_with_both_places() {
    let repo = shop();
    repo.write("customers/acme/resource.yaml", BAD);
    repo.git(&["add", "--all"]);
    let hook = run(&mut outcrop(&repo, &["hook", "pre-commit"])).ends_with(1);
    repo.commit("bad");
    let check = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(1);
    let ci = run(outcrop(&repo, &["ci", "github", "--base", "HEAD~1", "--head", "HEAD"]).env("GITHUB_ACTIONS", "true"));
    let ci = ci.ends_with(1);
    for rule in THREE {
        assert_eq!(check.stdout.matches(&format!("error[{rule}]: ")).count(), 1, "{}", check.stdout);
        assert_eq!(hook.stderr.matches(&format!("error[{rule}]: ")).count(), 1, "{}", hook.stderr);
        let annotation =
            |line: &&str| line.starts_with("::error file=customers/acme/resource.yaml,") && line.contains(rule);
        assert_eq!(ci.stdout.lines().filter(annotation).count(), 1, "{}", ci.stdout);
    }
    for said in [&check.stdout, &hook.stderr] {
        assert_eq!(said.matches("customers/acme/resource.yaml:").count(), 3, "{said}");
        assert_eq!(said.matches("customers/_/metadata.yaml:").count(), 3, "{said}");
        assert_eq!(said.matches("api/schemas/customer.yaml:5:").count(), 1, "{said}");
    }
    assert!(check.stdout.trim_end().ends_with("3 errors in 1 file"), "{}", check.stdout);
}

#[test]
fn a_hundred_old_problems_and_a_new_one_are_one_problem() {
    let repo = TestRepo::new();
    let line = |at: usize| format!("  k{at}: a\n  k{at}: b\n");
    let old: String = (0..100).map(line).collect();
    repo.write("a.yaml", format!("top:\n{old}"));
    repo.write("customers/_/metadata.yaml", METADATA.replace("      schemaRef: openapi:request-body\n", ""));
    repo.write("customers/acme/resource.yaml", "name: acme\nseats: 0\n");
    repo.commit_all("old");
    repo.write("a.yaml", format!("top:\n  new: a\n  new: b\n{old}"));
    repo.write("customers/acme/resource.yaml", "name: acme\nseats: 0\nnote: x\n");
    repo.commit_all("one more");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD", "--format", "json"])).ends_with(1);
    assert_eq!(rules(&ran.stdout), ["document/duplicate-key"], "{}", ran.stdout);
    assert!(ran.stdout.contains("`new`"), "{}", ran.stdout);
    let all = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD", "--format", "json", "--no-new-only"])).ends_with(1);
    assert_eq!(rules(&all.stdout).len(), 101 + 2, "{:?}", rules(&all.stdout));
    let everything = run(&mut outcrop(&repo, &["check", "HEAD", "--all", "--format", "json"])).ends_with(1);
    assert_eq!(rules(&everything.stdout).len(), 101 + 2);
}

#[test]
fn an_edited_schema_reaches_every_resource_that_is_checked_against_it() {
    let repo = shop();
    repo.write("api/schemas/customer.yaml", SCHEMAS.replace("type: integer", "type: string"));
    repo.commit_all("another schema");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD", "--format", "json"])).ends_with(1);
    assert_eq!(rules(&ran.stdout), ["request/schema"]);
    assert!(ran.stdout.contains("\"resource\":\"/customers/acme\",\"pointer\":\"/seats\""), "{}", ran.stdout);
}

#[test]
fn every_format_carries_the_same_findings_and_the_same_exit_code() {
    let repo = shop();
    repo.write("customers/acme/resource.yaml", BAD);
    repo.write("odd näme,.yaml", "a: 1\na: 2\n");
    repo.commit_all("bad");
    let written =
        |format: &str| run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD", "--format", format])).ends_with(1).stdout;
    let expected: Vec<String> =
        ["request/assertion", "request/required", "request/schema", "document/duplicate-key"].map(str::to_owned).into();
    let expected: BTreeSet<String> = expected.into_iter().collect();
    let found = |rules: Vec<String>| rules.into_iter().collect::<BTreeSet<String>>();
    let (json, sarif, gitlab, github) = (written("json"), written("sarif"), written("gitlab"), written("github"));
    assert_eq!(found(rules(&json)), expected);
    valid(&sarif, "sarif-2.1.0.json");
    valid(&gitlab, "gitlab-code-quality.json");
    let report: serde_json::Value = serde_json::from_str(&sarif).expect("it is JSON");
    let results = report["runs"][0]["results"].as_array().expect("there are results");
    assert_eq!(
        found(results.iter().map(|it| it["ruleId"].as_str().unwrap_or_default().to_owned()).collect()),
        expected
    );
    assert!(sarif.contains("odd%20n%C3%A4me,.yaml"), "{sarif}");
    let issues: Vec<serde_json::Value> = serde_json::from_str(&gitlab).expect("it is JSON");
    assert_eq!(
        found(issues.iter().map(|it| it["check_name"].as_str().unwrap_or_default().to_owned()).collect()),
        expected
    );
    let fingerprints: BTreeSet<&str> = issues.iter().filter_map(|it| it["fingerprint"].as_str()).collect();
    assert_eq!(fingerprints.len(), issues.len());
    assert_eq!(github.lines().filter(|line| line.starts_with("::error ")).count(), expected.len());
}

#[test]
fn what_is_accepted_is_listed_with_its_reason() {
    let repo = shop();
    let waiver = "waivers:\n- rule: request/assertion\n  within: customers/acme\n  reason: trial account\n  expires: 2031-01-01\n";
    repo.write("outcrop.yaml", format!("openapi: api/openapi.yaml\n{waiver}"));
    repo.commit_all("waiver");
    repo.write(
        "customers/acme/resource.yaml",
        "# outcrop-allow request/required: tiers come later\nname: acme\nseats: 0\n",
    );
    repo.commit_all("bad");
    let shown = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(0);
    let shown =
        shown.says("accepted: request/assertion in customers/acme/resource.yaml: trial account (until 2031-01-01)");
    shown
        .says("accepted: request/required in customers/acme/resource.yaml: tiers come later")
        .says("2 problems accepted");
    let sarif = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD", "--format", "sarif"])).ends_with(0).stdout;
    valid(&sarif, "sarif-2.1.0.json");
    assert!(
        sarif.contains("\"kind\":\"inSource\"") && sarif.contains("\"justification\":\"trial account\""),
        "{sarif}"
    );
}

#[test]
fn one_problem_of_forty_resources_is_shown_once() {
    let repo = shop();
    (0..40).for_each(|at| repo.write(format!("customers/c{at}/resource.yaml"), "name: acme\ntier: gold\nseats: 0\n"));
    repo.commit_all("forty");
    let shown = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(1);
    assert_eq!(shown.stdout.matches("error[request/assertion]").count(), 1, "{}", shown.stdout);
    let shown = shown.says("also in 39 other resources: ").says("and 36 more (-v shows each)");
    assert!(shown.stdout.trim_end().ends_with("40 errors in 40 files"), "{}", shown.stdout);
    let each = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD", "-v"])).ends_with(1);
    assert_eq!(each.stdout.matches("error[request/assertion]").count(), 40);
}

/// The rules of the findings of a JSON report, in order.
fn rules(report: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(report).expect("it is JSON");
    let findings = report["findings"].as_array().expect("there are findings").iter();
    findings.map(|finding| finding["rule"].as_str().unwrap_or_default().to_owned()).collect()
}

/// Asserts that a text fits a schema of `fixtures/schemas`.
fn valid(text: &str, name: &str) {
    let read = |text: &str| -> Node {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "", text));
        let mut parsed = parse(text, source, Format::Json, &Limits::default());
        assert!(parsed.findings.is_empty(), "{:?}", parsed.findings);
        parsed.value.remove(0).root
    };
    let schema =
        fs::read_to_string(program::project().join("fixtures/schemas").join(name)).expect("the schema is there");
    let (value, schema) = (read(text), read(&schema));
    let violations = schema::violations(&value, &schema, &schema, &Patterns::default(), u64::MAX);
    assert!(violations.stopped.is_none(), "{:?}", violations.stopped);
    let wrong: Vec<String> = violations.found.iter().map(|it| format!("{}: {}", it.place, it.reason)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_problem_names_the_edit_of_a_patch_that_causes_it() {
    let repo = TestRepo::new();
    let patch = "- operations: [{op: add, path: /seats, value: 3}]\n";
    repo.write("customers/_/metadata.yaml", METADATA.replace("      schemaRef: openapi:request-body\n", ""));
    repo.write("customers/_/patches.yaml", patch);
    repo.write("customers/acme/resource.yaml", "name: acme\ntier: gold\n");
    repo.commit_all("good");
    repo.write("customers/_/patches.yaml", patch.replace("value: 3", "value: 0"));
    repo.commit_all("bad");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(1);
    ran.says("request/assertion").says("customers/_/patches.yaml:1:").says("edited by this change");
}

#[test]
fn a_problem_names_the_removed_file_that_causes_it() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "+include: shared.yaml\nown: 1\n");
    repo.write("shared.yaml", "x: 1\n");
    repo.write("root/kustomization.yaml", "resources: [../base/map.yaml]\n");
    repo.write("base/map.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    repo.commit_all("good");
    repo.remove("shared.yaml");
    repo.remove("base/map.yaml");
    repo.commit_all("bad");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(1);
    ran.says("HEAD~1:shared.yaml:1:4").says("removed by this change").says("base/map.yaml is removed by this change");
}

#[test]
fn a_problem_names_the_removed_layer_that_causes_it() {
    let repo = TestRepo::new();
    let above = "resourceInfo:\n  collectionPath: /api/customers\n";
    let below = "operationInfo:\n  createResource:\n    validate:\n      requiredAttributes: [tier]\n";
    repo.write("customers/_/metadata.yaml", format!("{above}{below}"));
    repo.write(
        "customers/acme/metadata.yaml",
        "operationInfo:\n  createResource:\n    validate:\n      requiredAttributes: []\n",
    );
    repo.write("customers/acme/resource.yaml", "name: acme\n");
    repo.commit_all("good");
    repo.remove("customers/acme/metadata.yaml");
    repo.commit_all("bad");
    let ran = run(&mut outcrop(&repo, &["check", "HEAD~1", "HEAD"])).ends_with(1);
    ran.says("request/required").says("customers/acme/metadata.yaml:").says("removed by this change");
}
