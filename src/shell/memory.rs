//! What is known about whole trees from earlier runs, in files under the git directory that may be deleted at any time.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment;
use super::git::Repository;
use crate::path::RepoPath;
use crate::pipeline::Memory;
use crate::source::ObjectId;

/// One file per tree, named by the tree's id: a first line that says what it is, then the files that include others, each
/// ended by a NUL byte. Anything that does not look like that is as good as nothing.
pub(super) struct TreeMemory {
    folder: Option<PathBuf>,
}

const HEADER: &[u8] = b"outcrop includers 2\n";
/// Old trees are forgotten when there are more than this many.
const MOST_TREES: usize = 64;

impl TreeMemory {
    /// The memory of a repository; `OUTCROP_CACHE=off` keeps it from being used or made.
    pub(super) fn of(repository: &Repository) -> Self {
        let is_off = environment::text("OUTCROP_CACHE").ok().flatten().is_some_and(|value| value == "off");
        Self { folder: (!is_off).then(|| repository.git_directory().join("outcrop/includers")) }
    }

    /// Remembers nothing.
    pub(super) fn none() -> Self {
        Self { folder: None }
    }
}

impl Memory for TreeMemory {
    fn recall(&self, tree: ObjectId) -> Option<Vec<RepoPath>> {
        let bytes = fs::read(self.folder.as_ref()?.join(tree.to_string())).ok()?;
        let body = bytes.strip_prefix(HEADER)?;
        let Some(body) = body.strip_suffix(b"\0") else { return body.is_empty().then(Vec::new) };
        body.split(|&byte| byte == 0).map(|path| RepoPath::new(path).ok()).collect()
    }

    /// A memory that cannot be written is only slow; nobody needs to be told.
    fn remember(&self, tree: ObjectId, includers: &[RepoPath]) {
        let Some(folder) = &self.folder else { return };
        let _ = fs::create_dir_all(folder);
        forget_old(folder);
        let mut bytes = HEADER.to_vec();
        for path in includers {
            bytes.extend_from_slice(path.as_bytes());
            bytes.push(0);
        }
        // Written aside and renamed, so that nobody reads half of it.
        let aside = folder.join(format!("{tree}.{}", std::process::id()));
        if fs::write(&aside, bytes).is_ok() {
            let _ = fs::rename(&aside, folder.join(tree.to_string()));
        }
    }
}

fn forget_old(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let excess = files.len().saturating_sub(MOST_TREES);
    for (_, file) in files.into_iter().take(excess) {
        let _ = fs::remove_file(file);
    }
}
