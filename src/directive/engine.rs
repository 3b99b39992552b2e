//! Follows directives on demand: every question is answered once, and a question that comes back to itself is a cycle.
//!
//! Questions wait for each other on a stack of our own, because chains of directives may be longer than the machine's stack is
//! deep. An attempt to answer either succeeds or names all the questions it needs answered first.
//!
//! Finding a target can lead through the very map whose directive is being followed (`+./child`). Then the directive's own
//! contribution is left out at first, and when everything is known it is checked whether it would have mattered. If so,
//! the targets found are assumed and the search is repeated until it confirms itself.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use smol_str::SmolStr;

use super::combine;
use super::ground::{DirectiveId, Ground, PlaceId};
use super::inclusion::{Anchors, Inclusion};
use super::lookup::{Layer, Shape, Target, is_same_target};
use super::marked::Marked;
use super::trouble::{Chain, Trouble};
use super::{Context, Expanded, Reads};
use crate::document::Document;
use crate::finding::{self, Finding, Location, Outcome};
use crate::path::RepoPath;
use crate::value::Node;

/// Expands a document that has plus keys.
pub(super) fn expand(document: &Document, file: &RepoPath, context: &Context<'_>) -> Outcome<Expanded> {
    let mut engine = Engine::new(document, file, context);
    let root = engine.settle();
    let findings = engine.findings(document);
    Outcome { value: Expanded { root, reads: engine.reads }, findings }
}

/// An engine that has followed every directive of a document.
pub(super) fn explored<'a>(document: &Document, file: &RepoPath, context: &'a Context<'a>) -> Engine<'a> {
    let mut engine = Engine::new(document, file, context);
    engine.settle();
    engine
}

/// Expands, and counts the attempts it took.
#[cfg(test)]
pub(super) fn expand_counting(document: &Document, file: &RepoPath, context: &Context<'_>) -> (Outcome<Expanded>, u64) {
    let mut engine = Engine::new(document, file, context);
    let root = engine.settle();
    let findings = engine.findings(document);
    (Outcome { value: Expanded { root, reads: engine.reads }, findings }, engine.attempts)
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Query {
    /// What stands at a place after expansion?
    Value(PlaceId),
    /// What does a directive refer to?
    Target(DirectiveId),
    /// What does it refer to, now that the answer for all directives is known?
    Check(DirectiveId),
    /// What does a map with directives have under a key?
    Member(MemberId),
    /// Is a map with nothing but directives a map, a list, or nothing in the end?
    Shape(PlaceId),
}

/// A map with directives and a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct MemberId(usize);

/// What stands at a place after expansion.
#[derive(Debug, Clone)]
pub(super) enum Built {
    Node(Node),
    /// A map that consisted of references to what is not there, and allowed that.
    Removed,
}

/// A question on the stack.
struct Frame {
    query: Query,
    /// The directive that needs the answer, if one does.
    via: Option<DirectiveId>,
    /// Whether an answer was attempted, so that everything above it is there for its sake or its neighbours'.
    is_open: bool,
}

pub(super) struct Engine<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) ground: Ground,
    /// Answers. What a value has behind it in overridden values of overridden values is counted beside it.
    pub(super) values: HashMap<PlaceId, (Built, u32)>,
    targets: HashMap<DirectiveId, Target>,
    checks: HashMap<DirectiveId, Target>,
    members: HashMap<MemberId, Vec<Layer>>,
    shapes: HashMap<PlaceId, Shape>,
    member_ids: HashMap<(PlaceId, SmolStr), MemberId>,
    member_keys: Vec<(PlaceId, SmolStr)>,
    pub(super) inclusions: HashMap<DirectiveId, Inclusion>,
    pub(super) anchors: Option<Anchors>,
    /// By list: the first item that may become several, or none.
    pub(super) first_spread: HashMap<PlaceId, Option<usize>>,
    pub(super) reads: Reads,
    open: HashSet<Query>,
    needs: Vec<(Query, Option<DirectiveId>)>,
    /// Lookups that must do without values, because these wait for them.
    unforced: HashSet<Query>,
    /// Whether something was left out that may have mattered.
    is_provisional: bool,
    /// The longest history of what was used in the current attempt.
    pub(super) history: u32,
    /// Values made; the limit on nodes holds for these.
    pub(super) produced: u64,
    /// Attempts made, for the same limit: hostile documents can make much work and few values.
    attempts: u64,
    pub(super) troubles: BTreeMap<DirectiveId, Vec<Trouble>>,
}

