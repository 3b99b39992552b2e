//! Values for unit tests, read from text.

use crate::document::{self, Format};
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// The one document of a YAML text that has nothing wrong with it.
#[track_caller]
pub(crate) fn read(text: &str) -> Node {
    read_as(text, Format::Yaml)
}

/// The one document of a text that has nothing wrong with it.
#[track_caller]
pub(crate) fn read_as(text: &str, format: Format) -> Node {
    let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", text));
    let parsed = document::parse(text, source, format, &Limits::default());
    assert!(parsed.findings.is_empty(), "{text}\n{:#?}", parsed.findings);
    let [document] = parsed.value.try_into().unwrap_or_else(|all: Vec<_>| panic!("{} documents in {text}", all.len()));
    document.root
}
