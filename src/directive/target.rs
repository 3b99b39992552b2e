//! What directives refer to, as far as it is known while they are resolved.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::arena::OccurrenceId;
use super::combine::Strategy;
use super::problem::Problem;
use crate::path::Pointer;
use crate::value::{Node, Step, Value};

/// What a directive refers to.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// A value, as layers from the top down; at least one.
    Found(Arc<[TargetLayer]>),
    /// A file without content, or a missing file that may be missing.
    Nothing,
    /// The target does not exist; `at` is the first part of its path that is missing.
    Missing { at: SmolStr },
    /// The directive cannot be resolved.
    Broken(Arc<Problem>),
}

/// One of the values that are merged to the value of a target.
#[derive(Debug, Clone)]
pub(super) struct TargetLayer {
    pub(super) content: Content,
    /// The directives that bring it in.
    pub(super) provenance: Option<Arc<Step>>,
}

/// The value of a layer.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// A written value that still has to be expanded.
    Written(OccurrenceId),
    /// A finished value.
    Value(Node),
}

/// The kind of value that a layer expands to, as far as merging depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LayerShape {
    Map(Strategy),
    List,
    Null,
    Scalar,
    /// A map of optional references to targets that do not exist.
    Absent,
}

/// Occurrences by anchor or name; the last in document order counts.
pub(super) type Anchors = HashMap<SmolStr, OccurrenceId>;

/// The result of loading the file of an include.
#[derive(Debug, Clone)]
pub(super) enum Inclusion {
    File { root: OccurrenceId, fragment: Option<Pointer>, is_raw: bool },
    Empty,
    Absent,
    Broken(Arc<Problem>),
}

impl TargetLayer {
    /// A layer that is written at an occurrence.
    pub(super) fn written(occurrence: OccurrenceId) -> Self {
        Self { content: Content::Written(occurrence), provenance: None }
    }

    /// A layer with a finished value.
    pub(super) fn value(node: Node) -> Self {
        Self { content: Content::Value(node), provenance: None }
    }

    /// Whether this is what is written at an occurrence.
    pub(super) fn is_written_at(&self, occurrence: OccurrenceId) -> bool {
        matches!(self.content, Content::Written(at) if at == occurrence)
    }

    fn is_same(&self, other: &Self) -> bool {
        match (&self.content, &other.content) {
            (Content::Written(a), Content::Written(b)) => a == b,
            (Content::Value(a), Content::Value(b)) => a.is_identical(b),
            _ => false,
        }
    }
}

impl LayerShape {
    pub(super) const PLAIN_MAP: Self = Self::Map(Strategy::Merge { is_explicit: false });

    /// The kind of a finished value.
    pub(super) fn from_node(node: &Node) -> Self {
        match &node.value {
            Value::Map(map) => Self::Map(Strategy::from_map(map)),
            Value::List(_) => Self::List,
            Value::Null => Self::Null,
            _ => Self::Scalar,
        }
    }
}

/// Whether two lookups had the same result.
pub(super) fn is_same_target(a: &Target, b: &Target) -> bool {
    match (a, b) {
        (Target::Found(a), Target::Found(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.is_same(b)),
        (Target::Nothing, Target::Nothing)
        | (Target::Missing { .. }, Target::Missing { .. })
        | (Target::Broken(_), Target::Broken(_)) => true,
        _ => false,
    }
}
