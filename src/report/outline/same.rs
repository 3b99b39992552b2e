//! When two changes are the same, wherever they are.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Entry;
use crate::diff::text;
use crate::diff::{Change, ChangeKind, path_text};
use crate::report::text_diff::CONTEXT;
use crate::report::{Report, secret_numbers};
use crate::value::Node;

/// Hashes of both values of a change.
pub(super) type Hashes = [Option<u64>; 2];

/// The name of the field, the kind of the change, and hashes of both values.
pub(super) type Key = (String, ChangeKind, Hashes);

/// Nothing if an entry has several values, or values that are not shown.
pub(super) fn key(report: &Report, atom: &Entry) -> Option<Key> {
    let (kind, hashes) = values(report, atom)?;
    Some((field(&atom.at.first()?.path), kind, hashes))
}

/// The kind of a change and hashes of both values; nothing if an entry has several values, or values that are not shown.
pub(super) fn values(report: &Report, atom: &Entry) -> Option<(ChangeKind, Hashes)> {
    let change = plain(report, atom)?;
    if let Some(passages) = passages(change) {
        return Some((change.kind, [Some(hash_of(&passages)), None]));
    }
    let hash = |node: &Option<Node>| Some(hash_of(&node.as_ref()?.hash()));
    Some((change.kind, [hash(&change.before), hash(&change.after)]))
}

/// The change of an entry with one value that is shown and is no position.
fn plain<'r>(report: &'r Report, atom: &Entry) -> Option<&'r Change> {
    let (_, change) = atom.example(report)?;
    let is_one_value = atom.group.and_then(|at| report.groups.get(at)).is_none_or(|group| group.variants.len() == 1);
    let is_order = matches!(change.kind, ChangeKind::Reorder | ChangeKind::Move);
    (is_one_value && !is_order && !secret_numbers::concerns_secret(change)).then_some(change)
}

/// A hash for this run.
pub(super) fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What is shown of a changed text: its number of lines, and each hunk with the line it starts at. Texts may differ in the rest.
fn passages(change: &Change) -> Option<(usize, Vec<(usize, String)>)> {
    let (ChangeKind::Text, Some(before), Some(after)) = (change.kind, &change.before, &change.after) else {
        return None;
    };
    let (before, after) = (before.as_str()?, after.as_str()?);
    let sign = |line: &text::Line<'_>| match (line.before, line.after) {
        (Some(_), Some(_)) => ' ',
        (Some(_), None) => '-',
        _ => '+',
    };
    let line =
        |line: &text::Line<'_>| format!("{}{}{}\n", sign(line), line.text, if line.has_line_feed { "" } else { "\\" });
    let hunks = text::hunks(before, after, CONTEXT);
    let shown = hunks.iter().map(|hunk| (hunk.after.start, hunk.lines.iter().map(line).collect()));
    Some((after.lines().count(), shown.collect()))
}

/// The last step that has a name, and what follows it.
pub(super) fn field(path: &[crate::diff::PathStep]) -> String {
    let steps = path_text::steps(path, path_text::EMBEDDED);
    let from = steps.iter().rposition(|step| !step.starts_with('[')).unwrap_or(0);
    let kept = steps[from..].iter().map(|step| if step.starts_with('[') && is_number(step) { "[*]" } else { step });
    kept.collect::<String>().trim_start().trim_start_matches(path_text::EMBEDDED).trim_start().to_owned()
}

fn is_number(step: &str) -> bool {
    step.trim_matches(['[', ']']).chars().all(|c| c.is_ascii_digit() || c == '*')
}

/// Whether two entries have the same values, or texts of which the same is shown.
pub(super) fn is_same(report: &Report, this: &Entry, that: &Entry) -> bool {
    match (this.example(report), that.example(report)) {
        (Some((_, a)), Some((_, b))) => a.kind == b.kind && is_same_value(a, b),
        _ => false,
    }
}

fn is_same_value(this: &Change, that: &Change) -> bool {
    let is_equal = |a: &Option<Node>, b: &Option<Node>| Node::same_option(a.as_ref(), b.as_ref());
    if is_equal(&this.before, &that.before) && is_equal(&this.after, &that.after) {
        return true;
    }
    let lines = |change: &Change| change.after.as_ref().and_then(Node::as_str).map(|text| text.lines().count());
    let is_text = this.kind == ChangeKind::Text && lines(this) == lines(that);
    is_text && passages(this).is_some_and(|shown| passages(that) == Some(shown))
}

/// Whether two entries are the same change, wherever they are.
pub(super) fn is_same_change(report: &Report, this: &Entry, that: &Entry) -> bool {
    let is_plain = |entry| plain(report, entry).is_some();
    is_plain(this) && is_plain(that) && is_same(report, this, that)
}
