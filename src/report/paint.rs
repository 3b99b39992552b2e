//! Painted lines, and the one gate through which they reach people.
//!
//! Text enters a [`Line`] only through [`Line::push`], which makes it visible; colour enters only when the [`Screen`] prints a
//! line. So no text from a repository can steer a terminal, whatever the layout code does with it.

use std::io;

use unicode_width::UnicodeWidthChar;

use super::style::Style;
use crate::sanitize;

/// What a piece of a line is; its colour follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing special.
    Plain,
    /// It is new.
    Added,
    /// It is gone.
    Removed,
    /// It is different.
    Changed,
    /// Moved.
    Moved,
    /// Background.
    Dim,
    /// Names what follows.
    Heading,
    /// A place in a document.
    Path,
    /// The words of an added line that are really new.
    AddedWord,
    /// The words of a removed line that are really gone.
    RemovedWord,
    /// Something is wrong.
    Alarm,
    /// It does not count.
    Struck,
}

impl Role {
    /// Parameters of the escape sequence. Only the 16 colours every terminal theme defines; added and removed differ for
    /// people who cannot distinguish red and green.
    fn sgr(self) -> &'static str {
        match self {
            Self::Plain | Self::Path => "",
            Self::Added => "36",
            Self::Removed => "31",
            Self::Changed => "33",
            Self::Moved => "35",
            Self::Dim => "2",
            Self::Heading => "1",
            Self::AddedWord => "1;7;36",
            Self::RemovedWord => "1;7;31",
            Self::Alarm => "1;31",
            Self::Struck => "2;9",
        }
    }
}

/// One line in the making.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    parts: Vec<(Role, String)>,
    width: usize,
}

impl Line {
    /// Blanks to start with.
    pub(super) fn indented(columns: usize) -> Self {
        Self::default().with(Role::Plain, &" ".repeat(columns))
    }

    /// Adds text, made visible.
    pub(super) fn push(&mut self, role: Role, text: &str) {
        if text.is_empty() {
            return;
        }
        let text = sanitize::inline(text);
        self.width += columns(&text);
        match self.parts.last_mut() {
            Some((last, piece)) if *last == role => piece.push_str(&text),
            _ => self.parts.push((role, text.into_owned())),
        }
    }

    /// The line with more text appended.
    #[must_use]
    pub(super) fn with(mut self, role: Role, text: &str) -> Self {
        self.push(role, text);
        self
    }

    /// Adds another line's pieces.
    pub(super) fn append(&mut self, other: Line) {
        self.width += other.width;
        self.parts.extend(other.parts);
    }

    /// The line with another one appended.
    #[must_use]
    pub(super) fn then(mut self, other: Line) -> Self {
        self.append(other);
        self
    }

    /// The line padded with blanks up to a column.
    #[must_use]
    pub(super) fn padded(self, to: usize) -> Self {
        let missing = to.saturating_sub(self.width);
        self.with(Role::Plain, &" ".repeat(missing))
    }

    /// How many columns it takes.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The line in pieces of at most so many columns, broken at a blank near the end of a piece, or behind a slash in its second half.
    pub(super) fn broken(self, width: usize) -> Vec<Line> {
        self.hanging(width, 0)
    }

    /// The line in pieces, all but the first indented, unless that leaves too little room.
    pub(super) fn hanging(self, width: usize, indent: usize) -> Vec<Line> {
        if self.width <= width {
            return vec![self];
        }
        let indent = if indent * 2 > width { 0 } else { indent };
        let mut room = width;
        let text = self.plain();
        let mut rest = text.as_str();
        let mut ends = Vec::new();
        while columns(rest) > room {
            let (head, _) = split_at_columns(rest, room.max(1));
            let blank = head.rfind(' ').map(|at| at + 1).filter(|at| at * 3 >= head.len() * 2);
            let blank = blank.or_else(|| head.rfind('/').map(|at| at + 1).filter(|at| at * 2 >= head.len()));
            let length = blank.unwrap_or(head.len()).max(rest.chars().next().map_or(1, char::len_utf8));
            ends.push(text.len() - rest.len() + length);
            rest = &rest[length..];
            room = width - indent;
        }
        let start = |at: usize| Line::indented(if at == 0 { 0 } else { indent });
        self.split_at_bytes(&ends).into_iter().enumerate().map(|(at, line)| start(at).then(line)).collect()
    }

