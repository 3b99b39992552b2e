//! The attributes of a payload that metadata declares as secret.

use smol_str::SmolStr;

use super::effective::EffectiveMetadata;
use super::field::{Field, Section};
use super::identity::path_of;
use crate::path::Pointer;
use crate::scan::mentions;
use crate::value::{Node, Value, list_index};

/// The text in a file that takes the place of a secret that is kept elsewhere.
pub const PLACEHOLDER: &str = "{{secret .}}";

/// The attributes of a payload that hold secrets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct SecretAttributes {
    /// Exact places.
    paths: Vec<Vec<SmolStr>>,
    /// Names that are secret at any depth.
    names: Vec<SmolStr>,
    /// Whether a layer that may declare others could not be read.
    is_unknown: bool,
    /// Whether everything is secret.
    is_whole: bool,
}

/// Whether a bare name is secret inside of lists too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InLists {
    /// As metadata means it: lists are not entered.
    Nothing,
    /// To be safe: the name is secret wherever it is.
    Names,
}

impl SecretAttributes {
    /// The attributes that the metadata of a resource declares.
    pub fn of(metadata: &EffectiveMetadata) -> Self {
        let is_unknown = metadata.layers().iter().any(|layer| layer.statements.may_miss_secrets);
        let mut secrets = Self { is_unknown, is_whole: metadata.is_secret(), ..Self::default() };
        for attribute in metadata.names(Section::Resource, Field::SecretInAttributes).unwrap_or_default() {
            let is_path = attribute.contains('.') || attribute.trim().starts_with('/');
            match path_of(attribute) {
                Some(path) if is_path => secrets.paths.push(path),
                Some(name) => secrets.names.extend(name),
                // An empty name, or a pointer that is none.
                None => secrets.is_unknown = true,
            }
        }
        secrets
    }

    /// Whether nothing is declared.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.names.is_empty() && !self.is_unknown && !self.is_whole
    }

    /// Whether any attribute may be secret, because a layer that may declare it could not be read.
    pub fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    /// The attributes of both, for two sides of a comparison: removing a declaration does not reveal its secret.
    #[must_use]
    pub fn and(mut self, other: &Self) -> Self {
        self.paths.extend(other.paths.iter().cloned());
        self.names.extend(other.names.iter().cloned());
        self.is_unknown |= other.is_unknown;
        self.is_whole |= other.is_whole;
        self
    }

    /// Whether a name is that of a secret attribute, wherever it is.
    pub fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
            || self.paths.iter().any(|path| path.last().is_some_and(|last| last == name))
    }

    /// Whether everything of the resource is secret.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether a text that could not be parsed may contain one of them.
    pub fn may_be_in(&self, text: &str) -> bool {
        self.is_unknown
            || self.is_whole
            || self
                .names
                .iter()
                .chain(self.paths.iter().filter_map(|path| path.last()))
                .any(|name| mentions(text, name))
    }

    /// The places of secrets in a payload. Nulls and placeholders are not secret; attributes that the payload lacks are ignored.
    pub fn places(&self, payload: &Node, lists: InLists) -> Vec<Pointer> {
        if self.is_whole {
            return if is_harmless(payload) { Vec::new() } else { vec![Pointer::root()] };
        }
        let mut places = Vec::new();
        self.collect(payload, lists == InLists::Names, &mut Vec::new(), &mut places);
        places
    }

    fn collect(&self, node: &Node, everywhere: bool, path: &mut Vec<SmolStr>, places: &mut Vec<Pointer>) {
        for child in node.children() {
            path.push(child.token());
            let is_in_list = child.key.is_none() || path.iter().any(|token| list_index(token).is_some());
            if !self.is_secret(path, child.key.is_some() && (everywhere || !is_in_list)) {
                self.collect(child.node, everywhere, path, places);
            } else if !is_harmless(child.node) {
                places.push(path.iter().cloned().collect());
            }
            path.pop();
        }
    }

    /// Whether a place is secret: by its name, or as exactly this path, also through lists.
    fn is_secret(&self, path: &[SmolStr], is_member: bool) -> bool {
        is_member && path.last().is_some_and(|key| self.names.contains(key))
            || self.paths.iter().any(|secret| secret == path)
    }
}

/// Whether a value reveals nothing: null, or a placeholder.
fn is_harmless(node: &Node) -> bool {
    match &node.value {
        Value::Null => true,
        Value::String(text) => is_placeholder(text),
        _ => false,
    }
}

/// Whether a whole text is the placeholder of a secret that is kept elsewhere: `{{secret .}}`, `{{secret name}}`, `{{secret "a b"}}`.
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
    fn placeholders_are_distinguished_from_similar_texts() {
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
