//! When two changes are the same, wherever they are.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Entry;
use crate::diff::{Cause, Change, ChangeKind, Origin, SharedCause, causes, path_text};
use crate::path::RepoPath;
use crate::report::{Report, secret_numbers};
use crate::value::Node;

/// Hashes of both values of a change.
pub(super) type Hashes = [Option<u64>; 2];

/// The name of the field, the kind of the change, hashes of both values, and the file that defines them if it is not the resource's.
pub(super) type Key = (String, ChangeKind, Hashes, Option<RepoPath>);

/// Nothing if an entry has several values, or values that are not shown or come from several places elsewhere.
pub(super) fn key(report: &Report, atom: &Entry) -> Option<Key> {
    let (kind, hashes) = values(report, atom)?;
    Some((field(&atom.at.first()?.path), kind, hashes, source(report, atom)?))
}

/// The kind of a change and hashes of both values; nothing if an entry has several values, or values that are not shown.
pub(super) fn values(report: &Report, atom: &Entry) -> Option<(ChangeKind, Hashes)> {
    let (_, change) = atom.example(report)?;
    let is_one_value = atom.group.and_then(|at| report.groups.get(at)).is_none_or(|group| group.variants.len() == 1);
    let is_order = matches!(change.kind, ChangeKind::Reorder | ChangeKind::Move);
    if !is_one_value || is_order || secret_numbers::concerns_secret(change) {
        return None;
    }
    let hash = |node: &Option<Node>| {
        let mut hasher = DefaultHasher::new();
        node.as_ref()?.hash().hash(&mut hasher);
        Some(hasher.finish())
    };
    Some((change.kind, [hash(&change.before), hash(&change.after)]))
}

/// The one file that defines the values of an entry directly, `None` inside if it is the file of each resource.
fn source(report: &Report, atom: &Entry) -> Option<Option<RepoPath>> {
    let files: Option<BTreeSet<Option<RepoPath>>> = match atom.group.and_then(|at| report.groups.get(at)) {
        Some(group) => {
            let file = |cause: &SharedCause| match &cause.origin {
                _ if !cause.via.is_empty() => None,
                Origin::Own => Some(None),
                Origin::At(place) => Some(Some(place.file.clone())),
                Origin::Apart => None,
            };
            group.causes().map(file).collect()
        }
        None => {
            let (of, change) = atom.example(report)?;
            let causes = causes(change, of, &report.sources);
            let file = |cause: &Cause| match cause.is_own {
                true => Some(None),
                false => cause.via.is_empty().then(|| Some(cause.at.file.clone())),
            };
            causes.sides().map(file).collect()
        }
    };
    let mut files = files?.into_iter();
    let only = files.next()?;
    files.next().is_none().then_some(only)
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
    let [this_source, that_source] = [this, that].map(|entry| values(report, entry).and(source(report, entry)));
    this_source.is_some() && this_source == that_source && is_same(report, this, that)
}
