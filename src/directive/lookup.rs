//! Finds what a directive refers to, without expanding more of the document than the way there.
//!
//! What stands under a path in the expanded document may be written in several places: beside a directive and in what the
//! directive brings. So a target is a pile of layers, the one that wins on top.

use std::sync::Arc;

use smol_str::SmolStr;

use super::MergeProfile;
use super::combine::Strategy;
use super::engine::{Engine, Query};
use super::ground::{DirectiveId, Ground, PlaceId, Position};
use super::inclusion::Inclusion;
use super::key::Reference;
use super::trouble::Trouble;
use crate::path::Pointer;
use crate::value::{Node, Step, Value, list_index};

/// What a directive refers to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// Something: layers from the top down, at least one.
    Found(Arc<[Layer]>),
    /// A file without content, or a missing file that may be missing.
    Nothing,
    /// Nothing is there; how far the way goes.
    Missing { at: SmolStr },
    /// The directive cannot be followed.
    Broken(Arc<Trouble>),
}

/// One of the values that together stand at a place.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    pub(super) content: Content,
    /// The directives that bring it there.
    pub(super) way: Option<Arc<Step>>,
}

#[derive(Debug, Clone)]
pub(super) enum Content {
    /// What is written at a place, to be expanded.
    At(PlaceId),
    /// A finished value.
    Value(Node),
}

/// What a layer is, as far as merging asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Map(Strategy),
    List,
    Null,
    Scalar,
    /// A map of references to what is not there, and may be missing.
    Absent,
}

/// Where a way leads, or the first part of it that does not exist.
type Way = Result<Vec<Layer>, SmolStr>;

/// Ways longer than this are cut: they are for people to read.
const LONGEST_WAY: usize = 64;

impl Layer {
    pub(super) fn at(place: PlaceId) -> Self {
        Self { content: Content::At(place), way: None }
    }

    fn value(node: Node) -> Self {
        Self { content: Content::Value(node), way: None }
    }

    fn is_at(&self, place: PlaceId) -> bool {
        matches!(self.content, Content::At(at) if at == place)
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Content::At(a), Content::At(b)) => a == b,
            (Content::Value(a), Content::Value(b)) => a.is_identical(b),
            _ => false,
        }
    }
}

impl Shape {
    pub(super) const PLAIN_MAP: Self = Self::Map(Strategy::Merge { is_explicit: false });

    fn of(node: &Node) -> Self {
        match &node.value {
            Value::Map(map) => Self::Map(Strategy::of(map)),
            Value::List(_) => Self::List,
            Value::Null => Self::Null,
            _ => Self::Scalar,
        }
    }
}

/// Whether two searches came to the same result.
pub(super) fn is_same_target(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Found(a), Target::Found(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is_same(b)),
        (Target::Nothing, Target::Nothing)
        | (Target::Missing { .. }, Target::Missing { .. })
        | (Target::Broken(_), Target::Broken(_)) => true,
        _ => false,
    }
}

