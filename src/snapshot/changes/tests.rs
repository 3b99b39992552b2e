//! The co-walk against the obvious way: list everything on both sides and compare path by path.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::snapshot::ObjectId;

/// A tree in memory whose entries know their ids, or only some of them.
#[derive(Debug, Clone)]
struct Tree {
    files: BTreeMap<RepoPath, u8>,
    knows_files: bool,
    knows_directories: bool,
}

impl Tree {
    fn id_of(&self, entry: &RepoPath, kind: EntryKind) -> Option<ObjectId> {
        let is_known = if kind == EntryKind::Directory { self.knows_directories } else { self.knows_files };
        let mut hasher = DefaultHasher::new();
        self.files
            .iter()
            .filter(|(path, _)| path.is_within(entry))
            .map(|(path, content)| (path.as_bytes()[entry.as_bytes().len()..].to_vec(), content))
            .for_each(|member| member.hash(&mut hasher));
        let mut bytes = [0; 20];
        bytes[..8].copy_from_slice(&hasher.finish().to_be_bytes());
        ObjectId::new(&bytes).filter(|_| is_known)
    }

    fn describe(&self, path: &RepoPath, kind: EntryKind) -> Entry {
        Entry { path: path.clone(), kind, id: self.id_of(path, kind) }
    }
}

impl Snapshot for Tree {
    fn label(&self) -> &str {
        "tree"
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        let depth = directory.components().count();
        let mut members = BTreeMap::new();
        for path in self.files.keys().filter(|path| path.is_within(directory) && *path != directory) {
            let name = path.components().nth(depth).expect("it is below the directory");
            let member = directory.join(name).expect("a component is a name");
            let kind = if member == *path { EntryKind::File } else { EntryKind::Directory };
            let entry = self.describe(&member, kind);
            members.insert((member, kind == EntryKind::Directory), entry);
        }
        Listing { entries: members.into_values().collect(), unreadable: Vec::new() }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        if self.files.contains_key(path) {
            return Ok(Some(self.describe(path, EntryKind::File)));
        }
        let is_directory = path.is_root() || self.files.keys().any(|file| file.is_within(path));
        Ok(is_directory.then(|| self.describe(path, EntryKind::Directory)))
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        Ok(self.files.get(&file.path).map_or_else(|| [].into(), |&content| [content].into()))
    }
}

fn tree(files: &[(&str, u8)]) -> Tree {
    let files = files.iter().map(|&(path, content)| (RepoPath::new(path).expect("a plain path"), content)).collect();
    Tree { files, knows_files: true, knows_directories: true }
}

fn compare(before: &Tree, after: &Tree, scope: &Scope) -> Changes {
    changes(before, after, scope, &Limits::default(), &Spent::default())
}

fn brute_force(before: &Tree, after: &Tree, scope: &Scope) -> Vec<String> {
    let is_certain = before.knows_files && after.knows_files;
    // Equal directories are skipped even if nothing is known of the files in them.
    let hides_in_equal_directory = |path: &RepoPath| {
        let both = |at: &RepoPath| {
            let (before, after) = (before.id_of(at, EntryKind::Directory), after.id_of(at, EntryKind::Directory));
            before.is_some() && before == after
        };
        let mut parent = path.parent();
        std::iter::from_fn(|| {
            let at = parent.clone()?;
            parent = at.parent();
            Some(at)
        })
        .any(|at| both(&at))
    };
    let mut paths: Vec<&RepoPath> = before.files.keys().chain(after.files.keys()).collect();
    paths.sort();
    paths.dedup();
    let differs = |path: &&&RepoPath| match (before.files.get(path), after.files.get(path)) {
        (Some(before), Some(after)) if is_certain => before != after,
        (Some(_), Some(_)) => !hides_in_equal_directory(path),
        _ => true,
    };
    paths.iter().filter(differs).filter(|path| scope.wants(path)).map(|path| path.to_string()).collect()
}

fn names(changes: &Changes) -> Vec<String> {
    changes.files.iter().map(|file| file.path.to_string()).collect()
}

#[test]
fn the_order_is_that_of_whole_paths() {
    let after = tree(&[("a/x", 1), ("a-b", 1), ("a.c", 1), ("a0", 1)]);
    assert_eq!(names(&compare(&tree(&[]), &after, &Scope::everything())), ["a-b", "a.c", "a/x", "a0"]);
}

