//! An expression that somebody asks about a snapshot, at one of its resources.

use smol_str::SmolStr;

use super::Inspection;
use super::find::{Found, Sought};
use crate::document::{self, Format};
use crate::expression::eval::{Answer, Form, Question, Trace, Tree, evaluate};
use crate::finding::{self, Finding, Location, Outcome, has_errors};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::side::{Side, SideTree};
use crate::text::{SourceText, Span};
use crate::value::Node;

/// An expression as somebody types it.
#[derive(Debug, Clone)]
pub struct Typed<'a> {
    /// A path, or a function form, which starts with `{`.
    pub expression: &'a str,
    /// Variables, their values as YAML.
    pub vars: &'a [(&'a str, &'a str)],
    /// Whether the answer is one value or all matches.
    pub form: Form,
    /// Whether to note every step.
    pub tracing: bool,
    /// Whether secrets are shown.
    pub reveal: bool,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Evaluated {
    /// The value; nothing if the findings say why there is none.
    pub value: Option<Node>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// The steps, if they were asked for.
    pub trace: Option<Trace>,
    /// Whether something in the value is hidden.
    pub hides: bool,
}

/// Why there is no resource to start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Nowhere {
    /// Nothing stands there.
    Nothing,
    /// More than one resource does: their names.
    Several(Vec<String>),
    /// It has no path, and expressions know paths alone.
    Unnamed(String),
}

/// Variables by name.
type Variables = Vec<(SmolStr, Node)>;

impl Inspection<'_> {
    /// Evaluates an expression at a resource, or at the root of the tree.
    pub fn eval(&self, typed: &Typed<'_>, at: Option<&Sought>) -> Result<Evaluated, Nowhere> {
        self.with_world(typed.reveal, |world, _| self.eval_in(world, typed, at))
    }

    fn eval_in(&self, world: &Side<'_>, typed: &Typed<'_>, at: Option<&Sought>) -> Result<Evaluated, Nowhere> {
        let mut findings = Vec::new();
        let Some((path, resource)) = self.standing(at, world, &mut findings)? else {
            return Ok(Evaluated { findings, ..Evaluated::default() });
        };
        let tree = match resource {
            Some(resource) => SideTree::new(world).around(path.clone(), resource),
            None => SideTree::new(world),
        };
        let current = tree.id(&path);
        Ok(match self.asked(typed) {
            Ok((expression, vars)) => {
                let Typed { form, tracing, .. } = *typed;
                let limits = &self.settings.limits;
                let question = Question { current, tree: &tree as &dyn Tree, vars: &vars, form, tracing, limits };
                let Answer { value, findings: found, trace } = evaluate(&expression, &question);
                findings.extend(found);
                Evaluated { hides: value.as_ref().is_some_and(Node::holds_secret), value, findings, trace }
            }
            Err(found) => {
                findings.extend(found);
                Evaluated { findings, ..Evaluated::default() }
            }
        })
    }

    /// The path to start from, and what stands there; nothing if that could not be read.
    fn standing(
        &self,
        at: Option<&Sought>,
        world: &Side<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<(LogicalPath, Option<Resource>)>, Nowhere> {
        let Some(sought) = at else { return Ok(Some((LogicalPath::root(), None))) };
        let Outcome { value: mut found, findings: told } = self.find(sought);
        findings.extend(told);
        if let Sought::Path(path, _) = sought {
            found.truncate(1);
            let logical = path.segments().iter().fold(LogicalPath::root(), |path, segment| path.child(segment));
            if found.is_empty() && findings.is_empty() && world.stands_at(&logical) {
                return Ok(Some((logical, None)));
            }
        }
        match found.len() {
            0 if has_errors(&findings) => Ok(None),
            0 => Err(Nowhere::Nothing),
            1 => {
                let Found { resource, .. } = found.remove(0);
                let unnamed = || Nowhere::Unnamed(resource.identity.to_string());
                let path = world.path_of(&resource).ok_or_else(unnamed)?;
                Ok(Some((path, Some(resource))))
            }
            _ => Err(Nowhere::Several(found.iter().map(|found| found.resource.identity.to_string()).collect())),
        }
    }

    /// The expression and its variables as nodes, with places in what was typed.
    fn asked(&self, typed: &Typed<'_>) -> Result<(Node, Variables), Vec<Finding>> {
        let text = typed.expression;
        let expression = match text.trim_start().starts_with('{') {
            true => self.typed_data(text, "expression")?,
            false => self.typed_text(text, "expression"),
        };
        let mut vars = Vec::with_capacity(typed.vars.len());
        for &(name, text) in typed.vars {
            let source = format!("--var {name}");
            let value = if text.is_empty() { self.typed_text(text, &source) } else { self.typed_data(text, &source)? };
            vars.push((name.into(), value));
        }
        Ok((expression, vars))
    }

    fn typed_text(&self, text: &str, name: &str) -> Node {
        Node::text(text, self.typed(text, name))
    }

    fn typed_data(&self, text: &str, name: &str) -> Result<Node, Vec<Finding>> {
        let at = self.typed(text, name);
        let mut parsed = document::parse(text, at.source, Format::Yaml, &self.settings.limits);
        if has_errors(&parsed.findings) {
            return Err(parsed.findings);
        }
        match parsed.value.len() {
            1 => Ok(parsed.value.remove(0).root),
            count => {
                let message = format!("one value is expected, and here are {count}");
                Err(vec![Finding::new(&finding::EXPRESSION_PARSE, Location::Span(at), message)])
            }
        }
    }

    fn typed(&self, text: &str, name: &str) -> Span {
        let name = RepoPath::new(name).unwrap_or_default();
        Span::new(self.sources.add(SourceText::new(name, "", text)), 0, text.len())
    }
}
