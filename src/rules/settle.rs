//! Findings as they are shown: with configured severities, in order, each once.

use std::collections::BTreeMap;

use crate::finding::{Finding, LIMIT_RUN_WORK, Label, sort_by_place};
use crate::settings::Settings;
use crate::text::{Sources, Span};

/// Findings that are ready to be shown.
#[derive(Debug, Default)]
pub struct Settled {
    /// The findings, in order.
    pub findings: Vec<Finding>,
    /// How many the configuration switches off.
    pub switched_off: usize,
}

/// Applies configured severities, puts findings in order and leaves out repetitions.
pub fn settle(mut findings: Vec<Finding>, policy: &Settings, sources: &Sources) -> Settled {
    let configured: BTreeMap<&str, _> =
        policy.severities.iter().map(|(id, severity)| (id.as_str(), *severity)).collect();
    let total = findings.len();
    findings.retain_mut(|finding| match configured.get(finding.rule.id) {
        None => true,
        Some(None) => false,
        Some(Some(severity)) => {
            finding.severity = *severity;
            true
        }
    });
    let switched_off = total - findings.len();
    say_once(&mut findings);
    sort_by_place(&mut findings, sources);
    findings.dedup_by(|again, first| is_repetition(again, first, sources));
    Settled { findings, switched_off }
}

/// A limit that all files share is reached by every file after the first: the first is shown, the others are counted.
fn say_once(findings: &mut Vec<Finding>) {
    let mut first: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    let mut position = 0;
    findings.retain(|finding| {
        if finding.rule.id != LIMIT_RUN_WORK.id {
            position += 1;
            return true;
        }
        let known = first.entry(finding.message.clone()).or_insert((position, 0));
        known.1 += 1;
        let is_first = known.1 == 1;
        position += usize::from(is_first);
        is_first
    });
    for (at, count) in first.into_values().filter(|(_, count)| *count > 1) {
        let others = count - 1;
        let noun = if others == 1 { "place" } else { "places" };
        findings[at].message.push_str(&format!(" (and at {others} more {noun})"));
    }
}

/// A file that many include is found to be broken once for each of them; it is reported once, with the first few that include it.
fn is_repetition(again: &mut Finding, first: &mut Finding, sources: &Sources) -> bool {
    const MOST_RELATED: usize = 3;
    // A text that is read once as a changed file and once as an included one is two sources.
    let is_same_place = |a: Span, b: Span| {
        let (text_a, text_b) = (sources.get(a.source), sources.get(b.source));
        a.range() == b.range() && text_a.path == text_b.path && text_a.revision == text_b.revision
    };
    let is_at_same_place = again.span().zip(first.span()).is_some_and(|(again, first)| is_same_place(again, first));
    let is_same = is_at_same_place && again.rule.id == first.rule.id && again.message == first.message;
    if is_same {
        let known = first.related.len();
        let is_known = |label: &Label| first.related.iter().any(|known| is_same_place(known.span, label.span));
        let new = again.related.drain(..).filter(|label| !is_known(label));
        let new: Vec<_> = new.take(MOST_RELATED.saturating_sub(known)).collect();
        first.related.extend(new);
    }
    is_same
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::finding::{self, Location, Severity};
    use crate::path::RepoPath;
    use crate::text::SourceText;
    use crate::value::Node;

    /// A text in a source of its own.
    pub(in crate::rules) fn node(text: &str) -> Node {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", text));
        Node::text(text, Span::new(source, 0, text.len()))
    }

    #[test]
    fn severities_apply_and_repetitions_join() {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::new("a.yaml").unwrap(), "x", "abc"));
        let at = |start| Span::new(source, start, start + 1);
        let finding = |start| Finding::new(&finding::RESOURCE_DUPLICATE, Location::Span(at(start)), "twice");
        let found = vec![finding(1), finding(0).related(at(1), "one"), finding(0).related(at(2), "two")];
        let settled = settle(found.clone(), &Settings::default(), &sources);
        assert_eq!(settled.findings.len(), 2);
        assert_eq!(settled.findings[0].related.len(), 2);
        let rule = |severity| vec![(finding::RESOURCE_DUPLICATE.id.into(), severity)];
        let noted = Settings { severities: rule(Some(Severity::Note)), ..Settings::default() };
        assert!(
            settle(found.clone(), &noted, &sources).findings.iter().all(|finding| finding.severity == Severity::Note)
        );
        let off = Settings { severities: rule(None), ..Settings::default() };
        assert_eq!(settle(found, &off, &sources).switched_off, 3);
    }
}
