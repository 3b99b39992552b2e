//! Compares two sides: the whole run on one screen. Each step returns its result.
//!
//! load → effect → hide → pair → compare → report. What a step finds out travels in its result: resources by side, findings by side,
//! and how complete everything is.

mod at_once;
mod caused_by;
mod causes;
mod compare_rules;
mod effect;
mod expressions;
mod hidden;
mod hide;
mod judge;
mod load;
mod metadata;
mod metadata_difference;
mod pair;
mod parse_once;
mod parts;
mod patched;
mod place;
mod report;
mod requests;
mod rollout;
mod selectors;
mod selected;
mod text_files;
mod transitions;
mod unit_change;
mod units;
mod views;

use std::collections::BTreeSet;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::diff::{self, ResourceChange};
use crate::document::{self, Format};
use crate::finding::{Finding, METADATA_PATH};
use crate::glob::is_glob;
use crate::impact::{self, Impact, Memory, NoMemory};
use crate::layout::{LAYOUTS, Layout, Role};
use crate::limits::{Budget, Limits};
use crate::metadata::{MetadataPath, WILDCARD, is_layer_file};
use crate::parallel::{FEW, few_or_many};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::rules;
use crate::secrets::DeclaredElsewhere;
use crate::settings::{Configuration, Given, ListRule};
use crate::side::Side;
use crate::snapshot::{ChangedFile, Entry, Scope, Snapshot, files_below};
use crate::text::{Sources, Span};
use crate::value::Node;

pub use crate::snapshot::Copied;
use load::{Documents, Loaded};
use metadata::MetadataDifferences;
use pair::LoadSummary;
pub use patched::patched_report;
pub use place::Part;
pub use report::{Compared, Report};
pub use rollout::Rollout;
pub use selected::SelectedResources;
pub use text_files::{TextCause, TextContent, TextFile};
pub use unit_change::{DefinitionUse, UnitChange};
pub use views::ComparedViews;

/// Two sides, and what is to be found out about them.
pub struct Comparison<'a> {
    before: Side<'a>,
    after: Side<'a>,
    configuration: &'a Configuration,
    options: Options<'a>,
    /// How metadata differs, computed once for all resources that share it.
    metadata: MetadataDifferences,
}

/// What can be chosen for a comparison. By default everything is compared, and secrets are hidden.
pub struct Options<'a> {
    /// The files of interest.
    pub scope: Scope,
    /// What the run may use up; the snapshots use the same budget.
    pub budget: Budget,
    /// Places whose changes the user does not want to see, beside those of the configuration.
    pub ignored: Vec<SmolStr>,
    /// Whether the fields of every preset are ignored.
    pub neat: bool,
    /// What is known about whole trees from earlier runs.
    pub memory: &'a dyn Memory,
    /// How files become resources, the most specific layout first.
    pub layouts: &'a [&'a dyn Layout],
    /// What is compared of a resource.
    pub views: ComparedViews,
    /// Other snapshots whose layers declare secrets, where the sides do not have these layers themselves.
    pub declaring: Vec<Given<'a>>,
    /// Snapshots that both sides replace, if they are one revision: what was secret there stays hidden.
    pub replaced: Vec<Given<'a>>,
    /// What these snapshots say about files that are seen alone.
    pub elsewhere: DeclaredElsewhere,
    /// The day by which waivers are judged, as `YYYY-MM-DD`.
    pub day: SmolStr,
    /// Which resources are shown.
    pub selected: SelectedResources,
    /// Whether secrets are shown; only for a person at a terminal who asks for it.
    pub reveal: bool,
    /// Whether files that are no configuration are shown as text.
    pub all_files: bool,
    /// Whether changed resources are kept as a whole. Where a report shows nothing but their changes, the rest of them only takes
    /// memory.
    pub keeps_resources: bool,
    /// Whether selectors that no resource matches are compared too, where there are resources.
    pub all_selectors: bool,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            scope: Scope::everything(),
            budget: Budget::default(),
            ignored: Vec::new(),
            neat: false,
            memory: &NoMemory,
            layouts: LAYOUTS,
            views: ComparedViews::default(),
            declaring: Vec::new(),
            replaced: Vec::new(),
            elsewhere: DeclaredElsewhere::default(),
            day: SmolStr::default(),
            selected: SelectedResources::default(),
            reveal: false,
            all_files: false,
            keeps_resources: true,
            all_selectors: false,
        }
    }
}

/// Which findings a check reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// Those that the newer side has and the older has not, in files that differ.
    New,
    /// All of the newer side, in files that differ.
    Changed,
    /// All of the newer side, in every file.
    Everything,
}

