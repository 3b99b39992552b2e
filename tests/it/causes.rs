//! Why resources change, through the whole comparison: groups, causes, edited files, overriding resources and dead edits.

use outcrop::comparison::{Comparison, Judged};
use outcrop::diff::{self, Group, Origin};
use outcrop::report::{Report, Style, json, terminal};
use outcrop::text::Span;

use crate::comparing::{Comparing, snapshot};

type Files = Vec<(String, String)>;

fn run<T>(before: &Files, after: &Files, scope: &[&str], act: impl Fn(&Comparison<'_>) -> T) -> T {
    let side = |label, files: &Files| snapshot(label, files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
    Comparing { scope, ..Comparing::new(side("before", before), side("after", after)) }.run(act)
}

fn compare(before: &Files, after: &Files) -> Report {
    run(before, after, &[], |comparison| comparison.compare())
}

fn files(list: &[(&str, &str)]) -> Files {
    list.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn shown(report: &Report, width: usize) -> String {
    let mut out = Vec::new();
    terminal::write(report, &Style { width, ..Style::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn line(report: &Report, span: Span) -> (String, usize) {
    let source = report.sources.get(span.source);
    (source.path.to_string(), source.line_column(span.start as usize).0)
}

/// Path, number of resources and where the newer value is written.
fn groups(report: &Report) -> Vec<(String, usize, String)> {
    let origin = |group: &Group| match group.after.as_ref().or(group.before.as_ref()).map(|cause| &cause.origin) {
        Some(Origin::At(place)) => format!("{}:{}", place.file, line(report, place.span).1),
        Some(Origin::Own) => "own".to_owned(),
        Some(Origin::Apart) => "apart".to_owned(),
        None => String::new(),
    };
    let path = |group: &Group| diff::pointer(&group.path, diff::DiffSide::After).to_string();
    report.groups.iter().map(|group| (path(group), group.resource_count(), origin(group))).collect()
}

fn customers(count: usize, layer: &str) -> Files {
    let mut all = files(&[("customers/_/metadata.yaml", layer)]);
    all.extend((0..count).map(|at| (format!("customers/c{at:02}/resource.yaml"), format!("id: {at}\nplan: silver\n"))));
    all
}

const V1: &str = "operationInfo:\n  getResource: {path: '/v1/{{.id}}'}\n  updateResource:\n    path: /v1/{{.id}}\n";
const V2: &str = "operationInfo:\n  getResource: {path: '/v2/{{.id}}'}\n  updateResource:\n    path: /v2/{{.id}}\n";

#[test]
fn two_edited_lines_that_reach_many_take_few_lines() {
    let report = compare(&customers(37, V1), &customers(37, V2));
    assert_eq!(
        groups(&report),
        [
            ("/operationInfo/getResource/path".into(), 37, "customers/_/metadata.yaml:2".into()),
            ("/operationInfo/updateResource/path".into(), 37, "customers/_/metadata.yaml:4".into()),
            ("/path".into(), 37, "customers/_/metadata.yaml:2".into()),
            ("/path".into(), 37, "customers/_/metadata.yaml:4".into()),
        ],
        "the requests follow from the metadata"
    );
    let edited: Vec<_> =
        report.edits.files.iter().map(|file| (file.file.to_string(), file.edits, file.resources)).collect();
    assert_eq!(edited, [("customers/_/metadata.yaml".to_owned(), 2, 37)]);
    for width in [80, 100, 140] {
        let shown = shown(&report, width);
        assert!(shown.lines().count() <= 20, "{shown}");
        assert!(shown.contains("37 resources") && shown.contains("because customers/_/metadata.yaml:2"), "{shown}");
        assert!(shown.contains("~ update request › .path  /v1/… → /v2/…\n"), "{shown}");
    }
}

#[test]
fn fingerprints_survive_moved_lines_and_other_changes() {
    let names = |report: &Report| report.groups.iter().map(|group| group.fingerprint.to_string()).collect::<Vec<_>>();
    let first = names(&compare(&customers(3, V1), &customers(3, V2)));
    assert_eq!(first.len(), 4);
    let (old, new) = (format!("# a\n# b\n{V1}"), format!("# a\n{V2}"));
    assert_eq!(first, names(&compare(&customers(5, &old), &customers(5, &new))));
    let with_other = |layer, text: &str| [customers(3, layer), files(&[("x.yaml", text)])].concat();
    assert_eq!(first, names(&compare(&with_other(V1, "a: 1"), &with_other(V2, "a: 2"))));
}

#[test]
fn the_same_edit_in_many_files_is_one_group() {
    let with = |plan: &str, count: usize| -> Files {
        let text = |at| format!("id: {at}\nplan: {plan}\nlist: [{{name: x, v: {plan}}}, 1.0]\n");
        (0..count).map(|at| (format!("c/c{at}/resource.yaml"), text(at))).collect()
    };
    let report = compare(&with("silver", 4), &with("gold", 4));
    let found = groups(&report);
    assert_eq!(found[0], ("/plan".into(), 4, "own".into()));
    assert_eq!((found.len(), found[1].1), (2, 4));
    assert!(report.edits.files.is_empty());
    assert_eq!((report.edits.own.files, report.edits.own.edits), (4, 8));
    // What is only equal is not the same: 1 and 1.0 differ.
    let numbers = |of: [&str; 2]| files(&[("a/resource.yaml", of[0]), ("b/resource.yaml", of[1])]);
    assert!(compare(&numbers(["n: 1", "n: 1.0"]), &numbers(["n: 2", "n: 2"])).groups.is_empty());
}

#[test]
fn the_same_edit_in_the_metadata_of_each_resource_is_one_group() {
    let with = |id: &str| {
        let mut all = Files::new();
        for name in ["a", "b", "c"] {
            all.push((format!("x/{name}/resource.yaml"), format!("n: {name}\n")));
            all.push((format!("x/{name}/metadata.yaml"), format!("resourceInfo: {{idFromAttribute: {id}}}\n")));
        }
        all
    };
    let report = compare(&with("old"), &with("new"));
    let of_metadata: Vec<_> = groups(&report).into_iter().filter(|(_, _, origin)| origin == "apart").collect();
    assert_eq!(of_metadata, [("/resourceInfo/idFromAttribute".into(), 3, "apart".into())]);
    assert!(shown(&report, 100).contains("because x/{a, b, c}/metadata.yaml\n"), "{}", shown(&report, 100));
}

#[test]
fn what_is_included_is_the_cause_and_includes_are_shown() {
    let with = |base: &str| {
        files(&[
            ("shared/base.yaml", base),
            ("x/a/resource.yaml", "# one line more\ncommon:\n  +include: ../../shared/base.yaml\n"),
            ("x/b/resource.yaml", "common:\n  +include: ../../shared/base.yaml\nown: 1\n"),
            ("x/c/resource.yaml", "deep:\n  +include: ../../shared/base.yaml\n"),
        ])
    };
    let report = compare(&with("timeout: 30\n"), &with("retries: 1\ntimeout: 60\n"));
    assert!(groups(&report).contains(&("/common/timeout".into(), 2, "shared/base.yaml:2".into())));
    assert!(groups(&report).contains(&("/common/retries".into(), 2, "shared/base.yaml:1".into())));
    let text = shown(&report, 100);
    assert!(text.contains("because shared/base.yaml:2, via an include in each of them\n"), "{text}");
    assert!(
        text.contains(
            "  ~ .deep.timeout  30 → 60\n      because shared/base.yaml:2, via the include in line 2 of this file\n"
        ),
        "{text}"
    );
    assert!(text.contains("  shared/base.yaml  2 edits → 3 resources\n"), "{text}");
    assert!(!text.contains("\n~ shared/base.yaml"), "its readers show what changed in it: {text}");
}

#[test]
fn an_override_that_goes_away_is_an_outlier_with_both_causes() {
    let own = |with: bool| {
        files(if with {
            &[("customers/c01/metadata.yaml", "operationInfo: {updateResource: {path: /own}}\n")]
        } else {
            &[]
        })
    };
    let before = [customers(4, V1), own(true)].concat();
    let after = [customers(4, V2), own(false)].concat();
    let report = compare(&before, &after);
    assert!(groups(&report).contains(&(
        "/operationInfo/updateResource/path".into(),
        3,
        "customers/_/metadata.yaml:4".into()
    )));
    let text = shown(&report, 120);
    assert!(text.contains("because customers/{c01 => _}/metadata.yaml:4\n"), "{text}");
}

#[test]
fn resources_that_override_an_edited_value_are_listed() {
    let own = files(&[
        ("customers/c01/metadata.yaml", "operationInfo:\n  updateResource:\n    path: /own\n"),
        ("customers/c02/metadata.yaml", "operationInfo: {updateResource: null}\n"),
    ]);
    let with = |layer| [customers(5, layer), own.clone()].concat();
    let report = compare(&with(V1), &with(V2));
    let edits: Vec<_> = report
        .layer_edits
        .iter()
        .map(|edit| {
            let by: Vec<_> = edit.overridden.iter().map(|it| (it.resource.to_string(), line(&report, it.by))).collect();
            (edit.pointer.to_string(), edit.readers, edit.is_dead, by)
        })
        .collect();
    assert_eq!(
        edits,
        [(
            "/operationInfo/updateResource/path".to_owned(),
            3,
            false,
            vec![
                ("/customers/c01".to_owned(), ("customers/c01/metadata.yaml".to_owned(), 3)),
                ("/customers/c02".to_owned(), ("customers/c02/metadata.yaml".to_owned(), 1)),
            ]
        )]
    );
    assert!(report.findings.is_empty() && report.new_problems.is_empty());
    let text = shown(&report, 100);
    assert!(text.contains("\n      not affected: 2 overridden by customers/{c01, c02}/metadata.yaml\n"), "{text}");
}

#[test]
fn an_edit_that_no_resource_uses_is_a_warning() {
    let dead = |report: &Report| {
        let findings = report.findings.iter().chain(&report.new_problems);
        findings.filter(|it| it.rule.id == "metadata/dead-edit").count()
    };
    // No resource is below.
    let lonely = |layer| files(&[("empty/_/metadata.yaml", layer), ("x/a/resource.yaml", "a: 1")]);
    assert_eq!(dead(&compare(&lonely(V1), &lonely(V2))), 1);
    assert_eq!(dead(&run(&lonely(V1), &lonely(V2), &[], |comparison| comparison.check(Judged::New))), 1);
    assert_eq!(dead(&compare(&lonely(V1), &lonely(V1))), 0);
    // Every resource has a value of its own.
    let own = files(&[("customers/c00/metadata.yaml", "operationInfo: {updateResource: {path: /own}}\n")]);
    let with = |layer| [customers(1, layer), own.clone()].concat();
    let report = compare(&with(V1), &with(V2));
    assert_eq!((dead(&report), report.layer_edits.iter().filter(|edit| edit.is_dead).count()), (1, 1));
    assert!(shown(&report, 100).contains("1 dead edit"));
    // A file that cannot be read may use it, and so may one that was not looked at.
    let broken = |layer| [lonely(layer), files(&[("empty/x/resource.yaml", "a: [")])].concat();
    assert_eq!(dead(&compare(&broken(V1), &broken(V2))), 0);
    let asked = |scope: &[&str]| dead(&run(&lonely(V1), &lonely(V2), scope, |comparison| comparison.compare()));
    assert_eq!((asked(&["/x"]), asked(&["empty"])), (0, 1));
    // Removing what no resource read leaves nothing dead behind.
    let rest = "operationInfo:\n  getResource: {path: '/v1/{{.id}}'}\n";
    assert_eq!(dead(&compare(&lonely(V1), &lonely(rest))), 0);
}

#[test]
fn a_layer_that_goes_away_shields_and_reaches_as_it_did() {
    let own = files(&[("customers/c01/metadata.yaml", "operationInfo: {updateResource: {path: /own}}\n")]);
    let before = [customers(3, V1), own.clone()].concat();
    let after: Files = before.iter().filter(|(path, _)| !path.contains("/_/")).cloned().collect();
    let report = compare(&before, &after);
    let edit =
        report.layer_edits.iter().find(|edit| edit.pointer.to_string().ends_with("updateResource/path")).unwrap();
    assert_eq!((edit.readers, edit.overridden.len(), edit.is_dead), (2, 1, false));
    assert!(report.groups.iter().any(|group| group.resource_count() == 2));
}

#[test]
fn the_json_report_has_groups_and_causes() {
    let report = compare(&customers(3, V1), &customers(3, V2));
    let mut out = Vec::new();
    json::write(&report, &mut out).unwrap();
    let wire: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(
        wire["groups"][0]["resources"],
        serde_json::json!(["/customers/c00", "/customers/c01", "/customers/c02"])
    );
    assert_eq!(wire["groups"][0]["cause"]["after"]["file"], "customers/_/metadata.yaml");
    assert_eq!(wire["sources"][0]["resources"], 3);
    let change = &wire["resources"][0]["metadata"][0];
    assert_eq!(
        (&change["group"], &change["cause"]["after"]["own"]),
        (&wire["groups"][0]["fingerprint"], &false.into())
    );
}
