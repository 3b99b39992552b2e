//! One evaluation: what it has read, what it has computed, what it may still use up.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use smol_str::SmolStr;

use super::datum::Datum;
use super::detect::{has_expressions, is_expression};
use super::grammar::{self, Path};
use super::scope::{Scope, Variable};
use super::secrecy::secret_expression;
use super::trace::{Trace, TraceKind, TraceValue, Tracer, Verdict};
use super::tree::{Payload, ResourceId, Tree};
use super::trouble::{self, Fault, Result, fault, quoted};
use crate::finding::{self, Finding};
use crate::limits::Limits;
use crate::text::Span;
use crate::value::{Map, Node, StepKind, Value};

/// Everything that one evaluation shares.
pub(super) struct EvalSession<'t> {
    pub(super) tree: &'t dyn Tree,
    pub(super) limits: &'t Limits,
    pub(super) trace: Tracer,
    /// Findings that do not prevent a value.
    pub(super) findings: Vec<Finding>,
    steps: u64,
    /// Those of them that the run knows of.
    booked: u64,
    is_over_run: bool,
    depth: u32,
    paths: HashMap<SmolStr, Rc<Path>>,
    payloads: HashMap<ResourceId, Option<Datum>>,
    /// Computed values by their expressions. The expression is kept, so that its address stays its own.
    computed: HashMap<Computation, (Arc<Map>, Datum)>,
    /// Expressions under way, the outermost first.
    open: Vec<(Computation, Span)>,
    /// The outermost open expression that was found to be in a circle; what depends on it holds only here.
    pub(super) outermost: usize,
    /// Expressions whose values are written out, and the outermost one that was found inside itself.
    pub(super) exporting: Vec<(Computation, Span)>,
    pub(super) outermost_exporting: usize,
    pub(super) exported: HashMap<Computation, Node>,
    /// Variables under way.
    resolving: Vec<SmolStr>,
    everything: Option<Arc<[ResourceId]>>,
    /// Where arguments of the function under way are written that are not part of it.
    pub(super) inputs: Vec<Span>,
}

/// An expression of a resource: the address of its map, which lives as long as the session.
pub(super) type Computation = (ResourceId, usize);

/// What a computation is known by.
pub(super) fn computation(owner: ResourceId, map: &Arc<Map>) -> Computation {
    (owner, Arc::as_ptr(map) as usize)
}

/// No open expression.
pub(super) const NONE: usize = usize::MAX;
/// Less stack than this is not enough for another level.
const RED_ZONE: usize = 128 << 10;
/// As much is added when it runs out.
const MORE_STACK: usize = 2 << 20;

/// Steps are booked on the account of the run in batches, because threads share it.
const BATCH: u64 = 1024;

impl Drop for EvalSession<'_> {
    fn drop(&mut self) {
        self.book();
    }
}

impl<'t> EvalSession<'t> {
    pub(super) fn new(tree: &'t dyn Tree, limits: &'t Limits, tracing: bool) -> Self {
        Self {
            tree,
            limits,
            trace: Tracer::new(tracing),
            findings: Vec::new(),
            steps: 0,
            booked: 0,
            is_over_run: false,
            depth: 0,
            paths: HashMap::new(),
            payloads: HashMap::new(),
            computed: HashMap::new(),
            open: Vec::new(),
            outermost: NONE,
            exporting: Vec::new(),
            outermost_exporting: NONE,
            exported: HashMap::new(),
            resolving: Vec::new(),
            everything: None,
            inputs: Vec::new(),
        }
    }

    /// The steps that were noted, if they were asked for.
    pub(super) fn take_trace(&mut self) -> Option<Trace> {
        std::mem::replace(&mut self.trace, Tracer::new(false)).finish()
    }

    /// Takes this for what a resource says, whatever the tree has.
    pub(super) fn assume(&mut self, resource: ResourceId, payload: Node) {
        let owner = (self.tree.is_computed() && has_expressions(&payload)).then_some(resource);
        self.payloads.insert(resource, Some(Datum::Node { node: payload, owner }));
    }

    /// Books work before it is done.
    pub(super) fn spend(&mut self, steps: u64, at: Span) -> Result<()> {
        self.steps = self.steps.saturating_add(steps);
        let is_due = self.steps - self.booked >= BATCH || self.limits.steps_left() == 0;
        if is_due && !self.book() {
            self.is_over_run = true;
            return Err(trouble::run_limit(at, self.limits));
        }
        if self.steps > self.limits.expression_steps {
            return Err(trouble::limit(
                at,
                "the work of the expressions",
                self.limits.expression_steps,
                "expression_steps",
            ));
        }
        Ok(())
    }

    /// Whether nothing more can be done.
    pub(super) fn is_exhausted(&self) -> bool {
        self.is_over_run || self.steps > self.limits.expression_steps
    }

    /// Books steps on the account of the run; false if it has taken too many.
    fn book(&mut self) -> bool {
        let new = self.steps - self.booked;
        self.booked = self.steps;
        self.limits.take_steps(new)
    }

