//! Paths of OpenAPI documents: their segments, how well they fit a metadata path, and how metadata writes them.

use crate::glob::{glob_matches, is_glob};
use crate::metadata::WILDCARD;

/// A path such as `/realms/{realm}/clients`, cut into segments.
#[derive(Debug)]
pub(super) struct PathTemplate<'a> {
    segments: Vec<PathSegment<'a>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathSegment<'a> {
    Literal(&'a str),
    /// The name between the braces.
    Variable(&'a str),
    /// A variable is only a part of it: `{name}.json`.
    Mixed(&'a str),
}

impl<'a> PathTemplate<'a> {
    /// Reads a path; one that metadata would take for something else is none.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        if !text.starts_with('/') || text.contains("{{") || text.contains("}}") {
            return None;
        }
        let segments = text.split('/').filter(|segment| !segment.is_empty()).map(PathSegment::parse);
        Some(Self { segments: segments.collect::<Option<_>>()? })
    }

    pub(super) fn len(&self) -> usize {
        self.segments.len()
    }

    pub(super) fn last(&self) -> Option<PathSegment<'a>> {
        self.segments.last().copied()
    }

    /// The name of the last variable.
    pub(super) fn last_variable(&self) -> Option<&'a str> {
        self.segments.iter().rev().find_map(|segment| match segment {
            PathSegment::Variable(name) => Some(*name),
            _ => None,
        })
    }

    /// Whether it starts with exactly these segments.
    pub(super) fn starts_with(&self, literals: &[String]) -> bool {
        literals.len() <= self.len()
            && literals.iter().zip(&self.segments).all(|(own, segment)| *segment == PathSegment::Literal(own))
    }

    /// How well it fits the segments of a selector, if it does; segments past the end of the selector are free.
    pub(super) fn score(&self, selector: &[String]) -> Option<usize> {
        selector.iter().zip(&self.segments).try_fold(0, |score, (own, segment)| Some(score + segment.score(own)?))
    }

    /// Whether the path of a request matches this template.
    pub(super) fn stands_for(&self, path: &[&str]) -> bool {
        path.len() == self.len() && self.segments.iter().zip(path).all(|(segment, own)| segment.stands_for(own))
    }

    /// How many of its segments hold a variable.
    pub(super) fn variables(&self) -> usize {
        self.segments.iter().filter(|segment| !matches!(segment, PathSegment::Literal(_))).count()
    }

    /// The path as metadata writes it. Where a name cannot be used, the segment of the fallback replaces it; the last segment of
    /// an item is its id, whatever the item is called.
    pub(super) fn to_metadata(&self, fallback: &[String]) -> String {
        let mut text = String::new();
        for (at, segment) in self.segments.iter().enumerate() {
            text.push('/');
            match segment {
                PathSegment::Literal(literal) => text.push_str(literal),
                PathSegment::Mixed(mixed) => text.push_str(&mixed.replace('{', "{{.").replace('}', "}}")),
                PathSegment::Variable(name) if is_safe(name) => text.push_str(&placeholder(name)),
                PathSegment::Variable(_) => {
                    let is_last = at + 1 == self.segments.len();
                    let own = fallback.get(at).filter(|own| !is_last || own.starts_with("{{."));
                    text.push_str(own.map_or("{{.id}}", String::as_str));
                }
            }
        }
        if text.is_empty() { "/".to_owned() } else { text }
    }
}

impl<'a> PathSegment<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let has_brace = |text: &str| text.contains(['{', '}']);
        if !has_brace(text) {
            return Some(Self::Literal(text));
        }
        match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(name) if !has_brace(name) => Some(Self::Variable(name.trim())),
            _ => has_safe_names(text).then_some(Self::Mixed(text)),
        }
    }

    fn stands_for(self, own: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == own,
            Self::Variable(_) => true,
            Self::Mixed(mixed) => {
                let before = mixed.split('{').next().unwrap_or_default();
                let after = mixed.rsplit('}').next().unwrap_or_default();
                own.len() > before.len() + after.len() && own.starts_with(before) && own.ends_with(after)
            }
        }
    }

    fn score(self, selector: &str) -> Option<usize> {
        let is_variable = matches!(self, Self::Variable(_));
        match self {
            _ if selector == WILDCARD => Some(if is_variable { 2 } else { 0 }),
            Self::Variable(_) => Some(1),
            Self::Literal(literal) if is_glob(selector) => glob_matches(selector, literal).then_some(1),
            Self::Literal(literal) => (literal == selector).then_some(3),
            Self::Mixed(_) => None,
        }
    }
}

/// Whether every brace belongs to a name that templates can hold.
fn has_safe_names(mut text: &str) -> bool {
    while let Some((before, rest)) = text.split_once('{') {
        let Some((name, after)) = rest.split_once('}') else { return false };
        if before.contains('}') || !is_safe(name) {
            return false;
        }
        text = after;
    }
    !text.contains('}')
}

/// The way metadata writes a variable.
pub(super) fn placeholder(name: &str) -> String {
    format!("{{{{.{name}}}}}")
}

/// Whether a name can be written in a template.
pub(super) fn is_safe(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segments(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|&text| text.to_owned()).collect()
    }

    fn score(template: &str, selector: &[&str]) -> Option<usize> {
        PathTemplate::parse(template).unwrap().score(&segments(selector))
    }

    #[test]
    fn segments_are_weighed_by_what_they_stand_for() {
        assert_eq!(score("/admin/{realm}", &["admin", "_"]), Some(5));
        assert_eq!(score("/admin/master", &["admin", "_"]), Some(3));
        assert_eq!(score("/admin/{realm}", &["admin", "master"]), Some(4));
        assert_eq!(score("/admin/other", &["admin", "master"]), None);
        assert_eq!(score("/admin/master", &["admin", "m*"]), Some(4));
        assert_eq!(score("/admin/{realm}", &["admin", "m*"]), Some(4));
        assert_eq!(score("/admin/other", &["admin", "m*"]), None);
        assert_eq!(score("/admin/{realm}/count", &["admin", "_"]), Some(5), "what comes after is free");
    }

    #[test]
    fn names_that_templates_cannot_hold_are_replaced() {
        let written =
            |template: &str, fallback: &[&str]| PathTemplate::parse(template).unwrap().to_metadata(&segments(fallback));
        assert_eq!(written("/a/{b}/c/", &["a", "{{.x}}", "c"]), "/a/{{.b}}/c");
        assert_eq!(written("/a/{b-c}/{d.e}", &["a", "{{.x}}", "{{.y}}"]), "/a/{{.x}}/{{.y}}");
        assert_eq!(written("/a/{b-c}/{d.e}", &["a", "one", "two"]), "/a/one/{{.id}}");
        assert_eq!(written("/a/{b}.json", &[]), "/a/{{.b}}.json");
        assert_eq!(written("/", &[]), "/");
    }

    #[test]
    fn what_metadata_would_take_for_a_template_is_no_path() {
        for wrong in ["", "a", "x-internal", "/{{.id}}", "/a/{b", "/a}/{b}", "/a{b-c}d"] {
            assert!(PathTemplate::parse(wrong).is_none(), "{wrong}");
        }
    }
}
