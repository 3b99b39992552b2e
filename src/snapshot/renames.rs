//! Files that were renamed, found as git finds them: by equal content, then by content that is at least half alike.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hasher};

use super::copies::shared_end;
use super::{ChangedFile, Entry, EntryKind, ObjectId, Snapshot};
use crate::path::RepoPath;

/// More pairs than this are compared by their ids only, as git does.
const MOST_PAIRS: usize = 1_000_000;
/// Larger files are compared by their ids only.
const LARGEST: usize = 1 << 20;
/// Pieces of content end after a line feed, or after so many bytes.
const PIECE: usize = 64;

/// The old and the new path of every renamed file. Each path is part of one rename at most.
pub fn renames(files: &[ChangedFile], before: &dyn Snapshot, after: &dyn Snapshot) -> Vec<(RepoPath, RepoPath)> {
    let is_file = |entry: &&Entry| entry.kind == EntryKind::File;
    let removed = files.iter().filter(|file| file.after.is_none()).filter_map(|file| file.before.as_ref());
    let added = files.iter().filter(|file| file.before.is_none()).filter_map(|file| file.after.as_ref());
    let (removed, added): (Vec<&Entry>, Vec<&Entry>) =
        (removed.filter(is_file).collect(), added.filter(is_file).collect());
    if removed.is_empty() || added.is_empty() {
        return Vec::new();
    }
    let mut found = with_equal_ids(&removed, &added);
    let (old, new): (BTreeSet<&RepoPath>, BTreeSet<&RepoPath>) = found.iter().map(|(old, new)| (old, new)).unzip();
    let removed: Vec<&Entry> = removed.into_iter().filter(|entry| !old.contains(&entry.path)).collect();
    let added: Vec<&Entry> = added.into_iter().filter(|entry| !new.contains(&entry.path)).collect();
    if !removed.is_empty() && !added.is_empty() && removed.len().saturating_mul(added.len()) <= MOST_PAIRS {
        let more = with_similar_content(&removed, before, &added, after);
        found.extend(more);
    }
    found
}

/// Pairs with one id; among several, those with one file name first.
fn with_equal_ids(removed: &[&Entry], added: &[&Entry]) -> Vec<(RepoPath, RepoPath)> {
    let mut by_id: BTreeMap<ObjectId, Vec<&RepoPath>> = BTreeMap::new();
    for entry in removed {
        if let Some(id) = entry.id {
            by_id.entry(id).or_default().push(&entry.path);
        }
    }
    let mut found = Vec::new();
    let mut waiting = Vec::new();
    let known = added.iter().filter_map(|entry| Some((entry.id?, &entry.path)));
    for (id, path) in known {
        let Some(olds) = by_id.get_mut(&id) else { continue };
        let namesakes = olds.iter().enumerate().filter(|(_, old)| old.file_name() == path.file_name());
        match namesakes.rev().max_by_key(|(_, old)| shared_end(old, path)).map(|(at, _)| at) {
            Some(at) => found.push((olds.remove(at).clone(), path.clone())),
            None => waiting.push((id, path)),
        }
    }
    for (id, path) in waiting {
        if let Some(old) = by_id.get_mut(&id).and_then(Vec::pop) {
            found.push((old.clone(), path.clone()));
        }
    }
    found
}

/// Pairs whose contents are at least half alike, the most similar first.
fn with_similar_content(
    removed: &[&Entry],
    before: &dyn Snapshot,
    added: &[&Entry],
    after: &dyn Snapshot,
) -> Vec<(RepoPath, RepoPath)> {
    let read = |entries: &[&Entry], snapshot: &dyn Snapshot| -> Vec<Option<Pieces>> {
        entries.iter().map(|entry| Pieces::new(&snapshot.read(entry).ok()?)).collect()
    };
    let (olds, news) = (read(removed, before), read(added, after));
    let mut candidates = Vec::new();
    for (new_at, new) in news.iter().enumerate() {
        for (old_at, old) in olds.iter().enumerate() {
            let (Some(old), Some(new)) = (old, new) else { continue };
            let Some(likeness) = old.likeness(new) else { continue };
            let is_namesake = removed[old_at].path.file_name() == added[new_at].path.file_name();
            candidates.push((likeness, is_namesake, old_at, new_at));
        }
    }
    candidates.sort_by_key(|&(likeness, is_namesake, ..)| Reverse((likeness, is_namesake)));
    let (mut used_old, mut used_new) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Vec::new();
    for (_, _, old, new) in candidates {
        if !used_old.contains(&old) && !used_new.contains(&new) {
            used_old.insert(old);
            used_new.insert(new);
            found.push((removed[old].path.clone(), added[new].path.clone()));
        }
    }
    found
}

