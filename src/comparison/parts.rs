//! Compares two parts of one revision: directories, kustomize roots, files or single resources.
//!
//! Each part is read in its own place, so that what it includes and refers to is found. Then both are compared as if they were one
//! path in two revisions: files and roots are called by their names below the part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::effect::both_in_effect;
use super::hidden::HiddenSecrets;
use super::hide::Beside;
use super::pair::hiding;
use super::place::{Part, Places};
use super::report::is_about_the_run;
use super::rollout::without_suffixes;
use super::{Compared, Comparison, Report, SideFindings, TextCause, TextFile, UnitChange, units};
use crate::diff::{self, Expected, ResourceChange, ResourcePair, Suppressions};
use crate::finding::{self, Finding, Location};
use crate::layout::{Rendered, TreeFacts};
use crate::path::RepoPath;
use crate::resource::{ReadAs, Resource, SkipReason, Skipped, Unit};
use crate::rules;
use crate::secrets::hide_same_places;
use crate::settings::Expectation;
use crate::side::Side;
use crate::snapshot::{EntryKind, Scope, files_below};

/// What a part holds.
#[derive(Default)]
struct PartContent {
    /// Resources as they are written, after their directives.
    written: Vec<Resource>,
    /// What roots render, by root.
    rendered: BTreeMap<Unit, Arc<Rendered>>,
    findings: Vec<Finding>,
    /// The files that were read, with why a file has no resources.
    files: BTreeMap<RepoPath, Option<SkipReason>>,
    /// Files that decide about others, and have no resources.
    layers: BTreeSet<RepoPath>,
    unread: BTreeSet<RepoPath>,
    read_as: BTreeMap<ReadAs, usize>,
    is_incomplete: bool,
}

