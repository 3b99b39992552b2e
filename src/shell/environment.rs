//! What others say through environment variables: git, hook managers, CI runners, and users in a hurry.

use std::env;

use super::error::Failure;
use crate::sanitize;

/// A variable's value, unless it is missing or empty. A value that is not text is not the same as none.
pub(super) fn text(name: &str) -> Result<Option<String>, Failure> {
    let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) else { return Ok(None) };
    let not_text = || Failure::new(format!("{name} is not text: {}", sanitize::quoted_path(value.as_encoded_bytes())));
    value.to_str().map(|value| Some(value.to_owned())).ok_or_else(not_text)
}

/// Whether a variable is set to anything but nothing.
pub(super) fn is_set(name: &str) -> bool {
    env::var_os(name).is_some_and(|value| !value.is_empty())
}

/// Whether a variable is set to anything but nothing, `0` and `false`.
pub(super) fn is_on(name: &str) -> bool {
    is_set(name) && env::var_os(name).is_none_or(|value| value != "0" && value != "false")
}

/// Whether the user switched the hooks off for once: `OUTCROP=0 git commit`.
pub(super) fn hooks_are_off() -> bool {
    env::var_os("OUTCROP").is_some_and(|value| value == "0")
}
