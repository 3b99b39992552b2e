//! Ladders of metadata: what each layer says about a directive.

use smol_str::SmolStr;

use super::{Inspection, hidden};
use crate::metadata::{self, Directive, Effect, EffectiveMetadata, Field, MetadataPath, Origin, Said};
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
        for (directive, said) in metadata.said() {
            let is_inside = directive.pointer().tokens().starts_with(within.tokens());
            if !is_inside || !speaks_for_itself(directive, said) {
                continue;
            }
            if within.tokens().is_empty() && said.by.origin == Origin::Defaults {
                untold += 1;
                continue;
            }
            ladders.push(ladder(directive, said, path, &masks));
        }
        let origins = stored.layers().iter().filter_map(|layer| match &layer.origin {
            Origin::File { path: file, speaks_for } => {
                let selector = speaks_for.to_string();
                let role = match speaks_for.is_collection() {
                    true => Role::Collection { selector },
                    false => Role::Own { selector },
                };
                Some(explain::Origin { role, file: file.to_string() })
            }
            _ => None,
        });
        Part { subject: Subject::Metadata, origins: origins.collect(), ladders, untold }
    }
}

/// Whether a directive is worth a ladder: the mere presence of a section or a map is not, unless it was left empty on purpose.
fn speaks_for_itself(directive: &Directive, said: &Said) -> bool {
    let is_map = directive.field.is_per_key() && directive.key.is_none();
    let is_presence = |said: &Said| {
        said.by.statements.about(directive).is_none_or(|statement| matches!(statement.says, metadata::Says::Present(_)))
    };
    directive.field != Field::Itself && !(is_map && is_presence(said))
}

fn ladder(directive: &Directive, last: &Said, path: &MetadataPath, masks: &Masks) -> Ladder {
    let pointer = directive.pointer();
    let mut name = SmolStr::from(directive.to_string());
    let mut rungs: Vec<Rung> = Vec::new();
    for said in std::iter::successors(Some(last), |said| said.over.as_deref()) {
        let spoken = match &said.effect {
            Effect::Cleared => Spoken::Cleared,
            Effect::Emptied => Spoken::Emptied,
            Effect::Set(node) => {
                if let (Some(written), Some(key), true) =
                    (node.get("name").and_then(Node::as_str), &directive.key, rungs.is_empty())
                {
                    name = name
                        .strip_suffix(key.as_str())
                        .map_or(name.clone(), |start| format!("{start}{written}").into());
                }
                let value = if directive.field == Field::Headers { node.get("value").unwrap_or(node) } else { node };
                Spoken::Value(hidden_at(&pointer, value, path, masks))
            }
        };
        let (origin, at) = match &said.by.origin {
            Origin::Defaults => (None, None),
            Origin::File { speaks_for, .. } => (Some(speaks_for.to_string()), Some(said.at)),
            Origin::Directory(_) | Origin::Document => (None, Some(said.at)),
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
