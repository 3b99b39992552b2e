//! `config/waiver-expired`, `config/silence`: problems that a waiver or a comment accepts, with the reason for it.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use crate::finding::{self, Finding, Location};
use crate::glob::Pattern;
use crate::names;
use crate::path::RepoPath;
use crate::settings::Waiver;
use crate::text::{SourceText, Sources};

/// A finding that is accepted.
#[derive(Debug, Clone)]
pub struct Allowed {
    /// What was found.
    pub finding: Finding,
    /// Why it is accepted.
    pub reason: SmolStr,
    /// The last day on which it is; none for a comment.
    pub until: Option<SmolStr>,
}

/// Findings by whether something accepts them.
#[derive(Debug, Default)]
pub struct ByAllowance {
    /// Those that count, also those about waivers and comments themselves.
    pub findings: Vec<Finding>,
    /// Those that do not.
    pub allowed: Vec<Allowed>,
}

/// The word that starts a comment which allows a problem.
const WORD: &str = "outcrop-allow";

/// Splits findings: a waiver that has not expired on a day accepts them, or a comment with a reason on their line or the one above.
pub fn by_allowance(findings: Vec<Finding>, waivers: &[Waiver], day: &str, sources: &Sources) -> ByAllowance {
    let mut split = ByAllowance::default();
    let mut expired: BTreeSet<usize> = BTreeSet::new();
    let mut unreasoned: Vec<Finding> = Vec::new();
    let patterns: Vec<Option<Pattern>> =
        waivers.iter().map(|waiver| waiver.within.as_deref().map(Pattern::of_path)).collect();
    for finding in findings {
        let meant = waivers.iter().zip(&patterns).enumerate().filter(|(_, (waiver, within))| {
            waiver.rule == finding.rule.id && within.as_ref().is_none_or(|within| is_within(&finding, within, sources))
        });
        let (current, old): (Vec<_>, Vec<_>) = meant.partition(|(_, (waiver, _))| waiver.expires.as_str() >= day);
        if let Some((_, (waiver, _))) = current.first() {
            let (reason, until) = (waiver.reason.clone(), Some(waiver.expires.clone()));
            split.allowed.push(Allowed { finding, reason, until });
            continue;
        }
        match comment_for(&finding, sources) {
            Some(Ok(reason)) => split.allowed.push(Allowed { finding, reason, until: None }),
            comment => {
                unreasoned.extend(comment.and_then(Result::err));
                expired.extend(old.into_iter().map(|(at, _)| at));
                split.findings.push(finding);
            }
        }
    }
    split.findings.extend(expired.into_iter().filter_map(|at| outdated(&waivers[at])));
    split.findings.extend(unreasoned);
    split
}

fn is_within(finding: &Finding, within: &Pattern, sources: &Sources) -> bool {
    let covers = |path: &str| {
        let components: Vec<&str> = path.split('/').filter(|component| !component.is_empty()).collect();
        within.covers(&components)
    };
    finding.path(sources).to_str().is_some_and(covers) || finding.resource.as_deref().is_some_and(covers)
}

fn outdated(waiver: &Waiver) -> Option<Finding> {
    let location = Location::File { path: RepoPath::new(names::CONFIGURATION).ok()?, revision: SmolStr::default() };
    let message = format!("the waiver of {} expired on {}: {}", waiver.rule, waiver.expires, waiver.reason);
    let help = "mend what it accepted, or decide anew and give another day";
    Some(Finding::new(&finding::CONFIG_WAIVER_EXPIRED, location, message).help(help))
}

/// The reason that a comment on the line of a finding, or on a line of its own above it, gives for allowing it.
fn comment_for(finding: &Finding, sources: &Sources) -> Option<Result<SmolStr, Finding>> {
    let places = finding.spans().filter_map(|span| {
        let source = sources.get(span.source);
        source.text.contains(WORD).then_some((span, source))
    });
    for (span, source) in places {
        let line = source.lines().line_of(span.start as usize);
        let above = line.checked_sub(1).filter(|above| line_text(&source, *above).trim_start().starts_with('#'));
        for line in std::iter::once(line).chain(above) {
            let Some((_, comment)) = line_text(&source, line).split_once(WORD) else { continue };
            let (id, reason) = comment.trim().split_once(':').unwrap_or((comment.trim(), ""));
            if id.trim() != finding.rule.id {
                continue;
            }
            if !reason.trim().is_empty() {
                return Some(Ok(reason.trim().into()));
            }
            let message = format!("the comment that allows {} gives no reason", finding.rule.id);
            let help = format!("write `# {WORD} {}: why it is accepted`", finding.rule.id);
            return Some(Err(Finding::new(&finding::CONFIG_SILENCE, Location::Span(span), message).help(help)));
        }
    }
    None
}

fn line_text(source: &SourceText, line: usize) -> &str {
    let start = source.lines().start_of(line);
    source.text[start..].lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Span;

    fn split(text: &str, start: usize, waivers: &[Waiver], day: &str) -> (usize, Vec<String>, Vec<&'static str>) {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::new("a/b.yaml").unwrap(), "HEAD", text));
        let location = Location::Span(Span::new(source, start, start + 1));
        let found = vec![Finding::new(&finding::PATCH_DEAD, location, "dead")];
        let split = by_allowance(found, waivers, day, &sources);
        let reasons = split.allowed.iter().map(|allowed| allowed.reason.to_string()).collect();
        (split.allowed.len(), reasons, split.findings.iter().map(|finding| finding.rule.id).collect())
    }

    #[test]
    fn a_waiver_holds_until_its_last_day_and_within_its_paths() {
        let waiver = |within: Option<&str>| {
            let within = within.map(SmolStr::new);
            vec![Waiver { rule: "patch/dead".into(), within, reason: "later".into(), expires: "2027-01-31".into() }]
        };
        assert_eq!(split("x", 0, &waiver(None), "2027-01-31"), (1, vec!["later".to_owned()], vec![]));
        assert_eq!(split("x", 0, &waiver(Some("a/**")), "2027-01-01").0, 1);
        assert_eq!(split("x", 0, &waiver(Some("b")), "2027-01-01").2, ["patch/dead"]);
        assert_eq!(split("x", 0, &waiver(None), "2027-02-01").2, ["patch/dead", "config/waiver-expired"]);
    }

    #[test]
    fn a_comment_needs_the_rule_and_a_reason() {
        let above = "# outcrop-allow patch/dead: soon used\nx: 1\n";
        assert_eq!(split(above, 38, &[], "").1, ["soon used"]);
        assert_eq!(split("x: 1 # outcrop-allow patch/dead: yes\n", 0, &[], "").1, ["yes"]);
        assert_eq!(split("x: 1 # outcrop-allow patch/where: yes\n", 0, &[], "").2, ["patch/dead"]);
        assert_eq!(split("x: 1 # outcrop-allow patch/dead\n", 0, &[], "").2, ["patch/dead", "config/silence"]);
    }
}
