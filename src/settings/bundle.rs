//! `bundle.yaml`: where a bundle of metadata has its layers and its OpenAPI document.

use super::Settings;
use crate::document::{self, Format};
use crate::finding::{self, Finding, Location};
use crate::limits::Limits;
use crate::names;
use crate::path::RepoPath;
use crate::snapshot::{EntryKind, Snapshot};
use crate::text::{SourceText, Sources};
use crate::value::Node;

/// The kind of document that describes a bundle.
const KIND: &str = "MetadataBundle";

/// Adds what `bundle.yaml` at the root of a repository says to settings that do not say it themselves.
pub(super) fn read(snapshot: &dyn Snapshot, sources: &Sources, settings: &mut Settings) -> Vec<Finding> {
    let Some(bundle) = bundle_of(snapshot, sources) else { return Vec::new() };
    let Some(declarest) = bundle.get("declarest") else { return Vec::new() };
    settings.is_bundle = true;
    let mut findings = Vec::new();
    if settings.metadata_root.is_none()
        && let Some(root) = declarest.get("metadataRoot")
    {
        match root.as_str().and_then(path_inside) {
            Some(path) => settings.metadata_root = Some(path),
            None => {
                let message = "`declarest.metadataRoot` takes a directory of this repository";
                findings.push(Finding::new(&finding::CONFIG_INVALID, Location::Span(root.span), message));
            }
        }
    }
    if settings.openapi.is_none() {
        let is_file =
            |path: &RepoPath| matches!(snapshot.entry(path), Ok(Some(entry)) if entry.kind == EntryKind::File);
        let named = declarest.get("openapi").and_then(Node::as_str).filter(|name| !name.contains("://"));
        let usual = std::iter::once(RepoPath::root()).chain(settings.metadata_root.clone()).flat_map(|directory| {
            names::each_with_stem("openapi").filter_map(move |name| directory.join(name.as_bytes()).ok())
        });
        settings.openapi = match declarest.get("openapi") {
            Some(_) => named.and_then(path_inside).filter(is_file),
            None => usual.into_iter().find(|path| is_file(path)),
        };
    }
    findings
}

fn bundle_of(snapshot: &dyn Snapshot, sources: &Sources) -> Option<Node> {
    let path = RepoPath::new(names::BUNDLE).ok()?;
    let entry = snapshot.entry(&path).ok()?.filter(|entry| entry.kind == EntryKind::File)?;
    let bytes = snapshot.read(&entry).ok()?;
    let text = document::decode(&bytes).ok()?;
    let source = sources.add(SourceText::new(path, snapshot.label(), &*text));
    let parsed = document::parse(&text, source, Format::Yaml, &Limits::default());
    let root = parsed.value.into_iter().next()?.root;
    (root.get("kind").and_then(Node::as_str) == Some(KIND)).then_some(root)
}

/// A path below the root of the repository; nothing if it leads out.
fn path_inside(text: &str) -> Option<RepoPath> {
    if text.starts_with('/') {
        return None;
    }
    text.split('/').try_fold(RepoPath::root(), |path, part| match part {
        "" | "." => Some(path),
        ".." => path.parent(),
        part => path.join(part.as_bytes()).ok(),
    })
}
