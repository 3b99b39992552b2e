//! Derives attributes from a logical path: `/admin/realms/acme/clients` and the template `/admin/realms/{{.realm}}/clients` give
//! `realm: acme`.

use smol_str::SmolStr;

use super::url;
use crate::metadata::{EffectiveMetadata, Field, FieldPath, Operation, Section, singular};
use crate::path::LogicalPath;
use crate::text::Span;
use crate::value::Node;

/// An attribute that a path gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Derived {
    /// Its name.
    pub name: SmolStr,
    /// Its value: a segment of the path.
    pub value: SmolStr,
    /// The template that names it; nothing if only the name of a collection does.
    pub template: Option<Span>,
}

/// Every attribute that the path gives, each name once, the strongest source first.
///
/// The collection is the logical one: the parent of a resource, or the path itself for a list.
pub fn derive(metadata: &EffectiveMetadata, path: &LogicalPath, collection: &LogicalPath) -> Vec<Derived> {
    let mut found: Vec<Derived> = Vec::new();
    let logical: Vec<&str> = path.segments().collect();
    let captures = templates(metadata, collection).into_iter().flat_map(|(text, span)| {
        let captured = aligned(&text, &logical).into_iter();
        captured.map(move |(name, value)| Derived { name, value, template: Some(span) })
    });
    // Below a layer that reaches further down, only the path of its own collection has names of collections.
    let depth = metadata.descendant_depth().unwrap_or(usize::MAX);
    for derived in captures.chain(plural_segments(collection, depth)) {
        if found.iter().all(|known| known.name != derived.name) {
            found.push(derived);
        }
    }
    found
}

/// The path templates of the metadata in the order of their strength, relative ones joined to the collection's.
fn templates(metadata: &EffectiveMetadata, collection: &LogicalPath) -> Vec<(String, Span)> {
    let own = metadata.get(&FieldPath::new(Section::Resource, Field::CollectionPath)).and_then(texts);
    let base = own.as_ref().map_or_else(|| collection.as_str().to_owned(), |(text, _)| text.trim().to_owned());
    let mut templates: Vec<(String, Span)> = own.into_iter().collect();
    templates.extend(resource_paths(metadata, Section::Defaults));
    const BY_NAME: [Operation; 6] =
        [Operation::Compare, Operation::Create, Operation::Delete, Operation::Get, Operation::List, Operation::Update];
    for operation in BY_NAME {
        let section = Section::Operation(operation);
        templates.extend(resource_paths(metadata, section));
        let path = metadata.get(&FieldPath::new(section, Field::Path)).and_then(texts);
        templates.extend(path.map(|(text, span)| match text.trim() {
            relative if relative.starts_with('.') => (format!("{base}/{relative}"), span),
            other => (other.to_owned(), span),
        }));
    }
    templates
}

fn texts(node: &Node) -> Option<(String, Span)> {
    Some((node.as_str()?.to_owned(), node.span))
}

/// The paths in `resource("…")` of a section's jq.
fn resource_paths(metadata: &EffectiveMetadata, section: Section) -> Vec<(String, Span)> {
    let Some((jq, span)) = metadata.get(&FieldPath::new(section, Field::Jq)).and_then(texts) else { return Vec::new() };
    let calls = jq.split("resource").skip(1).filter_map(|rest| {
        let argument = rest.trim_start().strip_prefix('(')?.trim_start().strip_prefix('"')?;
        let end = argument.find('"')?;
        Some((argument[..end].to_owned(), span))
    });
    calls.collect()
}

/// The names that a template gives to segments of a path, up to the first literal segment that differs; none if a name has two
/// values.
fn aligned(template: &str, path: &[&str]) -> Vec<(SmolStr, SmolStr)> {
    let mut captured: Vec<(SmolStr, SmolStr)> = Vec::new();
    for (segment, actual) in url::segments(template).iter().zip(path) {
        match placeholder(segment) {
            Some(name) => match captured.iter().find(|(known, _)| known == name) {
                Some((_, value)) if value != actual => return Vec::new(),
                Some(_) => {}
                None => captured.push((name.into(), (*actual).into())),
            },
            None if segment == actual => {}
            None => break,
        }
    }
    captured
}

/// The name in a segment that is nothing but `{{.name}}`, `{{name}}` or `{{/name}}`.
fn placeholder(segment: &str) -> Option<&str> {
    let inside = segment.strip_prefix("{{")?.strip_suffix("}}")?.trim();
    let name = inside.strip_prefix(['.', '/']).unwrap_or(inside);
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    is_name.then_some(name)
}

/// The weakest source: in `/projects/p1/jobs`, the segment after `projects` is a `project`.
fn plural_segments(collection: &LogicalPath, depth: usize) -> Vec<Derived> {
    let segments: Vec<&str> = collection.segments().take(depth).collect();
    let pairs = segments.windows(2).filter_map(|pair| Some((singular(pair[0])?, pair[1])));
    pairs.map(|(name, value)| Derived { name, value: value.into(), template: None }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_aligned_up_to_the_first_difference() {
        let names = |template: &str, path: &str| {
            let path: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
            let captured = aligned(template, &path).into_iter().map(|(name, value)| format!("{name}={value}"));
            captured.collect::<Vec<_>>().join(" ")
        };
        for (template, path, captured) in [
            ("/admin/realms/{{.realm}}/components", "/admin/realms/platform/user-registry/ldap", "realm=platform"),
            ("/projects/{{ .project }}/widgets/{{.id}}", "/projects/p1/widgets/w9", "project=p1 id=w9"),
            ("/v2/projects/{{.project}}", "/projects/p1", ""),
            ("/a/{{.x}}-{{.y}}/{{.z}}", "/a/b/c", ""),
            ("/{{.x}}/{{.x}}", "/a/b", ""),
            ("/{{.x}}/{{.x}}", "/a/a", "x=a"),
            ("/{{../id}}/{{.x}}", "/a/b", ""),
            ("/a/{{/x}}/{{y}}", "/a/b/c", "x=b y=c"),
            ("/a/1/./{{.p}}/z", "/a/1/b", "p=b"),
            ("/a/1/../{{.p}}", "/a/b", "p=b"),
        ] {
            assert_eq!(names(template, path), captured, "{template} on {path}");
        }
    }
}
