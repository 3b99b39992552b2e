//! The only place that touches the machine: files, environment, terminal, processes.

#![allow(clippy::disallowed_methods, reason = "this is the place they belong to")]

mod apply;
mod checkout;
mod cli;
mod commands;
mod configuration;
mod content;
mod day;
pub mod directory;
mod environment;
mod error;
mod event;
mod exit;
pub mod git;
mod guard;
mod inferred;
mod memory;
mod on_disk;
mod older;
mod one_side;
mod output;
mod outside;
mod pager;
mod progress;
mod pushed;
mod recent;
mod replace;
mod select;
mod session;
mod timings;

use std::panic;
use std::process::ExitCode;

pub use cli::definition;
use cli::{CiCommand, Cli, Command};
use error::Failure;
use exit::Exit;

use crate::parallel;

/// Runs the command line of this process.
pub fn run() -> ExitCode {
    guard::prepare();
    parallel::take_part();
    let cli = Cli::from_arguments();
    if let Some(format) = cli::unknown_format() {
        output::note(&format!("note: OUTCROP_FORMAT={format} is ignored: no command has this format"));
    }
    // A crash must never look like "no changes".
    let work = || dispatch(&cli).map_err(|failure| checkout::explained(failure, &cli.command, &cli.global));
    let outcome = panic::catch_unwind(panic::AssertUnwindSafe(work));
    match outcome {
        Ok(Ok(exit)) => exit.into(),
        Ok(Err(failure)) => {
            output::note(&failure.to_string());
            Exit::Incomplete.into()
        }
        Err(_) => {
            output::note(&guard::crash_message());
            Exit::Incomplete.into()
        }
    }
}

fn dispatch(cli: &Cli) -> Result<Exit, Failure> {
    let global = &cli.global;
    match &cli.command {
        Command::Diff(args) => commands::diff::run(global, args),
        Command::Compare(args) => commands::compare::run(global, args),
        Command::Check(args) => commands::check::run(global, args),
        Command::Affected(args) => commands::affected::run(global, args),
        Command::Difftool(args) => commands::difftool::run(global, args),
        Command::DiffDriver(args) => commands::diff_driver::run(global, args),
        Command::Install(args) => commands::install::run(global, args),
        Command::Eval(args) => commands::eval::run(global, args),
        Command::Expand(args) => commands::expand::run(global, args),
        Command::Restore(args) => commands::restore::run(global, args),
        Command::Hook(args) => commands::hook::run(global, args),
        Command::Ci(CiCommand::Github(args)) => commands::ci::github(global, args),
        Command::Explain(args) => commands::explain::run(global, args),
        Command::Render(args) => commands::render::run(global, args),
        Command::Patch(args) => commands::patch::run(global, args),
        Command::Metadata(command) => commands::metadata::run(global, command),
        Command::Init(args) => commands::init::run(global, args),
        Command::Doctor => commands::doctor::run(global),
        Command::Rules { id } => commands::rules::run(id.as_deref()),
        Command::Schema { name } => commands::schema::run(*name),
        Command::Completions { shell } => commands::completions::run(*shell),
        Command::Man => commands::man::run(),
    }
}
