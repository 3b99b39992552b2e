use super::*;
use crate::diff::testing::read;
use crate::diff::{Options, diff};
use crate::path::RepoPath;
use crate::resource::{Identity, Resource};

fn resource(file: &str, payload: &str) -> Resource {
    let path = RepoPath::new(file.as_bytes()).expect("it is a path");
    let identity = Identity::File { path: path.clone(), position: None };
    Resource { identity, file: path, position: 0, payload: read(payload), unit: None }
}

fn changed(file: &str, before: &str, after: &str) -> ResourceChange {
    let (before, after) = (resource(file, before), resource(file, after));
    let difference = diff(&before.payload, &after.payload, &Options::default());
    ResourceChange { before: Some(before), after: Some(after), difference, ..ResourceChange::default() }
}

/// The rows of a change as text, and whether they are all of it.
fn rows(change: ResourceChange) -> (Vec<String>, bool) {
    let bumps = bumps(&[change]);
    let row = |bump: &Bump| {
        let Bump { kind, name, before, after, level, .. } = bump;
        format!("{} {name} {before} {after} {}", kind.name(), level.name())
    };
    (bumps.rows.iter().map(row).collect(), bumps.is_everything)
}

#[track_caller]
fn is_bump(file: &str, before: &str, after: &str, row: &str) {
    assert_eq!(rows(changed(file, before, after)), (vec![row.to_owned()], true));
}

#[track_caller]
fn is_no_bump(file: &str, before: &str, after: &str) {
    let (found, is_everything) = rows(changed(file, before, after));
    assert!(found.is_empty() && !is_everything, "{found:?}");
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
    assert!(!rows(changed(file, &one, &two)).1);
}

#[test]
fn tags_of_charts_need_their_repository() {
    let values =
        |repository: &str, tag: &str| format!(r#"{{"app": {{"repository": "{repository}", "tag": "{tag}"}}}}"#);
    is_bump("values.yaml", &values("r.io/a", "1.2.3"), &values("r.io/a", "2.0.0"), "image r.io/a 1.2.3 2.0.0 major");
    assert!(!rows(changed("values.yaml", &values("r.io/a", "1.2.3"), &values("r.io/b", "2.0.0"))).1);
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
    assert!(!rows(changed("a.yaml", &application("v1.0", "a"), &application("v2.0", "b"))).1);
}

#[test]
fn references_in_lists_pair_by_their_url() {
    let list = |reference: &str| format!(r#"{{"resources": ["https://g.io/r//deploy?ref={reference}", "app.yaml"]}}"#);
    is_bump("kustomization.yaml", &list("v1"), &list("v2"), "source https://g.io/r//deploy v1 v2 major");
    assert!(!rows(changed("kustomization.yaml", &list("v1"), r#"{"resources": ["app.yaml"]}"#)).1);
}

#[test]
fn one_other_value_is_enough_to_be_more_than_bumps() {
    let (before, after) = (r#"{"image": "a:1.0", "replicas": 1}"#, r#"{"image": "a:1.1", "replicas": 2}"#);
    let (found, is_everything) = rows(changed("a.yaml", before, after));
    assert_eq!((found.len(), is_everything), (1, false));
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
        "label helm.sh/chart 1.0.0 1.1.0 minor",
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
    let bumps = bumps(&[changed("a.yaml", r#"{"image": "a:1.2"}"#, r#"{"image": "a:1.1"}"#)]);
    assert!(bumps.rows[0].is_downgrade && bumps.is_everything);
}
