//! A line on standard error when work takes longer than half a second and a person is there to see it.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::environment::is_set;
use crate::limits::Progress;

const DELAY: Duration = Duration::from_millis(500);
const INTERVAL: Duration = Duration::from_millis(100);

/// Does the work and shows how far it is.
pub(super) fn while_working<T>(progress: &Progress, work: impl FnOnce() -> T) -> T {
    if !io::stderr().is_terminal() || is_set("CI") || is_set("PRE_COMMIT") {
        return work();
    }
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watcher = scope.spawn(|| watch(progress, &is_done));
        let result = work();
        is_done.store(true, Ordering::Relaxed);
        watcher.thread().unpark();
        result
    })
}

fn watch(progress: &Progress, is_done: &AtomicBool) {
    let mut was_shown = false;
    let mut wait = DELAY;
    loop {
        thread::park_timeout(wait);
        if is_done.load(Ordering::Relaxed) {
            break;
        }
        was_shown = true;
        wait = INTERVAL;
        show(&line(progress.done(), progress.total()));
    }
    if was_shown {
        show("");
    }
}

fn line(done: usize, total: usize) -> String {
    const WIDTH: usize = 30;
    if total == 0 {
        return "comparing trees".to_owned();
    }
    let filled = (done * WIDTH / total).min(WIDTH);
    format!("[{}{}] {done}/{total} files", "#".repeat(filled), " ".repeat(WIDTH - filled))
}

/// Replaces the line; a failure is ignored.
fn show(text: &str) {
    let mut stderr = io::stderr();
    let _ = write!(stderr, "\r\x1b[K{text}").and_then(|()| stderr.flush());
}
