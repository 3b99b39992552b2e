//! Lays out old and new text: word by word for two versions of a line, in hunks for longer texts.

use std::ops::Range;

use super::paint::{Line, Role, columns};
use super::style::Symbols;
use crate::diff::text::{self, Hunk, hunks};
use crate::sanitize;

/// Options of the layout.
#[derive(Clone, Copy)]
pub(super) struct TextLayout<'a> {
    /// The columns a line may take; longer ones are broken. `None` leaves lines as they are.
    pub width: Option<usize>,
    /// Whether changed words can be marked by colour.
    pub color: bool,
    /// Whether long prose may be shortened to the sentences that changed.
    pub shortens: bool,
    /// What to draw with.
    pub symbols: &'a Symbols,
}

/// Which side of a change a line belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sign {
    /// On both sides.
    Same,
    /// Only before.
    Removed,
    /// Only after.
    Added,
}

/// Lines of unchanged text around a change.
pub(super) const CONTEXT: usize = 2;
/// More marked columns than this are seen without marks.
const MOST_MARKED_COLUMNS: usize = 24;
/// Of prose that takes more lines than this, the sentences before or after the change are left out.
const LONG_PROSE: usize = 3;
/// Fewer bytes are not worth leaving out.
const WORTH_LEAVING_OUT: usize = 60;
/// More changed lines in a row than this are easier to read without marks below each.
const MOST_MARKED_LINES: usize = 4;

impl Sign {
    /// The sign in the gutter, with its blank.
    pub(super) fn gutter(self) -> &'static str {
        match self {
            Self::Same => "  ",
            Self::Removed => "- ",
            Self::Added => "+ ",
        }
    }

    /// The role of a whole line.
    pub(super) fn role(self) -> Role {
        match self {
            Self::Same => Role::Plain,
            Self::Removed => Role::Removed,
            Self::Added => Role::Added,
        }
    }

    fn word(self) -> Role {
        match self {
            Self::Same => Role::Plain,
            Self::Removed => Role::RemovedWord,
            Self::Added => Role::AddedWord,
        }
    }
}

/// One line of the text, without its gutter, and the mark below it.
pub(super) struct Row {
    /// Which side it belongs to.
    pub sign: Sign,
    /// The text.
    pub text: Line,
    /// Carets below the changed words, where colour cannot show them.
    pub mark: Option<String>,
}

impl Row {
    /// The row in lines of at most so many columns, each with its part of the mark.
    fn broken(self, width: usize) -> Vec<Row> {
        let mut mark = self.mark.unwrap_or_default();
        // A remark is no mark, and stays whole.
        let is_remark = mark.starts_with('(');
        let lines = self.text.broken(width);
        let last = lines.len().saturating_sub(1);
        let row = |(at, text): (usize, Line)| {
            let part = match is_remark {
                true if at < last => String::new(),
                true => std::mem::take(&mut mark),
                false => mark.drain(..text.width().min(mark.len())).collect(),
            };
            let part = part.trim_end();
            Row { sign: self.sign, mark: (!part.is_empty()).then(|| part.to_owned()), text }
        };
        lines.into_iter().enumerate().map(row).collect()
    }
}

/// Rows that fit.
pub(super) fn broken(rows: impl IntoIterator<Item = Row>, text_layout: TextLayout<'_>) -> Vec<Row> {
    match text_layout.width {
        Some(width) => rows.into_iter().flat_map(|row| row.broken(width)).collect(),
        None => rows.into_iter().collect(),
    }
}

/// A text of one line and its other version, changed words marked.
pub(super) fn pair(before: &str, after: &str, text_layout: TextLayout<'_>) -> [Row; 2] {
    let shortened = sentences(before, after, text_layout);
    let (before, after) = match &shortened {
        Some((before, after)) => (before.as_str(), after.as_str()),
        None => (before, after),
    };
    let Some((old, new)) = versions(before, after) else {
        return [whole(before, Sign::Removed), whole(after, Sign::Added)];
    };
    let mut rows = [marked(&old, Sign::Removed, text_layout), marked(&new, Sign::Added, text_layout)];
    // One mark is enough: below the new line, or below the old one if words only disappeared.
    if rows[1].mark.is_some() {
        rows[0].mark = None;
    }
    rows
}

/// Long prose without the sentences before the change, or without those after it: whichever is longer.
fn sentences(before: &str, after: &str, text_layout: TextLayout<'_>) -> Option<(String, String)> {
    let width = text_layout.width.filter(|_| text_layout.shortens)?;
    let is_long = |text: &str| columns(text) > width.saturating_mul(LONG_PROSE) && text.contains(". ");
    if !is_long(before) && !is_long(after) {
        return None;
    }
    let ellipsis = text_layout.symbols.ellipsis;
    let (old, _) = ends(before, after);
    let start = old.first().filter(|(is_changed, _)| !is_changed).map_or("", |(_, text)| text);
    let end = old.last().filter(|(is_changed, _)| !is_changed && old.len() > 1).map_or("", |(_, text)| text);
    let head = start.rfind(". ").map_or(0, |at| at + 2);
    let tail = end.find(". ").map_or(0, |at| end.len() - at - 1);
    if head.max(tail) < WORTH_LEAVING_OUT {
        return None;
    }
    let kept = |text: &str| match head >= tail {
        true => format!("{ellipsis} {}", &text[head..]),
        false => format!("{} {ellipsis}", &text[..text.len() - tail]),
    };
    Some((kept(before), kept(after)))
}

