//! The object database behind all snapshots of a repository: one handle per thread, sizes before content.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, ThreadId};

use gix::objs::{Find as _, Kind};
use smol_str::{SmolStr, format_smolstr};

use super::error::{GitError, cause};
use super::gaps::Gaps;
use super::packs::{Unpacked, Unpacker};
use super::plain_tree::{PlainTree, entries, is_safe};
use super::stores::Stores;
use crate::limits::{Budget, Limits};
use crate::parallel::few_or_many;
use crate::path::RepoPath;
use crate::sanitize;
use crate::shell::recent::Recent;
use crate::snapshot::{self, Entry, EntryKind, Listing, ObjectId, Reason, Unreadable};

/// Objects by id, for any number of threads.
pub(super) struct Objects {
    shared: gix::ThreadSafeRepository,
    idle: Mutex<Vec<Handle>>,
    gaps: Gaps,
    index: OnceLock<Arc<gix::index::File>>,
    /// Where the index is, if gix would look for it elsewhere.
    index_path: Option<PathBuf>,
    stores: OnceLock<Stores>,
    /// Trees that were looked at before, on whichever side: most are the same on both. Nothing for those that are odd.
    trees: Mutex<Recent<ObjectId, Option<Arc<PlainTree>>>>,
}

/// Objects that take more memory than this are refused by gix before it allocates, so that trees need not be asked for
/// their size first. The few files that are larger and still wanted get a handle of their own.
pub(super) const ORDINARY_BYTES: u64 = 64 << 20;

/// What one thread needs: its own caches, and a buffer that is used again. Each thread gets its own handle back: it reads its part
/// of a pack from front to back, and the bases of deltas that another thread has unpacked are of no use to it.
struct Handle {
    thread: ThreadId,
    repository: gix::Repository,
    buffer: Vec<u8>,
    unpacker: Unpacker,
}

impl Handle {
    /// One for this thread.
    fn new(shared: &gix::ThreadSafeRepository) -> Self {
        let unpacker = Unpacker::new(ORDINARY_BYTES, super::cache_bytes());
        Self { thread: thread::current().id(), repository: shared.to_thread_local(), buffer: Vec::new(), unpacker }
    }
}

/// A buffer that once held a huge object is not worth keeping. Undoing deltas takes several times the size of an object, and memory
/// that is given back must be cleared by the system before it is used again.
const BUFFER_BYTES: usize = 16 << 20;

impl Objects {
    pub(super) fn new(shared: gix::ThreadSafeRepository, index_path: Option<PathBuf>) -> Self {
        let first = Handle::new(&shared);
        let gaps = Gaps::of(&first.repository);
        let (index, stores) = (OnceLock::new(), OnceLock::new());
        Self { shared, idle: Mutex::new(vec![first]), gaps, index, index_path, stores, trees: Mutex::default() }
    }

    /// Lends a handle; as many exist as threads have ever asked, or one thread has asked at once.
    pub(super) fn with<T>(&self, act: impl FnOnce(&gix::Repository, &mut Vec<u8>) -> T) -> T {
        self.with_handle(|handle| act(&handle.repository, &mut handle.buffer))
    }

    fn with_handle<T>(&self, act: impl FnOnce(&mut Handle) -> T) -> T {
        let thread = thread::current().id();
        let own = {
            let mut idle = self.idle.lock().expect("no thread panics while it holds this lock");
            let at = idle.iter().rposition(|handle| handle.thread == thread);
            at.map(|at| idle.swap_remove(at))
        };
        let mut handle = own.unwrap_or_else(|| Handle::new(&self.shared));
        let result = act(&mut handle);
        handle.buffer.clear();
        handle.buffer.shrink_to(BUFFER_BYTES);
        self.idle.lock().expect("no thread panics while it holds this lock").push(handle);
        result
    }

    /// Why objects may be missing here.
    pub(super) fn gaps(&self) -> &Gaps {
        &self.gaps
    }

    /// The content of a file, if it is not too large.
    ///
    /// gix refuses what is larger than an ordinary object before it inflates it. Only where less than that is allowed, by the
    /// limit or by what is left of the run's share, is the size asked for first: finding an object twice takes time.
    pub(super) fn blob(&self, id: ObjectId, budget: &Budget) -> Result<Arc<[u8]>, Reason> {
        let Budget { limits, spent, .. } = budget;
        let admit = |size| snapshot::admit(id.short(), size, budget);
        if limits.file_bytes >= ORDINARY_BYTES && spent.has_room_for(ORDINARY_BYTES, limits) {
            return self.read(id, Kind::Blob, admit, |data| Ok(data.into()));
        }
        admit(self.blob_size(id)?)?;
        self.read(id, Kind::Blob, |_| Ok(()), |data| Ok(data.into()))
    }