impl<'a> Comparison<'a> {
    /// The newer side.
    pub fn newer(&self) -> &Side<'a> {
        &self.after
    }

    /// What differs between two parts, except what is expected. An expected difference that does not occur is a finding.
    pub fn compare_parts(&self, parts: &[Part; 2], expectations: &[Expectation]) -> Report {
        let content = [self.content_of(&self.before, &parts[0]), self.content_of(&self.after, &parts[1])];
        let places = Places::new(parts);
        let unit_changes = unit_changes(&content, &places);
        let [before, after] = &content;
        let is_incomplete = before.is_incomplete || after.is_incomplete;
        let unread: BTreeSet<RepoPath> = before.unread.iter().chain(&after.unread).cloned().collect();
        let mut findings = SideFindings { before: before.findings.clone(), after: after.findings.clone() };
        let (resources, hidden, is_failed) = self.resources_of_parts(&content, &mut findings);
        // Only now it is known what of a text is secret.
        let (text_files, skipped, files) = self.files_of_parts(&content, &places, &hidden);
        let read_as = after.read_as.clone();
        let examined = resources[0].len().max(resources[1].len());
        let mut changes = self.changes_of_parts(resources, &places);
        let all = differing(&changes, &places);
        changes.retain(|change| self.options.selected.has(change));
        let filtered_out = all.len() - differing(&changes, &places).len();
        let policy = self.configuration.policy();
        let ignored = Suppressions::new(&policy.ignore, &policy.compare, &self.options.ignored, self.options.neat);
        let mut suppressed = ignored.apply(&mut changes);
        let mut resources = differing(&changes, &places);
        diff::sort(&mut resources);
        let Expected { met, unmet } = diff::expect(expectations, &mut resources);
        suppressed.extend(met);
        findings.after.extend(unmet.into_iter().map(|at| unmet_finding(&expectations[at])));
        let sources = self.after.sources;
        let limits = self.after.limits;
        let has_only_bumps = diff::differ_only_in_versions(&all, sources, limits);
        let mut bumps = diff::bumps(&resources, sources, limits);
        let grouped = self.grouped(&resources, &|_| false);
        let is_ungrouped = grouped.is_none();
        let (groups, edits) = grouped.unwrap_or_default();
        findings.after.extend(self.left_out());
        let is_cut = findings.before.iter().chain(&findings.after).any(is_about_the_run);
        let incomplete = is_incomplete || is_failed || is_cut;
        let is_all_known = !incomplete && text_files.is_empty() && skipped.is_empty();
        bumps.is_everything = !bumps.rows.is_empty() && is_all_known && has_only_bumps;
        let problems = self.part_problems(findings, &resources, &hidden);
        Report {
            groups,
            edits,
            is_ungrouped,
            bumps,
            compared: Compared { files, resources: resources.iter().filter(|it| it.is_difference()).count() },
            resources,
            filters: self.options.selected.words(),
            filtered_out,
            findings: problems.findings,
            switched_off: problems.switched_off,
            text_files,
            unread,
            examined,
            suppressed,
            units: unit_changes,
            incomplete,
            ..self.empty_report(skipped, read_as)
        }
    }

    /// What is wrong with either part, and expectations that are not met.
    fn part_problems(
        &self,
        findings: SideFindings,
        resources: &[ResourceChange],
        hidden: &HiddenSecrets,
    ) -> rules::Settled {
        let SideFindings { before, mut after } = findings;
        let known: BTreeSet<String> =
            after.iter().map(|it| format!("{:?} {}", it.path(self.after.sources), it.message)).collect();
        let is_new = |it: &Finding| !known.contains(&format!("{:?} {}", it.path(self.after.sources), it.message));
        after.extend(before.into_iter().filter(is_new));
        after.retain(|finding| finding.is_error() || finding.rule.id == finding::COMPARE_EXPECTED.id);
        after.extend(rules::unusable_list_keys(resources));
        self.settle(after, hidden)
    }

    /// Everything in a part, in its own place.
    fn content_of(&self, side: &Side<'_>, part: &Part) -> PartContent {
        let mut content = PartContent::default();
        match part {
            Part::Root(directory) => {
                let unit = Unit { layout: "kustomize".into(), key: directory.to_str().unwrap_or_default().into() };
                content.render(side, unit);
            }
            Part::Directory(directory) => {
                let budget = &self.options.budget;
                if side.files().has_units() {
                    let (facts, findings) = TreeFacts::read(side.units(), budget);
                    content.findings.extend(findings);
                    let is_inside =
                        |unit: &Unit| RepoPath::new(unit.key.as_str()).is_ok_and(|it| it.is_within(directory));
                    let shown = facts.units.into_iter().filter(|(unit, facts)| facts.is_shown && is_inside(unit));
                    shown.for_each(|(unit, _)| content.render(side, unit));
                }
                let (entries, unreadable) =
                    files_below(side.snapshot, &Scope::everything(), &budget.limits, &budget.spent);
                content.is_incomplete |=
                    unreadable.iter().any(|it| it.path.is_within(directory) || directory.is_within(&it.path));
                content.findings.extend(unreadable.into_iter().map(crate::snapshot::Unreadable::into_finding));
                let shown: BTreeSet<RepoPath> = content.files.keys().cloned().collect();
                let inside = entries.into_iter().map(|entry| entry.path).filter(|path| path.is_within(directory));
                inside.filter(|path| !shown.contains(path)).for_each(|path| content.read(side, path));
            }
            Part::File(file) => content.read(side, file.clone()),
            Part::Resource(resource) => {
                content.files.insert(resource.file.clone(), None);
                content.written.push((**resource).clone());
            }
        }
        content
    }

    /// The resources of both parts in effect, with their secrets hidden; what was hidden; and whether a stage failed.
    fn resources_of_parts(
        &self,
        content: &[PartContent; 2],
        findings: &mut SideFindings,
    ) -> ([Vec<Resource>; 2], HiddenSecrets, bool) {
        let written = |of_units: bool| {
            content.each_ref().map(|part| -> Vec<Resource> {
                part.written.iter().filter(|it| it.unit.is_some() == of_units).cloned().collect()
            })
        };
        let [old, new] = written(false);
        let [old, new] = both_in_effect(old, new, &self.before, &self.after);
        let is_failed = old.is_incomplete || new.is_incomplete;
        findings.before.extend(old.findings);
        findings.after.extend(new.findings);
        let [old_single, new_single] = written(true);
        let rendered = |part: &PartContent, singles: Vec<Resource>| {
            let built = part.rendered.values().filter(|rendered| !rendered.is_broken);
            let all = built.flat_map(|rendered| units::all(rendered).cloned().collect::<Vec<_>>());
            all.chain(singles).collect::<Vec<Resource>>()
        };
        let units = self.hide_unit([rendered(&content[0], old_single), rendered(&content[1], new_single)]);
        let [old_units, new_units] = without_suffixes(units);
        let old = old.resources.into_iter().chain(old_units).collect();
        let new = new.resources.into_iter().chain(new_units).collect();
        let (resources, hidden) = self.hide_both(old, new, Beside::Parts);
        (resources, hidden, is_failed)
    }

    /// Pairs resources as if both parts had one place, and compares each pair.
    fn changes_of_parts(&self, resources: [Vec<Resource>; 2], places: &Places<'_>) -> Vec<ResourceChange> {
        let placed = |side: usize| {
            let numbered = resources[side].iter().enumerate();
            let placed = numbered.map(|(at, it)| Resource { position: at, ..places.placed(side, it.clone()) });
            placed.collect::<Vec<Resource>>()
        };
        let own = |side: usize, placed: Option<Resource>| placed.map(|it| resources[side][it.position].clone());
        let pairs = diff::pair(placed(0), placed(1));
        let pairs: Vec<ResourcePair> = pairs.into_iter().map(|(old, new)| (own(0, old), own(1, new))).collect();
        // What is declared for one part is meant for what corresponds to it in the other.
        let pairs = hiding(pairs, hide_same_places);
        diff::compare_resources(pairs, &self.diff_options())
    }

    /// Files without resources that differ: those that are shown as text, those that are not compared, and the number of all files
    /// that differ.
    fn files_of_parts(
        &self,
        content: &[PartContent; 2],
        places: &Places<'_>,
        hidden: &HiddenSecrets,
    ) -> (Vec<TextFile>, Vec<Skipped>, usize) {
        let mut paths: BTreeMap<RepoPath, [Option<&RepoPath>; 2]> = BTreeMap::new();
        for (side, content) in content.iter().enumerate() {
            for path in content.files.keys() {
                paths.entry(places.path(side, path)).or_default()[side] = Some(path);
            }
        }
        let (mut texts, mut skipped, mut count) = (Vec::new(), Vec::new(), 0);
        for (path, sides) in paths {
            if self.is_same_file(sides) {
                continue;
            }
            count += 1;
            let reason = sides.iter().zip(content).find_map(|(path, content)| *content.files.get((*path)?)?);
            let is_layer =
                sides.iter().zip(content).any(|(path, it)| path.is_some_and(|path| it.layers.contains(path)));
            let is_unread =
                sides.iter().zip(content).any(|(path, it)| path.is_some_and(|path| it.unread.contains(path)));
            let cause = if is_unread { TextCause::Unread } else { TextCause::NotByContent };
            let kind = if is_layer { "layers" } else { "files with errors" };
            if is_layer || is_unread {
                texts.extend(self.text_of_part(sides, path, cause, kind, hidden));
            } else if let Some(reason) = reason {
                let file = Skipped { path: path.clone(), reason };
                match super::text_files::is_configuration_by_name(&file) || self.options.all_files {
                    true => texts.extend(self.text_of_part(sides, path, cause, reason.describe(), hidden)),
                    false => skipped.push(file),
                }
            }
        }
        (texts, skipped, count)
    }

    fn text_of_part(
        &self,
        [before, after]: [Option<&RepoPath>; 2],
        path: RepoPath,
        cause: TextCause,
        kind: &'static str,
        hidden: &HiddenSecrets,
    ) -> Option<TextFile> {
        let content = self.text_of_sides(before, after, hidden).ok()?;
        Some(TextFile { path, renamed_from: None, cause, kind, content })
    }

    fn is_same_file(&self, [before, after]: [Option<&RepoPath>; 2]) -> bool {
        let entry = |side: &Side<'_>, path: Option<&RepoPath>| side.snapshot.entry(path?).ok().flatten();
        let (Some(before), Some(after)) = (entry(&self.before, before), entry(&self.after, after)) else {
            return false;
        };
        if before.id.is_some() && before.id == after.id {
            return before.kind == after.kind;
        }
        let is_file = before.kind == EntryKind::File && after.kind == EntryKind::File;
        let read = (self.before.snapshot.read(&before), self.after.snapshot.read(&after));
        is_file && matches!(read, (Ok(before), Ok(after)) if before == after)
    }
}

