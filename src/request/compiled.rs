//! Templates and programs, compiled once however many resources they speak for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use smol_str::SmolStr;

use crate::expression::jq::{Failure, Program, Resolver};
use crate::expression::template::{Purpose, Rendered, Scope, Template, Trouble};
use crate::limits::{Allowance, Limits};
use crate::text::Span;
use crate::value::Node;

/// What is compiled so far, and how many steps may still be taken; shared by all resources of a run.
#[derive(Debug)]
pub struct CompiledTemplates {
    allowance: Allowance,
    templates: Mutex<HashMap<SmolStr, Result<Template, Trouble>>>,
    programs: Mutex<HashMap<SmolStr, Result<Arc<Program>, Failure>>>,
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
        let allowance = Allowance::of(limits.request_steps);
        Self { allowance, templates: Mutex::default(), programs: Mutex::default() }
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
        remembered(&self.templates, text, Template::parse)
    }

    /// The program of a text.
    pub fn program(&self, text: &str) -> Result<Arc<Program>, Failure> {
        remembered(&self.programs, text, |text| Program::compile(text).map(Arc::new))
    }
}

/// Two threads may make the same at once; that costs a little, and a lock held while compiling would cost more.
fn remembered<T: Clone>(known: &Mutex<HashMap<SmolStr, T>>, text: &str, make: impl FnOnce(&str) -> T) -> T {
    const LOCKED: &str = "nothing panics while it holds this lock";
    if let Some(made) = known.lock().expect(LOCKED).get(text) {
        return made.clone();
    }
    let made = make(text);
    let mut known = known.lock().expect(LOCKED);
    if known.len() >= MOST {
        known.clear();
    }
    known.insert(text.into(), made.clone());
    made
}
