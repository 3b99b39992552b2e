//! Resolves pointers into metadata documents, and finds the keys of a field in a document of any form.

use smol_str::SmolStr;

use super::field::{Field, FieldForm, FieldPath, FieldRow, MEDIA_HEADERS, Operation, Section};
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
            ["resourceInfo", ref rest @ ..] => (Section::Resource, rest),
            ["operationInfo"] => return Ok(Self::Part { section: Section::Operations, container: None }),
            ["operationInfo", "defaults", ref rest @ ..] => (Section::Defaults, rest),
            ["operationInfo", name, ref rest @ ..] => (operation_section(name)?, rest),
            [] => return Err("the whole document is not a field".to_owned()),
            [name, ..] => return Err(unknown(name, "metadata", &["resourceInfo", "operationInfo"])),
        };
        if rest.is_empty() {
            return Ok(Self::Part { section, container: None });
        }
        let containers = ["payload", "validate"];
        if let ([name], Some(container)) = (rest, containers.into_iter().find(|container| rest == [*container])) {
            debug_assert_eq!(*name, container);
            return Ok(Self::Part { section, container: Some(container) });
        }
        Self::field(section, rest)
    }

    fn field(section: Section, tokens: &[&str]) -> Result<Self, String> {
        let found = section.rows().find_map(|row| {
            let length = row.places(section).into_iter().find_map(|place| {
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
            (FieldForm::Any, _, _) | (_, [], None) => {
                Ok(Self::Field { field_path: FieldPath::new(section, row.field), header: None, inside })
            }
            (FieldForm::Texts | FieldForm::Headers, [key], None) => Ok(Self::keyed(section, row, key)),
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
    if let Section::Operation(operation) = section {
        let candidates: [&[&'static str]; 3] =
            [section.wire(), &["operationInfo", operation.name()], &["operations", operation.name()]];
        let is_there = |names: &&&[&str]| {
            let found = names.iter().try_fold(root, |node, name| node.get(name));
            found.is_some_and(|node| !matches!(node.value, Value::Null))
        };
        return place(candidates.iter().find(is_there).copied().unwrap_or(section.wire()));
    }
    place(section.wire())
}

fn field_place(field_path: &FieldPath, header: Option<&SmolStr>, root: &Node) -> Vec<SmolStr> {
    let Some(row) = field_path.field.row() else { return section_place(field_path.section, root) };
    let section = section_place(field_path.section, root);
    let map = section.iter().try_fold(root, |node, name| node.get(name));
    let mut place = match written_place(row, field_path, map) {
        Some(inner) => section.into_iter().chain(inner).collect(),
        None => match flat_place(row, field_path, root) {
            Some(flat) => vec![flat],
            None => section.into_iter().chain(new_place(row, field_path, header, map)).collect(),
        },
    };
    if let (Field::Query, Some(key)) = (field_path.field, &field_path.key) {
        place.push(key.clone());
    }
    place
}

/// The place in a section's map that counts for a field.
fn written_place(row: &FieldRow, field_path: &FieldPath, map: Option<&Node>) -> Option<Vec<SmolStr>> {
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
    let found = row.places(field_path.section).into_iter().find(|place| at(place).is_some_and(is_set));
    found.map(|place| place.split('.').map(SmolStr::new).collect())
}

/// Headers are a list, a map, or single keys for two of them.
fn header_place(field_path: &FieldPath, map: &Node) -> Option<Vec<SmolStr>> {
    let Some(key) = field_path.key.as_deref() else {
        let list = ["httpHeaders", "headers"].into_iter().find(|name| map.get(name).is_some());
        return list.map(|name| vec![name.into()]);
    };
    let is_it = |name: &str| name.eq_ignore_ascii_case(key);
    if let Some(items) = map.get("httpHeaders").and_then(Node::as_list) {
        let at = items.iter().rposition(|item| item.get("name").and_then(Node::as_str).is_some_and(is_it));
        if let Some(at) = at {
            return Some(vec!["httpHeaders".into(), at.to_string().into()]);
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
        Section::Resource => row.places(field_path.section),
        Section::Defaults => row.aliases.iter().copied().filter(|alias| !alias.contains('.')).collect(),
        _ => return None,
    };
    names.into_iter().find(|name| root.get(name).is_some()).map(SmolStr::new)
}

/// Where something new is written: the canonical place, unless that would silence older names beside it.
fn new_place(row: &FieldRow, field_path: &FieldPath, header: Option<&SmolStr>, map: Option<&Node>) -> Vec<SmolStr> {
    let has = |name: &str| map.is_some_and(|map| map.get(name).is_some());
    if let (FieldForm::Headers, Some(key)) = (row.form, &field_path.key) {
        return match map.and_then(|map| map.get("httpHeaders")).and_then(Node::as_list) {
            Some(items) => vec!["httpHeaders".into(), items.len().to_string().into()],
            None if has("headers") => vec!["headers".into(), header.unwrap_or(key).clone()],
            None => vec!["httpHeaders".into()],
        };
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
