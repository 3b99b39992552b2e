//! Writes canonical documents: nested, canonical names, fixed order, no empty parts.

use super::field::{Field, FieldHome, FieldPath, FieldRow, Operation, Section};
use super::statement::{StatementKind, Statements, TransformOrder};
use crate::text::Span;
use crate::value::{Entry, Node};

/// The document with these values for these fields; each comes with the span it is written at.
///
/// Fields must be in their order. The span is that of an empty document.
pub(super) fn document<'a>(
    values: impl Iterator<Item = (&'a FieldPath, &'a Node, Span)>,
    order: impl Fn(Section) -> TransformOrder,
    nowhere: Span,
) -> Node {
    let values: Vec<(&FieldPath, &Node, Span)> = values.collect();
    let (mut top, mut operations) = (Vec::new(), Vec::new());
    let mut operations_at = None;
    for part in values.chunk_by(|a, b| a.0.section == b.0.section) {
        let section = part[0].0.section;
        let entries = section_entries(section, part, order(section));
        let at = part[0].2;
        match section {
            Section::Resource if entries.is_empty() => {}
            Section::Resource => top.push(Entry::named("resourceInfo", at, Node::map(entries, at))),
            Section::Operations => operations_at = Some(at),
            // Defaults without transforms are dropped; an operation without fields is kept on purpose.
            Section::Defaults if entries.is_empty() => {}
            Section::Defaults => operations.push(Entry::named("defaults", at, Node::map(entries, at))),
            Section::Operation(operation) => {
                operations.push(Entry::named(operation.wire(), at, Node::map(entries, at)))
            }
        }
    }
    if let Some(at) = operations_at.or_else(|| operations.first().map(|first: &Entry| first.key.span)) {
        top.push(Entry::named("operationInfo", at, Node::map(operations, at)));
    }
    let span = top.first().map_or(nowhere, |first| first.key.span);
    Node::map(top, span)
}

/// The document that these statements make, without their nulls.
pub(super) fn statements(statements: &Statements, nowhere: Span) -> Node {
    let values = statements.all.iter().filter_map(|statement| match &statement.kind {
        StatementKind::Value(node) | StatementKind::Empty(node) | StatementKind::Present(node) => {
            Some((&statement.field_path, node, statement.at))
        }
        StatementKind::Null => None,
    });
    let order = |section| {
        let known = statements.orders.iter().find(|(known, _)| *known == section);
        known.map(|(_, order)| *order).unwrap_or_default()
    };
    document(values, order, nowhere)
}

type SectionEntries<'a> = [(&'a FieldPath, &'a Node, Span)];

fn section_entries(section: Section, part: &SectionEntries<'_>, order: TransformOrder) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let is_reordered = keeps_payload(section, part, order);
    for row in fields_in_order(section, order) {
        let place = if is_reordered { row.wire } else { row.place(section) };
        let Some((node, at)) = field_value(row.field, part) else { continue };
        match place.split_once('.') {
            None => entries.push(Entry::named(place, at, node)),
            Some((container, name)) => {
                let inner = Entry::named(name, at, node);
                match entries.last_mut().filter(|last| last.key.name == container) {
                    Some(last) => last.value = with_entry(&last.value, inner),
                    None => entries.push(Entry::named(container, at, Node::map(vec![inner], at))),
                }
            }
        }
    }
    entries
}

/// The rows of a section, with its transforms in the order they run.
fn fields_in_order(section: Section, order: TransformOrder) -> impl Iterator<Item = &'static FieldRow> {
    let mut transforms = order.fields();
    section.rows().filter_map(move |row| match row.home {
        FieldHome::Transform if row.field != Field::Transforms => transforms.next().and_then(Field::row),
        _ => Some(row),
    })
}

/// Compare transforms run in a fixed order unless they are written below `payload`; only there can the order be changed.
fn keeps_payload(section: Section, part: &SectionEntries<'_>, order: TransformOrder) -> bool {
    let is_there = |field: &Field| part.iter().any(|(field_path, ..)| field_path.field == *field);
    section == Section::Operation(Operation::Compare)
        && order.fields().filter(is_there).ne(Field::TRANSFORMS.into_iter().filter(is_there))
}

/// The value of a field, put together from its keys if it has any.
fn field_value(field: Field, part: &SectionEntries<'_>) -> Option<(Node, Span)> {
    let entry: Vec<&(&FieldPath, &Node, Span)> =
        part.iter().filter(|(field_path, ..)| field_path.field == field).collect();
    let &&(_, first, at) = entry.first()?;
    match field {
        Field::Query | Field::Profiles => {
            let keyed = entry.iter().filter_map(|(field_path, node, at)| Some((field_path.key.clone()?, *node, *at)));
            let entries = keyed.map(|(key, node, at)| Entry::named(key, at, node.clone())).collect();
            Some((Node::map(entries, at), at))
        }
        Field::Headers => {
            let keyed = entry.iter().filter(|(field_path, ..)| field_path.key.is_some());
            let mut headers: Vec<Node> = keyed.map(|(_, node, _)| (*node).clone()).collect();
            headers.sort_by(|a, b| header_name(a).cmp(header_name(b)));
            Some((Node::list(headers, at), at))
        }
        _ => Some((first.clone(), at)),
    }
}

fn header_name(header: &Node) -> &str {
    header.get("name").and_then(Node::as_str).unwrap_or_default()
}

fn with_entry(map: &Node, inner: Entry) -> Node {
    let mut entries = map.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
    entries.push(inner);
    Node::map(entries, map.span)
}
