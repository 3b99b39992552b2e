//! Plain directories as snapshots, and the one way files of a working tree are read: below a root, never through a link.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;

use crate::limits::{Budget, Limits};
use crate::path::RepoPath;
use crate::sanitize;
use crate::snapshot::{self, Entry, EntryKind, Listing, Reason, Snapshot, Unreadable};

/// A directory of the file system. Nothing is known of its files until they are read.
pub struct DirectorySnapshot {
    root: PathBuf,
    label: SmolStr,
    links: Links,
    budget: Budget,
}

/// What symbolic links mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Links {
    /// Links are links; their content is the path they point to.
    #[default]
    Keep,
    /// A link to a regular file is read as that file: `git difftool --dir-diff` makes such links into the working tree.
    FollowToFiles,
}

impl DirectorySnapshot {
    /// The files below a directory, which is called by its path. The directory itself may be a link.
    pub fn new(root: &Path, links: Links, budget: Budget) -> Self {
        let label = sanitize::inline(&root.to_string_lossy()).into();
        Self { root: root.to_owned(), label, links, budget }
    }

    /// This directory under another name.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<SmolStr>) -> Self {
        self.label = label.into();
        self
    }

    /// Moves the limits.
    pub fn set_limits(&mut self, limits: Limits) {
        self.budget.limits = limits;
    }

    fn describe(&self, path: RepoPath, on_disk: &Path, metadata: &Metadata) -> Result<Entry, Unreadable> {
        let kind = match kind_of(metadata) {
            Ok(EntryKind::Symlink) if self.links == Links::FollowToFiles && on_disk.is_file() => EntryKind::File,
            Ok(kind) => kind,
            Err(reason) => return Err(self.unreadable(&path, reason)),
        };
        Ok(Entry { path, kind, id: None })
    }

    fn list_into(&self, directory: &RepoPath, listing: &mut Listing) -> Result<(), Reason> {
        let Some(on_disk) = locate(&self.root, directory)? else { return Ok(()) };
        if !directory.is_root() && !is_directory(&on_disk) {
            return Ok(());
        }
        for (count, member) in (1..).zip(fs::read_dir(&on_disk).map_err(because)?) {
            if count > self.budget.limits.entries {
                return Err(Reason::TooManyEntries { limit: self.budget.limits.entries, what: "directory entries" });
            }
            let member = member.map_err(because)?;
            let name = member.file_name();
            // The repository's own files are not part of what it holds.
            if name == ".git" {
                continue;
            }
            let Ok(path) = directory.join(name.as_encoded_bytes()) else {
                return Err(Reason::UnsafeName { name: sanitize::quoted_path(name.as_encoded_bytes()) });
            };
            let metadata = member.metadata().map_err(|error| self.unreadable(&path, because(error)));
            match metadata.and_then(|metadata| self.describe(path, &member.path(), &metadata)) {
                Ok(entry) => listing.entries.push(entry),
                Err(unreadable) => listing.unreadable.push(unreadable),
            }
        }
        Ok(())
    }

    fn unreadable(&self, path: &RepoPath, reason: Reason) -> Unreadable {
        Unreadable { path: path.clone(), revision: self.label.clone(), reason }
    }
}

impl Snapshot for DirectorySnapshot {
    fn label(&self) -> &str {
        &self.label
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        let mut listing = Listing::default();
        if let Err(reason) = self.list_into(directory, &mut listing) {
            listing.unreadable.push(self.unreadable(directory, reason));
        }
        listing.entries.sort_unstable_by(|a, b| a.sort_key().cmp(&b.sort_key()));
        // The order in which a file system lists its files is arbitrary.
        listing.unreadable.sort_by(|a, b| a.path.cmp(&b.path));
        listing
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        if path.is_root() {
            return Ok(Some(Entry { path: RepoPath::root(), kind: EntryKind::Directory, id: None }));
        }
        let located = locate(&self.root, path).map_err(|reason| self.unreadable(path, reason))?;
        let Some(on_disk) = located.filter(|_| path.components().all(|name| name != b".git")) else { return Ok(None) };
        match on_disk.symlink_metadata() {
            Ok(metadata) => self.describe(path.clone(), &on_disk, &metadata).map(Some),
            Err(error) if is_absence(&error) => Ok(None),
            Err(error) => Err(self.unreadable(path, because(error))),
        }
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        read_below(&self.root, &file.path, self.links, &self.budget)
            .map_err(|reason| self.unreadable(&file.path, reason))
    }
}