impl<'a> Engine<'a> {
    fn new(document: &Document, file: &RepoPath, context: &'a Context<'a>) -> Self {
        let marked = Arc::new(Marked::new(document.clone()));
        Self {
            context,
            ground: Ground::new(file.clone(), marked),
            values: HashMap::new(),
            targets: HashMap::new(),
            checks: HashMap::new(),
            members: HashMap::new(),
            shapes: HashMap::new(),
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
            attempts: 0,
            troubles: BTreeMap::new(),
        }
    }

    /// The value of the whole document, once every target confirms itself.
    fn settle(&mut self) -> Node {
        loop {
            self.is_provisional = false;
            self.run(Query::Value(Ground::ROOT));
            if !self.is_provisional || self.is_exhausted() || !self.check_targets() {
                break;
            }
            self.values.clear();
            self.troubles.retain(|_, troubles| {
                troubles.retain(|trouble| matches!(trouble, Trouble::Cycle(_)));
                !troubles.is_empty()
            });
        }
        let root = match self.values.get(&Ground::ROOT) {
            Some((Built::Node(node), _)) => node.clone(),
            _ => self.ground.place(Ground::ROOT).node.clone(),
        };
        if root.size() > self.context.limits.nodes {
            self.produced = u64::MAX;
            return self.ground.place(Ground::ROOT).node.clone();
        }
        combine::without_leftovers(&root)
    }

    /// Looks for every target again with all others known, until nothing changes; whether anything did.
    fn check_targets(&mut self) -> bool {
        let mut has_changed = false;
        let rounds = self.targets.len() + 2;
        for round in 0..=rounds {
            self.members.clear();
            self.shapes.clear();
            self.unforced.clear();
            self.checks.clear();
            let mut known: Vec<DirectiveId> = self.targets.keys().copied().collect();
            known.sort_unstable();
            let mut differing = Vec::new();
            for directive in known {
                if matches!(self.targets[&directive], Target::Broken(_)) {
                    continue;
                }
                self.run(Query::Check(directive));
                let Some(found) = self.checks.get(&directive) else { return has_changed };
                if !is_same_target(found, &self.targets[&directive]) {
                    differing.push(directive);
                }
            }
            if differing.is_empty() {
                break;
            }
            has_changed = true;
            for directive in differing {
                let found = self.checks[&directive].clone();
                let settled = if round == rounds { Target::Broken(Arc::new(Trouble::Unsettled)) } else { found };
                self.targets.insert(directive, settled);
            }
            self.values.clear();
        }
        has_changed
    }