/// How a comparison shows new problems that do not limit it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewProblems {
    /// As a number; a check lists them.
    Counted,
    /// Among the findings.
    Listed,
}

/// What a reviewer asks about a change.
pub struct Review {
    /// What differs, what limits the comparison, and what is wrong since this change.
    pub difference: Report,
    /// What is wrong since this change.
    pub verdict: Report,
}

impl<'a> Comparison<'a> {
    /// The comparison of two snapshots.
    pub fn new(
        before: &'a dyn Snapshot,
        after: &'a dyn Snapshot,
        configuration: &'a Configuration,
        sources: &'a Arc<Sources>,
        options: Options<'a>,
    ) -> Self {
        let limits = configuration.limits();
        let before = Given { snapshot: before, settings: &configuration.before, sources, limits };
        let after = Given { snapshot: after, settings: &configuration.after, sources, limits };
        let [before, after] = Side::pair(
            [before, after],
            &options.declaring,
            options.elsewhere.clone(),
            options.layouts,
            configuration.secret_rules(),
            options.reveal,
        );
        let [before, after] = [before, after].map(|side| side.in_place_of(&options.replaced, options.layouts));
        Self { before, after, configuration, options, metadata: MetadataDifferences::default() }
    }

    /// The semantic difference of both sides.
    pub fn compare(&self) -> Report {
        let prepared = self.prepare(impact::impact(&self.question()), Documents::Differing);
        self.difference(self.with_transitions(prepared), NewProblems::Counted)
    }

    /// The difference, found by reading every file of both sides: what [`compare`](Self::compare) must agree with.
    pub fn compare_everything(&self) -> Report {
        let prepared = self.prepare(impact::everything(&self.question()), Documents::All);
        self.difference(self.with_transitions(prepared), NewProblems::Counted)
    }

    /// What is wrong with the newer side.
    pub fn check(&self, judged: Judged) -> Report {
        let impact = match judged {
            Judged::New | Judged::Changed => impact::impact(&self.question()),
            Judged::Everything => self.everything_new(),
        };
        self.verdict(&self.judge(self.prepare(impact, Documents::All), judged), judged)
    }

    /// The difference and the verdict, from one reading.
    pub fn review(&self) -> Review {
        let prepared = self.judge(self.prepare(impact::impact(&self.question()), Documents::All), Judged::New);
        let verdict = self.verdict(&prepared, Judged::New);
        Review { difference: self.difference(prepared, NewProblems::Listed), verdict }
    }

    /// Reads everything that may differ, takes it through its stages, and hides its secrets.
    fn prepare(&self, impact: Impact, documents: Documents) -> Prepared {
        let unused = self.unused_files(&impact);
        let Impact { files, affected, layers, selectors, is_everything, units, in_units, unreadable, findings, .. } =
            impact;
        let reach = AffectedSelectors { is_everything, selectors };
        let selectors = self.selector_changes(&layers, &reach);
        let edits = impact::LayerEdits::new(&self.before, &self.after, &layers);
        // A caller that wants all documents needs them all together.
        let at_once = match documents {
            Documents::Differing => self.at_once(&reach, &layers, &edits),
            Documents::All => None,
        };
        // A document that is the same to the letter may still be affected by a layer.
        let documents = if reach.is_empty() && layers.is_empty() { documents } else { Documents::All };
        let loaded = self.load(files, &affected, &in_units, documents, at_once.as_ref());
        let loaded = loaded.noting(self.configuration, unreadable, findings);
        let loaded = self.without_layers(loaded, &selectors);
        let loaded = self.effect(self.judge_layers(loaded, &layers), &layers);
        let mut loaded = self.hide(self.with_units(loaded, &units));
        loaded.findings.extend(unused);
        let is_new = |it: &&Resource| {
            loaded.read_again.is_empty() || !loaded.read_again.contains(&(it.file.clone(), it.identity.clone()))
        };
        let mut readers = edits.readers_among(&loaded.after.iter().filter(is_new).collect::<Vec<_>>());
        readers.extend(std::mem::take(&mut loaded.at_once.readers));
        // What could not be read may well read an edited value.
        let can_be_dead =
            |file: &RepoPath| loaded.gap == Gap::None && self.is_asked_for(file) && !selectors.are_subjects;
        let layer_edits = edits.judged(readers, &can_be_dead);
        let sides = [&self.before, &self.after];
        let subjects = if selectors.are_subjects { selectors.all } else { Vec::new() };
        let reach_changes = impact::reach_changes(sides, &layers, &loaded.after, &subjects);
        let lost = rules::lost_secrets(&reach_changes);
        let loaded = loaded.with_findings(rules::dead_edits(&layer_edits)).with_findings(lost);
        Prepared { loaded, reach, layer_edits, reach_changes, layers, selectors: selectors.changes }
    }

