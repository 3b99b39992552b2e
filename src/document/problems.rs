//! Collects the findings about one text, bounded in number.

use std::ops::Range;

use crate::finding::{self, Finding, Location, Rule, sort_by_span};
use crate::limits::{Counted, Limits};
use crate::sanitize;
use crate::text::{SourceId, Span};

/// The number of findings that are kept for one file, because a hostile file could fill the memory with them.
const MOST_FINDINGS: usize = 1000;

/// The findings about one text.
pub(super) struct Problems {
    source: SourceId,
    findings: Vec<Finding>,
    /// The number of further findings.
    unlisted: usize,
}

impl Problems {
    pub(super) fn new(source: SourceId) -> Self {
        Self { source, findings: Vec::new(), unlisted: 0 }
    }

    /// An empty collection for this text.
    pub(super) fn fresh(&self) -> Self {
        Self::new(self.source)
    }

    /// The span of a range of the text.
    pub(super) fn span(&self, range: Range<usize>) -> Span {
        Span::new(self.source, range.start, range.end)
    }

    /// A finding about a range of the text; it is not yet reported.
    pub(super) fn finding(&self, rule: &'static Rule, range: Range<usize>, message: impl Into<String>) -> Finding {
        Finding::new(rule, Location::Span(self.span(range)), message)
    }

    /// Keeps a finding, or only counts it if there are too many.
    pub(super) fn report(&mut self, finding: Finding) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(finding);
        } else {
            self.unlisted += 1;
        }
    }

    /// The number of findings so far, to detect whether a document has one.
    pub(super) fn count(&self) -> usize {
        self.findings.len() + self.unlisted
    }

    /// All findings, sorted by position. Where the run has too many, only the first is listed.
    pub(super) fn into_findings(mut self, limits: &Limits) -> Vec<Finding> {
        sort_by_span(&mut self.findings);
        if let Some(others) = self.findings.len().checked_sub(1).filter(|others| *others > 0) {
            let listed = 1 + limits.take_findings(others);
            self.unlisted += self.findings.len() - listed;
            self.findings.truncate(listed);
        }
        if self.unlisted > 0
            && let Some(last) = self.findings.last()
        {
            let message = format!("{} more errors in this file are not listed", self.unlisted);
            self.findings.push(Finding::new(&finding::DOCUMENT_SYNTAX, last.location.clone(), message));
        }
        self.findings
    }

    pub(super) fn too_large(&mut self, size: usize) {
        let message = format!("{size} bytes, more than the {} bytes that can be read", u32::MAX);
        self.report(self.finding(&finding::LIMIT_FILE_SIZE, 0..0, message));
    }

    /// The finding about a value that exceeds the limit of depth.
    pub(super) fn too_deep(&self, range: Range<usize>, limits: &Limits) -> Finding {
        let message = format!("values are nested more than {} levels deep", limits.depth);
        let finding = self.finding(&finding::LIMIT_DEPTH, range, message).labelled("this level is too deep");
        finding.help("raise `limits.depth` in outcrop.yaml if this is intended")
    }

    /// The finding about a value that exceeds the limit of values.
    pub(super) fn too_many_nodes(&self, range: Range<usize>, limits: &Limits) -> Finding {
        let message = format!("the document has more than {} values", limits.nodes);
        let finding = self.finding(&finding::LIMIT_NODES, range, message).labelled("this value exceeds the limit");
        finding.help("raise `limits.nodes` in outcrop.yaml if this is intended")
    }

    /// The finding about a value that exceeds the limit of values of a run.
    pub(super) fn too_many_in_run(&self, range: Range<usize>, limits: &Limits) -> Finding {
        let (message, help) = limits.excess(Counted::Values);
        let finding = self.finding(&finding::LIMIT_RUN_WORK, range, message).labelled("this value exceeds the limit");
        finding.help(help)
    }

    pub(super) fn too_many_documents(&mut self, range: Range<usize>, limits: &Limits) {
        let message = format!("the file has more than {} documents; the rest was not read", limits.nodes);
        let finding = self.finding(&finding::LIMIT_NODES, range.start..range.start, message);
        self.report(finding.help("split the file, or raise `limits.nodes` in outcrop.yaml"));
    }

    pub(super) fn duplicate_key(&mut self, name: &str, first: Span, again: Span) {
        let message = format!("the key {} is written twice in one map", quoted(name));
        let finding = self.finding(&finding::DOCUMENT_DUPLICATE_KEY, again.range(), message);
        let finding = finding.labelled("again here").related(first, "first here");
        self.report(finding.help("remove one of them: parsers disagree on which one counts"));
    }
}

/// A name from the file as messages show it: sanitized, truncated, between backquotes.
pub(super) fn quoted(name: &str) -> String {
    const LONGEST: usize = 60;
    let mut end = name.len().min(LONGEST);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let dots = if end < name.len() { "…" } else { "" };
    format!("`{}{dots}`", sanitize::inline(&name[..end]))
}
