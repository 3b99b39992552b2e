//! Findings as SARIF 2.1.0, which code hosts show beside the lines of a change.

use std::io;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::Visible;
use crate::finding::{Finding, Label, Location, RULES, Rule, Severity};
use crate::path::RepoPath;
use crate::percent;
use crate::report::Report;
use crate::report::identified::{Identified, identified};
use crate::report::locate::Locator;
use crate::rules::Allowed;
use crate::text::Span;

/// The published schema of the format.
const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Writes all findings as one run; what is accepted is a suppressed result.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut locator = Locator::new(&report.sources);
    let counted = identified(report.findings.iter(), &report.sources);
    let accepted = identified(report.allowed.iter().map(|allowed| &allowed.finding), &report.sources);
    let mut results: Vec<Json> = counted.iter().map(|it| result(it, None, &mut locator)).collect();
    let suppressed = accepted.iter().zip(&report.allowed);
    results.extend(suppressed.map(|(it, allowed)| result(it, Some(allowed), &mut locator)));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "outcrop",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(|rule| described(rule)).collect::<Vec<Json>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": !report.is_incomplete()}],
            "results": results,
        }],
    });
    let mut serializer = serde_json::Serializer::with_formatter(&mut *out, Visible);
    log.serialize(&mut serializer)?;
    writeln!(out)
}

fn described(rule: &Rule) -> Json {
    let mut described = json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.explanation},
        "help": {"text": format!("{}\n\n`outcrop rules {}` says more.", rule.explanation, rule.id)},
        "defaultConfiguration": {"level": level(rule.severity)},
        "properties": {"tags": [rule.kind.name()]},
    });
    if let Some(link) = rule.link {
        described["helpUri"] = json!(link);
    }
    described
}

fn result(identified: &Identified<'_>, allowed: Option<&Allowed>, locator: &mut Locator<'_>) -> Json {
    let Identified { finding, fingerprint } = identified;
    let mut result = json!({
        "ruleId": finding.rule.id,
        "ruleIndex": RULES.iter().position(|rule| rule.id == finding.rule.id),
        "level": level(finding.severity),
        "message": {"text": message(finding)},
        "locations": [{"physicalLocation": physical(&finding.location, locator)}],
        "partialFingerprints": {"primaryLocationLineHash": fingerprint, "outcrop/v1": fingerprint},
    });
    if !finding.related.is_empty() {
        let related = |(at, label): (usize, &Label)| {
            let place = physical(&Location::Span(label.span), locator);
            let text = if label.text.is_empty() { "see also" } else { &label.text };
            json!({"id": at + 1, "message": {"text": text}, "physicalLocation": place})
        };
        result["relatedLocations"] = finding.related.iter().enumerate().map(related).collect();
    }
    if let Some(resource) = &finding.resource {
        let logical = json!({"fullyQualifiedName": resource.as_str(), "kind": "resource"});
        result["locations"][0]["logicalLocations"] = json!([logical]);
    }
    if let Some(pointer) = finding.pointer.as_ref().filter(|_| finding.resource.is_some()) {
        result["properties"] = json!({"pointer": pointer.to_string()});
    }
    if let Some(allowed) = allowed {
        let kind = if allowed.until.is_some() { "external" } else { "inSource" };
        result["suppressions"] =
            json!([{"kind": kind, "status": "accepted", "justification": allowed.reason.as_str()}]);
    }
    result
}

fn message(finding: &Finding) -> String {
    match &finding.help {
        Some(help) => format!("{}\nhelp: {help}", finding.message),
        None => finding.message.clone(),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A file and a range in it; a finding about a whole file is shown at its start.
fn physical(location: &Location, locator: &mut Locator<'_>) -> Json {
    match location {
        Location::Span(span) => {
            let path = locator.start(*span).text.path.clone();
            json!({"artifactLocation": {"uri": uri(&path)}, "region": region(*span, locator)})
        }
        Location::File { path, .. } => json!({
            "artifactLocation": {"uri": uri(path)},
            "region": {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1},
        }),
    }
}

fn region(span: Span, locator: &mut Locator<'_>) -> Json {
    let (start, end) = (locator.start(span), locator.end(span));
    let is_empty = (start.line, start.column) == (end.line, end.column);
    let end_column = end.column + usize::from(is_empty);
    json!({"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end_column})
}

/// A path from the root of the repository; the root itself cannot be an empty text.
fn uri(path: &RepoPath) -> String {
    let name = path.to_str().map_or_else(|| path.to_string(), str::to_owned);
    if name.is_empty() { ".".to_owned() } else { percent::escape_path(&name).replace(':', "%3A") }
}