    /// Files beside changed ones that no kustomization refers to.
    fn unused_files(&self, impact: &Impact) -> SideFindings {
        let edited: Vec<&RepoPath> = impact.files.iter().map(|file| &file.path).collect();
        let unused = |side: &Side<'_>, at: usize| {
            rules::unused_files(side, &edited, &impact.in_units[at], &impact.in_broken[at], &self.options.scope)
        };
        SideFindings { before: unused(&self.before, 0), after: unused(&self.after, 1) }
    }

    /// What is wrong with the layer files that changed, beside what is wrong with them as documents.
    fn judge_layers(&self, mut loaded: Loaded, layers: &[RepoPath]) -> Loaded {
        let is_about_layer = |finding: &Finding| {
            !["document/", "limit/", "source/"].iter().any(|area| finding.rule.id.starts_with(area))
        };
        let is_layer = |file: &&RepoPath| {
            [&self.before, &self.after].into_iter().any(|side| side.roles().role(file) == Role::Layer)
        };
        for file in layers.iter().filter(is_layer) {
            let (before, after) = (self.before.findings_about(file), self.after.findings_about(file));
            // What cannot be understood on one side cannot be compared.
            if before.iter().chain(&after).any(Finding::is_error) {
                loaded.gap = loaded.gap.max(Gap::Unparsed);
                loaded.files.unread.insert(file.clone());
            }
            if self.options.scope.wants(file) {
                loaded.findings.before.extend(before.into_iter().filter(is_about_layer));
                loaded.findings.after.extend(after.into_iter().filter(is_about_layer));
            }
        }
        loaded
    }

    fn difference(&self, prepared: Prepared, new_problems: NewProblems) -> Report {
        let Prepared { loaded, reach, layer_edits, reach_changes, selectors, .. } = prepared;
        let paired = self.pair(loaded, &reach);
        let mut changes = self.compare_pairs(paired.pairs, &reach, &paired.readers, &paired.written);
        let [own, by_layers] = paired.at_once;
        changes.notes.extend(paired.notes);
        changes.notes.sort();
        changes.resources.extend(own.into_iter().map(|change| *change).chain(selectors));
        let mut summary = self.noting_layers(paired.summary, &changes.resources);
        changes.resources.extend(by_layers.into_iter().map(|change| *change));
        summary = self.noting_others(summary, &changes.resources);
        Report { reach_changes, ..self.report(summary, changes, layer_edits, new_problems) }
    }

    /// Adds what is wrong with the layers of resources that differ: their secrets and compare rules are not all known.
    fn noting_layers(&self, mut summary: LoadSummary, changed: &[ResourceChange]) -> LoadSummary {
        let before = unreadable_layers(&self.before, changed.iter().filter_map(|change| change.before.as_ref()));
        let after = unreadable_layers(&self.after, changed.iter().filter_map(|change| change.after.as_ref()));
        if !before.is_empty() || !after.is_empty() {
            summary.gap = summary.gap.max(Gap::Unparsed);
        }
        summary.findings.extend(SideFindings { before, after });
        summary
    }

    /// Adds what is wrong with the layers of other snapshots.
    fn noting_others(&self, mut summary: LoadSummary, changed: &[ResourceChange]) -> LoadSummary {
        let shown = changed.iter().flat_map(|change| [&change.before, &change.after]).flatten();
        let elsewhere = self.after.secrets().errors_of_others(shown);
        if !elsewhere.is_empty() {
            summary.gap = summary.gap.max(Gap::Unparsed);
        }
        summary.findings.after.extend(elsewhere);
        summary
    }

    fn is_asked_for(&self, file: &RepoPath) -> bool {
        self.options.scope.is_everything() || self.options.scope.wants(file)
    }

    fn question(&self) -> impact::Question<'_> {
        let Options { scope, budget, memory, .. } = &self.options;
        impact::Question { before: &self.before, after: &self.after, scope, budget, memory: *memory }
    }

    /// Every file of the newer side, as if all of it were new.
    fn everything_new(&self) -> Impact {
        let Options { scope, budget, .. } = &self.options;
        let (entries, unreadable) = files_below(self.after.snapshot, scope, &budget.limits, &budget.spent);
        let new = |entry: Entry| ChangedFile { path: entry.path.clone(), before: None, after: Some(entry) };
        let layers = entries.iter().map(|entry| &entry.path).filter(|path| is_layer_file(path.file_name())).cloned();
        let layers = layers.collect();
        let impact = Impact { layers, files: entries.into_iter().map(new).collect(), unreadable, ..Impact::default() };
        impact.with_units_of([None, Some(&self.after)], budget)
    }
}