impl PartContent {
    /// Adds the resources of a file.
    fn read(&mut self, side: &Side<'_>, path: RepoPath) {
        let content = side.file(&path);
        self.files.insert(path.clone(), content.skipped);
        self.findings.extend(content.findings.iter().cloned());
        self.written.extend(content.resources.iter().cloned());
        self.is_incomplete |= content.is_broken || content.is_incomplete;
        if content.is_broken {
            self.unread.insert(path.clone());
        }
        if let Some(read_as) = content.read_as {
            *self.read_as.entry(read_as).or_default() += 1;
            if matches!(read_as, ReadAs::Layer | ReadAs::Configuration) {
                self.layers.insert(path);
            }
        }
    }

    /// Adds what a root renders.
    fn render(&mut self, side: &Side<'_>, unit: Unit) {
        let rendered = side.units().rendered(&unit);
        self.findings.extend(rendered.findings.iter().cloned());
        self.is_incomplete |= rendered.is_broken;
        self.files.extend(rendered.shows.iter().map(|path| (path.clone(), None)));
        self.rendered.insert(unit, rendered);
    }
}

/// The changes that are left when both parts have one place.
fn differing(changes: &[ResourceChange], places: &Places<'_>) -> Vec<ResourceChange> {
    let placed = changes.iter().map(|change| ResourceChange {
        before: change.before.clone().map(|it| places.placed(0, it)),
        after: change.after.clone().map(|it| places.placed(1, it)),
        ..change.clone()
    });
    placed.filter(|change| change.is_difference() || change.spellings().next().is_some()).collect()
}

