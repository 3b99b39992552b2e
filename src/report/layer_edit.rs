//! Edits of layers, and the resources that do not notice them.

use crate::path::{Pointer, RepoPath};
use crate::resource::Identity;
use crate::text::Span;

/// A value of a layer that was edited and does not reach everybody the layer speaks for.
#[derive(Debug, Clone)]
pub struct LayerEdit {
    /// The layer.
    pub file: RepoPath,
    /// What was edited: its place in a canonical document.
    pub pointer: Pointer,
    /// Where the value was written, if it was.
    pub before: Option<Span>,
    /// Where it is written, if it still is.
    pub after: Option<Span>,
    /// How many resources it counts for, before or after.
    pub readers: usize,
    /// Resources the layer speaks for that have the value from a stronger one, in order.
    pub shielded: Vec<Shielded>,
    /// Whether it is there and no resource reads it.
    pub is_dead: bool,
}

/// A resource that an edit does not reach.
#[derive(Debug, Clone)]
pub struct Shielded {
    /// Which.
    pub resource: Identity,
    /// Where its value is written instead.
    pub by: Span,
}

impl LayerEdit {
    /// Where it is written, or was.
    pub fn at(&self) -> Option<Span> {
        self.after.or(self.before)
    }
}
