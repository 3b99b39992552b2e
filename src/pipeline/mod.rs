//! The whole program on one screen: load both sides, hide secrets, compare, judge, report. Still pure.

mod below;
mod causes;
mod inspection;
mod judging;
mod loading;
mod metadata;
mod named;
mod parsing;
mod patches;
mod patching;
mod plain;
mod requests;
mod views;
mod shielded;
mod rendering;
mod worlds;

use std::sync::{Arc, Mutex};

use smol_str::SmolStr;

use crate::diff;
use crate::document::{self, Format};
use crate::impact::{self, Impact};
use crate::limits::{Budget, Limits};
use crate::metadata::is_layer_file;
use crate::report::{Compared, Report};
use crate::secrets::Masks;
use crate::snapshot::{ChangedFile, Entry, Scope, Snapshot, files_below};
use crate::text::{Sources, Span};
use crate::value::Node;

pub use crate::impact::{Memory, NoMemory, Notable};
pub use crate::settings::{Configuration, Policy};
use below::Below;
pub use inspection::{Evaluated, Inspection, MetadataTree, Nowhere, Question, RenderedRequests, Sought, Typed, Wish};
use loading::LoadedSides;
use metadata::Reach;
pub use named::{Name, Named};
use parsing::Wanted;
pub use patching::{PatchedDocuments, Patient};
pub use plain::take_plain_files;
pub use rendering::{Rendering, Summary};
use views::Views;
pub use views::Wants;
use worlds::{InEffect, Worlds, with_worlds};

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
    /// Which views of resources are compared.
    pub wants: Wants,
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
    with_worlds(request, |worlds| {
        let loaded = load(request, worlds, differing(request, worlds), Wanted::Differing);
        difference(request, loaded, worlds)
    })
}

/// The same by reading every file of both sides, edited or not: what [`compare`] must agree with, and what it saves.
pub fn compare_everything(request: &Request<'_>) -> Report {
    with_worlds(request, |worlds| {
        let everything = impact::everything(&question(request, worlds));
        let loaded = load(request, worlds, everything, Wanted::All);
        difference(request, loaded, worlds)
    })
}

/// What is wrong with the newer side.
pub fn check(request: &Request<'_>, judged: Judged) -> Report {
    with_worlds(request, |worlds| {
        let impact = match judged {
            Judged::New | Judged::Changed => differing(request, worlds),
            Judged::Everything => everything(request),
        };
        verdict(request, &mut load(request, worlds, impact, Wanted::All), worlds, judged)
    })
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
    with_worlds(request, |worlds| {
        let mut loaded = load(request, worlds, differing(request, worlds), Wanted::All);
        let verdict = verdict(request, &mut loaded, worlds, Judged::New);
        Review { difference: difference(request, loaded, worlds), verdict }
    })
}

/// Reads everything that may differ and hides its secrets.
fn load(request: &Request<'_>, worlds: &Worlds<'_>, mut impact: Impact, wanted: Wanted) -> LoadedSides {
    let reach = match impact.is_everything {
        true => Reach::Everything,
        false => Reach::Selected(std::mem::take(&mut impact.selectors)),
    };
    // A document that is the same to the letter may still be affected by a layer.
    let wanted = if reach.is_nobody() { wanted } else { Wanted::All };
    let layers = std::mem::take(&mut impact.layers);
    let mut loaded = loading::load_changes(request, worlds, impact, wanted);
    metadata::judge(request, worlds, &layers, &mut loaded);
    for (side, world, findings) in [
        (&mut loaded.before, &worlds.before, &mut loaded.findings_before),
        (&mut loaded.after, &worlds.after, &mut loaded.findings),
    ] {
        let InEffect { resources, is_complete, used } = worlds::in_effect(std::mem::take(side), world, findings);
        loaded.has_broken |= !is_complete;
        *side = resources;
        patches::dead(world, &layers, &used, request.scope, findings);
    }
    (loaded.before, loaded.after) = worlds.hide(std::mem::take(&mut loaded.before), std::mem::take(&mut loaded.after));
    loaded.reach = reach;
    loaded.layer_edits = shielded::layer_edits(request, worlds, &layers, &loaded);
    loaded.findings.extend(shielded::dead_edits(&loaded.layer_edits));
    loaded
}

