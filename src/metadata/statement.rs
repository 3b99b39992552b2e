//! The content of one metadata document as a list of statements, each with its place.

use smol_str::SmolStr;

use super::field::{DocumentForm, Field, FieldPath, Section};
use crate::finding::{Finding, has_errors};
use crate::text::Span;
use crate::value::Node;

/// What a document sets one field, or one key of it, to.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The field that it is about.
    pub field_path: FieldPath,
    /// Where it is written.
    pub at: Span,
    /// The keys that lead to the field in its document; empty for sections.
    pub written: SmolStr,
    /// What it does to the field.
    pub kind: StatementKind,
}

/// What a statement does to its field.
#[derive(Debug, Clone)]
pub enum StatementKind {
    /// This value, in canonical form.
    Value(Node),
    /// `null`: clears the values of weaker layers.
    Null,
    /// An empty map or list: clears the keys of weaker layers, and the map is present. The node is the empty value.
    Empty(Node),
    /// Only that the map is present; its keys are statements of their own. The node is an empty value.
    Present(Node),
}

/// All statements of a document in canonical order, and what is wrong with it.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    /// The statements; each field or key once.
    pub all: Vec<Statement>,
    /// The order in which transforms run, for the sections that set it.
    pub orders: Vec<(Section, TransformOrder)>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// Whether the document could not be read well enough to know which secrets it declares.
    pub may_miss_secrets: bool,
    /// The form of the document; an empty one has none.
    pub form: Option<DocumentForm>,
    /// `selector.descendants`, and where it is written.
    pub descendants: Option<(bool, Span)>,
}

impl Statements {
    /// Whether it has no errors.
    pub fn is_sound(&self) -> bool {
        !has_errors(&self.findings)
    }

    /// Whether the document, as one of a collection, applies to everything below the collection, and not to its items alone.
    pub fn reaches_below(&self) -> bool {
        self.form != Some(DocumentForm::New) || self.has_descendants()
    }

    /// Whether `selector.descendants` is set.
    pub fn has_descendants(&self) -> bool {
        self.descendants.is_some_and(|(value, _)| value)
    }

    /// The statement about exactly this field or key.
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
