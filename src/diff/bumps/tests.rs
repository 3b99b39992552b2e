//! Which changes are bumps, and which are not.

use super::*;
use crate::diff::{Options, compare_payloads};
use crate::document::{self, Format};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};
use crate::text::SourceText;

fn resource(file: &str, payload: &str, sources: &Sources) -> Resource {
    let path = RepoPath::new(file.as_bytes()).expect("it is a path");
    let identity = Identity::File { path: path.clone(), position: None };
    let source = sources.add(SourceText::new(path.clone(), "test", payload));
    let payload = document::parse(payload, source, Format::Yaml, &Limits::default()).value.remove(0).root;
    Resource { identity, file: path, position: 0, payload, unit: None }
}

fn changed(file: &str, before: &str, after: &str, sources: &Sources) -> ResourceChange {
    let (before, after) = (resource(file, before, sources), resource(file, after, sources));
    let difference = compare_payloads(&before, &after, &Options::default());
    ResourceChange { before: Some(before), after: Some(after), difference, ..ResourceChange::default() }
}

/// The rows of a change as text, and whether they are all of it.
fn rows(file: &str, before: &str, after: &str) -> (Vec<String>, bool) {
    let sources = Sources::default();
    let changes = [changed(file, before, after, &sources)];
    let row = |bump: &Bump| {
        let Bump { kind, name, versions: [before, after], comments, level, is_downgrade, .. } = bump;
        let said = match comments {
            [Some(before), Some(after)] => format!(" ({before} {after})"),
            _ => String::new(),
        };
        let older = if *is_downgrade { " downgrade" } else { "" };
        format!("{} {name} {before} {after}{said} {}{older}", kind.name(), level.name())
    };
    let rows = bumps(&changes, &sources, &Limits::default()).rows.iter().map(row).collect();
    (rows, differ_only_in_versions(&changes, &sources, &Limits::default()))
}

#[track_caller]
fn is_bump(file: &str, before: &str, after: &str, row: &str) {
    assert_eq!(rows(file, before, after), (vec![row.to_owned()], true));
}

#[track_caller]
fn is_no_bump(file: &str, before: &str, after: &str) {
    let (found, is_everything) = rows(file, before, after);
    assert!(found.is_empty() && !is_everything, "{found:?}");
}

#[track_caller]
fn is_more(file: &str, before: &str, after: &str) {
    assert!(!rows(file, before, after).1);
}

