//! Stage 1, which bytes: snapshots of a tree of files, and what differs between two of them.

mod changes;
mod memory;
mod scope;

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

pub use changes::{ChangedFile, Changes, changes, files_below};
pub use memory::MemorySnapshot;
pub use scope::{Scope, ScopeError};

use crate::finding::{self, Finding, Location};
use crate::limits::Budget;
use crate::path::RepoPath;

/// A tree of files at one moment: a commit, the index, the working tree, a directory, or memory.
///
/// Implementations answer from what they have and never start a process. Equal ids promise equal content, so that whoever
/// compares two snapshots can skip what has the same id on both sides.
pub trait Snapshot: Sync {
    /// As people call this side: `HEAD`, `3f9c2d1`, `index`, `working tree`.
    fn label(&self) -> &str;

    /// The members of a directory; none if there is no such directory.
    fn list(&self, directory: &RepoPath) -> Listing;

    /// The same, shared with whoever asked before: for whoever only looks.
    fn listing(&self, directory: &RepoPath) -> Arc<Listing> {
        Arc::new(self.list(directory))
    }

    /// Looks at each member of a directory in passing, in any order: for whoever wants to find a few among many.
    fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Member<'_>)) -> Vec<Unreadable> {
        self.listing(directory).visit(directory, visit)
    }

    /// What is not the same in two trees that stand at one place, by their ids; nothing where only listing both can tell.
    fn differing(&self, _directory: &RepoPath, _before: ObjectId, _after: ObjectId) -> Option<Differing> {
        None
    }

    /// What stands at a path, if anything.
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable>;

    /// The content of a file. Sizes are checked before anything is read.
    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable>;

    /// Puts entries into the order in which reading them is cheapest; packs are read from front to back.
    fn sort_for_reading(&self, _entries: &mut [Entry]) {}
}

/// A member of a directory that somebody looks at in passing.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// Where it is.
    pub directory: &'a RepoPath,
    /// What it is called there.
    pub name: &'a [u8],
    /// What it is.
    pub kind: EntryKind,
    /// Its id, if one is known.
    pub id: Option<ObjectId>,
}

impl<'a> Member<'a> {
    /// An entry of a directory.
    pub fn of(entry: &'a Entry, directory: &'a RepoPath) -> Self {
        Self { directory, name: entry.path.file_name(), kind: entry.kind, id: entry.id }
    }

    /// Where it stands.
    pub fn path(&self) -> RepoPath {
        self.directory.join(self.name).expect("whoever lists members has checked their names")
    }

    /// As an entry.
    pub fn entry(&self) -> Entry {
        Entry { path: self.path(), kind: self.kind, id: self.id }
    }
}

/// The members of two trees that are not the same in both.
#[derive(Debug, Clone, Default)]
pub struct Differing {
    /// Those of the older tree, in the order of [`Entry::place`].
    pub before: Vec<Entry>,
    /// Those of the newer tree.
    pub after: Vec<Entry>,
    /// How many members the larger tree has.
    pub members: u64,
}

/// What a directory holds. One bad member does not hide the others.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The members, in the order of [`Entry::place`].
    pub entries: Vec<Entry>,
    /// Members that could not be listed, or the directory itself if nothing could.
    pub unreadable: Vec<Unreadable>,
}

impl Listing {
    /// Shows each member of the directory, and gives what could not be listed.
    pub fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Member<'_>)) -> Vec<Unreadable> {
        self.entries.iter().for_each(|entry| visit(&Member::of(entry, directory)));
        self.unreadable.clone()
    }

    /// Whether a member that is not among the entries is surely not there.
    pub fn rules_out(&self, directory: &[u8], member: &RepoPath) -> bool {
        let is_doubt = |unreadable: &Unreadable| {
            let is_nameless = matches!(unreadable.reason, Reason::UnsafeName { .. });
            unreadable.path == *member || unreadable.path.as_bytes() == directory && !is_nameless
        };
        !self.unreadable.iter().any(is_doubt)
    }
}

impl From<Unreadable> for Listing {
    fn from(unreadable: Unreadable) -> Self {
        Self { entries: Vec::new(), unreadable: vec![unreadable] }
    }
}

