//! Which values of a payload are secret, by what metadata says.

use smol_str::SmolStr;

use super::effective::EffectiveMetadata;
use super::field::{Field, Section};
use super::identity::path_of;
use crate::path::Pointer;
use crate::value::{Entry, Node, Value};

/// What stands in a file for a secret that is kept elsewhere.
pub const PLACEHOLDER: &str = "{{secret .}}";

/// The attributes of a payload that hold secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretAttributes {
    /// Exact places.
    paths: Vec<Vec<SmolStr>>,
    /// Names that are secret wherever they stand.
    names: Vec<SmolStr>,
}

/// How far bare names reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameReach {
    /// Through maps, but not into lists: what is kept in a secret store.
    Maps,
    /// Everywhere: what must not be shown.
    Everywhere,
}

impl SecretAttributes {
    /// What the metadata of a resource declares.
    pub fn of(metadata: &EffectiveMetadata) -> Self {
        let mut secrets = Self::default();
        for attribute in metadata.names(Section::Resource, Field::SecretInAttributes).unwrap_or_default() {
            let is_path = attribute.contains('.') || attribute.trim().starts_with('/');
            match path_of(attribute) {
                Some(path) if is_path => secrets.paths.push(path),
                Some(name) => secrets.names.extend(name),
                None => {}
            }
        }
        secrets
    }

    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.names.is_empty()
    }

    /// Those of both, for two sides of a comparison: dropping a declaration does not bring its secret to light.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.paths.extend(other.paths.iter().cloned());
        self.names.extend(other.names.iter().cloned());
        self
    }

    /// Whether a text that could not be read as a document may hold one of them.
    pub fn may_be_in(&self, text: &str) -> bool {
        self.names
            .iter()
            .chain(self.paths.iter().filter_map(|path| path.last()))
            .any(|name| text.contains(name.as_str()))
    }

    /// Where secrets stand in a payload. Nulls and placeholders are none; what the payload lacks is no fault.
    pub fn places(&self, payload: &Node, reach: NameReach) -> Vec<Pointer> {
        let mut places = Vec::new();
        self.collect(payload, reach, &mut Vec::new(), &mut places);
        places
    }

    fn collect(&self, node: &Node, reach: NameReach, path: &mut Vec<SmolStr>, places: &mut Vec<Pointer>) {
        if node.as_list().is_some() && reach != NameReach::Everywhere {
            return;
        }
        for child in node.children() {
            path.push(child.token());
            if child.key.is_none() || !self.is_secret(path) {
                self.collect(child.node, reach, path, places);
            } else if !is_harmless(child.node) {
                places.push(path.iter().cloned().collect());
            }
            path.pop();
        }
    }

    fn is_secret(&self, path: &[SmolStr]) -> bool {
        path.last().is_some_and(|key| self.names.contains(key)) || self.paths.iter().any(|secret| secret == path)
    }

    /// The payload as it is stored: a placeholder for every secret.
    #[must_use]
    pub fn mask(&self, payload: &Node) -> Node {
        self.masked(payload, &mut Vec::new()).unwrap_or_else(|| payload.clone())
    }

    /// Nothing if nothing below is secret.
    fn masked(&self, node: &Node, path: &mut Vec<SmolStr>) -> Option<Node> {
        let map = node.as_map()?;
        let mut changed: Option<Vec<Entry>> = None;
        for (at, entry) in map.entries().iter().enumerate() {
            path.push(entry.key.name.clone());
            let masked = match self.is_secret(path) {
                true if is_harmless(&entry.value) => None,
                true => Some(Node::new(Value::String(SmolStr::new_static(PLACEHOLDER)), entry.value.span)),
                false => self.masked(&entry.value, path),
            };
            path.pop();
            if let Some(value) = masked {
                changed.get_or_insert_with(|| map.entries().to_vec())[at].value = value;
            }
        }
        changed.map(|entries| Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
    }
}

/// Whether a value tells nothing: null, or a placeholder.
fn is_harmless(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::String(text) => is_placeholder(text),
        _ => false,
    }
}

/// Whether a text, as a whole, stands for a secret that is kept elsewhere: `{{secret .}}`, `{{secret name}}`, `{{secret "a b"}}`.
pub fn is_placeholder(text: &str) -> bool {
    let inside = text.trim().strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
    let Some(argument) = inside.and_then(|inside| inside.trim().strip_prefix("secret")) else { return false };
    let name = argument.trim();
    if name.len() == argument.len() || name.is_empty() {
        return false;
    }
    match name.strip_prefix('"') {
        Some(quoted) => {
            quoted.strip_suffix('"').is_some_and(|name| !name.trim().is_empty() && !name.contains(['"', '\n']))
        }
        None => !name.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '{' | '}')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_told_from_texts_that_look_like_them() {
        for text in ["{{secret .}}", "{{ secret . }}", "{{secret name}}", "{{secret \"a b\"}}", "{{secret /x:y}}"] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "",
            "secret .",
            "{{secret}}",
            "{{secret }}",
            "{{secrets .}}",
            "{{secret a b}}",
            "{{secret \"}}",
            "x{{secret .}}",
            "{{secret \"\"}}",
            "{{secret a}}{{secret b}}",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