    /// Shows the content of a file to a function, if it is not too large. Nothing is copied.
    pub(super) fn look(&self, id: ObjectId, limits: &Limits, look: &mut dyn FnMut(&[u8])) -> Result<(), Reason> {
        let limit = limits.file_bytes;
        let admit = |size| if size > limit { Err(Reason::FileTooLarge { size, limit }) } else { Ok(()) };
        if limit < ORDINARY_BYTES {
            admit(self.blob_size(id)?)?;
        }
        self.read(id, Kind::Blob, admit, |data| {
            limits.note_bytes(id.short(), data.len() as u64);
            look(data);
            Ok(())
        })
    }

    /// The size of a file, read without inflating it.
    fn blob_size(&self, id: ObjectId) -> Result<u64, Reason> {
        let header = self.with(|repository, _| repository.try_find_header(to_gix(id)));
        match header.map_err(|error| damaged(to_gix(id), &error))? {
            Some(header) if header.kind() == Kind::Blob => Ok(header.size()),
            Some(header) => Err(wrong_kind(to_gix(id), header.kind(), Kind::Blob)),
            None => Err(self.missing(to_gix(id))),
        }
    }

    /// A tree, unless there is something odd about it; known trees are not read again.
    pub(super) fn plain_tree(&self, id: ObjectId, limits: &Limits) -> Option<Arc<PlainTree>> {
        let trees = || self.trees.lock().expect("no thread panics while it holds this lock");
        let known = trees().get(&id);
        let tree = known.unwrap_or_else(|| {
            let id_length = self.shared.objects.object_hash().len_in_bytes();
            let tree = self.tree_bytes(id).ok().and_then(|bytes| PlainTree::read(bytes, id_length)).map(Arc::new);
            let weight = 1 + tree.as_ref().map_or(0, |tree| tree.count());
            trees().keep(id, tree.clone(), weight);
            tree
        });
        tree.filter(|tree| tree.count() as u64 <= limits.entries)
    }

    /// The members of the tree of `directory`.
    pub(super) fn tree(&self, id: ObjectId, directory: &RepoPath, label: &str, limits: &Limits) -> Listing {
        let plain = self.plain_tree(id, limits);
        if let Some(entries) = plain.and_then(|tree| entries(tree.members(), directory)) {
            return Listing { entries, unreadable: Vec::new() };
        }
        let hash = self.shared.objects.object_hash();
        let listing = self.tree_bytes(id).and_then(|data| {
            let entries = || gix::objs::TreeRefIter::from_bytes(&data, hash);
            let limit = limits.entries;
            // A mode, a space, a name, a NUL and an id: fewer bytes than that cannot be an entry.
            let most = (data.len() / (8 + hash.len_in_bytes())) as u64;
            match most > limit && entries().count() as u64 > limit {
                true => Err(Reason::TooManyEntries { limit, what: "directory entries" }),
                false => Ok(list_tree(entries(), directory, label)),
            }
        });
        listing.unwrap_or_else(|reason| Unreadable { path: directory.clone(), revision: label.into(), reason }.into())
    }

    /// The bytes of a tree, shared with those who unpacked it.
    fn tree_bytes(&self, id: ObjectId) -> Result<Arc<Vec<u8>>, Reason> {
        let admit = |size| match size > ORDINARY_BYTES {
            true => Err(Reason::FileTooLarge { size, limit: ORDINARY_BYTES }),
            false => Ok(()),
        };
        let id = to_gix(id);
        if id == gix::ObjectId::empty_tree(id.kind()) {
            // It is known even where it was never written.
            return Ok(Arc::default());
        }
        self.with_handle(|handle| match self.unpacked(handle, id, Kind::Tree) {
            Some(bytes) => admit(bytes.len() as u64).map(|()| bytes),
            None => self.read_with_gix(handle, id, Kind::Tree, admit, |data| Ok(Arc::new(data.to_vec()))),
        })
    }

    /// Reads an object and makes something of it. Its size is admitted before anything is made, and before it is read if it is
    /// larger than an ordinary one.
    fn read<T>(
        &self,
        id: ObjectId,
        kind: Kind,
        admit: impl Fn(u64) -> Result<(), Reason>,
        make: impl FnOnce(&[u8]) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        let id = to_gix(id);
        self.with_handle(|handle| match self.unpacked(handle, id, kind) {
            Some(bytes) => admit(bytes.len() as u64).and_then(|()| make(&bytes)),
            None => self.read_with_gix(handle, id, kind, admit, make),
        })
    }