/// The roots of both parts whose output differs or is not known.
fn unit_changes(content: &[PartContent; 2], places: &Places<'_>) -> Vec<UnitChange> {
    let mut found: BTreeMap<Unit, [Option<&Arc<Rendered>>; 2]> = BTreeMap::new();
    for (side, content) in content.iter().enumerate() {
        for (unit, rendered) in &content.rendered {
            found.entry(places.unit(side, unit)).or_default()[side] = Some(rendered);
        }
    }
    let changes = found.into_iter().map(|(unit, sides)| {
        let outputs = sides.map(|rendered| rendered.cloned().unwrap_or_default());
        UnitChange {
            unit,
            sides: sides.map(|rendered| rendered.is_some()),
            failed: [outputs[0].is_broken, outputs[1].is_broken],
            missing: [false, false],
            is_left_out: false,
            resources: units::differing(&outputs),
        }
    });
    changes.filter(UnitChange::is_difference).collect()
}

fn unmet_finding(expectation: &Expectation) -> Finding {
    let message = match &expectation.reason {
        Some(reason) => format!("this difference does not occur: {reason}"),
        None => "this difference does not occur".to_owned(),
    };
    Finding::new(&finding::COMPARE_EXPECTED, Location::Span(expectation.at), message)
        .labelled("nothing differs like this")
        .help("remove the entry if the difference is gone for good, or look why it is missing")
}
