//! Resolves pointers into metadata documents, and finds the keys of a field in a document of any form.

use smol_str::SmolStr;

use super::decode::form_of;
use super::field::{DocumentForm, Field, FieldForm, FieldPath, FieldRow, MEDIA_HEADERS, Operation, Section};
use crate::path::Pointer;
use crate::sanitize;
use crate::suggest;
use crate::value::{Node, Value};

/// A part of a document that can be changed on its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum EditTarget {
    /// A field, one key of it, or a place inside a body.
    Field {
        field_path: FieldPath,
        /// The name of a header as the user wrote it.
        header: Option<SmolStr>,
        /// Keys inside of the field, where any value is allowed.
        inside: Vec<SmolStr>,
    },
    /// Several fields: a section, or a map inside one.
    Part { section: Section, container: Option<&'static str> },
}

impl EditTarget {
    /// Reads a pointer into a canonical document; older names are understood too.
    pub(super) fn parse(pointer: &Pointer) -> Result<Self, String> {
        let tokens: Vec<&str> = pointer.tokens().iter().map(SmolStr::as_str).collect();
        let (section, rest) = match tokens[..] {
            ["resourceInfo" | "resource", ref rest @ ..] => (Section::Resource, rest),
            ["operationInfo" | "operationsInfo" | "operations"] => {
                return Ok(Self::Part { section: Section::Operations, container: None });
            }
            ["operationInfo" | "operationsInfo" | "operations", "defaults", ref rest @ ..] => (Section::Defaults, rest),
            ["operationInfo" | "operationsInfo" | "operations", name, ref rest @ ..] => {
                (operation_section(name)?, rest)
            }
            [] => return Err("the whole document is not a field".to_owned()),
            [name, ..] => return Err(unknown(name, "metadata", &["resourceInfo", "operationInfo"])),
        };
        if rest.is_empty() {
            return Ok(Self::Part { section, container: None });
        }
        let containers = ["payload", "validate", "defaults"];
        if let ([name], Some(container)) = (rest, containers.into_iter().find(|container| rest == [*container])) {
            debug_assert_eq!(*name, container);
            return Ok(Self::Part { section, container: Some(container) });
        }
        Self::field(section, rest)
    }

    fn field(section: Section, tokens: &[&str]) -> Result<Self, String> {
        let found = section.rows().find_map(|row| {
            let places = [DocumentForm::New, DocumentForm::Old].map(|form| row.places(section, form));
            let length = places.into_iter().flatten().find_map(|place| {
                let length = place.split('.').count();
                let is_place = tokens.len() >= length && place.split('.').eq(tokens[..length].iter().copied());
                is_place.then_some((place, length))
            })?;
            Some((row, length))
        });
        let Some((row, (place, length))) = found else {
            let known: Vec<&str> = section.rows().map(|row| row.place(section)).collect();
            return Err(unknown(&tokens.join("."), &section.wire().join("."), &known));
        };
        let inside: Vec<SmolStr> = tokens[length..].iter().map(SmolStr::new).collect();
        let media = match place {
            "accept" => Some(MEDIA_HEADERS[0]),
            "contentType" => Some(MEDIA_HEADERS[1]),
            _ => None,
        };
        match (row.form, inside.as_slice(), media) {
            (_, [], Some(header)) => Ok(Self::keyed(section, row, header)),
            (FieldForm::Any | FieldForm::DefaultValue, _, _) | (_, [], None) => {
                Ok(Self::Field { field_path: FieldPath::new(section, row.field), header: None, inside })
            }
            (FieldForm::Texts | FieldForm::Headers | FieldForm::DefaultProfiles, [key], None) => {
                Ok(Self::keyed(section, row, key))
            }
            _ => Err(format!("`{}` is set as a whole", row.place(section))),
        }
    }

    fn keyed(section: Section, row: &FieldRow, key: &str) -> Self {
        let is_header = row.form == FieldForm::Headers;
        let field_path =
            FieldPath::keyed(section, row.field, if is_header { key.to_ascii_lowercase() } else { key.into() });
        Self::Field { field_path, header: is_header.then(|| key.into()), inside: Vec::new() }
    }