    /// Forgets what a failed expression left open.
    pub(super) fn recover(&mut self) {
        self.depth = 0;
        self.open.clear();
        self.resolving.clear();
        self.outermost = NONE;
        self.exporting.clear();
        self.outermost_exporting = NONE;
    }

    /// Does something one level deeper, on as much stack as it needs.
    pub(super) fn deeper<T>(&mut self, at: Span, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= self.limits.expression_depth {
            let limit = u64::from(self.limits.expression_depth);
            return Err(trouble::limit(at, "the nesting of expressions", limit, "expression_depth"));
        }
        self.depth += 1;
        let result = stacker::maybe_grow(RED_ZONE, MORE_STACK, || work(self));
        self.depth -= 1;
        result
    }

    /// The path in a text, read once.
    pub(super) fn path(&mut self, node: &Node, text: &SmolStr) -> Result<Rc<Path>> {
        if let Some(path) = self.paths.get(text) {
            return Ok(Rc::clone(path));
        }
        if text.len() as u64 > self.limits.expression_bytes {
            let limit = self.limits.expression_bytes;
            return Err(trouble::limit(node.span, "the length of the expression", limit, "expression_bytes"));
        }
        let path = grammar::parse(text, self.limits.expression_depth)
            .map_err(|error| trouble::malformed(node, text, &error))?;
        let path = Rc::new(path);
        self.paths.insert(text.clone(), Rc::clone(&path));
        Ok(path)
    }

    /// What a resource says, with its expressions still to be computed; nothing if it says nothing.
    pub(super) fn payload(&mut self, of: ResourceId, at: Span) -> Result<Option<Datum>> {
        if let Some(known) = self.payloads.get(&of) {
            return Ok(known.clone());
        }
        let datum = match self.tree.payload(of) {
            Payload::Node(node) => {
                let owner = (self.tree.is_computed() && has_expressions(&node)).then_some(of);
                Some(Datum::Node { node, owner })
            }
            Payload::Nothing => None,
            Payload::Unreadable(reason) => {
                let message = format!("{} cannot be read: {reason}", quoted(&self.tree.path(of)));
                let finding = fault(&finding::EXPRESSION_UNREADABLE, at, message).labelled("needs it");
                return Err(finding.help("repair that file; until then the value is not known").into());
            }
        };
        self.payloads.insert(of, datum.clone());
        Ok(datum)
    }

    /// Every resource, the root first, depth first.
    pub(super) fn everything(&mut self, at: Span) -> Result<Arc<[ResourceId]>> {
        if let Some(known) = &self.everything {
            return Ok(Arc::clone(known));
        }
        let all: Arc<[ResourceId]> = self.descendants(self.tree.root(), at)?.into();
        self.everything = Some(Arc::clone(&all));
        Ok(all)
    }

    /// A resource and all below it, depth first.
    pub(super) fn descendants(&mut self, of: ResourceId, at: Span) -> Result<Vec<ResourceId>> {
        let (mut found, mut waiting) = (Vec::new(), vec![of]);
        while let Some(next) = waiting.pop() {
            self.spend(1, at)?;
            found.push(next);
            waiting.extend(self.tree.children(next).into_iter().rev());
        }
        self.knows_all(at)?;
        Ok(found)
    }

    /// Fails if a part of the tree is not known: then nothing is known to be absent.
    pub(super) fn knows_all(&self, at: Span) -> Result<()> {
        let Some(gap) = self.tree.gap() else { return Ok(()) };
        let message = format!("the tree of resources is not known as a whole: {gap}");
        Err(fault(&finding::EXPRESSION_UNREADABLE, at, message).labelled("looks through it").into())
    }

    /// The value that counts: what an expression gives instead of the expression.
    pub(super) fn settled(&mut self, datum: Datum) -> Result<Datum> {
        let Datum::Node { node, owner: Some(owner) } = &datum else { return Ok(datum) };
        match &node.value {
            Value::Map(map) if is_expression(map) => self.computed(*owner, node, map),
            Value::Secret(secret) => match secret_expression(secret) {
                Some((node, map)) => self.secretly(node, map, *owner).map(Datum::plain),
                None => Ok(datum),
            },
            _ => Ok(datum),
        }
    }

    pub(super) fn computed(&mut self, owner: ResourceId, node: &Node, map: &Arc<Map>) -> Result<Datum> {
        let computation = computation(owner, map);
        if let Some((_, known)) = self.computed.get(&computation) {
            return Ok(known.clone());
        }
        if let Some(position) = self.open.iter().position(|(open, _)| *open == computation) {
            self.outermost = self.outermost.min(position);
            let circle = self.open[position..].to_vec();
            self.report_circle(circle);
            return Ok(Datum::null(node.span));
        }
        let position = self.open.len();
        self.open.push((computation, node.span));
        let outer = std::mem::replace(&mut self.outermost, NONE);
        let resolving = std::mem::take(&mut self.resolving);
        self.trace.open(TraceKind::Computed, &self.tree.path(owner), Some(TraceValue::Node(node.clone())));
        let result = self.deeper(node.span, |session| {
            let matches = session.form(map, node.span, &Scope::of(owner))?;
            session.single(matches)
        });
        let datum = brought(result.map_err(|fault| needed(fault, node.span))?, node.span);
        self.trace.close(Verdict::Gives(self.shown(&datum)));
        self.resolving = resolving;
        self.open.pop();
        // What depends on an expression that is still under way would differ for an evaluation that starts elsewhere.
        if self.outermost >= position {
            self.computed.insert(computation, (Arc::clone(map), datum.clone()));
            self.outermost = NONE;
        }
        self.outermost = self.outermost.min(outer);
        Ok(datum)
    }

