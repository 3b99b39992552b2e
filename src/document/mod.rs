//! Reads bytes as documents: trees of values in which every key and value has its span. Also writes values.

mod compose;
mod encoding;
mod entries;
mod json;
pub(crate) mod layout;
mod plain;
mod scalar;
mod split;
mod problems;
mod properties;
pub mod write;
mod yaml;

use std::ops::Range;

use smol_str::SmolStr;

pub use crate::names::Format;
pub use encoding::{EncodingError, decode};
pub use properties::{ini, properties};
pub use split::split;

use crate::finding::{self, Outcome};
use crate::limits::Limits;
use crate::text::{SourceId, Span};
use crate::value::Node;
use json::Dialect;
use problems::Problems;

/// Reads every document of a text.
///
/// A document with an error is left out of the value and explained in the findings; the others stay. Empty documents (blank lines,
/// comments, markers) do not count; one with `null` or `~` does.
pub fn parse(text: &str, source: SourceId, format: Format, limits: &Limits) -> Outcome<Vec<Document>> {
    parse_part(text, 0..text.len(), source, format, limits)
}

/// Reads a part of a text, such as one that [`split`] returns. Spans refer to the whole text.
///
/// # Panics
///
/// If the range is not within the text, or cuts a character in two.
pub fn parse_part(
    text: &str,
    part: Range<usize>,
    source: SourceId,
    format: Format,
    limits: &Limits,
) -> Outcome<Vec<Document>> {
    let mut problems = Problems::new(source);
    if u32::try_from(text.len()).is_err() {
        problems.too_large(text.len());
        return Outcome { value: Vec::new(), findings: problems.into_findings(limits) };
    }
    let value = match format {
        Format::Yaml => {
            let pieces = split(&text[part.clone()]).into_iter();
            let pieces = pieces.map(|piece| part.start + piece.start..part.start + piece.end);
            yaml_documents(text, pieces, limits, &mut problems, &mut |_| true).documents
        }
        Format::Json => json::parse(text, part, Dialect::Strict, limits, &mut problems).into_iter().collect(),
    };
    Outcome { value, findings: problems.into_findings(limits) }
}

/// Reads JSON with comments and trailing commas, as some programs write their own files.
pub fn parse_json_with_comments(text: &str, source: SourceId, limits: &Limits) -> Outcome<Vec<Document>> {
    let mut problems = Problems::new(source);
    if u32::try_from(text.len()).is_err() {
        problems.too_large(text.len());
        return Outcome { value: Vec::new(), findings: problems.into_findings(limits) };
    }
    let document = json::parse(text, 0..text.len(), Dialect::WithComments, limits, &mut problems);
    Outcome { value: document.into_iter().collect(), findings: problems.into_findings(limits) }
}

/// Selected documents of a text, and the number of all documents.
#[derive(Debug, Default)]
pub struct Selection {
    /// The documents that were read.
    pub documents: Vec<Document>,
    /// The number of documents in the text, read or not.
    pub count: usize,
}

/// Reads the documents of a text that `wanted` accepts by their text, given the pieces that [`split`] finds. A JSON text is one document
/// and always read.
///
/// The other documents are not parsed, so that errors in them are not found.
pub fn parse_wanted(
    text: &str,
    pieces: &[Range<usize>],
    source: SourceId,
    format: Format,
    limits: &Limits,
    wanted: &mut dyn FnMut(&str) -> bool,
) -> Outcome<Selection> {
    if format == Format::Json || u32::try_from(text.len()).is_err() {
        let parsed = parse(text, source, format, limits);
        let count = parsed.value.len();
        return Outcome { value: Selection { documents: parsed.value, count }, findings: parsed.findings };
    }
    let mut problems = Problems::new(source);
    let value = yaml_documents(text, pieces.iter().cloned(), limits, &mut problems, wanted);
    Outcome { value, findings: problems.into_findings(limits) }
}

fn yaml_documents(
    text: &str,
    pieces: impl Iterator<Item = Range<usize>>,
    limits: &Limits,
    problems: &mut Problems,
    wanted: &mut dyn FnMut(&str) -> bool,
) -> Selection {
    let mut selection = Selection::default();
    for piece in pieces {
        if selection.documents.len() as u64 >= limits.nodes {
            problems.too_many_documents(piece, limits);
            break;
        }
        if !limits.take_nodes(DOCUMENT) {
            problems.report(problems.too_many_in_run(piece.start..piece.start, limits));
            break;
        }
        let own = &text[piece.clone()];
        if split::is_blank(own) {
            continue;
        }
        if wanted(own) {
            let first = selection.documents.len();
            match plain::parse(text, piece.clone(), limits, problems) {
                Some(document) => selection.documents.push(document),
                None => yaml_document(text, piece, limits, problems, &mut selection.documents),
            }
            let read = &mut selection.documents[first..];
            read.iter_mut().zip(selection.count..).for_each(|(document, position)| document.position = position);
            // A piece with nothing but comments that only the parser recognizes is not a document.
            selection.count += read.len();
        } else {
            selection.count += 1;
        }
    }
    selection
}

/// The number of values that a document counts as, beside those that it has: the memory that goes with each.
const DOCUMENT: u64 = 8;

/// Reads a piece with the event parser. What common readers accept although YAML does not is read as they read it, with a warning.
fn yaml_document(
    text: &str,
    piece: Range<usize>,
    limits: &Limits,
    problems: &mut Problems,
    documents: &mut Vec<Document>,
) {
    let mut found = problems.fresh();
    yaml::parse(text, piece.clone(), limits, &mut found, documents);
    let found = found.into_findings(limits);
    let is_refused = matches!(found.as_slice(), [only] if only.rule.id == finding::DOCUMENT_SYNTAX.id);
    let lenient = if is_refused { plain::parse_leniently(text, piece, limits, problems) } else { None };
    match lenient {
        Some((document, quote)) => {
            documents.push(document);
            let message = "this quoted string continues in a line that is not indented";
            let warning = problems.finding(&finding::DOCUMENT_LENIENT, quote..quote + 1, message);
            problems.report(warning.labelled("opened here").help("indent the lines in which the string continues"));
        }
        None => found.into_iter().for_each(|finding| problems.report(finding)),
    }
}

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its value.
    pub root: Node,
    /// The index of the document in its file, from 0; empty ones do not count.
    pub position: usize,
    /// The part of the file that it is written in.
    pub span: Span,
    /// All values with an anchor, in written order; the last one of a name wins.
    pub anchors: Vec<(SmolStr, Node)>,
}

#[cfg(test)]
mod tests;
