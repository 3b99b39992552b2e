//! What an installation changes, step by step: first listed, then carried out.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sanitize;
use crate::shell::error::Failure;

/// Steps in the order in which they are carried out.
#[derive(Default)]
pub(super) struct Plan {
    steps: Vec<Step>,
    notes: Vec<String>,
}

enum Step {
    Write {
        path: PathBuf,
        text: String,
        is_executable: bool,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Remove {
        path: PathBuf,
    },
    /// Arguments for `git config`, with a value to set and without one to unset.
    Config {
        directory: PathBuf,
        scope: &'static str,
        key: &'static str,
        value: Option<&'static str>,
    },
}

impl Plan {
    pub(super) fn write(&mut self, path: PathBuf, text: String) {
        self.steps.push(Step::Write { path, text, is_executable: false });
    }

    pub(super) fn write_program(&mut self, path: PathBuf, text: String) {
        self.steps.push(Step::Write { path, text, is_executable: true });
    }

    pub(super) fn rename(&mut self, from: PathBuf, to: PathBuf) {
        self.steps.push(Step::Rename { from, to });
    }

    pub(super) fn remove(&mut self, path: PathBuf) {
        self.steps.push(Step::Remove { path });
    }

    pub(super) fn config(
        &mut self,
        directory: PathBuf,
        scope: &'static str,
        key: &'static str,
        value: Option<&'static str>,
    ) {
        self.steps.push(Step::Config { directory, scope, key, value });
    }

    pub(super) fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// One line for each step, then the notes.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        for step in &self.steps {
            // Writing to a String cannot fail.
            let _ = match step {
                Step::Write { path, .. } => writeln!(text, "  write   {}", shown(path)),
                Step::Rename { from, to } => writeln!(text, "  rename  {} to {}", shown(from), shown(to)),
                Step::Remove { path } => writeln!(text, "  remove  {}", shown(path)),
                Step::Config { scope, key, value: Some(value), .. } => {
                    writeln!(text, "  run     git config {scope} {key} '{value}'")
                }
                Step::Config { scope, key, value: None, .. } => {
                    writeln!(text, "  run     git config {scope} --unset {key}")
                }
            };
        }
        for note in &self.notes {
            let _ = writeln!(text, "  note    {}", sanitize::inline(note));
        }
        text
    }

    pub(super) fn carry_out(&self) -> Result<(), Failure> {
        self.steps.iter().try_for_each(|step| match step {
            Step::Write { path, text, is_executable } => {
                write(path, text, *is_executable).map_err(|error| failed(path, "written", &error))
            }
            Step::Rename { from, to } => fs::rename(from, to).map_err(|error| failed(from, "renamed", &error)),
            Step::Remove { path } => fs::remove_file(path).map_err(|error| failed(path, "removed", &error)),
            Step::Config { directory, scope, key, value } => configure(directory, scope, key, *value),
        })
    }
}

fn failed(path: &Path, what: &str, error: &io::Error) -> Failure {
    Failure::new(format!("{} cannot be {what}: {error}", path.display()))
}

fn shown(path: &Path) -> String {
    sanitize::inline(&path.strip_prefix(".").unwrap_or(path).to_string_lossy()).into_owned()
}

/// Writes aside and renames, so that git never runs half a hook.
fn write(path: &Path, text: &str, is_executable: bool) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    let aside = path.with_extension("outcrop-new");
    fs::write(&aside, text)?;
    let mode = fs::metadata(path).map(|metadata| metadata.permissions()).ok();
    let finish = || -> io::Result<()> {
        match (is_executable, mode) {
            (true, _) => make_executable(&aside)?,
            (false, Some(mode)) => fs::set_permissions(&aside, mode)?,
            (false, None) => {}
        }
        fs::rename(&aside, path)
    };
    finish().inspect_err(|_| {
        // What could not be finished is not left behind.
        let _ = fs::remove_file(&aside);
    })
}

#[cfg(unix)]
fn make_executable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Lets git change its own configuration: it knows the files, their locks and their includes.
fn configure(directory: &Path, scope: &str, key: &str, value: Option<&str>) -> Result<(), Failure> {
    let mut command = git(directory);
    command.args(["config", scope]);
    match value {
        Some(value) => command.args([key, value]),
        None => command.args(["--unset", key]),
    };
    let output = command.output().map_err(|error| Failure::new(format!("git cannot be started: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(Failure::new(format!("git config failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

/// git in a directory.
pub(super) fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command.current_dir(directory);
    command
}
