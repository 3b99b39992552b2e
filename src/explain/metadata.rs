//! Histories of the fields of metadata: what each layer says about a field.

use std::sync::Arc;

use smol_str::SmolStr;

use super::{
    ExplainedFile, ExplainedPart, ExplainedSubject, FileRole, HistoryEffect, HistoryEntry, Route, ValueHistory,
};
use crate::metadata::{
    self, Effect, EffectiveEntry, EffectiveMetadata, Field, FieldPath, Layer, LayerOrigin, Layers, MetadataPath,
};
use crate::path::Pointer;
use crate::secrets::Secrets;
use crate::settings::Root;
use crate::side::Side;
use crate::value::{Entry, Node};

/// Where the metadata of a path comes from: of everything at or below a pointer, or, without one, of what some file says.
pub(super) fn part(
    side: &Side<'_>,
    stored: &EffectiveMetadata,
    path: &MetadataPath,
    within: &Pointer,
) -> ExplainedPart {
    let metadata = metadata::over_defaults(stored, side.sources);
    let mut values = Vec::new();
    let mut omitted = 0;
    for (field, said) in metadata.entries() {
        let is_inside = field.pointer().tokens().starts_with(within.tokens());
        if !is_inside || !has_history(field, said) {
            continue;
        }
        if within.tokens().is_empty() && said.by.origin == LayerOrigin::Defaults {
            omitted += 1;
            continue;
        }
        values.push(history(field, said, path, side.secrets()));
    }
    let files = stored.layers().iter().filter_map(|layer| file_of(layer)).collect();
    ExplainedPart { subject: ExplainedSubject::Metadata, files, values, omitted, skipped: Vec::new() }
}

/// The file of a layer, and how far it reaches.
fn file_of(layer: &Layer) -> Option<ExplainedFile> {
    let LayerOrigin::File { path: file, selector } = &layer.origin else { return None };
    let reaches_below = layer.statements.reaches_below() || selector.segments().is_empty();
    let is_collection = selector.is_collection();
    let selector = selector.to_string();
    let role = match is_collection {
        true => FileRole::Collection { selector, reaches_below },
        false => FileRole::Own { selector },
    };
    Some(ExplainedFile { role, file: file.to_string() })
}

/// The layers of collections above a path that do not reach it, in the tree of layers that starts at a root.
pub(super) fn skipped(
    side: &Side<'_>,
    stored: &EffectiveMetadata,
    path: &MetadataPath,
    root: &Root,
) -> Vec<ExplainedFile> {
    let layers = side.layers().layers_at(&root.path);
    layers.map(|layers| skipped_in(layers, stored, path)).unwrap_or_default()
}

/// The layers of collections above a path that do not reach it.
pub(super) fn skipped_in(layers: &Layers<'_>, stored: &EffectiveMetadata, path: &MetadataPath) -> Vec<ExplainedFile> {
    let is_applied = |layer: &Layer| stored.layers().iter().any(|known| known.origin == layer.origin);
    let is_above = |selector: &MetadataPath| match path.to_logical() {
        Some(path) => selector.applies_to(&path),
        None => path.segments().starts_with(selector.segments()),
    };
    let sources = std::iter::successors(Some(layers), |layers| layers.weaker());
    let all = sources.flat_map(Layers::stored);
    let is_skipped = |layer: &Arc<Layer>| {
        layer.selector().is_some_and(|selector| selector.is_collection() && is_above(selector)) && !is_applied(layer)
    };
    all.filter(is_skipped).filter_map(|layer| file_of(&layer)).collect()
}

/// Each layer with what it says on its own, weakest first, as a list of maps.
pub fn layers_node(side: &Side<'_>, metadata: &EffectiveMetadata, path: &MetadataPath) -> Node {
    let mut span = metadata.to_node().span;
    let mut items = Vec::new();
    for layer in metadata.layers() {
        let LayerOrigin::File { path: file, selector } = &layer.origin else { continue };
        let text = |text: String| Node::text(text, layer.span);
        span = layer.span;
        let entries = vec![
            Entry::named("selector", span, text(selector.to_string())),
            Entry::named("file", span, text(file.to_string())),
            Entry::named("metadata", span, side.secrets().hide_metadata(layer.to_node(), path)),
        ];
        items.push(Node::map(entries, span));
    }
    Node::list(items, span)
}

/// Whether a field has a history of its own: the mere presence of a section or a map is not, unless it was left empty on purpose.
fn has_history(field: &FieldPath, said: &EffectiveEntry) -> bool {
    let is_map = field.field.is_per_key() && field.key.is_none();
    let is_presence = |said: &EffectiveEntry| {
        said.by
            .statements
            .about(field)
            .is_none_or(|statement| matches!(statement.kind, metadata::StatementKind::Present(_)))
    };
    field.field != Field::Itself && !(is_map && is_presence(said))
}

fn history(field: &FieldPath, last: &EffectiveEntry, path: &MetadataPath, secrets: &Secrets<'_>) -> ValueHistory {
    let pointer = field.pointer();
    let mut name = SmolStr::from(field.to_string());
    let mut entries: Vec<HistoryEntry> = Vec::new();
    for said in std::iter::successors(Some(last), |said| said.over.as_deref()) {
        let effect = match &said.effect {
            Effect::Cleared => HistoryEffect::Cleared,
            Effect::Emptied => HistoryEffect::Emptied,
            Effect::Set(node) => {
                if let (Some(written), Some(key), true) =
                    (node.get("name").and_then(Node::as_str), &field.key, entries.is_empty())
                {
                    name = name
                        .strip_suffix(key.as_str())
                        .map_or(name.clone(), |start| format!("{start}{written}").into());
                }
                // A header may be secret by its name as it is written, which its place does not have.
                let hidden = secrets.hide_field(&pointer, node, path);
                let value = hidden.get("value").filter(|_| field.field == Field::Headers).cloned();
                HistoryEffect::Value(value.unwrap_or(hidden))
            }
        };
        let (selector, at) = match &said.by.origin {
            LayerOrigin::Defaults => (None, None),
            LayerOrigin::File { selector, .. } => (Some(selector.to_string()), Some(said.at)),
            LayerOrigin::Directory(_) | LayerOrigin::Document => (None, Some(said.at)),
        };
        let route = Route::along(said.value().and_then(Node::step));
        entries.push(HistoryEntry { selector, at, route, effect });
    }
    entries.reverse();
    ValueHistory { name, written: written(field, last), pointer, entries }
}

/// The keys under which a file has a field, if they are not the canonical ones.
fn written(field: &FieldPath, said: &EffectiveEntry) -> Option<SmolStr> {
    let statements = &said.by.statements;
    let whole = FieldPath::new(field.section, field.field);
    let statement = statements.about(field).or_else(|| statements.about(&whole))?;
    let is_other = !statement.written.is_empty() && statement.written != whole.to_string().as_str();
    is_other.then(|| statement.written.clone())
}
