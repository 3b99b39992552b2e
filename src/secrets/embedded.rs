//! Documents inside strings: what is secret in them makes the whole string one.

use super::mention::mentions_secret;
use crate::document::{self, Format};
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Node, text_of_base64};

/// Longer texts are judged by what they mention.
const LONGEST: usize = 1 << 20;

/// The documents that a text holds, if they can be read and may be of interest; they are at the place of the text.
pub(super) fn documents(text: &str, at: Span) -> Option<Vec<Node>> {
    if text.len() > LONGEST || !text.contains([':', '{']) {
        return None;
    }
    let format = if text.trim_start().starts_with(['{', '[']) { Format::Json } else { Format::Yaml };
    let limits = Limits { nodes: MOST_NODES, ..Limits::default() };
    let parsed = document::parse(text, at.source, format, &limits);
    let is_read = parsed.findings.iter().all(|finding| !finding.is_error());
    is_read.then(|| parsed.value.into_iter().map(|document| document.root).collect())
}

const MOST_NODES: u64 = 100_000;

/// Whether a text mentions a Secret, in plain letters or in base64.
pub(super) fn may_hold_secret(text: &str) -> bool {
    match text.as_bytes().contains(&b':') {
        true => mentions_secret(text),
        false => text.len() >= SHORTEST_ENCODED && text_of_base64(text).is_some_and(|inner| mentions_secret(&inner)),
    }
}

/// `kind: Secret` and something more, in base64.
const SHORTEST_ENCODED: usize = 24;
