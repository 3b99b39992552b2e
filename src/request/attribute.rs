//! Attributes by name or by pointer, kept in or removed from a value.

use std::collections::BTreeMap;

use smol_str::SmolStr;

use crate::path::Pointer;
use crate::value::{Entry, Node, Value, list_index};

/// Documents are never deeper; a longer pointer leads nowhere.
const DEEPEST: usize = 512;

/// Places in a value, as lists of attributes name them: a leading `/` is a JSON Pointer, anything else a top-level name.
#[derive(Debug, Clone, Default)]
pub struct AttributePaths {
    is_whole: bool,
    below: BTreeMap<SmolStr, AttributePaths>,
}

impl AttributePaths {
    /// Reads a list of attributes; `/` alone is the whole value.
    pub fn parse<'t>(names: impl IntoIterator<Item = &'t str>) -> Result<Self, String> {
        let mut attributes = Self::default();
        for name in names {
            let name = name.trim();
            match name {
                "" => return Err("an attribute has no name".to_owned()),
                "/" => attributes.is_whole = true,
                _ if name.starts_with('/') => {
                    let pointer = Pointer::parse(name).map_err(str::to_owned)?;
                    attributes.add(pointer.tokens());
                }
                _ => attributes.add(&[name.into()]),
            }
        }
        Ok(attributes)
    }

    /// The whole value.
    pub fn whole() -> Self {
        Self { is_whole: true, below: BTreeMap::new() }
    }

    /// These and others.
    #[must_use]
    pub fn or(mut self, other: Self) -> Self {
        self.is_whole |= other.is_whole;
        for (name, below) in other.below {
            let own = self.below.remove(&name).unwrap_or_default();
            self.below.insert(name, own.or(below));
        }
        self
    }

    fn add(&mut self, tokens: &[SmolStr]) {
        if tokens.len() > DEEPEST {
            return;
        }
        let end = tokens.iter().fold(self, |attributes, token| attributes.below.entry(token.clone()).or_default());
        end.is_whole = true;
    }

    /// The value with nothing but these places; items of lists keep their positions, with nulls before them.
    #[must_use]
    pub fn keep(&self, value: &Node) -> Node {
        self.kept(value).unwrap_or_else(|| match &value.value {
            Value::Map(_) => Node::map(Vec::new(), value.span),
            Value::List(_) => Node::list(Vec::new(), value.span),
            _ => Node::new(Value::Null, value.span),
        })
    }

    fn kept(&self, value: &Node) -> Option<Node> {
        if self.is_whole {
            return Some(value.clone());
        }
        let kept = match &value.value {
            Value::Map(map) => {
                let keep = |entry: &Entry| {
                    let value = self.below.get(&entry.key.name)?.kept(&entry.value)?;
                    Some(Entry { key: entry.key.clone(), value })
                };
                let entries: Vec<Entry> = map.entries().iter().filter_map(keep).collect();
                (!entries.is_empty()).then(|| Node::map(entries, value.span))
            }
            Value::List(list) => {
                let mut items: Vec<Node> = Vec::new();
                let mut positions: Vec<(usize, &Self)> =
                    self.below.iter().filter_map(|(token, below)| Some((list_index(token)?, below))).collect();
                positions.sort_by_key(|(at, _)| *at);
                for (at, below) in positions {
                    let Some(item) = list.items().get(at).and_then(|item| below.kept(item)) else { continue };
                    items.resize(at, Node::new(Value::Null, value.span.start_only()));
                    items.push(item);
                }
                (!items.is_empty()).then(|| Node::list(items, value.span))
            }
            _ => None,
        };
        kept.map(|node| Node { extra: value.extra.clone(), ..node })
    }

    /// The value without these places; positions are those before anything is taken away.
    #[must_use]
    pub fn remove(&self, value: &Node) -> Node {
        if self.is_whole {
            return Node::new(Value::Null, value.span);
        }
        let node = match &value.value {
            Value::Map(map) => {
                let entries = map.entries().iter().filter_map(|entry| match self.below.get(&entry.key.name) {
                    Some(below) if below.is_whole => None,
                    Some(below) => Some(Entry { key: entry.key.clone(), value: below.remove(&entry.value) }),
                    None => Some(entry.clone()),
                });
                Node::map(entries.collect(), value.span)
            }
            Value::List(list) => {
                let below = |at: usize| self.below.get(at.to_string().as_str());
                let items = list.items().iter().enumerate().filter_map(|(at, item)| match below(at) {
                    Some(below) if below.is_whole => None,
                    Some(below) => Some(below.remove(item)),
                    None => Some(item.clone()),
                });
                Node::list(items.collect(), value.span)
            }
            _ => return value.clone(),
        };
        Node { extra: value.extra.clone(), ..node }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;

    use crate::testing::read;

    const VALUE: &str = "{a: 1, b: {c: 2, d: 3}, list: [{t: 1, u: 1}, {t: 2}, 3], '0': z, x/y: s, e.f: p}";

    #[test]
    fn places_are_kept() {
        let kept =
            |names: &[&str]| to_inline(&AttributePaths::parse(names.iter().copied()).unwrap().keep(&read(VALUE)));
        assert_eq!(kept(&["a", " b ", "zz", "a"]), "{a: 1, b: {c: 2, d: 3}}");
        assert_eq!(kept(&["/b/c", "e.f"]), "{b: {c: 2}, e.f: p}");
        assert_eq!(kept(&["/list/1/t"]), "{list: [null, {t: 2}]}");
        assert_eq!(kept(&["/0", "/x~1y"]), "{\"0\": z, x/y: s}");
        assert_eq!(kept(&["/none", "/a/b", "/list/9"]), "{}");
        assert_eq!(kept(&["/"]), to_inline(&read(VALUE)));
        assert_eq!(to_inline(&AttributePaths::parse(["/1"]).unwrap().keep(&read("[1]"))), "[]");
        assert!(AttributePaths::parse([" "]).is_err() && AttributePaths::parse(["/a~2"]).is_err());
    }

    #[test]
    fn places_are_removed_by_where_they_were() {
        let left =
            |names: &[&str]| to_inline(&AttributePaths::parse(names.iter().copied()).unwrap().remove(&read(VALUE)));
        assert_eq!(left(&["/list", "b", "0", "x/y", "e.f", "none"]), "{a: 1}");
        assert_eq!(left(&["/list/0", "/list/1", "/b/c", "/b/d", "/0", "/x~1y", "e.f", "a"]), "{b: {}, list: [3]}");
        assert_eq!(left(&["/"]), "null");
        assert_eq!(to_inline(&AttributePaths::parse(["/00", "/0/a"]).unwrap().remove(&read("[{a: 1}, 2]"))), "[{}, 2]");
    }

    #[test]
    fn pointers_as_long_as_a_file_do_no_harm() {
        let long = "/a".repeat(1_000_000);
        let attributes = AttributePaths::parse([long.as_str()]).unwrap();
        assert_eq!(to_inline(&attributes.remove(&read("{a: {a: 1}}"))), "{a: {a: 1}}");
    }
}
