//! Replaces secret values by [`Secret`]s, so that no later stage can print them.

use std::sync::Arc;

use smol_str::SmolStr;

use super::overridden::{self, History};
use crate::glob::Pattern;
use crate::path::Pointer;
use crate::resource::Resource;
use crate::settings::PlaceRule;
use crate::value::{Map, Node, Secret, Value, list_index};

/// What is secret: Kubernetes Secrets always, configured places besides.
#[derive(Debug)]
pub(super) struct Masks {
    rules: Vec<Rule>,
}

#[derive(Debug)]
struct Rule {
    within: Option<Pattern>,
    pointer: Pattern,
}

impl Masks {
    /// Takes the rules of both sides: a change cannot bring a secret to light by dropping its rule.
    pub(super) fn new<'a>(rules: impl IntoIterator<Item = &'a PlaceRule>) -> Self {
        let compiled = rules.into_iter().filter_map(|rule| {
            let within = rule.within.as_deref().map(Pattern::of_path);
            Some(Rule { within, pointer: Pattern::of_pointer(&rule.pointer).ok()? })
        });
        Self { rules: compiled.collect() }
    }

    /// The resource with its secrets hidden, in what counts and in what it overrides. Trees without secrets are not copied.
    #[must_use]
    pub(super) fn hide(&self, mut resource: Resource) -> Resource {
        let rules: Vec<&Rule> = self.rules.iter().filter(|rule| rule.applies_to(&resource)).collect();
        let mut hiding = Hiding { rules, path: Vec::new(), history: History::default(), withholds: false };
        if let Some(hidden) = hiding.node(&resource.payload) {
            resource.payload = hidden;
        }
        resource
    }

    /// Whether every rule applies to every resource, so that equal payloads are hidden alike.
    pub(super) fn is_same_for_all(&self) -> bool {
        self.rules.iter().all(|rule| rule.within.is_none())
    }

    /// Whether a text that could not be parsed may hold secrets; then its snippets must not show values.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        is_sensitive_text(text)
            || self.rules.iter().any(|rule| rule.pointer.last_literal().is_none_or(|key| text.contains(key)))
    }
}

/// The resource with these places of its payload hidden, in what counts and in what it overrides.
#[must_use]
pub(super) fn hide_places(mut resource: Resource, places: impl Fn(&Node) -> Vec<Pointer>) -> Resource {
    let hide =
        |node: Node| places(&node).iter().fold(node, |node, place| hide_at(&node, place.tokens()).unwrap_or(node));
    let hidden = hide(resource.payload);
    resource.payload = overridden::hide(&hidden, &hide).unwrap_or(hidden);
    resource
}

/// The resource with the values at some places hidden as a whole, whatever they hold.
pub(super) fn hide_values(mut resource: Resource, places: impl Fn(&Node) -> Vec<Pointer>) -> Resource {
    let hidden = |value: &Node| match &value.value {
        Value::Map(_) | Value::List(_) => Node::new(Value::Secret(Secret::hide(value.clone())), value.span),
        _ => Hiding::everything().scalars(value),
    };
    let hide = |node: Node| {
        places(&node).iter().fold(node, |node, place| match node.at(place).map(hidden) {
            Some(value) if place.tokens().is_empty() => value,
            Some(value) => node.with_at(place, value),
            None => node,
        })
    };
    let payload = hide(resource.payload);
    resource.payload = overridden::hide(&payload, &hide).unwrap_or(payload);
    resource
}

fn hide_at(node: &Node, place: &[SmolStr]) -> Option<Node> {
    let Some((name, rest)) = place.split_first() else { return Some(Hiding::everything().scalars(node)) };
    let at = match &node.value {
        Value::Map(map) => map.position(name)?,
        Value::List(_) => list_index(name)?,
        _ => return None,
    };
    node.map_children(|child| if child.at == at { hide_at(child.node, rest) } else { None })
}

impl Rule {
    fn applies_to(&self, resource: &Resource) -> bool {
        self.within.as_ref().is_none_or(|within| resource.is_within(within))
    }
}

/// Whether a text mentions a Kubernetes Secret, or generates one. Wrong in doubt on the safe side: what looks like `kind: Secret`
/// counts, and the `secretGenerator` of a kustomization.
fn is_sensitive_text(text: &str) -> bool {
    // Most texts are too short to mention one, and searching takes a while to start.
    text.len() >= "kindSecret".len()
        && text.match_indices("ecret").filter_map(|(at, _)| at.checked_sub(1)).any(|at| {
            if text[at + 1..].get("ecret".len()..).is_some_and(|rest| rest.starts_with("Generator")) {
                return true;
            }
            if text.as_bytes()[at] != b'S' {
                return false;
            }
            let before =
                text[..at].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ':' | '\\'));
            before.ends_with("kind")
        })
}

