//! Which findings count: duplicates found, known ones taken away, severities as configured, all in order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use smol_str::SmolStr;

use crate::diff::UnusableKeys;
use crate::finding::{self, Finding, Label, Location, sort_by_place};
use crate::path::RepoPath;
use crate::report::Report;
use crate::report::explain::place_name;
use crate::resource::{Identity, Resource};
use crate::secrets::Masks;
use crate::settings::Settings;
use crate::side::Side;
use crate::text::{SourceId, Sources, Span};

/// Resources that claim the same identity.
pub(super) fn duplicates(resources: &[Resource], findings: &mut Vec<Finding>) {
    let mut first: BTreeMap<&Identity, &Resource> = BTreeMap::new();
    for resource in resources {
        match first.get(&resource.identity) {
            None => {
                first.insert(&resource.identity, resource);
            }
            Some(other) => findings.push(
                Finding::new(
                    &finding::RESOURCE_DUPLICATE,
                    Location::Span(resource.payload.span.start_only()),
                    format!("{} is described twice", resource.identity),
                )
                .labelled("again here")
                .related(other.payload.span.start_only(), format!("first in {}", other.file))
                .help("remove one of them, or give it a name of its own"),
            ),
        }
    }
}

/// List rules that could not be used, each told once, at the first list.
pub(super) fn unusable_list_rules(report: &mut Report) {
    let mut first: BTreeMap<(&str, &[SmolStr]), (&UnusableKeys, &Resource, usize)> = BTreeMap::new();
    for change in &report.resources {
        let Some(resource) = change.after.as_ref().or(change.before.as_ref()) else { continue };
        for unusable in &change.difference.unusable {
            let rule = (unusable.pattern.as_str(), unusable.keys.as_slice());
            first.entry(rule).or_insert((unusable, resource, 0)).2 += 1;
        }
    }
    let findings: Vec<Finding> =
        first.into_values().map(|(unusable, resource, lists)| unusable_keys(unusable, resource, lists)).collect();
    report.findings.extend(findings);
}

fn unusable_keys(unusable: &UnusableKeys, resource: &Resource, lists: usize) -> Finding {
    let keys: Vec<String> = unusable.keys.iter().map(|key| format!("`{key}`")).collect();
    let keys = keys.join(", ");
    let place = place_name(&unusable.path);
    let (message, label) = match unusable.twin {
        None => (
            format!(
                "the items of {place} in {} are not told apart by {keys}, which one of them lacks",
                resource.identity
            ),
            "no such key",
        ),
        Some(_) => (
            format!(
                "the items of {place} in {} are not told apart by {keys}, which two of them share",
                resource.identity
            ),
            "the same again",
        ),
    };
    let help = match lists {
        1 => "the list is compared by content".to_owned(),
        _ => format!("{lists} lists are compared by content"),
    };
    let help = format!("{help}; give other keys for `{}` under `lists` in outcrop.yaml", unusable.pattern);
    let finding =
        Finding::new(&finding::CONFIG_LIST_KEYS, Location::Span(unusable.item), message).labelled(label).help(help);
    match unusable.twin {
        Some(twin) => finding.related(twin, "first here"),
        None => finding,
    }
}

/// Takes away what the older side has too: the same rule, message and file, as often as it was there.
pub(super) fn keep_new(findings: &mut Vec<Finding>, known: &[Finding], sources: &Sources) {
    let mut known_counts: BTreeMap<Fingerprint, usize> = BTreeMap::new();
    for finding in known {
        *known_counts.entry(fingerprint(finding, sources)).or_default() += 1;
    }
    findings.retain(|finding| match known_counts.get_mut(&fingerprint(finding, sources)) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
}

type Fingerprint = (&'static str, RepoPath, String);

/// What stays the same when lines move: the rule, the file and the words.
fn fingerprint(finding: &Finding, sources: &Sources) -> Fingerprint {
    (finding.rule.id, finding.path(sources), finding.message.clone())
}

/// Applies configured severities and puts everything in order.
pub(super) fn finish(report: &mut Report, policy: &Settings, masks: &Masks) {
    veil_sources(report, masks);
    let configured: BTreeMap<&str, _> =
        policy.severities.iter().map(|(id, severity)| (id.as_str(), *severity)).collect();
    let total = report.findings.len();
    report.findings.retain_mut(|finding| match configured.get(finding.rule.id) {
        None => true,
        Some(None) => false,
        Some(Some(severity)) => {
            finding.severity = *severity;
            true
        }
    });
    report.switched_off = total - report.findings.len();
    let sources = &report.sources;
    sort_by_place(&mut report.findings, sources);
    report.findings.dedup_by(|again, first| is_told_again(again, first, sources));
    report.skipped.sort();
}

/// The same for the findings of one snapshot; snippets of texts near which metadata declares secrets hide their values.
pub(super) fn finish_findings(findings: &mut Vec<Finding>, world: &Side<'_>, masks: &Masks) {
    let found = std::mem::take(findings);
    let mut report = Report { findings: found, sources: Arc::clone(world.sources), ..Report::default() };
    let shown: BTreeSet<SourceId> = report.findings.iter().flat_map(Finding::spans).map(|span| span.source).collect();
    for source in shown {
        let text = report.sources.get(source);
        if world.layers().secrets_near(&text.path).may_be_in(&text.text) {
            report.sources.mark_sensitive(source);
        }
    }
    finish(&mut report, world.settings, masks);
    *findings = report.findings;
}

/// A file that many include is found to be broken once for each of them; once is enough, with the first few who include it.
fn is_told_again(again: &mut Finding, first: &mut Finding, sources: &Sources) -> bool {
    const TOLD: usize = 3;
    // Read once as a file that changed and once as one that somebody looks at, a text is two sources.
    let is_same_place = |a: Span, b: Span| {
        let (text_a, text_b) = (sources.get(a.source), sources.get(b.source));
        a.range() == b.range() && text_a.path == text_b.path && text_a.revision == text_b.revision
    };
    let is_same = match (&again.location, &first.location) {
        (Location::Span(again), Location::Span(first)) => is_same_place(*again, *first),
        _ => false,
    };
    let is_same = is_same && again.rule.id == first.rule.id && again.message == first.message;
    if is_same {
        let known = first.related.len();
        let is_known = |label: &Label| first.related.iter().any(|known| is_same_place(known.span, label.span));
        let news = again.related.drain(..).filter(|label| !is_known(label));
        let news: Vec<_> = news.take(TOLD.saturating_sub(known)).collect();
        first.related.extend(news);
    }
    is_same
}

/// Snippets show whole lines, so the texts that findings point into hide their values if any of them may be secret.
fn veil_sources(report: &Report, masks: &Masks) {
    let shown: BTreeSet<SourceId> = report.findings.iter().flat_map(Finding::spans).map(|span| span.source).collect();
    for source in shown {
        if masks.may_be_in(&report.sources.get(source).text) {
            report.sources.mark_sensitive(source);
        }
    }
}