    fn split_at_bytes(self, ends: &[usize]) -> Vec<Line> {
        let mut lines = vec![Line::default()];
        let (mut at, mut ends) = (0, ends.iter().copied().peekable());
        for (role, text) in self.parts {
            let mut rest = text.as_str();
            while let Some(end) = ends.next_if(|end| *end <= at + rest.len()) {
                let (head, tail) = rest.split_at(end - at);
                lines.last_mut().into_iter().for_each(|line| line.push(role, head));
                lines.push(Line::default());
                (at, rest) = (end, tail);
            }
            lines.last_mut().into_iter().for_each(|line| line.push(role, rest));
            at += rest.len();
        }
        lines.retain(|line| line.width > 0);
        lines
    }

    /// The pieces, with what each of them is.
    pub(super) fn parts(&self) -> impl Iterator<Item = (Role, &str)> {
        self.parts.iter().map(|(role, text)| (*role, text.as_str()))
    }

    /// The text without colour.
    pub(super) fn plain(&self) -> String {
        self.parts.iter().map(|(_, text)| text.as_str()).collect()
    }

    fn painted(&self) -> String {
        let mut shown = String::new();
        for (role, text) in &self.parts {
            match role.sgr() {
                "" => shown.push_str(text),
                sgr => shown.extend(["\x1b[", sgr, "m", text, "\x1b[0m"]),
            }
        }
        shown
    }

    /// Blanks at the end of a line are noise that some tools mark as errors.
    fn trim_end(&mut self) {
        while let Some((_, last)) = self.parts.last_mut() {
            last.truncate(last.trim_end_matches(' ').len());
            if !last.is_empty() {
                return;
            }
            self.parts.pop();
        }
    }
}

/// Where finished lines go.
pub(super) struct Screen<'a> {
    out: &'a mut dyn io::Write,
    style: Style,
}

impl<'a> Screen<'a> {
    /// A screen in front of a writer.
    pub(super) fn new(out: &'a mut dyn io::Write, style: &Style) -> Self {
        Self { out, style: *style }
    }

    /// Prints a line without blanks at its end; one that is too long is broken.
    pub(super) fn line(&mut self, line: Line) -> io::Result<()> {
        if line.width() == 0 {
            return self.blank();
        }
        for mut line in line.broken(self.style.columns()) {
            line.trim_end();
            self.exact_line(&line)?;
        }
        Ok(())
    }

    /// Prints a line whose blanks at the end mean something.
    pub(super) fn exact_line(&mut self, line: &Line) -> io::Result<()> {
        if self.style.in_ci {
            let plain = line.plain();
            let shown = sanitize::without_workflow_commands(&plain);
            // A line that tries to command the runner also loses its colour: escape sequences inside it would only help to
            // hide the command from this check.
            if shown != plain {
                return writeln!(self.out, "{shown}");
            }
        }
        let text = if self.style.color { line.painted() } else { line.plain() };
        writeln!(self.out, "{text}")
    }

    /// Prints an empty line.
    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Prints the finished lines of another renderer, which may hold colours but nothing else that steers a terminal.
    pub(super) fn rendered(&mut self, text: &str) -> io::Result<()> {
        for line in text.lines() {
            let line = line.trim_end();
            let plain = without_colors(line);
            let shown =
                if self.style.in_ci { sanitize::without_workflow_commands(&plain) } else { plain.as_str().into() };
            match self.style.color && shown == plain {
                true => writeln!(self.out, "{}", only_colors(line))?,
                false => writeln!(self.out, "{shown}")?,
            }
        }
        Ok(())
    }
}