    /// Whether changing this changes a statement.
    pub(super) fn concerns(&self, field_path: &FieldPath) -> bool {
        match self {
            Self::Field { field_path: own, .. } => {
                own.covers(field_path) || (own.key.is_none() && same_field(own, field_path))
            }
            Self::Part { section, container: None } => FieldPath::new(*section, Field::Itself).covers(field_path),
            Self::Part { section, container: Some(container) } => {
                let row = field_path.field.row();
                let is_inside = |row: &FieldRow| row.wire.split_once('.').is_some_and(|(first, _)| first == *container);
                field_path.section == *section && row.is_some_and(is_inside)
            }
        }
    }

    /// The place of this in a document; if it is not there, the place to add it without changing anything else.
    pub(super) fn place_in(&self, root: &Node) -> Vec<SmolStr> {
        match self {
            Self::Part { section, container } => {
                let mut place = section_place(*section, root);
                place.extend(container.map(SmolStr::new_static));
                place
            }
            Self::Field { field_path, header, inside } => {
                let mut place = field_place(field_path, header.as_ref(), root);
                place.extend(inside.iter().cloned());
                place
            }
        }
    }
}

fn same_field(own: &FieldPath, other: &FieldPath) -> bool {
    (own.section, own.field) == (other.section, other.field)
}

fn operation_section(name: &str) -> Result<Section, String> {
    let canonical = Operation::ALL.into_iter().find(|operation| operation.wire() == name);
    let known: Vec<&str> = ["defaults"].into_iter().chain(Operation::ALL.map(Operation::wire)).collect();
    let operation = canonical.or_else(|| Operation::parse(name));
    operation.map(Section::Operation).ok_or_else(|| unknown(name, "operationInfo", &known))
}

fn unknown(name: &str, what: &str, known: &[&str]) -> String {
    let message = format!("unknown key `{}` in `{what}`", sanitize::inline(name));
    match suggest::nearest(name, known.iter().copied()) {
        Some(near) => format!("{message}; did you mean `{near}`?"),
        None => format!("{message}; known keys: {}", known.join(", ")),
    }
}

/// The place of a section: nested, under an older name, or flat.
fn section_place(section: Section, root: &Node) -> Vec<SmolStr> {
    let place = |names: &[&'static str]| names.iter().map(|name| SmolStr::new_static(name)).collect::<Vec<_>>();
    let is_there = |names: &&Vec<&str>| {
        let found = names.iter().try_fold(root, |node, name| node.get(name));
        found.is_some_and(|node| !matches!(node.value, Value::Null))
    };
    let is_new = form_of(root) == Some(DocumentForm::New);
    let old_group = if root.get("operationsInfo").is_some() { "operationsInfo" } else { "operationInfo" };
    let own: Vec<&'static str> = match section {
        _ if is_new => section.native_wire(),
        Section::Resource => section.wire().to_vec(),
        _ => std::iter::once(old_group).chain(section.wire()[1..].iter().copied()).collect(),
    };
    let mut candidates = vec![own.clone()];
    if let Section::Operation(operation) = section {
        candidates.extend([
            vec![old_group, operation.wire()],
            vec![old_group, operation.name()],
            vec!["operations", operation.name()],
            vec!["operations", operation.wire()],
        ]);
    }
    place(candidates.iter().find(is_there).unwrap_or(&own))
}

fn field_place(field_path: &FieldPath, header: Option<&SmolStr>, root: &Node) -> Vec<SmolStr> {
    let Some(row) = field_path.field.row() else { return section_place(field_path.section, root) };
    let section = section_place(field_path.section, root);
    let map = section.iter().try_fold(root, |node, name| node.get(name));
    let form = form_of(root).unwrap_or(DocumentForm::Old);
    if let Some(inner) = step_place(row, map, form) {
        return section.into_iter().chain(inner).collect();
    }
    let mut place = match written_place(row, field_path, map, form) {
        Some(inner) => section.into_iter().chain(inner).collect(),
        None => match flat_place(row, field_path, root) {
            Some(flat) => vec![flat],
            None => section.into_iter().chain(new_place(row, field_path, header, map, form)).collect(),
        },
    };
    if let (Field::Query, Some(key)) = (field_path.field, &field_path.key) {
        place.push(key.clone());
    }
    place
}

