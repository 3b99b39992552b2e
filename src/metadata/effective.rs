//! The merged layers of a path: for each field the value in effect, and everything that it overrides.

use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::compose;
use super::decode::decode;
use super::field::{Field, FieldPath, Operation, Section};
use super::secrets::SecretAttributes;
use super::selector::MetadataPath;
use super::statement::{StatementKind, Statements, TransformOrder};
use crate::finding::Outcome;
use crate::path::RepoPath;
use crate::text::Span;
use crate::value::{Node, StepKind};

/// One layer: a document and the paths that it applies to.
#[derive(Debug)]
pub struct Layer {
    /// Where it comes from.
    pub origin: LayerOrigin,
    /// Its statements.
    pub statements: Statements,
    /// All of its text.
    pub span: Span,
    /// Its number among the layers of a snapshot; equal numbers are equal layers.
    pub(super) number: u32,
}

/// Where a layer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerOrigin {
    /// The defaults.
    Defaults,
    /// A file.
    File {
        /// Which.
        path: RepoPath,
        /// The paths that it applies to.
        selector: MetadataPath,
    },
    /// A directory that could not be read; the layer has findings and no statements.
    Directory(RepoPath),
    /// A document that came from elsewhere.
    Document,
}

/// The layers of one path, merged.
#[derive(Debug, Clone)]
pub struct EffectiveMetadata {
    layers: Vec<Arc<Layer>>,
    /// An entry for each field that any layer sets or clears, sorted by field.
    entries: Vec<(FieldPath, Arc<EffectiveEntry>)>,
    orders: Vec<(Section, TransformOrder)>,
    /// An empty span for values that are not written anywhere.
    nowhere: Span,
    is_complete: bool,
    /// The canonical document, composed on demand: many resources share one metadata.
    node: OnceLock<Node>,
    secrets: OnceLock<SecretAttributes>,
}

/// What a layer does to a field, and the entry that it overrides.
#[derive(Debug)]
pub struct EffectiveEntry {
    /// The layer.
    pub by: Arc<Layer>,
    /// Where it is written.
    pub at: Span,
    /// What it does to the field.
    pub effect: Effect,
    /// What it overrode.
    pub over: Option<Arc<EffectiveEntry>>,
}

/// What a layer does to a field.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Gives it a value, in canonical form.
    Set(Node),
    /// Clears the values of weaker layers, with a `null` here or above.
    Cleared,
    /// Clears the values of weaker layers, with an empty map.
    Emptied,
}

/// The entry of a field that is in effect, and everything that it overrides.
#[derive(Debug)]
pub struct Provenance<'a> {
    /// The entry in effect.
    pub winner: &'a EffectiveEntry,
    /// The overridden entries, strongest first.
    pub overridden: Vec<&'a EffectiveEntry>,
}

impl EffectiveMetadata {
    /// Metadata without layers.
    pub fn empty(nowhere: Span) -> Self {
        let (layers, entries, orders) = (Vec::new(), Vec::new(), Vec::new());
        Self { layers, entries, orders, nowhere, is_complete: true, node: OnceLock::new(), secrets: OnceLock::new() }
    }

    /// A copy without cached answers, to be changed.
    fn anew(&self) -> Self {
        let Self { layers, entries, orders, nowhere, is_complete, node: _, secrets: _ } = self;
        let (layers, entries, orders) = (layers.clone(), entries.clone(), orders.clone());
        let (node, secrets) = (OnceLock::new(), OnceLock::new());
        Self { layers, entries, orders, nowhere: *nowhere, is_complete: *is_complete, node, secrets }
    }

    /// This metadata with a stronger layer on top.
    #[must_use]
    pub fn under(&self, layer: &Arc<Layer>) -> Self {
        let mut merged = self.anew();
        merged.layers.push(Arc::clone(layer));
        merged.is_complete &= layer.statements.is_sound();
        // Clearing comes first: a document can clear a section and set it anew under another name.
        for statement in &layer.statements.all {
            match &statement.kind {
                StatementKind::Null => merged.take_away(&statement.field_path, layer, statement.at, &Effect::Cleared),
                StatementKind::Empty(_) => {
                    merged.take_away(&statement.field_path, layer, statement.at, &Effect::Emptied)
                }
                StatementKind::Value(_) | StatementKind::Present(_) => {}
            }
        }
        for statement in &layer.statements.all {
            if let StatementKind::Value(node) | StatementKind::Present(node) | StatementKind::Empty(node) =
                &statement.kind
            {
                merged.set(&statement.field_path, layer, statement.at, Effect::Set(node.clone()));
            }
        }
        for (section, order) in &layer.statements.orders {
            merged.merge_order(*section, *order);
        }
        merged
    }