/// The pieces of a content: their hashes in order, each with the number of bytes in all pieces like it.
struct Pieces {
    size: u64,
    pieces: Vec<(u64, u64)>,
}

impl Pieces {
    /// The pieces of a content; nothing for a large or empty one.
    fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() || bytes.len() > LARGEST {
            return None;
        }
        let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let window = &rest[..rest.len().min(PIECE)];
            let end = window.iter().position(|&byte| byte == b'\n').map_or(window.len(), |at| at + 1);
            let mut hasher = DefaultHasher::new();
            hasher.write(&rest[..end]);
            *counts.entry(hasher.finish()).or_default() += end as u64;
            rest = &rest[end..];
        }
        Some(Self { size: bytes.len() as u64, pieces: counts.into_iter().collect() })
    }

    /// How much of the larger content is in both, in thousandths, if it is at least half.
    fn likeness(&self, other: &Self) -> Option<u64> {
        let (small, large) = (self.size.min(other.size), self.size.max(other.size));
        if small * 2 < large {
            return None;
        }
        let (mut these, mut those) = (self.pieces.iter().peekable(), other.pieces.iter().peekable());
        let mut shared = 0;
        while let (Some(this), Some(that)) = (these.peek(), those.peek()) {
            match this.0.cmp(&that.0) {
                Ordering::Less => drop(these.next()),
                Ordering::Greater => drop(those.next()),
                Ordering::Equal => {
                    shared += this.1.min(that.1);
                    these.next();
                    those.next();
                }
            }
        }
        (shared * 2 >= large).then_some(shared * 1000 / large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Limits, Spent};
    use crate::snapshot::{MemorySnapshot, Scope, changes};

    fn path(name: &str) -> RepoPath {
        RepoPath::new(name).expect("a fine path")
    }

    fn found(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<(String, String)> {
        let side = |files: &[(&str, &str)]| {
            files.iter().fold(MemorySnapshot::new("side"), |side, (name, text)| side.with(path(name), text.as_bytes()))
        };
        let (before, after) = (side(before), side(after));
        let files = changes(&before, &after, &Scope::everything(), &Limits::default(), &Spent::default()).files;
        let found = renames(&files, &before, &after);
        found.into_iter().map(|(old, new)| (old.to_string(), new.to_string())).collect()
    }

    #[test]
    fn a_file_that_moves_and_changes_a_little_is_one_rename() {
        let text = "a: 1\nb: 2\nc: 3\nd: 4\n";
        let renamed = [("old.yaml".to_owned(), "new.yaml".to_owned())];
        assert_eq!(found(&[("old.yaml", text)], &[("new.yaml", text)]), renamed);
        assert_eq!(found(&[("old.yaml", text)], &[("new.yaml", "a: 1\nb: 2\nc: 3\nd: 5\n")]), renamed);
        assert_eq!(found(&[("old.yaml", text)], &[("new.yaml", "w: 1\nx: 2\ny: 3\nd: 4\n")]), []);
    }

    #[test]
    fn every_file_is_part_of_one_rename_at_most() {
        let text = "a: 1\nb: 2\nc: 3\n";
        assert_eq!(found(&[("a/x.yaml", text)], &[("b/w.yaml", text), ("b/x.yaml", text)]).len(), 1);
        let pairs = found(&[("a/x.yaml", text), ("a/y.yaml", text)], &[("b/y.yaml", text), ("b/x.yaml", text)]);
        assert!(pairs.contains(&("a/x.yaml".to_owned(), "b/x.yaml".to_owned())), "{pairs:?}");
        assert_eq!(pairs.len(), 2);
    }
}
