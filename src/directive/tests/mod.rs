//! What holds for merge directives as a whole.

mod expansion;
mod hostile;
mod naive;
mod provenance;
mod restoring;
mod scale;

use super::*;
use crate::document::{self, Format};
use crate::snapshot::MemorySnapshot;
use crate::text::SourceText;

/// Files and how they are read.
pub(super) struct World {
    pub(super) snapshot: MemorySnapshot,
    pub(super) includes: Includes,
    pub(super) sources: Sources,
    pub(super) limits: Limits,
    pub(super) profile: MergeProfile,
}

pub(super) fn path(text: &str) -> RepoPath {
    RepoPath::new(text).expect("a plain path")
}

impl World {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let snapshot = files
            .iter()
            .fold(MemorySnapshot::new("test"), |snapshot, (name, text)| snapshot.with(path(name), text.as_bytes()));
        Self {
            snapshot,
            includes: Includes::default(),
            sources: Sources::default(),
            limits: Limits::default(),
            profile: MergeProfile::Plain,
        }
    }

    pub(super) fn context(&self) -> Context<'_> {
        Context {
            snapshot: &self.snapshot,
            includes: &self.includes,
            sources: &self.sources,
            limits: &self.limits,
            profile: self.profile,
            unfurl: true,
            is_unfurl: false,
            remotes: &[],
        }
    }

    pub(super) fn parse(&self, text: &str) -> Document {
        let source = self.sources.add(SourceText::new(path("main.yaml"), "test", text));
        let mut parsed = document::parse(text, source, Format::Yaml, &self.limits);
        assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
        assert_eq!(parsed.value.len(), 1, "{text}");
        parsed.value.remove(0)
    }

    pub(super) fn expand(&self, text: &str) -> Outcome<Expanded> {
        expand(&self.parse(text), &path("main.yaml"), &self.context())
    }

    /// The text of a span.
    pub(super) fn slice(&self, span: crate::text::Span) -> String {
        self.sources.get(span.source).text[span.range()].to_owned()
    }

    /// Every finding as its rule and the text it points at.
    pub(super) fn reported(&self, findings: &[Finding]) -> Vec<(&'static str, String)> {
        let reported = |finding: &Finding| match &finding.location {
            Location::Span(span) => (finding.rule.id, self.slice(*span)),
            Location::File { path, .. } => (finding.rule.id, path.to_string()),
        };
        findings.iter().map(reported).collect()
    }
}

/// Asserts that a text expands to another, without findings.
pub(super) fn assert_expands(world: &World, text: &str, expected: &str) {
    let outcome = world.expand(text);
    assert!(outcome.findings.is_empty(), "{text}\n{:#?}", outcome.findings);
    let expected = world.parse(expected).root;
    let is = outcome.value.root;
    assert!(
        is.is_identical(&expected),
        "{text}\nis {}\nshould be {}",
        document::write::to_inline(&is),
        document::write::to_inline(&expected)
    );
}
