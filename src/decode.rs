//! Reads maps strictly: an unknown key and a value of the wrong type become findings.

use smol_str::SmolStr;

use crate::finding::{Finding, Location, Rule};
use crate::sanitize;
use crate::suggest;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// The rules under which a kind of file reports unknown keys and wrong values.
#[derive(Clone, Copy)]
pub struct StrictRules {
    /// The rule for unknown keys.
    pub unknown_key: &'static Rule,
    /// The rule for wrong values.
    pub invalid: &'static Rule,
}

/// Reads a document and collects the findings.
pub struct StrictReader {
    rules: StrictRules,
    findings: Vec<Finding>,
}

impl StrictReader {
    /// A reader without findings.
    pub fn new(rules: StrictRules) -> Self {
        Self { rules, findings: Vec::new() }
    }

    /// The number of findings so far.
    pub fn finding_count(&self) -> usize {
        self.findings.len()
    }

    /// The findings.
    pub fn into_findings(self) -> Vec<Finding> {
        self.findings
    }

    /// The entries of a map with known keys, in written order; unknown keys are reported and left out.
    pub fn entries<'n>(&mut self, node: &'n Node, what: &str, known: &[&str]) -> Vec<&'n Entry> {
        let Value::Map(map) = &node.value else {
            self.wrong(node, what, "a map");
            return Vec::new();
        };
        let (entries, unknown): (Vec<_>, Vec<_>) =
            map.entries().iter().partition(|entry| known.contains(&entry.key.name.as_str()));
        for entry in unknown {
            self.unknown(entry, what, known);
        }
        entries
    }

    /// The items of a list.
    pub fn items<'n>(&mut self, node: &'n Node, what: &str) -> &'n [Node] {
        node.as_list().unwrap_or_else(|| {
            self.wrong(node, what, "a list");
            &[]
        })
    }

    /// A text that is not empty.
    pub fn text(&mut self, node: &Node, what: &str) -> Option<SmolStr> {
        match &node.value {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            _ => {
                self.wrong(node, what, "a text");
                None
            }
        }
    }

    /// `true` or `false`.
    pub fn flag(&mut self, node: &Node, what: &str) -> Option<bool> {
        match node.value {
            Value::Bool(flag) => Some(flag),
            _ => {
                self.wrong(node, what, "`true` or `false`");
                None
            }
        }
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&mut self, node: &Node, what: &str, choices: &[(&str, T)]) -> Option<T> {
        let word = node.as_str().unwrap_or_default();
        let chosen = choices.iter().find(|(name, _)| *name == word).map(|&(_, choice)| choice);
        if chosen.is_none() {
            let names: Vec<String> = choices.iter().map(|(name, _)| format!("`{name}`")).collect();
            self.wrong(node, what, &format!("one of {}", names.join(", ")));
        }
        chosen
    }

    /// Reports a value of the wrong type.
    pub fn wrong(&mut self, node: &Node, what: &str, wanted: &str) {
        let message = format!("`{what}` takes {wanted}, and this is a {}", node.type_of());
        let message = match (&node.value, wanted) {
            // A word among the wrong words: its type is not what is wrong.
            (Value::String(word), _) if !word.is_empty() && wanted != "a text" => {
                format!("`{what}` takes {wanted}, not `{}`", sanitize::inline(word))
            }
            _ => message,
        };
        self.invalid(node, message);
    }

    /// Reports a wrong value with a message of its own.
    pub fn invalid(&mut self, node: &Node, message: impl Into<String>) {
        self.invalid_at(node.span, message);
    }

    /// Reports a problem at a place that has no value.
    pub fn invalid_at(&mut self, span: Span, message: impl Into<String>) {
        self.findings.push(Finding::new(self.rules.invalid, Location::Span(span), message));
    }

    /// Reports an unknown key and suggests the nearest known one.
    pub fn unknown(&mut self, entry: &Entry, what: &str, known: &[&str]) {
        let message = format!("unknown key `{}` in `{what}`", sanitize::inline(&entry.key.name));
        let help = match suggest::nearest(&entry.key.name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known keys: {}", known.join(", ")),
        };
        let finding = Finding::new(self.rules.unknown_key, Location::Span(entry.key.span), message);
        self.findings.push(finding.labelled("not known").help(help));
    }
}
