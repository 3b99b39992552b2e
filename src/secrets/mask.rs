//! Replaces secret values by [`Secret`]s, so that no later stage can print them.

use std::sync::Arc;

use smol_str::SmolStr;

use super::embedded;
use super::mention::mentions_secret;
use super::object::{self, ObjectRole};
use super::overridden::{self, History};

use crate::glob::Pattern;
use crate::path::{Pointer, unescape_token};
use crate::resource::Resource;
use crate::scan::mentions;
use crate::settings::PlaceRule;
use crate::value::{Child, Node, Secret, Value, list_index};

/// What is secret: Kubernetes Secrets always, configured places besides.
#[derive(Debug)]
pub(super) struct Masks {
    rules: Vec<Rule>,
    /// Whether rules for some places apply everywhere.
    is_anywhere: bool,
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
        Self { rules: compiled.collect(), is_anywhere: false }
    }

    /// The resource with its secrets hidden, in what counts and in what it overrides. Trees without secrets are not copied.
    #[must_use]
    pub(super) fn hide(&self, mut resource: Resource) -> Resource {
        let rules: Vec<&Rule> =
            self.rules.iter().filter(|rule| self.is_anywhere || rule.applies_to(&resource)).collect();
        let mut hiding = Hiding { rules, ..Hiding::everything() };
        if let Some(hidden) = hiding.node(&resource.payload) {
            resource.payload = hidden;
        }
        for target in &hiding.targets {
            if let Some(hidden) = hide_at(&resource.payload, target.tokens()) {
                resource.payload = hidden;
            }
        }
        resource
    }

    /// Makes rules for some places apply everywhere.
    pub(super) fn set_anywhere(&mut self, is_anywhere: bool) {
        self.is_anywhere = is_anywhere;
    }

    /// Whether rules name secret places.
    pub(super) fn has_rules(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Whether a rule ends in this name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.rules.iter().any(|rule| rule.pointer.last_name().is_some_and(|last| last.eq_ignore_ascii_case(name)))
    }

    /// Whether every rule applies to every resource, so that equal payloads are hidden alike.
    pub(super) fn is_same_for_all(&self) -> bool {
        self.rules.iter().all(|rule| rule.within.is_none())
    }

    /// Whether a text that could not be parsed may hold secrets; then its snippets must not show values.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        mentions_secret(text) || self.rules.iter().any(|rule| rule.may_be_in(text))
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

    /// Whether a text has the last name of the place, or the place has no names.
    fn may_be_in(&self, text: &str) -> bool {
        self.pointer.last_name().is_none_or(|name| mentions(text, name))
    }

    /// Whether a text that cannot be read was meant to be a document with the last name of the place as a key.
    fn may_be_in_broken(&self, text: &str) -> bool {
        let Some(name) = self.pointer.last_name() else { return text.starts_with(['{', '[']) };
        let is_key = |(at, _): (usize, &str)| {
            text[at + name.len()..].trim_start_matches(['"', '\'', '\\', ' ']).starts_with(':')
        };
        text.match_indices(name).any(is_key)
    }
}

/// One walk through a document.
pub(super) struct Hiding<'a> {
    rules: Vec<&'a Rule>,
    path: Vec<SmolStr>,
    history: History,
    /// Places that directives name which were not followed, and which are at secret places.
    targets: Vec<Pointer>,
    /// In how many texts this document is.
    depth: u32,
    /// Whether values are hidden because nothing says whether they are secret.
    withholds: bool,
}

