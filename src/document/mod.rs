//! Stage 2: bytes become documents, trees of values in which every key and value knows where it is written.

mod compose;
mod encoding;
mod entries;
mod json;
pub(crate) mod layout;
mod plain;
mod scalar;
mod split;
mod trouble;
pub mod write;
mod yaml;

use std::ops::Range;

use smol_str::SmolStr;

pub use crate::names::Format;
pub use encoding::{EncodingError, decode};
pub use split::split;

use crate::finding::Outcome;
use crate::limits::Limits;
use crate::text::{SourceId, Span};
use crate::value::Node;
use trouble::Troubles;

/// Reads every document of a text.
///
/// A document with an error is left out of the value and explained in the findings; the others stay. Documents with nothing in
/// them (blank lines, comments, markers) are no documents; one that says `null` or `~` is.
pub fn parse(text: &str, source: SourceId, format: Format, limits: &Limits) -> Outcome<Vec<Document>> {
    parse_part(text, 0..text.len(), source, format, limits)
}

/// Reads a part of a text as if it were all, with spans that mean the whole text; [`split`] gives such parts.
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
    let mut troubles = Troubles::new(source);
    if u32::try_from(text.len()).is_err() {
        troubles.too_large(text.len());
        return Outcome { value: Vec::new(), findings: troubles.into_findings() };
    }
    let value = match format {
        Format::Yaml => yaml_documents(text, part, limits, &mut troubles, &mut |_| true).documents,
        Format::Json => json::parse(text, part, limits, &mut troubles).into_iter().collect(),
    };
    Outcome { value, findings: troubles.into_findings() }
}

/// The documents of a text that somebody wanted, and how many there are in all.
#[derive(Debug, Default)]
pub struct Selection {
    /// Those that were read.
    pub documents: Vec<Document>,
    /// How many documents the text holds, read or not.
    pub count: usize,
}

/// Reads those documents of a text whose own text somebody wants; a JSON text is one document and always read.
///
/// What is not wanted is not looked at, not even for errors: whoever leaves a document out must know it by other means.
pub fn parse_wanted(
    text: &str,
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
    let mut troubles = Troubles::new(source);
    let value = yaml_documents(text, 0..text.len(), limits, &mut troubles, wanted);
    Outcome { value, findings: troubles.into_findings() }
}

fn yaml_documents(
    text: &str,
    part: Range<usize>,
    limits: &Limits,
    troubles: &mut Troubles,
    wanted: &mut dyn FnMut(&str) -> bool,
) -> Selection {
    let mut selection = Selection::default();
    for piece in split(&text[part.clone()]) {
        let piece = part.start + piece.start..part.start + piece.end;
        if selection.documents.len() as u64 >= limits.nodes {
            troubles.too_many_documents(piece, limits);
            break;
        }
        let own = &text[piece.clone()];
        if split::is_blank(own) {
            continue;
        }
        if wanted(own) {
            let first = selection.documents.len();
            match plain::parse(text, piece.clone(), limits, troubles) {
                Some(document) => selection.documents.push(document),
                None => yaml::parse(text, piece, limits, troubles, &mut selection.documents),
            }
            let read = &mut selection.documents[first..];
            read.iter_mut().zip(selection.count..).for_each(|(document, position)| document.position = position);
            // A piece with nothing but comments that only the parser can tell is no document.
            selection.count += read.len();
        } else {
            selection.count += 1;
        }
    }
    selection
}

/// One document of a file.
#[derive(Debug, Clone)]
pub struct Document {
    /// Its value.
    pub root: Node,
    /// Which document of its file it is, from 0; empty ones do not count.
    pub position: usize,
    /// The part of the file it takes up.
    pub span: Span,
    /// Everything that has an anchor, in written order; the last of a name wins.
    pub anchors: Vec<(SmolStr, Node)>,
}

#[cfg(test)]
mod tests;