impl Engine<'_> {
    /// Finds what a directive refers to.
    pub(super) fn find(&mut self, directive: DirectiveId, by: Query) -> Option<Target> {
        let Some(reference) = self.ground.directive(directive).reference.clone() else {
            return Some(Target::Broken(Arc::new(Trouble::BadEscape)));
        };
        let mut is_raw = self.ground.directive(directive).is_raw();
        let start = if reference.is_include {
            match self.inclusion(directive) {
                Inclusion::Empty => return Some(Target::Nothing),
                Inclusion::Absent if reference.is_optional => return Some(Target::Nothing),
                Inclusion::Absent => return Some(Target::Broken(Arc::new(Trouble::FileNotFound))),
                Inclusion::Broken(trouble) => return Some(Target::Broken(trouble)),
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

    fn start_in_document(&mut self, directive: DirectiveId, reference: &Reference, by: Query) -> Option<Way> {
        let start = match &reference.anchor {
            Some(anchor) => match self.anchors().get(anchor) {
                Some(&place) if reference.dots <= 1 => return Some(Ok(vec![Layer::at(place)])),
                Some(&place) => place,
                None => return Some(Err(SmolStr::from_iter(["*", anchor]))),
            },
            None if reference.dots == 0 => Ground::ROOT,
            None => self.ground.seat(self.ground.directive(directive).place),
        };
        let place = (1..reference.dots).fold(start, |place, _| self.ground.climb(place));
        self.view(place, by).map(Ok)
    }

    fn start_in_file(
        &mut self,
        root: PlaceId,
        fragment: Option<&Pointer>,
        reference: &Reference,
        by: Query,
    ) -> Option<Way> {
        let start = match &reference.anchor {
            Some(anchor) => match self.anchor_in_file(root, anchor) {
                Some(place) => place,
                None => return Some(Err(SmolStr::from_iter(["*", anchor]))),
            },
            None => root,
        };
        let climb = |place: PlaceId| match self.ground.place(place).position {
            Position::Child { parent, .. } => parent,
            _ => root,
        };
        let place = (1..reference.dots).fold(start, |place, _| climb(place));
        match fragment.filter(|_| reference.anchor.is_none()) {
            Some(fragment) => self.walk(vec![Layer::at(place)], fragment, by),
            None => Some(Ok(vec![Layer::at(place)])),
        }
    }

    /// Goes down; the error is the part of the way that does not exist.
    fn walk(&mut self, start: Vec<Layer>, pointer: &Pointer, by: Query) -> Option<Way> {
        let mut layers = start;
        for (level, token) in pointer.tokens().iter().enumerate() {
            layers = self.step(&layers, token, by)?;
            if layers.is_empty() {
                let way: Pointer = pointer.tokens()[..=level].iter().cloned().collect();
                return Some(Err(way.to_string().into()));
            }
        }
        Some(Ok(layers))
    }

    /// What stands under a key or index of a pile of layers.
    fn step(&mut self, layers: &[Layer], token: &SmolStr, by: Query) -> Option<Vec<Layer>> {
        if let [only] = layers {
            return self.step_in(only, token, by);
        }
        if self.context.profile == MergeProfile::Unfurl && self.shape_of(&layers[0])? == Shape::List {
            let Some(joined) = self.joined(layers, by)? else { return self.step_in(&layers[0], token, by) };
            return Some(child(&joined, token).map(|node| Layer::value(node.clone())).into_iter().collect());
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

    fn step_in(&mut self, layer: &Layer, token: &SmolStr, by: Query) -> Option<Vec<Layer>> {
        let place = match &layer.content {
            Content::At(place) => *place,
            Content::Value(node) => {
                let found = child(node, token).map(|node| Layer::value(node.clone()));
                return Some(found.map(|found| Layer { way: layer.way.clone(), ..found }).into_iter().collect());
            }
        };
        let below = match &self.ground.place(place).node.value {
            Value::Map(_) if self.ground.is_point(place) => self.member(place, token)?,
            Value::Map(_) => self.ground.member(place, token).map(Layer::at).into_iter().collect(),
            Value::List(_) => self.item(place, token, by)?.into_iter().collect(),
            _ => Vec::new(),
        };
        Some(below.into_iter().map(|below| Layer { way: joined_way(below.way, layer.way.as_ref()), ..below }).collect())
    }

    /// Lists that are joined have no items until they are; none if that cannot be done now.
    fn joined(&mut self, layers: &[Layer], by: Query) -> Option<Option<Node>> {
        let mut nodes = Vec::with_capacity(layers.len());
        for layer in layers {
            let node = match &layer.content {
                Content::Value(node) => Some(node.clone()),
                Content::At(place) => self.forced(*place, by)?,
            };
            match node {
                Some(node) => nodes.push((node, layer.way.clone())),
                None => return Some(None),
            }
        }
        Some(self.fold(&nodes))
    }

    /// What a map with directives has under a key: what is written there, on what its directives bring.
    pub(super) fn member_of_point(&mut self, place: PlaceId, token: &SmolStr, by: Query) -> Option<Vec<Layer>> {
        let mut parts: Vec<Layer> = self.ground.member(place, token).map(Layer::at).into_iter().collect();
        let mut is_known = true;
        let mut is_merged = false;
        for directive in self.ground.directives_of(place).to_vec().into_iter().rev() {
            match self.target(directive, true) {
                Some(Target::Found(layers)) => match self.step(&layers, token, by) {
                    Some(found) => {
                        is_merged = true;
                        let it = self.ground.directive(directive);
                        let way = Some(Arc::new(Step::new(it.step_kind(), it.key.span)));
                        let found = found.into_iter();
                        parts.extend(found.map(|part| Layer { way: joined_way(part.way, way.as_ref()), ..part }));
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
            // Marks take effect only where something is merged.
            (true, false) => Some(parts),
            (false, _) => None,
        }
    }

    /// Drops the layers that the ones above them hide.
    fn pile(&mut self, parts: Vec<Layer>) -> Option<Vec<Layer>> {
        let mut shapes = Vec::with_capacity(parts.len());
        for part in &parts {
            shapes.push(self.shape_of(part));
        }
        let shapes: Vec<Shape> = shapes.into_iter().collect::<Option<_>>()?;
        if shapes.iter().all(|shape| *shape == Shape::Absent) {
            // That it vanishes shows when its value is asked for.
            return Some(parts.into_iter().take(1).collect());
        }
        let mut present: Vec<(Layer, Shape)> =
            parts.into_iter().zip(shapes).filter(|(_, shape)| *shape != Shape::Absent).collect();
        let joins = self.context.profile == MergeProfile::Unfurl;
        if joins && present.len() > 1 && present[0].1 == Shape::Null && matches!(present[1].1, Shape::Map(_)) {
            present.remove(0);
        }
        let height = match present.first().map(|(_, shape)| *shape) {
            None | Some(Shape::Map(Strategy::Whiteout)) => 0,
            Some(Shape::Map(Strategy::Nullout)) if present.len() > 1 => {
                let span = match &present[0].0.content {
                    Content::At(place) => self.ground.place(*place).node.span,
                    Content::Value(node) => node.span,
                };
                return Some(vec![Layer::value(Node::new(Value::Null, span))]);
            }
            Some(Shape::Map(top)) => maps_in_pile(top, &present),
            Some(Shape::List) if joins => present.iter().take_while(|(_, shape)| *shape == Shape::List).count(),
            Some(_) => 1,
        };
        present.truncate(height);
        Some(present.into_iter().map(|(layer, _)| layer).collect())
    }

    fn shape_of(&mut self, layer: &Layer) -> Option<Shape> {
        let place = match &layer.content {
            Content::Value(node) => return Some(Shape::of(node)),
            Content::At(place) => self.ground.place(*place),
        };
        match &place.point {
            None => Some(Shape::of(&place.node)),
            // A map that was merged with something loses its mark.
            Some(point) if point.has_other_keys => Some(Shape::PLAIN_MAP),
            Some(_) => match layer.content {
                Content::At(place) => self.shape(place),
                Content::Value(_) => None,
            },
        }
    }

    /// What a map with nothing but directives is in the end.
    pub(super) fn shape_of_point(&mut self, place: PlaceId) -> Option<Shape> {
        let directives = self.ground.directives_of(place).to_vec();
        let mut targets = Vec::with_capacity(directives.len());
        for &directive in &directives {
            targets.push(self.target(directive, true));
        }
        let targets: Vec<Target> = targets.into_iter().collect::<Option<_>>()?;
        let vanishes = |(directive, target): (&DirectiveId, &Target)| {
            matches!(target, Target::Missing { .. }) && self.ground.directive(*directive).may_vanish()
        };
        if directives.iter().zip(&targets).all(vanishes) {
            return Some(Shape::Absent);
        }
        match targets.as_slice() {
            [Target::Found(layers)] => match self.shape_of(&layers[0])? {
                Shape::Map(_) => Some(Shape::PLAIN_MAP),
                shape => Some(shape),
            },
            _ => Some(Shape::PLAIN_MAP),
        }
    }

    /// An item by its index in the expanded list, where other lists may have been spliced in before it.
    fn item(&mut self, list: PlaceId, token: &SmolStr, by: Query) -> Option<Option<Layer>> {
        let Some(wanted) = list_index(token) else { return Some(None) };
        let place = self.ground.place(list);
        if !place.is_marked {
            return Some(self.ground.item(list, token).map(Layer::at));
        }
        let is_shifted = self.first_spread(list).is_some_and(|first| first <= wanted);
        let forced = if is_shifted { self.forced(list, by)? } else { None };
        let Some(value) = forced else { return Some(self.ground.item(list, token).map(Layer::at)) };
        let found = value.as_list().and_then(|items| items.get(wanted));
        Some(found.map(|node| Layer::value(node.clone())))
    }

    /// The first item of a list that may be none or several in the end.
    fn first_spread(&mut self, list: PlaceId) -> Option<usize> {
        if let Some(&known) = self.first_spread.get(&list) {
            return known;
        }
        let marked = Arc::clone(&self.ground.file(self.ground.place(list).file).marked);
        let node = self.ground.place(list).node.clone();
        let items = (0..).zip(node.as_list().unwrap_or_default()).enumerate();
        let mut first = None;
        for (position, (index, item)) in items {
            let place = if marked.is_marked(item) { self.ground.child(list, index) } else { None };
            let point = place.and_then(|place| self.ground.place(place).point.as_ref());
            if point.is_some_and(|point| !point.has_other_keys) {
                first = Some(position);
                break;
            }
        }
        self.first_spread.insert(list, first);
        first
    }

    /// Everything that stands at a place in the expanded document: what is written there, and what directives above it add.
    fn view(&mut self, place: PlaceId, by: Query) -> Option<Vec<Layer>> {
        if !self.ground.place(place).is_below_point {
            return Some(vec![Layer::at(place)]);
        }
        let mut way = vec![place];
        let mut top = place;
        while let Position::Child { parent, .. } = self.ground.place(top).position {
            top = self.ground.seat(parent);
            way.push(top);
        }
        let mut layers = vec![Layer::at(top)];
        for pair in way.windows(2).rev() {
            let (below, above) = (pair[0], pair[1]);
            let Position::Child { parent, index } = self.ground.place(below).position else { break };
            let key = match &self.ground.place(parent).node.value {
                Value::Map(map) => map.entries().get(index as usize).map(|entry| entry.key.name.clone()),
                _ => None,
            };
            let is_plain = matches!(layers.as_slice(), [only] if only.is_at(above)) && !self.ground.is_point(above);
            layers = match key {
                Some(key) if !is_plain => self.step(&layers, &key, by)?,
                _ => vec![Layer::at(below)],
            };
            if layers.is_empty() {
                layers = vec![Layer::at(below)];
            }
        }
        Some(layers)
    }

    /// The layers as they are written, with their directives as plain keys.
    fn as_written(&self, layers: Vec<Layer>) -> Arc<[Layer]> {
        let written = |layer: Layer| match layer.content {
            Content::At(place) => Layer { content: Content::Value(self.ground.place(place).node.clone()), ..layer },
            Content::Value(_) => layer,
        };
        layers.into_iter().map(written).collect()
    }
}

/// How many maps lie on each other before something ends the pile.
fn maps_in_pile(top: Strategy, pile: &[(Layer, Shape)]) -> usize {
    if matches!(top, Strategy::Nullout | Strategy::Replace) {
        return 1;
    }
    let mut upper = top;
    let mut height = 1;
    for (_, shape) in &pile[1..] {
        let Shape::Map(lower) = *shape else { break };
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

/// The way of a part, then the way of the whole.
fn joined_way(part: Option<Arc<Step>>, whole: Option<&Arc<Step>>) -> Option<Arc<Step>> {
    let Some(part) = part else { return whole.map(Arc::clone) };
    let Some(whole) = whole else { return Some(part) };
    let is_long = std::iter::successors(Some(&*part), |step| step.before.as_deref()).nth(LONGEST_WAY).is_some();
    if is_long {
        return Some(part);
    }
    let steps = whole.chain();
    let joined = steps.iter().fold(part, |before, step| Arc::new(Step::new(step.kind, step.at).after(before)));
    Some(joined)
}
