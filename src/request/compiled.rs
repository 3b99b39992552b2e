//! Templates and jq programs, compiled once however many resources use them.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::expression::jq::{Program, Resolver};
use crate::expression::template::{Purpose, Rendered, Scope, Template};
use crate::finding::Refusal;
use crate::limits::{Allowance, Limits};
use crate::memo;
use crate::text::Span;
use crate::value::Node;

/// What is compiled so far, and how many steps may still be taken; shared by all resources of a run.
#[derive(Debug)]
pub struct CompiledTemplates {
    allowance: Allowance,
    templates: memo::Memo<SmolStr, Result<Template, Refusal>>,
    programs: memo::Memo<SmolStr, Result<Arc<Program>, Refusal>>,
}

/// Rendered expressions can be as many as resources; beyond this, everything is forgotten and compiled anew.
const MOST: usize = 4096;

impl Default for CompiledTemplates {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

impl CompiledTemplates {
    /// Nothing compiled yet, and so much to spend.
    pub fn within(limits: &Limits) -> Self {
        let allowance = Allowance::of_requests(limits);
        Self { allowance, templates: memo::Memo::capped(MOST), programs: memo::Memo::capped(MOST) }
    }

    /// Fills in a template.
    pub fn render(&self, template: &Template, scope: &Scope, purpose: Purpose) -> Result<Rendered, Refusal> {
        template.render(&self.allowance, scope, purpose)
    }

    /// Runs a program.
    pub fn run(
        &self,
        text: &str,
        input: &Node,
        place: Span,
        resolver: Option<Resolver<'_>>,
    ) -> Result<Vec<Node>, Refusal> {
        self.program(text)?.run(&self.allowance, input, place, resolver)
    }

    /// The template of a text.
    pub fn template(&self, text: &str) -> Result<Template, Refusal> {
        self.templates.get_with(text, |text| text.into(), || Template::parse(text))
    }

    /// The program of a text.
    pub fn program(&self, text: &str) -> Result<Arc<Program>, Refusal> {
        self.programs.get_with(text, |text| text.into(), || Program::compile(text).map(Arc::new))
    }
}
