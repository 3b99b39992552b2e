//! New files that are copies of files which existed before.

use std::collections::BTreeMap;

use super::{ChangedFile, Entry, EntryKind, ObjectId};
use crate::path::RepoPath;

/// Files that were copied from one directory to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The directory that holds all originals.
    pub from: RepoPath,
    /// The directory that holds all copies.
    pub to: RepoPath,
    /// How many files.
    pub files: usize,
}

/// Fewer copies are not worth a remark.
const FEWEST: usize = 3;

/// Which new files have the content of older ones, by the first directory of the originals. Renamed files are no copies.
pub fn copies(added: &[ChangedFile], renamed: &[(RepoPath, RepoPath)], older: &[Entry]) -> Vec<Copied> {
    let mut by_id: BTreeMap<ObjectId, Vec<&RepoPath>> = BTreeMap::new();
    for entry in older.iter().filter(|entry| entry.kind == EntryKind::File) {
        entry.id.into_iter().for_each(|id| by_id.entry(id).or_default().push(&entry.path));
    }
    let is_renamed = |path: &RepoPath| renamed.iter().any(|(_, new)| new == path);
    let mut found: BTreeMap<Vec<u8>, Vec<(&RepoPath, &RepoPath)>> = BTreeMap::new();
    let added = added.iter().filter(|file| file.before.is_none()).filter_map(|file| file.after.as_ref());
    for entry in added.filter(|entry| entry.kind == EntryKind::File && !is_renamed(&entry.path)) {
        let originals = entry.id.and_then(|id| by_id.get(&id)).map(Vec::as_slice).unwrap_or_default();
        if let Some(original) = originals.iter().max_by_key(|original| shared_end(original, &entry.path)) {
            let top = original.components().next().unwrap_or_default().to_vec();
            found.entry(top).or_default().push((original, &entry.path));
        }
    }
    let copied = |pairs: Vec<(&RepoPath, &RepoPath)>| Copied {
        from: shared_directory(pairs.iter().map(|(from, _)| *from)),
        to: shared_directory(pairs.iter().map(|(_, to)| *to)),
        files: pairs.len(),
    };
    found.into_values().filter(|pairs| pairs.len() >= FEWEST).map(copied).collect()
}

/// How many directories and names two paths share at their ends.
pub(super) fn shared_end(this: &RepoPath, that: &RepoPath) -> usize {
    this.components().rev().zip(that.components().rev()).take_while(|(a, b)| a == b).count()
}

/// The deepest directory above all files.
fn shared_directory<'a>(files: impl Iterator<Item = &'a RepoPath>) -> RepoPath {
    let directories = files.map(|file| file.parent().unwrap_or_else(RepoPath::root));
    let shared = directories.reduce(|shared, directory| {
        let parts = shared.components().zip(directory.components()).take_while(|(a, b)| a == b).map(|(part, _)| part);
        parts.fold(RepoPath::root(), |path, part| path.join(part).unwrap_or(path))
    });
    shared.unwrap_or_else(RepoPath::root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_by_their_directories() {
        let path = |text: &str| RepoPath::new(text).unwrap();
        let entry =
            |text: &str, id: u8| Entry { path: path(text), kind: EntryKind::File, id: ObjectId::new(&[id; 20]) };
        let added = |text: &str, id: u8| ChangedFile { path: path(text), before: None, after: Some(entry(text, id)) };
        let older: Vec<Entry> = (0..4).map(|at| entry(&format!("c/svc/base/{at}.yaml"), at)).collect();
        let mut files: Vec<ChangedFile> = (0..4).map(|at| added(&format!("c/svc-rd/base/{at}.yaml"), at)).collect();
        files.push(added("c/svc-rd/own.yaml", 9));
        let found = copies(&files, &[], &older);
        assert_eq!(found, [Copied { from: path("c/svc/base"), to: path("c/svc-rd/base"), files: 4 }]);
        let renamed = [(path("x"), path("c/svc-rd/base/0.yaml")), (path("y"), path("c/svc-rd/base/1.yaml"))];
        assert_eq!(copies(&files, &renamed, &older), [], "two are too few");
    }
}
