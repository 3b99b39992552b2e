//! Merges maps key by key.

use crate::value::{Entry, Map, Node, Value};

/// What a null in the upper map means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// It removes the key.
    Clear,
    /// It is a value like any other.
    Keep,
}

/// One value over another: maps are merged key by key, everything else is replaced.
#[must_use]
pub fn overlay(under: Option<&Node>, over: &Node, nulls: Nulls) -> Node {
    let Value::Map(above) = &over.value else { return over.clone() };
    let below = under.and_then(Node::as_map);
    let mut merged: Vec<Option<Entry>> =
        below.map(Map::entries).unwrap_or_default().iter().cloned().map(Some).collect();
    for entry in above.entries() {
        let position = below.and_then(|below| below.position(&entry.key.name));
        let under = position.and_then(|at| below.map(|below| &below.entries()[at].value));
        let is_cleared = nulls == Nulls::Clear && matches!(entry.value.value, Value::Null);
        let new = (!is_cleared).then(|| Entry { key: entry.key.clone(), value: overlay(under, &entry.value, nulls) });
        match position {
            Some(at) => merged[at] = new,
            None => merged.push(new),
        }
    }
    Node { extra: over.extra.clone(), ..Node::map(merged.into_iter().flatten().collect(), over.span) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{self, Format, write::to_inline};
    use crate::limits::Limits;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};

    fn merged(under: &str, over: &str, nulls: Nulls) -> String {
        let sources = Sources::default();
        let read = |text: &str| {
            let source = sources.add(SourceText::new(RepoPath::root(), "test", text));
            document::parse(text, source, Format::Yaml, &Limits::default()).value.remove(0).root
        };
        to_inline(&overlay(Some(&read(under)), &read(over), nulls))
    }

    #[test]
    fn maps_are_merged_and_everything_else_is_replaced() {
        let (under, over) = ("{a: 1, m: {x: 1, z: 2}, l: [1]}", "{m: {x: 3, w: 4}, l: [2], b: 5}");
        let expected = "{a: 1, m: {x: 3, z: 2, w: 4}, l: [2], b: 5}";
        assert_eq!(merged(under, over, Nulls::Keep), expected);
        assert_eq!(merged(under, over, Nulls::Clear), expected);
        assert_eq!(merged("{a: 1}", "7", Nulls::Clear), "7");
    }

    #[test]
    fn null_clears_or_is_a_value() {
        let (under, over) = ("{a: 1, m: {x: 1}}", "{a: null, m: {x: null}, w: {o: null}}");
        assert_eq!(merged(under, over, Nulls::Clear), "{m: {}, w: {}}");
        assert_eq!(merged(under, over, Nulls::Keep), "{a: null, m: {x: null}, w: {o: null}}");
    }
}
