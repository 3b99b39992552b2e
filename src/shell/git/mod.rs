//! Git repositories: opened without a git process, read without a checkout, never written to.

mod commit;
mod error;
mod gaps;
mod history;
mod index;
mod objects;
mod pack_index;
mod packs;
mod plain_tree;
mod revision;
mod simple_revision;
mod stores;
mod words;
mod worktree;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub use commit::CommitSnapshot;
pub use error::GitError;
pub use index::IndexSnapshot;
pub use revision::{Revision, RevisionPair, Tree};
pub use words::{Selection, Words};
pub use worktree::WorktreeSnapshot;

use smol_str::SmolStr;

use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::snapshot::{Differing, Entry, Listing, Member, ObjectId, Reason, Snapshot, Unreadable};
use error::cause;
use objects::Objects;

/// An open repository.
pub struct Repository {
    objects: Arc<Objects>,
    git_directory: PathBuf,
    common_directory: PathBuf,
    root: Option<PathBuf>,
    prefix: RepoPath,
    notes: Vec<String>,
}

impl Repository {
    /// Finds the repository of a directory, as git does: `GIT_DIR`, `GIT_WORK_TREE` and `GIT_INDEX_FILE` come first, then
    /// the directory itself and those above it.
    pub fn open(directory: &Path) -> Result<Self, GitError> {
        let shared = discover(directory)?;
        let repository = shared.to_thread_local();
        let root = root_of(&repository, directory);
        let prefix = root.as_deref().map_or_else(RepoPath::root, |root| prefix_of(directory, root));
        let notes = notes_on(&repository);
        let git_directory = repository.git_dir().to_owned();
        let common_directory = repository.common_dir().to_owned();
        let index = root.as_deref().and_then(index_from_root);
        let objects = Arc::new(Objects::new(shared, index));
        Ok(Self { objects, git_directory, common_directory, root, prefix, notes })
    }

    /// Where the working tree is, unless the repository is bare.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The git directory of this working tree.
    pub fn git_directory(&self) -> &Path {
        &self.git_directory
    }

    /// The git directory that all working trees of the repository share.
    pub fn common_directory(&self) -> &Path {
        &self.common_directory
    }

    /// Where git looks for hooks: `core.hooksPath`, or the common git directory of all working trees.
    pub fn hooks_directory(&self) -> PathBuf {
        self.objects.with(|repository, _| {
            let configured = repository.config_snapshot().trusted_path("core.hooksPath").ok().flatten();
            match (configured, self.root()) {
                (Some(path), Some(root)) => root.join(path),
                (Some(path), None) => path,
                (None, _) => repository.common_dir().join("hooks"),
            }
        })
    }