    /// Reads an object that there is something unusual about: it is loose, or large, or damaged.
    fn read_with_gix<T>(
        &self,
        handle: &mut Handle,
        id: gix::ObjectId,
        kind: Kind,
        admit: impl Fn(u64) -> Result<(), Reason>,
        make: impl FnOnce(&[u8]) -> Result<T, Reason>,
    ) -> Result<T, Reason> {
        let Handle { repository, buffer, .. } = handle;
        match repository.objects.try_find(&id, buffer) {
            Ok(Some(data)) if data.kind == kind => {
                admit(data.data.len() as u64)?;
                make(data.data)
            }
            Ok(Some(data)) => Err(wrong_kind(id, data.kind, kind)),
            Ok(None) => Err(self.missing(id)),
            Err(error) => {
                let large = self.large(repository, id, admit, &error)?;
                let data = large.objects.try_find(&id, buffer).map_err(|error| damaged(id, &error))?;
                make(data.ok_or_else(|| self.missing(id))?.data)
            }
        }
    }

    /// An object of a kind, unless there is something unusual about it.
    fn unpacked(&self, handle: &mut Handle, id: gix::ObjectId, kind: Kind) -> Option<Arc<Vec<u8>>> {
        let object = self.stores().read(&mut handle.unpacker, &id)?;
        (object.kind == kind).then_some(object.bytes)
    }

    /// An object of any kind, unless there is something unusual about it.
    pub(super) fn object(&self, id: gix::ObjectId) -> Option<Unpacked> {
        self.with_handle(|handle| self.stores().read(&mut handle.unpacker, &id))
    }

    /// An object of any kind.
    pub(super) fn any(&self, id: gix::ObjectId) -> Result<(Kind, Arc<Vec<u8>>), gix::Error> {
        if let Some(object) = self.object(id) {
            return Ok((object.kind, object.bytes));
        }
        self.with(|repository, _| {
            let object = repository.find_object(id)?;
            Ok((object.kind, object.data.clone().into()))
        })
    }

    /// The only object whose id begins with these hexadecimal digits, unless there is something unusual about it.
    pub(super) fn beginning(&self, digits: &str) -> Option<gix::ObjectId> {
        self.stores().beginning(digits)
    }

    /// An id as git abbreviates it.
    pub(super) fn abbreviated(&self, id: gix::ObjectId) -> SmolStr {
        self.with(|repository, _| {
            let is_configured = repository.config_snapshot().string("core.abbrev").is_some();
            let digits = if is_configured { None } else { self.stores().digits_of(&id) };
            match digits {
                Some(digits) => format_smolstr!("{}", id.to_hex_with_len(digits)),
                None => format_smolstr!("{}", gix::prelude::ObjectIdExt::attach(id, repository).shorten_or_id()),
            }
        })
    }

    /// A handle for an object that could not be read with ordinary means because it is large, unless it is too large.
    fn large(
        &self,
        repository: &gix::Repository,
        id: gix::ObjectId,
        admit: impl Fn(u64) -> Result<(), Reason>,
        error: &gix::Error,
    ) -> Result<gix::Repository, Reason> {
        let Ok(Some(header)) = repository.try_find_header(id) else { return Err(damaged(id, error)) };
        let size = header.size();
        admit(size)?;
        // Undoing deltas takes a few times the size.
        let options = super::options(size.max(ORDINARY_BYTES).saturating_mul(4)).open_path_as_is(true);
        Ok(options.open(repository.git_dir()).map_err(|error| damaged(id, &error))?.to_thread_local())
    }

    fn missing(&self, id: gix::ObjectId) -> Reason {
        Reason::MissingObject { id: id.to_string(), help: self.gaps.help_for(&id.to_string()) }
    }

    /// Drops the objects that were unpacked lately.
    pub(super) fn forget_read(&self) {
        let idle = std::mem::take(&mut *self.idle.lock().expect("no thread panics while it holds this lock"));
        // What was unpacked is many small pieces.
        few_or_many(idle, 2, drop);
    }

    /// Puts entries into the order in which their objects lie in the packs; a delta's base is then still in the cache.
    pub(super) fn sort_for_reading(&self, entries: &mut [Entry]) {
        // A few files are read in no time whatever their order.
        if entries.len() < 64 {
            return;
        }
        let packs = self.stores().packs();
        entries.sort_by_cached_key(|entry| packs.find(&to_gix(entry.id?)));
    }

