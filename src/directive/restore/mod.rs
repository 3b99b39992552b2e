//! Restores directives: turns a document that was expanded and then changed back into a text with directives.
//!
//! The law: expanding the restored text gives the changed document, and what did not change stays as it is written. The directives
//! of a map stay, and only what differs from what they bring in is written beside them. Where that is not possible, the map is
//! written in full. The restored text is expanded again before it is returned, which verifies the law.

mod difference;
mod rebuild;

use std::collections::HashSet;

use super::arena::OccurrenceId;
use super::engine;
use super::index::has_plus_keys;
use super::{Context, expand, has_directives};
use crate::document::{self, Document, Format};
use crate::edit;
use crate::finding::{self, Finding, Location, Outcome, has_errors};
use crate::path::{Pointer, RepoPath};
use crate::text::Span;
use crate::value::{Node, Value};
use rebuild::Rebuilt;

/// A document with directives before its expansion.
#[derive(Clone, Copy)]
pub struct Original<'a> {
    /// The text of its file.
    pub text: &'a str,
    /// The document read from that text.
    pub document: &'a Document,
    /// The format of the file.
    pub format: Format,
    /// The file.
    pub file: &'a RepoPath,
}

/// The text of a file after its directives were restored.
#[derive(Debug, PartialEq, Eq)]
pub struct Restored {
    /// The text.
    pub text: String,
    /// Targets that were deleted while something still refers to them, and that were put back.
    pub put_back: Vec<Pointer>,
}

impl Restored {
    fn without_targets(text: String) -> Self {
        Self { text, put_back: Vec::new() }
    }
}

/// The number of trials before everything is written in full.
const MOST_TRIALS: usize = 40;

/// The text of the original's file, with the document changed so that it expands to `changed`.
///
/// If that is impossible, the text is unchanged and a finding says why. There is one exception to the law: a target that was
/// deleted while something still refers to it is put back, and the result names it.
pub fn restore(original: &Original<'_>, changed: &Node, context: &Context<'_>) -> Outcome<Restored> {
    let unchanged = |findings| Outcome { value: Restored::without_targets(original.text.to_owned()), findings };
    let before = expand(original.document, original.file, context);
    if has_errors(&before.findings) {
        return unchanged(before.findings);
    }
    if before.value.root.is_identical(changed) {
        return unchanged(Vec::new());
    }
    let saved = if has_directives(original.document) {
        restore_by_trial(original, &before.value.root, changed, context)
    } else {
        save(original, changed, changed, context).ok().map(Restored::without_targets)
    };
    match saved {
        Some(restored) => Outcome::clean(restored),
        None => {
            let location = Location::Span(original.document.root.span);
            let message =
                "the changed document cannot be written with directives so that it expands to the same document";
            let finding = Finding::new(&finding::MERGE_NOT_RESTORABLE, location, message);
            unchanged(vec![finding.help("rename keys that look like directives, such as `+/name`")])
        }
    }
}

fn restore_by_trial(original: &Original<'_>, before: &Node, changed: &Node, context: &Context<'_>) -> Option<Restored> {
    let mut engine = engine::explored(original.document, original.file, context);
    let mut in_full: HashSet<OccurrenceId> = HashSet::new();
    for trial in 0..MOST_TRIALS {
        let Rebuilt { root, expected, directive_maps, put_back } =
            rebuild::rebuild(&mut engine, before, changed, &in_full);
        let differences = match save(original, &root, &expected, context) {
            Ok(text) => return Some(Restored { text, put_back }),
            Err(differences) => differences,
        };
        // The nearest map with directives above a difference is most likely its cause.
        let open: Vec<&(OccurrenceId, Pointer)> =
            directive_maps.iter().filter(|(occurrence, _)| !in_full.contains(occurrence)).collect();
        let nearest = |difference: &Pointer| {
            let holds =
                |directive_map: &&&(OccurrenceId, Pointer)| difference.tokens().starts_with(directive_map.1.tokens());
            open.iter()
                .filter(holds)
                .max_by_key(|directive_map| directive_map.1.tokens().len())
                .map(|directive_map| directive_map.0)
        };
        let mut next: Vec<OccurrenceId> = differences.iter().filter_map(nearest).collect();
        if next.is_empty() || trial + 2 == MOST_TRIALS {
            next = open.iter().map(|directive_map| directive_map.0).collect();
        }
        if next.is_empty() {
            break;
        }
        in_full.extend(next);
    }
    save(original, changed, changed, context).ok().map(Restored::without_targets)
}

/// The text with the document replaced by `saved`, if it expands as expected; otherwise the paths of the differences.
fn save(original: &Original<'_>, saved: &Node, expected: &Node, context: &Context<'_>) -> Result<String, Vec<Pointer>> {
    let Original { text, document, format, file } = original;
    let nowhere = || vec![Pointer::root()];
    let edited = edit::edit(text, document, saved, *format, context.limits).ok_or_else(nowhere)?;
    let span = document.span.range();
    let part = span.start..edited.len() - (text.len() - span.end);
    let read = document::parse_part(&edited, part, document.span.source, *format, context.limits);
    let [again] = read.value.as_slice() else { return Err(nowhere()) };
    let expanded = expand(again, file, context);
    let mut differences = Vec::new();
    for finding in expanded.findings.iter().filter(|finding| finding.is_error()) {
        let at = finding.span().and_then(|span| path_of_key(&again.root, span, &mut Pointer::root()));
        differences.push(at.unwrap_or_default());
    }
    collect_differences(&expanded.value.root, expected, &mut Pointer::root(), &mut differences);
    if differences.is_empty() { Ok(edited) } else { Err(differences) }
}

/// The path of the map that has a key with this span.
fn path_of_key(node: &Node, key: Span, at: &mut Pointer) -> Option<Pointer> {
    if node.children().any(|child| child.key.is_some_and(|own| own.span == key)) {
        return Some(at.clone());
    }
    for child in node.children().filter(|child| has_plus_keys(child.node)) {
        at.push(child.token());
        if let Some(found) = path_of_key(child.node, key, at) {
            return Some(found);
        }
        at.pop();
    }
    None
}

/// The number of differences after which the search ends.
const MOST_DIFFERENCES: usize = 1000;

/// Collects the paths at which two values differ, as deep as possible.
fn collect_differences(a: &Node, b: &Node, at: &mut Pointer, found: &mut Vec<Pointer>) {
    if a.is_identical(b) || found.len() >= MOST_DIFFERENCES {
        return;
    }
    let known = found.len();
    match (&a.value, &b.value) {
        (Value::Map(left), Value::Map(right)) => {
            let only_right = right.entries().iter().filter(|entry| left.get(&entry.key.name).is_none());
            for entry in left.entries().iter().chain(only_right) {
                at.push(entry.key.name.clone());
                match (left.get(&entry.key.name), right.get(&entry.key.name)) {
                    (Some(left), Some(right)) => collect_differences(left, right, at, found),
                    _ => found.push(at.clone()),
                }
                at.pop();
            }
        }
        (Value::List(left), Value::List(right)) if left.items().len() == right.items().len() => {
            for (index, (left, right)) in left.items().iter().zip(right.items()).enumerate() {
                at.push(index.to_string());
                collect_differences(left, right, at, found);
                at.pop();
            }
        }
        _ => {}
    }
    if found.len() == known {
        found.push(at.clone());
    }
}
