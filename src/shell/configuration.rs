//! The configuration of a run: the file that the user names, or the `outcrop.yaml` of each side.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::cli::Global;
use super::directory::read_regular;
use super::error::Failure;
use super::git::{GitSnapshot, Repository, Revision};
use super::guard;
use super::output;
use crate::limits::{Budget, Limits};
use crate::names;
use crate::path::RepoPath;
use crate::settings::{Configuration, Policy};
use crate::snapshot::{MemorySnapshot, Snapshot};
use crate::text::Sources;

/// The configuration of two sides.
pub(super) fn for_pair(
    global: &Global,
    before: &dyn Snapshot,
    after: &dyn Snapshot,
    policy: Policy,
    sources: &Sources,
) -> Result<Configuration, Failure> {
    let configuration = named(global, sources)?.unwrap_or_else(|| Configuration::read(before, after, policy, sources));
    guard::watch(configuration.limits());
    Ok(configuration)
}

/// The configuration of one side.
pub(super) fn for_one(global: &Global, snapshot: &dyn Snapshot, sources: &Sources) -> Result<Configuration, Failure> {
    let configuration = beside(global, snapshot, sources)?;
    guard::watch(configuration.limits());
    Ok(configuration)
}

/// The configuration of a snapshot that is not what the run is about, so that its limits are not those of the run.
pub(super) fn beside(global: &Global, snapshot: &dyn Snapshot, sources: &Sources) -> Result<Configuration, Failure> {
    Ok(named(global, sources)?.unwrap_or_else(|| Configuration::of_one(snapshot, sources)))
}

/// The configuration in the file that `--config` names.
pub(super) fn named(global: &Global, sources: &Sources) -> Result<Option<Configuration>, Failure> {
    let Some(file) = &global.config else { return Ok(None) };
    let failed = |error: io::Error| {
        Failure::new(format!("the configuration {} cannot be read: {error}", file.display()))
            .help("--config and OUTCROP_CONFIG name a file in the format of outcrop.yaml")
    };
    let directory = global.directory.clone().unwrap_or_else(|| PathBuf::from("."));
    let content = content(&directory.join(file)).map_err(failed)?;
    let name = file.file_name().unwrap_or(file.as_os_str()).as_encoded_bytes();
    let whole = RepoPath::new(file.as_os_str().as_encoded_bytes());
    let path = whole.or_else(|_| RepoPath::new(name)).map_err(|error| Failure::new(error.to_string()))?;
    let snapshot = MemorySnapshot::new("--config").with(path.clone(), content);
    Ok(Some(Configuration::of_file(&snapshot, &path, sources)))
}

/// Says on standard error that the `outcrop.yaml` on disk is not the one that applies, because git does not know it or not as it
/// is. A file of an older commit that was edited and committed since is nothing to mention.
pub(super) fn note_ignored(global: &Global, repository: &Repository, newer: &GitSnapshot) {
    let (None, Some(root)) = (&global.config, repository.root()) else { return };
    let Some(on_disk) =
        read_regular(&root.join(names::CONFIGURATION), Limits::default().file_bytes).ok().map(normalised)
    else {
        return;
    };
    let in_use = tracked(newer);
    let is_worktree = matches!(newer, GitSnapshot::Worktree(_));
    if in_use.as_ref() == Some(&on_disk) || is_worktree && in_use.is_some() {
        return;
    }
    let index = repository.snapshot(&Revision::Index, &Budget::default()).ok();
    let (state, command) = match index.as_ref().and_then(tracked) {
        None => ("is not tracked by git and is", "git add outcrop.yaml"),
        Some(staged) if staged != on_disk => ("has changes that are not staged and are", "git add outcrop.yaml"),
        Some(_) => return,
    };
    output::note(&format!("note: outcrop.yaml {state} ignored; `{command}` or `--config outcrop.yaml` uses it"));
}

/// The `outcrop.yaml` of a snapshot.
fn tracked(snapshot: &GitSnapshot) -> Option<Vec<u8>> {
    let entry = snapshot.entry(&RepoPath::new(names::CONFIGURATION).ok()?).ok()??;
    snapshot.read(&entry).ok().map(|bytes| normalised(bytes.to_vec()))
}

/// A checkout may end lines in its own way.
fn normalised(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.retain(|&byte| byte != b'\r');
    bytes
}

fn content(file: &Path) -> io::Result<Vec<u8>> {
    let most = Limits::default().file_bytes;
    let mut bytes = Vec::new();
    File::open(file)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(bytes)
}