    fn stores(&self) -> &Stores {
        self.stores
            .get_or_init(|| Stores::open(self.shared.objects_dir(), self.shared.objects.object_hash(), ORDINARY_BYTES))
    }

    /// The repository's index, or an empty one; the same for all who ask in one run.
    pub(super) fn index(&self) -> Result<Arc<gix::index::File>, GitError> {
        if let Some(index) = self.index.get() {
            return Ok(Arc::clone(index));
        }
        let path = self.index_path.clone().unwrap_or_else(|| self.with(|repository, _| repository.index_path()));
        // Opening a pipe waits for a writer, and a device may never end.
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Err(GitError::Index { path, cause: "it is not a regular file".to_owned() });
        }
        let options = gix::index::decode::Options { alloc_limit_bytes: Some(INDEX_BYTES), ..Default::default() };
        // git itself does not verify the checksum of the index either: it takes as long as decoding it.
        let skips_checksum = true;
        let hash = self.shared.objects.object_hash();
        let index = gix::index::File::at_or_default(&path, hash, skips_checksum, options)
            .map_err(|error| GitError::Index { path, cause: cause(&error) })?;
        Ok(Arc::clone(self.index.get_or_init(|| Arc::new(index))))
    }
}

/// An index larger than this is not that of a repository of configuration.
const INDEX_BYTES: usize = 2 << 30;

fn damaged(id: gix::ObjectId, error: &gix::Error) -> Reason {
    Reason::Other(format!("object {id} is damaged: {}", cause(error)))
}

fn wrong_kind(id: gix::ObjectId, found: Kind, wanted: Kind) -> Reason {
    Reason::Other(format!("object {id} is a {found}, not a {wanted}"))
}

fn list_tree(entries: gix::objs::TreeRefIter<'_>, directory: &RepoPath, label: &str) -> Listing {
    let unreadable = |path: &RepoPath, reason| Unreadable { path: path.clone(), revision: label.into(), reason };
    let mut listing = Listing::default();
    let mut refused = Vec::new();
    let mut is_damaged = false;
    let mut more = 0_usize;
    for entry in entries {
        let Ok(entry) = entry else {
            is_damaged = true;
            break;
        };
        match member(directory, entry.filename) {
            Ok(path) => listing.entries.push(Entry { path, kind: kind_of(entry.mode.kind()), id: from_gix(entry.oid) }),
            Err(reason) if refused.len() < TOLD_NAMES => refused.push(unreadable(directory, reason)),
            Err(_) => more += 1,
        }
    }
    listing.entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
    // A name that is there twice means different things to different readers; only the first is taken, and it is said.
    listing.entries.dedup_by(|twin, first| {
        let is_twin = twin.path == first.path;
        if is_twin && refused.len() < TOLD_NAMES {
            refused.push(unreadable(&twin.path, Reason::Other("the tree contains this name twice".to_owned())));
        } else if is_twin {
            more += 1;
        }
        is_twin
    });
    if more > 0 {
        refused.push(unreadable(directory, Reason::UnsafeName { name: format!("{more} more bad names") }));
    }
    if is_damaged {
        let reason = Reason::Other("the tree object is damaged; the rest of it cannot be read".to_owned());
        refused.push(unreadable(directory, reason));
    }
    listing.unreadable = refused;
    listing
}

/// A tree can be made of nothing but bad names; a few of them show what it is.
const TOLD_NAMES: usize = 20;

/// A member's path, unless its name would lead out of the tree or into a repository's own files.
pub(super) fn member(directory: &RepoPath, name: &[u8]) -> Result<RepoPath, Reason> {
    let path = if is_safe(name) { directory.join(name).ok() } else { None };
    path.ok_or_else(|| Reason::UnsafeName { name: sanitize::quoted_path(name) })
}

fn kind_of(kind: gix::objs::tree::EntryKind) -> EntryKind {
    use gix::objs::tree::EntryKind as Git;
    match kind {
        Git::Tree => EntryKind::Directory,
        Git::Blob | Git::BlobExecutable => EntryKind::File,
        Git::Link => EntryKind::Symlink,
        Git::Commit => EntryKind::Submodule,
    }
}

pub(super) fn from_gix(id: &gix::oid) -> Option<ObjectId> {
    ObjectId::new(id.as_bytes())
}

pub(super) fn to_gix(id: ObjectId) -> gix::ObjectId {
    gix::ObjectId::from_bytes_or_panic(id.as_bytes())
}
