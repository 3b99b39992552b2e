//! Expands directives on demand: every query is answered once, and a query that depends on itself is a cycle.
//!
//! Pending queries are kept on an explicit stack, because chains of directives may be longer than the call stack allows. An attempt
//! to answer a query either succeeds or names all the queries that must be answered first.
//!
//! The lookup of a target can pass through the very map whose directive is being resolved (`+./child`). Then the directive's own
//! contribution is left out at first, and once everything is known the lookup is repeated with it. If the result differs, it
//! replaces the target, and this is repeated until all targets are confirmed.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::arena::{DirectiveId, OccurrenceId, Occurrences};
use super::combine;
use super::index::IndexedDocument;
use super::key::{self, PlusKey};
use super::problem::{Chain, Problem};
use super::target::{Anchors, Content, Inclusion, LayerShape, Target, TargetLayer, is_same_target};
use super::{Context, Expanded, Reads};
use crate::document::Document;
use crate::finding::{self, Finding, Location, Outcome};
use crate::limits::Counted;
use crate::path::RepoPath;
use crate::value::{Entry, Node};

/// Expands a document that has plus keys.
pub(super) fn expand(document: &Document, file: &RepoPath, context: &Context<'_>) -> Outcome<Expanded> {
    let mut engine = Engine::new(document, file, context);
    let root = engine.settle();
    let findings = engine.findings(document);
    Outcome { value: Expanded { root, reads: engine.reads }, findings }
}

/// An engine that has expanded a document.
pub(super) fn explored<'a>(document: &Document, file: &RepoPath, context: &'a Context<'a>) -> Engine<'a> {
    let mut engine = Engine::new(document, file, context);
    engine.settle();
    engine
}

/// Expands a document and counts the attempts that it took.
#[cfg(test)]
pub(super) fn expand_counting(document: &Document, file: &RepoPath, context: &Context<'_>) -> (Outcome<Expanded>, u64) {
    let mut engine = Engine::new(document, file, context);
    let root = engine.settle();
    let findings = engine.findings(document);
    (Outcome { value: Expanded { root, reads: engine.reads }, findings }, engine.attempts)
}

/// Created values are booked in batches, because threads share the account.
const BATCH: u64 = 1024;
/// The number of values that a created one counts as: it has provenance, and often what it overrides.
const MADE: u64 = 4;

/// A query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Query {
    /// The expanded value of an occurrence.
    Value(OccurrenceId),
    /// What a directive refers to.
    Target(DirectiveId),
    /// What a directive refers to, looked up again when all other targets are known.
    Check(DirectiveId),
    /// What a map with directives has under a key.
    Member(MemberId),
    /// Whether a map with nothing but directives expands to a map, a list, or nothing.
    Shape(OccurrenceId),
}

/// A map with directives and a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MemberId(usize);

/// An expanded value.
#[derive(Debug, Clone)]
pub(super) enum Built {
    Node(Node),
    /// A map of optional references whose targets do not exist.
    Removed,
}

/// A query on the stack.
struct Frame {
    query: Query,
    /// The directive that needs the answer, if one does.
    via: Option<DirectiveId>,
    /// Whether an answer was attempted, so that the frames above it are its dependencies or those of its neighbours.
    is_open: bool,
}

/// The queries that were answered.
#[derive(Default)]
pub(super) struct Answers {
    /// Expanded values, each with the length of its chain of overridden values.
    pub(super) values: HashMap<OccurrenceId, (Built, u32)>,
    targets: HashMap<DirectiveId, Target>,
    checks: HashMap<DirectiveId, Target>,
    members: HashMap<MemberId, Vec<TargetLayer>>,
    shapes: HashMap<OccurrenceId, LayerShape>,
}

impl Answers {
    fn has(&self, query: Query) -> bool {
        match query {
            Query::Value(occurrence) => self.values.contains_key(&occurrence),
            Query::Target(directive) => self.targets.contains_key(&directive),
            Query::Check(directive) => self.checks.contains_key(&directive),
            Query::Member(member) => self.members.contains_key(&member),
            Query::Shape(occurrence) => self.shapes.contains_key(&occurrence),
        }
    }

    /// Forgets what was looked up through targets; the targets and values stay.
    fn forget_lookups(&mut self) {
        self.members.clear();
        self.shapes.clear();
        self.checks.clear();
    }
}

