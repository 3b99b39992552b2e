//! Exit codes: 0 done and clean, 1 findings or differences, 2 not done.

use std::process::ExitCode;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done, and nothing to complain about.
    Clean,
    /// Findings at or above the threshold, or differences where the caller asked for an exit code.
    Found,
    /// Not done, or not all of it.
    Incomplete,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => Self::from(0),
            Exit::Found => Self::from(1),
            Exit::Incomplete => Self::from(2),
        }
    }
}
