//! What an installation changes, step by step: first listed, then carried out.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::sanitize;
use crate::shell::error::Failure;
use crate::shell::replace::{self, Mode, WriteLock};

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

    /// Carries the steps out; the root is the working tree, if there is one.
    pub(super) fn carry_out(&self, root: Option<&Path>) -> Result<(), Failure> {
        let _lock = root.map(WriteLock::take).transpose()?;
        self.steps.iter().try_for_each(|step| match step {
            Step::Write { path, text, is_executable } => {
                write(path, text, *is_executable, root).map_err(|error| failed(path, "written", &error))
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

/// Writes aside and renames, so that git never runs half a hook. In the working tree nothing is written through a link.
fn write(path: &Path, text: &str, is_executable: bool, root: Option<&Path>) -> io::Result<()> {
    if let Some(root) = root {
        refuse_links(root, path)?;
    }
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    replace::replace(path, text.as_bytes(), if is_executable { Mode::Executable } else { Mode::Keep })
}

/// A stranger's commit can make a directory of the working tree a link to anywhere.
fn refuse_links(root: &Path, path: &Path) -> io::Result<()> {
    let Ok(below) = path.strip_prefix(root) else { return Ok(()) };
    let is_git = below.components().next().is_some_and(|first| first.as_os_str() == ".git");
    let mut on_disk = root.to_owned();
    for name in below.parent().into_iter().flat_map(Path::components).filter(|_| !is_git) {
        on_disk.push(name);
        if on_disk.is_symlink() {
            return Err(io::Error::other("it is below a symbolic link and was not changed"));
        }
    }
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
