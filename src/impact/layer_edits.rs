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

/// The values that differ between the sides of changed layers, before it is known which resources read them.
pub struct LayerEdits<'a> {
    before: &'a Side<'a>,
    after: &'a Side<'a>,
    edits: Vec<Edit<'a>>,
    by_file: BTreeMap<&'a RepoPath, Vec<usize>>,
    /// Whether a layer is gone, so that only the older side knows what it applied to.
    has_gone: bool,
}

/// What edited values are to resources.
#[derive(Default)]
pub struct EditReaders(Vec<(usize, EditReader)>);

/// What an edited value is to one resource.
enum EditReader {
    /// It affects the resource, before or after.
    Reads,
    /// The resource takes the value from a layer of higher precedence; its file and position are the order in lists.
    Overrides(RepoPath, usize, OverridingResource),
}

impl EditReaders {
    /// Adds what the values are to other resources.
    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }
}

impl<'a> LayerEdits<'a> {
    /// Every value that differs between the sides of these layer files.
    pub fn new(before: &'a Side<'a>, after: &'a Side<'a>, layers: &'a [RepoPath]) -> Self {
        let mut edits: Vec<Edit<'_>> = Vec::new();
        for file in layers.iter().filter(|file| is_metadata_file(file.file_name())) {
            let layer = |side: &Side<'_>| side.layers().layer_of(file).filter(|layer| layer.is_from(file));
            edits.extend(edits_of(file, [layer(before), layer(after)]));
        }
        let mut by_file: BTreeMap<&RepoPath, Vec<usize>> = BTreeMap::new();
        edits.iter().enumerate().for_each(|(at, edit)| by_file.entry(edit.file).or_default().push(at));
        let is_gone = |file: &RepoPath| after.layers().layer_of(file).is_none_or(|layer| !layer.is_from(file));
        let has_gone = by_file.keys().any(|file| is_gone(file));
        Self { before, after, edits, by_file, has_gone }
    }

    /// What the values are to a resource of the newer side.
    pub fn readers(&self, resource: &Resource) -> EditReaders {
        let reader = |(at, verdict)| match verdict {
            Verdict::Reads => (at, EditReader::Reads),
            Verdict::Overridden(by) => {
                let overriding = OverridingResource { resource: resource.identity.clone(), by };
                (at, EditReader::Overrides(resource.file.clone(), resource.position, overriding))
            }
        };
        EditReaders(self.verdicts(resource).into_iter().map(reader).collect())
    }

    /// What the values are to these resources of the newer side.
    pub fn readers_among(&self, resources: &[&Resource]) -> EditReaders {
        let mut readers = EditReaders::default();
        if !self.edits.is_empty() {
            few_or_many(resources, FEW, |resource| self.readers(resource))
                .into_iter()
                .for_each(|it| readers.extend(it));
        }
        readers
    }

    /// The edits that do not reach all resources they apply to. `can_be_dead` says whether an edit of a file that no resource reads is
    /// dead: everything that could read it was looked at.
    pub fn judged(self, readers: EditReaders, can_be_dead: &dyn Fn(&RepoPath) -> bool) -> Vec<LayerEdit> {
        let mut judged: Vec<(usize, Vec<_>)> = self.edits.iter().map(|_| (0, Vec::new())).collect();
        for (at, reader) in readers.0 {
            match reader {
                EditReader::Reads => judged[at].0 += 1,
                EditReader::Overrides(file, position, overriding) => judged[at].1.push((file, position, overriding)),
            }
        }
        let edits = self.edits.into_iter().zip(judged).map(|(edit, (readers, mut overridden))| {
            overridden.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
            LayerEdit {
                is_dead: readers == 0 && edit.after.is_some() && can_be_dead(edit.file),
                file: edit.file.clone(),
                pointer: edit.field_path.pointer(),
                before: edit.before,
                after: edit.after,
                readers,
                overridden: overridden.into_iter().map(|(_, _, overriding)| overriding).collect(),
            }
        });
        edits.filter(|edit| edit.is_dead || !edit.overridden.is_empty()).collect()
    }
}

/// A value that differs between the sides of one layer.
struct Edit<'a> {
    file: &'a RepoPath,
    field_path: FieldPath,
    before: Option<Span>,
    after: Option<Span>,
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
            (!is_same).then(|| Edit { file, field_path: field_path.clone(), before: span(old), after: span(new) })
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

impl LayerEdits<'_> {
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
