//! Snapshots of a tree of files, and which files differ between two of them.

mod changes;
mod copies;
mod memory;
mod renames;
mod scope;

use std::fmt;
use std::sync::Arc;

use smol_str::SmolStr;

pub use changes::{ChangedFile, Changes, changes, files_below};
pub use copies::{Copied, copies};
pub use memory::MemorySnapshot;
pub use renames::renames;
pub use scope::{Scope, ScopeError};

use crate::finding::{self, Finding, Location};
use crate::limits::Budget;
use crate::path::RepoPath;

/// A tree of files at one moment: a commit, the index, the working tree, a directory, or memory.
///
/// Implementations never start a process. Equal ids mean equal content, so that a comparison of two snapshots can skip entries with
/// the same id on both sides.
pub trait Snapshot: Sync {
    /// The name of this side in reports: `HEAD`, `3f9c2d1`, `index`, `working tree`.
    fn label(&self) -> &str;

    /// Lists a directory. The listing is empty if there is no such directory.
    fn list(&self, directory: &RepoPath) -> Listing;

    /// Like `list`, but returns a cached, shared listing where there is one.
    fn listing(&self, directory: &RepoPath) -> Arc<Listing> {
        Arc::new(self.list(directory))
    }

    /// Lists a directory that was listed above, which need not be looked up again.
    fn listing_of(&self, directory: &Entry) -> Arc<Listing> {
        self.listing(&directory.path)
    }

    /// Calls a function with each member of a directory, in any order, without creating a path for each. Returns what could not be
    /// listed.
    fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Member<'_>)) -> Vec<Unreadable> {
        self.listing(directory).visit(directory, visit)
    }

    /// The members that differ between two trees of one directory, given by their ids; `None` if both must be listed to find out.
    fn differing(&self, _directory: &RepoPath, _before: ObjectId, _after: ObjectId) -> Option<Differing> {
        None
    }

    /// The entry at a path, if there is one.
    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable>;

    /// The content of a file. Its size is checked before anything is read.
    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable>;

    /// Shows the content of a file to a function, and keeps nothing of it. It does not count against the bytes of a run, so that a
    /// whole tree can be looked at; the limit for one file applies.
    fn look(&self, file: &Entry, look: &mut dyn FnMut(&[u8])) -> Result<(), Unreadable> {
        self.read(file).map(|bytes| look(&bytes))
    }

    /// Another tree of the same place by its id, if there can be others. Whether it is there shows when it is read.
    fn other_tree(&self, _id: ObjectId) -> Option<Box<dyn Snapshot + '_>> {
        None
    }

    /// Sorts entries into the order in which reading them is cheapest; packs are read from front to back.
    fn sort_for_reading(&self, _entries: &mut [Entry]) {}

    /// Says that many files were read and few more will be: what was kept to read the next ones faster is not worth its memory.
    fn forget_read(&self) {}
}

/// A member of a directory, borrowed from its listing.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    /// The directory.
    pub directory: &'a RepoPath,
    /// The file name.
    pub name: &'a [u8],
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The object id, if it is known.
    pub id: Option<ObjectId>,
}

impl<'a> Member<'a> {
    /// An entry of a directory as a member.
    pub fn new(entry: &'a Entry, directory: &'a RepoPath) -> Self {
        Self { directory, name: entry.path.file_name(), kind: entry.kind, id: entry.id }
    }

    /// The path of the member.
    pub fn path(&self) -> RepoPath {
        self.directory.join(self.name).expect("listings hold valid names only")
    }

    /// The member as an entry.
    pub fn entry(&self) -> Entry {
        Entry { path: self.path(), kind: self.kind, id: self.id }
    }
}

/// The members that differ between two trees.
#[derive(Debug, Clone, Default)]
pub struct Differing {
    /// Members of the older tree, in the order of [`Entry::sort_key`].
    pub before: Vec<Entry>,
    /// Members of the newer tree, in the order of [`Entry::sort_key`].
    pub after: Vec<Entry>,
    /// The number of members of the larger tree.
    pub members: u64,
}

