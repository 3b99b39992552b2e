//! Finds resources whose metadata refers to an OpenAPI document that changed.

use std::collections::BTreeSet;

use super::Question;
use super::ancestor_readers::{gather, path_of};
use crate::metadata::{Field, resolve};
use crate::path::RepoPath;
use crate::side::Side;

/// The files of interest whose resources have operations described by metadata, if the document that these are checked against, or a
/// file that it refers to, is among the edited ones.
pub(super) fn openapi_readers(question: &Question<'_>, edited: &BTreeSet<&RepoPath>) -> Vec<RepoPath> {
    // The newer side first: what both share is then shown with its name.
    let sides = [question.after, question.before];
    let is_edited = |side: &Side<'_>| {
        let Some(root) = &side.settings.openapi else { return false };
        let is_referred = || side.openapi().value.is_some_and(|document| has_any(document.files(), edited));
        edited.contains(root) || is_referred()
    };
    let is_other = question.before.settings.openapi != question.after.settings.openapi;
    if !is_other && !sides.into_iter().any(is_edited) {
        return Vec::new();
    }
    let mut files = BTreeSet::new();
    for root in question.after.settings.roots.paths() {
        gather(question.after, root, 0, &mut files);
    }
    files.retain(|file| question.scope.wants(file) && sides.into_iter().any(|side| is_described(side, file)));
    files.into_iter().collect()
}

fn has_any(files: &BTreeSet<RepoPath>, edited: &BTreeSet<&RepoPath>) -> bool {
    files.iter().any(|file| edited.contains(file))
}

/// Whether metadata describes a request of the resources of a file.
fn is_described(side: &Side<'_>, file: &RepoPath) -> bool {
    let Some((path, layers)) = path_of(side, file).zip(side.layers().layers_for(file)) else { return false };
    let metadata = resolve(&path, layers).value;
    metadata.entries().any(|(field_path, _)| {
        matches!(field_path.field, Field::SchemaRef | Field::Path | Field::CollectionPath | Field::Method)
    })
}
