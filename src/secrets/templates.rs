//! Values that templates of OpenChoreo put into Secrets: the parameters and settings of components that such a template reads are
//! secret where they are written.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::mask::Hiding;
use super::object::{self, ObjectRole};
use crate::scan::mentions;
use crate::value::{Node, Value};

/// The names of what templates of Secrets read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateInputs {
    names: BTreeSet<SmolStr>,
}

/// The variables of a template that its user gives values for.
const VARIABLES: [&str; 3] = ["parameters", "environmentConfigs", "envOverrides"];

/// The fields below which a user gives values, or a definition their defaults.
const HOLDERS: [&str; 9] = [
    "parameters",
    "environmentConfigs",
    "envOverrides",
    "componentTypeEnvironmentConfigs",
    "componentTypeEnvOverrides",
    "traitEnvironmentConfigs",
    "traitOverrides",
    "traitEnvOverrides",
    "overrides",
];

/// The fields of a schema that hold values.
const VALUES: [&str; 5] = ["default", "example", "examples", "enum", "const"];

/// Whether a document is one of OpenChoreo.
pub fn is_of_openchoreo(payload: &Node) -> bool {
    payload.get("apiVersion").and_then(Node::as_str).is_some_and(|version| version.starts_with("openchoreo.dev/"))
}

impl TemplateInputs {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Adds others.
    pub fn extend(&mut self, others: &Self) {
        self.names.extend(others.names.iter().cloned());
    }

    /// Adds what the templates and patches of a definition read to make a Secret.
    pub fn note(&mut self, definition: &Node) {
        let is_secret = |map| matches!(object::role(map), Some(ObjectRole::Secret));
        let makes_secret = definition.get("template").and_then(Node::as_map).is_some_and(is_secret);
        let patches_secret = definition.get("operations").is_some()
            && definition.get("target").and_then(|target| target.get("kind")).is_some_and(object::is_secret_kind);
        if makes_secret || patches_secret {
            return self.note_texts(definition);
        }
        definition.children().for_each(|child| self.note(child.node));
    }

    fn note_texts(&mut self, node: &Node) {
        if let Value::String(text) = &node.value {
            self.note_text(text);
        }
        for child in node.children() {
            // The name of a Secret is no secret.
            if child.key.is_none_or(|key| key.name != "metadata" && key.name != "target") {
                self.note_texts(child.node);
            }
        }
    }

    fn note_text(&mut self, text: &str) {
        for variable in VARIABLES {
            let uses = text.match_indices(variable).map(|(at, _)| &text[at + variable.len()..]);
            self.names.extend(uses.filter_map(member));
        }
    }

    /// Whether a text names one of them.
    pub fn may_be_in(&self, text: &str) -> bool {
        self.names.iter().any(|name| mentions(text, name))
    }

    /// A document of OpenChoreo with these values hidden; nothing if it has none.
    pub fn hide(&self, payload: &Node) -> Option<Node> {
        if self.is_empty() || !is_of_openchoreo(payload) {
            return None;
        }
        self.node(payload, false)
    }

    fn node(&self, node: &Node, is_held: bool) -> Option<Node> {
        node.map_children(|child| {
            let name = child.key.map_or("", |key| key.name.as_str());
            match is_held && self.names.contains(name) {
                true => hide_value(child.node),
                false => self.node(child.node, is_held || HOLDERS.contains(&name)),
            }
        })
    }
}

/// The name of the member that is read, after a variable in an expression.
fn member(rest: &str) -> Option<SmolStr> {
    let rest = rest.trim_start();
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let name = match rest.strip_prefix(['.', '[']) {
        Some(rest) => rest.trim_start_matches(['?', '"', '\'', ' ']),
        None => return None,
    };
    let end = name.find(|letter| !is_name(letter) && letter != '-').unwrap_or(name.len());
    let name = name[..end].trim_end_matches('-');
    (!name.is_empty()).then(|| name.into())
}

/// A value, or the values that a schema gives.
fn hide_value(node: &Node) -> Option<Node> {
    let is_schema = node.get("type").is_some_and(|kind| kind.as_str().is_some());
    if is_schema { hide_members(node) } else { Some(Hiding::everything().scalars(node)) }
}

/// A schema without the values that it gives, at any depth.
fn hide_members(node: &Node) -> Option<Node> {
    node.map_children(|child| {
        let is_value = child.key.is_some_and(|key| VALUES.contains(&key.name.as_str()));
        if is_value { Some(Hiding::everything().scalars(child.node)) } else { hide_members(child.node) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::testing::read;

    fn inputs(definition: &str) -> TemplateInputs {
        let mut inputs = TemplateInputs::default();
        inputs.note(&read(definition));
        inputs
    }

    fn names(definition: &str) -> Vec<String> {
        inputs(definition).names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_template_of_a_secret_reads_is_found() {
        let of =
            |data: &str| names(&format!("{{resources: [{{template: {{apiVersion: v1, kind: Secret, {data}}}}}]}}"));
        assert_eq!(
            of("stringData: {a: '${parameters.word}', b: '${environmentConfigs[\"to-ken\"]}'}"),
            ["to-ken", "word"]
        );
        assert_eq!(of("stringData: {a: 'x ${parameters.?word.orValue(\"\")} y'}"), ["word"]);
        assert_eq!(of("metadata: {name: '${parameters.title}'}"), Vec::<String>::new());
        assert_eq!(names("{template: {kind: ConfigMap, data: {a: '${parameters.word}'}}}"), Vec::<String>::new());
        let each =
            "{forEach: '${parameters.words}', var: w, template: {apiVersion: v1, kind: Secret, data: {a: '${w}'}}}";
        assert_eq!(names(each), ["words"]);
        let patch =
            "{patches: [{target: {kind: Secret}, operations: [{op: add, path: /data/x, value: '${parameters.p}'}]}]}";
        assert_eq!(names(patch), ["p"]);
    }

    #[test]
    fn values_for_it_are_hidden_where_they_are_given() {
        let inputs = inputs("{template: {apiVersion: v1, kind: Secret, stringData: {a: '${parameters.word}'}}}");
        let shown = |text: &str| {
            let text = format!("{{apiVersion: openchoreo.dev/v1alpha1, {text}}}");
            let root = read(&text);
            to_inline(&inputs.hide(&root).unwrap_or(root)).replace("apiVersion: openchoreo.dev/v1alpha1, ", "")
        };
        assert_eq!(
            shown("spec: {word: a, parameters: {word: b, size: 1}, traits: [{parameters: {word: {c: d}}}]}"),
            "{spec: {word: a, parameters: {word: •••, size: 1}, traits: [{parameters: {word: {c: •••}}}]}}"
        );
        assert_eq!(
            shown("spec: {parameters: {openAPIV3Schema: {properties: {word: {type: string, default: x}}}}}"),
            "{spec: {parameters: {openAPIV3Schema: {properties: {word: {type: string, default: •••}}}}}}"
        );
        assert!(inputs.hide(&read("{apiVersion: v1, parameters: {word: b}}")).is_none());
    }
}
