//! What a comparison needs to know beside the two trees.

use std::fmt;
use std::sync::Arc;

use super::pattern::{InvalidPattern, ListRules};
use crate::document::Format;
use crate::settings::ListRule;
use crate::text::Span;
use crate::value::Node;

/// Reads a string, written at a place, that may hold a document of its own. Every part of what it gives is at that place.
pub type EmbeddedParser = dyn Fn(&str, Span) -> Option<(Format, Node)> + Send + Sync;

/// How two trees are compared; the default knows nothing but the trees.
#[derive(Clone, Default)]
pub struct Options {
    /// How the items of some lists are told apart.
    pub lists: ListRules,
    /// Whether the document is a Kubernetes one, so that its well-known lists have well-known keys.
    pub is_kubernetes: bool,
    /// When a string counts as text.
    pub text: TextThresholds,
    /// Strings that hold a JSON or YAML document are compared inside if this can read them; `None` never looks.
    pub embedded_parser: Option<Arc<EmbeddedParser>>,
}

/// When strings are compared line by line, and how large a string may be to be looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextThresholds {
    /// How many lines that are not blank both sides must share; fewer, and nothing is gained over showing both values.
    pub shared_lines: usize,
    /// Bytes up to which a string is parsed to look inside.
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
