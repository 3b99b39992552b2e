//! Expressions whose text was edited: an edit is shown even if the value did not change.

use std::collections::BTreeMap;

use super::Comparison;
use crate::diff::{self, Change, ChangeKind, DiffSide, Difference, ExpressionValue, Options, PathStep};
use crate::expression::eval::is_whole_expression;
use crate::path::{Pointer, RepoPath};
use crate::resource::{Identity, Resource};
use crate::value::{Node, Value};

/// Payloads with expressions as they are written, after their directives.
pub(super) type WrittenPayloads = BTreeMap<WrittenKey, Node>;

/// Which document of a file a payload is.
pub(super) type WrittenKey = (RepoPath, usize, Identity);

/// The key of a resource among written payloads.
pub(super) fn key(resource: &Resource) -> WrittenKey {
    (resource.file.clone(), resource.position, resource.identity.clone())
}

impl Comparison<'_> {
    /// The expressions of a resource whose text differs and whose value does not.
    pub(super) fn edited_expressions(
        &self,
        [before, after]: [&Resource; 2],
        written: &[WrittenPayloads; 2],
        payload: &Difference,
        options: &Options,
    ) -> Difference {
        let found = [(before, &written[0]), (after, &written[1])].map(|(resource, all)| {
            let written = all.get(&key(resource));
            // A side without expressions is in effect as it is written.
            (written.is_some(), written.cloned().unwrap_or_else(|| resource.payload.clone()))
        });
        let [(has_old, old), (has_new, new)] = found;
        if !has_old && !has_new {
            return Difference::default();
        }
        let secrets = self.after.secrets();
        let shown = |resource: &Resource, payload: &Node| {
            secrets.hide(Resource { payload: payload.clone(), ..resource.clone() }).payload
        };
        let (old_shown, new_shown) = (shown(before, &old), shown(after, &new));
        let mut changes: Vec<Change> = Vec::new();
        for change in diff::diff(&old_shown, &new_shown, options).changes {
            let Some(place) = expression_around(&change, &old, &new) else { continue };
            let pointers = [DiffSide::Before, DiffSide::After].map(|side| diff::pointer(place, side));
            let texts = (old_shown.at(&pointers[0]), new_shown.at(&pointers[1]));
            let is_known = changes.iter().any(|known| diff::pointer(&known.path, DiffSide::After) == pointers[1]);
            let is_evaluated = |root: &Node, pointer: &Pointer| !root.at(pointer).is_some_and(is_whole_expression);
            let was_evaluated =
                is_evaluated(&before.payload, &pointers[0]) && is_evaluated(&after.payload, &pointers[1]);
            // What stays as it is written is data, and its change is one of the payload.
            if is_known || !was_evaluated || texts.0.is_none() && texts.1.is_none() {
                continue;
            }
            let is_in_payload = payload.changes.iter().any(|known| overlaps(known, &pointers[1]));
            let is_nothing = after.payload.at(&pointers[1]).is_some_and(|value| matches!(value.value, Value::Null));
            let value = match (is_in_payload, is_nothing) {
                (true, _) => ExpressionValue::Changed,
                (false, true) => ExpressionValue::Nothing,
                (false, false) => ExpressionValue::Unchanged,
            };
            let kind = match texts {
                (None, _) => ChangeKind::Add,
                (_, None) => ChangeKind::Remove,
                _ => ChangeKind::Value,
            };
            let path = std::iter::once(PathStep::Expression(value)).chain(place.iter().cloned()).collect();
            changes.push(Change::new(kind, path, texts.0.map(text), texts.1.map(text)));
        }
        Difference { changes, ..Difference::default() }
    }
}

/// The path to the outermost expression, on either side, that a change is at or inside of.
fn expression_around<'c>(change: &'c Change, old: &Node, new: &Node) -> Option<&'c [PathStep]> {
    let is_expression = |path: &[PathStep]| {
        let node = |root: &Node, side| root.at(&diff::pointer(path, side)).is_some_and(is_whole_expression);
        node(old, DiffSide::Before) || node(new, DiffSide::After)
    };
    (0..=change.path.len()).map(|length| &change.path[..length]).find(|path| is_expression(path))
}

/// Whether a change is at a place, above it or below it.
fn overlaps(change: &Change, place: &Pointer) -> bool {
    let known = diff::pointer(&change.path, DiffSide::After);
    known.tokens().iter().zip(place.tokens()).all(|(a, b)| a == b)
}

/// An expression as it is shown: a path alone, or the whole map.
fn text(expression: &Node) -> Node {
    match expression.as_map() {
        Some(map) if map.len() == 1 => map.get("eval").cloned().unwrap_or_else(|| expression.clone()),
        _ => expression.clone(),
    }
}
