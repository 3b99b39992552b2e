//! What is cached about trees below `.git/outcrop` may be cut off, overwritten or deleted: the answer stays the same.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{Ran, outcrop, run};
use crate::repo::TestRepo;

/// Two commits in which a file changes that others read through includes, expressions and layers.
fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("shared.yaml", "timeout: 30\n");
    repo.write("a/x/resource.yaml", "id: x\n+include: ../../shared.yaml\n");
    repo.write("a/y/resource.yaml", "id: y\ncopy: {eval: \"::a/x::timeout\"}\n");
    repo.write("a/_/metadata.yaml", "resourceInfo: {idFromAttribute: id}\n");
    repo.write("b/z/resource.yaml", "id: z\n");
    repo.commit_all("first");
    repo.write("shared.yaml", "timeout: 60\n");
    repo.commit_all("second");
    repo
}

fn diff(repo: &TestRepo, cache: &str) -> Ran {
    run(outcrop(repo, &["diff", "HEAD~1", "HEAD"]).env("OUTCROP_CACHE", cache))
}

fn cached(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { cached(&path) } else { vec![path] }).collect()
}

#[test]
fn a_damaged_cache_changes_no_answer() {
    let repo = repository();
    let expected = diff(&repo, "off");
    assert!(expected.stdout.contains("/a/x") && expected.stdout.contains("/a/y"), "{}", expected.stdout);
    let folder = repo.root().join(".git/outcrop");
    assert!(cached(&folder).is_empty(), "a run without a cache writes none");
    let agrees = |how: &str| {
        let found = diff(&repo, "on");
        assert_eq!(
            (found.code, found.stdout, found.stderr),
            (expected.code, expected.stdout.clone(), expected.stderr.clone()),
            "{how}"
        );
    };
    agrees("filling the cache");
    agrees("with a cache");
    let files = cached(&folder);
    assert!(!files.is_empty(), "a run with a cache writes one");
    for file in files {
        let whole = fs::read(&file).unwrap();
        let mut damages: Vec<(String, Vec<u8>)> = [0, 1, whole.len() / 2, whole.len().saturating_sub(1)]
            .map(|length| (format!("cut after {length} bytes"), whole[..length].to_vec()))
            .to_vec();
        for at in [0, whole.len() / 3, whole.len() / 2, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 0x20;
            damages.push((format!("byte {at} changed"), flipped));
        }
        damages.push(("something added".to_owned(), [&whole[..], b"e\0x\0\0"].concat()));
        for (how, damaged) in damages {
            fs::write(&file, damaged).unwrap();
            agrees(&format!("{}: {how}", file.display()));
        }
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        agrees("a folder in place of a file");
        fs::remove_dir_all(&file).unwrap();
    }
}