/// Expands one document.
pub(super) struct Engine<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) arena: Occurrences,
    pub(super) answers: Answers,
    member_ids: HashMap<(OccurrenceId, SmolStr), MemberId>,
    member_keys: Vec<(OccurrenceId, SmolStr)>,
    pub(super) inclusions: HashMap<DirectiveId, Inclusion>,
    pub(super) anchors: Option<Anchors>,
    /// By list: the index of the first item that may expand to several items.
    pub(super) first_spread: HashMap<OccurrenceId, Option<usize>>,
    pub(super) reads: Reads,
    open: HashSet<Query>,
    needs: Vec<(Query, Option<DirectiveId>)>,
    /// Lookups that must not wait for values, because the values wait for them.
    unforced: HashSet<Query>,
    /// Whether something was left out that may change the result.
    is_provisional: bool,
    /// The longest chain of overridden values among those used in the current attempt.
    pub(super) history: u32,
    /// The number of values created, subject to the limit on nodes.
    pub(super) produced: u64,
    /// The number of created values that the run knows of.
    booked: u64,
    /// Whether the run has created too many values.
    is_over_run: bool,
    /// The number of attempts, subject to the limit on nodes: hostile documents can cause much work and few values.
    attempts: u64,
    pub(super) problems: BTreeMap<DirectiveId, Vec<Problem>>,
}

impl<'a> Engine<'a> {
    fn new(document: &Document, file: &RepoPath, context: &'a Context<'a>) -> Self {
        let indexed = Arc::new(IndexedDocument::new(document.clone()));
        Self {
            context,
            arena: Occurrences::new(file.clone(), indexed),
            answers: Answers::default(),
            member_ids: HashMap::new(),
            member_keys: Vec::new(),
            inclusions: HashMap::new(),
            anchors: None,
            first_spread: HashMap::new(),
            reads: Reads::new(),
            open: HashSet::new(),
            needs: Vec::new(),
            unforced: HashSet::new(),
            is_provisional: false,
            history: 0,
            produced: 0,
            booked: 0,
            is_over_run: false,
            attempts: 0,
            problems: BTreeMap::new(),
        }
    }

    /// The value of the whole document. It is computed again until every target is confirmed by a second lookup.
    fn settle(&mut self) -> Node {
        loop {
            self.is_provisional = false;
            self.run(Query::Value(Occurrences::ROOT));
            if !self.is_provisional || self.is_exhausted() || !self.correct_targets() {
                break;
            }
            self.answers.values.clear();
            self.problems.retain(|_, problems| {
                problems.retain(|problem| matches!(problem, Problem::Cycle(_)));
                !problems.is_empty()
            });
        }
        let written = self.arena.get(Occurrences::ROOT).node.clone();
        let root = match self.answers.values.get(&Occurrences::ROOT) {
            Some((Built::Node(node), _)) => node,
            _ => &written,
        };
        if root.size() > self.context.limits.nodes {
            self.produced = u64::MAX;
            return written;
        }
        let root = combine::without_leftovers(root);
        // Every later stage walks through what was brought in, although it is shared.
        let brought = root.size().saturating_sub(written.size());
        self.is_over_run |= !self.book(0) || !self.context.limits.take_nodes(brought);
        if self.is_over_run { written } else { root }
    }

    /// Replaces wrong targets, and those that become wrong by that, until all are confirmed. Returns whether any was replaced.
    fn correct_targets(&mut self) -> bool {
        let mut has_changed = false;
        let rounds = self.answers.targets.len() + 2;
        for round in 0..=rounds {
            let wrong = self.wrong_targets().unwrap_or_default();
            if wrong.is_empty() {
                break;
            }
            has_changed = true;
            for (directive, found) in wrong {
                let is_settled = round < rounds && !self.holds_itself(directive, &found);
                let target = if is_settled { found } else { Target::Broken(Arc::new(Problem::Unsettled)) };
                self.answers.targets.insert(directive, target);
            }
            self.answers.values.clear();
        }
        has_changed
    }

    /// Whether what a directive refers to is a map whose own directives have no target yet, such as the map of the directive: items of
    /// a list that vanish give the following ones another index.
    fn holds_itself(&self, directive: DirectiveId, target: &Target) -> bool {
        let directive = self.arena.directive(directive);
        let is_as_written = directive.is_raw() || directive.reference.as_ref().is_none_or(|it| it.is_include);
        let Target::Found(layers) = target else { return false };
        let is_directive = |entry: &Entry| matches!(key::read(&entry.key), PlusKey::Directive(_));
        let is_open = |layer: &TargetLayer| match &layer.content {
            Content::Value(node) => node.as_map().is_some_and(|map| map.entries().iter().any(is_directive)),
            Content::Written(_) => false,
        };
        !is_as_written && layers.iter().any(is_open)
    }

