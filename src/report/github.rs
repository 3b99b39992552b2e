//! Findings as annotations on a pull request: workflow commands that the GitHub runner reads from the output.

use std::fmt::Write as _;
use std::io;

use super::Report;
use super::locate::Locator;
use super::snippet::at_revision;
use super::summary_counts::{plural, severities};
use crate::finding::{Finding, Location, Severity};
use crate::sanitize;
use crate::text::Span;

/// The runner shows this many of each level per step and drops the rest.
const MOST_PER_LEVEL: usize = 10;
/// The runner truncates messages at 4,096 characters; truncating them here allows a remark.
const LONGEST_MESSAGE: usize = 4_000;

/// Writes one command per finding, the worst first, at most ten of each level; the last one counts the missing ones.
pub fn write(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    let mut locator = Locator::new(&report.sources);
    for severity in [Severity::Error, Severity::Warning, Severity::Note] {
        let level: Vec<&Finding> = report.findings.iter().filter(|finding| finding.severity == severity).collect();
        let room = if level.len() > MOST_PER_LEVEL { MOST_PER_LEVEL - 1 } else { level.len() };
        let (shown, left_out) = level.split_at(room);
        for finding in shown {
            writeln!(out, "{}", annotation(finding, report, &mut locator))?;
        }
        if !left_out.is_empty() {
            let message = format!("and {} more, see the full report", severities(left_out));
            writeln!(out, "{}", remark(severity, &message))?;
        }
    }
    Ok(())
}

/// A command about the run as a whole.
pub fn remark(severity: Severity, message: &str) -> String {
    command(severity, &[("title", "outcrop".to_owned())], &sanitize::block(message))
}

fn annotation(finding: &Finding, report: &Report, locator: &mut Locator<'_>) -> String {
    let (mut properties, place) = match &finding.location {
        Location::Span(span) => in_text(*span, report, locator),
        Location::File { path, revision } if *revision == report.before && revision != &report.after => {
            (Vec::new(), Some(at_revision(revision, &path.to_string())))
        }
        Location::File { path, .. } => (vec![("file", file(path.to_str(), &path.to_string()))], None),
    };
    properties.push(("title", finding.rule.id.to_owned()));
    command(finding.severity, &properties, &message(finding, place))
}

/// The location of the annotation. Only files of the newer side are in the pull request; for others the message names the file.
fn in_text(span: Span, report: &Report, locator: &mut Locator<'_>) -> (Vec<(&'static str, String)>, Option<String>) {
    let (start, end) = (locator.start(span), locator.end(span));
    let path = &start.text.path;
    if start.text.revision == report.before && report.before != report.after {
        let place = format!("{}:{}:{}", at_revision(&start.text.revision, &path.to_string()), start.line, start.column);
        return (Vec::new(), Some(place));
    }
    let mut properties = vec![
        ("file", file(path.to_str(), &path.to_string())),
        ("line", start.line.to_string()),
        ("endLine", end.line.to_string()),
    ];
    // Columns are only understood within one line.
    if start.line == end.line {
        properties.push(("col", start.column.to_string()));
        properties.push(("endColumn", end.column.max(start.column + 1).to_string()));
    }
    (properties, None)
}

/// The file name as is, so that the runner finds the file; quoted if it cannot be written.
fn file(text: Option<&str>, quoted: &str) -> String {
    text.filter(|text| !text.chars().any(sanitize::is_hidden)).unwrap_or(quoted).to_owned()
}

fn message(finding: &Finding, place: Option<String>) -> String {
    let mut message = sanitize::inline(&finding.message).into_owned();
    if !finding.label.is_empty() {
        let _ = write!(message, " ({})", sanitize::inline(&finding.label));
    }
    if let Some(place) = place {
        let _ = write!(message, "\nin {place}");
    }
    if !finding.related.is_empty() {
        let _ = write!(message, "\nsee also {}", plural(finding.related.len(), "other place"));
    }
    if let Some(help) = &finding.help {
        let _ = write!(message, "\nhelp: {}", sanitize::block(help));
    }
    match message.char_indices().nth(LONGEST_MESSAGE) {
        Some((end, _)) => format!("{}… (cut)", &message[..end]),
        None => message,
    }
}

fn command(severity: Severity, properties: &[(&str, String)], message: &str) -> String {
    let name = match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let properties: Vec<String> =
        properties.iter().map(|(key, value)| format!("{key}={}", escaped(value, true))).collect();
    format!("::{name} {}::{}", properties.join(","), escaped(message, false))
}

