//! Trouble in doing our work: what, where, and what to do. It always ends the run with exit code 2.

use std::fmt;

use super::git::GitError;
use crate::sanitize;
use crate::snapshot::ScopeError;

/// Why a command could not do its job.
#[derive(Debug)]
pub(crate) struct Failure {
    message: String,
    help: Option<String>,
}

impl Failure {
    /// A lower-case phrase without a full stop.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    /// The way out.
    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into()).filter(|help| !help.is_empty());
        self
    }
}

impl Failure {
    /// Without the words that a terminal needs and an annotation has of its own.
    pub(crate) fn remark(&self) -> String {
        let help = self.help.as_ref().map(|help| format!("\nhelp: {}", sanitize::block(help))).unwrap_or_default();
        format!("{}{help}", sanitize::inline(&self.message))
    }
}

impl fmt::Display for Failure {
    /// `error:` and `help:` lines, safe to print.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", sanitize::inline(&self.message))?;
        match &self.help {
            Some(help) => write!(f, "\n help: {}", sanitize::block(help).replace('\n', "\n       ")),
            None => Ok(()),
        }
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        Self::new(error.to_string()).help(error.help())
    }
}

impl From<ScopeError> for Failure {
    fn from(error: ScopeError) -> Self {
        Self::new(error.to_string())
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(format!("writing the output failed: {error}"))
    }
}
