//! Lays one tree over another.

use super::{Entry, Node, Value};

/// A value over a weaker one: maps are merged at every depth, and everything else of the stronger value wins, also null.
pub fn overlaid(weaker: &Node, stronger: &Node) -> Node {
    let (Value::Map(below), Value::Map(above)) = (&weaker.value, &stronger.value) else { return stronger.clone() };
    let mut entries: Vec<Entry> = Vec::with_capacity(above.len() + below.len());
    for entry in above.entries() {
        let value = match below.get(&entry.key.name) {
            Some(weaker) => overlaid(weaker, &entry.value),
            None => entry.value.clone(),
        };
        entries.push(Entry { key: entry.key.clone(), value });
    }
    entries.extend(below.entries().iter().filter(|entry| above.get(&entry.key.name).is_none()).cloned());
    Node { extra: stronger.extra.clone(), ..Node::map(entries, stronger.span) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::testing::read;

    #[test]
    fn maps_are_merged_and_the_rest_is_replaced() {
        let laid = |weaker, stronger| to_inline(&overlaid(&read(weaker), &read(stronger)));
        assert_eq!(laid("{a: 1, b: {c: 1, d: [1, 2]}}", "{b: {d: [3]}, e: 2}"), "{b: {d: [3], c: 1}, e: 2, a: 1}");
        assert_eq!(laid("{a: {b: 1}}", "{a: null}"), "{a: null}");
        assert_eq!(laid("{a: {b: 1}}", "{a: {}}"), "{a: {b: 1}}");
    }
}
