//! What a resource has beside what its file says: defaults from layers below it, and texts from files beside it.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{FileContent, Side};
use crate::document;
use crate::finding::{self, Finding, Location};
use crate::metadata::{EffectiveMetadata, Field, FieldPath, Section};
use crate::path::{Pointer, RepoPath};
use crate::resource::{Identity, Resource};
use crate::snapshot::EntryKind;
use crate::text::{SourceText, Span};
use crate::value::{Node, StepKind, Value, overlaid};

/// An attribute whose text is in a file beside the resource.
struct Sidecar {
    path: Vec<SmolStr>,
    file: SmolStr,
    template: SmolStr,
}

impl Side<'_> {
    /// The content of a file, with defaults below its resources and the texts of files beside them.
    pub(super) fn based(&self, content: FileContent) -> FileContent {
        let mut content = content;
        for resource in &mut content.resources {
            let Some(metadata) = self.basing(resource) else { continue };
            self.base(resource, &metadata, &mut content.findings);
        }
        content
    }

    /// Whether metadata adds something to a resource of a file.
    pub(super) fn is_based(&self, content: &FileContent) -> bool {
        content.resources.iter().any(|resource| self.basing(resource).is_some())
    }

    /// The metadata of a resource, if it adds to the payload.
    fn basing(&self, resource: &Resource) -> Option<Arc<EffectiveMetadata>> {
        if !matches!(resource.identity, Identity::Logical(_)) {
            return None;
        }
        let metadata = self.metadata_of(resource)?;
        let adds = [Field::DefaultsValue, Field::UseProfiles, Field::Externalized];
        let has = |field: &Field| metadata.get(&FieldPath::new(Section::Resource, *field)).is_some();
        adds.iter().any(has).then_some(metadata)
    }

    fn base(&self, resource: &mut Resource, metadata: &EffectiveMetadata, findings: &mut Vec<Finding>) {
        match metadata.default_payload() {
            Ok(None) => {}
            Ok(Some(defaults)) if resource.payload.as_map().is_some() => {
                let at = metadata.provenance(&FieldPath::new(Section::Resource, Field::DefaultsValue));
                let at = at.map_or(defaults.span, |known| known.winner.at);
                resource.payload = with_defaults(&defaults, &resource.payload, at);
            }
            Ok(Some(_)) => {}
            // The metadata itself has a finding about a profile that does not exist.
            Err(_) => {}
        }
        for sidecar in sidecars(metadata) {
            resource.payload = self.with_texts(resource, &sidecar, findings);
        }
    }

    /// The payload with the text of a file wherever an attribute names it.
    fn with_texts(&self, resource: &Resource, sidecar: &Sidecar, findings: &mut Vec<Finding>) -> Node {
        let directory = resource.file.parent().unwrap_or_default();
        let mut payload = resource.payload.clone();
        for (place, indexes) in places(&payload, &sidecar.path) {
            let name = numbered(&sidecar.file, &indexes);
            let Some(value) = payload.at(&place) else { continue };
            if value.as_str() != Some(sidecar.template.replacen("%s", &name, 1).as_str()) {
                continue;
            }
            match self.text_beside(&directory, &name, value.span) {
                Ok(text) => payload = payload.with_at(&place, text),
                Err(finding) => findings.push(*finding),
            }
        }
        payload
    }

    fn text_beside(&self, directory: &RepoPath, name: &str, at: Span) -> Result<Node, Box<Finding>> {
        let refused = |reason: String| {
            let finding = Finding::new(&finding::METADATA_SIDECAR, Location::Span(at), reason);
            Box::new(finding.labelled("included here").help("add the file, or write the text here"))
        };
        let path = name.split('/').try_fold(directory.clone(), |path, part| path.join(part.as_bytes()));
        let path = path.map_err(|error| refused(error.to_string()))?;
        let entry = match self.snapshot.entry(&path) {
            Ok(Some(entry)) if entry.kind == EntryKind::File => entry,
            Ok(_) => return Err(refused(format!("there is no file {path}"))),
            Err(unreadable) => return Err(Box::new(unreadable.into_finding())),
        };
        let bytes = self.snapshot.read(&entry).map_err(|unreadable| Box::new(unreadable.into_finding()))?;
        let text = document::decode(&bytes).map_err(|error| refused(format!("{path} is no text: {error}")))?;
        let source = self.sources.add(SourceText::new(path, self.snapshot.label(), &*text));
        Ok(Node::text(&*text, Span::new(source, 0, text.len())).through(StepKind::Include, at))
    }
}

