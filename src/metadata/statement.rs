//! What one document says: a list of statements, each with its place.

use super::field::{Field, FieldPath, Section};
use crate::finding::{Finding, has_errors};
use crate::text::Span;
use crate::value::Node;

/// One thing a document says about one directive.
#[derive(Debug, Clone)]
pub struct Statement {
    /// What it speaks of.
    pub field_path: FieldPath,
    /// Where it is written.
    pub at: Span,
    /// What it says.
    pub kind: StatementKind,
}

/// What a statement says.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// This value, in canonical form.
    Value(Node),
    /// `null`: what weaker layers say does not count.
    Null,
    /// An empty map or list of keys: those of weaker layers do not count, and the map is there. The node is the empty value.
    Empty(Node),
    /// Only that the map is there; its keys speak for themselves. The node is an empty value.
    Present(Node),
}

/// Everything a document says, in canonical order, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    /// What it says; each directive once.
    pub all: Vec<Statement>,
    /// The order in which transforms run, for the sections that say it.
    pub orders: Vec<(Section, TransformOrder)>,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

impl Statements {
    /// Whether it was understood to the last word.
    pub fn is_sound(&self) -> bool {
        !has_errors(&self.findings)
    }

    /// The statement about exactly this directive.
    pub fn about(&self, field_path: &FieldPath) -> Option<&Statement> {
        self.all.iter().find(|statement| statement.field_path == *field_path)
    }
}

/// The order in which transforms run; those that are not named follow in their usual order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TransformOrder {
    named: [Option<Field>; 3],
}

impl TransformOrder {
    /// Names another transform as the last; one that was named before moves here.
    pub fn push(&mut self, field: Field) {
        self.remove(field);
        if let Some(free) = self.named.iter_mut().find(|named| named.is_none()) {
            *free = Some(field);
        }
    }

    /// Forgets a transform.
    pub fn remove(&mut self, field: Field) {
        if let Some(at) = self.named.iter().position(|named| *named == Some(field)) {
            self.named[at..].rotate_left(1);
            self.named[self.named.len() - 1] = None;
        }
    }

    /// Those that are named.
    pub fn named(self) -> impl Iterator<Item = Field> {
        self.named.into_iter().flatten()
    }

    /// All transforms in the order they run.
    pub fn fields(self) -> impl Iterator<Item = Field> {
        self.named().chain(Field::TRANSFORMS.into_iter().filter(move |field| !self.named.contains(&Some(*field))))
    }

    /// The order of a stronger layer over this one: what it names runs last.
    #[must_use]
    pub fn then(mut self, stronger: Self) -> Self {
        stronger.named().for_each(|field| self.push(field));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_stronger_layer_names_runs_last() {
        let order = |fields: &[Field]| {
            let mut order = TransformOrder::default();
            fields.iter().for_each(|field| order.push(*field));
            order
        };
        let all = |order: TransformOrder| order.fields().collect::<Vec<_>>();
        assert_eq!(all(order(&[])), Field::TRANSFORMS);
        assert_eq!(all(order(&[Field::Jq])), [Field::Jq, Field::Filter, Field::Suppress]);
        let base = order(&[Field::Jq, Field::Suppress]);
        assert_eq!(all(base.then(order(&[Field::Filter]))), [Field::Jq, Field::Suppress, Field::Filter]);
        assert_eq!(all(base.then(order(&[Field::Jq]))), [Field::Suppress, Field::Jq, Field::Filter]);
    }
}
