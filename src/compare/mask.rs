//! Replaces secret values by [`Secret`]s, so that no later stage can print them.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::path::{Pointer, RepoPath};
use crate::pattern::Pattern;
use crate::resource::{Identity, Resource};
use crate::settings::PlaceRule;
use crate::value::{Entry, Map, Node, Secret, Value, list_index};

/// What is secret: Kubernetes Secrets always, configured places besides.
#[derive(Debug)]
pub struct Masks {
    rules: Vec<Rule>,
    is_off: bool,
}

#[derive(Debug)]
struct Rule {
    within: Option<Pattern>,
    pointer: Pattern,
}

impl Masks {
    /// Takes the rules of both sides: a change cannot bring a secret to light by dropping its rule.
    pub fn new<'a>(rules: impl IntoIterator<Item = &'a PlaceRule>) -> Self {
        let compiled = rules.into_iter().filter_map(|rule| {
            let within = rule.within.as_deref().map(Pattern::of_path);
            Some(Rule { within, pointer: Pattern::of_pointer(&rule.pointer).ok()? })
        });
        Self { rules: compiled.collect(), is_off: false }
    }

    /// Hides nothing: for a person at a terminal who asks to see secrets.
    pub fn off() -> Self {
        Self { rules: Vec::new(), is_off: true }
    }

    /// The resource with its secrets hidden. Trees without secrets are not copied.
    #[must_use]
    pub fn hide(&self, mut resource: Resource) -> Resource {
        if self.is_off {
            return resource;
        }
        let rules: Vec<&Rule> = self.rules.iter().filter(|rule| rule.speaks_of(&resource)).collect();
        if let Some(hidden) = hide_node(&resource.payload, &rules, &mut Vec::new()) {
            resource.payload = hidden;
        }
        resource
    }

    /// A document of a file with its secrets hidden.
    #[must_use]
    pub fn hide_document(&self, root: Node, file: &RepoPath) -> Node {
        let identity = Identity::File { path: file.clone(), position: None };
        self.hide(Resource { identity, file: file.clone(), position: 0, payload: root }).payload
    }

    /// Whether a text that could not be parsed may hold secrets; then its snippets must not show values.
    pub fn may_be_in(&self, text: &str) -> bool {
        !self.is_off && is_sensitive_text(text)
            || self.rules.iter().any(|rule| rule.pointer.last_literal().is_none_or(|key| text.contains(key)))
    }
}

/// The resource with these places of its payload hidden.
#[must_use]
pub fn hide_places(mut resource: Resource, places: impl FnOnce(&Node) -> Vec<Pointer>) -> Resource {
    for place in places(&resource.payload) {
        if let Some(hidden) = hide_at(&resource.payload, place.tokens()) {
            resource.payload = hidden;
        }
    }
    resource
}

fn hide_at(node: &Node, place: &[SmolStr]) -> Option<Node> {
    let Some((name, rest)) = place.split_first() else { return Some(hide_scalars(node)) };
    let hidden = match &node.value {
        Value::Map(map) => {
            let at = map.position(name)?;
            let mut entries = map.entries().to_vec();
            entries[at].value = hide_at(&entries[at].value, rest)?;
            Node::map(entries, node.span)
        }
        Value::List(_) => {
            let mut items = node.as_list()?.to_vec();
            let at = list_index(name).filter(|at| *at < items.len())?;
            items[at] = hide_at(&items[at], rest)?;
            Node::list(items, node.span)
        }
        _ => return None,
    };
    Some(Node { extra: node.extra.clone(), ..hidden })
}

impl Rule {
    fn speaks_of(&self, resource: &Resource) -> bool {
        self.within.as_ref().is_none_or(|within| resource.is_within(within))
    }
}

/// Whether a text mentions a Kubernetes Secret. Wrong in doubt on the safe side: only what looks like `kind: Secret` counts.
pub fn is_sensitive_text(text: &str) -> bool {
    text.match_indices("Secret").any(|(at, _)| {
        let before = text[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':' | '\\'));
        before.ends_with("kind")
    })
}

