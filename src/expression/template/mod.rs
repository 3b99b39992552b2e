//! Templates in the style of Go, as metadata uses them: `/realms/{{.realm}}/clients/{{../id}}`.
//!
//! A template is parsed once and rendered for many resources. A failure is a [`Refusal`] with its range in the template's text;
//! [`part_span`](super::part_span) finds that range in the file.

mod functions;
mod lexer;
mod parser;
mod print;
mod run;
mod syntax;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::finding::{self, Refusal};
use crate::limits::Allowance;
use crate::value::Node;
use syntax::{Command, Operand, OperandKind, Pipeline, Syntax, TemplateNode};

/// Bytes of a template.
const LONGEST_TEMPLATE: usize = 64 << 10;

/// A parsed template.
#[derive(Debug, Clone)]
pub struct Template {
    text: Arc<str>,
    syntax: Arc<Syntax>,
    reads: Arc<[Read]>,
    reads_whole: bool,
}

/// A name that a template can read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Read {
    /// How many resources up; 0 is the resource itself.
    pub level: usize,
    /// The names that lead to the value.
    pub path: Vec<SmolStr>,
}

/// The values that a template can read.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The root: a map of everything that can be named.
    pub root: Node,
    /// The roots of the resources above, the nearest first.
    pub ancestors: Vec<Node>,
    /// The repository's format, as it is configured.
    pub format: SmolStr,
    /// The type of the payload.
    pub payload: PayloadNames,
}

/// What the type of a payload is called.
#[derive(Debug, Clone, Default)]
pub struct PayloadNames {
    /// Its name.
    pub name: SmolStr,
    /// Its media type.
    pub media: SmolStr,
    /// The extension of its files, with the dot.
    pub extension: SmolStr,
}

/// What the rendered text is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A path of a request: a value in it is never blank and never leads to another path.
    Path,
    /// Anything else.
    Text,
}

/// A rendered template.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    text: String,
    /// The ranges of the text that are values, each with the range of its expression in the template.
    values: Vec<(Range<usize>, Range<usize>)>,
    /// The values that were read, in the order of reading.
    pub uses: Vec<Use>,
}

/// A value that was read.
#[derive(Debug, Clone)]
pub struct Use {
    /// The range of the expression in the template.
    pub at: Range<usize>,
    /// How many resources up; 0 is the resource itself.
    pub level: usize,
    /// The names that lead to the value.
    pub path: Vec<SmolStr>,
}

impl Template {
    /// Parses a template.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        if text.len() > LONGEST_TEMPLATE && text.contains("{{") {
            return Err(limit(0..text.len(), "the template is too long"));
        }
        let syntax = parser::parse(text)?;
        let mut reads = Vec::new();
        collect_reads(&syntax.nodes, true, &mut reads);
        // A reference without a path reads everything.
        let reads_whole = reads.iter().any(|read| read.level == 0 && read.path.is_empty());
        reads.retain(|read| !read.path.is_empty());
        reads.sort();
        reads.dedup();
        Ok(Self { text: text.into(), syntax: syntax.into(), reads: reads.into(), reads_whole })
    }

    /// Renders the template as one of many that share an allowance of steps.
    pub fn render(&self, allowance: &Allowance, scope: &Scope, purpose: Purpose) -> Result<Rendered, Refusal> {
        if !self.text.contains("{{") {
            return Ok(Rendered { text: self.text.to_string(), ..Rendered::default() });
        }
        let taken = allowance.take(run::MOST_STEPS);
        if taken == 0 {
            let message = "the templates and jq programs of this run take too many steps together";
            return Err(limit(0..self.text.len(), message).help("raise `limits.request_steps` in outcrop.yaml"));
        }
        let (result, steps) = run::run(&self.text, &self.syntax, scope, purpose);
        allowance.give_back(taken.saturating_sub(steps));
        let rendered = result?;
        if purpose == Purpose::Path {
            rendered.check_path()?;
        }
        Ok(rendered)
    }

    /// The text of the template.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every name it can read, of the resource itself and of those above, sorted.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// Whether it reads the whole root, and not only some names in it.
    pub fn reads_whole(&self) -> bool {
        self.reads_whole
    }

    /// How many levels of resources above it needs; 0 if none.
    pub fn reads_ancestors(&self) -> usize {
        self.reads.iter().map(|read| read.level).max().unwrap_or(0)
    }
}

impl Rendered {
    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Refuses values that bring a segment `.` or `..` into a path, alone or together with the text beside them.
    fn check_path(&self) -> Result<(), Refusal> {
        let mut start = 0;
        for segment in self.text.split('/') {
            let range = start..start + segment.len();
            start = range.end + 1;
            if !matches!(segment.trim(), "." | "..") {
                continue;
            }
            let touches =
                |(value, _): &&(Range<usize>, Range<usize>)| value.start < range.end && range.start < value.end;
            if let Some((_, from)) = self.values.iter().find(touches) {
                let message = format!("a value brings a `{}` into the path", segment.trim());
                return Err(refuse(from.clone(), message)
                    .help("such a path leads to another resource than the one that is meant"));
            }
        }
        Ok(())
    }
}

/// The refusal of a template, or of what it was given.
fn refuse(range: Range<usize>, message: impl Into<String>) -> Refusal {
    Refusal::new(&finding::EXPRESSION_TEMPLATE, message).within(range)
}

/// The refusal of a template that is too long or takes too long.
fn limit(range: Range<usize>, message: impl Into<String>) -> Refusal {
    Refusal::new(&finding::LIMIT_EXPRESSION, message).within(range)
}

/// Collects the names that are read from the root or from above; within `with` and `range` the dot is another value.
fn collect_reads(nodes: &[TemplateNode], is_root: bool, reads: &mut Vec<Read>) {
    for node in nodes {
        match node {
            TemplateNode::Text(_) => {}
            TemplateNode::Print(pipe) | TemplateNode::Assign(_, pipe) => pipe_reads(pipe, is_root, reads),
            TemplateNode::If(branches, otherwise) => {
                for (pipe, body) in branches {
                    pipe_reads(pipe, is_root, reads);
                    collect_reads(body, is_root, reads);
                }
                collect_reads(otherwise, is_root, reads);
            }
            TemplateNode::With(_, pipe, body, otherwise) | TemplateNode::Range(_, pipe, body, otherwise) => {
                pipe_reads(pipe, is_root, reads);
                collect_reads(body, false, reads);
                collect_reads(otherwise, is_root, reads);
            }
        }
    }
}

fn pipe_reads(pipe: &Pipeline, is_root: bool, reads: &mut Vec<Read>) {
    // `resource_format .` does not look at the dot.
    let is_blind = |command: &&Command| match command.words.as_slice() {
        [Operand { kind: OperandKind::Function(name), .. }, Operand { kind: OperandKind::Dot, path, .. }] => {
            name == "resource_format" && path.is_empty()
        }
        _ => false,
    };
    for operand in pipe.commands.iter().filter(|command| !is_blind(command)).flat_map(|command| &command.words) {
        let level = match &operand.kind {
            OperandKind::Dot if is_root => 0,
            OperandKind::Root => 0,
            OperandKind::Ancestor(levels) => *levels,
            OperandKind::Group(pipe) => {
                pipe_reads(pipe, is_root, reads);
                continue;
            }
            _ => continue,
        };
        reads.push(Read { level, path: operand.path.clone() });
    }
}
