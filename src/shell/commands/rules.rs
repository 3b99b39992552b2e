//! `outcrop rules`: what can be found, and why it matters; the documentation that ships in the binary.

use std::fmt::Write as _;

use crate::finding::{self, RULES, Rule};
use crate::shell::error::Failure;
use crate::shell::exit::Exit;
use crate::shell::output;
use crate::suggest;

/// The pages of the documentation, one for each area.
const PAGES: [&str; 18] = [
    include_str!("../../../docs/rules/compare.md"),
    include_str!("../../../docs/rules/config.md"),
    include_str!("../../../docs/rules/document.md"),
    include_str!("../../../docs/rules/expression.md"),
    include_str!("../../../docs/rules/include.md"),
    include_str!("../../../docs/rules/kubernetes.md"),
    include_str!("../../../docs/rules/kustomize.md"),
    include_str!("../../../docs/rules/limit.md"),
    include_str!("../../../docs/rules/merge.md"),
    include_str!("../../../docs/rules/metadata.md"),
    include_str!("../../../docs/rules/openapi.md"),
    include_str!("../../../docs/rules/openchoreo.md"),
    include_str!("../../../docs/rules/patch.md"),
    include_str!("../../../docs/rules/reference.md"),
    include_str!("../../../docs/rules/request.md"),
    include_str!("../../../docs/rules/resource.md"),
    include_str!("../../../docs/rules/secret.md"),
    include_str!("../../../docs/rules/source.md"),
];

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
    for rule in RULES.iter() {
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
    Ok(section(rule).unwrap_or_else(|| format!("{}\n\n{}\n\n{}\n", rule.id, rule.summary, rule.explanation)))
}

/// What the documentation says about a rule.
fn section(rule: &Rule) -> Option<String> {
    let head = format!("\n## {}\n", rule.id);
    let page = PAGES.iter().find(|page| page.contains(&head))?;
    let (_, rest) = page.split_once(&head)?;
    let text = rest.split("\n## ").next().unwrap_or(rest);
    Some(format!("{}\n{}\n", rule.id, text.trim_end()))
}
