//! What all layers of a path say together: for each directive the winner, and everything it overrode.

use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::compose;
use super::decode::decode;
use super::field::{Directive, Field, Operation, Section};
use super::secrets::SecretAttributes;
use super::selector::MetadataPath;
use super::statement::{Order, Says, Statements};
use crate::finding::Outcome;
use crate::path::RepoPath;
use crate::text::Span;
use crate::value::{Node, StepKind};

/// One layer: a document and whom it speaks for.
#[derive(Debug)]
pub struct Layer {
    /// Where it comes from.
    pub origin: Origin,
    /// What it says.
    pub statements: Statements,
    /// All of its text.
    pub span: Span,
    /// Its number among the layers of a snapshot; equal numbers are equal layers.
    pub(super) number: u32,
}

/// Where a layer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// What holds where nothing is said.
    Defaults,
    /// A file.
    File {
        /// Which.
        path: RepoPath,
        /// Whom it speaks for.
        speaks_for: MetadataPath,
    },
    /// A directory that could not be looked at; the layer says nothing but that.
    Directory(RepoPath),
    /// A document that came from elsewhere.
    Document,
}

/// The layers of one path, merged.
#[derive(Debug, Clone)]
pub struct EffectiveMetadata {
    layers: Vec<Arc<Layer>>,
    /// What was ever said, sorted by directive, the last word on top.
    said: Vec<(Directive, Arc<Said>)>,
    orders: Vec<(Section, Order)>,
    /// A place for what nobody wrote.
    nowhere: Span,
    is_complete: bool,
    /// All of it as one document, put together when somebody asks: many resources share one metadata.
    node: OnceLock<Node>,
    secrets: OnceLock<SecretAttributes>,
}

/// Something a layer said about a directive, and what was said before it.
#[derive(Debug)]
pub struct Said {
    /// The layer.
    pub by: Arc<Layer>,
    /// Where it is written.
    pub at: Span,
    /// What it means for the directive.
    pub effect: Effect,
    /// What it overrode.
    pub over: Option<Arc<Said>>,
}

/// What a layer does to a directive.
#[derive(Debug, Clone)]
pub enum Effect {
    /// Gives it a value, in canonical form.
    Set(Node),
    /// Takes away what weaker layers said, with a `null` here or above.
    Cleared,
    /// Takes away what weaker layers said, with an empty map.
    Emptied,
}

/// The last word on a directive, and everything it overrode.
#[derive(Debug)]
pub struct Provenance<'a> {
    /// Who has the last word.
    pub winner: &'a Said,
    /// What does not count, strongest first.
    pub overridden: Vec<&'a Said>,
}

impl EffectiveMetadata {
    /// Nothing said so far.
    pub fn empty(nowhere: Span) -> Self {
        let (layers, said, orders) = (Vec::new(), Vec::new(), Vec::new());
        Self { layers, said, orders, nowhere, is_complete: true, node: OnceLock::new(), secrets: OnceLock::new() }
    }

    /// The same to be changed: what was found out about it is not kept.
    fn anew(&self) -> Self {
        let Self { layers, said, orders, nowhere, is_complete, node: _, secrets: _ } = self;
        let (layers, said, orders) = (layers.clone(), said.clone(), orders.clone());
        let (node, secrets) = (OnceLock::new(), OnceLock::new());
        Self { layers, said, orders, nowhere: *nowhere, is_complete: *is_complete, node, secrets }
    }

    /// The same with a stronger layer on top.
    #[must_use]
    pub fn under(&self, layer: &Arc<Layer>) -> Self {
        let mut merged = self.anew();
        merged.layers.push(Arc::clone(layer));
        merged.is_complete &= layer.statements.is_sound();
        // Clearing comes first: a document can clear a section and say something new about it under another name.
        for statement in &layer.statements.all {
            match &statement.says {
                Says::Null => merged.take_away(&statement.directive, layer, statement.at, &Effect::Cleared),
                Says::Empty(_) => merged.take_away(&statement.directive, layer, statement.at, &Effect::Emptied),
                Says::Value(_) | Says::Present(_) => {}
            }
        }
        for statement in &layer.statements.all {
            if let Says::Value(node) | Says::Present(node) | Says::Empty(node) = &statement.says {
                merged.say(&statement.directive, layer, statement.at, Effect::Set(node.clone()));
            }
        }
        for (section, order) in &layer.statements.orders {
            merged.merge_order(*section, *order);
        }
        merged
    }

    fn take_away(&mut self, reach: &Directive, by: &Arc<Layer>, at: Span, effect: &Effect) {
        for (directive, said) in self.said.iter_mut().filter(|(directive, _)| reach.covers(directive)) {
            if !matches!(said.effect, Effect::Set(_)) {
                continue;
            }
            let over = Some(Arc::clone(said));
            *said = Arc::new(Said { by: Arc::clone(by), at, effect: effect.clone(), over });
            if Field::TRANSFORMS.contains(&directive.field) {
                let orders = self.orders.iter_mut().filter(|(section, _)| *section == directive.section);
                orders.for_each(|(_, order)| order.remove(directive.field));
            }
        }
    }

    fn say(&mut self, directive: &Directive, by: &Arc<Layer>, at: Span, effect: Effect) {
        let by = Arc::clone(by);
        match self.said.binary_search_by(|(known, _)| known.cmp(directive)) {
            Ok(known) => {
                let over = Some(Arc::clone(&self.said[known].1));
                self.said[known].1 = Arc::new(Said { by, at, effect, over });
            }
            Err(free) => {
                let said = Arc::new(Said { by, at, effect, over: None });
                self.said.insert(free, (directive.clone(), said));
            }
        }
    }

