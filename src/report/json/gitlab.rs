//! Findings as a Code Quality report of GitLab: a list of issues, each at a line.

use std::io;

use serde::Serialize;

use super::Visible;
use crate::finding::{Location, Severity};
use crate::report::Report;
use crate::report::identified::{Identified, identified};
use crate::report::locate::Locator;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'static str,
    fingerprint: &'a str,
    severity: &'static str,
    location: IssueLocation,
}

#[derive(Serialize)]
struct IssueLocation {
    path: String,
    lines: IssueLines,
}

#[derive(Serialize)]
struct IssueLines {
    begin: usize,
    end: usize,
}

/// Writes all findings; what is accepted is left out, because the format cannot say so.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut locator = Locator::new(&report.sources);
    let identified = identified(report.findings.iter(), &report.sources);
    let issues: Vec<Issue<'_>> = identified.iter().map(|it| issue(it, report, &mut locator)).collect();
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Visible);
    issues.serialize(&mut serializer)?;
    writeln!(out)
}

fn issue<'a>(identified: &'a Identified<'_>, report: &Report, locator: &mut Locator<'_>) -> Issue<'a> {
    let finding = identified.finding;
    let (begin, end) = match &finding.location {
        Location::Span(span) => (locator.start(*span).line, locator.end(*span).line),
        Location::File { .. } => (1, 1),
    };
    let path = finding.path(&report.sources);
    Issue {
        description: finding.message.clone(),
        check_name: finding.rule.id,
        fingerprint: &identified.fingerprint,
        severity: match finding.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Note => "info",
        },
        location: IssueLocation {
            path: path.to_str().map_or_else(|| path.to_string(), str::to_owned),
            lines: IssueLines { begin, end },
        },
    }
}
