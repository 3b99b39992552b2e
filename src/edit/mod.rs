//! Changes a text so that it says another value, and leaves everything else as it is: comments, layout, spelling.
//!
//! Edits are planned from the spans of the old value and spliced into the text. What comes out is read again and must say exactly
//! what was asked for; where it does not, a bolder plan is tried, and in the end the document is written anew.

mod block;
mod flow;
mod items;
mod lines;
mod plan;

use std::ops::Range;

use crate::document::{Document, Format, parse_part, write};
use crate::limits::Limits;
use crate::value::Node;
use plan::{Boldness, Plan};

/// The text with one of its documents changed to say `new`; none if the format cannot say it.
///
/// Everything outside the document stays, and so does every line inside that has nothing to do with the change.
pub fn edit(text: &str, document: &Document, new: &Node, format: Format, limits: &Limits) -> Option<String> {
    if document.root.is_identical(new) {
        return Some(text.to_owned());
    }
    let part = document.span.range();
    let says_new = |edited: &String| {
        let end = edited.len() - (text.len() - part.end);
        says(edited, part.start..end, document, new, format, limits)
    };
    for boldness in [Boldness::Careful, Boldness::Bold, Boldness::Inline] {
        let edited = Plan::new(text, document, new, format, boldness).edits().map(|edits| splice(text, &edits));
        if let Some(edited) = edited.filter(|edited| says_new(edited)) {
            return Some(edited);
        }
    }
    rewritten(text, document, new, format).into_iter().find(says_new)
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

/// Whether the part of the text reads as one document that says this.
fn says(text: &str, part: Range<usize>, old: &Document, new: &Node, format: Format, limits: &Limits) -> bool {
    if !text.is_char_boundary(part.start) || !text.is_char_boundary(part.end) {
        return false;
    }
    let read = parse_part(text, part, old.span.source, format, limits);
    match read.value.as_slice() {
        [only] => read.findings.is_empty() && only.root.is_identical(new),
        _ => false,
    }
}

/// The document written anew, in place of its value and then in place of all of it.
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
