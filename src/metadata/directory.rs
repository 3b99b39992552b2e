//! What a directory means for layers: the selectors it leads to, and the metadata it holds.

use smol_str::SmolStr;

use super::selector::WILDCARD;
use crate::finding::{self, Finding, Location};
use crate::glob::{check_glob, glob_matches};
use crate::names;
use crate::path::RepoPath;
use crate::snapshot::{Entry, EntryKind, Snapshot, Unreadable};

pub use crate::names::{is_layer_file, is_metadata_file, is_patch_file};

/// A directory, as far as layers are concerned. Its other members are many, and are asked for one by one.
#[derive(Debug)]
pub(super) struct Directory {
    pub(super) path: RepoPath,
    /// Whether it holds a directory `_`.
    pub(super) has_wildcard: bool,
    /// The directories in it whose names are globs, in byte order.
    pub(super) globs: Vec<SmolStr>,
    /// The metadata files in it, the preferred one first; some may be no files.
    pub(super) metadata: Vec<Entry>,
    /// The patch files in it, in the same way.
    pub(super) patches: Vec<Entry>,
    /// What is wrong with it.
    pub(super) findings: Vec<Finding>,
}

/// How a directory's name matches a segment. Wildcards are weaker than literal names of the same depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    Wildcard,
    Literal,
}

impl Directory {
    pub(super) fn list(snapshot: &dyn Snapshot, path: &RepoPath) -> Self {
        let mut directory = Self {
            path: path.clone(),
            has_wildcard: false,
            globs: Vec::new(),
            metadata: Vec::new(),
            patches: Vec::new(),
            findings: Vec::new(),
        };
        let mut globs: Vec<SmolStr> = Vec::new();
        let unreadable = snapshot.visit(path, &mut |member| {
            let name = member.name;
            if member.kind != EntryKind::Directory {
                directory.metadata.extend(is_metadata_file(name).then(|| member.entry()));
                directory.patches.extend(is_patch_file(name).then(|| member.entry()));
            } else if name == WILDCARD.as_bytes() {
                directory.has_wildcard = true;
            } else if name.iter().any(|byte| b"*?[".contains(byte)) {
                globs.extend(std::str::from_utf8(name).ok().map(SmolStr::new));
            }
        });
        // The order in which a snapshot lists its entries is not ours to rely on.
        globs.sort_unstable();
        directory.metadata.sort_by_key(|entry| names::rank(entry.path.file_name(), names::METADATA));
        directory.patches.sort_by_key(|entry| names::rank(entry.path.file_name(), names::PATCHES));
        // A member that could not be listed concerns layers only if it may be one.
        let concerns_us =
            |unreadable: &Unreadable| unreadable.path == *path || is_layer_file(unreadable.path.file_name());
        let unreadable = unreadable.into_iter().filter(concerns_us);
        directory.findings.extend(unreadable.map(Unreadable::into_finding));
        directory.take_globs(globs, snapshot);
        directory
    }

    fn take_globs(&mut self, globs: Vec<SmolStr>, snapshot: &dyn Snapshot) {
        for name in globs {
            let Err(reason) = check_glob(&name) else {
                self.globs.push(name);
                continue;
            };
            // Many tools use brackets in names; only where a layer waits in vain is there something to say.
            let Ok(below) = self.path.join(name.as_bytes()).and_then(|path| path.join(WILDCARD.as_bytes())) else {
                continue;
            };
            if snapshot.list(&below).entries.iter().any(|entry| is_layer_file(entry.path.file_name())) {
                let location = Location::File { path: below, revision: snapshot.label().into() };
                let message = format!("this layer applies to nothing, because a glob above it is malformed: {reason}");
                let finding = Finding::new(&finding::METADATA_SELECTOR, location, message);
                self.findings.push(finding.help("close the bracket, or put a backslash before it"));
            }
        }
    }

    /// The patterns in this directory that match a segment.
    pub(super) fn patterns_for(&self, segment: &str) -> impl Iterator<Item = &str> {
        let wildcard = self.has_wildcard.then_some(WILDCARD);
        let globs = self.globs.iter().filter(move |glob| glob_matches(glob, segment)).map(SmolStr::as_str);
        wildcard.into_iter().chain(globs)
    }

    /// Members of this directory, by name.
    pub(super) fn children<'n>(
        &self,
        likeness: Likeness,
        names: impl Iterator<Item = &'n str>,
    ) -> impl Iterator<Item = (Likeness, RepoPath)> {
        names.filter_map(move |name| Some((likeness, self.path.join(name.as_bytes()).ok()?)))
    }
}
