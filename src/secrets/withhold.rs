//! What is hidden where nothing says what is secret, because a layer or the configuration could not be read: every value. Keys stay,
//! and so do the names by which a document is known.

use super::mask::Hiding;
use super::redact::is_literal_key;
use crate::value::{Node, Value};

/// A document with its values withheld; `apiVersion`, `kind`, and the name and namespace of its metadata stay.
pub(super) fn withhold(payload: &Node) -> Node {
    Hiding::withholding().document(payload)
}

/// A value with everything in it withheld.
#[must_use]
pub fn withhold_value(value: &Node) -> Node {
    Hiding::withholding().scalars(value)
}

/// A document of metadata with literal headers, bodies, query values and `defaults` withheld.
pub(super) fn withhold_literals(metadata: &Node) -> Node {
    Hiding::withholding().literals(metadata).unwrap_or_else(|| metadata.clone())
}

/// A document of metadata without credentials: what it would send literally under the name of a secret attribute, or in a header
/// that is there for nothing else.
pub(super) fn hide_credentials(metadata: &Node, is_secret: &dyn Fn(&str) -> bool) -> Node {
    Hiding::everything().credentials(metadata, is_secret, false).unwrap_or_else(|| metadata.clone())
}

/// Headers that carry credentials.
const CREDENTIALS: [&str; 8] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "x-api-key",
    "api-key",
    "apikey",
    "x-auth-token",
    "private-token",
];

/// Whether a text names such a header.
pub(super) fn mentions_credential(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    CREDENTIALS.iter().any(|known| text.contains(known))
}

fn is_credential(name: &str) -> bool {
    CREDENTIALS.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a text is more than a scheme and what a template gives.
fn is_literal(text: &str) -> bool {
    let mut rest = text;
    let mut left = String::new();
    while let Some((before, after)) = rest.split_once("{{") {
        left.push_str(before);
        rest = after.split_once("}}").map_or("", |(_, after)| after);
    }
    left.push_str(rest);
    let is_scheme = |word: &&str| ["bearer", "basic", "token"].iter().any(|known| known.eq_ignore_ascii_case(word));
    left.split_whitespace().any(|word| !is_scheme(&word))
}

impl Hiding<'_> {
    /// Nothing if there is nothing to hide.
    fn credentials(&mut self, node: &Node, is_named: &dyn Fn(&str) -> bool, is_sent: bool) -> Option<Node> {
        let is_header = node
            .get("name")
            .and_then(Node::as_str)
            .is_some_and(|name| is_sent && (is_credential(name) || is_named(name)));
        let hidden = node.map_children(|child| {
            let name = child.key.map_or("", |key| key.name.as_str());
            let is_secret = match is_sent {
                true => is_named(name) || is_credential(name) || is_header && name == "value",
                false => false,
            };
            let is_template = child.node.as_str().is_some_and(|text| !is_literal(text));
            match is_secret {
                true if is_template => None,
                true => Some(self.scalars(child.node)),
                false => self.credentials(child.node, is_named, is_sent || is_literal_key(name)),
            }
        });
        self.overridden(node, hidden, |hiding, loser| hiding.credentials(loser, is_named, is_sent))
    }

    fn document(&mut self, node: &Node) -> Node {
        if !matches!(node.value, Value::Map(_)) {
            return self.scalars(node);
        }
        let hidden = node.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("apiVersion" | "kind") if child.node.as_str().is_some() => None,
            Some("metadata") if child.node.as_map().is_some() => Some(self.names(child.node)),
            _ => Some(self.scalars(child.node)),
        });
        let hidden = self.overridden(node, hidden, |hiding, loser| Some(hiding.document(loser)));
        hidden.unwrap_or_else(|| node.clone())
    }

    fn names(&mut self, metadata: &Node) -> Node {
        let hidden = metadata.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("name" | "namespace") if child.node.as_str().is_some() => None,
            _ => Some(self.scalars(child.node)),
        });
        let hidden = self.overridden(metadata, hidden, |hiding, loser| Some(hiding.scalars(loser)));
        hidden.unwrap_or_else(|| metadata.clone())
    }

    fn literals(&mut self, node: &Node) -> Option<Node> {
        let hidden = node.map_children(|child| match child.key {
            Some(key) if is_literal_key(&key.name) => Some(self.scalars(child.node)),
            _ => self.literals(child.node),
        });
        self.overridden(node, hidden, Self::literals)
    }
}
