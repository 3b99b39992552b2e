//! Lists and maps between brackets, as long as they stay on one line.

use std::ops::Range;

use crate::document::compose::{Collection, Properties};
use crate::document::scalar::Style;

use super::PlainReader;
use super::scalar::{Quoted, may_start_plain};

/// The deepest nesting of brackets that is read here.
const DEEPEST: usize = 6;

impl PlainReader<'_> {
    /// A value inside brackets, or the outermost brackets.
    pub(super) fn flow(&mut self, depth: usize) -> Option<()> {
        if depth + self.levels.len() >= self.most_levels || depth > DEEPEST {
            return None;
        }
        match self.byte(self.at) {
            b'[' => {
                self.bracket(Collection::List)?;
                while self.goes_on(b']')? {
                    self.flow(depth + 1)?;
                    self.separator(b']')?;
                }
            }
            b'{' => {
                self.bracket(Collection::Map)?;
                while self.goes_on(b'}')? {
                    self.pair(depth)?;
                    self.separator(b'}')?;
                }
            }
            _ => return self.flow_scalar(),
        }
        self.at += 1;
        self.end = self.at;
        self.close(self.at - 1..self.at)
    }

    fn pair(&mut self, depth: usize) -> Option<()> {
        let start = self.at;
        self.flow_scalar()?;
        if self.byte(self.at) != b':' || self.byte(self.at + 1) != b' ' || self.at - start > super::LONGEST_KEY {
            return None;
        }
        self.at += 1;
        self.skip_spaces();
        self.flow(depth + 1)
    }

    fn bracket(&mut self, collection: Collection) -> Option<()> {
        let bracket: Range<usize> = self.at..self.at + 1;
        self.at += 1;
        self.composer.open(collection, true, bracket, Properties::default()).ok()
    }

    /// Whether something precedes the closing bracket.
    fn goes_on(&mut self, close: u8) -> Option<bool> {
        self.skip_spaces();
        Some(self.byte(self.at) != close)
    }

    /// Skips a comma, or stops at the closing bracket.
    fn separator(&mut self, close: u8) -> Option<()> {
        self.skip_spaces();
        match self.byte(self.at) {
            b',' => self.at += 1,
            byte if byte == close => {}
            _ => return None,
        }
        Some(())
    }

    fn flow_scalar(&mut self) -> Option<()> {
        let start = self.at;
        if let quote @ (b'"' | b'\'') = self.byte(start) {
            let Quoted { end, is_verbatim, is_one_line } = self.quoted(quote)?;
            self.at = end;
            self.emit_quoted(start, end, is_verbatim)?;
            return is_one_line.then_some(());
        }
        if !may_start_plain(self.byte(start), self.byte(start + 1)) {
            return None;
        }
        while is_plain_in_brackets(self.byte(self.at)) {
            self.at += 1;
        }
        let end = start + self.text[start..self.at].trim_end_matches(' ').len();
        self.emit(start..end, Style::Plain)
    }
}

/// Whether a byte is part of a plain scalar between brackets, whatever is next to it.
fn is_plain_in_brackets(byte: u8) -> bool {
    !matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b':' | b'#' | b'"' | b'\'' | b'\n' | b'\t')
}
