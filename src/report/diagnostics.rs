//! Findings with the lines they point at; the only file that knows miette.

use std::collections::BTreeSet;
use std::fmt;
use std::io;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use super::Report;
use super::finding_groups::{FindingGroup, finding_groups};
use super::paint::{Line, Role, Screen, without_colors};
use super::snippet::{Cutter, Mark, Piece, Snippets, at_revision};
use super::style::Style;
use super::summary_counts::{files_with_findings, other_problems, plural, severities};
use crate::finding::{Finding, Location, Severity};
use crate::rules::Allowed;
use crate::text::SourceId;
use crate::value::{Node, Value};

/// The most findings that are printed; the rest is counted, and listed with `-v` and in the machine formats.
const MOST_PRINTED: usize = 50;
/// Columns that line numbers and the frame take from a source line.
const FRAME: usize = 12;

/// Writes the findings, the worst first, what is accepted, and a line that sums them up.
pub fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let mut screen = Screen::new(out, style);
    show_findings(report, style, &mut screen)?;
    for allowed in &report.allowed {
        screen.line(accepted(allowed, report))?;
    }
    if let Some(others) = other_problems(report) {
        screen.line(Line::default().with(Role::Dim, &others))?;
    }
    screen.line(summary(report))
}

pub(super) fn show(report: &Report, style: &Style, screen: &mut Screen<'_>) -> io::Result<()> {
    show_findings(report, style, screen)?;
    screen.line(summary(report))
}

fn show_findings(report: &Report, style: &Style, screen: &mut Screen<'_>) -> io::Result<()> {
    let groups = finding_groups(&report.findings, style.is_verbose());
    let (shown, left_out) = selected(groups, style);
    let secrets = texts_with_secrets(report);
    let is_sensitive = |id: SourceId| secrets.contains(&id);
    let width = style.finite_columns().saturating_sub(FRAME).max(16);
    let mut cutter = Cutter::new(&report.sources, &is_sensitive, width, style.symbols().ellipsis);
    let handler = handler(style);
    for group in shown {
        let finding = group.first;
        screen.line(head(finding))?;
        let snippets = cutter.snippets(finding);
        let more = snippets.left_out;
        match &finding.location {
            Location::Span(_) => screen.rendered(&framed(&handler, snippets))?,
            Location::File { path, revision } => {
                let place = format!("  --> {}", at_revision(revision, &path.to_string()));
                screen.line(Line::default().with(Role::Dim, &place))?;
            }
        }
        if more > 0 {
            screen.line(Line::indented(2).with(Role::Dim, &format!("({} not shown)", plural(more, "more place"))))?;
        }
        if !group.others.is_empty() {
            screen.line(Line::indented(2).with(Role::Plain, &group.also()))?;
        }
        for (at, line) in finding.help.iter().flat_map(|help| help.lines()).enumerate() {
            let start = if at == 0 { "help: " } else { "      " };
            screen.line(Line::indented(2).with(Role::Heading, start).with(Role::Plain, &line.replace('\t', "    ")))?;
        }
        screen.blank()?;
    }
    if !left_out.is_empty() {
        let count =
            format!("{} not shown: {} (-v shows all)", plural(left_out.len(), "finding"), severities(&left_out));
        screen.line(Line::default().with(Role::Alarm, &count))?;
    }
    Ok(())
}

/// `error[request/required]: …`
fn head(finding: &Finding) -> Line {
    let role = match finding.severity {
        Severity::Error => Role::Alarm,
        Severity::Warning => Role::Changed,
        Severity::Note => Role::Added,
    };
    let word = format!("{}[{}]", finding.severity.name(), finding.rule.id);
    Line::default().with(role, &word).with(Role::Heading, &format!(": {}", finding.message))
}

/// `accepted: patch/dead in a/patches.yaml: used from the next release on (until 2027-01-31)`
fn accepted(allowed: &Allowed, report: &Report) -> Line {
    let place = allowed.finding.path(&report.sources);
    let until = allowed.until.as_ref().map(|day| format!(" (until {day})")).unwrap_or_default();
    let text = format!("accepted: {} in {place}: {}{until}", allowed.finding.rule.id, allowed.reason);
    Line::default().with(Role::Dim, &text)
}

/// `2 errors, 1 warning in 3 files`.
fn summary(report: &Report) -> Line {
    let all: Vec<&Finding> = report.findings.iter().collect();
    let accepted = match report.allowed.len() {
        0 => String::new(),
        count => format!("; {} accepted", plural(count, "problem")),
    };
    if all.is_empty() {
        let compared = plural(report.compared.resources, "resource");
        return Line::default().with(Role::Plain, &format!("no findings in {compared}{accepted}"));
    }
    let role = if report.is_incomplete() { Role::Alarm } else { Role::Changed };
    let files = plural(files_with_findings(report, |_| true), "file");
    Line::default().with(role, &severities(&all)).with(Role::Plain, &format!(" in {files}{accepted}"))
}

