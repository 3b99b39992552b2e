//! The files on disk, as far as git tracks them: what `git diff` compares.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gix::index::entry::{Flags, Mode, Stage, Stat, stat};
use gix::index::fs::Metadata;

use super::error::GitError;
use super::index::{View, kind_of};
use super::objects::Objects;
use crate::limits::{Budget, Limits};
use crate::parallel::few_or_many;
use crate::path::RepoPath;
use crate::shell::directory::{Links, is_absence, is_directory, os_name, read_below};
use crate::snapshot::{Entry, EntryKind, Listing, ObjectId, Reason, Snapshot, Unreadable};

/// The tracked files with their content on disk.
///
/// A file that has not changed since it was staged keeps its object id and is read from the object database. A file that
/// has changed is read as is: no filter and no conversion of line endings is applied, because filters are programs
/// named by configuration, and because documents are compared by what they mean, not by their bytes.
pub struct WorktreeSnapshot {
    view: View,
    root: PathBuf,
}

impl WorktreeSnapshot {
    /// Looks at each tracked file once, on all cores.
    pub(super) fn open(objects: Arc<Objects>, root: &Path, budget: Budget) -> Result<Self, GitError> {
        let index = objects.index()?;
        let comparison = objects.with(|repository, _| Comparison {
            root,
            index: &index,
            options: repository.stat_options().unwrap_or_default(),
            has_links: repository.config_snapshot().boolean("core.symlinks").unwrap_or(true),
        });
        let differences = comparison.differences();
        let mut view = View { objects, index, label: "working tree", budget, absent: Vec::new(), changed: Vec::new() };
        for (position, state) in differences {
            match state {
                State::Absent => view.absent.push(position),
                State::Changed(kind) => view.changed.push((position, kind)),
            }
        }
        Ok(Self { view, root: root.to_owned() })
    }

    /// Moves the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.view.budget.limits = limits;
    }
}

impl Snapshot for WorktreeSnapshot {
    fn label(&self) -> &str {
        self.view.label
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        self.view.list(directory)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.view.entry(path)
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        if file.id.is_some() {
            match self.view.read_object(file) {
                // A partial clone lacks old content, but what is checked out is here.
                Err(Unreadable { reason: Reason::MissingObject { .. }, .. }) => {}
                read => return read,
            }
        }
        let read = read_below(&self.root, &file.path, Links::Keep, &self.view.budget);
        read.map_err(|reason| self.view.unreadable(&file.path, reason))
    }

    fn look(&self, file: &Entry, look: &mut dyn FnMut(&[u8])) -> Result<(), Unreadable> {
        if file.id.is_some() && self.view.look_at_object(file, look).is_ok() {
            return Ok(());
        }
        self.read(file).map(|bytes| look(&bytes))
    }

    fn other_tree(&self, id: ObjectId) -> Option<Box<dyn Snapshot + '_>> {
        Some(Box::new(self.view.commit(id)))
    }

    fn sort_for_reading(&self, entries: &mut [Entry]) {
        self.view.objects.sort_for_reading(entries);
    }

    fn forget_read(&self) {
        self.view.objects.forget_read();
    }
}

/// How a file on disk differs from its entry in the index.
enum State {
    Absent,
    Changed(EntryKind),
}

/// What it takes to compare the index with the disk.
struct Comparison<'a> {
    root: &'a Path,
    index: &'a gix::index::State,
    options: stat::Options,
    has_links: bool,
}

