//! Compares texts line by line, and lines word by word.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use similar::{Algorithm, ChangeTag, DiffOp, InlineChangeOptions, TextDiff, capture_diff_slices, group_diff_ops};

use super::options::TextThresholds;
use crate::value::align;

/// A run of lines around a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk<'a> {
    /// The lines of `before` it covers, counted from 0.
    pub before: Range<usize>,
    /// The lines of `after` it covers, counted from 0.
    pub after: Range<usize>,
    /// All of its lines; of those that replace each other, first the old, then the new.
    pub lines: Vec<Line<'a>>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    /// Its number on each side, counted from 1; a line on both sides is context, one only before is gone, one only after is new.
    pub before: Option<usize>,
    /// Its number after.
    pub after: Option<usize>,
    /// The text of the line, without its line feed.
    pub text: &'a str,
    /// The parts that changed, as byte ranges of `text`, where only parts did.
    pub emphasis: Vec<Range<usize>>,
    /// Whether a line feed ends it; only the last line of a text may lack one.
    pub has_line_feed: bool,
}

/// The parts of two short texts that differ, as byte ranges.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words {
    /// In the text before.
    pub before: Vec<Range<usize>>,
    /// In the text after.
    pub after: Vec<Range<usize>>,
}

/// The changed lines of two texts, with `context` unchanged ones around them.
///
/// Bounded by size, never by time: long texts are aligned more coarsely, and large changes are not marked word by word.
pub fn hunks<'a>(before: &'a str, after: &'a str, context: usize) -> Vec<Hunk<'a>> {
    let before_lines: Vec<&str> = before.split_inclusive('\n').collect();
    let after_lines: Vec<&str> = after.split_inclusive('\n').collect();
    let is_changed = |group: &Vec<DiffOp>| group.iter().any(|op| !matches!(op, DiffOp::Equal { .. }));
    let groups = group_diff_ops(line_ops(&before_lines, &after_lines), context).into_iter().filter(is_changed);
    let mut left_to_mark = MARKED_IN_ALL;
    groups.map(|ops| hunk(&ops, &before_lines, &after_lines, &mut left_to_mark)).collect()
}

/// The words that differ between two single lines; empty if they have less than half in common.
pub fn words(before: &str, after: &str) -> Words {
    let (old, new) = ([before], [after]);
    let mut words = Words::default();
    for line in emphasised(&old, &new) {
        match line {
            (Some(_), emphasis) => words.before = emphasis,
            (None, emphasis) => words.after = emphasis,
        }
    }
    words
}

/// Whether two strings are worth comparing line by line.
pub(super) fn is_text(before: &str, after: &str, thresholds: TextThresholds) -> bool {
    if !before.contains('\n') && !after.contains('\n') {
        return false;
    }
    let is_blank = |line: &&str| line.trim().is_empty();
    let lines: HashSet<&str> = before.split_inclusive('\n').filter(|line| !is_blank(line)).collect();
    let mut shared: HashSet<&str> = HashSet::new();
    after.split_inclusive('\n').any(|line| {
        if lines.contains(line) {
            shared.insert(line);
        }
        shared.len() >= thresholds.shared_lines.max(1)
    })
}

/// Lines of both sides together up to which `similar` aligns them, with its care for readable borders.
const WELL_ALIGNED: usize = 64 * 1024;
/// Bytes of both sides of a replaced block up to which its words are compared, and of all blocks of a text.
const MARKED: usize = 16 * 1024;
const MARKED_IN_ALL: usize = 512 * 1024;

fn line_ops(before: &[&str], after: &[&str]) -> Vec<DiffOp> {
    let (before, after) = numbered(before, after);
    if before.len() + after.len() <= WELL_ALIGNED {
        return capture_diff_slices(Algorithm::Histogram, &before, &after);
    }
    let mut ops = Vec::new();
    let (mut from_before, mut from_after) = (0, 0);
    let end = (before.len(), after.len());
    for (to_before, to_after) in align::align(&before, &after).into_iter().chain([end]) {
        let (old_len, new_len) = (to_before - from_before, to_after - from_after);
        let (old_index, new_index) = (from_before, from_after);
        match (old_len, new_len) {
            (0, 0) => {}
            (_, 0) => ops.push(DiffOp::Delete { old_index, old_len, new_index }),
            (0, _) => ops.push(DiffOp::Insert { old_index, new_index, new_len }),
            _ => ops.push(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        }
        if (to_before, to_after) == end {
            break;
        }
        match ops.last_mut() {
            Some(DiffOp::Equal { len, .. }) => *len += 1,
            _ => ops.push(DiffOp::Equal { old_index: to_before, new_index: to_after, len: 1 }),
        }
        (from_before, from_after) = (to_before + 1, to_after + 1);
    }
    ops
}

/// Equal lines get equal numbers.
fn numbered<'a>(before: &[&'a str], after: &[&'a str]) -> (Vec<u32>, Vec<u32>) {
    let mut known: HashMap<&'a str, u32> = HashMap::new();
    let mut number = |&line: &&'a str| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(line).or_insert(next)
    };
    let before = before.iter().map(&mut number).collect();
    (before, after.iter().map(number).collect())
}