/// Reads a file, or the target of a link, below a root. The size is checked first; nothing is read through a link.
pub(super) fn read_below(root: &Path, path: &RepoPath, links: Links, budget: &Budget) -> Result<Arc<[u8]>, Reason> {
    let gone = || Reason::Other("it no longer exists".to_owned());
    let on_disk = locate(root, path)?.ok_or_else(gone)?;
    let mut metadata = on_disk.symlink_metadata().map_err(because)?;
    if metadata.is_symlink() {
        if links == Links::Keep || !on_disk.is_file() {
            let target = fs::read_link(&on_disk).map_err(because)?;
            return Ok(target.as_os_str().as_encoded_bytes().into());
        }
        metadata = on_disk.metadata().map_err(because)?;
    }
    if kind_of(&metadata)? == EntryKind::Directory {
        return Err(Reason::Other("it is a directory".to_owned()));
    }
    let mut place = DefaultHasher::new();
    path.hash(&mut place);
    snapshot::admit(place.finish(), metadata.len(), budget)?;
    let file = File::open(&on_disk).map_err(because)?;
    if !is_same_file(&metadata, &file.metadata().map_err(because)?) {
        return Err(Reason::Other("it was replaced while being read".to_owned()));
    }
    let mut content = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0));
    file.take(metadata.len() + 1).read_to_end(&mut content).map_err(because)?;
    if content.len() as u64 > metadata.len() {
        return Err(Reason::Other("it grew while being read".to_owned()));
    }
    Ok(content.into())
}

/// Reads a regular file of at most so many bytes. Anything else, such as a pipe that waits for a writer or a device that never ends,
/// is not opened.
pub(super) fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let refused = || io::Error::other("it is not a regular file");
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Err(refused());
    }
    let file = File::open(path)?;
    if !is_same_file(&metadata, &file.metadata()?) {
        return Err(refused());
    }
    let mut content = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut content)?;
    if content.len() as u64 > most {
        return Err(io::Error::other(format!("it has more than {most} bytes")));
    }
    Ok(content)
}

/// Where a path is on disk, or nothing if a directory above it is missing, or is something else, such as a link.
fn locate(root: &Path, path: &RepoPath) -> Result<Option<PathBuf>, Reason> {
    let mut on_disk = root.to_owned();
    let mut names = path.components().peekable();
    while let Some(name) = names.next() {
        on_disk.push(os_name(name)?);
        if names.peek().is_some() && !is_directory(&on_disk) {
            return Ok(None);
        }
    }
    Ok(Some(on_disk))
}

/// Whether there is a directory, not a link to one.
pub(super) fn is_directory(on_disk: &Path) -> bool {
    on_disk.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

/// A name from a tree as the file system spells it.
pub(super) fn os_name(name: &[u8]) -> Result<&OsStr, Reason> {
    #[cfg(unix)]
    {
        Ok(std::os::unix::ffi::OsStrExt::from_bytes(name))
    }
    #[cfg(not(unix))]
    {
        // `\` separates and `:` names a drive or a stream: such a name would lead elsewhere.
        let refuse = || Reason::UnsafeName { name: sanitize::quoted_path(name) };
        let name = std::str::from_utf8(name).map_err(|_| refuse())?;
        if name.contains(['\\', ':']) { Err(refuse()) } else { Ok(OsStr::new(name)) }
    }
}

fn kind_of(metadata: &Metadata) -> Result<EntryKind, Reason> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        Ok(EntryKind::Directory)
    } else if kind.is_symlink() {
        Ok(EntryKind::Symlink)
    } else if kind.is_file() {
        Ok(EntryKind::File)
    } else {
        // Opening a pipe waits for a writer, and reading a device may never end.
        Err(Reason::Other("it is a pipe, a socket or a device and was not opened".to_owned()))
    }
}

fn is_same_file(before: &Metadata, after: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        (before.dev(), before.ino()) == (after.dev(), after.ino())
    }
    #[cfg(not(unix))]
    {
        before.file_type() == after.file_type()
    }
}