    fn merge_order(&mut self, section: Section, stronger: Order) {
        match self.orders.iter_mut().find(|(known, _)| *known == section) {
            Some((_, order)) => *order = order.then(stronger),
            None => self.orders.push((section, stronger)),
        }
    }

    /// The layers, weakest first.
    pub fn layers(&self) -> &[Arc<Layer>] {
        &self.layers
    }

    /// Whether every layer was understood to the last word; otherwise something may be missing.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Whether no layer says anything.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
    }

    /// Everything that was ever said, in canonical order, also what was cleared since.
    pub fn said(&self) -> impl Iterator<Item = (&Directive, &Said)> {
        self.said.iter().map(|(directive, said)| (directive, &**said))
    }

    /// The last word on a directive and what it overrode, if anything was ever said about it.
    pub fn provenance(&self, directive: &Directive) -> Option<Provenance<'_>> {
        let at = self.said.binary_search_by(|(known, _)| known.cmp(directive)).ok()?;
        Some(self.said[at].1.provenance())
    }

    /// The value of a directive in canonical form.
    pub fn get(&self, directive: &Directive) -> Option<&Node> {
        let at = self.said.binary_search_by(|(known, _)| known.cmp(directive)).ok()?;
        self.said[at].1.value()
    }

    /// A text of a section.
    pub fn text(&self, section: Section, field: Field) -> Option<&str> {
        self.get(&Directive::new(section, field))?.as_str()
    }

    /// A list of names of a section; an empty one was set on purpose.
    pub fn names(&self, section: Section, field: Field) -> Option<Vec<&str>> {
        let items = self.get(&Directive::new(section, field))?.as_list()?;
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
        let start = self.said.partition_point(|(known, _)| (known.section, known.field) < (section, field));
        self.said[start..]
            .iter()
            .take_while(move |(known, _)| (known.section, known.field) == (section, field))
            .filter_map(|(known, said)| Some((known.key.as_ref()?, said.value()?)))
    }

    /// The transforms of an operation in the order they run, with the shared defaults below its own.
    pub fn transforms(&self, operation: Operation) -> Vec<(Field, &Node)> {
        let section = Section::Operation(operation);
        let order = self.order(Section::Defaults).then(self.order(section));
        order
            .fields()
            .filter_map(|field| {
                let own = self.get(&Directive::new(section, field));
                own.or_else(|| self.get(&Directive::new(Section::Defaults, field))).map(|node| (field, node))
            })
            .collect()
    }

    /// The order that layers gave to the transforms of a section.
    pub fn order(&self, section: Section) -> Order {
        let known = self.orders.iter().find(|(known, _)| *known == section);
        known.map(|(_, order)| *order).unwrap_or_default()
    }

    /// The canonical document that says all of this at once; each value is placed where its winner is written.
    pub fn to_node(&self) -> Node {
        let compose = || {
            let values = self.said.iter().filter_map(|(directive, said)| Some((directive, said.value()?, said.at)));
            compose::document(values, |section| self.order(section), self.nowhere)
        };
        self.node.get_or_init(compose).clone()
    }

    /// The attributes of a payload that hold secrets.
    pub fn secret_attributes(&self) -> &SecretAttributes {
        self.secrets.get_or_init(|| SecretAttributes::of(self))
    }

    /// The same document, with the layer that gave each value as the last step of its way.
    pub fn to_traced_node(&self) -> Node {
        let traced = self.said.iter().filter_map(|(directive, said)| {
            let layer = said.by.span;
            // What a layer includes is written elsewhere.
            let at = if said.at.source == layer.source { said.at } else { layer.start_only() };
            Some((directive, said.value()?.clone().through(StepKind::Layer, at), said.at))
        });
        let traced: Vec<(&Directive, Node, Span)> = traced.collect();
        let values = traced.iter().map(|(directive, node, at)| (*directive, node, *at));
        compose::document(values, |section| self.order(section), self.nowhere)
    }

    /// The same metadata with each value passed through a function.
    #[must_use]
    pub fn map_values(&self, change: impl Fn(&Directive, &Node) -> Option<Node>) -> Self {
        let mut changed = self.anew();
        for (directive, said) in &mut changed.said {
            let Some(node) = said.value().and_then(|node| change(directive, node)) else { continue };
            let (by, over) = (Arc::clone(&said.by), said.over.clone());
            *said = Arc::new(Said { by, at: said.at, effect: Effect::Set(node), over });
        }
        changed
    }
}

impl Said {
    /// The value, unless it was taken away.
    pub fn value(&self) -> Option<&Node> {
        match &self.effect {
            Effect::Set(node) => Some(node),
            Effect::Cleared | Effect::Emptied => None,
        }
    }

    /// This as the winner, with everything below it.
    pub fn provenance(&self) -> Provenance<'_> {
        let overridden = std::iter::successors(self.over.as_deref(), |said| said.over.as_deref()).collect();
        Provenance { winner: self, overridden }
    }
}

/// The metadata of one document that has no other layers below it.
pub fn of_document(root: &Node) -> Outcome<EffectiveMetadata> {
    let statements = decode(root);
    let findings = statements.findings.clone();
    let layer = Layer { origin: Origin::Document, statements, span: root.span, number: 0 };
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
        matches!(&self.origin, Origin::File { path, .. } if path == file)
    }

    /// The document of this layer alone in canonical form; nulls are left out.
    pub fn to_node(&self) -> Node {
        compose::statements(&self.statements, self.span)
    }
}
