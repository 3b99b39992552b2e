//! When two changes are the same, wherever they are.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::Entry;
use crate::diff::{Change, ChangeKind, Origin, causes, path_text};
use crate::report::{Report, secret_numbers};
use crate::value::Node;

/// The name of the field, the kind of the change, and hashes of both values.
pub(super) type Key = (String, ChangeKind, [Option<u64>; 2]);

/// Nothing if an entry has several values, or values that are not shown or are defined elsewhere.
pub(super) fn key(report: &Report, atom: &Entry) -> Option<Key> {
    let (of, change) = atom.example(report)?;
    let is_plain = match atom.group.and_then(|at| report.groups.get(at)) {
        Some(group) => {
            let is_own = group.causes().all(|cause| matches!(cause.origin, Origin::Own) && cause.via.is_empty());
            is_own && group.variants.len() == 1
        }
        None => !causes(change, of, &report.sources).is_external(),
    };
    let is_order = matches!(change.kind, ChangeKind::Reorder | ChangeKind::Move);
    if !is_plain || is_order || secret_numbers::concerns_secret(change) {
        return None;
    }
    let hash = |node: &Option<Node>| {
        let mut hasher = DefaultHasher::new();
        node.as_ref()?.hash().hash(&mut hasher);
        Some(hasher.finish())
    };
    Some((field(&atom.at.first()?.path), change.kind, [hash(&change.before), hash(&change.after)]))
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

pub(super) fn is_same(report: &Report, this: &Entry, that: &Entry) -> bool {
    let is_equal = |a: &Option<Node>, b: &Option<Node>| Node::same_option(a.as_ref(), b.as_ref());
    let same = |a: &Change, b: &Change| is_equal(&a.before, &b.before) && is_equal(&a.after, &b.after);
    match (this.example(report), that.example(report)) {
        (Some((_, a)), Some((_, b))) => a.kind == b.kind && same(a, b),
        _ => false,
    }
}

/// Whether two entries are the same change, wherever they are.
pub(super) fn is_same_change(report: &Report, this: &Entry, that: &Entry) -> bool {
    let is_plain = |entry: &Entry| key(report, entry).is_some();
    is_plain(this) && is_plain(that) && is_same(report, this, that)
}
