//! What is known about whole trees from earlier runs, in files under the git directory that may be deleted at any time.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use smol_str::SmolStr;

use super::directory::read_regular;
use super::environment;
use super::git::Repository;
use crate::impact::Memory;
use crate::layout::{FileFacts, Found, IndexEntry, Input, Inputs, TreeFacts, UnitFacts};
use crate::path::RepoPath;
use crate::resource::Unit;
use crate::snapshot::ObjectId;

/// One file per tree, named by the tree's id: a line that names the format, a checksum, and the facts. The checksum also covers
/// the id of the tree and how it was read, so that a file that was damaged, renamed or written by another version is ignored.
pub(super) struct TreeMemory {
    folder: Option<PathBuf>,
}

const HEADER: &[u8] = b"outcrop inputs 2\n";
/// A larger file is not one of ours.
const LARGEST: u64 = 256 << 20;
/// Old trees are forgotten when there are more than this many.
const MOST_TREES: usize = 64;

impl TreeMemory {
    /// The memory of a repository; `OUTCROP_CACHE=off` keeps it from being used or made.
    pub(super) fn of(repository: &Repository) -> Self {
        let is_off = environment::text("OUTCROP_CACHE").ok().flatten().is_some_and(|value| value == "off");
        Self { folder: (!is_off).then(|| repository.git_directory().join("outcrop/inputs")) }
    }

    /// Remembers nothing.
    pub(super) fn none() -> Self {
        Self { folder: None }
    }
}

impl Memory for TreeMemory {
    fn recall(&self, tree: ObjectId, reading: &str) -> Option<TreeFacts> {
        let bytes = read_regular(&self.folder.as_ref()?.join(tree.to_string()), LARGEST).ok()?;
        let (sum, body) = bytes.strip_prefix(HEADER)?.split_first_chunk::<8>()?;
        let mut body = Body((*sum == checksum(tree, reading, body)).then_some(body)?);
        let facts = body.facts()?;
        body.0.is_empty().then_some(facts)
    }

    /// A memory that cannot be written only costs time, so that failures are not reported.
    fn remember(&self, tree: ObjectId, reading: &str, facts: &TreeFacts) {
        let Some(folder) = &self.folder else { return };
        let _ = fs::create_dir_all(folder);
        forget_old(folder);
        let body = written(facts);
        let bytes = [HEADER, &checksum(tree, reading, &body), &body].concat();
        // Written aside and renamed, so that another process never reads half of it.
        let aside = folder.join(format!("{tree}.{}", std::process::id()));
        if fs::write(&aside, bytes).is_ok() {
            let _ = fs::rename(&aside, folder.join(tree.to_string()));
        }
    }
}

fn checksum(tree: ObjectId, reading: &str, body: &[u8]) -> [u8; 8] {
    let bytes = tree.as_bytes().iter().chain(reading.as_bytes()).chain(&[0]).chain(body);
    let sum =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    sum.to_be_bytes()
}

/// The facts as bytes. Each list starts with its length, each text with its own; sets of inputs are written once and named by
/// their number.
fn written(facts: &TreeFacts) -> Vec<u8> {
    let file_sets = facts.files.values().map(|file| &file.inputs);
    let found_sets = facts.finding.values().map(|found| &found.inputs);
    let unit_sets = facts.units.values().map(|unit| &unit.inputs);
    let mut sets: BTreeMap<&Inputs, usize> = file_sets.chain(found_sets).chain(unit_sets).map(|set| (set, 0)).collect();
    sets.values_mut().enumerate().for_each(|(number, value)| *value = number);
    let mut out = Writer(Vec::new());
    out.list(sets.keys().copied(), |out, set| out.list(set.iter(), Writer::input));
    out.list(facts.files.iter(), |out, (path, file)| {
        out.text(path.as_bytes());
        out.number(sets[&file.inputs]);
        out.list(file.entries.iter(), |out, entry| {
            out.text(entry.index.as_bytes());
            out.text(entry.key.as_bytes());
        });
    });
    out.list(facts.finding.iter(), |out, (layout, found)| {
        out.text(layout.as_bytes());
        out.number(sets[&found.inputs]);
        out.list(found.units.iter(), Writer::unit);
    });
    out.list(facts.units.iter(), |out, (unit, facts)| {
        out.unit(unit);
        out.number(sets[&facts.inputs]);
        out.list(facts.found.iter(), Writer::unit);
        out.list(facts.shows.iter(), |out, path| out.text(path.as_bytes()));
        out.number(usize::from(facts.is_shown));
        out.number(usize::from(facts.is_broken));
    });
    out.0
}

struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u64).to_be_bytes());
    }

    fn text(&mut self, text: &[u8]) {
        self.number(text.len());
        self.0.extend_from_slice(text);
    }

    fn list<T>(&mut self, items: impl ExactSizeIterator<Item = T>, write: impl Fn(&mut Self, T)) {
        self.number(items.len());
        items.for_each(|item| write(self, item));
    }

    fn unit(&mut self, unit: &Unit) {
        self.text(unit.layout.as_bytes());
        self.text(unit.key.as_bytes());
    }

    fn input(&mut self, input: &Input) {
        let (kind, path) = match input {
            Input::File(path) => (b'f', path),
            Input::Absent(path) => (b'a', path),
            Input::Listing(path) => (b'l', path),
            Input::Subtree(path) => (b's', path),
            Input::Lookup { from, .. } => (b'i', from),
            Input::Index(index) => {
                self.0.push(b'x');
                return self.text(index.as_bytes());
            }
            Input::Output(unit) => {
                self.0.push(b'o');
                return self.unit(unit);
            }
        };
        self.0.push(kind);
        self.text(path.as_bytes());
        if let Input::Lookup { index, key, .. } = input {
            self.text(index.as_bytes());
            self.text(key.as_bytes());
        }
    }
}

/// The bytes that are left to read. Anything that was not written by [`written`] gives `None`.
struct Body<'b>(&'b [u8]);

impl<'b> Body<'b> {
    fn facts(&mut self) -> Option<TreeFacts> {
        let sets: Vec<Inputs> = self.list(|body| Some(body.list(Body::input)?.into()))?;
        let files = self.list(|body| {
            let path = body.path()?;
            let inputs = body.set(&sets)?;
            let entries = body.list(|body| Some(IndexEntry { index: body.name()?, key: body.name()? }))?;
            Some((path, FileFacts { inputs, entries }))
        })?;
        let finding = self.list(|body| {
            let layout = body.name()?;
            Some((layout, Found { inputs: body.set(&sets)?, units: body.list(Body::unit)? }))
        })?;
        let units = self.list(|body| {
            let unit = body.unit()?;
            let inputs = body.set(&sets)?;
            let (found, shows) = (body.list(Body::unit)?, body.list(Body::path)?);
            let (is_shown, is_broken) = (body.number()? == 1, body.number()? == 1);
            Some((unit, UnitFacts { inputs, found, shows, is_shown, is_broken }))
        })?;
        let (finding, units) = (finding.into_iter().collect(), units.into_iter().collect());
        Some(TreeFacts { files: Arc::new(files.into_iter().collect()), finding, units })
    }

    fn number(&mut self) -> Option<usize> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        usize::try_from(u64::from_be_bytes(*number)).ok()
    }

    fn text(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn list<T>(&mut self, read: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.number()?;
        // Nothing is reserved: a wrong length must not be believed.
        (0..length).map(|_| read(self)).collect()
    }

    fn name(&mut self) -> Option<SmolStr> {
        std::str::from_utf8(self.text()?).ok().map(SmolStr::new)
    }

    fn path(&mut self) -> Option<RepoPath> {
        RepoPath::new(self.text()?).ok()
    }

    fn unit(&mut self) -> Option<Unit> {
        Some(Unit { layout: self.name()?, key: self.name()? })
    }

    fn set(&mut self, sets: &[Inputs]) -> Option<Inputs> {
        sets.get(self.number()?).cloned()
    }

    fn input(&mut self) -> Option<Input> {
        let (kind, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(match kind {
            b'f' => Input::File(self.path()?),
            b'a' => Input::Absent(self.path()?),
            b'l' => Input::Listing(self.path()?),
            b's' => Input::Subtree(self.path()?),
            b'i' => Input::Lookup { from: self.path()?, index: self.name()?, key: self.name()? },
            b'x' => Input::Index(self.name()?),
            b'o' => Input::Output(self.unit()?),
            _ => return None,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        let file =
            FileFacts { inputs: Arc::clone(&inputs), entries: vec![IndexEntry { index: "i".into(), key: "k".into() }] };
        let found = Found { inputs: Arc::new([]), units: vec![unit("one")] };
        let of_unit = UnitFacts {
            inputs,
            found: vec![unit("two")],
            shows: vec![path("a.yaml")],
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
        (TreeMemory { folder: Some(folder.clone()) }, folder)
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
    fn sets_of_inputs_are_written_once() {
        let inputs: Inputs = (0..100).map(|number| Input::File(path(&format!("shared/{number}.yaml")))).collect();
        let many = |count: usize| {
            let file = || FileFacts { inputs: Arc::clone(&inputs), entries: Vec::new() };
            let files = (0..count).map(|number| (path(&format!("{number}.yaml")), file())).collect();
            written(&TreeFacts { files: Arc::new(files), ..TreeFacts::default() }).len()
        };
        assert!(many(1000) < many(1) + 1000 * 40);
        let read = Body(&written(&facts())).facts().unwrap();
        assert!(Arc::ptr_eq(&read.units[&unit("one")].inputs, &read.files[&path("x.yaml")].inputs));
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
            let facts = Body(&bytes).facts();
            prop_assert!(facts.is_none_or(|facts| Body(&written(&facts)).facts() == Some(facts)));
        }
    }
}
