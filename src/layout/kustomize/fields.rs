//! Fields of documents as kustomize addresses them: set, remove, and visit by field specifications.

use smol_str::SmolStr;

use super::id::ResourceId;
use super::{Fatal, fatal};
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// Which field of which kinds a transformer writes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct FieldSpec {
    /// The API group; empty for any.
    pub(super) group: SmolStr,
    /// The API version; empty for any.
    pub(super) version: SmolStr,
    /// The kind; empty for any.
    pub(super) kind: SmolStr,
    /// The keys that lead to the field; lists on the way are entered by themselves.
    pub(super) path: Vec<SmolStr>,
    /// Whether the field is created where it is absent.
    pub(super) create: bool,
}

impl FieldSpec {
    /// Reads a row of a table: `group/version/kind` with `*` for any, and a path.
    pub(super) fn row(kinds: &str, path: &str, create: bool) -> Self {
        let mut parts = kinds.split('|').map(|part| if part == "*" { SmolStr::default() } else { part.into() });
        let mut next = || parts.next().unwrap_or_default();
        Self { group: next(), version: next(), kind: next(), path: split_path(path), create }
    }

    /// Whether it is meant for a resource.
    pub(super) fn selects(&self, id: &ResourceId) -> bool {
        let fits = |wanted: &SmolStr, found: &SmolStr| wanted.is_empty() || wanted == found;
        fits(&self.group, &id.group) && fits(&self.version, &id.version) && fits(&self.kind, &id.kind)
    }
}

impl FieldSpec {
    /// Adds it to a table, unless the table has it; one that is there already is meant if it fits, even if it is for fewer kinds.
    pub(super) fn add_to(self, table: &mut Vec<Self>) -> Result<(), &'static str> {
        let fits = |wanted: &SmolStr, found: &SmolStr| wanted.is_empty() || wanted == found;
        let is_there = |other: &&Self| {
            fits(&self.group, &other.group)
                && fits(&self.version, &other.version)
                && fits(&self.kind, &other.kind)
                && self.path == other.path
        };
        match table.iter().find(is_there) {
            Some(other) if other.create != self.create => Err("this field is there already with another `create`"),
            Some(_) => Ok(()),
            None => {
                table.push(self);
                Ok(())
            }
        }
    }
}

/// Splits `a/b\/c/d` at its slashes.
pub(super) fn split_path(path: &str) -> Vec<SmolStr> {
    let mut parts = vec![String::new()];
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&'/') => {
                characters.next();
                if let Some(part) = parts.last_mut() {
                    part.push('/');
                }
            }
            '/' => parts.push(String::new()),
            other => {
                if let Some(part) = parts.last_mut() {
                    part.push(other);
                }
            }
        }
    }
    parts.into_iter().filter(|part| !part.is_empty()).map(SmolStr::from).collect()
}

/// Rewrites the fields that a path leads to; `None` if there are none.
pub(super) fn rewrite(
    node: &Node,
    path: &[SmolStr],
    create: Option<Span>,
    change: &mut dyn FnMut(&Node) -> Result<Node, Fatal>,
) -> Result<Option<Node>, Fatal> {
    if let Value::List(list) = &node.value {
        let mut items = list.items().to_vec();
        let mut is_changed = false;
        for item in &mut items {
            if let Some(changed) = rewrite(item, path, create, change)? {
                *item = changed;
                is_changed = true;
            }
        }
        let list = || Node { extra: node.extra.clone(), ..Node::list(items, node.span) };
        return Ok(is_changed.then(list));
    }
    let Some((first, rest)) = path.split_first() else { return change(node).map(Some) };
    let (name, is_list) = match first.strip_suffix("[]") {
        Some(name) => (name, true),
        None => (first.as_str(), false),
    };
    let map = match &node.value {
        Value::Map(map) => map.entries(),
        Value::Null if create.is_some() => &[],
        Value::Null => return Ok(None),
        _ => return Err(fatal(node.span, format!("`{name}` cannot be set, because this is not a map"))),
    };
    let replaced = |value: Node| with_entry(node, map, name, value, create.unwrap_or(node.span));
    match map.iter().find(|entry| entry.key.name == name) {
        Some(entry) if rest.is_empty() && entry.value.as_list().is_none() => Ok(Some(replaced(change(&entry.value)?))),
        Some(entry) => Ok(rewrite(&entry.value, rest, create, change)?.map(replaced)),
        None => match create {
            Some(span) if !is_list => {
                let value = match rest {
                    [] => change(&Node::new(Value::Null, span))?,
                    _ => match rewrite(&Node::new(Value::Null, span), rest, create, change)? {
                        Some(value) => value,
                        None => return Ok(None),
                    },
                };
                Ok(Some(replaced(value)))
            }
            _ => Ok(None),
        },
    }
}

/// How many values that were overridden one after the other are kept.
const LONGEST_HISTORY: usize = 8;

/// A value in the place of another one. An equal value changes nothing, so that the old one keeps its provenance.
pub(super) fn in_place_of(old: Option<&Node>, new: Node) -> Node {
    let Some(old) = old.filter(|old| !matches!(old.value, Value::Null)) else { return new };
    if old.is_identical(&new) {
        return old.clone();
    }
    let history = std::iter::successors(Some(old), |node| node.overridden()).take(LONGEST_HISTORY + 1).count();
    if history > LONGEST_HISTORY { new.overriding(old.clone().forgetting()) } else { new.overriding(old.clone()) }
}

/// The document with a field set; maps on the way are created, and whatever else is in the way is replaced.
pub(super) fn set_at(node: &Node, path: &[&str], value: Node) -> Node {
    let Some((first, rest)) = path.split_first() else { return value };
    let entries = node.as_map().map_or(&[][..], |map| map.entries());
    let child = entries.iter().find(|entry| entry.key.name == *first).map(|entry| entry.value.clone());
    let child = set_at(&child.unwrap_or_else(|| Node::map(Vec::new(), value.span)), rest, value);
    let key_at = child.span;
    with_entry(node, entries, first, child, key_at)
}

/// A map with one entry set; a new key is written at a place of the file.
pub(super) fn with_entry(map: &Node, entries: &[Entry], name: &str, value: Node, key_at: Span) -> Node {
    let mut entries = entries.to_vec();
    match entries.iter_mut().find(|entry| entry.key.name == name) {
        Some(entry) => entry.value = value,
        None => entries.push(Entry::named(name, key_at, value)),
    }
    Node { extra: map.extra.clone(), ..Node::map(entries, map.span) }
}

/// The document without a field.
pub(super) fn remove_at(node: &Node, path: &[&str]) -> Node {
    let (Some(map), Some((first, rest))) = (node.as_map(), path.split_first()) else { return node.clone() };
    let mut entries = map.entries().to_vec();
    match entries.iter().position(|entry| entry.key.name == *first) {
        Some(at) if rest.is_empty() => drop(entries.remove(at)),
        Some(at) => entries[at].value = remove_at(&entries[at].value, rest),
        None => return node.clone(),
    }
    Node { extra: node.extra.clone(), ..Node::map(entries, node.span) }
}

/// The value that keys lead to.
pub(super) fn get_at<'n>(node: &'n Node, path: &[&str]) -> Option<&'n Node> {
    path.iter().try_fold(node, |node, key| node.get(key))
}