/// What the runner would take for structure, percent-encoded; properties know two marks more. The old form of commands,
/// `##[…]`, is understood anywhere in a line, so it is broken too.
fn escaped(text: &str, is_property: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '%' => shown.push_str("%25"),
            '\r' => shown.push_str("%0D"),
            '\n' => shown.push_str("%0A"),
            ':' if is_property => shown.push_str("%3A"),
            ',' if is_property => shown.push_str("%2C"),
            '[' if shown.ends_with("##") => shown.push_str("\\["),
            c if sanitize::is_hidden(c) || c == '\t' => shown.push_str(&sanitize::inline(&c.to_string())),
            c => shown.push(c),
        }
    }
    shown
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::finding::{self};
    use crate::path::RepoPath;
    use crate::report::sample;
    use proptest::prelude::*;

    fn written(report: &Report) -> String {
        let mut out = Vec::new();
        write(report, &mut out).expect("writing to memory works");
        String::from_utf8(out).expect("annotations are text")
    }

    /// What the runner takes for a command in one line: its name, if any. A port of how it reads them: both forms, names in
    /// any case, the new form after blanks, the old one anywhere.
    pub(in crate::report) fn runner_command(line: &str) -> Option<String> {
        const NAMES: [&str; 14] = [
            "set-env",
            "add-path",
            "set-output",
            "save-state",
            "add-mask",
            "add-matcher",
            "remove-matcher",
            "debug",
            "echo",
            "stop-commands",
            "group",
            "error",
            "warning",
            "notice",
        ];
        let known = |name: &str| Some(name.to_lowercase()).filter(|name| NAMES.contains(&name.as_str()));
        let first_word = |text: &str| text.split([' ', '\t']).next().unwrap_or_default().to_owned();
        if let Some(rest) = line.trim_start().strip_prefix("::")
            && let Some(end) = rest.find("::")
        {
            return known(&first_word(&rest[..end]));
        }
        let rest = &line[line.find("##[")? + 3..];
        known(&first_word(&rest[..rest.find(']')?]))
    }

    /// Lines as the runner splits them.
    pub(in crate::report) fn runner_lines(text: &str) -> Vec<&str> {
        text.split(['\n', '\r']).collect()
    }

    #[test]
    fn annotations_point_at_the_line() {
        let shown = written(&sample::rich());
        let first = shown.lines().next().expect("there is a finding");
        assert_eq!(
            first,
            "::error file=apps/web/service.yaml,line=8,endLine=8,col=3,endColumn=8,title=document/duplicate-key::the key `ports` is \
             written twice in one map (again here)%0Asee also 1 other place%0Ahelp: remove one of them: parsers disagree on \
             which one counts"
        );
        assert_eq!(shown.lines().count(), 3);
    }

    #[test]
    fn the_tenth_annotation_counts_the_rest() {
        let mut report = sample::rich();
        let finding = report.findings.remove(0);
        report.findings = vec![finding; 25];
        let shown = written(&report);
        assert_eq!(shown.lines().count(), 10);
        assert!(shown.lines().last().is_some_and(|line| line.ends_with("::and 16 errors more, see the full report")));
    }

    #[test]
    fn the_older_side_is_named_in_the_message() {
        let mut report = sample::report(Vec::new());
        let location = Location::File { path: sample::path("a.yaml"), revision: "HEAD".into() };
        report.findings = vec![Finding::new(&finding::SOURCE_UNREADABLE, location, "no")];
        assert_eq!(written(&report), "::error title=source/unreadable::no%0Ain HEAD:a.yaml\n");
    }

    proptest! {
        #[test]
        fn the_runner_finds_our_commands_and_no_others(
            message in sample::hostile(),
            label in sample::hostile(),
            help in sample::hostile(),
            name in sample::hostile(),
        ) {
            let mut report = sample::report(Vec::new());
            let path = RepoPath::new(name.replace(['/', '\0'], "_")).unwrap_or_default();
            let location = Location::File { path, revision: "index".into() };
            report.findings = vec![Finding::new(&finding::SOURCE_UNREADABLE, location, message).labelled(label).help(help)];
            let shown = written(&report);
            let found: Vec<String> = runner_lines(&shown).into_iter().filter_map(runner_command).collect();
            prop_assert_eq!(found, ["error"]);
            prop_assert_eq!(shown.lines().count(), 1);
            prop_assert!(!shown.contains("##["));
        }
    }
}
