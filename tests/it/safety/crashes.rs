//! Whatever ends the program early, the exit code is 2 and there is a sentence: never a signal, never a backtrace.

#![cfg(unix)]

use std::process::{Command, Stdio};

use crate::program::{binary, outcrop, run};
use crate::repo::TestRepo;

fn large(limits: &str) -> TestRepo {
    let repo = TestRepo::new();
    repo.write("outcrop.yaml", format!("limits: {{{limits}}}\n"));
    let numbers = |number: &str| format!("[{}]", vec![number; 1_500_000].join(","));
    repo.write("a.json", numbers("1"));
    repo.commit_all("first");
    repo.write("a.json", numbers("2"));
    repo.commit_all("second");
    repo
}

#[cfg(target_os = "linux")]
#[test]
fn too_much_memory_is_noticed_before_the_system_does() {
    let repo = large("memory_bytes: 60 MiB");
    let ran = run(&mut outcrop(&repo, &["diff", "HEAD~1", "HEAD"])).ends_with(2);
    // Before memory is used up the rest is left out, and there is a report; if that comes too late, the run ends with a sentence.
    let said = format!("{}\n{}", ran.stdout, ran.stderr);
    assert!(said.contains("more than 60 MiB of memory") && said.contains("limits.memory_bytes"), "{ran:?}");
    assert!(!said.contains("no effective change"), "{ran:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_allocation_that_fails_ends_with_exit_code_2() {
    let repo = large("memory_bytes: 0");
    let mut is_reached = false;
    // The smallest limits end the program when it starts, larger ones anywhere in the run.
    for kib in [70_000, 100_000, 150_000, 200_000, 250_000] {
        let program = binary().display();
        let script = format!("ulimit -v {kib}; exec {program} --no-cache diff HEAD~1 HEAD");
        let ran = run(repo.command("sh").args(["-c", &script]));
        assert!(!ran.stderr.contains("stack backtrace"), "{ran:?}");
        let is_refused_by_the_loader = ran.code == 127 || ran.stderr.contains("cannot allocate memory in static TLS");
        assert!(ran.code == 2 || ran.code == 0 || is_refused_by_the_loader, "{kib}: {ran:?}");
        is_reached |= ran.code == 2 && !ran.stderr.is_empty();
    }
    assert!(is_reached, "one of the limits is too small");
}

#[test]
fn an_abort_ends_with_exit_code_2() {
    let mut child = Command::new(binary())
        .args(["diff", "--no-index", "-", "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It waits for its input.
    std::thread::sleep(std::time::Duration::from_millis(300));
    let sent = Command::new("kill").args(["-ABRT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    assert_eq!(child.wait().unwrap().code(), Some(2));
}
