//! Plain values that tools put into Secrets: the source of a replacement of kustomize, a variable of Flux. They are secret where they
//! are written, too, unless they are used in the open.

use std::collections::BTreeMap;

use crate::path::RepoPath;
use crate::resource::Resource;
use crate::text::{SourceId, Sources, Span};
use crate::value::{Node, Secret, StepKind, Value};

/// The path of a text, and the fingerprint of its content.
pub(super) type TextKey = (RepoPath, u64);

/// Shorter values are words such as `true`, ports and names of zones.
const SHORTEST: usize = 6;

/// How much of a secret a value that was written elsewhere is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Share {
    /// Some of it: beside a password, the address of a server may be part of a URL.
    Part,
    /// All of it.
    Whole,
}

/// How a value is used outside of Secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OpenUse {
    /// A tool puts it at a plain place.
    Plain,
    /// It is part of what a resource is called by.
    Identity,
}

impl OpenUse {
    /// Whether a value that is used so, and is such a share of a secret, is no secret itself.
    pub(super) fn reveals(self, share: Share) -> bool {
        self == Self::Identity || share == Share::Part
    }
}

/// How much of a secret is written at a place; nothing if that is so short that other values are often equal.
pub(super) fn share(secret: &Secret, at: Span, sources: &Sources) -> Option<Share> {
    let text = sources.get(at.source);
    let written = text.part(at.range())?.trim_matches(['"', '\'', ' ', '\n']);
    if written.chars().count() < SHORTEST {
        return None;
    }
    Some(if secret.is_made_of(&Node::text(written, at)) { Share::Whole } else { Share::Part })
}

/// The places that a tool took a value from: all of it, or parts.
pub(super) fn taken_places(node: &Node) -> impl Iterator<Item = Span> + '_ {
    let steps = || node.steps();
    let is_replaced = steps().any(|step| step.kind == StepKind::Kustomize("replacements"));
    let variables = steps().filter(|step| step.kind == StepKind::Kustomize("postBuild")).map(|step| step.at);
    let own = (node.span.start < node.span.end && is_replaced).then_some(node.span);
    own.into_iter().chain(variables.filter(move |at| at != &node.span && at.start < at.end))
}

/// Where in a document a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Top,
    Metadata,
    /// What the resource is called by.
    Identity,
    Other,
}

impl Position {
    /// The position of a member.
    pub(super) fn below(self, key: Option<&str>) -> Self {
        match (self, key) {
            (Self::Top, Some("metadata")) => Self::Metadata,
            (Self::Top, Some("kind" | "apiVersion")) => Self::Identity,
            (Self::Metadata, Some("name" | "namespace" | "generateName" | "labels")) => Self::Identity,
            (Self::Identity, _) => Self::Identity,
            _ => Self::Other,
        }
    }
}

/// A range of a text.
pub(super) type Range = (u32, u32);

/// Something about places, by the texts that they are in.
pub(super) type ByPlace<T> = BTreeMap<TextKey, BTreeMap<Range, T>>;

/// Adds what is known about places; the most counts.
pub(super) fn extend<T: Copy + Ord>(known: &mut ByPlace<T>, others: &ByPlace<T>) {
    for (text, ranges) in others {
        ranges.iter().for_each(|(range, value)| note(known, text, *range, *value));
    }
}

/// Adds what is known about one place; the most counts.
pub(super) fn note<T: Copy + Ord>(known: &mut ByPlace<T>, text: &TextKey, range: Range, value: T) {
    if !known.contains_key(text) {
        known.insert(text.clone(), BTreeMap::new());
    }
    if let Some(ranges) = known.get_mut(text) {
        let kept = ranges.entry(range).or_insert(value);
        *kept = (*kept).max(value);
    }
}

/// What is known about the places of one file.
pub(super) fn in_file<T: Clone>(known: &ByPlace<T>, file: &RepoPath) -> ByPlace<T> {
    let own = known.iter().filter(|((path, _), _)| path == file);
    own.map(|(text, ranges)| (text.clone(), ranges.clone())).collect()
}

/// Finds uses of known places in plain values.
pub(super) struct OpenUseFinder<'a> {
    known: &'a ByPlace<Share>,
    sources: &'a Sources,
    texts: BTreeMap<SourceId, TextKey>,
    found: ByPlace<OpenUse>,
}

impl<'a> OpenUseFinder<'a> {
    pub(super) fn new(known: &'a ByPlace<Share>, sources: &'a Sources) -> Self {
        Self { known, sources, texts: BTreeMap::new(), found: ByPlace::new() }
    }

    /// The uses in resources whose secrets are hidden.
    pub(super) fn find<'r>(mut self, hidden: impl IntoIterator<Item = &'r Resource>) -> ByPlace<OpenUse> {
        if !self.known.is_empty() {
            hidden.into_iter().for_each(|resource| self.node(&resource.payload, Position::Top));
        }
        self.found
    }

    fn node(&mut self, node: &Node, position: Position) {
        match &node.value {
            Value::Map(_) | Value::List(_) => {
                let key = |key: Option<&crate::value::Key>| key.map(|key| key.name.clone());
                node.children().for_each(|child| self.node(child.node, position.below(key(child.key).as_deref())));
            }
            Value::Secret(_) | Value::Null => {}
            _ if position == Position::Identity => {
                let places: Vec<Span> = taken_places(node).chain([node.span]).collect();
                places.into_iter().for_each(|at| self.note(at, OpenUse::Identity));
            }
            _ => {
                let places: Vec<Span> = taken_places(node).collect();
                places.into_iter().for_each(|at| self.note(at, OpenUse::Plain));
            }
        }
    }

    fn note(&mut self, at: Span, how: OpenUse) {
        let sources = self.sources;
        let text = self.texts.entry(at.source).or_insert_with(|| {
            let text = sources.get(at.source);
            (text.path.clone(), text.fingerprint())
        });
        let range = (at.start, at.end);
        if self.known.get(text).is_some_and(|known| known.contains_key(&range)) {
            note(&mut self.found, text, range, how);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secrets::mask::secret;
    use crate::testing::read;
    use crate::text::SourceText;

    fn share_of(hidden: &str, written: &str) -> Option<Share> {
        let sources = Sources::default();
        let source = sources.add(SourceText::new(RepoPath::root(), "test", written));
        let node = secret(&Node::text(hidden, read("0").span));
        let Value::Secret(hidden) = &node.value else { return None };
        share(hidden, Span::new(source, 0, written.len()), &sources)
    }

    #[test]
    fn a_value_is_all_of_a_secret_or_part_of_it() {
        assert_eq!(share_of("hunter2", "\"hunter2\""), Some(Share::Whole));
        assert_eq!(share_of("aHVudGVyMg==", "hunter2"), Some(Share::Whole));
        assert_eq!(share_of("db://u:hunter2@host", "hunter2"), Some(Share::Part));
        assert_eq!(share_of("8080", "8080"), None);
    }

    #[test]
    fn names_reveal_everything_and_plain_uses_reveal_parts() {
        assert!(OpenUse::Identity.reveals(Share::Whole) && OpenUse::Plain.reveals(Share::Part));
        assert!(!OpenUse::Plain.reveals(Share::Whole));
        let name = Position::Top.below(Some("metadata")).below(Some("labels")).below(Some("app"));
        assert_eq!(name, Position::Identity);
        assert_eq!(Position::Top.below(Some("spec")).below(Some("name")), Position::Other);
    }
}
