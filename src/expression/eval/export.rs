//! Results as data: everything in them computed, nothing too large, no end without an end.

use std::sync::Arc;

use super::datum::{Datum, Signal};
use super::detect::is_expression;
use super::secrecy::secret_expression;
use super::session::{EvalSession, NONE, computation};
use super::tree::ResourceId;
use super::trouble::{self, Result};
use crate::text::Span;
use crate::value::{Entry, Key, Map, Node, StepKind, Value};

impl EvalSession<'_> {
    /// A datum as data, with everything in it computed.
    pub(super) fn exported(&mut self, datum: &Datum, at: Span) -> Result<Node> {
        match datum {
            Datum::Node { node, owner: None } => Ok(node.clone()),
            Datum::Node { node, owner: Some(owner) } => Ok(self.whole(node, *owner)?.unwrap_or_else(|| node.clone())),
            Datum::Resource(id) => Ok(self.tree.reference(*id, at).through(StepKind::Expression, at)),
            Datum::Everything => {
                let all = self.everything(at)?;
                self.spend(all.len() as u64, at)?;
                let entry = |&id: &ResourceId| Entry::named(self.tree.path(id), at, self.tree.reference(id, at));
                Ok(Node::map(all.iter().map(entry).collect(), at).through(StepKind::Expression, at))
            }
            Datum::List { items, at, .. } => {
                self.spend(items.len() as u64, *at)?;
                let items = items.iter().map(|item| self.deeper(*at, |session| session.exported(item, *at)));
                let items = items.collect::<Result<Vec<_>>>()?;
                self.fitting(Node::list(items, *at).through(StepKind::Expression, *at), *at)
            }
            Datum::Map { members, at, .. } => {
                self.spend(members.len() as u64, *at)?;
                let entries = members.iter().map(|(key, datum)| {
                    let value = self.deeper(*at, |session| session.exported(datum, *at))?;
                    Ok(Entry { key: key.clone(), value })
                });
                let entries = entries.collect::<Result<Vec<_>>>()?;
                self.fitting(Node::map(entries, *at).through(StepKind::Expression, *at), *at)
            }
            Datum::Signal(Signal::Break | Signal::Continue) => Ok(Node::new(Value::Null, at)),
        }
    }

    /// A value with every expression in it computed; nothing if it has none.
    pub(super) fn whole(&mut self, node: &Node, owner: ResourceId) -> Result<Option<Node>> {
        self.spend(1, node.span)?;
        match &node.value {
            Value::Map(map) if is_expression(map) => self.result(node, map, owner).map(Some),
            Value::Map(_) | Value::List(_) => {
                let changed = node.try_map_children(|child| self.whole(child.node, owner))?;
                changed.map(|changed| self.fitting(changed, node.span)).transpose()
            }
            Value::Secret(secret) => match secret_expression(secret) {
                Some((node, map)) => self.secretly(node, map, owner).map(Some),
                None => Ok(None),
            },
            _ => Ok(None),
        }
    }

    /// The value of an expression, written out once. One that holds itself has no end: it is null inside itself.
    pub(super) fn result(&mut self, node: &Node, map: &Arc<Map>, owner: ResourceId) -> Result<Node> {
        let computation = computation(owner, map);
        if let Some(known) = self.exported.get(&computation) {
            return Ok(known.clone());
        }
        if let Some(position) = self.exporting.iter().position(|(open, _)| *open == computation) {
            self.outermost_exporting = self.outermost_exporting.min(position);
            let circle = self.exporting[position..].to_vec();
            self.report_circle(circle);
            return Ok(Node::new(Value::Null, node.span).through(StepKind::Expression, node.span));
        }
        let position = self.exporting.len();
        self.exporting.push((computation, node.span));
        let computing = std::mem::replace(&mut self.outermost, NONE);
        let exporting = std::mem::replace(&mut self.outermost_exporting, NONE);
        let datum = self.computed(owner, node, map)?;
        let result = self.deeper(node.span, |session| session.exported(&datum, node.span))?;
        self.exporting.pop();
        if self.outermost_exporting >= position {
            self.outermost_exporting = NONE;
        }
        if self.outermost_exporting == NONE && self.outermost == NONE {
            self.exported.insert(computation, result.clone());
        }
        self.outermost = self.outermost.min(computing);
        self.outermost_exporting = self.outermost_exporting.min(exporting);
        Ok(result)
    }

    /// A list of these, if it is not too large or too deep.
    pub(super) fn list(&mut self, items: Vec<Datum>, at: Span) -> Result<Datum> {
        self.spend(items.len() as u64, at)?;
        self.fitting_datum(Datum::list(items, at), at)
    }

    /// A map of these, if it is not too large or too deep.
    pub(super) fn map(&mut self, members: Vec<(Key, Datum)>, at: Span) -> Result<Datum> {
        self.spend(members.len() as u64, at)?;
        self.fitting_datum(Datum::map(members, at), at)
    }

    fn fitting_datum(&self, datum: Datum, at: Span) -> Result<Datum> {
        let size = match &datum {
            Datum::Node { node, .. } => node.size(),
            _ => 1,
        };
        match trouble::result_limit(size, datum.height(), at, self.limits) {
            Some(fault) => Err(fault),
            None => Ok(datum),
        }
    }

    /// A result, if it is not too large or too deep.
    pub(super) fn fitting(&self, node: Node, at: Span) -> Result<Node> {
        match trouble::result_limit(node.size(), node.height(), at, self.limits) {
            Some(fault) => Err(fault),
            None => Ok(node),
        }
    }
}
