//! `OUTCROP_FORMAT`: the format of every command that has one of this name.

use clap::ValueEnum;

use super::{AffectedFormat, CheckFormat, DiffFormat, DocumentOutput, ExplainOutput, OutputFormat, RequestOutput};
use crate::sanitize;
use crate::shell::environment;

/// The name of the variable.
const VARIABLE: &str = "OUTCROP_FORMAT";

/// The default of `--format`: what the variable says if the command has such a format, otherwise its own. The definition of the command
/// line lives as long as the process, and so does this text.
pub(super) fn default_format<F: ValueEnum + Default>() -> &'static str {
    let wanted = environment::text(VARIABLE).ok().flatten();
    let wanted = wanted.and_then(|wanted| F::from_str(wanted.trim(), true).ok()).unwrap_or_default();
    wanted.to_possible_value().map_or(String::new(), |value| value.get_name().to_owned()).leak()
}

/// What the variable says, if no command has a format of this name.
pub(in crate::shell) fn unknown_format() -> Option<String> {
    let wanted = environment::text(VARIABLE).ok().flatten()?;
    let is_known = is_format::<DiffFormat>(&wanted)
        || is_format::<CheckFormat>(&wanted)
        || is_format::<AffectedFormat>(&wanted)
        || is_format::<ExplainOutput>(&wanted)
        || is_format::<OutputFormat>(&wanted)
        || is_format::<DocumentOutput>(&wanted)
        || is_format::<RequestOutput>(&wanted);
    (!is_known).then(|| sanitize::inline(&wanted).into_owned())
}

fn is_format<F: ValueEnum>(name: &str) -> bool {
    F::from_str(name.trim(), true).is_ok()
}