/// How many columns a text takes on a terminal. Counted character by character, so that cutting and measuring agree.
pub(super) fn columns(text: &str) -> usize {
    if sanitize::is_printable_ascii(text) {
        return text.len();
    }
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The longest start of a text that fits, and the rest.
pub(super) fn split_at_columns(text: &str, width: usize) -> (&str, &str) {
    // What follows a letter of ASCII may belong to it.
    let start = text.get(..width.saturating_add(1).min(text.len()));
    if start.is_some_and(sanitize::is_printable_ascii) {
        return text.split_at(width.min(text.len()));
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > width {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// The longest end of a text that fits.
pub(super) fn end_of_columns(text: &str, width: usize) -> &str {
    if text.get(text.len().saturating_sub(width.saturating_add(1))..).is_some_and(sanitize::is_printable_ascii) {
        return &text[text.len().saturating_sub(width)..];
    }
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.width().unwrap_or(0);
        if used > width {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// A text that fits, with an ellipsis in place of its middle if something had to go.
pub(super) fn cut_middle(text: &str, width: usize, ellipsis: &str) -> Option<String> {
    if columns(text) <= width {
        return None;
    }
    let room = width.saturating_sub(columns(ellipsis));
    let (start, _) = split_at_columns(text, room.div_ceil(2));
    Some([start, ellipsis, end_of_columns(text, room / 2)].concat())
}

/// Splits a rendered line into colour sequences (true) and everything else (false).
fn pieces(line: &str) -> impl Iterator<Item = (bool, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let length = color_sequence(rest);
        let is_color = length.is_some();
        let length = length.unwrap_or_else(|| {
            let starts = rest.match_indices('\x1b').map(|(at, _)| at);
            starts.filter(|&at| at > 0).find(|&at| color_sequence(&rest[at..]).is_some()).unwrap_or(rest.len())
        });
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some((is_color, piece))
    })
}

/// The length of the colour sequence at the start of a text.
fn color_sequence(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters[end..].starts_with('m').then_some("\x1b[".len() + end + 1)
}

pub(super) fn without_colors(line: &str) -> String {
    let text: String = pieces(line).filter(|(is_color, _)| !is_color).map(|(_, text)| text).collect();
    sanitize::inline(&text).into_owned()
}

fn only_colors(line: &str) -> String {
    pieces(line).map(|(is_color, text)| if is_color { text.into() } else { sanitize::inline(text) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn printed(style: Style, line: Line) -> String {
        let mut out = Vec::new();
        Screen::new(&mut out, &style).line(line).expect("writing to memory works");
        String::from_utf8(out).expect("lines are text")
    }

    #[test]
    fn colour_appears_only_when_asked_for() {
        let line = Line::default().with(Role::Added, "+ x").with(Role::Plain, "  ");
        assert_eq!(printed(Style::default(), line.clone()), "+ x\n");
        assert_eq!(printed(Style { color: true, ..Style::default() }, line), "\x1b[36m+ x\x1b[0m\n");
    }

    #[test]
    fn a_line_that_commands_the_runner_is_broken_and_bleached() {
        let style = Style { color: true, in_ci: true, ..Style::default() };
        let line = Line::default().with(Role::Added, "##").with(Role::AddedWord, "[error]x");
        assert_eq!(printed(style, line), "##\\[error]x\n");
        let mut out = Vec::new();
        Screen::new(&mut out, &style).rendered("\x1b[31m  \x1b[0m::error::x\nok").expect("writing to memory works");
        assert_eq!(out, b"  \\::error::x\nok\n");
    }

    #[test]
    fn long_text_loses_its_middle() {
        assert_eq!(cut_middle("abcdefghij", 7, "…").as_deref(), Some("abc…hij"));
        assert_eq!(cut_middle("日本語日本語", 7, "…").as_deref(), Some("日…語"));
        assert_eq!(cut_middle("abc", 3, "…"), None);
    }

    proptest! {
        #[test]
        fn only_our_colours_pass(text in "[\\x00-\\x20\\[;m0-9a-c\u{202e}\u{9b}]{0,40}") {
            let mut out = Vec::new();
            let style = Style { color: true, ..Style::default() };
            Screen::new(&mut out, &style).rendered(&text).expect("writing to memory works");
            let shown = String::from_utf8(out).expect("lines are text");
            let bleached: String = shown.lines().flat_map(pieces).filter(|(c, _)| !c).map(|(_, text)| text).collect();
            prop_assert!(!bleached.chars().any(sanitize::is_hidden));
        }

        #[test]
        fn what_is_cut_fits(text in any::<String>(), width in 5usize..60) {
            let text = sanitize::inline(&text);
            let shown = cut_middle(&text, width, "...").unwrap_or_else(|| text.clone().into_owned());
            prop_assert!(columns(&shown) <= width);
        }
    }
}
