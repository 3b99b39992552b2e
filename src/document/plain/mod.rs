//! A fast reader for the subset of YAML that most configuration is written in; docs/benchmarks.md has its gain.
//!
//! It reports no errors: at anything outside the subset, or invalid, it gives up and the event parser reads the document from its
//! start. Both use the same composer, so that they create the same tree with the same spans.

mod block;
mod flow;
mod scalar;

use std::ops::Range;

use crate::limits::Limits;
use crate::scan;

use super::Document;
use super::compose::{Collection, Composer, Properties};
use super::layout;
use super::problems::Problems;
use super::scalar::Style;
use scalar::{LineEnd, Quoted};

/// The document of a piece; `None` if the event parser must read it.
pub(super) fn parse(text: &str, piece: Range<usize>, limits: &Limits, problems: &Problems) -> Option<Document> {
    read_piece(text, piece, limits, problems, false).map(|(document, _)| document)
}

/// The document of a piece as common readers read it: quoted strings may continue in lines that are not indented. Also the offset
/// of the first such string.
pub(super) fn parse_leniently(
    text: &str,
    piece: Range<usize>,
    limits: &Limits,
    problems: &Problems,
) -> Option<(Document, usize)> {
    let (document, quote) = read_piece(text, piece, limits, problems, true)?;
    Some((document, quote?))
}

fn read_piece(
    text: &str,
    piece: Range<usize>,
    limits: &Limits,
    problems: &Problems,
    is_lenient: bool,
) -> Option<(Document, Option<usize>)> {
    if !scalar::is_harmless(&text[piece.clone()]) {
        return None;
    }
    let span = problems.span(piece.clone());
    let mut suspicions = problems.fresh();
    let start = header(&text.as_bytes()[..piece.end], piece.start)?;
    let composer = Composer::new(text, start, limits, &mut suspicions);
    let mut reader = PlainReader {
        text,
        bytes: &text.as_bytes()[..piece.end],
        at: start,
        line: start,
        end: start,
        levels: Vec::with_capacity(16),
        most_levels: (limits.depth as usize).min(DEEPEST),
        is_value_due: true,
        composer,
        buffer: String::new(),
        is_lenient,
        outdented_quote: None,
    };
    reader.read()?;
    let quote = reader.outdented_quote;
    let (root, anchors) = reader.composer.finish()?;
    (suspicions.count() == 0).then_some((Document { position: 0, root, span, anchors }, quote))
}

/// The deepest nesting that is read here; deeper documents are rare.
const DEEPEST: usize = 64;

/// The longest key that is read here; YAML allows 1024 characters.
const LONGEST_KEY: usize = 1000;

struct PlainReader<'a> {
    text: &'a str,
    /// The text up to the end of the piece.
    bytes: &'a [u8],
    at: usize,
    /// The start of the line.
    line: usize,
    /// The end of the last token.
    end: usize,
    levels: Vec<Level>,
    most_levels: usize,
    /// Whether the innermost level, or the document, expects a value.
    is_value_due: bool,
    composer: Composer<'a>,
    /// Holds the text of scalars with escapes or line breaks.
    buffer: String,
    /// Whether quoted strings may continue in lines that are not indented.
    is_lenient: bool,
    /// The offset of the first quoted string that does.
    outdented_quote: Option<usize>,
}

/// An open block collection.
#[derive(Clone, Copy)]
struct Level {
    column: usize,
    collection: Collection,
}

