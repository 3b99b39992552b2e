//! Finds what a directive refers to, without expanding more of the document than the path to the target.
//!
//! A value of the expanded document may be written in several places: beside a directive and in what the directive brings in. So a
//! target is a stack of layers, with the one that wins on top.

use std::sync::Arc;

use smol_str::SmolStr;

use super::MergeProfile;
use super::arena::{DirectiveId, OccurrenceId, Occurrences, Position};
use super::combine::Strategy;
use super::engine::{Engine, Query};
use super::key::Reference;
use super::problem::Problem;
use super::target::{Content, Inclusion, LayerShape, Target, TargetLayer};
use crate::path::Pointer;
use crate::value::{Node, Step, Value, list_index};

/// The layers at a path, or the first part of the path that does not exist.
type PathResult = Result<Vec<TargetLayer>, SmolStr>;

/// The longest provenance that is kept; it is meant for people to read.
const LONGEST_PROVENANCE: usize = 64;

impl Engine<'_> {
    /// Finds what a directive refers to.
    pub(super) fn find(&mut self, directive: DirectiveId, by: Query) -> Option<Target> {
        let Some(reference) = self.arena.directive(directive).reference.clone() else {
            return Some(Target::Broken(Arc::new(Problem::BadEscape)));
        };
        let mut is_raw = self.arena.directive(directive).is_raw();
        let start = if reference.is_include {
            match self.inclusion(directive) {
                Inclusion::Empty => return Some(Target::Nothing),
                Inclusion::Absent if reference.is_optional => return Some(Target::Nothing),
                Inclusion::Absent => return Some(Target::Broken(Arc::new(Problem::FileNotFound))),
                Inclusion::Broken(problem) => return Some(Target::Broken(problem)),
                Inclusion::File { root, fragment, is_raw: as_written } => {
                    is_raw = as_written;
                    self.start_in_file(root, fragment.as_ref(), &reference, by)?
                }
            }
        } else {
            self.start_in_document(directive, &reference, by)?
        };
        let found = match start {
            Ok(start) => self.walk(start, &reference.pointer, by)?,
            Err(at) => Err(at),
        };
        Some(match found {
            Ok(layers) if is_raw => Target::Found(self.as_written(layers)),
            Ok(layers) => Target::Found(layers.into()),
            Err(at) => Target::Missing { at },
        })
    }

    fn start_in_document(&mut self, directive: DirectiveId, reference: &Reference, by: Query) -> Option<PathResult> {
        let start = match &reference.anchor {
            Some(anchor) => match self.anchors().get(anchor) {
                Some(&occurrence) if reference.dots <= 1 => return Some(Ok(vec![TargetLayer::written(occurrence)])),
                Some(&occurrence) => occurrence,
                None => return Some(Err(SmolStr::from_iter(["*", anchor]))),
            },
            None if reference.dots == 0 => Occurrences::ROOT,
            None => self.arena.position_in_document(self.arena.directive(directive).occurrence),
        };
        let occurrence = (1..reference.dots).fold(start, |occurrence, _| self.arena.climb(occurrence));
        self.view(occurrence, by).map(Ok)
    }

    fn start_in_file(
        &mut self,
        root: OccurrenceId,
        fragment: Option<&Pointer>,
        reference: &Reference,
        by: Query,
    ) -> Option<PathResult> {
        let start = match &reference.anchor {
            Some(anchor) => match self.anchor_in_file(root, anchor) {
                Some(occurrence) => occurrence,
                None => return Some(Err(SmolStr::from_iter(["*", anchor]))),
            },
            None => root,
        };
        let climb = |occurrence: OccurrenceId| match self.arena.get(occurrence).position {
            Position::Child { parent, .. } => parent,
            _ => root,
        };
        let occurrence = (1..reference.dots).fold(start, |occurrence, _| climb(occurrence));
        match fragment.filter(|_| reference.anchor.is_none()) {
            Some(fragment) => self.walk(vec![TargetLayer::written(occurrence)], fragment, by),
            None => Some(Ok(vec![TargetLayer::written(occurrence)])),
        }
    }

    /// The layers at a pointer below the start; the error is the part of the pointer that does not exist.
    fn walk(&mut self, start: Vec<TargetLayer>, pointer: &Pointer, by: Query) -> Option<PathResult> {
        let mut layers = start;
        for (level, token) in pointer.tokens().iter().enumerate() {
            layers = self.step(&layers, token, by)?;
            if layers.is_empty() {
                let missing: Pointer = pointer.tokens()[..=level].iter().cloned().collect();
                return Some(Err(missing.to_string().into()));
            }
        }
        Some(Ok(layers))
    }

    /// The layers under a key or index of a stack of layers.
    fn step(&mut self, layers: &[TargetLayer], token: &SmolStr, by: Query) -> Option<Vec<TargetLayer>> {
        if let [only] = layers {
            return self.step_in(only, token, by);
        }
        if self.context.profile == MergeProfile::Unfurl && self.shape_of(&layers[0])? == LayerShape::List {
            let Some(joined) = self.joined(layers, by)? else { return self.step_in(&layers[0], token, by) };
            return Some(child(&joined, token).map(|node| TargetLayer::value(node.clone())).into_iter().collect());
        }
        let mut parts = Vec::new();
        let mut is_known = true;
        for layer in layers {
            match self.step_in(layer, token, by) {
                Some(found) => parts.extend(found),
                None => is_known = false,
            }
        }
        if is_known { self.pile(parts) } else { None }
    }

    fn step_in(&mut self, layer: &TargetLayer, token: &SmolStr, by: Query) -> Option<Vec<TargetLayer>> {
        let occurrence = match &layer.content {
            Content::Written(occurrence) => *occurrence,
            Content::Value(node) => {
                let found = child(node, token).map(|node| TargetLayer::value(node.clone()));
                return Some(
                    found
                        .map(|found| TargetLayer { provenance: layer.provenance.clone(), ..found })
                        .into_iter()
                        .collect(),
                );
            }
        };
        let below = match &self.arena.get(occurrence).node.value {
            Value::Map(_) if self.arena.is_directive_map(occurrence) => self.member(occurrence, token)?,
            Value::Map(_) => self.arena.member(occurrence, token).map(TargetLayer::written).into_iter().collect(),
            Value::List(_) => self.item(occurrence, token, by)?.into_iter().collect(),
            _ => Vec::new(),
        };
        Some(
            below
                .into_iter()
                .map(|below| TargetLayer {
                    provenance: joined_provenance(below.provenance, layer.provenance.as_ref()),
                    ..below
                })
                .collect(),
        )
    }

    /// The merged value of layers that are lists, whose items have no index before; `Some(None)` if it cannot be computed now.
    fn joined(&mut self, layers: &[TargetLayer], by: Query) -> Option<Option<Node>> {
        let mut nodes = Vec::with_capacity(layers.len());
        for layer in layers {
            let node = match &layer.content {
                Content::Value(node) => Some(node.clone()),
                Content::Written(occurrence) => self.forced(*occurrence, by)?,
            };
            match node {
                Some(node) => nodes.push((node, layer.provenance.clone())),
                None => return Some(None),
            }
        }
        Some(self.fold(&nodes))
    }

    /// What a map with directives has under a key: what is written there, over what its directives bring in.
    pub(super) fn member_of_directive_map(
        &mut self,
        occurrence: OccurrenceId,
        token: &SmolStr,
        by: Query,
    ) -> Option<Vec<TargetLayer>> {
        let mut parts: Vec<TargetLayer> =
            self.arena.member(occurrence, token).map(TargetLayer::written).into_iter().collect();
        let mut is_known = true;
        let mut is_merged = false;
        for directive in self.arena.directives_of(occurrence).to_vec().into_iter().rev() {
            match self.target(directive, true) {
                Some(Target::Found(layers)) => match self.step(&layers, token, by) {
                    Some(found) => {
                        is_merged = true;
                        let it = self.arena.directive(directive);
                        let provenance = Some(Arc::new(Step::new(it.step_kind(), it.key.span)));
                        let found = found.into_iter();
                        parts.extend(found.map(|part| TargetLayer {
                            provenance: joined_provenance(part.provenance, provenance.as_ref()),
                            ..part
                        }));
                    }
                    None => is_known = false,
                },
                Some(_) => {}
                None => is_known = false,
            }
        }
        self.produced = self.produced.saturating_add(parts.len() as u64);
        match (is_known, is_merged) {
            (true, true) => self.pile(parts),
            // Marks have an effect only where something is merged.
            (true, false) => Some(parts),
            (false, _) => None,
        }
    }

    /// Drops the layers that are overridden by those above them.
    fn pile(&mut self, parts: Vec<TargetLayer>) -> Option<Vec<TargetLayer>> {
        let mut shapes = Vec::with_capacity(parts.len());
        for part in &parts {
            shapes.push(self.shape_of(part));
        }
        let shapes: Vec<LayerShape> = shapes.into_iter().collect::<Option<_>>()?;
        if shapes.iter().all(|shape| *shape == LayerShape::Absent) {
            // It is removed when its value is built.
            return Some(parts.into_iter().take(1).collect());
        }
        let mut present: Vec<(TargetLayer, LayerShape)> =
            parts.into_iter().zip(shapes).filter(|(_, shape)| *shape != LayerShape::Absent).collect();
        let joins = self.context.profile == MergeProfile::Unfurl;
        if joins && present.len() > 1 && present[0].1 == LayerShape::Null && matches!(present[1].1, LayerShape::Map(_))
        {
            present.remove(0);
        }
        let height = match present.first().map(|(_, shape)| *shape) {
            None | Some(LayerShape::Map(Strategy::Whiteout)) => 0,
            Some(LayerShape::Map(Strategy::Nullout)) if present.len() > 1 => {
                let span = match &present[0].0.content {
                    Content::Written(occurrence) => self.arena.get(*occurrence).node.span,
                    Content::Value(node) => node.span,
                };
                return Some(vec![TargetLayer::value(Node::new(Value::Null, span))]);
            }
            Some(LayerShape::Map(top)) => maps_in_pile(top, &present),
            Some(LayerShape::List) if joins => {
                present.iter().take_while(|(_, shape)| *shape == LayerShape::List).count()
            }
            Some(_) => 1,
        };
        present.truncate(height);
        Some(present.into_iter().map(|(layer, _)| layer).collect())
    }

    fn shape_of(&mut self, layer: &TargetLayer) -> Option<LayerShape> {
        let occurrence = match &layer.content {
            Content::Value(node) => return Some(LayerShape::from_node(node)),
            Content::Written(occurrence) => self.arena.get(*occurrence),
        };
        match &occurrence.directive_map {
            None => Some(LayerShape::from_node(&occurrence.node)),
            // A map that was merged loses its mark.
            Some(directive_map) if directive_map.has_other_keys => Some(LayerShape::PLAIN_MAP),
            Some(_) => match layer.content {
                Content::Written(occurrence) => self.shape(occurrence),
                Content::Value(_) => None,
            },
        }
    }

    /// What a map with nothing but directives expands to.
    pub(super) fn shape_of_directive_map(&mut self, occurrence: OccurrenceId) -> Option<LayerShape> {
        let directives = self.arena.directives_of(occurrence).to_vec();
        let mut targets = Vec::with_capacity(directives.len());
        for &directive in &directives {
            targets.push(self.target(directive, true));
        }
        let targets: Vec<Target> = targets.into_iter().collect::<Option<_>>()?;
        let vanishes = |(directive, target): (&DirectiveId, &Target)| {
            matches!(target, Target::Missing { .. }) && self.arena.directive(*directive).may_vanish()
        };
        if directives.iter().zip(&targets).all(vanishes) {
            return Some(LayerShape::Absent);
        }
        match targets.as_slice() {
            [Target::Found(layers)] => match self.shape_of(&layers[0])? {
                LayerShape::Map(_) => Some(LayerShape::PLAIN_MAP),
                shape => Some(shape),
            },
            _ => Some(LayerShape::PLAIN_MAP),
        }
    }

    /// An item by its index in the expanded list, where other lists may be spliced in before it.
    fn item(&mut self, list: OccurrenceId, token: &SmolStr, by: Query) -> Option<Option<TargetLayer>> {
        let Some(wanted) = list_index(token) else { return Some(None) };
        let occurrence = self.arena.get(list);
        if !occurrence.has_plus_keys {
            return Some(self.arena.item(list, token).map(TargetLayer::written));
        }
        let is_shifted = self.first_spread(list).is_some_and(|first| first <= wanted);
        let forced = if is_shifted { self.forced(list, by)? } else { None };
        let Some(value) = forced else { return Some(self.arena.item(list, token).map(TargetLayer::written)) };
        let found = value.as_list().and_then(|items| items.get(wanted));
        Some(found.map(|node| TargetLayer::value(node.clone())))
    }

    /// The index of the first item of a list that may expand to no item or to several.
    fn first_spread(&mut self, list: OccurrenceId) -> Option<usize> {
        if let Some(&known) = self.first_spread.get(&list) {
            return known;
        }
        let indexed = Arc::clone(&self.arena.file(self.arena.get(list).file).indexed);
        let node = self.arena.get(list).node.clone();
        let items = (0..).zip(node.as_list().unwrap_or_default()).enumerate();
        let mut first = None;
        for (position, (index, item)) in items {
            let occurrence = if indexed.has_plus_keys(item) { self.arena.child(list, index) } else { None };
            let directive_map = occurrence.and_then(|occurrence| self.arena.get(occurrence).directive_map.as_ref());
            if directive_map.is_some_and(|directive_map| !directive_map.has_other_keys) {
                first = Some(position);
                break;
            }
        }
        self.first_spread.insert(list, first);
        first
    }

    /// All layers of a value of the expanded document: what is written there, and what directives of its ancestors add.
    fn view(&mut self, occurrence: OccurrenceId, by: Query) -> Option<Vec<TargetLayer>> {
        if !self.arena.get(occurrence).is_below_directive_map {
            return Some(vec![TargetLayer::written(occurrence)]);
        }
        let mut ancestors = vec![occurrence];
        let mut top = occurrence;
        while let Position::Child { parent, .. } = self.arena.get(top).position {
            top = self.arena.position_in_document(parent);
            ancestors.push(top);
        }
        let mut layers = vec![TargetLayer::written(top)];
        for pair in ancestors.windows(2).rev() {
            let (below, above) = (pair[0], pair[1]);
            let Position::Child { parent, index } = self.arena.get(below).position else { break };
            let key = match &self.arena.get(parent).node.value {
                Value::Map(map) => map.entries().get(index as usize).map(|entry| entry.key.name.clone()),
                _ => None,
            };
            let is_plain =
                matches!(layers.as_slice(), [only] if only.is_written_at(above)) && !self.arena.is_directive_map(above);
            layers = match key {
                Some(key) if !is_plain => self.step(&layers, &key, by)?,
                _ => vec![TargetLayer::written(below)],
            };
            if layers.is_empty() {
                layers = vec![TargetLayer::written(below)];
            }
        }
        Some(layers)
    }

    /// The layers unexpanded, with their directives as plain keys.
    fn as_written(&self, layers: Vec<TargetLayer>) -> Arc<[TargetLayer]> {
        let written = |layer: TargetLayer| match layer.content {
            Content::Written(occurrence) => {
                TargetLayer { content: Content::Value(self.arena.get(occurrence).node.clone()), ..layer }
            }
            Content::Value(_) => layer,
        };
        layers.into_iter().map(written).collect()
    }
}

