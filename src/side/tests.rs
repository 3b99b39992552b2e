//! What it costs to find a resource: which files are opened, and how often directories are listed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::*;
use crate::expression::eval::{Payload, Tree};
use crate::limits::Limits;
use crate::path::LogicalPath;
use crate::settings::Settings;
use crate::snapshot::{Entry, Listing, MemorySnapshot, Reason, Snapshot, Unreadable};
use crate::text::Sources;

/// A snapshot that notes what is done with it, and cannot list one directory.
struct Watched {
    files: MemorySnapshot,
    read: Mutex<BTreeMap<RepoPath, usize>>,
    listed: Mutex<BTreeMap<RepoPath, usize>>,
    dark: Option<RepoPath>,
}

impl Watched {
    fn new(files: &[(&str, &str)]) -> Self {
        let with =
            |snapshot: MemorySnapshot, (path, text): &(&str, &str)| snapshot.with(repo_path(path), text.as_bytes());
        let files = files.iter().fold(MemorySnapshot::new("test"), with);
        Self { files, read: Mutex::default(), listed: Mutex::default(), dark: None }
    }

    fn read(&self) -> Vec<String> {
        self.read.lock().unwrap().keys().map(ToString::to_string).collect()
    }

    fn most_listed(&self) -> usize {
        self.listed.lock().unwrap().values().copied().max().unwrap_or(0)
    }
}

impl Snapshot for Watched {
    fn label(&self) -> &str {
        self.files.label()
    }

    fn list(&self, directory: &RepoPath) -> Listing {
        *self.listed.lock().unwrap().entry(directory.clone()).or_default() += 1;
        match &self.dark {
            Some(dark) if dark == directory => {
                let reason = Reason::MissingObject { id: "0".to_owned(), help: String::new() };
                Unreadable { path: dark.clone(), revision: "test".into(), reason }.into()
            }
            _ => self.files.list(directory),
        }
    }

    fn entry(&self, path: &RepoPath) -> Result<Option<Entry>, Unreadable> {
        self.files.entry(path)
    }

    fn read(&self, file: &Entry) -> Result<Arc<[u8]>, Unreadable> {
        *self.read.lock().unwrap().entry(file.path.clone()).or_default() += 1;
        self.files.read(file)
    }
}

fn repo_path(text: &str) -> RepoPath {
    RepoPath::new(text).unwrap()
}

fn logical(text: &str) -> LogicalPath {
    LogicalPath::parse(text).unwrap()
}

fn in_side<T>(snapshot: &Watched, limits: &Limits, act: impl FnOnce(&Side<'_>) -> T) -> T {
    let (settings, sources) = (Settings::default(), Arc::new(Sources::default()));
    act(&Side::new(Given { snapshot, settings: &settings, sources: &sources, limits }, &[], true))
}

const FILES: &[(&str, &str)] = &[
    ("a/one/resource.yaml", "v: 1"),
    ("a/two/resource.yaml", "v: 2"),
    ("a/three.yaml", "v: 3"),
    ("a/kube.yaml", "apiVersion: v1\nkind: Thing\nmetadata: {name: t}\n"),
    ("b/app.yaml", "v: 4"),
    ("b/two.yaml", "v: 5\n---\nv: 6\n"),
    ("b/broken.yaml", "v: [1"),
    ("c/one/resource.yaml", "v: 7"),
];

#[test]
fn a_path_opens_only_the_file_it_names() {
    for (path, read) in [
        ("/a/one", &["a/one/resource.yaml"][..]),
        ("/a/three", &["a/three.yaml"]),
        ("/b/app.yaml", &["b/app.yaml"]),
        ("/b/two.yaml#2", &["b/two.yaml"]),
        ("/b/nothing", &[]),
        // Only a document that names itself has to be looked for.
        ("/a/Thing.t", &["a/kube.yaml", "a/three.yaml"]),
    ] {
        let snapshot = Watched::new(FILES);
        let found = in_side(&snapshot, &Limits::default(), |side| side.find(&logical(path)));
        assert_eq!(found.is_some(), path != "/b/nothing", "{path}");
        assert_eq!(snapshot.read(), read, "{path}");
    }
}

#[test]
fn short_names_open_nothing_and_are_collected_once() {
    let snapshot = Watched::new(FILES);
    in_side(&snapshot, &Limits::default(), |side| {
        for _ in 0..100 {
            let tree = SideTree::new(side);
            let paths = |name: &str| tree.by_name(name).iter().map(|id| tree.path(*id)).collect::<Vec<_>>();
            assert_eq!(paths("one"), ["/a/one", "/c/one"]);
            assert_eq!(paths("b"), ["/b"]);
            assert_eq!(paths("missing"), [""; 0]);
            assert_eq!(paths("root"), ["/"]);
        }
        assert_eq!(snapshot.read(), [""; 0]);
        for _ in 0..100 {
            let tree = SideTree::new(side);
            assert_eq!(tree.by_name("Thing.t").len(), 1);
            assert_eq!(tree.by_name("app.yaml").len(), 1);
        }
    });
    assert!(snapshot.most_listed() <= 4, "{}", snapshot.most_listed());
    assert!(snapshot.read.lock().unwrap().values().all(|&times| times == 1));
}

#[test]
fn what_cannot_be_known_is_not_nothing() {
    let mut snapshot = Watched::new(FILES);
    snapshot.dark = Some(repo_path("c"));
    in_side(&snapshot, &Limits::default(), |side| {
        let tree = SideTree::new(side);
        for path in ["b/broken.yaml", "b/Thing.x", "c/missing"] {
            let id = tree.by_path(path).unwrap_or_else(|| panic!("{path} is not known"));
            assert!(matches!(tree.payload(id), Payload::Unreadable(_)), "{path}");
        }
        assert!(tree.by_path("b/nothing").is_none());
        assert!(tree.gap().is_some());
    });
}

#[test]
fn a_tree_without_end_is_given_up() {
    let paths: Vec<String> = (0..300).map(|number| format!("d{number}/x/resource.yaml")).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), "v: 1")).collect();
    let snapshot = Watched::new(&files);
    let limits = Limits { entries: 100, ..Limits::default() };
    in_side(&snapshot, &limits, |side| {
        let tree = SideTree::new(side);
        tree.by_name("x");
        assert!(tree.gap().is_some_and(|gap| gap.contains("100 directory entries")));
    });
    assert!(snapshot.listed.lock().unwrap().len() < 310);
}
