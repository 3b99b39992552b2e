//! A pager as git uses one: for a person at a terminal, never under a hook, in a pipe or in a CI job.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;

use super::environment::is_set;
use super::output;

/// The pager's command line, if one should be used. `configured` is what the user's own git configuration says.
pub(super) fn choose(configured: Option<String>) -> Option<String> {
    let is_for_a_person = io::stdout().is_terminal() && io::stdin().is_terminal();
    let is_nested = ["PRE_COMMIT", "GIT_PAGER_IN_USE", "CI"].iter().any(|name| is_set(name));
    if !is_for_a_person || is_nested {
        return None;
    }
    let variable = |name: &str| env::var(name).ok();
    let pager = variable("OUTCROP_PAGER")
        .or_else(|| variable("GIT_PAGER"))
        .or(configured)
        .or_else(|| variable("PAGER"))
        .unwrap_or_else(|| "less".to_owned());
    // As git has it: no pager at all.
    Some(pager).filter(|pager| !pager.trim().is_empty() && pager.trim() != "cat")
}

/// Runs a writer with its output going through the pager; without one, or if it cannot be started, straight to the terminal.
pub(super) fn through(pager: Option<String>, write: impl Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let Some(mut child) = pager.and_then(|pager| start(&pager)) else { return output::write(write) };
    let Some(input) = child.stdin.take() else { return output::write(write) };
    leave_interrupts_to_the_pager();
    let mut input = io::BufWriter::new(output::Bounded::new(input));
    let result = write(&mut input).and_then(|()| input.flush());
    drop(input.into_parts());
    // Until the pager is gone the terminal is its.
    let status = child.wait()?;
    // The shell says so if there is no such program, or if it cannot be started; then nothing has been shown yet.
    if matches!(status.code(), Some(126 | 127)) {
        return output::write(write);
    }
    output::unless_broken_pipe(result)
}

/// Ctrl-C reaches every process of the terminal. The pager decides what it means: were this process to end, the shell and the
/// pager would both read the keyboard.
fn leave_interrupts_to_the_pager() {
    // Without a handler Ctrl-C only ends the process, as it did before.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::default());
}

fn start(pager: &str) -> Option<std::process::Child> {
    let mut command = Command::new("sh");
    command.args(["-c", pager]).stdin(Stdio::piped());
    // Quit if one screen is enough, keep colours, leave the text on the screen.
    if !is_set("LESS") {
        command.env("LESS", "FRX");
    }
    if !is_set("LV") {
        command.env("LV", "-c");
    }
    command.env("GIT_PAGER_IN_USE", "true").spawn().ok()
}
