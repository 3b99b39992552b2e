//! Repositories made to do harm: names that lead elsewhere, objects that are huge, missing, damaged or endless.

use std::time::{Duration, Instant};

use super::environment::probe_with_peak;
use super::*;

/// A tree object of exactly these entries, which no git command would write.
fn tree(repo: &TestRepo, entries: &[(&str, &[u8], &str)]) -> String {
    let mut object = Vec::new();
    for (mode, name, id) in entries {
        object.extend_from_slice(mode.as_bytes());
        object.push(b' ');
        object.extend_from_slice(name);
        object.push(0);
        let digit = |at: usize| u8::from_str_radix(&id[at..at + 2], 16).expect("an id is hexadecimal");
        object.extend((0..id.len()).step_by(2).map(digit));
    }
    repo.git_with_input(&["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], &object)
}

fn blob(repo: &TestRepo, content: &str) -> String {
    repo.git_with_input(&["hash-object", "-w", "--stdin"], content.as_bytes())
}

/// What differs between two trees, whatever could not be read.
fn compare(repo: &TestRepo, before: &str, after: &str) -> (Vec<String>, Vec<String>) {
    let repository = repo.open();
    let changes = sides(&repository, &[before, after]).changes(&repository);
    let files = changes.files.iter().map(|file| file.path.to_string()).collect();
    let unreadable = changes.unreadable.iter().map(ToString::to_string).collect();
    (files, unreadable)
}

const FILE: &str = "100644";
const DIRECTORY: &str = "40000";

#[test]
fn names_that_lead_out_of_the_tree_are_refused_one_by_one() {
    let repo = TestRepo::new();
    let evil = blob(&repo, "evil: true\n");
    let inner = tree(&repo, &[(FILE, b"config", &evil)]);
    let names: [&[u8]; 8] = [b"..", b".", b"", b".git", b".GIT", b"git~1", b"a/b", b"../../etc/passwd"];
    let nothing = tree(&repo, &[]);
    for name in names {
        for (mode, id) in [(FILE, &evil), (DIRECTORY, &inner)] {
            let hostile = tree(&repo, &[(FILE, b"good.yaml", &evil), (mode, name, id)]);
            let (files, unreadable) = compare(&repo, &nothing, &hostile);
            assert_eq!(files, ["good.yaml"], "{name:?}");
            assert_eq!(unreadable.len(), 1, "{name:?}: {unreadable:?}");
            assert!(unreadable[0].contains("which is not a valid file name"), "{unreadable:?}");
        }
    }
    let sibling = tree(&repo, &[(FILE, b"x.yaml", &evil)]);
    let hostile = tree(&repo, &[(DIRECTORY, b"..", &inner), (DIRECTORY, b"sub", &sibling)]);
    let (files, unreadable) = compare(&repo, &nothing, &hostile);
    assert_eq!((files, unreadable.len()), (vec!["sub/x.yaml".to_owned()], 1));
}

#[test]
fn a_tree_of_bad_names_is_not_a_flood_of_findings() {
    let repo = TestRepo::new();
    let id = blob(&repo, "a: 1\n");
    let mut entries: Vec<(&str, &[u8], &str)> = vec![(FILE, b"..", &id); 5_000];
    entries.extend(vec![(FILE, &b"twin"[..], id.as_str()); 5_000]);
    let (files, unreadable) = compare(&repo, &tree(&repo, &[]), &tree(&repo, &entries));
    assert_eq!((files.len(), unreadable.len()), (1, 21));
    assert!(unreadable[20].contains("9979 more bad names"), "{}", unreadable[20]);
}

#[test]
fn unusual_names_that_lead_nowhere_are_fine() {
    let repo = TestRepo::new();
    let id = blob(&repo, "a: 1\n");
    let names: [&[u8]; 7] = [b"CON", b"a:b.yaml", b"a\\b.yaml", b".gitignore", b"...", b"~", b"trailing. "];
    let entries: Vec<(&str, &[u8], &str)> = names.iter().map(|&name| (FILE, name, id.as_str())).collect();
    let (files, unreadable) = compare(&repo, &tree(&repo, &[]), &tree(&repo, &entries));
    assert_eq!((files.len(), unreadable.len()), (names.len(), 0), "{unreadable:?}");
}

#[test]
fn a_name_that_occurs_twice_is_said() {
    let repo = TestRepo::new();
    let (one, two) = (blob(&repo, "a: 1\n"), blob(&repo, "a: 2\n"));
    let inner = tree(&repo, &[(FILE, b"x.yaml", &one)]);
    let hostile =
        tree(&repo, &[(FILE, b"a", &one), (FILE, b"a", &two), (FILE, b"a.yaml", &two), (DIRECTORY, b"a", &inner)]);
    let (files, unreadable) = compare(&repo, &tree(&repo, &[]), &hostile);
    assert_eq!(files, ["a", "a.yaml"]);
    assert_eq!(unreadable, ["a: the tree contains this name twice", "a: the tree contains this name twice"]);
}

#[test]
fn objects_of_the_wrong_kind_are_said() {
    let repo = TestRepo::new();
    let file = blob(&repo, "a: 1\n");
    let directory = tree(&repo, &[(FILE, b"x.yaml", &file)]);
    let hostile = tree(&repo, &[(FILE, b"a.yaml", &directory), (DIRECTORY, b"b", &file)]);
    let nothing = tree(&repo, &[]);
    let (files, unreadable) = compare(&repo, &nothing, &hostile);
    assert_eq!(files, ["a.yaml"]);
    assert_eq!(unreadable, [format!("b: object {file} is a blob, not a tree")]);
    let after = sides(&repo.open(), &[&nothing, &hostile]).after;
    let reason = read(&after, "a.yaml").expect_err("it is a tree").to_string();
    assert_eq!(reason, format!("object {directory} is a tree, not a blob"));
}

#[test]
fn a_tree_that_ends_in_the_middle_keeps_what_came_before() {
    let repo = TestRepo::new();
    let id = blob(&repo, "a: 1\n");
    let whole = tree(&repo, &[(FILE, b"a.yaml", &id)]);
    let mut bytes = repo.git_bytes(&["cat-file", "tree", &whole]);
    bytes.extend_from_slice(b"100644 b.yaml\0short");
    let broken = repo.git_with_input(&["hash-object", "-t", "tree", "-w", "--literally", "--stdin"], &bytes);
    let (files, unreadable) = compare(&repo, &tree(&repo, &[]), &broken);
    assert_eq!(files, ["a.yaml"]);
    assert!(unreadable.len() == 1 && unreadable[0].contains("damaged"), "{unreadable:?}");
    let after = sides(&repo.open(), &[&broken, &broken]).after;
    assert!(after.entry(&path("a.yaml")).expect("it came before the damage").is_some());
    assert!(after.entry(&path("b.yaml")).is_err(), "it is not known to be absent");
}

/// A few objects that stand for ten to the power of `levels` paths.
fn bomb(repo: &TestRepo, leaf: &str, levels: u32) -> String {
    let names: Vec<[u8; 1]> = (b'0'..=b'9').map(|digit| [digit]).collect();
    let mut id = blob(repo, leaf);
    for level in 0..levels {
        let mode = if level == 0 { FILE } else { DIRECTORY };
        let entries: Vec<(&str, &[u8], &str)> = names.iter().map(|name| (mode, &name[..], id.as_str())).collect();
        id = tree(repo, &entries);
    }
    id
}

#[test]
fn a_tree_of_billions_of_paths_ends_with_a_finding() {
    let repo = TestRepo::new();
    let (one, two) = (bomb(&repo, "a: 1\n", 10), bomb(&repo, "a: 2\n", 10));
    let nothing = tree(&repo, &[]);
    let repository = repo.open();
    for [before, after] in [[&nothing, &one], [&one, &nothing], [&one, &two]] {
        let start = Instant::now();
        let Sides { before, after, .. } = sides(&repository, &[before, after]);
        let limits = Limits { entries: 100_000, ..Limits::default() };
        let changes = snapshot::changes(&before, &after, &Scope::everything(), &limits, &Default::default());
        assert!(start.elapsed() < Duration::from_secs(20));
        assert!(changes.files.len() <= 100_000);
        let [unreadable] = &changes.unreadable[..] else { panic!("{:?}", changes.unreadable) };
        assert!(matches!(unreadable.reason, Reason::TooManyEntries { limit: 100_000, .. }), "{unreadable}");
    }
    // With a path of interest there is nothing to fear.
    let scope = Scope::new(&["1/2/3/4/5/6/7/8/9/0"], &RepoPath::root(), &[]).expect("a plain path");
    let Sides { before, after, .. } = sides(&repository, &[&one, &two]);
    let changes = snapshot::changes(&before, &after, &scope, &Limits::default(), &Default::default());
    assert_eq!((changes.files.len(), changes.unreadable.len()), (1, 0));
}

#[test]
fn a_tree_of_endless_depth_ends_with_a_finding() {
    let repo = TestRepo::new();
    let mut id = tree(&repo, &[(FILE, b"a.yaml", &blob(&repo, "a: 1\n"))]);
    for _ in 0..80 {
        id = tree(&repo, &[(DIRECTORY, b"d", &id)]);
    }
    let nothing = tree(&repo, &[]);
    let (files, unreadable) = compare(&repo, &nothing, &id);
    assert!(files.is_empty());
    assert!(unreadable.len() == 1 && unreadable[0].contains("64 directory levels"), "{unreadable:?}");
    let after = sides(&repo.open(), &[&nothing, &id]).after;
    let deep = path(["d"; 80].join("/") + "/a.yaml");
    assert!(after.entry(&deep).is_err());
    // A path from a document can be of any length; looking it up costs no more than the tree is deep.
    let absurd = path(["a"; 1_000_000].join("/"));
    assert_eq!(after.entry(&absurd).expect("its first component is not there"), None);
    assert!(after.list(&absurd).entries.is_empty());
}

#[test]
fn a_huge_file_is_refused_by_its_size_alone() {
    let repo = TestRepo::new();
    repo.write("small.yaml", "a: 1\n");
    let first = repo.commit_all("first");
    let huge = std::fs::File::create(repo.root().join("huge.yaml")).expect("the file is new");
    huge.set_len(150 << 20).expect("a hole takes no space");
    repo.git(&["-c", "core.compression=1", "add", "huge.yaml"]);
    repo.commit("second");
    let expected =
        format!("huge.yaml nothing ({} bytes, more than the limit of {} bytes for one file)", 150 << 20, 64 << 20);
    for _ in 0..2 {
        let (found, peak) = probe_with_peak(&repo, &format!("{first} HEAD"));
        assert_eq!(found, [&expected, "done"]);
        assert!(peak < 100 << 10, "{peak} KiB");
        repo.git(&["repack", "-q", "-a", "-d"]);
    }
}

#[test]
fn a_large_file_is_read_where_the_limit_allows_it() {
    let repo = TestRepo::new();
    let large = std::fs::File::create(repo.root().join("large.yaml")).expect("the file is new");
    large.set_len(70 << 20).expect("a hole takes no space");
    repo.git(&["-c", "core.compression=1", "add", "large.yaml"]);
    repo.commit("first");
    let mut after = sides(&repo.open(), &["HEAD", "HEAD"]).after;
    assert!(matches!(read(&after, "large.yaml"), Err(Reason::FileTooLarge { size: 73_400_320, limit: 67_108_864 })));
    after.set_limits(Limits { file_bytes: 70 << 20, ..Limits::default() });
    assert_eq!(read(&after, "large.yaml").expect("the limit was raised").len(), 70 << 20);
    after.set_limits(Limits { file_bytes: 70 << 20, run_bytes: 69 << 20, ..Limits::default() });
    assert!(matches!(read(&after, "large.yaml"), Err(Reason::RunTooLarge { .. })));
}

#[test]
fn missing_and_damaged_objects_are_said_and_the_rest_is_compared() {
    let repo = TestRepo::new();
    for name in ["a.yaml", "b.yaml", "sub/c.yaml", "z.yaml"] {
        repo.write(name, format!("v: {name} 1\n"));
    }
    let first = repo.commit_all("first");
    for name in ["a.yaml", "b.yaml", "sub/c.yaml", "z.yaml"] {
        repo.write(name, format!("v: {name} 2\n"));
    }
    repo.commit_all("second");
    let object = |revision: &str| {
        let id = repo.git(&["rev-parse", revision]);
        repo.root().join(".git/objects").join(&id[..2]).join(&id[2..])
    };
    let replace = |revision: &str, content: Option<&[u8]>| {
        let file = object(revision);
        let original = std::fs::read(&file).expect("the object is loose");
        std::fs::remove_file(&file).expect("it can be removed");
        if let Some(content) = content {
            std::fs::write(&file, if content.is_empty() { &original[..original.len() / 2] } else { content })
                .expect("writable");
        }
    };
    replace("HEAD:a.yaml", None);
    replace("HEAD:b.yaml", Some(b"not zlib"));
    replace("HEAD:z.yaml", Some(b""));
    replace("HEAD:sub", None);
    let repository = repo.open();
    let sides = sides(&repository, &[&first, "HEAD"]);
    let changes = sides.changes(&repository);
    let names: Vec<String> = changes.files.iter().map(|file| file.path.to_string()).collect();
    assert_eq!(names, ["a.yaml", "b.yaml", "z.yaml"], "what cannot be listed is not called removed");
    assert!(matches!(changes.unreadable[..], [snapshot::Unreadable { reason: Reason::MissingObject { .. }, .. }]));
    assert!(
        matches!(read(&sides.after, "a.yaml"), Err(Reason::MissingObject { help, .. }) if help.contains("git fsck"))
    );
    for name in ["b.yaml", "z.yaml"] {
        let reason = read(&sides.after, name).expect_err("it is damaged").to_string();
        assert!(reason.contains("is damaged"), "{name}: {reason}");
    }
    assert_eq!(read(&sides.before, "z.yaml").expect("this one is whole"), "v: z.yaml 1\n");
}

#[test]
fn replacements_of_objects_are_not_followed() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    let original = repo.git(&["rev-parse", "HEAD:a.yaml"]);
    let other = blob(&repo, "a: hidden\n");
    repo.git(&["replace", &original, &other]);
    assert_eq!(repo.git(&["cat-file", "-p", &original]), "a: hidden", "git follows it");
    let after = sides(&repo.open(), &["HEAD", "HEAD"]).after;
    assert_eq!(read(&after, "a.yaml").expect("readable"), "a: 1\n");
}

#[test]
fn any_damage_to_a_pack_gives_content_or_a_reason() {
    let repo = TestRepo::new();
    for number in 0..6 {
        for file in 0..8 {
            repo.write(format!("d{}/f{file}.yaml", file % 3), format!("a: {}\n", "x".repeat(200 + number * file)));
        }
        repo.commit_all("next");
    }
    let (first, last) = (repo.git(&["rev-parse", "HEAD~5"]), repo.git(&["rev-parse", "HEAD"]));
    repo.git(&["repack", "-q", "-a", "-d", "-f"]);
    let directory = repo.root().join(".git/objects/pack");
    let mut files = std::fs::read_dir(directory).expect("there is a pack").map(|file| file.expect("listed").path());
    let pack = files.find(|file| file.extension().is_some_and(|extension| extension == "pack")).expect("there is one");
    let whole = std::fs::read(&pack).expect("readable");
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig { cases: 150, ..ProptestConfig::default() });
    let damage = prop::collection::vec((12..whole.len(), any::<u8>()), 1..6);
    let outcome = runner.run(&damage, |bytes| {
        let mut damaged = whole.clone();
        bytes.iter().for_each(|&(at, byte)| damaged[at] = byte);
        // A new file, because the old one may still be mapped.
        std::fs::remove_file(&pack).expect("it can be removed");
        std::fs::write(&pack, &damaged).expect("it can be written");
        let repository = repo.open();
        if let Ok(selection) = select(&repository, &[&first, &last]) {
            let snapshot =
                |revision| repository.snapshot(revision, &Budget::default()).expect("a tree needs nothing to open");
            let (before, after) = (snapshot(&selection.comparison.before), snapshot(&selection.comparison.after));
            let changes =
                snapshot::changes(&before, &after, &Scope::everything(), &Limits::default(), &Default::default());
            for file in changes.files {
                file.before.iter().for_each(|entry| drop(before.read(entry)));
                file.after.iter().for_each(|entry| drop(after.read(entry)));
            }
        }
        Ok(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}