    fn take_away(&mut self, reach: &FieldPath, by: &Arc<Layer>, at: Span, effect: &Effect) {
        for (field_path, entry) in self.entries.iter_mut().filter(|(field_path, _)| reach.covers(field_path)) {
            if !matches!(entry.effect, Effect::Set(_)) {
                continue;
            }
            let over = Some(Arc::clone(entry));
            *entry = Arc::new(EffectiveEntry { by: Arc::clone(by), at, effect: effect.clone(), over });
            if Field::TRANSFORMS.contains(&field_path.field) {
                let orders = self.orders.iter_mut().filter(|(section, _)| *section == field_path.section);
                orders.for_each(|(_, order)| order.remove(field_path.field));
            }
        }
    }

    fn set(&mut self, field_path: &FieldPath, by: &Arc<Layer>, at: Span, effect: Effect) {
        let by = Arc::clone(by);
        match self.entries.binary_search_by(|(known, _)| known.cmp(field_path)) {
            Ok(known) => {
                let over = Some(Arc::clone(&self.entries[known].1));
                self.entries[known].1 = Arc::new(EffectiveEntry { by, at, effect, over });
            }
            Err(free) => {
                let entry = Arc::new(EffectiveEntry { by, at, effect, over: None });
                self.entries.insert(free, (field_path.clone(), entry));
            }
        }
    }

    fn merge_order(&mut self, section: Section, stronger: TransformOrder) {
        match self.orders.iter_mut().find(|(known, _)| *known == section) {
            Some((_, order)) => *order = order.then(stronger),
            None => self.orders.push((section, stronger)),
        }
    }

    /// The layers, weakest first.
    pub fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// Whether every layer was read without errors; otherwise something may be missing.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether no layer sets or clears anything.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All entries in canonical order, also of fields that were cleared.
    pub fn entries(&self) -> impl Iterator<Item = (&FieldPath, &EffectiveEntry)> {
        self.entries.iter().map(|(field_path, entry)| (field_path, &**entry))
    }

