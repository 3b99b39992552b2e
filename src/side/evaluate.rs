//! Evaluates an expression from the command line at one resource of a side.

use smol_str::SmolStr;

use super::{ResourceHit, ResourceQuery, Side, SideTree};
use crate::document::{self, Format};
use crate::expression::eval::{Answer, Form, Question, Trace, Tree, evaluate};
use crate::finding::{self, Finding, Location, Outcome, has_errors};
use crate::path::{LogicalPath, RepoPath};
use crate::resource::Resource;
use crate::text::{SourceText, Span};
use crate::value::Node;

/// An expression from the command line.
#[derive(Debug, Clone)]
pub struct EvalQuestion<'a> {
    /// A path, or a function form, which starts with `{`.
    pub expression: &'a str,
    /// Variables, their values as YAML.
    pub vars: &'a [(&'a str, &'a str)],
    /// Whether the answer is one value or all matches.
    pub form: Form,
    /// Whether to note every step.
    pub tracing: bool,
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

/// Why an expression has no resource to start from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoStart {
    /// There is no resource.
    Nothing,
    /// More than one resource does: their names.
    Several(Vec<String>),
    /// It has no path, and expressions know paths alone.
    Unnamed(String),
}

/// Variables by name.
type Variables = Vec<(SmolStr, Node)>;

impl Side<'_> {
    /// Evaluates an expression at a resource, or at the root of the tree.
    pub fn evaluate(&self, typed: &EvalQuestion<'_>, at: Option<&ResourceQuery>) -> Result<Evaluated, NoStart> {
        let mut findings = Vec::new();
        let Some((path, resource)) = self.start_of(at, &mut findings)? else {
            return Ok(Evaluated { findings, ..Evaluated::default() });
        };
        let tree = match resource {
            Some(resource) => SideTree::new(self).around(path.clone(), resource),
            None => SideTree::new(self),
        };
        let current = tree.id(&path);
        Ok(match self.asked(typed) {
            Ok((expression, vars)) => {
                let EvalQuestion { form, tracing, .. } = *typed;
                let limits = self.limits;
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

    /// The path to start from, and the resource at it; nothing if that could not be read.
    fn start_of(
        &self,
        at: Option<&ResourceQuery>,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<(LogicalPath, Option<Resource>)>, NoStart> {
        let Some(sought) = at else { return Ok(Some((LogicalPath::root(), None))) };
        let Outcome { value: mut found, findings: found_wrong } = self.query(sought);
        findings.extend(found_wrong);
        if let ResourceQuery::Path(path, _) = sought {
            found.truncate(1);
            let logical = path.segments().iter().fold(LogicalPath::root(), |path, segment| path.child(segment));
            if found.is_empty() && findings.is_empty() && self.exists_at(&logical) {
                return Ok(Some((logical, None)));
            }
        }
        match found.len() {
            0 if has_errors(findings) => Ok(None),
            0 => Err(NoStart::Nothing),
            1 => {
                let ResourceHit { resource, .. } = found.remove(0);
                let unnamed = || NoStart::Unnamed(resource.identity.to_string());
                let path = self.path_of(&resource).ok_or_else(unnamed)?;
                findings.extend(self.layer_findings(&resource).into_iter().filter(Finding::is_error));
                Ok(Some((path, Some(resource))))
            }
            _ => Err(NoStart::Several(found.iter().map(|found| found.resource.identity.to_string()).collect())),
        }
    }

    /// The expression and its variables as nodes, with places in what was typed.
    fn asked(&self, typed: &EvalQuestion<'_>) -> Result<(Node, Variables), Vec<Finding>> {
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
        let mut parsed = document::parse(text, at.source, Format::Yaml, self.limits);
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