/// The node with its secrets hidden, or nothing if it has none.
fn hide_node(node: &Node, rules: &[&Rule], path: &mut Vec<SmolStr>) -> Option<Node> {
    if rules.iter().any(|rule| rule.pointer.matches(path)) && !path.is_empty() {
        return Some(hide_scalars(node));
    }
    match &node.value {
        Value::Map(map) if is_secret_object(map) => Some(hide_secret_object(node, map)),
        Value::Map(map) => hide_map(node, map, rules, path),
        Value::List(_) => hide_list(node, rules, path),
        Value::String(text) if is_sensitive_text(text) => Some(secret(node)),
        _ => None,
    }
}

fn hide_map(node: &Node, map: &Map, rules: &[&Rule], path: &mut Vec<SmolStr>) -> Option<Node> {
    let mut changed: Option<Vec<Entry>> = None;
    for (at, entry) in map.entries().iter().enumerate() {
        path.push(entry.key.name.clone());
        let hidden = hide_node(&entry.value, rules, path);
        path.pop();
        if let Some(value) = hidden {
            changed.get_or_insert_with(|| map.entries().to_vec())[at].value = value;
        }
    }
    changed.map(|entries| Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
}

fn hide_list(node: &Node, rules: &[&Rule], path: &mut Vec<SmolStr>) -> Option<Node> {
    let items = node.as_list()?;
    let mut changed: Option<Vec<Node>> = None;
    for (at, item) in items.iter().enumerate() {
        // Indexes matter only to rules, and most documents meet none.
        path.push(if rules.is_empty() { SmolStr::default() } else { SmolStr::new(at.to_string()) });
        let hidden = hide_node(item, rules, path);
        path.pop();
        if let Some(item) = hidden {
            changed.get_or_insert_with(|| items.to_vec())[at] = item;
        }
    }
    changed.map(|items| Node { extra: node.extra.clone(), ..Node::list(items, node.span) })
}

/// A Kubernetes Secret, wherever it stands: in a file of its own, in a list, below somebody's `extraObjects`.
fn is_secret_object(map: &Map) -> bool {
    map.get("kind").and_then(Node::as_str) == Some("Secret")
        && (map.get("data").is_some() || map.get("stringData").is_some())
}

/// Hides the values of `data` and `stringData`, and every annotation: appliers keep copies of the whole object there.
fn hide_secret_object(node: &Node, map: &Map) -> Node {
    let entries = map.entries().iter().map(|entry| {
        let value = match entry.key.name.as_str() {
            "data" | "stringData" => hide_scalars(&entry.value),
            "metadata" => hide_annotations(&entry.value),
            _ => entry.value.clone(),
        };
        Entry { key: entry.key.clone(), value }
    });
    Node { extra: node.extra.clone(), ..Node::map(entries.collect(), node.span) }
}

fn hide_annotations(metadata: &Node) -> Node {
    let Some(map) = metadata.as_map() else { return metadata.clone() };
    let entries = map.entries().iter().map(|entry| {
        let value = match entry.key.name.as_str() {
            "annotations" => hide_scalars(&entry.value),
            _ => entry.value.clone(),
        };
        Entry { key: entry.key.clone(), value }
    });
    Node { extra: metadata.extra.clone(), ..Node::map(entries.collect(), metadata.span) }
}

/// Hides every scalar below a node; keys stay, because which secret changed is what a reviewer must see.
fn hide_scalars(node: &Node) -> Node {
    match &node.value {
        Value::Map(map) => {
            let entries = map.entries().iter();
            let hidden = entries.map(|entry| Entry { key: entry.key.clone(), value: hide_scalars(&entry.value) });
            Node { extra: node.extra.clone(), ..Node::map(hidden.collect(), node.span) }
        }
        Value::List(_) => {
            let items = node.as_list().unwrap_or_default().iter().map(hide_scalars).collect();
            Node { extra: node.extra.clone(), ..Node::list(items, node.span) }
        }
        Value::Null | Value::Secret(_) => node.clone(),
        _ => secret(node),
    }
}

/// The steps and the place stay; a tag or an anchor is kept off, since it belongs to the value.
fn secret(node: &Node) -> Node {
    let extra = node.extra.as_ref().map(|extra| {
        let mut extra = (**extra).clone();
        extra.tag = None;
        Arc::new(extra)
    });
    Node { value: Value::Secret(Secret::hide(node.clone())), span: node.span, extra }
}