    /// Looks up every target again, now that the others are known. Returns those that differ, or `None` if a limit was reached.
    fn wrong_targets(&mut self) -> Option<Vec<(DirectiveId, Target)>> {
        self.answers.forget_lookups();
        self.unforced.clear();
        let is_found =
            |(&directive, target): (&DirectiveId, &Target)| (!matches!(target, Target::Broken(_))).then_some(directive);
        let mut directives: Vec<DirectiveId> = self.answers.targets.iter().filter_map(is_found).collect();
        directives.sort_unstable();
        let mut wrong = Vec::new();
        for directive in directives {
            self.run(Query::Check(directive));
            let found = self.answers.checks.get(&directive)?;
            if !is_same_target(found, &self.answers.targets[&directive]) {
                wrong.push((directive, found.clone()));
            }
        }
        Some(wrong)
    }

    /// Answers a query and all those that it depends on.
    fn run(&mut self, goal: Query) {
        let mut stack = vec![Frame { query: goal, via: None, is_open: false }];
        while let Some(frame) = stack.last_mut() {
            let query = frame.query;
            if self.answers.has(query) {
                if frame.is_open {
                    self.open.remove(&query);
                }
                stack.pop();
                continue;
            }
            if self.is_exhausted() || !self.book(BATCH) {
                self.open.clear();
                return;
            }
            frame.is_open = true;
            self.open.insert(query);
            self.attempts += 1;
            self.needs.clear();
            self.history = 0;
            if self.attempt(query) {
                continue;
            }
            let needs = std::mem::take(&mut self.needs);
            match needs.iter().find(|(need, _)| self.open.contains(need)) {
                Some(&(need, via)) => self.break_cycle(&mut stack, need, via),
                None => {
                    let frames = needs.into_iter().rev();
                    stack.extend(frames.map(|(query, via)| Frame { query, via, is_open: false }));
                }
            }
        }
    }

    /// Answers a query, or records in `needs` what must be known first.
    fn attempt(&mut self, query: Query) -> bool {
        match query {
            Query::Value(occurrence) => self.build(occurrence).is_some(),
            Query::Target(directive) => {
                let found = self.find(directive, query);
                found.map(|target| self.answers.targets.insert(directive, target)).is_some()
            }
            Query::Check(directive) => {
                let found = self.find(directive, query);
                found.map(|target| self.answers.checks.insert(directive, target)).is_some()
            }
            Query::Member(member) => {
                let (occurrence, token) = self.member_keys[member.0].clone();
                let found = self.member_of_directive_map(occurrence, &token, query);
                found.map(|layers| self.answers.members.insert(member, layers)).is_some()
            }
            Query::Shape(occurrence) => {
                let found = self.shape_of_directive_map(occurrence);
                found.map(|shape| self.answers.shapes.insert(occurrence, shape)).is_some()
            }
        }
    }

    /// Handles a query that depends on itself: an open lookup in the cycle is repeated without values, or else the cycle is an error.
    fn break_cycle(&mut self, stack: &mut Vec<Frame>, need: Query, via: Option<DirectiveId>) {
        // The search for the start of a cycle counts as work, because there can be many cycles.
        self.attempts = self.attempts.saturating_add(stack.len() as u64);
        let is_start = |frame: &Frame| frame.is_open && frame.query == need;
        let Some(start) = stack.iter().rposition(is_start) else { return };
        let is_lookup = |frame: &Frame| frame.is_open && !matches!(frame.query, Query::Value(_));
        if let Some(lookup) = stack[start..].iter().rposition(is_lookup).map(|at| start + at) {
            self.is_provisional = true;
            self.unforced.insert(stack[lookup].query);
            self.unwind(stack, lookup + 1);
            return;
        }
        let links = stack[start + 1..].iter().filter(|frame| frame.is_open).filter_map(|frame| frame.via).chain(via);
        let chain = Chain::new(links);
        let Some(closing) = chain.last else { return };
        let owner = Query::Value(self.arena.directive(closing).occurrence);
        let owner = stack.iter().rposition(|frame| frame.is_open && frame.query == owner).unwrap_or(start);
        self.answers.targets.insert(closing, Target::Broken(Arc::new(Problem::Reported)));
        self.problems.entry(closing).or_default().push(Problem::Cycle(chain));
        self.unwind(stack, owner + 1);
    }

    fn unwind(&mut self, stack: &mut Vec<Frame>, length: usize) {
        for frame in stack.drain(length..).filter(|frame| frame.is_open) {
            self.open.remove(&frame.query);
        }
    }

    /// Records that a query must be answered first.
    pub(super) fn need(&mut self, query: Query, via: Option<DirectiveId>) {
        self.needs.push((query, via));
    }

