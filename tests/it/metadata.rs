//! Effective metadata in comparisons: what a changed layer does to resources, and what it must not bring to light.

use outcrop::comparison::{Comparison, Judged};
use outcrop::diff::{self, DiffSide};
use outcrop::document::write;
use outcrop::report::{Report, Style, terminal};

use crate::comparing::{Comparing, snapshot};

type Files<'a> = &'a [(&'a str, &'a str)];

fn run<T>(before: Files<'_>, after: Files<'_>, scope: &[&str], act: impl Fn(&Comparison<'_>) -> T) -> T {
    let side = |label, files: Files<'_>| snapshot(label, files.iter().copied());
    Comparing { scope, ..Comparing::new(side("before", before), side("after", after)) }.run(act)
}

fn compare(before: Files<'_>, after: Files<'_>) -> Report {
    run(before, after, &[], |comparison| comparison.compare())
}

/// Each changed place of each resource's metadata.
fn changed(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for resource in &report.resources {
        let name = resource.after.as_ref().or(resource.before.as_ref()).unwrap().identity.to_string();
        for change in &resource.metadata.changes {
            let value = change.after.as_ref().map(write::to_inline).unwrap_or_default();
            lines.push(format!("{name} {} {value}", diff::pointer(&change.path, DiffSide::After)));
        }
    }
    lines
}

fn shown(report: &Report) -> String {
    let mut out = Vec::new();
    terminal::write(report, &Style { verbosity: 2, ..Style::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const ID: &str = "resourceInfo: {idFromAttribute: id}";
const KEY: &str = "resourceInfo: {idFromAttribute: key}";

#[test]
fn a_changed_layer_changes_every_resource_it_speaks_for() {
    let rest = [
        ("customers/acme/resource.yaml", "a: 1"),
        ("customers/bolt.yaml", "b: 1"),
        ("customers/own/resource.yaml", "c: 1"),
        ("customers/own/metadata.yaml", "resourceInfo: {idFromAttribute: own}"),
        ("others/x/resource.yaml", "d: 1"),
    ];
    let with = |layer| [&[("customers/_/metadata.yaml", layer)], &rest[..]].concat();
    let report = compare(&with(ID), &with(KEY));
    assert_eq!(
        changed(&report),
        ["/customers/acme /resourceInfo/idFromAttribute key", "/customers/bolt /resourceInfo/idFromAttribute key"]
    );
    assert!(report.has_differences() && !report.is_incomplete());
    // The layer itself is shown as the file it is.
    assert_eq!(report.resources.len(), 3);
}

#[test]
fn kubernetes_documents_are_spoken_for_by_directory_kind_and_name() {
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\n";
    let with = |layer| [("deploy/all.yaml", deployment), ("deploy/Service.*/_/metadata.yaml", layer)];
    let report = compare(&with(ID), &with(KEY));
    assert_eq!(changed(&report), ["Service web /resourceInfo/idFromAttribute key"]);
}

#[test]
fn a_layer_may_speak_for_one_resource_or_come_and_go() {
    let resource = ("a/b/resource.yaml", "x: 1");
    let own = ("a/b/metadata.yaml", ID);
    assert_eq!(changed(&compare(&[resource], &[resource, own])), ["/a/b /resourceInfo/idFromAttribute id"]);
    assert_eq!(changed(&compare(&[resource, own], &[resource])), ["/a/b /resourceInfo/idFromAttribute "]);
    // What the resource overrides does not change for it.
    let all = |layer| [resource, own, ("_/metadata.yaml", layer)];
    assert!(changed(&compare(&all(KEY), &all("resourceInfo: {idFromAttribute: other}"))).is_empty());
}

#[test]
fn a_resource_that_moves_gets_the_metadata_of_its_new_place() {
    let text = "name: acme\nplan: gold\nlimits: {requests: 600, storage: 15}\n";
    let layers = [("a/_/metadata.yaml", ID), ("b/_/metadata.yaml", KEY)];
    let before = [&layers[..], &[("a/x/resource.yaml", text)]].concat();
    let after = [&layers[..], &[("b/x/resource.yaml", text)]].concat();
    assert_eq!(changed(&compare(&before, &after)), ["/b/x /resourceInfo/idFromAttribute key"]);
}

#[test]
fn the_scope_limits_the_resources_and_not_the_causes() {
    let rest = [("customers/acme/resource.yaml", "a: 1"), ("customers/bolt/resource.yaml", "b: 1")];
    let with = |layer| [&[("_/metadata.yaml", layer)], &rest[..]].concat();
    let scoped = |scope: &[&str]| changed(&run(&with(ID), &with(KEY), scope, |comparison| comparison.compare()));
    assert_eq!(scoped(&["/customers/acme"]), ["/customers/acme /resourceInfo/idFromAttribute key"]);
    // A layer on the command line selects everything it affects.
    assert_eq!(scoped(&["_/metadata.yaml"]).len(), 2);
    assert!(scoped(&["/elsewhere"]).is_empty());
}

#[test]
fn metadata_may_have_a_root_of_its_own_and_each_root_its_own_layers() {
    let config = "roots: [one, {path: two, layout: declarest}]\n";
    let with = |layer| {
        [
            ("outcrop.yaml", config),
            ("one/_/metadata.yaml", layer),
            ("one/a/resource.yaml", "x: 1"),
            ("two/a.yaml", "x: 1"),
        ]
    };
    assert_eq!(changed(&compare(&with(ID), &with(KEY))), ["/a /resourceInfo/idFromAttribute key"]);
    let config = "metadata: {root: meta}\n";
    let with = |layer| [("outcrop.yaml", config), ("meta/_/metadata.yaml", layer), ("a/resource.yaml", "x: 1")];
    assert_eq!(changed(&compare(&with(ID), &with(KEY))), ["/a /resourceInfo/idFromAttribute key"]);
}

#[test]
fn directives_in_layers_are_followed() {
    let with = |layer, ids| [("x/_/metadata.yaml", layer), ("shared/ids.yaml", ids), ("x/a/resource.yaml", "a: 1")];
    let layer = |alias: &str| {
        format!("resourceInfo:\n  +include: ../../shared/ids.yaml#/base\n  aliasFromAttribute: {alias}\n")
    };
    let (old, new) = (layer("old"), layer("new"));
    let report = compare(&with(&old, "base: {idFromAttribute: old}"), &with(&new, "base: {idFromAttribute: new}"));
    assert_eq!(
        changed(&report),
        ["/x/a /resourceInfo/idFromAttribute new", "/x/a /resourceInfo/aliasFromAttribute new"]
    );
}

#[test]
fn declared_secrets_are_never_shown_not_even_by_dropping_the_declaration() {
    let secret = "resourceInfo: {secretInAttributes: [password, db.pass]}";
    let with = |layer, value: &'static str| [("_/metadata.yaml", layer), ("a/resource.yaml", value)];
    let (old, new) = (
        "password: hunter1\ndb: {pass: hunter3, user: u}\nlist: [{password: hunter5}]\nkept: '{{secret .}}'",
        "password: hunter2\ndb: {pass: hunter4, user: v}\nlist: [{password: hunter6}]\nkept: '{{secret .}}'",
    );
    for (before, after) in [(secret, secret), (secret, "{}"), ("{}", secret)] {
        let report = compare(&with(before, old), &with(after, new));
        let text = shown(&report);
        assert!(!text.contains("hunter"), "{text}");
        assert!(text.contains(".password") && text.contains("(sensitive, changed)"), "{text}");
        assert!(text.contains("u → v"), "{text}");
    }
    // A placeholder is no secret.
    let report = compare(&with("{}", "password: '{{secret .}}'"), &with(secret, "password: '{{secret a}}'"));
    assert!(shown(&report).contains("{{secret a}}"));
}

#[test]
fn broken_resources_with_declared_secrets_show_no_values() {
    let secret = "resourceInfo: {secretInAttributes: [password]}";
    let with = |value: &'static str| [("_/metadata.yaml", secret), ("a/resource.yaml", value)];
    let report = compare(&with("password: x"), &with("password: hunter2\nb: ]"));
    assert!(report.is_incomplete());
    let mut out = Vec::new();
    outcrop::report::diagnostics::write(&report, &Style::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn what_is_wrong_with_a_layer_is_said_once_and_makes_the_comparison_incomplete() {
    let with = |layer| [("_/metadata.yaml", layer), ("a/resource.yaml", "x: 1"), ("b/resource.yaml", "x: 1")];
    let broken = "resourceInfo: {idFromAttribut: id}";
    let rules = |report: &Report| {
        let findings = report.findings.iter().chain(&report.new_problems);
        findings.map(|finding| finding.rule.id).collect::<Vec<_>>()
    };
    let report = compare(&with(ID), &with(broken));
    assert_eq!(rules(&report), ["metadata/unknown-key"]);
    assert!(report.is_incomplete());
    let check =
        |before: Files<'_>, after: Files<'_>, judged| run(before, after, &[], |comparison| comparison.check(judged));
    let report = check(&with(ID), &with(broken), Judged::New);
    assert_eq!(rules(&report), ["metadata/unknown-key"]);
    assert!(!report.is_incomplete(), "a finding of a check is its answer");
    // What was wrong before is not new.
    let worse = "resourceInfo: {idFromAttribut: id}\n# more\n";
    assert!(rules(&check(&with(broken), &with(worse), Judged::New)).is_empty());
    assert_eq!(rules(&check(&with(broken), &with(worse), Judged::Changed)), ["metadata/unknown-key"]);
    assert_eq!(rules(&check(&with(broken), &with(broken), Judged::Everything)), ["metadata/unknown-key"]);
    let twice = [("_/metadata.yaml", ID), ("_/metadata.json", "{}"), ("a/resource.yaml", "x: 1")];
    assert_eq!(rules(&compare(&[], &twice)), ["metadata/two-files"]);
    let syntax = compare(&with(ID), &with("a: ]"));
    assert_eq!(rules(&syntax), ["document/syntax"]);
}

#[test]
fn every_format_shows_changed_metadata() {
    let with = |layer| [("_/metadata.yaml", layer), ("a/resource.yaml", "x: 1")];
    let report = compare(&with(ID), &with(KEY));
    let written = |write: &dyn Fn(&mut dyn std::io::Write) -> std::io::Result<()>| {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let unified = written(&|out| outcrop::report::unified::write(&report, &Style::default(), out));
    let expected = "\
diff --git a/a/resource.yaml#metadata b/a/resource.yaml#metadata
--- a/a/resource.yaml#metadata
+++ b/a/resource.yaml#metadata
@@ -1,2 +1,2 @@ /a metadata
 resourceInfo:
-  idFromAttribute: id
+  idFromAttribute: key
";
    assert!(unified.starts_with(expected), "{unified}");
    let patches = written(&|out| outcrop::report::json::write_patches(&report, out));
    let patch =
        r#""patch":[],"metadata_patch":[{"op":"replace","path":"/resourceInfo/idFromAttribute","value":"key"}]"#;
    assert!(patches.contains(patch), "{patches}");
    // The layer itself is a document like any other.
    assert_eq!(patches.matches("metadata_patch").count(), 1, "{patches}");
}
