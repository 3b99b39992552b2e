//! Documents of the new form: `resource`, `operations`, pointers in templates, headers as a map, transforms as a list.

use smol_str::SmolStr;

use super::decode::form_of;
use super::effective::EffectiveMetadata;
use super::field::{DocumentForm, Field, FieldForm, FieldPath, Section};
use super::identity_template;
use super::spelling::{native_placeholders, step_field};
use super::statement::{StatementKind, Statements, TransformOrder};
use super::target::step_names;
use crate::path::Pointer;
use crate::text::Span;
use crate::value::{Entry, Node, Value};

/// Effective metadata as a document of the new form.
pub fn native(metadata: &EffectiveMetadata) -> Node {
    let values: Vec<Valued<'_>> =
        metadata.entries().filter_map(|(path, entry)| Some((path, entry.value()?, entry.at))).collect();
    compose(&values, &|section| metadata.order(section), None, metadata.nowhere())
}

/// A document of statements in the new form, without their nulls.
pub(super) fn document(statements: &Statements, nowhere: Span) -> Node {
    let values: Vec<Valued<'_>> = statements
        .all
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Value(node) | StatementKind::Empty(node) | StatementKind::Present(node) => {
                Some((&statement.field_path, node, statement.at))
            }
            StatementKind::Null => None,
        })
        .collect();
    let order = |section| {
        let known = statements.orders.iter().find(|(known, _)| *known == section);
        known.map(|(_, order)| *order).unwrap_or_default()
    };
    compose(&values, &order, statements.descendants.map(|(value, _)| value), nowhere)
}

/// A value as a field is set to it, in the spelling of the document that it is written to.
pub(super) fn spelled(field: Field, value: Node, place: &[SmolStr], root: &Node) -> Node {
    let is_new = form_of(root) == Some(DocumentForm::New);
    let last = place.last().map(SmolStr::as_str).unwrap_or_default();
    if Field::TRANSFORMS.contains(&field) && last == "transforms" {
        let entry = Entry::named(step_names(field)[0], value.span, value.clone());
        return Node::list(vec![Node::map(vec![entry], value.span)], value.span);
    }
    match (field, last) {
        (Field::IdFromAttribute | Field::AliasFromAttribute, "id" | "alias") => identity(&value),
        (Field::IdFromAttribute | Field::AliasFromAttribute, "idAttribute" | "aliasAttribute") => pointer(&value),
        (Field::Headers, "headers") => {
            let written = root.at(&place.iter().cloned().collect());
            headers(&value, written.is_some_and(|written| written.as_list().is_some()))
        }
        _ if is_new => templates(field, &value),
        _ => value,
    }
}

type Valued<'a> = (&'a FieldPath, &'a Node, Span);