    /// Reports a circle once, wherever it was entered: it starts with the first path.
    pub(super) fn report_circle(&mut self, mut circle: Vec<(Computation, Span)>) {
        let place = |&at: &usize| (self.tree.path(circle[at].0.0), circle[at].1.start);
        let first = (0..circle.len()).min_by_key(place).unwrap_or(0);
        circle.rotate_left(first);
        let names: Vec<String> = circle.iter().map(|((owner, _), _)| quoted(&self.tree.path(*owner))).collect();
        let at = circle[0].1;
        let message = match circle.len() {
            1 => format!("an expression of {} depends on itself", names[0]),
            _ => format!("expressions depend on each other in a circle: {} → {}", names.join(" → "), names[0]),
        };
        let is_known = |known: &Finding| {
            std::ptr::eq(known.rule, &finding::EXPRESSION_CYCLE)
                && matches!(known.location, finding::Location::Span(span) if span == at)
                && known.message == message
        };
        if self.findings.iter().any(is_known) {
            return;
        }
        let mut finding = fault(&finding::EXPRESSION_CYCLE, at, message).labelled("taken as null");
        for (_, span) in circle.iter().skip(1).take(10) {
            finding = finding.related(*span, "which needs this");
        }
        self.findings.push(finding.help("give one of them a value, or start with `..::` to ask the parent"));
    }

    /// The value of a variable; nothing if there is no such variable.
    pub(super) fn variable(&mut self, name: &str, scope: &Scope, at: Span) -> Result<Option<Datum>> {
        let Some((frame, position)) = scope.find(name) else {
            return Ok(match name {
                "true" => Some(Datum::bool(true, at)),
                "false" => Some(Datum::bool(false, at)),
                "null" => Some(Datum::null(at)),
                _ => None,
            });
        };
        match frame.get(position) {
            Variable::Known(datum) => Ok(Some(datum)),
            Variable::Busy => Err(self.circle_of_variables(name, at)),
            Variable::Written(node) => {
                frame.set(position, Variable::Busy);
                self.resolving.push(name.into());
                self.trace.open(TraceKind::Variable, name, None);
                let result = self.deeper(node.span, |session| session.mapped(&node, &frame.scope()));
                if result.is_err() {
                    // Every later read fails with the same finding.
                    frame.set(position, Variable::Written(node));
                }
                let datum = result?;
                self.trace.close(Verdict::Gives(self.shown(&datum)));
                self.resolving.pop();
                frame.set(position, Variable::Known(datum.clone()));
                Ok(Some(datum))
            }
        }
    }

    fn circle_of_variables(&self, name: &str, at: Span) -> Fault {
        let first = self.resolving.iter().position(|open| open == name).unwrap_or(0);
        let names = self.resolving[first..].iter().map(SmolStr::as_str).chain([name]);
        let chain: Vec<String> = names.map(|name| quoted(&format!("${name}"))).collect();
        let message = format!("variables need each other in a circle: {}", chain.join(" → "));
        let finding = fault(&finding::EXPRESSION_RECURSIVE, at, message).labelled("needed again");
        finding.help("give one of them a value of its own").into()
    }

    /// A value for the trace.
    pub(super) fn shown(&self, datum: &Datum) -> TraceValue {
        match datum {
            Datum::Node { node, .. } => TraceValue::Node(node.clone()),
            Datum::Resource(id) => TraceValue::Resource(self.tree.path(*id)),
            Datum::Everything => TraceValue::Everything,
            Datum::List { items, .. } => TraceValue::List(items.len()),
            Datum::Map { members, .. } => TraceValue::Map(members.len()),
            Datum::Signal(_) => TraceValue::List(0),
        }
    }
}

/// The value, with the expression as the last step of its provenance.
fn brought(datum: Datum, by: Span) -> Datum {
    match datum {
        Datum::Node { node, owner } => Datum::Node { node: node.through(StepKind::Expression, by), owner },
        other => other,
    }
}

/// A fault that is written elsewhere also points at the expression that needs the value.
fn needed(fault: Fault, by: Span) -> Fault {
    let is_elsewhere = match fault.location {
        finding::Location::Span(at) => {
            at.source != by.source || at.range().start < by.range().start || at.range().end > by.range().end
        }
        finding::Location::File { .. } => true,
    };
    if is_elsewhere && fault.related.len() < 5 { Box::new(fault.related(by, "needed here")) } else { fault }
}
