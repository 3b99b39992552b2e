//! Edits of layers that do not reach everybody: who is shielded by a stronger layer, and which edits nobody reads.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::loading::LoadedSides;
use super::{Request, Worlds};
use crate::finding::{self, Finding, Location};
use crate::metadata::{
    EffectiveEntry, EffectiveMetadata, Field, FieldPath, Layer, LayerOrigin, Statement, StatementKind, is_metadata_file,
};
use crate::path::RepoPath;
use crate::report::{LayerEdit, Shielded};
use crate::resource::Resource;
use crate::text::Span;
use crate::value::Node;

/// Judges every value that differs between the sides of a changed layer. Edits that reach all they speak for are left out.
pub(super) fn layer_edits(
    request: &Request<'_>,
    worlds: &Worlds<'_>,
    layers: &[RepoPath],
    loaded: &LoadedSides,
) -> Vec<LayerEdit> {
    let mut edits: Vec<Edit<'_>> = Vec::new();
    for file in layers.iter().filter(|file| is_metadata_file(file.file_name())) {
        let of = |layer: Option<Arc<Layer>>| layer.filter(|layer| layer.is_from(file));
        let sides = [of(worlds.before.layers().layer_of(file)), of(worlds.after.layers().layer_of(file))];
        edits.extend(edits_of(file, sides));
    }
    if edits.is_empty() {
        return Vec::new();
    }
    let mut by_file: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
    edits.iter().enumerate().for_each(|(at, edit)| by_file.entry(edit.file).or_default().push(at));
    let has_gone =
        by_file.keys().any(|file| worlds.after.layers().layer_of(file).is_none_or(|layer| !layer.is_from(file)));
    let judge = Judge { worlds, edits: &edits, by_file: &by_file, has_gone };
    let judge = |resource: &Resource| judge.verdicts(resource);
    let verdicts: Vec<Vec<(usize, Verdict)>> = match loaded.after.len() {
        0..64 => loaded.after.iter().map(judge).collect(),
        _ => loaded.after.par_iter().map(judge).collect(),
    };
    for (resource, verdicts) in loaded.after.iter().zip(verdicts) {
        for (at, verdict) in verdicts {
            match verdict {
                Verdict::Reads => edits[at].readers += 1,
                Verdict::Shielded(by) => {
                    edits[at].shielded.push(Shielded { resource: resource.identity.clone(), by });
                }
            }
        }
    }
    // What could not be read may well read it.
    let is_whole = !loaded.is_incomplete && !loaded.has_broken && !loaded.has_gaps;
    let told = edits.into_iter().map(|edit| {
        let is_asked_for = request.scope.is_everything() || request.scope.wants(edit.file);
        edit.told(is_whole && is_asked_for)
    });
    told.filter(|edit| edit.is_dead || !edit.shielded.is_empty()).collect()
}

/// What to say about edits that nobody reads.
pub(super) fn dead_edits(edits: &[LayerEdit]) -> impl Iterator<Item = Finding> {
    edits.iter().filter(|edit| edit.is_dead).filter_map(|edit| {
        let message = format!("`{}` is edited here, but no resource reads it", edit.pointer);
        let finding = Finding::new(&finding::METADATA_DEAD_EDIT, Location::Span(edit.after?), message);
        let finding = finding.labelled("nobody reads this");
        Some(match edit.shielded.first() {
            Some(first) => finding
                .related(first.by, format!("counts for {} instead", first.resource))
                .help("a stronger layer says something else for every resource; edit it there, or remove it there"),
            None => finding.help("no resource stands where this layer speaks; check the directory it is in"),
        })
    })
}

/// A value that differs between the sides of one layer.
struct Edit<'a> {
    file: &'a RepoPath,
    field_path: FieldPath,
    before: Option<Span>,
    after: Option<Span>,
    readers: usize,
    shielded: Vec<Shielded>,
}

impl Edit<'_> {
    fn told(self, can_be_dead: bool) -> LayerEdit {
        let is_dead = can_be_dead && self.readers == 0 && self.after.is_some();
        LayerEdit {
            file: self.file.clone(),
            pointer: self.field_path.pointer(),
            before: self.before,
            after: self.after,
            readers: self.readers,
            shielded: self.shielded,
            is_dead,
        }
    }
}

