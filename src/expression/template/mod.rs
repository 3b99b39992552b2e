//! Templates in the style of Go, as metadata uses them: `/realms/{{.realm}}/clients/{{../id}}`.
//!
//! A template is read once and rendered for many resources. What is wrong with it is said with its place in the text;
//! [`place`] finds that place in the file.

mod engine;
mod evaluate;
mod functions;
mod lexer;
mod parser;
mod place;
mod print;
mod syntax;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

use smol_str::SmolStr;

pub use place::place;

use crate::finding::{self, Rule};
use crate::limits::Allowance;
use crate::value::Node;
use engine::Engined;
use syntax::{Command, Operand, OperandKind, Part, Pipe};

/// Bytes of a template.
const LONGEST_TEMPLATE: usize = 64 << 10;

/// A template, read once.
#[derive(Debug, Clone)]
pub struct Template {
    text: Arc<str>,
    /// Nothing for a text without actions, which is its own result.
    engined: Option<Arc<Engined>>,
    reads: Arc<[Read]>,
    reads_whole: bool,
}

/// A name that a template reads, wherever it stands in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Read {
    /// How many resources up; 0 is the resource itself.
    pub level: usize,
    /// The names that lead to the value.
    pub path: Vec<SmolStr>,
}

/// What a template is given.
#[derive(Debug, Clone)]
pub struct Scope {
    /// The root: a map of everything that can be named.
    pub root: Node,
    /// The same of the resources above, the nearest first.
    pub ancestors: Vec<Node>,
    /// The repository's format, as it is configured.
    pub format: SmolStr,
}

/// What becomes of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A path of a request: a value in it is never blank and never leads elsewhere.
    Path,
    /// Anything else.
    Text,
}

/// A template filled in.
#[derive(Debug, Clone, Default)]
pub struct Rendered {
    /// Its text, in order.
    pub pieces: Vec<Piece>,
    /// What was read to make it, in the order of reading.
    pub uses: Vec<Use>,
}

/// A part of a rendered text.
#[derive(Debug, Clone)]
pub struct Piece {
    /// What it says.
    pub text: String,
    /// The place of the expression it came from; nothing if it stood there.
    pub from: Option<Range<usize>>,
}

/// A value that was read.
#[derive(Debug, Clone)]
pub struct Use {
    /// The place of the expression.
    pub at: Range<usize>,
    /// How many resources up; 0 is the resource itself.
    pub level: usize,
    /// The names that lead to the value.
    pub path: Vec<SmolStr>,
}

/// What is wrong with a template, and where in its text.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Which rule speaks.
    pub rule: &'static Rule,
    /// The place in the template's text.
    pub at: Range<usize>,
    /// A lower-case phrase without a full stop.
    pub message: String,
    /// The way out.
    pub help: Option<String>,
    /// Whether the template itself is wrong, and not only what it was given.
    pub is_syntax: bool,
}

impl Template {
    /// Reads a template.
    pub fn parse(text: &str) -> Result<Self, Trouble> {
        if text.len() > LONGEST_TEMPLATE && text.contains("{{") {
            return Err(Trouble::limit(0..text.len(), "the template is too long"));
        }
        let (parts, slots) = parser::parse(text)?;
        let mut reads = Vec::new();
        collect_reads(&parts, true, &mut reads);
        // A name without a path is all that the template was given.
        let reads_whole = reads.iter().any(|read| read.level == 0 && read.path.is_empty());
        reads.retain(|read| !read.path.is_empty());
        reads.sort();
        reads.dedup();
        let is_plain = parts.iter().all(|part| matches!(part, Part::Text(_))) && !text.contains("{{");
        let engined = if is_plain { None } else { Some(Arc::new(Engined::new(parts, slots, text)?)) };
        Ok(Self { text: text.into(), engined, reads: reads.into(), reads_whole })
    }

    /// Fills it in.
    pub fn render(&self, scope: &Arc<Scope>, purpose: Purpose) -> Result<Rendered, Trouble> {
        self.render_within(&Allowance::new(engine::FUEL), scope, purpose)
    }

