//! Which expressions have a value from their own text: no path, no function that needs more than the files.

use super::detect::is_expression;
use super::form::is_form;
use super::function::Function;
use super::grammar;
use super::session::EvalSession;
use super::tree::{Payload, ResourceId, Tree};
use super::trouble;
use crate::finding::{Finding, Outcome};
use crate::limits::Limits;
use crate::value::{Map, Node, Value};
use smol_str::SmolStr;

/// Functions of other programs that need a run, a model, an environment, or code.
const OUTSIDE: [&str; 39] = [
    "get_env",
    "has_env",
    "to_env",
    "secret",
    "local",
    "external",
    "sensitive",
    "file",
    "tempfile",
    "abspath",
    "get_dir",
    "python",
    "computed",
    "template",
    "lookup",
    "kubectl",
    "get_input",
    "get_property",
    "get_attribute",
    "get_artifact",
    "get_nodes_of_type",
    "find_connection",
    "container_image",
    "kubernetes_current_namespace",
    "get_ensemble_metadata",
    "_arguments",
    "generate_string",
    "_generate",
    "to_label",
    "to_dns_label",
    "to_kubernetes_label",
    "to_googlecloud_label",
    "portspec",
    "scalar",
    "scalar_value",
    "get_operation_output",
    "get_repository_dir",
    "uri",
    "read",
];

/// Arguments of these are expressions: a text in them is a path.
const CONDITIONS: [&str; 6] = ["if", "then", "else", "and", "or", "not"];

/// Whether an expression has a value from its own text alone.
#[derive(Debug)]
pub enum Closed {
    /// It has.
    Yes,
    /// It reads a path.
    Path,
    /// It calls a function that needs more than the files.
    Function,
    /// A text in it is no expression.
    Malformed(Box<Finding>),
}

/// Judges an expression, a map with `eval`.
pub fn closed(expression: &Node, limits: &Limits) -> Closed {
    let Some(map) = expression.as_map() else { return Closed::Yes };
    Judge { limits, depth: 0 }.form(map)
}

/// A payload in which the expressions that have a value from their own text are replaced by it. The others stay as they are; how many
/// they are is the second result.
pub fn compute_closed(payload: &Node, limits: &Limits) -> (Outcome<Node>, usize) {
    let mut closing = Closing { limits, findings: Vec::new(), open: 0 };
    let computed = closing.replaced(payload).unwrap_or_else(|| payload.clone());
    (Outcome { value: computed, findings: closing.findings }, closing.open)
}

struct Closing<'a> {
    limits: &'a Limits,
    findings: Vec<Finding>,
    open: usize,
}

impl Closing<'_> {
    fn replaced(&mut self, node: &Node) -> Option<Node> {
        let Value::Map(map) = &node.value else { return node.map_children(|child| self.replaced(child.node)) };
        if !is_expression(map) {
            return node.map_children(|child| self.replaced(child.node));
        }
        match closed(node, self.limits) {
            Closed::Yes => {
                let mut session = EvalSession::new(&Nothing, self.limits, false);
                session.assume(ResourceId(0), node.clone());
                let value = session.whole(node, ResourceId(0)).map_err(|fault| self.findings.push(*fault));
                self.findings.append(&mut session.findings);
                value.ok().flatten()
            }
            Closed::Malformed(finding) => {
                self.findings.push(*finding);
                None
            }
            Closed::Path | Closed::Function => {
                self.open += 1;
                None
            }
        }
    }
}

struct Judge<'a> {
    limits: &'a Limits,
    depth: u32,
}

