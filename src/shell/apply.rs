//! Carries out a plan in the working tree: all of it, or nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::directory::{is_directory, os_name};
use super::error::Failure;
use super::replace::{self, Mode, Prepared};
use crate::metadata::plan::{EditPlan, FileEdit};
use crate::path::RepoPath;

/// Writes and removes the files of a plan below a root. Nothing is written through a link. Everything is prepared beside its place
/// before anything is changed, and if a step fails those before it are taken back.
pub(super) fn apply(root: &Path, plan: &EditPlan) -> Result<(), Failure> {
    let mut undo = Undo::default();
    let done = prepare(root, plan, &mut undo).and_then(|prepared| carry_out(root, plan, &prepared, &mut undo));
    if let Err(failure) = done {
        undo.take_back();
        return Err(failure);
    }
    for directory in &plan.prune {
        let on_disk = locate(root, directory)?;
        // Something may have appeared in it meanwhile; then it stays.
        if fs::remove_dir(&on_disk).is_err() {
            break;
        }
    }
    Ok(())
}

/// What it takes to undo what was done so far.
#[derive(Default)]
struct Undo {
    /// Directories that were made, outermost first.
    made: Vec<PathBuf>,
    /// Files that were replaced or removed, with what they held.
    old: Vec<(PathBuf, Vec<u8>)>,
    /// Files that were not there before.
    new: Vec<PathBuf>,
}

impl Undo {
    fn take_back(self) {
        // Each step is tried whatever becomes of the others: nothing better can be done here.
        for file in &self.new {
            let _ = fs::remove_file(file);
        }
        for (place, content) in self.old.iter().rev() {
            let _ = replace::replace(place, content, Mode::Keep);
        }
        for directory in self.made.iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Writes all new contents beside their places, and looks whether everything can be done.
fn prepare(root: &Path, plan: &EditPlan, undo: &mut Undo) -> Result<Vec<Prepared>, Failure> {
    let mut prepared = Vec::new();
    for edit in &plan.edits {
        match edit {
            FileEdit::Write { path, text } => {
                let place = locate(root, path)?;
                make_directories(root, path, undo)?;
                place.parent().into_iter().for_each(replace::remove_stale);
                let failed = |error: io::Error| Failure::new(format!("{path} could not be written: {error}"));
                prepared.push(Prepared::new(&place, text.as_bytes(), Mode::Keep).map_err(failed)?);
            }
            FileEdit::Remove { path } => {
                let place = locate(root, path)?;
                let failed = |error: io::Error| Failure::new(format!("{path} could not be removed: {error}"));
                if replace::existing(&place).map_err(failed)?.is_none() {
                    return Err(Failure::new(format!("{path} could not be removed: it does not exist")));
                }
            }
        }
    }
    Ok(prepared)
}

/// Renames what is written, then removes what is to go: at every moment there is too much rather than too little.
fn carry_out(root: &Path, plan: &EditPlan, prepared: &[Prepared], undo: &mut Undo) -> Result<(), Failure> {
    for file in prepared {
        let place = file.place();
        let failed = |error: io::Error| Failure::new(format!("{} could not be written: {error}", place.display()));
        let old = if file.is_new() { None } else { Some(fs::read(place).map_err(failed)?) };
        file.commit().map_err(failed)?;
        match old {
            Some(old) => undo.old.push((place.to_owned(), old)),
            None => undo.new.push(place.to_owned()),
        }
    }
    for edit in &plan.edits {
        let FileEdit::Remove { path } = edit else { continue };
        let failed = |error: io::Error| Failure::new(format!("{path} could not be removed: {error}"));
        let place = locate(root, path)?;
        let old = fs::read(&place).map_err(failed)?;
        fs::remove_file(&place).map_err(failed)?;
        undo.old.push((place, old));
    }
    Ok(())
}

fn make_directories(root: &Path, path: &RepoPath, undo: &mut Undo) -> Result<(), Failure> {
    let mut missing = Vec::new();
    let mut directory = path.parent();
    while let Some(above) = directory.filter(|above| !above.is_root()) {
        let on_disk = locate(root, &above)?;
        if is_directory(&on_disk) {
            break;
        }
        missing.push(on_disk);
        directory = above.parent();
    }
    for directory in missing.into_iter().rev() {
        let failed = |error: io::Error| Failure::new(format!("{} could not be created: {error}", directory.display()));
        fs::create_dir(&directory).map_err(failed)?;
        undo.made.push(directory);
    }
    Ok(())
}

/// Where a path is on disk. Every directory above it that exists must be one, not a link to one.
pub(super) fn locate(root: &Path, path: &RepoPath) -> Result<PathBuf, Failure> {
    let mut on_disk = root.to_owned();
    let mut names = path.components().peekable();
    while let Some(name) = names.next() {
        on_disk.push(os_name(name).map_err(|reason| Failure::new(format!("{path}: {reason}")))?);
        let is_above = names.peek().is_some();
        if is_above && on_disk.symlink_metadata().is_ok_and(|metadata| !metadata.is_dir()) {
            return Err(Failure::new(format!("{path} is below a symbolic link or a file and was not changed")));
        }
    }
    Ok(on_disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn files(root: &Path) -> Vec<String> {
        let mut found: Vec<String> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path.display().to_string()] })
            .collect();
        found.sort();
        found
    }

    #[test]
    fn files_are_written_and_removed_and_empty_directories_pruned() {
        let root = tempfile::tempdir().unwrap();
        let text = "a: 1\n".to_owned();
        let file = path("x/_/metadata.yaml");
        let plan = EditPlan { edits: vec![FileEdit::Write { path: file.clone(), text }], prune: Vec::new() };
        apply(root.path(), &plan).unwrap();
        apply(root.path(), &plan).unwrap();
        assert_eq!(fs::read_to_string(root.path().join("x/_/metadata.yaml")).unwrap(), "a: 1\n");
        assert_eq!(files(root.path()).len(), 1, "nothing is left beside it");
        let plan = EditPlan { edits: vec![FileEdit::Remove { path: file }], prune: vec![path("x/_"), path("x")] };
        apply(root.path(), &plan).unwrap();
        assert!(!root.path().join("x").exists());
    }

    #[test]
    fn a_step_that_fails_takes_back_those_before_it() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("a")).unwrap();
        fs::write(root.path().join("a/metadata.json"), "{}").unwrap();
        let plan = EditPlan {
            edits: vec![
                FileEdit::Remove { path: path("a/metadata.json") },
                FileEdit::Write { path: path("b/c/metadata.json"), text: "{}".to_owned() },
                FileEdit::Remove { path: path("a/missing") },
            ],
            prune: vec![path("a")],
        };
        apply(root.path(), &plan).unwrap_err();
        assert_eq!(files(root.path()), [root.path().join("a/metadata.json").display().to_string()]);
        assert!(!root.path().join("b").exists());
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let (root, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), root.path().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("file"), root.path().join("metadata.json")).unwrap();
        for target in ["link/metadata.json", "link/x/metadata.json", "metadata.json"] {
            let edit = FileEdit::Write { path: path(target), text: "{}".to_owned() };
            apply(root.path(), &EditPlan { edits: vec![edit], prune: Vec::new() }).unwrap_err();
        }
        assert!(files(outside.path()).is_empty());
    }
}
