//! Metadata of two sides as documents that differ only where they mean something else.

use smol_str::SmolStr;

use super::compose;
use super::effective::EffectiveMetadata;
use super::field::{Field, FieldDefault, FieldHome, FieldPath, Operation, Section};
use super::spelling::comparable;
use super::statement::TransformOrder;
use crate::text::Span;
use crate::value::{Entry, Node, StepKind, Value};

/// The canonical documents of both sides, each value with its layer as the last step of its provenance. Equal spellings are brought
/// together, and what one side leaves to a default is that default where the other side sets it.
pub fn compared(before: &EffectiveMetadata, after: &EffectiveMetadata) -> [Node; 2] {
    let mut sides = [Side::of(before), Side::of(after)];
    same_header_names(&mut sides);
    same_spellings(&mut sides);
    for field in [Field::IdFromAttribute, Field::AliasFromAttribute] {
        let path = FieldPath::new(Section::Resource, field);
        let places = [sides[1].place_of(&path), sides[0].place_of(&path)];
        for (side, place) in sides.iter_mut().zip(places) {
            if side.is_attribute && !side.has(&path) {
                // A default is written nowhere; what it differs from is.
                side.put(path.clone(), Node::text("id", place.unwrap_or(side.nowhere)));
            }
        }
    }
    for section in Section::all() {
        if matches!(section, Section::Operation(_) | Section::Defaults) {
            unify_steps(section, &mut sides);
        }
        if let Section::Operation(operation) = section {
            fill_in(section, operation, &mut sides);
        }
    }
    let [before, after] = sides.map(|side| side.into_node());
    let both = ["resourceInfo", "operationInfo"]
        .into_iter()
        .filter(|name| before.get(name).is_some() != after.get(name).is_some());
    let missing: Vec<&'static str> = both.collect();
    [with_groups(before, &missing), with_groups(after, &missing)]
}

/// The values of one side, in the order of fields.
struct Side {
    values: Vec<(FieldPath, Node, Span)>,
    orders: Vec<(Section, TransformOrder)>,
    nowhere: Span,
    /// Whether resources without a configured identity are named by their attribute `id`.
    is_attribute: bool,
}

impl Side {
    fn of(metadata: &EffectiveMetadata) -> Self {
        let traced = metadata.entries().filter_map(|(path, entry)| {
            let layer = entry.by.span;
            // What a layer includes is written elsewhere.
            let at = if entry.at.source == layer.source { entry.at } else { layer.start_only() };
            let node = entry.value()?.clone().through(StepKind::Layer, at);
            Some((path.clone(), node, entry.at))
        });
        let says_something = |(path, node, _): &(FieldPath, Node, Span)| match path.field {
            Field::Itself => false,
            Field::DefaultsMode => node.as_str() != Some("inherit"),
            Field::Suppress | Field::Transforms => node.as_list().is_none_or(|items| !items.is_empty()),
            _ => true,
        };
        let orders = Section::all().map(|section| (section, metadata.order(section))).collect();
        let nowhere = metadata.nowhere();
        let is_attribute = metadata.default_identity() == Some(true);
        Self { values: traced.filter(says_something).collect(), orders, nowhere, is_attribute }
    }

    fn has(&self, path: &FieldPath) -> bool {
        self.values.iter().any(|(known, ..)| known == path)
    }

    /// Where the other side has a value, if it has one.
    fn place_of(&self, path: &FieldPath) -> Option<Span> {
        self.values.iter().find(|(known, ..)| known == path).map(|(_, node, _)| node.span)
    }

    fn put(&mut self, path: FieldPath, node: Node) {
        let at = node.span;
        let place = self.values.partition_point(|(known, ..)| *known < path);
        self.values.insert(place, (path, node, at));
    }

    fn order(&self, section: Section) -> TransformOrder {
        let known = self.orders.iter().find(|(known, _)| *known == section);
        known.map(|(_, order)| *order).unwrap_or_default()
    }

    /// The kinds of steps of a section, in the order they run, if they are single fields.
    fn kinds(&self, section: Section) -> Vec<Field> {
        let is_there = |field: &Field| self.has(&FieldPath::new(section, *field));
        self.order(section).fields().filter(is_there).collect()
    }

