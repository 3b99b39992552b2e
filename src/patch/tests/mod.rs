//! What patches do beyond the shared cases: corners of operations, specifications and layers, provenance, laws.

mod corners;
mod laws;
mod layers;
mod provenance;
mod specs;

use super::{Reading, apply_specs, read_operations, read_specs};
use crate::document::{self, Format, write};
use crate::expression::cel::Inputs;
use crate::finding::Finding;
use crate::limits::Limits;
use crate::path::RepoPath;
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// Texts and what is read from them.
#[derive(Default)]
struct World {
    sources: Sources,
    limits: Limits,
}

impl World {
    fn node(&self, text: &str) -> Node {
        let source = self.sources.add(SourceText::new(RepoPath::root(), "", text));
        let parsed = document::parse(text, source, Format::Yaml, &self.limits);
        assert!(parsed.findings.is_empty(), "{text}: {:?}", parsed.findings);
        parsed.value.into_iter().next().unwrap().root
    }

    fn reading(&self, has_expressions: bool) -> Reading<'_> {
        Reading { sources: &self.sources, limits: &self.limits, has_expressions, variables: None }
    }

    /// A document after operations.
    fn operate(&self, document: &Node, operations: &str) -> Result<Node, Vec<Finding>> {
        let read = read_operations(&self.node(operations), &self.reading(false));
        if !read.findings.is_empty() {
            return Err(read.findings);
        }
        let applied = apply_specs(std::slice::from_ref(document), &[read.value], &Inputs::default(), &self.limits);
        match applied.findings.is_empty() {
            true => Ok(applied.value.into_iter().next().unwrap()),
            false => Err(applied.findings),
        }
    }

    /// Resources after patches, with `parameters` as the only input.
    fn patch(&self, resources: &str, specs: &str, parameters: &str) -> Result<Node, Vec<Finding>> {
        let read = read_specs(&self.node(specs), &self.reading(true));
        if !read.findings.is_empty() {
            return Err(read.findings);
        }
        let (resources, parameters) = (self.node(resources), self.node(parameters));
        let inputs = Inputs::default().with("parameters", &parameters);
        let applied = apply_specs(resources.as_list().unwrap(), &read.value, &inputs, &self.limits);
        match applied.findings.is_empty() {
            true => Ok(Node::list(applied.value, resources.span)),
            false => Err(applied.findings),
        }
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
