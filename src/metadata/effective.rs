//! The merged layers of a path: for each field the value in effect, and everything that it overrides.

use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::compose;
use super::decode::decode;
use super::field::{DocumentForm, Field, FieldPath, MergeMode, Operation, Section};
use super::path_template::{PathTemplate, path_templates};
use super::secrets::SecretAttributes;
use super::selector::MetadataPath;
use super::spelling::step_field;
use super::statement::{Statement, StatementKind, Statements, TransformOrder};
use crate::finding::{Finding, Location, METADATA_INVALID, METADATA_SHADOWED, Outcome};
use crate::path::RepoPath;
use crate::text::Span;
use crate::value::{Node, Value, overlaid};

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
    /// Whether a resource without a configured identity is named by its attribute `id`; `None` if that depends on other files.
    default_identity: Option<bool>,
    /// What is wrong with the layers together, and with none of them alone.
    findings: Vec<Finding>,
    /// The canonical document, composed on demand: many resources share one metadata.
    node: OnceLock<Node>,
    secrets: OnceLock<SecretAttributes>,
    paths: OnceLock<Vec<PathTemplate>>,
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
        Self {
            layers: Vec::new(),
            entries: Vec::new(),
            orders: Vec::new(),
            nowhere,
            is_complete: true,
            default_identity: None,
            findings: Vec::new(),
            node: OnceLock::new(),
            secrets: OnceLock::new(),
            paths: OnceLock::new(),
        }
    }

    /// A copy without cached answers, to be changed.
    fn anew(&self) -> Self {
        Self { node: OnceLock::new(), secrets: OnceLock::new(), paths: OnceLock::new(), ..self.clone() }
    }

    /// This metadata with a stronger layer on top.
    #[must_use]
    pub fn under(&self, layer: &Arc<Layer>) -> Self {
        let mut merged = self.anew();
        merged.layers.push(Arc::clone(layer));
        merged.is_complete &= layer.statements.is_sound();
        merged.default_identity = match (merged.default_identity, layer.statements.form) {
            (known, None) => known,
            (_, Some(DocumentForm::Old)) | (Some(false), _) => Some(false),
            (None | Some(true), Some(DocumentForm::New)) => Some(true),
        };
        merged.drop_defaults(layer);
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
                merged.replace_steps(&statement.field_path, layer, statement.at);
                let node = merged.over_weaker(statement, node);
                merged.set(&statement.field_path, layer, statement.at, Effect::Set(node));
            }
        }
        for (section, order) in &layer.statements.orders {
            merged.merge_order(*section, *order);
        }
        merged
    }

    /// Drops inherited defaults as the mode of a layer demands.
    fn drop_defaults(&mut self, layer: &Arc<Layer>) {
        let Some(statement) = layer.statements.about(&FieldPath::new(Section::Resource, Field::DefaultsMode)) else {
            return;
        };
        let StatementKind::Value(mode) = &statement.kind else { return };
        let dropped: &[Field] = match mode.as_str() {
            Some("ignore") => &[Field::DefaultsValue, Field::UseProfiles],
            Some("replace") => &[Field::DefaultsValue, Field::UseProfiles, Field::Profiles],
            _ => &[],
        };
        for field in dropped {
            self.take_away(&FieldPath::new(Section::Resource, *field), layer, statement.at, &Effect::Cleared);
        }
    }

    /// A value of a stronger layer over that of the weaker ones, where maps are merged at every depth.
    fn over_weaker(&self, statement: &Statement, node: &Node) -> Node {
        let path = &statement.field_path;
        let is_deep = path.field.row().is_some_and(|row| row.merge == MergeMode::Deep)
            || path.field == Field::Profiles && path.key.is_some();
        match self.get(path).filter(|_| is_deep) {
            Some(weaker) => overlaid(weaker, node),
            None => node.clone(),
        }
    }

    /// A single transform of a stronger layer replaces a list in which kinds of steps repeat: no order fits both.
    fn replace_steps(&mut self, path: &FieldPath, by: &Arc<Layer>, at: Span) {
        let steps = FieldPath::new(path.section, Field::Transforms);
        if !Field::TRANSFORMS.contains(&path.field) {
            return;
        }
        if let Some(list) = self.get(&steps) {
            if list.as_list().is_some_and(|items| !items.is_empty()) {
                let message = "single transforms replace the whole list of steps that is inherited here";
                let finding = Finding::new(&METADATA_SHADOWED, Location::Span(at), message);
                let finding = finding.labelled("this counts").related(list.span, "this list does not count");
                self.findings.push(finding.help("write the transforms as a list, as the weaker layer does"));
            }
            self.take_away(&steps, by, at, &Effect::Cleared);
        }
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

    /// An empty span for values that are not written anywhere.
    pub(super) fn nowhere(&self) -> Span {
        self.nowhere
    }

    /// The layers, weakest first.
    pub fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// Whether every layer was read without errors; otherwise something may be missing.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// What is wrong with the layers, and with their merging.
    pub fn findings(&self) -> Vec<Finding> {
        let layers = self.layers.iter().flat_map(|layer| layer.statements.findings.iter().cloned());
        let mut findings: Vec<Finding> = layers.chain(self.findings.iter().cloned()).collect();
        if let Err((name, at)) = self.default_payload() {
            let shown = crate::sanitize::inline(&name).into_owned();
            let message = format!("`useProfiles` selects `{shown}`, and there is no such profile");
            let finding = Finding::new(&METADATA_INVALID, Location::Span(at), message);
            findings.push(finding.help("define it below `profiles` of this layer or a weaker one"));
        }
        findings
    }

    /// Whether a resource without a configured identity is named by its attribute `id`: a layer of the new form says so, and none of the
    /// old form says otherwise. `None` if no layer has a form.
    pub fn default_identity(&self) -> Option<bool> {
        self.default_identity
    }

    /// This metadata with the default identity decided.
    #[must_use]
    pub fn with_default_identity(&self, is_attribute: bool) -> Self {
        Self { default_identity: Some(is_attribute), ..self.clone() }
    }

    /// The attribute or template that names a resource, also by default.
    pub fn identity(&self, field: Field) -> Option<&str> {
        self.text(Section::Resource, field).or((self.default_identity == Some(true)).then_some("id"))
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

    /// The transforms of an operation in the order they run. Shared steps of the new form run before its own; in the old form each
    /// field of its own replaces the shared one.
    pub fn transforms(&self, operation: Operation) -> Vec<TransformStep<'_>> {
        let section = Section::Operation(operation);
        let shared = self.steps(Section::Defaults);
        let is_new = |step: &TransformStep<'_>| step.by.statements.form == Some(DocumentForm::New);
        if shared.iter().any(is_new) {
            return shared.into_iter().chain(self.steps(section)).collect();
        }
        if self.has_list(section) || self.has_list(Section::Defaults) {
            let own = self.steps(section);
            return if own.is_empty() && !self.has_list(section) { shared } else { own };
        }
        let order = self.order(Section::Defaults).then(self.order(section));
        let step = |field| self.step(section, field).or_else(|| self.step(Section::Defaults, field));
        order.fields().filter_map(step).collect()
    }

    /// The steps of one section.
    fn steps(&self, section: Section) -> Vec<TransformStep<'_>> {
        let list = FieldPath::new(section, Field::Transforms);
        if let Some(entry) = self.provenance(&list).map(|known| known.winner)
            && let Some(items) = entry.value().and_then(Node::as_list)
        {
            let step = |item| Node::as_map(item)?.entries().first();
            let steps = items.iter().filter_map(step).filter_map(|step| {
                Some(TransformStep { kind: step_field(&step.key.name)?, node: &step.value, by: &entry.by })
            });
            return steps.collect();
        }
        self.order(section).fields().filter_map(|field| self.step(section, field)).collect()
    }

    fn step(&self, section: Section, kind: Field) -> Option<TransformStep<'_>> {
        let entry = self.provenance(&FieldPath::new(section, kind))?.winner;
        Some(TransformStep { kind, node: entry.value()?, by: &entry.by })
    }

    fn has_list(&self, section: Section) -> bool {
        self.get(&FieldPath::new(section, Field::Transforms)).is_some()
    }

    /// The payload that a resource has where it says nothing: the default value under the selected profiles; or the name of a profile
    /// that is selected and does not exist.
    pub fn default_payload(&self) -> Result<Option<Node>, (SmolStr, Span)> {
        let mut payload = self.get(&FieldPath::new(Section::Resource, Field::DefaultsValue)).cloned();
        let selected = self.get(&FieldPath::new(Section::Resource, Field::UseProfiles));
        for name in selected.and_then(Node::as_list).unwrap_or_default() {
            let text = name.as_str().unwrap_or_default();
            let profile = self.get(&FieldPath::keyed(Section::Resource, Field::Profiles, text));
            let profile = profile.ok_or_else(|| (SmolStr::new(text), name.span))?;
            payload = Some(payload.map_or_else(|| profile.clone(), |weaker| overlaid(&weaker, profile)));
        }
        Ok(payload.filter(|payload| payload.as_map().is_some_and(|map| !map.is_empty())))
    }

    /// Whether everything of the resource is secret.
    pub fn is_secret(&self) -> bool {
        let flag = self.get(&FieldPath::new(Section::Resource, Field::Secret));
        flag.is_some_and(|flag| matches!(flag.value, Value::Bool(true)))
    }

    /// The deepest layer that `selector.descendants` lets reach below its collection: how many segments its collection has.
    pub fn descendant_depth(&self) -> Option<usize> {
        let depths = self.layers.iter().filter(|layer| layer.statements.has_descendants());
        depths.filter_map(|layer| layer.selector().map(|selector| selector.segments().len())).max()
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

    /// The templates of remote paths, the strongest first.
    pub fn path_templates(&self) -> &[PathTemplate] {
        self.paths.get_or_init(|| path_templates(&|field_path| self.get(field_path)))
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

/// One step of the transforms of a payload.
#[derive(Debug, Clone, Copy)]
pub struct TransformStep<'m> {
    /// What it does: `Filter`, `Suppress` or `Jq`.
    pub kind: Field,
    /// Its attributes, or its jq expression.
    pub node: &'m Node,
    /// The layer that sets it.
    pub by: &'m Arc<Layer>,
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
    /// The paths that it applies to, if it was read from a file.
    pub fn selector(&self) -> Option<&MetadataPath> {
        match &self.origin {
            LayerOrigin::File { selector, .. } => Some(selector),
            _ => None,
        }
    }

    /// Whether it was read from this file.
    pub fn is_from(&self, file: &RepoPath) -> bool {
        matches!(&self.origin, LayerOrigin::File { path, .. } if path == file)
    }

    /// The document of this layer alone in canonical form; nulls are left out.
    pub fn to_node(&self) -> Node {
        compose::statements(&self.statements, self.span)
    }
}
