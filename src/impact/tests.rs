//! Which files edits affect, through each of the ways in which files depend on each other.

use std::sync::{Arc, Mutex};

use super::*;
use crate::layout::LAYOUTS;
use crate::secrets::DeclaredElsewhere;
use crate::settings::{Configuration, Given, PlaceRule, Policy};
use crate::snapshot::{MemorySnapshot, ObjectId};
use crate::text::Sources;

/// Remembers the facts of the last tree.
#[derive(Default)]
struct Last(Mutex<Option<(ObjectId, TreeFacts)>>);

impl Memory for Last {
    fn recall(&self, tree: ObjectId, _reading: &str) -> Option<TreeFacts> {
        self.0.lock().unwrap().clone().filter(|(id, _)| *id == tree).map(|(_, facts)| facts)
    }

    fn remember(&self, tree: ObjectId, _reading: &str, facts: &TreeFacts) {
        *self.0.lock().unwrap() = Some((tree, facts.clone()));
    }
}

fn snapshot(files: &[(&str, &str)]) -> MemorySnapshot {
    let with = |snapshot: MemorySnapshot, (path, text): &(&str, &str)| {
        snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes())
    };
    files.iter().fold(MemorySnapshot::new("test"), with).with_ids()
}

fn impact_between(before: &[(&str, &str)], after: &[(&str, &str)], memory: &dyn Memory) -> Impact {
    let (before, after) = (snapshot(before), snapshot(after));
    let sources = Arc::new(Sources::default());
    let configuration = Configuration::read(&before, &after, Policy::Base, &sources);
    let limits = configuration.limits();
    let given = [(&before, &configuration.before), (&after, &configuration.after)];
    let given = given.map(|(snapshot, settings)| Given { snapshot, settings, sources: &sources, limits });
    let [before, after] =
        Side::pair(given, &[], DeclaredElsewhere::default(), LAYOUTS, std::iter::empty::<&PlaceRule>(), false);
    let (scope, budget) = (Scope::everything(), Budget::default());
    impact(&Question { before: &before, after: &after, scope: &scope, budget: &budget, memory })
}

/// The files that an edit affects although they were not edited.
fn affected(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    let impact = impact_between(before, after, &NoMemory);
    impact.affected.iter().map(ToString::to_string).collect()
}

#[test]
fn an_edit_affects_files_that_include_it_directly_or_not() {
    let rest = [("user.yaml", "+include: base.yaml"), ("base.yaml", "+include: deep.yaml"), ("other.yaml", "a: 1")];
    let with = |text| [&rest[..], &[("deep.yaml", text)]].concat();
    assert_eq!(affected(&with("x: 1"), &with("x: 2")), ["base.yaml", "user.yaml"]);
    assert_eq!(affected(&rest, &with("x: 1")), ["base.yaml", "user.yaml"], "a file that was absent");
}

#[test]
fn every_edit_affects_files_with_expressions_and_no_others() {
    let with = |text| {
        [("computed/resource.yaml", "v: {eval: '::a::x'}"), ("words.yaml", "eval: 1\nother: 2"), ("a.yaml", text)]
    };
    assert_eq!(affected(&with("x: 1"), &with("x: 2")), ["computed/resource.yaml"]);
}

#[test]
fn a_changed_layer_affects_what_is_below_its_selector() {
    let with = |id| [("c/_/metadata.yaml", id), ("c/x/resource.yaml", "id: 1"), ("d/y/resource.yaml", "id: 1")];
    let text = |name| format!("resourceInfo: {{idFromAttribute: {name}}}");
    assert_eq!(affected(&with(&text("id")), &with(&text("name"))), ["c/x/resource.yaml"]);
}

#[test]
fn a_layer_that_includes_an_edited_file_counts_as_changed() {
    let with =
        |text| [("_/metadata.yaml", "+include: ../shared.yaml"), ("x/resource.yaml", "id: 1"), ("shared.yaml", text)];
    let impact = impact_between(&with("resourceInfo: {}"), &with("resourceInfo: {idFromAttribute: id}"), &NoMemory);
    assert_eq!(impact.layers.iter().map(ToString::to_string).collect::<Vec<_>>(), ["_/metadata.yaml"]);
    assert!(impact.affected.contains(&RepoPath::new("x/resource.yaml").unwrap()));
}

#[test]
fn a_file_that_becomes_a_legacy_resource_is_affected() {
    let before = [("c/old.yaml", "id: 1"), ("e/other.yaml", "id: 1")];
    let after = [&before[..], &[("c/new/resource.yaml", "id: 2")]].concat();
    assert_eq!(affected(&before, &after), ["c/old.yaml"]);
}

#[test]
fn settings_that_read_files_differently_affect_everything() {
    let before = [("a.yaml", "x: 1"), ("b.yaml", "x: 1")];
    let after = [&before[..], &[("outcrop.yaml", "directives: off")]].concat();
    let impact = impact_between(&before, &after, &NoMemory);
    assert!(impact.is_everything && impact.affected.len() == 3);
}

#[test]
fn only_files_that_depend_on_others_are_remembered() {
    let with = |text| {
        [
            ("user.yaml", "+include: a.yaml"),
            ("words.yaml", "medieval: \"\\x65val\""),
            ("script.yaml", "r: |\n  a \\\n  b\n"),
            ("a.yaml", text),
        ]
    };
    let memory = Last::default();
    impact_between(&with("x: 1"), &with("x: 2"), &memory);
    let facts = memory.0.lock().unwrap().clone().unwrap().1;
    assert_eq!(facts.files.keys().map(ToString::to_string).collect::<Vec<_>>(), ["user.yaml"]);
    assert_eq!(
        *facts.files[&RepoPath::new("user.yaml").unwrap()].inputs,
        [Input::File(RepoPath::new("a.yaml").unwrap())]
    );
}

#[test]
fn carried_facts_are_those_that_reading_the_tree_gives() {
    let one = [("user.yaml", "+?include: late.yaml"), ("gone.yaml", "+include: a.yaml"), ("a.yaml", "x: 1")];
    let two = [("user.yaml", "+?include: late.yaml"), ("late.yaml", "v: {eval: '.::x'}"), ("a.yaml", "x: 1")];
    let carried = Last::default();
    impact_between(&one, &two, &carried);
    let fresh = Last::default();
    impact_between(&[("z.yaml", "+include: y.yaml")], &two, &fresh);
    let facts = |memory: &Last| memory.0.lock().unwrap().clone().unwrap().1;
    assert_eq!(facts(&carried), facts(&fresh));
    assert_eq!(facts(&carried).files.len(), 2);
}
