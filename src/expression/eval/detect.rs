//! Which values are expressions, decided cheaply: most documents have none.

use super::secrecy::secret_expression;
use crate::directive;
use crate::scan::{has_byte, is_escape_of, may_be_key, occurrences, positions};
use crate::value::{Entry, KeyKind, Map, Node, Value};

/// The keys that are allowed beside `eval`.
pub(super) const KEYWORDS: [&str; 5] = ["vars", "select", "foreach", "strict", "trace"];

/// Whether anything in a value is an expression: a map with `eval` and nothing but its keywords beside it, hidden or not.
pub fn has_expressions(node: &Node) -> bool {
    node.may_hold_eval()
        && node.any(|node| match &node.value {
            Value::Map(map) => is_expression(map),
            Value::Secret(secret) => secret_expression(secret).is_some(),
            _ => false,
        })
}

/// Whether a value is an expression as a whole.
pub fn is_whole_expression(node: &Node) -> bool {
    node.as_map().is_some_and(is_expression)
}

/// Whether the documents of a file can have expressions, judged by its bytes. A no is certain; a yes is not.
///
/// Text that was included counts as the file's own, so a file that includes others gets a yes.
pub fn may_have_expressions(bytes: &[u8]) -> bool {
    may_say_eval(bytes) || directive::may_include(bytes)
}

/// Whether a key `eval` may be written in a file. The letters may be hidden behind escapes, and UTF-16 has zeros between them.
pub fn may_say_eval(bytes: &[u8]) -> bool {
    const WORD: &[u8] = b"eval";
    has_byte(bytes, 0)
        || occurrences(bytes, WORD).any(|at| may_be_key(bytes, at..at + WORD.len()))
        || positions(bytes, b'\\')
            .any(|at| is_escape_of(WORD, &bytes[at + 1..]) || is_split_by_line_break(&bytes[..at], &bytes[at + 1..]))
}

/// Whether a backslash at the end of a line may split a quoted `eval`, which continues on the next line.
fn is_split_by_line_break(before: &[u8], after: &[u8]) -> bool {
    let may_end = |length: usize| before.strip_suffix(&b"eval"[..length]).is_some_and(|start| start.ends_with(b"\""));
    matches!(after.first(), Some(b'\n' | b'\r')) && (0..=4).any(may_end)
}

/// Whether a map of data is an expression.
pub(super) fn is_expression(map: &Map) -> bool {
    let is_known = |entry: &Entry| is_text(entry, "eval") || KEYWORDS.iter().any(|keyword| is_text(entry, keyword));
    map.len() <= 1 + KEYWORDS.len()
        && map.entries().iter().any(|entry| is_text(entry, "eval"))
        && map.entries().iter().all(is_known)
}

fn is_text(entry: &Entry, name: &str) -> bool {
    entry.key.kind == KeyKind::Text && entry.key.name == name
}
