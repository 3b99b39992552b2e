//! Expressions over a tree of resources.

use std::path::Path;

use outcrop::document::write::to_inline;
use outcrop::expression::eval::{self, Form, Payload, Question, ResourceId, Tree};
use outcrop::finding::Finding;
use outcrop::limits::Limits;
use outcrop::text::Span;
use outcrop::value::{Entry, Node, Value};
use smol_str::SmolStr;

use super::{CaseResult, node_cases};

pub(super) fn run(folder: &Path) -> Vec<CaseResult> {
    node_cases(folder).iter().map(|case| (text_of(case, "name"), run_case(case))).collect()
}

pub(super) fn run_case(case: &Node) -> Result<(), String> {
    let given = case.get("given").expect("a case has something given");
    let tree = NamedTree::new(given.get("tree").expect("a case has a tree"));
    let current = text_of(given, "current");
    let [current] = tree.by_name(&current)[..] else { return Err(format!("there is no single {current}")) };
    let vars = given.get("vars").and_then(Node::as_map).map_or(&[][..], |vars| vars.entries());
    let vars: Vec<(SmolStr, Node)> = vars.iter().map(|entry| (entry.key.name.clone(), entry.value.clone())).collect();
    let limits = Limits::default();
    let expression = given.get("expr").expect("a case has an expression");
    let ask = |form| {
        let question = Question { current, tree: &tree, vars: &vars, form, tracing: false, limits: &limits };
        eval::evaluate(expression, &question)
    };
    let expected = case.get("expect");
    let expect = |form: &str| expected.and_then(|expected| expected.get(form));
    if let Some(error) = case.get("error") {
        check_error(&ask(Form::One), &text_of(error, "kind"), &text_of(error, "contains"))?;
        if expect("list").is_none() {
            return check_error(&ask(Form::All), &text_of(error, "kind"), &text_of(error, "contains"));
        }
    }
    for (name, form) in [("list", Form::All), ("one", Form::One)] {
        let Some(expected) = expect(name) else { continue };
        let answer = ask(form);
        match &answer.value {
            Some(value) if is_same(value, expected) => {}
            Some(value) => return Err(format!("{name} is {} instead of {}", to_inline(value), to_inline(expected))),
            None => return Err(format!("{name} failed with {}", describe(&answer.findings))),
        }
    }
    Ok(())
}

/// JSON values, where an integer is no float, but `0.50` is `0.5`.
fn is_same(a: &Node, b: &Node) -> bool {
    match (&a.value, &b.value) {
        (Value::Number(a), Value::Number(b)) => a.is_integer() == b.is_integer() && a.is_equal(b),
        (Value::List(a), Value::List(b)) => {
            a.items().len() == b.items().len() && a.items().iter().zip(b.items()).all(|(a, b)| is_same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            let has_twin = |entry: &Entry| b.get(&entry.key.name).is_some_and(|twin| is_same(&entry.value, twin));
            a.len() == b.len() && a.entries().iter().all(has_twin)
        }
        _ => a.is_identical(b),
    }
}

fn check_error(answer: &eval::Answer, kind: &str, contains: &str) -> Result<(), String> {
    if let Some(value) = &answer.value {
        return Err(format!("is {} but should fail with {kind}", to_inline(value)));
    }
    let is_expected = |finding: &Finding| kind_of(finding) == kind && finding.message.contains(contains);
    match answer.findings.iter().any(is_expected) {
        true => Ok(()),
        false => Err(format!("failed with {}, but should with {kind} and `{contains}`", describe(&answer.findings))),
    }
}

/// The vectors' name for a rule.
fn kind_of(finding: &Finding) -> &str {
    finding.rule.id.rsplit('/').next().unwrap_or_default()
}

fn describe(findings: &[Finding]) -> String {
    findings.iter().map(|it| format!("[{}] {}", it.rule.id, it.message)).collect::<Vec<_>>().join("; ")
}

fn text_of(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::as_str).unwrap_or_default().to_owned()
}

/// A tree whose resources are called by names that are unique in it.
struct NamedTree {
    resources: Vec<Named>,
}

struct Named {
    name: SmolStr,
    parent: Option<ResourceId>,
    children: Vec<ResourceId>,
    payload: Payload,
}

impl NamedTree {
    fn new(root: &Node) -> Self {
        let mut tree = Self { resources: Vec::new() };
        tree.add(root, None);
        tree
    }

    fn add(&mut self, node: &Node, parent: Option<ResourceId>) -> ResourceId {
        let id = ResourceId(self.resources.len());
        let payload = node.get("attributes").map_or(Payload::Nothing, |node| Payload::Node(node.clone()));
        self.resources.push(Named { name: text_of(node, "name").into(), parent, children: Vec::new(), payload });
        for child in node.get("children").and_then(Node::as_list).unwrap_or_default() {
            let child = self.add(child, Some(id));
            self.resources[id.0].children.push(child);
        }
        id
    }
}

impl Tree for NamedTree {
    fn root(&self) -> ResourceId {
        ResourceId(0)
    }

    fn parent(&self, of: ResourceId) -> Option<ResourceId> {
        self.resources[of.0].parent
    }

    fn children(&self, of: ResourceId) -> Vec<ResourceId> {
        self.resources[of.0].children.clone()
    }

    fn name(&self, of: ResourceId) -> SmolStr {
        self.resources[of.0].name.clone()
    }

    fn path(&self, of: ResourceId) -> SmolStr {
        self.name(of)
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

    fn by_name(&self, name: &str) -> Vec<ResourceId> {
        let ids = (0..self.resources.len()).map(ResourceId);
        ids.filter(|&id| self.resources[id.0].name == name).collect()
    }

    fn payload(&self, of: ResourceId) -> Payload {
        self.resources[of.0].payload.clone()
    }

    fn reference(&self, to: ResourceId, at: Span) -> Node {
        Node::map(vec![Entry::named("$resource", at, Node::text(self.name(to), at))], at)
    }
}
