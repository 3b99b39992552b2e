//! Block scalars, literal and folded, without an indentation indicator.

use crate::document::compose::Properties;
use crate::document::scalar::Style;

use super::PlainReader;

impl PlainReader<'_> {
    /// The block scalar whose `|` or `>` is here.
    pub(super) fn block(&mut self) -> Option<()> {
        self.take_value_slot()?;
        let start = self.at;
        let is_folded = self.byte(start) == b'>';
        let chomping = self.byte(start + 1);
        self.at += 1 + usize::from(matches!(chomping, b'-' | b'+'));
        self.end_line()?;
        let parent = self.levels.last()?.column;
        let indent = self.block_indent().filter(|&indent| indent > parent)?;
        self.buffer.clear();
        let breaks = self.block_lines(indent, is_folded)?;
        let kept = match chomping {
            b'-' => 0,
            b'+' => breaks,
            _ => breaks.min(1),
        };
        self.buffer.extend(std::iter::repeat_n('\n', kept));
        self.end = self.at;
        self.composer.scalar(&self.buffer, Style::Block, start..self.end, Properties::default()).ok()
    }

    /// The indentation of the first line with text; blank lines before it must not be indented further.
    fn block_indent(&self) -> Option<usize> {
        let mut line = self.at;
        let mut widest = 0;
        loop {
            let spaces = self.bytes.get(line..)?.iter().take_while(|&&byte| byte == b' ').count();
            match self.bytes.get(line + spaces)? {
                b'\n' => widest = widest.max(spaces),
                b'\t' => return None,
                _ => return (spaces >= widest).then_some(spaces),
            }
            line += spaces + 1;
        }
    }

    /// Collects the lines in the buffer and returns the number of line breaks after the last one.
    fn block_lines(&mut self, indent: usize, is_folded: bool) -> Option<usize> {
        let mut breaks = 0;
        // Lines that are indented further are not folded, nor are the blank lines before the first.
        let mut was_deeper = true;
        while self.at < self.bytes.len() {
            let line = self.at;
            while self.at - line < indent && self.byte(self.at) == b' ' {
                self.at += 1;
            }
            match self.byte(self.at) {
                // Blanks at the end of the text are not a line.
                b'\n' if self.at >= self.bytes.len() => return None,
                b'\n' => {
                    breaks += 1;
                    self.at += 1;
                    continue;
                }
                b'\t' if self.at - line < indent => return None,
                _ if self.at - line < indent => {
                    self.at = line;
                    break;
                }
                _ => {}
            }
            let is_deeper = matches!(self.byte(self.at), b' ' | b'\t');
            if is_folded && !is_deeper && !was_deeper {
                self.push_folded(breaks);
            } else {
                self.buffer.extend(std::iter::repeat_n('\n', breaks));
            }
            let text = self.at;
            self.skip_line();
            // A last line without a line break ends in none, unless it is blank.
            breaks = usize::from(self.at <= self.bytes.len());
            if breaks == 0 && self.text[text..self.bytes.len()].trim_end().is_empty() {
                return None;
            }
            was_deeper = is_deeper;
            self.buffer.push_str(self.text[text..self.at.min(self.bytes.len())].trim_end_matches('\n'));
        }
        self.at = self.at.min(self.bytes.len());
        Some(breaks)
    }
}
