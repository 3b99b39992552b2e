//! Options of a comparison.

use std::fmt;
use std::sync::Arc;

use super::pattern::{InvalidPattern, ListRules};
use crate::document::Format;
use crate::limits::Limits;
use crate::settings::ListRule;
use crate::text::Span;
use crate::value::Node;

/// Parses a string that may contain an embedded document. All spans of the result are the given span.
pub type EmbeddedParser = dyn Fn(&str, Span) -> Option<(Format, Node)> + Send + Sync;

/// Options of a comparison of two trees.
#[derive(Clone, Default)]
pub struct Options {
    /// The configured keys of list items.
    pub lists: ListRules,
    /// Whether the document is a Kubernetes one, so that its well-known lists have well-known keys.
    pub is_kubernetes: bool,
    /// When a string counts as text.
    pub text: TextThresholds,
    /// Parses JSON and YAML documents in strings, so that they are compared by value; `None` compares strings only.
    pub embedded_parser: Option<Arc<EmbeddedParser>>,
    /// What the run may list.
    pub limits: Limits,
}

/// When strings are compared line by line, and the largest string that is parsed as an embedded document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextThresholds {
    /// How many lines that are not blank both sides must share; fewer, and nothing is gained over showing both values.
    pub shared_lines: usize,
    /// Bytes up to which a string is parsed as an embedded document.
    pub embedded_bytes: usize,
}

impl Options {
    /// Options with the list rules of the settings.
    pub fn new(lists: &[ListRule]) -> Result<Self, InvalidPattern> {
        Ok(Self { lists: ListRules::compile(lists)?, ..Self::default() })
    }
}

impl Default for TextThresholds {
    fn default() -> Self {
        Self { shared_lines: 1, embedded_bytes: 4 << 20 }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("lists", &self.lists)
            .field("is_kubernetes", &self.is_kubernetes)
            .field("text", &self.text)
            .field("embedded_parser", &self.embedded_parser.is_some())
            .finish()
    }
}