/// The groups to print in their order, and the findings that are too many: the mildest.
fn selected<'a>(mut groups: Vec<FindingGroup<'a>>, style: &Style) -> (Vec<FindingGroup<'a>>, Vec<&'a Finding>) {
    if groups.len() <= MOST_PRINTED || style.is_verbose() {
        return (groups, Vec::new());
    }
    let left_out = groups.split_off(MOST_PRINTED);
    (groups, left_out.into_iter().flat_map(|group| std::iter::once(group.first).chain(group.others)).collect())
}

/// The frames with the lines that a finding points at. The renderer puts its own head above them, which is cut off.
fn framed(handler: &GraphicalReportHandler, snippets: Snippets) -> String {
    let mut text = String::new();
    // Rendering into memory fails only if a snippet cannot be read, and ours always can.
    if handler.render_report(&mut text, &Shown { snippets }).is_err() {
        return String::new();
    }
    let start = text.lines().position(|line| without_colors(line).contains("-[") || line.contains("─["));
    text.lines().skip(start.unwrap_or(usize::MAX)).map(|line| format!("{line}\n")).collect()
}

/// Texts that hold a secret: their other lines are not shown either, since a snippet could show it in passing.
fn texts_with_secrets(report: &Report) -> BTreeSet<SourceId> {
    let mut texts = BTreeSet::new();
    for resource in &report.resources {
        for side in resource.before.iter().chain(&resource.after) {
            collect_secrets(&side.payload, &mut texts);
        }
    }
    texts
}

fn collect_secrets(node: &Node, texts: &mut BTreeSet<SourceId>) {
    if let Value::Secret(_) = node.value {
        texts.insert(node.span.source);
    }
    node.children().for_each(|child| collect_secrets(child.node, texts));
}

fn handler(style: &Style) -> GraphicalReportHandler {
    let characters = if style.ascii { ThemeCharacters::ascii() } else { ThemeCharacters::unicode() };
    let styles = if style.color { ThemeStyles::ansi() } else { ThemeStyles::none() };
    GraphicalReportHandler::new_themed(GraphicalTheme { characters, styles })
        .with_width(style.finite_columns())
        .with_links(false)
        .without_syntax_highlighting()
}

/// The places of a finding as miette wants them. Everything in them was made visible before.
#[derive(Debug)]
struct Shown {
    snippets: Snippets,
}

impl fmt::Display for Shown {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Shown {}

impl Diagnostic for Shown {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        (!self.snippets.pieces.is_empty()).then_some(&self.snippets)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let label = |mark: &Mark| {
            let text = (!mark.label.is_empty()).then(|| mark.label.clone());
            let span = (mark.range.start, mark.range.len());
            if mark.is_primary {
                LabeledSpan::new_primary_with_span(text, span)
            } else {
                LabeledSpan::new_with_span(text, span)
            }
        };
        Some(Box::new(self.snippets.marks.iter().map(label)))
    }
}