    fn run(&mut self, goal: Query) {
        let mut stack = vec![Frame { query: goal, via: None, is_open: false }];
        while let Some(frame) = stack.last_mut() {
            let query = frame.query;
            if self.is_answered(query) {
                if frame.is_open {
                    self.open.remove(&query);
                }
                stack.pop();
                continue;
            }
            if self.is_exhausted() {
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

    fn is_answered(&self, query: Query) -> bool {
        match query {
            Query::Value(place) => self.values.contains_key(&place),
            Query::Target(directive) => self.targets.contains_key(&directive),
            Query::Check(directive) => self.checks.contains_key(&directive),
            Query::Member(member) => self.members.contains_key(&member),
            Query::Shape(place) => self.shapes.contains_key(&place),
        }
    }

    /// Answers a question, or notes what must be known first.
    fn attempt(&mut self, query: Query) -> bool {
        match query {
            Query::Value(place) => self.build(place).is_some(),
            Query::Target(directive) => {
                let found = self.find(directive, query);
                found.map(|target| self.targets.insert(directive, target)).is_some()
            }
            Query::Check(directive) => {
                let found = self.find(directive, query);
                found.map(|target| self.checks.insert(directive, target)).is_some()
            }
            Query::Member(member) => {
                let (place, token) = self.member_keys[member.0].clone();
                let found = self.member_of_point(place, &token, query);
                found.map(|layers| self.members.insert(member, layers)).is_some()
            }
            Query::Shape(place) => {
                let found = self.shape_of_point(place);
                found.map(|shape| self.shapes.insert(place, shape)).is_some()
            }
        }
    }

    /// A question needs an answer that waits for it.
    fn break_cycle(&mut self, stack: &mut Vec<Frame>, need: Query, via: Option<DirectiveId>) {
        // Looking for the start of a cycle is work too, and there can be many cycles.
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
        let chain = Chain::of(links);
        let Some(closing) = chain.last else { return };
        let owner = Query::Value(self.ground.directive(closing).place);
        let owner = stack.iter().rposition(|frame| frame.is_open && frame.query == owner).unwrap_or(start);
        self.targets.insert(closing, Target::Broken(Arc::new(Trouble::Reported)));
        self.troubles.entry(closing).or_default().push(Trouble::Cycle(chain));
        self.unwind(stack, owner + 1);
    }

    fn unwind(&mut self, stack: &mut Vec<Frame>, length: usize) {
        for frame in stack.drain(length..).filter(|frame| frame.is_open) {
            self.open.remove(&frame.query);
        }
    }

    pub(super) fn need(&mut self, query: Query, via: Option<DirectiveId>) {
        self.needs.push((query, via));
    }

    /// The target of a directive. A lookup that leads back to a directive being looked up does without it.
    pub(super) fn target(&mut self, directive: DirectiveId, is_lookup: bool) -> Option<Target> {
        if let Some(known) = self.targets.get(&directive) {
            return Some(known.clone());
        }
        if is_lookup && self.open.contains(&Query::Target(directive)) {
            self.is_provisional = true;
            return Some(Target::Nothing);
        }
        self.need(Query::Target(directive), None);
        None
    }

    /// What a map with directives has under a key; while that is being found out, only what is written there.
    pub(super) fn member(&mut self, place: PlaceId, token: &SmolStr) -> Option<Vec<Layer>> {
        let next = MemberId(self.member_keys.len());
        let id = *self.member_ids.entry((place, token.clone())).or_insert(next);
        if id == next {
            self.member_keys.push((place, token.clone()));
        }
        if let Some(known) = self.members.get(&id) {
            return Some(known.clone());
        }
        if self.open.contains(&Query::Member(id)) {
            self.is_provisional = true;
            return Some(self.ground.member(place, token).map(Layer::at).into_iter().collect());
        }
        self.need(Query::Member(id), None);
        None
    }

    /// What a map with nothing but directives is in the end; while that is being found out, a map.
    pub(super) fn shape(&mut self, place: PlaceId) -> Option<Shape> {
        if let Some(&known) = self.shapes.get(&place) {
            return Some(known);
        }
        if self.open.contains(&Query::Shape(place)) {
            self.is_provisional = true;
            return Some(Shape::PLAIN_MAP);
        }
        self.need(Query::Shape(place), None);
        None
    }

    /// What stands at a place after expansion.
    pub(super) fn value(&mut self, place: PlaceId, via: Option<DirectiveId>) -> Option<Built> {
        if !self.ground.place(place).is_marked {
            return Some(Built::Node(self.ground.place(place).node.clone()));
        }
        if let Some((built, history)) = self.values.get(&place) {
            self.history = self.history.max(*history);
            return Some(built.clone());
        }
        self.need(Query::Value(place), via);
        None
    }

    /// The value of a list that a lookup must count through; none if it cannot be had now.
    pub(super) fn forced(&mut self, place: PlaceId, by: Query) -> Option<Option<Node>> {
        if self.unforced.contains(&by) && !self.is_answered(Query::Value(place)) {
            self.is_provisional = true;
            return Some(None);
        }
        match self.value(place, None)? {
            Built::Node(node) => Some(Some(node)),
            Built::Removed => Some(None),
        }
    }

    /// Whether more was done than allowed.
    pub(super) fn is_exhausted(&self) -> bool {
        let limit = self.context.limits.nodes;
        self.produced > limit || self.attempts > limit || self.ground.places() as u64 > limit
    }

    fn findings(&mut self, document: &Document) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.is_exhausted() {
            let limit = self.context.limits.nodes;
            let message = format!("following the merge directives of this document takes more than {limit} values");
            let finding = Finding::new(&finding::LIMIT_NODES, Location::Span(document.root.span), message);
            findings.push(finding.help("raise `limits.nodes` in outcrop.yaml if this is meant"));
        }
        for (directive, troubles) in std::mem::take(&mut self.troubles) {
            for trouble in troubles {
                findings.extend(trouble.into_findings(directive, &self.ground));
            }
        }
        super::trouble::in_order(findings, self.context.sources)
    }
}
