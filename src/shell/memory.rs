//! What is known about whole trees from earlier runs, in files that may be deleted at any time: under the git directory, or in a
//! directory that a CI runner keeps.

use std::fs;
use std::hash::Hasher as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::cli::Global;
use super::directory::read_regular;
use super::environment;
use super::git::Repository;
use super::output;
use crate::impact::Memory;
use crate::layout::TreeFacts;
use crate::snapshot::ObjectId;
use crate::value;

/// One file per tree, named by the tree's id: a line that names the format, a checksum, and the facts. The checksum also covers
/// the id of the tree and how it was read, so that a file that was damaged, renamed or written by another version is ignored.
pub(super) struct TreeMemory {
    folder: Option<PathBuf>,
    /// How long the look at a whole tree took.
    look: Mutex<Duration>,
}

const HEADER: &[u8] = b"outcrop inputs 4\n";
/// A larger file is not one of ours.
const LARGEST: u64 = 256 << 20;
/// Old trees are forgotten when there are more than this many.
const MOST_TREES: usize = 64;

impl TreeMemory {
    /// The memory of a repository, unless the user wants none.
    pub(super) fn of(repository: &Repository, global: &Global) -> Self {
        let is_off = environment::text("OUTCROP_CACHE").ok().flatten().is_some_and(|value| value == "off");
        let folder = match &global.cache_dir {
            _ if is_off || global.no_cache => None,
            Some(directory) => Some(directory.join("inputs")),
            None => Some(repository.git_directory().join("outcrop/inputs")),
        };
        Self::new(folder)
    }

    fn new(folder: Option<PathBuf>) -> Self {
        Self { folder, look: Mutex::default() }
    }

    /// Says on standard error that a look at every file took long, and how to avoid it.
    pub(super) fn note_slow_look(&self) {
        let took = *self.look.lock().expect("no thread panics while it holds this lock");
        if took > LONG_LOOK {
            output::note(&slow_look(took, self.folder.is_some()));
        }
    }
}

/// A look at every file that takes longer is worth a word.
const LONG_LOOK: Duration = Duration::from_secs(2);

fn slow_look(took: Duration, is_kept: bool) -> String {
    let kept = match is_kept {
        true => "later runs start from what was found",
        false => "without a cache every run does it again",
    };
    format!(
        "note: looking at every file for includes, expressions and roots took {:.1} s; {kept}\n\
         help: switch off in outcrop.yaml what is not used (`outcrop init` finds out), and keep `--cache-dir` between CI runs",
        took.as_secs_f64()
    )
}

impl Memory for TreeMemory {
    fn recall(&self, tree: ObjectId, reading: &str) -> Option<TreeFacts> {
        let bytes = read_regular(&self.folder.as_ref()?.join(tree.to_string()), LARGEST).ok()?;
        let (sum, body) = bytes.strip_prefix(HEADER)?.split_first_chunk::<8>()?;
        TreeFacts::from_bytes((*sum == checksum(tree, reading, body)).then(|| body.to_vec())?)
    }

    fn trees(&self) -> Vec<ObjectId> {
        let files = self.folder.as_deref().map(by_age).unwrap_or_default();
        let tree = |file: &PathBuf| ObjectId::parse(file.file_name()?.to_str()?);
        files.iter().rev().filter_map(tree).collect()
    }

    fn watch_look(&self, look: &mut dyn FnMut()) {
        let start = Instant::now();
        look();
        *self.look.lock().expect("no thread panics while it holds this lock") += start.elapsed();
    }

    /// A memory that cannot be written only costs time, so that failures are not reported.
    fn remember(&self, tree: ObjectId, reading: &str, facts: &TreeFacts) {
        let Some(folder) = &self.folder else { return };
        let _ = fs::create_dir_all(folder);
        forget_old(folder);
        let body = facts.to_bytes();
        let bytes = [HEADER, &checksum(tree, reading, &body), &body].concat();
        // Written aside and renamed, so that another process never reads half of it.
        let aside = folder.join(format!("{tree}.{}", std::process::id()));
        if fs::write(&aside, bytes).is_ok() {
            let _ = fs::rename(&aside, folder.join(tree.to_string()));
        }
    }
}

fn checksum(tree: ObjectId, reading: &str, body: &[u8]) -> [u8; 8] {
    let mut hasher = value::hasher();
    for part in [tree.as_bytes(), reading.as_bytes(), body] {
        hasher.write_usize(part.len());
        hasher.write(part);
    }
    hasher.finish().to_be_bytes()
}

fn forget_old(folder: &Path) {
    let files = by_age(folder);
    let excess = files.len().saturating_sub(MOST_TREES);
    for file in files.into_iter().take(excess) {
        let _ = fs::remove_file(file);
    }
}

