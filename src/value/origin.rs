//! Provenance: the steps by which a value came from where it is written to where it is used.
//!
//! A step is kept at the node where a subtree was grafted, never on the nodes below it: the provenance of a deep value is the sum of
//! the steps met while walking down to it. That is what lets subtrees be shared.

use std::sync::Arc;

use smol_str::SmolStr;

use super::Node;
use crate::text::Span;

/// What few nodes have beside value and span.
#[derive(Debug, Clone, Default)]
pub struct Extra {
    /// A tag outside the core schema, such as `!Ref`; part of the value.
    pub tag: Option<SmolStr>,
    /// The name by which aliases and directives may refer to it; not part of the value.
    pub anchor: Option<SmolStr>,
    /// The last step of its provenance.
    pub step: Option<Step>,
    /// The value that this one overrides.
    pub overridden: Option<Node>,
}

/// One step of a value's provenance. Steps are shared: a long chain costs nothing to extend.
#[derive(Debug, Clone)]
pub struct Step {
    /// What moved the value.
    pub kind: StepKind,
    /// Where that is written: the alias, the merge key, the directive's key.
    pub at: Span,
    /// The step before this one.
    pub before: Option<Arc<Step>>,
}

/// The ways in which a value comes from elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepKind {
    /// A YAML alias, `*name`.
    Alias,
    /// A YAML merge key, `<<`.
    MergeKey,
    /// A merge directive that names a place in the document, `+/pointer`.
    Directive,
    /// A merge directive that names a file, `+include`.
    Include,
    /// An expression, `{eval: path}`.
    Expression,
    /// An operation of a patch.
    Patch,
    /// A field of a kustomization, as it is written there: `namespace`, `images`, `configMapGenerator`.
    Kustomize(&'static str),
    /// The suffix that a name gets from the content of the resource.
    NameSuffixHash,
    /// A layer that applies to the resource.
    Layer,
    /// An expression of a template that gives the value as it is.
    Template,
    /// A value that an expression reads to make this one.
    Input,
}

impl Step {
    /// A first step.
    pub fn new(kind: StepKind, at: Span) -> Self {
        Self { kind, at, before: None }
    }

    /// Returns the step with another one before it.
    #[must_use]
    pub fn after(mut self, before: Arc<Step>) -> Self {
        self.before = Some(before);
        self
    }

    /// The steps in the order they were taken.
    pub fn chain(&self) -> Vec<&Step> {
        let mut chain: Vec<&Step> = std::iter::successors(Some(self), |step| step.before.as_deref()).collect();
        chain.reverse();
        chain
    }
}

impl Drop for Step {
    /// Dropping a chain of a hundred thousand steps must not recurse.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(mut step) = next.and_then(Arc::into_inner) {
            next = step.before.take();
        }
    }
}

impl StepKind {
    /// The field of a kustomization that made the step, if one did.
    pub fn kustomize_field(self) -> Option<&'static str> {
        match self {
            Self::Kustomize(field) => Some(field),
            _ => None,
        }
    }

    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alias => "alias",
            Self::MergeKey => "merge key",
            Self::Directive => "directive",
            Self::Include => "include",
            Self::Expression => "expression",
            Self::Patch => "patch",
            Self::Kustomize(field) => field,
            Self::NameSuffixHash => "content hash",
            Self::Layer => "layer",
            Self::Template => "template",
            Self::Input => "input",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use crate::text::{SourceText, Sources};
    use crate::value::Value;

    #[test]
    fn a_very_long_chain_is_walked_and_dropped() {
        let source = Sources::default().add(SourceText::new(RepoPath::root(), "", ""));
        let span = Span::new(source, 0, 0);
        let mut node = Node::new(Value::Null, span);
        for _ in 0..300_000 {
            node = node.through(StepKind::Directive, span);
        }
        assert_eq!(node.step().map(|step| step.chain().len()), Some(300_000));
    }
}
