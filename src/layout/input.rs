//! What a unit depends on, and whether any of it differs between two snapshots.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::path::RepoPath;
use crate::resource::Unit;
use crate::snapshot::{ChangedFile, EntryKind, Snapshot};

/// Something that was asked of a snapshot. As long as the answer is the same, so is everything that was made of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Input {
    /// The content of a file.
    File(RepoPath),
    /// A path at which there is no file.
    Absent(RepoPath),
    /// The names in a directory.
    Listing(RepoPath),
    /// Everything in a directory, at any depth.
    Subtree(RepoPath),
    /// The files that an index names for a key; of several, those nearest to the directory that was asked from.
    Lookup {
        /// The index.
        index: SmolStr,
        /// What was looked up.
        key: SmolStr,
        /// The directory that was asked from; the root asks for all of them.
        from: RepoPath,
    },
    /// Everything that an index lists.
    Index(SmolStr),
    /// What another unit renders.
    Output(Unit),
}

/// A set of inputs in order. Units with the same inputs share one.
pub type Inputs = Arc<[Input]>;

/// The files that differ between two snapshots, arranged for questions about inputs.
pub struct Edits<'a> {
    files: &'a [ChangedFile],
    sides: [&'a dyn Snapshot; 2],
}

impl<'a> Edits<'a> {
    /// Edits between two snapshots, in byte order of their paths.
    pub fn new(files: &'a [ChangedFile], sides: [&'a dyn Snapshot; 2]) -> Self {
        Self { files, sides }
    }

    /// Every edited file.
    pub fn files(&self) -> &'a [ChangedFile] {
        self.files
    }

    /// Whether a file was edited, came or went.
    pub fn contains(&self, path: &RepoPath) -> bool {
        self.files.binary_search_by(|file| file.path.cmp(path)).is_ok()
    }

    /// Whether a file was edited, or something on the way to it: a directory may have become a link.
    pub fn reaches(&self, path: &RepoPath) -> bool {
        self.reaches_path(path.as_bytes())
    }

    /// Whether a file was edited, or something on the way to it, by the bytes of its path.
    pub(super) fn reaches_path(&self, bytes: &[u8]) -> bool {
        // Everything that sorts between a path and a prefix of it begins with that prefix. So only what the path has in common with
        // the last edited file before it can have been edited, and that is little for most of the many paths that are asked for.
        let next = self.files.partition_point(|file| file.path.as_bytes() <= bytes);
        let Some(last) = next.checked_sub(1).map(|last| self.files[last].path.as_bytes()) else { return false };
        let common = last.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        let is_on_the_way =
            |way: &[u8]| self.files[..next].binary_search_by(|file| file.path.as_bytes().cmp(way)).is_ok();
        let is_end = |end: &usize| *end == bytes.len() || bytes[*end] == b'/';
        (0..=common).filter(is_end).any(|end| is_on_the_way(&bytes[..end]))
    }

    /// Whether the content of a directory differs, at any depth.
    pub fn reaches_below(&self, directory: &RepoPath) -> bool {
        !self.below(directory).is_empty() || self.reaches(directory)
    }

    /// Whether the names or kinds of the members of a directory differ.
    pub fn changes_listing(&self, directory: &RepoPath) -> bool {
        let mut members: BTreeSet<RepoPath> = BTreeSet::new();
        for file in &self.files[self.below(directory)] {
            let depth = directory.components().count();
            let member = file.path.components().nth(depth).and_then(|name| directory.join(name).ok());
            members.extend(member);
        }
        let kind = |side: &dyn Snapshot, member: &RepoPath| -> Option<Option<EntryKind>> {
            side.entry(member).ok().map(|entry| entry.map(|entry| entry.kind))
        };
        let differs = |member: &RepoPath| {
            let [before, after] = self.sides.map(|side| kind(side, member));
            before.is_none() || before != after
        };
        self.reaches(directory) || members.iter().any(differs)
    }

    /// The edited files below a directory.
    fn below(&self, directory: &RepoPath) -> Range<usize> {
        if directory.is_root() {
            return 0..self.files.len();
        }
        let prefix = [directory.as_bytes(), b"/"].concat();
        let start = self.files.partition_point(|file| file.path.as_bytes() < prefix.as_slice());
        let length = self.files[start..].partition_point(|file| file.path.as_bytes().starts_with(&prefix));
        start..start + length
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{Limits, Spent};
    use crate::snapshot::{MemorySnapshot, Scope, changes};

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn with_edits(before: &[&str], after: &[&str], check: impl FnOnce(&Edits<'_>)) {
        let snapshot = |files: &[&str]| {
            let with = |snapshot: MemorySnapshot, file: &&str| {
                let (name, text) = file.split_once('=').unwrap_or((file, ""));
                snapshot.with(path(name), text.as_bytes())
            };
            files.iter().fold(MemorySnapshot::new("test"), with).with_ids()
        };
        let (before, after) = (snapshot(before), snapshot(after));
        let found = changes(&before, &after, &Scope::everything(), &Limits::default(), &Spent::default());
        check(&Edits::new(&found.files, [&before, &after]));
    }

    #[test]
    fn a_file_is_reached_by_its_own_edit_and_by_what_is_on_the_way() {
        with_edits(&["a/b.yaml=1", "a/c.yaml", "link"], &["a/b.yaml=2", "a/c.yaml", "link/x"], |edits| {
            assert!(edits.reaches(&path("a/b.yaml")) && !edits.reaches(&path("a/c.yaml")));
            assert!(edits.reaches(&path("link/y")), "a file became a directory");
        });
    }

    #[test]
    fn a_directory_is_reached_by_what_is_in_it_and_not_by_its_neighbours() {
        with_edits(&["a/b/c=1", "a.b/c", "ab/c"], &["a/b/c=2", "a.b/c", "ab/c"], |edits| {
            assert!(edits.reaches_below(&path("a")) && edits.reaches_below(&RepoPath::root()));
            assert!(!edits.reaches_below(&path("a.b")) && !edits.reaches_below(&path("ab")));
        });
    }

    #[test]
    fn a_listing_changes_when_names_come_or_go() {
        with_edits(&["a/b=1", "a/d/e"], &["a/b=2", "a/d/e", "a/d/f", "a/n/o"], |edits| {
            assert!(edits.changes_listing(&path("a/d")), "a/d/f is new");
            assert!(edits.changes_listing(&path("a")), "a/n is new");
            assert!(!edits.changes_listing(&RepoPath::root()), "there was an `a` before");
        });
        with_edits(&["a/b=1"], &["a/b=2"], |edits| {
            assert!(!edits.changes_listing(&path("a")), "only the content of a/b differs");
        });
    }

    #[test]
    fn what_is_on_the_way_is_found_among_neighbours() {
        let before = ["a-b", "a/b", "a/b-c/d", "a0", "b/c/d=1", "c"];
        let after = ["a-b=2", "a/b=2", "a/b-c/d=2", "a0=2", "b/c/d=2", "c/d"];
        with_edits(&before, &after, |edits| {
            let edited: BTreeSet<&[u8]> = edits.files().iter().map(|file| file.path.as_bytes()).collect();
            let asked = [
                "a",
                "a-b",
                "a-b/x",
                "a-bc",
                "a/b/c",
                "a/b.c",
                "a/b-c",
                "a/b-c/d/e",
                "a0/b",
                "b/c",
                "b/c/d/e/f",
                "c/e",
                "d",
            ];
            for asked in asked.map(path) {
                let ways = std::iter::successors(Some(asked.clone()), RepoPath::parent);
                let expected = ways.into_iter().any(|way| edited.contains(way.as_bytes()));
                assert_eq!(edits.reaches(&asked), expected, "{asked}");
            }
        });
    }
}
