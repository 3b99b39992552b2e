//! What can go wrong with one operation, before anybody knows in which file it stands.

use std::ops::Range;

use crate::finding::Rule;

/// Why a path cannot be read, or an operation cannot be applied.
#[derive(Debug, Clone)]
pub struct Trouble {
    /// Which rule speaks.
    pub rule: &'static Rule,
    /// A lower-case phrase without a full stop; it quotes the whole path.
    pub message: String,
    /// The way out.
    pub help: Option<&'static str>,
    /// The part of the path's text that is meant, if it is a part.
    pub part: Option<Range<usize>>,
}

impl Trouble {
    pub(super) fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), help: None, part: None }
    }

    pub(super) fn help(mut self, help: &'static str) -> Self {
        self.help = Some(help);
        self
    }

    pub(super) fn at(mut self, part: Range<usize>) -> Self {
        self.part = Some(part);
        self
    }
}
