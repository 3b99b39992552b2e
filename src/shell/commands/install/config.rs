//! The entries of git's configuration: difftool, diff driver, alias. Values that are not ours stay as they are.

use std::path::PathBuf;

use super::plan::{Plan, git};
use crate::shell::error::Failure;
use crate::shell::git::Repository;

/// What calls outcrop from `git difftool`.
pub(in crate::shell) const DIFFTOOL: Entry =
    Entry { key: "difftool.outcrop.cmd", value: r#"outcrop difftool --path "$MERGED" -- "$LOCAL" "$REMOTE""# };
/// What calls outcrop from `git diff`.
pub(in crate::shell) const DIFF_DRIVER: Entry = Entry { key: "diff.outcrop.command", value: "outcrop diff-driver" };
/// What calls outcrop as `git outcrop`.
pub(in crate::shell) const ALIAS: Entry = Entry { key: "alias.outcrop", value: "!outcrop diff" };
/// The file with the attributes of one repository, in its git directory.
pub(in crate::shell) const ATTRIBUTES: &str = "info/attributes";

/// A key of git's configuration, and the value that calls outcrop.
pub(in crate::shell) struct Entry {
    pub(in crate::shell) key: &'static str,
    value: &'static str,
}

/// Where the configuration is.
pub(super) struct Config<'a> {
    pub(super) repository: Option<&'a Repository>,
    pub(super) is_global: bool,
}

impl Config<'_> {
    pub(super) fn difftool(&self, plan: &mut Plan, uninstall: bool) -> Result<(), Failure> {
        self.entry(plan, &DIFFTOOL, uninstall)
    }

    pub(super) fn diff_driver(&self, plan: &mut Plan, uninstall: bool) -> Result<(), Failure> {
        self.entry(plan, &DIFF_DRIVER, uninstall)
    }

    pub(super) fn alias(&self, plan: &mut Plan, uninstall: bool) -> Result<(), Failure> {
        self.entry(plan, &ALIAS, uninstall)
    }

    fn entry(&self, plan: &mut Plan, entry: &Entry, uninstall: bool) -> Result<(), Failure> {
        let Entry { key, value } = *entry;
        match (self.value(key)?, uninstall) {
            (None, true) => {}
            (Some(present), false) if present == value => {}
            (None, false) => plan.config(self.directory(), self.scope(), key, Some(value)),
            (Some(present), true) if calls_outcrop(&present) => {
                plan.config(self.directory(), self.scope(), key, None);
            }
            (Some(present), true) => plan.note(format!("{key} is kept, because it does not call outcrop: {present}")),
            (Some(present), false) => {
                return Err(Failure::new(format!("{key} is set already: {present}"))
                    .help(format!("nothing was changed; to replace it: git config {} {key} '{value}'", self.scope())));
            }
        }
        Ok(())
    }

    /// The value of a key in this scope.
    pub(super) fn value(&self, key: &str) -> Result<Option<String>, Failure> {
        let mut command = git(&self.directory());
        command.args(["config", self.scope(), "--get", key]);
        let output = command.output().map_err(|error| {
            Failure::new(format!("git cannot be started: {error}")).help("install git, and put it on PATH")
        })?;
        let value = String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned();
        Ok(output.status.success().then_some(value))
    }

    fn scope(&self) -> &'static str {
        if self.is_global { "--global" } else { "--local" }
    }

    fn directory(&self) -> PathBuf {
        let place = |repository: &Repository| repository.root().unwrap_or(repository.git_directory()).to_owned();
        self.repository.map_or_else(|| PathBuf::from("."), place)
    }
}

/// Whether a command of the configuration is one of ours, perhaps with other flags.
fn calls_outcrop(command: &str) -> bool {
    command.trim_start_matches('!').starts_with("outcrop ")
}
