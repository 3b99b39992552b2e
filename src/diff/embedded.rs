//! Documents embedded in strings, such as the files in a ConfigMap.
//!
//! Any sentence with a colon is YAML, so a string is looked into only if there is more reason than that it can be read:
//! its key ends like a file name of JSON or YAML; or it starts like JSON and is JSON; or it is a YAML map of
//! several lines whose keys all look like identifiers. Both sides must have the same reason, the same format and the same
//! kind of root, a map or a list.

use super::options::Options;
use super::walk_path::WalkPath;
use crate::document::Format;
use crate::value::{KeyKind, Node, Type};

/// The documents embedded in two strings.
pub(super) struct Embedded {
    pub(super) format: Format,
    pub(super) before: Node,
    pub(super) after: Node,
}

/// Documents in strings of documents in strings; deeper ones are compared as text.
const DEEPEST: usize = 3;

/// Parses both strings, if both contain documents.
pub(super) fn read(before: &Node, after: &Node, place: &WalkPath<'_>, options: &Options) -> Option<Embedded> {
    let (before_at, after_at) = (before.span, after.span);
    let (before, after) = (before.as_str()?, after.as_str()?);
    let parse = options.embedded_parser.as_deref()?;
    let reason = reason(before, place.key())?;
    let is_small = before.len().max(after.len()) <= options.text.embedded_bytes;
    if reason != self::reason(after, place.key())? || !is_small || place.embedded_depth() >= DEEPEST {
        return None;
    }
    let (format, before) = parse(before, before_at)?;
    let (after_format, after) = parse(after, after_at)?;
    let is_alike = format == after_format && before.type_of() == after.type_of();
    let is_meant = |node: &Node| match reason {
        Reason::FileName => matches!(node.type_of(), Type::Map | Type::List),
        Reason::LooksLikeJson => format == Format::Json && matches!(node.type_of(), Type::Map | Type::List),
        Reason::LooksLikeYaml => has_identifiers_as_keys(node),
    };
    (is_alike && is_meant(&before) && is_meant(&after)).then_some(Embedded { format, before, after })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reason {
    FileName,
    LooksLikeJson,
    LooksLikeYaml,
}

/// Why a string may contain a document. This check is cheap, because most strings contain none.
fn reason(text: &str, key: Option<&str>) -> Option<Reason> {
    let is_file = key.is_some_and(|key| [".json", ".yaml", ".yml"].iter().any(|end| key.ends_with(end)));
    let text = text.trim();
    match text.as_bytes() {
        [] => None,
        _ if is_file => Some(Reason::FileName),
        [b'{', .., b'}'] | [b'[', .., b']'] => Some(Reason::LooksLikeJson),
        _ if text.contains('\n') && text.contains(':') => Some(Reason::LooksLikeYaml),
        _ => None,
    }
}

fn has_identifiers_as_keys(node: &Node) -> bool {
    let is_identifier = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
    };
    node.as_map().is_some_and(|map| {
        let mut keys = map.entries().iter().map(|entry| &entry.key);
        keys.all(|key| key.kind == KeyKind::Text && is_identifier(&key.name))
    })
}
