//! A problem in the user's files as a value: what, where, why, and what to do.

mod refusal;
mod rules;

use smol_str::SmolStr;

use crate::path::{Pointer, RepoPath};
use crate::text::{Sources, Span};

pub use refusal::Refusal;
pub use rules::*;

/// Something wrong, or worth knowing, about what was read.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The rule that was violated.
    pub rule: &'static Rule,
    /// Its severity.
    pub severity: Severity,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// Where it is.
    pub location: Location,
    /// What is at the location, in a word or two.
    pub label: String,
    /// Other places that belong to it.
    pub related: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// The name of the resource it is about, if it is about one.
    pub resource: Option<SmolStr>,
    /// The place in that resource, if it is known.
    pub pointer: Option<Pointer>,
}

/// What two findings about the same problem have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindingKey {
    /// The id of the rule.
    pub rule: &'static str,
    /// The resource, or the file where there is none.
    pub subject: SmolStr,
    /// The place in the resource, if it is known.
    pub pointer: Option<Pointer>,
    /// The shape of the message.
    pub shape: String,
}

/// A further place and what is there.
#[derive(Debug, Clone)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is there.
    pub text: String,
}

/// Where a finding is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A place in a text that was read.
    Span(Span),
    /// A file or directory that could not be read as text.
    File {
        /// Its path.
        path: RepoPath,
        /// The side it belongs to.
        revision: SmolStr,
    },
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Probably a mistake.
    Warning,
    /// The file is wrong.
    Error,
}

/// A value, complete or not, and what was found while making it.
#[derive(Debug, Clone)]
pub struct Outcome<T> {
    /// The value, as far as it could be made.
    pub value: T,
    /// What was found while making it.
    pub findings: Vec<Finding>,
}

impl<T> Outcome<T> {
    /// A value without findings.
    pub fn clean(value: T) -> Self {
        Self { value, findings: Vec::new() }
    }

    /// Returns the value and moves the findings to others.
    pub fn gather(self, findings: &mut Vec<Finding>) -> T {
        findings.extend(self.findings);
        self.value
    }
}

impl Finding {
    /// Whether it says that a file is wrong.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Its range in a text, unless it is about a whole file.
    pub fn span(&self) -> Option<Span> {
        match self.location {
            Location::Span(span) => Some(span),
            Location::File { .. } => None,
        }
    }

    /// The file or directory it is about.
    pub fn path(&self, sources: &Sources) -> RepoPath {
        match &self.location {
            Location::Span(span) => sources.get(span.source).path.clone(),
            Location::File { path, .. } => path.clone(),
        }
    }

    /// The ranges that its snippet shows.
    pub fn spans(&self) -> impl Iterator<Item = Span> {
        self.span().into_iter().chain(self.related.iter().map(|label| label.span))
    }

    /// A finding with its rule's severity.
    pub fn new(rule: &'static Rule, location: Location, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity,
            message: message.into(),
            location,
            label: String::new(),
            related: Vec::new(),
            help: None,
            resource: None,
            pointer: None,
        }
    }

    /// Names the resource that it is about.
    #[must_use]
    pub fn about(mut self, resource: impl Into<SmolStr>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// What stays the same when lines move, files are renamed and names are counted anew.
    pub fn key(&self, sources: &Sources) -> FindingKey {
        let subject = match &self.resource {
            Some(resource) => resource.clone(),
            None => self.path(sources).to_string().into(),
        };
        FindingKey { rule: self.rule.id, subject, pointer: self.pointer.clone(), shape: self.shape() }
    }

    /// The message without what differs between two reports of one problem: the name of its resource, and numbers.
    pub fn shape(&self) -> String {
        let message = match self.resource.as_deref().filter(|name| !name.is_empty()) {
            Some(name) => self.message.replace(name, "…"),
            None => self.message.clone(),
        };
        let mut shape = String::with_capacity(message.len());
        for c in message.chars() {
            match c {
                '0'..='9' if shape.ends_with('#') => {}
                '0'..='9' => shape.push('#'),
                c => shape.push(c),
            }
        }
        shape
    }

    /// Says in a word or two what is at the location.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Points at another place.
    #[must_use]
    pub fn related(mut self, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl Severity {
    /// As people write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// Whether one of the findings is an error.
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(Finding::is_error)
}

/// Sorts by file, revision, position and rule; a finding about a whole file counts as one at its first byte.
pub fn sort_by_place(findings: &mut [Finding], sources: &Sources) {
    findings.sort_by_cached_key(|finding| match &finding.location {
        Location::Span(span) => {
            let source = sources.get(span.source);
            (source.path.clone(), source.revision.clone(), span.start, finding.rule.id)
        }
        Location::File { path, revision } => (path.clone(), revision.clone(), 0, finding.rule.id),
    });
}

/// Sorts findings in one text by their position; findings about whole files come first, by path.
pub fn sort_by_span(findings: &mut [Finding]) {
    fn file(finding: &Finding) -> Option<&RepoPath> {
        match &finding.location {
            Location::Span(_) => None,
            Location::File { path, .. } => Some(path),
        }
    }
    findings.sort_by(|a, b| (a.span(), file(a)).cmp(&(b.span(), file(b))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::SourceText;

    #[test]
    fn findings_are_sorted_by_file_and_position_whichever_text_was_read_first() {
        let sources = Sources::default();
        let path = |name: &str| RepoPath::new(name).unwrap();
        let late = sources.add(SourceText::new(path("b.yaml"), "HEAD", "x: 1"));
        let early = sources.add(SourceText::new(path("a.yaml"), "HEAD", "x: 1"));
        let place = |source, start| Location::Span(Span::new(source, start, 4));
        let whole = Location::File { path: path("b.yaml"), revision: "HEAD".into() };
        let locations = [place(late, 3), place(late, 0), place(early, 1), whole];
        let mut findings: Vec<Finding> =
            locations.into_iter().map(|place| Finding::new(&CONFIG_RULES_CHANGE, place, "")).collect();
        assert!(!has_errors(&findings));
        findings[3].severity = Severity::Error;
        assert!(has_errors(&findings) && findings[3].is_error());
        sort_by_place(&mut findings, &sources);
        let starts = |findings: &[Finding]| -> Vec<(RepoPath, Option<u32>)> {
            let start = |finding: &Finding| (finding.path(&sources), finding.span().map(|span| span.start));
            findings.iter().map(start).collect()
        };
        let (a, b) = (path("a.yaml"), path("b.yaml"));
        let expected = [(a, Some(1)), (b.clone(), Some(0)), (b.clone(), None), (b.clone(), Some(3))];
        assert_eq!(starts(&findings), expected);
        sort_by_span(&mut findings);
        assert_eq!(starts(&findings)[..2], [(b.clone(), None), (b, Some(0))]);
    }
}
