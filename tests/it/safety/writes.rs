//! Commands that write: all of it or nothing, whatever happens meanwhile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::program::{outcrop, run};
use crate::repo::TestRepo;

const METADATA: &str = "customers/_/metadata.yaml";

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("customers/acme/resource.yaml", "id: acme\n");
    repo.write(METADATA, "# kept\nresourceInfo: {idFromAttribute: id}\n");
    repo.commit_all("first");
    repo
}

fn set(repo: &TestRepo, header: &str) -> Child {
    let pointer = format!("/operationInfo/getResource/headers/{header}");
    let mut command = outcrop(repo, &["metadata", "set", "/customers/_", &pointer, "yes"]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

fn files(root: &Path) -> Vec<PathBuf> {
    let members = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    let members = members.filter(|path| !path.ends_with(".git"));
    members.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn twelve_writers_at_once_lose_nothing() {
    let repo = repository();
    let writers: Vec<(String, Child)> =
        (0..12).map(|n| format!("X-{n}")).map(|header| (header.clone(), set(&repo, &header))).collect();
    let ended: Vec<(String, Option<i32>)> =
        writers.into_iter().map(|(header, mut child)| (header, child.wait().unwrap().code())).collect();
    let text = fs::read_to_string(repo.root().join(METADATA)).unwrap();
    for (header, code) in ended {
        assert!(matches!(code, Some(0 | 2)), "{header}: {code:?}");
        assert_eq!(text.contains(&format!("name: {header}\n")), code == Some(0), "{header}: {code:?}\n{text}");
    }
    assert!(text.starts_with("# kept\n"), "{text}");
    assert_eq!(files(repo.root()).len(), 2);
}

#[cfg(unix)]
#[test]
fn a_writer_that_is_killed_leaves_the_old_file_or_the_new_one() {
    let repo = repository();
    let file = repo.root().join(METADATA);
    for round in 0..40 {
        let before = fs::read_to_string(&file).unwrap();
        let header = format!("X-{round}");
        let mut child = set(&repo, &header);
        std::thread::sleep(Duration::from_millis(3 * round));
        let _ = child.kill();
        child.wait().unwrap();
        let after = fs::read_to_string(&file).unwrap();
        let is_new = after.contains(&format!("name: {header}\n")) && after.len() > before.len();
        assert!(after == before || is_new, "round {round}:\n{after}");
    }
    assert_eq!(set(&repo, "X-last").wait().unwrap().code(), Some(0));
    assert_eq!(files(repo.root()).len(), 2, "{:?}", files(repo.root()));
}

#[cfg(unix)]
#[test]
fn what_a_killed_writer_left_is_removed_by_the_next() {
    let repo = repository();
    repo.write("customers/_/.metadata.yaml.outcrop-99999.new", "half");
    assert_eq!(set(&repo, "X-1").wait().unwrap().code(), Some(0));
    assert_eq!(files(repo.root()).len(), 2);
}

#[test]
fn a_byte_order_mark_stays() {
    let repo = repository();
    repo.write(METADATA, b"\xef\xbb\xbfresourceInfo: {idFromAttribute: id}\n");
    assert_eq!(set(&repo, "X-1").wait().unwrap().code(), Some(0));
    let bytes = fs::read(repo.root().join(METADATA)).unwrap();
    assert!(bytes.starts_with(b"\xef\xbb\xbfresourceInfo") && !bytes[3..].starts_with(b"\xef\xbb\xbf"));
}

#[cfg(unix)]
#[test]
fn read_only_files_and_links_are_refused_and_modes_kept() {
    use std::os::unix::fs::PermissionsExt as _;
    let repo = repository();
    let file = repo.root().join(METADATA);
    let change = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    let set = |header: &str| {
        let pointer = format!("/operationInfo/getResource/headers/{header}");
        run(&mut outcrop(&repo, &["metadata", "set", "/customers/_", &pointer, "yes"]))
    };
    change(0o660);
    set("X-1").ends_with(0);
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o660);
    change(0o444);
    let before = fs::read(&file).unwrap();
    set("X-2").ends_with(2).says("read-only");
    assert_eq!(fs::read(&file).unwrap(), before);
    change(0o644);
    let outside = repo.beside("outside.yaml");
    fs::rename(&file, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &file).unwrap();
    set("X-3").ends_with(2);
    assert_eq!(fs::read(&outside).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn restore_and_install_write_through_no_link_that_leads_out() {
    let repo = TestRepo::new();
    let outside = repo.beside("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.yaml"), "b: {x: 1}\nc:\n  +/b:\n").unwrap();
    fs::write(repo.beside("changed.yaml"), "b:\n  x: 1\nc:\n  x: 2\n").unwrap();
    std::os::unix::fs::symlink(&outside, repo.root().join("d")).unwrap();
    let changed = repo.beside("changed.yaml");
    let before = fs::read(outside.join("a.yaml")).unwrap();
    run(&mut outcrop(&repo, &["restore", "--write", "d/a.yaml", changed.to_str().unwrap()])).ends_with(2);
    assert_eq!(fs::read(outside.join("a.yaml")).unwrap(), before);

    std::os::unix::fs::symlink(&outside, repo.root().join(".githooks")).unwrap();
    repo.git(&["config", "core.hooksPath", ".githooks"]);
    let ran = run(&mut outcrop(&repo, &["install", "hook"]));
    assert!(ran.code == 2 && fs::read_dir(&outside).unwrap().count() == 1, "{ran:?}");
    fs::write(outside.join("p.yaml"), "repos: []\n").unwrap();
    std::os::unix::fs::symlink(outside.join("p.yaml"), repo.root().join(".pre-commit-config.yaml")).unwrap();
    run(&mut outcrop(&repo, &["install", "pre-commit"])).ends_with(2);
    assert_eq!(fs::read_to_string(outside.join("p.yaml")).unwrap(), "repos: []\n");
}

#[test]
fn restore_keeps_the_byte_order_mark_and_leaves_nothing() {
    let repo = TestRepo::new();
    repo.write("a.yaml", "\u{feff}b: {x: 1}\nc:\n  +/b:\n");
    repo.write("changed.yaml", "b:\n  x: 1\nc:\n  x: 2\n");
    run(&mut outcrop(&repo, &["restore", "--write", "a.yaml", "changed.yaml"])).ends_with(0);
    let text = fs::read_to_string(repo.root().join("a.yaml")).unwrap();
    assert!(text.starts_with("\u{feff}b:") && text.contains("x: 2"), "{text:?}");
    assert_eq!(files(repo.root()).len(), 2);
}
