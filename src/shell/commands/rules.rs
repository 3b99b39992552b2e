//! `outcrop rules`: what can be found, and why it matters; the documentation that ships in the binary.

use std::fmt::Write as _;

use crate::finding::{self, RULES};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::output;
use crate::suggest;

pub(in crate::shell) fn run(id: Option<&str>) -> Result<Exit, Failure> {
    let text = match id {
        None => list(),
        Some(id) => explain(id)?,
    };
    output::print(text.as_bytes())?;
    Ok(Exit::Clean)
}

fn list() -> String {
    let widest = RULES.iter().map(|rule| rule.id.len()).max().unwrap_or_default();
    let mut text = String::new();
    for rule in RULES {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:widest$}  {:7}  {}", rule.id, rule.severity.name(), rule.summary);
    }
    text
}

fn explain(id: &str) -> Result<String, Failure> {
    let Some(rule) = finding::rule(id) else {
        let failure = Failure::new(format!("there is no rule {id}"));
        return Err(match suggest::nearest(id, RULES.iter().map(|rule| rule.id)) {
            Some(near) => failure.help(format!("did you mean {near}?")),
            None => failure.help("`outcrop rules` lists them all"),
        });
    };
    let (severity, kind) = (rule.severity.name(), rule.kind.name());
    Ok(format!("{}: {}\n\n{}\n\nseverity: {severity}    kind: {kind}\n", rule.id, rule.summary, rule.explanation))
}
