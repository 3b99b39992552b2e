//! The steps of a comparison, each on its own.

use super::*;
use crate::finding::RESOURCE_DUPLICATE;
use crate::settings::Policy;
use crate::snapshot::MemorySnapshot;

type Files<'a> = &'a [(&'a str, &'a str)];

fn snapshot(label: &str, files: Files<'_>) -> MemorySnapshot {
    let add = |snapshot: MemorySnapshot, (path, text): &(&str, &str)| {
        snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes())
    };
    files.iter().fold(MemorySnapshot::new(label), add).with_ids()
}

fn with_comparison<T>(before: Files<'_>, after: Files<'_>, act: impl FnOnce(&Comparison<'_>) -> T) -> T {
    let (before, after) = (snapshot("before", before), snapshot("after", after));
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Base, &sources);
    act(&Comparison::new(&before, &after, &configuration, &sources, Options::default()))
}

fn load(comparison: &Comparison<'_>, documents: Documents) -> Loaded {
    let impact = impact::impact(&comparison.question());
    let layers = impact.layers;
    let edits = impact::LayerEdits::new(&comparison.before, &comparison.after, &layers);
    let reach = AffectedSelectors { is_everything: impact.is_everything, selectors: impact.selectors };
    let at_once = (documents == Documents::Differing).then(|| comparison.at_once(&reach, &layers, &edits)).flatten();
    comparison.load(impact.files, &impact.affected, &impact.in_units, documents, at_once.as_ref())
}

fn names(resources: &[crate::resource::Resource]) -> Vec<String> {
    resources.iter().map(|resource| resource.identity.to_string()).collect()
}

#[test]
fn loading_reads_what_differs_and_says_what_is_missing() {
    let before = &[("a.yaml", "v: 1"), ("b.yaml", "v: 1"), ("c.txt", "x")];
    let after = &[("a.yaml", "v: 2"), ("b.yaml", "v: 1"), ("c.txt", "y")];
    with_comparison(before, after, |comparison| {
        let loaded = load(comparison, Documents::All);
        assert_eq!((names(&loaded.before), names(&loaded.after)), (vec!["a.yaml".into()], vec!["a.yaml".into()]));
        assert_eq!((loaded.files.counted.edited, loaded.files.skipped.len(), loaded.gap), (2, 1, Gap::None));
    });
    // What one side cannot show must not look added on the other.
    with_comparison(&[("a.yaml", "v: [1")], &[("a.yaml", "v: 2")], |comparison| {
        let loaded = load(comparison, Documents::All);
        assert_eq!((loaded.before.len(), loaded.after.len(), loaded.gap), (0, 0, Gap::Unparsed));
        assert_eq!((loaded.findings.before.len(), loaded.findings.after.len()), (1, 0));
    });
}

#[test]
fn documents_that_are_the_same_to_the_letter_are_counted_and_not_read() {
    let (before, after) = (&[("a.yaml", "v: 1\n---\nw: 1\n")], &[("a.yaml", "v: 1\n---\nw: 2\n")]);
    with_comparison(before, after, |comparison| {
        let loaded = load(comparison, Documents::Differing);
        assert_eq!((loaded.at_once.count, loaded.files.counted.same_documents), (1, 1));
    });
}

#[test]
fn what_pairs_within_its_file_is_compared_when_it_is_read() {
    let before = &[("a.yaml", "v: 1\nw: 1\n"), ("b.yaml", "x: 1\n"), ("gone.yaml", "v: 1\n")];
    let after = &[("a.yaml", "v: 2\nw: 1\n"), ("b.yaml", "x: 1 # again\n"), ("new.yaml", "z: 1\n")];
    with_comparison(before, after, |comparison| {
        let loaded = load(comparison, Documents::Differing);
        assert_eq!((names(&loaded.before), names(&loaded.after)), (vec!["gone.yaml".into()], vec!["new.yaml".into()]));
        assert_eq!((loaded.at_once.count, loaded.at_once.own.len()), (2, 1), "one is only commented");
    });
}

const LAYER: &str = "operationInfo: {updateResource: {path: '/v1/{{.id}}'}}";
const OTHER_LAYER: &str = "operationInfo: {updateResource: {path: '/v2/{{.id}}'}}";