    /// The target of a directive. A lookup that depends on a directive being resolved leaves that directive out.
    pub(super) fn target(&mut self, directive: DirectiveId, is_lookup: bool) -> Option<Target> {
        if let Some(known) = self.answers.targets.get(&directive) {
            return Some(known.clone());
        }
        if is_lookup && self.open.contains(&Query::Target(directive)) {
            self.is_provisional = true;
            return Some(Target::Nothing);
        }
        self.need(Query::Target(directive), None);
        None
    }

    /// What a map with directives has under a key; while that is being resolved, only what is written there.
    pub(super) fn member(&mut self, occurrence: OccurrenceId, token: &SmolStr) -> Option<Vec<TargetLayer>> {
        let next = MemberId(self.member_keys.len());
        let id = *self.member_ids.entry((occurrence, token.clone())).or_insert(next);
        if id == next {
            self.member_keys.push((occurrence, token.clone()));
        }
        if let Some(known) = self.answers.members.get(&id) {
            return Some(known.clone());
        }
        if self.open.contains(&Query::Member(id)) {
            self.is_provisional = true;
            return Some(self.arena.member(occurrence, token).map(TargetLayer::written).into_iter().collect());
        }
        self.need(Query::Member(id), None);
        None
    }

    /// What a map with nothing but directives expands to; while that is being resolved, a map.
    pub(super) fn shape(&mut self, occurrence: OccurrenceId) -> Option<LayerShape> {
        if let Some(&known) = self.answers.shapes.get(&occurrence) {
            return Some(known);
        }
        if self.open.contains(&Query::Shape(occurrence)) {
            self.is_provisional = true;
            return Some(LayerShape::PLAIN_MAP);
        }
        self.need(Query::Shape(occurrence), None);
        None
    }

    /// The expanded value of an occurrence.
    pub(super) fn value(&mut self, occurrence: OccurrenceId, via: Option<DirectiveId>) -> Option<Built> {
        if !self.arena.get(occurrence).has_plus_keys {
            return Some(Built::Node(self.arena.get(occurrence).node.clone()));
        }
        if let Some((built, history)) = self.answers.values.get(&occurrence) {
            self.history = self.history.max(*history);
            return Some(built.clone());
        }
        self.need(Query::Value(occurrence), via);
        None
    }

    /// The expanded value of a list whose items a lookup must count; `Some(None)` if it cannot be computed now.
    pub(super) fn forced(&mut self, occurrence: OccurrenceId, by: Query) -> Option<Option<Node>> {
        if self.unforced.contains(&by) && !self.answers.has(Query::Value(occurrence)) {
            self.is_provisional = true;
            return Some(None);
        }
        match self.value(occurrence, None)? {
            Built::Node(node) => Some(Some(node)),
            Built::Removed => Some(None),
        }
    }

    /// Whether a limit was exceeded.
    pub(super) fn is_exhausted(&self) -> bool {
        let limit = self.context.limits.nodes;
        self.is_over_run || self.produced > limit || self.attempts > limit || self.arena.len() as u64 > limit
    }

    /// Whether this many more values may be created. The limit is reached if not, so that nothing more is built.
    pub(super) fn has_room_for(&mut self, values: usize) -> bool {
        let has_room = self.produced.saturating_add(values as u64) <= self.context.limits.nodes / MADE;
        if !has_room {
            self.produced = u64::MAX;
        }
        has_room
    }

    /// Books created values on the account of the run, if there are so many of them; false once the run has too many.
    fn book(&mut self, least: u64) -> bool {
        let new = self.produced.saturating_sub(self.booked);
        if new > least && self.produced < u64::MAX {
            self.booked = self.produced;
            self.is_over_run |= !self.context.limits.take_nodes(new.saturating_mul(MADE));
        }
        !self.is_over_run
    }

    fn findings(&mut self, document: &Document) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.is_over_run {
            let (message, help) = self.context.limits.excess(Counted::Values);
            let finding = Finding::new(&finding::LIMIT_RUN_WORK, Location::Span(document.root.span), message);
            findings.push(finding.help(help));
        } else if self.is_exhausted() {
            let limit = self.context.limits.nodes;
            let message = format!("expanding the merge directives of this document takes more than {limit} values");
            let finding = Finding::new(&finding::LIMIT_NODES, Location::Span(document.root.span), message);
            findings.push(finding.help("raise `limits.nodes` in outcrop.yaml if this is intended"));
        }
        let mut kept = Vec::new();
        for (directive, problems) in std::mem::take(&mut self.problems) {
            for problem in problems {
                if let Problem::Elsewhere(reason, name) = &problem {
                    kept.push((*reason, name.clone(), self.arena.directive(directive).key.span));
                }
                findings.extend(problem.into_findings(directive, &self.arena));
            }
        }
        kept.dedup();
        findings.extend(super::problem::elsewhere(&kept));
        super::problem::in_order(findings, self.context.sources)
    }
}