    /// What the git directory is, in a word or two.
    pub fn kind(&self) -> &'static str {
        use gix::repository::Kind;
        match self.objects.with(|repository, _| repository.kind()) {
            Kind::Submodule => "of a submodule",
            Kind::LinkedWorkTree => "of a linked working tree",
            Kind::Common if self.root.is_none() => "bare",
            Kind::Common => "ordinary",
        }
    }

    /// How objects are named: `SHA-1` or `SHA-256`.
    pub fn object_format(&self) -> &'static str {
        match self.objects.with(|repository, _| repository.object_hash()) {
            gix::hash::Kind::Sha256 => "SHA-256",
            _ => "SHA-1",
        }
    }

    /// Whether references are stored in a way that cannot be read.
    pub fn has_reftable(&self) -> bool {
        self.objects.with(|repository, _| revision::is_reftable(repository))
    }

    /// How many entries the index has.
    pub fn index_entries(&self) -> Result<usize, GitError> {
        self.objects.index().map(|index| index.entries().len())
    }

    /// The current directory, relative to the root of the working tree.
    pub fn prefix(&self) -> &RepoPath {
        &self.prefix
    }

    /// What the user should know about how the repository was opened.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether history was cut off when cloning.
    pub fn is_shallow(&self) -> bool {
        self.objects.gaps().is_shallow
    }

    /// Whether some contents were left out when cloning.
    pub fn is_partial(&self) -> bool {
        self.objects.gaps().is_partial
    }

    /// A value of git's configuration, such as `color.ui` or `core.pager`, unless the configuration is another user's.
    /// Only for choices of looks: policy never comes from there.
    pub fn config(&self, key: &str) -> Option<String> {
        let is_own = |section: &gix::config::file::Metadata| section.trust == gix::sec::Trust::Full;
        self.objects.with(|repository, _| {
            let value = repository.config_snapshot().plumbing().string_filter(key, is_own)?;
            Some(value.to_string())
        })
    }

    /// The addresses of the remotes, as the repository configures them.
    pub fn remotes(&self) -> Vec<SmolStr> {
        self.objects.with(|repository, _| {
            let snapshot = repository.config_snapshot();
            let sections = snapshot.plumbing().sections_by_name("remote").into_iter().flatten();
            sections.filter_map(|section| section.value("url")).map(|url| SmolStr::new(url.to_string())).collect()
        })
    }

    /// A value of the user's own configuration. What the repository itself configures does not count: it would be a program
    /// from a stranger.
    pub fn user_config(&self, key: &str) -> Option<String> {
        self.objects.with(|repository, _| {
            let snapshot = repository.config_snapshot();
            let is_own = |meta: &gix::config::file::Metadata| {
                !matches!(meta.source, gix::config::Source::Local | gix::config::Source::Worktree)
            };
            snapshot.plumbing().string_filter(key, is_own).map(|value| value.to_string())
        })
    }

    /// The id that an object with this content has.
    pub fn blob_id(&self, content: &[u8]) -> Option<ObjectId> {
        let hash = self.objects.with(|repository, _| repository.object_hash());
        objects::from_gix(&gix::objs::compute_hash(hash, gix::objs::Kind::Blob, content).ok()?)
    }

    /// The content of a file by its object id.
    pub fn blob(&self, id: ObjectId, budget: &Budget) -> Result<Arc<[u8]>, Reason> {
        self.objects.blob(id, budget)
    }

    /// The paths of staged files that a condition holds for, at most so many.
    pub fn staged_paths(&self, most: usize, is_wanted: impl Fn(&[u8], ObjectId) -> bool) -> Vec<RepoPath> {
        let Ok(index) = self.objects.index() else { return Vec::new() };
        let found = index.entries().iter().filter_map(|entry| {
            let (path, id) = (entry.path(&index), objects::from_gix(&entry.id)?);
            is_wanted(path, id).then(|| RepoPath::new(path).ok()).flatten()
        });
        found.take(most).collect()
    }

    /// The files of a revision; everything it reads is booked on the budget.
    pub fn snapshot(&self, revision: &Revision, budget: &Budget) -> Result<GitSnapshot, GitError> {
        let objects = Arc::clone(&self.objects);
        let budget = budget.clone();
        Ok(match revision {
            Revision::Tree(tree) => GitSnapshot::Commit(CommitSnapshot::new(objects, tree, budget)),
            Revision::Index => GitSnapshot::Index(IndexSnapshot::open(objects, budget)?),
            Revision::Worktree => {
                let root = self.root().ok_or(GitError::Bare { what: "working tree" })?;
                GitSnapshot::Worktree(WorktreeSnapshot::open(objects, root, budget)?)
            }
        })
    }
}

/// The files of a revision of a repository.
#[allow(clippy::large_enum_variant, reason = "a run has two of them")]
pub enum GitSnapshot {
    /// Of a commit or a tree.
    Commit(CommitSnapshot),
    /// What is staged.
    Index(IndexSnapshot),
    /// What is on disk.
    Worktree(WorktreeSnapshot),
}

impl GitSnapshot {
    /// Moves the limits, for instance once the configuration that sets them has been read from the snapshot itself.
    pub fn set_limits(&mut self, limits: Limits) {
        match self {
            Self::Commit(snapshot) => snapshot.set_limits(limits),
            Self::Index(snapshot) => snapshot.set_limits(limits),
            Self::Worktree(snapshot) => snapshot.set_limits(limits),
        }
    }

    fn inner(&self) -> &dyn Snapshot {
        match self {
            Self::Commit(snapshot) => snapshot,
            Self::Index(snapshot) => snapshot,
            Self::Worktree(snapshot) => snapshot,
        }
    }
}

impl Snapshot for GitSnapshot {
    fn label(&self) -> &str {
        self.inner().label()
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        self.inner().list(directory)
    }

    fn listing(&self, directory: &RepoPath) -> Arc<Listing> {
        self.inner().listing(directory)
    }

    fn listing_of(&self, directory: &Entry) -> Arc<Listing> {
        self.inner().listing_of(directory)
    }

    fn visit(&self, directory: &RepoPath, visit: &mut dyn FnMut(&Member<'_>)) -> Vec<Unreadable> {
        self.inner().visit(directory, visit)
    }

    fn differing(&self, directory: &RepoPath, before: ObjectId, after: ObjectId) -> Option<Differing> {
        self.inner().differing(directory, before, after)
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.inner().entry(path)
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        self.inner().read(file)
    }

    fn look(&self, file: &Entry, look: &mut dyn FnMut(&[u8])) -> Result<(), Unreadable> {
        self.inner().look(file, look)
    }

    fn other_tree(&self, id: ObjectId) -> Option<Box<dyn Snapshot + '_>> {
        self.inner().other_tree(id)
    }

