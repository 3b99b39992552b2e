//! Values that templates of OpenChoreo put into Secrets: the parameters and settings of components that such a template reads, and
//! what it reads of their workloads, are secret where they are written.

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
    /// The fields of containers of workloads.
    fields: BTreeSet<&'static str>,
}

/// The fields of a container that hold values.
const FIELDS: [&str; 3] = ["image", "command", "args"];
/// The fields of a container that hold named values.
const LISTS: [&str; 2] = ["env", "files"];

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
        self.names.is_empty() && self.fields.is_empty()
    }

    /// Adds others.
    pub fn extend(&mut self, others: &Self) {
        self.names.extend(others.names.iter().cloned());
        self.fields.extend(&others.fields);
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
        for (at, variable) in text.match_indices("workload") {
            let path = expression_path(&text[at + variable.len()..]);
            self.fields.extend(FIELDS.iter().filter(|field| mentions(path, field)));
        }
        for (at, variable) in text.match_indices("configurations") {
            let path = expression_path(&text[at + variable.len()..]).to_ascii_lowercase();
            // Values that are secret already are not in the repository.
            if !path.contains("secret") {
                let is_meant = |list: &&&str| path.contains(&list[..3]);
                let meant: Vec<&'static str> = LISTS.iter().filter(is_meant).copied().collect();
                self.fields.extend(if meant.is_empty() { LISTS.to_vec() } else { meant });
            }
        }
    }

    /// Whether a text names one of them.
    pub fn may_be_in(&self, text: &str) -> bool {
        self.names.iter().any(|name| mentions(text, name))
            || mentions(text, "container") && self.fields.iter().any(|field| mentions(text, field))
    }

    /// A document of OpenChoreo with these values hidden; nothing if it has none.
    pub fn hide(&self, payload: &Node) -> Option<Node> {
        if self.is_empty() || !is_of_openchoreo(payload) {
            return None;
        }
        let hidden = self.node(payload, false);
        if self.fields.is_empty() {
            return hidden;
        }
        self.containers(hidden.as_ref().unwrap_or(payload)).or(hidden)
    }

    /// Hides fields of containers.
    fn containers(&self, node: &Node) -> Option<Node> {
        node.map_children(|child| match child.key.map(|key| key.name.as_str()) {
            Some("container") => self.container(child.node),
            // A list of containers is part of a template.
            Some("containers") if child.node.as_map().is_some() => {
                child.node.map_children(|container| self.container(container.node))
            }
            _ => self.containers(child.node),
        })
    }

    fn container(&self, node: &Node) -> Option<Node> {
        node.map_children(|field| match field.key.map(|key| key.name.as_str()) {
            Some(name) if !self.fields.contains(name) => None,
            Some(name) if LISTS.contains(&name) => field.node.map_children(|item| {
                item.node.map_children(|part| {
                    let is_value = part.key.is_some_and(|key| key.name == "value");
                    is_value.then(|| Hiding::everything().scalars(part.node))
                })
            }),
            _ => Some(Hiding::everything().scalars(field.node)),
        })
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

/// The rest of a way through values, after a variable in an expression.
fn expression_path(rest: &str) -> &str {
    let is_part = |letter: char| letter.is_alphanumeric() || "_.?[]()\"'".contains(letter);
    &rest[..rest.find(|letter| !is_part(letter)).unwrap_or(rest.len())]
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
    fn what_it_reads_of_a_workload_is_hidden_there() {
        let shown = |data: &str| {
            let inputs =
                inputs(&format!("{{template: {{apiVersion: v1, kind: Secret, stringData: {{a: '{data}'}}}}}}"));
            let container = "{image: i, args: [a], env: [{key: K, value: v}], files: [{key: F, value: w}]}";
            let root = read(&format!("{{apiVersion: openchoreo.dev/v1alpha1, container: {container}}}"));
            to_inline(&inputs.hide(&root).unwrap_or(root))
                .replace("{apiVersion: openchoreo.dev/v1alpha1, container: ", "")
        };
        let plain = "{image: i, args: [a], env: [{key: K, value: v}], files: [{key: F, value: w}]}}";
        assert_eq!(shown("${workload.container.args[0]}"), plain.replace("[a]", "[•••]"));
        assert_eq!(shown("${configurations.configs.envs[0].value}"), plain.replace("value: v", "value: •••"));
        assert_eq!(shown("${configurations.secrets.envs[0].remoteRef.key} ${workload.endpoints}"), plain);
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