impl PlainReader<'_> {
    fn read(&mut self) -> Option<()> {
        while self.next_line()? {
            self.settle()?;
            self.line()?;
        }
        if self.is_value_due {
            self.missing()?;
        }
        while self.levels.pop().is_some() {
            self.close(self.bytes.len()..self.bytes.len())?;
        }
        Some(())
    }

    /// Moves to the content of the next line; false at the end of the text.
    fn next_line(&mut self) -> Option<bool> {
        while self.at < self.bytes.len() {
            self.line = self.at;
            self.skip_spaces();
            match self.byte(self.at) {
                b'\n' => self.at += 1,
                b'#' => self.skip_line(),
                b'\t' => return None,
                b'-' | b'.' if self.at == self.line && is_marker(&self.bytes[self.at..]) => return None,
                _ => return Some(true),
            }
        }
        Some(false)
    }

    /// Closes the levels that end before this line, so that the innermost level is the one it belongs to.
    fn settle(&mut self) -> Option<()> {
        let column = self.at - self.line;
        let is_item = self.is_dash(self.at);
        let Some(level) = self.levels.last() else { return Some(()) };
        if self.is_value_due {
            // A list may start in the column of its key.
            let is_beside = column == level.column && level.collection == Collection::Map && is_item;
            if column > level.column || is_beside {
                return Some(());
            }
            self.missing()?;
        }
        let is_over = |level: &Level| level.column > column || (level.column == column && level.is_list() && !is_item);
        while self.levels.pop_if(|level| is_over(level)).is_some() {
            self.close(self.at..self.at)?;
        }
        self.levels.last().filter(|level| level.column == column && level.is_list() == is_item).map(drop)
    }

    /// Reads a line from its first character: dashes, then a key or a value.
    fn line(&mut self) -> Option<()> {
        while self.is_dash(self.at) {
            self.enter(Collection::List)?;
            self.at += 1;
            self.is_value_due = true;
            if self.is_line_over() {
                // The composer does not search for a dash further than this.
                return (self.at - self.end < layout::SIGHT).then(|| self.skip_line());
            }
        }
        self.key_or_value()
    }

    fn key_or_value(&mut self) -> Option<()> {
        let start = self.at;
        match self.byte(start) {
            quote @ (b'"' | b'\'') => {
                let Quoted { end, is_verbatim, is_one_line } = self.quoted(quote)?;
                let Some(colon) = self.colon_after(end) else { return self.quoted_value(start, end, is_verbatim) };
                self.enter(Collection::Map)?;
                self.emit_quoted(start, end, is_verbatim)?;
                is_one_line.then_some(())?;
                self.after_key(start, colon)
            }
            b'[' | b'{' | b'|' | b'>' => self.value(),
            _ => match self.plain(start)? {
                (end, LineEnd::Colon(colon)) => {
                    self.enter(Collection::Map)?;
                    self.emit(start..end, Style::Plain)?;
                    self.after_key(start, colon)
                }
                (end, stop) => self.plain_value(start, end, &stop),
            },
        }
    }

    /// The offset of the colon that makes the scalar before `at` a key.
    fn colon_after(&self, mut at: usize) -> Option<usize> {
        while self.byte(at) == b' ' {
            at += 1;
        }
        (self.byte(at) == b':' && self.is_blank(at + 1)).then_some(at)
    }

    fn after_key(&mut self, start: usize, colon: usize) -> Option<()> {
        if colon - start > LONGEST_KEY {
            return None;
        }
        self.at = colon + 1;
        self.is_value_due = true;
        if self.is_line_over() {
            self.skip_line();
            return Some(());
        }
        self.value()
    }

    /// A value on the line of its key or dash, or alone on its own line.
    fn value(&mut self) -> Option<()> {
        let start = self.at;
        match self.byte(start) {
            quote @ (b'"' | b'\'') => {
                let Quoted { end, is_verbatim, .. } = self.quoted(quote)?;
                self.quoted_value(start, end, is_verbatim)
            }
            b'[' | b'{' => {
                self.take_value_slot()?;
                self.flow(0)?;
                self.end_line()
            }
            b'|' | b'>' => self.block(),
            _ => match self.plain(start)? {
                (_, LineEnd::Colon(_)) => None,
                (end, stop) => self.plain_value(start, end, &stop),
            },
        }
    }

    fn plain_value(&mut self, start: usize, end: usize, stop: &LineEnd) -> Option<()> {
        self.take_value_slot()?;
        self.emit_plain(start, end, stop)?;
        self.end_line()
    }

    fn quoted_value(&mut self, start: usize, end: usize, is_verbatim: bool) -> Option<()> {
        self.take_value_slot()?;
        self.emit_quoted(start, end, is_verbatim)?;
        self.at = end;
        self.end_line()
    }

    /// Consumes the expectation of a value. A document that is nothing but a scalar is not read here.
    fn take_value_slot(&mut self) -> Option<()> {
        let is_due = self.is_value_due && !self.levels.is_empty();
        self.is_value_due = false;
        is_due.then_some(())
    }

    /// Opens a collection at the current column, unless this line continues one.
    fn enter(&mut self, collection: Collection) -> Option<()> {
        if !self.is_value_due {
            return Some(());
        }
        if self.levels.len() >= self.most_levels {
            return None;
        }
        self.is_value_due = false;
        self.levels.push(Level { column: self.at - self.line, collection });
        self.composer.open(collection, false, self.at..self.at, Properties::default()).ok()
    }

    fn close(&mut self, range: Range<usize>) -> Option<()> {
        self.composer.close(range).ok()
    }

    /// Emits the null of a value that is not written.
    fn missing(&mut self) -> Option<()> {
        self.take_value_slot()?;
        self.composer.scalar("", Style::Plain, self.end..self.end, Properties::default()).ok()
    }

    /// Emits a scalar without escapes or line breaks.
    fn emit(&mut self, range: Range<usize>, style: Style) -> Option<()> {
        self.end = range.end;
        self.composer.scalar(&self.text[range.clone()], style, range, Properties::default()).ok()
    }

    /// Skips the rest of a line, which may be nothing but a comment.
    fn end_line(&mut self) -> Option<()> {
        self.is_line_over().then(|| self.skip_line())
    }

    /// Skips spaces and returns whether nothing but a comment follows.
    fn is_line_over(&mut self) -> bool {
        let start = self.at;
        self.skip_spaces();
        match self.byte(self.at) {
            b'\n' => true,
            b'#' => self.at > start,
            _ => false,
        }
    }

    fn skip_spaces(&mut self) {
        while self.byte(self.at) == b' ' {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        // Most lines are over already; the others are comments, and lines of long texts.
        if self.byte(self.at) != b'\n' {
            let rest = self.bytes.get(self.at..).unwrap_or_default();
            self.at = scan::positions(rest, b'\n').next().map_or(self.bytes.len(), |length| self.at + length);
        }
        self.at += 1;
    }

    fn is_dash(&self, at: usize) -> bool {
        self.byte(at) == b'-' && self.is_blank(at + 1)
    }

    fn is_blank(&self, at: usize) -> bool {
        matches!(self.byte(at), b' ' | b'\n')
    }

    /// The byte at an offset; the end of the text counts as a line break.
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(b'\n')
    }
}

impl Level {
    fn is_list(&self) -> bool {
        self.collection == Collection::List
    }
}

/// The offset of the content: after `---`, if there is one.
fn header(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    while let Some(&first) = bytes.get(at) {
        let length = bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len() - at, |length| length + 1);
        let line = bytes[at..at + length].trim_ascii();
        match line {
            [] | [b'#', ..] => at += length,
            // A value on the line of the marker is not read here.
            [b'-', b'-', b'-', rest @ ..] if first == b'-' => {
                let is_bare = matches!(rest.trim_ascii_start(), [] | [b'#', ..]);
                let is_marker = matches!(rest.first(), None | Some(b' '));
                return (is_bare && is_marker).then_some(at + 3);
            }
            [b'%', ..] => return None,
            _ => break,
        }
    }
    Some(start)
}

/// Whether a line starts with `---` or `...`, whatever follows.
fn is_marker(line: &[u8]) -> bool {
    line.starts_with(b"---") || line.starts_with(b"...")
}

#[cfg(test)]
mod tests;
