//! Edits a text so that it has another value, and keeps everything else: comments, layout, spelling.
//!
//! Edits are planned from the spans of the old value and applied to the text. The result is read again and must be exactly the new
//! value; if it is not, a bolder plan is tried, and finally the document is rewritten.

mod block;
mod flow;
mod items;
mod lines;
mod plan;

use std::ops::Range;

use crate::document::{Document, Format, parse_part, write};
use crate::limits::Limits;
use crate::value::Node;
use plan::{Boldness, EditPlan};

/// The text with one of its documents changed to `new`; `None` if the format cannot represent it.
///
/// Everything outside the document stays, and so does every line inside that the change does not affect.
pub fn edit(text: &str, document: &Document, new: &Node, format: Format, limits: &Limits) -> Option<String> {
    if document.root.is_identical(new) {
        return Some(text.to_owned());
    }
    let part = document.span.range();
    let has_new_value = |edited: &String| {
        let end = edited.len() - (text.len() - part.end);
        has_value(edited, part.start..end, document, new, format, limits)
    };
    for boldness in [Boldness::Careful, Boldness::Bold, Boldness::Inline] {
        let edited = EditPlan::new(text, document, new, format, boldness).edits().map(|edits| splice(text, &edits));
        if let Some(edited) = edited.filter(|edited| has_new_value(edited)) {
            return Some(edited);
        }
    }
    rewritten(text, document, new, format).into_iter().find(has_new_value)
}

/// One replacement; ranges of a plan do not overlap.
#[derive(Debug, Clone)]
struct Edit {
    range: Range<usize>,
    text: String,
}

fn splice(text: &str, edits: &[Edit]) -> String {
    let mut edited = String::with_capacity(text.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
    let mut at = 0;
    for edit in edits {
        edited.push_str(&text[at..edit.range.start]);
        edited.push_str(&edit.text);
        at = edit.range.end;
    }
    edited.push_str(&text[at..]);
    edited
}

/// Whether a part of the text is one document with the new value.
fn has_value(text: &str, part: Range<usize>, old: &Document, new: &Node, format: Format, limits: &Limits) -> bool {
    if !text.is_char_boundary(part.start) || !text.is_char_boundary(part.end) {
        return false;
    }
    let read = parse_part(text, part, old.span.source, format, limits);
    match read.value.as_slice() {
        [only] => read.findings.is_empty() && only.root.is_identical(new),
        _ => false,
    }
}

/// The text with the document rewritten, in place of its value and then in place of all of it.
fn rewritten(text: &str, document: &Document, new: &Node, format: Format) -> Vec<String> {
    let part = document.span.range();
    let root = document.root.span.range();
    let body = match format {
        Format::Yaml => write::to_yaml(new),
        Format::Json => write::to_json(new),
    };
    let (before, after) = (&text[..part.start], &text[part.end..]);
    let end = lines::end_of_line(text, root.end).min(part.end);
    let rest = text[end..part.end].strip_prefix("\r\n").or(text[end..part.end].strip_prefix('\n'));
    let head = &text[part.start..lines::start_of_line(text, root.start).max(part.start)];
    let in_place = [before, head, &body, rest.unwrap_or_default(), after].concat();
    let marker = if part.start > 0 { "---\n" } else { "" };
    vec![in_place, [before, marker, &body, after].concat()]
}

#[cfg(test)]
mod tests;