/// The errors of layers that apply to these resources.
fn unreadable_layers<'r>(side: &Side<'_>, resources: impl Iterator<Item = &'r Resource>) -> Vec<Finding> {
    let managed: Vec<&Resource> = resources.filter(|resource| !is_layer_file(resource.file.file_name())).collect();
    let findings = few_or_many(managed, FEW, |resource| side.layer_findings(resource)).into_iter().flatten();
    // A path that cannot have metadata misses none.
    let mut known = BTreeSet::new();
    let is_meant = |finding: &Finding| {
        let key = (finding.rule.id, finding.path(side.sources), finding.span(), finding.message.clone());
        finding.is_error() && finding.rule.id != METADATA_PATH.id && known.insert(key)
    };
    findings.filter(is_meant).collect()
}

/// Everything that was read, ready to be paired and compared.
struct Prepared {
    loaded: Loaded,
    reach: AffectedSelectors,
    layer_edits: Vec<impact::LayerEdit>,
    /// The layer files that changed.
    layers: Vec<RepoPath>,
    /// Layers that paths lose or gain.
    reach_changes: Vec<impact::ReachChange>,
    /// What differs between the selectors that no resource matches.
    selectors: Vec<ResourceChange>,
}

/// Findings by the side that they are about.
#[derive(Debug, Default, Clone)]
struct SideFindings {
    before: Vec<Finding>,
    after: Vec<Finding>,
}

impl SideFindings {
    fn extend(&mut self, other: Self) {
        self.before.extend(other.before);
        self.after.extend(other.after);
    }

    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }
}

/// What is missing from a comparison; the worst thing counts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    /// Nothing.
    #[default]
    None,
    /// A file that did not change and cannot be parsed on either side: what it would read is not known.
    Unchanged,
    /// A file that cannot be parsed on some side, or a stage that failed: it was not compared.
    Unparsed,
    /// Something that cannot be read at all: it was not even judged.
    Unreadable,
}

/// The paths that changed layers apply to, on either side.
#[derive(Debug, Default)]
struct AffectedSelectors {
    /// Whether the sides read their files in different ways, so that every path is affected.
    is_everything: bool,
    selectors: BTreeSet<MetadataPath>,
}

impl AffectedSelectors {
    /// Whether no layer has changed.
    fn is_empty(&self) -> bool {
        !self.is_everything && self.selectors.is_empty()
    }

    fn includes(&self, path: &LogicalPath) -> bool {
        self.is_everything || self.selectors.iter().any(|selector| selector.applies_to(path))
    }

    /// Whether the metadata of a selector may differ.
    fn may_change(&self, selector: &MetadataPath) -> bool {
        let is_at_or_below = |edited: &MetadataPath| {
            let (edited, own) = (edited.segments(), selector.segments());
            let is_match = |(a, b): (&String, &String)| a == b || a == WILDCARD || is_glob(a);
            edited.len() <= own.len() && edited.iter().zip(own).all(is_match)
        };
        self.is_everything || self.selectors.iter().any(is_at_or_below)
    }
}

/// The document that a string holds, if it holds one and nothing is wrong with it; all of it is at the place of the string.
fn read_embedded(text: &str, at: Span, limits: &Limits) -> Option<(Format, Node)> {
    let format = if text.trim_start().starts_with(['{', '[']) { Format::Json } else { Format::Yaml };
    let parsed = document::parse(text, at.source, format, limits);
    match parsed.value.as_slice() {
        [only] if parsed.findings.is_empty() => Some((format, only.root.written_at(at))),
        _ => None,
    }
}

/// How the payloads of a side are compared: with its list rules, within the limits of the run, and with documents in strings read.
fn payload_options(lists: &[ListRule], limits: &Limits) -> diff::Options {
    let options = diff::Options::new(lists).expect("patterns are checked when the configuration is read");
    // All of a document in a string is copied, also what aliases share; a larger one is compared as text.
    let embedded = Limits { nodes: limits.nodes.min(MOST_EMBEDDED), ..limits.clone() };
    let parser = move |text: &str, at: Span| read_embedded(text, at, &embedded);
    diff::Options { embedded_parser: Some(Arc::new(parser)), limits: limits.clone(), ..options }
}

/// The number of values of a document in a string.
const MOST_EMBEDDED: u64 = 200_000;

#[cfg(test)]
mod tests;