    /// The entry of a field with everything that it overrides, if any layer sets or clears it.
    pub fn provenance(&self, field_path: &FieldPath) -> Option<Provenance<'_>> {
        let at = self.entries.binary_search_by(|(known, _)| known.cmp(field_path)).ok()?;
        Some(self.entries[at].1.provenance())
    }

    /// The value of a field in canonical form.
    pub fn get(&self, field_path: &FieldPath) -> Option<&Node> {
        let at = self.entries.binary_search_by(|(known, _)| known.cmp(field_path)).ok()?;
        self.entries[at].1.value()
    }

    /// A text of a section.
    pub fn text(&self, section: Section, field: Field) -> Option<&str> {
        self.get(&FieldPath::new(section, field))?.as_str()
    }

    /// A list of names of a section; an empty one was set on purpose.
    pub fn names(&self, section: Section, field: Field) -> Option<Vec<&str>> {
        let items = self.get(&FieldPath::new(section, field))?.as_list()?;
        Some(items.iter().filter_map(Node::as_str).collect())
    }

    /// The query parameters of an operation, by name.
    pub fn query(&self, operation: Operation) -> Vec<(&SmolStr, &Node)> {
        self.keyed(operation, Field::Query).collect()
    }

    /// The headers of an operation, as written, by name.
    pub fn headers(&self, operation: Operation) -> Vec<(&str, &Node)> {
        let mut headers: Vec<(&str, &Node)> = self
            .keyed(operation, Field::Headers)
            .filter_map(|(_, header)| Some((header.get("name")?.as_str()?, header.get("value")?)))
            .collect();
        headers.sort_by_key(|(name, _)| *name);
        headers
    }

    fn keyed(&self, operation: Operation, field: Field) -> impl Iterator<Item = (&SmolStr, &Node)> {
        let section = Section::Operation(operation);
        let start = self.entries.partition_point(|(known, _)| (known.section, known.field) < (section, field));
        self.entries[start..]
            .iter()
            .take_while(move |(known, _)| (known.section, known.field) == (section, field))
            .filter_map(|(known, entry)| Some((known.key.as_ref()?, entry.value()?)))
    }

    /// The transforms of an operation in the order they run, with the shared defaults below its own.
    pub fn transforms(&self, operation: Operation) -> Vec<(Field, &Node)> {
        let section = Section::Operation(operation);
        let order = self.order(Section::Defaults).then(self.order(section));
        order
            .fields()
            .filter_map(|field| {
                let own = self.get(&FieldPath::new(section, field));
                own.or_else(|| self.get(&FieldPath::new(Section::Defaults, field))).map(|node| (field, node))
            })
            .collect()
    }

    /// The order that layers gave to the transforms of a section.
    pub fn order(&self, section: Section) -> TransformOrder {
        let known = self.orders.iter().find(|(known, _)| *known == section);
        known.map(|(_, order)| *order).unwrap_or_default()
    }

    /// The canonical document of all values; each has the span at which it is written.
    pub fn to_node(&self) -> Node {
        let compose = || {
            let values =
                self.entries.iter().filter_map(|(field_path, entry)| Some((field_path, entry.value()?, entry.at)));
            compose::document(values, |section| self.order(section), self.nowhere)
        };
        self.node.get_or_init(compose).clone()
    }

    /// The attributes of a payload that hold secrets.
    pub fn secret_attributes(&self) -> &SecretAttributes {
        self.secrets.get_or_init(|| SecretAttributes::of(self))
    }

    /// The canonical document, with the layer of each value as the last step of its provenance.
    pub fn to_traced_node(&self) -> Node {
        let traced = self.entries.iter().filter_map(|(field_path, entry)| {
            let layer = entry.by.span;
            // What a layer includes is written elsewhere.
            let at = if entry.at.source == layer.source { entry.at } else { layer.start_only() };
            Some((field_path, entry.value()?.clone().through(StepKind::Layer, at), entry.at))
        });
        let traced: Vec<(&FieldPath, Node, Span)> = traced.collect();
        let values = traced.iter().map(|(field_path, node, at)| (*field_path, node, *at));
        compose::document(values, |section| self.order(section), self.nowhere)
    }

    /// This metadata with each value passed through a function.
    #[must_use]
    pub fn map_values(&self, change: impl Fn(&FieldPath, &Node) -> Option<Node>) -> Self {
        let mut changed = self.anew();
        for (field_path, entry) in &mut changed.entries {
            let Some(node) = entry.value().and_then(|node| change(field_path, node)) else { continue };
            let (by, over) = (Arc::clone(&entry.by), entry.over.clone());
            *entry = Arc::new(EffectiveEntry { by, at: entry.at, effect: Effect::Set(node), over });
        }
        changed
    }
}

impl EffectiveEntry {
    /// The value, unless it was cleared.
    pub fn value(&self) -> Option<&Node> {
        match &self.effect {
            Effect::Set(node) => Some(node),
            Effect::Cleared | Effect::Emptied => None,
        }
    }

    /// This entry with everything that it overrides.
    pub fn provenance(&self) -> Provenance<'_> {
        let overridden = std::iter::successors(self.over.as_deref(), |entry| entry.over.as_deref()).collect();
        Provenance { winner: self, overridden }
    }
}

/// The metadata of one document that has no other layers below it.
pub fn of_document(root: &Node) -> Outcome<EffectiveMetadata> {
    let statements = decode(root);
    let findings = statements.findings.clone();
    let layer = Layer { origin: LayerOrigin::Document, statements, span: root.span, number: 0 };
    Outcome { value: EffectiveMetadata::empty(root.span.start_only()).under(&Arc::new(layer)), findings }
}

/// A document as it is stored after reading it: canonical names and order, without nulls.
pub fn canonical(root: &Node) -> Outcome<Node> {
    let statements = decode(root);
    Outcome { value: compose::statements(&statements, root.span), findings: statements.findings }
}

impl Layer {
    /// Whether it was read from this file.
    pub fn is_from(&self, file: &RepoPath) -> bool {
        matches!(&self.origin, LayerOrigin::File { path, .. } if path == file)
    }

    /// The document of this layer alone in canonical form; nulls are left out.
    pub fn to_node(&self) -> Node {
        compose::statements(&self.statements, self.span)
    }
}