fn hunk<'a>(ops: &[DiffOp], before: &[&'a str], after: &[&'a str], left_to_mark: &mut usize) -> Hunk<'a> {
    let mut lines = Vec::new();
    for op in ops {
        let (old, new) = (op.old_range(), op.new_range());
        if matches!(op, DiffOp::Equal { .. }) {
            lines.extend(old.zip(new).map(|(b, a)| line(before[b], Some(b), Some(a), Vec::new())));
            continue;
        }
        let (old_lines, new_lines) = (&before[old.clone()], &after[new.clone()]);
        let bytes: usize = old_lines.iter().chain(new_lines).map(|line| line.len()).sum();
        let marks = if bytes <= *left_to_mark { emphasised(old_lines, new_lines) } else { Vec::new() };
        *left_to_mark = left_to_mark.saturating_sub(bytes);
        let mut marks = marks.into_iter().map(|(_, emphasis)| emphasis);
        lines.extend(old.map(|b| line(before[b], Some(b), None, marks.next().unwrap_or_default())));
        lines.extend(new.map(|a| line(after[a], None, Some(a), marks.next().unwrap_or_default())));
    }
    let range = |ranges: Vec<Range<usize>>| match (ranges.first(), ranges.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => 0..0,
    };
    Hunk {
        before: range(ops.iter().map(DiffOp::old_range).collect()),
        after: range(ops.iter().map(DiffOp::new_range).collect()),
        lines,
    }
}

fn line(text: &str, before: Option<usize>, after: Option<usize>, emphasis: Vec<Range<usize>>) -> Line<'_> {
    let (text, has_line_feed) = text.strip_suffix('\n').map_or((text, false), |text| (text, true));
    Line { before: before.map(|at| at + 1), after: after.map(|at| at + 1), text, emphasis, has_line_feed }
}

/// What changed in lines that replace each other: each old line by its position, then each new one.
fn emphasised(old: &[&str], new: &[&str]) -> Vec<(Option<usize>, Vec<Range<usize>>)> {
    let nothing = || {
        let old_lines = (0..old.len()).map(|at| (Some(at), Vec::new()));
        old_lines.chain(new.iter().map(|_| (None, Vec::new()))).collect()
    };
    let bytes: usize = old.iter().chain(new).map(|line| line.len()).sum();
    if old.is_empty() || new.is_empty() || bytes > MARKED {
        return nothing();
    }
    let diff = TextDiff::from_slices(old, new);
    let whole = DiffOp::Replace { old_index: 0, old_len: old.len(), new_index: 0, new_len: new.len() };
    let mut options = InlineChangeOptions::new();
    options.semantic_cleanup(true);
    let mut marked: Vec<_> = diff
        // The size is bounded above; the clock must not decide what is shown.
        .iter_inline_changes_with_options_deadline(&whole, options, None)
        .map(|change| {
            let ranges = changed_ranges(change.values());
            (change.old_index().filter(|_| change.tag() == ChangeTag::Delete), ranges)
        })
        .collect();
    if marked.len() != old.len() + new.len() {
        return nothing();
    }
    if old.len() == new.len() {
        let (before, after) = marked.split_at_mut(old.len());
        for (at, ((_, before), (_, after))) in before.iter_mut().zip(after).enumerate() {
            leave_out_shared_parts(old[at], before, new[at], after);
        }
    }
    marked
}

/// Leaves out what changed words have in common, if each has its counterpart in the other line.
fn leave_out_shared_parts(old: &str, before: &mut [Range<usize>], new: &str, after: &mut [Range<usize>]) {
    if before.len() == after.len() {
        for (before, after) in before.iter_mut().zip(after) {
            let (start, end) = shared_parts(&old[before.clone()], &new[after.clone()]);
            *before = before.start + start..before.end - end;
            *after = after.start + start..after.end - end;
        }
    }
}

/// How much two words have in common at their start and at their end, in whole parts: `metrics:` of `metrics:v1.2` and `metrics:v1.3`.
fn shared_parts(before: &str, after: &str) -> (usize, usize) {
    let ends_part = |c: char| matches!(c, ':' | '/' | '@' | '=' | ',');
    let length = |shared: &mut dyn Iterator<Item = (char, char)>| {
        let (mut parts, mut length) = (0, 0);
        for (c, _) in shared.take_while(|(a, b)| a == b) {
            length += c.len_utf8();
            parts = if ends_part(c) { length } else { parts };
        }
        parts
    };
    let start = length(&mut before.chars().zip(after.chars()));
    let end = length(&mut before[start..].chars().rev().zip(after[start..].chars().rev()));
    (start, end)
}