/// The place in a section's map that counts for a field.
fn written_place(
    row: &FieldRow,
    field_path: &FieldPath,
    map: Option<&Node>,
    form: DocumentForm,
) -> Option<Vec<SmolStr>> {
    let map = map?;
    let at = |place: &str| place.split('.').try_fold(map, |node, name| node.get(name));
    let is_set = |node: &Node| match &node.value {
        Value::Null => false,
        Value::String(text) => !text.trim().is_empty(),
        _ => true,
    };
    if row.form == FieldForm::Headers {
        return header_place(field_path, map);
    }
    let found = row.places(field_path.section, form).into_iter().find(|place| at(place).is_some_and(is_set));
    found.map(|place| place.split('.').map(SmolStr::new).collect())
}

/// The place of a single transform in a document that writes transforms as a list: its step, or the end of the list.
fn step_place(row: &FieldRow, map: Option<&Node>, form: DocumentForm) -> Option<Vec<SmolStr>> {
    if !Field::TRANSFORMS.contains(&row.field) {
        return None;
    }
    let written =
        ["transforms", "payloadMutation"].into_iter().find(|name| map.is_some_and(|map| map.get(name).is_some()));
    let has_old =
        map.is_some_and(|map| ["payload", "filter", "suppress", "jq"].iter().any(|name| map.get(name).is_some()));
    let Some(list) = written else {
        return (form == DocumentForm::New && !has_old).then(|| vec!["transforms".into()]);
    };
    let names = step_names(row.field);
    let items = map.and_then(|map| map.get(list)).and_then(Node::as_list).unwrap_or_default();
    let kind = |item: &Node| names.iter().copied().find(|name| item.get(name).is_some());
    let found = items.iter().enumerate().find_map(|(at, item)| Some((at, kind(item)?)));
    let (at, name) = found.unwrap_or((items.len(), names[0]));
    Some(vec![list.into(), at.to_string().into(), name.into()])
}

/// The names of a kind of step, the newest first.
pub(super) fn step_names(kind: Field) -> &'static [&'static str] {
    match kind {
        Field::Filter => &["selectAttributes", "filterAttributes"],
        Field::Suppress => &["excludeAttributes", "suppressAttributes"],
        _ => &["jqExpression"],
    }
}

/// Headers are a list, a map, or single keys for two of them.
fn header_place(field_path: &FieldPath, map: &Node) -> Option<Vec<SmolStr>> {
    let Some(key) = field_path.key.as_deref() else {
        let list = ["headers", "httpHeaders"].into_iter().find(|name| map.get(name).is_some());
        return list.map(|name| vec![name.into()]);
    };
    let is_it = |name: &str| name.eq_ignore_ascii_case(key);
    if let Some(items) = map.get("httpHeaders").and_then(Node::as_list) {
        let at = items.iter().rposition(|item| item.get("name").and_then(Node::as_str).is_some_and(is_it));
        if let Some(at) = at {
            return Some(vec!["httpHeaders".into(), at.to_string().into()]);
        }
    } else if let Some(items) = map.get("headers").and_then(Node::as_list) {
        let entry =
            |item: &Node| Some(item.as_map()?.entries().iter().find(|entry| is_it(&entry.key.name))?.key.name.clone());
        let found = items.iter().enumerate().rev().find_map(|(at, item)| Some((at, entry(item)?)));
        if let Some((at, name)) = found {
            return Some(vec!["headers".into(), at.to_string().into(), name]);
        }
    } else if let Some(headers) = map.get("headers").and_then(Node::as_map) {
        let entry = headers.entries().iter().rev().find(|entry| is_it(&entry.key.name));
        if let Some(entry) = entry {
            return Some(vec!["headers".into(), entry.key.name.clone()]);
        }
    }
    let single = [("accept", "accept"), ("content-type", "contentType")].into_iter().find(|(name, _)| *name == key);
    single.filter(|(_, alias)| map.get(alias).is_some()).map(|(_, alias)| vec![alias.into()])
}

