//! `outcrop install`: sets up git, hooks and hook managers to call outcrop, lists what it writes, and takes it back.

mod blocks;
mod config;
mod hooks;
mod plan;

use std::path::Path;

use crate::shell::cli::{Global, InstallArgs, InstallTarget};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::git::{GitError, Repository};
use crate::shell::output;
use crate::shell::session::open_repository;
use config::Config;
use plan::Plan;

pub(super) use config::{ALIAS, ATTRIBUTES, DIFF_DRIVER, DIFFTOOL};
pub(super) use hooks::{is_current, is_executable, is_ours};

pub(in crate::shell) fn run(global: &Global, args: &InstallArgs) -> Result<Exit, Failure> {
    check(args)?;
    let repository = match open_repository(global) {
        Ok(repository) => Some(repository),
        Err(_) if args.global => None,
        Err(failure) => return Err(failure),
    };
    let mut plan = Plan::default();
    let config = Config { repository: repository.as_ref(), is_global: args.global };
    match (args.target, repository.as_ref()) {
        (InstallTarget::Hook, Some(repository)) => hooks::plan(&mut plan, repository, args)?,
        (InstallTarget::PreCommit, Some(repository)) => blocks::pre_commit(&mut plan, repository, args.uninstall)?,
        (InstallTarget::Difftool, _) => config.difftool(&mut plan, args.uninstall)?,
        (InstallTarget::DiffDriver, _) => {
            config.diff_driver(&mut plan, args.uninstall)?;
            blocks::attributes(&mut plan, &config, args.uninstall)?;
        }
        (InstallTarget::Alias, _) => config.alias(&mut plan, args.uninstall)?,
        (InstallTarget::Hook | InstallTarget::PreCommit, None) => {
            return Err(Failure::new("hooks belong to a repository").help("run this in a repository, without --global"));
        }
    }
    finish(&plan, args, repository.as_ref().and_then(Repository::root))
}

/// Hooks and files of settings are never larger.
const MOST_BYTES: u64 = 64 << 20;

/// Refuses flags that have no meaning for a target, instead of ignoring them.
fn check(args: &InstallArgs) -> Result<(), Failure> {
    let is_hook = args.target == InstallTarget::Hook;
    let refuse = |flag: &str| Err(Failure::new(format!("{flag} is only for `outcrop install hook`")));
    match () {
        () if !is_hook && !args.hook.is_empty() => refuse("--hook"),
        () if !is_hook && args.chain => refuse("--chain"),
        () if args.global && args.target == InstallTarget::PreCommit => {
            Err(Failure::new("--global has no meaning for `outcrop install pre-commit`"))
        }
        () => Ok(()),
    }
}

/// Lists the plan, and carries it out.
fn finish(plan: &Plan, args: &InstallArgs, root: Option<&Path>) -> Result<Exit, Failure> {
    let heading = match (plan.is_empty(), args.uninstall, args.dry_run) {
        (true, false, _) => "nothing to do: this is set up already",
        (true, true, _) => "nothing to do: outcrop has installed nothing here",
        (_, _, true) => "would change:",
        _ => "changed:",
    };
    if !args.dry_run {
        plan.carry_out(root)?;
    }
    output::print_lines(&format!("{heading}\n{}", plan.describe()))?;
    if !plan.is_empty() && !args.uninstall && !args.dry_run {
        output::print_lines(hint(args.target))?;
    }
    Ok(Exit::Clean)
}

fn hint(target: InstallTarget) -> &'static str {
    match target {
        InstallTarget::Hook => {
            "to skip it once: OUTCROP=0 git commit …; to remove it: outcrop install hook --uninstall"
        }
        InstallTarget::PreCommit => "now run `pre-commit install` once in each clone, then commit the file",
        InstallTarget::Difftool => "try `git difftool -y -t outcrop`; with `-d` all files are compared at once",
        InstallTarget::DiffDriver => "try `git diff`; `git log -p --ext-diff` and `git show --ext-diff` use it too",
        InstallTarget::Alias => "try `git outcrop` and `git outcrop --staged`",
    }
}

/// The top of the working tree.
fn root(repository: &Repository) -> Result<&std::path::Path, Failure> {
    repository.root().ok_or_else(|| GitError::Bare { what: "working tree" }.into())
}