/// The changed parts of a line; none if nothing of it stayed, because then there is nothing to point out.
fn changed_ranges(parts: &[(bool, &str)]) -> Vec<Range<usize>> {
    let mut at = 0;
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut has_stayed = false;
    for (is_changed, part) in parts {
        let range = at..at + part.len();
        at = range.end;
        has_stayed |= !is_changed && !part.trim().is_empty();
        match ranges.last_mut() {
            _ if !is_changed => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        }
    }
    if has_stayed { ranges } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Each line with its sign, changed parts in brackets.
    fn shown(before: &str, after: &str, context: usize) -> Vec<String> {
        let line = |line: &Line<'_>| {
            let sign = match (line.before, line.after) {
                (Some(_), Some(_)) => ' ',
                (Some(_), None) => '-',
                _ => '+',
            };
            let mut text = line.text.to_owned();
            for range in line.emphasis.iter().rev() {
                text.insert(range.end, ']');
                text.insert(range.start, '[');
            }
            format!("{sign}{text}{}", if line.has_line_feed { "" } else { "$" })
        };
        hunks(before, after, context).iter().flat_map(|hunk| hunk.lines.iter().map(line)).collect()
    }

    #[test]
    fn changed_lines_stand_in_their_context_with_changed_words_marked() {
        let before = "listen 8080\nworkers 4\ncache on\nlog off\n";
        let after = "listen 8080\nworkers 8\ncache on\nlog off\n";
        assert_eq!(shown(before, after, 1), [" listen 8080", "-workers [4]", "+workers [8]", " cache on"]);
        let hunk = &hunks(before, after, 1)[0];
        assert_eq!((hunk.before.clone(), hunk.after.clone()), (0..3, 0..3));
        assert_eq!((hunk.lines[1].before, hunk.lines[2].after), (Some(2), Some(2)));
    }

    #[test]
    fn far_changes_are_hunks_of_their_own() {
        let before: String = (0..30).map(|at| format!("line {at}\n")).collect();
        let after = before.replace("line 3\n", "line three\n").replace("line 25\n", "");
        let hunks = hunks(&before, &after, 2);
        assert_eq!(hunks.len(), 2);
        assert_eq!((hunks[1].before.clone(), hunks[1].after.clone()), (23..28, 23..27));
    }

    #[test]
    fn the_end_of_a_text_without_line_feed_is_seen() {
        assert_eq!(shown("a\nb", "a\nb\n", 1), [" a", "-b$", "+b"]);
        assert_eq!(shown("", "a\n", 1), ["+a"]);
        assert_eq!(shown("a\n", "a\n", 3), [""; 0]);
    }

    #[test]
    fn words_of_single_lines_are_marked_unless_little_is_left() {
        let marked = words("registry/nginx:1.19", "registry/nginx:1.20");
        assert_eq!((&"registry/nginx:1.19"[marked.before[0].clone()], marked.before.len()), ("1.19", 1));
        assert_eq!(&"registry/nginx:1.20"[marked.after[0].clone()], "1.20");
        let marked = words("registry/kube/metrics:v2.19.1", "registry/kube/metrics:v2.20.0");
        let version = std::slice::from_ref(&(22..29));
        assert_eq!((&*marked.before, &*marked.after), (version, version), "a version is one part");
        assert_eq!(words("one thing", "quite another"), Words::default());
        let long = "x ".repeat(MARKED);
        assert_eq!(words(&long, "y"), Words::default(), "too long to look at");
    }

    #[test]
    fn very_long_texts_are_aligned_too() {
        let before: String = (0..WELL_ALIGNED).map(|at| format!("{at}\n")).collect();
        let after = before.replacen("\n100\n", "\n100\nnew\n", 1).replacen("\n50000\n", "\nother\n", 1);
        assert_eq!(shown(&before, &after, 0), ["+new", "-50000", "+other"]);
    }

    proptest! {
        #[test]
        fn hunks_hold_every_change(
            before in "([ab]{0,2}\n){0,9}[ab]?",
            after in "([ab]{0,2}\n){0,9}[ab]?",
            context in 0..3_usize,
        ) {
            // Replacing each hunk's old lines by its new ones gives the text after.
            let mut lines: Vec<&str> = before.split_inclusive('\n').collect();
            let news: Vec<&str> = after.split_inclusive('\n').collect();
            for hunk in hunks(&before, &after, context).into_iter().rev() {
                for line in &hunk.lines {
                    prop_assert!(line.emphasis.iter().all(|range| line.text.get(range.clone()).is_some()));
                    let is_there = |number: Option<usize>, all: &[&str]| {
                        number.is_none_or(|number| all[number - 1].trim_end_matches('\n') == line.text)
                    };
                    prop_assert!(is_there(line.after, &news));
                }
                lines.splice(hunk.before, news[hunk.after].iter().copied());
            }
            prop_assert_eq!(lines.concat(), after);
        }
    }
}