/// A text in pieces that stayed (false) and pieces that changed (true).
type Pieces = Vec<(bool, String)>;

/// The kept and changed pieces of two versions of a line; `None` if marks would not help.
fn versions(before: &str, after: &str) -> Option<(Pieces, Pieces)> {
    let words = text::words(before, after);
    if !words.before.is_empty() || !words.after.is_empty() {
        return Some((pieces(before, &words.before), pieces(after, &words.after)));
    }
    // An image or an address is one long word.
    let by_ends = ends(before, after);
    is_similar(&by_ends).then_some(by_ends)
}

/// A text cut at the borders of what changed in it.
fn pieces(text: &str, changed: &[Range<usize>]) -> Pieces {
    let mut pieces = Pieces::new();
    let mut at = 0;
    for range in changed {
        pieces.push((false, text[at..range.start].to_owned()));
        pieces.push((true, text[range.clone()].to_owned()));
        at = range.end;
    }
    pieces.push((false, text[at..].to_owned()));
    pieces.retain(|(_, text)| !text.is_empty());
    pieces
}

/// What two texts share at their start and at their end.
fn ends(before: &str, after: &str) -> (Pieces, Pieces) {
    let start: usize = before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let rest = before[start..].chars().rev().zip(after[start..].chars().rev());
    let end: usize = rest.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let split = |text: &str| {
        let (middle, end) = text[start..].split_at(text.len() - start - end);
        let parts = [(false, &text[..start]), (true, middle), (false, end)];
        parts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(mark, text)| (mark, text.to_owned())).collect()
    };
    (split(before), split(after))
}

/// A line without marks.
pub(super) fn whole(text: &str, sign: Sign) -> Row {
    let text = sanitize::inline(&untabbed(text, 0)).into_owned();
    Row { sign, text: Line::default().with(sign.role(), &text), mark: None }
}

/// The changed parts of a text: for each hunk, the line it starts at (from 1) and its rows.
pub(super) fn passages(before: &str, after: &str, text_layout: TextLayout<'_>) -> Vec<(usize, Vec<Row>)> {
    let is_end_changed = before.ends_with('\n') != after.ends_with('\n');
    let hunks = hunks(before, after, CONTEXT);
    hunks.into_iter().map(|hunk| (hunk.after.start + 1, rows(&hunk, is_end_changed, text_layout))).collect()
}

fn rows(hunk: &Hunk<'_>, is_end_changed: bool, text_layout: TextLayout<'_>) -> Vec<Row> {
    let is_same = |line: &text::Line<'_>| line.before.is_some() && line.after.is_some();
    let mut rows = Vec::with_capacity(hunk.lines.len());
    for run in hunk.lines.chunk_by(|a, b| is_same(a) == is_same(b)) {
        match run {
            [first, ..] if is_same(first) => rows.extend(run.iter().map(|line| whole(line.text, Sign::Same))),
            _ => rows.extend(replaced(run, is_end_changed, text_layout)),
        }
    }
    rows
}

/// Removed lines and the added lines in their place.
fn replaced(run: &[text::Line<'_>], is_end_changed: bool, text_layout: TextLayout<'_>) -> Vec<Row> {
    let (old, new): (Vec<_>, Vec<_>) = run.iter().partition(|line| line.before.is_some());
    let (mut removed, mut added): (Vec<Row>, Vec<Row>) = if old.len() == new.len() {
        old.iter()
            .zip(&new)
            .map(|(old, new)| pair(old.text, new.text, text_layout))
            .map(|[old, new]| (old, new))
            .unzip()
    } else {
        let row = |line: &text::Line<'_>, sign| match line.emphasis.as_slice() {
            [] => whole(line.text, sign),
            emphasis => marked(&pieces(line.text, emphasis), sign, text_layout),
        };
        (
            old.iter().map(|line| row(line, Sign::Removed)).collect(),
            new.iter().map(|line| row(line, Sign::Added)).collect(),
        )
    };
    let is_crowded = removed.len().max(added.len()) > MOST_MARKED_LINES;
    if is_crowded || added.iter().any(|row| row.mark.is_some()) {
        removed.iter_mut().for_each(|row| row.mark = None);
    }
    if is_crowded {
        added.iter_mut().for_each(|row| row.mark = None);
    }
    for (row, line) in removed.iter_mut().chain(&mut added).zip(old.into_iter().chain(new)) {
        if is_end_changed && !line.has_line_feed {
            row.mark = Some("(no newline at end of file)".to_owned());
        }
    }
    removed.append(&mut added);
    removed
}