    fn sort_for_reading(&self, entries: &mut [Entry]) {
        self.inner().sort_for_reading(entries);
    }

    fn forget_read(&self) {
        self.inner().forget_read();
    }
}

fn discover(directory: &Path) -> Result<gix::ThreadSafeRepository, GitError> {
    let upwards = gix::discover::upwards::Options { match_ceiling_dir_or_error: false, ..Default::default() };
    let trust =
        gix::sec::trust::Mapping { full: options(objects::ORDINARY_BYTES), reduced: options(objects::ORDINARY_BYTES) };
    gix::ThreadSafeRepository::discover_with_environment_overrides_opts(directory, upwards, trust).map_err(|error| {
        let directory = env::var_os("GIT_DIR").map_or_else(|| directory.to_owned(), PathBuf::from);
        match error.is_not_found() {
            true => GitError::NotARepository { directory },
            false => GitError::Open { directory, cause: cause(&error) },
        }
    })
}

/// Where the index is, if `GIT_INDEX_FILE` gives a path that git takes from the top of the working tree and gix from the
/// current directory. In another directory there is no index of that name, and an absent one would pass for an empty one.
fn index_from_root(root: &Path) -> Option<PathBuf> {
    let given = env::var_os("GIT_INDEX_FILE").map(PathBuf::from).filter(|path| path.is_relative())?;
    let (here, root) = (env::current_dir().ok()?, root.canonicalize().ok()?);
    (here.canonicalize().ok()? != root).then(|| root.join(given))
}

/// How repositories are opened: nothing is started, nothing replaced, and nothing larger than this allocated unasked.
fn options(object_bytes: u64) -> gix::open::Options {
    let mut permissions = gix::open::Permissions::all();
    // On Windows only git itself knows where the system's configuration is, and no git process is ever started.
    permissions.config.system &= !cfg!(windows);
    permissions.config.git_binary = false;
    gix::open::Options::default().permissions(permissions).config_overrides([
        // Without room for the bases of deltas, reading many files from a good pack takes four times as long.
        format!("core.deltaBaseCacheLimit={}", cache_bytes()),
        // A replacement shows another object under the same id, and anyone who can push a ref can create one.
        "core.useReplaceRefs=false".to_owned(),
        format!("gitoxide.objects.allocLimit={object_bytes}"),
    ])
}

/// Room for delta bases in each thread's handle, so that all of them together stay within bounds.
fn cache_bytes() -> usize {
    // To count the processors, the standard library reads the files of a control group each time.
    static BYTES: OnceLock<usize> = OnceLock::new();
    let bytes = || {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        ((96 << 20) / threads).clamp(16 << 20, 48 << 20)
    };
    *BYTES.get_or_init(bytes)
}

/// The top of the working tree. Where `GIT_DIR` is given alone, git takes the current directory for it.
fn root_of(repository: &gix::Repository, directory: &Path) -> Option<PathBuf> {
    let is_set = |name: &str| env::var_os(name).is_some();
    let config = repository.config_snapshot();
    let is_bare = config.boolean("core.bare").unwrap_or(false);
    if is_set("GIT_DIR") && !is_set("GIT_WORK_TREE") && config.string("core.worktree").is_none() && !is_bare {
        let is_implied = env::var_os("GIT_IMPLICIT_WORK_TREE").is_none_or(|value| value != "0" && value != "false");
        return is_implied.then(|| directory.to_owned());
    }
    repository.workdir().map(Path::to_owned)
}

/// The path of a directory in the working tree. Aliases run at its top, and `GIT_PREFIX` is the user's directory.
fn prefix_of(directory: &Path, root: &Path) -> RepoPath {
    let below = match (directory.canonicalize(), root.canonicalize()) {
        (Ok(directory), Ok(root)) => directory.strip_prefix(root).ok().and_then(to_repo_path),
        _ => None,
    };
    let given = || env::var_os("GIT_PREFIX").and_then(|prefix| to_repo_path(Path::new(&prefix)));
    below.filter(|prefix| !prefix.is_root()).or_else(given).unwrap_or_default()
}

/// A relative path of the file system as git would store it.
fn to_repo_path(path: &Path) -> Option<RepoPath> {
    let mut joined = RepoPath::root();
    for component in path.components() {
        joined = joined.join(component.as_os_str().as_encoded_bytes()).ok()?;
    }
    Some(joined)
}

fn notes_on(repository: &gix::Repository) -> Vec<String> {
    let is_foreign = repository.git_dir_trust() != gix::sec::Trust::Full;
    let foreign = "this repository is owned by another user: it is read, but its git configuration is ignored";
    is_foreign.then(|| foreign.to_owned()).into_iter().collect()
}