#[test]
fn images_are_recognised_where_their_name_is_the_same() {
    is_bump(
        "a.yaml",
        r#"{"image": "r.io/a:v1.0.0"}"#,
        r#"{"image": "r.io/a:v1.1.0"}"#,
        "image r.io/a v1.0.0 v1.1.0 minor",
    );
    is_no_bump("a.yaml", r#"{"image": "r.io/a:v1.0.0"}"#, r#"{"image": "r.io/b:v1.1.0"}"#);
    is_no_bump("a.yaml", r#"{"image": "r.io/a:v1.0.0"}"#, r#"{"image": "r.io/a:latest"}"#);
    is_no_bump("a.yaml", r#"{"url": "r.io/a:1"}"#, r#"{"url": "r.io/a:2"}"#);
}

#[test]
fn entries_of_kustomizations_keep_their_name() {
    let images = |entry: &str| format!(r#"{{"images": [{{"name": "app", {entry}}}]}}"#);
    let file = "kustomization.yaml";
    let (one, two) = (images(r#""newTag": "f70a925""#), images(r#""newTag": "0968b43""#));
    is_bump(file, &one, &two, "image app f70a925 0968b43 other");
    let (one, two) =
        (images(r#""newName": "r.io/a", "newTag": "1.0""#), images(r#""newName": "r.io/b", "newTag": "1.1""#));
    is_more(file, &one, &two);
}

#[test]
fn tags_of_charts_need_their_repository() {
    let values =
        |repository: &str, tag: &str| format!(r#"{{"app": {{"repository": "{repository}", "tag": "{tag}"}}}}"#);
    is_bump("values.yaml", &values("r.io/a", "1.2.3"), &values("r.io/a", "2.0.0"), "image r.io/a 1.2.3 2.0.0 major");
    is_more("values.yaml", &values("r.io/a", "1.2.3"), &values("r.io/b", "2.0.0"));
    is_no_bump("values.yaml", r#"{"release": {"tag": "1.2.3"}}"#, r#"{"release": {"tag": "1.2.4"}}"#);
}

#[test]
fn charts_and_sources_are_recognised() {
    let release = |version: &str| {
        format!(
            r#"{{"kind": "HelmRelease", "spec": {{"chart": {{"spec": {{"chart": "redis", "version": "{version}"}}}}}}}}"#
        )
    };
    is_bump("a.yaml", &release("1.0.0"), &release("1.0.1"), "chart redis 1.0.0 1.0.1 patch");
    let source = |tag: &str| {
        format!(r#"{{"kind": "OCIRepository", "spec": {{"url": "oci://r.io/c", "ref": {{"tag": "{tag}"}}}}}}"#)
    };
    is_bump("a.yaml", &source("1.0.0"), &source("1.1.0"), "chart oci://r.io/c 1.0.0 1.1.0 minor");
    let application = |revision: &str, path: &str| {
        format!(
            r#"{{"spec": {{"source": {{"repoURL": "https://g.io/r", "path": "{path}", "targetRevision": "{revision}"}}}}}}"#
        )
    };
    is_bump("a.yaml", &application("v1.0", "a"), &application("v2.0", "a"), "source https://g.io/r v1.0 v2.0 major");
    is_no_bump("a.yaml", &application("main", "a"), &application("develop", "a"));
    is_more("a.yaml", &application("v1.0", "a"), &application("v2.0", "b"));
}

#[test]
fn references_in_lists_pair_by_their_url() {
    let list = |reference: &str| format!(r#"{{"resources": ["https://g.io/r//deploy?ref={reference}", "app.yaml"]}}"#);
    is_bump("kustomization.yaml", &list("v1"), &list("v2"), "source https://g.io/r//deploy v1 v2 major");
    is_more("kustomization.yaml", &list("v1"), r#"{"resources": ["app.yaml"]}"#);
}

#[test]
fn one_other_value_is_enough_to_be_more_than_bumps() {
    let (before, after) = (r#"{"image": "a:1.0", "replicas": 1}"#, r#"{"image": "a:1.1", "replicas": 2}"#);
    let (found, is_everything) = rows("a.yaml", before, after);
    assert_eq!((found.len(), is_everything), (1, false));
}

#[test]
fn a_tool_and_the_action_that_installs_it_can_be_bumped_together() {
    let step = |action: &str, version: &str| {
        format!(r#"{{"steps": [{{"uses": "{action}", "with": {{"version": "{version}"}}}}]}}"#)
    };
    let (found, is_everything) = rows("w.yaml", &step("a/setup@v1", "5.6.0"), &step("a/setup@v2", "5.8.1"));
    assert_eq!((found.len(), is_everything), (2, true));
    let (_, is_everything) = rows("w.yaml", &step("a/setup@v1", "5.6.0"), &step("b/setup@v1", "5.8.1"));
    assert!(!is_everything);
}

#[test]
fn actions_hooks_labels_and_packages_are_recognised() {
    is_bump(
        "w.yaml",
        r#"{"steps": [{"uses": "actions/checkout@v4"}]}"#,
        r#"{"steps": [{"uses": "actions/checkout@v5"}]}"#,
        "action actions/checkout v4 v5 major",
    );
    let hook = |revision: &str| format!(r#"{{"repos": [{{"repo": "https://g.io/h", "rev": "{revision}"}}]}}"#);
    is_bump(".pre-commit-config.yaml", &hook("v1.0.0"), &hook("v1.0.1"), "source https://g.io/h v1.0.0 v1.0.1 patch");
    is_bump(
        "a.yaml",
        r#"{"labels": {"helm.sh/chart": "redis-1.0.0"}}"#,
        r#"{"labels": {"helm.sh/chart": "redis-1.1.0"}}"#,
        "label helm.sh/chart redis 1.0.0 1.1.0 minor",
    );
    is_bump(
        "package.json",
        r#"{"dependencies": {"left": "^1.0.0"}}"#,
        r#"{"dependencies": {"left": "^1.0.1"}}"#,
        "package left 1.0.0 1.0.1 patch",
    );
    is_no_bump("package.json", r#"{"dependencies": {"left": "^1.0.0"}}"#, r#"{"dependencies": {"left": "~1.0.1"}}"#);
}

#[test]
fn a_downgrade_is_said() {
    is_bump("a.yaml", "image: a:1.2", "image: a:1.1", "image a 1.2 1.1 minor downgrade");
}

#[test]
fn comments_name_the_versions_of_commits() {
    let step =
        |commit: &str, comment: &str| format!("steps:\n  - uses: actions/checkout@{} # {comment}\n", commit.repeat(40));
    let row = |comments: &str, level: &str| {
        format!("action actions/checkout {} {} ({comments}) {level}", "a".repeat(40), "b".repeat(40))
    };
    is_bump("w.yaml", &step("a", "v4.1.1"), &step("b", "v4.2.0"), &row("v4.1.1 v4.2.0", "minor"));
    is_bump("w.yaml", &step("a", "v4"), &step("b", "v4"), &row("v4 v4", "digest"));
    let annotated =
        |version: &str| format!("env:\n  # renovate: datasource=x depName=example/tool\n  TOOL: {version}\n");
    is_bump("w.yaml", &annotated("1.2.3"), &annotated("1.2.4"), "package example/tool 1.2.3 1.2.4 patch");
    is_no_bump("w.yaml", "env:\n  TOOL: 1.2.3\n", "env:\n  TOOL: 1.2.4\n");
}

#[test]
fn images_in_variables_and_flags_need_a_registry() {
    let variable = |name: &str, tag: &str| format!("env:\n  - name: {name}\n    value: quay.io/o/app:{tag}\n");
    is_bump(
        "a.yaml",
        &variable("APP_IMAGE", "v1.0.0"),
        &variable("APP_IMAGE", "v1.0.1"),
        "image quay.io/o/app v1.0.0 v1.0.1 patch",
    );
    is_no_bump("a.yaml", &variable("ADDRESS", "1"), &variable("ADDRESS", "2"));
    let flag = |tag: &str| format!("args: [--verbose, --reloader=quay.io/o/reloader:{tag}]");
    is_bump("a.yaml", &flag("v0.80.0"), &flag("v0.81.0"), "image quay.io/o/reloader v0.80.0 v0.81.0 minor");
    is_more("a.yaml", "args: [--port=8080]", "args: [--port=8081]");
}

#[test]
fn another_type_flavour_or_form_is_more_than_a_bump() {
    is_no_bump("a.yaml", "image: a:1.2-alpine", "image: a:1.2-bookworm");
    is_no_bump("kustomization.yaml", "images: [{name: a, newTag: '12'}]", "images: [{name: a, newTag: 13}]");
    let digest = "a".repeat(64);
    is_no_bump("a.yaml", &format!("image: a:1.2@sha256:{digest}"), "image: a:1.3");
    is_more("a.yaml", "image: a:1.2\nx: 1.10\n", "image: a:1.3\nx: 1.1\n");
}

#[test]
fn what_came_went_or_moved_is_more_than_a_bump() {
    let (sources, limits) = (Sources::default(), Limits::default());
    let bump = || changed("a.yaml", "image: a:1.2", "image: a:1.3", &sources);
    let came = ResourceChange { before: None, ..bump() };
    let moved = ResourceChange { before: Some(resource("b.yaml", "image: a:1.2", &sources)), ..bump() };
    assert!(differ_only_in_versions(&[bump()], &sources, &limits));
    assert!(!differ_only_in_versions(&[bump(), came], &sources, &limits));
    assert!(!differ_only_in_versions(&[moved], &sources, &limits));
    assert!(!differ_only_in_versions(&[], &sources, &limits));
}
