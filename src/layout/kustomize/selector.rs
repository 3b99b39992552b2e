//! Which resources a target selects: anchored patterns over names, Kubernetes selectors over labels and annotations.

use super::file::Selector;
use super::pattern::Pattern;
use super::resource::Resource;
use super::{Fatal, fatal};
use crate::value::Node;

/// A selector with its patterns compiled.
pub(super) struct Compiled {
    group: Pattern,
    version: Pattern,
    kind: Pattern,
    name: Pattern,
    namespace: Pattern,
    has_namespace: bool,
    /// Whether it says nothing about names and kinds.
    is_any: bool,
    labels: Vec<Requirement>,
    annotations: Vec<Requirement>,
}

/// A part of a label selector.
#[derive(Debug, PartialEq, Eq)]
enum Requirement {
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Exists(String),
    Absent(String),
}

impl Compiled {
    /// Compiles the patterns of a selector.
    pub(super) fn new(selector: &Selector, span: crate::text::Span) -> Result<Self, Fatal> {
        let span = selector.span.unwrap_or(span);
        let pattern =
            |text: &str| Pattern::new(text).ok_or_else(|| fatal(span, format!("`{text}` is not a regular expression")));
        let requirements =
            |text: &str| requirements(text).ok_or_else(|| fatal(span, format!("`{text}` is not a selector")));
        Ok(Self {
            group: pattern(&selector.group)?,
            version: pattern(&selector.version)?,
            kind: pattern(&selector.kind)?,
            name: pattern(&selector.name)?,
            namespace: pattern(&selector.namespace)?,
            has_namespace: !selector.namespace.is_empty(),
            is_any: [&selector.group, &selector.version, &selector.kind, &selector.name, &selector.namespace]
                .iter()
                .all(|text| text.is_empty()),
            labels: requirements(&selector.labels)?,
            annotations: requirements(&selector.annotations)?,
        })
    }

    /// Whether a resource is selected, by what it is called now or was called at first.
    pub(super) fn selects(&self, resource: &Resource) -> bool {
        self.selects_by(resource, &[resource.id(), resource.original()])
    }

    /// Whether a resource is selected by any name it has or had.
    pub(super) fn selects_by_any_name(&self, resource: &Resource) -> bool {
        self.selects_by(resource, &resource.ids().collect::<Vec<_>>())
    }

    /// Whether a resource is rejected: by its labels and annotations, or by any name it has or had.
    pub(super) fn rejects(&self, resource: &Resource) -> bool {
        let has_selectors = !self.labels.is_empty() || !self.annotations.is_empty();
        let by_selectors = has_selectors && self.fulfils(resource);
        let names: Vec<_> = resource.ids().collect();
        by_selectors || !self.is_any && self.names(resource, &names)
    }

    fn selects_by(&self, resource: &Resource, names: &[super::id::ResourceId]) -> bool {
        self.names(resource, names) && self.fulfils(resource)
    }

    fn names(&self, resource: &Resource, names: &[super::id::ResourceId]) -> bool {
        let now = resource.id();
        let namespace = |id: &super::id::ResourceId| {
            let shown = if id.is_cluster_scoped() { "" } else { id.effective_namespace() };
            self.namespace.is_match(shown)
        };
        self.group.is_match(&now.group)
            && self.version.is_match(&now.version)
            && self.kind.is_match(&now.kind)
            && names.iter().any(|id| self.name.is_match(&id.name))
            && (!self.has_namespace || names.iter().any(namespace))
    }

    fn fulfils(&self, resource: &Resource) -> bool {
        let metadata = resource.node.get("metadata");
        fulfilled(&self.labels, metadata.and_then(|node| node.get("labels")))
            && fulfilled(&self.annotations, metadata.and_then(|node| node.get("annotations")))
    }
}

fn fulfilled(requirements: &[Requirement], found: Option<&Node>) -> bool {
    let value = |key: &str| found.and_then(|node| node.get(key)).and_then(Node::as_str);
    requirements.iter().all(|requirement| match requirement {
        Requirement::In(key, values) => value(key).is_some_and(|value| values.iter().any(|other| other == value)),
        Requirement::NotIn(key, values) => value(key).is_none_or(|value| values.iter().all(|other| other != value)),
        Requirement::Exists(key) => value(key).is_some(),
        Requirement::Absent(key) => value(key).is_none(),
    })
}

/// Reads a selector such as `a=b,c!=d,e in (f,g),h,!i`.
fn requirements(text: &str) -> Option<Vec<Requirement>> {
    let mut requirements = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let depth = |at: usize| rest[..at].matches('(').count() > rest[..at].matches(')').count();
        let end = rest.match_indices(',').map(|(at, _)| at).find(|&at| !depth(at)).unwrap_or(rest.len());
        requirements.push(requirement(rest[..end].trim())?);
        rest = rest.get(end + 1..).unwrap_or_default().trim();
    }
    Some(requirements)
}

fn requirement(text: &str) -> Option<Requirement> {
    let is_key = |key: &str| !key.is_empty() && !key.contains([' ', '(', ')', '=', '!', ',']);
    let key = |key: &str| Some(key.trim().to_owned()).filter(|key| is_key(key));
    let one = |value: &str| {
        let value = value.trim();
        (!value.contains([' ', '(', ')', '=', '!'])).then(|| vec![value.to_owned()])
    };
    if let Some(name) = text.strip_prefix('!') {
        return key(name).map(Requirement::Absent);
    }
    if let Some((name, value)) = text.split_once("!=") {
        return Some(Requirement::NotIn(key(name)?, one(value)?));
    }
    if let Some((name, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        return Some(Requirement::In(key(name)?, one(value)?));
    }
    if let Some((head, values)) = text.split_once('(') {
        let values = values.strip_suffix(')')?.split(',').map(|value| value.trim().to_owned()).collect();
        let (name, word) = head.trim().rsplit_once(' ')?;
        return match word {
            "in" => Some(Requirement::In(key(name)?, values)),
            "notin" => Some(Requirement::NotIn(key(name)?, values)),
            _ => None,
        };
    }
    key(text).map(Requirement::Exists)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_as_kubernetes_does() {
        let texts = |values: &[&str]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(
            requirements("a=b, c!=d,e in (f, g),h,!i, j==k"),
            Some(vec![
                Requirement::In("a".into(), texts(&["b"])),
                Requirement::NotIn("c".into(), texts(&["d"])),
                Requirement::In("e".into(), texts(&["f", "g"])),
                Requirement::Exists("h".into()),
                Requirement::Absent("i".into()),
                Requirement::In("j".into(), texts(&["k"])),
            ])
        );
        for wrong in ["a=b=c", "a in f", "a in (b", "=b", "a b"] {
            assert_eq!(requirements(wrong), None, "{wrong}");
        }
    }
}