#[test]
fn resources_that_only_layers_change_are_compared_when_they_are_read() {
    let (edited, same) = (("c/a/resource.yaml", "{id: 1, v: 1}"), ("c/b/resource.yaml", "{id: 2}"));
    let before = &[("c/_/metadata.yaml", LAYER), edited, same];
    let after = &[("c/_/metadata.yaml", OTHER_LAYER), ("c/a/resource.yaml", "{id: 1, v: 2}"), same];
    with_comparison(before, after, |comparison| {
        let loaded = load(comparison, Documents::Differing);
        assert!(names(&loaded.after).contains(&"/c/a".to_owned()), "its payload differs too");
        assert!(!names(&loaded.after).contains(&"/c/b".to_owned()));
        assert_eq!((loaded.at_once.count, loaded.at_once.own.len()), (1, 0));
        let report = comparison.compare();
        let changed = |name: &str| {
            let of =
                report.resources.iter().find(|it| it.after.as_ref().is_some_and(|it| it.identity.to_string() == name));
            of.map(|it| (it.difference.changes.len(), it.metadata.changes.len(), it.requests.changes.len()))
        };
        assert_eq!((changed("/c/a"), changed("/c/b")), (Some((1, 1, 1)), Some((0, 1, 1))));
    });
}

#[test]
fn requests_are_compared_again_where_secrets_moved_in_another_file() {
    let config = ("outcrop.yaml", "secrets: [/token]");
    let copy = ("c/b/resource.yaml", "{id: correct-horse-battery}");
    let before = &[config, ("c/_/metadata.yaml", LAYER), copy, ("x.yaml", "token: correct-horse-battery")];
    let after = &[config, ("c/_/metadata.yaml", OTHER_LAYER), copy, ("x.yaml", "open: correct-horse-battery")];
    with_comparison(before, after, |comparison| {
        let loaded = comparison.hide(load(comparison, Documents::Differing));
        assert!(names(&loaded.after).contains(&"/c/b".to_owned()));
        assert_eq!(loaded.read_again.len(), 1);
        let (fast, slow) = (comparison.compare(), comparison.compare_everything());
        let shown = |report: &Report| {
            let of = |it: &ResourceChange| it.changes().map(|change| format!("{:?}", change.after)).collect::<Vec<_>>();
            report.resources.iter().flat_map(of).collect::<Vec<_>>()
        };
        assert_eq!(shown(&fast).len(), shown(&slow).len());
        assert!(!shown(&fast).iter().any(|text| text.contains("/v2/correct")), "{:?}", shown(&fast));
    });
}

#[test]
fn effect_applies_expressions_and_patches() {
    let patch = ("_/patches.yaml", "- operations: [{op: add, path: /w, value: 3}]");
    let (before, after) = (&[("a/resource.yaml", "v: 1"), patch], &[("a/resource.yaml", "v: 2"), patch]);
    with_comparison(before, after, |comparison| {
        let loaded = comparison.effect(load(comparison, Documents::All), &[]);
        assert!(loaded.findings.after.is_empty(), "{:?}", loaded.findings.after);
        assert!(loaded.after.iter().all(|resource| resource.payload.get("w").is_some()));
    });
}

#[test]
fn secrets_of_either_side_are_hidden_on_both() {
    let config = ("outcrop.yaml", "secrets: [/token]");
    let (before, after) = (&[config, ("a.yaml", "token: one")][..], &[("a.yaml", "token: two")][..]);
    with_comparison(before, after, |comparison| {
        let loaded = comparison.hide(load(comparison, Documents::All));
        let has_secret = |resource: &crate::resource::Resource| resource.payload.holds_secret();
        let of_file = |all: &[crate::resource::Resource]| {
            all.iter().filter(|it| it.file.file_name() == b"a.yaml").all(has_secret)
        };
        assert!(of_file(&loaded.before) && of_file(&loaded.after));
    });
}