/// One walk through a document.
pub(super) struct Hiding<'a> {
    rules: Vec<&'a Rule>,
    path: Vec<SmolStr>,
    history: History,
    /// Whether values are hidden because nothing says whether they are secret.
    withholds: bool,
}

impl Hiding<'_> {
    /// For a part that is secret as a whole.
    fn everything() -> Self {
        Self { rules: Vec::new(), path: Vec::new(), history: History::default(), withholds: false }
    }

    /// For a document whose secrets are not known.
    pub(super) fn withholding() -> Self {
        Self { withholds: true, ..Self::everything() }
    }

    /// The node with its secrets hidden, or nothing if it has none.
    fn node(&mut self, node: &Node) -> Option<Node> {
        if self.rules.iter().any(|rule| rule.pointer.matches(&self.path)) && !self.path.is_empty() {
            return Some(self.scalars(node));
        }
        let hidden = match &node.value {
            Value::Map(map) if is_secret_object(map) => return Some(self.secret_object(node)),
            Value::Map(_) | Value::List(_) => self.children(node),
            Value::String(text) if is_sensitive_text(text) => Some(secret(node)),
            _ => None,
        };
        self.overridden(node, hidden, Self::node)
    }

    fn children(&mut self, node: &Node) -> Option<Node> {
        node.map_children(|child| {
            // The way matters only to rules, and most documents meet none.
            self.path.push(if self.rules.is_empty() { SmolStr::default() } else { child.token() });
            let hidden = self.node(child.node);
            self.path.pop();
            hidden
        })
    }

    /// Hides what a Kubernetes Secret holds, and every annotation: appliers keep copies of the whole object there. What is not
    /// part of a Secret at all is there to be merged into it.
    fn secret_object(&mut self, node: &Node) -> Node {
        let hidden = node.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("apiVersion" | "kind" | "type" | "immutable") => None,
            Some("metadata") => self.annotations(child.node),
            _ => Some(self.scalars(child.node)),
        });
        let hidden = self.overridden(node, hidden, |hiding, loser| match loser.value {
            Value::Map(_) => Some(hiding.secret_object(loser)),
            _ => Some(hiding.scalars(loser)),
        });
        hidden.unwrap_or_else(|| node.clone())
    }

    fn annotations(&mut self, metadata: &Node) -> Option<Node> {
        let hidden = metadata.map_children(|child| {
            child.key.is_some_and(|key| key.name == "annotations").then(|| self.scalars(child.node))
        });
        self.overridden(metadata, hidden, Self::annotations)
    }

    /// Hides every scalar below a node; keys stay, because which secret changed is what a reviewer must see.
    pub(super) fn scalars(&mut self, node: &Node) -> Node {
        let hidden = match &node.value {
            Value::Map(_) | Value::List(_) => node.map_children(|child| Some(self.scalars(child.node))),
            Value::Null | Value::Secret(_) => None,
            _ if self.withholds => Some(withheld(node)),
            _ => Some(secret(node)),
        };
        let hidden = self.overridden(node, hidden, |hiding, loser| Some(hiding.scalars(loser)));
        hidden.unwrap_or_else(|| node.clone())
    }

    /// An overridden value would be shown by `outcrop explain`, so it is hidden like the value.
    pub(super) fn overridden(
        &mut self,
        node: &Node,
        hidden: Option<Node>,
        hide: impl FnOnce(&mut Self, &Node) -> Option<Node>,
    ) -> Option<Node> {
        let Some(loser) = node.overridden() else { return hidden };
        let shown = || hidden.clone().unwrap_or_else(|| node.clone());
        if !self.history.admits(loser) {
            return Some(shown().forgetting());
        }
        match hide(self, loser) {
            Some(loser) => Some(shown().overriding(loser)),
            None => hidden,
        }
    }
}

/// Whether a map is a Kubernetes Secret, wherever it is: in a file of its own, in a list, below `extraObjects` of a chart.
fn is_secret_object(map: &Map) -> bool {
    // A kind that is computed may turn out to be one.
    let is_computed = |kind: &Node| kind.get("eval").is_some();
    map.get("kind").is_some_and(|kind| kind.as_str() == Some("Secret") || is_computed(kind))
        && (map.get("data").is_some() || map.get("stringData").is_some())
}

/// The steps and the place stay; a tag or an anchor is kept off, since it belongs to the value.
pub(super) fn secret(node: &Node) -> Node {
    hidden(node, Secret::hide(node.clone()))
}

/// A value that may be secret: what would say so could not be read.
fn withheld(node: &Node) -> Node {
    hidden(node, Secret::withhold(node.clone()))
}

fn hidden(node: &Node, secret: Secret) -> Node {
    let extra = node.extra.as_ref().map(|extra| {
        let mut extra = (**extra).clone();
        extra.tag = None;
        Arc::new(extra)
    });
    Node { value: Value::Secret(secret), span: node.span, extra }
}

#[cfg(test)]
mod tests;
