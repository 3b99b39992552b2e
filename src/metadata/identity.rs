//! What a resource is called on a server and by people, and which resource a name means.

use smol_str::SmolStr;

use super::effective::{EffectiveEntry, EffectiveMetadata};
use super::field::{DocumentForm, Field, FieldPath, Operation, Section};
use super::identity_template::{self, Identified};
use crate::finding::{self, Finding, Location, Outcome};
use crate::path::{LogicalPath, Pointer};
use crate::sanitize;
use crate::value::Node;

/// The two names of a resource beside its path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteIdentity {
    /// The name people use.
    pub alias: SmolStr,
    /// The name the server uses.
    pub remote_id: SmolStr,
}

/// The names of a resource whose path is known: the last segment, unless attributes of the payload say better. An identity that cannot
/// be worked out is reported, and the last segment takes its place.
pub fn identify(metadata: &EffectiveMetadata, path: &LogicalPath, payload: &Node) -> Outcome<RemoteIdentity> {
    let segment = SmolStr::new(path.last().unwrap_or("/"));
    let mut findings = Vec::new();
    let mut named = |field: Field| match metadata.identity(field) {
        None => None,
        Some(text) => {
            let name = rendered(field, text, metadata, path, payload).map_err(|finding| findings.push(*finding));
            Some(name.ok().flatten().unwrap_or_else(|| segment.clone()))
        }
    };
    let alias = named(Field::AliasFromAttribute).unwrap_or_else(|| segment.clone());
    let remote_id = named(Field::IdFromAttribute).unwrap_or_else(|| alias.clone());
    Outcome { value: RemoteIdentity { alias, remote_id }, findings }
}

/// What an identity gives; nothing if it is one attribute that the payload lacks.
fn rendered(
    field: Field,
    text: &str,
    metadata: &EffectiveMetadata,
    path: &LogicalPath,
    payload: &Node,
) -> Result<Option<SmolStr>, Box<Finding>> {
    let name = if field == Field::IdFromAttribute { "resource.id" } else { "resource.alias" };
    let refused = |reason: String| {
        let at = metadata.provenance(&FieldPath::new(Section::Resource, field)).map(|known| known.winner.at);
        let message = format!("`{name}` of {path} is not known: {reason}");
        let at = Location::Span(at.unwrap_or(payload.span.start_only()));
        Err(Box::new(Finding::new(&finding::METADATA_IDENTITY, at, sanitize::inline(&message))))
    };
    // Older documents name an attribute whose value may hold several segments, as the keys of some stores do.
    let entry = metadata.provenance(&FieldPath::new(Section::Resource, field)).map(|known| known.winner);
    let is_old = entry.is_some_and(|entry| entry.by.statements.form == Some(DocumentForm::Old));
    match identity_template::render(text, payload) {
        Identified::Nothing => Ok(None),
        Identified::Missing(attribute) => refused(format!("the payload has no `{attribute}`")),
        Identified::Name(text) if text.trim().is_empty() => refused("it is blank".to_owned()),
        Identified::Name(text) if !is_old && (text.contains('/') || matches!(text.as_str(), "." | "..")) => {
            refused(format!("`{text}` is not one segment of a path"))
        }
        Identified::Name(text) => Ok(Some(text)),
    }
}

/// The pointers that a payload must have for an operation: those that metadata requires, and those of configured identities.
pub fn required_attributes(metadata: &EffectiveMetadata, operation: Operation) -> Vec<Pointer> {
    let listed = metadata.names(Section::Resource, Field::ResourceRequired).unwrap_or_default();
    let pointer = |name: &str| match name.trim().starts_with('/') {
        true => Pointer::parse(name.trim()).ok(),
        false => Some(std::iter::once(SmolStr::new(name.trim())).collect()),
    };
    let mut required: Vec<Pointer> = listed.into_iter().filter_map(pointer).collect();
    let identities: &[Field] = match operation {
        Operation::Create => &[Field::AliasFromAttribute],
        Operation::Update => &[Field::AliasFromAttribute, Field::IdFromAttribute],
        _ => return Vec::new(),
    };
    // What older documents name need not be there: only the new form requires it.
    for field in identities {
        let entry = metadata.provenance(&FieldPath::new(Section::Resource, *field)).map(|known| known.winner);
        let is_new = |entry: &&EffectiveEntry| entry.by.statements.form == Some(DocumentForm::New);
        let text = entry.filter(is_new).and_then(EffectiveEntry::value).and_then(Node::as_str);
        let pointers = text.map(identity_template::attributes).unwrap_or_default();
        required.extend(pointers.into_iter().filter(|pointer| !pointer.tokens().is_empty()));
    }
    let mut seen: Vec<Pointer> = Vec::new();
    required.retain(|pointer| {
        !seen.contains(pointer) && {
            seen.push(pointer.clone());
            true
        }
    });
    required
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
    if [Field::IdFromAttribute, Field::AliasFromAttribute].iter().all(|field| metadata.identity(*field).is_none()) {
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
        let identity = identify(self.metadata, self.path, self.payload).value;
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
    match identity_template::render(metadata.identity(field)?, payload) {
        Identified::Name(text) if !text.trim().is_empty() => Some(text),
        _ => None,
    }
}

/// The text, number or boolean at a top-level attribute, as text; nothing if it is blank or not there.
fn scalar_at(payload: &Node, attribute: &str) -> Option<SmolStr> {
    identity_template::scalar(payload, &[attribute.into()]).filter(|text| !text.trim().is_empty())
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
