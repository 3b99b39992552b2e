//! Edits of layers, and the resources that override them.

use crate::path::{Pointer, RepoPath};
use crate::resource::Identity;
use crate::text::Span;

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
    pub shielded: Vec<Shielded>,
    /// Whether the value exists and affects no resource.
    pub is_dead: bool,
}

/// A resource that overrides an edited value.
#[derive(Debug, Clone)]
pub struct Shielded {
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