fn compose(
    values: &[Valued<'_>],
    order: &dyn Fn(Section) -> TransformOrder,
    descendants: Option<bool>,
    nowhere: Span,
) -> Node {
    let mut top: Vec<Entry> = Vec::new();
    if let Some(value) = descendants {
        let flag = Entry::named("descendants", nowhere, Node::new(Value::Bool(value), nowhere));
        top.push(Entry::named("selector", nowhere, Node::map(vec![flag], nowhere)));
    }
    let mut operations: Vec<Entry> = Vec::new();
    for part in values.chunk_by(|a, b| a.0.section == b.0.section) {
        let (section, at) = (part[0].0.section, part[0].2);
        let node = Node::map(section_entries(section, part, order(section)), at);
        let is_empty = node.as_map().is_some_and(|map| map.is_empty());
        match section {
            Section::Resource if is_empty => {}
            Section::Resource => top.push(Entry::named("resource", at, node)),
            Section::Operations => {}
            Section::Defaults if is_empty => {}
            Section::Defaults => operations.push(Entry::named("defaults", at, node)),
            Section::Operation(operation) => operations.push(Entry::named(operation.name(), at, node)),
        }
    }
    if let Some(first) = operations.first() {
        let at = first.key.span;
        top.push(Entry::named("operations", at, Node::map(operations, at)));
    }
    Node::map(top, nowhere)
}

fn section_entries(section: Section, part: &[Valued<'_>], order: TransformOrder) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for row in section.rows() {
        let own: Vec<&Valued<'_>> = part.iter().filter(|(path, ..)| path.field == row.field).collect();
        let Some(&&(_, first, at)) = own.first() else { continue };
        let node = match row.form {
            _ if Field::TRANSFORMS.contains(&row.field) => continue,
            FieldForm::Texts | FieldForm::DefaultProfiles => {
                let keyed = own.iter().filter_map(|(path, node, at)| Some((path.key.clone()?, *node, *at)));
                let keyed = keyed.map(|(key, node, at)| Entry::named(key, at, templates(row.field, node)));
                Node::map(keyed.collect(), at)
            }
            FieldForm::Headers => {
                let keyed = own.iter().filter(|(path, ..)| path.key.is_some()).map(|(_, node, _)| (*node).clone());
                headers(&Node::list(keyed.collect(), at), false)
            }
            FieldForm::Identity => identity(first),
            FieldForm::Steps => native_steps(first),
            _ => templates(row.field, first),
        };
        put(&mut entries, row.native_place(section), at, node);
    }
    let steps: Vec<Node> = order
        .fields()
        .filter_map(|kind| part.iter().find(|(path, ..)| path.field == kind).map(|(_, node, at)| (kind, *node, *at)))
        .filter(|(kind, node, _)| *kind != Field::Suppress || node.as_list().is_none_or(|items| !items.is_empty()))
        .map(|(kind, node, at)| Node::map(vec![Entry::named(step_names(kind)[0], at, templates(kind, node))], at))
        .collect();
    if let Some(at) = steps.first().map(|step| step.span) {
        entries.push(Entry::named("transforms", at, Node::list(steps, at)));
    }
    entries
}

/// Adds a value at a place of one or two keys.
fn put(entries: &mut Vec<Entry>, place: &'static str, at: Span, node: Node) {
    let Some((container, name)) = place.split_once('.') else {
        return entries.push(Entry::named(place, at, node));
    };
    let inner = Entry::named(name, at, node);
    match entries.iter_mut().find(|entry| entry.key.name == container) {
        Some(entry) => {
            let mut all = entry.value.as_map().map(|map| map.entries().to_vec()).unwrap_or_default();
            all.push(inner);
            entry.value = Node::map(all, entry.value.span);
        }
        None => entries.push(Entry::named(container, at, Node::map(vec![inner], at))),
    }
}

fn text(value: &Node, text: String) -> Node {
    Node { value: Value::String(text.into()), ..value.clone() }
}

/// `{{/spec/id}}` for the attribute `spec.id`; a template as it is.
fn identity(value: &Node) -> Node {
    let Some(written) = value.as_str() else { return value.clone() };
    match identity_template::lone(written) {
        Some(tokens) => text(value, format!("{{{{{}}}}}", tokens.into_iter().collect::<Pointer>())),
        None => text(value, native_placeholders(written)),
    }
}

fn pointer(value: &Node) -> Node {
    match value.as_str().and_then(identity_template::lone) {
        Some(tokens) => text(value, tokens.into_iter().collect::<Pointer>().to_string()),
        None => value.clone(),
    }
}

/// A value whose texts are templates, with pointers as placeholders.
fn templates(field: Field, value: &Node) -> Node {
    let is_template = matches!(
        field,
        Field::CollectionPath | Field::Method | Field::Path | Field::Query | Field::Headers | Field::Jq
    );
    match value.as_str().filter(|_| is_template) {
        Some(written) => text(value, native_placeholders(written)),
        None => value.clone(),
    }
}

/// Headers as a map of names, or as a list of such maps.
fn headers(value: &Node, is_list: bool) -> Node {
    let Some(items) = value.as_list() else { return value.clone() };
    let header = |item: &Node| match (item.get("name").and_then(Node::as_str), item.get("value")) {
        (Some(name), Some(value)) => vec![Entry::named(name, item.span, templates(Field::Headers, value))],
        _ => item.as_map().map(|map| map.entries().to_vec()).unwrap_or_default(),
    };
    let entries = items.iter().flat_map(header);
    match is_list {
        true => Node::list(entries.map(|entry| Node::map(vec![entry], value.span)).collect(), value.span),
        false => Node::map(entries.collect(), value.span),
    }
}

fn native_steps(list: &Node) -> Node {
    let items = list.as_list().unwrap_or_default().iter().map(|item| {
        let entries = item.as_map().map(|map| map.entries()).unwrap_or_default().iter();
        let entries = entries.map(|entry| match step_field(&entry.key.name) {
            Some(kind) => Entry::named(step_names(kind)[0], entry.key.span, templates(kind, &entry.value)),
            None => entry.clone(),
        });
        Node::map(entries.collect(), item.span)
    });
    Node::list(items.collect(), list.span)
}