fn difference(request: &Request<'_>, mut loaded: LoadedSides, worlds: &Worlds<'_>) -> Report {
    let policy = request.configuration.policy();
    // What cannot be read on either side is missing from the comparison.
    loaded.findings.append(&mut loaded.findings_before);
    let compared =
        Compared { files: loaded.files, resources: loaded.before.len().max(loaded.after.len()) + loaded.same };
    let mut pairs = diff::pair(loaded.before, loaded.after);
    let mut below = match request.wants.requests {
        true => below::below(request, worlds, &loaded.reach, &pairs),
        false => Below::default(),
    };
    pairs.append(&mut below.pairs);
    let mut options = diff::Options::new(&policy.lists).expect("patterns are checked when the configuration is read");
    options.embedded_parser = Some(Arc::new(read_string));
    let masks = worlds.secrets().masks();
    let views = Views {
        worlds,
        reach: &loaded.reach,
        options: &options,
        wants: request.wants,
        below_changed: &below.files,
        noted: Mutex::default(),
    };
    let resources =
        diff::compare_resources(pairs, &options, &|before, after, plain| views.compare(before, after, plain));
    let mut noted = views::in_order(views.noted.into_inner().expect("no thread panics while it holds this lock"));
    loaded.findings.append(&mut noted.findings_before);
    loaded.findings.append(&mut noted.findings);
    let mut report = Report {
        before: request.before.label().into(),
        after: request.after.label().into(),
        resources,
        only: request.wants.names(),
        findings: loaded.findings,
        skipped: loaded.skipped,
        read_as: loaded.read_as,
        compared,
        layer_edits: loaded.layer_edits,
        incomplete: loaded.is_incomplete || loaded.has_broken,
        sources: Arc::clone(request.sources),
        ..Report::default()
    };
    if !request.wants.payload {
        report.resources.retain(|resource| resource.changes().next().is_some());
    }
    diff::sort(&mut report.resources);
    let suppressions = diff::Suppressions::new(&policy.ignore, &policy.compare, request.ignored);
    report.suppressed = suppressions.apply(&mut report.resources);
    report.suppressed.append(&mut noted.suppressed);
    report.would_hide = noted.would_hide;
    report.would_hide.extend(views::would_hide(request, &report.resources));
    judging::unusable_list_rules(&mut report);
    causes::explain(request, &mut report);
    worlds.veil(&report);
    judging::finish(&mut report, policy, masks);
    report
}

/// Judges what was loaded; what only a check finds is added to its findings.
fn verdict(request: &Request<'_>, loaded: &mut LoadedSides, worlds: &Worlds<'_>, judged: Judged) -> Report {
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
    worlds.veil(&report);
    judging::finish(&mut report, request.configuration.policy(), worlds.secrets().masks());
    report
}

fn masks(request: &Request<'_>) -> Masks {
    if request.reveal { Masks::off() } else { Masks::new(request.configuration.secret_rules()) }
}

/// The files that differ between the sides, and those that may be affected.
fn differing(request: &Request<'_>, worlds: &Worlds<'_>) -> Impact {
    impact::impact(&question(request, worlds))
}

fn question<'a>(request: &'a Request<'_>, worlds: &'a Worlds<'_>) -> impact::Question<'a> {
    let Request { scope, budget, memory, .. } = *request;
    impact::Question { before: &worlds.before, after: &worlds.after, scope, budget, memory }
}

/// Every file of the newer side, as if all of it were new.
fn everything(request: &Request<'_>) -> Impact {
    let (entries, unreadable) =
        files_below(request.after, request.scope, &request.budget.limits, &request.budget.spent);
    let new = |entry: Entry| ChangedFile { path: entry.path.clone(), before: None, after: Some(entry) };
    let layers = entries.iter().map(|entry| &entry.path).filter(|path| is_layer_file(path.file_name())).cloned();
    Impact { layers: layers.collect(), files: entries.into_iter().map(new).collect(), unreadable, ..Impact::default() }
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