impl Comparison<'_> {
    fn differences(&self) -> Vec<(usize, State)> {
        // Neighbours share directories, so that a thread looks at each directory about once.
        const CHUNK: usize = 512;
        let chunks: Vec<_> = self.index.entries().chunks(CHUNK).enumerate().collect();
        let states = few_or_many(chunks, 2, |(number, chunk)| {
            let mut directories = Directories::default();
            let states = chunk.iter().map(|entry| self.state(entry, &mut directories));
            let positions = number * CHUNK..;
            positions.zip(states).filter_map(|(position, state)| Some((position, state?))).collect::<Vec<_>>()
        });
        states.into_iter().flatten().collect()
    }

    fn state(&self, entry: &gix::index::Entry, directories: &mut Directories) -> Option<State> {
        let path: &[u8] = entry.path(self.index);
        // Sparse checkouts leave files out on purpose, and `--assume-unchanged` asks not to look.
        let is_exempt = entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID) || entry.mode == Mode::DIR;
        if is_exempt && entry.stage() == Stage::Unconflicted {
            return None;
        }
        if !directories.are_real(self.root, path) {
            return Some(State::Absent);
        }
        let Some(on_disk) = below(self.root, path) else { return Some(State::Absent) };
        let metadata = match Metadata::from_path_no_follow(&on_disk) {
            Ok(metadata) => metadata,
            Err(error) if is_absence(&error) => return Some(State::Absent),
            // Reading it will say what is wrong.
            Err(_) => return Some(State::Changed(EntryKind::File)),
        };
        let kind = self.kind_on_disk(entry, &metadata);
        if kind == EntryKind::Directory {
            return Some(State::Absent);
        }
        let is_tracked = entry.stage() == Stage::Unconflicted && !entry.flags.contains(Flags::INTENT_TO_ADD);
        let is_same = is_tracked && kind == kind_of(entry.mode) && self.is_unchanged(entry, kind, &metadata, &on_disk);
        (!is_same).then_some(State::Changed(kind))
    }

    fn kind_on_disk(&self, entry: &gix::index::Entry, metadata: &Metadata) -> EntryKind {
        if metadata.is_dir() {
            // What a submodule has checked out is not looked at.
            return if entry.mode == Mode::COMMIT { EntryKind::Submodule } else { EntryKind::Directory };
        }
        // Where the file system has no links, git writes them as files.
        let stands_for_link = !self.has_links && entry.mode == Mode::SYMLINK && metadata.is_file();
        if metadata.is_symlink() || stands_for_link { EntryKind::Symlink } else { EntryKind::File }
    }

    fn is_unchanged(&self, entry: &gix::index::Entry, kind: EntryKind, metadata: &Metadata, on_disk: &Path) -> bool {
        if kind == EntryKind::Submodule {
            return true;
        }
        let Ok(found) = Stat::from_fs(metadata) else { return false };
        // A file written in the same moment as the index may have changed since without showing it.
        if entry.stat.matches(&found, self.options) && !entry.stat.is_racy(self.index.timestamp(), self.options) {
            return true;
        }
        // git notes the size 0 where it wants the content to be looked at.
        let is_other_size = entry.stat.size != 0 && entry.stat.size != found.size;
        !is_other_size && self.hash(kind, metadata, on_disk).is_some_and(|id| id == entry.id)
    }

    /// The id the content on disk would have, unless it cannot be read.
    fn hash(&self, kind: EntryKind, metadata: &Metadata, on_disk: &Path) -> Option<gix::ObjectId> {
        let mut hasher = gix::hash::hasher(self.index.object_hash());
        if kind == EntryKind::Symlink && metadata.is_symlink() {
            let target = std::fs::read_link(on_disk).ok()?;
            let target = target.as_os_str().as_encoded_bytes();
            hasher.update(&gix::objs::encode::loose_header(gix::objs::Kind::Blob, target.len() as u64));
            hasher.update(target);
            return hasher.try_finalize().ok();
        }
        if !metadata.is_file() {
            return None;
        }
        hasher.update(&gix::objs::encode::loose_header(gix::objs::Kind::Blob, metadata.len()));
        let mut file = File::open(on_disk).ok()?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match file.read(&mut buffer).ok()? {
                0 => return hasher.try_finalize().ok(),
                length => hasher.update(&buffer[..length]),
            }
        }
    }
}

/// Which directories are known to be directories and not links, for a thread that visits paths in order.
#[derive(Default)]
struct Directories {
    /// The deepest directory found real last, with its slash.
    real: Vec<u8>,
    /// The last one found missing, or to be something else, with its slash.
    unreal: Vec<u8>,
}

impl Directories {
    fn are_real(&mut self, root: &Path, path: &[u8]) -> bool {
        let Some(slash) = path.iter().rposition(|&byte| byte == b'/') else { return true };
        let directory = &path[..=slash];
        if !self.unreal.is_empty() && directory.starts_with(&self.unreal) {
            return false;
        }
        while !directory.starts_with(&self.real) {
            self.real.pop();
            let end = self.real.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
            self.real.truncate(end);
        }
        while let Some(length) = directory[self.real.len()..].iter().position(|&byte| byte == b'/') {
            let next = &directory[..self.real.len() + length];
            let next_with_slash = directory[..=next.len()].to_vec();
            if !below(root, next).is_some_and(|on_disk| is_directory(&on_disk)) {
                self.unreal = next_with_slash;
                return false;
            }
            self.real = next_with_slash;
        }
        true
    }
}

/// Where an entry is on disk. The index may be anyone's, so its paths are not trusted to stay below the root.
fn below(root: &Path, path: &[u8]) -> Option<PathBuf> {
    if path.split(|&byte| byte == b'/').any(|name| matches!(name, b"" | b"." | b"..")) {
        return None;
    }
    #[cfg(unix)]
    {
        Some(root.join(os_name(path).ok()?))
    }
    #[cfg(not(unix))]
    {
        let names = path.split(|&byte| byte == b'/').map(|name| os_name(name).ok());
        names.collect::<Option<Vec<_>>>().map(|names| root.join(names.iter().collect::<PathBuf>()))
    }
}
