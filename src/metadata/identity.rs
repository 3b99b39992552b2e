//! What a resource is called on a server and by people, and which resource a name means.

use smol_str::SmolStr;

use super::effective::EffectiveMetadata;
use super::field::{Field, Section};
use crate::finding::{self, Finding, Location};
use crate::path::{LogicalPath, Pointer};
use crate::sanitize;
use crate::value::{Node, Value};

/// The two names of a resource beside its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteIdentity {
    /// The name people use.
    pub alias: SmolStr,
    /// The name the server uses.
    pub remote_id: SmolStr,
}

/// The names of a resource whose path is known: the last segment, unless attributes of the payload say better.
pub fn identify(metadata: &EffectiveMetadata, path: &LogicalPath, payload: &Node) -> RemoteIdentity {
    let segment = SmolStr::new(path.last().unwrap_or("/"));
    let alias = named_by(metadata, Field::AliasFromAttribute, payload).unwrap_or_else(|| segment.clone());
    let remote_id = match metadata.text(Section::Resource, Field::IdFromAttribute) {
        Some(attribute) => scalar_at(payload, attribute).unwrap_or(segment),
        None => alias.clone(),
    };
    RemoteIdentity { alias, remote_id }
}

/// The names of an item of a list, which has no path; only its attributes can name it.
pub fn identify_list_item(metadata: &EffectiveMetadata, payload: &Node) -> Result<RemoteIdentity, Box<Finding>> {
    let id = named_by(metadata, Field::IdFromAttribute, payload);
    let alias = named_by(metadata, Field::AliasFromAttribute, payload).or_else(|| id.clone());
    let Some(alias) = alias else {
        let message =
            "list item alias could not be resolved: neither `aliasFromAttribute` nor `idFromAttribute` gives a value";
        let finding = Finding::new(&finding::METADATA_IDENTITY, Location::Span(payload.span.start_only()), message);
        return Err(Box::new(finding.help("set one of them to an attribute that every item has")));
    };
    let remote_id = id.unwrap_or_else(|| alias.clone());
    Ok(RemoteIdentity { alias, remote_id })
}

/// A resource of the collection in which a name is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Sibling<'a> {
    /// Its path.
    pub path: &'a LogicalPath,
    /// Its payload.
    pub payload: &'a Node,
    /// Its metadata.
    pub metadata: &'a EffectiveMetadata,
}

/// Attributes that commonly name a resource, tried beside those that metadata names.
const NAMING_ATTRIBUTES: [&str; 7] = ["id", "clientId", "name", "alias", "key", "uuid", "uid"];

/// The resource that a path means where no file of that name is: one of its siblings that answers to the last segment.
///
/// Nothing is found unless metadata says how resources are named. Several that answer to the name are a conflict.
pub fn look_up<'a>(
    wanted: &LogicalPath,
    metadata: &EffectiveMetadata,
    siblings: &[Sibling<'a>],
) -> Result<Option<Sibling<'a>>, Box<Finding>> {
    let Some(name) = wanted.last() else { return Ok(None) };
    if [Field::IdFromAttribute, Field::AliasFromAttribute]
        .iter()
        .all(|field| metadata.text(Section::Resource, *field).is_none())
    {
        return Ok(None);
    }
    let mut same_segment = siblings.iter().filter(|sibling| sibling.path.last() == Some(name));
    if let (Some(only), None) = (same_segment.next(), same_segment.next()) {
        return Ok(Some(*only));
    }
    let found: Vec<&Sibling<'a>> = siblings.iter().filter(|sibling| sibling.answers_to(name)).collect();
    match found[..] {
        [] => Ok(None),
        [only] => Ok(Some(*only)),
        [first, second, ..] => Err(Box::new(ambiguous(name, &found, first, second))),
    }
}

impl Sibling<'_> {
    fn answers_to(&self, name: &str) -> bool {
        let identity = identify(self.metadata, self.path, self.payload);
        let named = [Field::IdFromAttribute, Field::AliasFromAttribute]
            .map(|field| named_by(self.metadata, field, self.payload));
        let common = NAMING_ATTRIBUTES.iter().map(|attribute| scalar_at(self.payload, attribute));
        identity.alias == name
            || identity.remote_id == name
            || named.into_iter().chain(common).flatten().any(|value| value == name)
    }
}

fn ambiguous(name: &str, found: &[&Sibling<'_>], first: &Sibling<'_>, second: &Sibling<'_>) -> Finding {
    let message =
        format!("{} resources answer to `{}`: {} and {}", found.len(), sanitize::inline(name), first.path, second.path);
    let message = if found.len() > 2 { format!("{message}, among others") } else { message };
    Finding::new(&finding::METADATA_AMBIGUOUS, Location::Span(second.payload.span.start_only()), message)
        .labelled("this one")
        .related(first.payload.span.start_only(), "and this one")
        .help("ask for it by its path, or give one of them another name")
}

fn named_by(metadata: &EffectiveMetadata, field: Field, payload: &Node) -> Option<SmolStr> {
    scalar_at(payload, metadata.text(Section::Resource, field)?)
}

/// The text, number or boolean at an attribute, as text; nothing if it is blank or not there.
pub(super) fn scalar_at(payload: &Node, attribute: &str) -> Option<SmolStr> {
    let text = match &attribute_at(payload, attribute)?.value {
        Value::String(text) => text.clone(),
        Value::Number(number) => SmolStr::new(number.as_str()),
        Value::Bool(value) => SmolStr::new_static(if *value { "true" } else { "false" }),
        _ => return None,
    };
    Some(text).filter(|text| !text.trim().is_empty())
}

/// Follows a dotted path, or a JSON Pointer, through maps only.
fn attribute_at<'n>(payload: &'n Node, attribute: &str) -> Option<&'n Node> {
    path_of(attribute)?.iter().try_fold(payload, |node, key| node.get(key))
}

/// The keys that an attribute leads through: dotted, or a JSON Pointer if it starts with `/`.
pub(super) fn path_of(attribute: &str) -> Option<Vec<SmolStr>> {
    let attribute = attribute.trim();
    if attribute.starts_with('/') {
        return Pointer::parse(attribute).ok().map(|pointer| pointer.tokens().to_vec());
    }
    let keys: Vec<SmolStr> = attribute.split('.').map(|key| SmolStr::new(key.trim())).collect();
    keys.iter().all(|key| !key.is_empty()).then_some(keys)
}

/// The singular of a name that looks like a plural: that of its last word, `item` for `sub-items`.
pub fn singular(name: &str) -> Option<SmolStr> {
    let word = last_word(name)?;
    let stem = |ending: &str| {
        let (stem, end) = word.split_at_checked(word.len().checked_sub(ending.len())?)?;
        (!stem.is_empty() && end.eq_ignore_ascii_case(ending)).then_some(stem)
    };
    match stem("ies") {
        Some(stem) => Some(format!("{stem}y").into()),
        None => stem("s").map(SmolStr::new),
    }
}

/// The last word of a name whose words are separated by `-`, `.` or `_`.
pub(super) fn last_word(name: &str) -> Option<&str> {
    name.split(['-', '.', '_']).map(str::trim).rfind(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plurals_have_a_singular() {
        for (plural, name) in [
            ("projects", Some("project")),
            ("sub-items", Some("item")),
            ("categories", Some("category")),
            ("ies", Some("ie")),
            ("s", None),
            ("jobs.v1", None),
            ("admin", None),
            ("parts_", Some("part")),
            ("größen", None),
        ] {
            assert_eq!(singular(plural).as_deref(), name, "{plural}");
        }
    }
}
