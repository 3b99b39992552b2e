//! What is known about whole trees from earlier runs, in files under the git directory that may be deleted at any time.

use std::fs;
use std::path::{Path, PathBuf};

use super::environment;
use super::git::Repository;
use crate::impact::{Memory, Notable};
use crate::path::RepoPath;
use crate::snapshot::ObjectId;

/// One file per tree, named by the tree's id: a first line that says what it is, then the files that depend on others. Each is a
/// letter (`e` if it may hold expressions, `-` if not), its path, and every file that it reads, each ended by a NUL byte, with one
/// more NUL at the end. Anything that does not look like that is as good as nothing.
pub(super) struct TreeMemory {
    folder: Option<PathBuf>,
}

const HEADER: &[u8] = b"outcrop notable 1\n";
/// Old trees are forgotten when there are more than this many.
const MOST_TREES: usize = 64;

impl TreeMemory {
    /// The memory of a repository; `OUTCROP_CACHE=off` keeps it from being used or made.
    pub(super) fn of(repository: &Repository) -> Self {
        let is_off = environment::text("OUTCROP_CACHE").ok().flatten().is_some_and(|value| value == "off");
        Self { folder: (!is_off).then(|| repository.git_directory().join("outcrop/notable")) }
    }

    /// Remembers nothing.
    pub(super) fn none() -> Self {
        Self { folder: None }
    }
}

impl Memory for TreeMemory {
    fn recall(&self, tree: ObjectId) -> Option<Vec<Notable>> {
        let bytes = fs::read(self.folder.as_ref()?.join(tree.to_string())).ok()?;
        read(&bytes)
    }

    /// A memory that cannot be written is only slow; nobody needs to be told.
    fn remember(&self, tree: ObjectId, notable: &[Notable]) {
        let Some(folder) = &self.folder else { return };
        let _ = fs::create_dir_all(folder);
        forget_old(folder);
        let bytes = written(notable);
        // Written aside and renamed, so that nobody reads half of it.
        let aside = folder.join(format!("{tree}.{}", std::process::id()));
        if fs::write(&aside, bytes).is_ok() {
            let _ = fs::rename(&aside, folder.join(tree.to_string()));
        }
    }
}

/// A sum over everything after the header, so that what was cut off or damaged is not taken for the whole.
fn checksum(body: &[u8]) -> [u8; 8] {
    let sum = body
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    sum.to_be_bytes()
}

fn written(notable: &[Notable]) -> Vec<u8> {
    let mut body = Vec::new();
    for Notable { path, reads, has_expressions } in notable {
        body.push(if *has_expressions { b'e' } else { b'-' });
        for path in std::iter::once(path).chain(reads) {
            body.extend_from_slice(path.as_bytes());
            body.push(0);
        }
        body.push(0);
    }
    [HEADER, &checksum(&body), &body].concat()
}

fn read(bytes: &[u8]) -> Option<Vec<Notable>> {
    let (sum, mut body) = bytes.strip_prefix(HEADER)?.split_first_chunk::<8>()?;
    if *sum != checksum(body) {
        return None;
    }
    let mut notable = Vec::new();
    while let Some((kind, rest)) = body.split_first() {
        let end = rest.windows(2).position(|pair| pair == [0, 0])?;
        let mut paths = rest[..end].split(|&byte| byte == 0).map(RepoPath::new);
        let path = paths.next()?.ok()?;
        let reads = paths.collect::<Result<_, _>>().ok()?;
        notable.push(Notable { path, reads, has_expressions: *kind == b'e' });
        body = &rest[end + 2..];
    }
    Some(notable)
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
