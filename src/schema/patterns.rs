//! Patterns of schemas, compiled once however many values are checked.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use smol_str::SmolStr;

use crate::memo::Memo;

/// Bytes of a compiled pattern.
const LARGEST: usize = 1 << 20;
/// A document rarely has more; beyond this, all are compiled anew.
const MOST: usize = 4096;

/// The compiled patterns of a document; threads share them. Matching takes time linear in the text.
#[derive(Debug)]
pub struct Patterns(Memo<SmolStr, Option<Arc<Regex>>>);

impl Default for Patterns {
    fn default() -> Self {
        Self(Memo::capped(MOST))
    }
}

impl Patterns {
    /// The pattern of a text; none if it is malformed, not supported or too large.
    pub(super) fn get(&self, source: &str) -> Option<Arc<Regex>> {
        let compile = || RegexBuilder::new(source).size_limit(LARGEST).build().ok().map(Arc::new);
        self.0.get_with(source, |source| source.into(), compile)
    }
}
