//! Patches beyond the shared vectors: corners of operations, specifications and layers, provenance, laws.

mod corners;
mod laws;
mod layers;
mod provenance;
mod specs;

use super::read_any;
use crate::document::{self, Format, write};
use crate::finding::Finding;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// Texts and the nodes that are read from them.
#[derive(Default)]
struct PatchTest {
    sources: Sources,
    limits: Limits,
}

impl PatchTest {
    fn node(&self, text: &str) -> Node {
        let source = self.sources.add(SourceText::new(RepoPath::root(), "", text));
        let parsed = document::parse(text, source, Format::Yaml, &self.limits);
        assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
        parsed.value.into_iter().next().unwrap().root
    }

    /// A document after operations.
    fn operate(&self, document: &Node, operations: &str) -> Result<Node, Vec<Finding>> {
        let specs = self.node(&format!("[{{operations: {operations}}}]"));
        self.apply(&specs, &self.node("{}"), std::slice::from_ref(document)).map(|mut after| after.remove(0))
    }

    /// Resources after patches, with `parameters` as the only input.
    fn patch(&self, resources: &str, specs: &str, parameters: &str) -> Result<Node, Vec<Finding>> {
        let inputs = self.node(&format!("{{parameters: {parameters}}}"));
        let (resources, specs) = (self.node(resources), self.node(specs));
        let after = self.apply(&specs, &inputs, resources.as_list().unwrap())?;
        Ok(Node::list(after, resources.span))
    }

    fn apply(&self, patch: &Node, inputs: &Node, documents: &[Node]) -> Result<Vec<Node>, Vec<Finding>> {
        let read = read_any(patch, inputs, &self.sources, &self.limits);
        if !read.findings.is_empty() {
            return Err(read.findings);
        }
        let applied = read.value.apply(documents, inputs, &self.limits);
        if !applied.findings.is_empty() {
            return Err(applied.findings);
        }
        Ok(applied.value.into_iter().flatten().collect())
    }
}

/// On one line; `n` and `y` need no quotes here, whatever YAML 1.1 makes of them.
fn shown(node: &Node) -> String {
    write::to_inline(node).replace("\"n\"", "n").replace("\"y\"", "y")
}

/// The rules of findings, and what the first says.
fn failed(result: Result<Node, Vec<Finding>>) -> (Vec<&'static str>, String) {
    let findings = result.map(|node| shown(&node)).unwrap_err();
    (findings.iter().map(|finding| finding.rule.id).collect(), findings[0].message.clone())
}
