//! An expression, read once and evaluated as often as needed.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use cel::common::ast::IdedExpr;
use cel::{Context, Value};
use smol_str::SmolStr;

use super::budget::{self, Spent};
use super::environment::environment;
use super::failure::{Failure, FailureKind};
use super::free_variables::{self, Reach, Uses};
use super::receiver_macros::HELPERS;
use super::{from_cel, guard, to_cel};
use crate::limits::Limits;
use crate::memo::Memo;
use crate::suggest;
use crate::text::Span;
use crate::value::{Entry, Extra, Node, StepKind, Value as Ours};

/// A compiled expression. It belongs to no thread and may be evaluated in several at once.
pub struct Program {
    expression: IdedExpr,
    uses: Uses,
}

/// The variables that an expression may read; a later one hides an earlier one of the same name.
#[derive(Debug, Clone, Default)]
pub struct Inputs<'a> {
    variables: Vec<(&'a str, &'a Node)>,
    /// Whether values know which inputs they are made of.
    is_traced: bool,
}

/// Expressions that were compiled before, by their texts. Shared between threads.
#[derive(Debug, Default)]
pub struct Programs(Memo<SmolStr, Result<Arc<Program>, Failure>>);

impl Programs {
    /// The program of a text, compiled once.
    pub fn compile(&self, text: &str, limits: &Limits) -> Result<Arc<Program>, Failure> {
        self.0.get_with(text, |text| text.into(), || Program::compile(text, limits).map(Arc::new))
    }
}

/// What an expression gives.
#[derive(Debug, Clone)]
pub enum Computed {
    /// A value.
    Value(Node),
    /// No value: the entry or item that would hold it is left out.
    Omitted,
}

/// The parser and the evaluator recurse; neither is given less than this.
const STACK: usize = 64 << 20;
/// What must be left of the stack of a caller for an evaluation to run on it.
const ENOUGH_STACK: usize = 6 << 20;

impl Program {
    /// Reads an expression and everything that can be known about it without data.
    pub fn compile(text: &str, limits: &Limits) -> Result<Self, Failure> {
        if text.len() > limits.cel_bytes as usize {
            let message = format!("it is longer than {} bytes", limits.cel_bytes);
            return Err(Failure::new(FailureKind::Limit, message));
        }
        let compiled = stacker::maybe_grow(STACK, STACK, || catch_unwind(|| Self::read(text)));
        compiled.unwrap_or_else(|_| Err(Failure::new(FailureKind::Syntax, "it cannot be read")))
    }

    fn read(text: &str) -> Result<Self, Failure> {
        let expression = environment().parser().parse(text).map_err(|errors| Failure::syntax(&errors))?;
        guard::check_depth(&expression)?;
        let uses = free_variables::of(&expression);
        Ok(Self { expression: guard::guarded(expression)?, uses })
    }

    /// Refuses variables that do not exist, also in parts that would never be evaluated.
    pub fn check_variables(&self, known: &[&str]) -> Result<(), Failure> {
        let is_unknown = |name: &&SmolStr| !known.contains(&name.as_str()) && !free_variables::is_type_name(name);
        let Some(unknown) = self.uses.variables.keys().find(is_unknown) else { return Ok(()) };
        if unknown == HELPERS {
            let message = "helpers such as `configurations.toVolumes()` exist only in types and traits of OpenChoreo";
            return Err(Failure::new(FailureKind::UnknownVariable, message));
        }
        let near = suggest::nearest(unknown, known.iter().copied());
        let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
        let message = format!("there is no variable `{}`{near}", crate::sanitize::inline(unknown));
        Err(Failure::new(FailureKind::UnknownVariable, message))
    }

