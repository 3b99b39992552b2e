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
fn a_cache_elsewhere_is_used_and_the_repository_stays_as_it_is() {
    let repo = repository();
    let expected = diff(&repo, "off");
    let elsewhere = tempfile::tempdir().unwrap();
    let with_cache = || {
        let mut command = outcrop(&repo, &["diff", "HEAD~1", "HEAD", "--cache-dir"]);
        run(command.arg(elsewhere.path()))
    };
    for how in ["filling it", "with it"] {
        assert_eq!(with_cache().stdout, expected.stdout, "{how}");
        assert_eq!(cached(elsewhere.path()).len(), 2, "both trees, {how}");
    }
    assert!(cached(&repo.root().join(".git/outcrop")).is_empty());
    // A cache of another repository, or of nonsense, is no cache.
    let other = TestRepo::new();
    other.write("shared.yaml", "timeout: 1\n");
    other.commit_all("first");
    other.write("shared.yaml", "timeout: 2\n");
    other.commit_all("second");
    let found = run(outcrop(&other, &["diff", "HEAD~1", "HEAD", "--cache-dir"]).arg(elsewhere.path()));
    found.ends_with(0).says("shared.yaml");
    for file in cached(elsewhere.path()) {
        fs::write(file, "nonsense").unwrap();
    }
    assert_eq!(with_cache().stdout, expected.stdout, "damaged");
}

/// The cache of any commit helps every other one: what differs is read, and nothing is missed.
#[test]
fn what_is_known_about_one_tree_is_carried_over_to_others() {
    let repo = repository();
    diff(&repo, "on");
    repo.write("b/z/resource.yaml", "id: z\n+include: ../../shared.yaml\n");
    repo.write("a/w/resource.yaml", "id: w\ncopy: {eval: \"::b/z::timeout\"}\n");
    repo.commit_all("third");
    repo.write("a/x/resource.yaml", "id: x\n");
    repo.commit_all("fourth");
    repo.write("shared.yaml", "timeout: 90\n");
    repo.commit_all("fifth");
    // Nothing is known about the last two trees.
    let expected = diff(&repo, "off");
    assert!(expected.stdout.contains("/b/z") && expected.stdout.contains("/a/w"), "{}", expected.stdout);
    assert!(!expected.stdout.contains("/a/x"), "{}", expected.stdout);
    let known = cached(&repo.root().join(".git/outcrop")).len();
    assert_eq!(diff(&repo, "on").stdout, expected.stdout, "carried over");
    assert_eq!(cached(&repo.root().join(".git/outcrop")).len(), known + 2, "and remembered");
    assert_eq!(diff(&repo, "on").stdout, expected.stdout, "with what was carried over");
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
