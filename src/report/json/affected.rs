//! The units that a change affects, for programs: as JSON, and as a job matrix of GitHub Actions.

use std::io::{self, Write};

use serde::Serialize;

use crate::comparison::{Report, UnitChange};
use crate::diff::Status;
use crate::report::affected::{Listed, environment, name, selectors, units};

/// Everything about each unit.
pub fn write_affected(report: &Report, listed: Listed, out: &mut dyn Write) -> io::Result<()> {
    let units = units(report, listed).into_iter().map(WireUnit::new).collect();
    let wire = WireAffected {
        schema: "outcrop/affected/v1",
        before: &report.before,
        after: &report.after,
        incomplete: report.is_incomplete(),
        units,
        selectors: selectors(report).into_iter().map(WireSelector::new).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &wire)?;
    out.write_all(b"\n")
}

/// `{"include": [{"root": …, "environment": …}, …]}`: a job for each unit that the newer side has.
pub fn matrix(report: &Report, listed: Listed) -> String {
    let jobs = units(report, listed).into_iter().filter(|unit| unit.sides[1]).map(WireJob::new).collect();
    serde_json::to_string(&WireMatrix { include: jobs }).unwrap_or_default()
}

/// The names of the units that the newer side has, as a JSON list.
pub fn roots(report: &Report, listed: Listed) -> String {
    let units = units(report, listed).into_iter().filter(|unit| unit.sides[1]);
    serde_json::to_string(&units.map(|unit| name(&unit.unit)).collect::<Vec<_>>()).unwrap_or_default()
}

#[derive(Serialize)]
struct WireAffected<'a> {
    schema: &'static str,
    before: &'a str,
    after: &'a str,
    incomplete: bool,
    units: Vec<WireUnit<'a>>,
    /// Left out if empty: only a repository of layers alone has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    selectors: Vec<WireSelector>,
}

#[derive(Serialize)]
struct WireSelector {
    name: String,
    status: &'static str,
}

impl WireSelector {
    fn new((name, status): (String, Status)) -> Self {
        Self { name, status: status.name() }
    }
}

#[derive(Serialize)]
struct WireUnit<'a> {
    name: String,
    layout: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    environment: Option<String>,
    status: &'static str,
    /// The sides on which it does not build.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failed: Vec<&'static str>,
    resources: Vec<WireResource<'a>>,
}

#[derive(Serialize)]
struct WireResource<'a> {
    name: &'a str,
    status: &'static str,
}

#[derive(Serialize)]
struct WireMatrix {
    include: Vec<WireJob>,
}

#[derive(Serialize)]
struct WireJob {
    root: String,
    environment: String,
    status: &'static str,
}

impl<'a> WireUnit<'a> {
    fn new(unit: &'a UnitChange) -> Self {
        let sides = ["before", "after"].into_iter().zip(unit.failed);
        Self {
            name: name(&unit.unit),
            layout: &unit.unit.layout,
            environment: environment(&unit.unit),
            status: status(unit),
            failed: sides.filter(|(_, is_failed)| *is_failed).map(|(side, _)| side).collect(),
            resources: unit
                .resources
                .iter()
                .map(|(name, status)| WireResource { name, status: status.name() })
                .collect(),
        }
    }
}

impl WireJob {
    fn new(unit: &UnitChange) -> Self {
        let environment = environment(&unit.unit).unwrap_or_default();
        Self { root: name(&unit.unit), environment, status: status(unit) }
    }
}

fn status(unit: &UnitChange) -> &'static str {
    if unit.is_incomplete() { "incomplete" } else { unit.status().name() }
}
