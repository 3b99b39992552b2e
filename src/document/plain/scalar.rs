//! Plain and quoted scalars.

use crate::document::compose::Properties;
use crate::document::scalar::Style;

use super::PlainReader;

/// What a line of a plain scalar ends at.
pub(super) enum LineEnd {
    /// The end of the line.
    Line,
    /// A comment, after which the scalar cannot continue.
    Comment,
    /// A colon at this offset, which makes the scalar a key.
    Colon(usize),
}

/// A scalar between quotes.
pub(super) struct Quoted {
    /// One past the closing quote.
    pub(super) end: usize,
    /// Whether the text has no escapes or line breaks; otherwise its value is in the buffer.
    pub(super) is_verbatim: bool,
    pub(super) is_one_line: bool,
}

impl PlainReader<'_> {
    /// The end of the plain scalar that starts here, or of its first line, without the spaces after it.
    pub(super) fn plain(&self, start: usize) -> Option<(usize, LineEnd)> {
        may_start_plain(self.byte(start), self.byte(start + 1)).then(|| self.plain_line(start + 1))?
    }

    /// Emits the plain scalar whose first line is known, with the lines that continue it.
    pub(super) fn emit_plain(&mut self, start: usize, end: usize, stop: &LineEnd) -> Option<()> {
        self.at = end;
        let is_over = matches!(stop, LineEnd::Comment) || self.next_plain_line(end).is_none();
        if is_over {
            return self.emit(start..end, Style::Plain);
        }
        self.buffer.clear();
        self.buffer.push_str(&self.text[start..end]);
        while let Some((breaks, line)) = self.next_plain_line(self.at) {
            let (end, stop) = self.plain_line(line)?;
            if matches!(stop, LineEnd::Colon(_)) {
                return None;
            }
            self.push_folded(breaks);
            self.buffer.push_str(&self.text[line..end]);
            self.at = end;
            if matches!(stop, LineEnd::Comment) {
                break;
            }
        }
        self.end = self.at;
        self.composer.scalar(&self.buffer, Style::Plain, start..self.at, Properties::default()).ok()
    }

    /// The offset at which a plain scalar continues on another line, if it does, and the number of line breaks before it.
    fn next_plain_line(&self, end: usize) -> Option<(usize, usize)> {
        let (mut breaks, mut line, mut at) = (0, end, end);
        loop {
            while self.byte(at) == b' ' {
                at += 1;
            }
            if *self.bytes.get(at)? != b'\n' {
                break;
            }
            breaks += 1;
            line = at + 1;
            at = line;
        }
        let is_deeper = breaks > 0 && self.levels.last().is_some_and(|level| at - line > level.column);
        (is_deeper && self.byte(at) != b'#').then_some((breaks, at))
    }

    fn plain_line(&self, start: usize) -> Option<(usize, LineEnd)> {
        let mut at = start;
        let stop = loop {
            match self.byte(at) {
                b'\n' => break LineEnd::Line,
                b':' if self.is_blank(at + 1) => break LineEnd::Colon(at),
                b'#' if self.byte(at - 1) == b' ' => break LineEnd::Comment,
                b'\t' => return None,
                _ => at += 1,
            }
        };
        while self.byte(at - 1) == b' ' {
            at -= 1;
        }
        Some((at, stop))
    }

    /// The quoted scalar that starts here.
    pub(super) fn quoted(&mut self, quote: u8) -> Option<Quoted> {
        let start = self.at + 1;
        let mut at = start;
        loop {
            match self.bytes.get(at)? {
                b'\n' | b'\\' => break,
                &byte if byte == quote => {
                    if quote == b'\'' && self.byte(at + 1) == quote {
                        break;
                    }
                    return Some(Quoted { end: at + 1, is_verbatim: true, is_one_line: true });
                }
                _ => at += 1,
            }
        }
        self.buffer.clear();
        let (end, is_one_line) = self.unquoted(quote, start)?;
        Some(Quoted { end, is_verbatim: false, is_one_line })
    }

    /// Decodes a text with escapes or line breaks into the buffer.
    fn unquoted(&mut self, quote: u8, start: usize) -> Option<(usize, bool)> {
        let mut is_one_line = true;
        let mut from = start;
        let mut at = start;
        loop {
            match *self.bytes.get(at)? {
                b'\n' => {
                    is_one_line = false;
                    let line = self.text[from..at].trim_end_matches(' ');
                    self.buffer.push_str(line);
                    let (breaks, next) = self.next_quoted_line(at)?;
                    self.push_folded(breaks);
                    at = next;
                    from = at;
                }
                b'\\' if quote == b'"' && self.byte(at + 1) == b'\n' => {
                    is_one_line = false;
                    self.buffer.push_str(&self.text[from..at]);
                    let (breaks, next) = self.next_quoted_line(at + 1)?;
                    self.buffer.extend(std::iter::repeat_n('\n', breaks - 1));
                    at = next;
                    from = at;
                }
                b'\\' if quote == b'"' => {
                    self.buffer.push_str(&self.text[from..at]);
                    self.buffer.push(escape(self.byte(at + 1))?);
                    at += 2;
                    from = at;
                }
                byte if byte == quote => {
                    self.buffer.push_str(&self.text[from..at]);
                    at += 1;
                    if quote == b'"' || self.byte(at) != quote {
                        return Some((at, is_one_line));
                    }
                    // Two single quotes are one.
                    from = at;
                    at += 1;
                }
                // A tab before a line break would have to be trimmed.
                b'\t' if self.is_blank(at + 1) => return None,
                _ => at += 1,
            }
        }
    }

    /// The offset at which the text continues after the line breaks that start here, and their number.
    fn next_quoted_line(&mut self, mut at: usize) -> Option<(usize, usize)> {
        let mut breaks = 0;
        let mut line = at;
        while *self.bytes.get(at)? == b'\n' {
            breaks += 1;
            line = at + 1;
            at = line;
            while self.byte(at) == b' ' {
                at += 1;
            }
        }
        let is_inside = self.levels.last().is_some_and(|level| at - line > level.column);
        if !is_inside && self.is_lenient {
            self.outdented_quote.get_or_insert(self.at);
        }
        ((is_inside || self.is_lenient) && self.byte(at) != b'\t').then_some((breaks, at))
    }

    /// Folds line breaks: one is a space; of several the first is dropped.
    pub(super) fn push_folded(&mut self, breaks: usize) {
        match breaks {
            1 => self.buffer.push(' '),
            _ => self.buffer.extend(std::iter::repeat_n('\n', breaks - 1)),
        }
    }

    /// Emits the scalar that [`PlainReader::quoted`] found.
    pub(super) fn emit_quoted(&mut self, start: usize, end: usize, is_verbatim: bool) -> Option<()> {
        self.end = end;
        let text = if is_verbatim { &self.text[start + 1..end - 1] } else { self.buffer.as_str() };
        self.composer.scalar(text, Style::Quoted, start..end, Properties::default()).ok()
    }
}