impl Judge<'_> {
    /// A map with `eval`, or one that calls a function.
    fn form(&mut self, map: &Map) -> Closed {
        self.depth += 1;
        if self.depth > self.limits.expression_depth.min(256) {
            return Closed::Function;
        }
        let judged = match map.get("eval").or_else(|| map.get("ref")) {
            Some(expression) => {
                let beside = map.entries().iter().filter(|entry| !matches!(&*entry.key.name, "eval" | "ref"));
                let beside: Vec<&Node> = beside.map(|entry| &entry.value).collect();
                let own = self.expression(expression);
                let each = |judge: &mut Self, node: &&Node| match node.as_str() {
                    Some("required" | "notnull") => Closed::Yes,
                    _ => judge.expression(node),
                };
                beside.iter().fold(own, |worst, node| worst.or(each(self, node)))
            }
            None => self.call(map),
        };
        self.depth -= 1;
        judged
    }

    fn call(&mut self, map: &Map) -> Closed {
        let called = map.entries().iter().find(|entry| Function::named(&entry.key.name).is_some());
        let Some(called) = called else { return Closed::Function };
        if called.key.name == "q" {
            return Closed::Yes;
        }
        map.entries().iter().fold(Closed::Yes, |worst, entry| {
            let judged = match CONDITIONS.contains(&&*entry.key.name) {
                true => self.expression(&entry.value),
                false => self.mapped(&entry.value),
            };
            worst.or(judged)
        })
    }

    /// A place where a text is a path.
    fn expression(&mut self, node: &Node) -> Closed {
        match &node.value {
            Value::String(text) => match grammar::parse(text, self.limits.expression_depth) {
                Ok(_) => Closed::Path,
                Err(error) => Closed::Malformed(trouble::malformed(node, text, &error)),
            },
            Value::Map(map) => self.form(map),
            Value::List(list) => list.items().iter().fold(Closed::Yes, |worst, item| worst.or(self.expression(item))),
            _ => Closed::Yes,
        }
    }

    /// A place where a text is a text.
    fn mapped(&mut self, node: &Node) -> Closed {
        match &node.value {
            Value::Map(map) if is_form(map) => self.form(map),
            Value::Map(map) if map.entries().iter().any(|entry| OUTSIDE.contains(&&*entry.key.name)) => {
                Closed::Function
            }
            Value::Map(_) | Value::List(_) => {
                node.children().fold(Closed::Yes, |worst, child| worst.or(self.mapped(child.node)))
            }
            _ => Closed::Yes,
        }
    }
}

impl Closed {
    /// The worse of two judgements: a text that is no expression, then a function, then a path.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Malformed(finding), _) | (_, Self::Malformed(finding)) => Self::Malformed(finding),
            (Self::Function, _) | (_, Self::Function) => Self::Function,
            (Self::Path, _) | (_, Self::Path) => Self::Path,
            (Self::Yes, Self::Yes) => Self::Yes,
        }
    }
}

/// A tree without resources: what is evaluated in it reads none.
struct Nothing;

impl Tree for Nothing {
    fn root(&self) -> ResourceId {
        ResourceId(0)
    }

    fn parent(&self, _of: ResourceId) -> Option<ResourceId> {
        None
    }

    fn children(&self, _of: ResourceId) -> Vec<ResourceId> {
        Vec::new()
    }

    fn name(&self, _of: ResourceId) -> SmolStr {
        SmolStr::new_static("root")
    }

    fn path(&self, _of: ResourceId) -> SmolStr {
        SmolStr::new_static("/")
    }

    fn file(&self, _of: ResourceId) -> Option<SmolStr> {
        None
    }

    fn kind(&self, _of: ResourceId) -> Option<SmolStr> {
        None
    }

    fn by_path(&self, _path: &str) -> Option<ResourceId> {
        None
    }

    fn by_name(&self, _name: &str) -> Vec<ResourceId> {
        Vec::new()
    }

    fn payload(&self, _of: ResourceId) -> Payload {
        Payload::Nothing
    }

    fn is_computed(&self) -> bool {
        false
    }

    fn gap(&self) -> Option<String> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::write::to_inline;
    use crate::testing::read;

    #[test]
    fn only_what_needs_nothing_else_is_computed() {
        let payload = read(
            "{a: {eval: {concat: [x, y]}}, b: {eval: '::n::m'}, c: {eval: {get_env: HOME}}, \
             d: {eval: {if: {q: true}, then: {q: 1}, else: {q: 2}}}, e: {get_env: A}, \
             f: {eval: {concat: [x, {get_env: B}]}}, g: {eval: {if: .present, then: {q: 1}}}}",
        );
        let (outcome, open) = compute_closed(&payload, &Limits::default());
        assert!(outcome.findings.is_empty(), "{:?}", outcome.findings);
        assert_eq!(open, 4);
        assert_eq!(outcome.value.get("a").map(to_inline).as_deref(), Some("xy"));
        assert_eq!(outcome.value.get("d").map(to_inline).as_deref(), Some("1"));
        assert_eq!(outcome.value.get("b").map(to_inline).as_deref(), payload.get("b").map(to_inline).as_deref());
    }

    #[test]
    fn a_text_that_is_no_expression_is_reported() {
        let (outcome, open) = compute_closed(&read("{a: {eval: 'a['}}"), &Limits::default());
        assert_eq!((outcome.findings.len(), open), (1, 0));
        assert_eq!(outcome.findings[0].rule.id, "expression/parse");
    }
}