    /// Writes the single transforms of a section as a list of steps.
    fn write_as_steps(&mut self, section: Section) {
        let kinds = self.kinds(section);
        let mut steps = Vec::new();
        for kind in kinds {
            let path = FieldPath::new(section, kind);
            let Some(at) = self.values.iter().position(|(known, ..)| *known == path) else { continue };
            let (_, node, span) = self.values.remove(at);
            let name = kind.row().map_or("", |row| row.wire.rsplit('.').next().unwrap_or_default());
            steps.push(Node::map(vec![Entry::named(name, span, node)], span));
        }
        let span = steps.first().map(|step| step.span);
        if let Some(span) = span {
            self.put(FieldPath::new(section, Field::Transforms), Node::list(steps, span));
        }
    }

    fn into_node(self) -> Node {
        let values = self.values.iter().map(|(path, node, at)| (path, node, *at));
        compose::document(values, |section| self.order(section), self.nowhere)
    }
}

/// Steps are compared as lists where they repeat on a side, or run in another order.
fn unify_steps(section: Section, sides: &mut [Side; 2]) {
    let list = FieldPath::new(section, Field::Transforms);
    let has_list = sides.iter().any(|side| side.has(&list));
    let [before, after] = [&sides[0], &sides[1]].map(|side| side.kinds(section));
    let shared = |kinds: &[Field], others: &[Field]| -> Vec<Field> {
        kinds.iter().copied().filter(|kind| others.contains(kind)).collect()
    };
    if has_list || shared(&before, &after) != shared(&after, &before) {
        sides.iter_mut().for_each(|side| side.write_as_steps(section));
    }
}

/// Gives the default of a field to the side that leaves it out, and an empty operation to the side that has none.
fn fill_in(section: Section, operation: Operation, sides: &mut [Side; 2]) {
    let is_here = |side: &Side| side.values.iter().any(|(path, ..)| path.section == section);
    if !sides.iter().any(is_here) {
        return;
    }
    for row in section.rows().filter(|row| row.home == FieldHome::Operation) {
        let has = |side: &Side| side.values.iter().any(|(path, ..)| (path.section, path.field) == (section, row.field));
        let [before, after] = [has(&sides[0]), has(&sides[1])];
        if before == after {
            continue;
        }
        let having = &sides[usize::from(after)];
        let place = having.place_of(&FieldPath::new(section, row.field)).unwrap_or(having.nowhere);
        let lacking = &mut sides[usize::from(before)];
        let default = match (row.default)(operation) {
            FieldDefault::Text(text) => Node::text(SmolStr::new_static(text), place),
            FieldDefault::EmptyMap => Node::map(Vec::new(), lacking.nowhere),
            _ => continue,
        };
        lacking.put(FieldPath::new(section, row.field), default);
    }
    for side in sides.iter_mut() {
        let empty = Node::map(Vec::new(), side.nowhere);
        side.put(FieldPath::new(section, Field::Itself), empty);
    }
}

/// Where values are only spelled differently, the newer spelling counts.
fn same_spellings(sides: &mut [Side; 2]) {
    let [before, after] = sides;
    for (path, node, _) in &mut before.values {
        let twin = after.values.iter().find(|(known, ..)| known == path).map(|(_, twin, _)| twin);
        if let Some(twin) = twin.filter(|twin| comparable(path.field, twin).is_equal(&comparable(path.field, node))) {
            *node = twin.clone();
        }
    }
}

/// Names of headers have no case: where only that differs, the newer spelling counts.
fn same_header_names(sides: &mut [Side; 2]) {
    let is_header = |path: &FieldPath| path.field == Field::Headers && path.key.is_some();
    let [before, after] = sides;
    for (path, node, _) in before.values.iter_mut().filter(|(path, ..)| is_header(path)) {
        let twin = after.values.iter().find(|(known, ..)| known == path).and_then(|(_, twin, _)| twin.get("name"));
        if let Some(name) = twin.cloned() {
            *node = node.with_at(&std::iter::once(SmolStr::new_static("name")).collect(), name);
        }
    }
}

/// A document that has these groups, empty if it has nothing in them.
fn with_groups(node: Node, names: &[&'static str]) -> Node {
    let Value::Map(map) = &node.value else { return node };
    let mut entries = map.entries().to_vec();
    for name in names.iter().filter(|name| map.get(name).is_none()) {
        entries.push(Entry::named(*name, node.span, Node::map(Vec::new(), node.span)));
    }
    Node { extra: node.extra.clone(), ..Node::map(entries, node.span) }
}
