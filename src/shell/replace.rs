//! Writes files so that at every moment either the old content is there or the new one, and refuses two writers at once.
//!
//! A file is written beside its place, forced to the disk, and renamed. Names of files that are being written are recognised, so
//! that what a killed process leaves behind is removed by the next one.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::directory::is_absence;
use super::error::Failure;

/// The right to write in a working tree; the operating system takes it back when the process ends, however it ends.
pub(super) struct WriteLock(#[allow(dead_code, reason = "it is held, not used")] File);

/// Somebody who writes one file is done in less time.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

impl WriteLock {
    /// Waits for a while until no other process writes below a directory.
    pub(super) fn take(root: &Path) -> Result<Option<Self>, Failure> {
        // Where directories cannot be opened or locked there is no lock.
        let Ok(directory) = File::open(root) else { return Ok(None) };
        let start = Instant::now();
        loop {
            match directory.try_lock() {
                Ok(()) => return Ok(Some(Self(directory))),
                Err(TryLockError::Error(_)) => return Ok(None),
                Err(TryLockError::WouldBlock) if start.elapsed() < PATIENCE => std::thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    let failure = Failure::new("another outcrop is writing in this working tree; nothing was changed");
                    return Err(failure.help("wait until it is done, and try again"));
                }
            }
        }
    }
}

/// New content beside its place, complete and on the disk.
pub(super) struct Prepared {
    place: PathBuf,
    temporary: PathBuf,
    is_new: bool,
}

/// The mode of a file that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// That of the file which is replaced.
    Keep,
    /// Everyone may run it.
    Executable,
}

impl Prepared {
    /// Writes content beside a place. Only a regular file that may be written is replaced; a byte order mark is kept.
    pub(super) fn new(place: &Path, content: &[u8], mode: Mode) -> io::Result<Self> {
        let existing = existing(place)?;
        let mark = existing.as_ref().map(|_| mark_of(place)).transpose()?.unwrap_or_default();
        let permissions = existing.as_ref().map(fs::Metadata::permissions);
        let temporary = beside(place);
        let prepared = Self { place: place.to_owned(), temporary, is_new: existing.is_none() };
        prepared.fill(&[if content.starts_with(MARK) { b"" } else { mark }, content], permissions, mode)?;
        Ok(prepared)
    }

    fn fill(&self, parts: &[&[u8]], permissions: Option<Permissions>, mode: Mode) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create_new(true).open(&self.temporary)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        match (mode, permissions) {
            (Mode::Executable, _) => file.set_permissions(executable(&file)?)?,
            (Mode::Keep, Some(permissions)) => file.set_permissions(permissions)?,
            (Mode::Keep, None) => {}
        }
        file.sync_all()
    }

    /// Puts the new content in its place.
    pub(super) fn commit(&self) -> io::Result<()> {
        fs::rename(&self.temporary, &self.place)?;
        sync_directory(&self.place);
        Ok(())
    }

    /// Whether there was no file before.
    pub(super) fn is_new(&self) -> bool {
        self.is_new
    }

    /// The file that is written.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }
}

impl Drop for Prepared {
    fn drop(&mut self) {
        // After a commit there is no such file; the number of the process makes the name its own.
        let _ = fs::remove_file(&self.temporary);
    }
}

/// Replaces one file, or makes it.
pub(super) fn replace(place: &Path, content: &[u8], mode: Mode) -> io::Result<()> {
    remove_stale(place.parent().unwrap_or(Path::new(".")));
    Prepared::new(place, content, mode)?.commit()
}

