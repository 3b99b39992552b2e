//! Looking at a repository changes nothing in it: neither its index, nor its working tree, nor its refs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

/// Every file with its content and the time it was last written; what is remembered about trees is not part of the repository.
fn files(root: &Path) -> BTreeMap<PathBuf, (Vec<u8>, SystemTime)> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
            let (path, kind) = (entry.path(), entry.metadata().unwrap());
            match kind.is_dir() {
                true if path.ends_with(".git/outcrop") => {}
                true => waiting.push(path),
                false => drop(found.insert(path.clone(), (fs::read(&path).unwrap(), kind.modified().unwrap()))),
            }
        }
    }
    found
}

#[test]
fn looking_changes_neither_index_nor_working_tree_nor_refs() {
    let repo = TestRepo::from_folders("examples/fleet");
    // Stale times in the index are what git would refresh in passing.
    repo.write(
        "tenants/acme/resource.yaml",
        fs::read_to_string(repo.root().join("tenants/acme/resource.yaml")).unwrap(),
    );
    repo.write("tenants/bolt/resource.yaml", "id: 2\nplan: gold\n");
    repo.write("tenants/new/resource.yaml", "id: 9\n");
    repo.git(&["add", "tenants/new"]);
    let before = files(repo.root());
    let commands: [&[&str]; 14] = [
        &["diff"],
        &["diff", "--staged"],
        &["diff", "HEAD~4", "HEAD"],
        &["diff", "HEAD~4...HEAD", "--format", "json"],
        &["diff", "HEAD~1", "--only", "requests"],
        &["diff", "HEAD~4", "HEAD", "--no-cache"],
        &["check", "--staged"],
        &["check", "--all"],
        &["explain", "/tenants/acme"],
        &["render", "--at", "HEAD~1", "--steps"],
        &["expand", "tenants/acme/resource.yaml", "--why"],
        &["metadata", "get", "/tenants/acme"],
        &["metadata", "render", "/tenants/acme", "update"],
        &["doctor"],
    ];
    for arguments in commands {
        let ran = run(&mut outcrop(&repo, arguments));
        assert!(ran.code < 2, "{arguments:?}: {ran:?}");
        assert_eq!(files(repo.root()), before, "{arguments:?}");
    }
}
