//! A failure that has no file yet: what was refused and why, before it is known where the text comes from.

use std::borrow::Cow;
use std::ops::Range;

use super::{Finding, Location, Rule};
use crate::text::Span;

/// Why a text (an expression, a template, a path, an operation) was refused.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The rule that was broken.
    pub rule: &'static Rule,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// The bytes of the text that are wrong, if they are known.
    pub range: Option<Range<usize>>,
    /// What to do about it.
    pub help: Option<Cow<'static, str>>,
}

impl Refusal {
    /// A refusal of the whole text.
    pub fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), range: None, help: None }
    }

    /// Narrows the refusal to a part of the text.
    #[must_use]
    pub fn within(mut self, range: Range<usize>) -> Self {
        self.range = Some(range);
        self
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<Cow<'static, str>>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Puts the subject in front of the message.
    #[must_use]
    pub fn about(mut self, subject: &str) -> Self {
        self.message = format!("{subject}: {}", self.message);
        self
    }

    /// The finding, now that the place in a file is known.
    pub fn into_finding(self, span: Span) -> Finding {
        Finding { help: self.help.map(Cow::into_owned), ..Finding::new(self.rule, Location::Span(span), self.message) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};

    #[test]
    fn a_refusal_becomes_a_finding_at_its_place() {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", "abc"));
        let refusal = Refusal::new(&finding::PATCH_BAD_PATH, "a segment is empty").within(1..2).help("remove a slash");
        assert_eq!(refusal.range, Some(1..2));
        let finding = refusal.into_finding(Span::new(source, 1, 2));
        assert_eq!((finding.rule.id, finding.message.as_str()), ("patch/bad-path", "a segment is empty"));
        assert_eq!(finding.help.as_deref(), Some("remove a slash"));
        assert!(matches!(finding.location, Location::Span(span) if span.range() == (1..2)));
    }
}
