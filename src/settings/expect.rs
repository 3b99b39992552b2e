//! Files of expected differences, for `outcrop compare --expect`; read strictly.

use smol_str::SmolStr;

use crate::decode::{StrictReader, StrictRules};
use crate::document::Document;
use crate::finding::{self, Outcome};
use crate::glob::Pattern;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// A difference between two parts of a repository that is meant.
#[derive(Debug, Clone)]
pub struct Expectation {
    /// Where it is written.
    pub at: Span,
    /// The resources that differ, by their names in reports, with `*`; none means all.
    pub resource: Option<SmolStr>,
    /// What differs.
    pub difference: ExpectedDifference,
    /// Why it is meant.
    pub reason: Option<SmolStr>,
}

/// What is expected of a resource.
#[derive(Debug, Clone)]
pub enum ExpectedDifference {
    /// Only one part has it: the first or the second.
    OnlyIn(ExpectedSide),
    /// A value at or below a place differs; nothing for any place. Values that are given must be the ones that are found.
    At {
        /// The place: a JSON Pointer with globs, or a path as reports print it.
        path: Option<SmolStr>,
        /// The value in the first part.
        before: Option<Node>,
        /// The value in the second part.
        after: Option<Node>,
    },
}

/// One of the two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExpectedSide {
    /// The first.
    First,
    /// The second.
    Second,
}

const RULES: StrictRules = StrictRules { unknown_key: &finding::CONFIG_UNKNOWN_KEY, invalid: &finding::CONFIG_INVALID };
const KEYS: [&str; 6] = ["resource", "path", "only", "before", "after", "reason"];

/// Reads the documents of such a file: one list, or a map with the list below `expect`.
pub fn expectations(documents: &[Document]) -> Outcome<Vec<Expectation>> {
    let mut shape = StrictReader::new(RULES);
    if let [_, second, ..] = documents {
        shape.invalid(&second.root, "expected differences are one document, and this is a second one");
    }
    let root = documents.first().map(|document| &document.root).filter(|root| !matches!(root.value, Value::Null));
    let mut all = Vec::new();
    if let Some(root) = root {
        let listed = match root.as_map() {
            Some(_) => shape.entries(root, "expected differences", &["expect"]).first().map(|entry| &entry.value),
            None => Some(root),
        };
        let items = listed.map(|list| shape.items(list, "expect")).unwrap_or_default();
        all.extend(items.iter().filter_map(|item| read(&mut shape, item)));
    }
    Outcome { value: all, findings: shape.into_findings() }
}

fn read(shape: &mut StrictReader, node: &Node) -> Option<Expectation> {
    let entries = shape.entries(node, "expect", &KEYS);
    let entry = |name: &str| entries.iter().find(|entry| entry.key.name == name);
    let mut text = |name: &str| match entry(name) {
        Some(Entry { value, .. }) => shape.text(value, name).map(Some),
        None => Some(None),
    };
    let (resource, path, reason) = (text("resource")?, text("path")?, text("reason")?);
    if let (Some(path), Some(at)) = (&path, entry("path"))
        && let Err(reason) = Pattern::of_pointer(path)
    {
        shape.invalid(&at.value, format!("`path`: {reason}"));
        return None;
    }
    let value = |name: &str| entry(name).map(|entry| entry.value.clone());
    let difference = match entry("only") {
        Some(only) => {
            let choices = [("first", ExpectedSide::First), ("second", ExpectedSide::Second)];
            let side = shape.choice(&only.value, "only", &choices)?;
            if path.is_some() || value("before").is_some() || value("after").is_some() {
                shape.invalid(node, "`only` is about a whole resource, and takes no `path`, `before` or `after`");
                return None;
            }
            ExpectedDifference::OnlyIn(side)
        }
        None => ExpectedDifference::At { path, before: value("before"), after: value("after") },
    };
    if resource.is_none() && matches!(&difference, ExpectedDifference::At { path: None, .. }) {
        shape.invalid(node, "an expected difference needs a `resource`, a `path`, or `only`");
        return None;
    }
    Some(Expectation { at: node.span, resource, difference, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Format, parse};
    use crate::limits::Limits;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};

    fn read_text(text: &str) -> Outcome<Vec<Expectation>> {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "test", text));
        expectations(&parse(text, source, Format::Yaml, &Limits::default()).value)
    }

    #[test]
    fn a_list_alone_or_below_a_key_is_read() {
        for text in
            ["- path: .spec.replicas\n", "expect:\n  - path: /spec/replicas\n    after: 3\n    reason: more load\n"]
        {
            let read = read_text(text);
            assert!(read.findings.is_empty() && read.value.len() == 1, "{:?}", read.findings);
        }
        assert!(read_text("").value.is_empty());
    }

    #[test]
    fn what_cannot_be_meant_is_reported() {
        for text in [
            "- {}\n",
            "- resource: 3\n",
            "- only: left\n",
            "- only: first\n  path: /a\n",
            "- pat: /a\n",
            "- path: a\n",
            "3\n",
        ] {
            assert!(!read_text(text).findings.is_empty(), "{text}");
        }
    }
}