/// A payload over its defaults; what comes from a default has the layer that gives it as a step of its provenance.
fn with_defaults(defaults: &Node, payload: &Node, at: Span) -> Node {
    let mut laid = overlaid(defaults, payload);
    let Value::Map(map) = &laid.value else { return laid };
    let is_default = |name: &str| payload.get(name).is_none();
    let entries = map.entries().iter().map(|entry| match is_default(&entry.key.name) {
        true => crate::value::Entry { key: entry.key.clone(), value: entry.value.clone().through(StepKind::Layer, at) },
        false => entry.clone(),
    });
    laid = Node { extra: laid.extra.clone(), ..Node::map(entries.collect(), laid.span) };
    laid
}

fn sidecars(metadata: &EffectiveMetadata) -> Vec<Sidecar> {
    let list = metadata.get(&FieldPath::new(Section::Resource, Field::Externalized));
    let items = list.and_then(Node::as_list).unwrap_or_default().iter();
    let text = |item: &Node, name: &str| item.get(name).and_then(Node::as_str).map(SmolStr::new);
    let is_on = |item: &&Node| !item.get("enabled").is_some_and(|flag| matches!(flag.value, Value::Bool(false)));
    let read = |item: &Node| {
        let path = Pointer::parse(&text(item, "path")?).ok()?.tokens().to_vec();
        let template = text(item, "template").filter(|template| !template.trim().is_empty());
        Some(Sidecar { path, file: text(item, "file")?, template: template.unwrap_or("{{include %s}}".into()) })
    };
    items.filter(is_on).filter_map(read).collect()
}

/// The places that a path leads to, where `*` goes through the items of lists, with the indexes of these items.
fn places(payload: &Node, path: &[SmolStr]) -> Vec<(Pointer, Vec<usize>)> {
    let mut found: Vec<(Vec<SmolStr>, Vec<usize>, &Node)> = vec![(Vec::new(), Vec::new(), payload)];
    for token in path {
        let mut next = Vec::new();
        for (place, indexes, node) in found {
            if let (Some(items), "*") = (node.as_list(), token.as_str()) {
                next.extend(items.iter().enumerate().map(|(at, item)| {
                    let place = place.iter().cloned().chain([SmolStr::new(at.to_string())]).collect();
                    (place, indexes.iter().copied().chain([at]).collect(), item)
                }));
            } else if let Some(node) = node.at(&std::iter::once(token.clone()).collect()) {
                next.push((place.into_iter().chain([token.clone()]).collect(), indexes, node));
            }
        }
        found = next;
    }
    found.into_iter().map(|(place, indexes, _)| (place.into_iter().collect(), indexes)).collect()
}

/// The name of a file with indexes before its extension: `script-0-2.sh`.
fn numbered(file: &str, indexes: &[usize]) -> String {
    let tail: String = indexes.iter().map(|index| format!("-{index}")).collect();
    let (directory, name) = file.rsplit_once('/').map_or(("", file), |(directory, name)| (directory, name));
    let name = match name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()) {
        Some((stem, extension)) => format!("{stem}{tail}.{extension}"),
        None => format!("{name}{tail}"),
    };
    if directory.is_empty() { name } else { format!("{directory}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn indexes_stand_before_the_extension() {
        assert_eq!(numbered("script.sh", &[]), "script.sh");
        assert_eq!(numbered("a/script.sh", &[0, 2]), "a/script-0-2.sh");
        assert_eq!(numbered("Makefile", &[1]), "Makefile-1");
    }

    #[test]
    fn stars_go_through_lists() {
        let payload = read("{a: [{b: 1}, {c: 2}, {b: 3}], d: {'*': 4}}");
        let found = |path: &str| {
            let path = Pointer::parse(path).unwrap();
            places(&payload, path.tokens()).iter().map(|(place, _)| place.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("/a/*/b"), ["/a/0/b", "/a/2/b"]);
        assert_eq!(found("/d/*"), ["/d/*"]);
        assert!(found("/x/*").is_empty());
    }
}