    /// Evaluates the expression. The value has the place `at`; `work` grows by what it took.
    pub fn evaluate(
        &self,
        inputs: &Inputs<'_>,
        at: Span,
        limits: &Limits,
        work: &mut u64,
    ) -> Result<Computed, Failure> {
        self.check_variables(&inputs.names())?;
        if let Some(node) = self.uses.reference.as_ref().and_then(|(root, keys)| follow(inputs.get(root)?, keys)) {
            *work += node.size();
            if !limits.has_memory_for(node.size().saturating_mul(COPIED)) {
                return Err(Failure::new(FailureKind::Limit, "the value is too large to be copied"));
            }
            if inputs.is_traced {
                return Ok(Computed::Value(node.clone().through(StepKind::Template, at)));
            }
            // Numbers keep their spelling this way, whatever CEL could make of them.
            return Ok(Computed::Value(Node { span: at, ..without_history(node) }));
        }
        if !limits.may_go_on() {
            return Err(Failure::new(FailureKind::Limit, "the run has used up its memory or time"));
        }
        let Spent { result, used, is_exhausted } = budget::metered(limits.cel_steps, limits.nodes, || {
            stacker::maybe_grow(ENOUGH_STACK, STACK, || catch_unwind(AssertUnwindSafe(|| self.run(inputs, at))))
        });
        *work += used + 1;
        if is_exhausted {
            let message = format!("it takes more than {} steps or makes too many values", limits.cel_steps);
            return Err(Failure::new(FailureKind::Limit, message));
        }
        let computed =
            result.unwrap_or_else(|_| Err(Failure::new(FailureKind::Evaluation, "it cannot be evaluated")))?;
        Ok(match computed {
            Computed::Value(node) if inputs.is_traced => Computed::Value(self.traced(node, inputs)),
            other => other,
        })
    }

    /// The value with a step for each part of an input that it may be made of.
    fn traced(&self, node: Node, inputs: &Inputs<'_>) -> Node {
        let mut spans = BTreeSet::new();
        for (name, reach) in &self.uses.variables {
            inputs.get(name).into_iter().for_each(|node| reached(node, reach, &mut spans));
        }
        spans.into_iter().take(MOST_TRACED).fold(node, |node, span| node.through(StepKind::Input, span))
    }

    fn run(&self, inputs: &Inputs<'_>, at: Span) -> Result<Computed, Failure> {
        let mut context = Context::with_env(environment().clone());
        for (name, reach) in &self.uses.variables {
            if let Some(node) = inputs.get(name) {
                context.add_variable_as_val(name.as_str(), to_cel::within(node, reach));
            }
        }
        let value = Value::resolve_val(&self.expression, &context).map_err(|error| Failure::evaluation(&error))?;
        Ok(from_cel::node(value.as_ref(), at)?.map_or(Computed::Omitted, Computed::Value))
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("uses", &self.uses).finish_non_exhaustive()
    }
}

impl<'a> Inputs<'a> {
    /// The inputs with one more variable.
    #[must_use]
    pub fn with(mut self, name: &'a str, value: &'a Node) -> Self {
        self.variables.push((name, value));
        self
    }

    /// The inputs, to be noted on the values that are made of them.
    #[must_use]
    pub fn traced(self) -> Self {
        Self { is_traced: true, ..self }
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.variables.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
    }

    fn names(&self) -> Vec<&'a str> {
        self.variables.iter().map(|(name, _)| *name).collect()
    }
}

/// The bytes of memory that the copy of a value takes, on average.
const COPIED: u64 = 256;
/// More parts of inputs are not traced.
const MOST_TRACED: usize = 12;

/// Where the parts of an input are written that lie within reach; what is written nowhere has an empty span.
fn reached(node: &Node, reach: &Reach, found: &mut BTreeSet<Span>) {
    match reach {
        Reach::Fields(fields) if node.as_map().is_some() => {
            let parts = fields.iter().filter_map(|(name, reach)| Some((node.get(name)?, reach)));
            parts.for_each(|(part, reach)| reached(part, reach, found));
        }
        _ => {
            let span = Some(node.span).filter(|span| !span.range().is_empty());
            found.extend(span);
            let steps = node.step().into_iter().flat_map(|step| step.chain());
            found.extend(steps.filter(|step| step.kind == StepKind::Input).map(|step| step.at));
        }
    }
}

fn follow<'n>(root: &'n Node, keys: &[SmolStr]) -> Option<&'n Node> {
    keys.iter().try_fold(root, |node, key| node.get(key))
}

/// The value without its provenance: a value that is read from a resource repeatedly must not accumulate history.
fn without_history(node: &Node) -> Node {
    let value = match &node.value {
        Ours::List(list) => Node::list(list.items().iter().map(without_history).collect(), node.span).value,
        Ours::Map(map) => {
            let entries = map.entries().iter();
            let entries = entries.map(|entry| Entry { key: entry.key.clone(), value: without_history(&entry.value) });
            Node::map(entries.collect(), node.span).value
        }
        scalar => scalar.clone(),
    };
    let tag = node.tag().map(SmolStr::new);
    let extra = tag.map(|tag| Extra { tag: Some(tag), ..Extra::default() }.into());
    Node { value, span: node.span, extra }
}