/// Whether enough stayed for marks to help: where nearly every word is new, marks are only noise.
fn is_similar((old, new): &(Pieces, Pieces)) -> bool {
    let kept: usize = old.iter().filter(|(changed, _)| !changed).map(|(_, text)| text.trim().len()).sum();
    let all = |words: &Pieces| words.iter().map(|(_, text)| text.trim().len()).sum::<usize>();
    kept * 5 >= all(old).max(all(new)) * 2
}

fn marked(words: &Pieces, sign: Sign, text_layout: TextLayout<'_>) -> Row {
    let shown = visible_words(words, text_layout.symbols);
    let mut text = Line::default();
    let mut mark = String::new();
    for (is_changed, word) in &shown {
        text.push(if *is_changed { sign.word() } else { sign.role() }, word);
        mark.push_str(&if *is_changed { "^" } else { " " }.repeat(columns(word)));
    }
    let mark = mark.trim_end();
    let marked = mark.chars().filter(|c| *c == '^').count();
    let is_useful = !text_layout.color && (1..=MOST_MARKED_COLUMNS).contains(&marked);
    let mark = is_useful.then(|| mark.to_owned());
    Row { sign, text, mark }
}

/// Pieces made visible, neighbours of a kind joined; blanks that were added or removed at an end become dots.
fn visible_words(words: &Pieces, symbols: &Symbols) -> Pieces {
    let mut shown = Pieces::new();
    let mut column = 0;
    for (is_changed, word) in words {
        let mut word = if *is_changed {
            sanitize::inline(word).into_owned()
        } else {
            sanitize::inline(&untabbed(word, column)).into_owned()
        };
        if *is_changed && word.trim().is_empty() {
            word = word.replace(' ', symbols.space);
        }
        column += columns(&word);
        match shown.last_mut() {
            Some((last, text)) if last == is_changed => text.push_str(&word),
            _ => shown.push((*is_changed, word)),
        }
    }
    shown
}

/// Tabs as blanks, to the next multiple of four.
fn untabbed(text: &str, start: usize) -> String {
    if !text.contains('\t') {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len() + 12);
    let mut column = start;
    for c in text.chars() {
        let blanks = 4 - column % 4;
        match c {
            '\t' => shown.extend(std::iter::repeat_n(' ', blanks)),
            c => shown.push(c),
        }
        column += if c == '\t' { blanks } else { columns(c.encode_utf8(&mut [0; 4])) };
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::style::Style;
    use proptest::prelude::*;

    fn text_layout(width: usize) -> TextLayout<'static> {
        TextLayout { width: Some(width), color: false, shortens: true, symbols: Style::default().symbols() }
    }

    fn shown(rows: &[Row]) -> Vec<String> {
        let mut lines = Vec::new();
        for row in rows {
            lines.push(format!("{}{}", row.sign.gutter(), row.text.plain()));
            lines.extend(row.mark.as_ref().map(|mark| format!("  {mark}")));
        }
        lines
    }

    #[test]
    fn changed_words_are_marked_below_the_new_line() {
        assert_eq!(
            shown(&pair("workers 4 of 9", "workers 8 of 9", text_layout(40))),
            ["- workers 4 of 9", "+ workers 8 of 9", "          ^",]
        );
        assert_eq!(shown(&pair("something", "else", text_layout(40))), ["- something", "+ else"]);
        assert_eq!(
            shown(&pair("example.com/web:1.4.0", "example.com/web:1.5.0", text_layout(40))),
            ["- example.com/web:1.4.0", "+ example.com/web:1.5.0", "                  ^^^^^",]
        );
    }

    #[test]
    fn long_lines_are_broken_with_their_marks() {
        let rows = pair("one two three 4 five", "one two three 8 five", text_layout(10));
        let expected = ["- one two ", "- three 4 ", "- five", "+ one two ", "+ three 8 ", "        ^", "+ five"];
        assert_eq!(shown(&broken(rows, text_layout(10))), expected);
    }

    #[test]
    fn of_long_prose_only_the_changed_sentence_is_shown() {
        let lead = "This sentence says something that does not change at all, at some length. ".repeat(3);
        let rows = pair(&format!("{lead}It is old."), &format!("{lead}It is new."), text_layout(40));
        assert_eq!(shown(&rows), ["- … It is old.", "+ … It is new.", "          ^^^"]);
    }

    proptest! {
        #[test]
        fn rows_fit(before in "[a-c \\t日\\x1b]{0,80}", after in "[a-c \\t日\\x1b]{0,80}", width in 10usize..50) {
            let rows = pair(&before, &after, text_layout(width));
            for row in broken(rows, text_layout(width)) {
                prop_assert!(row.text.width() <= width, "{:?}", row.text.plain());
            }
        }
    }
}