impl Hiding<'_> {
    /// For a part that is secret as a whole.
    pub(super) fn everything() -> Self {
        Self {
            rules: Vec::new(),
            path: Vec::new(),
            history: History::default(),
            targets: Vec::new(),
            depth: 0,
            withholds: false,
        }
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
            Value::Map(map) => match object::role(map) {
                Some(ObjectRole::Secret) => return Some(self.secret_object(node)),
                Some(ObjectRole::SecretList) => self.children(node, Self::secret_list),
                Some(ObjectRole::Template) => self.children(node, Self::template),
                Some(ObjectRole::Generator) => self.children(node, Self::generated),
                None => self.children(node, Self::member),
            },
            Value::List(_) => self.children(node, Self::member),
            Value::String(text) if self.is_secret_text(text, node) => Some(secret(node)),
            _ => None,
        };
        self.overridden(node, hidden, Self::node)
    }

    fn children(&mut self, node: &Node, hide: fn(&mut Self, &Node, Child<'_>) -> Option<Node>) -> Option<Node> {
        node.map_children(|child| {
            // The way matters only to rules, and most documents meet none.
            self.path.push(if self.rules.is_empty() { SmolStr::default() } else { child.token() });
            let hidden = hide(self, node, child);
            self.path.pop();
            hidden
        })
    }

    /// A member of a map that is nothing special, or an item of a list.
    fn member(&mut self, around: &Node, child: Child<'_>) -> Option<Node> {
        match child.key.map(|key| key.name.as_str()) {
            Some("secretGenerator") => self.generators(child.node),
            Some("patch") if patches_secret(around, child.node) => Some(self.scalars(child.node)),
            Some("operations") if targets_secret(around) => self.operations(child.node),
            Some("sourceValue") if replaces_in_secret(around) => Some(self.scalars(child.node)),
            Some("value") => self.node(child.node).or_else(|| self.at_place_of(around, child.node)),
            Some("configMapGenerator") if !self.rules.is_empty() => self.config_maps(child.node),
            _ => self.node(child.node),
        }
    }

    /// The value of an operation of a JSON Patch is as secret as the place that it is meant for.
    fn at_place_of(&mut self, operation: &Node, value: &Node) -> Option<Node> {
        let path = operation.get("path").and_then(Node::as_str).filter(|path| path.starts_with('/'))?;
        operation.get("op")?;
        // Nothing but a Secret has this member.
        if path == "/stringData" || path.starts_with("/stringData/") {
            return Some(self.scalars(value));
        }
        if self.rules.is_empty() {
            return None;
        }
        let place = path.split('/').skip(1).map(unescape_token).collect();
        let around = std::mem::replace(&mut self.path, place);
        let hidden = self.node(value);
        self.path = around;
        hidden
    }

    /// Generators of ConfigMaps: a literal is as secret as the place that it is meant for.
    fn config_maps(&mut self, node: &Node) -> Option<Node> {
        node.map_children(|generator| {
            generator.node.map_children(|field| match field.key.map(|key| key.name.as_str()) {
                Some("literals") => field.node.map_children(|literal| self.literal(literal.node)),
                _ => self.node(field.node),
            })
        })
    }

    fn literal(&mut self, literal: &Node) -> Option<Node> {
        let (name, _) = literal.as_str()?.split_once('=')?;
        let place = [SmolStr::new_static("data"), SmolStr::new(name)];
        let is_ruled = self.rules.iter().any(|rule| rule.pointer.matches(&place));
        if is_ruled { Some(self.scalars(literal)) } else { self.node(literal) }
    }

    /// Operations on a Secret: what they set in its data.
    fn operations(&mut self, node: &Node) -> Option<Node> {
        self.children(node, |hiding, _, operation| {
            let path = operation.node.get("path").and_then(Node::as_str);
            if path.is_some_and(is_shown_of_secret) {
                return hiding.node(operation.node);
            }
            hiding.children(operation.node, |hiding, _, field| match field.key.is_some_and(|key| key.name == "value") {
                true => Some(hiding.scalars(field.node)),
                false => hiding.node(field.node),
            })
        })
    }

    /// The items of a list of Secrets need not say that they are some.
    fn secret_list(&mut self, _: &Node, child: Child<'_>) -> Option<Node> {
        let is_items = child.key.is_some_and(|key| key.name == "items");
        match is_items {
            true => child.node.map_children(|item| Some(self.secret_object(item.node))),
            false => self.node(child.node),
        }
    }

    fn generators(&mut self, node: &Node) -> Option<Node> {
        let hidden = match &node.value {
            Value::List(_) => self.children(node, |hiding, _, item| hiding.generator(item.node)),
            _ => self.generator(node),
        };
        self.overridden(node, hidden, |hiding, loser| Some(hiding.scalars(loser)))
    }

    fn generator(&mut self, node: &Node) -> Option<Node> {
        let hidden = match &node.value {
            Value::Map(_) => self.children(node, Self::generated),
            _ => Some(self.scalars(node)),
        };
        self.overridden(node, hidden, |hiding, loser| Some(hiding.scalars(loser)))
    }

    /// A member of a generator.
    fn generated(&mut self, _: &Node, child: Child<'_>) -> Option<Node> {
        match child.key.is_some_and(|key| object::is_generated_value(&key.name)) {
            true => Some(self.scalars(child.node)),
            false => self.node(child.node),
        }
    }

    /// A member of an object that makes a Secret: what its template says, and what a store for tests holds.
    fn template(&mut self, around: &Node, child: Child<'_>) -> Option<Node> {
        let is_fake = around.get("kind").and_then(Node::as_str) == Some("Fake");
        match child.key.map(|key| key.name.as_str()) {
            Some("template" | "secretTemplates" | "fake") => self.children(child.node, Self::template_value),
            Some("spec") if is_fake => self.children(child.node, Self::template_value),
            Some("apiVersion" | "kind" | "metadata") => self.node(child.node),
            _ => self.children(child.node, Self::template).or_else(|| self.node(child.node)),
        }
    }

    fn template_value(&mut self, _: &Node, child: Child<'_>) -> Option<Node> {
        match child.key.map(|key| key.name.as_str()) {
            Some("annotations") => Some(self.annotation_values(child.node)),
            Some(name) if object::is_template_value(name) => Some(self.scalars(child.node)),
            _ => self.children(child.node, Self::template_value),
        }
    }

    /// Whether a text is, or holds, a document with secrets in it.
    fn is_secret_text(&mut self, text: &str, node: &Node) -> bool {
        let is_ruled = || text.contains('\n') || text.starts_with(['{', '[']);
        let may_hold = embedded::may_hold_secret(text);
        let may_be_ruled = !may_hold && is_ruled() && self.rules.iter().any(|rule| rule.may_be_in(text));
        if !may_hold && !may_be_ruled {
            return false;
        }
        if self.depth >= DEEPEST {
            return true;
        }
        let documents = embedded::documents(text, node.span).unwrap_or_default();
        let is_read = documents.iter().any(|root| !matches!(root.value, Value::String(_) | Value::Null));
        if !is_read {
            return may_hold || self.rules.iter().any(|rule| rule.may_be_in_broken(text));
        }
        // A place counts from the top of the text, and from the top of what is around it.
        let starts = if self.rules.is_empty() { vec![Vec::new()] } else { vec![Vec::new(), self.path.clone()] };
        starts.into_iter().any(|path| {
            let mut inner = Hiding { path, depth: self.depth + 1, rules: self.rules.clone(), ..Self::everything() };
            documents.iter().any(|root| inner.node(root).is_some())
        })
    }

    /// Hides what a Kubernetes Secret holds, and annotations: appliers keep copies of the whole object there. What is not part of a
    /// Secret at all is there to be merged into it.
    fn secret_object(&mut self, node: &Node) -> Node {
        let hidden = node.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("apiVersion" | "kind" | "type") if child.node.children().next().is_none() => None,
            Some("immutable") if matches!(child.node.value, Value::Bool(_)) => None,
            Some("metadata") => self.metadata(child.node),
            _ => Some(self.scalars(child.node)),
        });
        let hidden = self.overridden(node, hidden, |hiding, loser| match loser.value {
            Value::Map(_) => Some(hiding.secret_object(loser)),
            _ => Some(hiding.scalars(loser)),
        });
        hidden.unwrap_or_else(|| node.clone())
    }

    /// Hides what the metadata of a Secret holds, but names and labels; these only where they have the form of names.
    fn metadata(&mut self, metadata: &Node) -> Option<Node> {
        let is_scalar = |node: &Node| node.children().next().is_none();
        let hidden = match &metadata.value {
            Value::Map(_) => metadata.map_children(|child| match child.key.map(|key| key.name.as_str()) {
                Some("annotations") => Some(self.annotation_values(child.node)),
                Some("labels") if child.node.as_map().is_some() => {
                    child.node.map_children(|label| (!is_scalar(label.node)).then(|| self.scalars(label.node)))
                }
                Some(name) if object::is_name(name) && is_scalar(child.node) => None,
                _ => Some(self.scalars(child.node)),
            }),
            _ => Some(self.scalars(metadata)),
        };
        self.overridden(metadata, hidden, Self::metadata)
    }

    /// Hides annotations of a Secret, except for those that configure tools and those that every resource of a root gets.
    fn annotation_values(&mut self, annotations: &Node) -> Node {
        let Some(map) = annotations.as_map().filter(|map| !object::is_open(map)) else {
            return self.scalars(annotations);
        };
        if map.entries().iter().all(|entry| !object::is_plain_annotation(entry)) {
            return self.scalars(annotations);
        }
        let hidden = annotations.map_children(|child| {
            let is_plain = map.entries().get(child.at).is_some_and(object::is_plain_annotation);
            (!is_plain).then(|| self.scalars(child.node))
        });
        let hidden = self.overridden(annotations, hidden, |hiding, loser| Some(hiding.annotation_values(loser)));
        hidden.unwrap_or_else(|| annotations.clone())
    }

    /// Hides every scalar below a node; keys stay, because which secret changed is what a reviewer must see.
    pub(super) fn scalars(&mut self, node: &Node) -> Node {
        if let Value::Map(map) = &node.value {
            let names = map.entries().iter().map(|entry| entry.key.name.as_str());
            let places = names.filter_map(|name| name.strip_prefix('+').filter(|place| place.starts_with('/')));
            self.targets.extend(places.filter_map(|place| Pointer::parse(place).ok()));
        }
        let hidden = match &node.value {
            // An expression of a template is read as a map whose key is a map.
            Value::Map(map) if map.entries().iter().any(|entry| entry.key.name.starts_with(['{', '['])) => {
                Some(if self.withholds { withheld(node) } else { secret(node) })
            }
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

/// Whether the text of a patch changes what a Secret holds: its target is one, or is not said to be anything else.
fn patches_secret(around: &Node, patch: &Node) -> bool {
    let Some(target) = around.get("target") else { return false };
    let kind = target.get("kind");
    let changes_data = || patch.as_str().is_none_or(|text| text.contains("/data") || text.contains("stringData"));
    kind.is_some_and(object::is_secret_kind) || object::may_be_secret_kind(kind) && changes_data()
}

/// Whether a replacement of kustomize puts its value into what a Secret holds.
fn replaces_in_secret(replacement: &Node) -> bool {
    let targets = replacement.get("targets").and_then(Node::as_list).unwrap_or_default();
    targets.iter().any(|target| {
        let kind = target.get("select").and_then(|select| select.get("kind"));
        let fields = target.get("fieldPaths").and_then(Node::as_list).unwrap_or_default();
        let mut fields = fields.iter().filter_map(Node::as_str);
        object::may_be_secret_kind(kind)
            && fields.any(|field| field.starts_with("stringData") || field.starts_with("data"))
    })
}

/// Whether a place of a Secret is shown.
fn is_shown_of_secret(path: &str) -> bool {
    ["/metadata/labels", "/metadata/name", "/type", "/immutable"].iter().any(|shown| path.starts_with(shown))
}

/// Whether operations beside a target are for Secrets.
fn targets_secret(around: &Node) -> bool {
    around.get("target").and_then(|target| target.get("kind")).is_some_and(object::is_secret_kind)
}

/// Texts in texts are looked into so far.
const DEEPEST: u32 = 3;

/// The steps and the place stay; a tag or an anchor is kept off, since it belongs to the value.
pub(super) fn secret(node: &Node) -> Node {
    hidden(node, Secret::hide(node.clone()))
}

/// A value that may be secret: what would say so could not be read.
fn withheld(node: &Node) -> Node {
    hidden(node, Secret::withhold(node.clone()))
}

/// The node with a secret in place of its value.
pub(super) fn hidden(node: &Node, secret: Secret) -> Node {
    let extra = node.extra.as_ref().map(|extra| {
        let mut extra = (**extra).clone();
        extra.tag = None;
        Arc::new(extra)
    });
    Node { value: Value::Secret(secret), span: node.span, extra }
}

#[cfg(test)]
mod tests;