/// The directives to which the two sides of a layer give different values, of which at least one is a value at all.
fn edits_of<'a>(file: &'a RepoPath, [before, after]: [Option<Arc<Layer>>; 2]) -> Vec<Edit<'a>> {
    let statements = |layer: &Option<Arc<Layer>>| -> BTreeMap<FieldPath, Statement> {
        let all = layer.iter().flat_map(|layer| &layer.statements.all);
        all.map(|statement| (statement.field_path.clone(), statement.clone())).collect()
    };
    let (before, after) = (statements(&before), statements(&after));
    let mut directives: Vec<&FieldPath> = before.keys().chain(after.keys()).collect();
    directives.sort_unstable();
    directives.dedup();
    let edits =
        directives.into_iter().filter(|field_path| field_path.field != Field::Itself).filter_map(|field_path| {
            let (old, new) = (before.get(field_path).and_then(value), after.get(field_path).and_then(value));
            let is_same = match (old, new) {
                (Some(old), Some(new)) => old.is_equal(new),
                (None, None) => true,
                _ => false,
            };
            let span = |node: Option<&Node>| node.map(|node| node.span);
            (!is_same).then(|| Edit {
                file,
                field_path: field_path.clone(),
                before: span(old),
                after: span(new),
                readers: 0,
                shielded: Vec::new(),
            })
        });
    edits.collect()
}

fn value(statement: &Statement) -> Option<&Node> {
    match &statement.kind {
        StatementKind::Value(node) => Some(node),
        StatementKind::Null | StatementKind::Empty(_) | StatementKind::Present(_) => None,
    }
}

/// What an edit is to a resource.
enum Verdict {
    /// It counts, before or after.
    Reads,
    /// A stronger layer says something, here.
    Shielded(Span),
}

struct Judge<'a> {
    worlds: &'a Worlds<'a>,
    edits: &'a [Edit<'a>],
    by_file: &'a BTreeMap<&'a RepoPath, Vec<usize>>,
    /// Whether a layer is gone, so that only the older side knows whom it spoke for.
    has_gone: bool,
}

impl Judge<'_> {
    fn verdicts(&self, resource: &Resource) -> Vec<(usize, Verdict)> {
        let Some(after) = self.worlds.after.metadata_of(resource) else { return Vec::new() };
        // Only what the newer side does not decide needs a look at the older one.
        let before = LazyCell::new(|| self.worlds.before.metadata_of(resource));
        let mut edits: Vec<usize> = self.spoken(&after).collect();
        if self.has_gone {
            edits.extend(before.iter().flat_map(|before| self.spoken(before)));
            edits.sort_unstable();
            edits.dedup();
        }
        // A plain file has no metadata that anybody uses, but its secrets are hidden all the same.
        let is_used = |edit: &Edit<'_>| resource.is_managed() || edit.field_path.field == Field::SecretInAttributes;
        edits.retain(|&at| is_used(&self.edits[at]));
        let judge = |at: usize| {
            let edit = &self.edits[at];
            let now = judged(&after, edit);
            let is_decided = matches!(now, Some(Verdict::Reads)) || now.is_none() && edit.after.is_some();
            let then = if is_decided { None } else { before.as_deref().and_then(|before| judged(before, edit)) };
            let verdict = if matches!(then, Some(Verdict::Reads)) { then } else { now.or(then) };
            Some((at, verdict?))
        };
        edits.into_iter().filter_map(judge).collect()
    }

    /// The edits of all layers that speak for a resource.
    fn spoken<'s>(&'s self, metadata: &'s EffectiveMetadata) -> impl Iterator<Item = usize> + 's {
        let files = metadata.layers().iter().filter_map(|layer| match &layer.origin {
            LayerOrigin::File { path, .. } => self.by_file.get(path),
            _ => None,
        });
        files.flatten().copied()
    }
}

/// Whether a layer has the last word on a directive, or some word that does not count.
fn judged(metadata: &EffectiveMetadata, edit: &Edit<'_>) -> Option<Verdict> {
    let provenance = metadata.provenance(&edit.field_path)?;
    let is_ours = |said: &EffectiveEntry| said.by.is_from(edit.file);
    match is_ours(provenance.winner) {
        true => Some(Verdict::Reads),
        false => {
            provenance.overridden.iter().any(|said| is_ours(said)).then_some(Verdict::Shielded(provenance.winner.at))
        }
    }
}
