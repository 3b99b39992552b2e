//! Clones without a checkout: nothing is on disk, and the way to what is in the last commit is easily missed.

use super::cli::{Command, Global, MetadataCommand};
use super::error::Failure;
use super::git::Repository;
use super::session::open_repository;

/// A failure of a command that looked for something on disk, with the way to the last commit if nothing is checked out.
pub(super) fn explained(failure: Failure, command: &Command, global: &Global) -> Failure {
    let is_on_disk = revision(command).is_some_and(|at| at.is_none());
    let is_empty = || open_repository(global).is_ok_and(|repository| is_without_files(&repository));
    match is_on_disk && is_empty() {
        true => failure.help("nothing is checked out here: `--at HEAD` reads the last commit"),
        false => failure,
    }
}

/// The revision that a command which looks at one was asked for.
fn revision(command: &Command) -> Option<Option<&str>> {
    let at = match command {
        Command::Explain(args) => &args.at,
        Command::Render(args) => &args.at,
        Command::Eval(args) => &args.at,
        Command::Compare(args) => &args.at,
        Command::Expand(args) => return Some(args.at.as_deref()),
        Command::Metadata(MetadataCommand::Get { target, .. } | MetadataCommand::Resolve { target, .. }) => &target.at,
        _ => return None,
    };
    Some(at.at.as_deref())
}

/// Whether the last commit has files and the index has none.
fn is_without_files(repository: &Repository) -> bool {
    let has_index = repository.index_entries().is_ok_and(|entries| entries > 0);
    let nothing = repository.nothing();
    repository.root().is_some() && !has_index && repository.head().is_ok_and(|head| head.id != nothing.id)
}