pub(super) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn because(error: io::Error) -> Reason {
    // The number that follows the words differs between systems.
    let text = error.to_string();
    Reason::Other(text.split(" (os error").next().unwrap_or_default().to_lowercase())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use tempfile::TempDir;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).expect("a plain path")
    }

    fn directory(files: &[&str]) -> TempDir {
        let root = TempDir::new().expect("a temporary directory can be made");
        for file in files {
            let on_disk = root.path().join(file);
            fs::create_dir_all(on_disk.parent().expect("a file has a directory")).expect("directories can be made");
            fs::write(on_disk, format!("name: {file}\n")).expect("files can be written");
        }
        root
    }

    fn snapshot(root: &Path, links: Links) -> DirectorySnapshot {
        DirectorySnapshot::new(root, links, Budget::default())
    }

    fn names(listing: &Listing) -> Vec<String> {
        listing.entries.iter().map(|entry| format!("{} {:?}", entry.path, entry.kind)).collect()
    }

    fn read(snapshot: &DirectorySnapshot, name: &str) -> Result<String, String> {
        let entry = snapshot.entry(&path(name)).map_err(|error| error.to_string())?.ok_or("nothing")?;
        let content = snapshot.read(&entry).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&content).into_owned())
    }

    #[test]
    fn everything_is_listed_but_the_repository_itself() {
        let root = directory(&["b.yaml", "a/c.yaml", ".git/config", "a/.git"]);
        let snapshot = snapshot(root.path(), Links::Keep);
        assert_eq!(names(&snapshot.list(&RepoPath::root())), ["a Directory", "b.yaml File"]);
        assert_eq!(names(&snapshot.list(&path("a"))), ["a/c.yaml File"]);
        assert!(names(&snapshot.list(&path("nowhere"))).is_empty());
        assert!(names(&snapshot.list(&path("b.yaml"))).is_empty());
        assert_eq!(read(&snapshot, "a/c.yaml"), Ok("name: a/c.yaml\n".to_owned()));
        assert_eq!(read(&snapshot, ".git/config"), Err("nothing".to_owned()));
        assert_eq!(snapshot.entry(&path("a/none")).expect("readable"), None);
        assert_eq!(snapshot.entry(&path("b.yaml/x")).expect("readable"), None);
    }

    #[test]
    fn links_are_followed_to_files_only_and_only_when_asked() {
        let outside = directory(&["canary.yaml", "deep/x.yaml"]);
        let root = directory(&["a.yaml"]);
        symlink(outside.path().join("canary.yaml"), root.path().join("file.yaml")).expect("links can be made");
        symlink(outside.path().join("deep"), root.path().join("deep")).expect("links can be made");
        symlink("nowhere", root.path().join("broken.yaml")).expect("links can be made");

        let kept = snapshot(root.path(), Links::Keep);
        let expected = ["a.yaml File", "broken.yaml Symlink", "deep Symlink", "file.yaml Symlink"];
        assert_eq!(names(&kept.list(&RepoPath::root())), expected);
        assert!(read(&kept, "file.yaml").expect("its target").ends_with("canary.yaml"));
        assert_eq!(read(&kept, "deep/x.yaml"), Err("nothing".to_owned()));
        assert!(kept.list(&path("deep")).entries.is_empty());

        let followed = snapshot(root.path(), Links::FollowToFiles);
        let expected = ["a.yaml File", "broken.yaml Symlink", "deep Symlink", "file.yaml File"];
        assert_eq!(names(&followed.list(&RepoPath::root())), expected);
        assert_eq!(read(&followed, "file.yaml"), Ok("name: canary.yaml\n".to_owned()));
        assert_eq!(read(&followed, "deep/x.yaml"), Err("nothing".to_owned()));
    }

    #[test]
    fn the_directory_itself_may_be_a_link() {
        let root = directory(&["real/a.yaml"]);
        symlink("real", root.path().join("link")).expect("links can be made");
        let snapshot = snapshot(&root.path().join("link"), Links::Keep);
        assert_eq!(read(&snapshot, "a.yaml"), Ok("name: real/a.yaml\n".to_owned()));
    }

    #[test]
    fn sockets_are_reported_and_not_opened() {
        let root = directory(&["a.yaml"]);
        let _socket =
            std::os::unix::net::UnixListener::bind(root.path().join("socket.yaml")).expect("sockets can be made");
        let snapshot = snapshot(root.path(), Links::FollowToFiles);
        let listing = snapshot.list(&RepoPath::root());
        assert_eq!(names(&listing), ["a.yaml File"]);
        assert_eq!(listing.unreadable.len(), 1);
        assert!(listing.unreadable[0].to_string().starts_with("socket.yaml: it is a pipe, a socket"));
        assert!(read(&snapshot, "socket.yaml").is_err());
    }

    #[test]
    fn sizes_and_counts_are_limited() {
        let root = directory(&["a.yaml", "b.yaml", "c.yaml"]);
        let mut snapshot = snapshot(root.path(), Links::Keep);
        snapshot.set_limits(Limits { entries: 2, file_bytes: 3, ..Limits::default() });
        let listing = snapshot.list(&RepoPath::root());
        assert_eq!((listing.entries.len(), listing.unreadable.len()), (2, 1));
        assert!(read(&snapshot, "a.yaml").expect_err("too large").contains("more than the limit of 3 bytes"));
    }

    #[test]
    fn a_directory_that_is_not_there_is_unreadable_not_empty() {
        let root = directory(&[]);
        let listing = snapshot(&root.path().join("none"), Links::Keep).list(&RepoPath::root());
        assert_eq!(listing.unreadable[0].to_string(), ": no such file or directory");
    }
}
