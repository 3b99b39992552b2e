//! Two sets of files compared in memory, through the doors of the library that the program uses.

use std::sync::Arc;

use outcrop::comparison::{Comparison, Options};
use outcrop::impact::{Memory, NoMemory};
use outcrop::layout::{LAYOUTS, Layout};
use outcrop::path::RepoPath;
use outcrop::settings::{Configuration, Policy};
use outcrop::snapshot::{MemorySnapshot, Scope, Snapshot};
use outcrop::text::Sources;

/// A snapshot that holds these files.
pub(crate) fn snapshot<'a>(label: &str, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> MemorySnapshot {
    let add = |snapshot: MemorySnapshot, (path, text): (&str, &str)| {
        snapshot.with(RepoPath::new(path).unwrap(), text.as_bytes())
    };
    files.into_iter().fold(MemorySnapshot::new(label), add)
}

/// What a comparison of two snapshots is asked for.
pub(crate) struct Comparing<'a, S = MemorySnapshot> {
    pub(crate) before: S,
    pub(crate) after: S,
    pub(crate) scope: &'a [&'a str],
    pub(crate) memory: &'a dyn Memory,
    pub(crate) layouts: &'a [&'a dyn Layout],
    pub(crate) keeps_resources: bool,
}

impl<S: Snapshot> Comparing<'_, S> {
    /// The whole of two snapshots, without a cache.
    pub(crate) fn new(before: S, after: S) -> Self {
        Comparing { before, after, scope: &[], memory: &NoMemory, layouts: LAYOUTS, keeps_resources: true }
    }

    /// Calls a function with the comparison.
    pub(crate) fn run<T>(&self, act: impl Fn(&Comparison<'_>) -> T) -> T {
        let sources = Arc::new(Sources::default());
        let configuration = Configuration::read(&self.before, &self.after, Policy::Base, &sources);
        let scope = Scope::new(self.scope, &RepoPath::root(), &configuration.roots()).unwrap();
        let Comparing { memory, layouts, keeps_resources, .. } = *self;
        let options = Options { scope, memory, layouts, keeps_resources, ..Options::default() };
        act(&Comparison::new(&self.before, &self.after, &configuration, &sources, options))
    }
}
