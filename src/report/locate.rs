//! Converts byte offsets to lines and columns, efficiently for many offsets in one long line.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::text::{SourceId, SourceText, Sources, Span};

/// Converts spans to lines and columns and remembers the last position: a minified file is one line, and counting from its
/// start for every change would take quadratic time.
pub(super) struct Locator<'a> {
    sources: &'a Sources,
    counted: BTreeMap<SourceId, Counted>,
}

struct Counted {
    text: Arc<SourceText>,
    /// A byte offset, the line it is in and the characters before it in that line.
    offset: usize,
    line: usize,
    column: usize,
}

/// A line and column in a file.
pub(super) struct LinePosition {
    /// The text it is in.
    pub text: Arc<SourceText>,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl<'a> Locator<'a> {
    /// Over the texts of a report.
    pub(super) fn new(sources: &'a Sources) -> Self {
        Self { sources, counted: BTreeMap::new() }
    }

    /// Where a span starts.
    pub(super) fn start(&mut self, span: Span) -> LinePosition {
        self.position(span.source, span.start as usize)
    }

    /// One past where a span ends.
    pub(super) fn end(&mut self, span: Span) -> LinePosition {
        self.position(span.source, span.end as usize)
    }

    fn position(&mut self, source: SourceId, offset: usize) -> LinePosition {
        let sources = self.sources;
        let counted = self.counted.entry(source).or_insert_with(|| Counted {
            text: sources.get(source),
            offset: 0,
            line: 0,
            column: 0,
        });
        counted.advance(offset);
        LinePosition { text: Arc::clone(&counted.text), line: counted.line + 1, column: counted.column + 1 }
    }
}

impl Counted {
    fn advance(&mut self, offset: usize) {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.text.lines().line_of(offset);
        if line != self.line || offset < self.offset {
            (self.line, self.offset, self.column) = (line, self.text.lines().start_of(line), 0);
        }
        self.column += self.text.characters(self.offset..offset);
        self.offset = offset;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::RepoPath;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_counting_from_the_start(text in "[a-cß\\n]{0,40}", offsets in prop::collection::vec(0usize..60, 1..8)) {
            let sources = Sources::default();
            let id = sources.add(SourceText::new(RepoPath::root(), "x", text));
            let mut locator = Locator::new(&sources);
            for offset in offsets {
                let place = locator.start(Span::new(id, offset, offset));
                prop_assert_eq!((place.line, place.column), sources.get(id).line_column(offset));
            }
        }
    }
}
