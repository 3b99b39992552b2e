//! `outcrop completions`: a completion script for a shell.

use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::{definition, output};

pub(in crate::shell) fn run(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "outcrop", &mut script);
    output::print(&script)?;
    Ok(Exit::Clean)
}
