//! Templates and jq programs, compiled once however many resources use them.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::expression::jq::{Failure, Program, Resolver};
use crate::expression::template::{Purpose, Rendered, Scope, Template, Trouble};
use crate::limits::{Allowance, Limits};
use crate::memo;
use crate::text::Span;
use crate::value::Node;

/// What is compiled so far, and how many steps may still be taken; shared by all resources of a run.
#[derive(Debug)]
pub struct Memo {
    allowance: Allowance,
    templates: memo::Memo<SmolStr, Result<Template, Trouble>>,
    programs: memo::Memo<SmolStr, Result<Arc<Program>, Failure>>,
}

/// Rendered expressions can be as many as resources; beyond this, everything is forgotten and compiled anew.
const MOST: usize = 4096;

impl Default for Memo {
    fn default() -> Self {
        Self::within(&Limits::default())
    }
}

impl Memo {
    /// Nothing compiled yet, and so much to spend.
    pub fn within(limits: &Limits) -> Self {
        let allowance = Allowance::new(limits.request_steps);
        Self { allowance, templates: memo::Memo::capped(MOST), programs: memo::Memo::capped(MOST) }
    }

    /// Fills in a template.
    pub fn render(&self, template: &Template, scope: &Arc<Scope>, purpose: Purpose) -> Result<Rendered, Trouble> {
        template.render_within(&self.allowance, scope, purpose)
    }

    /// Runs a program.
    pub fn run(
        &self,
        text: &str,
        input: &Node,
        place: Span,
        resolver: Option<Resolver<'_>>,
    ) -> Result<Vec<Node>, Failure> {
        self.program(text)?.run_within(&self.allowance, input, place, resolver)
    }

    /// The template of a text.
    pub fn template(&self, text: &str) -> Result<Template, Trouble> {
        self.templates.get_with(text, |text| text.into(), || Template::parse(text))
    }

    /// The program of a text.
    pub fn program(&self, text: &str) -> Result<Arc<Program>, Failure> {
        self.programs.get_with(text, |text| text.into(), || Program::compile(text).map(Arc::new))
    }
}
