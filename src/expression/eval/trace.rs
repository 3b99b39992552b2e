//! The way to a result, step by step, for people who learn the language or look for a mistake.

use smol_str::SmolStr;

use crate::value::Node;

/// What was done to evaluate an expression.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    /// In order.
    pub steps: Vec<TraceStep>,
    /// Whether there was more than anybody would read.
    pub is_cut: bool,
}

/// One thing that was done, and what was done for its sake.
#[derive(Debug, Clone)]
pub struct TraceStep {
    /// What kind of thing.
    pub kind: TraceKind,
    /// The piece of the expression: a path, a segment, a filter, the name of a function or variable.
    pub text: SmolStr,
    /// What it was done with.
    pub on: Option<TraceValue>,
    /// What came of it.
    pub verdict: Verdict,
    /// What was done for its sake.
    pub below: Vec<TraceStep>,
}

/// What is done to evaluate an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceKind {
    /// A whole path.
    Path,
    /// A segment is looked up in a value.
    Segment,
    /// A filter is asked about a value.
    Filter,
    /// A test is asked about a value.
    Test,
    /// A function is called.
    Function,
    /// A variable is computed.
    Variable,
    /// A value of a resource that is itself an expression is computed.
    Computed,
    /// A loop looks at an item.
    Item,
}

/// What came of a step.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It gave this.
    Gives(TraceValue),
    /// It matched so many values.
    Matches(usize),
    /// The value is a list: the segment is applied to each item.
    EachItem(usize),
    /// The value stays.
    Kept,
    /// The value does not, and why.
    Dropped(&'static str),
    /// It could not be done.
    Failed,
}

/// An intermediate value; computed values may not be computed yet.
#[derive(Debug, Clone)]
pub enum TraceValue {
    /// Data.
    Node(Node),
    /// A resource, by its path.
    Resource(SmolStr),
    /// A list of so many.
    List(usize),
    /// A map of so many.
    Map(usize),
    /// All resources.
    Everything,
}

/// More steps than anybody reads.
const MOST_STEPS: usize = 5000;
/// Deeper than anybody reads.
const DEEPEST_STEP: usize = 100;

/// Notes steps, if somebody wants them.
#[derive(Debug, Default)]
pub(super) struct Tracer {
    is_on: bool,
    count: usize,
    done: Trace,
    open: Vec<TraceStep>,
    /// Steps that are deeper than anybody reads and were started, but not noted.
    too_deep: usize,
}

impl Tracer {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// Records nothing until it is resumed; returns whether it recorded before.
    pub(super) fn pause(&mut self) -> bool {
        std::mem::replace(&mut self.is_on, false)
    }

    /// Goes on as before a pause.
    pub(super) fn resume(&mut self, was_on: bool) {
        self.is_on = was_on;
    }

    /// Starts a step; what follows until [`Tracer::close`] is done for its sake.
    pub(super) fn open(&mut self, kind: TraceKind, text: &str, on: Option<TraceValue>) {
        if self.is_on && (self.open.len() >= DEEPEST_STEP || self.too_deep > 0) {
            self.too_deep += 1;
            self.done.is_cut = true;
        } else if self.is_on {
            self.open.push(TraceStep { kind, text: text.into(), on, verdict: Verdict::Failed, below: Vec::new() });
        }
    }

    /// Ends the step that was started last.
    pub(super) fn close(&mut self, verdict: Verdict) {
        if !self.is_on {
            return;
        }
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        let Some(mut step) = self.open.pop() else { return };
        step.verdict = verdict;
        self.keep(step);
    }

    fn keep(&mut self, step: TraceStep) {
        self.count += 1;
        if self.count > MOST_STEPS && !self.open.is_empty() {
            self.done.is_cut = true;
            return;
        }
        match self.open.last_mut() {
            Some(parent) => parent.below.push(step),
            None => self.done.steps.push(step),
        }
    }

    /// Everything that was noted; steps that never ended have failed.
    pub(super) fn finish(mut self) -> Option<Trace> {
        while let Some(step) = self.open.pop() {
            self.keep(step);
        }
        self.is_on.then_some(self.done)
    }
}