#[test]
fn resources_below_a_changed_one_are_paired_if_their_requests_read_it() {
    let layer = ("c/_/d/_/metadata.yaml", "operationInfo: {getResource: {path: '/x/{{../v}}'}}");
    let rest = ("c/a/d/e/resource.yaml", "k: 1");
    let before = &[layer, rest, ("c/a/resource.yaml", "v: 1")];
    let after = &[layer, rest, ("c/a/resource.yaml", "v: 2")];
    with_comparison(before, after, |comparison| {
        let paired = comparison.pair(load(comparison, Documents::All), &AffectedSelectors::default());
        let files: Vec<String> = paired.readers.iter().map(ToString::to_string).collect();
        assert_eq!(files, ["c/a/d/e/resource.yaml"]);
        assert_eq!(paired.pairs.len(), 2);
    });
}

#[test]
fn a_report_has_what_changed_and_nothing_else() {
    let before = &[("a.yaml", "v: 1"), ("b.yaml", "v: 1")];
    let after = &[("a.yaml", "v: 2"), ("b.yaml", "v: 1")];
    let report = with_comparison(before, after, |comparison| comparison.compare());
    assert_eq!(report.resources.len(), 1);
    assert!(!report.incomplete && report.findings.is_empty());
    assert_eq!(report.compared, Compared { files: 1, resources: 1 });
}

#[test]
fn metadata_that_resources_share_is_hidden_by_what_is_declared_for_each() {
    let layer = |pin: &str| {
        let header = format!("httpHeaders: [{{name: X-Pin, value: {pin}}}]");
        format!("operationInfo: {{getResource: {{path: '/c/{{{{.id}}}}', {header}}}}}")
    };
    let (old, new) = (layer("pin-1"), layer("pin-2"));
    let [a, b] = ["c/a/resource.yaml", "c/b/resource.yaml"].map(|file| (file, "id: 1"));
    let before = snapshot("before", &[a, b, ("c/_/metadata.yaml", &old)]);
    let after = snapshot("after", &[a, b, ("c/_/metadata.yaml", &new)]);
    // What another snapshot declares for one of them.
    let other = snapshot("other", &[("c/b/metadata.yaml", "resourceInfo: {secretInAttributes: [X-Pin]}")]);
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Base, &sources);
    let given =
        Given { snapshot: &other, settings: &configuration.after, sources: &sources, limits: configuration.limits() };
    let options = Options { declaring: vec![given], ..Options::default() };
    let report = Comparison::new(&before, &after, &configuration, &sources, options).compare();
    for resource in report.resources.iter().filter(|it| it.after.as_ref().is_some_and(Resource::is_managed)) {
        let is_declared = resource.after.as_ref().is_some_and(|it| it.file.to_string() == b.0);
        let changes = [&resource.metadata, &resource.requests].into_iter().flat_map(|it| &it.changes);
        let hidden: Vec<bool> = changes.map(|it| it.after.as_ref().is_some_and(Node::holds_secret)).collect();
        assert!(!hidden.is_empty() && hidden.iter().all(|it| *it == is_declared), "{hidden:?} of {resource:?}");
    }
}

#[test]
fn a_check_reports_what_is_new() {
    let texts = ["1", "2", "3"].map(|v| format!("apiVersion: v1\nkind: A\nmetadata: {{name: x}}\nv: {v}\n"));
    let (two, three) = (texts[..2].join("---\n"), texts.join("---\n"));
    let before = &[("a.yaml", two.as_str()), ("b.yaml", two.as_str())];
    let after = &[("a.yaml", two.as_str()), ("b.yaml", three.as_str())];
    let rules = |judged| {
        let report = with_comparison(before, after, |comparison| comparison.check(judged));
        let duplicates = report.findings.iter().filter(|finding| finding.rule.id == RESOURCE_DUPLICATE.id).count();
        (duplicates, report.existing_problems)
    };
    assert_eq!(rules(Judged::Everything), (3, 0));
    assert_eq!(rules(Judged::Changed), (2, 0), "the only changed file is the only one that is looked at");
    assert_eq!(rules(Judged::New), (1, 1));
}

#[test]
fn the_worst_gap_counts() {
    assert!(Gap::Unreadable > Gap::Unparsed && Gap::Unparsed > Gap::Unchanged && Gap::Unchanged > Gap::None);
}