/// The members of a directory. One that cannot be listed does not hide the others.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The members, in the order of [`Entry::sort_key`].
    pub entries: Vec<Entry>,
    /// Members that could not be listed, or the directory itself if nothing could.
    pub unreadable: Vec<Unreadable>,
}

impl Listing {
    /// Calls a function with each member, and returns what could not be listed.
    pub fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Member<'_>)) -> Vec<Unreadable> {
        self.entries.iter().for_each(|entry| visit(&Member::new(entry, directory)));
        self.unreadable.clone()
    }

    /// Whether a member that is not among the entries certainly does not exist.
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
    /// The path from the root of the snapshot.
    pub path: RepoPath,
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The id of the content, if it is known without reading it.
    pub id: Option<ObjectId>,
}

impl Entry {
    /// The key that listings are sorted by: the path in byte order; where a conflict leaves a file and a directory of one name, the
    /// file comes first.
    pub fn sort_key(&self) -> (&RepoPath, bool) {
        (&self.path, self.kind == EntryKind::Directory)
    }
}

/// The kinds of entries in a directory.
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

/// The name that git gives to a content: a SHA-1 or SHA-256 hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    bytes: [u8; 32],
    length: u8,
}

impl ObjectId {
    /// An id of 20 or 32 bytes; `None` for any other length.
    pub fn new(bytes: &[u8]) -> Option<Self> {
        let length = u8::try_from(bytes.len()).ok().filter(|length| [20, 32].contains(length))?;
        let mut id = Self { bytes: [0; 32], length };
        id.bytes[..bytes.len()].copy_from_slice(bytes);
        Some(id)
    }

    /// The id that is displayed as this text.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: Vec<u8> = text.chars().map(|c| c.to_digit(16).map(|digit| digit as u8)).collect::<Option<_>>()?;
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| pair[0] << 4 | pair.get(1).copied().unwrap_or(0)).collect();
        Self::new(&bytes).filter(|id| id.to_string() == text)
    }

    /// The first eight bytes of the hash.
    pub fn short(&self) -> u64 {
        self.bytes.iter().take(8).fold(0, |short, byte| short << 8 | u64::from(*byte))
    }

    /// The bytes of the hash.
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
    /// Its path.
    pub path: RepoPath,
    /// The label of its snapshot.
    pub revision: SmolStr,
    /// Why it could not be read.
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
    /// The run has reached its limit of bytes.
    #[error("not read, because this run has reached its limit of {limit} bytes")]
    RunTooLarge {
        /// The limit.
        limit: u64,
    },
    /// There are more entries, or deeper directories, than the limit.
    #[error("not listed, because this run has reached its limit of {limit} {what}")]
    TooManyEntries {
        /// The limit.
        limit: u64,
        /// What is limited.
        what: &'static str,
    },
    /// The object is not in the object database.
    #[error("object {id} is not in this repository")]
    MissingObject {
        /// The object.
        id: String,
        /// How to get the object.
        help: String,
    },
    /// A name that is unsafe to check out.
    #[error("the tree holds {name}, which is not a valid file name")]
    UnsafeName {
        /// The name, quoted.
        name: String,
    },
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

/// Counts a file of this size against the limits before it is read; the error says why it must not be read. `content` is a hash of
/// what is read, or of where it is.
pub fn admit(content: u64, size: u64, budget: &Budget) -> Result<(), Reason> {
    let Budget { limits, spent, .. } = budget;
    if size > limits.file_bytes {
        return Err(Reason::FileTooLarge { size, limit: limits.file_bytes });
    }
    if !spent.take_bytes(size, limits) {
        return Err(Reason::RunTooLarge { limit: limits.run_bytes });
    }
    limits.note_bytes(content, size);
    Ok(())
}

impl Unreadable {
    /// The finding about this.
    pub fn into_finding(self) -> Finding {
        let message = self.reason.to_string();
        let location = Location::File { path: self.path, revision: self.revision };
        match self.reason {
            Reason::FileTooLarge { .. } => Finding::new(&finding::LIMIT_FILE_SIZE, location, message)
                .help("raise `limits.file_bytes` in outcrop.yaml if the file is supposed to be this large"),
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
