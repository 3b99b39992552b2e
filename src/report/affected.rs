//! The units and selectors that a change affects, as text.

use std::io::{self, Write};

use super::places;
use super::summary_counts::plural;
use crate::comparison::{Report, UnitChange};
use crate::diff::{ResourceChange, Status};
use crate::resource::{Home, Unit};
use crate::sanitize;

/// Which units are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// Those whose output differs or is not known.
    Differing,
    /// Those whose inputs changed.
    Reached,
}

/// One line for each unit, or selector of a repository of layers alone: its name, and what happens to it. With `is_short`, the name alone.
pub fn write_text(report: &Report, listed: Listed, is_short: bool, out: &mut dyn Write) -> io::Result<()> {
    let units = units(report, listed);
    let names = units.iter().map(|unit| name(&unit.unit)).chain(selectors(report).into_iter().map(|(name, _)| name));
    let width = names.map(|name| name.chars().count()).max().unwrap_or(0);
    for unit in &units {
        let name = name(&unit.unit);
        if is_short {
            writeln!(out, "{name}")?;
        } else {
            writeln!(out, "{name:width$}  {}", words(unit, report))?;
        }
    }
    for (name, status) in selectors(report) {
        if is_short { writeln!(out, "{name}")? } else { writeln!(out, "{name:width$}  {}", status.name())? }
    }
    Ok(())
}

/// The selectors whose effective metadata differs, in a repository of layers alone.
pub(super) fn selectors(report: &Report) -> Vec<(String, Status)> {
    let selector = |change: &ResourceChange| {
        let side = change.after.as_ref().or(change.before.as_ref()).filter(|side| side.is_selector())?;
        let has_changed = !matches!(change.status(), Status::Moved | Status::Same | Status::Respelled);
        has_changed.then(|| (side.identity.to_string(), change.status()))
    };
    report.resources.iter().filter_map(selector).collect()
}

/// The units that are listed.
pub(super) fn units(report: &Report, listed: Listed) -> Vec<&UnitChange> {
    let is_listed = |unit: &&UnitChange| listed == Listed::Reached || unit.is_difference() || unit.is_incomplete();
    report.units.iter().filter(is_listed).collect()
}

/// The name of a unit: the directory of a root.
pub(super) fn name(unit: &Unit) -> String {
    Home::Unit(unit).to_string()
}

/// What happens to a unit, on one line.
fn words(unit: &UnitChange, report: &Report) -> String {
    if unit.is_left_out {
        return "not compared".to_owned();
    }
    let verb = if unit.missing.contains(&true) { "not rendered" } else { "does not build" };
    let failed: Vec<String> = [&report.before, &report.after]
        .into_iter()
        .zip(unit.failed)
        .filter(|(_, is_failed)| *is_failed)
        .map(|(label, _)| format!("{verb} at {}", sanitize::inline(label)))
        .collect();
    if !failed.is_empty() {
        return failed.join(", ");
    }
    let count = plural(unit.resources.len(), "resource");
    match unit.status() {
        Status::Added => format!("new, {count}"),
        Status::Removed => format!("removed, {count}"),
        Status::Same => "same output".to_owned(),
        _ => {
            let names: Vec<&str> = unit.resources.iter().map(|(name, _)| name.as_str()).collect();
            format!("{count}: {}", places::shortened(&names, MOST_NAMES))
        }
    }
}

/// The most names of resources in a line.
const MOST_NAMES: usize = 3;

/// Directories that are called like this, or start like this, are environments.
const ENVIRONMENTS: [&str; 12] =
    ["production", "prod", "prd", "staging", "stage", "stg", "development", "dev", "testing", "test", "qa", "preview"];

/// The layout whose units are components in environments.
const COMPONENTS: &str = "openchoreo";

/// The environment of a unit: that of a component, or the directory on the way to it that is called like one.
pub(super) fn environment(unit: &Unit) -> Option<String> {
    if unit.layout == COMPONENTS {
        let (_, environment) = unit.key.split_once('@')?;
        let environment = environment.split(' ').next().unwrap_or(environment);
        return Some(sanitize::inline(environment).into_owned());
    }
    let is_environment = |part: &&str| {
        let word = part.split(['-', '_', '.']).next().unwrap_or_default();
        ENVIRONMENTS.iter().any(|known| known.eq_ignore_ascii_case(word))
    };
    unit.key.split('/').find(is_environment).map(|part| sanitize::inline(part).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_a_directory_that_is_called_like_one() {
        let environment = |key: &str| environment(&Unit { layout: "kustomize".into(), key: key.into() });
        assert_eq!(environment("apps/web/production/eu").as_deref(), Some("production"));
        assert_eq!(environment("overlays/prod-eu").as_deref(), Some("prod-eu"));
        assert_eq!(environment("apps/product"), None);
    }

    #[test]
    fn components_have_an_environment() {
        let environment = |key: &str| super::environment(&Unit { layout: "openchoreo".into(), key: key.into() });
        assert_eq!(environment("acme/cart@dev").as_deref(), Some("dev"));
        assert_eq!(environment("acme/cart@eu-1 (next release)").as_deref(), Some("eu-1"));
    }
}
