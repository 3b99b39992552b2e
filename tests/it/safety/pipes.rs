//! Pipes and devices in place of files: they are named or ignored, and nothing waits for them.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::program::outcrop;
use crate::repo::TestRepo;

/// Runs a command that must end soon; the exit code and everything it said.
#[track_caller]
fn soon(command: &mut Command) -> (Option<i32>, String) {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("it waits for something");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

fn pipe(path: &Path) {
    let _ = fs::remove_file(path);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn repository() -> TestRepo {
    let repo = TestRepo::new();
    repo.write("a.yaml", "a: 1\n");
    repo.commit_all("first");
    repo.write("a.yaml", "a: 2\n");
    repo.commit_all("second");
    repo
}

#[test]
fn an_index_that_is_a_pipe_or_a_device_is_refused() {
    for make in [pipe as fn(&Path), |path| drop(symlink("/dev/zero", path))] {
        let repo = repository();
        let index = repo.root().join(".git/index");
        let _ = fs::remove_file(&index);
        make(&index);
        for arguments in [&["diff"][..], &["diff", "--staged"], &["check", "HEAD"], &["metadata", "get", "/"]] {
            let (code, said) = soon(&mut outcrop(&repo, arguments));
            assert_eq!(code, Some(2), "{arguments:?}: {said}");
            assert!(said.contains("not a regular file"), "{arguments:?}: {said}");
        }
        assert_eq!(soon(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).0, Some(0), "the index is not needed");
    }
}

#[test]
fn a_cache_that_is_a_pipe_or_a_device_is_ignored() {
    for make in [pipe as fn(&Path), |path| drop(symlink("/dev/zero", path))] {
        let repo = repository();
        let diff = || soon(outcrop(&repo, &["diff", "HEAD~1", "HEAD"]).env("OUTCROP_CACHE", "on"));
        let expected = diff();
        let folder = repo.root().join(".git/outcrop/inputs");
        let mut count = 0;
        for file in fs::read_dir(folder).into_iter().flatten() {
            let path = file.unwrap().path();
            fs::remove_file(&path).unwrap();
            make(&path);
            count += 1;
        }
        assert!(count > 0, "a run with a cache writes one");
        assert_eq!(diff(), expected);
    }
}

#[test]
fn files_of_the_working_tree_that_are_pipes_are_named() {
    let repo = repository();
    repo.write("b.yaml", "b: 1\n");
    repo.commit_all("third");
    pipe(&repo.root().join("a.yaml"));
    pipe(&repo.root().join("outcrop.yaml"));
    let (code, said) = soon(&mut outcrop(&repo, &["diff", "HEAD"]));
    assert_eq!(code, Some(2), "{said}");
    for arguments in [&["render"][..], &["doctor"], &["check"], &["init", "--dry-run"], &["explain", "a.yaml"]] {
        let (code, said) = soon(&mut outcrop(&repo, arguments));
        assert!(code.is_some(), "{arguments:?}: {said}");
    }
}