/// One member of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Where it stands.
    pub path: RepoPath,
    /// What it is.
    pub kind: EntryKind,
    /// What it holds, if that is known without reading it.
    pub id: Option<ObjectId>,
}

impl Entry {
    /// What listings are sorted by: byte order of the paths, and where a conflict leaves a file and a directory of one
    /// name, the file first.
    pub fn place(&self) -> (&RepoPath, bool) {
        (&self.path, self.kind == EntryKind::Directory)
    }
}

/// What can stand in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link; its content is the path it points to. Links are never followed.
    Symlink,
    /// Another repository's commit; its content is not here.
    Submodule,
    /// A path with an unresolved merge conflict: there is no single content.
    Conflict,
}

/// The name git gives to a content: SHA-1 or SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    bytes: [u8; 32],
    length: u8,
}

impl ObjectId {
    /// Takes 20 or 32 bytes; anything else is not an id.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let length = u8::try_from(bytes.len()).ok().filter(|length| [20, 32].contains(length))?;
        let mut id = Self { bytes: [0; 32], length };
        id.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(id)
    }

    /// The raw id.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

/// Something of a snapshot that could not be read, and why.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{path}: {reason}")]
pub struct Unreadable {
    /// What.
    pub path: RepoPath,
    /// On which side.
    pub revision: SmolStr,
    /// Why.
    pub reason: Reason,
}

/// Why something could not be read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Reason {
    /// The file is larger than the limit.
    #[error("{size} bytes, more than the limit of {limit} bytes for one file")]
    FileTooLarge {
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// The run has read its share.
    #[error("not read, because this run has reached its limit of {limit} bytes")]
    RunTooLarge {
        /// The limit.
        limit: u64,
    },
    /// There are more entries, or deeper directories, than the limit.
    #[error("not looked at, because this run has reached its limit of {limit} {what}")]
    TooManyEntries {
        /// The limit.
        limit: u64,
        /// Of what.
        what: &'static str,
    },
    /// The object is not in the object database.
    #[error("object {id} is not in this repository")]
    MissingObject {
        /// The object.
        id: String,
        /// What would bring it here.
        help: String,
    },
    /// A name that would lead out of the tree.
    #[error("the tree holds {name}, which is no file name")]
    UnsafeName {
        /// The name, quoted.
        name: String,
    },
    /// Anything else, in the words of the one who failed.
    #[error("{0}")]
    Other(String),
}

/// Books a file of this size before anything of it is read, or says why it must not be read.
pub fn admit(size: u64, budget: &Budget) -> Result<(), Reason> {
    let Budget { limits, spent, .. } = budget;
    if size > limits.file_bytes {
        return Err(Reason::FileTooLarge { size, limit: limits.file_bytes });
    }
    if !spent.take_bytes(size, limits) {
        return Err(Reason::RunTooLarge { limit: limits.run_bytes });
    }
    Ok(())
}

impl Unreadable {
    /// The finding that tells the user.
    pub fn into_finding(self) -> Finding {
        let message = self.reason.to_string();
        let location = Location::File { path: self.path, revision: self.revision };
        match self.reason {
            Reason::FileTooLarge { .. } => Finding::new(&finding::LIMIT_FILE_SIZE, location, message)
                .help("raise `limits.file_bytes` in outcrop.yaml if the file is meant to be this large"),
            Reason::RunTooLarge { .. } => Finding::new(&finding::LIMIT_RUN_SIZE, location, message)
                .help("name the paths of interest after `--`, or raise `limits.run_bytes` in outcrop.yaml"),
            Reason::TooManyEntries { .. } => Finding::new(&finding::LIMIT_ENTRIES, location, message)
                .help("name the paths of interest after `--`, or raise `limits.entries` in outcrop.yaml"),
            Reason::MissingObject { help, .. } => {
                Finding::new(&finding::SOURCE_MISSING_OBJECT, location, message).help(help)
            }
            Reason::UnsafeName { .. } => Finding::new(&finding::SOURCE_UNSAFE_NAME, location, message)
                .help("git itself refuses to check this tree out; find the commit that made it and replace it"),
            Reason::Other(_) => Finding::new(&finding::SOURCE_UNREADABLE, location, message),
        }
    }
}
