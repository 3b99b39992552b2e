//! What the stage must answer, by format, and the laws that hold for any text.

mod bombs;
mod json;
mod laws;
mod yaml;

use super::*;
use crate::finding::{Finding, Location};
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};

fn source() -> SourceId {
    Sources::default().add(SourceText::new(RepoPath::root(), "", ""))
}

fn read(text: &str, format: Format) -> Outcome<Vec<Document>> {
    parse(text, source(), format, &Limits::default())
}

/// Each document as one line of YAML; panics with the findings if there are any.
fn lines(text: &str) -> Vec<String> {
    let outcome = read(text, Format::Yaml);
    assert!(outcome.findings.is_empty(), "{text:?}: {:#?}", outcome.findings);
    outcome.value.iter().map(|document| write::to_inline(&document.root)).collect()
}

/// The only document.
fn only(text: &str, format: Format) -> Document {
    let outcome = read(text, format);
    assert!(outcome.findings.is_empty(), "{text:?}: {:#?}", outcome.findings);
    let [document] = outcome.value.try_into().unwrap_or_else(|all: Vec<_>| panic!("{} documents", all.len()));
    document
}

/// Rule, source text at the location, and message of each finding.
fn complaints<'t>(text: &'t str, findings: &'t [Finding]) -> Vec<(&'static str, &'t str, &'t str)> {
    let place = |finding: &Finding| match &finding.location {
        Location::Span(span) => span.range(),
        Location::File { .. } => panic!("a document's findings have a place in its text"),
    };
    findings.iter().map(|finding| (finding.rule.id, &text[place(finding)], finding.message.as_str())).collect()
}

/// The rules that a text breaks.
fn rules(text: &str, format: Format) -> Vec<&'static str> {
    read(text, format).findings.iter().map(|finding| finding.rule.id).collect()
}

#[test]
fn the_extension_tells_the_format() {
    assert_eq!(Format::of_file_name(b"a.yaml"), Some(Format::Yaml));
    assert_eq!(Format::of_file_name(b"A.YML"), Some(Format::Yaml));
    assert_eq!(Format::of_file_name(b"x.tar.Json"), Some(Format::Json));
    assert_eq!(Format::of_file_name(b"a.jsonc"), Some(Format::Json));
    for other in [&b"yaml"[..], b".yaml", b"a.yaml.bak", b"a.", b"", b"a.json5"] {
        assert_eq!(Format::of_file_name(other), None);
    }
}
