//! Ladders of metadata: what each layer says about a directive.

use smol_str::SmolStr;

use super::{Inspection, hidden};
use crate::metadata::{self, Effect, EffectiveEntry, EffectiveMetadata, Field, FieldPath, LayerOrigin, MetadataPath};
use crate::path::Pointer;
use crate::report::explain::{self, Ladder, Part, Role, Rung, Spoken, Subject, Way};
use crate::secrets::Masks;
use crate::value::{Entry, Node};

impl Inspection<'_> {
    /// Where the metadata of a path comes from: of everything at or below a pointer, or, without one, of what some file says.
    pub(super) fn metadata_part(&self, stored: &EffectiveMetadata, path: &MetadataPath, within: &Pointer) -> Part {
        let metadata = metadata::over_defaults(stored, self.sources);
        let masks = Masks::new(&self.settings.secrets);
        let mut ladders = Vec::new();
        let mut untold = 0;
        for (field_path, said) in metadata.entries() {
            let is_inside = field_path.pointer().tokens().starts_with(within.tokens());
            if !is_inside || !speaks_for_itself(field_path, said) {
                continue;
            }
            if within.tokens().is_empty() && said.by.origin == LayerOrigin::Defaults {
                untold += 1;
                continue;
            }
            ladders.push(ladder(field_path, said, path, &masks));
        }
        let origins = stored.layers().iter().filter_map(|layer| match &layer.origin {
            LayerOrigin::File { path: file, selector } => {
                let is_collection = selector.is_collection();
                let selector = selector.to_string();
                let role = if is_collection { Role::Collection { selector } } else { Role::Own { selector } };
                Some(explain::Origin { role, file: file.to_string() })
            }
            _ => None,
        });
        Part { subject: Subject::Metadata, origins: origins.collect(), ladders, untold }
    }
}

/// Whether a directive is worth a ladder: the mere presence of a section or a map is not, unless it was left empty on purpose.
fn speaks_for_itself(field_path: &FieldPath, said: &EffectiveEntry) -> bool {
    let is_map = field_path.field.is_per_key() && field_path.key.is_none();
    let is_presence = |said: &EffectiveEntry| {
        said.by
            .statements
            .about(field_path)
            .is_none_or(|statement| matches!(statement.kind, metadata::StatementKind::Present(_)))
    };
    field_path.field != Field::Itself && !(is_map && is_presence(said))
}

fn ladder(field_path: &FieldPath, last: &EffectiveEntry, path: &MetadataPath, masks: &Masks) -> Ladder {
    let pointer = field_path.pointer();
    let mut name = SmolStr::from(field_path.to_string());
    let mut rungs: Vec<Rung> = Vec::new();
    for said in std::iter::successors(Some(last), |said| said.over.as_deref()) {
        let spoken = match &said.effect {
            Effect::Cleared => Spoken::Cleared,
            Effect::Emptied => Spoken::Emptied,
            Effect::Set(node) => {
                if let (Some(written), Some(key), true) =
                    (node.get("name").and_then(Node::as_str), &field_path.key, rungs.is_empty())
                {
                    name = name
                        .strip_suffix(key.as_str())
                        .map_or(name.clone(), |start| format!("{start}{written}").into());
                }
                let value = if field_path.field == Field::Headers { node.get("value").unwrap_or(node) } else { node };
                Spoken::Value(hidden_at(&pointer, value, path, masks))
            }
        };
        let (origin, at) = match &said.by.origin {
            LayerOrigin::Defaults => (None, None),
            LayerOrigin::File { selector, .. } => (Some(selector.to_string()), Some(said.at)),
            LayerOrigin::Directory(_) | LayerOrigin::Document => (None, Some(said.at)),
        };
        let way = Way::of(said.value().and_then(Node::step));
        rungs.push(Rung { origin, at, way, spoken });
    }
    rungs.reverse();
    Ladder { name, pointer, rungs }
}

/// The same for one value of a document.
pub(super) fn hidden_at(pointer: &Pointer, node: &Node, path: &MetadataPath, masks: &Masks) -> Node {
    let nested = pointer.tokens().iter().rev().fold(node.clone(), |inner, token| {
        Node::map(vec![Entry::named(token.clone(), inner.span, inner.clone())], inner.span)
    });
    let hidden = hidden(nested, path, masks);
    hidden.at(pointer).cloned().unwrap_or(hidden)
}