/// The escapes that are common in configuration.
fn escape(name: u8) -> Option<char> {
    match name {
        b'n' => Some('\n'),
        b't' => Some('\t'),
        b' ' => Some(' '),
        b'"' => Some('"'),
        b'\\' => Some('\\'),
        b'/' => Some('/'),
        _ => None,
    }
}

/// Whether a plain scalar certainly starts with these two bytes.
pub(super) fn may_start_plain(first: u8, second: u8) -> bool {
    match first {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | 0x80.. => true,
        b'_' | b'/' | b'.' | b'$' | b'(' | b'+' | b'^' | b'~' | b'=' | b'<' | b'\\' | b';' => true,
        b'-' => matches!(second, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/'),
        _ => false,
    }
}

/// Whether a text has no character that YAML treats in a special way: controls, other line breaks, byte order marks. Tabs are checked
/// later.
pub(super) fn is_harmless(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        // Few stretches of a text have other letters than those of ASCII, if any.
        let end = (STRETCH.min(rest.len())..).find(|end| rest.is_char_boundary(*end));
        let (stretch, after) = rest.split_at(end.unwrap_or(rest.len()));
        if !is_printable_ascii(stretch) && !stretch.chars().all(is_harmless_char) {
            return false;
        }
        rest = after;
    }
    true
}

const STRETCH: usize = 1024;

fn is_printable_ascii(text: &str) -> bool {
    // Without an early exit this checks many bytes at a time.
    let is_printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    text.as_bytes().iter().fold(true, |all, byte| all & is_printable(byte))
}

fn is_harmless_char(c: char) -> bool {
    match c {
        ' '..='~' | '\n' | '\t' => true,
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => false,
        _ => c >= '\u{a0}',
    }
}
