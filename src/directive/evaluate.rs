//! Builds expanded values: what is written, over what its directives bring in.

use std::sync::Arc;

use super::arena::{DirectiveId, OccurrenceId, Occurrences, is_member};
use super::combine::{Combiner, MergeSide};
use super::engine::{Built, Engine};
use super::problem::Problem;
use super::target::{Content, Target, TargetLayer};
use crate::finding::Finding;
use crate::value::{Entry, Node, Step, Value};

/// The longest chain of overridden values that is kept.
const LONGEST_HISTORY: u32 = 200;

/// What a directive contributes.
enum Contribution {
    Node(Node),
    Nothing,
    /// Its target does not exist.
    Missing(Problem),
    Broken(Arc<Problem>),
}

impl Engine<'_> {
    /// The expanded value of an occurrence; `None` if something else must be known first.
    pub(super) fn build(&mut self, occurrence: OccurrenceId) -> Option<Built> {
        if !self.arena.get(occurrence).has_plus_keys {
            return Some(Built::Node(self.arena.get(occurrence).node.clone()));
        }
        if let Some((built, history)) = self.answers.values.get(&occurrence) {
            self.history = self.history.max(*history);
            return Some(built.clone());
        }
        let node = self.arena.get(occurrence).node.clone();
        let built = match &node.value {
            Value::List(list) => self.build_list(occurrence, &node, list.items())?,
            Value::Map(map) if self.arena.is_directive_map(occurrence) => {
                self.build_directive_map(occurrence, &node, map.entries())?
            }
            Value::Map(map) => {
                let entries = self.build_entries(occurrence, map.entries())?;
                self.produced = self.produced.saturating_add(entries.len() as u64);
                Built::Node(Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
            }
            _ => Built::Node(node),
        };
        self.answers.values.insert(occurrence, (built.clone(), self.history));
        Some(built)
    }

    fn build_list(&mut self, occurrence: OccurrenceId, node: &Node, items: &[Node]) -> Option<Built> {
        let mut built = Vec::with_capacity(items.len());
        let mut is_known = true;
        for (index, item) in (0..).zip(items) {
            match self.build_child(occurrence, index, item) {
                None => is_known = false,
                Some((Built::Removed, _)) => {}
                Some((Built::Node(item), is_directive_map)) => match item.as_list().filter(|_| is_directive_map) {
                    // The list replaces the map; its items have the provenance of the list.
                    Some(spliced) if !self.has_room_for(built.len() + spliced.len()) => return None,
                    Some(spliced) => built.extend(spliced.iter().map(|part| spliced_from(part, &item))),
                    None => built.push(item),
                },
            }
        }
        self.produced = self.produced.saturating_add(built.len() as u64);
        is_known.then(|| Built::Node(Node { extra: node.extra.clone(), ..Node::list(built, node.span) }))
    }

    fn build_entries(&mut self, occurrence: OccurrenceId, entries: &[Entry]) -> Option<Vec<Entry>> {
        let mut built = Vec::with_capacity(entries.len());
        let mut is_known = true;
        for (index, entry) in (0..).zip(entries) {
            if !is_member(entry) {
                continue;
            }
            match self.build_child(occurrence, index, &entry.value) {
                None => is_known = false,
                Some((Built::Removed, _)) => {}
                Some((Built::Node(value), _)) => built.push(Entry { key: entry.key.clone(), value }),
            }
        }
        is_known.then_some(built)
    }

    /// The value of an item or entry, and whether it is a map with directives.
    fn build_child(&mut self, parent: OccurrenceId, index: u32, child: &Node) -> Option<(Built, bool)> {
        if !self.arena.file(self.arena.get(parent).file).indexed.has_plus_keys(child) {
            return Some((Built::Node(child.clone()), false));
        }
        let occurrence = self.arena.child(parent, index)?;
        if self.arena.is_directive_map(occurrence) {
            return Some((self.value(occurrence, None)?, true));
        }
        Some((self.build(occurrence)?, false))
    }

    fn build_directive_map(&mut self, occurrence: OccurrenceId, node: &Node, entries: &[Entry]) -> Option<Built> {
        let own = self.build_entries(occurrence, entries);
        let directives = self.arena.directives_of(occurrence).to_vec();
        let mut contributions = Vec::with_capacity(directives.len());
        for &directive in &directives {
            contributions.push(self.contribution(directive));
        }
        let contributions: Vec<Contribution> = contributions.into_iter().collect::<Option<_>>()?;
        let own = own?;
        let has_other_keys = entries.len() > directives.len();
        let is_vanishing = |(directive, contribution): (&DirectiveId, &Contribution)| {
            matches!(contribution, Contribution::Missing(_)) && self.arena.directive(*directive).may_vanish()
        };
        let vanishes = !has_other_keys && directives.iter().zip(&contributions).all(is_vanishing);
        if vanishes && occurrence != Occurrences::ROOT {
            return Some(Built::Removed);
        }
        let is_alone = entries.len() == 1;
        let (bases, kept) = self.bases(&directives, contributions, is_alone);
        // A directive that fails, or whose content is not here, stays as it is written.
        let kept = kept.into_iter().map(|directive| {
            let it = self.arena.directive(directive);
            Entry { key: it.key.clone(), value: it.value.clone() }
        });
        let own = own.into_iter().chain(kept).collect();
        let own = Node { extra: node.extra.clone(), ..Node::map(own, node.span) };
        if let ([(directive, base)], true) = (bases.as_slice(), is_alone)
            && base.as_map().is_none()
        {
            let provenance = self.step_of(*directive);
            let brought = MergeSide { node: base, provenance: Some(&provenance) }.into_node();
            return Some(Built::Node(self.within_limits(occurrence, *directive, brought, own)));
        }
        let merged = self.merge(&bases, &own);
        let last = bases.last().map(|(directive, _)| *directive);
        Some(Built::Node(match last {
            Some(last) => self.within_limits(occurrence, last, merged, own),
            None => own,
        }))
    }

    /// What a directive contributes; `None` if something else must be known first.
    fn contribution(&mut self, directive: DirectiveId) -> Option<Contribution> {
        let layers = match self.target(directive, false)? {
            Target::Found(layers) => layers,
            Target::Nothing => return Some(Contribution::Nothing),
            Target::Missing { at } => return Some(Contribution::Missing(Problem::Missing { at })),
            Target::Broken(problem) => return Some(Contribution::Broken(problem)),
        };
        let owner = self.arena.directive(directive).occurrence;
        let mut nodes = Vec::with_capacity(layers.len());
        let mut is_known = true;
        for (index, TargetLayer { content, provenance }) in layers.iter().enumerate() {
            match content {
                // Below another layer, the map that holds the directive adds only what the directive adds to it.
                Content::Written(occurrence) if index > 0 && *occurrence == owner => {}
                Content::Value(node) => nodes.push((node.clone(), provenance.clone())),
                Content::Written(occurrence) => match self.value(*occurrence, Some(directive)) {
                    None => is_known = false,
                    Some(Built::Removed) => {}
                    Some(Built::Node(node)) => nodes.push((node, provenance.clone())),
                },
            }
        }
        if !is_known {
            return None;
        }
        Some(match self.fold(&nodes) {
            Some(node) => Contribution::Node(node),
            None => Contribution::Missing(Problem::Missing { at: "".into() }),
        })
    }

    /// The value that a directive contributes once everything is known; `None` if it is broken or unknown.
    pub(super) fn contribution_of(&mut self, directive: DirectiveId) -> Option<Option<Node>> {
        match self.contribution(directive)? {
            Contribution::Node(node) => Some(Some(node)),
            Contribution::Nothing | Contribution::Missing(_) => Some(None),
            Contribution::Broken(_) => None,
        }
    }

    /// The occurrence that a directive refers to, if its target consists of one written value.
    pub(super) fn only_occurrence(&mut self, directive: DirectiveId) -> Option<OccurrenceId> {
        match self.target(directive, false)? {
            Target::Found(layers) => match &*layers {
                [TargetLayer { content: Content::Written(occurrence), .. }] => Some(*occurrence),
                _ => None,
            },
            _ => None,
        }
    }

    /// Merges layers; the first is the uppermost.
    pub(super) fn fold(&mut self, layers: &[(Node, Option<Arc<Step>>)]) -> Option<Node> {
        let side = |(node, provenance): &'_ (Node, Option<Arc<Step>>)| -> Node {
            MergeSide { node, provenance: provenance.as_deref() }.into_node()
        };
        let (bottom, above) = layers.split_last()?;
        let Some((second, above)) = above.split_last() else { return Some(side(bottom)) };
        let keeps_history = self.history < LONGEST_HISTORY;
        let mut combiner = self.combiner(keeps_history);
        let over = |(base, base_provenance): (&Node, Option<&Step>),
                    (top, provenance): &(Node, Option<Arc<Step>>),
                    combiner: &mut Combiner<'_>| {
            combiner.one_over_other(
                MergeSide { node: base, provenance: base_provenance },
                MergeSide { node: top, provenance: provenance.as_deref() },
            )
        };
        let first = over((&bottom.0, bottom.1.as_deref()), second, &mut combiner);
        Some(above.iter().rev().fold(first, |base, top| over((&base, None), top, &mut combiner)))
    }

    /// The contributions that can be merged; problems of the others are reported, and their directives returned.
    fn bases(
        &mut self,
        directives: &[DirectiveId],
        contributions: Vec<Contribution>,
        is_alone: bool,
    ) -> (Vec<(DirectiveId, Node)>, Vec<DirectiveId>) {
        let mut bases = Vec::with_capacity(directives.len());
        let mut kept = Vec::new();
        for (&directive, contribution) in directives.iter().zip(contributions) {
            let problem = match contribution {
                Contribution::Node(node) if is_alone || node.as_map().is_some() => {
                    bases.push((directive, node));
                    continue;
                }
                Contribution::Node(node) => Problem::Conflict { found: node.type_of(), at: node.span },
                Contribution::Nothing => continue,
                Contribution::Missing(_) if self.is_optional(directive) => continue,
                Contribution::Missing(problem) => problem,
                Contribution::Broken(problem) => match (*problem).clone() {
                    Problem::Foreign(findings) if self.is_optional(directive) && are_mistakes(&findings) => {
                        self.problems.entry(directive).or_default().push(Problem::Ignored(findings));
                        continue;
                    }
                    problem => problem,
                },
            };
            kept.push(directive);
            self.problems.entry(directive).or_default().push(problem);
        }
        (bases, kept)
    }

    fn is_optional(&self, directive: DirectiveId) -> bool {
        self.arena.directive(directive).reference.as_ref().is_some_and(|reference| reference.is_optional)
    }

    /// Merges the bases, each over the ones before it, and the written map over all of them.
    fn merge(&mut self, bases: &[(DirectiveId, Node)], own: &Node) -> Node {
        let Some(((first, bottom), above)) = bases.split_first() else { return own.clone() };
        let keeps_history = self.history < LONGEST_HISTORY;
        self.history = self.history.saturating_add(1).min(LONGEST_HISTORY);
        let provenances: Vec<Step> = bases.iter().map(|(directive, _)| self.step_of(*directive)).collect();
        let mut combiner = self.combiner(keeps_history);
        let mut merged: Option<Node> = None;
        for ((_, top), provenance) in above.iter().zip(&provenances[1..]) {
            let base = match &merged {
                Some(node) => MergeSide { node, provenance: None },
                None => MergeSide { node: bottom, provenance: Some(&provenances[0]) },
            };
            merged = Some(combiner.maps(base, MergeSide { node: top, provenance: Some(provenance) }));
        }
        let base = match &merged {
            Some(node) => MergeSide { node, provenance: None },
            None => MergeSide { node: bottom, provenance: Some(&provenances[0]) },
        };
        let merged = combiner.maps(base, MergeSide { node: own, provenance: None });
        let forbidden = std::mem::take(&mut combiner.forbidden);
        for refusal in forbidden {
            let is_bringer =
                |directive: &DirectiveId| Some(self.arena.directive(*directive).key.span) == refusal.brought_at;
            let bringer = bases.iter().map(|(directive, _)| *directive).find(is_bringer).unwrap_or(*first);
            let problem = Problem::Forbidden { key: refusal.key, at: refusal.map };
            self.problems.entry(bringer).or_default().push(problem);
        }
        merged
    }

    fn combiner(&mut self, keeps_history: bool) -> Combiner<'_> {
        Combiner { profile: self.context.profile, produced: &mut self.produced, forbidden: Vec::new(), keeps_history }
    }

    fn step_of(&self, directive: DirectiveId) -> Step {
        let it = self.arena.directive(directive);
        Step::new(it.step_kind(), it.key.span)
    }

    /// The merged value, or only the written map if the merged one exceeds a limit.
    fn within_limits(&mut self, occurrence: OccurrenceId, directive: DirectiveId, merged: Node, own: Node) -> Node {
        let limits = self.context.limits;
        let problem =
            if u64::from(self.arena.get(occurrence).depth) + u64::from(merged.height()) > u64::from(limits.depth) {
                Problem::TooDeep { limit: limits.depth }
            } else if merged.size() > limits.nodes {
                Problem::TooMany { limit: limits.nodes }
            } else {
                return merged;
            };
        self.problems.entry(directive).or_default().push(problem);
        own
    }
}

/// Whether findings are about the text of a file, and not about reading it.
fn are_mistakes(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.rule.id.starts_with("document/"))
}

/// An item with the provenance of its list.
fn spliced_from(item: &Node, list: &Node) -> Node {
    match list.step() {
        Some(step) => item.clone().through(step.kind, step.at),
        None => item.clone(),
    }
}