/// The number of maps from the top that are merged, up to the first that ends the stack.
fn maps_in_pile(top: Strategy, pile: &[(TargetLayer, LayerShape)]) -> usize {
    if matches!(top, Strategy::Nullout | Strategy::Replace) {
        return 1;
    }
    let mut upper = top;
    let mut height = 1;
    for (_, shape) in &pile[1..] {
        let LayerShape::Map(lower) = *shape else { break };
        match Strategy::between(lower, upper) {
            Strategy::Merge { .. } | Strategy::Error => {}
            Strategy::Whiteout | Strategy::Nullout | Strategy::Replace => break,
        }
        upper = Strategy::Merge { is_explicit: false };
        height += 1;
    }
    height
}

fn child<'a>(node: &'a Node, token: &str) -> Option<&'a Node> {
    match &node.value {
        Value::Map(map) => map.get(token),
        Value::List(list) => list.items().get(list_index(token)?),
        _ => None,
    }
}

/// The provenance of a part, followed by that of the whole.
fn joined_provenance(part: Option<Arc<Step>>, whole: Option<&Arc<Step>>) -> Option<Arc<Step>> {
    let Some(part) = part else { return whole.map(Arc::clone) };
    let Some(whole) = whole else { return Some(part) };
    let is_long = std::iter::successors(Some(&*part), |step| step.before.as_deref()).nth(LONGEST_PROVENANCE).is_some();
    if is_long {
        return Some(part);
    }
    let steps = whole.chain();
    let joined = steps.iter().fold(part, |before, step| Arc::new(Step::new(step.kind, step.at).after(before)));
    Some(joined)
}