    /// The same as one of many that share an allowance.
    pub fn render_within(
        &self,
        allowance: &Allowance,
        scope: &Arc<Scope>,
        purpose: Purpose,
    ) -> Result<Rendered, Trouble> {
        let Some(engined) = &self.engined else {
            let pieces = vec![Piece { text: self.text.to_string(), from: None }];
            return Ok(Rendered { pieces, uses: Vec::new() });
        };
        let taken = allowance.take(engine::FUEL);
        if taken == 0 {
            let message = "the templates and jq programs of this run take too many steps together";
            return Err(Trouble::limit(0..self.text.len(), message)
                .help("`limits.request_steps` in outcrop.yaml moves the limit"));
        }
        let (result, steps) = engined.run(scope, purpose);
        allowance.give_back(taken.saturating_sub(steps));
        let rendered = result?;
        match purpose {
            Purpose::Path => rendered.check_path().map(|()| rendered),
            Purpose::Text => Ok(rendered),
        }
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Every name it can read, of the resource itself and of those above, sorted.
    pub fn reads(&self) -> &[Read] {
        &self.reads
    }

    /// Whether it reads all that it is given at once, and not only some names.
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
    pub fn text(&self) -> String {
        self.pieces.iter().map(|piece| piece.text.as_str()).collect()
    }

    /// No value may bring a segment `.` or `..` into a path, not even together with what stands beside it.
    fn check_path(&self) -> Result<(), Trouble> {
        let text = self.text();
        let mut values = Vec::new();
        let mut end = 0;
        for piece in &self.pieces {
            let start = end;
            end += piece.text.len();
            values.extend(piece.from.clone().map(|from| (start..end, from)));
        }
        let mut start = 0;
        for segment in text.split('/') {
            let range = start..start + segment.len();
            start = range.end + 1;
            if !matches!(segment.trim(), "." | "..") {
                continue;
            }
            let touches =
                |(place, _): &&(Range<usize>, Range<usize>)| place.start < range.end && range.start < place.end;
            if let Some((_, from)) = values.iter().find(touches) {
                let message = format!("a value brings a `{}` into the path", segment.trim());
                let help = "such a path leads to another resource than the one that is meant";
                return Err(Trouble::value(from.clone(), message).help(help));
            }
        }
        Ok(())
    }
}

impl Trouble {
    pub(super) fn syntax(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { is_syntax: true, ..Self::value(at, message) }
    }

    pub(super) fn value(at: Range<usize>, message: impl Into<String>) -> Self {
        let rule = &finding::EXPRESSION_TEMPLATE;
        Self { rule, at, message: message.into(), help: None, is_syntax: false }
    }

    pub(super) fn limit(at: Range<usize>, message: impl Into<String>) -> Self {
        Self { rule: &finding::LIMIT_EXPRESSION, ..Self::value(at, message) }
    }

    #[must_use]
    pub(super) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// Names that are read from the root or from above; below `with` and `range` the dot is something else.
fn collect_reads(parts: &[Part], is_root: bool, reads: &mut Vec<Read>) {
    for part in parts {
        match part {
            Part::Text(_) => {}
            Part::Put(pipe) | Part::Keep(_, pipe) => pipe_reads(pipe, is_root, reads),
            Part::If(branches, otherwise) => {
                for (pipe, body) in branches {
                    pipe_reads(pipe, is_root, reads);
                    collect_reads(body, is_root, reads);
                }
                collect_reads(otherwise, is_root, reads);
            }
            Part::With(_, pipe, body, otherwise) | Part::Range(_, pipe, body, otherwise) => {
                pipe_reads(pipe, is_root, reads);
                collect_reads(body, false, reads);
                collect_reads(otherwise, is_root, reads);
            }
        }
    }
}

fn pipe_reads(pipe: &Pipe, is_root: bool, reads: &mut Vec<Read>) {
    // What this function is given only says where it stands.
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
