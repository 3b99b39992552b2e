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

/// Checks that a page of the documentation has this text between `<!-- NAME -->` and `<!-- end NAME -->`; `OUTCROP_WRITE=1` writes it.
#[track_caller]
pub(crate) fn is_documented(page: &str, name: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let written = std::fs::read_to_string(&file).expect("the page is there");
    let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end {name} -->\n"));
    let from = written.find(&start).unwrap_or_else(|| panic!("{page} has no {start}")) + start.len();
    let to = written.find(&end).unwrap_or_else(|| panic!("{page} has no {end}"));
    if std::env::var_os("OUTCROP_WRITE").is_some() {
        std::fs::write(&file, [&written[..from], text, &written[to..]].concat()).expect("the page can be written");
        return;
    }
    assert!(written[from..to] == *text, "{page} is out of date: OUTCROP_WRITE=1 cargo test --lib documented");
}