impl SourceCode for Snippets {
    /// Always a whole piece; a span over two pieces is refused, which keeps their frames apart. Asked for no context, miette
    /// wants the place of the span itself, for the header.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        lines_before: usize,
        lines_after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let asked = span.offset()..span.offset() + span.len();
        let holds = |piece: &&Piece| piece.range.start <= asked.start && asked.end <= piece.range.end;
        let piece = self.pieces.iter().find(holds).ok_or(MietteError::OutOfBounds)?;
        let mark = self.marks.iter().find(|mark| mark.range == asked);
        let (range, (line, column)) = match mark {
            Some(mark) if lines_before + lines_after == 0 => (asked, mark.line_column),
            _ => (piece.range.clone(), (piece.first_line, 0)),
        };
        let text = &self.text[range.clone()];
        let lines = text.matches('\n').count();
        let span = (range.start, range.len()).into();
        Ok(Box::new(MietteSpanContents::new_named(piece.name.clone(), text.as_bytes(), span, line, column, lines)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding;
    use crate::report::sample::{self, path};
    use crate::text::{SourceText, Span};
    use proptest::prelude::*;

    fn written(report: &Report, style: Style) -> String {
        let mut out = Vec::new();
        write(report, &style, &mut out).expect("writing to memory works");
        String::from_utf8(out).expect("diagnostics are text")
    }

    /// A report with one finding in one text.
    fn at(text: &str, start: usize, end: usize) -> Report {
        let mut report = sample::report(Vec::new());
        let id = report.sources.add(SourceText::new(path("a/b.yaml"), "HEAD", text));
        let location = Location::Span(Span::new(id, start, end));
        report.findings = vec![Finding::new(&finding::DOCUMENT_SYNTAX, location, "this is wrong").labelled("here")];
        report
    }

    #[test]
    fn a_snippet_shows_the_place_with_its_revision() {
        let shown = written(&at("a: 1\nb: [\nc: 2\n", 8, 9), Style { ascii: true, width: 60, ..Style::default() });
        let expected = "\
error[document/syntax]: this is wrong
   ,-[HEAD:a/b.yaml:2:4]
 1 | a: 1
 2 | b: [
   :    |
   :    `-- here
 3 | c: 2
   `----

1 error in 1 file
";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_finding_without_a_place_looks_alike() {
        let mut report = sample::report(Vec::new());
        let location = Location::File { path: path("big.json"), revision: "index".into() };
        report.findings = vec![Finding::new(&finding::LIMIT_FILE_SIZE, location, "too large").help("make it smaller")];
        let shown = written(&report, Style::default());
        assert!(
            shown.contains("error[limit/file-size]: too large\n  --> index:big.json\n  help: make it smaller\n"),
            "{shown}"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{{\"a\": \"{}\", \"b\": oops, \"c\": \"{}\"}}", "x".repeat(90_000), "y".repeat(90_000));
        let start = text.find("oops").expect("it is there");
        let shown = written(&at(&text, start, start + 4), Style { width: 80, ..Style::default() });
        assert!(shown.contains(&format!("HEAD:a/b.yaml:1:{}", start + 1)), "{shown}");
        assert!(shown.contains("oops"), "{shown}");
        assert!(shown.lines().all(|line| super::super::paint::columns(line) <= 80), "{shown}");
    }

    #[test]
    fn places_in_several_files_have_frames_of_their_own() {
        let mut report = at("a: 1\n", 0, 1);
        let other = report.sources.add(SourceText::new(path("c.yaml"), "HEAD", "x\ny: 2\n"));
        report.findings[0] = report.findings[0].clone().related(Span::new(other, 2, 3), "there");
        let shown = written(&report, Style::default());
        assert!(shown.contains("╭─[HEAD:a/b.yaml:1:1]") && shown.contains("╭─[HEAD:c.yaml:2:1]"), "{shown}");
    }

    #[test]
    fn the_mildest_of_too_many_are_counted() {
        let mut report = at("a: 1\n", 0, 1);
        let error = report.findings.remove(0);
        let warning = Finding { severity: Severity::Warning, ..error.clone() };
        report.findings = std::iter::repeat_n(warning, 60).chain([error]).collect();
        let shown = written(&report, Style::default());
        assert!(
            shown.ends_with("11 findings not shown: 11 warnings (-v shows all)\n1 error, 60 warnings in 1 file\n"),
            "{shown}"
        );
        assert_eq!(shown.matches("error[").count(), 1, "the error is shown");
    }

    #[test]
    fn sensitive_texts_show_no_values() {
        let report = at("user: admin\npassword: hunter2\n", 6, 11);
        let Location::Span(span) = report.findings[0].location else { panic!("a span") };
        report.sources.redact(span.source, crate::text::Redaction::Values);
        let shown = written(&report, Style::default());
        assert!(shown.contains("user: *****") && shown.contains("password: *******"), "{shown}");
    }

    #[test]
    fn a_secret_in_a_file_that_parsed_hides_its_neighbours_too() {
        let mut report = at("user: admin\npassword: hunter2\n", 6, 11);
        let Location::Span(span) = report.findings[0].location else { panic!("a span") };
        let secret = Node { span, ..sample::secret("hunter2") };
        let side = sample::resource(sample::kubernetes("Secret", "x"), "a/b.yaml", secret);
        report.resources = vec![sample::both(side.clone(), side, Vec::new())];
        assert!(!written(&report, Style::default()).contains("hunter2"));
    }

    proptest! {
        #[test]
        fn any_place_in_any_text_can_be_shown(
            text in "[a\\n\\r\\tß日\\x1b😀 :]{0,80}",
            starts in prop::collection::vec((0usize..100, 0usize..100), 1..6),
            width in 0usize..120,
        ) {
            let mut report = at(&text, starts[0].0, starts[0].0 + starts[0].1);
            let Location::Span(span) = report.findings[0].location else { panic!("a span") };
            for (start, length) in &starts[1..] {
                let related = Span::new(span.source, *start, start + length);
                report.findings[0] = report.findings[0].clone().related(related, "and here");
            }
            let shown = written(&report, Style { width, ..Style::default() });
            prop_assert!(shown.contains("here"), "{}", shown);
            prop_assert!(shown.ends_with("1 error in 1 file\n"));
        }
    }
}