/// The files of a folder, the oldest first.
fn by_age(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let dated = |entry: fs::DirEntry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()));
    let mut files: Vec<_> = entries.filter_map(Result::ok).filter_map(dated).collect();
    files.sort();
    files.into_iter().map(|(_, file)| file).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::layout::{FileFacts, Found, IndexEntry, Input, InputSet, Inputs, PathList, UnitFacts};
    use crate::path::RepoPath;
    use crate::resource::Unit;

    fn path(text: &str) -> RepoPath {
        RepoPath::new(text).unwrap()
    }

    fn tree(byte: u8) -> ObjectId {
        ObjectId::new(&[byte; 20]).unwrap()
    }

    fn unit(key: &str) -> Unit {
        Unit { layout: "test".into(), key: key.into() }
    }

    /// Facts with every kind of input.
    fn facts() -> TreeFacts {
        let inputs: Inputs = Arc::new([
            Input::File(path("a.yaml")),
            Input::Absent(path("b.yaml")),
            Input::Listing(RepoPath::root()),
            Input::Subtree(path("d")),
            Input::Lookup { index: "names".into(), key: "x".into(), from: path("d/e") },
            Input::Index("names".into()),
            Input::Output(unit("other")),
        ]);
        let file = FileFacts {
            inputs: Arc::clone(&inputs),
            entries: Arc::new([IndexEntry { index: "i".into(), key: "k".into() }]),
        };
        let found = Found { inputs: Arc::new([]), units: vec![unit("one")] };
        let of_unit = UnitFacts {
            inputs: InputSet::new(&inputs),
            found: vec![unit("two")],
            shows: PathList::new(&[path("a.yaml")]),
            is_shown: true,
            is_broken: true,
        };
        TreeFacts {
            files: Arc::new(BTreeMap::from([(path("x.yaml"), file)])),
            finding: BTreeMap::from([("test".into(), found)]),
            units: BTreeMap::from([(unit("one"), of_unit)]),
        }
    }

    fn memory(test: &str) -> (TreeMemory, PathBuf) {
        let folder = std::env::temp_dir().join(format!("outcrop-memory-{test}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        (TreeMemory::new(Some(folder.clone())), folder)
    }

    #[test]
    fn what_is_remembered_is_recalled() {
        let (memory, folder) = memory("recalled");
        memory.remember(tree(1), "options", &facts());
        assert_eq!(memory.recall(tree(1), "options"), Some(facts()));
        assert_eq!(memory.recall(tree(2), "options"), None);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn facts_of_another_tree_or_another_way_of_reading_are_ignored() {
        let (memory, folder) = memory("bound");
        memory.remember(tree(1), "options", &facts());
        assert_eq!(memory.recall(tree(1), "other options"), None);
        fs::copy(folder.join(tree(1).to_string()), folder.join(tree(2).to_string())).unwrap();
        assert_eq!(memory.recall(tree(2), "options"), None, "a renamed file");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn remembered_trees_are_listed_and_nothing_else() {
        let (memory, folder) = memory("listed");
        assert_eq!(memory.trees(), []);
        memory.remember(tree(1), "options", &facts());
        fs::write(folder.join("notes.txt"), "not a tree").unwrap();
        assert_eq!(memory.trees(), [tree(1)]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_long_look_is_timed_and_the_note_says_how_to_avoid_it() {
        let memory = TreeMemory::new(None);
        memory.watch_look(&mut || std::thread::sleep(Duration::from_millis(5)));
        assert!(*memory.look.lock().unwrap() >= Duration::from_millis(5));
        let note = slow_look(Duration::from_millis(2340), false);
        assert!(note.contains("took 2.3 s") && note.contains("every run") && note.contains("--cache-dir"), "{note}");
        assert!(slow_look(Duration::from_secs(3), true).contains("later runs"));
    }

    #[test]
    fn sets_of_inputs_are_written_once() {
        let inputs: Inputs = (0..100).map(|number| Input::File(path(&format!("shared/{number}.yaml")))).collect();
        let many = |count: usize| {
            let file = || FileFacts { inputs: Arc::clone(&inputs), entries: Arc::default() };
            let files = (0..count).map(|number| (path(&format!("{number}.yaml")), file())).collect();
            TreeFacts { files: Arc::new(files), ..TreeFacts::default() }.to_bytes().len()
        };
        assert!(many(1000) < many(1) + 1000 * 20);
    }

    #[test]
    fn what_is_written_again_is_the_same_to_the_byte() {
        let bytes = facts().to_bytes();
        assert_eq!(TreeFacts::from_bytes(bytes.clone()).unwrap().to_bytes(), bytes);
    }

    proptest! {
        /// Whatever byte is damaged and wherever the file is cut, nothing is recalled.
        #[test]
        fn a_damaged_memory_is_ignored(at in any::<prop::sample::Index>(), flip in 1..=255u8, is_cut in any::<bool>()) {
            let (memory, folder) = memory(&format!("damaged-{}-{flip}-{is_cut}", at.index(10_000)));
            memory.remember(tree(1), "options", &facts());
            let file = folder.join(tree(1).to_string());
            let mut bytes = fs::read(&file).unwrap();
            let at = at.index(bytes.len());
            if is_cut { bytes.truncate(at) } else { bytes[at] ^= flip }
            fs::write(&file, bytes).unwrap();
            prop_assert_eq!(memory.recall(tree(1), "options"), None);
            fs::remove_dir_all(folder).unwrap();
        }

        /// No bytes make reading fail in any other way than by giving nothing.
        #[test]
        fn nonsense_is_read_without_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let facts = TreeFacts::from_bytes(bytes);
            prop_assert!(facts.is_none_or(|facts| TreeFacts::from_bytes(facts.to_bytes()) == Some(facts)));
        }
    }
}
