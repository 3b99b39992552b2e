//! Builds expanded values: what is written, on what its directives bring.

use std::sync::Arc;

use super::combine::{Combiner, Side};
use super::engine::{Built, Engine};
use super::ground::{DirectiveId, PlaceId, is_member};
use super::lookup::{Content, Layer, Target};
use super::trouble::Trouble;
use crate::value::{Entry, Node, Step, Value};

/// Overridden values can have overridden values in them; beyond this many the older ones are forgotten.
const LONGEST_HISTORY: u32 = 200;

/// What a directive contributes.
enum Contribution {
    Node(Node),
    Nothing,
    /// Its target does not exist.
    Missing(Trouble),
    Broken(Arc<Trouble>),
}

impl Engine<'_> {
    /// What stands at a place after expansion; none if something else must be known first.
    pub(super) fn build(&mut self, place: PlaceId) -> Option<Built> {
        if !self.ground.place(place).is_marked {
            return Some(Built::Node(self.ground.place(place).node.clone()));
        }
        if let Some((built, history)) = self.values.get(&place) {
            self.history = self.history.max(*history);
            return Some(built.clone());
        }
        let node = self.ground.place(place).node.clone();
        let built = match &node.value {
            Value::List(list) => self.build_list(place, &node, list.items())?,
            Value::Map(map) if self.ground.is_point(place) => self.build_point(place, &node, map.entries())?,
            Value::Map(map) => {
                let entries = self.build_entries(place, map.entries())?;
                self.produced = self.produced.saturating_add(entries.len() as u64);
                Built::Node(Node { extra: node.extra.clone(), ..Node::map(entries, node.span) })
            }
            _ => Built::Node(node),
        };
        self.values.insert(place, (built.clone(), self.history));
        Some(built)
    }

    fn build_list(&mut self, place: PlaceId, node: &Node, items: &[Node]) -> Option<Built> {
        let mut built = Vec::with_capacity(items.len());
        let mut is_known = true;
        for (index, item) in (0..).zip(items) {
            match self.build_child(place, index, item) {
                None => is_known = false,
                Some((Built::Removed, _)) => {}
                Some((Built::Node(item), is_point)) => match item.as_list().filter(|_| is_point) {
                    // The list takes the place of the map; what brought the list brought each of its items.
                    Some(spliced) => built.extend(spliced.iter().map(|part| spliced_from(part, &item))),
                    None => built.push(item),
                },
            }
        }
        self.produced = self.produced.saturating_add(built.len() as u64);
        is_known.then(|| Built::Node(Node { extra: node.extra.clone(), ..Node::list(built, node.span) }))
    }

    fn build_entries(&mut self, place: PlaceId, entries: &[Entry]) -> Option<Vec<Entry>> {
        let mut built = Vec::with_capacity(entries.len());
        let mut is_known = true;
        for (index, entry) in (0..).zip(entries) {
            if !is_member(entry) {
                continue;
            }
            match self.build_child(place, index, &entry.value) {
                None => is_known = false,
                Some((Built::Removed, _)) => {}
                Some((Built::Node(value), _)) => built.push(Entry { key: entry.key.clone(), value }),
            }
        }
        is_known.then_some(built)
    }

    /// The value of an item or entry, and whether it is a map with directives.
    fn build_child(&mut self, parent: PlaceId, index: u32, child: &Node) -> Option<(Built, bool)> {
        if !self.ground.file(self.ground.place(parent).file).marked.is_marked(child) {
            return Some((Built::Node(child.clone()), false));
        }
        let place = self.ground.child(parent, index)?;
        if self.ground.is_point(place) {
            return Some((self.value(place, None)?, true));
        }
        Some((self.build(place)?, false))
    }

    fn build_point(&mut self, place: PlaceId, node: &Node, entries: &[Entry]) -> Option<Built> {
        let own = self.build_entries(place, entries);
        let directives = self.ground.directives_of(place).to_vec();
        let mut contributions = Vec::with_capacity(directives.len());
        for &directive in &directives {
            contributions.push(self.contribution(directive));
        }
        let contributions: Vec<Contribution> = contributions.into_iter().collect::<Option<_>>()?;
        let own = own?;
        let has_other_keys = entries.len() > directives.len();
        let is_vanishing = |(directive, contribution): (&DirectiveId, &Contribution)| {
            matches!(contribution, Contribution::Missing(_)) && self.ground.directive(*directive).may_vanish()
        };
        let vanishes = !has_other_keys && directives.iter().zip(&contributions).all(is_vanishing);
        if vanishes && place != super::ground::Ground::ROOT {
            return Some(Built::Removed);
        }
        let own = Node { extra: node.extra.clone(), ..Node::map(own, node.span) };
        let is_alone = entries.len() == 1;
        let bases = self.bases(&directives, contributions, is_alone);
        if let ([(directive, base)], true) = (bases.as_slice(), is_alone)
            && base.as_map().is_none()
        {
            let way = self.step_of(*directive);
            let brought = Side { node: base, way: Some(&way) }.brought();
            return Some(Built::Node(self.within_limits(place, *directive, brought, own)));
        }
        let merged = self.merge(&bases, &own);
        let last = bases.last().map(|(directive, _)| *directive);
        Some(Built::Node(match last {
            Some(last) => self.within_limits(place, last, merged, own),
            None => own,
        }))
    }

    /// What a directive brings; none if something else must be known first.
    fn contribution(&mut self, directive: DirectiveId) -> Option<Contribution> {
        let layers = match self.target(directive, false)? {
            Target::Found(layers) => layers,
            Target::Nothing => return Some(Contribution::Nothing),
            Target::Missing { at } => return Some(Contribution::Missing(Trouble::Missing { at })),
            Target::Broken(trouble) => return Some(Contribution::Broken(trouble)),
        };
        let mut nodes = Vec::with_capacity(layers.len());
        let mut is_known = true;
        for Layer { content, way } in layers.iter() {
            match content {
                Content::Value(node) => nodes.push((node.clone(), way.clone())),
                Content::At(place) => match self.value(*place, Some(directive)) {
                    None => is_known = false,
                    Some(Built::Removed) => {}
                    Some(Built::Node(node)) => nodes.push((node, way.clone())),
                },
            }
        }
        if !is_known {
            return None;
        }
        Some(match self.fold(&nodes) {
            Some(node) => Contribution::Node(node),
            None => Contribution::Missing(Trouble::Missing { at: "".into() }),
        })
    }

    /// What a directive brings once everything is known, or nothing; none if it is broken or unknown.
    pub(super) fn contribution_of(&mut self, directive: DirectiveId) -> Option<Option<Node>> {
        match self.contribution(directive)? {
            Contribution::Node(node) => Some(Some(node)),
            Contribution::Nothing | Contribution::Missing(_) => Some(None),
            Contribution::Broken(_) => None,
        }
    }

    /// The place that a directive refers to, if what it refers to is written in one place.
    pub(super) fn only_place(&mut self, directive: DirectiveId) -> Option<PlaceId> {
        match self.target(directive, false)? {
            Target::Found(layers) => match &*layers {
                [Layer { content: Content::At(place), .. }] => Some(*place),
                _ => None,
            },
            _ => None,
        }
    }

    /// Layers become one value; the first is the uppermost.
    pub(super) fn fold(&mut self, layers: &[(Node, Option<Arc<Step>>)]) -> Option<Node> {
        let side =
            |(node, way): &'_ (Node, Option<Arc<Step>>)| -> Node { Side { node, way: way.as_deref() }.brought() };
        let (bottom, above) = layers.split_last()?;
        let Some((second, above)) = above.split_last() else { return Some(side(bottom)) };
        let keeps_history = self.history < LONGEST_HISTORY;
        let mut combiner = self.combiner(keeps_history);
        let over = |(base, base_way): (&Node, Option<&Step>),
                    (top, way): &(Node, Option<Arc<Step>>),
                    combiner: &mut Combiner<'_>| {
            combiner.one_over_other(Side { node: base, way: base_way }, Side { node: top, way: way.as_deref() })
        };
        let first = over((&bottom.0, bottom.1.as_deref()), second, &mut combiner);
        Some(above.iter().rev().fold(first, |base, top| over((&base, None), top, &mut combiner)))
    }

    /// What can be merged, with what is wrong with the rest reported.
    fn bases(
        &mut self,
        directives: &[DirectiveId],
        contributions: Vec<Contribution>,
        is_alone: bool,
    ) -> Vec<(DirectiveId, Node)> {
        let mut bases = Vec::with_capacity(directives.len());
        for (&directive, contribution) in directives.iter().zip(contributions) {
            let trouble = match contribution {
                Contribution::Node(node) if is_alone || node.as_map().is_some() => {
                    bases.push((directive, node));
                    continue;
                }
                Contribution::Node(node) => Trouble::Conflict { found: node.type_of(), at: node.span },
                Contribution::Nothing => continue,
                Contribution::Missing(_) if self.is_optional(directive) => continue,
                Contribution::Missing(trouble) => trouble,
                Contribution::Broken(trouble) => (*trouble).clone(),
            };
            self.troubles.entry(directive).or_default().push(trouble);
        }
        bases
    }

    fn is_optional(&self, directive: DirectiveId) -> bool {
        self.ground.directive(directive).reference.as_ref().is_some_and(|reference| reference.is_optional)
    }

    /// The bases in order, each over the ones before it, and what is written over all of them.
    fn merge(&mut self, bases: &[(DirectiveId, Node)], own: &Node) -> Node {
        let Some(((first, bottom), above)) = bases.split_first() else { return own.clone() };
        let keeps_history = self.history < LONGEST_HISTORY;
        self.history = self.history.saturating_add(1).min(LONGEST_HISTORY);
        let ways: Vec<Step> = bases.iter().map(|(directive, _)| self.step_of(*directive)).collect();
        let mut combiner = self.combiner(keeps_history);
        let mut merged: Option<Node> = None;
        for ((_, top), way) in above.iter().zip(&ways[1..]) {
            let base = match &merged {
                Some(node) => Side { node, way: None },
                None => Side { node: bottom, way: Some(&ways[0]) },
            };
            merged = Some(combiner.maps(base, Side { node: top, way: Some(way) }));
        }
        let base = match &merged {
            Some(node) => Side { node, way: None },
            None => Side { node: bottom, way: Some(&ways[0]) },
        };
        let merged = combiner.maps(base, Side { node: own, way: None });
        let forbidden = std::mem::take(&mut combiner.forbidden);
        for refusal in forbidden {
            let is_bringer =
                |directive: &DirectiveId| Some(self.ground.directive(*directive).key.span) == refusal.brought_at;
            let bringer = bases.iter().map(|(directive, _)| *directive).find(is_bringer).unwrap_or(*first);
            let trouble = Trouble::Forbidden { key: refusal.key, at: refusal.map };
            self.troubles.entry(bringer).or_default().push(trouble);
        }
        merged
    }

    fn combiner(&mut self, keeps_history: bool) -> Combiner<'_> {
        Combiner { profile: self.context.profile, produced: &mut self.produced, forbidden: Vec::new(), keeps_history }
    }

    fn step_of(&self, directive: DirectiveId) -> Step {
        let it = self.ground.directive(directive);
        Step::new(it.step_kind(), it.key.span)
    }

    /// The merged value, or only what is written if that would be too much.
    fn within_limits(&mut self, place: PlaceId, directive: DirectiveId, merged: Node, own: Node) -> Node {
        let limits = self.context.limits;
        let trouble =
            if u64::from(self.ground.place(place).depth) + u64::from(merged.height()) > u64::from(limits.depth) {
                Trouble::TooDeep { limit: limits.depth }
            } else if merged.size() > limits.nodes {
                Trouble::TooMany { limit: limits.nodes }
            } else {
                return merged;
            };
        self.troubles.entry(directive).or_default().push(trouble);
        own
    }
}

/// An item that came with its list.
fn spliced_from(item: &Node, list: &Node) -> Node {
    match list.step() {
        Some(step) => item.clone().through(step.kind, step.at),
        None => item.clone(),
    }
}
