//! Edits of layers: which resources read an edited value, and which take it from a stronger layer.

use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::metadata::{
    EffectiveEntry, EffectiveMetadata, Field, FieldPath, Layer, LayerOrigin, Statement, StatementKind, comparable,
    is_metadata_file,
};
use crate::parallel::{FEW, few_or_many};
use crate::path::{Pointer, RepoPath};
use crate::resource::{Identity, Resource};
use crate::side::Side;
use crate::text::Span;
use crate::value::Node;

/// An edited value of a layer that does not affect every resource the layer applies to.
#[derive(Debug, Clone)]
pub struct LayerEdit {
    /// The layer.
    pub file: RepoPath,
    /// Pointer to the edited value in a canonical document.
    pub pointer: Pointer,
    /// Where the value was defined, if it was.
    pub before: Option<Span>,
    /// Where the value is defined, if it still is.
    pub after: Option<Span>,
    /// How many resources the value affects, before or after.
    pub readers: usize,
    /// Resources that the layer applies to, but that take the value from a layer of higher precedence, in order.
    pub overridden: Vec<OverridingResource>,
    /// Whether the value exists and affects no resource.
    pub is_dead: bool,
}

/// A resource that overrides an edited value.
#[derive(Debug, Clone)]
pub struct OverridingResource {
    /// The resource.
    pub resource: Identity,
    /// Where its own value is defined.
    pub by: Span,
}

impl LayerEdit {
    /// Where the value is defined, or was.
    pub fn at(&self) -> Option<Span> {
        self.after.or(self.before)
    }
}

/// Changed layers, and the resources that they may apply to.
pub struct LayerEdits<'a> {
    /// The older side.
    pub before: &'a Side<'a>,
    /// The newer side.
    pub after: &'a Side<'a>,
    /// The layer files that changed.
    pub layers: &'a [RepoPath],
    /// The resources of the newer side that these layers apply to.
    pub resources: &'a [Resource],
    /// Whether an edit of this file that no resource reads is dead: everything that could read it was looked at.
    pub can_be_dead: &'a dyn Fn(&RepoPath) -> bool,
}

/// Every value that differs between the sides of a changed layer. Edits that reach all resources they apply to are left out.
pub fn layer_edits(asked: &LayerEdits<'_>) -> Vec<LayerEdit> {
    let LayerEdits { before, after, layers, resources, can_be_dead } = *asked;
    let mut edits: Vec<Edit<'_>> = Vec::new();
    for file in layers.iter().filter(|file| is_metadata_file(file.file_name())) {
        let layer = |side: &Side<'_>| side.layers().layer_of(file).filter(|layer| layer.is_from(file));
        edits.extend(edits_of(file, [layer(before), layer(after)]));
    }
    if edits.is_empty() {
        return Vec::new();
    }
    let mut by_file: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
    edits.iter().enumerate().for_each(|(at, edit)| by_file.entry(edit.file).or_default().push(at));
    let is_gone = |file: &RepoPath| after.layers().layer_of(file).is_none_or(|layer| !layer.is_from(file));
    let has_gone = by_file.keys().any(|file| is_gone(file));
    let judge = Judge { before, after, edits: &edits, by_file: &by_file, has_gone };
    let verdicts = few_or_many(resources, FEW, |resource| judge.verdicts(resource));
    for (resource, verdicts) in resources.iter().zip(verdicts) {
        for (at, verdict) in verdicts {
            match verdict {
                Verdict::Reads => edits[at].readers += 1,
                Verdict::Overridden(by) => {
                    edits[at].overridden.push(OverridingResource { resource: resource.identity.clone(), by });
                }
            }
        }
    }
    let edits = edits.into_iter().map(|edit| {
        let can_be_dead = can_be_dead(edit.file);
        edit.into_layer_edit(can_be_dead)
    });
    edits.filter(|edit| edit.is_dead || !edit.overridden.is_empty()).collect()
}

/// A value that differs between the sides of one layer.
struct Edit<'a> {
    file: &'a RepoPath,
    field_path: FieldPath,
    before: Option<Span>,
    after: Option<Span>,
    readers: usize,
    overridden: Vec<OverridingResource>,
}

impl Edit<'_> {
    fn into_layer_edit(self, can_be_dead: bool) -> LayerEdit {
        let is_dead = can_be_dead && self.readers == 0 && self.after.is_some();
        LayerEdit {
            file: self.file.clone(),
            pointer: self.field_path.pointer(),
            before: self.before,
            after: self.after,
            readers: self.readers,
            overridden: self.overridden,
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
                (Some(old), Some(new)) => {
                    comparable(field_path.field, old).is_equal(&comparable(field_path.field, new))
                }
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
                overridden: Vec::new(),
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
    Overridden(Span),
}

struct Judge<'a> {
    before: &'a Side<'a>,
    after: &'a Side<'a>,
    edits: &'a [Edit<'a>],
    by_file: &'a BTreeMap<&'a RepoPath, Vec<usize>>,
    /// Whether a layer is gone, so that only the older side knows what it applied to.
    has_gone: bool,
}

impl Judge<'_> {
    fn verdicts(&self, resource: &Resource) -> Vec<(usize, Verdict)> {
        let Some(after) = self.after.metadata_of(resource) else { return Vec::new() };
        // Only what the newer side does not decide needs a look at the older one.
        let before = LazyCell::new(|| self.before.metadata_of(resource));
        let mut edits: Vec<usize> = self.applicable(&after).collect();
        if self.has_gone {
            edits.extend(before.iter().flat_map(|before| self.applicable(before)));
            edits.sort_unstable();
            edits.dedup();
        }
        // A plain file uses no metadata, but its secrets are hidden all the same.
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

    /// The edits of all layers that apply to a resource.
    fn applicable<'s>(&'s self, metadata: &'s EffectiveMetadata) -> impl Iterator<Item = usize> + 's {
        let files = metadata.layers().iter().filter_map(|layer| match &layer.origin {
            LayerOrigin::File { path, .. } => self.by_file.get(path),
            _ => None,
        });
        files.flatten().copied()
    }
}

/// Whether a layer decides a field, or says something about it that a stronger layer overrides.
fn judged(metadata: &EffectiveMetadata, edit: &Edit<'_>) -> Option<Verdict> {
    let provenance = metadata.provenance(&edit.field_path)?;
    let is_ours = |said: &EffectiveEntry| said.by.is_from(edit.file);
    if is_ours(provenance.winner) {
        return Some(Verdict::Reads);
    }
    provenance.overridden.iter().any(|said| is_ours(said)).then_some(Verdict::Overridden(provenance.winner.at))
}
