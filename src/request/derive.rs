//! Derives attributes from a logical path: `/admin/realms/acme/clients` and the template `/admin/realms/{{.realm}}/clients` give
//! `realm: acme`.

use std::borrow::Cow;

use smol_str::SmolStr;

use super::url;
use crate::metadata::{EffectiveMetadata, Field, FieldPath, Section, singular};
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
    let captures = metadata.path_templates().iter().flat_map(|template| {
        let text = match template.is_relative {
            true => format!("{}/{}", base(metadata, collection), template.text).into(),
            false => Cow::Borrowed(template.text.as_str()),
        };
        let captured = aligned(&text, &logical).into_iter();
        captured.map(move |(name, value)| Derived { name, value, template: Some(template.span) })
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

/// The path that relative templates start from.
fn base<'m>(metadata: &'m EffectiveMetadata, collection: &'m LogicalPath) -> &'m str {
    let own = metadata.get(&FieldPath::new(Section::Resource, Field::CollectionPath)).and_then(Node::as_str);
    own.map_or_else(|| collection.as_str(), str::trim)
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