#[test]
fn a_file_that_becomes_a_directory_is_gone_and_its_members_are_new() {
    let before = tree(&[("a", 1)]);
    let after = tree(&[("a/b", 1), ("a/c", 2)]);
    let found = compare(&before, &after, &Scope::everything());
    assert_eq!(names(&found), ["a", "a/b", "a/c"]);
    assert!(found.files[0].after.is_none() && found.files[1].before.is_none());
}

/// Ten entries per level, each the same directory: a few objects, any number of paths.
struct Bomb {
    listed: std::sync::atomic::AtomicU64,
    width: u8,
}

impl Snapshot for Bomb {
    fn label(&self) -> &str {
        "bomb"
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        self.listed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let name = |digit: u8| directory.join(&[b'0' + digit]).expect("a digit is a name");
        let kind = EntryKind::Directory;
        let entries = (0..self.width).map(|digit| Entry { path: name(digit), kind, id: None }).collect();
        Listing { entries, unreadable: Vec::new() }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        Ok(Some(Entry { path: path.clone(), kind: EntryKind::Directory, id: None }))
    }

    fn read(&self, _file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        Ok([].into())
    }
}

#[test]
fn a_tree_of_billions_of_paths_ends_at_the_limit() {
    let limits = Limits { entries: 10_000, ..Limits::default() };
    let bomb = Bomb { listed: 0.into(), width: 10 };
    let found = changes(&tree(&[]), &bomb, &Scope::everything(), &limits, &Spent::default());
    assert!(matches!(
        found.unreadable[..],
        [Unreadable { reason: Reason::TooManyEntries { limit: 10_000, .. }, .. }]
            | [_, Unreadable { reason: Reason::TooManyEntries { limit: 10_000, .. }, .. }]
    ));
    assert!(bomb.listed.into_inner() <= 1_001);
}

#[test]
fn a_tree_without_a_floor_ends_at_the_limit() {
    let bomb = Bomb { listed: 0.into(), width: 1 };
    let (_, unreadable) = files_below(&bomb, &Scope::everything(), &Limits::default(), &Spent::default());
    assert!(matches!(unreadable[..], [Unreadable { reason: Reason::TooManyEntries { limit: 64, .. }, .. }]));
}

fn any_tree() -> impl Strategy<Value = BTreeMap<RepoPath, u8>> {
    let path = "[ab.-]{1,2}(/[ab]{1,2}){0,3}".prop_filter_map("a path in the tree", |text| RepoPath::new(text).ok());
    prop::collection::btree_map(path, 0..3_u8, 0..12).prop_map(|mut files| {
        // What is a file cannot be a directory as well.
        let paths: Vec<RepoPath> = files.keys().cloned().collect();
        files.retain(|path, _| !paths.iter().any(|other| other != path && other.is_within(path)));
        files
    })
}

proptest! {
    #[test]
    fn the_walk_finds_what_brute_force_finds(
        before in any_tree(),
        after in any_tree(),
        common in any_tree(),
        knows in any::<[bool; 4]>(),
        words in prop::collection::vec("(:!)?[ab*]{1,3}(/[ab*]{1,2})?", 0..2),
    ) {
        let merged = |files: BTreeMap<RepoPath, u8>, knows_files, knows_directories| {
            let mut files: BTreeMap<RepoPath, u8> = files.into_iter().chain(common.clone()).collect();
            let paths: Vec<RepoPath> = files.keys().cloned().collect();
            files.retain(|path, _| !paths.iter().any(|other| other != path && other.is_within(path)));
            Tree { files, knows_files, knows_directories }
        };
        let before = merged(before, knows[0], knows[1]);
        let after = merged(after, knows[2], knows[3]);
        let scope = Scope::new(&words, &RepoPath::root(), &[]).expect("these are plain patterns");
        let found = compare(&before, &after, &scope);
        prop_assert!(found.unreadable.is_empty());
        prop_assert_eq!(names(&found), brute_force(&before, &after, &scope));
    }

    #[test]
    fn listing_one_side_finds_every_file(files in any_tree()) {
        let snapshot = Tree { files, knows_files: true, knows_directories: true };
        let (entries, unreadable) =
            files_below(&snapshot, &Scope::everything(), &Limits::default(), &Spent::default());
        prop_assert!(unreadable.is_empty());
        prop_assert!(entries.iter().map(|entry| &entry.path).eq(snapshot.files.keys()));
    }
}