/// What is in a place, if it is a regular file that may be written.
pub(super) fn existing(place: &Path) -> io::Result<Option<fs::Metadata>> {
    match place.symlink_metadata() {
        Ok(metadata) if !metadata.is_file() => Err(io::Error::other("it is not a regular file and was not changed")),
        Ok(metadata) if metadata.permissions().readonly() => {
            Err(io::Error::other("it is read-only and was not changed"))
        }
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if is_absence(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Removes what processes that were killed have left in a directory. The lock must be held: no other process is writing then.
pub(super) fn remove_stale(directory: &Path) {
    let Ok(members) = fs::read_dir(if directory.as_os_str().is_empty() { Path::new(".") } else { directory }) else {
        return;
    };
    for member in members.flatten() {
        let is_file = member.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && is_temporary(&member.file_name()) {
            let _ = fs::remove_file(member.path());
        }
    }
}

const INFIX: &str = ".outcrop-";
const SUFFIX: &str = ".new";
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A name in the same directory that no other process uses.
fn beside(place: &Path) -> PathBuf {
    let name = place.file_name().unwrap_or_default().to_string_lossy();
    place.with_file_name(format!(".{name}{INFIX}{}{SUFFIX}", std::process::id()))
}

fn is_temporary(name: &OsStr) -> bool {
    let number = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(SUFFIX)?.rsplit_once(INFIX));
    number.is_some_and(|(name, number)| {
        !name.is_empty() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The byte order mark of a file, or nothing.
fn mark_of(place: &Path) -> io::Result<&'static [u8]> {
    let mut start = Vec::new();
    File::open(place)?.take(MARK.len() as u64).read_to_end(&mut start)?;
    Ok(if start == MARK { MARK } else { b"" })
}

/// Forces a renamed entry to the disk; without it the old content may be there after a power failure, which is no harm.
fn sync_directory(place: &Path) {
    let directory = place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = File::open(directory).and_then(|directory| directory.sync_all());
}

#[cfg(unix)]
fn executable(_: &File) -> io::Result<Permissions> {
    use std::os::unix::fs::PermissionsExt as _;
    Ok(Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn executable(file: &File) -> io::Result<Permissions> {
    file.metadata().map(|metadata| metadata.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn the_byte_order_mark_is_kept_and_nothing_is_left() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a.yaml");
        fs::write(&file, b"\xef\xbb\xbfa: 1\n").unwrap();
        replace(&file, b"a: 2\n", Mode::Keep).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"\xef\xbb\xbfa: 2\n");
        replace(&file, b"\xef\xbb\xbfa: 3\n", Mode::Keep).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"\xef\xbb\xbfa: 3\n");
        assert_eq!(names(root.path()), ["a.yaml"]);
    }

    #[cfg(unix)]
    #[test]
    fn modes_are_kept_and_read_only_files_refused() {
        use std::os::unix::fs::PermissionsExt as _;
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a.yaml");
        let mode = || fs::metadata(&file).unwrap().permissions().mode() & 0o777;
        fs::write(&file, "a: 1\n").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        replace(&file, b"a: 2\n", Mode::Keep).unwrap();
        assert_eq!(mode(), 0o640);
        fs::set_permissions(&file, Permissions::from_mode(0o444)).unwrap();
        let refused = replace(&file, b"a: 3\n", Mode::Keep).unwrap_err();
        assert!(refused.to_string().contains("read-only"), "{refused}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "a: 2\n");
        std::os::unix::fs::symlink(&file, root.path().join("link")).unwrap();
        replace(&root.path().join("link"), b"x", Mode::Keep).unwrap_err();
        assert_eq!(names(root.path()), ["a.yaml", "link"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let root = tempfile::tempdir().unwrap();
        let others = [".outcrop-1.new", ".a.outcrop-.new", ".a.outcrop-1x.new", "a.outcrop-1.new", ".a.outcrop-1.old"];
        for name in others.iter().chain(&[".a.yaml.outcrop-123.new"]) {
            fs::write(root.path().join(name), "x").unwrap();
        }
        fs::create_dir(root.path().join(".d.outcrop-5.new")).unwrap();
        remove_stale(root.path());
        let mut expected: Vec<&str> = others.iter().copied().chain([".d.outcrop-5.new"]).collect();
        expected.sort_unstable();
        assert_eq!(names(root.path()), expected);
    }

    #[test]
    fn two_writers_wait_for_each_other() {
        let root = tempfile::tempdir().unwrap();
        let first = WriteLock::take(root.path()).unwrap().unwrap();
        let start = Instant::now();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| WriteLock::take(root.path()).map(|lock| lock.is_some()));
            std::thread::sleep(Duration::from_millis(50));
            drop(first);
            assert!(second.join().unwrap().is_ok_and(|is_locked| is_locked));
        });
        assert!(start.elapsed() >= Duration::from_millis(50));
    }
}
