//! JSON Patch as RFC 6902 defines it: exact pointers, six operations, all or nothing.

use super::decode::RULES;
use super::operation::{Action, Edit, edit};
use super::path::PatchPath;
use super::run::too_much_in_run;
use super::template::Dialect;
use crate::decode::StrictReader;
use crate::finding::{self, Finding, Location, Outcome, Refusal};
use crate::limits::Limits;
use crate::path::Pointer;
use crate::sanitize;
use crate::text::Span;
use crate::value::{Node, StepKind};

/// One operation of a JSON Patch document.
#[derive(Debug, Clone)]
pub struct JsonOperation {
    verb: Verb,
    path: Pointer,
    /// Where the operation is written.
    at: Span,
}

#[derive(Debug, Clone)]
enum Verb {
    Add(Node),
    Remove,
    Replace(Node),
    Move(Pointer),
    Copy(Pointer),
    Test(Node),
}

/// Reads a JSON Patch document. Members that RFC 6902 does not define are ignored, as it asks.
pub(super) fn read_json_patch(root: &Node) -> Outcome<Vec<JsonOperation>> {
    let mut reader = JsonPatchReader { shape: StrictReader::new(RULES), findings: Vec::new() };
    let items = reader.shape.items(root, "patch");
    let value = items.iter().filter_map(|item| reader.operation(item)).collect();
    let mut findings = reader.shape.into_findings();
    findings.append(&mut reader.findings);
    Outcome { value, findings }
}

/// The document after all operations; if one fails, the document as it was and why.
pub(super) fn apply_json_patch(document: &Node, operations: &[JsonOperation], limits: &Limits) -> Outcome<Node> {
    let mut edited = document.clone();
    let mut work = 0_u64;
    for (number, operation) in operations.iter().enumerate() {
        work += 1;
        match operation.apply(&edited, limits, &mut work) {
            Ok(after) => edited = after,
            Err(refusal) => {
                let path = sanitize::inline(&operation.path.to_string()).into_owned();
                let finding = refusal.about(&format!("operation {number} at `{path}`")).into_finding(operation.at);
                return Outcome { value: document.clone(), findings: vec![finding] };
            }
        }
    }
    if !limits.take_steps(work) {
        let at = operations.first().map_or(document.span, |operation| operation.at);
        return Outcome { value: document.clone(), findings: vec![too_much_in_run(at, limits)] };
    }
    Outcome::clean(edited)
}

struct JsonPatchReader {
    shape: StrictReader,
    findings: Vec<Finding>,
}

impl JsonPatchReader {
    fn operation(&mut self, item: &Node) -> Option<JsonOperation> {
        if item.as_map().is_none() {
            self.shape.wrong(item, "operation", "a map");
            return None;
        }
        let path = self.pointer(item, "path");
        let Some(op) = item.get("op").filter(|op| op.as_str().is_some()) else {
            self.shape.invalid(item, "an operation needs `op`");
            return None;
        };
        let verb = match op.as_str()? {
            "add" => Verb::Add(self.value(item)?),
            "replace" => Verb::Replace(self.value(item)?),
            "test" => Verb::Test(self.value(item)?),
            "remove" => Verb::Remove,
            "move" => Verb::Move(self.pointer(item, "from")?),
            "copy" => Verb::Copy(self.pointer(item, "from")?),
            other => {
                let message = format!("the operation `{}` is not known", sanitize::inline(other));
                let finding = Finding::new(&finding::PATCH_UNSUPPORTED_OP, Location::Span(op.span), message);
                self.findings.push(finding.help("known operations: add, remove, replace, move, copy, test"));
                return None;
            }
        };
        Some(JsonOperation { verb, path: path?, at: item.span })
    }

    fn value(&mut self, item: &Node) -> Option<Node> {
        let value = item.get("value").cloned();
        if value.is_none() {
            self.shape.invalid(item, "the operation needs a `value`");
        }
        value
    }

    fn pointer(&mut self, item: &Node, name: &str) -> Option<Pointer> {
        let Some(node) = item.get(name) else {
            self.shape.invalid(item, format!("an operation needs `{name}`"));
            return None;
        };
        let Some(text) = node.as_str() else {
            self.shape.wrong(node, name, "a text");
            return None;
        };
        let refused = |reason: &str| {
            let message = format!("`{}` is no JSON Pointer: {reason}", sanitize::inline(text));
            self.findings.push(Finding::new(&finding::PATCH_BAD_PATH, Location::Span(node.span), message));
        };
        Pointer::parse(text).map_err(refused).ok()
    }
}

impl JsonOperation {
    fn apply(&self, document: &Node, limits: &Limits, work: &mut u64) -> Result<Node, Refusal> {
        let mut run = |document: &Node, action, pointer: &Pointer, value: Option<&Node>| {
            // Unlike other patches, JSON Patch can set the whole document.
            if let (true, Some(value)) = (pointer.tokens().is_empty(), value) {
                return Ok(value.clone().through(StepKind::Patch, self.at));
            }
            let path = PatchPath::exact(pointer);
            let dialect = Dialect::Layered;
            let asked = Edit { action, path: &path, value, at: self.at, path_at: self.at, dialect };
            let edited = edit(document, &asked, limits, work)?;
            if *work > limits.patch_work {
                return Err(Refusal::new(&finding::LIMIT_PATCH, "all operations together are too much work"));
            }
            Ok(edited)
        };
        match &self.verb {
            Verb::Add(value) => run(document, Action::Add, &self.path, Some(value)),
            Verb::Replace(value) => run(document, Action::Replace, &self.path, Some(value)),
            Verb::Remove => run(document, Action::Remove, &self.path, None),
            Verb::Copy(from) => run(document, Action::Add, &self.path, Some(find(document, from)?)),
            Verb::Move(from) if self.path == *from => find(document, from).map(|_| document.clone()),
            Verb::Move(from) => {
                let value = find(document, from)?;
                if self.path.tokens().starts_with(from.tokens()) {
                    return Err(Refusal::new(&finding::PATCH_WRONG_TYPE, "a value cannot be moved into itself"));
                }
                let without = run(document, Action::Remove, from, None)?;
                run(&without, Action::Add, &self.path, Some(value))
            }
            Verb::Test(value) if find(document, &self.path)?.is_equal(value) => Ok(document.clone()),
            Verb::Test(_) => Err(Refusal::new(&finding::PATCH_TEST_FAILED, "the document has another value")),
        }
    }
}

fn find<'n>(document: &'n Node, pointer: &Pointer) -> Result<&'n Node, Refusal> {
    document.at(pointer).ok_or_else(|| {
        let message = format!("nothing is at `{}`", sanitize::inline(&pointer.to_string()));
        Refusal::new(&finding::PATCH_MISSING, message)
    })
}