/// The place at the top of a flat document.
fn flat_place(row: &FieldRow, field_path: &FieldPath, root: &Node) -> Option<SmolStr> {
    let names: Vec<&str> = match field_path.section {
        Section::Resource => row.places(field_path.section, DocumentForm::Old),
        Section::Defaults => row.aliases.iter().copied().filter(|alias| !alias.contains('.')).collect(),
        _ => return None,
    };
    names.into_iter().find(|name| root.get(name).is_some()).map(SmolStr::new)
}

/// Where something new is written: the canonical place, unless that would silence older names beside it.
fn new_place(
    row: &FieldRow,
    field_path: &FieldPath,
    header: Option<&SmolStr>,
    map: Option<&Node>,
    form: DocumentForm,
) -> Vec<SmolStr> {
    let has = |name: &str| map.is_some_and(|map| map.get(name).is_some());
    if let (FieldForm::Headers, Some(key)) = (row.form, &field_path.key) {
        let name = header.unwrap_or(key).clone();
        let listed = map.and_then(|map| map.get("headers")).and_then(Node::as_list);
        if let Some(items) = listed {
            return vec!["headers".into(), items.len().to_string().into(), name];
        }
        if form == DocumentForm::New && !has("httpHeaders") {
            return vec!["headers".into(), name];
        }
        return match map.and_then(|map| map.get("httpHeaders")).and_then(Node::as_list) {
            Some(items) => vec!["httpHeaders".into(), items.len().to_string().into()],
            None if has("headers") => vec!["headers".into(), header.unwrap_or(key).clone()],
            None => vec!["httpHeaders".into()],
        };
    }
    if form == DocumentForm::New {
        let mut place: Vec<SmolStr> = row.native_place(field_path.section).split('.').map(SmolStr::new).collect();
        place.extend(field_path.key.clone().filter(|_| row.form == FieldForm::DefaultProfiles));
        return place;
    }
    let place = row.place(field_path.section);
    let older = row.aliases.iter().find(|alias| !alias.contains('.'));
    let is_older =
        Field::TRANSFORMS.contains(&row.field) && !has("payload") && ["filter", "suppress", "jq"].into_iter().any(has);
    let place = older.filter(|_| is_older).copied().unwrap_or(place);
    place.split('.').map(SmolStr::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_understood_under_every_name() {
        let parse = |text: &str| EditTarget::parse(&Pointer::parse(text).unwrap());
        let get = Section::Operation(Operation::Get);
        let field = |field_path| Ok(EditTarget::Field { field_path, header: None, inside: Vec::new() });
        assert_eq!(
            parse("/resourceInfo/idFromAttribute"),
            field(FieldPath::new(Section::Resource, Field::IdFromAttribute))
        );
        for text in ["/operationInfo/getResource/path", "/operationInfo/get/url/path"] {
            assert_eq!(parse(text), field(FieldPath::new(get, Field::Path)), "{text}");
        }
        assert_eq!(parse("/operationInfo/get/query/a~1b"), field(FieldPath::keyed(get, Field::Query, "a/b")));
        for text in ["/operationInfo/getResource/httpHeaders/Accept", "/operationInfo/getResource/accept"] {
            let field_path = FieldPath::keyed(get, Field::Headers, "accept");
            let header = Some("Accept".into());
            assert_eq!(parse(text), Ok(EditTarget::Field { field_path, header, inside: Vec::new() }), "{text}");
        }
        let body = EditTarget::Field {
            field_path: FieldPath::new(get, Field::Body),
            header: None,
            inside: vec!["a".into(), "0".into()],
        };
        assert_eq!(parse("/operationInfo/getResource/body/a/0"), Ok(body));
        assert_eq!(parse("/operationInfo/getResource"), Ok(EditTarget::Part { section: get, container: None }));
        assert_eq!(
            parse("/operationInfo/getResource/payload"),
            Ok(EditTarget::Part { section: get, container: Some("payload") })
        );
        let message = parse("/operationInfo/getResource/pth").unwrap_err();
        assert!(message.ends_with("did you mean `path`?"), "{message}");
        for wrong in
            ["", "/x", "/operationInfo/x", "/resourceInfo/secretInAttributes/0", "/operationInfo/getResource/path/x"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
