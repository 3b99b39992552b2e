//! Lays out old and new text: word by word for two versions of a line, in hunks for longer texts.

use std::ops::Range;

use super::paint::{Line, Role, columns, cut_middle, end_of_columns, split_at_columns};
use super::style::Symbols;
use crate::diff::text::{self, Hunk, hunks};
use crate::sanitize;

/// Options of the layout.
#[derive(Clone, Copy)]
pub(super) struct TextLayout<'a> {
    /// The columns a line may take; `None` shows lines whole.
    pub width: Option<usize>,
    /// Whether changed words can be marked by colour.
    pub color: bool,
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
const CONTEXT: usize = 2;
/// The columns of unchanged text that stay around a changed word even where a line is far too long.
const KEPT_AT_LEAST: usize = 3;
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
    /// Whether part of the text was left out.
    pub is_cut: bool,
}

/// A text of one line and its other version, changed words marked.
pub(super) fn pair(before: &str, after: &str, text_layout: TextLayout<'_>) -> [Row; 2] {
    let Some((old, new)) = versions(before, after, text_layout) else {
        return [whole(before, Sign::Removed, text_layout), whole(after, Sign::Added, text_layout)];
    };
    let mut rows = [marked(&old, Sign::Removed, text_layout), marked(&new, Sign::Added, text_layout)];
    // One mark is enough: below the new line, or below the old one if words only disappeared.
    if rows[1].mark.is_some() {
        rows[0].mark = None;
    }
    rows
}

/// A text in pieces that stayed (false) and pieces that changed (true).
type Pieces = Vec<(bool, String)>;

/// The kept and changed pieces of two versions of a line; `None` if marks would not help.
fn versions(before: &str, after: &str, text_layout: TextLayout<'_>) -> Option<(Pieces, Pieces)> {
    let words = text::words(before, after);
    if !words.before.is_empty() || !words.after.is_empty() {
        return Some((pieces(before, &words.before), pieces(after, &words.after)));
    }
    // An image or an address is one long word; and a line that must be cut must not lose the part that differs.
    let by_ends = ends(before, after);
    let is_long = text_layout.width.is_some_and(|width| columns(before).max(columns(after)) > width);
    (is_long || is_similar(&by_ends)).then_some(by_ends)
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
pub(super) fn whole(text: &str, sign: Sign, text_layout: TextLayout<'_>) -> Row {
    let text = sanitize::inline(&untabbed(text, 0)).into_owned();
    let cut = text_layout.width.and_then(|width| cut_middle(&text, width, text_layout.symbols.ellipsis));
    let is_cut = cut.is_some();
    let text = Line::default().with(sign.role(), &cut.unwrap_or(text));
    Row { sign, text, mark: None, is_cut }
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
            [first, ..] if is_same(first) => {
                rows.extend(run.iter().map(|line| whole(line.text, Sign::Same, text_layout)))
            }
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
            [] => whole(line.text, sign, text_layout),
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
    let mut shown = visible_words(words, text_layout.symbols);
    let mut is_cut = false;
    if let Some(width) = text_layout.width {
        is_cut = fit(&mut shown, width, text_layout.symbols.ellipsis);
    }
    let mut text = Line::default();
    let mut mark = String::new();
    for (is_changed, word) in &shown {
        text.push(if *is_changed { sign.word() } else { sign.role() }, word);
        mark.push_str(&if *is_changed { "^" } else { " " }.repeat(columns(word)));
    }
    let mark = mark.trim_end();
    let mark = (!text_layout.color && !mark.is_empty()).then(|| mark.to_owned());
    Row { sign, text, mark, is_cut }
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

/// Shortens pieces to fit: unchanged text first, then the middle of long changed words. Returns whether something was cut.
fn fit(words: &mut Pieces, width: usize, ellipsis: &str) -> bool {
    let total = |words: &Pieces| words.iter().map(|(_, text)| columns(text)).sum::<usize>();
    if total(words) <= width {
        return false;
    }
    let last = words.len() - 1;
    let shorten = |words: &Pieces, kept: usize| -> Pieces {
        let piece = |(at, (is_changed, text)): (usize, &(bool, String))| {
            if *is_changed {
                (true, text.clone())
            } else {
                (false, shortened(text, kept, at == 0, at == last, ellipsis))
            }
        };
        words.iter().enumerate().map(piece).collect()
    };
    // The most text that can be kept around each changed word; less than the minimum is not worth cutting.
    let (mut least, mut most) = (KEPT_AT_LEAST, width);
    while least < most {
        let kept = (least + most).div_ceil(2);
        if total(&shorten(words, kept)) <= width {
            least = kept;
        } else {
            most = kept - 1;
        }
    }
    *words = shorten(words, least);
    if total(words) <= width {
        return true;
    }
    let changed = words.iter().filter(|(is_changed, _)| *is_changed).count().max(1);
    let kept: usize = words.iter().filter(|(is_changed, _)| !is_changed).map(|(_, text)| columns(text)).sum();
    let share = width.saturating_sub(kept) / changed;
    for (_, text) in words.iter_mut().filter(|(is_changed, _)| *is_changed) {
        if let Some(cut) = cut_middle(text, share.max(columns(ellipsis) + 2), ellipsis) {
            *text = cut;
        }
    }
    if total(words) > width {
        let plain: String = words.iter().map(|(_, text)| text.as_str()).collect();
        *words = vec![(false, cut_middle(&plain, width, ellipsis).unwrap_or(plain))];
    }
    true
}

/// Unchanged text, shortened to the part next to a changed word.
fn shortened(text: &str, kept: usize, is_first: bool, is_last: bool, ellipsis: &str) -> String {
    let before = if is_first { "" } else { split_at_columns(text, kept).0 };
    let after = if is_last { "" } else { end_of_columns(text, kept) };
    if columns(before) + columns(after) + columns(ellipsis) >= columns(text) {
        return text.to_owned();
    }
    [before, ellipsis, after].concat()
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
        TextLayout { width: Some(width), color: false, symbols: Style::default().symbols() }
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
    fn unchanged_text_gives_way_to_the_changed_words() {
        let long = "x".repeat(60);
        let rows = pair(&format!("{long} 1 {long}"), &format!("{long} 2 {long}"), text_layout(40));
        assert_eq!(
            shown(&rows),
            [
                "- …xxxxxxxxxxxxxxxxx 1 xxxxxxxxxxxxxxxxx…",
                "+ …xxxxxxxxxxxxxxxxx 2 xxxxxxxxxxxxxxxxx…",
                "                     ^",
            ]
        );
        assert!(rows.iter().all(|row| row.is_cut));
    }

    proptest! {
        #[test]
        fn rows_fit(before in "[a-c \\t日\\x1b]{0,80}", after in "[a-c \\t日\\x1b]{0,80}", width in 10usize..50) {
            for row in pair(&before, &after, text_layout(width)) {
                prop_assert!(row.text.width() <= width, "{:?}", row.text.plain());
            }
        }
    }
}
