//! Moved files, by the directories they moved between: `archive/ => .archive/`.

use std::collections::{BTreeMap, BTreeSet};

use crate::diff::Status;
use crate::path::RepoPath;
use crate::report::Report;

/// Files that moved from one place to another in the same way.
#[derive(Debug)]
pub(in crate::report) struct Move {
    /// The old place: a directory, or a file if only one moved.
    pub from: String,
    /// The new place.
    pub to: String,
    /// The moved files, by their new names.
    pub files: Vec<RepoPath>,
    /// The resources in them.
    pub resources: Vec<usize>,
    /// How many of the files also changed.
    pub changed: usize,
}

impl Move {
    /// `kubernetes/{observability => o11y}/`.
    pub(in crate::report) fn name(&self) -> String {
        renamed(&self.from, &self.to)
    }
}

type Found<'a> = (BTreeSet<&'a RepoPath>, BTreeSet<&'a RepoPath>, Vec<usize>);

/// Every move of files with resources.
pub(super) fn moves(report: &Report) -> Vec<Move> {
    let mut found: BTreeMap<(String, String), Found<'_>> = BTreeMap::new();
    let mut names: BTreeMap<(String, String), (String, String)> = BTreeMap::new();
    for (at, of) in report.resources.iter().enumerate() {
        let (Some(before), Some(after)) = (&of.before, &of.after) else { continue };
        if before.home() == after.home() {
            continue;
        }
        let (old, new) = (before.home().to_string(), after.home().to_string());
        let key = moved_between(&old, &new);
        names.entry(key.clone()).or_insert((old, new));
        let (files, changed, resources) = found.entry(key).or_default();
        files.insert(&after.file);
        resources.push(at);
        if of.status() == Status::Changed {
            changed.insert(&after.file);
        }
    }
    let mut moves: Vec<Move> = found
        .into_iter()
        .map(|(key, (files, changed, resources))| {
            // A single file is named in full.
            let (from, to) = match files.len() {
                1 => names.remove(&key).unwrap_or(key),
                _ => (directory(&key.0), directory(&key.1)),
            };
            let changed = changed.len();
            Move { from, to, files: files.into_iter().cloned().collect(), resources, changed }
        })
        .collect();
    moves.sort_by(|a, b| b.files.len().cmp(&a.files.len()).then_with(|| a.from.cmp(&b.from)));
    moves
}

fn directory(name: &str) -> String {
    if name.is_empty() { "./".to_owned() } else { format!("{name}/") }
}

/// The parts of two paths before what they share at their ends.
pub(in crate::report) fn moved_between(old: &str, new: &str) -> (String, String) {
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.split('/').collect(), new.split('/').collect());
    let shared = olds.iter().rev().zip(news.iter().rev()).take_while(|(a, b)| a == b).count();
    (olds[..olds.len() - shared].join("/"), news[..news.len() - shared].join("/"))
}

/// Two names as git shows a rename: `a/{b => c}/d`.
pub(in crate::report) fn renamed(old: &str, new: &str) -> String {
    let (olds, news): (Vec<&str>, Vec<&str>) = (old.split('/').collect(), new.split('/').collect());
    let shortest = olds.len().min(news.len());
    let start = olds.iter().zip(&news).take(shortest - 1).take_while(|(a, b)| a == b).count();
    let rest = olds[start..].iter().rev().zip(news[start..].iter().rev());
    let end = rest.take(shortest - start).take_while(|(a, b)| a == b).count();
    if start + end == 0 || old == new {
        return format!("{old} => {new}");
    }
    let join = |parts: &[&str]| parts.join("/");
    let (head, tail) = (join(&olds[..start]), join(&olds[olds.len() - end..]));
    let head = if start > 0 { format!("{head}/") } else { head };
    let tail = if end > 0 { format!("/{tail}") } else { tail };
    format!("{head}{{{} => {}}}{tail}", join(&olds[start..olds.len() - end]), join(&news[start..news.len() - end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renames_are_written_as_git_writes_them() {
        assert_eq!(renamed("a/b/c.yaml", "a/x/c.yaml"), "a/{b => x}/c.yaml");
        assert_eq!(renamed("a/b.yaml", "a/c.yaml"), "a/{b.yaml => c.yaml}");
        assert_eq!(renamed("a.yaml", "b.yaml"), "a.yaml => b.yaml");
        assert_eq!(renamed("a/c.yaml", "a/b/c.yaml"), "a/{ => b}/c.yaml");
        assert_eq!(renamed("archive/", ".archive/"), "{archive => .archive}/");
        assert_eq!(
            moved_between("archive/x/a.yaml", ".archive/x/a.yaml"),
            ("archive".to_owned(), ".archive".to_owned())
        );
        assert_eq!(moved_between("k/o/a.yaml", "k/p/a.yaml"), ("k/o".to_owned(), "k/p".to_owned()));
    }
}
