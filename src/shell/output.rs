//! What is known about the place the output goes to: colour, width, and whether a CI runner reads along.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use super::cli::{Color, Global};
use super::environment::{is_on, is_set};
use crate::limits::Limits;
use crate::report::Style;
use crate::sanitize;

/// How to write for people, from flags, environment and terminal, in that order.
pub(super) fn style(global: &Global) -> Style {
    style_of(global, io::stdout().is_terminal())
}

/// The style of messages beside the output.
pub(super) fn message_style(global: &Global) -> Style {
    style_of(global, io::stderr().is_terminal())
}

fn style_of(global: &Global, is_terminal: bool) -> Style {
    Style {
        width: global.width.unwrap_or_else(|| columns(is_terminal)),
        is_terminal,
        color: use_color(global.color, is_terminal),
        ascii: global.ascii || !locale_is_utf8(),
        verbosity: global.verbose,
        in_ci: is_set("GITHUB_ACTIONS"),
        show_suppressed: false,
    }
}

/// Writes to standard output, buffered. A reader that has seen enough (`| head`) is no trouble.
pub(super) fn write(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_to(io::stdout().lock(), write)
}

/// Writes to standard error, buffered.
pub(super) fn write_message(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write_to(io::stderr().lock(), write)
}

fn write_to(stream: impl Write, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, Bounded::new(stream));
    let result = write(&mut out).and_then(|()| out.flush());
    // The buffer would be flushed, and fail, once more on drop.
    drop(out.into_parts());
    unless_broken_pipe(result)
}

/// What the run may use; none until its configuration is known.
static LIMITS: Mutex<Option<Limits>> = Mutex::new(None);

/// Bounds everything that is written from now on.
pub(super) fn set_limits(limits: &Limits) {
    *LIMITS.lock().unwrap_or_else(PoisonError::into_inner) = Some(limits.clone());
}

/// The limits of the run, if they are known.
pub(super) fn limits() -> Option<Limits> {
    LIMITS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A stream that takes no more than the run may write.
pub(super) struct Bounded<W> {
    stream: W,
    written: u64,
    limits: Option<Limits>,
}

impl<W: Write> Bounded<W> {
    /// A stream within the limits of the run.
    pub(super) fn new(stream: W) -> Self {
        Self { stream, written: 0, limits: limits() }
    }
}

impl<W: Write> Write for Bounded<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let after = self.written + bytes.len() as u64;
        if let Some(most) = self.limits.as_ref().map(Limits::most_output).filter(|most| after > *most) {
            let message =
                format!("it has more than {most} bytes, and `limits.output_bytes` in outcrop.yaml allows no more");
            return Err(io::Error::other(message));
        }
        let written = self.stream.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A reader that has seen enough is no trouble.
pub(super) fn unless_broken_pipe(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Writes some bytes to standard output.
pub(super) fn print(bytes: &[u8]) -> io::Result<()> {
    write(|out| out.write_all(bytes))
}

/// A message for people beside the output, such as a note on what was assumed.
pub(super) fn note(text: &str) {
    // A failure to write a message cannot be reported.
    let _ = io::stderr().write_all(harmless(text).as_bytes());
}

/// Prints lines for people that no report has made.
pub(super) fn print_lines(text: &str) -> io::Result<()> {
    print(harmless(text).as_bytes())
}

/// Whole lines without control sequences for a terminal or commands for a runner, which reads both streams.
fn harmless(text: &str) -> String {
    let is_in_ci = is_set("GITHUB_ACTIONS");
    let mut shown = String::with_capacity(text.len() + 1);
    for line in sanitize::block(text).lines() {
        shown.push_str(&if is_in_ci { sanitize::without_workflow_commands(line) } else { line.into() });
        shown.push('\n');
    }
    shown
}

fn use_color(color: Color, is_terminal: bool) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if is_set("NO_COLOR") => false,
        Color::Auto if is_on("CLICOLOR_FORCE") || is_on("FORCE_COLOR") => true,
        Color::Auto if env::var_os("TERM").is_some_and(|term| term == "dumb") => false,
        // Under git's pager standard output is a pipe that ends on a terminal.
        Color::Auto => is_terminal || is_on("GIT_PAGER_IN_USE"),
    }
}

/// The columns to write for, or 0 if nothing limits lines: through a pipe and into a file everything goes whole. Hook managers give
/// terminals of no size at all.
fn columns(is_terminal: bool) -> usize {
    let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    // Under git's pager standard output is a pipe that ends on a terminal.
    let has_terminal = is_terminal || is_on("GIT_PAGER_IN_USE");
    let measured = || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)).filter(|_| has_terminal);
    columns.or_else(measured).unwrap_or(0)
}

/// Whether the locale can show more than ASCII; without a word about it, it can.
fn locale_is_utf8() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| env::var(name).ok().filter(|value| !value.is_empty()));
    // `C` and `POSIX` are what containers and CI jobs have, on terminals that are UTF-8 all the same.
    locale.is_none_or(|locale| {
        let charset = locale.split_once('.').map(|(_, charset)| charset.to_lowercase().replace('-', ""));
        charset.is_none_or(|charset| charset.starts_with("utf8"))
    })
}
