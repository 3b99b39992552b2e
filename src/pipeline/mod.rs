//! The whole program on one screen: load both sides, hide secrets, compare, judge, report. Still pure.

mod affected;
mod configuration;
mod includers;
mod inspection;
mod judging;
mod loading;
mod metadata;
mod parsing;
mod plain;

use std::sync::Arc;

use smol_str::SmolStr;

use crate::compare::Masks;
use crate::diff;
use crate::document::{self, Format};
use crate::limits::{Budget, Limits};
use crate::report::{Compared, Report};
use crate::source::{ChangedFile, Changes, Scope, Snapshot, changes, files_below};
use crate::text::{Sources, Span};
use crate::value::Node;

pub use configuration::{Configuration, Policy};
pub use includers::{Memory, NoMemory};
pub use inspection::{Inspection, MetadataTree, Question, Sought};
use loading::LoadedSides;
use metadata::{BothIncludes, Layered};
use parsing::Wanted;
pub use plain::take_plain_files;

/// What a run is asked to do.
pub struct Request<'a> {
    /// The older side.
    pub before: &'a dyn Snapshot,
    /// The newer side.
    pub after: &'a dyn Snapshot,
    /// The files of interest.
    pub scope: &'a Scope,
    /// What `outcrop.yaml` says on both sides.
    pub configuration: &'a Configuration,
    /// What the run may use up; the snapshots book on the same account.
    pub budget: &'a Budget,
    /// Places whose changes the user does not want to see, beside those of the configuration.
    pub ignored: &'a [SmolStr],
    /// What is known about whole trees from earlier runs.
    pub memory: &'a dyn Memory,
    /// Whether secrets are shown; only for a person at a terminal who asks for it.
    pub reveal: bool,
    /// The texts that are read, for findings to show.
    pub sources: &'a Arc<Sources>,
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

/// The semantic difference of two snapshots.
pub fn compare(request: &Request<'_>) -> Report {
    let found = differing(request);
    let includes = BothIncludes::default();
    let layered = Layered::new(request, &includes, &found);
    let loaded = load(request, found, &layered, Wanted::Differing);
    difference(request, loaded, &layered)
}

/// What is wrong with the newer side.
pub fn check(request: &Request<'_>, judged: Judged) -> Report {
    let found = match judged {
        Judged::New | Judged::Changed => differing(request),
        Judged::Everything => everything(request),
    };
    let includes = BothIncludes::default();
    let layered = Layered::new(request, &includes, &found);
    verdict(request, &mut load(request, found, &layered, Wanted::All), &layered, judged)
}

/// What a reviewer asks about a change.
pub struct Review {
    /// What differs, and all that is wrong with the files that do.
    pub difference: Report,
    /// What is wrong since this change.
    pub verdict: Report,
}

/// Both answers from one reading.
pub fn review(request: &Request<'_>) -> Review {
    let found = differing(request);
    let includes = BothIncludes::default();
    let layered = Layered::new(request, &includes, &found);
    let mut loaded = load(request, found, &layered, Wanted::All);
    let verdict = verdict(request, &mut loaded, &layered, Judged::New);
    Review { difference: difference(request, loaded, &layered), verdict }
}

fn load(request: &Request<'_>, found: Changes, layered: &Layered<'_>, wanted: Wanted) -> LoadedSides {
    let mut loaded = loading::load_changes(request, &masks(request), found, wanted);
    layered.judge(request, &mut loaded);
    if !request.reveal {
        loaded.before = layered.hide(loaded.before);
        loaded.after = layered.hide(loaded.after);
    }
    loaded
}

fn difference(request: &Request<'_>, mut loaded: LoadedSides, layered: &Layered<'_>) -> Report {
    let policy = request.configuration.policy();
    // What cannot be read on either side is missing from the comparison.
    loaded.findings.append(&mut loaded.findings_before);
    let compared =
        Compared { files: loaded.files, resources: loaded.before.len().max(loaded.after.len()) + loaded.same };
    let pairs = diff::pair(loaded.before, loaded.after);
    let mut options = diff::Options::new(&policy.lists).expect("patterns are checked when the configuration is read");
    options.look_inside = Some(Arc::new(read_string));
    let mut report = Report {
        before: request.before.label().into(),
        after: request.after.label().into(),
        resources: diff::compare_resources(pairs, &options),
        findings: loaded.findings,
        skipped: loaded.skipped,
        read_as: loaded.read_as,
        compared,
        incomplete: loaded.is_incomplete || loaded.has_broken,
        sources: Arc::clone(request.sources),
        ..Report::default()
    };
    let suppressions = diff::Suppressions::new(&policy.ignore, &policy.compare, request.ignored);
    report.suppressed = suppressions.apply(&mut report.resources);
    judging::unusable_list_rules(&mut report);
    layered.compare(request, &masks(request), &mut report);
    layered.veil(&report);
    judging::finish(&mut report, policy, &masks(request));
    report
}

/// Judges what was loaded; what only a check finds is added to its findings.
fn verdict(request: &Request<'_>, loaded: &mut LoadedSides, layered: &Layered<'_>, judged: Judged) -> Report {
    judging::duplicates(&loaded.after, &mut loaded.findings);
    loaded.findings.extend(request.configuration.pending(request.after.label()));
    let mut findings = loaded.findings.clone();
    if judged == Judged::New {
        judging::duplicates(&loaded.before, &mut loaded.findings_before);
        judging::keep_new(&mut findings, &loaded.findings_before, request.sources);
    }
    let mut report = Report {
        before: request.before.label().into(),
        after: request.after.label().into(),
        compared: Compared { files: loaded.files, resources: loaded.after.len() },
        findings,
        skipped: loaded.skipped.clone(),
        read_as: loaded.read_as.clone(),
        incomplete: loaded.is_incomplete,
        sources: Arc::clone(request.sources),
        ..Report::default()
    };
    layered.veil(&report);
    judging::finish(&mut report, request.configuration.policy(), &masks(request));
    report
}

fn masks(request: &Request<'_>) -> Masks {
    if request.reveal { Masks::off() } else { Masks::new(request.configuration.secret_rules()) }
}

/// The files that differ between the sides, and those that include others.
fn differing(request: &Request<'_>) -> Changes {
    let mut found =
        changes(request.before, request.after, request.scope, &request.budget.limits, &request.budget.spent);
    includers::add_includers(request, &mut found);
    found
}

/// Every file of the newer side, as if all of it were new.
fn everything(request: &Request<'_>) -> Changes {
    let (entries, unreadable) =
        files_below(request.after, request.scope, &request.budget.limits, &request.budget.spent);
    let files =
        entries.into_iter().map(|entry| ChangedFile { path: entry.path.clone(), before: None, after: Some(entry) });
    Changes { files: files.collect(), unreadable }
}

/// The document that a string holds, if it holds one and nothing is wrong with it; all of it is at the string's own place.
fn read_string(text: &str, at: Span) -> Option<(Format, Node)> {
    let format = if text.trim_start().starts_with(['{', '[']) { Format::Json } else { Format::Yaml };
    let parsed = document::parse(text, at.source, format, &Limits::default());
    match parsed.value.as_slice() {
        [only] if parsed.findings.is_empty() => Some((format, only.root.written_at(at))),
        _ => None,
    }
}
